//! Waiting closures: bounded in number, run even if their caller left, finished before the end.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use store::{Store, fact};
use types::{Error, Kind, Result};

use crate::support::{Database, count};

type Answer<'a> = Pin<Box<dyn Future<Output = Result<String>> + 'a>>;

#[test]
fn a_full_queue_refuses_on_sqlite() {
    a_full_queue_refuses(&Database::sqlite());
}

#[test]
fn a_full_queue_refuses_on_postgres() {
    // With a second writer the queue would never fill up behind the first.
    a_full_queue_refuses(&Database::postgres_with(1));
}

fn a_full_queue_refuses(database: &Database) {
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
    release.send(()).unwrap();
    for answer in &mut waiting {
        assert_eq!(wait(answer).unwrap(), "same");
    }
    assert_eq!(wait(&mut submit(&store, "same")).unwrap(), "same");
}

on_both_engines!(
    what_waits_is_stored_though_the_caller_left,
    a_store_may_be_dropped_by_its_own_closure,
);

fn what_waits_is_stored_though_the_caller_left(database: &Database) {
    let store = database.open();
    let release = block_the_writer(&store);
    for index in 0..300 {
        let mut abandoned = submit(&store, &format!("fact {index}"));
        assert!(poll(&mut abandoned).is_pending());
    }
    release.send(()).unwrap();
    drop(store);
    assert_eq!(count(&database.open(), "facts"), 300);
}

/// The last handle may be the one inside a closure; the database thread must not wait for itself.
fn a_store_may_be_dropped_by_its_own_closure(database: &Database) {
    for _ in 0..20 {
        let store = database.open();
        let inner = store.clone();
        let mut answer: Answer<'_> = Box::pin(async move {
            let outer = store;
            outer
                .write(move |conn| {
                    let _keep = &inner;
                    fact::get_or_set(conn, "a", "b")
                })
                .await
        });
        let _ = poll(&mut answer);
        drop(answer);
    }
    assert_eq!(count(&database.open(), "facts"), 1);
}

/// Occupies the writer until the returned channel gets a message.
fn block_the_writer(store: &Store) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel();
    let (started, has_started) = mpsc::channel();
    let store = store.clone();
    std::thread::spawn(move || {
        let blocked: Result<()> = store.write_blocking(move |_| {
            started.send(()).unwrap();
            released.recv().unwrap();
            Err(Error::invalid("only to keep the writer busy"))
        });
        assert_eq!(blocked.unwrap_err().kind(), Kind::Invalid);
    });
    has_started.recv().unwrap();
    release
}

fn submit<'a>(store: &'a Store, name: &str) -> Answer<'a> {
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
            Poll::Pending => std::thread::yield_now(),
        }
    }
}
