//! Settings of the shop as a whole: where it is, where it sells, and in which currency.

use super::{Offers, Setting, checkbox, multiselect, number, select, text};

pub(super) static SETTINGS: &[Setting] = &[
    text("woocommerce_store_address", "Street", "Street and number of the shop."),
    text("woocommerce_store_address_2", "Second line", "More of the shop's address, if needed."),
    text("woocommerce_store_city", "City", "City of the shop."),
    select(
        "woocommerce_default_country",
        "Country and state",
        "Country of the shop, and its state where the country has some.",
        Offers::CountriesAndStates,
    ),
    text("woocommerce_store_postcode", "Postcode", "Postcode of the shop."),
    select(
        "woocommerce_allowed_countries",
        "Where the shop sells",
        "To which countries the shop sells.",
        Offers::These(&[
            ("all", "Everywhere"),
            ("all_except", "Everywhere, with exceptions"),
            ("specific", "In some countries only"),
        ]),
    ),
    multiselect(
        "woocommerce_all_except_countries",
        "Exceptions",
        "Countries to which the shop does not sell.",
        Offers::Countries,
    ),
    multiselect(
        "woocommerce_specific_allowed_countries",
        "Selling countries",
        "The only countries to which the shop sells.",
        Offers::Countries,
    ),
    select(
        "woocommerce_ship_to_countries",
        "Where the shop ships",
        "To which countries the shop ships.",
        Offers::These(&[
            ("", "Wherever it sells"),
            ("all", "Everywhere"),
            ("specific", "To some countries only"),
            ("disabled", "Nowhere"),
        ]),
    ),
    multiselect(
        "woocommerce_specific_ship_to_countries",
        "Shipping countries",
        "The only countries to which the shop ships.",
        Offers::Countries,
    ),
    select(
        "woocommerce_default_customer_address",
        "Place of new customers",
        "Where a customer is taken to be before saying so.",
        Offers::These(&[
            ("", "Nowhere"),
            ("base", "Where the shop is"),
            ("geolocation", "Where the network address is"),
            ("geolocation_ajax", "Where the network address is, with caches"),
        ]),
    ),
    checkbox("woocommerce_calc_taxes", "Taxes", "Compute taxes."),
    checkbox("woocommerce_enable_coupons", "Coupons", "Accept codes of coupons."),
    checkbox(
        "woocommerce_calc_discounts_sequentially",
        "Several coupons",
        "Apply each coupon to what the one before left of the price.",
    ),
    select(
        "woocommerce_currency",
        "Currency",
        "The currency of prices and payments.",
        Offers::Currencies,
    ),
    select(
        "woocommerce_currency_pos",
        "Place of the symbol",
        "Where the symbol of the currency stands.",
        Offers::These(&[
            ("left", "Left"),
            ("right", "Right"),
            ("left_space", "Left, with a space"),
            ("right_space", "Right, with a space"),
        ]),
    ),
    text("woocommerce_price_thousand_sep", "Thousands", "What stands between thousands."),
    text("woocommerce_price_decimal_sep", "Decimal mark", "What stands before decimals."),
    number("woocommerce_price_num_decimals", "Decimals", "How many decimals prices have."),
];
