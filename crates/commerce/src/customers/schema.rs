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
        ("date_created", moment("Date registered, in the site's time zone.")),
        ("date_created_gmt", moment("Date registered, in GMT.")),
        ("date_modified", moment("Date last modified, in the site's time zone.")),
        ("date_modified_gmt", moment("Date last modified, in GMT.")),
    ];
    fields.extend(names());
    fields.push(("role", both(Schema::text(), "User role.").readonly()));
    fields.extend(credentials());
    fields.extend(addresses(address::SHIPPING));
    let paying = both(Schema::typed("bool"), "Whether the customer has paid for an order.");
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
        ("id", both(Schema::integer(), "Order ID.").readonly().or_null()),
        ("date", moment("Date the order was created, in GMT.").or_null()),
    ]);
    let mut fields = vec![
        ("id", id()),
        ("date_created", moment("Date registered, in GMT.")),
        ("date_modified", moment("Date last modified, in GMT.")),
    ];
    fields.extend(names());
    fields.extend(credentials());
    fields.push(("last_order", both(last, "Most recent order.").readonly()));
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
    both(Schema::integer(), "Customer ID.").readonly()
}

fn moment(about: &str) -> Schema {
    both(Schema::typed("date-time"), about).readonly()
}

fn avatar() -> Schema {
    both(Schema::text(), "Avatar URL.").readonly()
}

fn names() -> [(&'static str, Schema); 3] {
    [
        ("email", both(Schema::text().format("email"), "E-mail address.")),
        ("first_name", both(Schema::text(), "First name.")),
        ("last_name", both(Schema::text(), "Last name.")),
    ]
}

fn credentials() -> [(&'static str, Schema); 2] {
    let password = Schema::text().about("Password.").context(&["edit"]);
    [("username", both(Schema::text(), "Username.")), ("password", password)]
}

fn addresses(shipping: &'static [address::Field]) -> [(&'static str, Schema); 2] {
    [
        ("billing", address::schema(address::BILLING, "Billing address.")),
        ("shipping", address::schema(shipping, "Shipping address.")),
    ]
}

fn counts() -> [(&'static str, Schema); 2] {
    [
        ("orders_count", both(Schema::integer(), "Number of orders.").readonly()),
        ("total_spent", both(Schema::text(), "Total of paid orders.").readonly()),
    ]
}
