//! Products and their variations: what they are, what a request may make of them, and the routes
//! of every namespace that shows them.
//!
//! [`record::Product`] is what the rules work on. A change goes one way: `write` applies what a
//! request says, `settle` brings what follows up to date (prices, stock, what comes from
//! variations), the row is kept with the terms that it bears, and the feed is told. [`show`] is the
//! way back.

pub mod address;
mod args;
mod attributes;
mod bundle;
mod card;
mod content;
mod custom_fields;
mod duplicate;
pub(crate) mod events;
mod filter;
pub mod loaded;
mod low_stock;
mod media;
mod page;
mod plain;
pub mod price;
pub(crate) mod rating;
pub mod record;
pub mod related;
mod request;
mod schema;
pub(crate) mod settle;
mod show;
mod skus;
pub mod stock;
mod suggested;
pub mod sync;
mod trash;
mod variations;
mod version;
mod write;

use contract::rest::route::Route;
use contract::rest::{Args, Item, Links, Stop};
use frame::{Action, Call, Names};
use serde_json::Value;
use shop_rows::product;

use self::loaded::Loaded;
use self::record::{Product, TRASH};
use self::version::{RIGHTS, is_current};
use crate::common::first;
use crate::common::version::Version;
use crate::resource::{self, Listed, Resource, Rights};

pub(crate) use self::bundle::{import_products, import_variations};
pub(crate) use self::card::cards;
pub use self::content::ProductContent;
pub use self::page::ProductPages;
pub(crate) use self::price::amount_html;
pub use self::record::Product as ProductRecord;

/// Where products are, below a namespace.
const PATH: &str = "/products";

/// The products of one namespace.
#[derive(Debug)]
pub(crate) struct Products {
    version: Version,
    item: Item,
}

impl Products {
    fn new(version: Version) -> Self {
        Self { version, item: schema::item(version) }
    }
}

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = Vec::new();
    for version in Version::ALL {
        let namespace = version.namespace(names);
        if version == Version::Three {
            routes.push(custom_fields::route(namespace));
        }
        if version == Version::Analytics {
            routes.extend(low_stock::routes(namespace));
        }
        if is_current(version) {
            routes.push(suggested::route(namespace, version));
            routes.push(duplicate::route(namespace, version));
        }
        if version >= Version::Two {
            routes.push(related::route(namespace));
            routes.extend(variations::routes(namespace, version));
        }
        let products = resource::routes(namespace, PATH, Products::new(version));
        routes.extend(products.expect("the schema of a product is well formed"));
    }
    routes
}

impl Resource for Products {
    type Record = Loaded;

    fn word(&self) -> &'static str {
        "product"
    }

    fn rights(&self) -> Rights {
        RIGHTS
    }

    fn item(&self) -> &Item {
        &self.item
    }

    fn list_args(&self) -> Args {
        args::products(self.version)
    }

    fn find(&self, call: &mut Call<'_>, id: i64) -> Result<Option<Loaded>, Stop> {
        Ok(loaded::find(call.conn()?, id)?)
    }

    fn list(&self, call: &mut Call<'_>) -> Result<Listed<Loaded>, Stop> {
        if self.version == Version::One {
            first::take_conditions(call, || self.list_args());
        }
        let filter = filter::of_products(call, self.version)?;
        let (rows, total) = product::list(call.conn()?, &filter)?;
        let mut records = of_rows(call, rows)?;
        if filter.low_stock.is_some() {
            loaded::add_last_orders(call.conn()?, &mut records)?;
        }
        Ok(Listed { records, total })
    }

    fn show(&self, call: &mut Call<'_>, record: &Loaded) -> Result<Value, Stop> {
        show::body(call, record, self.version)
    }

    fn has_pictures(&self) -> bool {
        true
    }

    fn links(&self, call: &Call<'_>, record: &Loaded, base: &str) -> Links {
        let row = &record.product.row;
        let links = Links::new()
            .to("self", call.visit.rest(&format!("{base}/{}", row.product_id)))
            .to("collection", call.visit.rest(base));
        if row.parent_id == 0 {
            return links;
        }
        links.to("up", call.visit.rest(&format!("{base}/{}", row.parent_id)))
    }

    fn id(&self, record: &Loaded) -> i64 {
        record.product.id()
    }

    fn is_trashed(&self, record: &Loaded) -> bool {
        record.product.row.status == TRASH
    }

    fn create(&self, call: &mut Call<'_>) -> Result<Loaded, Stop> {
        let kind = call.params.text("type").unwrap_or(record::SIMPLE).to_owned();
        let mut product = Product::new(&kind);
        product.row.author_id = call.user_id();
        product.row.created = crate::common::moments::now(call);
        let terms = write::apply(call, &mut product)?;
        let id = write::save(call, &mut product, terms)?;
        show::reload(call, id)
    }

    fn update(&self, call: &mut Call<'_>, record: Loaded) -> Result<Loaded, Stop> {
        let mut product = record.product;
        write::refuse_variation(&product)?;
        if let Some(kind) = call.params.text("type") {
            kind.clone_into(&mut product.row.kind);
        }
        let terms = write::apply(call, &mut product)?;
        let id = write::save(call, &mut product, terms)?;
        show::reload(call, id)
    }

    fn trash(&self, call: &mut Call<'_>, record: Loaded) -> Result<(), Stop> {
        trash::put_aside(call, record.product)
    }

    fn delete(&self, call: &mut Call<'_>, record: Loaded) -> Result<(), Stop> {
        trash::delete(call, &record.product)
    }
}

fn of_rows(call: &mut Call<'_>, rows: Vec<product::ProductRow>) -> Result<Vec<Loaded>, Stop> {
    let products: types::Result<Vec<Product>> = rows.into_iter().map(Product::of_row).collect();
    Ok(loaded::load(call.conn()?, products?)?)
}
