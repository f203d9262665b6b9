//! Receipts: a page with what an order came to, at an address that nobody can guess, until a day.
//!
//! **Whoever knows the address may read it**, so it holds no more than a printed receipt does. The
//! order remembers the address; a new one makes the old one worthless.

use contract::rest::route::{CREATE, READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop, Treatment};
use db::Conn;
use frame::action::{read, write};
use frame::dates;
use frame::lock::Lock;
use frame::text::escaped;
use frame::{Action, Call, Options, PageSource, PublicPage, Visit};
use serde_json::json;
use shop_rows::order::{ItemKind, OrderKind};
use types::{Amount, Capability, Result, Timestamp};

use super::record::{Order, Receipt};
use super::{money, status};
use crate::common::moments;

const PATH: &str = "/receipt/";
const TOKEN_BYTES: usize = 16;
const DAY_MICROS: i64 = 86_400_000_000;
/// A receipt is not for ever: ten years.
const DAYS_MAX: i64 = 3_650;

pub(super) fn route(namespace: &str) -> Route<Action> {
    let id = || Args::new().arg("id", Schema::integer().about("Order ID."));
    let date = Schema::text().default(serde_json::Value::Null);
    let days = Schema::integer().default(1).about("Number of days until the receipt expires.");
    let force = Schema::boolean().default(false);
    let create = id()
        .treated("expiration_date", date.about("Expiry date."), Treatment::Nullable)
        .arg("expiration_days", days)
        .arg("force_new", force.about("Whether to create a new receipt if one exists."));
    Route::at(namespace, r"/orders/(?P<id>[\d]+)/receipt")
        .on(CREATE, create, write(may_create, make))
        .shows_one(item().document())
        .on(READ, id(), read(may_read, get))
        .shows_one(item().document())
}

/// Where a receipt is, as [`reply`] tells it.
fn item() -> Item {
    Item::new(
        "order_receipt",
        Schema::object([
            ("receipt_url", Schema::text().about("Address of the receipt.")),
            ("expiration_date", Schema::text().about("Last day on which it can be read.")),
        ]),
    )
}

fn may_read(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to view receipts.";
    call.need(Capability::ReadPrivateShopOrders, "woocommerce_rest_cannot_view", message)
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create receipts.";
    call.need(Capability::PublishShopOrders, "woocommerce_rest_cannot_create", message)
}

fn not_found() -> Stop {
    let message = "Receipt not found.";
    Refusal::new(404, "woocommerce_rest_not_found", message).into()
}

fn order_of(call: &mut Call<'_>) -> Result<Order, Stop> {
    let id = call.params.int("id").unwrap_or_default();
    Order::get(call.conn()?, id, OrderKind::Order)?.ok_or_else(not_found)
}

fn get(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let order = order_of(call)?;
    let receipt = readable(&order, call.options(), call.now()).ok_or_else(not_found)?;
    Ok(reply(call, &order, receipt))
}

fn make(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut order = order_of(call)?;
    if !call.params.flag("force_new")
        && let Some(receipt) = readable(&order, call.options(), call.now())
    {
        return Ok(reply(call, &order, receipt));
    }
    let last_day = expiry_day(call)?;
    let receipt = Receipt { token: token()?, last_day };
    order.details.receipt = Some(receipt.clone());
    let order = order.update(call.conn()?)?;
    Ok(reply(call, &order, &receipt))
}

fn reply(call: &Call<'_>, order: &Order, receipt: &Receipt) -> Reply {
    Reply::new(json!({
        "receipt_url": call.visit.page(&path(order.id(), &receipt.token)),
        "expiration_date": receipt.last_day,
    }))
}

fn path(order_id: i64, token: &str) -> String {
    format!("{PATH}{order_id}-{token}/")
}

fn token() -> Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    vault::fill_random(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// The last day that the request asks for: a date, or so many days from today.
fn expiry_day(call: &Call<'_>) -> Result<String, Stop> {
    let options = call.options();
    let invalid = |message: &'static str| -> Stop {
        Refusal::new(400, "woocommerce_rest_invalid_argument", message).into()
    };
    let latest = later(options, call.now(), DAYS_MAX);
    if let Some(text) = call.params.text("expiration_date") {
        let read = moments::bound(options, Some(&format!("{text}T00:00:00")), false);
        // A day that the calendar does not have would come out as another one.
        let day = read.map(|time| day_of(options, time)).filter(|day| day == text);
        let day =
            day.ok_or_else(|| invalid("expiration_date must be a day such as 2026-03-31."))?;
        if day < day_of(options, call.now()) || day > latest {
            return Err(invalid("expiration_date must be in the future, at most ten years ahead."));
        }
        return Ok(day);
    }
    let days = call.params.int("expiration_days").unwrap_or(1);
    if !(0..=DAYS_MAX).contains(&days) {
        return Err(invalid("expiration_days must be between 0 and 3650."));
    }
    Ok(later(options, call.now(), days))
}

