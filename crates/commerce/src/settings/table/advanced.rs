//! Settings of the paths below the checkout and the account page.

use super::{Setting, text};

pub(super) static SETTINGS: &[Setting] = &[
    text("woocommerce_checkout_pay_endpoint", "Pay", "Path of the payment of an order."),
    text(
        "woocommerce_checkout_order_received_endpoint",
        "Order received",
        "Path of the page that thanks for an order.",
    ),
    text(
        "woocommerce_myaccount_add_payment_method_endpoint",
        "Add a way to pay",
        "Path of the form for a new way to pay.",
    ),
    text(
        "woocommerce_myaccount_delete_payment_method_endpoint",
        "Delete a way to pay",
        "Path that deletes a way to pay.",
    ),
    text(
        "woocommerce_myaccount_set_default_payment_method_endpoint",
        "Prefer a way to pay",
        "Path that makes a way to pay the first.",
    ),
    text("woocommerce_myaccount_orders_endpoint", "Orders", "Path of the customer's orders."),
    text("woocommerce_myaccount_view_order_endpoint", "Order", "Path of one order."),
    text("woocommerce_myaccount_downloads_endpoint", "Downloads", "Path of the customer's files."),
    text("woocommerce_myaccount_edit_account_endpoint", "Account", "Path of the account's form."),
    text("woocommerce_myaccount_edit_address_endpoint", "Addresses", "Path of the addresses."),
    text(
        "woocommerce_myaccount_payment_methods_endpoint",
        "Ways to pay",
        "Path of the customer's ways to pay.",
    ),
    text("woocommerce_myaccount_lost_password_endpoint", "Lost password", "Path of its form."),
    text("woocommerce_logout_endpoint", "Sign out", "Path that signs the customer out."),
];
