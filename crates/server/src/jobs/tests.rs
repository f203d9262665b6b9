//! The workers on both engines: what becomes of jobs that succeed, fail, panic, are cancelled, given
//! back, or cut off by the death of their process.

use std::process::{Command, Stdio};

use db::background_job::JobState;
use db::{Database, Location, counter, outbox};
use frame::jobs::{Progress, Running};
use onboarding::Platform;
use serde::Deserialize;
use serde_json::json;
use types::{Clock, Environment};
use vault::MasterKey;

use super::*;
use crate::{Reports, Settings, make_site};

const FAST: Pace = Pace {
    pause: Duration::from_millis(10),
    lease: Duration::from_millis(600),
    renewal: Duration::from_millis(100),
};
/// How long something may take before it counts as never.
const PATIENCE: Duration = Duration::from_secs(30);
const COUNT: &str = "test.count";
/// Taken from in each step, so that a step that counted twice is noticed.
const COUNTER: &str = "test.steps";
const ENDED: &str = "test.ended";

/// Counts to a number, a step at a time.
#[derive(Debug)]
struct Count;

#[derive(Debug, Deserialize)]
struct TaskArguments {
    to: i64,
    #[serde(default)]
    pause_ms: u64,
    /// What to do at the step of this number.
    #[serde(default)]
    at: i64,
    #[serde(default)]
    then: String,
}

impl JobKind for Count {
    fn name(&self) -> &'static str {
        COUNT
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(async move {
            let arguments: TaskArguments = cx.arguments()?;
            let from = cx.checkpoint::<i64>()?.unwrap_or(0);
            for done in from + 1..=arguments.to {
                tokio::time::sleep(Duration::from_millis(arguments.pause_ms)).await;
                if done == arguments.at {
                    match arguments.then.as_str() {
                        "fail" => return Err(Error::invalid("no such thing").into()),
                        "wait" => return Err(Error::unavailable("not now").into()),
                        "panic" => panic!("as the test wants"),
                        _ => {}
                    }
                }
                let progress = Progress { done, total: Some(arguments.to) };
                cx.step(progress, &done, |conn| counter::take(conn, COUNTER, 1)).await?;
            }
            Ok(json!({ "from": from }))
        })
    }

    fn ended(&self, _: &Site, conn: &mut dyn Conn, _: &JobRow) -> Result<()> {
        counter::take(conn, ENDED, 1).map(drop)
    }

    fn limits(&self) -> Limits {
        let wait = Duration::from_millis(1);
        Limits { attempts: 3, first_wait: wait, longest_wait: wait, ..Limits::USUAL }
    }
}

/// Workers on a database.
struct Bench {
    workers: Workers,
}

/// Where a database is, and the key to it; goes away with the test.
struct TestDatabase {
    location: Location,
    key: String,
    _folder: tempfile::TempDir,
}

impl TestDatabase {
    fn new(is_postgres: bool) -> Self {
        let folder = testkit::temp_dir().unwrap();
        let url = is_postgres.then(|| testkit::postgres::shared().create_database().unwrap());
        let environment = Environment::Sandbox;
        let location = Location::parse(url.as_deref(), folder.path(), environment, 4).unwrap();
        let key = MasterKey::generate().unwrap().to_text().expose().clone();
        Self { location, key, _folder: folder }
    }

    fn bench(&self) -> Bench {
        Bench { workers: workers(&self.location, &self.key) }
    }
}

fn workers(location: &Location, key: &str) -> Workers {
    let store = Database::open(location, schema::MIGRATIONS).unwrap();
    let master = MasterKey::from_text(key).unwrap();
    let choices = onboarding::Settings::default();
    let platform =
        Platform::new(Environment::Sandbox, store, &master, choices, Clock::System).unwrap();
    let settings = Settings::default();
    let site =
        make_site(&Arc::new(platform), &settings, frame::Settings::default(), &Reports::default());
    let site = site.unwrap();
    let site = Arc::new(Arc::into_inner(site).unwrap().with_job(Box::new(Count)));
    let shared = Arc::new(Shared::new(settings, crate::Portal::default()));
    Workers { site, shared, pace: FAST }
}

/// Runs an async function of a database and its bench as a test, on both engines.
macro_rules! on_both_engines {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[test]
            fn on_sqlite() {
                super::on_engine(false, super::$name);
            }

            #[test]
            fn on_postgres() {
                super::on_engine(true, super::$name);
            }
        }
    )+};
}

on_both_engines!(
    a_job_is_done_step_by_step,
    what_fails_is_tried_again_or_not,
    jobs_can_be_cancelled,
    who_stops_gives_back,
    what_was_lost_is_taken_over,
    a_killed_process_leaves_its_job_to_the_next,
);

