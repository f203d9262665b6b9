//! How many rows a table has, kept beside it, so that a list tells how many match without reading
//! all of them.
//!
//! A tally has a row for each group of rows that are alike in a few columns, **under the names of
//! those columns**: conditions about them mean the same of the table and of its tally, and
//! [`Filter::page`](crate::filter::Filter::page) counts by the one or by the other. Triggers keep
//! it, for nothing that writes may forget it: not a node of an older version beside this one, not a
//! foreign key that deletes, not a restored backup, of which tallies are no part.
//!
//! On SQLite there is one row for each group. On PostgreSQL all who write at once would wait for
//! it, so each statement adds a row of its own, and these are drawn together ([`settle`]) now and
//! then. **How many there are is the sum**, whether or not anybody does.
//!
//! A migration declares one on a line of its own: `@tally orders (kind @text, status @text);`

use types::Result;

use crate::{Conn, Engine};

const DECLARED: &str = "@tally ";
/// How many rows those of a tally stand for.
pub(crate) const SUM: &str = "CAST(COALESCE(SUM(row_count), 0) AS BIGINT)";
/// Where the sums of a tally are; other rows wait to be drawn together.
const SETTLED: i64 = 0;
/// Of each tally; the rest waits for the next time.
const SETTLED_AT_ONCE_MAX: usize = 20_000;

/// A table, and what its rows are told apart by: names and types of columns that are never null.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tally<'a> {
    table: &'a str,
    columns: Vec<(&'a str, &'a str)>,
}

/// What the declaration on a line of a migration means to the engine; nothing if it is none.
pub(crate) fn rendered(line: &str, engine: Engine) -> Option<String> {
    let tally = Tally::declared(line)?;
    Some(match engine {
        Engine::Sqlite => tally.rendered_for_sqlite(),
        Engine::Postgres => tally.rendered_for_postgres(),
    })
}

/// The table that counts the rows of this one.
pub(crate) fn name(table: &str) -> String {
    format!("{table}_tally")
}

/// Whether anything waits to be drawn together.
pub(crate) fn is_due<'m>(
    conn: &mut dyn Conn,
    migrations: impl Iterator<Item = &'m str>,
) -> Result<bool> {
    let mut is_due = false;
    for tally in declared(migrations) {
        let tally = name(tally.table);
        let text = format!("SELECT 1 FROM {tally} WHERE slot <> {SETTLED} LIMIT 1");
        conn.query_text(&text, &[], &mut |_| {
            is_due = true;
            Ok(())
        })?;
    }
    Ok(is_due)
}

/// Draws together some of what was counted lately. One at a time may.
pub(crate) fn settle<'m>(
    conn: &mut dyn Conn,
    migrations: impl Iterator<Item = &'m str>,
) -> Result<()> {
    declared(migrations).try_for_each(|tally| conn.script(&tally.settling()))
}

/// Counts all rows again.
pub(crate) fn recount<'m>(
    conn: &mut dyn Conn,
    migrations: impl Iterator<Item = &'m str>,
) -> Result<()> {
    let engine = conn.engine();
    let tallies: Vec<Tally<'_>> = declared(migrations).collect();
    if engine == Engine::Postgres {
        conn.script("SET LOCAL statement_timeout TO 0")?;
        // Before anything is read, so that all is seen that was committed before.
        tallies.iter().try_for_each(|tally| conn.script(&tally.locked()))?;
    }
    for tally in tallies {
        conn.script(&format!("DELETE FROM {}", name(tally.table)))?;
        conn.script(&tally.filled(engine))?;
    }
    Ok(())
}

/// Tables whose tallies say something else than a count of their rows.
pub(crate) fn wrong<'m>(
    conn: &mut dyn Conn,
    migrations: impl Iterator<Item = &'m str>,
) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    if conn.engine() == Engine::Postgres {
        conn.script("SET LOCAL statement_timeout TO 0")?;
    }
    for tally in declared(migrations) {
        conn.query_text(&tally.differences(), &[], &mut |_| {
            wrong.push(tally.table.to_owned());
            Ok(())
        })?;
    }
    Ok(wrong)
}

fn declared<'m>(migrations: impl Iterator<Item = &'m str>) -> impl Iterator<Item = Tally<'m>> {
    migrations.flat_map(str::lines).filter_map(Tally::declared)
}

impl<'a> Tally<'a> {
    fn declared(line: &'a str) -> Option<Self> {
        let (table, columns) = line.strip_prefix(DECLARED)?.split_once(" (")?;
        let columns = columns.trim_end().strip_suffix(");")?.split(", ");
        Some(Self { table, columns: columns.filter_map(|column| column.split_once(' ')).collect() })
    }

    /// The site and the columns, each as the text says where its name stands.
    fn each(&self, text: &str, between: &str) -> String {
        let names = ["site_id"].into_iter().chain(self.columns.iter().map(|(name, _)| *name));
        names.map(|name| text.replace('?', name)).collect::<Vec<_>>().join(between)
    }

    /// The declarations of the columns.
    fn types(&self) -> String {
        let types = self.columns.iter().map(|(name, kind)| format!(", {name} {kind} NOT NULL"));
        format!("site_id @int NOT NULL{}", types.collect::<String>())
    }

    fn filled(&self, engine: Engine) -> String {
        let (slot, settled) = match engine {
            Engine::Sqlite => ("", String::new()),
            Engine::Postgres => (", slot", format!(", {SETTLED}")),
        };
        format!(
            "INSERT INTO {tally} ({columns}{slot}, row_count)
               SELECT {columns}{settled}, COUNT(*) FROM {table} GROUP BY {columns}",
            tally = name(self.table),
            columns = self.each("?", ", "),
            table = self.table,
        )
    }

