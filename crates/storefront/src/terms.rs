//! Attributes with their terms, categories, tags and brands.

use commerce::common::paging;
use commerce::taxonomies::{BRAND, CATEGORY, TAG};
use contract::rest::args::id_list;
use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop, Treatment};
use db::filter::Page;
use frame::action::{anyone, read};
use frame::paging::with_totals;
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::attribute::{self, AttributeRow};
use shop_rows::{product, review};
use site_rows::term::{self, TermFilter, TermOrder, TermRow};

use crate::products::shelf::Paths;
use crate::products::show;
use crate::schemas;

const BOTH: &[&str] = &["view", "edit"];
const ALL: &[&str] = &["view", "embed", "edit"];

/// A taxonomy with a collection of its own.
#[derive(Clone, Copy)]
struct Collection {
    taxonomy: &'static str,
    path: &'static str,
    /// Whether terms have a picture, reviews and an address.
    is_rich: bool,
}

const COLLECTIONS: [Collection; 3] = [
    Collection { taxonomy: CATEGORY, path: "/products/categories", is_rich: true },
    Collection { taxonomy: BRAND, path: "/products/brands", is_rich: true },
    Collection { taxonomy: TAG, path: "/products/tags", is_rich: false },
];

fn term_item() -> Item {
    schemas::item("term", include_str!("schemas/term.txt"))
}

fn rich_item(title: &str) -> Item {
    schemas::item(title, include_str!("schemas/category.txt"))
}

fn context(contexts: &[&str]) -> Schema {
    crate::products::context(contexts)
}

fn list_args(orders: &[&str]) -> Args {
    let text = |about: &str| Schema::text().about(about);
    let ids = |about: &str| Schema::list(Schema::integer()).default(Vec::<i64>::new()).about(about);
    Args::new()
        .arg("page", Schema::integer().default(1).min(1).about("Page of the collection."))
        .arg(
            "per_page",
            Schema::integer().min(0).about("Maximum number of terms per page; 0 for all."),
        )
        .arg("search", text("Limit results to terms matching this text."))
        .treated("exclude", ids("Exclude terms with these IDs."), Treatment::Own(id_list))
        .treated("include", ids("Limit results to terms with these IDs."), Treatment::Own(id_list))
        .arg("order", text("Sort order.").default("asc").choices(&["asc", "desc"]))
        .arg("orderby", text("Field to sort by.").default("name").choices(orders))
        .arg("hide_empty", Schema::boolean().default(true).about("Exclude terms without products."))
        .arg("parent", Schema::integer().about("Limit results to terms with this parent."))
}

/// The routes of attributes and their terms.
pub(crate) fn attribute_routes(namespace: &str) -> [Route<Action>; 3] {
    let item = schemas::item("product_attribute", include_str!("schemas/attribute.txt"));
    let terms = schemas::item("product-attribute-term", include_str!("schemas/term.txt"));
    let id = || Args::new().arg("id", Schema::integer().about("Attribute ID."));
    let attribute_id = Args::new().arg("attribute_id", Schema::integer().about("Attribute ID."));
    let visual = Schema::boolean().default(false).about("Whether to return visual data of terms.");
    let orders = ["name", "slug", "count", "menu_order", "name_num", "id"];
    let list_context = context(BOTH).without("default");
    let base = format!("/{namespace}/products/attributes");
    let of_terms = attribute_id
        .arg("context", context(BOTH))
        .with(list_args(&orders))
        .arg("__experimental_visual", visual);
    [
        Route::at(namespace, "/products/attributes")
            .on(READ, Args::new().arg("context", list_context), read(anyone, attributes))
            .lists()
            .schema(item.document())
            .batchable(),
        Route::at(namespace, r"/products/attributes/(?P<id>[\d]+)")
            .on(READ, id().arg("context", context(BOTH)), read(anyone, attribute_one))
            .schema(item.document())
            .batchable(),
        Route::at(namespace, r"/products/attributes/(?P<attribute_id>[\d]+)/terms")
            .on(READ, of_terms, read(anyone, move |call| attribute_terms(call, &base)))
            .schema(terms.document())
            .batchable(),
    ]
}

