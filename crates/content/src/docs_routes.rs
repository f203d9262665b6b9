//! The documentation as data: its pages, one page, and a search over all of them.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Links, Refusal, Reply, Schema, Stop};
use frame::action::{Action, anyone, memory};
use frame::paging::with_totals;
use frame::{Call, Names};
use serde_json::{Value, json};

use crate::docs::docs;

const PER_PAGE_MAX: i64 = 100;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let search = Args::new()
        .arg("search", Schema::text().min_length(1).required().about("Search terms."))
        .arg("per_page", per_page());
    let mut whole = page_fields();
    whole.push(("html", Schema::text().about("Content as HTML.")));
    whole.push(("markdown", Schema::text().about("Content as it is written.")));
    vec![
        Route::at(&names.docs, "/pages")
            .on(READ, paged(), memory(anyone, list))
            .shows(Schema::list(Schema::object(page_fields()))),
        Route::at(&names.docs, r"/pages/(?P<slug>[\w-]+)")
            .on(
                READ,
                Args::new().arg("slug", Schema::text().about("Page slug.")),
                memory(anyone, get),
            )
            .shows(Schema::object(whole)),
        Route::at(&names.docs, "/search")
            .on(READ, search, memory(anyone, find))
            .shows(Schema::list(hit_schema())),
    ]
}

/// What a page has in the list.
fn page_fields() -> Vec<(&'static str, Schema)> {
    let text = |about: &str| Schema::text().about(about);
    let heading = Schema::object([
        ("level", Schema::integer().about("2 for a section, 3 for a part of one.")),
        ("text", text("Heading.")),
        ("id", text("Anchor on the page.")),
    ]);
    vec![
        ("slug", text("Page slug.")),
        ("title", text("Page title.")),
        ("summary", text("What the page is about.")),
        ("link", text("Address of the page.")),
        ("headings", Schema::list(heading).about("Headings in their order.")),
    ]
}

/// A section that answers a query.
fn hit_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    Schema::object([
        ("slug", text("Page slug.")),
        ("title", text("Page title.")),
        ("heading", text("Heading of the section.")),
        ("anchor", text("Anchor of the section.")),
        ("link", text("Address of the section.")),
        ("snippet", text("HTML with the matches in `mark` elements.")),
        ("score", Schema::number().about("How well the section fits.")),
    ])
}

fn per_page() -> Schema {
    let most = "Maximum number of results.";
    Schema::integer().default(10).min(1).max(PER_PAGE_MAX).about(most)
}

fn paged() -> Args {
    let page = Schema::integer().default(1).min(1).about("Section to return.");
    Args::new().arg("page", page).arg("per_page", per_page())
}

fn as_value(value: impl serde::Serialize) -> Result<Value, Stop> {
    serde_json::to_value(value)
        .map_err(|error| types::Error::internal("cannot serialize a page").because(error).into())
}

fn list(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (site, visit) = (call.site, call.visit);
    let names = &site.settings().names;
    let per_page = call.params.int("per_page").unwrap_or(10).clamp(1, PER_PAGE_MAX);
    let skipped = (call.params.int("page").unwrap_or(1) - 1).max(0).saturating_mul(per_page);
    let count = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    let pages = docs().pages();
    let mut items = Vec::new();
    for page in pages.iter().skip(count(skipped)).take(count(per_page)) {
        let mut item = as_value(page.entry(&visit.home))?;
        let address = visit.rest(&format!("/{}/pages/{}", names.docs, page.slug));
        if let (Some(item), Some(links)) =
            (item.as_object_mut(), Links::new().to("self", address).into_value())
        {
            item.insert(String::from("_links"), links);
        }
        items.push(item);
    }
    let total = i64::try_from(pages.len()).unwrap_or(i64::MAX);
    Ok(with_totals(Reply::new(items), call, &format!("/{}/pages", names.docs), total))
}

fn get(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (site, visit) = (call.site, call.visit);
    let slug = call.params.text("slug").unwrap_or_default().to_lowercase();
    let page = docs()
        .page(&slug)
        .ok_or_else(|| Refusal::new(404, "boardwalk_page_not_found", "Page not found."))?;
    let namespace = &site.settings().names.docs;
    let links = Links::new()
        .to("self", visit.rest(&format!("/{namespace}/pages/{}", page.slug)))
        .to("collection", visit.rest(&format!("/{namespace}/pages")));
    Ok(Reply::new(as_value(page.view(&visit.home))?).links(links))
}

fn find(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let words = call.params.text("search").unwrap_or_default();
    let limit = usize::try_from(call.params.int("per_page").unwrap_or(10)).unwrap_or(10);
    let hits = docs().search(words, limit);
    let items: Result<Vec<Value>, Stop> =
        hits.iter().map(|hit| as_value(hit.view(&call.visit.home))).collect();
    Ok(Reply::new(json!(items?)))
}