    fn rendered_for_sqlite(&self) -> String {
        let Self { table, .. } = self;
        let (tally, columns) = (name(table), self.each("?", ", "));
        let added = |row: &str, count: i64| {
            format!(
                "INSERT INTO {tally} ({columns}, row_count) VALUES ({values}, {count})
                 ON CONFLICT ({columns}) DO UPDATE SET row_count = row_count + {count};",
                values = self.each(&format!("{row}.?"), ", "),
            )
        };
        let (one_more, one_less) = (added("NEW", 1), added("OLD", -1));
        format!(
            "CREATE TABLE {tally} (
               {types}, row_count @int NOT NULL, PRIMARY KEY ({columns})) STRICT, WITHOUT ROWID;
             {filled};
             CREATE TRIGGER {tally}_insert AFTER INSERT ON {table} BEGIN {one_more} END;
             CREATE TRIGGER {tally}_delete AFTER DELETE ON {table} BEGIN {one_less} END;
             CREATE TRIGGER {tally}_update AFTER UPDATE OF {columns} ON {table}
               WHEN {changed} BEGIN {one_less} {one_more} END;",
            types = self.types(),
            filled = self.filled(Engine::Sqlite),
            changed = self.each("OLD.? <> NEW.?", " OR "),
        )
    }

    /// Who writes meanwhile waits.
    fn locked(&self) -> String {
        format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", self.table)
    }

    fn rendered_for_postgres(&self) -> String {
        let Self { table, .. } = self;
        let (tally, columns) = (name(table), self.each("?", ", "));
        // Vacuum is to keep up with rows that live for a second, and whoever writes by another path
        // of schemas is to be counted as well.
        format!(
            "{locked};
             CREATE TABLE {tally} (
               {types}, slot BIGINT GENERATED BY DEFAULT AS IDENTITY,
               row_count @int NOT NULL, PRIMARY KEY ({columns}, slot));
             ALTER TABLE {tally} SET
               (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
             {filled};
             CREATE FUNCTION {tally}_rows() RETURNS trigger LANGUAGE plpgsql
               SET search_path FROM CURRENT AS $$ BEGIN
               INSERT INTO {tally} ({columns}, row_count)
                 SELECT {columns}, CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END * COUNT(*)
                 FROM changed GROUP BY {columns};
               RETURN NULL;
             END $$;
             CREATE FUNCTION {tally}_row() RETURNS trigger LANGUAGE plpgsql
               SET search_path FROM CURRENT AS $$ BEGIN
               INSERT INTO {tally} ({columns}, row_count) VALUES ({old}, -1), ({new}, 1);
               RETURN NULL;
             END $$;
             CREATE TRIGGER {tally}_insert AFTER INSERT ON {table}
               REFERENCING NEW TABLE AS changed
               FOR EACH STATEMENT EXECUTE FUNCTION {tally}_rows();
             CREATE TRIGGER {tally}_delete AFTER DELETE ON {table}
               REFERENCING OLD TABLE AS changed
               FOR EACH STATEMENT EXECUTE FUNCTION {tally}_rows();
             CREATE TRIGGER {tally}_update AFTER UPDATE ON {table}
               FOR EACH ROW WHEN ({changed}) EXECUTE FUNCTION {tally}_row();",
            locked = self.locked(),
            types = self.types(),
            filled = self.filled(Engine::Postgres),
            old = self.each("OLD.?", ", "),
            new = self.each("NEW.?", ", "),
            changed = self.each("OLD.? <> NEW.?", " OR "),
        )
    }

    fn settling(&self) -> String {
        format!(
            "WITH moved AS (
               DELETE FROM {tally} WHERE slot IN
                 (SELECT slot FROM {tally} WHERE slot <> {SETTLED} LIMIT {SETTLED_AT_ONCE_MAX})
               RETURNING {columns}, row_count)
             INSERT INTO {tally} ({columns}, slot, row_count)
               SELECT {columns}, {SETTLED}, CAST(SUM(row_count) AS BIGINT)
               FROM moved GROUP BY {columns}
             ON CONFLICT ({columns}, slot)
               DO UPDATE SET row_count = {tally}.row_count + EXCLUDED.row_count;",
            tally = name(self.table),
            columns = self.each("?", ", "),
        )
    }

    /// A row if anything is not as it was counted.
    fn differences(&self) -> String {
        format!(
            "SELECT 1 FROM (
               SELECT {columns}, row_count FROM {tally}
               UNION ALL SELECT {columns}, -COUNT(*) FROM {table} GROUP BY {columns}) AS counted
             GROUP BY {columns} HAVING SUM(row_count) <> 0 LIMIT 1",
            tally = name(self.table),
            columns = self.each("?", ", "),
            table = self.table,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_is_one_line() {
        let line = "@tally orders (kind @text, status @text);";
        let tally = Tally::declared(line).unwrap();
        assert_eq!(tally.table, "orders");
        assert_eq!(tally.columns, [("kind", "@text"), ("status", "@text")]);
        let text = rendered(line, Engine::Postgres).unwrap();
        assert!(text.contains("VALUES (OLD.site_id, OLD.kind, OLD.status, -1)"), "{text}");
        let text = rendered(line, Engine::Sqlite).unwrap();
        assert!(text.contains("VALUES (OLD.site_id, OLD.kind, OLD.status, -1)"), "{text}");
        assert!(text.contains("UPDATE OF site_id, kind, status ON orders"), "{text}");
        assert_eq!(rendered("CREATE TABLE orders (", Engine::Postgres), None);
    }
}
