//! What is due and not done yet, for the operator: background jobs, messages to webhooks, and
//! events that their followers have not seen.

use types::{Result, Timestamp};

use crate::{Conn, Row, SITE, outbox, statements};

statements! {
    BACKLOG_JOBS =
        "SELECT kind, COUNT(*), MIN(due_us) FROM background_jobs
         WHERE site_id = $1 AND finished_us IS NULL AND due_us <= $2
         GROUP BY kind ORDER BY kind";
    BACKLOG_DELIVERIES =
        "SELECT endpoint_kind, COUNT(*), MIN(due_us) FROM webhook_deliveries
         WHERE site_id = $1 AND state = 'waiting' AND held = 0 AND due_us <= $2
         GROUP BY endpoint_kind ORDER BY endpoint_kind";
}

/// What waits of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub kind: String,
    pub count: i64,
    /// Since when the first of them is due.
    pub since: Timestamp,
}

impl Waiting {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self { kind: row.get(0)?, count: row.get(1)?, since: row.get(2)? })
    }
}

/// Everything that waits at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Jobs by their kind; those under way count when their lease is over.
    pub jobs: Vec<Waiting>,
    /// Messages by the kind of their endpoints.
    pub deliveries: Vec<Waiting>,
    /// Followers of the feed of all changes, with how many events they have to see.
    pub followers: Vec<(String, i64)>,
}

/// The jobs that are due, by their kind.
pub fn jobs(conn: &mut dyn Conn, now: Timestamp) -> Result<Vec<Waiting>> {
    conn.rows(&BACKLOG_JOBS, &[SITE.into(), now.into()], Waiting::read)
}

impl Backlog {
    pub fn read(conn: &mut dyn Conn, now: Timestamp) -> Result<Self> {
        Ok(Self {
            jobs: jobs(conn, now)?,
            deliveries: conn.rows(
                &BACKLOG_DELIVERIES,
                &[SITE.into(), now.into()],
                Waiting::read,
            )?,
            followers: outbox::lags(conn)?,
        })
    }
}
