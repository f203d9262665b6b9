//! Attributes that products have for themselves, without terms: they are known by a slug that
//! follows from their name, and analytics shows them beside those of the shop.

use std::collections::BTreeMap;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Links, Refusal, Reply, Schema, Stop};
use db::{Conn, filter};
use frame::action::read;
use frame::text::slugify;
use frame::{Action, Call};
use serde::Deserialize;
use serde_json::{Value, json};
use shop_rows::attribute::AttributeRow;
use shop_rows::product::{self, ProductRow};
use types::{Capability, Error, Result};

use super::{PATH, body, item};
use crate::managers::linked;
use crate::taxonomies;

/// Products that are looked at together.
const AT_A_TIME: i64 = 500;
/// Products whose own attributes are looked at.
const PRODUCTS_MAX: usize = 100_000;
/// How the details of a product with an own attribute can be told.
const MARK: &str = r#""is_global":false"#;

/// An attribute by that name, with the values that the first product with it offers.
#[derive(Clone, Debug)]
pub(super) struct OwnAttribute {
    pub(super) slug: String,
    name: String,
    values: Vec<String>,
}

impl OwnAttribute {
    pub(super) fn body(&self) -> Value {
        let row = AttributeRow {
            label: self.name.clone(),
            kind: String::from("select"),
            order_by: String::from("menu_order"),
            ..AttributeRow::default()
        };
        body(&json!(self.slug), &row, &self.slug)
    }
}

/// The part of a product's details that is of interest here.
#[derive(Debug, Default, Deserialize)]
struct Details {
    #[serde(default)]
    attributes: Vec<Attribute>,
}

#[derive(Debug, Deserialize)]
struct Attribute {
    name: String,
    #[serde(default)]
    is_global: bool,
    #[serde(default)]
    options: Vec<String>,
}

pub(super) fn routes(namespace: &str) -> [Route<Action>; 2] {
    let slug = r"(?P<slug>[a-z0-9_\-]+)";
    let list = format!("/{namespace}{PATH}");
    let base = list.clone();
    let one = move |call: &mut Call<'_>| get(call, &base);
    let terms = move |call: &mut Call<'_>| terms(call, &list);
    let slug_arg = Schema::text().about("Slug of a product-level attribute.");
    let item = item();
    let list_args = Args::new()
        .arg("slug", Schema::types(&["string", "array"]).keyword("items", Schema::text()))
        .arg("context", item.context_arg())
        .with(taxonomies::list_args())
        .revise("slug", |schema| schema.about("Attribute slug."));
    [
        Route::at(namespace, &format!("{PATH}/{slug}"))
            .on(READ, Args::new().arg("slug", slug_arg), read(may_view, one))
            .schema(item.document()),
        Route::at(namespace, &format!("{PATH}/{slug}/terms"))
            .on(READ, list_args, read(may_view, terms))
            .shows(Schema::list(term_answer())),
    ]
}

fn term_answer() -> Schema {
    Schema::object([
        ("id", Schema::text().about("The value itself.")),
        ("name", Schema::text().about("Value.")),
        ("slug", Schema::text().about("The value itself.")),
        ("description", Schema::text().about("Always blank.")),
        ("menu_order", Schema::integer().about("Always 0.")),
        ("count", Schema::integer().about("Number of variations that have the value.")),
    ])
}

fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to view attributes.";
    call.need(Capability::ManageProductTerms, "woocommerce_rest_cannot_view", message)
}

fn get(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let found = of_path(call)?;
    let links = Links::new()
        .to("self", call.visit.rest(&format!("{base}/{}", found.slug)))
        .to("collection", call.visit.rest(base));
    Ok(Reply::new(found.body()).links(links))
}

/// The values that variations have, and those that are only offered.
fn terms(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let found = of_path(call)?;
    let mut values = product::values_of(call.conn()?, &found.slug)?;
    for offered in found.values {
        if !values.iter().any(|(value, _)| *value == offered) {
            values.push((offered, 0));
        }
    }
    let collection = call.visit.rest(&format!("{base}/{}/terms", found.slug));
    let term = |(value, count): (String, i64)| {
        let body = json!({
            "id": value, "name": value, "slug": value, "description": "", "menu_order": 0,
            "count": count,
        });
        linked(body, Links::new().to("collection", collection.clone()))
    };
    Ok(Reply::new(values.into_iter().map(term).collect::<Vec<Value>>()))
}

