//! Blocks that show what the site holds: its name, its posts, pages, terms and comments, and a
//! field to search it. Only what everybody may read is shown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use contract::rest::loose;
use db::filter::{Direction, Page};
use frame::text::render;
use frame::{Call, dates};
use serde_json::{Map, Value};
use site_rows::comment::{self, CommentFilter, CommentOrder};
use site_rows::post::{self, PostFilter, PostOrder, PostRow, TermCondition};
use site_rows::term::{self, TermFilter, TermOrder, TermRow};
use types::{Error, Result};

use crate::posts::kind::POST;
use crate::posts::taxonomy::{ALL_TAXONOMIES, Taxonomy};
use crate::posts::{is_publicly_viewable, page_list, permalink, records, status, term_link};
use frame::text::escaped;

/// The blocks that can be rendered.
#[cfg(test)]
pub(super) const RENDERED: &[&str] = &[
    "core/site-title",
    "core/site-tagline",
    "core/archives",
    "core/categories",
    "core/tag-cloud",
    "core/latest-posts",
    "core/latest-comments",
    "core/page-list",
    "core/search",
];
/// Items of one list.
const LIST_MAX: i64 = 100;
/// Posts whose months are listed.
const DATED_MAX: i64 = 5_000;

/// What a block is told.
pub(super) struct Attributes(pub(super) Map<String, Value>);

impl Attributes {
    // In a query everything is a text.
    fn flag(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(loose::to_bool)
    }

    fn number(&self, name: &str, usual: i64) -> i64 {
        let given = self.0.get(name).filter(|value| loose::numeric(value).is_some());
        given.map_or(usual, loose::to_int)
    }

    fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// A block as HTML; nothing for one that is not rendered here.
pub(super) fn block(
    call: &mut Call<'_>,
    name: &str,
    told: &Attributes,
) -> Result<Option<String>, Error> {
    let html = match name {
        "core/site-title" => site_title(call, told),
        "core/site-tagline" => tagline(call, told),
        "core/archives" => archives(call, told)?,
        "core/categories" => terms(call, told)?,
        "core/tag-cloud" => cloud(call, told)?,
        "core/latest-posts" => latest_posts(call, told)?,
        "core/latest-comments" => latest_comments(call, told)?,
        "core/page-list" => page_list::html(call, told.number("parentPageID", 0))?,
        "core/search" => search(call, told),
        _ => return Ok(None),
    };
    Ok(Some(html))
}

fn link(address: &str, text: &str) -> String {
    format!("<a href=\"{}\">{text}</a>", escaped(address))
}

/// A heading of a level; zero is a paragraph.
fn headed(level: i64, class: &str, inner: &str) -> String {
    let element = match level {
        1..=6 => format!("h{level}"),
        _ => String::from("p"),
    };
    format!("<{element} class=\"{class}\">{inner}</{element}>")
}

fn site_title(call: &Call<'_>, told: &Attributes) -> String {
    let name = escaped(&call.options().text("blogname"));
    let inner = if told.flag("isLink") { link(&call.visit.page("/"), &name) } else { name.clone() };
    headed(told.number("level", 1), "wp-block-site-title", &inner)
}

fn tagline(call: &Call<'_>, told: &Attributes) -> String {
    let text = escaped(&call.options().text("blogdescription"));
    headed(told.number("level", 0), "wp-block-site-tagline", &text)
}

fn published(kind: &str, limit: i64) -> PostFilter {
    PostFilter {
        kinds: vec![kind.to_owned()],
        statuses: vec![status::PUBLISH.to_owned()],
        without_password: true,
        order: PostOrder::Date,
        direction: Direction::Descending,
        page: Page { offset: 0, limit },
        ..PostFilter::default()
    }
}

fn listed(class: &str, items: &[String]) -> String {
    let mut html = format!("<ul class=\"{class}\">");
    for item in items {
        let _ = write!(html, "<li>{item}</li>");
    }
    html.push_str("</ul>");
    html
}

fn nothing(class: &str, message: &str) -> String {
    format!("<div class=\"{class}\">{message}</div>")
}

/// The months, or years, in which there are posts, with how many there are.
fn archives(call: &mut Call<'_>, told: &Attributes) -> Result<String, Error> {
    let (rows, _) = post::list(call.conn()?, &published(POST.name, DATED_MAX))?;
    let length = if told.text("type") == "yearly" { 4 } else { 7 };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        let written = dates::written(row.date);
        *counts.entry(written.get(..length).unwrap_or_default().to_owned()).or_default() += 1;
    }
    if counts.is_empty() {
        return Ok(nothing("wp-block-archives", "There are no posts yet."));
    }
    let shows_count = told.flag("showPostCounts");
    let label = |time: &str, count: usize| {
        if shows_count { format!("{time} ({count})") } else { time.to_owned() }
    };
    // The site has no pages of months, so that there is nothing to link to.
    let months = counts.iter().rev();
    if told.flag("displayAsDropdown") {
        let mut options = String::new();
        for (time, count) in months {
            let _ = write!(options, "<option value=\"{time}\">{}</option>", label(time, *count));
        }
        return Ok(format!(
            "<div class=\"wp-block-archives-dropdown wp-block-archives\"><select>{options}\
             </select></div>"
        ));
    }
    let items: Vec<String> = months.map(|(time, count)| label(time, *count)).collect();
    Ok(listed("wp-block-archives-list wp-block-archives", &items))
}

