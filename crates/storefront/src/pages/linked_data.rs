//! What search engines read of a page: the way to it, and the product with its price, as linked
//! data of schema.org. **The text cannot end its element**: the signs that could are written as
//! escapes.

use frame::Visit;
use serde_json::{Map, Value, json};

use super::values::{Target, flag, list, number, plain_text, text};

const CONTEXT: &str = "https://schema.org/";

/// The way to a page from the home page.
pub(super) fn breadcrumbs(visit: &Visit, trail: &[Target]) -> Value {
    let home = Target { text: String::from("Home"), href: visit.home.clone() };
    let items = std::iter::once(&home).chain(trail).enumerate().map(|(place, target)| {
        json!({
            "@type": "ListItem",
            "position": place + 1,
            "item": { "name": target.text, "@id": target.href },
        })
    });
    json!({
        "@context": CONTEXT,
        "@type": "BreadcrumbList",
        "itemListElement": items.collect::<Vec<_>>(),
    })
}

/// A page with both.
pub(super) fn of_product(visit: &Visit, trail: &[Target], product: &Value) -> Value {
    let parts = [breadcrumbs(visit, trail), product_node(visit, product)];
    json!({ "@context": CONTEXT, "@graph": parts })
}

/// As a text that may stand in a page.
pub(super) fn script(data: &Value) -> String {
    let text = data.to_string();
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn product_node(visit: &Visit, product: &Value) -> Value {
    let url = text(product, "permalink");
    let description = match plain_text(product, "short_description") {
        empty if empty.is_empty() => plain_text(product, "description"),
        short => short,
    };
    let sku = match text(product, "sku") {
        "" => product["id"].clone(),
        sku => json!(sku),
    };
    let mut node = Map::new();
    let mut add = |name: &str, value: Value| node.insert(name.to_owned(), value);
    add("@context", json!(CONTEXT));
    add("@type", json!("Product"));
    add("@id", json!(format!("{url}#product")));
    add("name", json!(plain_text(product, "name")));
    add("url", json!(url));
    add("description", json!(description));
    if let Some(image) = list(product, "images").first() {
        add("image", json!(text(image, "src")));
    }
    add("sku", sku);
    if let Some(offer) = offer(visit, product) {
        add("offers", json!([offer]));
    }
    if number(product, "review_count") > 0 {
        let rating = json!({
            "@type": "AggregateRating",
            "ratingValue": text(product, "average_rating"),
            "reviewCount": number(product, "review_count"),
        });
        add("aggregateRating", rating);
    }
    if let Some(brand) = list(product, "brands").first() {
        add("brand", json!({ "@type": "Brand", "name": plain_text(brand, "name") }));
    }
    Value::Object(node)
}

/// What it is sold for; nothing for what has no price.
fn offer(visit: &Visit, product: &Value) -> Option<Value> {
    let prices = product.get("prices")?;
    if plain_price(prices, "price") == plain_price(prices, "none") {
        return None;
    }
    let until = format!("{}-12-31", year(visit) + 1);
    let with_tax = visit.options.is_on("woocommerce_prices_include_tax");
    let specification = |price: String, kind: Option<&str>| {
        let mut members = json!({
            "@type": "UnitPriceSpecification",
            "price": price,
            "priceCurrency": text(prices, "currency_code"),
            "validThrough": until,
            "valueAddedTaxIncluded": with_tax,
        });
        if let (Some(kind), Some(members)) = (kind, members.as_object_mut()) {
            members.insert(String::from("priceType"), json!(format!("{CONTEXT}{kind}")));
        }
        members
    };
    let range = prices.get("price_range").filter(|range| range.is_object());
    let (price, on_sale) = (plain_price(prices, "price"), flag(product, "on_sale"));
    let mut members = Map::new();
    let mut add = |name: &str, value: Value| members.insert(name.to_owned(), value);
    if let Some(range) = range {
        let [low, high] =
            ["min_amount", "max_amount"].map(|name| decimal(prices, text(range, name)));
        let count = list(product, "variations").len() + list(product, "grouped_products").len();
        add("@type", json!("AggregateOffer"));
        add("lowPrice", json!(low));
        add("highPrice", json!(high));
        add("offerCount", json!(count));
        if on_sale {
            add("priceSpecification", json!([specification(low, Some("SalePrice"))]));
        }
    } else {
        let mut specifications = vec![specification(price.clone(), None)];
        if on_sale {
            let regular = plain_price(prices, "regular_price");
            specifications.push(specification(regular, Some("ListPrice")));
        }
        add("@type", json!("Offer"));
        add("priceSpecification", json!(specifications));
        add("price", json!(price));
    }
    let in_stock = if flag(product, "is_in_stock") { "InStock" } else { "OutOfStock" };
    add("priceValidUntil", json!(until));
    add("availability", json!(format!("{CONTEXT}{in_stock}")));
    add("url", json!(text(product, "permalink")));
    let name = visit.options.text("blogname");
    add("seller", json!({ "@type": "Organization", "name": name, "url": visit.home }));
    add("priceCurrency", json!(text(prices, "currency_code")));
    Some(Value::Object(members))
}

fn plain_price(prices: &Value, name: &str) -> String {
    decimal(prices, text(prices, name))
}

/// An amount of the minor unit as programs read it, such as `44.10`.
fn decimal(prices: &Value, minor: &str) -> String {
    if minor.is_empty() {
        return String::new();
    }
    let plain = json!({
        "currency_minor_unit": prices["currency_minor_unit"], "currency_decimal_separator": ".",
    });
    crate::money::written(&plain, minor)
}

/// The year by the site's calendar.
fn year(visit: &Visit) -> i64 {
    let date = visit.options.local(visit.now).to_string();
    date.split('-').next().and_then(|year| year.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_end_its_element() {
        let data = json!({ "name": "</script><script>alert(1)</script>&amp;" });
        let text = script(&data);
        assert!(!text.contains(['<', '>', '&']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), data);
    }
}
