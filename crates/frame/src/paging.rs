//! The headers of a list: how many there are, and where the pages before and after are.

use contract::rest::{Reply, form};
use serde_json::json;

use crate::Call;

/// Adds the totals, and links to the neighbouring pages of the list at `path`.
pub fn with_totals(reply: Reply, call: &Call<'_>, path: &str, total: i64) -> Reply {
    let per_page = call.params.int("per_page").unwrap_or(10).max(1);
    let page = call.params.int("page").unwrap_or(1).max(1);
    let pages = total.max(0).div_euclid(per_page) + i64::from(total.rem_euclid(per_page) > 0);
    let link = |number: i64, relation: &str| {
        let mut query = call.params.query().clone();
        query.insert(String::from("page"), json!(number));
        let address = call.visit.rest(path);
        format!("<{address}?{}>; rel=\"{relation}\"", form::encode(&query))
    };
    let before = (page > 1).then(|| link((page - 1).min(pages.max(1)), "prev"));
    let after = (page < pages).then(|| link(page + 1, "next"));
    let links: Vec<String> = before.into_iter().chain(after).collect();
    let reply =
        reply.header("x-wp-total", total.to_string()).header("x-wp-totalpages", pages.to_string());
    if links.is_empty() { reply } else { reply.header("link", links.join(", ")) }
}
