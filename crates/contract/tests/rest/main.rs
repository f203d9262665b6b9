//! What parameters of the REST dialect promise, in tables: which values each type accepts and what
//! they become, the code of each refusal, where values come from, which fields are shown, and that
//! no input whatever makes any of it panic.

#![cfg(test)]

mod codes;
mod fields;
mod items;
mod multipart;
mod openapi;
mod property;
mod sources;
mod types;
