//! A backup holds everything, fits together, moves between engines, and is refused when damaged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use db::backup::{self, ID_STEP, NoFiles, Summary};
use db::{Conn, Database, Migrations, Val, counter, fact, outbox};
use schema::MIGRATIONS;
use serde_json::Value;
use types::{Environment, Kind, Result, Timestamp};

use crate::schema::declared;
use crate::support::{Stop, TestDatabase, count, event, number, time};

const SANDBOX: Environment = Environment::Sandbox;
/// A table to which others refer.
const LARGE: &str = "isos";
/// More than two batches of a restore, and a rest.
const LARGE_ROWS: i64 = 150;
/// Tables whose rows mean something to this crate; the tests fill them by its functions.
const OWN: [&str; 4] = ["counters", "facts", "outbox", "event_heads"];

/// Few tables, so that every byte of a backup can be tried.
const SMALL: Migrations = &[(
    "0001_small",
    "CREATE TABLE facts (
       name @text NOT NULL PRIMARY KEY,
       value @text NOT NULL
     ) @strict;
     CREATE TABLE things (
       id @serial,
       content @bytes
     ) @strict;",
)];

/// The rows of each table, as they stand in a backup.
type Rows = BTreeMap<String, BTreeSet<String>>;

testkit::on_both_engines!(
    everything_moves_to_sqlite,
    everything_moves_to_postgres,
    an_empty_database_can_be_restored,
    a_backup_taken_while_others_write_fits_together,
    a_bad_backup_changes_nothing,
    a_database_in_use_is_refused,
    a_started_database_is_not_in_use,
    a_backup_from_before_a_column_was_added_is_restored,
);

fn everything_moves_to_sqlite(source: &TestDatabase) {
    everything_moves(source, &TestDatabase::sqlite());
}

fn everything_moves_to_postgres(source: &TestDatabase) {
    everything_moves(source, &TestDatabase::postgres());
}

fn everything_moves(source: &TestDatabase, target: &TestDatabase) {
    let from = source.open();
    from.write_blocking(fill).unwrap();
    let (text, written) = back_up(&from);
    assert_eq!(written.rows[LARGE], u64::try_from(LARGE_ROWS).unwrap());
    let newest = i64::try_from(MIGRATIONS.len()).unwrap();
    assert_eq!((written.created, written.schema), (time(0), newest));
    let to = target.open();
    let restored = backup::restore(&to, &save(target, &text), SANDBOX, &mut NoFiles).unwrap();
    assert_eq!(restored, written);
    let (again, _) = back_up(&to);
    let (mut before, mut after) = (rows(&text), rows(&again));
    assert!(before.len() >= 12, "the test cannot read a backup");
    let empty: Vec<_> = before.iter().filter(|(_, rows)| rows.is_empty()).collect();
    assert!(empty.is_empty(), "the test leaves tables empty: {empty:?}");
    let jumped = before["counters"].iter().map(|row| jumped(row)).collect();
    before.insert("counters".to_owned(), jumped);
    assert_eq!(after.remove("counters"), before.remove("counters"));
    assert_eq!(before, after);
    the_feed_goes_on(&to);
    let next = to.write_blocking(|conn| counter::take(conn, "id", 1)).unwrap();
    assert_eq!(next, ID_STEP + 7);
}

/// The counter as a restore leaves it: all go ahead but those of the feed.
fn jumped(counter: &str) -> String {
    let (name, next): (String, i64) = serde_json::from_str(counter).unwrap();
    let next = if name.starts_with("outbox.") { next } else { next + ID_STEP };
    serde_json::to_string(&(name, next)).unwrap()
}

/// Three events were numbered in the backup and two were not; one more comes behind them.
fn the_feed_goes_on(store: &Database) {
    let events = store.write_blocking(|conn| {
        outbox::append(conn, &event("new", "5"))?;
        outbox::sequence(conn, 100)?;
        outbox::after(conn, 0, 100)
    });
    let events: Vec<_> =
        events.unwrap().into_iter().map(|event| (event.seq, event.payload)).collect();
    let expected: Vec<_> = (1..=6).zip((0..=5).map(|number| number.to_string())).collect();
    assert_eq!(events, expected);
}

/// Puts something into every table, whatever the tables are about.
fn fill(conn: &mut dyn Conn) -> Result<()> {
    for (table, _) in declared().into_iter().filter(|(table, _)| !OWN.contains(&table.as_str())) {
        for number in 1..=if table == LARGE { LARGE_ROWS } else { 3 } {
            insert(conn, &table, number)?;
        }
    }
    fact::get_or_set(conn, "master key", "\u{1}\u{1f511}\"\\\u{2028}")?;
    counter::take(conn, "id", 7)?;
    outbox::advance(conn, "mail", 0, 2)?;
    for number in 0..5 {
        outbox::append(conn, &event("object", &number.to_string()))?;
        if number == 2 {
            outbox::sequence(conn, 100)?;
        }
    }
    Ok(())
}

