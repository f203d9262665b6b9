//! Waiting closures: bounded in number, in turns of their callers, stopped if their caller left,
//! finished before the end.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use db::{Conn, Database, fact};
use types::{Error, Kind, Result};

use crate::support::{TestDatabase, count};

type Answer<'a> = Pin<Box<dyn Future<Output = Result<String>> + 'a>>;

#[test]
fn a_full_queue_refuses_on_sqlite() {
    a_full_queue_refuses(&TestDatabase::sqlite());
}

#[test]
fn a_full_queue_refuses_on_postgres() {
    // With a second writer the queue would never fill up behind the first.
    a_full_queue_refuses(&TestDatabase::postgres_with(1));
}

fn a_full_queue_refuses(database: &TestDatabase) {
    let store = database.open();
    let release = block_the_writer(&store);
    let mut waiting: Vec<Answer<'_>> = Vec::new();
    let refused = loop {
        let mut next = submit(&store, "same");
        match poll(&mut next) {
            Poll::Pending => waiting.push(next),
            Poll::Ready(answer) => break answer.unwrap_err(),
        }
        assert!(waiting.len() < 100_000, "the queue has no limit");
    };
    assert_eq!(refused.kind(), Kind::Unavailable);
    assert!(refused.to_string().contains("too many"), "{refused}");
    assert_eq!(waiting.len(), 8192);
    // Reads have a queue of their own.
    assert_eq!(count(&store, "facts"), 0);
    release.now();
    for answer in &mut waiting {
        assert_eq!(wait(answer).unwrap(), "same");
    }
    assert_eq!(wait(&mut submit(&store, "same")).unwrap(), "same");
}

testkit::on_both_engines!(
    a_store_may_be_dropped_by_its_own_closure,
    one_caller_does_not_keep_others_waiting,
    a_read_ends_when_its_caller_leaves,
    a_watch_counts_what_was_written,
);

#[test]
fn what_waits_is_not_begun_once_the_caller_left_on_sqlite() {
    what_waits_is_not_begun_once_the_caller_left(&TestDatabase::sqlite());
}

#[test]
fn what_waits_is_not_begun_once_the_caller_left_on_postgres() {
    what_waits_is_not_begun_once_the_caller_left(&TestDatabase::postgres_with(1));
}

fn what_waits_is_not_begun_once_the_caller_left(database: &TestDatabase) {
    let store = database.open();
    let release = block_the_writer(&store);
    let mut stays = submit(&store, "stays");
    assert!(poll(&mut stays).is_pending());
    for index in 0..300 {
        let _ = poll(&mut submit(&store, &format!("fact {index}")));
    }
    release.now();
    assert_eq!(wait(&mut stays).unwrap(), "stays");
    drop(stays);
    drop(store);
    assert_eq!(count(&database.open(), "facts"), 1);
}

/// Somebody hands over far more than there are threads; somebody else asks a simple thing. A
/// machine that stands still for a moment is given another chance.
fn one_caller_does_not_keep_others_waiting(database: &TestDatabase) {
    let store = database.open();
    let mut medians = Vec::new();
    for _ in 0..3 {
        let (read, write) = waited_beside_a_greedy_caller(&store);
        if read < LONG && write < LONG * 2 {
            return;
        }
        medians.push((read, write));
    }
    panic!("half of the reads and writes took so long and more: {medians:?}");
}

/// What each greedy read takes.
const LONG: Duration = Duration::from_millis(50);

