//! What is counted of a list of products, for those who narrow it: prices, stock, ratings, terms.

use commerce::products::record::{BRAND, CATEGORY, STOCK_STATUSES, VARIATION};
use contract::rest::route::{READ, Route};
use contract::rest::{Args, Reply, Schema, Stop};
use frame::action::{anyone, read};
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::attribute;
use shop_rows::product::{self, ProductFilter, ProductGroup};
use site_rows::post::TermCondition;
use site_rows::term::{self, TermFilter};

use super::{args, filter, show};
use crate::schemas;

/// Attributes, or taxonomies, of which one request may ask the counts.
const COUNTED_MAX: usize = 20;

pub(crate) fn route(namespace: &str) -> Route<Action> {
    let item =
        schemas::item("product-collection-data", include_str!("../schemas/collection_data.txt"));
    let none = Vec::<i64>::new();
    let flag = |about: &str| Schema::boolean().default(false).about(about);
    let counted = Schema::object([
        ("taxonomy", Schema::text().about("Taxonomy of the attribute.").context(BOTH).readonly()),
        (
            "query_type",
            Schema::text()
                .about("Whether products must have all terms or any.")
                .choices(&["and", "or"])
                .context(BOTH)
                .readonly(),
        ),
    ]);
    let args = Args::new()
        .arg("context", args::context(&["view", "edit"]))
        .with(args::list())
        .arg("calculate_price_range", flag("Whether to return the lowest and highest price."))
        .arg("calculate_stock_status_counts", flag("Whether to count by stock status."))
        .arg(
            "calculate_attribute_counts",
            Schema::list(counted)
                .default(none.clone())
                .about("Attributes whose terms are counted."),
        )
        .arg("calculate_rating_counts", flag("Whether to count by rating."))
        .arg(
            "calculate_taxonomy_counts",
            Schema::list(Schema::text()).default(none).about("Taxonomies whose terms are counted."),
        );
    Route::at(namespace, "/products/collection-data")
        .on(READ, args, read(anyone, run))
        .shows_item()
        .schema(item.document())
        .batchable()
}

const BOTH: &[&str] = &["view", "edit"];

fn run(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut wanted = filter::of_list(call)?;
    if wanted.kinds.is_empty() {
        wanted.kinds_exclude = vec![VARIATION.to_owned()];
    }
    Ok(Reply::new(json!({
        "price_range": price_range(call, &wanted)?,
        "attribute_counts": attributes(call, &wanted)?,
        "rating_counts": ratings(call, &wanted)?,
        "stock_status_counts": stock(call, &wanted)?,
        "taxonomy_counts": taxonomies(call, &wanted)?,
    })))
}

/// Of all prices, whatever bounds the request names.
fn price_range(call: &mut Call<'_>, wanted: &ProductFilter) -> Result<Value, Stop> {
    if !call.params.flag("calculate_price_range") {
        return Ok(Value::Null);
    }
    let wanted = ProductFilter { price_min: None, price_max: None, ..wanted.clone() };
    let Some((least, greatest)) = product::price_range(call.conn()?, &wanted)? else {
        return Ok(Value::Null);
    };
    let manner = show::Manner::of(call)?;
    let amount = |price| manner.money.minor(manner.prices.shown(price, "", "taxable"));
    let range = json!({ "min_price": amount(least), "max_price": amount(greatest) });
    Ok(manner.money.with(range))
}

fn stock(call: &mut Call<'_>, wanted: &ProductFilter) -> Result<Value, Stop> {
    if !call.params.flag("calculate_stock_status_counts") {
        return Ok(Value::Null);
    }
    let wanted = ProductFilter { stock_statuses: Vec::new(), ..wanted.clone() };
    let counts = product::count_by(call.conn()?, &wanted, ProductGroup::StockStatus)?;
    let count = |status: &str| {
        let found = counts.iter().find(|(name, _)| name == status);
        found.map_or(0, |(_, count)| *count)
    };
    let shown = STOCK_STATUSES.iter();
    let shown = shown.map(|name| json!({ "status": name, "count": count(name).to_string() }));
    Ok(shown.collect::<Vec<_>>().into())
}

fn ratings(call: &mut Call<'_>, wanted: &ProductFilter) -> Result<Value, Stop> {
    if !call.params.flag("calculate_rating_counts") {
        return Ok(Value::Null);
    }
    let wanted = ProductFilter { ratings: Vec::new(), ..wanted.clone() };
    let counts = product::count_by_rating(call.conn()?, &wanted)?.into_iter();
    let shown = counts.map(|(rating, count)| json!({ "rating": rating, "count": count }));
    Ok(shown.collect::<Vec<_>>().into())
}

/// The counts of terms of attributes. Who asks for any of several terms of an attribute wants to
/// know what the others would find, so the attribute's own condition does not count.
fn attributes(call: &mut Call<'_>, wanted: &ProductFilter) -> Result<Value, Stop> {
    let asked = call.params.get("calculate_attribute_counts").and_then(Value::as_array).cloned();
    let asked = asked.unwrap_or_default();
    if asked.is_empty() {
        return Ok(Value::Null);
    }
    let known = attribute::all(call.conn()?)?;
    let mut counts = Vec::new();
    for entry in asked.iter().take(COUNTED_MAX) {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let taxonomy = text("taxonomy");
        if !known.iter().any(|row| attribute::taxonomy(&row.name) == taxonomy) {
            continue;
        }
        let mut wanted = wanted.clone();
        if text("query_type") == "or" {
            let own = TermFilter { taxonomies: vec![taxonomy.to_owned()], ..TermFilter::default() };
            let (rows, _) = term::list(call.conn()?, &own)?;
            let own: Vec<i64> = rows.iter().map(|row| row.term_id).collect();
            wanted.terms.retain(|condition| match condition {
                TermCondition::AnyOf(ids) | TermCondition::NoneOf(ids) => {
                    !ids.iter().any(|id| own.contains(id))
                }
            });
        }
        let found = product::count_by_term(call.conn()?, &wanted, taxonomy)?.into_iter();
        counts.extend(found.map(|(term, count)| json!({ "term": term, "count": count })));
    }
    Ok(counts.into())
}

/// The counts of terms of taxonomies, each with the products of the terms below it.
fn taxonomies(call: &mut Call<'_>, wanted: &ProductFilter) -> Result<Value, Stop> {
    let asked = call.params.texts("calculate_taxonomy_counts");
    if asked.is_empty() {
        return Ok(Value::Null);
    }
    let mut counts = Vec::new();
    for taxonomy in asked.iter().take(COUNTED_MAX) {
        let mut found = product::count_by_term(call.conn()?, wanted, taxonomy)?;
        if matches!(taxonomy.as_str(), CATEGORY | BRAND) {
            let all = TermFilter { taxonomies: vec![taxonomy.clone()], ..TermFilter::default() };
            let (rows, _) = term::list(call.conn()?, &all)?;
            for row in
                rows.iter().filter(|row| rows.iter().any(|other| other.parent_id == row.term_id))
            {
                let ids = term::with_descendants(call.conn()?, &[row.term_id])?;
                let mut below = wanted.clone();
                below.terms.push(TermCondition::AnyOf(ids));
                below.page.limit = 0;
                let (_, count) = product::list(call.conn()?, &below)?;
                found.retain(|(term, _)| *term != row.term_id);
                if count > 0 {
                    found.push((row.term_id, count));
                }
            }
        }
        let found = found.into_iter();
        counts.extend(found.map(|(term, count)| json!({ "term": term, "count": count })));
    }
    Ok(counts.into())
}
