//! A product as the rules see it: the typed columns of its row, and the details that are kept as
//! one JSON text because nothing filters or sorts by them.

use db::Conn;
use frame::lock::Lock;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shop_rows::attribute;
use shop_rows::product::{self, ProductRow};
use types::{Amount, Error, Result};

pub const SIMPLE: &str = "simple";
pub const GROUPED: &str = "grouped";
pub const EXTERNAL: &str = "external";
pub const VARIABLE: &str = "variable";
pub const VARIATION: &str = "variation";
/// The kinds that a request may name.
pub const KINDS: &[&str] = &[SIMPLE, GROUPED, EXTERNAL, VARIABLE];

pub const PUBLISH: &str = "publish";
pub const PRIVATE: &str = "private";
/// Published at a date that lies ahead.
pub const FUTURE: &str = "future";
pub const TRASH: &str = "trash";
pub const IN_STOCK: &str = "instock";
pub const OUT_OF_STOCK: &str = "outofstock";
pub const ON_BACKORDER: &str = "onbackorder";
pub const STOCK_STATUSES: &[&str] = &[IN_STOCK, OUT_OF_STOCK, ON_BACKORDER];
/// The tax class of a variation that has that of its product.
pub const LIKE_PARENT: &str = "parent";

pub use super::plain::PlainFields;
pub use crate::pictures::Image;
pub use crate::taxonomies::{BRAND, CATEGORY, SHIPPING_CLASS, TAG};

/// A product, or a variation of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    pub row: ProductRow,
    pub details: Details,
}

/// What a product has besides its columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// Prices as they were written; the columns have their values.
    pub price: String,
    pub regular_price: String,
    pub sale_price: String,
    pub downloads: Vec<Download>,
    /// How often a file may be fetched, and for how many days; -1 is without end.
    pub download_limit: i64,
    pub download_expiry: i64,
    pub external_url: String,
    pub button_text: String,
    pub weight: String,
    pub length: String,
    pub width: String,
    pub height: String,
    pub reviews_allowed: bool,
    #[serde(flatten)]
    pub plain: PlainFields,
    /// What a grouped product consists of.
    pub grouped_products: Vec<i64>,
    /// The first is the one that stands for the product.
    pub images: Vec<Image>,
    pub gallery_image_ids: Vec<i64>,
    pub attributes: Vec<Attribute>,
    /// What a shop window chooses first: pairs of an attribute's key and a value.
    pub default_attributes: Vec<(String, String)>,
    pub meta_data: Vec<Value>,
    /// The path of the page that it had when it was made; empty if it had none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub first_path: String,
}

/// A file that buyers may fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Download {
    pub id: String,
    pub name: String,
    /// An address; one of this site begins with a slash.
    pub file: String,
}

/// An attribute of a product: one of the shop's, whose values are terms, or one of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// The taxonomy of an attribute of the shop; else the name as people read it.
    pub name: String,
    /// Whether the values are terms of that taxonomy.
    pub is_global: bool,
    pub position: i64,
    pub visible: bool,
    /// Whether variations differ by it.
    pub variation: bool,
    /// Values of an attribute of the product's own; those of others are terms that it bears.
    pub options: Vec<String>,
}

impl Default for Details {
    fn default() -> Self {
        Self {
            price: String::new(),
            regular_price: String::new(),
            sale_price: String::new(),
            downloads: Vec::new(),
            download_limit: -1,
            download_expiry: -1,
            external_url: String::new(),
            button_text: String::new(),
            weight: String::new(),
            length: String::new(),
            width: String::new(),
            height: String::new(),
            reviews_allowed: true,
            plain: PlainFields::default(),
            grouped_products: Vec::new(),
            images: Vec::new(),
            gallery_image_ids: Vec::new(),
            attributes: Vec::new(),
            default_attributes: Vec::new(),
            meta_data: Vec::new(),
            first_path: String::new(),
        }
    }
}

