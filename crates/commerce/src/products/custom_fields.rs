//! The names that entries of `meta_data` of products have, for whoever offers them for choice.

use std::collections::BTreeSet;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Reply, Schema, Stop};
use db::filter::{PAGE_MAX, Page, fold};
use frame::action::read;
use frame::paging::with_totals;
use frame::{Action, Call};
use serde_json::Value;
use shop_rows::product::{self, ProductFilter, ProductOrder};

use super::record::Product;
use super::version::RIGHTS;
use crate::common::args::{paging, search};

const PATH: &str = "/products/custom-fields/names";
/// Names beginning so are not for people.
const HIDDEN: char = '_';
/// How many were sold is an entry that every product has.
const SALES: &str = "total_sales";
/// Products that are looked at; free data is not indexed.
const PRODUCTS_MAX: i64 = 100_000;

pub(super) fn route(namespace: &str) -> Route<Action> {
    let order = Schema::text().default("asc").choices(&["asc", "desc"]).about("Sort order.");
    let context = Schema::text().about("Scope of the request.");
    let args =
        Args::new().arg("context", context).with(paging()).with(search()).arg("order", order);
    let base = format!("/{namespace}{PATH}");
    let run = move |call: &mut Call<'_>| list(call, &base);
    Route::at(namespace, PATH)
        .on(READ, args, read(may_list, run))
        .shows(Schema::list(Schema::text().about("Name of a custom field.")))
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to list resources.";
    call.need(RIGHTS.read, "woocommerce_rest_cannot_view", message)
}

fn list(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let wanted = fold(call.params.text("search").unwrap_or_default().trim());
    let mut names = names(call)?;
    names.retain(|name| fold(name).contains(&wanted));
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_by_cached_key(|name| fold(name));
    if call.params.text("order") == Some("desc") {
        names.reverse();
    }
    let total = i64::try_from(names.len()).unwrap_or(i64::MAX);
    let Page { offset, limit } = crate::common::paging::page(call);
    let (skipped, taken) =
        (usize::try_from(offset).unwrap_or(usize::MAX), usize::try_from(limit).unwrap_or_default());
    let page: Vec<Value> = names.into_iter().skip(skipped).take(taken).map(Value::from).collect();
    Ok(with_totals(Reply::new(page), call, base, total))
}

fn names(call: &mut Call<'_>) -> Result<BTreeSet<String>, Stop> {
    let mut names = BTreeSet::new();
    for offset in (0..PRODUCTS_MAX).step_by(usize::try_from(PAGE_MAX).unwrap_or(1)) {
        let wanted = ProductFilter {
            order: ProductOrder::Id,
            kinds_exclude: vec![String::from("variation")],
            page: Page { offset, limit: PAGE_MAX },
            ..ProductFilter::default()
        };
        let (rows, total) = product::list(call.conn()?, &wanted)?;
        if total > 0 {
            names.insert(SALES.to_owned());
        }
        for row in rows {
            let entries = Product::of_row(row)?.details.meta_data;
            let keys = entries.iter().filter_map(|entry| entry.get("key")?.as_str());
            names.extend(keys.filter(|key| !key.starts_with(HIDDEN)).map(str::to_owned));
        }
        if offset + PAGE_MAX >= total {
            break;
        }
    }
    Ok(names)
}
