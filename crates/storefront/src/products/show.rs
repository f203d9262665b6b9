//! A product as the shop window shows it.

use commerce::orders::ShownPrices;
use commerce::products::record::{
    BRAND, CATEGORY, EXTERNAL, GROUPED, ON_BACKORDER, SHIPPING_CLASS, SIMPLE, TAG, VARIABLE,
    VARIATION,
};
use commerce::products::{ProductRecord, address, price};
use contract::rest::{Stop, form};
use frame::text::render;
use frame::{Call, Options, Visit};
use serde_json::{Value, json};
use types::Amount;

use super::shelf::Shown;
use crate::images;
use crate::money::Money;

/// The greatest quantity that one line of a cart may have.
pub(crate) const QUANTITY_MAX: i64 = 9_999;
/// What stands for a measure that is not known.
const UNKNOWN: &str = "N/A";
/// Parameters of a request that say who asks.
const CREDENTIALS: &[&str] = &["consumer_key", "consumer_secret", "_wpnonce"];

/// What all products of one answer are shown with.
pub(crate) struct Manner {
    pub(crate) money: Money,
    pub(crate) prices: ShownPrices,
    counts_stock: bool,
    low_stock: Amount,
    stock_format: String,
    weight_unit: String,
    dimension_unit: String,
    /// The request's own address, to which buttons add what they put into the cart.
    requested: String,
}

impl Manner {
    pub(crate) fn of(call: &mut Call<'_>) -> Result<Self, Stop> {
        let options = std::sync::Arc::clone(&call.visit.options);
        let prices = ShownPrices::in_shop(call.conn()?, &options)?;
        Ok(Self::with_prices(call.visit, &options, prices))
    }

    pub(crate) fn with_prices(visit: &Visit, options: &Options, prices: ShownPrices) -> Self {
        let low = options.integer("woocommerce_notify_low_stock_amount");
        Self {
            money: Money::of(options),
            prices,
            counts_stock: options.is_on("woocommerce_manage_stock"),
            low_stock: Amount::from_whole(low),
            stock_format: options.text("woocommerce_stock_format"),
            weight_unit: options.text("woocommerce_weight_unit"),
            dimension_unit: options.text("woocommerce_dimension_unit"),
            requested: requested(visit),
        }
    }
}

