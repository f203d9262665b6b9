//! Every statement: known to the registry, understood by both engines, in the portable subset.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::database::TestDatabase;

testkit::on_both_engines!(every_statement_prepares);

fn every_statement_prepares(database: &TestDatabase) {
    let store = database.open();
    let refused = store.write_blocking(|conn| {
        let mut refused = Vec::new();
        for sql in server::all_statements() {
            // A failed statement would end the transaction on PostgreSQL.
            conn.script("SAVEPOINT one")?;
            if let Err(error) = conn.prepare(sql) {
                refused.push(format!("{}: {}", sql.name, error.report()));
                conn.script("ROLLBACK TO SAVEPOINT one")?;
            }
        }
        Ok(refused)
    });
    assert_eq!(refused.unwrap(), Vec::<String>::new());
}

#[test]
fn the_registry_knows_every_declaration() {
    let mut declared = Vec::new();
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")) {
        let text = fs::read_to_string(&file).unwrap();
        for block in text.split("\nstatements! {\n").skip(1) {
            let block = block.split("\n}").next().unwrap_or_default();
            declared.extend(block.lines().filter_map(declared_name));
        }
    }
    let mut registered: Vec<_> =
        server::all_statements().iter().map(|sql| sql.name.to_owned()).collect();
    declared.sort();
    registered.sort();
    assert_eq!(declared, registered);
    assert!(registered.len() >= 300, "the search found {} only", registered.len());
}

/// The name of the statement whose declaration begins on the line: `    FACT_GET = …`.
fn declared_name(line: &str) -> Option<String> {
    let (name, _) = line.strip_prefix("    ")?.split_once(" =")?;
    let is_name = !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_uppercase());
    is_name.then(|| name.to_owned())
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn names_and_texts_are_unique() {
    let statements = server::all_statements();
    for (index, sql) in statements.iter().enumerate() {
        for other in &statements[index + 1..] {
            assert_ne!(sql.name, other.name);
            assert_ne!(sql.text, other.text, "{} and {}", sql.name, other.name);
        }
    }
}

/// SQLite numbers parameters by their first appearance, PostgreSQL by the number itself.
#[test]
fn parameters_first_appear_in_order() {
    for sql in server::all_statements() {
        let mut newest = 0;
        for after in sql.text.split('$').skip(1) {
            let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
            let parameter: usize = digits.parse().expect(sql.name);
            assert!(parameter <= newest + 1, "${parameter} comes too early in {}", sql.name);
            newest = newest.max(parameter);
        }
    }
}

/// Caches end when a table is written to, which is read from how a statement begins.
#[test]
fn a_statement_that_writes_begins_with_its_table() {
    for sql in server::all_statements() {
        let words: Vec<&str> = sql.text.split_ascii_whitespace().collect();
        let is_seen = match words.as_slice() {
            ["INSERT", "INTO", ..] | ["DELETE", "FROM", ..] | ["UPDATE", ..] => true,
            [..] => !["INSERT", "DELETE", "UPDATE"].iter().any(|verb| words.contains(verb)),
        };
        assert!(is_seen, "{} writes to a table that nobody sees", sql.name);
    }
}