impl Attribute {
    /// The name by which variations refer to it.
    pub fn key(&self) -> String {
        if self.is_global { self.name.clone() } else { frame::text::slugify(&self.name) }
    }
}

impl Product {
    /// A new product of a kind, with what everything has that nobody says.
    pub fn new(kind: &str) -> Self {
        let tax_class = if kind == VARIATION { LIKE_PARENT } else { "" };
        let row = ProductRow {
            kind: kind.to_owned(),
            status: PUBLISH.to_owned(),
            stock_status: IN_STOCK.to_owned(),
            backorders: "no".to_owned(),
            catalog_visibility: "visible".to_owned(),
            tax_status: "taxable".to_owned(),
            tax_class: tax_class.to_owned(),
            ..ProductRow::default()
        };
        Self { row, details: Details::default() }
    }

    /// What keeps its page from those who do not know its password.
    pub fn lock(&self) -> Lock {
        Lock::new("product", self.id(), &self.details.plain.post_password)
    }

    pub fn of_row(row: ProductRow) -> Result<Self> {
        let details = serde_json::from_str(&row.details)
            .map_err(|error| Error::internal("cannot read a product's details").because(error))?;
        Ok(Self { row, details })
    }

    pub fn id(&self) -> i64 {
        self.row.product_id
    }

    pub fn is(&self, kind: &str) -> bool {
        self.row.kind == kind
    }

    /// Writes the details into the row.
    pub(crate) fn seal(&mut self) -> Result<()> {
        self.row.details = serde_json::to_string(&self.details).map_err(|error| {
            Error::internal("cannot serialize a product's details").because(error)
        })?;
        Ok(())
    }

    /// Whether buyers may order more than there is.
    pub fn allows_backorders(&self) -> bool {
        matches!(self.row.backorders.as_str(), "yes" | "notify")
    }

    pub fn is_in_stock(&self) -> bool {
        self.row.stock_status != OUT_OF_STOCK
    }
}

/// The product or variation of this id.
pub fn get(conn: &mut dyn Conn, product_id: i64) -> Result<Option<Product>> {
    product::get(conn, product_id)?.map(Product::of_row).transpose()
}

/// Reads a number as clients write prices: whatever is no digit, point or minus goes, and of
/// several points only the last counts. What is left is kept as text.
pub fn decimal_text(text: &str) -> String {
    let kept: String =
        text.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | '-')).collect();
    let Some(last) = kept.rfind('.') else { return kept };
    let (whole, fraction) = kept.split_at_checked(last).unwrap_or((&kept, ""));
    // A point at the end has nothing behind it that would make it count.
    if fraction == "." {
        return whole.replace('.', "");
    }
    format!("{}{fraction}", whole.replace('.', ""))
}

/// The value of a price as it was written; nothing if there is none.
pub fn amount_of(text: &str) -> Option<Amount> {
    if text.is_empty() { None } else { Amount::parse(text) }
}

/// The shop's attributes by their taxonomies.
pub(crate) fn attribute_of<'a>(
    attributes: &'a [attribute::AttributeRow],
    taxonomy: &str,
) -> Option<&'a attribute::AttributeRow> {
    let name = taxonomy.strip_prefix("pa_")?;
    attributes.iter().find(|attribute| attribute.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_generously() {
        for (text, expected) in [
            ("12.34", "12.34"),
            ("44", "44"),
            ("abc", ""),
            ("$ 1,234.50", "1234.50"),
            ("1.234.50", "1234.50"),
            ("-5", "-5"),
            ("5.", "5"),
            (".5", ".5"),
            ("", ""),
        ] {
            assert_eq!(decimal_text(text), expected, "{text}");
        }
        assert_eq!(amount_of("-"), None);
        assert_eq!(amount_of(".5"), Amount::parse("0.5"));
    }

    #[test]
    fn details_have_defaults_for_what_is_not_written() {
        let details: Details = serde_json::from_str(r#"{"weight":"2"}"#).unwrap();
        assert_eq!((details.download_limit, details.reviews_allowed), (-1, true));
    }
}
