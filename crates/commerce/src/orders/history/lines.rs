//! The fields of a record that its order and its lines share, and the lines themselves.

use std::collections::HashSet;

use contract::rest::{Refusal, clean, loose};
use serde_json::{Value, json};
use shop_rows::order::ItemKind;
use types::Amount;

use super::Body;
pub(super) use crate::common::amounts::wrong;
use crate::common::meta;
use crate::orders::lines::LINES_MAX;
use crate::orders::record::{Line, Order, TaxShare};

type Result<T> = std::result::Result<T, Refusal>;

const KINDS: [(&str, ItemKind); 5] = [
    ("line_items", ItemKind::Line),
    ("shipping_lines", ItemKind::Shipping),
    ("fee_lines", ItemKind::Fee),
    ("tax_lines", ItemKind::Tax),
    ("coupon_lines", ItemKind::Coupon),
];

pub(super) fn whole(body: &Body, name: &str) -> i64 {
    body.get(name).map(loose::to_int).unwrap_or_default()
}

pub(super) fn text(body: &Body, name: &str) -> Option<String> {
    let value = body.get(name).filter(|value| !value.is_null())?;
    Some(clean::text_field(&loose::scalar_text(value)?))
}

pub(super) fn amount(body: &Body, name: &str) -> Result<Option<Amount>> {
    let Some(value) = body.get(name) else { return Ok(None) };
    let Some(text) = loose::scalar_text(value) else { return Ok(None) };
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = || wrong(name, format!("{name} must be an amount such as 12.50."));
    Amount::parse(text).map(Some).ok_or_else(wrong)
}

/// The entries of `meta_data`, which get their numbers when they are written.
pub(super) fn entries(body: &Body) -> Vec<Value> {
    let list = body.get("meta_data").and_then(Value::as_array);
    let entry = |entry: &Value| {
        let key = entry.get("key")?.as_str().filter(|key| !key.is_empty())?;
        let value = entry.get("value").filter(|value| !value.is_null())?;
        Some(json!({ "id": 0, "key": key, "value": meta::kept(value) }))
    };
    list.into_iter().flatten().take(meta::ENTRIES_MAX).filter_map(entry).collect()
}

/// Reads the lines, and returns the places of those about products that have no price.
pub(super) fn lines(body: &Body, order: &mut Order) -> Result<Vec<usize>> {
    let mut unpriced = Vec::new();
    for (name, kind) in KINDS {
        let list = body.get(name).and_then(Value::as_array);
        for given in list.into_iter().flatten().filter_map(Value::as_object) {
            let line = line(kind, given).map_err(|refusal| Refusal {
                message: format!("{name}: {}", refusal.message).into(),
                ..refusal
            })?;
            let is_priced = amount(given, "total")?.is_some();
            if kind == ItemKind::Line && !is_priced {
                unpriced.push(order.items.len());
            }
            order.items.push(line);
        }
    }
    if order.items.len() > LINES_MAX {
        let message = format!("An order must have at most {LINES_MAX} lines.");
        return Err(Refusal::new(400, "rest_invalid_param", message));
    }
    // Two lines with one number would be one.
    let mut seen = HashSet::new();
    for line in &mut order.items {
        if !seen.insert(line.row.item_id) {
            line.row.item_id = 0;
        }
    }
    Ok(unpriced)
}

fn line(kind: ItemKind, given: &Body) -> Result<Line> {
    let read = |name: &str| amount(given, name).map(Option::unwrap_or_default);
    let text = |name: &str| text(given, name).unwrap_or_default();
    let mut line = Line::of_kind(kind);
    line.row.item_id = whole(given, "id").max(0);
    line.row.name = text("name");
    line.row.total = read("total")?;
    line.row.total_tax = read("total_tax")?;
    line.details.taxes = shares(given, kind == ItemKind::Line)?;
    line.details.meta_data = entries(given);
    let class = text("tax_class");
    line.details.tax_class = if class == "standard" { String::new() } else { class };
    match kind {
        ItemKind::Line => {
            line.row.product_id = whole(given, "product_id").max(0);
            line.row.variation_id = whole(given, "variation_id").max(0);
            line.row.quantity = amount(given, "quantity")?.unwrap_or(Amount::ONE);
            line.row.subtotal = amount(given, "subtotal")?.unwrap_or(line.row.total);
            let tax = amount(given, "subtotal_tax")?;
            line.row.subtotal_tax = tax.unwrap_or(line.row.total_tax);
        }
        ItemKind::Shipping => {
            line.row.name = text("method_title");
            line.details.method_id = text("method_id");
            line.details.instance_id = text("instance_id");
        }
        ItemKind::Fee => {
            if given.contains_key("tax_status") {
                line.details.tax_status = text("tax_status");
            }
        }
        ItemKind::Tax => {
            line.row.name = text("rate_code");
            line.row.rate_id = whole(given, "rate_id").max(0);
            line.row.total_tax = read("tax_total")?;
            line.details.shipping_tax = Some(read("shipping_tax_total")?);
            line.details.label = text("label");
            line.details.compound = given.get("compound").is_some_and(loose::to_bool);
            line.details.rate_percent = amount(given, "rate_percent")?;
        }
        ItemKind::Coupon => {
            line.row.name = text("code").to_lowercase();
            line.row.total = read("discount")?;
            line.row.total_tax = read("discount_tax")?;
        }
    }
    Ok(line)
}

fn shares(given: &Body, has_subtotals: bool) -> Result<Vec<TaxShare>> {
    let list = given.get("taxes").and_then(Value::as_array);
    let mut shares = Vec::new();
    for share in list.into_iter().flatten().filter_map(Value::as_object) {
        let subtotal = amount(share, "subtotal")?;
        shares.push(TaxShare {
            rate_id: whole(share, "id"),
            total: amount(share, "total")?.unwrap_or_default(),
            subtotal: has_subtotals.then(|| subtotal.unwrap_or_default()),
        });
    }
    Ok(shares)
}
