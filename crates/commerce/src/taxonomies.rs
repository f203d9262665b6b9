//! Terms that put products in order: categories, tags, shipping classes, brands, and the values of
//! attributes. One implementation; which terms it is about is data.

mod bundle;
mod image;
mod item;
mod suggest;
mod write;

use contract::rest::route::Route;
use contract::rest::{Args, Item, Links, Refusal, Schema, Stop};
use db::Conn;
use frame::{Action, Call, Names, Options};
use serde_json::{Map, Value, json};
use shop_rows::{attribute, product};
use site_rows::term::{self, TermFilter, TermOrder, TermRow};
use types::{Capability, Error};

use crate::common::version::Version;
use crate::common::{args, paging};
use crate::resource::{self, Act, Listed, Resource, Rights};

pub(crate) use self::bundle::{categories, default_category, put};
pub(crate) use self::write::empty_row;

/// The taxonomy of product categories.
pub const CATEGORY: &str = "product_cat";
pub const TAG: &str = "product_tag";
pub const SHIPPING_CLASS: &str = "product_shipping_class";
pub const BRAND: &str = "product_brand";
/// The option that names the category of products without any.
pub const DEFAULT_CATEGORY: &str = "default_product_cat";

/// Which terms a collection holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TermKind {
    Category,
    Tag,
    ShippingClass,
    Brand,
    /// The values of the attribute in the path.
    AttributeTerm,
}

impl TermKind {
    /// The taxonomy, unless the path decides about it.
    fn taxonomy(self) -> Option<&'static str> {
        match self {
            Self::Category => Some(CATEGORY),
            Self::Tag => Some(TAG),
            Self::ShippingClass => Some(SHIPPING_CLASS),
            Self::Brand => Some(BRAND),
            Self::AttributeTerm => None,
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Category => "/products/categories",
            Self::Tag => "/products/tags",
            Self::ShippingClass => "/products/shipping_classes",
            Self::Brand => "/products/brands",
            Self::AttributeTerm => r"/products/attributes/(?P<attribute_id>[\d]+)/terms",
        }
    }

    fn title(self) -> &'static str {
        self.taxonomy().unwrap_or("product_attribute_term")
    }

    /// Whether terms lie within each other, and have a picture and a way to be displayed.
    fn is_hierarchical(self) -> bool {
        matches!(self, Self::Category | Self::Brand)
    }

    /// Whether a list counts the products of the terms below as well, hidden products left out.
    fn counts_below(self) -> bool {
        matches!(self, Self::Category | Self::Tag | Self::Brand)
    }

    fn has_menu_order(self) -> bool {
        self.is_hierarchical() || self == Self::AttributeTerm
    }

    fn is_in(self, version: Version) -> bool {
        match version {
            Version::One => self != Self::Brand,
            Version::Two | Version::Three => true,
            Version::Analytics => matches!(self, Self::Category | Self::AttributeTerm),
        }
    }
}

const KINDS: [TermKind; 5] = [
    TermKind::Brand,
    TermKind::AttributeTerm,
    TermKind::Category,
    TermKind::ShippingClass,
    TermKind::Tag,
];

/// A term and how many products it has.
#[derive(Debug)]
struct Term {
    row: TermRow,
    count: i64,
}

#[derive(Debug)]
struct Terms {
    kind: TermKind,
    version: Version,
    item: Item,
}

/// Numbers of terms that stay free: where bundles come from, kinds and visibilities of products are
/// terms, and have them.
const FREE_NUMBERS: i64 = 14;

