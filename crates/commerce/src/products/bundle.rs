//! Import of products and variations from a bundle, their ids kept. Importing the same again
//! changes nothing; what reviews came to stays.

use contract::rest::loose;
use db::Conn;
use db::filter::Page;
use frame::Options;
use frame::bundle::records;
use serde::Deserialize;
use serde_json::{Map, Value};
use shop_rows::product::{self, VariationAttribute};
use site_rows::term::{self, TermFilter};
use site_rows::user::{self, UserFilter};
use types::{Amount, Error, Result, Role, Timestamp};

use super::record::{
    self, Attribute, CATEGORY, Download, Product, VARIABLE, VARIATION, decimal_text,
};
use super::{events, price, sync};
use crate::common::{amounts, moments};

/// Stands in a bundle for the site's own address.
const ADDRESS_MARK: &str = "{{site}}";

/// A product or variation of a bundle.
#[derive(Debug, Deserialize)]
struct Record {
    id: i64,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    parent_id: i64,
    name: String,
    slug: String,
    #[serde(default)]
    sku: String,
    status: String,
    #[serde(default)]
    price: String,
    #[serde(default)]
    regular_price: String,
    #[serde(default)]
    sale_price: String,
    tax_status: String,
    #[serde(default)]
    tax_class: String,
    manage_stock: bool,
    #[serde(default)]
    stock_quantity: Value,
    stock_status: String,
    backorders: String,
    #[serde(default)]
    low_stock_amount: Value,
    #[serde(default)]
    category_ids: Vec<i64>,
    #[serde(rename = "virtual", default)]
    is_virtual: bool,
    #[serde(default)]
    downloadable: bool,
    #[serde(default)]
    downloads: Vec<Download>,
    #[serde(default = "without_end")]
    download_limit: i64,
    #[serde(default = "without_end")]
    download_expiry: i64,
    #[serde(default)]
    weight: String,
    #[serde(default)]
    attributes: Value,
    date_created: Value,
    date_modified: Value,
    #[serde(default)]
    total_sales: i64,
    #[serde(default)]
    description: String,
    #[serde(default)]
    short_description: String,
    #[serde(default)]
    menu_order: i64,
}

fn without_end() -> i64 {
    -1
}

/// What every record of one import needs.
struct Importer {
    options: Options,
    author_id: i64,
}

impl Importer {
    fn new(conn: &mut dyn Conn) -> Result<Self> {
        let administrators = UserFilter {
            roles: vec![Role::Administrator],
            page: Page { offset: 0, limit: 1 },
            ..UserFilter::default()
        };
        let (users, _) = user::list(conn, &administrators)?;
        let author_id = users.first().map_or(0, |user| user.user_id);
        Ok(Self { options: Options::read(conn)?, author_id })
    }

    fn moment(&self, value: &Value) -> Result<Timestamp> {
        let bad = || Error::invalid("a date must be written like 2026-03-31T12:00:00");
        moments::read(&self.options, value).ok_or_else(bad)
    }

    fn product(&self, record: &Record) -> Result<Product> {
        let mut product = Product::new(&record.kind);
        let row = &mut product.row;
        row.product_id = record.id;
        row.parent_id = record.parent_id;
        row.name.clone_from(&record.name);
        row.slug.clone_from(&record.slug);
        row.sku.clone_from(&record.sku);
        row.status.clone_from(&record.status);
        row.tax_status.clone_from(&record.tax_status);
        row.tax_class.clone_from(&record.tax_class);
        row.manage_stock = record.manage_stock;
        row.stock_quantity = quantity(&record.stock_quantity).filter(|_| record.manage_stock);
        row.stock_status.clone_from(&record.stock_status);
        row.backorders.clone_from(&record.backorders);
        row.low_stock_amount = quantity(&record.low_stock_amount);
        row.is_virtual = record.is_virtual;
        row.downloadable = record.downloadable;
        row.total_sales = record.total_sales;
        row.description.clone_from(&record.description);
        row.short_description.clone_from(&record.short_description);
        row.menu_order = record.menu_order;
        row.author_id = self.author_id;
        row.created = self.moment(&record.date_created)?;
        row.modified = self.moment(&record.date_modified)?;
        let details = &mut product.details;
        details.price = decimal_text(&record.price);
        details.regular_price = decimal_text(&record.regular_price);
        details.sale_price = decimal_text(&record.sale_price);
        details.weight = decimal_text(&record.weight);
        details.download_limit = record.download_limit;
        details.download_expiry = record.download_expiry;
        details.downloads = record.downloads.iter().map(download).collect();
        // Sales of a bundle have no dates, so any time will do.
        let time = product.row.modified;
        price::settle(&mut product, time);
        Ok(product)
    }
}

fn download(download: &Download) -> Download {
    let own = download.file.strip_prefix(ADDRESS_MARK);
    let file = own.unwrap_or(&download.file).to_owned();
    Download { file, ..download.clone() }
}