fn on_engine(is_postgres: bool, test: impl AsyncFn(&TestDatabase, &Bench)) {
    let database = TestDatabase::new(is_postgres);
    let bench = database.bench();
    block_on(test(&database, &bench));
}

fn block_on(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(test);
}

impl Bench {
    async fn enqueue(&self, arguments: Value) -> i64 {
        let now = self.workers.now();
        let enqueue = move |conn: &mut dyn Conn| jobs::enqueue(conn, COUNT, None, &arguments, now);
        self.workers.site.store().write(enqueue).await.unwrap().job_id
    }

    async fn get(&self, job_id: i64) -> JobRow {
        let get = move |conn: &mut dyn Conn| background_job::get(conn, job_id);
        self.workers.site.store().read(get).await.unwrap().unwrap()
    }

    async fn count(&self, name: &'static str) -> i64 {
        self.workers.site.store().read(move |conn| counter::read(conn, name)).await.unwrap()
    }

    async fn cancel(&self, job_id: i64) -> bool {
        let (site, now) = (Arc::clone(&self.workers.site), self.workers.now());
        let cancel = move |conn: &mut dyn Conn| jobs::cancel(&site, conn, job_id, now);
        self.workers.site.store().write(cancel).await.unwrap()
    }

    /// Waits until the job is as arguments.
    async fn until(&self, job_id: i64, arguments: impl Fn(&JobRow) -> bool) -> JobRow {
        let started = Instant::now();
        loop {
            let row = self.get(job_id).await;
            if arguments(&row) {
                return row;
            }
            assert!(started.elapsed() < PATIENCE, "it never comes: {row:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Runs the workers until the job has ended.
    async fn run(&self, job_id: i64) -> JobRow {
        let (stop, stopped) = watch::channel(false);
        let running = tokio::spawn(self.workers.clone().run(stopped));
        let ended = self.until(job_id, |row| row.finished.is_some()).await;
        stop.send(true).unwrap();
        running.await.unwrap();
        ended
    }

    /// What the feed tells of jobs.
    async fn told(&self) -> Vec<(String, String)> {
        let read = |conn: &mut dyn Conn| {
            outbox::sequence(conn, 100)?;
            outbox::after(conn, 0, 100)
        };
        let events = self.workers.site.store().write(read).await.unwrap();
        let events = events.into_iter().filter(|event| event.kind.starts_with("background_job"));
        events.map(|event| (event.kind, event.payload)).collect()
    }
}

async fn a_job_is_done_step_by_step(_: &TestDatabase, bench: &Bench) {
    let job_id = bench.enqueue(json!({ "to": 5 })).await;
    let ended = bench.run(job_id).await;
    assert_eq!(ended.state, JobState::Done);
    assert_eq!(ended.progress, Progress { done: 5, total: Some(5) });
    assert_eq!(ended.result.as_deref(), Some(r#"{"from":0}"#));
    assert_eq!((bench.count(COUNTER).await, bench.count(ENDED).await), (5, 1));
    let payload = json!({ "kind": COUNT, "key": null }).to_string();
    assert_eq!(bench.told().await, [("background_job.done".to_owned(), payload)]);
    let text = bench.workers.shared.metrics.text();
    assert!(text.contains(r#"kind="test.count",outcome="done"} 1"#), "{text}");
}

async fn what_fails_is_tried_again_or_not(_: &TestDatabase, bench: &Bench) {
    for (then, attempts, error) in [
        ("fail", 1, "no such thing"),
        ("wait", 3, "not now"),
        ("panic", 3, "the job's work broke off"),
    ] {
        let before = bench.count(COUNTER).await;
        let job_id = bench.enqueue(json!({ "to": 5, "at": 3, "then": then })).await;
        let ended = bench.run(job_id).await;
        assert_eq!((ended.state, ended.attempt), (JobState::Failed, attempts), "{then}");
        assert_eq!(ended.error.as_deref(), Some(error));
        assert_eq!(ended.progress.done, 2);
        assert_eq!(bench.count(COUNTER).await - before, 2, "{then}: steps are not done again");
    }
    let job_id = bench.enqueue(json!("not what it expects")).await;
    assert_eq!(bench.run(job_id).await.attempt, 1);
    assert_eq!(bench.count(ENDED).await, 4);
}

async fn jobs_can_be_cancelled(_: &TestDatabase, bench: &Bench) {
    let waiting = bench.enqueue(json!({ "to": 5 })).await;
    assert!(bench.cancel(waiting).await);
    assert!(!bench.cancel(waiting).await, "it is cancelled already");
    let endless = bench.enqueue(json!({ "to": 1_000_000, "pause_ms": 5 })).await;
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(bench.workers.clone().run(stopped));
    bench.until(endless, |row| row.progress.done > 2).await;
    assert!(bench.cancel(endless).await);
    let ended = bench.until(endless, |row| row.finished.is_some()).await;
    assert_eq!(ended.state, JobState::Cancelled);
    assert_eq!(bench.count(COUNTER).await, ended.progress.done);
    assert_eq!(bench.count(ENDED).await, 2);
    stop.send(true).unwrap();
    running.await.unwrap();
    let told: Vec<String> = bench.told().await.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(told, ["background_job.cancelled"; 2]);
}

async fn who_stops_gives_back(_: &TestDatabase, bench: &Bench) {
    let job_id = bench.enqueue(json!({ "to": 60, "pause_ms": 5 })).await;
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(bench.workers.clone().run(stopped));
    bench.until(job_id, |row| row.progress.done > 2).await;
    stop.send(true).unwrap();
    running.await.unwrap();
    let row = bench.get(job_id).await;
    assert_eq!((row.state, row.attempt), (JobState::Queued, 0), "as if it had not been tried");
    let ended = bench.run(job_id).await;
    assert_eq!((ended.state, ended.attempt), (JobState::Done, 1));
    assert_eq!(ended.result, Some(json!({ "from": row.progress.done }).to_string()));
    assert_eq!(bench.count(COUNTER).await, 60);
}

/// A worker whose lease ended while it slept finds that nothing of it counts any more.
async fn what_was_lost_is_taken_over(_: &TestDatabase, bench: &Bench) {
    let job_id = bench.enqueue(json!({ "to": 3 })).await;
    let lost = bench.workers.claim(COUNT, 1).await.unwrap().remove(0);
    let cx = JobCx::new(Arc::clone(&bench.workers.site), lost.clone(), FAST.lease);
    let step = async |done: i64| {
        let progress = Progress { done, total: None };
        cx.step(progress, &done, |conn| counter::take(conn, COUNTER, 1)).await
    };
    step(1).await.unwrap();
    let ended = bench.run(job_id).await;
    assert_eq!((ended.state, ended.attempt), (JobState::Done, 2));
    assert!(matches!(step(2).await, Err(Halt::Stopped)));
    assert!(matches!(cx.check(), Err(Halt::Stopped)));
    assert!(!cx.renew().await.unwrap());
    let late = bench.workers.settle(&lost, Ok(json!("late"))).await.unwrap();
    assert_eq!(late, Outcome::LeftToOthers);
    assert_eq!(bench.get(job_id).await, ended);
    assert_eq!((bench.count(COUNTER).await, bench.count(ENDED).await), (3, 1));
}

const KILLS: usize = 2;
const CHILD_DATABASE: &str = "JOBS_TEST_DATABASE";
const CHILD_KEY: &str = "JOBS_TEST_KEY";
const CHILD: &str = "jobs::tests::a_process_with_workers";

/// Kills processes that are in the middle of a job, and lets the next one finish it: each step has
/// counted once.
async fn a_killed_process_leaves_its_job_to_the_next(database: &TestDatabase, bench: &Bench) {
    const STEPS: i64 = 150;
    let job_id = bench.enqueue(json!({ "to": STEPS, "pause_ms": 4 })).await;
    let address = match &database.location {
        Location::File(path) => path.to_str().unwrap().to_owned(),
        Location::Postgres { url, .. } => url.clone(),
    };
    let mut seen = 0;
    for kill in 0..=KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", CHILD, "--test-threads", "1"])
            .envs([(CHILD_DATABASE, &address), (CHILD_KEY, &database.key)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let is_last = kill == KILLS;
        let ready = |row: &JobRow| {
            if is_last { row.finished.is_some() } else { row.progress.done > seen + 5 }
        };
        let row = bench.until(job_id, ready).await;
        // This is SIGKILL.
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_last || row.finished.is_none(), "it was done before it could be killed");
        seen = row.progress.done;
    }
    let ended = bench.get(job_id).await;
    assert_eq!((ended.state, ended.attempt), (JobState::Done, 3));
    assert_eq!((bench.count(COUNTER).await, bench.count(ENDED).await), (STEPS, 1));
}

/// The other process of the test above, which is this program again; without a database to work on
/// there is nothing to do.
#[test]
fn a_process_with_workers() {
    let variable = |name: &str| std::env::var_os(name).and_then(|text| text.into_string().ok());
    let (Some(database), Some(key)) = (variable(CHILD_DATABASE), variable(CHILD_KEY)) else {
        return;
    };
    let location = if database.starts_with("postgres") {
        let nowhere = std::path::Path::new("");
        Location::parse(Some(&database), nowhere, Environment::Sandbox, 4).unwrap()
    } else {
        Location::File(database.into())
    };
    let workers = workers(&location, &key);
    block_on(async move {
        let (_stop, stopped) = watch::channel(false);
        workers.run(stopped).await;
    });
}
