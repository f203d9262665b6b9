//! The connection by which a node hears the news of the others, and tells its own messages.
//!
//! It is lost with its server, as every other. **When it is there again, everything is taken for
//! changed**: nobody knows what was said meanwhile.

use std::thread;
use std::time::Duration;

use types::{Error, Result};

use super::connection::{PgConn, spawn};
use super::failure::failed;
use super::target::{Purpose, Target};
use crate::Conn as _;

/// How long a message may wait to be told, and how long it takes to notice the end.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(500);
/// After so many quiet pauses the server is asked whether it is there.
const QUIET_PAUSES_MAX: u32 = 50;

/// Starts the thread that listens until the database is closed.
pub(crate) fn start(target: &Target) -> Result<()> {
    let target = target.clone();
    spawn("postgres-news", move || run(&target)).map(drop)
}

fn run(target: &Target) {
    let mut is_heard = true;
    while !target.news.is_over() {
        let Err(error) = follow(target, &mut is_heard) else { return };
        if is_heard {
            is_heard = false;
            tracing::warn!(error = %error.report(), "other nodes are not heard; trying again");
        }
        thread::sleep(PAUSE_AFTER_ERROR);
    }
}

fn follow(target: &Target, is_heard: &mut bool) -> Result<()> {
    let mut conn = target.connect(Purpose::Reading)?;
    conn.script(&format!("LISTEN {}", target.schema))?;
    target.changes.raise_all();
    if !*is_heard {
        *is_heard = true;
        tracing::info!("other nodes are heard again");
    }
    let mut quiet = 0;
    while !target.news.is_over() {
        quiet = if hear(target, &mut conn)? { 0 } else { quiet + 1 };
        while let Some(piece) = target.news.next_piece() {
            conn.notify(&target.schema, &piece)?;
        }
        if quiet >= QUIET_PAUSES_MAX {
            quiet = 0;
            conn.script("SELECT 1")?;
        }
    }
    Ok(())
}

/// Waits a moment for news, and returns whether there were any.
fn hear(target: &Target, conn: &mut PgConn) -> Result<bool> {
    let pieces = conn.session.notifications(PAUSE).map_err(failed)?;
    for piece in &pieces {
        target.news.hear(piece, |table| target.changes.raise(table));
    }
    if conn.session.is_closed() {
        return Err(Error::unavailable("the connection to the storage was lost"));
    }
    Ok(!pieces.is_empty())
}
