//! What the parameters of a list ask the store for.

use commerce::common::amounts;
use commerce::common::{moments, paging};
use commerce::products::loaded;
use commerce::products::record::{BRAND, CATEGORY, PUBLISH, TAG, VARIATION};
use contract::rest::{Params, Stop, loose};
use db::filter::Direction;
use frame::Call;
use serde_json::Value;
use shop_rows::attribute;
use shop_rows::product::{PriceRule, ProductColumn, ProductFilter, ProductOrder, ProductSearch};
use site_rows::post::{SEARCH_WORDS_MAX, TermCondition};
use site_rows::term;
use types::{Amount, Timestamp};

use crate::money::Money;

/// An id that nothing has, for conditions that nothing can meet.
const NOBODY: i64 = 0;

/// What strangers may know of.
pub(crate) fn published() -> ProductFilter {
    ProductFilter {
        statuses: vec![PUBLISH.to_owned()],
        parents_published: true,
        price_rule: PriceRule::Overlap,
        ..ProductFilter::default()
    }
}

/// The filter of a list.
pub(super) fn of_list(call: &mut Call<'_>) -> Result<ProductFilter, Stop> {
    let params = &call.params;
    let mut filter = ProductFilter {
        include: params.ints("include"),
        exclude: params.ints("exclude"),
        parents: params.ints("parent"),
        parents_exclude: params.ints("parent_exclude"),
        slugs: listed(params, "slug"),
        skus: listed(params, "sku"),
        featured: params.get("featured").and_then(Value::as_bool),
        on_sale: params.get("on_sale").and_then(Value::as_bool),
        stock_statuses: params.texts("stock_status"),
        ratings: params.ints("rating"),
        visibilities: visibilities(params),
        page: paging::page(call),
        ..published()
    };
    match params.text("type") {
        Some(kind) => filter.kinds = vec![kind.to_owned()],
        // A SKU may be that of a variation.
        None if filter.skus.is_empty() => filter.kinds_exclude = vec![VARIATION.to_owned()],
        None => {}
    }
    let words = words(params.text("search").unwrap_or_default());
    if !words.is_empty() {
        let columns = vec![ProductColumn::Name, ProductColumn::Sku];
        filter.searches.push(ProductSearch { words, columns });
    }
    dates(call, &mut filter);
    (filter.order, filter.direction) = order(params);
    prices(call, &mut filter)?;
    filter.terms = terms(call)?;
    filter.terms.extend(attributes(call)?);
    related(call, &mut filter)?;
    Ok(filter)
}

fn listed(params: &Params, name: &str) -> Vec<String> {
    let text = params.text(name).unwrap_or_default();
    let parts = text.split(',').map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().take(SEARCH_WORDS_MAX).map(str::to_owned).collect()
}

