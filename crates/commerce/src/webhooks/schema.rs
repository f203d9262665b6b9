//! The fields of a webhook in each version.

use contract::rest::{Item, Schema};

use super::{ACTIVE, STATUSES};
use crate::common::version::Version;

const BOTH: &[&str] = &["view", "edit"];

pub(super) fn item(version: Version) -> Item {
    let text = |about: &str| Schema::text().about(about).context(BOTH);
    let moment = |about: &str| Schema::typed("date-time").about(about).context(BOTH).readonly();
    let id = Schema::integer().about("Webhook ID.").context(BOTH).readonly();
    let status = text("Webhook status.").default(ACTIVE).choices(STATUSES);
    let hooks = Schema::list(Schema::text()).about("Internal hooks of the topic.");
    let secret = Schema::text().about("Secret that deliveries are signed with.").context(&["edit"]);
    let mut fields = vec![
        ("id", id),
        ("name", text("Webhook name.")),
        ("status", status),
        ("topic", text("Webhook topic.")),
        ("resource", text("Resource of the topic.").readonly()),
        ("event", text("Event of the topic.").readonly()),
        ("hooks", hooks.context(BOTH).readonly()),
        ("delivery_url", text("Delivery URL.").format("uri").readonly()),
        ("secret", secret),
        ("date_created", moment("Date created, in the site's time zone.")),
    ];
    if version != Version::One {
        fields.push(("date_created_gmt", moment("Date created, in GMT.")));
    }
    fields.push(("date_modified", moment("Date last modified, in the site's time zone.")));
    if version != Version::One {
        fields.push(("date_modified_gmt", moment("Date last modified, in GMT.")));
    }
    Item::new("webhook", Schema::object(fields))
}
