//! The block that lists the site's pages, wherever it stands.

use std::borrow::Cow;
use std::fmt::Write as _;

use db::filter::{Direction, Page};
use frame::Call;
use frame::text::{escaped, render};
use site_rows::post::{self, PostFilter, PostOrder};
use types::Error;

use super::address::permalink;
use super::kind::PAGE;
use super::status;

/// Pages in a list at most.
const LISTED_MAX: i64 = 100;
const BLOCK: &str = "<!-- wp:page-list";
const END: &str = "-->";

/// The published pages, or those below one of them, as links.
pub(crate) fn html(call: &mut Call<'_>, parent: i64) -> Result<String, Error> {
    let wanted = PostFilter {
        kinds: vec![PAGE.name.to_owned()],
        statuses: vec![status::PUBLISH.to_owned()],
        parents: if parent > 0 { vec![parent] } else { Vec::new() },
        order: PostOrder::MenuOrder,
        direction: Direction::Ascending,
        page: Page { offset: 0, limit: LISTED_MAX },
        ..PostFilter::default()
    };
    let (rows, _) = post::list(call.conn()?, &wanted)?;
    let mut html = String::from("<ul class=\"wp-block-page-list\">");
    for row in &rows {
        let visit = call.visit;
        let address = escaped(&permalink(call.conn()?, visit, row)?);
        let title = render::title(&row.title);
        let _ = write!(html, "<li><a href=\"{address}\">{title}</a></li>");
    }
    html.push_str("</ul>");
    Ok(html)
}

/// Content with the list in the place of each such block.
pub(super) fn filled<'c>(call: &mut Call<'_>, content: &'c str) -> Result<Cow<'c, str>, Error> {
    if !content.contains(BLOCK) {
        return Ok(Cow::Borrowed(content));
    }
    let list = html(call, 0)?;
    let mut filled = String::with_capacity(content.len() + list.len());
    let mut rest = content;
    while let Some((before, block)) = rest.split_once(BLOCK) {
        filled.push_str(before);
        filled.push_str(&list);
        rest = block.split_once(END).map_or("", |(_, after)| after);
    }
    filled.push_str(rest);
    Ok(Cow::Owned(filled))
}
