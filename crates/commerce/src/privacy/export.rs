//! A person's data as records of names and values, in the shape that exporters of personal data
//! have in the reference product.

use db::Conn;
use serde_json::{Map, Value, json};
use shop_rows::{download_log, order_note};
use types::Result;

use super::{Person, REVIEW, order_of};
use crate::customers::Customer;
use crate::orders::Order;

/// All that is kept about the person with this address.
pub fn export(conn: &mut dyn Conn, email: &str) -> Result<Value> {
    let person = Person::find(conn, email)?;
    let mut records = Vec::new();
    if let Some(account) = &person.account {
        records.push(of_account(account));
    }
    for order_id in &person.orders {
        if let Some(order) = order_of(conn, *order_id)? {
            let notes = order_note::list(conn, *order_id)?;
            let notes = notes.iter().filter(|note| note.customer_note || note.added_by_user);
            records.push(of_order(&order, notes.map(|note| note.text.as_str())));
        }
    }
    for row in &person.comments {
        let is_review = row.kind == REVIEW;
        let (author, text) = if is_review { ("Reviewer", "Review") } else { ("Author", "Comment") };
        let pairs = [
            (author, row.author.as_str()),
            ("E-mail address", &row.email),
            ("Website", &row.author_url),
            ("Network address", &row.author_ip),
            ("User agent", &row.author_agent),
            (text, &row.content),
            ("Date", &row.created.to_string()),
        ];
        let group = if is_review { ("reviews", "Reviews") } else { ("comments", "Comments") };
        records.push(record(group.0, group.1, row.comment_id, &pairs));
    }
    for (place, cart) in (1..).zip(&person.carts) {
        let pairs = [("Contents", cart.contents.as_str()), ("Until", &cart.expires.to_string())];
        records.push(record("carts", "Carts", place, &pairs));
    }
    for permission in person.downloads(conn)? {
        let wanted = download_log::DownloadLogFilter {
            permissions: vec![permission.permission_id],
            ..Default::default()
        };
        let addresses: Vec<String> =
            download_log::list(conn, &wanted)?.0.into_iter().map(|entry| entry.ip).collect();
        let pairs = [
            ("E-mail address", permission.user_email.as_str()),
            ("File", &permission.download_id),
            ("Downloaded from", &addresses.join(", ")),
        ];
        records.push(record("downloads", "Downloads", permission.permission_id, &pairs));
    }
    Ok(json!({ "email": person.email, "data": records }))
}

/// A record with those of the pairs that have a value.
fn record(group: &str, label: &str, id: i64, pairs: &[(&str, &str)]) -> Value {
    let filled = pairs.iter().filter(|(_, value)| !value.is_empty());
    let data: Vec<Value> =
        filled.map(|(name, value)| json!({ "name": name, "value": value })).collect();
    json!({
        "group_id": group, "group_label": label, "item_id": format!("{group}-{id}"), "data": data,
    })
}

fn of_account(account: &Customer) -> Value {
    let user = &account.user;
    let text = |object: &Map<String, Value>| {
        let texts = object.values().filter_map(Value::as_str).filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join(", ")
    };
    let meta = account.details.meta_data.iter().map(entry).collect::<Vec<_>>().join(", ");
    let pairs = [
        ("User name", user.login.as_str()),
        ("E-mail address", &user.email),
        ("Display name", &user.display_name),
        ("First name", &user.first_name),
        ("Last name", &user.last_name),
        ("Nickname", &user.nickname),
        ("Description", &user.description),
        ("Website", &user.url),
        ("Registered", &user.registered.to_string()),
        ("Billing address", &text(&account.billing)),
        ("Shipping address", &text(&account.shipping)),
        ("Further data", &meta),
    ];
    record("user", "Account", user.user_id, &pairs)
}

fn of_order<'n>(order: &Order, notes: impl Iterator<Item = &'n str>) -> Value {
    let details = &order.details;
    let meta = details.meta_data.iter().map(entry).collect::<Vec<_>>().join(", ");
    let (billing, shipping) = (details.billing.index(), details.shipping.index());
    let goods: Vec<&str> = order.items.iter().map(|line| line.row.name.as_str()).collect();
    let pairs = [
        ("Order number", order.row.number.as_str()),
        ("Date", &order.row.created.to_string()),
        ("Total", &order.row.total.to_string()),
        ("Currency", &order.row.currency),
        ("Items", &goods.join(", ")),
        ("Billing address", billing.trim()),
        ("Shipping address", shipping.trim()),
        ("Payment method", &details.payment_method_title),
        ("Transaction ID", &details.transaction_id),
        ("IP address", &details.customer_ip_address),
        ("Browser", &details.customer_user_agent),
        ("Note", &details.customer_note),
        ("Reason", &order.row.reason),
        ("Notes on the order", &notes.collect::<Vec<_>>().join("\n")),
        ("Further data", &meta),
    ];
    record("orders", "Orders", order.id(), &pairs)
}

/// An entry of `meta_data` as a text.
fn entry(entry: &Value) -> String {
    let value = match &entry["value"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    format!("{}: {value}", entry["key"].as_str().unwrap_or_default())
}
