//! What followers of the feed are told about products.

use serde_json::json;
use store::Conn;
use store::outbox::{self, Event};
use types::{Result, Timestamp};

use super::record::Product;

pub(crate) fn made(conn: &mut dyn Conn, product: &Product, now: Timestamp) -> Result<()> {
    tell(conn, "product.created", product, now)
}

pub(crate) fn changed(conn: &mut dyn Conn, product: &Product, now: Timestamp) -> Result<()> {
    tell(conn, "product.updated", product, now)
}

pub(crate) fn deleted(conn: &mut dyn Conn, product: &Product, now: Timestamp) -> Result<()> {
    tell(conn, "product.deleted", product, now)
}

fn tell(conn: &mut dyn Conn, kind: &'static str, product: &Product, now: Timestamp) -> Result<()> {
    let payload = json!({ "type": product.row.kind, "parent_id": product.row.parent_id });
    outbox::append(conn, &Event::of_site(kind, product.id(), payload.to_string(), now))
}
