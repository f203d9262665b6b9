//! Products and variations of which there are few, for whoever orders more.

use std::collections::BTreeMap;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Reply, Schema, Stop};
use db::filter::{Direction, Page};
use frame::action::read;
use frame::dates::written;
use frame::paging::with_totals;
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::product::{self, ProductFilter, ProductOrder};
use types::Timestamp;

use super::loaded::{self, Loaded};
use super::record::VARIATION;
use super::schema::{BOTH, field, number, text};
use super::version::RIGHTS;
use super::{attributes, filter, show};
use crate::common::args::paging;
use crate::common::version::Version;

const PATH: &str = "/products/low-in-stock";
const COUNT_PATH: &str = "/products/count-low-in-stock";
const STATUSES: &[&str] = &["draft", "pending", "private", "publish", "future"];

pub(super) fn routes(namespace: &str) -> Vec<Route<Action>> {
    let context = || {
        let about = "Scope of the request; determines the fields in the response.";
        Schema::text().about(about).choices(BOTH).default("view")
    };
    let status = || {
        let about = "Limit results to products with this status.";
        Schema::text().default("publish").choices(STATUSES).about(about)
    };
    let list_args = Args::new().arg("context", context()).with(paging()).arg("status", status());
    let count_args = Args::new().arg("context", context()).arg("status", status());
    let base = format!("/{namespace}{PATH}");
    let list = move |call: &mut Call<'_>| list(call, &base);
    vec![
        Route::at(namespace, PATH)
            .on(READ, list_args, read(may_list, list))
            .schema(item().document()),
        Route::at(namespace, COUNT_PATH)
            .on(READ, count_args, read(may_list, count))
            .shows(Schema::object([("total", Schema::integer().about("Number of products."))])),
    ]
}

fn item() -> Item {
    let any = |about: &str| field(Schema::typed("array"), about);
    Item::new(
        "product",
        Schema::object([
            ("id", number("Product ID.").readonly()),
            ("images", any("Product images.").readonly()),
            ("attributes", any("Variation attributes.").readonly()),
            ("low_stock_amount", number("Low stock threshold.").readonly().or_null()),
            ("last_order_date", text("Date last ordered.").readonly().or_null()),
            ("name", text("Product name.").readonly()),
            ("parent_id", number("Parent product ID.").readonly()),
            ("stock_quantity", number("Stock quantity.").readonly().or_null()),
            ("type", text("Product type.").readonly()),
        ]),
    )
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to list resources.";
    call.need(RIGHTS.read, "woocommerce_rest_cannot_view", message)
}

fn wanted(call: &Call<'_>, page: Page) -> ProductFilter {
    let mut wanted = ProductFilter {
        statuses: vec![call.params.text("status").unwrap_or("publish").to_owned()],
        order: ProductOrder::Id,
        direction: Direction::Descending,
        page,
        ..ProductFilter::default()
    };
    filter::only_low(call, &mut wanted);
    wanted
}

fn list(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let wanted = wanted(call, crate::common::paging::page(call));
    let (rows, total) = product::list(call.conn()?, &wanted)?;
    let mut records = super::of_rows(call, rows)?;
    loaded::add_last_orders(call.conn()?, &mut records)?;
    let mut dates = dates_by_product(&records);
    let items = records.iter().map(|record| {
        let date = dates.remove(&key(record));
        body(call, record, date)
    });
    let items: Vec<Value> = items.collect();
    Ok(with_totals(Reply::new(items), call, base, total))
}

/// The newest date among the variations of one product on a page. Clients know it at the first of
/// them; the others have none.
fn dates_by_product(records: &[Loaded]) -> BTreeMap<i64, Timestamp> {
    let mut dates: BTreeMap<i64, Timestamp> = BTreeMap::new();
    for record in records {
        let Some(date) = record.last_order else { continue };
        let newest = dates.entry(key(record)).or_insert(date);
        *newest = date.max(*newest);
    }
    dates
}

fn key(record: &Loaded) -> i64 {
    let product = &record.product;
    if product.is(VARIATION) { product.row.parent_id } else { product.id() }
}

fn body(call: &Call<'_>, record: &Loaded, last: Option<Timestamp>) -> Value {
    let row = &record.product.row;
    let last = last.map(|date| written(call.options().local(date)));
    let images = (0_i64..).zip(&record.product.details.images);
    let images =
        images.map(|(place, image)| show::image(call.visit, image, place, Version::Analytics));
    json!({
        "id": row.product_id,
        "images": images.collect::<Vec<_>>(),
        "attributes": attributes::shown(record, Version::Analytics),
        "low_stock_amount": show::quantity(row.low_stock_amount),
        "last_order_date": last,
        "name": row.name,
        "parent_id": row.parent_id,
        "stock_quantity": show::quantity(row.stock_quantity),
        "type": row.kind,
    })
}

fn count(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let wanted = wanted(call, Page { offset: 0, limit: 0 });
    let (_, total) = product::list(call.conn()?, &wanted)?;
    let reply = Reply::new(json!({ "total": total }));
    Ok(reply.header("x-wp-total", total.to_string()).header("x-wp-totalpages", "0"))
}
