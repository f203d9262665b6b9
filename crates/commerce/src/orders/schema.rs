//! The fields of an order, of its lines and of its addresses.

use contract::rest::{Item, Schema};
use serde_json::Value;

use super::status::{self, STATUSES};
use crate::common::meta;
use crate::common::version::Version;
use crate::data::tables;

const BOTH: &[&str] = &["view", "edit"];

pub(super) fn shown(schema: Schema, about: &str) -> Schema {
    schema.about(about).context(BOTH)
}

pub(super) fn read_only(schema: Schema, about: &str) -> Schema {
    shown(schema, about).readonly()
}

/// Statuses that a request may give an order.
fn status(version: Version) -> Schema {
    let drafts: &[&str] = if version == Version::One { &[] } else { &[status::AUTO_DRAFT] };
    let mut names = drafts.to_vec();
    names.extend(STATUSES.iter().map(|(slug, _)| *slug));
    shown(Schema::text().default(status::PENDING).choices(&names), "Order status.")
}

fn currency() -> Schema {
    let codes: Vec<&str> = tables::currencies().iter().map(|currency| currency.code).collect();
    let about = "Three-letter currency code.";
    shown(Schema::text().default("USD").choices(&codes), about)
}

pub(super) fn item(version: Version) -> Item {
    let text = Schema::text;
    let moment = || Schema::typed("date-time");
    let mut fields: Vec<(&str, Schema)> = vec![
        ("id", read_only(Schema::integer(), "Order ID.")),
        ("parent_id", shown(Schema::integer(), "Parent order ID.")),
        ("number", read_only(text(), "Order number.")),
        ("order_key", read_only(text(), "Order key, with which a guest can view the order.")),
        ("created_via", shown(text(), "Channel the order was created through.")),
        ("version", read_only(text(), "Version of the software that last updated the order.")),
        ("status", status(version)),
        ("currency", currency()),
        ("currency_symbol", read_only(text(), "Currency symbol.")),
        ("date_created", read_only(moment(), "Date created, in the site's time zone.")),
        ("date_created_gmt", read_only(moment(), "Date created, in GMT.")),
        ("date_modified", read_only(moment(), "Date last modified, in the site's time zone.")),
        ("date_modified_gmt", read_only(moment(), "Date last modified, in GMT.")),
        ("discount_total", read_only(text(), "Total discount.")),
        ("discount_tax", read_only(text(), "Tax on the discount.")),
        ("shipping_total", read_only(text(), "Total shipping.")),
        ("shipping_tax", read_only(text(), "Tax on shipping.")),
        ("cart_tax", read_only(text(), "Tax on items and fees.")),
        ("total", read_only(text(), "Order total.")),
        ("total_tax", read_only(text(), "Total tax.")),
    ];
    if version == Version::Analytics {
        fields.push(("total_formatted", read_only(text(), "Formatted order total.")));
    }
    fields.extend([
        ("prices_include_tax", read_only(Schema::boolean(), "Whether prices included tax.")),
        ("customer_id", shown(Schema::integer().default(0), "Customer ID; 0 for a guest.")),
        ("customer_ip_address", read_only(text(), "Customer's IP address.")),
        ("customer_user_agent", read_only(text(), "Customer's user agent.")),
        ("customer_note", shown(text(), "Note from the customer.")),
        ("billing", shown(address(Some(email(version))), "Billing address.")),
        ("shipping", shown(address(None), "Shipping address.")),
        ("payment_method", shown(text(), "Payment method ID.")),
        ("payment_method_title", shown(text(), "Payment method title.")),
        ("transaction_id", shown(text(), "Transaction ID.")),
        ("date_paid", read_only(moment(), "Date paid, in the site's time zone.")),
        ("date_paid_gmt", read_only(moment(), "Date paid, in GMT.")),
        ("date_completed", read_only(moment(), "Date completed, in the site's time zone.")),
        ("date_completed_gmt", read_only(moment(), "Date completed, in GMT.")),
        ("cart_hash", read_only(text(), "Cart hash.")),
        ("meta_data", meta::schema()),
        ("line_items", shown(Schema::list(line_of(version)), "Line items.")),
        ("tax_lines", read_only(Schema::list(tax()), "Tax lines.")),
        ("shipping_lines", shown(Schema::list(shipping_of(version)), "Shipping lines.")),
        ("fee_lines", shown(Schema::list(fee_of(version)), "Fees.")),
        ("coupon_lines", shown(Schema::list(coupon_of(version)), "Coupon lines.")),
        ("refunds", read_only(Schema::list(refund()), "Refunds.")),
        ("payment_url", read_only(text(), "URL where the customer can pay.")),
        ("is_editable", read_only(Schema::boolean(), "Whether the order can be edited.")),
        ("needs_payment", read_only(Schema::boolean(), "Whether the order needs payment.")),
        ("needs_processing", read_only(Schema::boolean(), "Whether the order needs processing.")),
        ("set_paid", on_write("Whether to mark the order as paid.")),
        ("manual_update", on_write("Whether the status is set manually.")),
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
        ("address_1", "Address line 1."),
        ("address_2", "Address line 2."),
        ("city", "City."),
        ("state", "State or province, by code or name."),
        ("postcode", "Postal code."),
        ("country", "Two-letter country code."),
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
        ("key", read_only(text(), "Metadata key.")),
        ("label", read_only(text(), "Metadata key for display.")),
        ("value", read_only(any(), "Metadata value.")),
    ]);
    Schema::object([
        ("id", read_only(Schema::integer(), "Line ID.")),
        ("name", read_only(any(), "Product name.")),
        ("sku", read_only(text(), "Product SKU.").or_null()),
        ("product_id", shown(any(), "Product ID.")),
        ("variation_id", shown(Schema::integer(), "Variation ID, if applicable.")),
        ("quantity", shown(Schema::integer(), "Quantity.")),
        ("tax_class", read_only(text(), "Tax class.")),
        ("price", read_only(text(), "Unit price.")),
        ("subtotal", shown(text(), "Subtotal, before discounts.")),
        ("subtotal_tax", shown(text(), "Subtotal tax, before discounts.")),
        ("total", shown(text(), "Total, after discounts.")),
        ("total_tax", shown(text(), "Total tax, after discounts.")),
        ("taxes", shares(true)),
        ("meta", read_only(Schema::list(entry), "Metadata.")),
    ])
}

