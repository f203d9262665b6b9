//! Shipping labels of orders as PDF, and tracking numbers that customers are sent, while a plugin
//! that contributes labels is active. Orders are read and changed by the shop's own routes, as the
//! caller.

use contract::rest::route::{CREATE, READ, Route, Verb};
use contract::rest::{Args, Body, Refusal, Reply, Schema, Stop, clean};
use frame::action::{read, write};
use frame::managers::may_view;
use frame::{Action, Call, Names, Options};
use serde_json::{Map, Value, json};

use super::installed::{self, Installed};
use super::label_pdf::{self, Line, PageSize};
use crate::package::manifest::ShippingLabels;

/// Paper by the names that settings have for it, in points; the first where none is chosen.
const SIZES: &[(&str, PageSize)] =
    &[("a6", (297.64, 419.53)), ("a5", (419.53, 595.28)), ("letter", (612.0, 792.0))];
/// Points between the edge and the text.
const MARGIN: f64 = 24.0;
/// Of the sender's lines and the recipient's, in points.
const SMALL: f64 = 9.0;
const LARGE: f64 = 15.0;
const LINE_CHARS_MAX: usize = 60;
const PDF: &str = "application/pdf";

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let orders = format!("/{}/orders", names.commerce_v3);
    let of_label = orders.clone();
    let at = |path: &str| Route::at(&names.docs, &format!(r"/orders/(?P<id>[\d]+)/{path}"));
    let id = || Args::new().arg("id", Schema::integer().about("Order ID."));
    let text = |about: &str| Schema::text().about(about);
    let tracking = id()
        .arg("number", text("Tracking number.").required())
        .arg("carrier", text("Name of the carrier."))
        .arg("url", text("Page where the parcel can be tracked.").format("uri"));
    vec![
        at("shipping-label")
            .on(READ, id(), read(may_view, move |call: &mut Call<'_>| label(call, &of_label)))
            .sends_file(PDF),
        at("tracking")
            .on(CREATE, tracking, write(may_view, move |call: &mut Call<'_>| track(call, &orders)))
            .creates()
            .shows(tracked()),
    ]
}

/// What [`track`] tells.
fn tracked() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    Schema::object([
        ("order_id", Schema::integer().about("Order ID.")),
        ("number", text("Tracking number.")),
        ("carrier", text("Name of the carrier.")),
        ("url", text("Page where the parcel can be tracked.")),
        ("note_id", Schema::integer().about("Note that tells the customer.").or_null()),
    ])
}

/// The plugin that makes labels, with what it says about them.
fn maker(call: &mut Call<'_>) -> Result<(Installed, ShippingLabels), Stop> {
    let active = installed::active(call.conn()?)?.into_iter();
    let mut makers = active.filter_map(|plugin| {
        let labels = plugin.manifest.contributes.shipping_labels.clone()?;
        Some((plugin, labels))
    });
    let message = "No active plugin makes shipping labels; activate Parcels.";
    Ok(makers.next().ok_or_else(|| Refusal::new(404, "boardwalk_no_shipping_labels", message))?)
}

fn label(call: &mut Call<'_>, orders: &str) -> Result<Reply, Stop> {
    let (plugin, labels) = maker(call)?;
    let id = call.params.int("id").unwrap_or_default();
    let order = call.ask(Verb::Get, &format!("{orders}/{id}"), Map::new())?;
    let to = address_lines(order.get("shipping"));
    let to = if to.is_empty() { address_lines(order.get("billing")) } else { to };
    if to.is_empty() {
        let message = "The order has no address to ship to.";
        return Err(Refusal::new(400, "boardwalk_no_address", message).into());
    }
    let chosen = |setting: &Option<String>| {
        setting.as_deref().map(|name| plugin.setting(name)).unwrap_or_default()
    };
    let size = chosen(&labels.size_with);
    let size = SIZES.iter().find(|(name, _)| size == *name).or(SIZES.first());
    let size = size.map_or((0.0, 0.0), |(_, size)| *size);
    let sender = chosen(&labels.sender_with);
    let sender = sender_lines(call.options(), sender.as_str().unwrap_or_default());
    let number = order.get("number").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut remarks = vec![format!("Order {number}")];
    if chosen(&labels.insured_with) == Value::Bool(true) {
        remarks.push(String::from("INSURED"));
    }
    let text = label_pdf::document(size, &laid_out(size, &sender, &to, &remarks));
    let reply = Reply::of(200, Body::Text { media_type: PDF, text });
    let name = format!("attachment; filename=\"label-{id}.pdf\"");
    Ok(reply.header("content-disposition", name))
}

/// The sender on top, the recipient in the middle, the rest at the bottom.
fn laid_out(
    (_, height): PageSize,
    sender: &[String],
    to: &[String],
    remarks: &[String],
) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut block = |texts: &[String], top: f64, size: f64, is_bold: bool| {
        let mut y = top;
        for text in texts {
            let text = text.chars().take(LINE_CHARS_MAX).collect();
            lines.push(Line { x: MARGIN, y, size, is_bold, text });
            y -= size * 1.35;
        }
    };
    block(sender, height - MARGIN - SMALL, SMALL, false);
    block(to, height * 0.6, LARGE, true);
    block(remarks, MARGIN + SMALL * 2.0, SMALL, false);
    lines
}

fn sender_lines(options: &Options, name: &str) -> Vec<String> {
    let text = |option: &str| options.text(option);
    let name = if name.is_empty() { text("blogname") } else { name.to_owned() };
    let city = format!("{} {}", text("woocommerce_store_postcode"), text("woocommerce_store_city"));
    let lines = [
        name,
        text("woocommerce_store_address"),
        text("woocommerce_store_address_2"),
        city,
        crate::country::of(options),
    ];
    filled(lines)
}

fn address_lines(address: Option<&Value>) -> Vec<String> {
    let text = |name: &str| {
        let found = address.and_then(|address| address.get(name)?.as_str());
        found.unwrap_or_default().to_owned()
    };
    let street = text("address_1");
    if street.is_empty() {
        return Vec::new();
    }
    filled([
        format!("{} {}", text("first_name"), text("last_name")),
        text("company"),
        street,
        text("address_2"),
        format!("{} {} {}", text("postcode"), text("city"), text("state")),
        text("country"),
    ])
}

fn filled<const N: usize>(lines: [String; N]) -> Vec<String> {
    let trimmed = lines.into_iter().map(|line| line.trim().to_owned());
    trimmed.filter(|line| !line.is_empty()).collect()
}

/// Keeps the number with the order, and tells the customer by a note, which is e-mailed.
fn track(call: &mut Call<'_>, orders: &str) -> Result<Reply, Stop> {
    maker(call)?;
    let id = call.params.int("id").unwrap_or_default();
    let text = |name: &str| clean::text_field(call.params.text(name).unwrap_or_default());
    let (number, carrier, url) = (text("number"), text("carrier"), text("url"));
    if number.is_empty() {
        let message = "A tracking number is required.";
        return Err(Refusal::new(400, "boardwalk_no_tracking_number", message).into());
    }
    let entries =
        [("tracking_number", &number), ("tracking_carrier", &carrier), ("tracking_url", &url)];
    let entries: Vec<Value> =
        entries.iter().map(|(key, value)| json!({ "key": key, "value": value })).collect();
    let body = Map::from_iter([(String::from("meta_data"), json!(entries))]);
    call.ask(Verb::Put, &format!("{orders}/{id}"), body)?;
    let with = if carrier.is_empty() { String::new() } else { format!(" with {carrier}") };
    let at = if url.is_empty() { String::new() } else { format!(" Track it at {url}.") };
    let note = format!("Your parcel is on its way{with}. Tracking number: {number}.{at}");
    let body = json!({ "note": note, "customer_note": true });
    let body = body.as_object().cloned().unwrap_or_default();
    let note = call.ask(Verb::Post, &format!("{orders}/{id}/notes"), body)?;
    Ok(Reply::of(
        201,
        Body::Json(json!({
            "order_id": id,
            "number": number,
            "carrier": carrier,
            "url": url,
            "note_id": note.get("id"),
        })),
    ))
}
