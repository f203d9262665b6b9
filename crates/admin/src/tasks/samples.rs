//! Products to begin with: samples, an empty one of a kind, and what kinds there are. **All of them
//! are made by the shop's own route for products**, as whoever asks for them.

use contract::rest::route::{CREATE, READ, Route, Verb};
use contract::rest::{Args, Params, Refusal, Reply, Schema, Stop};
use frame::action::{read, write};
use frame::managers::may_view;
use frame::{Action, Call, Names};
use serde_json::{Map, Value, json};
use shop_rows::product;
use types::{Capability, Error};

use super::{CANNOT_CREATE, CANNOT_UPDATE};
use crate::answers::success;
use crate::package::manifest::ProductTemplate;
use crate::plugins::lifecycle;
use crate::rows::presence;

/// With more products than this nobody needs demo products.
const DEMO_MAX: i64 = 6;

/// A product to begin with.
struct Sample {
    name: &'static str,
    sku: &'static str,
    price: &'static str,
    about: &'static str,
    /// The sizes in which it comes, each at the price.
    sizes: &'static [&'static str],
}

const fn sample(
    name: &'static str,
    sku: &'static str,
    price: &'static str,
    about: &'static str,
) -> Sample {
    Sample { name, sku, price, about, sizes: &[] }
}

const SAMPLES: &[Sample] = &[
    sample("Harbor mug", "sample-harbor-mug", "14.00", "Stoneware mug for a large coffee."),
    sample("Canvas tote", "sample-canvas-tote", "22.50", "Holds a week's groceries."),
    sample("Beach towel", "sample-beach-towel", "35.00", "Wide, striped and quick-drying."),
    Sample {
        name: "Deck shirt",
        sku: "sample-deck-shirt",
        price: "29.00",
        about: "Heavy cotton that gets better with every wash.",
        sizes: &["S", "M", "L"],
    },
    sample("Enamel pin", "sample-enamel-pin", "6.00", "A small anchor for a jacket."),
    sample("Sea salt candle", "sample-sea-salt-candle", "18.00", "Burns for forty hours."),
    sample("Notebook", "sample-notebook", "9.50", "120 plain pages."),
    sample(
        "Picnic blanket",
        "sample-picnic-blanket",
        "48.00",
        "Wool on top, waterproof underneath.",
    ),
    sample("Postcard set", "sample-postcard-set", "8.00", "Ten views of the pier."),
];

/// What a template makes of a product.
const TEMPLATES: &[(&str, &str, bool)] = &[
    ("physical", "simple", false),
    ("digital", "simple", true),
    ("variable", "variable", false),
    ("external", "external", false),
    ("grouped", "grouped", false),
];

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let products = format!("/{}/products", names.commerce_v3);
    let at = |path: &str| Route::at(&names.admin, &format!("/onboarding{path}"));
    let template = Schema::text().required().about("Type of product to start from.");
    macro_rules! with_products {
        ($operation:path) => {{
            let products = products.clone();
            move |call: &mut Call<'_>| $operation(call, &products)
        }};
    }
    vec![
        at("/tasks/import_sample_products")
            .on(CREATE, Args::new(), write(may_create, with_products!(import)))
            .shows(imported()),
        at("/tasks/create_product_from_template")
            .on(
                CREATE,
                Args::new().arg("template_name", template),
                write(may_create, with_products!(from_template)),
            )
            .shows(Schema::object([("id", Schema::integer().about("Product ID."))])),
        at("/products")
            .on(CREATE, Args::new(), write(may_fill, with_products!(fill)))
            .shows(success("Whether any product was added.")),
        at("/product-types").on(READ, Args::new(), read(may_view, kinds)).shows(kinds_schema()),
    ]
}

