//! Damaged data is found, and sound data is not taken for damaged.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use db::integrity::Depth;
use db::{Conn, Database, Location, outbox};
use testkit::postgres::Cluster;
use types::{Environment, Result};

use crate::support::{TestDatabase, event};

const EVENTS: usize = 3_000;
const SQLITE_PAGE_BYTES: u64 = 4_096;
const POSTGRES_PAGE_BYTES: u64 = 8_192;

testkit::on_both_engines!(sound_data_has_no_damage);

fn sound_data_has_no_damage(database: &TestDatabase) {
    let store = database.open();
    fill(&store);
    for depth in [Depth::Quick, Depth::Full] {
        let report = store.check_integrity(depth).unwrap();
        assert_eq!(report.damage, [""; 0], "{depth:?}");
    }
}

#[test]
fn overwritten_pages_of_sqlite_are_found() {
    let database = TestDatabase::sqlite();
    let store = database.open();
    fill(&store);
    drop(store);
    let Location::File(path) = &database.location else { unreachable!("SQLite is a file") };
    let pages = fs::metadata(path).unwrap().len() / SQLITE_PAGE_BYTES;
    // What was written last are the events; what comes first is needed to open the file.
    overwrite(path, (pages - 8) * SQLITE_PAGE_BYTES, 2 * SQLITE_PAGE_BYTES);
    let store = database.open();
    for depth in [Depth::Quick, Depth::Full] {
        // Some damage is listed, and some keeps the check from going on.
        match store.check_integrity(depth) {
            Ok(report) => assert!(!report.damage.is_empty(), "{depth:?}"),
            Err(error) => assert!(error.to_string().contains("damaged"), "{depth:?}: {error:?}"),
        }
    }
}

#[test]
fn overwritten_pages_of_postgres_are_found_by_the_full_check() {
    let cluster = Cluster::start().unwrap();
    let url = cluster.create_database().unwrap();
    let folder = Path::new(".");
    let location = Location::parse(Some(&url), folder, Environment::Sandbox, 2).unwrap();
    let open = || Database::open(&location, schema::MIGRATIONS).unwrap();
    fill(&open());
    let sql = |text: &str| cluster.psql(&url, text).unwrap().trim().to_owned();
    sql("CREATE EXTENSION amcheck");
    let report = open().check_integrity(Depth::Full).unwrap();
    assert_eq!(report.damage, [""; 0]);
    assert!(report.unchecked.iter().all(|what| !what.contains("amcheck")), "{report:?}");

    sql("CHECKPOINT");
    let file = sql("SELECT pg_relation_filepath('boardwalk_sandbox.outbox')");
    let file = Path::new(&sql("SHOW data_directory")).join(file);
    cluster.crash().unwrap();
    overwrite(&file, 2 * POSTGRES_PAGE_BYTES, POSTGRES_PAGE_BYTES);
    cluster.resume().unwrap();
    let error = open().check_integrity(Depth::Full).unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error:?}");
}

#[test]
fn unusable_indexes_of_postgres_are_found() {
    let database = TestDatabase::postgres();
    let store = database.open();
    database.psql(
        "UPDATE pg_index SET indisvalid = false WHERE indrelid = 'boardwalk_sandbox.outbox'::regclass",
    );
    let report = store.check_integrity(Depth::Quick).unwrap();
    assert!(report.damage.iter().any(|line| line.contains("not valid")), "{report:?}");
}

fn fill(store: &Database) {
    let events: Vec<_> = (0..EVENTS).map(|number| event(&format!("m{number}"), "{}")).collect();
    let append = move |conn: &mut dyn Conn| -> Result<()> { outbox::append_many(conn, &events) };
    store.write_blocking(append).unwrap();
}

fn overwrite(path: &Path, from: u64, bytes: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(&vec![0xa5; usize::try_from(bytes).unwrap()], from).unwrap();
}
