//! Settings of accounts and privacy, and of e-mails.

use super::super::kind::Kind;
use super::{Default, Offers, Setting, checkbox, setting, text, textarea};

pub(super) static ACCOUNT: &[Setting] = &[
    checkbox("woocommerce_enable_guest_checkout", "Guests", "Let customers buy as guests."),
    checkbox(
        "woocommerce_enable_checkout_login_reminder",
        "Sign-in at the checkout",
        "Let customers sign in at the checkout.",
    ),
    checkbox(
        "woocommerce_enable_signup_and_login_from_checkout",
        "New accounts at the checkout",
        "Let customers make an account at the checkout.",
    ),
    checkbox(
        "woocommerce_enable_myaccount_registration",
        "New accounts on their page",
        "Let customers make an account on the account page.",
    ),
    checkbox(
        "woocommerce_registration_generate_username",
        "Names of accounts",
        "Make the name of an account from the e-mail address.",
    ),
    checkbox(
        "woocommerce_registration_generate_password",
        "First password",
        "Send new customers a link to choose a password.",
    ),
    checkbox(
        "woocommerce_erasure_request_removes_order_data",
        "Erasure in orders",
        "Remove personal data from orders when a customer asks for it.",
    ),
    checkbox(
        "woocommerce_erasure_request_removes_download_data",
        "Erasure of downloads",
        "Remove downloads and their log when a customer asks for it.",
    ),
    checkbox(
        "woocommerce_allow_bulk_remove_personal_data",
        "Erasure in bulk",
        "Let managers remove personal data of many orders at once.",
    ),
    textarea(
        "woocommerce_registration_privacy_policy_text",
        "Privacy at registration",
        "What new customers are told about privacy.",
    ),
    textarea(
        "woocommerce_checkout_privacy_policy_text",
        "Privacy at the checkout",
        "What buyers are told about privacy.",
    ),
];

pub(super) static EMAIL: &[Setting] = &[
    text("woocommerce_email_from_name", "Sender", "The name from which e-mails come.")
        .default(Default::LikeOption("blogname")),
    setting(
        Kind::Email,
        Offers::Nothing,
        "woocommerce_email_from_address",
        "Sender's address",
        "The address from which e-mails come.",
    )
    .default(Default::LikeOption("admin_email")),
    textarea("woocommerce_email_footer_text", "Last lines", "What stands below every e-mail."),
];
