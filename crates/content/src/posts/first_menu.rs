//! The menu that a site begins with, and that one without any is given: it lists the site's pages.

use db::Conn;
use db::filter::Page;
use frame::first_content::{FirstContent, FirstItem};
use site_rows::post::{self, PostFilter};
use types::Result;

use super::kind::NAVIGATION;

pub(crate) const SLUG: &str = "navigation";
pub(crate) const TITLE: &str = "Navigation";
pub(crate) const CONTENT: &str = "<!-- wp:page-list /-->";

/// Adds the menu, unless there is one.
pub fn begin(conn: &mut dyn Conn, first: &mut FirstContent) -> Result<()> {
    let kind = NAVIGATION.name;
    let wanted = PostFilter {
        kinds: vec![kind.to_owned()],
        page: Page { offset: 0, limit: 0 },
        ..PostFilter::default()
    };
    if !first.is_due || post::list(conn, &wanted)?.1 > 0 {
        return Ok(());
    }
    let item = FirstItem { kind, slug: SLUG, title: TITLE, content: CONTENT, option: "" };
    first.add(conn, item)
}
