//! Settings of taxes and of shipping.

use super::{Default, Kept, Offers, Setting, checkbox, radio, select, text, textarea};

const INCLUDING: Offers = Offers::These(&[("incl", "Including tax"), ("excl", "Excluding tax")]);

pub(super) static TAX: &[Setting] = &[
    radio(
        "woocommerce_prices_include_tax",
        "Prices entered with tax",
        "Whether you enter prices including tax.",
        Offers::These(&[("yes", "Yes, prices include tax"), ("no", "No, tax is added to prices")]),
    ),
    select(
        "woocommerce_tax_based_on",
        "Calculate tax based on",
        "Address that taxes are based on.",
        Offers::These(&[
            ("shipping", "Customer shipping address"),
            ("billing", "Customer billing address"),
            ("base", "Shop base address"),
        ]),
    ),
    select(
        "woocommerce_shipping_tax_class",
        "Shipping tax class",
        "Tax class that applies to shipping.",
        Offers::TaxClasses,
    ),
    checkbox(
        "woocommerce_tax_round_at_subtotal",
        "Rounding",
        "Round tax per order instead of per line.",
    ),
    textarea(
        "woocommerce_tax_classes",
        "Additional tax classes",
        "Tax classes beside the standard one, one per line. Removing a class deletes its rates.",
    )
    .default(Default::Text(""))
    .kept(Kept::TaxClasses),
    select(
        "woocommerce_tax_display_shop",
        "Display prices in the shop",
        "How prices are displayed in the shop.",
        INCLUDING,
    ),
    select(
        "woocommerce_tax_display_cart",
        "Display prices in the cart",
        "How prices are displayed in the cart and at checkout.",
        INCLUDING,
    ),
    text("woocommerce_price_display_suffix", "Price display suffix", "Text shown after prices."),
    select(
        "woocommerce_tax_total_display",
        "Display tax totals",
        "How tax totals are displayed.",
        Offers::These(&[("single", "As a single total"), ("itemized", "Itemized")]),
    ),
];

pub(super) static SHIPPING: &[Setting] = &[
    checkbox(
        "woocommerce_enable_shipping_calc",
        "Shipping calculator",
        "Show the shipping calculator in the cart.",
    ),
    checkbox(
        "woocommerce_shipping_cost_requires_address",
        "Shipping costs",
        "Hide shipping costs until an address is entered.",
    ),
    radio(
        "woocommerce_ship_to_destination",
        "Shipping destination",
        "Address used for shipping by default.",
        Offers::These(&[
            ("shipping", "Default to customer shipping address"),
            ("billing", "Default to customer billing address"),
            ("billing_only", "Force shipping to the billing address"),
        ]),
    ),
    checkbox(
        "woocommerce_shipping_debug_mode",
        "Debug mode",
        "Show the matching shipping zone and skip cached rates.",
    ),
];