fn later(options: &Options, now: Timestamp, days: i64) -> String {
    let micros = now.as_micros().saturating_add(days.saturating_mul(DAY_MICROS));
    day_of(options, Timestamp::from_micros(micros))
}

/// The day of the site's calendar; days compare as their texts do.
pub(super) fn day_of(options: &Options, time: Timestamp) -> String {
    let mut written = dates::written(options.local(time));
    written.truncate(10);
    written
}

/// The receipt of the order that can still be read.
fn readable<'o>(order: &'o Order, options: &Options, now: Timestamp) -> Option<&'o Receipt> {
    let receipt = order.details.receipt.as_ref()?;
    (receipt.last_day >= day_of(options, now) && order.row.status != status::TRASH)
        .then_some(receipt)
}

/// What the order consists of and comes to: what it is, and how much.
pub(super) fn rows(options: &Options, order: &Order) -> Vec<(String, String)> {
    let row = &order.row;
    let money = |amount: Amount| money::formatted(options, amount, &row.currency);
    let mut rows: Vec<(String, String)> = order
        .lines(ItemKind::Line)
        .map(|line| {
            (format!("{} × {}", line.row.quantity, line.row.name), money(line.row.subtotal))
        })
        .collect();
    rows.extend(order.lines(ItemKind::Fee).map(|fee| (fee.row.name.clone(), money(fee.row.total))));
    for (name, amount) in [
        ("Discount", -row.discount_total),
        ("Shipping", row.shipping_total),
        ("Tax", row.total_tax),
    ] {
        if !amount.is_zero() {
            rows.push((name.to_owned(), money(amount)));
        }
    }
    rows.push((String::from("Total"), money(row.total)));
    rows
}

/// The pages of receipts.
#[derive(Debug)]
pub struct ReceiptPages;

impl PageSource for ReceiptPages {
    fn page_at(
        &self,
        conn: &mut dyn Conn,
        visit: &Visit,
        address: &str,
    ) -> Result<Option<PublicPage>> {
        let parts = address.split(['?', '#']).next().and_then(|path| path.strip_prefix(PATH));
        let parts = parts.and_then(|name| name.trim_end_matches('/').split_once('-'));
        let Some((id, token)) = parts else { return Ok(None) };
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        let Some(order) = Order::get(conn, id, OrderKind::Order)? else { return Ok(None) };
        let receipt = readable(&order, &visit.options, visit.now);
        // The token is random and long, so the time of a comparison helps nobody to guess it.
        if receipt.is_none_or(|receipt| receipt.token != token) {
            return Ok(None);
        }
        Ok(Some(PublicPage {
            title: format!("Receipt for order {}", escaped(&order.row.number)),
            summary: String::new(),
            content: content(visit, &order),
            lock: Lock::default(),
            permalink: visit.page(&path(id, token)),
            rest_path: String::from("/"),
            author_id: 0,
            published: None,
        }))
    }

    fn desk_of(&self, conn: &mut dyn Conn, id: i64) -> Result<Option<String>> {
        let order = Order::get(conn, id, OrderKind::Order)?;
        Ok(order.map(|order| format!("/store/orders/{}", order.row.order_id)))
    }
}

/// What the order consists of and comes to, as a table.
fn table(options: &Options, order: &Order) -> String {
    let rows = rows(options, order).into_iter().map(|(name, amount)| {
        format!("<tr><td>{}</td><td>{}</td></tr>\n", escaped(&name), escaped(&amount))
    });
    format!("<table>\n{}</table>\n", rows.collect::<String>())
}

fn content(visit: &Visit, order: &Order) -> String {
    let table = table(&visit.options, order);
    let day = day_of(&visit.options, order.row.paid.unwrap_or(order.row.created));
    let by = escaped(&order.details.payment_method_title);
    let by = if by.is_empty() { by } else { format!(", {by}") };
    format!("<p>{day}{by}</p>\n{table}")
}
