//! Variations: what a variable product is sold as. They are changed below their product, and listed
//! there or all together.

mod generate;
mod schema;
mod write;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Reply, Schema, Stop, Verb};
use frame::action::read;
use frame::paging::with_totals;
use frame::{Action, Call};
use serde_json::Value;
use shop_rows::product;

use super::loaded::{self, Loaded};
use super::record::{Product, TRASH, VARIATION};
use super::version::{RIGHTS, is_current};
use super::{args, filter, of_rows, show, trash};
use crate::common::version::Version;
use crate::resource::{self, Act, Listed, Resource, Rights};

const PATH: &str = r"/products/(?P<product_id>[\d]+)/variations";
/// Where the list of all variations has its items, which tells no product.
const PATH_OF_NONE: &str = "/products/0/variations";
/// Where reports have a variation.
const PATH_IN_REPORTS: &str = r"/products/(?P<product_id>[\d]+)/variation";
/// Where all variations are listed.
const ALL_PATH: &str = "/variations";

/// The variations of one namespace.
#[derive(Debug)]
pub(super) struct Variations {
    version: Version,
    item: Item,
    namespace: String,
}

impl Variations {
    fn new(namespace: &str, version: Version) -> Self {
        Self { version, item: schema::item(version), namespace: namespace.to_owned() }
    }
}

pub(super) fn routes(namespace: &str, version: Version) -> Vec<Route<Action>> {
    let mut routes = Vec::new();
    if is_current(version) {
        routes.push(all_route(namespace, version));
        routes.push(generate::route(namespace, version));
    }
    let linked: &[&str] = match version {
        Version::Analytics => &[PATH_OF_NONE, PATH_IN_REPORTS],
        Version::Three => &[ALL_PATH],
        Version::One | Version::Two => &[],
    };
    routes.extend(linked.iter().map(|path| linked_to(namespace, path, version)));
    let variations = resource::routes(namespace, PATH, Variations::new(namespace, version));
    routes.extend(variations.expect("the schema of a variation is well formed"));
    routes
}

/// A variation at the addresses by which reports and the list of all variations link to it, as
/// clients of the reference expect.
fn linked_to(namespace: &str, path: &str, version: Version) -> Route<Action> {
    let routes = resource::routes(namespace, path, Variations::new(namespace, version));
    let item = routes.expect("the schema of a variation is well formed").swap_remove(1);
    item.unlisted()
}

/// The number of the product in the path.
fn product_id(call: &Call<'_>) -> i64 {
    call.params.int("product_id").unwrap_or_default()
}

fn product_arg() -> Args {
    Args::new().arg("product_id", Schema::integer().about("Product ID."))
}

impl Resource for Variations {
    type Record = Loaded;