/// The medians of reads and writes beside a greedy caller.
fn waited_beside_a_greedy_caller(store: &Database) -> (Duration, Duration) {
    const GREED: usize = 60;
    let greedy = |index: usize| -> Answer<'_> {
        let name = format!("greedy {index}");
        Box::pin(db::as_caller("greedy", async {
            let read = |_: &mut dyn Conn| {
                thread::sleep(LONG);
                Ok(())
            };
            store.read(read).await?;
            let write = move |conn: &mut dyn Conn| {
                thread::sleep(LONG / 5);
                fact::get_or_set(conn, &name, "")
            };
            store.write(write).await
        }))
    };
    let simple = || -> Answer<'_> {
        Box::pin(db::as_caller("other", async {
            store.read(|conn| Ok(fact::get(conn, "none")?.unwrap_or_default())).await
        }))
    };
    let mut waiting: Vec<Answer<'_>> = (0..GREED).map(greedy).collect();
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let all = LONG * u32::try_from(GREED / db::READERS).unwrap();
    let started = Instant::now();
    while started.elapsed() < all {
        waiting.retain_mut(|answer| poll(answer).is_pending());
        let (name, asked) = (format!("other {}", writes.len()), Instant::now());
        let answer = wait(&mut simple());
        reads.push(asked.elapsed());
        assert!(answer.is_ok(), "{answer:?}");
        let asked = Instant::now();
        let mut write: Answer<'_> = Box::pin(db::as_caller("other", submit(store, &name)));
        assert_eq!(wait(&mut write).unwrap(), name);
        writes.push(asked.elapsed());
    }
    assert!(!waiting.is_empty(), "nobody was greedy");
    reads.sort();
    writes.sort();
    let (read, write) = (reads[reads.len() / 2], writes[writes.len() / 2]);
    for answer in &mut waiting {
        wait(answer).unwrap();
    }
    (read, write)
}

/// Reads that would go on for minutes, one on every thread, each of a caller of its own.
fn a_read_ends_when_its_caller_leaves(database: &TestDatabase) {
    const ENDLESS: &str = "WITH RECURSIVE numbers (n) AS
        (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000000000)
        SELECT COUNT(*) FROM numbers";
    const BY_ROWS: &str = "WITH RECURSIVE numbers (n) AS
        (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000000000)
        SELECT n FROM numbers";
    let store = database.open();
    for text in [ENDLESS, BY_ROWS] {
        let (begun, has_begun) = mpsc::channel();
        let mut callers: Vec<Answer<'_>> = Vec::new();
        for index in 0..db::READERS {
            let begun = begun.clone();
            let read = move |conn: &mut dyn Conn| {
                begun.send(()).unwrap();
                conn.query_text(text, &[], &mut |_| Ok(()))?;
                Ok(String::new())
            };
            callers.push(Box::pin(db::as_caller(format!("caller {index}"), store.read(read))));
        }
        for caller in &mut callers {
            assert!(poll(caller).is_pending());
        }
        for _ in 0..db::READERS {
            has_begun.recv().unwrap();
        }
        // So that the statement is under way, and not only about to be.
        thread::sleep(Duration::from_millis(100));
        drop(callers);
        let asked = Instant::now();
        assert_eq!(count(&store, "facts"), 0);
        assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    }
}

/// A cancellation takes a connection of its own, and may arrive when the next read has begun.
#[test]
fn a_late_cancellation_does_not_fail_the_next_read_on_postgres() {
    const SHORT: &str = "SELECT pg_sleep(0.003)";
    let database = TestDatabase::postgres_with(1);
    let store = database.open();
    for round in 0..200_u64 {
        let mut left: Answer<'_> = Box::pin(store.read(|conn| {
            conn.query_text(SHORT, &[], &mut |_| Ok(()))?;
            Ok(String::new())
        }));
        let _ = poll(&mut left);
        thread::sleep(Duration::from_micros(round % 8 * 500));
        drop(left);
        // As many as there are threads, so that one of them has the connection that is cancelled.
        let mut next: Vec<Answer<'_>> = (0..db::READERS)
            .map(|_| -> Answer<'_> {
                Box::pin(store.read(|conn| {
                    conn.query_text(SHORT, &[], &mut |_| Ok(()))?;
                    Ok(String::new())
                }))
            })
            .collect();
        // On a busy machine one may be answered already.
        next.retain_mut(|answer| poll(answer).map(Result::unwrap).is_pending());
        for answer in &mut next {
            wait(answer).unwrap();
        }
    }
}

