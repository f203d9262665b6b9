//! From the feed of changes to notes: what happened in the shop that its people should hear of.
//!
//! The follower's place and the notes are written in one transaction, so that each event is told
//! once, however many processes follow.

use db::Conn;
use db::filter::Page;
use db::outbox::{self, SequencedEvent};
use frame::{Options, jobs};
use serde_json::{Value, json};
use shop_rows::product::{LowStock, ProductFilter, ProductRow};
use shop_rows::{order, product, webhook};
use site_rows::iso;
use site_rows::iso::PENDING_APPROVAL;
use types::{Amount, IsoId, Result, Timestamp};

use super::raise::{NewAction, NewNote, raise, raise_once};
use crate::rows::admin_note::{self, NoteKind, NoteRow};

/// The name under which the follower's place is kept.
const FOLLOWER: &str = "admin_notes";
/// Events that one step looks at.
const EVENTS_MAX: i64 = 200;
/// Notes of one name that are looked at for one that is still to be seen.
const NAMED_MAX: i64 = 10;
/// Products that a shop which came to be at once is told of.
const LOOKED_OVER_MAX: i64 = 3;
const FIRST_ORDER: &str = "first-order";
const LOW_STOCK: &str = "low-stock";
const ISO_WAITS: &str = "iso-waits";
const WEBHOOK_DISABLED: &str = "webhook-disabled";
const STORE_ALERT: &str = "store-alert";
/// Where people read how webhooks of the shop are fixed.
const WEBHOOK_GUIDE: &str = "/docs/rest/#webhooks";

/// Whether there are events to look at.
pub fn is_behind(conn: &mut dyn Conn) -> Result<bool> {
    let place = outbox::position(conn, FOLLOWER)?;
    Ok(!outbox::after(conn, place, 1)?.is_empty())
}

/// Looks at the next events and raises what they mean. A conflict when another process did
/// meanwhile: then nothing may stay of it. Returns how many events there were.
pub fn step(conn: &mut dyn Conn, now: Timestamp) -> Result<usize> {
    let from = outbox::position(conn, FOLLOWER)?;
    let events = outbox::after(conn, from, EVENTS_MAX)?;
    let Some(last) = events.last() else { return Ok(0) };
    outbox::advance(conn, FOLLOWER, from, last.seq)?;
    for event in &events {
        handle_event(conn, event, now)?;
    }
    Ok(events.len())
}

/// Tells of the first order, and of a few products of which little is left, in a shop that came to
/// be at once: no event told of them.
pub fn look_over(conn: &mut dyn Conn, now: Timestamp) -> Result<()> {
    if let Some(order_id) = order::first(conn)? {
        first_order(conn, order_id, now)?;
    }
    let threshold =
        |options: &Options, name: &str| Amount::from_whole(options.integer(name).max(0));
    let options = Options::read(conn)?;
    let low = LowStock {
        threshold: threshold(&options, "woocommerce_notify_low_stock_amount"),
        above: Some(threshold(&options, "woocommerce_notify_no_stock_amount")),
    };
    let few = ProductFilter {
        low_stock: Some(low),
        page: Page { offset: 0, limit: LOOKED_OVER_MAX },
        ..ProductFilter::default()
    };
    for row in product::list(conn, &few)?.0 {
        stock(conn, row.product_id, now)?;
    }
    Ok(())
}

fn handle_event(conn: &mut dyn Conn, event: &SequencedEvent, now: Timestamp) -> Result<()> {
    match event.kind.as_str() {
        "iso.registered" => return iso_waits(conn, event, now),
        "iso.activated" | "iso.rejected" => return iso_decided(conn, event),
        "connection.alert_raised" => return alert_raised(conn, event, now),
        "connection.alert_ended" => return alert_ended(conn, event),
        _ => {}
    }
    let Ok(id) = event.object_id.parse::<i64>() else { return Ok(()) };
    match event.kind.as_str() {
        "order.created" => first_order(conn, id, now),
        "product.updated" => stock(conn, id, now),
        "webhook.disabled" => webhook_disabled(conn, id, now),
        "background_job.done" => job_done(conn, event, id, now),
        _ => Ok(()),
    }
}

fn first_order(conn: &mut dyn Conn, order_id: i64, now: Timestamp) -> Result<()> {
    if order::first(conn)? != Some(order_id) {
        return Ok(());
    }
    let note = NewNote {
        name: FIRST_ORDER,
        kind: NoteKind::Info,
        title: String::from("You received your first order"),
        content: String::from(
            "A customer placed the first order in your shop. Review it and prepare it for \
             shipping.",
        ),
        data: json!({ "order_id": order_id }),
        action: Some(NewAction::page(
            "view-order",
            "View order",
            &format!("/portal/store/orders/{order_id}"),
        )),
    };
    raise_once(conn, &note, now).map(drop)
}

/// Tells that little is left of a product, once until there is more of it again.
fn stock(conn: &mut dyn Conn, product_id: i64, now: Timestamp) -> Result<()> {
    let name = format!("{LOW_STOCK}-{product_id}");
    let told = unseen(conn, &name)?;
    let product = product::get(conn, product_id)?;
    let options = Options::read(conn)?;
    let low = product.as_ref().and_then(|product| low_stock(product, &options));
    match (product, low, told) {
        (Some(product), Some(left), None) => {
            let left = left.to_string();
            let note = NewNote {
                name: &name,
                kind: NoteKind::Warning,
                title: format!("Low stock: {}", product.name),
                content: format!("{left} left in stock. Reorder before it sells out."),
                data: json!({ "product_id": product_id, "stock_quantity": left }),
                action: Some(NewAction::page(
                    "view-product",
                    "View product",
                    &format!("/portal/store/products/{product_id}"),
                )),
            };
            raise(conn, &note, now).map(drop)
        }
        (_, None, Some(told)) => admin_note::update(conn, &NoteRow { is_deleted: true, ..told }),
        _ => Ok(()),
    }
}