fn line() -> Schema {
    let text = Schema::text;
    // A line without an image has a blank in its place.
    let image_id = Schema::types(&["integer", "string"]);
    let image = Schema::object([
        ("id", shown(Schema::integer(), "Image ID.").shown_as(image_id)),
        ("src", shown(text().format("uri"), "Image URL.")),
    ]);
    let gtin = read_only(text(), "Product GTIN, UPC, EAN or ISBN.");
    let share = Schema::object([
        ("id", shown(Schema::integer(), "Tax rate ID.")),
        ("total", shown(text(), "Tax total.")),
        ("subtotal", shown(text(), "Tax subtotal, before discounts.")),
    ]);
    Schema::object([
        ("id", read_only(Schema::integer(), "Line ID.")),
        ("name", shown(Schema::typed("mixed"), "Product name.")),
        ("parent_name", shown(text(), "Name of the variation's product.").or_null()),
        ("product_id", shown(Schema::typed("mixed"), "Product ID.")),
        ("variation_id", shown(Schema::integer(), "Variation ID, if applicable.")),
        ("quantity", shown(Schema::integer(), "Quantity.")),
        ("tax_class", shown(text(), "Tax class.")),
        ("subtotal", shown(text(), "Subtotal, before discounts.")),
        ("subtotal_tax", read_only(text(), "Subtotal tax, before discounts.")),
        ("total", shown(text(), "Total, after discounts.")),
        ("total_tax", read_only(text(), "Total tax, after discounts.")),
        ("taxes", read_only(Schema::list(share), "Line taxes.")),
        ("meta_data", line_entries(true)),
        ("sku", read_only(text(), "Product SKU.").or_null()),
        ("global_unique_id", gtin.or_null()),
        ("price", read_only(Schema::number(), "Unit price.")),
        ("image", read_only(image, "Product image.")),
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
        properties.insert(String::from("display_key"), display("Metadata key for display."));
        properties.insert(String::from("display_value"), display("Metadata value for display."));
    }
    Schema::from_document(document)
}

/// Taxes by rate of a line that is no product.
fn shares(with_subtotal: bool) -> Schema {
    let mut fields = vec![
        ("id", read_only(Schema::integer(), "Tax rate ID.")),
        ("total", read_only(Schema::text(), "Tax total.")),
    ];
    if with_subtotal {
        fields.push(("subtotal", read_only(Schema::text(), "Tax subtotal, before discounts.")));
    }
    read_only(Schema::list(Schema::object(fields)), "Line taxes.")
}

fn tax() -> Schema {
    let text = Schema::text;
    Schema::object([
        ("id", read_only(Schema::integer(), "Line ID.")),
        ("rate_code", read_only(text(), "Tax rate code.")),
        ("rate_id", read_only(Schema::integer(), "Tax rate ID.")),
        ("label", read_only(text(), "Tax rate label.")),
        ("compound", read_only(Schema::boolean(), "Whether the tax is compound.")),
        ("tax_total", read_only(text(), "Tax on items and fees.")),
        ("shipping_tax_total", read_only(text(), "Tax on shipping.")),
        ("rate_percent", read_only(Schema::number(), "Tax rate, in percent.")),
        ("meta_data", line_entries(false)),
    ])
}

pub(super) fn shipping() -> Schema {
    Schema::object([
        ("id", read_only(Schema::integer(), "Line ID.")),
        ("method_title", shown(Schema::typed("mixed"), "Shipping method title.")),
        ("method_id", shown(Schema::typed("mixed"), "Shipping method ID.")),
        ("instance_id", shown(Schema::text(), "Shipping method instance ID.")),
        ("total", shown(Schema::text(), "Total.")),
        ("total_tax", read_only(Schema::text(), "Total tax.")),
        ("taxes", shares(false)),
        ("meta_data", line_entries(false)),
    ])
}

pub(super) fn fee() -> Schema {
    let tax_status = Schema::text().choices(&["taxable", "none"]);
    Schema::object([
        ("id", read_only(Schema::integer(), "Line ID.")),
        ("name", shown(Schema::typed("mixed"), "Fee name.")),
        ("tax_class", shown(Schema::text(), "Tax class.")),
        ("tax_status", shown(tax_status, "Tax status.")),
        ("total", shown(Schema::text(), "Total.")),
        ("total_tax", read_only(Schema::text(), "Total tax.")),
        ("taxes", shares(true)),
        ("meta_data", line_entries(false)),
    ])
}

fn coupon() -> Schema {
    let viewed = |schema: Schema, about: &str| schema.about(about).context(&["view"]).readonly();
    Schema::object([
        ("id", read_only(Schema::integer(), "Line ID.")),
        ("code", shown(Schema::typed("mixed"), "Coupon code.")),
        ("discount", read_only(Schema::text(), "Discount total.")),
        ("discount_tax", read_only(Schema::text(), "Tax on the discount.")),
        ("discount_type", viewed(Schema::text(), "Discount type.")),
        ("nominal_amount", viewed(Schema::number(), "Coupon amount.")),
        ("free_shipping", viewed(Schema::boolean(), "Whether the coupon grants free shipping.")),
        ("meta_data", line_entries(false)),
    ])
}

fn refund() -> Schema {
    Schema::object([
        ("id", read_only(Schema::integer(), "Refund ID.")),
        ("reason", read_only(Schema::text(), "Refund reason.")),
        ("total", read_only(Schema::text(), "Refund total, as a negative amount.")),
    ])
}

/// The fields of a refund.
pub(super) fn refund_item(tells_order: bool) -> Item {
    let text = Schema::text;
    let moment = || Schema::typed("date-time");
    let mut fields = vec![("id", read_only(Schema::integer(), "Refund ID."))];
    if tells_order {
        fields.push(("parent_id", read_only(Schema::integer(), "Order ID.")));
    }
    fields.extend([
        ("date_created", read_only(moment(), "Date created, in the site's time zone.")),
        ("date_created_gmt", read_only(moment(), "Date created, in GMT.")),
        ("amount", shown(text(), "Refund amount.")),
        ("reason", shown(text(), "Refund reason.")),
        ("refunded_by", shown(Schema::integer(), "User who created the refund.")),
        (
            "refunded_payment",
            read_only(
                Schema::boolean(),
                "Whether the payment was refunded through the payment provider.",
            ),
        ),
        ("meta_data", meta::schema()),
        ("line_items", read_only(Schema::list(line()), "Refunded line items.")),
        ("tax_lines", read_only(Schema::list(tax()), "Tax lines.")),
        ("shipping_lines", shown(Schema::list(shipping()), "Refunded shipping lines.")),
        ("fee_lines", shown(Schema::list(fee()), "Refunded fee lines.")),
        ("api_refund", refund_flag("Whether to refund the payment through the payment provider.")),
        ("api_restock", refund_flag("Whether to restock the refunded items.")),
    ]);
    Item::new("shop_order_refund", Schema::object(fields))
}

fn refund_flag(about: &str) -> Schema {
    Schema::boolean().default(true).about(about).context(&["edit"])
}
