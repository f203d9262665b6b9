//! Webhooks: who wants to be told of changes, of which, and where.
//!
//! [`topics`] says what can be told. [`follow`] turns events of the feed into deliveries, which
//! wait in the store; [`send`] makes the request of a delivery, and says what becomes of a webhook
//! when it fails. Who carries requests over the network is above this crate. **A secret is sealed
//! at rest and never shown.**

mod deliveries;
pub mod follow;
mod list;
mod schema;
pub mod send;
mod topics;
mod write;

use contract::rest::route::Route;
use contract::rest::{Args, Item, Links, Schema, Stop};
use db::webhook_delivery;
use frame::{Action, Call, Names};
use serde_json::{Map, Value, json};
use shop_rows::webhook::{self, WebhookRow};
use types::Capability;

use self::topics::Topic;
use crate::common::version::Version;
use crate::common::{events, moments};
use crate::resource::{self, Listed, Resource, Rights};

const ACTIVE: &str = "active";
const DISABLED: &str = "disabled";
const STATUSES: &[&str] = &[ACTIVE, "paused", DISABLED];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let versions = [Version::Three, Version::Two, Version::One];
    let routes = versions.into_iter().flat_map(|version| {
        let namespace = version.namespace(names);
        let webhooks = Webhooks { version, item: schema::item(version) };
        let routes = resource::routes(namespace, "/webhooks", webhooks);
        let mut routes = routes.expect("the schema is well formed");
        if version != Version::Three {
            routes.extend(deliveries::routes(namespace, version));
        }
        routes
    });
    routes.collect()
}

#[derive(Debug)]
struct Webhooks {
    version: Version,
    item: Item,
}

impl Resource for Webhooks {
    type Record = WebhookRow;

    fn word(&self) -> &'static str {
        "shop_webhook"
    }

    fn rights(&self) -> Rights {
        let manage = Capability::ManageWoocommerce;
        Rights { read: manage, create: manage, edit: manage, delete: manage, batch: manage }
    }

    fn item(&self) -> &Item {
        &self.item
    }

    fn create_args(&self) -> Args {
        let url = Schema::text().about("Delivery URL.").required();
        let args = self.item.create_args().revise("topic", Schema::required);
        args.arg("delivery_url", url)
    }

    fn list_args(&self) -> Args {
        list::args()
    }

    fn has_trash(&self) -> bool {
        false
    }

    fn reports_unknown_ids(&self) -> bool {
        false
    }

    fn find(&self, call: &mut Call<'_>, id: i64) -> Result<Option<WebhookRow>, Stop> {
        Ok(webhook::get(call.conn()?, id)?)
    }

    fn list(&self, call: &mut Call<'_>) -> Result<Listed<WebhookRow>, Stop> {
        let filter = list::filter(call);
        let (records, total) = webhook::list(call.conn()?, &filter)?;
        Ok(Listed { records, total })
    }

    fn show(&self, call: &mut Call<'_>, webhook: &WebhookRow) -> Result<Value, Stop> {
        Ok(body(self.version, call, webhook))
    }

    fn links(&self, call: &Call<'_>, webhook: &WebhookRow, base: &str) -> Links {
        Links::new()
            .to("self", call.visit.rest(&format!("{base}/{}", webhook.webhook_id)))
            .to("collection", call.visit.rest(base))
    }

    fn id(&self, webhook: &WebhookRow) -> i64 {
        webhook.webhook_id
    }

    fn create(&self, call: &mut Call<'_>) -> Result<WebhookRow, Stop> {
        let webhook = write::create(self.version, call)?;
        append_event(call, "webhook.created", &webhook)?;
        Ok(webhook)
    }

    fn update(&self, call: &mut Call<'_>, webhook: WebhookRow) -> Result<WebhookRow, Stop> {
        let changed = write::update(call, &webhook)?;
        if changed != webhook {
            append_event(call, "webhook.updated", &changed)?;
        }
        Ok(changed)
    }

    fn trash(&self, _: &mut Call<'_>, _: WebhookRow) -> Result<(), Stop> {
        Err(types::Error::internal("webhooks have no trash").into())
    }

    fn delete(&self, call: &mut Call<'_>, webhook: WebhookRow) -> Result<(), Stop> {
        webhook::delete(call.conn()?, webhook.webhook_id)?;
        webhook_delivery::forget(call.conn()?, &webhook::endpoint(webhook.webhook_id))?;
        Ok(append_event(call, "webhook.deleted", &webhook)?)
    }
}

fn append_event(
    call: &mut Call<'_>,
    kind: &'static str,
    webhook: &WebhookRow,
) -> types::Result<()> {
    events::append(call, kind, webhook.webhook_id, &json!({}))
}

fn body(version: Version, call: &Call<'_>, webhook: &WebhookRow) -> Value {
    let topic = Topic::parse(&webhook.topic);
    let [created, created_gmt] = moments::pair(call.options(), Some(webhook.created));
    let [modified, modified_gmt] = moments::pair(call.options(), Some(webhook.modified));
    let mut members = vec![
        ("id", json!(webhook.webhook_id)),
        ("name", json!(webhook.name)),
        ("status", json!(webhook.status)),
        ("topic", json!(webhook.topic)),
        ("resource", json!(topic.map_or("", |topic| topic.resource))),
        ("event", json!(topic.map_or("", |topic| topic.event))),
        ("hooks", json!(topic.map_or(&[][..], |topic| topic.hooks))),
        ("delivery_url", json!(webhook.delivery_url)),
    ];
    members.extend(if version == Version::One {
        vec![("date_created", created_gmt), ("date_modified", modified_gmt)]
    } else {
        vec![
            ("date_created", created),
            ("date_created_gmt", created_gmt),
            ("date_modified", modified),
            ("date_modified_gmt", modified_gmt),
        ]
    });
    let named = members.into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Object(named.collect::<Map<_, _>>())
}
