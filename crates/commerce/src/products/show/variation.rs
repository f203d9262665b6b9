//! A variation as each namespace shows it. Most of what it does not have comes from its product.

use contract::rest::Stop;
use frame::Call;
use frame::dates::{Moment, written};
use frame::text::render;
use serde_json::{Value, json};
use types::Timestamp;

use super::{Body, PLACEHOLDER, View, downloads, image, meta_data};
use crate::common::version::Version;
use crate::products::loaded::{self, Loaded};
use crate::products::record::{Image, PUBLISH};
use crate::products::version::is_current;
use crate::products::{address, attributes, price};

pub(in crate::products) fn body(call: &Call<'_>, loaded: &Loaded, version: Version) -> Value {
    // What a variation has from its product is shown in every view, but for the class of taxes.
    let view = View { loaded, version, raw: false };
    let mut body = Body::new();
    identity(call, &view, &mut body);
    prices(call, &view, &mut body);
    let (row, details) = (&loaded.product.row, &loaded.product.details);
    body.say("virtual", row.is_virtual);
    body.say("downloadable", row.downloadable);
    body.say("downloads", downloads(call, &loaded.product));
    body.say("download_limit", details.download_limit);
    body.say("download_expiry", details.download_expiry);
    body.say("tax_status", view.tax_status());
    let is_raw = is_current(version) && call.context() == "edit";
    body.say("tax_class", if is_raw { row.tax_class.as_str() } else { view.tax_class() });
    view.stock(call, &mut body);
    if is_current(version) {
        body.say("stock_status", row.stock_status.as_str());
    }
    body.say("weight", view.measure(|details| &details.weight));
    body.say("dimensions", view.dimensions());
    let class = loaded.shipping_class();
    body.say("shipping_class", class.map_or("", |class| &class.slug));
    body.say("shipping_class_id", class.map_or(0, |class| class.term_id));
    body.say("image", picture(call, &view, version));
    if is_current(version) {
        body.say("gallery_image_ids", details.gallery_image_ids.clone());
    }
    body.say("attributes", attributes::shown(loaded, version));
    if version == Version::One {
        return body.into_value();
    }
    body.say("menu_order", row.menu_order);
    body.say("meta_data", meta_data(call, &loaded.product));
    match version {
        Version::Analytics => body.say("name", row.name.as_str()),
        Version::Three => body.say("name", loaded.variation_summary()),
        _ => return body.into_value(),
    }
    body.say("parent_id", row.parent_id);
    body.into_value()
}

fn identity(call: &Call<'_>, view: &View<'_>, body: &mut Body) {
    let (row, options) = (&view.loaded.product.row, call.options());
    body.say("id", row.product_id);
    if is_current(view.version) {
        body.say("type", row.kind.as_str());
    }
    if view.version == Version::One {
        body.say("date_created", written(Moment::at(options, row.created).gmt));
        body.say("date_modified", written(Moment::at(options, row.modified).gmt));
    } else {
        body.say_when(options, "date_created", Some(row.created));
        body.say_when(options, "date_modified", Some(row.modified));
        body.say("description", render::content(&row.description));
    }
    body.say("permalink", address::permalink(call.visit, view.loaded));
    body.say("sku", view.sku());
    if is_current(view.version) {
        body.say("global_unique_id", row.global_unique_id.as_str());
    }
}

fn prices(call: &Call<'_>, view: &View<'_>, body: &mut Body) {
    let mut current = view.loaded.product.clone();
    price::settle(&mut current, call.now());
    let (row, details) = (&current.row, &current.details);
    body.say("price", details.price.as_str());
    body.say("regular_price", details.regular_price.as_str());
    body.say("sale_price", details.sale_price.as_str());
    if view.version == Version::One {
        let day = |time: Option<Timestamp>| {
            let text = time.map(|time| written(call.options().local(time)));
            text.and_then(|text| text.get(..10).map(str::to_owned)).unwrap_or_default()
        };
        body.say("date_on_sale_from", day(row.sale_from));
        body.say("date_on_sale_to", day(row.sale_to));
    } else {
        body.say_when(call.options(), "date_on_sale_from", row.sale_from);
        body.say_when(call.options(), "date_on_sale_to", row.sale_to);
    }
    body.say("on_sale", row.on_sale);
    if is_current(view.version) {
        body.say("status", row.status.as_str());
    }
    body.say("purchasable", view.is_purchasable(call));
    if !is_current(view.version) {
        body.say("visible", row.status == PUBLISH && row.price.is_some());
    }
}

/// Its own picture, or that of its product.
fn picture(call: &Call<'_>, view: &View<'_>, version: Version) -> Value {
    let own = view.loaded.product.details.images.first();
    let found = own.or_else(|| view.parent()?.details.images.first());
    if let Some(found) = found {
        let shown = image(call.options(), found, 0, version);
        return if version == Version::One { json!([shown]) } else { shown };
    }
    if is_current(version) {
        return Value::Null;
    }
    let now = call.now().as_micros();
    let name = String::from("Placeholder");
    let stand_in = Image {
        id: 0,
        src: call.visit.page(PLACEHOLDER),
        alt: name.clone(),
        name,
        created_us: now,
        modified_us: now,
    };
    let shown = image(call.options(), &stand_in, 0, version);
    if version == Version::One { json!([shown]) } else { shown }
}

/// The variations inside of their product, as the first version shows them.
pub(super) fn embedded(call: &mut Call<'_>, ids: &[i64]) -> Result<Value, Stop> {
    let mut bodies = Vec::new();
    for id in ids {
        if let Some(variation) = loaded::find(call.conn()?, *id)? {
            bodies.push(body(call, &variation, Version::One));
        }
    }
    Ok(json!(bodies))
}
