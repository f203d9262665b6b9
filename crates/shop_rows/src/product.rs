//! Products and variations. They take their numbers from the counter of posts, and bear terms as
//! posts do: categories, tags, brands, values of attributes and the shipping class.
//!
//! Rows are written as they come; what a product must be, and what follows from a change, is not
//! decided here.

mod list;
pub(crate) mod sold;
pub(crate) mod terms;
pub(crate) mod variation;

use db::filter::fold;
use db::{Conn, Row, SITE, Sql, Val, statements};
use site_rows::post;
use types::{Amount, Result, Timestamp};

pub use list::{
    LowStock, ProductColumn, ProductFilter, ProductGroup, ProductOrder, ProductSearch,
    SEARCHES_MAX, count_by, list,
};
pub use sold::{last_ordered, ordered_name};
pub use terms::{ProductTerm, bearers, counts_by_term, set_terms, terms_of};
pub use variation::{
    VariationAttribute, attributes_of, rename_attribute, rename_value, set_attributes, values_of,
};

#[expect(clippy::struct_excessive_bools, reason = "each is a column of its own")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductRow {
    pub product_id: i64,
    /// `simple`, `variable`, `grouped`, `external`, `variation` and what else the shop has.
    pub kind: String,
    /// The product of a variation; else 0.
    pub parent_id: i64,
    pub status: String,
    pub slug: String,
    pub name: String,
    pub sku: String,
    pub global_unique_id: String,
    pub description: String,
    pub short_description: String,
    /// What it costs now; of a variable product the least that a variation costs.
    pub price: Option<Amount>,
    /// The most that a variation costs; of other products the price once more.
    pub price_max: Option<Amount>,
    pub regular_price: Option<Amount>,
    pub sale_price: Option<Amount>,
    pub on_sale: bool,
    pub sale_from: Option<Timestamp>,
    pub sale_to: Option<Timestamp>,
    pub manage_stock: bool,
    pub stock_quantity: Option<Amount>,
    pub stock_status: String,
    /// Its own threshold; none for that of the shop.
    pub low_stock_amount: Option<Amount>,
    pub backorders: String,
    pub total_sales: i64,
    pub average_rating: Amount,
    pub rating_count: i64,
    pub featured: bool,
    pub catalog_visibility: String,
    pub is_virtual: bool,
    pub downloadable: bool,
    pub tax_status: String,
    /// The slug; empty for the standard class.
    pub tax_class: String,
    pub menu_order: i64,
    pub author_id: i64,
    pub created: Timestamp,
    pub modified: Timestamp,
    /// What the status was before the product went to the trash.
    pub trashed_status: Option<String>,
    /// A JSON object.
    pub details: String,
}

/// What [`ProductRow::read`] reads, in its order.
macro_rules! product_columns {
    () => {
        "product_id, kind, parent_id, status, slug, name, sku, global_unique_id, description,
         short_description, price, price_max, regular_price, sale_price, on_sale, sale_from_us,
         sale_to_us, manage_stock, stock_quantity, stock_status, low_stock_amount, backorders,
         total_sales, average_rating, rating_count, featured, catalog_visibility, is_virtual,
         downloadable, tax_status, tax_class, menu_order, author_id, created_us, modified_us,
         trashed_status, details"
    };
}
use product_columns;

