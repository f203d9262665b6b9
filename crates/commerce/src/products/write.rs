//! What a request makes of a product, and how it is kept. Only what a request names is changed.

use contract::rest::{Refusal, Stop, clean, loose};
use frame::Call;
use frame::text::{clean_content, clean_title, slugify};
use shop_rows::{product, tax_class};
use site_rows::term;
use types::{Amount, Timestamp};

use super::attributes::{self, Values};
use super::loaded::variations_of;
use super::media::{self, Owner};
use super::record::{
    BRAND, CATEGORY, EXTERNAL, GROUPED, IN_STOCK, LIKE_PARENT, OUT_OF_STOCK, PRIVATE, PUBLISH,
    Product, SHIPPING_CLASS, TAG, TRASH, VARIABLE, VARIATION, decimal_text,
};
use super::request::{IDS_MAX, RequestFields};
use super::{address, events, settle, skus, trash};
use crate::common::amounts::{self, MONEY_MAX, QUANTITY_MAX};
use crate::common::{meta, moments};

/// Statuses in which a product needs no slug yet.
const UNFINISHED: &[&str] = &["draft", "pending", "auto-draft"];
/// The greatest numbers that a request may name.
const BOUNDED: [(&str, i64); 5] = [
    ("regular_price", MONEY_MAX),
    ("sale_price", MONEY_MAX),
    ("stock_quantity", QUANTITY_MAX),
    ("inventory_delta", QUANTITY_MAX),
    ("low_stock_amount", QUANTITY_MAX),
];

/// What a name is that nobody gives.
const NAMELESS: &str = "Product";

/// Changes the product as the request says, and returns the terms that it is to bear.
pub(super) fn apply(call: &mut Call<'_>, product: &mut Product) -> Result<Vec<Values>, Stop> {
    let mut request = RequestFields { call };
    identity(&request, product);
    let mut terms = Vec::new();
    if let Some(wanted) = request.list("attributes") {
        terms.extend(attributes::apply(request.call.conn()?, product, &wanted)?);
    }
    terms.extend(shared(&mut request, product)?);
    if matches!(product.row.kind.as_str(), VARIABLE | GROUPED) {
        product.details.regular_price.clear();
        product.details.sale_price.clear();
        (product.row.sale_from, product.row.sale_to) = (None, None);
    } else {
        prices(&request, product);
    }
    stock(&request, product);
    company(&request, product);
    terms.extend(groups(&mut request)?);
    if let (true, Some(wanted)) = (product.is(VARIABLE), request.list("default_attributes")) {
        attributes::choose_defaults(request.call, product, &wanted)?;
    }
    if let Some(wanted) = request.list("images") {
        product.details.images = media::images(request.call, product, &wanted, Owner::Product)?;
    }
    Ok(terms)
}

/// What a product brings along that was sold and reviewed elsewhere.
fn past(call: &Call<'_>, row: &mut product::ProductRow) {
    if let Some(sales) = call.params.int("total_sales") {
        row.total_sales = sales;
    }
    if let Some(count) = call.params.int("rating_count") {
        row.rating_count = count.max(0);
        let average = call.params.get("average_rating").and_then(amounts::read);
        row.average_rating = average.unwrap_or_default();
    }
}

fn identity(request: &RequestFields<'_, '_>, product: &mut Product) {
    let row = &mut product.row;
    if let Some(name) = request.text("name") {
        // What has no markup needs no cleaning, and a copy shows what its shop shows.
        let is_plain = request.call.visit.is_import && !name.contains(['<', '>']);
        row.name = if is_plain { name } else { clean_title(&name) };
    }
    if request.call.visit.is_import {
        past(request.call, row);
    }
    if let Some(text) = request.text("description") {
        row.description = clean_content(&text);
    }
    if let Some(text) = request.text("short_description") {
        row.short_description = clean_content(&text);
    }
    if let Some(status) = request.text("status") {
        row.status = status;
    }
    if let Some(slug) = request.text("slug") {
        row.slug = slugify(&slug);
    }
    if let Some(place) = request.call.params.int("menu_order") {
        row.menu_order = place;
    }
    if let Some(visibility) = request.text("catalog_visibility") {
        row.catalog_visibility = visibility;
    }
    if let Some(featured) = request.flag("featured") {
        row.featured = featured;
    }
    if let Some(status) = request.text("tax_status") {
        row.tax_status = status;
    }
    if let Some(parent_id) = request.call.params.int("parent_id") {
        row.parent_id = parent_id.max(0);
    }
    created(request, row);
}

