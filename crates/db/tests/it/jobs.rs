//! Background jobs: claimed by one worker at a time, taken over when its lease ends, and unable to
//! be changed by whoever lost them.

use std::collections::BTreeSet;
use std::time::Duration;

use db::Database;
use db::background_job::{
    self, Cancelled, Ending, Enqueued, JobRow, JobState, NewJob, Progress, TEXT_BYTES_MAX,
};
use db::filter::Page;

use crate::support::{TestDatabase, count, time, together};

testkit::on_both_engines!(
    a_job_is_claimed_worked_on_and_finished,
    a_key_has_one_unfinished_job,
    a_lease_that_ends_lets_another_go_on,
    what_is_put_back_is_due_again,
    jobs_are_cancelled_before_and_while_they_run,
    workers_never_get_the_same_job,
    old_jobs_are_forgotten,
    large_texts_are_refused,
);

const KIND: &str = "count";
const LEASE: Duration = Duration::from_micros(100);

pub(crate) fn job(key: Option<&str>, due: i64) -> NewJob {
    NewJob {
        kind: KIND.to_owned(),
        key: key.map(str::to_owned),
        arguments: r#"{"to":3}"#.to_owned(),
        due: time(due),
        created: time(-1),
    }
}

fn enqueue(store: &Database, job: NewJob) -> Enqueued {
    store.write_blocking(move |conn| background_job::enqueue(conn, &job)).unwrap()
}

fn claim(store: &Database, now: i64, limit: i64) -> Vec<JobRow> {
    let claim = move |conn: &mut dyn db::Conn| {
        background_job::claim_due(conn, KIND, time(now), limit, LEASE)
    };
    store.write_blocking(claim).unwrap()
}

fn progress(store: &Database, claimed: &JobRow, done: i64) -> Option<bool> {
    let claimed = claimed.clone();
    let progress = Progress { done, total: Some(3) };
    let write = move |conn: &mut dyn db::Conn| {
        background_job::progress(conn, &claimed, time(500), progress, Some("[1]"))
    };
    store.write_blocking(write).unwrap()
}

fn finish(store: &Database, claimed: &JobRow, now: i64, ending: Ending) -> Option<JobRow> {
    let claimed = claimed.clone();
    store
        .write_blocking(move |conn| background_job::finish(conn, &claimed, time(now), &ending))
        .unwrap()
}

fn cancel(store: &Database, job_id: i64) -> Cancelled {
    store.write_blocking(move |conn| background_job::cancel(conn, job_id, time(7))).unwrap()
}

fn get(store: &Database, job_id: i64) -> JobRow {
    store.read_blocking(move |conn| background_job::get(conn, job_id)).unwrap().unwrap()
}

fn done() -> Ending {
    Ending::Done("{}".to_owned())
}