fn a_watch_counts_what_was_written(database: &TestDatabase) {
    let store = database.open();
    let (keys, others) = (store.watch(&["api_keys"]), store.watch(&["users", "isos"]));
    let before = (keys.generation(), others.generation());
    let write = "DELETE FROM api_keys WHERE key_id = 'none'";
    store.write_blocking(move |conn| conn.query_text(write, &[], &mut |_| Ok(()))).unwrap();
    assert_eq!((keys.generation(), others.generation()), (before.0 + 1, before.1));
    assert_eq!(count(&store, "api_keys"), 0);
    assert_eq!(keys.generation(), before.0 + 1, "reads do not count");
}

#[test]
fn an_attempt_ends_with_its_caller_on_sqlite() {
    an_attempt_ends_with_its_caller(&TestDatabase::sqlite());
}

#[test]
fn an_attempt_ends_with_its_caller_on_postgres() {
    // A second writer would not wait for the first.
    an_attempt_ends_with_its_caller(&TestDatabase::postgres_with(1));
}

/// Who is told that something took too long shall not find it done: neither what waited until then
/// nor what was under way is stored.
fn an_attempt_ends_with_its_caller(database: &TestDatabase) {
    let store = database.open();
    let attempt = |name: &'static str| -> Answer<'_> {
        let attempted = store.attempt(move |conn| fact::get_or_set(conn, name, name).map(Ok));
        Box::pin(async { attempted.await.map(|done: Result<String>| done.unwrap()) })
    };
    let release = block_the_writer(&store);
    let mut waiting = attempt("waiting");
    assert!(poll(&mut waiting).is_pending());
    drop(waiting);
    release.now();
    let (started, has_started) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let mut running: Answer<'_> = Box::pin(async {
        let attempted = store.attempt(move |conn| {
            let _ = started.send(());
            let _ = released.recv();
            fact::get_or_set(conn, "running", "running").map(Ok)
        });
        attempted.await.map(|done: Result<String>| done.unwrap())
    });
    assert!(poll(&mut running).is_pending());
    has_started.recv().unwrap();
    drop(running);
    release.send(()).unwrap();
    assert_eq!(wait(&mut attempt("heard of")).unwrap(), "heard of");
    drop(release);
    assert_eq!(count(&store, "facts"), 1);
}

/// Those before a closure that fails are run once more, and only they.
#[test]
fn a_failure_in_a_group_undoes_itself_alone() {
    let store = TestDatabase::sqlite().open();
    let release = block_the_writer(&store);
    let runs = [const { AtomicU32::new(0) }; 5].map(Arc::new);
    let mut answers: Vec<Answer<'_>> = Vec::new();
    for (number, runs) in runs.iter().cloned().enumerate() {
        let mut answer: Answer<'_> = Box::pin(store.write(move |conn| {
            runs.fetch_add(1, Ordering::Relaxed);
            let name = fact::get_or_set(conn, &number.to_string(), "")?;
            if number % 2 == 1 { Err(Error::invalid("on purpose")) } else { Ok(name) }
        }));
        assert!(poll(&mut answer).is_pending());
        answers.push(answer);
    }
    release.now();
    let are_stored: Vec<bool> = answers.iter_mut().map(|answer| wait(answer).is_ok()).collect();
    assert_eq!(are_stored, [true, false, true, false, true]);
    assert_eq!(count(&store, "facts"), 3);
    assert_eq!(runs.map(|runs| runs.load(Ordering::Relaxed)), [2, 1, 1, 1, 1]);
}

/// What a closure was refused for may be undone with whoever left meanwhile.
#[test]
fn a_refusal_does_not_outlive_its_reason() {
    // On a busy machine they may not come into one group, which ends after a while.
    assert!((0..5).any(|_| is_refused_again_after_all()));
}