/// When the request says that it was created. Variations are not asked for it, but those of a copy
/// are as old as at their shop.
pub(super) fn created(request: &RequestFields<'_, '_>, row: &mut product::ProductRow) {
    let options = request.call.options();
    let local = request.call.params.get("date_created").and_then(|v| moments::read(options, v));
    let gmt = request.text("date_created_gmt");
    let gmt = gmt.and_then(|text| moments::bound(options, Some(&text), true));
    if let Some(created) = gmt.or(local) {
        row.created = created;
    }
}

/// What products and variations take alike: numbers, measures, files, free data.
pub(super) fn shared(
    request: &mut RequestFields<'_, '_>,
    product: &mut Product,
) -> Result<Vec<Values>, Stop> {
    let id = product.id();
    for (name, most) in BOUNDED {
        amounts::check(name, request.call.params.get(name), most)?;
    }
    if let Some(sku) = request.text("sku") {
        product.row.sku = skus::checked(request.call, &sku, id)?;
    }
    if let Some(unique_id) = request.text("global_unique_id") {
        product.row.global_unique_id = skus::checked_unique_id(request.call, &unique_id, id)?;
    }
    if let Some(class) = request.text("tax_class") {
        product.row.tax_class = checked_tax_class(request.call, product, &class)?;
    }
    if let Some(is_virtual) = request.flag("virtual") {
        product.row.is_virtual = is_virtual;
    }
    measures(request, product);
    if let Some(downloadable) = request.flag("downloadable") {
        product.row.downloadable = downloadable;
    }
    if product.row.downloadable {
        if let Some(files) = request.list("downloads") {
            product.details.downloads = media::downloads(request.call, &files);
        }
        if let Some(limit) = request.call.params.int("download_limit") {
            product.details.download_limit = limit.max(-1);
        }
        if let Some(days) = request.call.params.int("download_expiry") {
            product.details.download_expiry = days.max(-1);
        }
    }
    if let Some(entries) = request.list("meta_data") {
        meta::apply(request.call, &mut product.details.meta_data, &entries)?;
    }
    let Some(slug) = request.text("shipping_class") else { return Ok(Vec::new()) };
    let class = term::find_by_slug(request.call.conn()?, SHIPPING_CLASS, &slugify(&slug))?;
    Ok(vec![(SHIPPING_CLASS.to_owned(), class.map(|term| term.term_id).into_iter().collect())])
}

/// A class that the shop has; anything else is the standard one.
fn checked_tax_class(call: &mut Call<'_>, product: &Product, wanted: &str) -> Result<String, Stop> {
    let slug = slugify(wanted);
    if product.is(VARIATION) && slug == LIKE_PARENT {
        return Ok(slug);
    }
    let known = !slug.is_empty() && tax_class::get(call.conn()?, &slug)?.is_some();
    Ok(if known { slug } else { String::new() })
}

fn measures(request: &RequestFields<'_, '_>, product: &mut Product) {
    let details = &mut product.details;
    if request.flag("virtual") == Some(true) {
        for measure in
            [&mut details.weight, &mut details.length, &mut details.width, &mut details.height]
        {
            measure.clear();
        }
        return;
    }
    if let Some(weight) = request.text("weight") {
        details.weight = decimal_text(&weight);
    }
    let Some(sides) = request.call.params.get("dimensions") else { return };
    let side = |name: &str| sides.get(name).and_then(loose::scalar_text);
    for (name, measure) in [
        ("length", &mut details.length),
        ("width", &mut details.width),
        ("height", &mut details.height),
    ] {
        if let Some(text) = side(name) {
            *measure = decimal_text(&text);
        }
    }
}

pub(super) fn prices(request: &RequestFields<'_, '_>, product: &mut Product) {
    if let Some(price) = request.text("regular_price") {
        product.details.regular_price = decimal_text(&price);
    }
    if let Some(price) = request.text("sale_price") {
        product.details.sale_price = decimal_text(&price);
    }
    let moment = |name: &str, is_gmt: bool| -> Option<Option<Timestamp>> {
        let value = request.call.params.get(name)?;
        let options = request.call.options();
        let text = loose::scalar_text(value)?;
        let read = moments::read(options, value);
        Some(if is_gmt { moments::bound(options, Some(&text), true).or(read) } else { read })
    };
    for (name, is_start) in [("date_on_sale_from", true), ("date_on_sale_to", false)] {
        let gmt = moment(&format!("{name}_gmt"), true);
        let Some(time) = gmt.or_else(|| moment(name, false)) else { continue };
        if is_start {
            product.row.sale_from = time;
        } else {
            product.row.sale_to = time;
        }
    }
}

