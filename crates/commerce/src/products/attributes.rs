//! Attributes of products: how they are shown, and what a request makes of them. Values of the
//! shop's attributes are terms, made when a product names one that is not there yet.

use std::borrow::Cow;

use contract::rest::{Stop, clean, loose};
use db::Conn;
use frame::Call;
use frame::text::slugify;
use serde_json::{Value, json};
use shop_rows::attribute;
use shop_rows::attribute::AttributeRow;
use shop_rows::product::VariationAttribute;
use site_rows::term::{self, TermFilter, TermRow};
use types::Result;

use super::loaded::Loaded;
use super::record::{Attribute, Product, VARIABLE, VARIATION, attribute_of};
use crate::common::version::Version;

/// Attributes of one product at most.
const ATTRIBUTES_MAX: usize = 100;
/// Values of one attribute at most.
const OPTIONS_MAX: usize = 1_000;
/// Between values that are written as one text.
const DELIMITER: char = '|';

/// The terms that a product bears for an attribute.
pub(super) type Values = (String, Vec<i64>);

/// The attributes of a product, or what a variation has chosen.
pub(super) fn shown(loaded: &Loaded, version: Version) -> Vec<Value> {
    if loaded.product.is(VARIATION) {
        return chosen_shown(loaded, version);
    }
    let shown = loaded.product.details.attributes.iter().map(|attribute| {
        let global = loaded.words.attribute(&attribute.name).filter(|_| attribute.is_global);
        let name = global.map_or(&attribute.name, |global| &global.label);
        let options = match global {
            Some(global) => option_names(loaded, global),
            None => attribute.options.clone(),
        };
        let mut body = json!({
            "id": global.map_or(0, |global| global.attribute_id),
            "name": name,
            "slug": attribute.name,
            "position": attribute.position,
            "visible": attribute.visible,
            "variation": attribute.variation,
            "options": options,
        });
        if let (Version::One, Some(members)) = (version, body.as_object_mut()) {
            members.shift_remove("slug");
        }
        body
    });
    shown.collect()
}

/// The names of the terms that the product bears, in the attribute's order.
fn option_names(loaded: &Loaded, attribute: &AttributeRow) -> Vec<String> {
    let taxonomy = attribute::taxonomy(&attribute.name);
    let mut terms: Vec<_> = loaded.terms_of(&taxonomy).collect();
    match attribute.order_by.as_str() {
        "id" => terms.sort_by_key(|term| term.term_id),
        "name_num" => terms.sort_by(|left, right| {
            let number = |name: &str| loose::to_float(&json!(name));
            number(&left.name).total_cmp(&number(&right.name))
        }),
        "menu_order" => terms.sort_by_key(|term| term.menu_order),
        _ => {}
    }
    terms.into_iter().map(|term| term.name.clone()).collect()
}

fn chosen_shown(loaded: &Loaded, version: Version) -> Vec<Value> {
    let chosen = loaded.chosen.iter().filter(|chosen| !chosen.value.is_empty());
    let shown = chosen.map(|chosen| {
        let (id, name) = loaded.attribute_named(&chosen.name);
        let option = loaded.words.value(chosen);
        if version == Version::One {
            return json!({ "id": id, "name": name, "option": option });
        }
        json!({ "id": id, "name": name, "slug": chosen.name, "option": option })
    });
    shown.collect()
}

pub(super) fn defaults_shown(loaded: &Loaded) -> Vec<Value> {
    if !loaded.product.is(VARIABLE) {
        return Vec::new();
    }
    let shown = loaded.product.details.default_attributes.iter().map(|(key, value)| {
        let (id, name) = loaded.attribute_named(key);
        json!({ "id": id, "name": name, "option": value })
    });
    shown.collect()
}

/// Gives the product the attributes of a request, and returns the terms that it is to bear.
pub(super) fn apply(
    conn: &mut dyn Conn,
    product: &mut Product,
    wanted: &[Value],
) -> Result<Vec<Values>> {
    let known = attribute::all(conn)?;
    let mut values = Vec::new();
    let mut attributes = Vec::new();
    for entry in wanted.iter().take(ATTRIBUTES_MAX) {
        let Some(attribute) = attribute_named(&known, entry) else { continue };
        let options = options(entry.get("options"));
        if attribute.is_global {
            if options.is_empty() {
                continue;
            }
            let mut ids = Vec::new();
            for option in &options {
                ids.push(ensure_term(conn, &attribute.name, option)?);
            }
            values.push((attribute.name.clone(), ids));
            attributes.push(attribute);
        } else if entry.get("options").is_some() {
            attributes.push(Attribute { options, ..attribute });
        }
    }
    attributes.sort_by_key(|attribute| attribute.position);
    // What the product no longer has, it bears no terms of.
    for old in product.details.attributes.iter().filter(|old| old.is_global) {
        if !values.iter().any(|(name, _)| *name == old.name) {
            values.push((old.name.clone(), Vec::new()));
        }
    }
    product.details.attributes = attributes;
    Ok(values)
}