fn a_job_is_claimed_worked_on_and_finished(database: &TestDatabase) {
    let store = database.open();
    let next_due = || store.read_blocking(|conn| background_job::next_due(conn, KIND)).unwrap();
    assert_eq!(next_due(), None);
    let added = enqueue(&store, job(None, 5));
    assert!(added.is_new);
    assert_eq!(next_due(), Some(time(5)));
    assert_eq!(claim(&store, 4, 10), [], "not before it is due");
    assert_eq!(claim(&store, 5, 0), []);
    let claimed = claim(&store, 6, 10);
    let expected = JobRow {
        job_id: added.job_id,
        kind: KIND.to_owned(),
        state: JobState::Running,
        arguments: r#"{"to":3}"#.to_owned(),
        claim: 1,
        attempt: 1,
        due: time(106),
        created: time(-1),
        started: Some(time(6)),
        ..JobRow::default()
    };
    assert_eq!(claimed, std::slice::from_ref(&expected));
    assert_eq!(claim(&store, 105, 10), [], "it is in somebody's hands");
    assert_eq!(progress(&store, &claimed[0], 2), Some(false));
    let ended = finish(&store, &claimed[0], 60, Ending::Done(r#"{"ok":1}"#.to_owned()));
    let expected = JobRow {
        state: JobState::Done,
        progress: Progress { done: 2, total: Some(3) },
        checkpoint: Some("[1]".to_owned()),
        result: Some(r#"{"ok":1}"#.to_owned()),
        due: time(60),
        finished: Some(time(60)),
        ..expected
    };
    assert_eq!(ended.as_ref(), Some(&expected));
    assert_eq!(get(&store, added.job_id), expected);
    assert_eq!(progress(&store, &claimed[0], 3), None, "it is finished");
    assert_eq!(finish(&store, &claimed[0], 61, Ending::Cancelled), None);
    assert_eq!(claim(&store, 1000, 10), []);
    assert_eq!(next_due(), None);
}

fn a_key_has_one_unfinished_job(database: &TestDatabase) {
    let store = database.open();
    let first = enqueue(&store, job(Some("a"), 0));
    assert_eq!(enqueue(&store, job(Some("a"), 0)), Enqueued { is_new: false, ..first });
    assert!(enqueue(&store, job(Some("b"), 9)).is_new);
    assert!(enqueue(&store, NewJob { kind: "other".to_owned(), ..job(Some("a"), 0) }).is_new);
    assert!(enqueue(&store, job(None, 9)).is_new);
    assert!(enqueue(&store, job(None, 9)).is_new, "without a key there may be many");
    let claimed = claim(&store, 0, 10);
    assert_eq!(claimed.len(), 1);
    assert!(!enqueue(&store, job(Some("a"), 0)).is_new, "it runs");
    finish(&store, &claimed[0], 1, done()).unwrap();
    let second = enqueue(&store, job(Some("a"), 0));
    assert!(second.is_new && second.job_id > first.job_id);
    let find = |key: &'static str| {
        store.read_blocking(move |conn| background_job::find(conn, KIND, key)).unwrap()
    };
    assert_eq!(find("a").unwrap().job_id, second.job_id);
    assert_eq!(find("c"), None);
    let listed = |states: &'static [JobState]| {
        let page = Page { offset: 0, limit: 2 };
        let list = store.read_blocking(move |conn| background_job::list(conn, KIND, states, page));
        let (rows, total) = list.unwrap();
        (rows.into_iter().map(|row| row.job_id).collect::<Vec<_>>(), total)
    };
    assert_eq!(listed(&[JobState::Done]), (vec![first.job_id], 1));
    assert_eq!(listed(&[]).1, 5);
    assert_eq!(listed(&[]).0[0], second.job_id);
}

fn a_lease_that_ends_lets_another_go_on(database: &TestDatabase) {
    let store = database.open();
    enqueue(&store, job(None, 0));
    let lost = claim(&store, 0, 10).remove(0);
    assert_eq!(progress(&store, &lost, 1), Some(false), "which extends the lease to 500");
    assert_eq!(claim(&store, 499, 10), []);
    let taken = claim(&store, 500, 10).remove(0);
    assert_eq!((taken.claim, taken.attempt), (2, 2));
    assert_eq!(taken.checkpoint.as_deref(), Some("[1]"));
    assert_eq!(taken.started, Some(time(0)), "when the first attempt began");
    assert_eq!(progress(&store, &lost, 2), None);
    assert_eq!(finish(&store, &lost, 501, done()), None);
    let renew = |claimed: &JobRow| {
        let claimed = claimed.clone();
        let renew = move |conn: &mut dyn db::Conn| background_job::renew(conn, &claimed, time(900));
        store.write_blocking(renew).unwrap()
    };
    assert_eq!(renew(&lost), None);
    assert_eq!(renew(&taken), Some(false));
    assert_eq!(claim(&store, 899, 10), []);
    let ended = store.write_blocking(|conn| background_job::end_leases(conn, time(700)));
    assert_eq!(ended.unwrap(), 1);
    assert_eq!(claim(&store, 700, 10).len(), 1);
}

fn what_is_put_back_is_due_again(database: &TestDatabase) {
    let store = database.open();
    let added = enqueue(&store, job(None, 0));
    let first = claim(&store, 0, 1).remove(0);
    let retry = first.clone();
    let put_back = store
        .write_blocking(move |conn| background_job::retry(conn, &retry, time(50), "no network"));
    assert!(put_back.unwrap());
    let row = get(&store, added.job_id);
    assert_eq!((row.state, row.error.as_deref()), (JobState::Queued, Some("no network")));
    assert_eq!(claim(&store, 49, 1), []);
    let second = claim(&store, 50, 1).remove(0);
    assert_eq!((second.claim, second.attempt), (2, 2));
    let release = |claimed: &JobRow| {
        let claimed = claimed.clone();
        let release =
            move |conn: &mut dyn db::Conn| background_job::release(conn, &claimed, time(60));
        store.write_blocking(release).unwrap()
    };
    assert!(!release(&first), "it is not the first one's any more");
    assert!(release(&second));
    assert!(!release(&second), "nor is it the second one's now");
    let third = claim(&store, 60, 1).remove(0);
    assert_eq!((third.claim, third.attempt), (3, 2), "a claim that was given back does not count");
    assert_eq!(third.error.as_deref(), Some("no network"));
}

fn jobs_are_cancelled_before_and_while_they_run(database: &TestDatabase) {
    let store = database.open();
    let waiting = enqueue(&store, job(None, 100)).job_id;
    let Cancelled::AtOnce(row) = cancel(&store, waiting) else { panic!("it waited") };
    assert_eq!((row.state, row.finished), (JobState::Cancelled, Some(time(7))));
    assert_eq!(*row, get(&store, waiting));
    assert_eq!(cancel(&store, waiting), Cancelled::Not);
    assert_eq!(cancel(&store, 999), Cancelled::Not);
    let running = enqueue(&store, job(None, 0)).job_id;
    let claimed = claim(&store, 0, 1).remove(0);
    assert_eq!(cancel(&store, running), Cancelled::Asked);
    assert_eq!(progress(&store, &claimed, 1), Some(true), "and so the worker knows");
    let ended = finish(&store, &claimed, 9, Ending::Cancelled).unwrap();
    assert_eq!(ended.state, JobState::Cancelled);
}

fn workers_never_get_the_same_job(database: &TestDatabase) {
    const JOBS: i64 = 40;
    let store = database.open();
    for _ in 0..JOBS {
        enqueue(&store, job(None, 0));
    }
    let worked = together(6, |_| {
        let mut worked = Vec::new();
        while count(&store, "background_jobs WHERE finished_us IS NULL") > 0 {
            // The leases never end here, since the time stands still.
            for claimed in claim(&store, 0, 3) {
                finish(&store, &claimed, 1, done()).unwrap();
                worked.push(claimed.job_id);
            }
        }
        worked
    });
    let all: Vec<i64> = worked.concat();
    let distinct: BTreeSet<i64> = all.iter().copied().collect();
    assert_eq!((all.len(), distinct.len()), (40, 40), "{worked:?}");
}

fn old_jobs_are_forgotten(database: &TestDatabase) {
    let store = database.open();
    for _ in 0..4 {
        enqueue(&store, job(None, 0));
    }
    for (now, claimed) in (10..).zip(claim(&store, 0, 3)) {
        finish(&store, &claimed, now, Ending::Failed("no".to_owned())).unwrap();
    }
    let prune = |kind: &'static str, before: i64, limit: i64| {
        let prune =
            move |conn: &mut dyn db::Conn| background_job::prune(conn, kind, time(before), limit);
        store.write_blocking(prune).unwrap()
    };
    assert_eq!(prune(KIND, 10, 100), 0);
    assert_eq!(prune("other", 1000, 100), 0);
    assert_eq!(prune(KIND, 13, 2), 2);
    assert_eq!(prune(KIND, 1000, 100), 1);
    assert_eq!(count(&store, "background_jobs"), 1, "what waits is not old");
}

fn large_texts_are_refused(database: &TestDatabase) {
    let store = database.open();
    let large = NewJob { arguments: "x".repeat(TEXT_BYTES_MAX + 1), ..job(None, 0) };
    assert!(store.write_blocking(move |conn| background_job::enqueue(conn, &large)).is_err());
    enqueue(&store, NewJob { arguments: "x".repeat(TEXT_BYTES_MAX), ..job(None, 0) });
    let claimed = claim(&store, 0, 1).remove(0);
    let ending = Ending::Done("x".repeat(TEXT_BYTES_MAX + 1));
    let finish =
        store.write_blocking(move |conn| background_job::finish(conn, &claimed, time(1), &ending));
    assert!(finish.is_err());
}