fn visibilities(params: &Params) -> Vec<String> {
    let names: &[&str] = match params.text("catalog_visibility").unwrap_or("any") {
        "visible" => &["visible"],
        "catalog" => &["visible", "catalog"],
        "search" => &["visible", "search"],
        "hidden" => &["hidden"],
        _ => &[],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn dates(call: &Call<'_>, filter: &mut ProductFilter) {
    let column = call.params.text("date_column").unwrap_or("date");
    let is_gmt = column.ends_with("_gmt");
    let moment = |name: &str| -> Option<Timestamp> {
        moments::bound(call.options(), call.params.text(name), is_gmt)
    };
    let (after, before) = (moment("after"), moment("before"));
    if column.starts_with("modified") {
        (filter.modified_after, filter.modified_before) = (after, before);
    } else {
        (filter.after, filter.before) = (after, before);
    }
}

fn order(params: &Params) -> (ProductOrder, Direction) {
    let direction = match params.text("order") {
        Some("asc") => Direction::Ascending,
        _ => Direction::Descending,
    };
    let order = match params.text("orderby").unwrap_or("date") {
        "modified" => ProductOrder::Modified,
        "id" => ProductOrder::Id,
        // The given order has no other direction, and the best come first in either.
        "include" => return (ProductOrder::Include, Direction::Ascending),
        "popularity" => return (ProductOrder::Popularity, Direction::Descending),
        "rating" => return (ProductOrder::Rating, Direction::Descending),
        "title" => ProductOrder::Title,
        "slug" => ProductOrder::Slug,
        "price" => ProductOrder::Price,
        "menu_order" => ProductOrder::MenuOrder,
        "comment_count" => ProductOrder::Reviews,
        _ => ProductOrder::Date,
    };
    (order, direction)
}

/// Bounds are in the minor unit, and one of zero is none.
fn prices(call: &Call<'_>, filter: &mut ProductFilter) -> Result<(), Stop> {
    let money = Money::of(call.options());
    let bound = |name: &str| -> Result<Option<Amount>, Stop> {
        let Some(text) = call.params.text(name).filter(|text| !text.trim().is_empty()) else {
            return Ok(None);
        };
        let wrong = || amounts::wrong(name, format!("{name} must be a whole number."));
        let amount = money.amount(text).ok_or_else(wrong)?;
        Ok(Some(amount).filter(|amount| !amount.is_zero()))
    };
    filter.price_min = bound("min_price")?;
    filter.price_max = bound("max_price")?;
    Ok(())
}

/// Categories, tags and brands, by id or slug.
fn terms(call: &mut Call<'_>) -> Result<Vec<TermCondition>, Stop> {
    let mut conditions = Vec::new();
    for (name, taxonomy) in [("category", CATEGORY), ("brand", BRAND), ("tag", TAG)] {
        let named = call.params.texts(name);
        if named.is_empty() {
            continue;
        }
        let mut ids = Vec::new();
        for text in &named {
            if let Ok(id) = text.parse::<i64>() {
                ids.push(id);
                continue;
            }
            let found = term::find_by_slug(call.conn()?, taxonomy, text)?;
            ids.extend(found.map(|row| row.term_id));
        }
        // Who means a term means those below it.
        let ids = term::with_descendants(call.conn()?, &ids)?;
        let operator = call.params.text(&format!("{name}_operator")).unwrap_or("in").to_owned();
        conditions.extend(combined(&operator, ids));
    }
    Ok(conditions)
}

fn combined(operator: &str, ids: Vec<i64>) -> Vec<TermCondition> {
    match operator {
        "not_in" => vec![TermCondition::NoneOf(ids)],
        _ if ids.is_empty() => vec![TermCondition::AnyOf(vec![NOBODY])],
        "and" => ids.into_iter().map(|id| TermCondition::AnyOf(vec![id])).collect(),
        _ => vec![TermCondition::AnyOf(ids)],
    }
}

/// Terms of attributes. An attribute that the shop does not have is passed over.
fn attributes(call: &mut Call<'_>) -> Result<Vec<TermCondition>, Stop> {
    let wanted = call.params.get("attributes").and_then(Value::as_array).cloned();
    let wanted = wanted.unwrap_or_default();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let known = attribute::all(call.conn()?)?;
    let mut groups = Vec::new();
    for entry in &wanted {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let taxonomy = text("attribute").to_owned();
        if !known.iter().any(|row| attribute::taxonomy(&row.name) == taxonomy) {
            continue;
        }
        let list = |name: &str| entry.get(name).and_then(Value::as_array).into_iter().flatten();
        let mut ids: Vec<i64> = list("term_id").map(loose::to_int).collect();
        for slug in list("slug").filter_map(Value::as_str) {
            let found = term::find_by_slug(call.conn()?, &taxonomy, slug)?;
            ids.push(found.map_or(NOBODY, |row| row.term_id));
        }
        if !ids.is_empty() {
            groups.push((text("operator").to_owned(), ids));
        }
    }
    let is_any = call.params.text("attribute_relation") == Some("in");
    if is_any && groups.iter().all(|(operator, _)| operator != "not_in") {
        let all: Vec<i64> = groups.into_iter().flat_map(|(_, ids)| ids).collect();
        return Ok(if all.is_empty() { Vec::new() } else { combined("in", all) });
    }
    Ok(groups.into_iter().flat_map(|(operator, ids)| combined(&operator, ids)).collect())
}

/// Products that share a category or a tag with another one.
fn related(call: &mut Call<'_>, filter: &mut ProductFilter) -> Result<(), Stop> {
    let id = call.params.int("related").unwrap_or_default();
    if id == 0 {
        return Ok(());
    }
    let found = loaded::find(call.conn()?, id)?;
    let shared = found.iter().flat_map(|loaded| &loaded.terms);
    let shared = shared.filter(|term| matches!(&*term.taxonomy, CATEGORY | TAG));
    let shared: Vec<i64> = shared.map(|term| term.term_id).collect();
    filter.terms.extend(combined("in", shared));
    filter.exclude.push(id);
    Ok(())
}
