//! Every statement: known to the registry, understood by both engines, in the portable subset.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use db::Val;
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

/// Statements that may read a table from its beginning to its end: it stays small, they stop at the
/// first rows, or they run in the background, for an operator, or once in a while.
const WHOLE_TABLES: &[&str] = &[
    // Small: what operators and the shop's staff set up.
    "ACCOUNT_LIST",
    "ACCOUNT_PAGE",
    "ACCOUNT_PAGE_IN_STATE",
    "ATTRIBUTE_ALL",
    "CONNECTION_ERRORS_FORGET",
    "CONNECTION_ERRORS_VERIFIED",
    "CONSUMER_KEY_LIST",
    "DELIVERY_DUE",
    "FEEDS_ENDED",
    "FEED_OF_FILE",
    "HEADS_UNTOLD",
    "ISO_COUNT",
    "ISO_LIST",
    "KEY_EXPIRING",
    "KEY_LIST",
    "OPTION_ALL",
    "PRODUCT_COUNTS",
    "PRODUCT_COUNTS_CLEAR",
    "REGISTRATION_COUNT",
    "SUBSCRIPTIONS_ALL",
    "SUBSCRIPTIONS_DELETE",
    "TAX_CLASS_ALL",
    "TEMPLATE_LIST",
    "ZONE_LIST",
    // The first rows are enough.
    "APPLICATION_PASSWORD_ANY",
    "CARTS_OLDEST",
    "ORDER_FIRST",
    "PRESENT_API_KEY",
    "PRESENT_MERCHANT",
    "PRESENT_PRODUCT",
    "PRESENT_PROFILE",
    "PRODUCTS_UP_TO",
    "PRESENT_SHIPPING_ZONE",
    "PRESENT_TAX_RATE",
    "PRESENT_WEBHOOK_ENDPOINT",
    // An index of nothing but what they look for.
    "AUDIT_PENDING",
    "AUDIT_UNCHAINED",
    "BACKLOG_DELIVERIES",
    "DELIVERY_UNLEASE",
    "JOB_NEXT_DUE",
    "OUTBOX_NUMBER",
    "OUTBOX_PENDING",
    // Now and then, or in the background.
    "ADMIN_NOTES_ANY_DUE",
    "ADMIN_NOTES_AWAKEN",
    "ADMIN_SURVEYS_RETIRE",
    "BUCKETS_FULL",
    "CARTS_COUNT",
    "CARTS_NAMING",
    "DOWNLOAD_IPS",
    "MEDIA_BYTES",
    "MEDIA_WITHOUT_POST",
    "ORDERS_MARKED",
    "ORDERS_MARKED_COUNT",
    "OUTBOX_FOLLOWERS",
    "PRODUCTS_COUNTED",
    "PRODUCTS_SALE_DUE",
    "PRODUCT_COUNTS_BY_TERM",
    "USER_ALL",
    "VARIATION_ATTRIBUTES_RENAME",
    "VARIATION_VALUES",
    "VARIATION_VALUES_RENAME",
];

/// Conditions that leave a great part of a table.
const COARSE: [&str; 3] = ["(site_id=?)", "(kind=?)", "(status=?)"];

/// A statement that looks something up finds it by an index: with the site's number alone, SQLite
/// would go through all the rows that there are.
#[test]
fn lookups_do_not_read_whole_tables() {
    let store = TestDatabase::sqlite().open();
    let readers = store.write_blocking(|conn| {
        let mut readers = BTreeMap::new();
        let mut tables = BTreeSet::new();
        let named = "SELECT name FROM sqlite_schema WHERE type = 'table'";
        conn.query_text(named, &[], &mut |row| {
            tables.extend(row.text(0)?);
            Ok(())
        })?;
        for sql in server::all_statements() {
            let mut steps = Vec::new();
            let params: Vec<Val<'_>> = (0..parameters(sql.text)).map(|_| Val::Null).collect();
            let explained = format!("EXPLAIN QUERY PLAN {}", sql.text);
            conn.query_text(&explained, &params, &mut |row| {
                steps.extend(row.text(3)?);
                Ok(())
            })?;
            steps.retain(|step| {
                let table = step.split(' ').nth(1).unwrap_or_default();
                let is_whole = step.starts_with("SCAN ")
                    || COARSE.iter().any(|condition| step.ends_with(condition));
                is_whole && (tables.contains(table) || step.contains(" USING "))
            });
            if !steps.is_empty() {
                readers.insert(sql.name, steps);
            }
        }
        Ok(readers)
    });
    let mut readers = readers.unwrap();
    let stale: Vec<_> =
        WHOLE_TABLES.iter().filter(|name| readers.remove(**name).is_none()).collect();
    assert!(readers.is_empty() && stale.is_empty(), "{readers:#?}\nnot any more: {stale:?}");
}

/// How many parameters a statement has: `$1` up to this one.
pub(crate) fn parameters(text: &str) -> usize {
    let numbers = text.split('$').skip(1).map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or_default()
    });
    numbers.max().unwrap_or_default()
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
