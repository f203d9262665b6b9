//! Settings of the shop's pages, of the paths below the checkout and the account page, and of what
//! is recorded and suggested.

use super::{Default, Setting, checkbox, page, text};

pub(super) static SETTINGS: &[Setting] = &[
    page("woocommerce_cart_page_id", "Cart page", "Page that shows the cart."),
    page("woocommerce_checkout_page_id", "Checkout page", "Page where customers pay."),
    page("woocommerce_myaccount_page_id", "Account page", "Page of the customer's account."),
    page(
        "woocommerce_terms_page_id",
        "Terms and conditions",
        "Page that customers agree to at checkout.",
    ),
    text(
        "woocommerce_checkout_pay_endpoint",
        "Pay",
        "Endpoint of the page where an order is paid.",
    ),
    text(
        "woocommerce_checkout_order_received_endpoint",
        "Order received",
        "Endpoint of the order confirmation page.",
    ),
    text(
        "woocommerce_myaccount_add_payment_method_endpoint",
        "Add payment method",
        "Endpoint of the page that adds a payment method.",
    ),
    text(
        "woocommerce_myaccount_delete_payment_method_endpoint",
        "Delete payment method",
        "Endpoint that deletes a payment method.",
    ),
    text(
        "woocommerce_myaccount_set_default_payment_method_endpoint",
        "Set default payment method",
        "Endpoint that sets the default payment method.",
    ),
    text("woocommerce_myaccount_orders_endpoint", "Orders", "Endpoint of the customer's orders."),
    text("woocommerce_myaccount_view_order_endpoint", "Order", "Endpoint of an order."),
    text(
        "woocommerce_myaccount_downloads_endpoint",
        "Downloads",
        "Endpoint of the customer's downloads.",
    ),
    text(
        "woocommerce_myaccount_edit_account_endpoint",
        "Account",
        "Endpoint of the account details.",
    ),
    text(
        "woocommerce_myaccount_edit_address_endpoint",
        "Addresses",
        "Endpoint of the customer's addresses.",
    ),
    text(
        "woocommerce_myaccount_payment_methods_endpoint",
        "Payment methods",
        "Endpoint of the customer's payment methods.",
    ),
    text(
        "woocommerce_myaccount_lost_password_endpoint",
        "Lost password",
        "Endpoint of the lost password page.",
    ),
    text("woocommerce_logout_endpoint", "Sign out", "Endpoint that signs the customer out."),
    checkbox(
        "woocommerce_allow_tracking",
        "Usage tracking",
        "Allow clients of the store's administration to record how it is used. The store itself \
         sends nothing.",
    )
    .default(Default::Text("no")),
    checkbox(
        "woocommerce_show_marketplace_suggestions",
        "Suggestions",
        "Show suggestions of extensions.",
    )
    .default(Default::Text("yes")),
    checkbox(
        "woocommerce_analytics_enabled",
        "Analytics",
        "Enable reports and what is shown of them.",
    ),
];
