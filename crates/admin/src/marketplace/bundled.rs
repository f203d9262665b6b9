//! The marketplace that comes with the program: it knows the bundled plugins, asks nothing for
//! them, and connects a site at once. It answers in the shapes of the real one.

use std::collections::BTreeSet;

use frame::Site;
use serde_json::{Value, json};

use super::answer::MarketReply;

/// What it has: a number, the name of the plugin, and words about it.
const PRODUCTS: &[(i64, &str, &str, &str)] = &[
    (
        1001,
        "letters",
        "Letters",
        "Welcomes customers, reminds of unpaid orders and asks for reviews.",
    ),
    (
        1002,
        "parcels",
        "Parcels",
        "Makes shipping labels as PDF and e-mails tracking numbers to customers.",
    ),
    (1003, "ledger", "Ledger", "Send every order to your accounting software."),
];
/// The site's number, and that of whoever connects it.
const SITE_ID: i64 = 1;

pub(super) fn answer(
    site: &Site,
    path: &str,
    body: Option<&Value>,
    connected: &BTreeSet<String>,
) -> MarketReply {
    let text = |name: &str| {
        body.and_then(|body| body.get(name)).and_then(Value::as_str).unwrap_or_default()
    };
    let (path, _) = path.split_once('?').unwrap_or((path, ""));
    let preview = path.strip_prefix("products/").and_then(|rest| rest.strip_suffix("/preview"));
    let is_granted = text("request_token") == request_token(site, text("secret"));
    match path {
        "featured" => fine(featured()),
        "oauth/request_token" => {
            fine(json!({ "secret": secret(site, "request", text("redirect_uri")) }))
        }
        "oauth/access_token" if is_granted => fine(json!({
            "access_token": secret(site, "token", ""),
            "access_token_secret": secret(site, "secret", ""),
            "site_id": SITE_ID,
            "user_id": SITE_ID,
        })),
        "oauth/access_token" => refused(403, "invalid_request_token", "Unknown token."),
        "subscriptions" => fine(subscriptions(site, connected)),
        "subscriptions/activate" | "subscriptions/deactivate" => {
            let is_known = PRODUCTS.iter().any(|(id, ..)| key(site, *id) == text("product_key"));
            if is_known {
                fine(json!({ "success": true }))
            } else {
                refused(404, "unknown_key", "Unknown key.")
            }
        }
        "orders" => {
            let id = body.and_then(|body| body.get("product_id")).and_then(Value::as_i64);
            match PRODUCTS.iter().find(|(known, ..)| Some(*known) == id) {
                Some((id, slug, name, _)) => fine(json!({
                    "order_id": id, "status": "completed", "total": "0.00",
                    "product_key": key(site, *id), "product": name, "product_slug": slug,
                })),
                None => refused(404, "unknown_product", "Product not found."),
            }
        }
        _ => match preview.and_then(|id| product(id.parse().ok()?)) {
            Some((_, _, name, about)) => fine(json!({
                "css": ".preview{padding:1rem}",
                "html": format!("<div class=\"preview\"><h2>{name}</h2><p>{about}</p></div>"),
            })),
            None => refused(404, "not_found", "Not found."),
        },
    }
}

/// The token that a site comes back with, which nobody has to grant here.
/// It belongs to one request.
pub(super) fn request_token(site: &Site, of_request: &str) -> String {
    secret(site, "request token", of_request)
}

fn product(id: i64) -> Option<&'static (i64, &'static str, &'static str, &'static str)> {
    PRODUCTS.iter().find(|(known, ..)| *known == id)
}

fn fine(body: Value) -> MarketReply {
    MarketReply { status: 200, body }
}

fn refused(status: u16, code: &str, message: &str) -> MarketReply {
    MarketReply {
        status,
        body: json!({ "code": code, "message": message, "data": { "status": status } }),
    }
}

fn secret(site: &Site, what: &str, bound_to: &str) -> String {
    let hash = site.vault().site_hash("bundled marketplace", what, bound_to);
    data_encoding::HEXLOWER.encode(&hash).chars().take(40).collect()
}

fn key(site: &Site, product_id: i64) -> String {
    format!("free-{}", secret(site, "product", &product_id.to_string()))
}

fn featured() -> Value {
    let items = PRODUCTS.iter().map(|(id, slug, name, about)| {
        json!({
            "id": id, "title": name, "excerpt": about, "slug": slug, "price": "0.00",
            "link": format!("/portal/plugins/{slug}"), "rating": null,
        })
    });
    let items: Vec<Value> = items.collect();
    let title = "Included with the shop";
    json!([{ "id": "with-the-shop", "title": title, "module": "list", "items": items }])
}

fn subscriptions(site: &Site, connected: &BTreeSet<String>) -> Value {
    let all = PRODUCTS.iter().map(|(id, slug, name, _)| {
        let product_key = key(site, *id);
        let connections =
            if connected.contains(&product_key) { json!([SITE_ID]) } else { json!([]) };
        json!({
            "product_key": product_key,
            "product_id": id,
            "product_name": name,
            "product_url": format!("/portal/plugins/{slug}"),
            "product_slug": slug,
            "zip_slug": slug,
            "product_type": "plugin",
            "documentation_url": format!("/plugins/{slug}/start/"),
            "key_type": "unlimited",
            "key_type_label": "Unlimited",
            "lifetime": true,
            "product_status": "publish",
            "connections": connections,
            "expires": 0,
            "autorenew": false,
            "sites_max": 0,
            "sites_active": 0,
            "order_id": id,
            "product_keys_all": [],
        })
    });
    Value::Array(all.collect())
}