fn stock(request: &RequestFields<'_, '_>, product: &mut Product) {
    let status = request.text("stock_status").or_else(|| {
        let word = if request.flag("in_stock")? { IN_STOCK } else { OUT_OF_STOCK };
        Some(word.to_owned())
    });
    let kind = product.row.kind.clone();
    let row = &mut product.row;
    let status = status.unwrap_or_else(|| row.stock_status.clone());
    if request.call.options().text("woocommerce_manage_stock") != "yes" {
        if kind != VARIABLE {
            row.stock_status = status;
        }
        return;
    }
    if let Some(managed) = request.flag("manage_stock") {
        row.manage_stock = managed;
    }
    if let Some(backorders) = request.text("backorders") {
        row.backorders = backorders;
    }
    if matches!(kind.as_str(), GROUPED | EXTERNAL) {
        row.manage_stock = false;
        row.stock_status = if kind == EXTERNAL { IN_STOCK.to_owned() } else { status };
        return;
    }
    if kind != VARIABLE || !row.manage_stock {
        row.stock_status = status;
    }
    if row.manage_stock {
        quantities(request, product);
    }
}

/// How many there are, and from which quantity on there are few.
pub(super) fn quantities(request: &RequestFields<'_, '_>, product: &mut Product) {
    let params = &request.call.params;
    let amount = |name: &str| params.get(name).and_then(amounts::read);
    if let Some(quantity) = amount("stock_quantity") {
        product.row.stock_quantity = Some(quantity);
    } else if let Some(delta) = amount("inventory_delta") {
        let before = product.row.stock_quantity.unwrap_or_default();
        product.row.stock_quantity = Some(before + delta);
    } else if product.row.stock_quantity.is_none() {
        product.row.stock_quantity = Some(Amount::ZERO);
    }
    if params.given("low_stock_amount") {
        product.row.low_stock_amount = amount("low_stock_amount");
    }
}

fn company(request: &RequestFields<'_, '_>, product: &mut Product) {
    let is_external = product.is(EXTERNAL);
    let is_grouped = product.is(GROUPED);
    let details = &mut product.details;
    details.plain.apply(request);
    if let Some(allowed) = request.flag("reviews_allowed") {
        details.reviews_allowed = allowed;
    }
    if let (true, Some(ids)) = (is_grouped, request.ids("grouped_products")) {
        details.grouped_products = ids;
    }
    if is_external {
        if let Some(url) = request.text("external_url") {
            details.external_url = clean::url(&url);
        }
        if let Some(text) = request.text("button_text") {
            details.button_text = clean::text_field(&text);
        }
    }
}

/// The categories, brands and tags of the request. Tags may be named by their names.
fn groups(request: &mut RequestFields<'_, '_>) -> Result<Vec<Values>, Stop> {
    let mut terms = Vec::new();
    for (name, taxonomy) in [("categories", CATEGORY), ("brands", BRAND), ("tags", TAG)] {
        let Some(wanted) = request.list(name) else { continue };
        let mut ids = Vec::new();
        for entry in wanted.iter().take(IDS_MAX) {
            let id = entry.get("id").map(loose::to_int).unwrap_or_default();
            let tag = entry.get("name").and_then(loose::scalar_text).filter(|_| taxonomy == TAG);
            match tag.map(|tag| clean::text_field(&tag)).filter(|tag| !tag.is_empty()) {
                Some(tag) if id == 0 => {
                    ids.push(attributes::ensure_term(request.call.conn()?, TAG, &tag)?);
                }
                _ => ids.push(id),
            }
        }
        terms.push((taxonomy.to_owned(), ids));
    }
    Ok(terms)
}