/// The routes of categories, brands and tags.
pub(crate) fn routes(namespace: &str) -> Vec<Route<Action>> {
    let mut routes = Vec::new();
    for of in COLLECTIONS {
        let base = format!("/{namespace}{}", of.path);
        let title = if of.taxonomy == CATEGORY { "product-category" } else { "product-brand" };
        let item = if of.is_rich { rich_item(title) } else { term_item() };
        let contexts = if of.is_rich { ALL } else { BOTH };
        let args = Args::new()
            .arg("context", context(contexts))
            .with(list_args(&["name", "slug", "count"]));
        routes.push(
            Route::at(namespace, of.path)
                .on(READ, args, read(anyone, move |call| collection(call, of, &base)))
                .schema(item.document())
                .batchable(),
        );
        let one = match of.taxonomy {
            CATEGORY => Some((r"/(?P<id>[\d]+)", "id", Schema::integer().about("Category ID."))),
            BRAND => Some((
                r"/(?P<identifier>[\w-]+)",
                "identifier",
                Schema::text().about("Brand ID or slug."),
            )),
            _ => None,
        };
        let Some((pattern, name, schema)) = one else { continue };
        let args = Args::new().arg(name, schema).arg("context", context(contexts));
        routes.push(
            Route::at(namespace, &format!("{}{pattern}", of.path))
                .on(READ, args, read(anyone, move |call| collection_one(call, of)))
                .schema(item.document())
                .batchable(),
        );
    }
    routes
}

fn attributes(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut rows = attribute::all(call.conn()?)?;
    rows.sort_by_key(|row| row.label.to_lowercase());
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        items.push(attribute_body(call, &row)?);
    }
    Ok(Reply::new(items))
}

fn attribute_one(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let id = call.params.int("id").unwrap_or_default();
    let Some(row) = attribute::get(call.conn()?, id)? else {
        let message = "Attribute not found.";
        return Err(Refusal::new(404, "woocommerce_rest_attribute_invalid_id", message).into());
    };
    Ok(Reply::new(attribute_body(call, &row)?))
}

fn attribute_body(call: &mut Call<'_>, row: &AttributeRow) -> Result<Value, Stop> {
    let taxonomy = attribute::taxonomy(&row.name);
    let page = Page { offset: 0, limit: 0 };
    let counted = TermFilter { taxonomies: vec![taxonomy.clone()], page, ..TermFilter::default() };
    let (_, count) = term::list(call.conn()?, &counted)?;
    Ok(json!({
        "id": row.attribute_id,
        "name": row.label,
        "taxonomy": taxonomy,
        "type": row.kind,
        "order": row.order_by,
        "has_archives": row.has_archives,
        "count": count,
    }))
}

fn attribute_terms(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let id = call.params.int("attribute_id").unwrap_or_default();
    let Some(row) = attribute::get(call.conn()?, id)? else {
        let message = "Attribute not found.";
        return Err(Refusal::new(404, "woocommerce_rest_taxonomy_invalid", message).into());
    };
    let taxonomy = attribute::taxonomy(&row.name);
    let (mut rows, total) = listed(call, &taxonomy)?;
    if call.params.text("orderby") == Some("name_num") {
        let number = |row: &TermRow| contract::rest::loose::to_float(&json!(row.name));
        rows.sort_by(|left, right| number(left).total_cmp(&number(right)));
        if call.params.text("order") == Some("desc") {
            rows.reverse();
        }
    }
    let ids: Vec<i64> = rows.iter().map(|row| row.term_id).collect();
    let counts = term::counts(call.conn()?, &ids)?;
    let count = |row: &TermRow| counts.get(&row.term_id).copied().unwrap_or_default();
    let items: Vec<Value> = rows.iter().map(|row| term_body(row, count(row))).collect();
    Ok(paged(call, Reply::new(items), &format!("{base}/{id}/terms"), total))
}

