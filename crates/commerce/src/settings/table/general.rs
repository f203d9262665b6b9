//! Settings of the shop as a whole: where it is, where it sells, and in which currency.

use super::{Offers, Setting, checkbox, multiselect, number, select, text};

pub(super) static SETTINGS: &[Setting] = &[
    text("woocommerce_store_address", "Address line 1", "Street address of your store."),
    text(
        "woocommerce_store_address_2",
        "Address line 2",
        "Optional second line of your store's address.",
    ),
    text("woocommerce_store_city", "City", "City of your store."),
    select(
        "woocommerce_default_country",
        "Country / State",
        "Country and state or province of your store.",
        Offers::CountriesAndStates,
    ),
    text("woocommerce_store_postcode", "Postcode", "Postcode of your store."),
    select(
        "woocommerce_allowed_countries",
        "Selling locations",
        "Countries you sell to.",
        Offers::These(&[
            ("all", "All countries"),
            ("all_except", "All countries, except for…"),
            ("specific", "Specific countries"),
        ]),
    ),
    multiselect(
        "woocommerce_all_except_countries",
        "Excluded countries",
        "Countries you do not sell to.",
        Offers::Countries,
    ),
    multiselect(
        "woocommerce_specific_allowed_countries",
        "Sell to specific countries",
        "Countries you sell to.",
        Offers::Countries,
    ),
    select(
        "woocommerce_ship_to_countries",
        "Shipping locations",
        "Countries you ship to.",
        Offers::These(&[
            ("", "All countries you sell to"),
            ("all", "All countries"),
            ("specific", "Specific countries"),
            ("disabled", "Disable shipping"),
        ]),
    ),
    multiselect(
        "woocommerce_specific_ship_to_countries",
        "Ship to specific countries",
        "Countries you ship to.",
        Offers::Countries,
    ),
    select(
        "woocommerce_default_customer_address",
        "Default customer location",
        "Location assumed before a customer enters an address.",
        Offers::These(&[
            ("", "No location by default"),
            ("base", "Shop base address"),
            ("geolocation", "Geolocate"),
            ("geolocation_ajax", "Geolocate (with page caching support)"),
        ]),
    ),
    checkbox("woocommerce_calc_taxes", "Enable taxes", "Calculate taxes at checkout."),
    checkbox(
        "woocommerce_enable_coupons",
        "Enable coupons",
        "Allow customers to use coupon codes.",
    ),
    checkbox(
        "woocommerce_calc_discounts_sequentially",
        "Sequential discounts",
        "Calculate coupon discounts sequentially: each applies to the already discounted price.",
    ),
    select(
        "woocommerce_currency",
        "Currency",
        "Currency of prices and payments.",
        Offers::Currencies,
    ),
    select(
        "woocommerce_currency_pos",
        "Currency position",
        "Position of the currency symbol.",
        Offers::These(&[
            ("left", "Left"),
            ("right", "Right"),
            ("left_space", "Left with space"),
            ("right_space", "Right with space"),
        ]),
    ),
    text(
        "woocommerce_price_thousand_sep",
        "Thousands separator",
        "Thousands separator of displayed prices.",
    ),
    text(
        "woocommerce_price_decimal_sep",
        "Decimal separator",
        "Decimal separator of displayed prices.",
    ),
    number(
        "woocommerce_price_num_decimals",
        "Number of decimals",
        "Number of decimals in displayed prices.",
    ),
];
