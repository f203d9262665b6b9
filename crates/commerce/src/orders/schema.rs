//! The fields of an order, of its lines and of its addresses.

use contract::rest::{Item, Schema};
use serde_json::Value;

use super::status::STATUSES;
use crate::common::meta;
use crate::common::version::Version;
use crate::data::tables;

const BOTH: &[&str] = &["view", "edit"];

pub(super) fn shown(schema: Schema, about: &str) -> Schema {
    schema.about(about).context(BOTH)
}

pub(super) fn told(schema: Schema, about: &str) -> Schema {
    shown(schema, about).readonly()
}

/// Statuses that a request may give an order.
fn status(version: Version) -> Schema {
    let drafts: &[&str] = if version == Version::One { &[] } else { &["auto-draft"] };
    let mut names = drafts.to_vec();
    names.extend(STATUSES.iter().map(|(slug, _)| *slug));
    shown(Schema::text().default("pending").choices(&names), "Where the order stands.")
}

fn currency() -> Schema {
    let codes: Vec<&str> = tables::currencies().iter().map(|currency| currency.code).collect();
    let about = "Currency in which the order was made, by its code.";
    shown(Schema::text().default("USD").choices(&codes), about)
}

pub(super) fn item(version: Version) -> Item {
    let text = Schema::text;
    let moment = || Schema::typed("date-time");
    let mut fields: Vec<(&str, Schema)> = vec![
        ("id", told(Schema::integer(), "Number of the order.")),
        ("parent_id", shown(Schema::integer(), "Number of the order above this one.")),
        ("number", told(text(), "What people call the order.")),
        ("order_key", told(text(), "Secret that lets a guest see the order.")),
        ("created_via", shown(text(), "Where the order was made.")),
        ("version", told(text(), "Version of the software that last wrote the order.")),
        ("status", status(version)),
        ("currency", currency()),
        ("currency_symbol", told(text(), "Sign of the currency.")),
        ("date_created", told(moment(), "When it was made, in the site's time.")),
        ("date_created_gmt", told(moment(), "When it was made, in GMT.")),
        ("date_modified", told(moment(), "When it was last changed, in the site's time.")),
        ("date_modified_gmt", told(moment(), "When it was last changed, in GMT.")),
        ("discount_total", told(text(), "What was taken off.")),
        ("discount_tax", told(text(), "Taxes on what was taken off.")),
        ("shipping_total", told(text(), "What shipping costs.")),
        ("shipping_tax", told(text(), "Taxes on shipping.")),
        ("cart_tax", told(text(), "Taxes on products and fees.")),
        ("total", told(text(), "What is to be paid.")),
        ("total_tax", told(text(), "All taxes together.")),
    ];
    if version == Version::Analytics {
        fields.push(("total_formatted", told(text(), "The total as people read it.")));
    }
    fields.extend([
        ("prices_include_tax", told(Schema::boolean(), "Whether prices had taxes in them.")),
        ("customer_id", shown(Schema::integer().default(0), "User who bought; 0 for a guest.")),
        ("customer_ip_address", told(text(), "Network address of the buyer.")),
        ("customer_user_agent", told(text(), "Program of the buyer.")),
        ("customer_note", shown(text(), "What the buyer wants the shop to know.")),
        ("billing", shown(address(Some(email(version))), "Where to send the bill.")),
        ("shipping", shown(address(None), "Where to send the goods.")),
        ("payment_method", shown(text(), "Id of the way to pay.")),
        ("payment_method_title", shown(text(), "How the way to pay is called.")),
        ("transaction_id", shown(text(), "Id that the provider gave the payment.")),
        ("date_paid", told(moment(), "When it was paid, in the site's time.")),
        ("date_paid_gmt", told(moment(), "When it was paid, in GMT.")),
        ("date_completed", told(moment(), "When it was completed, in the site's time.")),
        ("date_completed_gmt", told(moment(), "When it was completed, in GMT.")),
        ("cart_hash", told(text(), "Fingerprint of the cart.")),
        ("meta_data", meta::schema()),
        ("line_items", shown(Schema::list(line_of(version)), "What is sold.")),
        ("tax_lines", told(Schema::list(tax()), "Taxes by rate.")),
        ("shipping_lines", shown(Schema::list(shipping_of(version)), "How the goods are sent.")),
        ("fee_lines", shown(Schema::list(fee_of(version)), "Fees.")),
        ("coupon_lines", shown(Schema::list(coupon_of(version)), "Coupons that were used.")),
        ("refunds", told(Schema::list(refund()), "What was paid back.")),
        ("payment_url", told(text(), "Where the buyer can pay.")),
        ("is_editable", told(Schema::boolean(), "Whether its lines may still change.")),
        ("needs_payment", told(Schema::boolean(), "Whether it is still to be paid.")),
        ("needs_processing", told(Schema::boolean(), "Whether somebody has to act on it.")),
        ("set_paid", on_write("Whether to take the order as paid.")),
        ("manual_update", on_write("Whether a person changes the status.")),
    ]);
    Item::new("shop_order", Schema::object(fields))
}

