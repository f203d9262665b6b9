//! What was sent to a webhook and what came back, for the versions that show it.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Refusal, Reply, Schema, Stop};
use db::filter::Page;
use db::webhook_delivery::{self, DeliveryRow};
use frame::action::read;
use frame::{Action, Call};
use serde_json::{Map, Value, json};
use shop_rows::webhook::{self, WebhookRow};

use super::send;
use crate::common::moments;
use crate::common::version::Version;
use crate::managers::{linked, may_view};

const VIEW: &[&str] = &["view"];
/// Deliveries that a list shows: the newest.
const SHOWN_MAX: i64 = 25;

pub(super) fn routes(namespace: &str, version: Version) -> Vec<Route<Action>> {
    let item = item(version);
    let webhook = || Args::new().arg("webhook_id", whole("Webhook ID."));
    let context = || Args::new().arg("context", item.context_arg());
    let base = format!("/{namespace}/webhooks");
    let base_of_one = base.clone();
    let list = move |call: &mut Call<'_>| list(version, call, &base);
    let get = move |call: &mut Call<'_>| get(version, call, &base_of_one);
    let one = webhook().arg("id", whole("Delivery ID.")).with(context());
    vec![
        Route::at(namespace, r"/webhooks/(?P<webhook_id>[\d]+)/deliveries")
            .on(READ, webhook().with(context()), read(may_view, list))
            .lists()
            .schema(item.document()),
        Route::at(namespace, r"/webhooks/(?P<webhook_id>[\d]+)/deliveries/(?P<id>[\d]+)")
            .on(READ, one, read(may_view, get))
            .schema(item.document()),
    ]
}

fn whole(about: &str) -> Schema {
    Schema::integer().about(about)
}

fn item(version: Version) -> Item {
    // Only the first version knows a second view, and nothing differs there.
    let views: &[&str] = if version == Version::One { &["view", "edit"] } else { VIEW };
    let shown = |schema: Schema, about: &str| schema.about(about).context(views).readonly();
    let text = |about: &str| shown(Schema::text(), about);
    let moment = |about: &str| shown(Schema::typed("date-time"), about);
    let mut fields = vec![
        ("id", shown(Schema::integer(), "Delivery ID.")),
        ("duration", text("Duration of the delivery, in seconds.")),
        ("summary", text("Result of the delivery.")),
        ("request_url", text("Request URL.")),
        ("request_headers", shown(Schema::map(), "Request headers.")),
        ("request_body", text("Request body.")),
        ("response_code", text("Response code.")),
        ("response_message", text("Response message.")),
        ("response_headers", shown(Schema::map(), "Response headers.")),
        ("response_body", text("Beginning of the response body.")),
        ("date_created", moment("Date created, in the site's time zone.")),
    ];
    if version != Version::One {
        fields.push(("date_created_gmt", moment("Date created, in GMT.")));
    }
    Item::new("webhook_delivery", Schema::object(fields))
}

fn webhook_of(call: &mut Call<'_>) -> Result<WebhookRow, Stop> {
    let webhook_id = call.params.int("webhook_id").unwrap_or_default();
    let message = "Webhook not found.";
    let unknown = || Refusal::new(404, "woocommerce_rest_webhook_invalid_id", message);
    Ok(webhook::get(call.conn()?, webhook_id)?.ok_or_else(unknown)?)
}

fn list(version: Version, call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let webhook = webhook_of(call)?;
    let page = Page { offset: 0, limit: SHOWN_MAX };
    let endpoint = webhook::endpoint(webhook.webhook_id);
    let (deliveries, _) = webhook_delivery::list(call.conn()?, &endpoint, &[], page)?;
    let items = deliveries.iter().map(|delivery| {
        linked(body(version, call, &webhook, delivery), links(call, base, delivery))
    });
    Ok(Reply::new(items.collect::<Vec<Value>>()))
}

fn get(version: Version, call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let webhook = webhook_of(call)?;
    let delivery_id = call.params.int("id").unwrap_or_default();
    let found = webhook_delivery::get(call.conn()?, delivery_id)?;
    let endpoint = webhook::endpoint(webhook.webhook_id);
    let message = "Delivery not found.";
    let unknown = || Refusal::new(404, "woocommerce_rest_webhook_invalid_id", message);
    let delivery = found.filter(|delivery| delivery.endpoint == endpoint).ok_or_else(unknown)?;
    let body = body(version, call, &webhook, &delivery);
    Ok(Reply::new(body).links(links(call, base, &delivery)))
}

fn links(call: &Call<'_>, base: &str, delivery: &DeliveryRow) -> Links {
    let webhook = format!("{base}/{}", delivery.endpoint.id);
    let collection = format!("{webhook}/deliveries");
    Links::new()
        .to("self", call.visit.rest(&format!("{collection}/{}", delivery.delivery_id)))
        .to("collection", call.visit.rest(&collection))
        .to("up", call.visit.rest(&webhook))
}

fn body(version: Version, call: &Call<'_>, webhook: &WebhookRow, delivery: &DeliveryRow) -> Value {
    let answer = &delivery.answer;
    let code = answer.status.map(|status| status.to_string()).unwrap_or_default();
    let seconds = answer.duration.map(|time| format!("{:.5}", time.as_secs_f64()));
    let source = call.visit.page("/");
    let headers: Map<String, Value> = send::headers(&source, delivery)
        .into_iter()
        .map(|(name, value)| (name, json!(value)))
        .collect();
    let [created, created_gmt] = moments::pair(call.options(), Some(delivery.created));
    let mut body = json!({
        "id": delivery.delivery_id,
        "duration": seconds.unwrap_or_default(),
        "summary": format!("{}: {}", delivery.state.as_str(), code),
        "request_url": webhook.delivery_url,
        "request_headers": headers,
        "request_body": String::from_utf8_lossy(&delivery.body),
        "response_code": code,
        "response_message": "",
        "response_headers": {},
        "response_body": answer.body,
        "date_created": created,
        "date_created_gmt": created_gmt,
    });
    if let (Version::One, Value::Object(members)) = (version, &mut body) {
        let gmt = members.shift_remove("date_created_gmt").unwrap_or_default();
        members.insert(String::from("date_created"), gmt);
    }
    body
}
