//! Waiting closures: bounded in number, run even if their caller left, finished before the end.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};

use db::{Database, fact};
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
    what_waits_is_stored_though_the_caller_left,
    a_store_may_be_dropped_by_its_own_closure,
);

fn what_waits_is_stored_though_the_caller_left(database: &TestDatabase) {
    let store = database.open();
    let release = block_the_writer(&store);
    for index in 0..300 {
        let _ = poll(&mut submit(&store, &format!("fact {index}")));
    }
    release.now();
    drop(store);
    assert_eq!(count(&database.open(), "facts"), 300);
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

/// The last handle may be the one inside a closure; the database thread must not wait for itself.
fn a_store_may_be_dropped_by_its_own_closure(database: &TestDatabase) {
    let store = database.open();
    let (release, released) = mpsc::channel();
    let (dropped, was_dropped) = mpsc::channel();
    let held = (store.clone(), TellsOnDrop(dropped));
    let mut answer: Answer<'_> = Box::pin(async move {
        let outer = store;
        outer
            .write(move |conn| {
                let _held = &held;
                released.recv().unwrap();
                fact::get_or_set(conn, "a", "b")
            })
            .await
    });
    assert!(poll(&mut answer).is_pending());
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
