//! The ways to pay, and the settings of each.

use crate::setting_types::SettingType;

#[derive(Debug)]
pub(super) struct Gateway {
    pub(super) id: &'static str,
    /// Where its settings are kept.
    pub(super) option: &'static str,
    /// Its place at the checkout unless somebody moved it.
    pub(super) order: i64,
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// What buyers read unless the shop says otherwise.
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) fields: &'static [Field],
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

const fn title(default: &'static str) -> Field {
    let about = "Title shown to customers at checkout.";
    Field { id: "title", label: "Title", about, kind: SettingType::SafeText, default }
}

const INSTRUCTIONS: Field = Field {
    id: "instructions",
    label: "Instructions",
    about: "Instructions shown on the order page and in e-mails.",
    kind: SettingType::Textarea,
    default: "",
};

pub(super) static GATEWAYS: &[Gateway] = &[
    Gateway {
        id: "bacs",
        option: "woocommerce_bacs_settings",
        order: 3,
        name: "Bank transfer",
        about: "Take payments by bank transfer.",
        title: "Bank transfer",
        description: "Transfer the total to our bank account. Use your order number as the \
                      payment reference.",
        fields: &[title("Bank transfer"), INSTRUCTIONS],
    },
    Gateway {
        id: "cheque",
        option: "woocommerce_cheque_settings",
        order: 4,
        name: "Cheque",
        about: "Take payments by cheque.",
        title: "Cheque",
        description: "Please send a cheque to our address.",
        fields: &[title("Cheque"), INSTRUCTIONS],
    },
    Gateway {
        id: "cod",
        option: "woocommerce_cod_settings",
        order: 5,
        name: "Cash on delivery",
        about: "Take payments on delivery.",
        title: "Cash on delivery",
        description: "Pay when your order is delivered.",
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
