//! The thread that follows the feed, and how to talk to it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};

use db::Database;
use types::{Error, Result};

use super::Feed;
use super::cluster::ClusterFeed;
use crate::current::{Command, Facts};

/// The thread. When it is dropped, the thread writes its file and ends.
#[derive(Debug)]
pub struct FeedHandle {
    thread: Option<JoinHandle<()>>,
    facts: Arc<Facts>,
}

/// Starts the thread. The facts are ready when it has loaded them, which may take some seconds.
pub fn start(store: Database, facts: &Arc<Facts>, file: Option<PathBuf>) -> Result<FeedHandle> {
    let again = || Error::internal("facts are already being updated");
    let inbox = facts.take_inbox().ok_or_else(again)?;
    let shared = Arc::clone(facts);
    let cluster = facts.cluster().cloned();
    let thread = thread::Builder::new()
        .name("analytics".to_owned())
        .spawn(move || match cluster {
            Some(cluster) => ClusterFeed::new(store, shared, cluster).run(&inbox),
            None => run(store, shared, file, &inbox),
        })
        .map_err(|error| Error::internal("cannot start a thread").because(error))?;
    Ok(FeedHandle { thread: Some(thread), facts: Arc::clone(facts) })
}

/// Makes facts ready to be read, for a process that does not go on following the feed.
pub fn load(store: Database, facts: &Arc<Facts>, file: Option<PathBuf>) -> Result<()> {
    let Some(cluster) = facts.cluster() else {
        return Feed::open(store, Arc::clone(facts), file).map(drop);
    };
    ClusterFeed::new(store, Arc::clone(facts), Arc::clone(cluster)).look()?;
    if facts.are_ready() {
        return Ok(());
    }
    Err(Error::unavailable("ClickHouse has no facts yet; run `boardwalk analytics rebuild` first"))
}

fn run(store: Database, facts: Arc<Facts>, file: Option<PathBuf>, commands: &Receiver<Command>) {
    loop {
        match Feed::open(store.clone(), Arc::clone(&facts), file.clone()) {
            Ok(feed) => return feed.run(commands),
            Err(_) if facts.is_stopping() => return,
            Err(error) => {
                let error = error.report();
                tracing::warn!(error, "cannot load facts; retrying");
            }
        }
        if let Ok(Command::Stop) = commands.recv_timeout(super::PAUSE_AFTER_ERROR) {
            return;
        }
    }
}

impl Drop for FeedHandle {
    fn drop(&mut self) {
        self.facts.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
