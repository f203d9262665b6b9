//! What followers of the feed are told about products.

use db::Conn;
use db::outbox::{self, Event};
use frame::Call;
use serde_json::{Value, json};
use types::{Result, Timestamp};

use super::record::Product;
use crate::common::events;

pub(crate) fn made(call: &mut Call<'_>, product: &Product) -> Result<()> {
    events::append(call, "product.created", product.id(), &payload(product))
}

pub(crate) fn imported(conn: &mut dyn Conn, product: &Product, now: Timestamp) -> Result<()> {
    append_event(conn, events::imported("product.created"), product, now)
}

pub(crate) fn changed(conn: &mut dyn Conn, product: &Product, now: Timestamp) -> Result<()> {
    append_event(conn, "product.updated", product, now)
}

pub(crate) fn deleted(conn: &mut dyn Conn, product: &Product, now: Timestamp) -> Result<()> {
    append_event(conn, "product.deleted", product, now)
}

fn append_event(
    conn: &mut dyn Conn,
    kind: &'static str,
    product: &Product,
    now: Timestamp,
) -> Result<()> {
    outbox::append(conn, &Event::of_site(kind, product.id(), payload(product).to_string(), now))
}

fn payload(product: &Product) -> Value {
    json!({ "type": product.row.kind, "parent_id": product.row.parent_id })
}
