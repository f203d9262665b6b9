//! Placeholder until its routes are written down here.
use contract::rest::route::Route;

use crate::{Action, Names};

pub(crate) fn routes(_: &Names) -> Vec<Route<Action>> {
    Vec::new()
}

pub(crate) fn found(_: &mut dyn store::Conn) -> types::Result<()> {
    Ok(())
}

pub fn find_by_path(
    _: &mut dyn store::Conn,
    _: &str,
) -> types::Result<Option<store::post::PostRow>> {
    Ok(None)
}

pub fn is_publicly_viewable(_: &store::post::PostRow) -> bool {
    false
}

pub fn permalink(visit: &crate::Visit, post: &store::post::PostRow) -> String {
    visit.page(&post.slug)
}
