//! Settings of accounts and privacy.

use super::{Setting, checkbox, textarea};

pub(super) static SETTINGS: &[Setting] = &[
    checkbox(
        "woocommerce_enable_guest_checkout",
        "Guest checkout",
        "Allow customers to place orders without an account.",
    ),
    checkbox(
        "woocommerce_enable_checkout_login_reminder",
        "Checkout sign-in",
        "Allow existing customers to sign in during checkout.",
    ),
    checkbox(
        "woocommerce_enable_signup_and_login_from_checkout",
        "Registration at checkout",
        "Allow customers to create an account during checkout.",
    ),
    checkbox(
        "woocommerce_enable_myaccount_registration",
        "Registration on the account page",
        "Allow customers to create an account on the account page.",
    ),
    checkbox(
        "woocommerce_registration_generate_username",
        "Usernames",
        "Generate usernames from e-mail addresses.",
    ),
    checkbox(
        "woocommerce_registration_generate_password",
        "New account passwords",
        "Send new customers a link to set their password.",
    ),
    checkbox(
        "woocommerce_erasure_request_removes_order_data",
        "Erase orders",
        "Remove personal data from orders on request.",
    ),
    checkbox(
        "woocommerce_erasure_request_removes_download_data",
        "Erase downloads",
        "Remove access to downloads and their logs on request.",
    ),
    checkbox(
        "woocommerce_allow_bulk_remove_personal_data",
        "Bulk erasure",
        "Allow personal data to be removed from many orders at once.",
    ),
    textarea(
        "woocommerce_registration_privacy_policy_text",
        "Registration privacy policy",
        "Privacy text shown on registration forms.",
    ),
    textarea(
        "woocommerce_checkout_privacy_policy_text",
        "Checkout privacy policy",
        "Privacy text shown during checkout.",
    ),
];
