//! What commerce promises, asked for as clients ask: requests in, answers out, on a real store of
//! either engine.
#![cfg(test)]
#![expect(clippy::duplicate_mod, reason = "each engine has the whole suite to itself")]

mod postgres;
mod sqlite;
