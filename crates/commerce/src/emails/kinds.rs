//! The table of e-mails. Each keeps what the merchant set in an option of its own.

use frame::options::{Definition, Kind, option};

/// The names of an e-mail's settings.
pub(crate) const SWITCH: &str = "enabled";
pub(crate) const RECIPIENT: &str = "recipient";
pub(crate) const SUBJECT: &str = "subject";
pub(crate) const HEADING: &str = "heading";
pub(crate) const ADDITIONAL_CONTENT: &str = "additional_content";
pub(crate) const EMAIL_TYPE: &str = "email_type";

/// Which bodies an e-mail can have; the first unless the merchant chose another.
pub(crate) const FORMATS: &[(&str, &str)] =
    &[("multipart", "Multipart"), ("html", "HTML"), ("plain", "Plain text")];

/// To whom an e-mail goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Those whom the merchant names, or the site's administrator.
    Shop,
    Customer,
}

/// What an e-mail is called in one of its cases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wording {
    /// Follows the names of the settings, such as `_partial`.
    pub(crate) suffix: &'static str,
    /// What it is called in the label of the setting; empty for the only case.
    pub(crate) case: &'static str,
    pub(crate) subject: &'static str,
    pub(crate) heading: &'static str,
}

/// An e-mail that the shop sends.
#[derive(Debug)]
pub(crate) struct EmailKind {
    pub(crate) id: &'static str,
    /// Where its settings are kept.
    pub(crate) option: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) audience: Audience,
    /// One at least.
    pub(crate) wordings: &'static [Wording],
    /// How it begins.
    pub(crate) intro: &'static str,
    /// How it ends unless the merchant writes something else.
    pub(crate) closing: &'static str,
}

macro_rules! email_kinds {
    ($(
        $id:literal: $title:literal, $audience:ident, $about:literal,
        [$(($suffix:literal, $case:literal, $subject:literal, $heading:literal)),+],
        $intro:literal, $closing:literal;
    )+) => {
        pub(crate) static KINDS: &[EmailKind] = &[$(
            EmailKind {
                id: $id,
                option: concat!("woocommerce_", $id, "_settings"),
                title: $title,
                about: $about,
                audience: Audience::$audience,
                wordings: &[$(
                    Wording {
                        suffix: $suffix, case: $case, subject: $subject, heading: $heading,
                    },
                )+],
                intro: $intro,
                closing: $closing,
            },
        )+];

        /// The options in which the settings of e-mails are kept.
        pub const OPTIONS: &[Definition] = &[
            $(option(concat!("woocommerce_", $id, "_settings"), Kind::Json, "{}")),+
        ];
    };
}

email_kinds! {
    "new_order": "New order", Shop, "Sent to the store when an order is placed.",
        [("", "", "[{site_title}] New order {order_number}", "New order {order_number}")],
        "You have a new order from {customer_name}.", "";
    "cancelled_order": "Cancelled order", Shop, "Sent to the store when an order is cancelled.",
        [("", "", "[{site_title}] Order {order_number} cancelled", "Order cancelled")],
        "Order {order_number} of {customer_name} was cancelled.", "";
    "customer_cancelled_order": "Order cancelled", Customer, "Sent when the order was cancelled.",
        [("", "", "Order cancelled ({order_number})", "Your order has been cancelled")],
        "Your order has been cancelled and will not be shipped.", "";
    "failed_order": "Failed order", Shop, "Sent to the store when the payment of an order fails.",
        [("", "", "[{site_title}] Payment for order {order_number} failed", "Payment failed")],
        "The payment for order {order_number} of {customer_name} failed.", "";
    "customer_failed_order": "Payment failed", Customer, "Sent when the payment failed.",
        [("", "", "Payment failed ({order_number})", "Your payment failed")],
        "We could not process your payment. Please try again.", "";
    "customer_on_hold_order": "Order on hold", Customer, "Sent while the order waits for payment.",
        [("", "", "Order on hold ({order_number})", "We received your order")],
        "We are holding your order until we receive your payment.", "";
    "customer_processing_order": "Order received", Customer,
        "Sent when the order is being prepared.",
        [("", "", "Order received ({order_number})", "Thank you for your order")],
        "We received your order and are preparing it.", "";
    "customer_completed_order": "Order complete", Customer, "Sent when the order is complete.",
        [("", "", "Order complete ({order_number})", "Your order is complete")],
        "Your order is complete.", "Thank you for shopping with us.";
    "customer_refunded_order": "Order refunded", Customer, "Sent when the order was refunded.",
        [
            ("_full", "Full refund", "Order refunded ({order_number})", "Your order was refunded"),
            (
                "_partial", "Partial refund", "Order partially refunded ({order_number})",
                "Your order was partially refunded"
            )
        ],
        "Your refund is on its way.", "";
    "customer_invoice": "Order details", Customer, "Lists the items and the totals of the order.",
        [
            ("", "Unpaid order", "Order details ({order_number})", "Your order"),
            ("_paid", "Paid order", "Order details ({order_number})", "Your order")
        ],
        "Here are the details of your order.", "";
    "customer_note": "Customer note", Customer, "Sent when a note for the customer is added.",
        [("", "", "A note about your order {order_number}", "A note about your order")],
        "The following note was added to your order:", "";
    "customer_new_account": "New account", Customer, "Sent when an account is created.",
        [("", "", "Welcome to {site_title}", "Welcome to {site_title}")],
        "Your account has been created. Your username is {username}.", "";
    "admin_payment_gateway_enabled": "Payment method enabled", Shop,
        "Sent to the store when a payment method is enabled.",
        [(
            "", "", "[{site_title}] Payment method enabled: {gateway_title}",
            "Payment method enabled"
        )],
        "{username} enabled the payment method {gateway_title}. If this was not you or somebody \
         you know, disable it and change your password.", "";
    "customer_pos_completed_order": "Your purchase", Customer,
        "Receipt for an in-person purchase.",
        [("", "", "Your purchase ({order_number})", "Thank you for your purchase")],
        "Here is the receipt for your purchase.", "";
    "customer_pos_refunded_order": "Purchase refunded", Customer,
        "Sent when an in-person purchase was refunded.",
        [("", "", "Purchase refunded ({order_number})", "Your purchase was refunded")],
        "Your refund is on its way.", "";
}

impl EmailKind {
    /// Whether it is only sent when somebody asks for it, so that it cannot be switched off.
    pub(crate) fn is_manual(&self) -> bool {
        self.id == "customer_invoice"
    }

    pub(crate) fn wording(&self, suffix: &str) -> &'static Wording {
        let found = self.wordings.iter().find(|wording| wording.suffix == suffix);
        found.or(self.wordings.first()).expect("every e-mail has a wording")
    }
}

pub(crate) fn find(id: &str) -> Option<&'static EmailKind> {
    KINDS.iter().find(|kind| kind.id == id)
}
