//! A product in short, as reports tell about it.

use std::collections::BTreeMap;

use contract::rest::Stop;
use frame::text::escaped;
use frame::{Call, Visit};
use serde_json::{Map, Value, json};
use shop_rows::product::{self, ProductFilter};
use types::Amount;

use super::loaded::{self, Loaded};
use super::record::{CATEGORY, Image, Product, VARIABLE, VARIATION};
use super::show::{View, quantity};
use super::{address, price};
use crate::common::version::Version;
use crate::pictures;

/// Whoever has set no threshold is told of the last piece.
const THRESHOLD_MIN: i64 = 1;

/// What is told about these products and variations; nothing about those that are gone.
pub(crate) fn cards(call: &mut Call<'_>, ids: &[i64]) -> Result<BTreeMap<i64, Value>, Stop> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let wanted = ProductFilter { include: ids.to_vec(), ..ProductFilter::default() };
    let (rows, _) = product::list(call.conn()?, &wanted)?;
    let products: Vec<Product> =
        rows.into_iter().map(Product::of_row).collect::<types::Result<_>>()?;
    let loaded = loaded::load(call.conn()?, products)?;
    let visit = call.visit;
    let stand_in = pictures::placeholder(call.conn()?, visit)?;
    let cards = loaded.iter().map(|loaded| (loaded.product.id(), card(call, loaded, &stand_in)));
    Ok(cards.collect())
}

fn card(call: &Call<'_>, loaded: &Loaded, stand_in: &Image) -> Value {
    let mut current = loaded.product.clone();
    price::settle(&mut current, call.now());
    let view = View { loaded, version: Version::Analytics, raw: false };
    let (row, counted) = (&current.row, view.counted());
    let threshold = call.options().integer("woocommerce_notify_low_stock_amount");
    let low = row.low_stock_amount.map_or(threshold.max(THRESHOLD_MIN), Amount::to_whole);
    let mut card = Map::new();
    let mut put = |name: &str, value: Value| card.insert(name.to_owned(), value);
    put("name", json!(row.name));
    put("price", quantity(Some(row.price.unwrap_or_default())));
    put("image", json!(picture(call.visit, &view, stand_in)));
    put("permalink", json!(address::permalink(call.visit, loaded)));
    put("stock_status", json!(row.stock_status));
    put("stock_quantity", quantity(counted.row.stock_quantity));
    put("manage_stock", json!(row.manage_stock));
    put("low_stock_amount", json!(low));
    let categories: Vec<i64> = loaded.terms_of(CATEGORY).map(|term| term.term_id).collect();
    put("category_ids", json!(categories));
    if current.is(VARIABLE) {
        put("variations", json!(loaded.children));
    }
    put("sku", json!(view.sku()));
    if current.is(VARIATION) {
        put("attributes", json!(attributes(loaded)));
    }
    Value::Object(card)
}

/// What a variation is about, be it left to the buyer.
fn attributes(loaded: &Loaded) -> Vec<Value> {
    let shown = loaded.chosen.iter().map(|chosen| {
        let id = loaded.words.attribute(&chosen.name).map_or(0, |known| known.attribute_id);
        let name = chosen.name.strip_prefix("pa_").unwrap_or(&chosen.name);
        json!({ "id": id, "name": name, "option": loaded.words.value(chosen) })
    });
    shown.collect()
}

/// The picture that stands for the product, as HTML.
fn picture(visit: &Visit, view: &View<'_>, stand_in: &Image) -> String {
    let own = view.loaded.product.details.images.first();
    let of_parent = || view.parent().and_then(|parent| parent.details.images.first());
    if let Some(image) = own.or_else(of_parent) {
        let src = escaped(&pictures::thumbnail_address(visit, image));
        let alt = escaped(&image.alt);
        return format!(
            "<img width=\"300\" height=\"300\" src=\"{src}\" \
             class=\"attachment-woocommerce_thumbnail size-woocommerce_thumbnail\" alt=\"{alt}\" \
             decoding=\"async\" loading=\"lazy\" />"
        );
    }
    let src = escaped(&pictures::thumbnail_address(visit, stand_in));
    let choice = match pictures::source_set(visit, &stand_in.thumbnail_sources) {
        none if none.is_empty() => String::new(),
        sources => format!(
            " srcset=\"{}\" sizes=\"auto, (max-width: 300px) 100vw, 300px\"",
            escaped(&sources)
        ),
    };
    format!(
        "<img width=\"300\" height=\"300\" src=\"{src}\" \
         class=\"woocommerce-placeholder wp-post-image\" alt=\"Placeholder\" decoding=\"async\" \
         loading=\"lazy\"{choice} />"
    )
}
