//! Products as strangers see them: the list, one by its id or slug, and what is counted of a list.

mod args;
pub(crate) mod collection_data;
mod filter;
pub(crate) mod shelf;
pub(crate) mod show;

use std::sync::Arc;

use commerce::products::record::VARIATION;
use contract::rest::route::{READ, Route};
use contract::rest::{Args, CompiledItem, Fields, Item, Links, Refusal, Reply, Schema, Stop};
use frame::action::{anyone, read};
use frame::paging::with_totals;
use frame::{Action, Call};
use serde_json::Value;
use shop_rows::product;
use types::Timestamp;

pub(crate) use self::args::context;
pub(crate) use self::filter::published;
use self::shelf::Shown;
use crate::schemas;

/// The products of one namespace.
struct Endpoint {
    /// The REST path of the collection.
    base: String,
    item: CompiledItem,
}

pub(crate) fn item() -> Item {
    schemas::item("product", include_str!("schemas/product.txt"))
}

pub(crate) fn routes(namespace: &str) -> [Route<Action>; 3] {
    let item = item();
    let compiled = item.compile().expect("the schema of a product is well formed");
    let endpoint = Arc::new(Endpoint { base: format!("/{namespace}/products"), item: compiled });
    macro_rules! on_endpoint {
        ($operation:path) => {{
            let endpoint = Arc::clone(&endpoint);
            move |call: &mut Call<'_>| $operation(&endpoint, call)
        }};
    }
    let scope = || Args::new().arg("context", context(&["view", "embed", "edit"]));
    let id = Args::new().arg("id", Schema::integer().about("Product ID."));
    let slug = Args::new().arg("slug", Schema::text().about("Product slug."));
    let route = |path: &str, args: Args, action: Action| {
        Route::at(namespace, path).on(READ, args, action).schema(item.document()).batchable()
    };
    [
        route("/products", scope().with(args::list()), read(anyone, on_endpoint!(list))),
        route(r"/products/(?P<id>[\d]+)", id.with(scope()), read(anyone, on_endpoint!(by_id))),
        route(
            r"/products/(?P<slug>[\S]+)",
            slug.with(scope()),
            read(anyone, on_endpoint!(by_slug)),
        ),
    ]
}

fn list(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let wanted = filter::of_list(call)?;
    let (rows, total) = product::list(call.conn()?, &wanted)?;
    let latest = rows.iter().map(|row| row.modified).max();
    let shown = shelf::of_rows(call, rows)?;
    let context = call.context();
    let wants_links = Fields::read(&call.params).is_none_or(|fields| fields.includes("_links"));
    let manner = show::Manner::of(call)?;
    let mut items = Vec::with_capacity(shown.len());
    for one in &shown {
        let mut body =
            endpoint.item.filter_by_context(show::body(call.visit, &manner, one), &context);
        let links = links(call, endpoint, one).into_value();
        if let (true, Value::Object(members), Some(links)) = (wants_links, &mut body, links) {
            members.insert(String::from("_links"), links);
        }
        items.push(body);
    }
    let reply = Reply::new(items).header("last-modified", http_date(latest.unwrap_or(call.now())));
    let reply = kept_apart(call, reply);
    Ok(with_totals(reply, call, &endpoint.base, total))
}

fn by_id(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let id = call.params.int("id").unwrap_or_default();
    let row = product::get(call.conn()?, id)?;
    let unknown = || Refusal::new(404, "woocommerce_rest_product_invalid_id", "Product not found.");
    one(endpoint, call, row)?.ok_or_else(|| unknown().into())
}

fn by_slug(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let slug = call.params.path().get("slug").and_then(Value::as_str).unwrap_or_default();
    let slug = frame::text::slugify(slug);
    let row = product::find_by_slug(call.conn()?, &slug)?;
    let unknown =
        || Refusal::new(404, "woocommerce_rest_product_invalid_slug", "Product not found.");
    one(endpoint, call, row)?.ok_or_else(|| unknown().into())
}

/// The reply about a product, if strangers may know of it.
fn one(
    endpoint: &Endpoint,
    call: &mut Call<'_>,
    row: Option<product::ProductRow>,
) -> Result<Option<Reply>, Stop> {
    let shown = shelf::of_rows(call, row.into_iter().collect())?;
    let Some(one) = shown.into_iter().find(|one| one.loaded.is_published()) else {
        return Ok(None);
    };
    let manner = show::Manner::of(call)?;
    let body = show::body(call.visit, &manner, &one);
    let body = endpoint.item.filter_by_context(body, &call.context());
    let reply = kept_apart(call, Reply::new(body));
    Ok(Some(reply.links(links(call, endpoint, &one))))
}

/// Nobody keeps for others what a reader sees who was told a password.
pub(crate) fn kept_apart(call: &Call<'_>, reply: Reply) -> Reply {
    if call.site.was_told_passwords(call.visit) {
        return reply.header("cache-control", "no-store");
    }
    reply
}

/// The products of these rows as the shop window shows them, as far as strangers may know of them.
pub(crate) fn shown(
    call: &mut Call<'_>,
    rows: Vec<product::ProductRow>,
) -> Result<Vec<Value>, Stop> {
    let shown = shelf::of_rows(call, rows)?;
    let manner = show::Manner::of(call)?;
    let published = shown.iter().filter(|one| one.loaded.is_published());
    let published = published.filter(|one| !one.loaded.product.is(VARIATION));
    Ok(published.map(|one| show::body(call.visit, &manner, one)).collect())
}

/// The same of these ids, in their order.
pub(crate) fn shown_by_ids(call: &mut Call<'_>, ids: &[i64]) -> Result<Vec<Value>, Stop> {
    let include: Vec<i64> = ids.iter().copied().take(db::filter::LIST_MAX).collect();
    let wanted =
        product::ProductFilter { include, order: product::ProductOrder::Include, ..published() };
    let (rows, _) = product::list(call.conn()?, &wanted)?;
    shown(call, rows)
}

fn links(call: &Call<'_>, endpoint: &Endpoint, one: &Shown) -> Links {
    let row = &one.loaded.product.row;
    let rest = |path: String| call.visit.rest(&path);
    let base = &endpoint.base;
    let mut links = Links::new()
        .to("self", rest(format!("{base}/{}", row.product_id)))
        .to("collection", rest(base.clone()));
    if row.parent_id != 0 {
        links = links.to("up", rest(format!("{base}/{}", row.parent_id)));
    }
    let plain = &one.loaded.product.details.plain;
    for (relation, ids) in [("upsells", &plain.upsell_ids), ("cross_sells", &plain.cross_sell_ids)]
    {
        if !ids.is_empty() {
            let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
            links = links.embeddable(relation, rest(format!("{base}?include={}", ids.join(","))));
        }
    }
    let related = format!("{base}?related={}&per_page=10", row.product_id);
    links.embeddable("related", rest(related))
}

/// A moment as HTTP writes it.
fn http_date(time: Timestamp) -> String {
    frame::dates::http(time)
}
