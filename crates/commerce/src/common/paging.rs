//! Which part of a list a request asks for, and in which direction.

use contract::rest::Params;
use db::filter::{Direction, Page};
use frame::Call;

use super::args::PER_PAGE_MAX;

/// The page of the call, where `offset` wins; no rows at all where only the headers are wanted.
pub fn page(call: &Call<'_>) -> Page {
    let params = &call.params;
    let limit = params.int("per_page").unwrap_or(10).clamp(1, PER_PAGE_MAX);
    let page = params.int("page").unwrap_or(1).max(1);
    let offset = params.int("offset").filter(|offset| *offset > 0);
    let offset = offset.unwrap_or_else(|| (page - 1).saturating_mul(limit));
    Page { offset, limit: if call.leaves_out_items() { 0 } else { limit } }
}

pub fn direction(params: &Params) -> Direction {
    match params.text("order") {
        Some("desc") => Direction::Descending,
        _ => Direction::Ascending,
    }
}

/// As [`direction`], for records whose order of `include` has no other direction.
pub fn direction_unless_listed(params: &Params) -> Direction {
    let is_listed = params.text("orderby") == Some("include") && !params.ints("include").is_empty();
    if is_listed { Direction::Ascending } else { direction(params) }
}