fn on_write(about: &str) -> Schema {
    Schema::boolean().default(false).about(about).context(&["edit"])
}

/// An address can be taken away again, but not in the first version.
fn email(version: Version) -> Schema {
    let schema = match version {
        Version::One => Schema::text(),
        _ => Schema::types(&["string", "null"]),
    };
    shown(schema.format("email"), "E-mail address.")
}

/// With an e-mail address and a phone number, it is where the bill goes.
fn address(email: Option<Schema>) -> Schema {
    let names = [
        ("first_name", "First name."),
        ("last_name", "Last name."),
        ("company", "Company."),
        ("address_1", "First line of the address."),
        ("address_2", "Second line of the address."),
        ("city", "City."),
        ("state", "Code or name of the state."),
        ("postcode", "Postal code."),
        ("country", "Country by its code of two letters."),
    ];
    let mut fields: Vec<(&str, Schema)> =
        names.into_iter().map(|(name, about)| (name, shown(Schema::text(), about))).collect();
    if let Some(email) = email {
        fields.push(("email", email));
        fields.push(("phone", shown(Schema::text(), "Phone number.")));
    }
    Schema::object(fields)
}

/// The lines of the first version have less in them, and more of it can be written.
fn older(schema: &Schema, left_out: &[&str], written: &[&str]) -> Schema {
    let mut document = schema.document().clone();
    if let Some(Value::Object(fields)) = document.get_mut("properties") {
        fields.retain(|name, _| !left_out.contains(&name.as_str()));
        let written = fields.iter_mut().filter(|(name, _)| written.contains(&name.as_str()));
        for (_, field) in written {
            field.as_object_mut().map(|field| field.shift_remove("readonly"));
        }
    }
    Schema::from_document(document)
}

fn line_of(version: Version) -> Schema {
    if version == Version::One { first_line() } else { line() }
}

fn shipping_of(version: Version) -> Schema {
    match version {
        Version::One => older(&shipping(), &["instance_id", "meta_data"], &[]),
        _ => shipping(),
    }
}

fn fee_of(version: Version) -> Schema {
    match version {
        Version::One => older(&fee(), &["meta_data"], &["total_tax"]),
        _ => fee(),
    }
}

fn coupon_of(version: Version) -> Schema {
    let later = ["discount_type", "nominal_amount", "free_shipping", "meta_data"];
    match version {
        Version::One => older(&coupon(), &later, &["discount"]),
        _ => coupon(),
    }
}

