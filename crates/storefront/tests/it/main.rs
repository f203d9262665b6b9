//! What the shop window promises, asked for as buyers ask, on a real store of either engine.
#![cfg(test)]
#![expect(clippy::duplicate_mod, reason = "each engine has the whole suite to itself")]

mod postgres;
mod sqlite;