/// Keeps the product, new or changed, with what follows from its fields, and returns its id.
pub(super) fn save(
    call: &mut Call<'_>,
    product: &mut Product,
    terms: Vec<Values>,
) -> Result<i64, Stop> {
    let now = call.now();
    let is_new = product.id() == 0;
    let before = if is_new { None } else { super::record::get(call.conn()?, product.id())? };
    if product.row.name.is_empty() && is_new {
        NAMELESS.clone_into(&mut product.row.name);
    }
    let was_trashed = before.as_ref().is_some_and(|before| before.row.status == TRASH);
    if was_trashed && product.row.status != TRASH {
        trash::restore_slug(product);
        trash::restore_variations(call.conn()?, product.id())?;
    }
    slug(call, product)?;
    let has_page = matches!(&*product.row.status, PUBLISH | PRIVATE);
    if is_new && has_page && !product.is(VARIATION) {
        product.details.first_path = format!("{}{}/", address::BASE, product.row.slug);
    }
    let options = std::sync::Arc::clone(&call.visit.options);
    settle::settle(call.conn()?, &options, product, now)?;
    // What is entered later than it came to be counts as unchanged since.
    let modified = if is_new { product.row.created } else { moments::now(call) };
    product.row.modified = moments::modified_elsewhere(call).unwrap_or(modified);
    product.seal()?;
    if is_new {
        insert(call, product)?;
    } else {
        product::update(call.conn()?, &product.row)?;
    }
    bear(call, product, terms, is_new)?;
    if is_new {
        events::made(call, product)?;
    } else {
        events::changed(call.conn()?, product, now)?;
    }
    if let Some(before) = before.filter(|before| before.row.name != product.row.name) {
        rename_variations(call, product, &before.row.name)?;
    }
    Ok(product.id())
}

fn insert(call: &mut Call<'_>, product: &mut Product) -> Result<(), Stop> {
    if let Some(id) = call.kept_id() {
        product.row.product_id = id;
        return Ok(product::insert_with_id(call.conn()?, &product.row)?);
    }
    product.row.product_id = product::insert(call.conn()?, &product.row)?;
    Ok(())
}

/// A product that is not finished has only the slug that it was given.
fn slug(call: &mut Call<'_>, product: &mut Product) -> Result<(), Stop> {
    if UNFINISHED.contains(&product.row.status.as_str()) {
        return Ok(());
    }
    let own = slugify(&product.row.slug);
    let wanted = if own.is_empty() { slugify(&product.row.name) } else { own };
    if product.row.status != TRASH {
        let is_variation = product.is(VARIATION);
        product.row.slug = address::unique_slug(call.conn()?, &wanted, product.id(), is_variation)?;
    }
    Ok(())
}

/// Lets the product bear the terms. One without a category is in the default one.
fn bear(
    call: &mut Call<'_>,
    product: &Product,
    terms: Vec<Values>,
    is_new: bool,
) -> Result<(), Stop> {
    let names_category = terms.iter().any(|(taxonomy, _)| taxonomy == CATEGORY);
    let mut terms = terms;
    if is_new && !names_category && !product.is(VARIATION) {
        terms.push((CATEGORY.to_owned(), Vec::new()));
    }
    let default = call.options().integer("default_product_cat");
    for (taxonomy, ids) in terms {
        let mut ids = existing(call, &taxonomy, &ids)?;
        if ids.is_empty() && taxonomy == CATEGORY {
            ids = existing(call, CATEGORY, &[default])?;
        }
        product::set_terms(call.conn()?, product.id(), &taxonomy, &ids)?;
    }
    Ok(())
}

/// Those of the ids that are terms of the taxonomy.
fn existing(call: &mut Call<'_>, taxonomy: &str, ids: &[i64]) -> Result<Vec<i64>, Stop> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = term::TermFilter {
        taxonomies: vec![taxonomy.to_owned()],
        include: ids.to_vec(),
        ..term::TermFilter::default()
    };
    let (rows, _) = term::list(call.conn()?, &wanted)?;
    Ok(rows.into_iter().map(|row| row.term_id).collect())
}

/// The name of a variation begins with that of its product.
fn rename_variations(call: &mut Call<'_>, product: &Product, before: &str) -> Result<(), Stop> {
    if !product.is(VARIABLE) {
        return Ok(());
    }
    for mut variation in variations_of(call.conn()?, product.id())? {
        let Some(rest) = variation.row.name.strip_prefix(before) else { continue };
        variation.row.name = format!("{}{rest}", product.row.name);
        product::update(call.conn()?, &variation.row)?;
    }
    Ok(())
}

/// A variation is changed at its own address.
pub(super) fn refuse_variation(product: &Product) -> Result<(), Stop> {
    if !product.is(VARIATION) {
        return Ok(());
    }
    let message = "To change a variation, use the variations endpoint of its product.";
    Err(Refusal::new(404, "woocommerce_rest_invalid_product_id", message).into())
}