fn is_refused_again_after_all() -> bool {
    let store = TestDatabase::sqlite().open();
    let release = block_the_writer(&store);
    let mut first = Box::pin(store.attempt(|conn| {
        let name = fact::get_or_set(conn, "first", "")?;
        Ok(Ok::<String, Error>(name))
    }));
    assert!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let mut second: Answer<'_> = Box::pin(store.write(move |conn| {
        if fact::get(conn, "first")?.is_some() {
            return Err(Error::conflict("there is a first one"));
        }
        fact::get_or_set(conn, "second", "stored")
    }));
    assert!(poll(&mut second).is_pending());
    // Fails after a change, so that all are undone.
    let ((begun, has_begun), (left, has_left)) = (mpsc::channel(), mpsc::channel());
    let has_left = Mutex::new(has_left);
    let mut third: Answer<'_> = Box::pin(store.write(move |conn| {
        fact::get_or_set(conn, "third", "")?;
        // Run once more at the end, when nobody is waited for.
        if begun.send(()).is_ok() {
            let _ = has_left.lock().unwrap().recv();
        }
        Err(Error::invalid("on purpose"))
    }));
    assert!(poll(&mut third).is_pending());
    // The one that kept the writer busy is in the same group, and answered with it.
    release.release.send(()).unwrap();
    has_begun.recv().unwrap();
    drop((first, has_begun));
    left.send(()).unwrap();
    release.blocker.join().unwrap();
    let second = wait(&mut second);
    assert!(wait(&mut third).is_err());
    assert_eq!(count(&store, "facts"), 1);
    second.is_ok_and(|name| name == "stored")
}

/// The last handle may be the one inside a closure; the database thread must not wait for itself.
fn a_store_may_be_dropped_by_its_own_closure(database: &TestDatabase) {
    let store = database.open();
    let (release, released) = mpsc::channel();
    let (dropped, was_dropped) = mpsc::channel();
    let (started, has_started) = mpsc::channel();
    let held = (store.clone(), TellsOnDrop(dropped));
    let mut answer: Answer<'_> = Box::pin(async move {
        let outer = store;
        outer
            .write(move |conn| {
                let _held = &held;
                started.send(()).unwrap();
                released.recv().unwrap();
                fact::get_or_set(conn, "a", "b")
            })
            .await
    });
    assert!(poll(&mut answer).is_pending());
    has_started.recv().unwrap();
    drop(answer);
    release.send(()).unwrap();
    let panicking = was_dropped.recv().unwrap();
    assert!(!panicking, "dropping the last handle panicked");
    assert_eq!(count(&database.open(), "facts"), 1);
}

struct TellsOnDrop(mpsc::Sender<bool>);

impl Drop for TellsOnDrop {
    fn drop(&mut self) {
        let _ = self.0.send(thread::panicking());
    }
}

struct Release {
    release: mpsc::Sender<()>,
    blocker: JoinHandle<()>,
}

impl Release {
    fn now(self) {
        self.release.send(()).unwrap();
        self.blocker.join().unwrap();
    }
}

/// Occupies a writer until it is released.
fn block_the_writer(store: &Database) -> Release {
    let (release, released) = mpsc::channel();
    let (started, has_started) = mpsc::channel();
    let store = store.clone();
    let blocker = thread::spawn(move || {
        let blocked: Result<()> = store.write_blocking(move |_| {
            started.send(()).unwrap();
            released.recv().unwrap();
            Err(Error::invalid("only to keep the writer busy"))
        });
        assert_eq!(blocked.unwrap_err().kind(), Kind::Invalid);
    });
    has_started.recv().unwrap();
    Release { release, blocker }
}

fn submit<'a>(store: &'a Database, name: &str) -> Answer<'a> {
    let name = name.to_owned();
    Box::pin(store.write(move |conn| fact::get_or_set(conn, &name, &name)))
}

fn poll(answer: &mut Answer<'_>) -> Poll<Result<String>> {
    answer.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn wait(answer: &mut Answer<'_>) -> Result<String> {
    loop {
        match poll(answer) {
            Poll::Ready(answer) => return answer,
            Poll::Pending => thread::yield_now(),
        }
    }
}
