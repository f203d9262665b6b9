//! What commerce promises, asked for as clients ask: requests in, answers out, on a real store.
#![cfg(test)]

mod data;
mod gateways;
mod settings;
mod support;
mod system_status;
