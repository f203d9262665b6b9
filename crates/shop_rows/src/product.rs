//! Products and variations. They take their numbers from the counter of posts, and bear terms as
//! posts do: categories, tags, brands, values of attributes and the shipping class.
//!
//! Rows are written as they come; what a product must be, and what follows from a change, is not
//! decided here.

pub(crate) mod count;
mod list;
pub(crate) mod sold;
pub(crate) mod terms;
pub(crate) mod variation;

use db::filter::fold;
use db::{Conn, Record, SITE, statements};
use site_rows::post;
use types::{Amount, Result, Timestamp};

pub use count::recount;
pub use list::{
    LowStock, PriceRule, ProductColumn, ProductFilter, ProductGroup, ProductOrder, ProductSearch,
    SEARCHES_MAX, count_by, count_by_rating, count_by_term, list, price_range,
};
pub use sold::{last_ordered, ordered_name};
pub use terms::{ProductTerm, bearers, bearers_after, counts_by_term, set_terms, terms_of};
pub use variation::{
    VariationAttribute, attributes_of, rename_attribute, rename_value, set_attributes, values_of,
};

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ProductRow in "products", fixed(site_id = SITE), key(product_id: i64) {
        /// `simple`, `variable`, `grouped`, `external`, `variation` and what else the shop has.
        kind: String,
        /// The product of a variation; else 0.
        parent_id: i64,
        status: String,
        slug: String,
        name: String,
        sku: String,
        global_unique_id: String,
        description: String,
        short_description: String,
        /// What it costs now; of a variable product the least that a variation costs.
        price: Option<Amount>,
        /// The most that a variation costs; of other products the price once more.
        price_max: Option<Amount>,
        regular_price: Option<Amount>,
        sale_price: Option<Amount>,
        on_sale: bool,
        sale_from: Option<Timestamp>,
        sale_to: Option<Timestamp>,
        manage_stock: bool,
        stock_quantity: Option<Amount>,
        stock_status: String,
        /// Its own threshold; none for that of the shop.
        low_stock_amount: Option<Amount>,
        backorders: String,
        total_sales: i64,
        average_rating: Amount,
        rating_count: i64,
        featured: bool,
        catalog_visibility: String,
        is_virtual: bool,
        downloadable: bool,
        tax_status: String,
        /// The slug; empty for the standard class.
        tax_class: String,
        menu_order: i64,
        author_id: i64,
        created: Timestamp,
        modified: Timestamp,
        /// What the status was before the product went to the trash.
        trashed_status: Option<String>,
        /// A JSON object.
        details: String,
    }
    folded {
        name as "name_key",
        sku as "sku_key",
        description as "description_key",
        short_description as "short_description_key",
    }
}

statements! {
    PRODUCT_INSERT = db::insert!(ProductRow);
    PRODUCT_UPDATE = db::update!(ProductRow);
    PRODUCT_STOCK_UPDATE =
        "UPDATE products SET stock_quantity = $1, stock_status = $2, modified_us = $3
         WHERE site_id = $4 AND product_id = $5";
    PRODUCT_SALES_ADD =
        "UPDATE products SET total_sales = total_sales + $1 WHERE site_id = $2 AND product_id = $3";
    PRODUCT_RATING_UPDATE =
        "UPDATE products SET average_rating = $1, rating_count = $2
         WHERE site_id = $3 AND product_id = $4";
    PRODUCT_DELETE = "DELETE FROM products WHERE site_id = $1 AND product_id = $2";
    PRODUCT_GET = db::select!(ProductRow, "WHERE site_id = $1 AND product_id = $2");
    PRODUCT_BY_SLUG = db::select!(
        ProductRow,
        "WHERE site_id = $1 AND slug = $2 AND kind <> 'variation'
         ORDER BY CASE WHEN status = 'publish' THEN 0 ELSE 1 END, product_id LIMIT 1"
    );
    PRODUCT_SLUG_TAKEN =
        "SELECT 1 FROM products WHERE site_id = $1 AND slug = $2 AND product_id <> $3
           AND CASE WHEN kind = 'variation' THEN 1 ELSE 0 END = $4 LIMIT 1";
    PRODUCT_OF_SKU =
        "SELECT product_id FROM products
         WHERE site_id = $1 AND sku_key = $2 AND product_id <> $3 AND status <> 'trash'
         ORDER BY product_id LIMIT 1";
    PRODUCT_OF_UNIQUE_ID =
        "SELECT product_id FROM products
         WHERE site_id = $1 AND global_unique_id = $2 AND product_id <> $3 AND status <> 'trash'
         ORDER BY product_id LIMIT 1";
    PRODUCTS_BY_DETAILS = db::select!(
        ProductRow,
        "WHERE site_id = $1 AND product_id > $2 AND details LIKE $3 ESCAPE '!'
         ORDER BY product_id LIMIT $4"
    );
    PRODUCTS_SALE_DUE =
        "SELECT product_id FROM products
         WHERE site_id = $1 AND ((on_sale = 1 AND sale_to_us <= $2)
           OR (on_sale = 0 AND sale_price IS NOT NULL AND sale_from_us <= $2
             AND (sale_to_us IS NULL OR sale_to_us > $2)))
         ORDER BY product_id LIMIT $3";
}