/// Gives a new shop the category of products that name none.
pub(crate) fn found(conn: &mut dyn Conn) -> types::Result<()> {
    if Options::read(conn)?.integer(DEFAULT_CATEGORY) != 0 {
        return Ok(());
    }
    let category = TermRow {
        name: String::from("Uncategorized"),
        slug: String::from("uncategorized"),
        taxonomy: CATEGORY.to_owned(),
        ..empty_row()
    };
    let id = if let Some(known) = term::find_by_slug(conn, CATEGORY, &category.slug)? {
        known.term_id
    } else {
        term::reserve_id(conn, FREE_NUMBERS)?;
        term::insert(conn, &category)?
    };
    frame::options::set(conn, DEFAULT_CATEGORY, &json!(id))
}

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = Vec::new();
    for version in Version::ALL {
        for kind in KINDS.into_iter().filter(|kind| kind.is_in(version)) {
            let namespace = version.namespace(names);
            let terms = Terms { kind, version, item: item::item(kind, version) };
            let made = resource::routes(namespace, kind.path(), terms);
            routes.extend(made.expect("the schema of a term is well formed"));
            if kind == TermKind::ShippingClass && version == Version::Three {
                routes.push(suggest::route(namespace));
            }
        }
    }
    routes
}

/// The parameters of a list of terms, but for `context`.
pub(crate) fn list_args() -> Args {
    let orders = ["name", "id", "include", "slug", "term_group", "description", "count"];
    let hide = Schema::boolean().default(false).about("Exclude terms without products.");
    let parent = Schema::integer().about("Limit results to terms with this parent.");
    let product =
        Schema::integer().default(Value::Null).about("Limit results to terms of this product.");
    let slug = Schema::types(&["string", "array"])
        .keyword("items", Schema::text())
        .about("Limit results to terms with these slugs.");
    args::paging()
        .with(args::search())
        .with(args::ids())
        .with(args::offset())
        .with(args::order("asc", &orders))
        .revise("orderby", |schema| {
            let published = ["id", "include", "name", "slug", "term_group", "description", "count"];
            schema.choices(&published)
        })
        .arg("hide_empty", hide)
        .arg("parent", parent)
        .arg("product", product)
        .arg("slug", slug)
}

impl Terms {
    /// The taxonomy of the call, if there is such a one.
    fn taxonomy(&self, call: &mut Call<'_>) -> Result<Option<String>, Error> {
        if let Some(name) = self.kind.taxonomy() {
            return Ok(Some(name.to_owned()));
        }
        let id = call.params.int("attribute_id").unwrap_or_default();
        let found = attribute::get(call.conn()?, id)?;
        Ok(found.map(|row| attribute::taxonomy(&row.name)))
    }

    fn known_taxonomy(&self, call: &mut Call<'_>) -> Result<String, Stop> {
        self.taxonomy(call)?.ok_or_else(|| unknown_taxonomy().into())
    }
}

/// The refusal for an attribute that there is not.
pub(crate) fn unknown_taxonomy() -> Refusal {
    Refusal::new(404, "woocommerce_rest_taxonomy_invalid", "Attribute not found.")
}

fn order(name: &str) -> TermOrder {
    match name {
        "id" => TermOrder::Id,
        "include" => TermOrder::Include,
        "slug" => TermOrder::Slug,
        "term_group" => TermOrder::Group,
        "description" => TermOrder::Description,
        "count" => TermOrder::Count,
        _ => TermOrder::Name,
    }
}

impl Resource for Terms {
    type Record = Term;