/// Inserts the row of this number. All its columns of a type are the same, and differ from those of
/// other numbers, so that every reference finds its row and nothing is there twice. What may be null
/// is so in every other row.
fn insert(conn: &mut dyn Conn, table: &str, number: i64) -> Result<()> {
    let (_, columns) = declared().into_iter().find(|(name, _)| name == table).unwrap();
    let text = format!("t{number} Ü\u{1f511}\"\\\u{2028}\n");
    let bytes = [0, 255, u8::try_from(number).unwrap(), b'"'];
    let value = |(_, kind, nullable): &(String, String, bool)| match kind.as_str() {
        _ if *nullable && number % 2 == 0 => Val::Null,
        "int" => Val::Int(number),
        "text" => Val::Text(&text),
        "bytes" => Val::Bytes(&bytes),
        other => panic!("a column of the type {other}"),
    };
    let values: Vec<Val<'_>> = columns.iter().map(value).collect();
    let names: Vec<&str> = columns.iter().map(|(name, ..)| name.as_str()).collect();
    let places: Vec<String> = (1..=names.len()).map(|place| format!("${place}")).collect();
    let (names, places) = (names.join(", "), places.join(", "));
    let statement = format!("INSERT INTO {table} ({names}) VALUES ({places})");
    conn.query_text(&statement, &values, &mut |_| Ok(()))
}

fn an_empty_database_can_be_restored(source: &TestDatabase) {
    let (text, summary) = back_up(&source.open());
    assert_eq!(summary.rows_total(), 0);
    for target in [TestDatabase::sqlite(), TestDatabase::postgres()] {
        let store = target.open();
        assert_eq!(
            backup::restore(&store, &save(&target, &text), SANDBOX, &mut NoFiles).unwrap(),
            summary
        );
        store.write_blocking(fill).unwrap();
        assert_eq!(count(&store, "outbox"), 5);
    }
}

fn a_backup_taken_while_others_write_fits_together(database: &TestDatabase) {
    let store = database.open();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for writer in 0..8 {
            let (store, done) = (&store, &done);
            scope.spawn(move || write_until(store, done, writer));
        }
        let _stop = Stop(&done);
        let mut sizes = Vec::new();
        while sizes.len() < 5 || sizes.first() == sizes.last() {
            let (text, summary) = back_up(&store);
            assert_eq!(backup::verify(&mut text.as_bytes(), MIGRATIONS).unwrap(), summary);
            check_written(&text);
            sizes.push(summary.rows["facts"]);
        }
    });
}

fn write_until(store: &Database, done: &AtomicBool, writer: usize) {
    for round in 0.. {
        if done.load(Ordering::Acquire) {
            break;
        }
        let name = format!("{writer}-{round}");
        store
            .write_blocking(move |conn| {
                fact::put(conn, &name, "")?;
                counter::take(conn, &name, 1)?;
                outbox::append(conn, &event(&name, "{}"))
            })
            .unwrap();
    }
}

/// Each of these tables got one row per transaction, with its name in one of the columns.
fn check_written(text: &str) {
    let rows = rows(text);
    let names = |table: &str, column: usize| -> BTreeSet<String> {
        let name = |row: &String| serde_json::from_str::<Value>(row).unwrap()[column].to_string();
        rows[table].iter().map(name).collect()
    };
    let facts = names("facts", 0);
    assert_eq!(names("counters", 0), facts);
    assert_eq!(names("outbox", 5), facts);
}

