//! The promises on SQLite: a file in a folder of each test's own.

#[path = "suite.rs"]
mod suite;

/// What the shop calls it.
const ENGINE: &str = "SQLite";
const DATABASE: fn() -> Option<String> = || None;
