//! Copies of products: a draft with the same fields, another SKU, and copies of the variations.

use contract::rest::route::{CREATE, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use frame::action::write as action;
use frame::dates::written;
use frame::{Action, Call};
use serde_json::{Map, Value, json};
use shop_rows::product;
use types::Timestamp;

use super::loaded::{self, Loaded, variations_of};
use super::record::{BRAND, CATEGORY, Product, SHIPPING_CLASS, TAG, VARIABLE};
use super::show::quantity;
use super::version::RIGHTS;
use super::{Products, events, show, skus, write};
use crate::common::version::Version;
use crate::common::{meta, moments};
use crate::resource::{self, Resource as _};

const PATH: &str = r"/products/(?P<id>[\d]+)/duplicate";
/// What the name of a copy ends with.
const NAME_END: &str = " (Copy)";

pub(super) fn route(namespace: &str, version: Version) -> Route<Action> {
    let products = Products::new(version);
    let id = Schema::integer().about("Product ID.");
    let args = Args::new().arg("id", id).with(resource::request_args(products.update_args()));
    Route::at(namespace, PATH)
        .on(CREATE, args, action(may_create, run))
        // As it is stored, with moments in a spelling of their own.
        .shows(Schema::object([("id", Schema::integer()), ("name", Schema::text())]))
        .schema(products.item.document())
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create resources.";
    call.need(RIGHTS.create, "woocommerce_rest_cannot_create", message)
}

fn run(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let id = call.params.int("id").unwrap_or_default();
    let Some(original) = loaded::find(call.conn()?, id)? else {
        let message = "Product not found.";
        return Err(Refusal::new(404, "woocommerce_rest_product_invalid_id", message).into());
    };
    write::refuse_variation(&original.product)?;
    let mut copy = original.product.clone();
    if let Some(kind) = call.params.text("type") {
        kind.clone_into(&mut copy.row.kind);
    }
    // What the request says is about the copy; the original stays as it is.
    let mut terms = write::apply(call, &mut copy)?;
    for (taxonomy, ids) in terms_of(&original) {
        if !terms.iter().any(|(named, _)| *named == taxonomy) {
            terms.push((taxonomy, ids));
        }
    }
    copy.row.name.push_str(NAME_END);
    make_new(call, &mut copy)?;
    let id = write::save(call, &mut copy, terms)?;
    if copy.is(VARIABLE) {
        copy_variations(call, original.product.id(), id)?;
        let now = call.now();
        super::sync::parent(call.conn()?, id, now)?;
    }
    let copy = show::reload(call, id)?;
    Ok(Reply::new(raw(&copy)))
}

fn terms_of(original: &Loaded) -> Vec<(String, Vec<i64>)> {
    let mut terms: Vec<(String, Vec<i64>)> = Vec::new();
    for term in &original.terms {
        match terms.iter_mut().find(|(taxonomy, _)| *taxonomy == term.taxonomy) {
            Some((_, ids)) => ids.push(term.term_id),
            None => terms.push((term.taxonomy.clone(), vec![term.term_id])),
        }
    }
    terms
}

/// Takes from a copy what only the original has.
fn make_new(call: &mut Call<'_>, copy: &mut Product) -> Result<(), Stop> {
    let row = &mut copy.row;
    row.product_id = 0;
    "draft".clone_into(&mut row.status);
    row.slug.clear();
    row.sku = skus::of_copy(call.conn()?, &row.sku)?;
    row.global_unique_id.clear();
    row.total_sales = 0;
    (row.average_rating, row.rating_count) = (types::Amount::ZERO, 0);
    row.author_id = call.user_id();
    row.created = moments::now(call);
    row.trashed_status = None;
    let entries = std::mem::take(&mut copy.details.meta_data);
    for entry in entries {
        let (Some(Value::String(key)), Some(value)) = (entry.get("key"), entry.get("value")) else {
            continue;
        };
        meta::add(call.conn()?, &mut copy.details.meta_data, key, value.clone())?;
    }
    Ok(())
}

fn copy_variations(call: &mut Call<'_>, from: i64, to: i64) -> Result<(), Stop> {
    for mut variation in variations_of(call.conn()?, from)? {
        let old_id = variation.id();
        let (status, name) = (variation.row.status.clone(), variation.row.name.clone());
        make_new(call, &mut variation)?;
        (variation.row.status, variation.row.name) = (status, name);
        variation.row.parent_id = to;
        variation.row.modified = variation.row.created;
        variation.seal()?;
        let id = product::insert(call.conn()?, &variation.row)?;
        variation.row.product_id = id;
        let chosen = product::attributes_of(call.conn()?, &[old_id])?;
        let chosen: Vec<_> = chosen.into_iter().map(|(_, chosen)| chosen).collect();
        product::set_attributes(call.conn()?, id, &chosen)?;
        events::made(call, &variation)?;
    }
    Ok(())
}

/// A moment in the spelling of the system that clients of this route know.
fn moment(time: Option<Timestamp>) -> Value {
    let Some(time) = time else { return Value::Null };
    let text = written(time).replace('T', " ");
    json!({ "date": format!("{text}.000000"), "timezone_type": 3, "timezone": "UTC" })
}

/// The copy as it is stored: this route answers in another shape than all others.
fn raw(copy: &Loaded) -> Value {
    let (row, details) = (&copy.product.row, &copy.product.details);
    let ids =
        |taxonomy: &str| -> Vec<i64> { copy.terms_of(taxonomy).map(|term| term.term_id).collect() };
    let mut body = Map::new();
    let mut insert = |name: &str, value: Value| body.insert(name.to_owned(), value);
    insert("id", json!(row.product_id));
    insert("name", json!(row.name));
    insert("slug", json!(row.slug));
    insert("date_created", moment(Some(row.created)));
    insert("date_modified", moment(Some(row.modified)));
    insert("status", json!(row.status));
    insert("featured", json!(row.featured));
    insert("catalog_visibility", json!(row.catalog_visibility));
    insert("description", json!(row.description));
    insert("short_description", json!(row.short_description));
    insert("sku", json!(row.sku));
    insert("global_unique_id", json!(row.global_unique_id));
    insert("price", json!(details.price));
    insert("regular_price", json!(details.regular_price));
    insert("sale_price", json!(details.sale_price));
    insert("date_on_sale_from", moment(row.sale_from));
    insert("date_on_sale_to", moment(row.sale_to));
    insert("total_sales", json!(row.total_sales));
    insert("tax_status", json!(row.tax_status));
    insert("tax_class", json!(row.tax_class));
    insert("manage_stock", json!(row.manage_stock));
    insert("stock_quantity", quantity(row.stock_quantity));
    insert("stock_status", json!(row.stock_status));
    insert("backorders", json!(row.backorders));
    insert("low_stock_amount", row.low_stock_amount.map_or(json!(""), |few| quantity(Some(few))));
    body.extend(raw_details(copy));
    body.insert("category_ids".to_owned(), json!(ids(CATEGORY)));
    body.insert("tag_ids".to_owned(), json!(ids(TAG)));
    body.insert("brand_ids".to_owned(), json!(ids(BRAND)));
    let class = ids(SHIPPING_CLASS).first().copied().unwrap_or_default();
    body.insert("shipping_class_id".to_owned(), json!(class));
    Value::Object(body)
}

fn raw_details(copy: &Loaded) -> Map<String, Value> {
    let (row, details) = (&copy.product.row, &copy.product.details);
    let gallery: Vec<i64> = details.images.iter().skip(1).map(|image| image.id).collect();
    let attributes = super::attributes::shown(copy, Version::Three);
    let defaults: Map<String, Value> =
        details.default_attributes.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
    // Clients know a map without a member as an empty list.
    let defaults = if defaults.is_empty() { json!([]) } else { Value::Object(defaults) };
    let rating = if row.average_rating.is_zero() {
        json!("0")
    } else {
        json!(row.average_rating.to_text(2))
    };
    let members = json!({
        "weight": details.weight,
        "length": details.length,
        "width": details.width,
        "height": details.height,
        "parent_id": row.parent_id,
        "reviews_allowed": details.reviews_allowed,
        "attributes": attributes,
        "default_attributes": defaults,
        "menu_order": row.menu_order,
        "virtual": row.is_virtual,
        "downloadable": row.downloadable,
        "downloads": details.downloads,
        "image_id": details.images.first().map_or(json!(""), |image| json!(image.id)),
        "gallery_image_ids": gallery,
        "download_limit": details.download_limit,
        "download_expiry": details.download_expiry,
        "rating_counts": [],
        "average_rating": rating,
        "review_count": row.rating_count,
        "cogs_value": null,
        "meta_data": details.meta_data,
    });
    let mut members = match members {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    let plain = details.plain.shown(Version::Three, true).into_iter();
    members.extend(plain.map(|(name, value)| (name.to_owned(), value)));
    members
}
