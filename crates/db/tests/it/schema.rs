//! What the migrations make: the same tables on both engines, once, and never backwards.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use db::{Conn, Database, fact};
use types::{Kind, Result};

use crate::support::{TestDatabase, count, together};

/// A column: its name, its token and whether it may be null.
type Column = (String, String, bool);
type Table = (String, Vec<Column>);
type Tables = BTreeMap<String, Vec<Column>>;

testkit::on_both_engines!(
    columns_are_as_declared,
    indexes_are_as_declared,
    opening_again_changes_nothing,
    a_newer_database_is_refused,
    two_processes_may_start_at_once,
);

fn columns_are_as_declared(database: &TestDatabase) {
    let postgres = database.is_postgres();
    let found = database.open().read_blocking(move |conn| introspect(conn, postgres)).unwrap();
    let declared = declared();
    assert!(declared.len() >= 11, "the test cannot read the migrations");
    assert_eq!(found, Tables::from_iter(declared));
}

/// All migrations, in order, as they lie in their folder.
fn migrations() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/migrations");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

fn migrations_done(store: &Database) -> usize {
    usize::try_from(count(store, "schema_migrations")).unwrap()
}

/// The tables in the order of their creation. Reads the migrations in a simple way of its own, apart
/// from how the crate reads them.
pub(crate) fn declared() -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for part in migrations().join("\n").split("CREATE TABLE ").skip(1) {
        let (name, rest) = part.split_once(" (\n").unwrap();
        let (body, _) = rest.split_once("\n)").unwrap();
        let columns = body.lines().filter_map(declared_column).collect();
        tables.push((name.to_owned(), columns));
    }
    for line in migrations().iter().flat_map(|text| text.lines()) {
        let added = line.strip_prefix("ALTER TABLE ").and_then(|it| it.split_once(" ADD COLUMN "));
        if let Some((name, column)) = added {
            let (_, columns) = tables.iter_mut().find(|(table, _)| table == name).unwrap();
            columns.extend(declared_column(column.trim_end_matches(';')));
        }
    }
    tables
}

fn declared_column(line: &str) -> Option<Column> {
    let (name, rest) = line.trim().split_once(' ')?;
    let token = rest.split([' ', ',']).next()?.strip_prefix('@')?;
    let kind = if token == "serial" { "int" } else { token };
    let nullable = token != "serial" && !rest.contains("NOT NULL");
    Some((name.to_owned(), kind.to_owned(), nullable))
}

fn introspect(conn: &mut dyn Conn, postgres: bool) -> Result<Tables> {
    let text = if postgres {
        // Texts must be compared by their bytes, as SQLite does.
        "SELECT table_name::text, column_name::text,
                CASE WHEN data_type = 'text' THEN 'text ' || COALESCE(collation_name, 'default')
                     ELSE data_type END::text,
                CASE is_nullable WHEN 'YES' THEN 1::bigint ELSE 0::bigint END
         FROM information_schema.columns WHERE table_schema = 'boardwalk_sandbox'
           AND table_name NOT LIKE '%!_tally' ESCAPE '!'
         ORDER BY table_name, ordinal_position"
    } else {
        "SELECT t.name, c.name, c.type, CASE WHEN c.\"notnull\" OR c.pk THEN 0 ELSE 1 END
         FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
           AND t.name NOT LIKE '%!_text' ESCAPE '!' AND t.name NOT LIKE '%!_text!_%' ESCAPE '!'
           AND t.name NOT LIKE '%!_tally' ESCAPE '!'
         ORDER BY t.name, c.cid"
    };
    let mut tables = Tables::new();
    conn.query_text(text, &[], &mut |row| {
        let (table, column): (String, String) = (row.get(0)?, row.get(1)?);
        let kind = match row.get::<String>(2)?.as_str() {
            "INTEGER" | "bigint" => "int",
            "TEXT" | "text C" => "text",
            "BLOB" | "bytea" => "bytes",
            other => panic!("{table}.{column} is of type {other}"),
        };
        let columns = tables.entry(table).or_default();
        columns.push((column, kind.to_owned(), row.get(3)?));
        Ok(())
    })?;
    assert!(tables.remove("schema_migrations").is_some());
    Ok(tables)
}

fn indexes_are_as_declared(database: &TestDatabase) {
    let text = if database.is_postgres() {
        "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'boardwalk_sandbox'
         AND indexname NOT LIKE '%_pkey' ORDER BY indexname"
    } else {
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND name NOT LIKE 'sqlite_%'
         ORDER BY name"
    };
    let found = database.open().read_blocking(|conn| {
        let mut names: Vec<String> = Vec::new();
        conn.query_text(text, &[], &mut |row| {
            names.push(row.get(0)?);
            Ok(())
        })?;
        Ok(names)
    });
    let migrations = migrations().join("\n");
    let mut declared: BTreeSet<String> = BTreeSet::new();
    for line in migrations.lines() {
        let Some((verb, rest)) = line.split_once("INDEX ") else { continue };
        let name = rest.split([' ', ';']).next().unwrap();
        if verb == "DROP " {
            assert!(declared.remove(name), "{name} is dropped and was never there");
        } else {
            declared.insert(name.to_owned());
        }
    }
    if database.is_postgres() {
        let texts = migrations.lines().filter_map(|line| line.strip_prefix("@text_index "));
        declared.extend(texts.map(|rest| format!("{}_by_text", rest.split(' ').next().unwrap())));
    }
    assert_eq!(BTreeSet::from_iter(found.unwrap()), declared);
}

fn opening_again_changes_nothing(database: &TestDatabase) {
    let store = database.open();
    store.write_blocking(|conn| fact::put(conn, "kept", "yes")).unwrap();
    drop(store);
    let store = database.open();
    let kept = store.read_blocking(|conn| fact::get(conn, "kept")).unwrap();
    assert_eq!(kept.as_deref(), Some("yes"));
    assert_eq!(migrations_done(&store), migrations().len());
}

fn a_newer_database_is_refused(database: &TestDatabase) {
    let newest = "INSERT INTO schema_migrations (version, name) VALUES (9999, 'later')";
    database.open().write_blocking(|conn| conn.script(newest)).unwrap();
    let error = Database::open(&database.location, schema::MIGRATIONS).unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid);
    assert!(error.to_string().contains("newer version"), "{error}");
}

fn two_processes_may_start_at_once(database: &TestDatabase) {
    let stores = together(4, |_| Database::open(&database.location, schema::MIGRATIONS));
    for store in stores {
        assert_eq!(migrations_done(&store.unwrap()), migrations().len());
    }
}
