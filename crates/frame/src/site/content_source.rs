//! Records of crates above that are content of the site as well, such as products: they have an
//! address, are found by its search, take comments, and stand in its feeds. **A source gives every
//! record that there is**: who may read one is decided by whoever shows it.

use std::fmt::Debug;

use contract::rest::Refusal;
use db::Conn;
use site_rows::post::{PostFilter, PostRow};
use types::Result;

use crate::{Site, Visit};

/// A record as a request changes it: the row as it is to be, and the terms that are to be set, by
/// taxonomy.
#[derive(Debug)]
pub struct ContentChange<'a> {
    /// Its number is zero for a new record.
    pub row: &'a PostRow,
    pub terms: &'a [(&'static str, Vec<i64>)],
}

/// A taxonomy of records whose terms readers see lists of, besides those that every site has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermArchive {
    pub taxonomy: String,
    /// Its part of addresses; without one a list is found by a query.
    pub path: Option<String>,
}

impl TermArchive {
    /// The address of the list of a term, below the site's.
    pub fn address(&self, slug: &str) -> String {
        match &self.path {
            Some(path) => format!("/{path}/{slug}/"),
            None => format!("/?taxonomy={}&term={slug}", self.taxonomy),
        }
    }
}

/// Something whose records are a kind of content.
pub trait ContentSource: Send + Sync + Debug {
    /// The name of the kind.
    fn kind(&self) -> &'static str;

    /// The record of this number, as a post of the kind.
    fn get(&self, conn: &mut dyn Conn, visit: &Visit, id: i64) -> Result<Option<PostRow>>;

    /// A page of the records that match, and how many match.
    fn list(
        &self,
        conn: &mut dyn Conn,
        visit: &Visit,
        wanted: &PostFilter,
    ) -> Result<(Vec<PostRow>, i64)>;

    /// The terms that these records bear: id of the record, taxonomy, id of the term.
    fn terms(&self, conn: &mut dyn Conn, ids: &[i64]) -> Result<Vec<(i64, String, i64)>>;

    /// How many published records bear a term, if its taxonomy is one of theirs.
    fn term_count(&self, conn: &mut dyn Conn, taxonomy: &str, term_id: i64) -> Result<Option<i64>>;

    /// The further taxonomies whose terms readers see lists of.
    fn archives(&self, conn: &mut dyn Conn) -> Result<Vec<TermArchive>>;

    /// Names of classes for the element of a record at a place of a list.
    fn classes(&self, conn: &mut dyn Conn, id: i64, place: usize) -> Result<Vec<String>>;

    /// Makes or changes a record as the caller, and returns its number, or why it is refused.
    fn save(
        &self,
        site: &Site,
        conn: &mut dyn Conn,
        visit: &Visit,
        change: &ContentChange<'_>,
    ) -> Result<std::result::Result<i64, Refusal>>;

    /// Moves a record to the trash as the caller, or deletes it for good: its number, and whether
    /// it is for good.
    fn delete(
        &self,
        site: &Site,
        conn: &mut dyn Conn,
        visit: &Visit,
        deleted: (i64, bool),
    ) -> Result<std::result::Result<(), Refusal>>;

    /// Told in the transaction in which comments on a record change.
    fn comments_changed(&self, conn: &mut dyn Conn, id: i64) -> Result<()>;
}
