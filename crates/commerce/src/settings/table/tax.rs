//! Settings of taxes and of shipping.

use super::{Offers, Setting, checkbox, radio, select, text};

const INCLUDING: Offers = Offers::These(&[("incl", "With tax"), ("excl", "Without tax")]);

pub(super) static TAX: &[Setting] = &[
    radio(
        "woocommerce_prices_include_tax",
        "Prices",
        "Whether the prices that are entered include tax.",
        Offers::These(&[("yes", "They include tax"), ("no", "Tax comes on top")]),
    ),
    select(
        "woocommerce_tax_based_on",
        "Where tax is due",
        "Whose address decides about taxes.",
        Offers::These(&[
            ("shipping", "Where the goods go"),
            ("billing", "Where the bill goes"),
            ("base", "Where the shop is"),
        ]),
    ),
    select(
        "woocommerce_shipping_tax_class",
        "Tax on shipping",
        "Which class of taxes shipping has.",
        Offers::TaxClasses,
    ),
    checkbox(
        "woocommerce_tax_round_at_subtotal",
        "Rounding",
        "Round taxes of the whole order instead of each line.",
    ),
    select(
        "woocommerce_tax_display_shop",
        "Prices in the shop",
        "How the shop shows prices.",
        INCLUDING,
    ),
    select(
        "woocommerce_tax_display_cart",
        "Prices in the cart",
        "How cart and checkout show prices.",
        INCLUDING,
    ),
    text("woocommerce_price_display_suffix", "After prices", "Text that follows prices."),
    select(
        "woocommerce_tax_total_display",
        "Total of taxes",
        "How an order shows its taxes.",
        Offers::These(&[("single", "In one sum"), ("itemized", "Each on its own")]),
    ),
];

pub(super) static SHIPPING: &[Setting] = &[
    checkbox("woocommerce_enable_shipping_calc", "Calculator", "Offer costs in the cart."),
    checkbox(
        "woocommerce_shipping_cost_requires_address",
        "Costs",
        "Show costs only once there is an address.",
    ),
    radio(
        "woocommerce_ship_to_destination",
        "Destination",
        "Which address is taken first.",
        Offers::These(&[
            ("shipping", "The customer's for shipping"),
            ("billing", "The customer's for bills"),
            ("billing_only", "Always the one for bills"),
        ]),
    ),
    checkbox(
        "woocommerce_shipping_debug_mode",
        "Search for faults",
        "Show which zone applies, and compute costs anew each time.",
    ),
];
