//! The fields of a customer in each version.

use contract::rest::{Item, Schema};

use super::address;
use crate::common::meta;
use crate::common::version::Version;

const BOTH: &[&str] = &["view", "edit"];

pub(super) fn item(version: Version) -> Item {
    let fields = if version == Version::One { oldest() } else { fields(version) };
    Item::new("customer", Schema::object(fields))
}

fn fields(version: Version) -> Vec<(&'static str, Schema)> {
    let mut fields = vec![
        ("id", id()),
        ("date_created", moment("When the customer registered, in the site's time.")),
        ("date_created_gmt", moment("When the customer registered, in GMT.")),
        ("date_modified", moment("When the customer was changed last, in the site's time.")),
        ("date_modified_gmt", moment("When the customer was changed last, in GMT.")),
    ];
    fields.extend(names());
    fields.push(("role", both(Schema::text(), "What the user is on the site.").readonly()));
    fields.extend(credentials());
    fields.extend(addresses(address::SHIPPING));
    let paying = both(Schema::typed("bool"), "Whether an order of theirs was ever paid.");
    fields.push(("is_paying_customer", paying.readonly()));
    if version == Version::Two {
        fields.extend(counts());
    }
    fields.push(("avatar_url", avatar()));
    fields.push(("meta_data", meta::schema()));
    fields
}

fn oldest() -> Vec<(&'static str, Schema)> {
    let last = Schema::object([
        ("id", both(Schema::integer(), "Number of the order.").readonly()),
        ("date", moment("When the order was made, in GMT.")),
    ]);
    let mut fields = vec![
        ("id", id()),
        ("date_created", moment("When the customer registered, in GMT.")),
        ("date_modified", moment("When the customer was changed last, in GMT.")),
    ];
    fields.extend(names());
    fields.extend(credentials());
    fields.push(("last_order", both(last, "The newest order.").readonly()));
    fields.extend(counts());
    fields.push(("avatar_url", avatar()));
    // Telephones of recipients came later.
    let without_phone = address::SHIPPING.split_last().map_or(address::SHIPPING, |(_, rest)| rest);
    fields.extend(addresses(without_phone));
    fields
}

fn both(schema: Schema, about: &str) -> Schema {
    schema.about(about).context(BOTH)
}

fn id() -> Schema {
    both(Schema::integer(), "Number of the customer.").readonly()
}

fn moment(about: &str) -> Schema {
    both(Schema::typed("date-time"), about).readonly()
}

fn avatar() -> Schema {
    both(Schema::text(), "Address of the picture.").readonly()
}

fn names() -> [(&'static str, Schema); 3] {
    [
        ("email", both(Schema::text().format("email"), "E-mail address of the customer.")),
        ("first_name", both(Schema::text(), "First name of the customer.")),
        ("last_name", both(Schema::text(), "Last name of the customer.")),
    ]
}

fn credentials() -> [(&'static str, Schema); 2] {
    let password = Schema::text().about("Password of the customer.").context(&["edit"]);
    [("username", both(Schema::text(), "What the customer logs in with.")), ("password", password)]
}

fn addresses(shipping: &'static [address::Field]) -> [(&'static str, Schema); 2] {
    [
        ("billing", address::schema(address::BILLING, "Where the bill is sent to.")),
        ("shipping", address::schema(shipping, "Where the goods are sent to.")),
    ]
}

fn counts() -> [(&'static str, Schema); 2] {
    [
        ("orders_count", both(Schema::integer(), "How many orders there are.").readonly()),
        ("total_spent", both(Schema::text(), "What the paid orders come to.").readonly()),
    ]
}
