//! A variation as each namespace shows it. Most of what it does not have comes from its product.

use contract::rest::Stop;
use frame::Call;
use frame::dates::{Moment, written};
use frame::text::render;
use serde_json::{Value, json};
use types::Timestamp;

use super::{Body, View, downloads, image, meta_data};
use crate::common::version::Version;
use crate::pictures;
use crate::products::loaded::{self, Loaded};
use crate::products::record::PUBLISH;
use crate::products::version::is_current;
use crate::products::{address, attributes, price};

pub(in crate::products) fn body(
    call: &mut Call<'_>,
    loaded: &Loaded,
    version: Version,
) -> Result<Value, Stop> {
    // What a variation has from its product is shown in every view, but for the class of taxes.
    let view = View { loaded, version, raw: false };
    let mut body = Body::new();
    identity(call, &view, &mut body);
    prices(call, &view, &mut body);
    let (row, details) = (&loaded.product.row, &loaded.product.details);
    body.insert("virtual", row.is_virtual);
    body.insert("downloadable", row.downloadable);
    body.insert("downloads", downloads(call, &loaded.product));
    body.insert("download_limit", details.download_limit);
    body.insert("download_expiry", details.download_expiry);
    body.insert("tax_status", view.tax_status());
    let is_raw = is_current(version) && call.context() == "edit";
    body.insert("tax_class", if is_raw { row.tax_class.as_str() } else { view.tax_class() });
    view.stock(call, &mut body);
    if is_current(version) {
        body.insert("stock_status", row.stock_status.as_str());
    }
    body.insert("weight", view.measure(|details| &details.weight));
    body.insert("dimensions", view.dimensions());
    let class = loaded.shipping_class();
    body.insert("shipping_class", class.map_or("", |class| &class.slug));
    body.insert("shipping_class_id", class.map_or(0, |class| class.term_id));
    body.insert("image", picture(call, &view, version)?);
    if is_current(version) {
        body.insert("gallery_image_ids", details.gallery_image_ids.clone());
    }
    body.insert("attributes", attributes::shown(loaded, version));
    if version == Version::One {
        return Ok(body.into_value());
    }
    body.insert("menu_order", row.menu_order);
    body.insert("meta_data", meta_data(call, &loaded.product));
    match version {
        Version::Analytics => body.insert("name", row.name.as_str()),
        Version::Three => body.insert("name", loaded.variation_summary()),
        _ => return Ok(body.into_value()),
    }
    body.insert("parent_id", row.parent_id);
    Ok(body.into_value())
}

fn identity(call: &Call<'_>, view: &View<'_>, body: &mut Body) {
    let (row, options) = (&view.loaded.product.row, call.options());
    body.insert("id", row.product_id);
    if is_current(view.version) {
        body.insert("type", row.kind.as_str());
    }
    if view.version == Version::One {
        body.insert("date_created", written(Moment::at(options, row.created).gmt));
        body.insert("date_modified", written(Moment::at(options, row.modified).gmt));
    } else {
        body.insert_date(options, "date_created", Some(row.created));
        body.insert_date(options, "date_modified", Some(row.modified));
        body.insert("description", render::content(&row.description));
    }
    body.insert("permalink", address::permalink(call.visit, view.loaded));
    body.insert("sku", view.sku());
    if is_current(view.version) {
        body.insert("global_unique_id", row.global_unique_id.as_str());
    }
}

fn prices(call: &Call<'_>, view: &View<'_>, body: &mut Body) {
    let mut current = view.loaded.product.clone();
    price::settle(&mut current, call.now());
    let (row, details) = (&current.row, &current.details);
    body.insert("price", details.price.as_str());
    body.insert("regular_price", details.regular_price.as_str());
    body.insert("sale_price", details.sale_price.as_str());
    if view.version == Version::One {
        let day = |time: Option<Timestamp>| {
            let text = time.map(|time| written(call.options().local(time)));
            text.and_then(|text| text.get(..10).map(str::to_owned)).unwrap_or_default()
        };
        body.insert("date_on_sale_from", day(row.sale_from));
        body.insert("date_on_sale_to", day(row.sale_to));
    } else {
        body.insert_date(call.options(), "date_on_sale_from", row.sale_from);
        body.insert_date(call.options(), "date_on_sale_to", row.sale_to);
    }
    body.insert("on_sale", row.on_sale);
    if is_current(view.version) {
        body.insert("status", row.status.as_str());
    }
    body.insert("purchasable", view.is_purchasable(call));
    if !is_current(view.version) {
        body.insert("visible", row.status == PUBLISH && row.price.is_some());
    }
}

/// Its own picture. Older versions show that of its product, or the placeholder, where it has none.
fn picture(call: &mut Call<'_>, view: &View<'_>, version: Version) -> Result<Value, Stop> {
    let own = view.loaded.product.details.images.first();
    let of_parent = || view.parent().filter(|_| !is_current(version))?.details.images.first();
    if let Some(found) = own.or_else(of_parent) {
        let shown = image(call.visit, found, 0, version);
        return Ok(if version == Version::One { json!([shown]) } else { shown });
    }
    if is_current(version) {
        return Ok(Value::Null);
    }
    let stand_in = pictures::stand_in(call)?;
    let shown = image(call.visit, &stand_in, 0, version);
    Ok(if version == Version::One { json!([shown]) } else { shown })
}

/// The variations inside of their product, as the first version shows them.
pub(super) fn embedded(call: &mut Call<'_>, ids: &[i64]) -> Result<Value, Stop> {
    let mut bodies = Vec::new();
    for id in ids {
        if let Some(variation) = loaded::find(call.conn()?, *id)? {
            bodies.push(body(call, &variation, Version::One)?);
        }
    }
    Ok(json!(bodies))
}
