//! What the site keeps: the queries of users and how they sign in, of options, posts and terms, and
//! of the ISOs that users may act for. Rows in, rows out: **no rule of the interface is here**, and
//! nothing waits inside a transaction.

pub mod application_password;
pub mod autosave;
pub mod comment;
pub mod consumer_key;
pub mod identity;
pub mod iso;
pub mod login_token;
pub mod media;
pub mod oembed_cache;
pub mod option;
pub mod post;
pub mod revision;
pub mod sealed;
pub mod second_factor;
pub mod session;
pub mod term;
pub mod user;

use db::Sql;

/// Every statement of this crate.
pub fn all_statements() -> Vec<&'static Sql> {
    [
        application_password::STATEMENTS,
        autosave::STATEMENTS,
        comment::STATEMENTS,
        consumer_key::STATEMENTS,
        identity::STATEMENTS,
        iso::STATEMENTS,
        login_token::STATEMENTS,
        media::STATEMENTS,
        oembed_cache::STATEMENTS,
        option::STATEMENTS,
        post::STATEMENTS,
        revision::STATEMENTS,
        sealed::STATEMENTS,
        second_factor::STATEMENTS,
        session::STATEMENTS,
        term::STATEMENTS,
        user::STATEMENTS,
    ]
    .concat()
}
