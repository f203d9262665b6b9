//! Facts made anew on demand. Who wants that says so in the feed of changes itself, so that **every
//! process that follows it makes the same facts**, and one that was away makes them when it is
//! back.
//!
//! An import is a run of such events, each about some hundreds of records; between two of them
//! other changes have their turn. [`crate::imports`] appends them.

use db::Conn;
use db::outbox::{self, Event};
use serde::{Deserialize, Serialize};
use serde_json::json;
use types::{Result, Timestamp};

/// The first word of both kinds of event.
pub(super) const NOUN: &str = "report_facts";
const CLEARED: &str = "report_facts.cleared";
const WANTED: &str = "report_facts.wanted";

/// Records whose facts are to be made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Portion {
    /// The ids that are meant come after this one.
    pub after: i64,
    /// The last of them.
    pub through: i64,
    /// Only what was made since then, in microseconds.
    pub since_us: Option<i64>,
    /// Whether records whose facts are there are left alone.
    pub skips_existing: bool,
}

impl Portion {
    pub(super) fn since(&self) -> Option<Timestamp> {
        self.since_us.map(Timestamp::from_micros)
    }
}

/// Has the facts of these records made anew, by everybody who follows the feed.
pub fn ask(conn: &mut dyn Conn, portion: &Portion, now: Timestamp) -> Result<()> {
    outbox::append(conn, &Event::of_site(WANTED, portion.through, json!(portion).to_string(), now))
}

/// Has all facts about orders forgotten, by everybody who follows the feed. Changes from then on
/// are followed as ever.
pub fn ask_to_clear(conn: &mut dyn Conn, now: Timestamp) -> Result<()> {
    outbox::append(conn, &Event::of_site(CLEARED, 0, String::from("{}"), now))
}

/// What an event of the noun asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Clear,
    Make(Portion),
}

impl Wish {
    pub(super) fn read(kind: &str, payload: &serde_json::Value) -> Option<Self> {
        match kind {
            CLEARED => Some(Self::Clear),
            WANTED => Portion::deserialize(payload).ok().map(Self::Make),
            _ => None,
        }
    }
}