fn quantity(value: &Value) -> Option<Amount> {
    if value.is_null() { None } else { amounts::read(value) }
}

pub(crate) fn import_products(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let importer = Importer::new(conn)?;
    let records: Vec<Record> = records(section)?;
    for record in &records {
        one(conn, &importer, record).map_err(|error| at(error, record.id))?;
    }
    Ok(records.len())
}

pub(crate) fn import_variations(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let importer = Importer::new(conn)?;
    let records: Vec<Record> = records(section)?;
    let mut parents: Vec<(i64, Timestamp)> = Vec::new();
    for record in &records {
        if record.kind != VARIATION {
            return Err(at(Error::invalid("it is not a variation"), record.id));
        }
        let product = importer.product(record).map_err(|error| at(error, record.id))?;
        let time = product.row.modified;
        keep(conn, product)?;
        product::set_attributes(conn, record.id, &chosen(&record.attributes))?;
        parents.push((record.parent_id, time));
    }
    parents.sort_unstable();
    parents.dedup_by_key(|(parent_id, _)| *parent_id);
    for (parent_id, time) in parents {
        sync::parent(conn, parent_id, time)?;
    }
    Ok(records.len())
}

fn at(error: Error, id: i64) -> Error {
    Error::new(error.kind(), format!("product {id}: {error}")).because(error)
}

fn one(conn: &mut dyn Conn, importer: &Importer, record: &Record) -> Result<()> {
    let mut product = importer.product(record)?;
    product.details.attributes = attributes(&record.attributes);
    let values = values(&record.attributes);
    keep(conn, product)?;
    product::set_terms(conn, record.id, CATEGORY, &record.category_ids)?;
    for (taxonomy, slugs) in values {
        let wanted =
            TermFilter { taxonomies: vec![taxonomy.clone()], slugs, ..TermFilter::default() };
        let (terms, _) = term::list(conn, &wanted)?;
        let ids: Vec<i64> = terms.iter().map(|term| term.term_id).collect();
        product::set_terms(conn, record.id, &taxonomy, &ids)?;
    }
    Ok(())
}

/// Writes what is new or differs, and tells of it as of the moment when it was last changed.
fn keep(conn: &mut dyn Conn, mut product: Product) -> Result<()> {
    let time = product.row.modified;
    let present = record::get(conn, product.id())?;
    let Some(present) = present else {
        product.seal()?;
        product::insert_with_id(conn, &product.row)?;
        return events::imported(conn, &product, time);
    };
    product.row.average_rating = present.row.average_rating;
    product.row.rating_count = present.row.rating_count;
    if product.is(VARIABLE) {
        // These come from its variations.
        product.row.price = present.row.price;
        product.row.price_max = present.row.price_max;
        product.row.on_sale = present.row.on_sale;
        product.details.price.clone_from(&present.details.price);
    }
    product.seal()?;
    if product.row == present.row {
        return Ok(());
    }
    product::update(conn, &product.row)?;
    events::changed(conn, &product, time)
}

/// The attributes of a product.
fn attributes(section: &Value) -> Vec<Attribute> {
    let texts = |value: Option<&Value>| -> Vec<String> {
        let items = value.and_then(Value::as_array).into_iter().flatten();
        items.filter_map(loose::scalar_text).map(std::borrow::Cow::into_owned).collect()
    };
    let read = |entry: &Value| {
        let is_global = entry.get("id").map(loose::to_int).unwrap_or_default() != 0;
        let flag = |name: &str| entry.get(name).is_some_and(loose::to_bool);
        Some(Attribute {
            name: entry.get("name")?.as_str()?.to_owned(),
            is_global,
            position: entry.get("position").map(loose::to_int).unwrap_or_default(),
            visible: flag("visible"),
            variation: flag("variation"),
            options: if is_global { Vec::new() } else { texts(entry.get("options")) },
        })
    };
    section.as_array().into_iter().flatten().filter_map(read).collect()
}

/// The slugs of the terms that a product bears for its attributes.
fn values(section: &Value) -> Vec<(String, Vec<String>)> {
    let entries = section.as_array().into_iter().flatten();
    let global = entries.filter(|entry| entry.get("id").is_some_and(|id| loose::to_int(id) != 0));
    let read = |entry: &Value| {
        let slugs = entry.get("options")?.as_array()?.iter();
        let slugs = slugs.filter_map(Value::as_str).map(str::to_owned).collect();
        Some((entry.get("name")?.as_str()?.to_owned(), slugs))
    };
    global.filter_map(read).collect()
}

/// What a variation is about.
fn chosen(section: &Value) -> Vec<VariationAttribute> {
    let empty = Map::new();
    let members = section.as_object().unwrap_or(&empty);
    let read = |(name, value): (&String, &Value)| VariationAttribute {
        name: name.clone(),
        value: value.as_str().unwrap_or_default().to_owned(),
    };
    members.iter().map(read).collect()
}
