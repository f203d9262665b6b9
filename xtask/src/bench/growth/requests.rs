//! What is asked for: every read of both OpenAPI documents whose address can be told, and what
//! people ask for beyond the plain form.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::Client;

const REST: &str = "/wp-json";

/// Documents, and what stands before their paths.
const DOCUMENTS: [(&str, &str); 2] = [("rest.json", REST), ("onboarding.json", "")];

/// These never end, or answer with files that are made for the call.
const LEFT_OUT: &[&str] = &["/live", "/stream", "/export", "/openapi"];

/// Searches, orders, filters and pages that people ask for.
const TYPICAL: &[&str] = &[
    "/wp-json/wc/v3/orders?search=wright",
    "/wp-json/wc/v3/orders?search=nobody+at+all",
    "/wp-json/wc/v3/orders?page=50",
    "/wp-json/wc/v3/orders?page=1000",
    "/wp-json/wc/v3/orders?orderby=modified",
    "/wp-json/wc/v3/orders?orderby=modified&page=50",
    "/wp-json/wc/v3/orders?orderby=modified&page=1000",
    "/wp-json/wc/v3/orders?status=completed",
    "/wp-json/wc/v3/orders?status=completed&page=20",
    "/wp-json/wc/v3/orders?after=2020-01-01T00:00:00",
    "/wp-json/wc/v3/orders?per_page=100",
    "/wp-json/wc/v3/reports/sales?period=week",
    "/wp-json/wc/v3/reports/sales?period=month",
    "/wp-json/wc/v3/reports/sales?period=year",
    "/wp-json/wc/v3/reports/top_sellers?period=month",
    "/wp-json/wc/v3/customers?search=wright",
    "/wp-json/wc/v3/customers?orderby=registered_date",
    "/wp-json/wc/v3/products?search=salt",
    "/wp-json/wc/v3/products?orderby=popularity",
    "/wp-json/wc-analytics/customers?orderby=name",
    "/wp-json/wc-analytics/customers?search=wright",
    "/wp-json/wc-analytics/reports/customers?orderby=total_spend",
    "/wp-json/wc-analytics/reports/orders?orderby=net_total",
    "/wp-json/wp/v2/users?search=wright",
    "/wp-json/wp/v2/search?search=salt",
    "/wp-json/wc/store/v1/products?orderby=price",
    "/v1/merchants?limit=100",
    "/v1/merchants?dba=Bench+Cafe+00000000",
    "/v1/stores?limit=100",
    "/v1/tpns?limit=100",
    "/v1/events?limit=100",
    "/v1/audit?limit=100",
];

/// Names and addresses. A name is the same in each shop; the record in an address is not.
pub(super) fn all(server: &mut Client) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for (name, base) in DOCUMENTS {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi").join(name);
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let document: Value = serde_json::from_str(&text)?;
        let paths = document.get("paths").and_then(Value::as_object).context("no paths")?;
        let mut ids = BTreeMap::new();
        for (path, operations) in paths {
            let is_meant =
                operations.get("get").is_some() && !LEFT_OUT.iter().any(|part| path.contains(part));
            // Some documents name the folder of the interface in each path.
            let base = if path.starts_with(base) { "" } else { base };
            let name = format!("{base}{path}");
            if is_meant && let Some(address) = filled(server, &name, &mut ids)? {
                found.push((name, address));
            }
        }
    }
    found.extend(TYPICAL.iter().map(|path| ((*path).to_owned(), (*path).to_owned())));
    Ok(found)
}

/// A search for the orders of somebody, whose address is another one in each shop.
pub(super) fn search_of_somebody(server: &mut Client) -> Result<String> {
    let (_, text) = server.get("/wp-json/wc/v3/orders?per_page=1")?;
    let orders: Value = serde_json::from_str(&text)?;
    let email = orders.pointer("/0/billing/email").and_then(Value::as_str);
    let email = email.context("no order says whose it is")?.replace('@', "%40");
    Ok(format!("/wp-json/wc/v3/orders?search={email}"))
}

/// What is written most: an order of two products by somebody known, and a batch of drafts.
pub(super) fn writes(server: &mut Client) -> Result<Vec<(String, String)>> {
    let mut ids = |path: &str| -> Result<Vec<Value>> {
        let list: Value = serde_json::from_str(&server.get(path)?.1)?;
        let records = list.as_array().with_context(|| format!("{path} is no list"))?;
        Ok(records.iter().filter_map(|record| record.get("id").cloned()).collect())
    };
    let products = ids("/wp-json/wc/v3/products?type=simple&per_page=2")?;
    let customers = ids("/wp-json/wc/v3/customers?per_page=1")?;
    let order = json!({
        "status": "processing",
        "customer_id": customers.first().context("no customer")?,
        "billing": { "country": "US", "state": "CA", "postcode": "94601", "email": "a@b.example" },
        "line_items": products.iter().map(|id| json!({ "product_id": id, "quantity": 1 }))
            .collect::<Vec<Value>>(),
    });
    let draft = json!({
        "method": "POST", "path": "/wp/v2/posts", "body": { "title": "Draft", "status": "draft" },
    });
    let batch = json!({ "requests": vec![draft; 25] });
    Ok(vec![
        (format!("{REST}/wc/v3/orders"), order.to_string()),
        (format!("{REST}/batch/v1"), batch.to_string()),
    ])
}

/// The path with the first record of its list in the place of its one variable; nothing if there
/// is no such record, or there are more variables.
fn filled(
    server: &mut Client,
    path: &str,
    ids: &mut BTreeMap<String, Option<String>>,
) -> Result<Option<String>> {
    let Some((list, rest)) = path.split_once("/{") else { return Ok(Some(path.to_owned())) };
    let Some((_, rest)) = rest.split_once('}') else { return Ok(None) };
    if rest.contains('{') {
        return Ok(None);
    }
    if !ids.contains_key(list) {
        let (status, text) = server.get(list)?;
        let id = if status == 200 { first_id(&text) } else { None };
        ids.insert(list.to_owned(), id);
    }
    let id = ids.get(list).and_then(Option::as_deref);
    Ok(id.map(|id| format!("{list}/{id}{rest}")))
}

/// The number of the first record of a list.
fn first_id(text: &str) -> Option<String> {
    let list: Value = serde_json::from_str(text).ok()?;
    let first = list.as_array().or_else(|| list.get("data")?.as_array())?.first()?;
    let id = ["id", "merchantId", "storeId", "tpn"].iter().find_map(|name| first.get(*name))?;
    match id {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}
