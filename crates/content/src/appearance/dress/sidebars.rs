//! Widgets as pages show them: those of all sidebars, in their order.

use std::fmt::Write as _;

use frame::Call;
use frame::text::{self, escaped};
use serde_json::{Map, Value, json};
use types::Result;

use super::markup::Markup;
use crate::appearance::blocks::made;
use crate::appearance::widgets::{INACTIVE, Widgets, parts_of};
use crate::posts::menu_links;

/// Widgets that pages show.
const SHOWN_MAX: usize = 20;

/// The widgets of all sidebars as HTML; empty if they rest.
pub(super) fn shown(call: &mut Call<'_>, markup: &Markup<'_>) -> Result<String> {
    let widgets = Widgets::of_options(call.options())?;
    let sidebars = widgets.sidebars.keys().filter(|name| *name != INACTIVE);
    let names: Vec<String> = sidebars.flat_map(|name| widgets.of_sidebar(name)).collect();
    let mut html = String::new();
    for name in names.iter().take(SHOWN_MAX) {
        let settings = widgets.settings(name);
        let (base, _) = parts_of(name).unwrap_or((name, 0));
        let body = body(call, markup, (base, &settings))?;
        if body.trim().is_empty() {
            continue;
        }
        let title = settings.get("title").and_then(Value::as_str).unwrap_or_default();
        html.push_str("<section class=\"widget\">");
        if !title.is_empty() {
            let _ = write!(html, "<h2>{}</h2>", escaped(title));
        }
        let _ = write!(html, "{body}</section>");
    }
    Ok(html)
}

fn body(
    call: &mut Call<'_>,
    markup: &Markup<'_>,
    (base, settings): (&str, &Map<String, Value>),
) -> Result<String> {
    let text = |name: &str| settings.get(name).and_then(Value::as_str).unwrap_or_default();
    let setting = |name: &str| settings.get(name).cloned().unwrap_or_default();
    let count = || match settings.get("number").and_then(Value::as_i64) {
        Some(number) if number > 0 => number,
        _ => 5,
    };
    let (block, attributes) = match base {
        "block" | "custom_html" => return markup.shown(call, text("content")),
        "text" if settings.get("filter") == Some(&json!(true)) => {
            return markup.shown(call, &text::render::paragraphs(text("text")));
        }
        "text" => return markup.shown(call, text("text")),
        "nav_menu" => {
            let menu = settings.get("nav_menu").and_then(Value::as_i64).unwrap_or_default();
            return menu_of(call, menu);
        }
        "archives" => ("archives", json!({ "showPostCounts": setting("count") })),
        "categories" => ("categories", json!({ "showPostCounts": setting("count") })),
        "pages" => ("page-list", json!({})),
        "recent-comments" => ("latest-comments", json!({ "commentsToShow": count() })),
        "recent-posts" => (
            "latest-posts",
            json!({ "postsToShow": count(), "displayPostDate": setting("show_date") }),
        ),
        "search" => ("search", json!({})),
        "tag_cloud" => ("tag-cloud", json!({ "showTagCounts": setting("count") })),
        // The site has no calendar, asks no other site for its news, and tells no reader how to
        // administer it.
        _ => return Ok(String::new()),
    };
    Ok(made(call, block, &attributes)?.unwrap_or_default())
}

/// A menu of entries as links.
fn menu_of(call: &mut Call<'_>, menu_id: i64) -> Result<String> {
    let mut items = String::new();
    for (title, address) in menu_links(call, menu_id)? {
        let _ = write!(
            items,
            "<li><a href=\"{}\">{}</a></li>",
            escaped(&address),
            escaped(&text::render::plain_text(&title))
        );
    }
    // Addresses are whatever people typed.
    Ok(text::clean_content(&format!("<ul class=\"own\">{items}</ul>")))
}