    fn word(&self) -> &'static str {
        "product_variation"
    }

    fn rights(&self) -> Rights {
        RIGHTS
    }

    fn item(&self) -> &Item {
        &self.item
    }

    fn list_args(&self) -> Args {
        args::variations(self.version)
    }

    fn path_args(&self) -> Args {
        product_arg()
    }

    /// What is no variation of this product is told before anything else.
    fn refuses_unknown_first(&self) -> bool {
        true
    }

    /// The address of a new one has a gap for the product, as clients know it.
    fn location(&self, base: &str) -> String {
        let _ = base;
        format!("/{}{PATH}", self.namespace)
    }

    fn find(&self, call: &mut Call<'_>, id: i64) -> Result<Option<Loaded>, Stop> {
        let product_id = product_id(call);
        // Some links tell of no product; whoever reads by them means the variation.
        let is_any = !call.params.path().contains_key("product_id") && call.verb == Verb::Get;
        let found = loaded::find(call.conn()?, id)?;
        Ok(found.filter(|found| {
            let is_below = is_any || found.product.row.parent_id == product_id;
            found.product.is(VARIATION) && is_below
        }))
    }

    fn list(&self, call: &mut Call<'_>) -> Result<Listed<Loaded>, Stop> {
        let filter = filter::of_variations(call, self.version, Some(product_id(call)));
        let (rows, total) = product::list(call.conn()?, &filter)?;
        Ok(Listed { records: of_rows(call, rows)?, total })
    }

    fn show(&self, call: &mut Call<'_>, record: &Loaded) -> Result<Value, Stop> {
        show::variation::body(call, record, self.version)
    }

    fn has_pictures(&self) -> bool {
        true
    }

    fn links(&self, call: &Call<'_>, record: &Loaded, base: &str) -> Links {
        let is_alone = call.params.path().contains_key("id");
        let product_id = match product_id(call) {
            0 if is_alone => record.product.row.parent_id,
            product_id => product_id,
        };
        let product = format!("/{}/products/{product_id}", self.namespace);
        Links::new()
            .to("self", call.visit.rest(&format!("{base}/{}", record.product.id())))
            .to("collection", call.visit.rest(base))
            .to("up", call.visit.rest(&product))
    }

    fn id(&self, record: &Loaded) -> i64 {
        record.product.id()
    }

    fn is_trashed(&self, record: &Loaded) -> bool {
        record.product.row.status == TRASH
    }

    fn create(&self, call: &mut Call<'_>) -> Result<Loaded, Stop> {
        let parent = write::parent(call)?;
        let mut variation = Product::new(VARIATION);
        variation.row.author_id = call.user_id();
        variation.row.created = crate::common::moments::now(call);
        let id = write::save(call, &parent, variation, Vec::new())?;
        show::reload(call, id)
    }

    fn update(&self, call: &mut Call<'_>, record: Loaded) -> Result<Loaded, Stop> {
        let parent = write::parent(call)?;
        let id = write::save(call, &parent, record.product, record.chosen)?;
        show::reload(call, id)
    }

    fn trash(&self, call: &mut Call<'_>, record: Loaded) -> Result<(), Stop> {
        trash::put_aside(call, record.product)
    }

    fn delete(&self, call: &mut Call<'_>, record: Loaded) -> Result<(), Stop> {
        trash::delete(call, &record.product)
    }

    fn unknown_id(&self, act: Act) -> (u16, String) {
        let status = if act == Act::Edit { 400 } else { 404 };
        (status, format!("woocommerce_rest_{}_invalid_id", self.word()))
    }
}

fn all_route(namespace: &str, version: Version) -> Route<Action> {
    let variations = Variations::new(namespace, version);
    let item = variations.item.compile().expect("the schema of a variation is well formed");
    let document = variations.item.document();
    let list_args =
        Args::new().arg("context", variations.item.context_arg()).with(args::variations(version));
    let list_path = format!("/{namespace}{ALL_PATH}");
    // Each namespace links the items of this list in its own way; no product is in the path.
    let base = match version {
        Version::Analytics => format!("/{namespace}{PATH_OF_NONE}"),
        _ => list_path.clone(),
    };
    let run = move |call: &mut Call<'_>| {
        let filter = filter::of_variations(call, version, None);
        let (rows, total) = product::list(call.conn()?, &filter)?;
        let context = call.context();
        let mut items = Vec::new();
        for record in of_rows(call, rows)? {
            let body = item.filter_by_context(variations.show(call, &record)?, &context);
            items.push(crate::managers::linked(body, variations.links(call, &record, &base)));
        }
        let reply = with_totals(Reply::new(items), call, &list_path, total);
        Ok(if version == Version::Analytics { with_known_links(reply) } else { reply })
    };
    Route::at(namespace, ALL_PATH).on(READ, list_args, read(may_list, run)).schema(document)
}

/// Analytics links the pages of this list by the pattern of the lists of single products, cut off
/// where it looks like a query string. Clients do not follow it, and compare it.
fn with_known_links(mut reply: Reply) -> Reply {
    for (_, value) in reply.headers.iter_mut().filter(|(name, _)| *name == "link") {
        *value = value.replace("/variations?", r"/products/(?P<product_id>%5B\d%5D&");
    }
    reply
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to list resources.";
    call.need(RIGHTS.read, "woocommerce_rest_cannot_view", message)
}