/// What an import answers.
fn imported() -> Schema {
    let ids = |about: &str| Schema::list(Schema::integer()).about(about);
    let bag = Schema::object([
        ("errors", Schema::map().about("Messages by code.")),
        ("error_data", Schema::map().about("The sample, by code.")),
    ]);
    let bags = |about: &str| Schema::list(bag.clone()).about(about);
    Schema::object([
        ("imported", ids("Products that were added.")),
        ("imported_variations", ids("Variations that were added.")),
        ("failed", bags("Samples that could not be added.")),
        ("updated", ids("Products that were changed.")),
        ("skipped", bags("Samples that were there already.")),
    ])
}

/// Kinds of products by name.
fn kinds_schema() -> Schema {
    let kind = Schema::object([
        ("label", Schema::text().about("Title of the kind.")),
        ("default", Schema::boolean().about("Whether the kind is preselected.")),
        ("description", Schema::text().about("What a plugin says about its kind.")),
        ("slug", Schema::text().about("The plugin of the kind.")),
    ]);
    Schema::map().additional(kind)
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create products.";
    call.need(Capability::PublishProducts, CANNOT_CREATE, message)
}

fn may_fill(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create sample products.";
    call.need(Capability::ManageOptions, CANNOT_UPDATE, message)
}

/// What can be made here. Templates of active plugins come after that.
fn kinds(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut kinds = json!({
        "physical": { "label": "Physical products", "default": true },
        "downloads": { "label": "Downloads" },
        "variable": { "label": "Products with variations" },
        "grouped": { "label": "Groups of products" },
        "external": { "label": "Products sold elsewhere" },
    });
    for (template, plugin) in templates_of_plugins(call)? {
        let kind = json!({
            "label": template.title, "description": template.description, "slug": plugin,
        });
        set(&mut kinds, &template.name, kind);
    }
    Ok(Reply::new(kinds))
}

/// What active plugins offer to start a product from, and the plugin's name.
fn templates_of_plugins(call: &mut Call<'_>) -> Result<Vec<(ProductTemplate, String)>, Stop> {
    let mut templates = Vec::new();
    for plugin in lifecycle::active(call.conn()?)? {
        let slug = plugin.row.slug;
        let own = plugin.manifest.contributes.product_templates.into_iter();
        templates.extend(own.map(|template| (template, slug.clone())));
    }
    Ok(templates)
}

/// What came of the samples.
#[derive(Debug, Default)]
struct Outcome {
    imported: Vec<i64>,
    variations: Vec<i64>,
    failed: Vec<Value>,
    skipped: Vec<Value>,
}

fn import(call: &mut Call<'_>, products: &str) -> Result<Reply, Stop> {
    let mut outcome = Outcome::default();
    for sample in SAMPLES {
        add(call, products, sample, &mut outcome)?;
    }
    Ok(Reply::new(json!({
        "imported": outcome.imported,
        "imported_variations": outcome.variations,
        "failed": outcome.failed,
        "updated": [],
        "skipped": outcome.skipped,
    })))
}

/// Fills the catalogue up with demo products, and says whether there was room for any.
fn fill(call: &mut Call<'_>, products: &str) -> Result<Reply, Stop> {
    let mut outcome = Outcome::default();
    let present = presence::products_up_to(call.conn()?, DEMO_MAX)?;
    for sample in SAMPLES {
        let made = i64::try_from(outcome.imported.len()).unwrap_or(i64::MAX);
        if present.saturating_add(made) >= DEMO_MAX {
            break;
        }
        add(call, products, sample, &mut outcome)?;
    }
    Ok(Reply::new(json!({ "success": !outcome.imported.is_empty() })))
}

