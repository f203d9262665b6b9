//! Which tables were written to: a count for each, raised when a transaction ends and **before its
//! caller is answered**. Who keeps something in memory that was read from tables takes a [`Watch`]
//! of them, and keeps it no longer than their count stays the same.
//!
//! Tables that are watched are *announced*: a line of a migration says so, `-- announced: a, b`. On
//! PostgreSQL, a transaction that writes to one tells the other nodes when it commits, which raise
//! their counts when they hear of it: a moment later, or not at all when the connection is lost
//! meanwhile. **What is kept must also be short-lived.** Tables that every request writes to are
//! not announced: PostgreSQL lets only one transaction at a time commit that tells others.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::Migrations;

const ANNOUNCED: &str = "-- announced: ";

type Count = Arc<Table>;
type Listener = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Table {
    name: String,
    is_announced: bool,
    count: AtomicU64,
    listeners: RwLock<Vec<Listener>>,
}

impl fmt::Debug for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

impl Table {
    fn raise(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
        for listener in self.listeners.read().unwrap_or_else(PoisonError::into_inner).iter() {
            listener();
        }
    }
}

/// The counts of all tables.
#[derive(Debug)]
pub(crate) struct Changes {
    by_table: HashMap<String, Count>,
}

impl Changes {
    pub(crate) fn new(migrations: Migrations) -> Self {
        let lines = migrations.iter().flat_map(|(_, text)| text.lines());
        let announced: Vec<&str> = lines
            .filter_map(|line| line.strip_prefix(ANNOUNCED))
            .flat_map(|names| names.split(", "))
            .collect();
        let count = |name: String| {
            let is_announced = announced.contains(&name.as_str());
            let table = Table { name: name.clone(), is_announced, ..Table::default() };
            (name, Arc::new(table))
        };
        let tables = crate::migrate::tables(migrations).into_iter();
        Self { by_table: tables.map(|table| count(table.name)).collect() }
    }

    fn announced(&self, name: &str) -> &Count {
        match self.by_table.get(name) {
            Some(table) if table.is_announced => table,
            _ => unreachable!("no migration announces a table {name}"),
        }
    }

    pub(crate) fn watch(&self, tables: &[&str]) -> Watch {
        Watch { counts: tables.iter().map(|name| Arc::clone(self.announced(name))).collect() }
    }

    /// Has `listener` called after each transaction that wrote to the table, of any node.
    pub(crate) fn on_change(&self, table: &str, listener: Listener) {
        let listeners = &self.announced(table).listeners;
        listeners.write().unwrap_or_else(PoisonError::into_inner).push(listener);
    }

    /// Another node wrote to the table.
    pub(crate) fn raise(&self, name: &str) {
        if let Some(table) = self.by_table.get(name) {
            table.raise();
        }
    }

    /// Other nodes may have written to any table.
    pub(crate) fn raise_all(&self) {
        self.by_table.values().filter(|table| table.is_announced).for_each(|table| table.raise());
    }
}

/// How often some tables were written to.
#[derive(Clone, Debug)]
pub struct Watch {
    counts: Vec<Count>,
}

impl Watch {
    /// Grows with every transaction that wrote to one of the tables. Take it before reading from
    /// them: what was read is current as long as it stays the same.
    pub fn generation(&self) -> u64 {
        self.counts.iter().map(|table| table.count.load(Ordering::Acquire)).sum()
    }
}

/// The tables that the transactions of one connection wrote to.
#[derive(Debug)]
pub(crate) struct Written {
    changes: Arc<Changes>,
    counts: Vec<Count>,
}

impl Written {
    pub(crate) fn new(changes: &Arc<Changes>) -> Self {
        Self { changes: Arc::clone(changes), counts: Vec::new() }
    }

    /// Notes the table that the statement writes to, if it does.
    pub(crate) fn note(&mut self, text: &str) {
        let Some(count) = written_table(text).and_then(|name| self.changes.by_table.get(name))
        else {
            return;
        };
        if !self.counts.iter().any(|known| Arc::ptr_eq(known, count)) {
            self.counts.push(Arc::clone(count));
        }
    }

    /// The announced tables among those that were written to.
    pub(crate) fn announced(&self) -> impl Iterator<Item = &str> {
        let announced = self.counts.iter().filter(|table| table.is_announced);
        announced.map(|table| table.name.as_str())
    }

    /// To be called when a transaction ended, whatever came of it: a commit of which the answer was
    /// lost may stand.
    pub(crate) fn publish(&mut self) {
        for table in self.counts.drain(..) {
            table.raise();
        }
    }
}

/// The table that a statement inserts into, updates or deletes from.
pub(crate) fn written_table(text: &str) -> Option<&str> {
    let mut words = text.split_ascii_whitespace();
    let name = match (words.next()?, words.next()?) {
        ("INSERT", "INTO") | ("DELETE", "FROM") => words.next()?,
        ("UPDATE", name) => name,
        _ => return None,
    };
    name.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIGRATIONS: Migrations = &[(
        "first",
        "-- announced: keys
CREATE TABLE keys (
  key_id @int NOT NULL
);
CREATE TABLE rest (
  id @int
);",
    )];

    #[test]
    fn every_way_of_writing_names_its_table() {
        for text in [
            "INSERT INTO keys (key_id) VALUES ($1)",
            "\n  INSERT INTO keys(key_id) VALUES ($1) ON CONFLICT (key_id) DO UPDATE SET a = $1",
            "UPDATE keys\n SET key_id = $1",
            "DELETE FROM keys",
        ] {
            assert_eq!(written_table(text), Some("keys"), "{text}");
        }
        assert_eq!(written_table("SELECT key_id FROM keys"), None);
    }

    #[test]
    fn a_watch_sees_its_own_tables_alone_and_only_after_the_end() {
        let changes = Arc::new(Changes::new(MIGRATIONS));
        let watch = changes.watch(&["keys"]);
        let mut written = Written::new(&changes);
        written.note("UPDATE rest SET id = 1");
        written.publish();
        assert_eq!(watch.generation(), 0);
        written.note("DELETE FROM keys");
        assert_eq!(watch.generation(), 0);
        assert_eq!(written.announced().collect::<Vec<_>>(), ["keys"]);
        written.publish();
        written.publish();
        assert_eq!(watch.generation(), 1);
    }

    #[test]
    fn what_another_node_wrote_counts_as_well() {
        let changes = Changes::new(MIGRATIONS);
        let watch = changes.watch(&["keys"]);
        let calls = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&calls);
        let count = move || {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        changes.on_change("keys", Arc::new(count));
        changes.raise("keys");
        changes.raise("a table of a newer version");
        changes.raise_all();
        assert_eq!((watch.generation(), calls.load(Ordering::Relaxed)), (2, 2));
    }

    #[test]
    #[should_panic(expected = "no migration announces")]
    fn nobody_watches_what_other_nodes_would_not_tell() {
        Changes::new(MIGRATIONS).watch(&["rest"]);
    }
}