statements! {
    PRODUCT_INSERT =
        "INSERT INTO products
       (kind, parent_id, status, slug, name, name_key, sku, sku_key, global_unique_id,
        description, description_key, short_description, short_description_key, price, price_max,
        regular_price, sale_price, on_sale, sale_from_us, sale_to_us, manage_stock,
        stock_quantity, stock_status, low_stock_amount, backorders, total_sales, average_rating,
        rating_count, featured, catalog_visibility, is_virtual, downloadable, tax_status,
        tax_class, menu_order, author_id, created_us, modified_us, trashed_status, details,
        site_id, product_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37,
        $38, $39, $40, $41, $42)";
    PRODUCT_UPDATE =
        "UPDATE products SET
           kind = $1, parent_id = $2, status = $3, slug = $4, name = $5, name_key = $6, sku = $7,
           sku_key = $8, global_unique_id = $9, description = $10, description_key = $11,
           short_description = $12, short_description_key = $13, price = $14, price_max = $15,
           regular_price = $16, sale_price = $17, on_sale = $18, sale_from_us = $19,
           sale_to_us = $20, manage_stock = $21, stock_quantity = $22, stock_status = $23,
           low_stock_amount = $24, backorders = $25, total_sales = $26, average_rating = $27,
           rating_count = $28, featured = $29, catalog_visibility = $30, is_virtual = $31,
           downloadable = $32, tax_status = $33, tax_class = $34, menu_order = $35, author_id = $36,
           created_us = $37, modified_us = $38, trashed_status = $39, details = $40
         WHERE site_id = $41 AND product_id = $42";
    PRODUCT_STOCK_UPDATE =
        "UPDATE products SET stock_quantity = $1, stock_status = $2, modified_us = $3
         WHERE site_id = $4 AND product_id = $5";
    PRODUCT_SALES_ADD =
        "UPDATE products SET total_sales = total_sales + $1 WHERE site_id = $2 AND product_id = $3";
    PRODUCT_RATING_UPDATE =
        "UPDATE products SET average_rating = $1, rating_count = $2
         WHERE site_id = $3 AND product_id = $4";
    PRODUCT_DELETE = "DELETE FROM products WHERE site_id = $1 AND product_id = $2";
    PRODUCT_GET = concat!(
        "SELECT ",
        product_columns!(),
        " FROM products WHERE site_id = $1 AND product_id = $2"
    );
    PRODUCT_BY_SLUG = concat!(
        "SELECT ",
        product_columns!(),
        " FROM products WHERE site_id = $1 AND slug = $2 AND kind <> 'variation'
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
    PRODUCTS_BY_DETAILS = concat!(
        "SELECT ",
        product_columns!(),
        " FROM products WHERE site_id = $1 AND product_id > $2 AND details LIKE $3 ESCAPE '!'
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
    write(conn, &PRODUCT_INSERT, product, product_id)?;
    Ok(product_id)
}

/// Inserts the product with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn insert_with_id(conn: &mut dyn Conn, product: &ProductRow) -> Result<()> {
    post::reserve_id(conn, product.product_id)?;
    write(conn, &PRODUCT_INSERT, product, product.product_id).map(drop)
}

/// Returns whether there is such a product.
pub fn update(conn: &mut dyn Conn, product: &ProductRow) -> Result<bool> {
    write(conn, &PRODUCT_UPDATE, product, product.product_id)
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

fn write(conn: &mut dyn Conn, sql: &Sql, product: &ProductRow, product_id: i64) -> Result<bool> {
    let (name_key, sku_key) = (fold(&product.name), fold(&product.sku));
    let description_key = fold(&product.description);
    let short_description_key = fold(&product.short_description);
    let params: [Val<'_>; 42] = [
        (&product.kind).into(),
        product.parent_id.into(),
        (&product.status).into(),
        (&product.slug).into(),
        (&product.name).into(),
        (&name_key).into(),
        (&product.sku).into(),
        (&sku_key).into(),
        (&product.global_unique_id).into(),
        (&product.description).into(),
        (&description_key).into(),
        (&product.short_description).into(),
        (&short_description_key).into(),
        product.price.into(),
        product.price_max.into(),
        product.regular_price.into(),
        product.sale_price.into(),
        product.on_sale.into(),
        product.sale_from.into(),
        product.sale_to.into(),
        product.manage_stock.into(),
        product.stock_quantity.into(),
        (&product.stock_status).into(),
        product.low_stock_amount.into(),
        (&product.backorders).into(),
        product.total_sales.into(),
        product.average_rating.into(),
        product.rating_count.into(),
        product.featured.into(),
        (&product.catalog_visibility).into(),
        product.is_virtual.into(),
        product.downloadable.into(),
        (&product.tax_status).into(),
        (&product.tax_class).into(),
        product.menu_order.into(),
        product.author_id.into(),
        product.created.into(),
        product.modified.into(),
        product.trashed_status.as_deref().into(),
        (&product.details).into(),
        SITE.into(),
        product_id.into(),
    ];
    Ok(conn.execute(sql, &params)? == 1)
}

impl ProductRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            product_id: row.get(0)?,
            kind: row.get(1)?,
            parent_id: row.get(2)?,
            status: row.get(3)?,
            slug: row.get(4)?,
            name: row.get(5)?,
            sku: row.get(6)?,
            global_unique_id: row.get(7)?,
            description: row.get(8)?,
            short_description: row.get(9)?,
            price: row.get(10)?,
            price_max: row.get(11)?,
            regular_price: row.get(12)?,
            sale_price: row.get(13)?,
            on_sale: row.get(14)?,
            sale_from: row.get(15)?,
            sale_to: row.get(16)?,
            manage_stock: row.get(17)?,
            stock_quantity: row.get(18)?,
            stock_status: row.get(19)?,
            low_stock_amount: row.get(20)?,
            backorders: row.get(21)?,
            total_sales: row.get(22)?,
            average_rating: row.get(23)?,
            rating_count: row.get(24)?,
            featured: row.get(25)?,
            catalog_visibility: row.get(26)?,
            is_virtual: row.get(27)?,
            downloadable: row.get(28)?,
            tax_status: row.get(29)?,
            tax_class: row.get(30)?,
            menu_order: row.get(31)?,
            author_id: row.get(32)?,
            created: row.get(33)?,
            modified: row.get(34)?,
            trashed_status: row.get(35)?,
            details: row.get(36)?,
        })
    }
}