/// Makes one sample, or notes why not; one that fails leaves no trace.
fn add(
    call: &mut Call<'_>,
    products: &str,
    sample: &Sample,
    outcome: &mut Outcome,
) -> Result<(), Stop> {
    let row = format!("{}, SKU {}", sample.name, sample.sku);
    let sku = sample.sku;
    if let Some(id) = product::id_of_sku(call.conn()?, sku, 0)? {
        let message = "A product with this SKU already exists.";
        outcome.skipped.push(error(message, &json!({ "id": id, "row": row })));
        return Ok(());
    }
    let mut made = (0, Vec::new());
    let mut refused = None;
    call.nested(Params::default(), &mut |inner| match make(inner, products, sample) {
        Ok(ids) => {
            made = ids;
            Ok(true)
        }
        Err(Stop::Refused(refusal)) => {
            refused = Some(refusal);
            Ok(false)
        }
        Err(Stop::Failed(error)) => Err(error),
    })?;
    if let Some(refusal) = refused {
        outcome.failed.push(error(&refusal.message, &json!({ "row": row })));
        return Ok(());
    }
    outcome.imported.push(made.0);
    outcome.variations.extend(made.1);
    Ok(())
}

fn error(message: &str, data: &Value) -> Value {
    const CODE: &str = "woocommerce_product_importer_error";
    json!({ "errors": { CODE: [message] }, "error_data": { CODE: data } })
}

fn make(call: &mut Call<'_>, products: &str, sample: &Sample) -> Result<(i64, Vec<i64>), Stop> {
    let mut body = json!({
        "name": sample.name,
        "sku": sample.sku,
        "description": sample.about,
        "status": "publish",
    });
    if sample.sizes.is_empty() {
        set(&mut body, "regular_price", json!(sample.price));
        return Ok((made(call, products, body)?, Vec::new()));
    }
    let size = json!({ "name": "Size", "variation": true, "options": sample.sizes });
    set(&mut body, "type", json!("variable"));
    set(&mut body, "attributes", json!([size]));
    let id = made(call, products, body)?;
    let mut variations = Vec::new();
    for size in sample.sizes {
        let chosen = json!([{ "name": "Size", "option": size }]);
        let body = json!({ "regular_price": sample.price, "attributes": chosen });
        variations.push(made(call, &format!("{products}/{id}/variations"), body)?);
    }
    Ok((id, variations))
}

fn set(body: &mut Value, name: &str, value: Value) {
    if let Value::Object(members) = body {
        members.insert(name.to_owned(), value);
    }
}

/// The id of what the route makes.
fn made(call: &mut Call<'_>, path: &str, body: Value) -> Result<i64, Stop> {
    let body: Map<String, Value> = body.as_object().cloned().unwrap_or_default();
    let made = call.ask(Verb::Post, path, body)?;
    let id = made.get("id").and_then(Value::as_i64);
    id.ok_or_else(|| Error::internal("a new product has no id").into())
}

/// An empty product of a kind, which nobody sees until it is filled in.
fn from_template(call: &mut Call<'_>, products: &str) -> Result<Reply, Stop> {
    let given = call.params.text("template_name").unwrap_or_default().to_owned();
    let name = given.rsplit('/').next().unwrap_or_default().trim_end_matches(".json");
    let own = TEMPLATES.iter().find(|(template, ..)| *template == name);
    let body = if let Some((_, kind, is_digital)) = own {
        json!({
            "name": "New product",
            "type": kind,
            "virtual": is_digital,
            "downloadable": is_digital,
        })
    } else {
        let of_plugins = templates_of_plugins(call)?;
        let found = of_plugins.iter().find(|(template, _)| template.name == name);
        let Some((template, _)) = found else {
            let names = TEMPLATES.iter().map(|(name, ..)| *name);
            let others = of_plugins.iter().map(|(template, _)| template.name.as_str());
            let names: Vec<&str> = names.chain(others).collect();
            let message = format!("Unknown template; choose one of {}.", names.join(", "));
            let code = "woocommerce_rest_product_creation_error";
            return Err(Refusal::new(400, code, message).into());
        };
        let mut body = Value::Object(template.product.clone());
        if body.get("name").is_none() {
            set(&mut body, "name", json!(template.title));
        }
        body
    };
    let mut body = body;
    set(&mut body, "status", json!("auto-draft"));
    let id = made(call, products, body)?;
    Ok(Reply::new(json!({ "id": id })))
}
