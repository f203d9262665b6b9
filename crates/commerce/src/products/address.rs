//! Where the page of a product is, and which slug it gets.

use std::fmt::Write as _;

use db::Conn;
use frame::Visit;
use frame::text::slugify;
use shop_rows::product;
use shop_rows::product::ProductRow;
use types::{Capability, Error, Result};

use super::loaded::Loaded;
use super::record::{PUBLISH, Product, VARIATION};

/// Below this path are the pages of products.
pub(crate) const BASE: &str = "/product/";
/// How often a slug is tried with another number behind it.
const ATTEMPTS_MAX: u32 = 10_000;
/// Characters of a slug to which a number is added.
const START_LENGTH_MAX: usize = 180;

/// The address of a product: by its slug if it can be read there, else by its number. That of a
/// variation names what it is about behind the address of its product.
pub fn permalink(visit: &Visit, loaded: &Loaded) -> String {
    if !loaded.product.is(VARIATION) {
        return of_row(visit, &loaded.product.row);
    }
    let Some(parent) = &loaded.parent else { return of_row(visit, &loaded.product.row) };
    let mut address = of_row(visit, &parent.product.row);
    for chosen in loaded.chosen.iter().filter(|chosen| !chosen.value.is_empty()) {
        address.push(if address.contains('?') { '&' } else { '?' });
        let _ = write!(address, "attribute_{}={}", chosen.name, encoded(&chosen.value));
    }
    address
}

/// The address of a product that is no variation.
pub fn of_row(visit: &Visit, row: &ProductRow) -> String {
    let readable = row.status == PUBLISH
        || (row.status == "private" && visit.identity.can(Capability::ReadPrivateProducts));
    if readable && !row.slug.is_empty() {
        visit.page(&format!("{BASE}{}/", row.slug))
    } else {
        visit.page(&format!("/?post_type=product&p={}", row.product_id))
    }
}

/// The address with a gap for the slug.
pub(crate) fn template(visit: &Visit) -> String {
    visit.page(&format!("{BASE}%pagename%/"))
}

/// The slug that the product's name would give it.
pub(crate) fn generated_slug(conn: &mut dyn Conn, product: &Product) -> Result<String> {
    let wanted = slugify(&product.row.name);
    unique_slug(conn, &wanted, product.id(), product.is(VARIATION))
}

/// The wanted slug, or the first of `-2`, `-3`, … that is free.
pub(crate) fn unique_slug(
    conn: &mut dyn Conn,
    wanted: &str,
    product_id: i64,
    is_variation: bool,
) -> Result<String> {
    if wanted.is_empty() || !product::slug_is_taken(conn, wanted, product_id, is_variation)? {
        return Ok(wanted.to_owned());
    }
    let mut start = wanted;
    while start.len() > START_LENGTH_MAX {
        let mut characters = start.chars();
        characters.next_back();
        start = characters.as_str();
    }
    for number in 2..ATTEMPTS_MAX {
        let candidate = format!("{}-{number}", start.trim_end_matches('-'));
        if !product::slug_is_taken(conn, &candidate, product_id, is_variation)? {
            return Ok(candidate);
        }
    }
    Err(Error::conflict("too many products have this slug; choose another one"))
}

/// A value in a query string.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                encoded.push(char::from(byte));
            }
            b' ' => encoded.push('+'),
            other => {
                let _ = write!(encoded, "%{other:02X}");
            }
        }
    }
    encoded
}
