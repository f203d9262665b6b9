//! The settings that a way of shipping has in a zone.

use crate::setting_types::{Choices, SettingType};

#[derive(Debug)]
pub(super) struct Field {
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: SettingType,
    pub(super) default: &'static str,
    pub(super) placeholder: &'static str,
    choices: &'static [(&'static str, &'static str)],
}

impl Field {
    pub(super) fn choices(&self) -> Choices {
        let named = self.choices.iter();
        named.map(|(value, name)| ((*value).to_owned(), (*name).to_owned())).collect()
    }
}

const fn text(id: &'static str, label: &'static str, about: &'static str) -> Field {
    let (kind, default, placeholder) = (SettingType::Text, "", "");
    Field { id, label, about, kind, default, placeholder, choices: &[] }
}

const fn title(default: &'static str) -> Field {
    Field { default, ..text("title", "Name", "Title shown to customers at checkout.") }
}

const TAX_STATUS: Field = Field {
    id: "tax_status",
    label: "Tax status",
    about: "",
    kind: SettingType::Select,
    default: "taxable",
    placeholder: "",
    choices: &[("taxable", "Taxable"), ("none", "None")],
};

const COST: Field = text("cost", "Cost", "Cost, or an expression such as 10 + 2.");

static FLAT_RATE: &[Field] = &[title("Flat rate"), TAX_STATUS, COST];
static LOCAL_PICKUP: &[Field] = &[title("Local pickup"), TAX_STATUS, COST];
static FREE_SHIPPING: &[Field] = &[
    title("Free shipping"),
    Field {
        id: "requires",
        label: "Free shipping requires",
        about: "",
        kind: SettingType::Select,
        default: "",
        placeholder: "",
        choices: &[
            ("", "No requirement"),
            ("coupon", "A free shipping coupon"),
            ("min_amount", "A minimum order amount"),
            ("either", "A minimum order amount or a coupon"),
            ("both", "A minimum order amount and a coupon"),
        ],
    },
    Field {
        default: "0",
        placeholder: "0.00",
        ..text("min_amount", "Minimum order amount", "Order amount from which shipping is free.")
    },
    Field {
        id: "ignore_discounts",
        label: "Discounts",
        about: "Apply the minimum order amount before coupon discounts.",
        kind: SettingType::Checkbox,
        default: "no",
        placeholder: "",
        choices: &[],
    },
];

/// The settings of a way of shipping; nothing for one that zones do not offer.
pub(super) fn of(method_id: &str) -> Option<&'static [Field]> {
    match method_id {
        "flat_rate" => Some(FLAT_RATE),
        "free_shipping" => Some(FREE_SHIPPING),
        "local_pickup" => Some(LOCAL_PICKUP),
        _ => None,
    }
}
