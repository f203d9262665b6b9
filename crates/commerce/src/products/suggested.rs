//! Products to suggest: a few of the categories and tags that a request names, or of all.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Reply, Stop};
use db::filter::Page;
use frame::action::read;
use frame::paging::with_totals;
use frame::{Action, Call};
use shop_rows::product::{self, ProductFilter};
use site_rows::post::{Relation, TermCondition};

use super::version::RIGHTS;
use super::{Products, args, filter, related};
use crate::common::version::Version;
use crate::resource::Resource as _;

const PATH: &str = "/products/suggested-products";
/// Products that are suggested at most, whatever the request says.
const SUGGESTED_MAX: i64 = 100;

pub(super) fn route(namespace: &str, version: Version) -> Route<Action> {
    let products = Products::new(version);
    let item = products.item.compile().expect("the schema of a product is well formed");
    let document = products.item.document();
    let context = products.item.context_arg();
    let arguments = Args::new().arg("context", context).with(args::suggested());
    // Pages of suggestions are linked as those of all products, as clients know it.
    let base = format!("/{namespace}/products");
    let run = move |call: &mut Call<'_>| {
        let (rows, total) = suggestions(call, version)?;
        let context = call.context();
        let mut items = Vec::new();
        for record in super::of_rows(call, rows)? {
            let body = item.filter_by_context(products.show(call, &record)?, &context);
            items.push(crate::managers::linked(body, products.links(call, &record, &base)));
        }
        Ok(with_totals(Reply::new(items), call, &base, total))
    };
    Route::at(namespace, PATH).on(READ, arguments, read(may_list, run)).lists().schema(document)
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to list resources.";
    call.need(RIGHTS.read, "woocommerce_rest_cannot_view", message)
}

type Rows = (Vec<product::ProductRow>, i64);

fn suggestions(call: &mut Call<'_>, version: Version) -> Result<Rows, Stop> {
    let shared: Vec<i64> =
        call.params.ints("categories").into_iter().chain(call.params.ints("tags")).collect();
    let terms = if shared.is_empty() { Vec::new() } else { vec![TermCondition::AnyOf(shared)] };
    let limit = call.params.int("limit").unwrap_or(5).clamp(0, SUGGESTED_MAX);
    let wanted = ProductFilter {
        exclude: call.params.ints("exclude"),
        terms,
        terms_relation: Relation::Or,
        page: Page { offset: 0, limit },
        ..related::public()
    };
    let (found, _) = product::list(call.conn()?, &wanted)?;
    if found.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let mut listed = filter::of_products(call, version)?;
    listed.include = found.into_iter().map(|row| row.product_id).collect();
    Ok(product::list(call.conn()?, &listed)?)
}
