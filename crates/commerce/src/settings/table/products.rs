//! Settings of products: units, reviews, stock, downloads.

use super::super::kind::Kind;
use super::{Default, Offers, Setting, checkbox, number, select, setting, text};

pub(super) static SETTINGS: &[Setting] = &[
    setting(
        Kind::Page,
        Offers::Pages,
        "woocommerce_shop_page_id",
        "Shop page",
        "The page that lists the products.",
    ),
    checkbox(
        "woocommerce_cart_redirect_after_add",
        "After adding to the cart",
        "Show the cart once a product was added.",
    ),
    checkbox(
        "woocommerce_enable_ajax_add_to_cart",
        "Buttons in lists",
        "Add products from lists without loading the page again.",
    ),
    text(
        "woocommerce_placeholder_image",
        "Stand-in picture",
        "Id or address of the picture for products without one.",
    ),
    select(
        "woocommerce_weight_unit",
        "Unit of weight",
        "The unit in which weights are given.",
        Offers::These(&[("kg", "kg"), ("g", "g"), ("lbs", "lbs"), ("oz", "oz")]),
    ),
    select(
        "woocommerce_dimension_unit",
        "Unit of length",
        "The unit in which lengths are given.",
        Offers::These(&[("m", "m"), ("cm", "cm"), ("mm", "mm"), ("in", "in"), ("yd", "yd")]),
    ),
    checkbox("woocommerce_enable_reviews", "Reviews", "Let customers review products."),
    checkbox(
        "woocommerce_review_rating_verification_label",
        "Mark buyers",
        "Mark the reviews of those who bought the product.",
    ),
    checkbox(
        "woocommerce_review_rating_verification_required",
        "Buyers only",
        "Take reviews only of those who bought the product.",
    ),
    checkbox("woocommerce_enable_review_rating", "Ratings", "Let reviews give stars."),
    checkbox("woocommerce_review_rating_required", "Stars needed", "Ask every review for stars."),
    checkbox("woocommerce_manage_stock", "Stock", "Count what is in stock."),
    number(
        "woocommerce_hold_stock_minutes",
        "Reservation (minutes)",
        "How long an unpaid order keeps its goods; empty for ever.",
    )
    .without_tip(),
    checkbox("woocommerce_notify_low_stock", "Low stock", "Tell when little is left."),
    checkbox("woocommerce_notify_no_stock", "No stock", "Tell when nothing is left."),
    text(
        "woocommerce_stock_email_recipient",
        "Who is told",
        "Addresses that are told about stock, with commas between them.",
    )
    .default(Default::LikeOption("admin_email")),
    number("woocommerce_notify_low_stock_amount", "Little", "From which amount on little is left."),
    number(
        "woocommerce_notify_no_stock_amount",
        "Nothing",
        "From which amount on a product counts as out of stock.",
    ),
    checkbox(
        "woocommerce_hide_out_of_stock_items",
        "Out of stock",
        "Hide products that are out of stock.",
    ),
    select(
        "woocommerce_stock_format",
        "Amount in stock",
        "When customers see how much is left.",
        Offers::These(&[
            ("", "Always"),
            ("low_amount", "When it is little"),
            ("no_amount", "Never"),
        ]),
    ),
    select(
        "woocommerce_file_download_method",
        "Way of downloads",
        "How files reach customers.",
        Offers::These(&[
            ("force", "Through the shop"),
            ("xsendfile", "Through the web server"),
            ("redirect", "By a redirect, which shows where the file is"),
        ]),
    ),
    checkbox(
        "woocommerce_downloads_redirect_fallback_allowed",
        "Last resort",
        "Redirect to a file when no other way works.",
    ),
    checkbox(
        "woocommerce_downloads_require_login",
        "Signed in only",
        "Give files only to customers who are signed in.",
    ),
    checkbox(
        "woocommerce_downloads_grant_access_after_payment",
        "After payment",
        "Give files once an order is paid, before it is completed.",
    ),
    checkbox(
        "woocommerce_downloads_deliver_inline",
        "In the browser",
        "Show files in the browser instead of saving them.",
    ),
    checkbox(
        "woocommerce_downloads_add_hash_to_filename",
        "Names of files",
        "Make names of uploaded files hard to guess.",
    ),
    checkbox(
        "woocommerce_downloads_count_partial",
        "Parts of files",
        "Count a download of a part as a download.",
    ),
];
