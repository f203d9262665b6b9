//! Settings of products: units, reviews, stock, downloads.

use super::{Default, Offers, Setting, checkbox, number, page, select, text};

pub(super) static SETTINGS: &[Setting] = &[
    page("woocommerce_shop_page_id", "Shop page", "Page that lists your products."),
    checkbox(
        "woocommerce_cart_redirect_after_add",
        "Redirect to cart",
        "Redirect to the cart after a product is added.",
    ),
    checkbox(
        "woocommerce_enable_ajax_add_to_cart",
        "Add-to-cart buttons",
        "Add products from lists without reloading the page.",
    ),
    text(
        "woocommerce_placeholder_image",
        "Placeholder image",
        "ID or URL of the image for products without one.",
    ),
    select(
        "woocommerce_weight_unit",
        "Weight unit",
        "Unit for weights.",
        Offers::These(&[("kg", "kg"), ("g", "g"), ("lbs", "lbs"), ("oz", "oz")]),
    ),
    select(
        "woocommerce_dimension_unit",
        "Dimensions unit",
        "Unit for lengths.",
        Offers::These(&[("m", "m"), ("cm", "cm"), ("mm", "mm"), ("in", "in"), ("yd", "yd")]),
    ),
    checkbox("woocommerce_enable_reviews", "Enable reviews", "Allow product reviews."),
    checkbox(
        "woocommerce_review_rating_verification_label",
        "Verified owner label",
        "Mark reviews by customers who bought the product as verified.",
    ),
    checkbox(
        "woocommerce_review_rating_verification_required",
        "Verified owners only",
        "Accept reviews only from customers who bought the product.",
    ),
    checkbox(
        "woocommerce_enable_review_rating",
        "Product ratings",
        "Allow star ratings in reviews.",
    ),
    checkbox(
        "woocommerce_review_rating_required",
        "Ratings required",
        "Require a star rating with every review.",
    ),
    checkbox("woocommerce_manage_stock", "Manage stock", "Track stock levels."),
    number(
        "woocommerce_hold_stock_minutes",
        "Hold stock (minutes)",
        "How long stock is held for unpaid orders; leave empty for no limit.",
    )
    .without_tip(),
    checkbox(
        "woocommerce_notify_low_stock",
        "Low stock notifications",
        "Notify when stock is low.",
    ),
    checkbox(
        "woocommerce_notify_no_stock",
        "Out of stock notifications",
        "Notify when a product is out of stock.",
    ),
    text(
        "woocommerce_stock_email_recipient",
        "Notification recipients",
        "E-mail addresses notified about stock, separated by commas.",
    )
    .default(Default::LikeOption("admin_email")),
    number(
        "woocommerce_notify_low_stock_amount",
        "Low stock threshold",
        "Stock level at which stock counts as low.",
    ),
    number(
        "woocommerce_notify_no_stock_amount",
        "Out of stock threshold",
        "Stock level at which a product counts as out of stock.",
    ),
    checkbox(
        "woocommerce_hide_out_of_stock_items",
        "Out of stock visibility",
        "Hide out-of-stock products from the catalog.",
    ),
    select(
        "woocommerce_stock_format",
        "Stock display format",
        "When the remaining stock is shown to customers.",
        Offers::These(&[
            ("", "Always"),
            ("low_amount", "Only when stock is low"),
            ("no_amount", "Never"),
        ]),
    ),
    select(
        "woocommerce_file_download_method",
        "Download method",
        "How files are delivered to customers.",
        Offers::These(&[
            ("force", "Force downloads"),
            ("xsendfile", "Served by the web server"),
            ("redirect", "Redirect only (reveals the file's URL)"),
        ]),
    ),
    checkbox(
        "woocommerce_downloads_redirect_fallback_allowed",
        "Redirect fallback",
        "Redirect to the file if no other method works.",
    ),
    checkbox(
        "woocommerce_downloads_require_login",
        "Access restriction",
        "Require customers to sign in before downloading.",
    ),
    checkbox(
        "woocommerce_downloads_grant_access_after_payment",
        "Access after payment",
        "Grant access to downloads after payment, before the order is completed.",
    ),
    checkbox(
        "woocommerce_downloads_deliver_inline",
        "Open in browser",
        "Open files in the browser instead of saving them.",
    ),
    checkbox(
        "woocommerce_downloads_add_hash_to_filename",
        "File names",
        "Append a unique string to file names for security.",
    ),
    checkbox(
        "woocommerce_downloads_count_partial",
        "Partial downloads",
        "Count partial downloads.",
    ),
];
