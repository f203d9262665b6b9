//! What administration keeps: the queries of notes, packages, the connection to the marketplace and
//! feeds, and of whether there is any of something yet. Rows in, rows out: **all SQL of this
//! crate is below here**, and nothing waits inside a transaction.

pub mod admin_note;
pub mod catalogue_feed;
pub mod marketplace;
pub mod package;
pub mod plugin_email;
pub mod presence;

use db::Sql;

/// Every statement of this module.
pub fn all_statements() -> Vec<&'static Sql> {
    [
        admin_note::STATEMENTS,
        catalogue_feed::STATEMENTS,
        marketplace::STATEMENTS,
        package::STATEMENTS,
        plugin_email::STATEMENTS,
        presence::STATEMENTS,
    ]
    .concat()
}