/// **Every byte counts**: whichever byte changes, and wherever the file ends, it is refused. Of the
/// first and the last line every bit is tried, of the bytes between one each.
#[test]
fn damage_is_noticed_everywhere() {
    let database = TestDatabase::sqlite();
    let store = Database::open(&database.location, SMALL).unwrap();
    let prepared = store.write_blocking(|conn| {
        conn.script("INSERT INTO things (content) VALUES (NULL), (x'00ff')")?;
        fact::put(conn, "a", "é")
    });
    prepared.unwrap();
    let text = back_up_of(&store, SMALL).0.into_bytes();
    backup::verify(&mut text.as_slice(), SMALL).unwrap();
    let is_end = |byte: &u8| *byte == b'\n';
    let head = text.iter().position(is_end).unwrap();
    let tail = text[..text.len() - 1].iter().rposition(is_end).unwrap();
    for index in 0..text.len() {
        let bits = if (head..tail).contains(&index) { index % 8..index % 8 + 1 } else { 0..8 };
        for bit in bits {
            let mut flipped = text.clone();
            flipped[index] ^= 1 << bit;
            let error = backup::verify(&mut flipped.as_slice(), SMALL).unwrap_err();
            assert_eq!(error.kind(), Kind::Invalid, "byte {index}, bit {bit}: {error}");
        }
        let error = backup::verify(&mut &text[..index], SMALL).unwrap_err();
        assert_eq!(error.kind(), Kind::Invalid, "cut at {index}: {error}");
    }
    let spaced = String::from_utf8(text.clone()).unwrap().replace("\"blake3\":", "\"blake3\": ");
    backup::verify(&mut spaced.as_bytes(), SMALL).unwrap_err();
    for more in ["\n", " ", "[]\n", "{}"] {
        let longer = [&text, more.as_bytes()].concat();
        backup::verify(&mut longer.as_slice(), SMALL).unwrap_err();
    }
}

