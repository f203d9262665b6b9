//! Which tables this process has written to: a count for each, raised when a transaction ends and
//! **before its caller is answered**. Who keeps something in memory that was read from tables takes
//! a [`Watch`] of them, and keeps it no longer than their count stays the same. Of writes of other
//! processes a count knows nothing; what is kept must also be short-lived.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Migrations;

type Count = Arc<AtomicU64>;

/// The counts of all tables.
#[derive(Debug)]
pub(crate) struct Changes {
    by_table: HashMap<String, Count>,
}

impl Changes {
    pub(crate) fn new(migrations: Migrations) -> Self {
        let tables = crate::migrate::tables(migrations).into_iter();
        Self { by_table: tables.map(|table| (table.name, Count::default())).collect() }
    }

    pub(crate) fn watch(&self, tables: &[&str]) -> Watch {
        let count = |name: &&str| {
            let found = self.by_table.get(*name);
            Arc::clone(found.unwrap_or_else(|| unreachable!("there is no table {name}")))
        };
        Watch { counts: tables.iter().map(count).collect() }
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
        self.counts.iter().map(|count| count.load(Ordering::Acquire)).sum()
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

    /// To be called when a transaction ended, whatever came of it: a commit of which the answer was
    /// lost may stand.
    pub(crate) fn publish(&mut self) {
        for count in self.counts.drain(..) {
            count.fetch_add(1, Ordering::AcqRel);
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
        "CREATE TABLE keys (\n  key_id @int NOT NULL\n);\nCREATE TABLE rest (\n  id @int\n);",
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
        written.publish();
        written.publish();
        assert_eq!(watch.generation(), 1);
    }
}
