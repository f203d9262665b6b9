//! The options of the shop, which the site is given when it is made; the settings in the order in
//! which the interface lists them.

use contract::rest::Schema;
use frame::options::{Definition, Kind, option, secret, setting};

/// What the codes of refusals begin with.
pub const CODE_PREFIX: &str = "woocommerce_rest";

pub const DEFINITIONS: &[Definition] = &[
    setting(
        "woocommerce_pickup_location_settings",
        Kind::Json,
        r#"{"enabled":"no","title":"Pickup","tax_status":"taxable","cost":""}"#,
        "pickup_location_settings",
        pickup_settings,
    ),
    setting(
        "pickup_location_pickup_locations",
        Kind::Json,
        "[]",
        "pickup_locations",
        pickup_places,
    ),
    setting(
        "woocommerce_default_catalog_orderby",
        Kind::Text,
        r#""menu_order""#,
        "woocommerce_default_catalog_orderby",
        || {
            let orders = ["menu_order", "popularity", "rating", "date", "price", "price-desc"];
            Schema::text().choices(&orders).about("Default sorting of products.")
        },
    ),
    setting(
        "woocommerce_checkout_phone_field",
        Kind::Text,
        r#""optional""#,
        "woocommerce_checkout_phone_field",
        || checkout_field("Whether the checkout asks for a phone number."),
    ),
    setting(
        "woocommerce_checkout_company_field",
        Kind::Text,
        r#""hidden""#,
        "woocommerce_checkout_company_field",
        || checkout_field("Whether the checkout asks for a company."),
    ),
    setting(
        "woocommerce_checkout_address_2_field",
        Kind::Text,
        r#""optional""#,
        "woocommerce_checkout_address_2_field",
        || checkout_field("Whether the checkout asks for a second line of the address."),
    ),
    option("woocommerce_currency", Kind::Text, r#""USD""#),
    option("woocommerce_price_num_decimals", Kind::Integer, "2"),
    option("woocommerce_calc_taxes", Kind::YesNo, r#""no""#),
    option("woocommerce_prices_include_tax", Kind::YesNo, r#""no""#),
    option("woocommerce_tax_based_on", Kind::Text, r#""shipping""#),
    option("woocommerce_tax_round_at_subtotal", Kind::YesNo, r#""no""#),
    option("woocommerce_tax_total_display", Kind::Text, r#""itemized""#),
    option("woocommerce_default_country", Kind::Text, r#""US:CA""#),
    option("woocommerce_store_address", Kind::Text, r#""""#),
    option("woocommerce_store_address_2", Kind::Text, r#""""#),
    option("woocommerce_store_city", Kind::Text, r#""""#),
    option("woocommerce_store_postcode", Kind::Text, r#""""#),
    option("woocommerce_notify_low_stock_amount", Kind::Integer, "2"),
    option("woocommerce_notify_no_stock_amount", Kind::Integer, "0"),
    option("woocommerce_manage_stock", Kind::YesNo, r#""yes""#),
    option("woocommerce_excluded_report_order_statuses", Kind::Json, "null"),
    option("woocommerce_actionable_order_statuses", Kind::Json, "null"),
    option("woocommerce_date_type", Kind::Json, "null"),
    option("woocommerce_default_date_range", Kind::Json, "null"),
    option("woocommerce_analytics_enabled", Kind::YesNo, r#""yes""#),
    option("woocommerce_analytics_scheduled_import", Kind::YesNo, r#""yes""#),
    option("woocommerce_weight_unit", Kind::Text, r#""kg""#),
    option("woocommerce_dimension_unit", Kind::Text, r#""cm""#),
    option("woocommerce_admin_install_timestamp", Kind::Integer, "0"),
    option("default_product_cat", Kind::Integer, "0"),
    option("woocommerce_allowed_countries", Kind::Text, r#""all""#),
    option("woocommerce_all_except_countries", Kind::Json, r#""""#),
    option("woocommerce_specific_allowed_countries", Kind::Json, r#""""#),
    option("woocommerce_ship_to_countries", Kind::Text, r#""""#),
    option("woocommerce_specific_ship_to_countries", Kind::Json, r#""""#),
    option("woocommerce_default_customer_address", Kind::Text, r#""base""#),
    option("woocommerce_enable_coupons", Kind::YesNo, r#""yes""#),
    option("woocommerce_calc_discounts_sequentially", Kind::YesNo, r#""no""#),
    option("woocommerce_currency_pos", Kind::Text, r#""left""#),
    option("woocommerce_price_thousand_sep", Kind::Text, r#"",""#),
    option("woocommerce_price_decimal_sep", Kind::Text, r#"".""#),
    option("woocommerce_shop_page_id", Kind::Text, r#""""#),
    option("woocommerce_cart_redirect_after_add", Kind::YesNo, r#""no""#),
    option("woocommerce_enable_ajax_add_to_cart", Kind::YesNo, r#""yes""#),
    option("woocommerce_placeholder_image", Kind::Text, r#""""#),
    option("woocommerce_enable_reviews", Kind::YesNo, r#""yes""#),
    option("woocommerce_review_rating_verification_label", Kind::YesNo, r#""yes""#),
    option("woocommerce_review_rating_verification_required", Kind::YesNo, r#""no""#),
    option("woocommerce_enable_review_rating", Kind::YesNo, r#""yes""#),
    option("woocommerce_review_rating_required", Kind::YesNo, r#""yes""#),
    option(crate::gateways::hosted::GATEWAYS, Kind::Json, "{}"),
    secret(crate::gateways::hosted::SECRETS, Kind::Json, "null"),
    option("boardwalk_cart_reminders", Kind::YesNo, r#""no""#),
    option("boardwalk_cart_reminder_hours", Kind::Integer, "10"),
    option("woocommerce_hold_stock_minutes", Kind::Text, r#""60""#),
    option("woocommerce_notify_low_stock", Kind::YesNo, r#""yes""#),
    option("woocommerce_notify_no_stock", Kind::YesNo, r#""yes""#),
    option("woocommerce_stock_email_recipient", Kind::Text, r#""""#),
    option("woocommerce_hide_out_of_stock_items", Kind::YesNo, r#""no""#),
    option("woocommerce_stock_format", Kind::Text, r#""""#),
    option("woocommerce_file_download_method", Kind::Text, r#""force""#),
    option("woocommerce_downloads_redirect_fallback_allowed", Kind::YesNo, r#""no""#),
    option("woocommerce_downloads_require_login", Kind::YesNo, r#""no""#),
    option("woocommerce_downloads_grant_access_after_payment", Kind::YesNo, r#""yes""#),
    option("woocommerce_downloads_deliver_inline", Kind::YesNo, r#""no""#),
    option("woocommerce_downloads_add_hash_to_filename", Kind::YesNo, r#""yes""#),
    option("woocommerce_downloads_count_partial", Kind::YesNo, r#""yes""#),
    option("woocommerce_shipping_tax_class", Kind::Text, r#""inherit""#),
    option("woocommerce_tax_display_shop", Kind::Text, r#""excl""#),
    option("woocommerce_tax_display_cart", Kind::Text, r#""excl""#),
    option("woocommerce_price_display_suffix", Kind::Text, r#""""#),
    option("woocommerce_enable_shipping_calc", Kind::YesNo, r#""yes""#),
    option("woocommerce_shipping_cost_requires_address", Kind::YesNo, r#""no""#),
    option("woocommerce_ship_to_destination", Kind::Text, r#""billing""#),
    option("woocommerce_shipping_debug_mode", Kind::YesNo, r#""no""#),
    option("woocommerce_enable_guest_checkout", Kind::YesNo, r#""yes""#),
    option("woocommerce_enable_checkout_login_reminder", Kind::YesNo, r#""no""#),
    option("woocommerce_enable_signup_and_login_from_checkout", Kind::YesNo, r#""no""#),
    option("woocommerce_enable_myaccount_registration", Kind::YesNo, r#""no""#),
    option("woocommerce_registration_generate_username", Kind::YesNo, r#""yes""#),
    option("woocommerce_registration_generate_password", Kind::YesNo, r#""yes""#),
    option("woocommerce_erasure_request_removes_order_data", Kind::YesNo, r#""no""#),
    option("woocommerce_erasure_request_removes_download_data", Kind::YesNo, r#""no""#),
    option("woocommerce_allow_bulk_remove_personal_data", Kind::YesNo, r#""no""#),
    option("woocommerce_registration_privacy_policy_text", Kind::Text, r#""""#),
    option("woocommerce_checkout_privacy_policy_text", Kind::Text, r#""""#),
    option("woocommerce_email_from_name", Kind::Text, r#""""#),
    option("woocommerce_email_from_address", Kind::Text, r#""""#),
    option("woocommerce_email_footer_text", Kind::Text, r#""""#),
    option("woocommerce_email_header_image", Kind::Text, r#""""#),
    option("woocommerce_email_header_image_width", Kind::Text, r#""""#),
    option("woocommerce_email_header_alignment", Kind::Text, r#""left""#),
    option("woocommerce_email_font_family", Kind::Text, r#""""#),
    option("woocommerce_email_base_color", Kind::Text, r#""""#),
    option("woocommerce_email_background_color", Kind::Text, r#""""#),
    option("woocommerce_email_body_background_color", Kind::Text, r#""""#),
    option("woocommerce_email_text_color", Kind::Text, r#""""#),
    option("woocommerce_email_footer_text_color", Kind::Text, r#""""#),
    option("woocommerce_cart_page_id", Kind::Text, r#""""#),
    option("woocommerce_checkout_page_id", Kind::Text, r#""""#),
    option("woocommerce_myaccount_page_id", Kind::Text, r#""""#),
    option("woocommerce_terms_page_id", Kind::Text, r#""""#),
    option("woocommerce_allow_tracking", Kind::YesNo, "null"),
    option("woocommerce_show_marketplace_suggestions", Kind::YesNo, "null"),
    option("woocommerce_checkout_pay_endpoint", Kind::Text, r#""order-pay""#),
    option("woocommerce_checkout_order_received_endpoint", Kind::Text, r#""order-received""#),
    option(
        "woocommerce_myaccount_add_payment_method_endpoint",
        Kind::Text,
        r#""add-payment-method""#,
    ),
    option(
        "woocommerce_myaccount_delete_payment_method_endpoint",
        Kind::Text,
        r#""delete-payment-method""#,
    ),
    option(
        "woocommerce_myaccount_set_default_payment_method_endpoint",
        Kind::Text,
        r#""set-default-payment-method""#,
    ),
    option("woocommerce_myaccount_orders_endpoint", Kind::Text, r#""orders""#),
    option("woocommerce_myaccount_view_order_endpoint", Kind::Text, r#""view-order""#),
    option("woocommerce_myaccount_downloads_endpoint", Kind::Text, r#""downloads""#),
    option("woocommerce_myaccount_edit_account_endpoint", Kind::Text, r#""edit-account""#),
    option("woocommerce_myaccount_edit_address_endpoint", Kind::Text, r#""edit-address""#),
    option("woocommerce_myaccount_payment_methods_endpoint", Kind::Text, r#""payment-methods""#),
    option("woocommerce_myaccount_lost_password_endpoint", Kind::Text, r#""lost-password""#),
    option("woocommerce_logout_endpoint", Kind::Text, r#""customer-logout""#),
    option("woocommerce_gateway_order", Kind::Json, "{}"),
    option("woocommerce_bacs_settings", Kind::Json, "{}"),
    option("woocommerce_cheque_settings", Kind::Json, "{}"),
    option("woocommerce_cod_settings", Kind::Json, "{}"),
];

fn checkout_field(about: &'static str) -> Schema {
    Schema::text().choices(&["optional", "required", "hidden"]).about(about)
}

fn pickup_settings() -> Schema {
    Schema::object([
        (
            "enabled",
            Schema::text().choices(&["yes", "no"]).about("Whether local pickup is enabled."),
        ),
        ("title", Schema::text().about("Title at checkout.")),
        ("tax_status", Schema::text().choices(&["taxable", "none"]).about("Tax status.")),
        ("cost", Schema::text().about("Cost.")),
    ])
    .no_additional()
    .about("Local pickup.")
}

fn pickup_places() -> Schema {
    let line = || Schema::text().about("Part of the address.");
    let address = ["address_1", "city", "state", "postcode", "country"];
    let place = Schema::object([
        ("name", Schema::text().about("Location name.")),
        ("address", Schema::object(address.map(|name| (name, line()))).no_additional()),
        ("details", Schema::text().about("Details for customers.")),
        ("enabled", Schema::boolean().about("Whether the location is enabled.")),
    ]);
    Schema::list(place.no_additional()).about("Pickup locations.")
}

/// The options as they are until somebody sets one.
#[cfg(test)]
pub(crate) fn defaults() -> frame::Options {
    frame::options::declare(&[DEFINITIONS, crate::emails::OPTIONS]);
    frame::Options::default()
}
