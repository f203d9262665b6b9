//! The public page of a product, at `/product/{slug}/`.

use contract::rest::form;
use db::Conn;
use frame::text::{render, slugify};
use frame::{Names, PageSource, PublicPage, Visit};
use shop_rows::product;
use types::Result;

use super::address::{self, BASE};
use super::price;
use super::record::{PUBLISH, Product, VARIATION};

/// Words of a summary.
const SUMMARY_WORDS: usize = 55;

/// The pages of all products that are published.
#[derive(Debug)]
pub struct ProductPages {
    namespace: String,
}

impl ProductPages {
    pub fn new(names: &Names) -> Self {
        Self { namespace: names.commerce_v3.clone() }
    }
}

impl PageSource for ProductPages {
    fn page_at(
        &self,
        conn: &mut dyn Conn,
        visit: &Visit,
        address: &str,
    ) -> Result<Option<PublicPage>> {
        let Some(product) = find(conn, address)? else { return Ok(None) };
        if product.row.status != PUBLISH || product.is(VARIATION) {
            return Ok(None);
        }
        Ok(Some(self.page(visit, &product)))
    }

    fn desk_of(&self, conn: &mut dyn Conn, id: i64) -> Result<Option<String>> {
        if let Some(row) = product::get(conn, id)? {
            let shown = if row.parent_id == 0 { row.product_id } else { row.parent_id };
            return Ok(Some(format!("/store/products/{shown}")));
        }
        let coupon = shop_rows::coupon::get(conn, id)?;
        Ok(coupon.map(|coupon| format!("/store/coupons/{}", coupon.coupon_id)))
    }
}

impl ProductPages {
    fn page(&self, visit: &Visit, product: &Product) -> PublicPage {
        let row = &product.row;
        let lock = product.lock();
        let source = if row.short_description.is_empty() {
            &row.description
        } else {
            &row.short_description
        };
        let plain = if lock.is_set() { String::new() } else { render::plain_text(source) };
        let words: Vec<&str> = plain.split_whitespace().take(SUMMARY_WORDS).collect();
        PublicPage {
            title: row.name.clone(),
            summary: words.join(" "),
            content: content(visit, product),
            lock,
            permalink: address::of_row(visit, row),
            rest_path: format!("/{}/products/{}", self.namespace, row.product_id),
            author_id: row.author_id,
            published: None,
        }
    }
}

/// The price, then the description; the short one where there is no other.
fn content(visit: &Visit, product: &Product) -> String {
    let row = &product.row;
    let price = price::html(product, &visit.options);
    let price = if price.is_empty() { price } else { format!("<p class=\"price\">{price}</p>\n") };
    let text = if row.description.is_empty() { &row.short_description } else { &row.description };
    format!("{price}{}", render::content(text))
}

/// The product at a path with its query string, by its slug or by its number.
fn find(conn: &mut dyn Conn, address: &str) -> Result<Option<Product>> {
    let address = address.split('#').next().unwrap_or_default();
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let row = if path.trim_matches('/').is_empty() {
        let query = form::decode(query);
        let id = query.get("p").and_then(|id| id.as_str()?.parse::<i64>().ok());
        match id {
            Some(id) => product::get(conn, id)?,
            None => None,
        }
    } else {
        let path = format!("{}/", path.trim_end_matches('/'));
        let slug = path.strip_prefix(BASE).map(|slug| slug.trim_matches('/'));
        match slug.filter(|slug| !slug.is_empty() && !slug.contains('/')) {
            Some(slug) => product::find_by_slug(conn, &slugify(slug))?,
            None => None,
        }
    };
    row.map(Product::of_row).transpose()
}
