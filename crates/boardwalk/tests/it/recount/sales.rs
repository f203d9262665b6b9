//! What happened in a shop: orders of a year, most of them around a change of the clock, refunds in
//! whole and in part, downloads; and what happens while the shop is open.

use serde_json::{Value, json};

use super::catalogue::Catalogue;
use super::clock::{self, Second};
use super::dice::Dice;
use super::money::{self, Millionths, amount};
use super::shop::{STATUSES, Shop};

const ORDERS: i64 = 44;
const FIRST_ORDER: i64 = 50_000;
const FIRST_REFUND: i64 = 60_000;
const DAY: i64 = 86_400;
/// Nothing happens after this, but what happens while the shop is open.
const LATEST: &str = "2025-09-30T23:59:59";

/// When something was downloaded, what, and by whom.
#[derive(Clone, Debug)]
pub(super) struct Download {
    pub(super) id: i64,
    pub(super) at: Second,
    pub(super) product: i64,
    pub(super) order: i64,
    pub(super) user: i64,
    pub(super) address: String,
}

/// Fills the shop, and returns the downloads, which no list of the interface shows.
pub(super) fn happen(shop: &Shop, catalogue: &Catalogue, dice: &mut Dice) -> Vec<Download> {
    let moments = moments(shop, dice);
    let orders: Vec<Value> = moments
        .iter()
        .enumerate()
        .map(|(place, at)| {
            let id = FIRST_ORDER + i64::try_from(place).unwrap();
            past_order(shop, catalogue, dice, id, *at)
        })
        .collect();
    shop.import(&orders);
    let made = shop.all("/wc/v3/orders?dp=6&order=asc&orderby=id");
    let refunds = past_refunds(shop, dice, &made);
    shop.import(&refunds);
    let downloads = downloads(shop, catalogue, dice, &made);
    happen_now(shop, catalogue, dice, &made);
    downloads
}

/// Half of them within two days of a change of the clock, a quarter within three weeks of it.
fn moments(shop: &Shop, dice: &mut Dice) -> Vec<Second> {
    let zone = shop.choices.clock.zone;
    let change = zone.changes(2025).into_iter().find(|at| *at < clock::read("2025-09-20T00:00:00"));
    let middle = change.unwrap_or(clock::read("2025-01-01T00:00:00"));
    let mut moments: Vec<Second> = (0..ORDERS)
        .map(|place| match place % 4 {
            0 | 1 => middle + dice.between(-2 * DAY, 2 * DAY),
            2 => middle + dice.between(-21 * DAY, 21 * DAY),
            _ => clock::read(LATEST) - dice.between(0, 430 * DAY),
        })
        .collect();
    // Two of the very same second, and one at a midnight of the site.
    moments[1] = moments[0];
    let midnight = shop.choices.clock.local(moments[2]).div_euclid(DAY) * DAY;
    moments[2] = shop.choices.clock.moment(midnight);
    moments
}

fn past_order(shop: &Shop, catalogue: &Catalogue, dice: &mut Dice, id: i64, at: Second) -> Value {
    let mut order = order(shop, catalogue, dice);
    let status = dice.pick(&[
        "completed",
        "completed",
        "completed",
        "processing",
        "processing",
        "on-hold",
        "pending",
        "cancelled",
        "failed",
        "refunded",
    ]);
    let date = |at: Second| json!(clock::written(at, 'T'));
    order["record"] = json!("order");
    order["id"] = json!(id);
    order["status"] = json!(status);
    order["date_created_gmt"] = date(at);
    let is_paid = matches!(status, "completed" | "processing" | "refunded");
    let paid = at + dice.pick(&[0, 60, 7_200, 2 * DAY]);
    order["date_paid_gmt"] = if is_paid { date(paid) } else { json!(null) };
    let is_completed = status == "completed" || (status == "refunded" && dice.one_in(2));
    let completed = paid + dice.pick(&[0, 3_600, 5 * DAY]);
    order["date_completed_gmt"] = if is_completed { date(completed) } else { json!(null) };
    order
}