fn first_line() -> Schema {
    let text = Schema::text;
    let any = || Schema::typed("mixed");
    let entry = Schema::object([
        ("key", told(text(), "Key of the entry.")),
        ("label", told(text(), "The key as people read it.")),
        ("value", told(any(), "Value of the entry.")),
    ]);
    Schema::object([
        ("id", told(Schema::integer(), "Number of the line.")),
        ("name", told(any(), "Name of the product.")),
        ("sku", told(text(), "The product's own code.")),
        ("product_id", shown(any(), "Number of the product.")),
        ("variation_id", shown(Schema::integer(), "Number of the variation, if it is one.")),
        ("quantity", shown(Schema::integer(), "How many are sold.")),
        ("tax_class", told(text(), "Slug of the tax class.")),
        ("price", told(text(), "What one costs.")),
        ("subtotal", shown(text(), "What the line costs before discounts.")),
        ("subtotal_tax", shown(text(), "Taxes before discounts.")),
        ("total", shown(text(), "What the line costs.")),
        ("total_tax", shown(text(), "Taxes on the line.")),
        ("taxes", shares(true)),
        ("meta", told(Schema::list(entry), "Entries of the line.")),
    ])
}

fn line() -> Schema {
    let text = Schema::text;
    let image = Schema::object([
        ("id", shown(Schema::integer(), "Number of the picture.")),
        ("src", shown(text().format("uri"), "Address of the picture.")),
    ]);
    let share = Schema::object([
        ("id", shown(Schema::integer(), "Number of the rate.")),
        ("total", shown(text(), "Tax on the total.")),
        ("subtotal", shown(text(), "Tax before discounts.")),
    ]);
    Schema::object([
        ("id", told(Schema::integer(), "Number of the line.")),
        ("name", shown(Schema::typed("mixed"), "Name of the product.")),
        ("parent_name", shown(text(), "Name of the product of a variation.")),
        ("product_id", shown(Schema::typed("mixed"), "Number of the product.")),
        ("variation_id", shown(Schema::integer(), "Number of the variation, if it is one.")),
        ("quantity", shown(Schema::integer(), "How many are sold.")),
        ("tax_class", shown(text(), "Slug of the tax class.")),
        ("subtotal", shown(text(), "What the line costs before discounts.")),
        ("subtotal_tax", told(text(), "Taxes before discounts.")),
        ("total", shown(text(), "What the line costs.")),
        ("total_tax", told(text(), "Taxes on the line.")),
        ("taxes", told(Schema::list(share), "Taxes by rate.")),
        ("meta_data", line_entries(true)),
        ("sku", told(text(), "The product's own code.")),
        ("global_unique_id", told(text(), "The product's number in the world.")),
        ("price", told(Schema::number(), "What one costs.")),
        ("image", told(image, "Picture of the product.")),
    ])
}

/// The entries of a line; those of products say how people read them.
fn line_entries(with_display: bool) -> Schema {
    let schema = meta::schema();
    if !with_display {
        return schema;
    }
    let mut document = schema.document().clone();
    let entry = document.get_mut("items").and_then(|items| items.get_mut("properties"));
    if let Some(Value::Object(properties)) = entry {
        let display = |about: &str| Value::from(shown(Schema::text(), about));
        properties.insert(String::from("display_key"), display("The name as people read it."));
        properties.insert(String::from("display_value"), display("The value as people read it."));
    }
    Schema::from_document(document)
}

/// Taxes by rate of a line that is no product.
fn shares(with_subtotal: bool) -> Schema {
    let mut fields = vec![
        ("id", told(Schema::integer(), "Number of the rate.")),
        ("total", told(Schema::text(), "Tax on the total.")),
    ];
    if with_subtotal {
        fields.push(("subtotal", told(Schema::text(), "Tax before discounts.")));
    }
    told(Schema::list(Schema::object(fields)), "Taxes by rate.")
}

fn tax() -> Schema {
    let text = Schema::text;
    Schema::object([
        ("id", told(Schema::integer(), "Number of the line.")),
        ("rate_code", told(text(), "Code of the rate.")),
        ("rate_id", told(Schema::integer(), "Number of the rate.")),
        ("label", told(text(), "Name of the rate.")),
        ("compound", told(Schema::boolean(), "Whether it is on top of other taxes.")),
        ("tax_total", told(text(), "Tax on products and fees.")),
        ("shipping_tax_total", told(text(), "Tax on shipping.")),
        ("rate_percent", told(Schema::number(), "The rate in percent.")),
        ("meta_data", line_entries(false)),
    ])
}