fn a_bad_backup_changes_nothing(database: &TestDatabase) {
    let source = TestDatabase::sqlite().open();
    source.write_blocking(fill).unwrap();
    let good = back_up(&source).0;
    let last_line = good.trim_end().rfind('\n').unwrap();
    let schema = format!(r#""schema":{}"#, MIGRATIONS.len());
    let bad = [
        ("damaged", good.replacen("t99 ", "t98 ", 1)),
        ("not complete", good[..=last_line].to_owned()),
        ("no end", good.trim_end().to_owned()),
        ("is of production", forge(&good, r#""sandbox""#, r#""production""#)),
        ("newer version", forge(&good, &schema, r#""schema":99"#)),
        ("newer version", forge(&good, r#""version":1"#, r#""version":2"#)),
        ("damaged at line 1", forge(&good, &schema, r#""schema":0"#)),
        ("no backup", forge(&good, "boardwalk-backup", "postgres-backup")),
        ("no backup", "\n".to_owned()),
        ("empty", String::new()),
        ("not expected", forge(&good, r#""table":"isos""#, r#""table":"pg_class""#)),
        ("not expected", forge(&good, r#""table":"facts""#, r#""table":"counters""#)),
        ("not expected", forge(&good, r#"["name","#, r#"["name) --","#)),
        ("missing", forge(&good, r#"["iso_id","name","#, r#"["iso_id","#)),
        ("another length", forge(&good, r#""object","0""#, r#""object",1,"0""#)),
        // These pass every check of the file and fail in the database, after much was inserted.
        ("exists already", forge(&good, r#"["t98 "#, r#"["t97 "#)),
        ("does not exist", forge(&good, r#"["t3 "#, r#"["t151 "#)),
    ];
    let store = database.open();
    for (expected, text) in bad {
        let error =
            backup::restore(&store, &save(database, &text), SANDBOX, &mut NoFiles).unwrap_err();
        assert!(error.report().contains(expected), "{expected}: {}", error.report());
        let left: i64 = rows(&good).keys().map(|table| count(&store, table)).sum();
        assert_eq!(left, 0, "{expected}");
    }
    let missing = database.folder().join("missing");
    assert_eq!(
        backup::restore(&store, &missing, SANDBOX, &mut NoFiles).unwrap_err().kind(),
        Kind::Invalid
    );
    backup::restore(&store, &save(database, &good), SANDBOX, &mut NoFiles).unwrap();
}

fn a_backup_from_before_a_column_was_added_is_restored(database: &TestDatabase) {
    const ADDED: (&str, &str) = ("merchants", "external_reference");
    let source = TestDatabase::sqlite();
    let from = source.open();
    from.write_blocking(fill).unwrap();
    let (today, _) = back_up(&from);
    let before = without_column(&today, ADDED.0, ADDED.1);
    assert_ne!(rows(&before)[ADDED.0], rows(&today)[ADDED.0], "the column was there");
    let store = database.open();
    let of_today = save(database, &before);
    assert!(
        backup::restore(&store, &of_today, SANDBOX, &mut NoFiles).is_err(),
        "today's has all columns"
    );
    let schema = MIGRATIONS.len();
    let (now, then) = (format!(r#""schema":{schema}"#), format!(r#""schema":{}"#, schema - 1));
    backup::restore(&store, &save(database, &forge(&before, &now, &then)), SANDBOX, &mut NoFiles)
        .unwrap();
    let (again, _) = back_up(&store);
    let kept = without_column(&again, ADDED.0, ADDED.1);
    assert_eq!(rows(&kept)[ADDED.0], rows(&before)[ADDED.0]);
    let is_empty = |conn: &mut dyn Conn| {
        let text = "SELECT COUNT(*) FROM merchants WHERE external_reference IS NOT NULL";
        let mut count = -1;
        conn.query_text(text, &[], &mut |row| {
            count = row.get(0)?;
            Ok(())
        })?;
        Ok(count == 0)
    };
    assert!(store.read_blocking(is_empty).unwrap(), "rows from before have the column's default");
}

/// The backup as it was before the table had the column.
fn without_column(text: &str, table: &str, column: &str) -> String {
    let head = format!(r#"{{"table":"{table}","#);
    let mut place: Option<usize> = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        if line.starts_with(&head) {
            let columns = value["columns"].as_array_mut().unwrap();
            let found = columns.iter().position(|name| name == column).unwrap();
            columns.remove(found);
            place = Some(found);
        } else if let Some((values, place)) = value.as_array_mut().zip(place) {
            values.remove(place);
        } else {
            place = None;
        }
        lines.push(value.to_string());
    }
    forge(&lines.join("\n"), &head, &head)
}

/// Changes a backup and gives it a checksum that fits.
fn forge(good: &str, from: &str, to: &str) -> String {
    assert!(good.contains(from), "{from}");
    let (body, trailer) = good.trim_end().rsplit_once('\n').unwrap();
    let body = format!("{}\n", body.replacen(from, to, 1));
    let mut trailer: Value = serde_json::from_str(trailer).unwrap();
    trailer["blake3"] = blake3::hash(body.as_bytes()).to_hex().to_string().into();
    format!("{body}{trailer}\n")
}

fn a_database_in_use_is_refused(database: &TestDatabase) {
    let store = database.open();
    let path = save(database, &back_up(&store).0);
    store.write_blocking(|conn| insert(conn, LARGE, 1)).unwrap();
    let error = backup::restore(&store, &path, SANDBOX, &mut NoFiles).unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    assert!(error.to_string().contains("not empty: it has isos"), "{error}");
    assert_eq!(count(&store, LARGE), 1);
}

/// Opening a database takes ids and notes the master key; the same key must be in the backup.
fn a_started_database_is_not_in_use(database: &TestDatabase) {
    let source = TestDatabase::sqlite().open();
    source.write_blocking(|conn| start(conn, "key one")).unwrap();
    let path = save(database, &back_up(&source).0);
    let store = database.open();
    store.write_blocking(|conn| start(conn, "key two")).unwrap();
    let error = backup::restore(&store, &path, SANDBOX, &mut NoFiles).unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    assert!(error.to_string().contains("same master key"), "{error}");
    let change = "UPDATE facts SET value = 'key one'; UPDATE counters SET next = 9000000";
    store.write_blocking(|conn| conn.script(change)).unwrap();
    backup::restore(&store, &path, SANDBOX, &mut NoFiles).unwrap();
    let next = store.read_blocking(|conn| number(conn, "SELECT next FROM counters")).unwrap();
    assert_eq!(next, 9_000_000, "a counter went back");
}

fn start(conn: &mut dyn Conn, key: &str) -> Result<i64> {
    fact::get_or_set(conn, "master key", key)?;
    counter::take(conn, "id", 100)
}

fn back_up(store: &Database) -> (String, Summary) {
    back_up_of(store, MIGRATIONS)
}

fn back_up_of(store: &Database, migrations: Migrations) -> (String, Summary) {
    let created: Timestamp = time(0);
    let written = store.read_blocking(move |conn| {
        let mut out = Vec::new();
        let summary = backup::write(conn, migrations, SANDBOX, created, &NoFiles, &mut out)?;
        Ok((out, summary))
    });
    let (out, summary) = written.unwrap();
    (String::from_utf8(out).unwrap(), summary)
}

fn save(database: &TestDatabase, text: &str) -> PathBuf {
    let path = database.folder().join("backup");
    fs::write(&path, text).unwrap();
    path
}

fn rows(text: &str) -> Rows {
    let mut tables = Rows::new();
    let mut current = String::new();
    for line in text.lines().skip(1) {
        if line.starts_with('[') {
            assert!(tables.get_mut(&current).unwrap().insert(line.to_owned()), "{line} is twice");
        } else if let Some(rest) = line.strip_prefix(r#"{"table":""#) {
            current = rest.split('"').next().unwrap().to_owned();
            tables.insert(current.clone(), BTreeSet::new());
        }
    }
    tables
}