/// Some goods for somebody, with everything that an order may have besides.
fn order(shop: &Shop, catalogue: &Catalogue, dice: &mut Dice) -> Value {
    let lines: Vec<Value> = dice
        .some(&catalogue.goods, 3)
        .into_iter()
        .map(|(product, variation)| {
            let quantity = dice.between(1, 4);
            json!({ "product_id": product, "variation_id": variation, "quantity": quantity,
                "meta_data": catalogue.chosen.get(&variation).cloned().unwrap_or(json!([])) })
        })
        .collect();
    let (user, address) = dice.pick(&catalogue.buyers);
    let foreign = dice.one_in(8);
    let currency = if foreign { shop.choices.foreign() } else { shop.choices.currency };
    let mut order = json!({ "customer_id": user, "currency": currency, "billing": address,
        "shipping": address, "line_items": lines });
    let price =
        |dice: &mut Dice| money::text(dice.between(1, 9_000) * 1_000, shop.choices.decimals);
    if dice.one_in(2) {
        order["shipping_lines"] =
            json!([{ "method_id": "flat_rate", "method_title": "Flat", "total": price(dice) }]);
    }
    if dice.one_in(5) {
        order["fee_lines"] = json!([{ "name": "Gift wrap", "total": price(dice) }]);
    }
    if dice.one_in(2) {
        let codes = dice.some(&catalogue.codes, 2);
        order["coupon_lines"] = codes.into_iter().map(|code| json!({ "code": code })).collect();
    }
    order
}

/// Refunds of lines, of sums, and of everything that was left.
fn past_refunds(shop: &Shop, dice: &mut Dice, orders: &[Value]) -> Vec<Value> {
    let mut refunds: Vec<Value> = Vec::new();
    for order in orders {
        let status = order["status"].as_str().unwrap();
        let is_whole = status == "refunded";
        let is_part = matches!(status, "completed" | "processing") && dice.one_in(3);
        let created = clock::read(order["date_created_gmt"].as_str().unwrap());
        let latest = clock::read(LATEST);
        let later = |dice: &mut Dice| {
            let at = (created + dice.between(1, 12 * DAY)).min(latest.max(created + 1));
            clock::written(at, 'T')
        };
        let mut left = amount(&order["total"]);
        let mut push = |mut body: Value, date: String| {
            body["record"] = json!("refund");
            body["id"] = json!(FIRST_REFUND + i64::try_from(refunds.len()).unwrap());
            body["parent_id"] = order["id"].clone();
            body["date_created_gmt"] = json!(date);
            refunds.push(body);
        };
        if is_part || (is_whole && dice.one_in(2)) {
            let part = part_refund(shop, dice, order);
            left -= amount(&part["amount"]);
            push(part, later(dice));
        }
        if is_whole && left > 0 {
            // What is left of a part, no import can know to be everything unless it is said.
            let full = json!([{ "key": "_refund_type", "value": "full" }]);
            let mut rest = json!({ "amount": money::text(left, 6), "meta_data": full });
            if left == amount(&order["total"]) && dice.one_in(3) {
                // Everything, and said of every line.
                rest = whole_by_lines(order);
            }
            push(rest, later(dice));
        }
    }
    refunds
}

/// A part of a line with its taxes, a sum, or money for a line that stays where it is.
fn part_refund(shop: &Shop, dice: &mut Dice, order: &Value) -> Value {
    let decimals = shop.choices.decimals;
    let total = amount(&order["total"]);
    if dice.one_in(3) {
        let sum = money::rounded(total / dice.between(3, 9), decimals);
        return json!({ "amount": money::text(sum.max(1), 6), "reason": "goodwill" });
    }
    let lines = order["line_items"].as_array().unwrap();
    let line = dice.pick(lines);
    let quantity = line["quantity"].as_i64().unwrap();
    let is_money_only = dice.one_in(4);
    let pieces = i64::from(!is_money_only);
    let part = |value: Millionths| money::rounded(value / quantity, decimals);
    let mut sum = part(amount(&line["total"]));
    let taxes: Vec<Value> = line["taxes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tax| {
            let own = part(amount(&tax["total"]));
            sum += own;
            json!({ "id": tax["id"], "total": money::text(-own, 6) })
        })
        .collect();
    let refunded = refunded_line(&line, pieces, -part(amount(&line["total"])), taxes);
    json!({ "amount": money::text(sum, 6), "line_items": [refunded] })
}

fn refunded_line(line: &Value, pieces: i64, total: Millionths, taxes: Vec<Value>) -> Value {
    let of_line: Millionths = taxes.iter().map(|tax| amount(&tax["total"])).sum();
    json!({ "product_id": line["product_id"], "variation_id": line["variation_id"],
        "name": line["name"], "quantity": -pieces, "total": money::text(total, 6),
        "subtotal": money::text(total, 6), "total_tax": money::text(of_line, 6), "taxes": taxes,
        "meta_data": [{ "key": "_refunded_item_id", "value": line["id"].to_string() }] })
}

