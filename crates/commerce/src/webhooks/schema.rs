//! The fields of a webhook in each version.

use contract::rest::{Item, Schema};

use super::{ACTIVE, STATUSES};
use crate::common::version::Version;

const BOTH: &[&str] = &["view", "edit"];

pub(super) fn item(version: Version) -> Item {
    let text = |about: &str| Schema::text().about(about).context(BOTH);
    let moment = |about: &str| Schema::typed("date-time").about(about).context(BOTH).readonly();
    let id = Schema::integer().about("Number of the webhook.").context(BOTH).readonly();
    let status = text("Whether it is told of anything.").default(ACTIVE).choices(STATUSES);
    let hooks = Schema::list(Schema::text()).about("Names of the topic from the inside.");
    let secret = Schema::text().about("What deliveries are signed with.").context(&["edit"]);
    let mut fields = vec![
        ("id", id),
        ("name", text("Name of the webhook.")),
        ("status", status),
        ("topic", text("What it is told of.")),
        ("resource", text("The kind of records in the topic.").readonly()),
        ("event", text("What happens to them in the topic.").readonly()),
        ("hooks", hooks.context(BOTH).readonly()),
        ("delivery_url", text("Where to send what happened.").format("uri").readonly()),
        ("secret", secret),
        ("date_created", moment("When it was made, in the site's time.")),
    ];
    if version != Version::One {
        fields.push(("date_created_gmt", moment("When it was made, in GMT.")));
    }
    fields.push(("date_modified", moment("When it was changed last, in the site's time.")));
    if version != Version::One {
        fields.push(("date_modified_gmt", moment("When it was changed last, in GMT.")));
    }
    Item::new("webhook", Schema::object(fields))
}
