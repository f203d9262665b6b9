//! Customers in memory against a plain reading of all of them, while they come, change and go.

use std::sync::Arc;

use analytics::facts::{Directory, Found, Question};
use db::{Conn, Database, Location};
use shop_rows::customer_lookup::{self, CustomerLookupRow};
use types::Environment;

/// Few letters, so that many tie.
fn text(seed: u64, length: u64) -> String {
    let letter = |at: u64| ["a", "b", "ß"][usize::try_from((seed >> at) % 3).unwrap()];
    (0..seed % (length + 1)).map(letter).collect()
}

fn customer(customer_id: i64, seed: u64) -> CustomerLookupRow {
    CustomerLookupRow {
        customer_id,
        first_name: text(seed, 4),
        last_name: text(seed / 7, 6),
        email: format!("{seed}-{customer_id}@example.com"),
        ..CustomerLookupRow::default()
    }
}

fn bytes(column: &str, row: &CustomerLookupRow) -> Vec<u8> {
    let text = if column == "first" { &row.first_name } else { &row.last_name };
    text.clone().into_bytes()
}

/// The same by reading everybody.
fn naive(conn: &mut dyn Conn, question: &Question<'_>) -> Found {
    let mut rows = customer_lookup::after(conn, i64::MIN, 10_000).unwrap();
    rows.retain(|row| {
        let contains = |(column, searched): (&str, &str)| {
            String::from_utf8(bytes(column, row)).unwrap().contains(searched)
        };
        question.search.is_none_or(contains)
    });
    rows.sort_by(|one, other| {
        let order = bytes(question.by, one).cmp(&bytes(question.by, other));
        if question.descending { order.reverse() } else { order }
    });
    let ids = rows.iter().skip(question.offset).take(question.limit);
    Found { ids: ids.map(|row| row.customer_id).collect(), total: rows.len() }
}

/// Asks both the same, as the seed says.
fn check(store: &Database, directory: &Arc<Directory>, seed: u64) {
    let directory = Arc::clone(directory);
    let asked = move |conn: &mut dyn Conn| {
        let column = |number: u64| if number.is_multiple_of(2) { "first" } else { "last" };
        let searched = text(seed / 11, 3);
        let question = Question {
            by: column(seed / 5),
            descending: (seed / 3).is_multiple_of(2),
            search: (seed / 13).is_multiple_of(2).then_some((column(seed / 17), &*searched)),
            offset: usize::try_from(seed % 40).unwrap(),
            limit: usize::try_from(seed % 9).unwrap(),
        };
        let found = directory.ask(conn, &question, &bytes)?.expect("SQLite tells what changed");
        assert_eq!(found, naive(conn, &question), "{question:?}");
        Ok(())
    };
    store.read_blocking(asked).unwrap();
}

#[test]
fn a_directory_says_what_reading_everybody_would() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::parse(None, folder.path(), Environment::Sandbox, 2).unwrap();
    let store = Database::open(&location, schema::MIGRATIONS).unwrap();
    let directory = Arc::new(Directory::default());
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed >> 8
    };
    check(&store, &directory, next());
    for round in 0..400 {
        let (what, seed) = (next() % 20, next());
        let change = move |conn: &mut dyn Conn| {
            let chosen = i64::try_from(seed % 300).unwrap();
            match what {
                0 if round > 50 => drop(customer_lookup::delete(conn, chosen)?),
                1 => {
                    // A number of an import may be any.
                    if customer_lookup::get(conn, chosen + 100)?.is_none() {
                        customer_lookup::insert_with_id(conn, &customer(chosen + 100, seed))?;
                    }
                }
                2..8 => drop(customer_lookup::update(conn, &customer(chosen, seed))?),
                _ => drop(customer_lookup::find_or_insert(conn, &customer(0, seed))?),
            }
            Ok(())
        };
        store.write_blocking(change).unwrap();
        for _ in 0..next() % 3 {
            check(&store, &directory, next());
        }
    }
    let (held, most) = directory.bytes();
    assert!(held > 0 && held < most, "{held}");
}