/// The terms that the request asks for: all of them unless it names a number.
fn listed(call: &mut Call<'_>, taxonomy: &str) -> Result<(Vec<TermRow>, i64), Stop> {
    let params = &call.params;
    let page = match params.int("per_page").filter(|count| *count > 0) {
        Some(limit) => {
            let limit = limit.min(db::filter::PAGE_MAX);
            let number = params.int("page").unwrap_or(1).max(1);
            Page { offset: (number - 1).saturating_mul(limit), limit }
        }
        None => Page::default(),
    };
    let order = match params.text("orderby").unwrap_or("name") {
        "slug" => TermOrder::Slug,
        "count" => TermOrder::Count,
        "menu_order" => TermOrder::MenuOrder,
        "id" => TermOrder::Id,
        _ => TermOrder::Name,
    };
    let wanted = TermFilter {
        taxonomies: vec![taxonomy.to_owned()],
        search: params.text("search").filter(|text| !text.is_empty()).map(str::to_owned),
        include: params.ints("include"),
        exclude: params.ints("exclude"),
        parent: params.int("parent"),
        hide_empty: params.flag("hide_empty"),
        order,
        direction: paging::direction(params),
        page,
        ..TermFilter::default()
    };
    Ok(term::list(call.conn()?, &wanted)?)
}

/// Totals are told of lists that have pages.
fn paged(call: &Call<'_>, reply: Reply, path: &str, total: i64) -> Reply {
    match call.params.int("per_page").filter(|count| *count > 0) {
        Some(_) => with_totals(reply, call, path, total),
        None => reply,
    }
}

fn term_body(row: &TermRow, count: i64) -> Value {
    json!({
        "id": row.term_id,
        "name": row.name,
        "slug": row.slug,
        "description": row.description,
        "parent": row.parent_id,
        "count": count,
    })
}

fn collection(call: &mut Call<'_>, of: Collection, base: &str) -> Result<Reply, Stop> {
    let (rows, total) = listed(call, of.taxonomy)?;
    let items = bodies(call, of, &rows)?;
    Ok(paged(call, Reply::new(items), base, total))
}

fn bodies(call: &mut Call<'_>, of: Collection, rows: &[TermRow]) -> Result<Vec<Value>, Stop> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let counts = product::counts_by_term(call.conn()?, of.taxonomy)?;
    let count = |row: &TermRow| counts.get(&row.term_id).copied().unwrap_or_default();
    let mut items: Vec<Value> = rows.iter().map(|row| term_body(row, count(row))).collect();
    if !of.is_rich {
        return Ok(items);
    }
    let reviews = review::counts_by_term(call.conn()?, of.taxonomy)?;
    let paths = Paths::read(call.conn()?, &[of.taxonomy])?;
    for (row, item) in rows.iter().zip(&mut items) {
        let details: Value = serde_json::from_str(&row.details).unwrap_or_default();
        let image = crate::images::of_term(call, details.get("image"))?;
        let Value::Object(members) = item else { continue };
        let reviews = reviews.get(&row.term_id).copied().unwrap_or_default();
        let path = paths.of(row.term_id, &row.slug);
        let permalink = show::term_address(call.visit, of.taxonomy, &path);
        members.insert(String::from("image"), image);
        members.insert(String::from("review_count"), json!(reviews));
        members.insert(String::from("permalink"), json!(permalink));
    }
    Ok(items)
}

fn collection_one(call: &mut Call<'_>, of: Collection) -> Result<Reply, Stop> {
    let named = call.params.path().get("identifier").or_else(|| call.params.path().get("id"));
    let named = named.and_then(contract::rest::loose::scalar_text).unwrap_or_default().into_owned();
    let found = match named.parse::<i64>() {
        Ok(id) => term::get(call.conn()?, id)?.filter(|row| row.taxonomy == of.taxonomy),
        Err(_) => term::find_by_slug(call.conn()?, of.taxonomy, &named)?,
    };
    let Some(row) = found else {
        let word = if of.taxonomy == CATEGORY { "category" } else { "brand" };
        let code = format!("woocommerce_rest_{word}_invalid_id");
        return Err(Refusal::new(404, code, "Term not found.").into());
    };
    let body = bodies(call, of, &[row])?.pop().unwrap_or_default();
    Ok(Reply::new(body))
}
