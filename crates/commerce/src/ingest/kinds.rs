//! The kinds of records: what they are called, where they are made, and what they refer to.

use std::str::FromStr;

use contract::rest::loose;
use serde_json::{Map, Value};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal at $path:literal
        $(below $parent:ident by $($member:literal)|+)? $(, $field:literal: $target:ident)*;)*) => {
        /// A kind of record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RecordKind {
            $($(#[$doc])* $kind,)*
        }

        impl RecordKind {
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            fn shape(self) -> Shape {
                match self {
                    $(Self::$kind => Shape {
                        path: $path,
                        parent: kinds!(@parent $($parent $($member)+)?),
                        references: &[$(($field, Self::$target)),*],
                    },)*
                }
            }
        }
    };
    (@parent) => { None };
    (@parent $parent:ident $($member:literal)+) => { Some((Self::$parent, &[$($member),+])) };
}

/// Where records of a kind are made, and what they refer to: a `*` stands for each item of a list.
struct Shape {
    /// Below the namespace; `{}` is the number of the record above.
    path: &'static str,
    parent: Option<(RecordKind, &'static [&'static str])>,
    references: &'static [(&'static str, RecordKind)],
}

kinds! {
    TaxClass = "tax_class" at "/taxes/classes";
    TaxRate = "tax_rate" at "/taxes";
    ShippingClass = "shipping_class" at "/products/shipping_classes";
    Category = "category" at "/products/categories", "parent": Category;
    Tag = "tag" at "/products/tags";
    Attribute = "attribute" at "/products/attributes";
    /// Of an attribute, which its `attribute_id` names.
    AttributeTerm = "attribute_term" at "/products/attributes/{}/terms"
        below Attribute by "attribute_id";
    Product = "product" at "/products",
        "categories.*.id": Category, "tags.*.id": Tag, "attributes.*.id": Attribute,
        "default_attributes.*.id": Attribute, "parent_id": Product, "upsell_ids.*": Product,
        "cross_sell_ids.*": Product, "grouped_products.*": Product;
    /// Of a product, which its `product_id` or `parent_id` names.
    Variation = "variation" at "/products/{}/variations" below Product by "product_id"|"parent_id",
        "attributes.*.id": Attribute;
    Customer = "customer" at "/customers";
    Coupon = "coupon" at "/coupons",
        "product_ids.*": Product, "excluded_product_ids.*": Product,
        "product_categories.*": Category, "excluded_product_categories.*": Category;
    Order = "order" at "/orders";
    /// Of an order, which its `parent_id` names.
    Refund = "refund" at "/orders/{}/refunds" below Order by "parent_id";
    /// Of an order, which its `order_id` names.
    OrderNote = "order_note" at "/orders/{}/notes" below Order by "order_id";
    Review = "review" at "/products/reviews", "product_id": Product;
}

impl RecordKind {
    /// Whether records of the kind are written after the orders of their batch.
    pub(super) fn follows_orders(self) -> bool {
        matches!(self, Self::OrderNote | Self::Review)
    }

    /// The kind of a record that does not say it, as far as its fields tell.
    pub fn of_body(body: &Map<String, Value>) -> Option<Self> {
        let has = |name: &str| body.contains_key(name);
        let known: [(Self, &[&str]); 6] = [
            (Self::Refund, &["refunded_by", "refunded_payment"]),
            (Self::Order, &["line_items", "order_key", "shipping_lines"]),
            (Self::Coupon, &["discount_type"]),
            (Self::Review, &["reviewer_email"]),
            (Self::Product, &["regular_price", "catalog_visibility", "sku"]),
            (Self::Customer, &["username", "is_paying_customer"]),
        ];
        let by_field = known.iter().find(|(_, fields)| fields.iter().any(|name| has(name)));
        by_field.map(|(kind, _)| *kind).or_else(|| {
            let is_order = has("billing") && (has("status") || has("total"));
            is_order.then_some(Self::Order).or_else(|| has("email").then_some(Self::Customer))
        })
    }

    /// The record above this one, as the body names it.
    pub(super) fn parent(self, body: &Map<String, Value>) -> Option<(Self, i64)> {
        let (kind, members) = self.shape().parent?;
        let ids = members.iter().filter_map(|name| body.get(*name)).map(loose::to_int);
        Some((kind, ids.into_iter().find(|id| *id > 0).unwrap_or_default()))
    }

    /// The fields that may name the record above; nothing if there is none.
    pub(super) fn parent_fields(self) -> Option<&'static [&'static str]> {
        self.shape().parent.map(|(_, members)| members)
    }

    /// The path of the collection.
    pub(super) fn path(self, namespace: &str, parent_id: i64) -> String {
        format!("/{namespace}{}", self.shape().path.replace("{}", &parent_id.to_string()))
    }

    /// Hands every number by which the body refers to another record to `each`.
    pub(super) fn each_reference(
        self,
        body: &mut Map<String, Value>,
        each: &mut dyn FnMut(Self, &mut Value),
    ) {
        for (path, kind) in self.shape().references {
            let (first, rest) = path.split_once('.').unwrap_or((path, ""));
            let Some(value) = body.get_mut(first) else { continue };
            walk(value, rest, &mut |value| each(*kind, value));
        }
    }
}

fn walk(value: &mut Value, path: &str, each: &mut dyn FnMut(&mut Value)) {
    if path.is_empty() {
        return each(value);
    }
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match value {
        Value::Array(items) if first == "*" => {
            for item in items {
                walk(item, rest, each);
            }
        }
        Value::Object(members) => {
            if let Some(member) = members.get_mut(first) {
                walk(member, rest, each);
            }
        }
        _ => {}
    }
}

impl FromStr for RecordKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|kind| kind.name() == text).copied();
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
            format!("unknown record type `{text}`; use one of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_kind_is_told_by_its_fields() {
        for (body, expected) in [
            (json!({ "line_items": [], "billing": {} }), Some(RecordKind::Order)),
            (json!({ "billing": {}, "total": "1" }), Some(RecordKind::Order)),
            (json!({ "discount_type": "percent", "amount": "1" }), Some(RecordKind::Coupon)),
            (json!({ "refunded_by": 1, "line_items": [] }), Some(RecordKind::Refund)),
            (json!({ "refunded_by": 1, "amount": "1" }), Some(RecordKind::Refund)),
            (json!({ "sku": "A", "name": "B" }), Some(RecordKind::Product)),
            (json!({ "email": "a@example.com" }), Some(RecordKind::Customer)),
            (json!({ "name": "B" }), None),
        ] {
            assert_eq!(RecordKind::of_body(body.as_object().unwrap()), expected, "{body}");
        }
    }

    #[test]
    fn references_are_found_wherever_they_are() {
        let mut body = json!({
            "categories": [{ "id": 3 }, { "id": 4 }, { "name": "x" }], "upsell_ids": [5],
            "tags": "none", "parent_id": 7,
        });
        let mut found = Vec::new();
        let members = body.as_object_mut().unwrap();
        RecordKind::Product.each_reference(members, &mut |kind, id| found.push((kind, id.clone())));
        let expected = [
            (RecordKind::Category, json!(3)),
            (RecordKind::Category, json!(4)),
            (RecordKind::Product, json!(7)),
            (RecordKind::Product, json!(5)),
        ];
        assert_eq!(found, expected);
    }
}
