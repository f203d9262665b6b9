//! Public pages of what crates above keep, such as products. **A source shows only what everybody
//! may read**: whoever asks gets the same page.

use std::fmt::Debug;

use db::Conn;
use types::{Result, Timestamp};

use crate::Visit;
use crate::lock::Lock;

/// A page that everybody may read, but for the content of one with a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicPage {
    /// Markup, of which only the text is shown; so is the summary.
    pub title: String,
    pub summary: String,
    /// HTML that was cleaned before it was stored.
    pub content: String,
    /// Of what only those see the content who know a password.
    pub lock: Lock,
    /// The page's address, complete.
    pub permalink: String,
    /// The REST path of the same as JSON.
    pub rest_path: String,
    /// Zero for nobody.
    pub author_id: i64,
    /// Shown with the author, where the page tells of them.
    pub published: Option<Timestamp>,
}

/// Something that has public pages.
pub trait PageSource: Send + Sync + Debug {
    /// The page at a path of the site, with its query string, if it is one of these.
    fn page_at(
        &self,
        conn: &mut dyn Conn,
        visit: &Visit,
        address: &str,
    ) -> Result<Option<PublicPage>>;

    /// Where people look after the record of this number, if it is one of these: a path of the
    /// portal.
    fn desk_of(&self, conn: &mut dyn Conn, id: i64) -> Result<Option<String>> {
        let _ = (conn, id);
        Ok(None)
    }
}