/// Inserts the product with the next id, whatever `product_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, product: &ProductRow) -> Result<i64> {
    let product_id = post::take_id(conn)?;
    conn.insert_as(&PRODUCT_INSERT, product, product_id)?;
    count::add(conn, product_id, (&product.kind, &product.status), 1)?;
    Ok(product_id)
}

/// Inserts the product with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn insert_with_id(conn: &mut dyn Conn, product: &ProductRow) -> Result<()> {
    post::reserve_id(conn, product.product_id)?;
    conn.insert(&PRODUCT_INSERT, product)?;
    count::add(conn, product.product_id, (&product.kind, &product.status), 1)
}

/// Returns whether there is such a product.
pub fn update(conn: &mut dyn Conn, product: &ProductRow) -> Result<bool> {
    let Some(before) = count::group_of(conn, product.product_id)? else { return Ok(false) };
    let (before, now) = ((&*before.0, &*before.1), (&*product.kind, &*product.status));
    if before != now {
        count::add(conn, product.product_id, before, -1)?;
        count::add(conn, product.product_id, now, 1)?;
    }
    conn.update_existing(&PRODUCT_UPDATE, product)
}

/// Changes the stock alone. Returns whether there is such a product.
pub fn update_stock(
    conn: &mut dyn Conn,
    product_id: i64,
    (quantity, status): (Option<Amount>, &str),
    modified: Timestamp,
) -> Result<bool> {
    let params = [quantity.into(), status.into(), modified.into(), SITE.into(), product_id.into()];
    Ok(conn.execute(&PRODUCT_STOCK_UPDATE, &params)? == 1)
}

/// Counts so many more as sold, or fewer. Returns whether there is such a product.
pub fn add_sales(conn: &mut dyn Conn, product_id: i64, sold: i64) -> Result<bool> {
    Ok(conn.execute(&PRODUCT_SALES_ADD, &[sold.into(), SITE.into(), product_id.into()])? == 1)
}

/// Writes what its reviews come to. Returns whether there is such a product.
pub fn update_rating(
    conn: &mut dyn Conn,
    product_id: i64,
    average: Amount,
    count: i64,
) -> Result<bool> {
    let params = [average.into(), count.into(), SITE.into(), product_id.into()];
    Ok(conn.execute(&PRODUCT_RATING_UPDATE, &params)? == 1)
}

/// Deletes the product for good, with the terms that it bears; its variations and reviews stay.
/// Returns whether there was one.
pub fn delete(conn: &mut dyn Conn, product_id: i64) -> Result<bool> {
    if let Some((kind, status)) = count::group_of(conn, product_id)? {
        count::add(conn, product_id, (&kind, &status), -1)?;
    }
    Ok(conn.execute(&PRODUCT_DELETE, &[SITE.into(), product_id.into()])? == 1)
}

pub fn get(conn: &mut dyn Conn, product_id: i64) -> Result<Option<ProductRow>> {
    conn.row(&PRODUCT_GET, &[SITE.into(), product_id.into()], ProductRow::read)
}

/// Up to `limit` products and variations after `after_id` whose details hold a text, by id. An
/// engine may find it in another case as well.
pub fn find_by_details(
    conn: &mut dyn Conn,
    text: &str,
    after_id: i64,
    limit: i64,
) -> Result<Vec<ProductRow>> {
    let pattern = text.replace('!', "!!").replace('%', "!%").replace('_', "!_");
    let pattern = format!("%{pattern}%");
    let params = [SITE.into(), after_id.into(), (&pattern).into(), limit.into()];
    conn.rows(&PRODUCTS_BY_DETAILS, &params, ProductRow::read)
}

/// The product with this slug, a published one if there are several. Never a variation.
pub fn find_by_slug(conn: &mut dyn Conn, slug: &str) -> Result<Option<ProductRow>> {
    conn.row(&PRODUCT_BY_SLUG, &[SITE.into(), slug.into()], ProductRow::read)
}

/// Whether a variation, or another product, other than `except_id` has the slug. A new product has
/// the id 0.
pub fn slug_is_taken(
    conn: &mut dyn Conn,
    slug: &str,
    except_id: i64,
    is_variation: bool,
) -> Result<bool> {
    let params = [SITE.into(), slug.into(), except_id.into(), is_variation.into()];
    Ok(conn.row(&PRODUCT_SLUG_TAKEN, &params, |row| row.get::<i64>(0))?.is_some())
}

/// The product other than `except_id` that has this SKU, in whatever case, and is not in the trash.
pub fn id_of_sku(conn: &mut dyn Conn, sku: &str, except_id: i64) -> Result<Option<i64>> {
    let key = fold(sku);
    conn.row(&PRODUCT_OF_SKU, &[SITE.into(), (&key).into(), except_id.into()], |row| row.get(0))
}

/// The product other than `except_id` that has this global id and is not in the trash.
pub fn id_of_unique_id(
    conn: &mut dyn Conn,
    global_unique_id: &str,
    except_id: i64,
) -> Result<Option<i64>> {
    let params = [SITE.into(), global_unique_id.into(), except_id.into()];
    conn.row(&PRODUCT_OF_UNIQUE_ID, &params, |row| row.get(0))
}

/// Up to `limit` products whose sale should have begun or ended by now and has not.
pub fn sale_due(conn: &mut dyn Conn, now: Timestamp, limit: i64) -> Result<Vec<i64>> {
    conn.rows(&PRODUCTS_SALE_DUE, &[SITE.into(), now.into(), limit.into()], |row| row.get(0))
}
