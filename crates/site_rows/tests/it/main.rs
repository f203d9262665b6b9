//! The rows of the site, checked on both engines.
//!
//! Each test is a function of a [`testkit::database::TestDatabase`], which
//! [`testkit::on_both_engines!`] runs on a SQLite file and on a PostgreSQL database of its own.

#[cfg(test)]
mod autosaves;
#[cfg(test)]
mod comments;
#[cfg(test)]
mod content;
#[cfg(test)]
mod login_tokens;
#[cfg(test)]
mod media;
#[cfg(test)]
mod post_lists;
#[cfg(test)]
mod revisions;
#[cfg(test)]
mod site;
#[cfg(test)]
mod support;
#[cfg(test)]
mod term_lists;