fn of_path(call: &mut Call<'_>) -> Result<OwnAttribute, Stop> {
    let slug = call.params.path().get("slug").and_then(Value::as_str).unwrap_or_default();
    let slug = slug.to_owned();
    let mut found = None;
    each_product(call.conn()?, MARK, &mut |_, row| {
        found = own_of(&row)?.into_iter().find(|own| own.slug == slug);
        Ok(found.is_none())
    })?;
    found.ok_or_else(|| {
        let message = "No product has a custom attribute with this slug.";
        Refusal::new(404, "woocommerce_rest_product_attribute_not_found", message).into()
    })
}

/// The own attributes of products in whose name a folded text occurs, each once, by slug.
pub(super) fn containing(conn: &mut dyn Conn, sought: &str) -> Result<Vec<OwnAttribute>> {
    let mut found: BTreeMap<String, OwnAttribute> = BTreeMap::new();
    each_product(conn, MARK, &mut |_, row| {
        for own in own_of(&row)? {
            if filter::fold(&own.name).contains(sought) {
                found.entry(own.slug.clone()).or_insert(own);
            }
        }
        Ok(true)
    })?;
    Ok(found.into_values().collect())
}

/// Gives an attribute of the shop another taxonomy in the products that have it.
pub(super) fn rename_in_products(conn: &mut dyn Conn, from: &str, to: &str) -> Result<()> {
    let mark = json!(from).to_string();
    each_product(conn, &mark, &mut |conn, row| {
        let mut details: Value = read_details(&row)?;
        let mut changed = false;
        let attributes = details.get_mut("attributes").and_then(Value::as_array_mut);
        let names = attributes.into_iter().flatten().filter_map(|entry| entry.get_mut("name"));
        let mut rename = |name: &mut Value| {
            if name.as_str() == Some(from) {
                *name = json!(to);
                changed = true;
            }
        };
        names.for_each(&mut rename);
        let chosen = details.get_mut("default_attributes").and_then(Value::as_array_mut);
        let keys = chosen.into_iter().flatten().filter_map(|entry| entry.get_mut(0));
        keys.for_each(&mut rename);
        if changed {
            let row = ProductRow { details: details.to_string(), ..row };
            product::update(conn, &row)?;
        }
        Ok(true)
    })
}

type Visitor<'v> = &'v mut dyn FnMut(&mut dyn Conn, ProductRow) -> Result<bool>;

/// Shows every product whose details hold the mark, until the visitor has seen enough.
fn each_product(conn: &mut dyn Conn, mark: &str, visit: Visitor<'_>) -> Result<()> {
    let (mut after_id, mut seen) = (0, 0);
    loop {
        let rows = product::find_by_details(conn, mark, after_id, AT_A_TIME)?;
        let Some(last) = rows.last() else { return Ok(()) };
        after_id = last.product_id;
        seen += rows.len();
        if seen > PRODUCTS_MAX {
            return Err(Error::invalid("too many products have custom attributes"));
        }
        for row in rows {
            if !visit(conn, row)? {
                return Ok(());
            }
        }
    }
}

fn own_of(row: &ProductRow) -> Result<Vec<OwnAttribute>> {
    let details: Details = read_details(row)?;
    let own = details.attributes.into_iter().filter(|attribute| !attribute.is_global);
    let with_slug = own.map(|attribute| OwnAttribute {
        slug: slugify(&attribute.name),
        name: attribute.name,
        values: attribute.options,
    });
    Ok(with_slug.collect())
}

fn read_details<T: serde::de::DeserializeOwned>(row: &ProductRow) -> Result<T> {
    serde_json::from_str(&row.details)
        .map_err(|error| Error::internal("cannot read a product's details").because(error))
}