fn taxonomy_of(told: &Attributes, usual: &str) -> Option<&'static Taxonomy> {
    let name = Some(told.text("taxonomy")).filter(|name| !name.is_empty()).unwrap_or(usual);
    ALL_TAXONOMIES.iter().copied().find(|taxonomy| taxonomy.name == name)
}

fn terms_of(
    call: &mut Call<'_>,
    taxonomy: &Taxonomy,
    wanted: TermFilter,
) -> Result<Vec<(TermRow, i64, String)>, Error> {
    let taxonomies = vec![taxonomy.name.to_owned()];
    let (rows, _) = term::list(call.conn()?, &TermFilter { taxonomies, ..wanted })?;
    let mut terms = Vec::new();
    for row in rows {
        let count = records::term_count(call, taxonomy, &row)?;
        let visit = call.visit;
        let address = term_link(call.conn()?, visit, taxonomy, &row)?;
        terms.push((row, count, address));
    }
    Ok(terms)
}

fn terms(call: &mut Call<'_>, told: &Attributes) -> Result<String, Error> {
    let class = "wp-block-categories-list wp-block-categories";
    let Some(taxonomy) = taxonomy_of(told, "category") else {
        return Ok(nothing(class, "There is no such taxonomy."));
    };
    let wanted = TermFilter {
        hide_empty: !told.flag("showEmpty"),
        parent: told.flag("showOnlyTopLevel").then_some(0),
        order: TermOrder::Name,
        page: Page { offset: 0, limit: LIST_MAX },
        ..TermFilter::default()
    };
    let shows_count = told.flag("showPostCounts");
    let items: Vec<String> = terms_of(call, taxonomy, wanted)?
        .into_iter()
        .map(|(row, count, address)| {
            let shown = link(&address, &row.name);
            if shows_count { format!("{shown} ({count})") } else { shown }
        })
        .collect();
    Ok(listed(class, &items))
}

fn cloud(call: &mut Call<'_>, told: &Attributes) -> Result<String, Error> {
    let limit = told.number("numberOfTags", 45).clamp(1, LIST_MAX);
    let Some(taxonomy) = taxonomy_of(told, "post_tag") else {
        return Ok(nothing("wp-block-tag-cloud", "There is no such taxonomy."));
    };
    let wanted = TermFilter {
        hide_empty: true,
        order: TermOrder::Name,
        page: Page { offset: 0, limit },
        ..TermFilter::default()
    };
    let found = terms_of(call, taxonomy, wanted)?;
    if found.is_empty() {
        return Ok(nothing("wp-block-tag-cloud", "There are no terms yet."));
    }
    let shows_count = told.flag("showTagCounts");
    let links = found.into_iter().map(|(row, count, address)| {
        let shown = link(&address, &row.name);
        if shows_count { format!("{shown} ({count})") } else { shown }
    });
    Ok(format!("<p class=\"wp-block-tag-cloud\">{}</p>", links.collect::<Vec<_>>().join("\n")))
}

