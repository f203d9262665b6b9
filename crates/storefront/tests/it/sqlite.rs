//! The promises on SQLite: a file in a folder of each test's own.

#[path = "suite.rs"]
mod suite;

const DATABASE: fn() -> Option<String> = || None;