fn whole_by_lines(order: &Value) -> Value {
    let negative = |taxes: &Value| -> Vec<Value> {
        let taxes = taxes.as_array().unwrap().iter();
        taxes
            .map(|tax| json!({ "id": tax["id"], "total": money::text(-amount(&tax["total"]), 6) }))
            .collect()
    };
    let lines = order["line_items"].as_array().unwrap().iter().map(|line| {
        let pieces = line["quantity"].as_i64().unwrap();
        refunded_line(line, pieces, -amount(&line["total"]), negative(&line["taxes"]))
    });
    let others = |group: &str| -> Vec<Value> {
        let lines = order[group].as_array().unwrap().iter();
        lines
            .map(|line| {
                let mut other = line.clone();
                other.as_object_mut().unwrap().remove("id");
                for name in ["total", "total_tax"] {
                    other[name] = json!(money::text(-amount(&line[name]), 6));
                }
                other["taxes"] = json!(negative(&line["taxes"]));
                other
            })
            .collect()
    };
    json!({ "amount": order["total"], "line_items": lines.collect::<Vec<Value>>(),
        "shipping_lines": others("shipping_lines"), "fee_lines": others("fee_lines") })
}

/// Downloads of the album by those who bought it. **They come by a bundle**, since no route of the
/// interface makes any.
fn downloads(
    shop: &Shop,
    catalogue: &Catalogue,
    dice: &mut Dice,
    orders: &[Value],
) -> Vec<Download> {
    let has_album = |order: &&Value| {
        let lines = order["line_items"].as_array().unwrap();
        lines.iter().any(|line| line["product_id"] == catalogue.album)
    };
    let (mut permissions, mut log, mut downloads) = (Vec::new(), Vec::new(), Vec::new());
    for (place, order) in orders.iter().filter(has_album).enumerate() {
        let permission = 900 + i64::try_from(place).unwrap();
        let user = order["customer_id"].as_i64().unwrap();
        let created = order["date_created_gmt"].as_str().unwrap();
        permissions.push(json!({ "permission_id": permission.to_string(), "download_id": "f1",
            "product_id": catalogue.album.to_string(), "order_id": order["id"].to_string(),
            "order_key": order["order_key"], "user_email": order["billing"]["email"],
            "user_id": user.to_string(), "downloads_remaining": "",
            "access_granted": created.replace('T', " "), "access_expires": null,
            "download_count": "1" }));
        for _ in 0..dice.below(4) {
            let at = clock::read(created) + dice.between(0, 6 * DAY);
            let id = 700 + i64::try_from(downloads.len()).unwrap();
            let address = dice.pick(&["192.0.2.1", "192.0.2.2", "2001:db8::1"]).to_owned();
            log.push(json!({ "download_log_id": id.to_string(),
                "timestamp": clock::written(at, ' '), "permission_id": permission.to_string(),
                "user_id": user.to_string(), "user_ip_address": address }));
            let order = order["id"].as_i64().unwrap();
            downloads.push(Download { id, at, product: catalogue.album, order, user, address });
        }
    }
    let bundle = json!({ "download_permissions": permissions, "download_log": log });
    let folder = testkit::temp_dir().unwrap();
    let path = folder.path().join("bundle.json");
    std::fs::write(&path, bundle.to_string()).unwrap();
    shop.site.json(&["import", "bundle", path.to_str().unwrap()]);
    downloads
}

/// Orders, refunds and changes of orders that happen while the shop is open.
fn happen_now(shop: &Shop, catalogue: &Catalogue, dice: &mut Dice, orders: &[Value]) {
    for _ in 0..4 {
        let mut order = order(shop, catalogue, dice);
        order["status"] = json!(dice.pick(&["processing", "completed", "pending"]));
        order["set_paid"] = json!(dice.one_in(2));
        shop.ask("POST", "/wc/v3/orders", &order);
    }
    let path = |order: &Value| format!("/wc/v3/orders/{}", order["id"]);
    let paid = |order: &&Value| matches!(order["status"].as_str(), Some("processing" | "on-hold"));
    let open: Vec<&Value> = orders.iter().filter(paid).collect();
    for order in open.iter().take(2) {
        shop.ask("PUT", &path(order), &json!({ "status": dice.pick(&STATUSES) }));
    }
    if let Some(order) = open.get(2) {
        // What the shop pays back by the status is all that is left.
        shop.ask("PUT", &path(order), &json!({ "status": "refunded" }));
    }
    if let Some(order) = open.get(3) {
        let line = &order["line_items"][0];
        let refund = json!({ "api_refund": false, "line_items": [{ "id": line["id"],
            "quantity": 1, "refund_total": money::text(
                money::rounded(amount(&line["total"]) / line["quantity"].as_i64().unwrap(),
                    shop.choices.decimals), 6) }] });
        shop.ask("POST", &format!("{}/refunds", path(order)), &refund);
    }
    let deleted: Vec<&Value> = orders.iter().rev().take(2).collect();
    shop.ask("DELETE", &path(deleted[0]), &Value::Null);
    shop.ask("DELETE", &format!("{}?force=true", path(deleted[1])), &Value::Null);
}