    fn word(&self) -> &'static str {
        "term"
    }

    fn rights(&self) -> Rights {
        Rights {
            read: Capability::ManageProductTerms,
            create: Capability::EditProductTerms,
            edit: Capability::EditProductTerms,
            delete: Capability::DeleteProductTerms,
            batch: Capability::EditProductTerms,
        }
    }

    fn item(&self) -> &Item {
        &self.item
    }

    fn create_args(&self) -> Args {
        self.item.create_args().revise("name", Schema::required)
    }

    fn list_args(&self) -> Args {
        list_args()
    }

    fn path_args(&self) -> Args {
        match self.kind {
            TermKind::AttributeTerm => {
                let about = "Attribute ID.";
                Args::new().arg("attribute_id", Schema::integer().about(about))
            }
            _ => Args::new(),
        }
    }

    fn has_trash(&self) -> bool {
        false
    }

    fn check_path(&self, call: &mut Call<'_>) -> Result<(), Stop> {
        self.known_taxonomy(call).map(drop)
    }

    fn refuses_unknown_first(&self) -> bool {
        true
    }

    fn unknown_id(&self, _: Act) -> (u16, String) {
        (404, String::from("woocommerce_rest_term_invalid"))
    }

    fn find(&self, call: &mut Call<'_>, id: i64) -> Result<Option<Term>, Stop> {
        let taxonomy = self.known_taxonomy(call)?;
        let found = term::get(call.conn()?, id)?.filter(|row| row.taxonomy == taxonomy);
        let Some(row) = found else { return Ok(None) };
        Ok(Some(Term { count: term::count(call.conn()?, id)?, row }))
    }

    fn list(&self, call: &mut Call<'_>) -> Result<Listed<Term>, Stop> {
        let taxonomy = self.known_taxonomy(call)?;
        let params = &call.params;
        let filter = TermFilter {
            taxonomies: vec![taxonomy.clone()],
            search: params.text("search").filter(|text| !text.is_empty()).map(str::to_owned),
            include: params.ints("include"),
            exclude: params.ints("exclude"),
            slugs: params.texts("slug"),
            parent: params.int("parent").filter(|_| self.kind.is_hierarchical()),
            hide_empty: params.flag("hide_empty"),
            bearer: params.int("product").filter(|id| *id != 0),
            order: order(params.text("orderby").unwrap_or_default()),
            direction: paging::direction(params),
            page: paging::page(call),
        };
        let (rows, total) = term::list(call.conn()?, &filter)?;
        let ids: Vec<i64> = rows.iter().map(|row| row.term_id).collect();
        let counts = if self.kind.counts_below() && !ids.is_empty() {
            product::counts_by_term(call.conn()?, &taxonomy)?
        } else {
            term::counts(call.conn()?, &ids)?
        };
        let count = |row: &TermRow| counts.get(&row.term_id).copied().unwrap_or_default();
        let records = rows.into_iter().map(|row| Term { count: count(&row), row }).collect();
        Ok(Listed { records, total })
    }

    fn show(&self, call: &mut Call<'_>, record: &Term) -> Result<Value, Stop> {
        let row = &record.row;
        let details: Value = serde_json::from_str(&row.details).unwrap_or_default();
        let mut body = Map::new();
        let mut add = |name: &str, value: Value| body.insert(name.to_owned(), value);
        add("id", json!(row.term_id));
        add("name", json!(row.name));
        add("slug", json!(row.slug));
        if self.kind.is_hierarchical() {
            add("parent", json!(row.parent_id));
        }
        add("description", json!(row.description));
        if self.kind.is_hierarchical() {
            add("display", details.get("display").cloned().unwrap_or_else(|| json!("default")));
            add("image", image::shown(call, details.get("image"), self.version)?);
        }
        if self.kind.has_menu_order() {
            add("menu_order", json!(row.menu_order));
        }
        add("count", json!(record.count));
        Ok(Value::Object(body))
    }

    fn has_pictures(&self) -> bool {
        self.kind.is_hierarchical()
    }

    fn links(&self, call: &Call<'_>, record: &Term, base: &str) -> Links {
        let rest = |path: &str| call.visit.rest(path);
        let links = Links::new()
            .to("self", rest(&format!("{base}/{}", record.row.term_id)))
            .to("collection", rest(base));
        match record.row.parent_id {
            0 => links,
            parent => links.to("up", rest(&format!("{base}/{parent}"))),
        }
    }

    fn id(&self, record: &Term) -> i64 {
        record.row.term_id
    }

    fn create(&self, call: &mut Call<'_>) -> Result<Term, Stop> {
        let taxonomy = self.known_taxonomy(call)?;
        let row = write::create(self.kind, call, taxonomy)?;
        Ok(Term { row, count: 0 })
    }

    fn update(&self, call: &mut Call<'_>, record: Term) -> Result<Term, Stop> {
        let row = write::update(self.kind, call, record.row)?;
        Ok(Term { row, ..record })
    }

    fn trash(&self, _: &mut Call<'_>, _: Term) -> Result<(), Stop> {
        Err(Error::internal("terms have no trash").into())
    }

    fn delete(&self, call: &mut Call<'_>, record: Term) -> Result<(), Stop> {
        write::delete(call, &record.row)
    }
}