/// The address of the request without what says who asks.
fn requested(visit: &Visit) -> String {
    let (path, query) = visit.requested.split_once('?').unwrap_or((&visit.requested, ""));
    let mut query = form::decode(query);
    query.retain(|name, _| !CREDENTIALS.contains(&&**name) && !name.starts_with("oauth_"));
    let query = form::encode(&query);
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs: Vec<&str> = pairs.map(|pair| pair.strip_suffix('=').unwrap_or(pair)).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

pub(crate) fn body(visit: &Visit, manner: &Manner, one: &Shown) -> Value {
    let (loaded, product) = (&one.loaded, &one.loaded.product);
    let (row, details) = (&product.row, &product.details);
    let text = |text: &str| if one.is_locked { String::new() } else { rendered(text) };
    let grouped = if product.is(GROUPED) { details.grouped_products.clone() } else { Vec::new() };
    let dimensions = [
        loaded.measure(|details| &details.length),
        loaded.measure(|details| &details.width),
        loaded.measure(|details| &details.height),
    ];
    let weight = loaded.measure(|details| &details.weight);
    let [length, width, height] = dimensions;
    let pictures = loaded.pictures();
    let pictures: Vec<Value> = pictures.iter().map(|one| images::shown(visit, one)).collect();
    json!({
        "id": row.product_id,
        "name": loaded.name(),
        "slug": row.slug,
        "parent": row.parent_id,
        "type": row.kind,
        "variation": variation_text(one),
        "permalink": address::permalink(visit, loaded),
        "sku": loaded.sku(),
        "short_description": text(&row.short_description),
        "description": text(&row.description),
        "on_sale": row.on_sale,
        "prices": prices(manner, one),
        "price_html": price::html(product, &visit.options),
        "average_rating": rating(product),
        "review_count": row.rating_count,
        "images": pictures,
        "categories": terms(visit, one, CATEGORY),
        "tags": terms(visit, one, TAG),
        "brands": terms(visit, one, BRAND),
        "attributes": attributes(one),
        "variations": variations(one),
        "grouped_products": grouped,
        "has_options": product.is(VARIABLE),
        "is_purchasable": loaded.is_purchasable(),
        "is_in_stock": product.is_in_stock(),
        "is_on_backorder": is_on_backorder(manner, one),
        "low_stock_remaining": low_stock(manner, one),
        "stock_availability": availability(manner, one),
        "sold_individually": loaded.is_sold_individually(),
        "weight": weight,
        "dimensions": { "length": length, "width": width, "height": height },
        "formatted_weight": measured(&[weight], &manner.weight_unit),
        "formatted_dimensions": measured(&dimensions, &manner.dimension_unit),
        "add_to_cart": add_to_cart(visit, manner, one),
        "is_password_protected": one.is_locked,
        "extensions": {},
    })
}

/// Text with markup, without the line end that pages have behind it.
pub(crate) fn rendered(text: &str) -> String {
    render::content(text).trim().to_owned()
}

fn rating(product: &ProductRecord) -> String {
    match product.row.rating_count {
        0 => String::from("0"),
        _ => product.row.average_rating.to_text(2),
    }
}

/// What a variation has chosen, such as `Color: Red, Size: Small`.
pub(crate) fn variation_text(one: &Shown) -> String {
    let chosen = one.loaded.chosen.iter().filter(|chosen| !chosen.value.is_empty());
    let pairs = chosen.map(|chosen| {
        let (_, name) = one.loaded.attribute_named(&chosen.name);
        format!("{name}: {}", one.loaded.words.value(chosen))
    });
    pairs.collect::<Vec<_>>().join(", ")
}

/// The prices as they are shown: current, regular and of the sale.
pub(crate) fn price_values(manner: &Manner, one: &Shown) -> [Amount; 3] {
    let product = &one.loaded.product;
    let shown = |price: Option<Amount>| {
        let (class, status) = (one.loaded.tax_class(), one.loaded.tax_status());
        manner.prices.shown(price.unwrap_or_default(), class, status)
    };
    let row = &product.row;
    if product.is(VARIABLE) {
        let least = |of: fn(&ProductRecord) -> Option<Amount>| {
            one.variations.iter().filter_map(|(variation, _)| of(variation)).min()
        };
        let regular = least(|variation| variation.row.regular_price);
        let sale = least(|variation| variation.row.price);
        return [shown(row.price), shown(regular.or(row.price)), shown(sale.or(row.price))];
    }
    let regular = if product.is(GROUPED) { row.price } else { row.regular_price };
    let sale = if product.is(GROUPED) { row.price } else { row.sale_price.or(row.price) };
    [shown(row.price), shown(regular), shown(sale)]
}

fn prices(manner: &Manner, one: &Shown) -> Value {
    let [current, regular, sale] = price_values(manner, one).map(|price| manner.money.minor(price));
    manner.money.with(json!({
        "price": current,
        "regular_price": regular,
        "sale_price": sale,
        "price_range": price_range(manner, one),
    }))
}

fn price_range(manner: &Manner, one: &Shown) -> Value {
    let row = &one.loaded.product.row;
    let (class, status) = (one.loaded.tax_class(), one.loaded.tax_status());
    let amount = |price: Amount| manner.money.minor(manner.prices.shown(price, class, status));
    let has_range = one.loaded.product.is(VARIABLE) || one.loaded.product.is(GROUPED);
    match (row.price, row.price_max) {
        (Some(least), Some(greatest)) if has_range && least != greatest => {
            json!({ "min_amount": amount(least), "max_amount": amount(greatest) })
        }
        _ => Value::Null,
    }
}

fn terms(visit: &Visit, one: &Shown, taxonomy: &str) -> Vec<Value> {
    let shown = one.loaded.terms_of(taxonomy).map(|term| {
        let link = term_address(visit, taxonomy, &one.paths.of(term.term_id, &term.slug));
        json!({ "id": term.term_id, "name": term.name, "slug": term.slug, "link": link })
    });
    shown.collect()
}

/// Where the page of a term is, whose slugs are `path`.
pub(crate) fn term_address(visit: &Visit, taxonomy: &str, path: &str) -> String {
    let base = match taxonomy {
        CATEGORY => "product-category",
        TAG => "product-tag",
        SHIPPING_CLASS => return visit.page(&format!("/?taxonomy={taxonomy}&term={path}")),
        // Attributes have their lists below their own names.
        _ => taxonomy.strip_prefix("pa_").unwrap_or("brand"),
    };
    visit.page(&format!("/{base}/{path}/"))
}

fn attributes(one: &Shown) -> Vec<Value> {
    let product = &one.loaded.product;
    if product.is(VARIATION) {
        return Vec::new();
    }
    let seen = product.details.attributes.iter().filter(|own| own.visible || own.variation);
    let shown = seen.map(|attribute| {
        let key = attribute.key();
        let default = product.details.default_attributes.iter().find(|(name, _)| *name == key);
        let term = |id: i64, name: &str, slug: &str| {
            let mut term = json!({ "id": id, "name": name, "slug": slug });
            if let (Some((_, chosen)), Value::Object(members)) = (default, &mut term) {
                members.insert(String::from("default"), json!(chosen == slug));
            }
            term
        };
        let terms: Vec<Value> = if attribute.is_global {
            let own = one.loaded.terms_of(&attribute.name);
            own.map(|own| term(own.term_id, &own.name, &own.slug)).collect()
        } else {
            attribute.options.iter().map(|option| term(0, option, option)).collect()
        };
        let (id, name) = one.loaded.attribute_named(&key);
        json!({
            "id": id,
            "name": name,
            "taxonomy": attribute.is_global.then_some(&attribute.name),
            "has_variations": attribute.variation,
            "terms": terms,
        })
    });
    shown.collect()
}

fn variations(one: &Shown) -> Vec<Value> {
    let own = one.loaded.product.details.attributes.iter().filter(|own| own.variation);
    let keys: Vec<String> = own.map(commerce::products::record::Attribute::key).collect();
    let shown = one.variations.iter().map(|(variation, chosen)| {
        let attributes = keys.iter().map(|key| {
            let value = chosen.iter().find(|chosen| chosen.name == *key);
            let value = value.map(|chosen| &chosen.value).filter(|value| !value.is_empty());
            json!({ "name": one.loaded.attribute_named(key).1, "value": value })
        });
        json!({ "id": variation.id(), "attributes": attributes.collect::<Vec<_>>() })
    });
    shown.collect()
}

/// Whether its quantity is known and what is left counts.
fn counts_stock(manner: &Manner, one: &Shown) -> bool {
    manner.counts_stock && one.loaded.counted().row.manage_stock
}

fn is_on_backorder(manner: &Manner, one: &Shown) -> bool {
    let counted = one.loaded.counted();
    let is_short = counts_stock(manner, one)
        && counted.allows_backorders()
        && counted.row.stock_quantity.unwrap_or_default() <= Amount::ZERO;
    one.loaded.product.row.stock_status == ON_BACKORDER || is_short
}

/// What is left, if that is little.
pub(crate) fn low_stock(manner: &Manner, one: &Shown) -> Value {
    let counted = &one.loaded.counted().row;
    let left = counted.stock_quantity.unwrap_or_default();
    let threshold = counted.low_stock_amount.unwrap_or(manner.low_stock);
    if counts_stock(manner, one) && left <= threshold {
        json!(left.to_whole())
    } else {
        Value::Null
    }
}

fn availability(manner: &Manner, one: &Shown) -> Value {
    let (product, counted) = (&one.loaded.product, one.loaded.counted());
    let left = counted.row.stock_quantity.unwrap_or_default().to_whole();
    let notifies = counted.row.backorders == "notify";
    let (text, class) = if !product.is_in_stock() {
        (String::from("Out of stock"), "out-of-stock")
    } else if is_on_backorder(manner, one) {
        let text = if notifies { "Available on backorder" } else { "" };
        (text.to_owned(), "available-on-backorder")
    } else if counts_stock(manner, one) && !product.is(VARIABLE) {
        let is_low = !low_stock(manner, one).is_null();
        let mut text = match manner.stock_format.as_str() {
            "low_amount" if is_low => format!("Only {left} left in stock"),
            "no_amount" | "low_amount" => String::from("In stock"),
            _ => format!("{left} in stock"),
        };
        if notifies {
            text.push_str(" (can be backordered)");
        }
        (text, "in-stock")
    } else {
        (String::new(), "in-stock")
    };
    json!({ "text": text, "class": class })
}

/// Measures with their unit; what is not known is left out.
fn measured(values: &[&str], unit: &str) -> String {
    let known: Vec<&str> = values.iter().filter(|value| !value.is_empty()).copied().collect();
    if known.is_empty() {
        return UNKNOWN.to_owned();
    }
    format!("{} {unit}", known.join(" &times; "))
}

/// The greatest quantity that a buyer may have of it.
pub(crate) fn quantity_max(manner: &Manner, one: &Shown) -> i64 {
    let counted = one.loaded.counted();
    if one.loaded.is_sold_individually() {
        return 1;
    }
    if counts_stock(manner, one) && !counted.allows_backorders() {
        let left = counted.row.stock_quantity.unwrap_or_default().to_whole();
        if left > 0 {
            return left.min(QUANTITY_MAX);
        }
    }
    QUANTITY_MAX
}

fn add_to_cart(visit: &Visit, manner: &Manner, one: &Shown) -> Value {
    let (loaded, product) = (&one.loaded, &one.loaded.product);
    let (id, name) = (product.id(), loaded.name());
    let permalink = address::permalink(visit, loaded);
    let can_be_bought = loaded.is_purchasable() && product.is_in_stock();
    let with = |address: &str, more: &str| {
        let mark = if address.contains('?') { '&' } else { '?' };
        format!("{address}{mark}{more}").replace('&', "&#038;")
    };
    let (text, url) = match product.row.kind.as_str() {
        EXTERNAL => {
            let text = &product.details.button_text;
            let text = if text.is_empty() { "Buy product" } else { text };
            (text.to_owned(), product.details.external_url.clone())
        }
        GROUPED => (String::from("View products"), permalink),
        VARIABLE => (String::from("Select options"), permalink),
        VARIATION => {
            let more = format!("variation_id={id}&add-to-cart={}", product.row.parent_id);
            (String::from("Add to cart"), with(&permalink, &more))
        }
        SIMPLE if can_be_bought => {
            let more = format!("add-to-cart={id}");
            (String::from("Add to cart"), with(&manner.requested, &more))
        }
        _ => (String::from("Read more"), permalink),
    };
    let is_external = product.is(EXTERNAL);
    let description = if is_external { text.clone() } else { format!("{text}: {name}") };
    let single = if is_external { text.clone() } else { String::from("Add to cart") };
    json!({
        "text": text,
        "description": description,
        "url": url,
        "single_text": single,
        "minimum": 1,
        "maximum": quantity_max(manner, one),
        "multiple_of": 1,
    })
}
