//! What commerce promises, asked for as clients ask: requests in, answers out, on a real store.
#![cfg(test)]

mod coupons;
mod data;
mod gateways;
mod settings;
mod support;
mod system_status;
mod taxes;
