//! The ways to pay that are part of the program, and the settings of each.

use std::borrow::Cow;

use crate::setting_types::SettingType;

#[derive(Clone, Debug)]
pub(super) struct Gateway {
    pub(super) id: Cow<'static, str>,
    pub(super) kept: Kept,
    /// Its place at the checkout unless somebody moved it.
    pub(super) order: i64,
    pub(super) name: Cow<'static, str>,
    pub(super) about: &'static str,
    /// What buyers read unless the shop says otherwise.
    pub(super) title: Cow<'static, str>,
    pub(super) description: Cow<'static, str>,
    /// What it can do besides taking payments.
    pub(super) supports: &'static [&'static str],
    pub(super) fields: &'static [Field],
}

/// Where the settings of a way to pay are kept.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kept {
    /// In an option of its own.
    Option(&'static str),
    /// With those of all gateways that have a payment page.
    Hosted,
}

/// A setting of a way to pay.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: SettingType,
    pub(super) default: &'static str,
}

pub(super) const fn title(default: &'static str) -> Field {
    let about = "Title shown to customers at checkout.";
    Field { id: "title", label: "Title", about, kind: SettingType::SafeText, default }
}

pub(super) const INSTRUCTIONS: Field = Field {
    id: "instructions",
    label: "Instructions",
    about: "Instructions shown on the order page and in e-mails.",
    kind: SettingType::Textarea,
    default: "",
};

pub(super) static GATEWAYS: &[Gateway] = &[
    Gateway {
        id: Cow::Borrowed("bacs"),
        kept: Kept::Option("woocommerce_bacs_settings"),
        order: 3,
        name: Cow::Borrowed("Bank transfer"),
        about: "Take payments by bank transfer.",
        title: Cow::Borrowed("Bank transfer"),
        description: Cow::Borrowed(
            "Transfer the total to our bank account. Use your order number as the payment \
             reference.",
        ),
        supports: &["products"],
        fields: &[title("Bank transfer"), INSTRUCTIONS],
    },
    Gateway {
        id: Cow::Borrowed("cheque"),
        kept: Kept::Option("woocommerce_cheque_settings"),
        order: 4,
        name: Cow::Borrowed("Cheque"),
        about: "Take payments by cheque.",
        title: Cow::Borrowed("Cheque"),
        description: Cow::Borrowed("Please send a cheque to our address."),
        supports: &["products"],
        fields: &[title("Cheque"), INSTRUCTIONS],
    },
    Gateway {
        id: Cow::Borrowed("cod"),
        kept: Kept::Option("woocommerce_cod_settings"),
        order: 5,
        name: Cow::Borrowed("Cash on delivery"),
        about: "Take payments on delivery.",
        title: Cow::Borrowed("Cash on delivery"),
        description: Cow::Borrowed("Pay when your order is delivered."),
        supports: &["products"],
        fields: &[
            title("Cash on delivery"),
            INSTRUCTIONS,
            Field {
                id: "enable_for_methods",
                label: "Shipping methods",
                about: "Shipping methods that this payment method is offered with; all if none is \
                        selected.",
                kind: SettingType::Multiselect,
                default: "",
            },
            Field {
                id: "enable_for_virtual",
                label: "Orders without shipping",
                about: "Also offer it for orders that are not shipped.",
                kind: SettingType::Checkbox,
                default: "yes",
            },
        ],
    },
];
