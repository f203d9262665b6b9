//! What the site promises, asked for as clients ask: requests in, answers out, on a real store.
#![cfg(test)]

mod abilities;
mod account_guards;
mod appearance;
mod autosaves;
mod comments;
mod content_items;
mod content_lists;
mod content_search;
mod content_terms;
mod content_texts;
mod frame;
#[expect(dead_code, reason = "the tests of commerce use the rest of it")]
#[path = "../../../frame/tests/support/harness.rs"]
mod harness;
mod media;
mod settings;
mod support;
mod surveys;
mod users_deletion;
mod users_editing;
mod users_reading;
mod users_with_applications;