fn latest_posts(call: &mut Call<'_>, told: &Attributes) -> Result<String, Error> {
    let limit = told.number("postsToShow", 5).clamp(1, LIST_MAX);
    let categories = told.0.get("categories").and_then(Value::as_array);
    let categories: Vec<i64> =
        categories.into_iter().flatten().filter_map(|one| one.get("id")?.as_i64()).collect();
    let author = told.number("selectedAuthor", 0);
    let wanted = PostFilter {
        terms: if categories.is_empty() {
            Vec::new()
        } else {
            vec![TermCondition::AnyOf(categories)]
        },
        authors: if author > 0 { vec![author] } else { Vec::new() },
        order: if told.text("orderBy") == "title" { PostOrder::Title } else { PostOrder::Date },
        direction: if told.text("order") == "asc" {
            Direction::Ascending
        } else {
            Direction::Descending
        },
        ..published(POST.name, limit)
    };
    let (rows, _) = post::list(call.conn()?, &wanted)?;
    let mut items = Vec::new();
    for row in &rows {
        items.push(post_entry(call, row, told)?);
    }
    Ok(listed("wp-block-latest-posts__list wp-block-latest-posts", &items))
}

fn post_entry(call: &mut Call<'_>, row: &PostRow, told: &Attributes) -> Result<String, Error> {
    let visit = call.visit;
    let address = permalink(call.conn()?, visit, row)?;
    let mut entry = link(&address, &render::title(&row.title));
    if told.flag("displayPostDate") {
        let (written, shown) = (dates::written(row.date), dates::long(call.options(), row.date));
        let _ = write!(entry, "<time datetime=\"{written}\">{}</time>", escaped(&shown));
    }
    if told.flag("displayPostContent") {
        let words = usize::try_from(told.number("excerptLength", 55)).unwrap_or(0);
        let text = match told.text("displayPostContentRadio") {
            "full_post" => render::content(&row.content),
            _ => render::excerpt(&row.excerpt, &row.content, words),
        };
        let _ = write!(entry, "<div class=\"wp-block-latest-posts__post-excerpt\">{text}</div>");
    }
    Ok(entry)
}

fn latest_comments(call: &mut Call<'_>, told: &Attributes) -> Result<String, Error> {
    let wanted = CommentFilter {
        statuses: vec![String::from("approved")],
        kinds: vec![String::from("comment")],
        order: CommentOrder::default(),
        direction: Direction::Descending,
        page: Page { offset: 0, limit: told.number("commentsToShow", 5).clamp(1, LIST_MAX) },
        ..CommentFilter::default()
    };
    let (rows, _) = comment::list(call.conn()?, &wanted)?;
    let mut items = Vec::new();
    for row in rows {
        let about = records::get(call, row.post_id)?;
        let Some(item) = about.filter(is_publicly_viewable) else { continue };
        if !item.password.is_empty() {
            continue;
        }
        let visit = call.visit;
        let address = permalink(call.conn()?, visit, &item)?;
        let address = format!("{address}#comment-{}", row.comment_id);
        let mut entry =
            format!("{}: {}", escaped(&row.author), link(&address, &render::title(&item.title)));
        if told.text("displayContent") != "none" {
            let _ = write!(entry, "<p>{}</p>", escaped(&render::plain_text(&row.content)));
        }
        items.push(entry);
    }
    if items.is_empty() {
        return Ok(nothing("wp-block-latest-comments", "There are no comments yet."));
    }
    Ok(listed("wp-block-latest-comments", &items))
}

fn search(call: &Call<'_>, told: &Attributes) -> String {
    let or = |name: &str, usual: &str| {
        let text = told.text(name);
        escaped(if text.is_empty() { usual } else { text })
    };
    let (label, button) = (or("label", "Search"), or("buttonText", "Search"));
    let (action, hint) = (escaped(&call.visit.page("/")), or("placeholder", ""));
    format!(
        "<form role=\"search\" method=\"get\" action=\"{action}\" class=\"wp-block-search\">\
         <label>{label} <input type=\"search\" name=\"s\" placeholder=\"{hint}\"></label>\
         <button type=\"submit\">{button}</button></form>"
    )
}
