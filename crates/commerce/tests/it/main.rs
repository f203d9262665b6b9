//! What commerce promises, asked for as clients ask: requests in, answers out, on a real store of
//! either engine.
#![cfg(test)]

mod postgres;
mod sqlite;
