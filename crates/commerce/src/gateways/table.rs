//! The ways to pay, and the settings of each.

use crate::settings::kind::Kind;

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
    pub(super) kind: Kind,
    pub(super) default: &'static str,
}

const fn title(default: &'static str) -> Field {
    let about = "What buyers read at the checkout.";
    Field { id: "title", label: "Title", about, kind: Kind::Text, default }
}

const INSTRUCTIONS: Field = Field {
    id: "instructions",
    label: "Instructions",
    about: "What the order's page and e-mails tell the buyer to do.",
    kind: Kind::Textarea,
    default: "",
};

pub(super) static GATEWAYS: &[Gateway] = &[
    Gateway {
        id: "bacs",
        option: "woocommerce_bacs_settings",
        order: 3,
        name: "Bank transfer",
        about: "The buyer transfers the money to the shop's account.",
        title: "Bank transfer",
        description: "Transfer the sum to our account, with the order's number as the reference.",
        fields: &[title("Bank transfer"), INSTRUCTIONS],
    },
    Gateway {
        id: "cheque",
        option: "woocommerce_cheque_settings",
        order: 4,
        name: "Cheque",
        about: "The buyer sends a cheque.",
        title: "Cheque",
        description: "Send a cheque to the shop's address.",
        fields: &[title("Cheque"), INSTRUCTIONS],
    },
    Gateway {
        id: "cod",
        option: "woocommerce_cod_settings",
        order: 5,
        name: "Cash on delivery",
        about: "The buyer pays when the goods arrive.",
        title: "Cash on delivery",
        description: "Pay when the goods arrive.",
        fields: &[
            title("Cash on delivery"),
            INSTRUCTIONS,
            Field {
                id: "enable_for_methods",
                label: "Ways of shipping",
                about: "With which ways of shipping this is offered; with all if none is chosen.",
                kind: Kind::Multiselect,
                default: "",
            },
            Field {
                id: "enable_for_virtual",
                label: "Orders without shipping",
                about: "Offer this too where nothing is shipped.",
                kind: Kind::Checkbox,
                default: "yes",
            },
        ],
    },
];
