//! Making all variations that a product could have and has not.

use contract::rest::route::{CREATE, Route};
use contract::rest::{Params, Refusal, Reply, Schema, Sources, Stop};
use frame::action::write as action;
use frame::{Action, Call};
use serde_json::{Map, Value, json};
use shop_rows::product::{self, VariationAttribute};
use types::Capability;

use super::super::loaded::{self, Loaded, variations_of};
use super::super::record::{Product, VARIATION};
use super::super::trash;
use super::super::version::RIGHTS;
use super::{PATH, Variations, product_arg, product_id, write};
use crate::common::moments;
use crate::common::version::Version;
use crate::resource::{self, Resource as _};

/// Variations that one request makes.
const MADE_MAX: usize = 50;
/// Combinations that are looked at.
const COMBINATIONS_MAX: usize = 10_000;

type Combination = Vec<VariationAttribute>;

pub(super) fn route(namespace: &str, version: Version) -> Route<Action> {
    let variations = Variations::new(namespace, version);
    let values = resource::request_args(variations.item.update_args());
    let properties = values.iter().map(|arg| {
        // The description of these has more in it than that of any other parameter.
        let schema = Schema::any()
            .keyword("validate_callback", "rest_validate_request_arg")
            .keyword("sanitize_callback", "rest_sanitize_request_arg");
        let document = arg.schema.document().iter();
        let schema =
            document.fold(schema, |schema, (name, value)| schema.keyword(name, value.clone()));
        (arg.name.clone(), schema)
    });
    let defaults = Schema::object(properties).about("Default values of new variations.");
    let delete = Schema::boolean().about("Whether to delete variations that no longer match.");
    let args = product_arg()
        .arg("delete", delete)
        .arg("default_values", defaults)
        .with(resource::request_args(variations.create_args()));
    Route::at(namespace, &format!("{PATH}/generate"))
        .on(CREATE, args, action(may_create, run))
        .shows(Schema::object([
            ("count", Schema::integer().about("Number of new variations.")),
            ("deleted_count", Schema::integer().about("Number of deleted variations.")),
        ]))
        .schema(variations.item.document())
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    let needed: Capability = RIGHTS.create;
    let message = "You are not allowed to create resources.";
    call.need(needed, "woocommerce_rest_cannot_create", message)
}

fn run(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let id = product_id(call);
    let found = loaded::find(call.conn()?, id)?;
    let Some(parent) = found.filter(|found| !found.product.is(VARIATION)) else {
        let message = "Product not found.";
        return Err(Refusal::new(404, "woocommerce_rest_product_invalid_id", message).into());
    };
    let possible = combinations(&parent);
    let mut existing = Vec::new();
    for variation in variations_of(call.conn()?, parent.product.id())? {
        let chosen = product::attributes_of(call.conn()?, &[variation.id()])?;
        existing.push((variation, chosen.into_iter().map(|(_, chosen)| chosen).collect()));
    }
    let missing =
        possible.iter().filter(|wanted| !existing.iter().any(|(_, has)| fits(wanted, has)));
    let missing: Vec<Combination> = missing.take(MADE_MAX).cloned().collect();
    let mut answer = Map::new();
    answer.insert(String::from("count"), json!(missing.len()));
    let deletes = call.params.flag("delete");
    make(call, &parent.product, missing)?;
    if deletes {
        let unfit = existing.iter().filter(|(_, has)| !possible.iter().any(|one| fits(one, has)));
        let unfit: Vec<&Product> = unfit.map(|(variation, _)| variation).collect();
        for variation in &unfit {
            trash::delete(call, variation)?;
        }
        answer.insert(String::from("deleted_count"), json!(unfit.len()));
    }
    Ok(Reply::new(Value::Object(answer)))
}

/// Whether a variation has exactly these values.
fn fits(wanted: &Combination, has: &Combination) -> bool {
    wanted.len() == has.len() && wanted.iter().all(|one| has.contains(one))
}

/// Every value of every attribute with every value of the others.
fn combinations(parent: &Loaded) -> Vec<Combination> {
    let mut all: Vec<Combination> = vec![Vec::new()];
    for attribute in parent.product.details.attributes.iter().filter(|own| own.variation) {
        let values: Vec<String> = if attribute.is_global {
            parent.terms_of(&attribute.name).map(|term| term.slug.clone()).collect()
        } else {
            attribute.options.clone()
        };
        let name = attribute.key();
        let mut longer = Vec::new();
        for combination in &all {
            for value in &values {
                let chosen = VariationAttribute { name: name.clone(), value: value.clone() };
                longer.push(combination.iter().cloned().chain([chosen]).collect());
            }
        }
        longer.truncate(COMBINATIONS_MAX);
        all = longer;
    }
    all.retain(|combination| !combination.is_empty());
    all
}

fn make(call: &mut Call<'_>, parent: &Product, missing: Vec<Combination>) -> Result<(), Stop> {
    let defaults = call.params.get("default_values").and_then(Value::as_object).cloned();
    let mut form = defaults.unwrap_or_default();
    form.shift_remove("attributes");
    if let Some(entries) = call.params.get("meta_data") {
        form.entry("meta_data").or_insert_with(|| entries.clone());
    }
    let path = call.params.path().clone();
    let inner = Params::unchecked(Sources { form, path, ..Sources::default() });
    let outer = std::mem::replace(&mut call.params, inner);
    for chosen in missing {
        let mut variation = Product::new(VARIATION);
        variation.row.author_id = call.user_id();
        variation.row.created = moments::now(call);
        write::save(call, parent, variation, chosen)?;
    }
    call.params = outer;
    Ok(())
}
