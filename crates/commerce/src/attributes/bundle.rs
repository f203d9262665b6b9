//! Import of attributes with their terms, all numbers kept.

use db::Conn;
use frame::bundle::records;
use serde::Deserialize;
use serde_json::Value;
use shop_rows::attribute::{self, AttributeRow};
use site_rows::term::TermRow;
use types::Result;

use super::PREFIX;
use crate::taxonomies;

#[derive(Debug, Deserialize)]
struct Attribute {
    id: i64,
    name: String,
    slug: String,
    #[serde(rename = "type")]
    kind: String,
    order_by: String,
    #[serde(default)]
    has_archives: bool,
    #[serde(default)]
    terms: Vec<Term>,
}

#[derive(Debug, Deserialize)]
struct Term {
    id: i64,
    name: String,
    slug: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    menu_order: i64,
}

pub(crate) fn attributes(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let attributes: Vec<Attribute> = records(section)?;
    for attribute in &attributes {
        let row = AttributeRow {
            attribute_id: attribute.id,
            name: attribute.slug.strip_prefix(PREFIX).unwrap_or(&attribute.slug).to_owned(),
            label: attribute.name.clone(),
            kind: attribute.kind.clone(),
            order_by: attribute.order_by.clone(),
            has_archives: attribute.has_archives,
        };
        if !attribute::update(conn, &row)? {
            attribute::insert_with_id(conn, &row)?;
        }
        for term in &attribute.terms {
            let row = TermRow {
                term_id: term.id,
                taxonomy: attribute::taxonomy(&row.name),
                name: term.name.clone(),
                slug: term.slug.clone(),
                description: term.description.clone(),
                menu_order: term.menu_order,
                ..taxonomies::empty_row()
            };
            taxonomies::put(conn, row)?;
        }
    }
    Ok(attributes.len())
}
