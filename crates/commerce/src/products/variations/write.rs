//! What a request makes of a variation.

use contract::rest::{Refusal, Stop};
use frame::Call;
use frame::text::clean_content;
use serde_json::Value;
use shop_rows::product::{self, VariationAttribute};

use super::super::record::{self, IN_STOCK, LIKE_PARENT, OUT_OF_STOCK, Product, VARIATION};
use super::super::request::RequestFields;
use super::super::write;
use super::super::{attributes, loaded, media, sync};
use super::product_id;

/// So many attributes are too many for a name.
const NAMED_MAX: usize = 2;

/// The product of the path, below which variations are made and changed.
pub(super) fn parent(call: &mut Call<'_>) -> Result<Product, Stop> {
    let id = product_id(call);
    let found = record::get(call.conn()?, id)?.filter(|product| !product.is(VARIATION));
    let message = "Variable product not found.";
    let code = "woocommerce_rest_product_variation_invalid_parent";
    found.ok_or_else(|| Refusal::new(404, code, message).into())
}

/// Changes the variation as the request says, keeps it, and brings its product up to date.
pub(super) fn save(
    call: &mut Call<'_>,
    parent: &Product,
    mut variation: Product,
    chosen: Vec<VariationAttribute>,
) -> Result<i64, Stop> {
    variation.row.parent_id = parent.id();
    let wanted = RequestFields { call }.list("attributes");
    let chosen = match wanted {
        Some(wanted) => attributes::choose(call, parent, &wanted)?,
        None => chosen,
    };
    let mut request = RequestFields { call };
    let terms = write::shared(&mut request, &mut variation)?;
    fields(&mut request, &mut variation)?;
    write::prices(&request, &mut variation);
    stock(&request, &mut variation);
    variation.row.name = name(call, parent, &chosen)?;
    let id = write::save(call, &mut variation, terms)?;
    product::set_attributes(call.conn()?, id, &chosen)?;
    let now = call.now();
    sync::parent(call.conn()?, parent.id(), now)?;
    Ok(id)
}

fn fields(request: &mut RequestFields<'_, '_>, variation: &mut Product) -> Result<(), Stop> {
    if request.call.visit.is_import {
        write::created(request, &mut variation.row);
    }
    if let Some(status) = request.text("status") {
        variation.row.status = status;
    }
    // The second version only knows whether buyers see it.
    if let Some(visible) = request.flag("visible") {
        let status = if visible { "publish" } else { "private" };
        status.clone_into(&mut variation.row.status);
    }
    if let Some(text) = request.text("description") {
        variation.row.description = clean_content(&text);
    }
    if let Some(status) = request.text("tax_status") {
        variation.row.tax_status = status;
    }
    if let Some(place) = request.call.params.int("menu_order") {
        variation.row.menu_order = place;
    }
    if let Some(image) = request.call.params.get("image").cloned() {
        let wanted: Vec<Value> = Some(image).filter(names_picture).into_iter().collect();
        let owner = media::Owner::Variation;
        variation.details.images = media::images(request.call, variation, &wanted, owner)?;
    }
    if request.call.params.get("gallery_image_ids").is_some() {
        let first = variation.details.images.first().map(|image| image.id);
        let mut ids = request.call.params.ints("gallery_image_ids");
        ids.retain(|id| *id > 0 && Some(*id) != first);
        variation.details.gallery_image_ids = ids;
    }
    Ok(())
}

/// A picture without number and address takes away the one that is there.
fn names_picture(image: &Value) -> bool {
    let is_number = image.get("id").and_then(Value::as_i64).is_some_and(|id| id != 0);
    is_number || image.get("src").and_then(Value::as_str).is_some_and(|src| !src.is_empty())
}

fn stock(request: &RequestFields<'_, '_>, variation: &mut Product) {
    if let Some(managed) = request.text("manage_stock") {
        // Counting with the product is what happens when a variation does not count.
        let counts = request.flag("manage_stock") == Some(true) && managed != LIKE_PARENT;
        variation.row.manage_stock = counts;
    }
    if let Some(status) = request.text("stock_status") {
        variation.row.stock_status = status;
    } else if let Some(in_stock) = request.flag("in_stock") {
        let status = if in_stock { IN_STOCK } else { OUT_OF_STOCK };
        status.clone_into(&mut variation.row.stock_status);
    }
    if let Some(backorders) = request.text("backorders") {
        variation.row.backorders = backorders;
    }
    if variation.row.manage_stock {
        write::quantities(request, variation);
    }
}

/// The name of a variation: that of its product, and what it is about if that is short.
pub(super) fn name(
    call: &mut Call<'_>,
    parent: &Product,
    chosen: &[VariationAttribute],
) -> Result<String, Stop> {
    let is_long = chosen.len() > NAMED_MAX
        || (chosen.len() > 1 && chosen.iter().any(|chosen| chosen.name.contains('-')));
    let words = loaded::words(call.conn()?, chosen.iter())?;
    let values = chosen.iter().filter(|chosen| !chosen.value.is_empty());
    let values: Vec<&str> = values.map(|chosen| words.value(chosen)).collect();
    if is_long || values.is_empty() {
        return Ok(parent.row.name.clone());
    }
    Ok(format!("{} - {}", parent.row.name, values.join(", ")))
}
