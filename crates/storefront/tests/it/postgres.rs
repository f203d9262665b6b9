//! The promises on PostgreSQL: a database of each test's own in the shared cluster.

#[path = "suite.rs"]
mod suite;

const DATABASE: fn() -> Option<String> =
    || Some(testkit::postgres::shared().create_database().unwrap());
