//! Products that are like another one: they share a category or a tag with it.

use std::collections::BTreeSet;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use db::Conn;
use db::filter::{Direction, Page};
use frame::action::read;
use frame::{Action, Call};
use serde_json::json;
use shop_rows::product::{self, ProductFilter, ProductOrder};
use types::Result;

use super::loaded::{self, Loaded};
use super::record::{CATEGORY, PUBLISH, TAG, VARIATION};
use super::version::RIGHTS;

/// Products that are named at most.
const RELATED_MAX: i64 = 5;
/// Products of a term that are looked at: of a large category, these stand for all.
const CANDIDATES_MAX: usize = 40;
/// Terms of a product that are looked at.
const TERMS_MAX: usize = 10;

/// The ids of products that share a category or a tag, as if shuffled by the product's number.
pub fn ids(conn: &mut dyn Conn, loaded: &Loaded) -> Result<Vec<i64>> {
    let shared = loaded.terms.iter().filter(|term| matches!(&*term.taxonomy, CATEGORY | TAG));
    let own_id = loaded.product.id();
    let mut candidates = BTreeSet::new();
    for term in shared.take(TERMS_MAX) {
        candidates.extend(product::bearers_after(conn, term.term_id, own_id, CANDIDATES_MAX)?);
    }
    candidates.remove(&own_id);
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let seed = u16::try_from(own_id.rem_euclid(i64::from(u16::MAX)));
    let wanted = ProductFilter {
        include: candidates.into_iter().collect(),
        order: ProductOrder::Shuffled(seed.unwrap_or_default()),
        page: Page { offset: 0, limit: RELATED_MAX },
        ..public()
    };
    let (rows, _) = product::list(conn, &wanted)?;
    Ok(rows.into_iter().map(|row| row.product_id).collect())
}

/// What the shop window shows of the catalogue.
pub(super) fn public() -> ProductFilter {
    ProductFilter {
        kinds_exclude: vec![VARIATION.to_owned()],
        statuses: vec![PUBLISH.to_owned()],
        visibilities: vec![String::from("visible"), String::from("catalog")],
        order: ProductOrder::Id,
        direction: Direction::Ascending,
        ..ProductFilter::default()
    }
}

pub(super) fn route(namespace: &str) -> Route<Action> {
    let id = Schema::integer().about("Product ID.");
    let ids = Schema::list(Schema::integer()).about("Product IDs.");
    Route::at(namespace, r"/products/(?P<id>[\d]+)/related")
        .on(READ, Args::new().arg("id", id), read(may_read, run))
        .shows(Schema::object([("related_ids", ids)]))
}

fn may_read(call: &mut Call<'_>) -> std::result::Result<(), Stop> {
    let id = call.params.int("id").unwrap_or_default();
    if super::record::get(call.conn()?, id)?.is_none() {
        return Ok(());
    }
    let message = "You are not allowed to view this resource.";
    call.need(RIGHTS.read, "woocommerce_rest_cannot_view", message)
}

fn run(call: &mut Call<'_>) -> std::result::Result<Reply, Stop> {
    let id = call.params.int("id").unwrap_or_default();
    let Some(loaded) = loaded::find(call.conn()?, id)? else {
        let message = "Product not found.";
        return Err(Refusal::new(404, "woocommerce_rest_product_invalid_id", message).into());
    };
    let ids = ids(call.conn()?, &loaded)?;
    Ok(Reply::new(json!({ "related_ids": ids })))
}