/// How much is left, if that is little. What is all gone is no news any more.
fn low_stock(product: &ProductRow, options: &Options) -> Option<Amount> {
    if !product.manage_stock || !options.is_on("woocommerce_notify_low_stock") {
        return None;
    }
    let threshold = |name: &str| Amount::from_whole(options.integer(name).max(0));
    let little = threshold("woocommerce_notify_low_stock_amount");
    let none = threshold("woocommerce_notify_no_stock_amount");
    let little = product.low_stock_amount.unwrap_or(little);
    product.stock_quantity.filter(|left| *left <= little && *left > none)
}

/// A note of the name that nobody has dismissed yet.
fn unseen(conn: &mut dyn Conn, name: &str) -> Result<Option<NoteRow>> {
    let named = admin_note::named(conn, name, NAMED_MAX)?;
    Ok(named.into_iter().find(|note| !note.is_deleted))
}

fn webhook_disabled(conn: &mut dyn Conn, webhook_id: i64, now: Timestamp) -> Result<()> {
    let Some(webhook) = webhook::get(conn, webhook_id)? else { return Ok(()) };
    let name = format!("{WEBHOOK_DISABLED}-{webhook_id}");
    let note = NewNote {
        name: &name,
        kind: NoteKind::Warning,
        title: format!("Webhook {} was disabled", webhook.name),
        content: String::from(
            "Too many deliveries failed. Fix its URL, then set the webhook to active again.",
        ),
        data: json!({ "webhook_id": webhook_id }),
        action: Some(NewAction::page("read-webhooks", "Learn more", WEBHOOK_GUIDE)),
    };
    raise(conn, &note, now).map(drop)
}

/// Tells that an ISO waits for an administrator's word.
fn iso_waits(conn: &mut dyn Conn, event: &SequencedEvent, now: Timestamp) -> Result<()> {
    let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
    if payload.get("status").and_then(Value::as_str) != Some(PENDING_APPROVAL) {
        return Ok(());
    }
    let iso_id = IsoId::new(event.object_id.clone());
    let Some(iso) = iso::get(conn, &iso_id)? else { return Ok(()) };
    let name = format!("{ISO_WAITS}-{iso_id}");
    let note = NewNote {
        name: &name,
        kind: NoteKind::Info,
        title: format!("{} is waiting for approval", iso.name),
        content: String::from("The ISO registered and needs an administrator's decision."),
        data: json!({ "iso_id": iso_id }),
        action: Some(NewAction::page("view-isos", "Decide", "/portal/console/isos")),
    };
    raise_once(conn, &note, now).map(drop)
}

/// What was decided on waits no more.
fn iso_decided(conn: &mut dyn Conn, event: &SequencedEvent) -> Result<()> {
    match unseen(conn, &format!("{ISO_WAITS}-{}", event.object_id))? {
        Some(told) => admin_note::update(conn, &NoteRow { is_deleted: true, ..told }),
        None => Ok(()),
    }
}

/// What an event tells of an alert about a connected store: the name of its note, the store, and
/// what is unusual.
fn alert_of(event: &SequencedEvent) -> Option<(String, String, String)> {
    let payload: Value = serde_json::from_str(&event.payload).ok()?;
    let alert = payload.get("alert")?;
    let text = |object: &Value, name: &str| object.get(name)?.as_str().map(str::to_owned);
    let name = format!("{STORE_ALERT}-{}", text(alert, "alertId")?);
    Some((name, text(&payload, "store")?, text(alert, "message")?))
}

/// Tells that a connected store behaves unlike itself.
fn alert_raised(conn: &mut dyn Conn, event: &SequencedEvent, now: Timestamp) -> Result<()> {
    let Some((name, store, message)) = alert_of(event) else { return Ok(()) };
    let path = format!("/portal/merchants/connected/{}", event.object_id);
    let note = NewNote {
        name: &name,
        kind: NoteKind::Warning,
        title: format!("Check the store {store}"),
        content: message,
        data: json!({ "connection_id": event.object_id }),
        action: Some(NewAction::page("view-connection", "View store", &path)),
    };
    raise_once(conn, &note, now).map(drop)
}

/// An alert that has ended needs nobody's attention.
fn alert_ended(conn: &mut dyn Conn, event: &SequencedEvent) -> Result<()> {
    let Some((name, ..)) = alert_of(event) else { return Ok(()) };
    match unseen(conn, &name)? {
        Some(told) => admin_note::update(conn, &NoteRow { is_deleted: true, ..told }),
        None => Ok(()),
    }
}

/// Jobs whose end people wait for.
fn job_done(
    conn: &mut dyn Conn,
    event: &SequencedEvent,
    job_id: i64,
    now: Timestamp,
) -> Result<()> {
    let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
    let (name, title, content, action) = match payload.get("kind").and_then(Value::as_str) {
        Some(jobs::REPORT_IMPORT) => (
            "report-import-finished",
            "Reports are up to date",
            "The reports were rebuilt from your records.",
            NewAction::page("view-reports", "View reports", "/portal/analytics"),
        ),
        Some(jobs::REPORT_EXPORT) => (
            "report-export-ready",
            "Your export is ready",
            "The report you requested is ready to download.",
            NewAction::result_of("download-report", "Download", job_id),
        ),
        _ => return Ok(()),
    };
    let note = NewNote {
        name,
        kind: NoteKind::Info,
        title: title.to_owned(),
        content: content.to_owned(),
        data: json!({ "job_id": job_id }),
        action: Some(action),
    };
    raise(conn, &note, now).map(drop)
}