pub(super) fn shipping() -> Schema {
    Schema::object([
        ("id", told(Schema::integer(), "Number of the line.")),
        ("method_title", shown(Schema::typed("mixed"), "How the way of shipping is called.")),
        ("method_id", shown(Schema::typed("mixed"), "Id of the way of shipping.")),
        ("instance_id", shown(Schema::text(), "Where it is set up.")),
        ("total", shown(Schema::text(), "What the line costs.")),
        ("total_tax", told(Schema::text(), "Taxes on the line.")),
        ("taxes", shares(false)),
        ("meta_data", line_entries(false)),
    ])
}

pub(super) fn fee() -> Schema {
    let tax_status = Schema::text().choices(&["taxable", "none"]);
    Schema::object([
        ("id", told(Schema::integer(), "Number of the line.")),
        ("name", shown(Schema::typed("mixed"), "What the fee is for.")),
        ("tax_class", shown(Schema::text(), "Slug of the tax class.")),
        ("tax_status", shown(tax_status, "Whether it is taxed.")),
        ("total", shown(Schema::text(), "What the line costs.")),
        ("total_tax", told(Schema::text(), "Taxes on the line.")),
        ("taxes", shares(true)),
        ("meta_data", line_entries(false)),
    ])
}

fn coupon() -> Schema {
    let viewed = |schema: Schema, about: &str| schema.about(about).context(&["view"]).readonly();
    Schema::object([
        ("id", told(Schema::integer(), "Number of the line.")),
        ("code", shown(Schema::typed("mixed"), "Code of the coupon.")),
        ("discount", told(Schema::text(), "What it takes off.")),
        ("discount_tax", told(Schema::text(), "Taxes on what it takes off.")),
        ("discount_type", viewed(Schema::text(), "Kind of the discount.")),
        ("nominal_amount", viewed(Schema::number(), "Amount that the coupon says.")),
        ("free_shipping", viewed(Schema::boolean(), "Whether it makes shipping free.")),
        ("meta_data", line_entries(false)),
    ])
}

fn refund() -> Schema {
    Schema::object([
        ("id", told(Schema::integer(), "Number of the refund.")),
        ("reason", told(Schema::text(), "Why it was paid back.")),
        ("total", told(Schema::text(), "How much was paid back, as a negative number.")),
    ])
}

/// The fields of a refund.
pub(super) fn refund_item(tells_order: bool) -> Item {
    let text = Schema::text;
    let moment = || Schema::typed("date-time");
    let mut fields = vec![("id", told(Schema::integer(), "Number of the refund."))];
    if tells_order {
        fields.push(("parent_id", told(Schema::integer(), "Number of the order.")));
    }
    fields.extend([
        ("date_created", told(moment(), "When it was made, in the site's time.")),
        ("date_created_gmt", told(moment(), "When it was made, in GMT.")),
        ("amount", shown(text(), "How much is paid back.")),
        ("reason", shown(text(), "Why it is paid back.")),
        ("refunded_by", shown(Schema::integer(), "User who made the refund.")),
        ("refunded_payment", told(Schema::boolean(), "Whether a provider paid it back.")),
        ("meta_data", meta::schema()),
        ("line_items", told(Schema::list(line()), "What is taken back.")),
        ("tax_lines", told(Schema::list(tax()), "Taxes by rate.")),
        ("shipping_lines", shown(Schema::list(shipping()), "Shipping that is paid back.")),
        ("fee_lines", shown(Schema::list(fee()), "Fees that are paid back.")),
        ("api_refund", refund_flag("Whether the provider is to pay it back.")),
        ("api_restock", refund_flag("Whether what is taken back goes into the stock.")),
    ]);
    Item::new("shop_order_refund", Schema::object(fields))
}

fn refund_flag(about: &str) -> Schema {
    Schema::boolean().default(true).about(about).context(&["edit"])
}