/// The attribute that an entry names: one of the shop by its number, or one of the product's own.
fn attribute_named(known: &[AttributeRow], entry: &Value) -> Option<Attribute> {
    let id = entry.get("id").map(loose::to_int).unwrap_or_default();
    let flag = |name: &str| entry.get(name).is_some_and(loose::to_bool);
    let (name, is_global) = if id == 0 {
        let name = entry.get("name").and_then(loose::scalar_text)?;
        (clean::text_field(&name), false)
    } else {
        let global = known.iter().find(|attribute| attribute.attribute_id == id)?;
        (attribute::taxonomy(&global.name), true)
    };
    if name.is_empty() {
        return None;
    }
    let position = entry.get("position").map(loose::to_int).unwrap_or_default().saturating_abs();
    let (visible, variation) = (flag("visible"), flag("variation"));
    Some(Attribute { name, is_global, position, visible, variation, options: Vec::new() })
}

fn options(value: Option<&Value>) -> Vec<String> {
    let texts: Vec<String> = match value {
        Some(Value::Array(items)) => {
            items.iter().filter_map(loose::scalar_text).map(Cow::into_owned).collect()
        }
        Some(other) => {
            let text = loose::scalar_text(other).unwrap_or_default();
            text.split(DELIMITER).map(|part| part.trim().to_owned()).collect()
        }
        None => Vec::new(),
    };
    let cleaned = texts.iter().map(|text| clean::text_field(text));
    cleaned.filter(|text| !text.is_empty()).take(OPTIONS_MAX).collect()
}

/// The term with this name or slug, made if there is none.
pub(super) fn ensure_term(conn: &mut dyn Conn, taxonomy: &str, name: &str) -> Result<i64> {
    if let Some(found) = term_named(conn, taxonomy, name)? {
        return Ok(found.term_id);
    }
    let row = TermRow {
        term_id: 0,
        taxonomy: taxonomy.to_owned(),
        name: name.to_owned(),
        slug: slugify(name),
        description: String::new(),
        parent_id: 0,
        menu_order: 0,
        details: String::from("{}"),
    };
    term::insert(conn, &row)
}

/// The term of the taxonomy with this name, or else with this slug.
fn term_named(conn: &mut dyn Conn, taxonomy: &str, name: &str) -> Result<Option<TermRow>> {
    let wanted = TermFilter {
        taxonomies: vec![taxonomy.to_owned()],
        search: Some(name.to_owned()),
        ..TermFilter::default()
    };
    let folded = db::filter::fold(name);
    let (rows, _) = term::list(conn, &wanted)?;
    let same = rows.into_iter().find(|row| db::filter::fold(&row.name) == folded);
    match same {
        Some(row) => Ok(Some(row)),
        None => term::find_by_slug(conn, taxonomy, &slugify(name)),
    }
}

/// What a variation chooses, by the attributes of its product. Others are passed over.
pub(super) fn choose(
    call: &mut Call<'_>,
    product: &Product,
    wanted: &[Value],
) -> std::result::Result<Vec<VariationAttribute>, Stop> {
    let known = attribute::all(call.conn()?)?;
    let mut chosen: Vec<VariationAttribute> = Vec::new();
    for entry in wanted.iter().take(ATTRIBUTES_MAX) {
        let Some(key) = key_named(&known, entry) else { continue };
        let mut attributes = product.details.attributes.iter();
        let Some(attribute) = attributes.find(|own| own.variation && own.key() == key) else {
            continue;
        };
        let option = entry.get("option").and_then(loose::scalar_text).unwrap_or_default();
        let option = clean::text_field(&option);
        let value = if attribute.is_global && !option.is_empty() {
            let term = term_named(call.conn()?, &key, &option)?;
            term.map_or_else(|| slugify(&option), |term| term.slug)
        } else {
            option
        };
        chosen.retain(|other| other.name != key);
        chosen.push(VariationAttribute { name: key, value });
    }
    Ok(chosen)
}

fn key_named(known: &[AttributeRow], entry: &Value) -> Option<String> {
    let id = entry.get("id").map(loose::to_int).unwrap_or_default();
    if id != 0 {
        let global = known.iter().find(|attribute| attribute.attribute_id == id)?;
        return Some(attribute::taxonomy(&global.name));
    }
    let name = entry.get("name").and_then(loose::scalar_text)?;
    // The name may be that of an attribute of the shop, too.
    let slug = slugify(&name);
    let global = attribute_of(known, &slug).map(|global| attribute::taxonomy(&global.name));
    global.or(Some(slug)).filter(|key| !key.is_empty())
}

/// What is chosen first, by the attributes of the product.
pub(super) fn choose_defaults(
    call: &mut Call<'_>,
    product: &mut Product,
    wanted: &[Value],
) -> std::result::Result<(), Stop> {
    let chosen = choose(call, product, wanted)?;
    let chosen = chosen.into_iter().filter(|chosen| !chosen.value.is_empty());
    product.details.default_attributes = chosen.map(|chosen| (chosen.name, chosen.value)).collect();
    Ok(())
}
