//! What a new shop begins with: the placeholder, and its pages. What they show is made by the
//! storefront, at these addresses; as records they have titles, can be listed, found and put into
//! menus.

use db::Conn;
use frame::first_content::{FirstContent, FirstItem};
use frame::library::Placed;
use types::Result;

use crate::pictures::PLACEHOLDER_OPTION;

/// Option, slug, title and content of each page.
const PAGES: [(&str, &str, &str, &str); 4] = [
    ("woocommerce_shop_page_id", "shop", "Shop", ""),
    (
        "woocommerce_cart_page_id",
        "cart",
        "Cart",
        "<!-- wp:woocommerce/cart -->\n<div class=\"wp-block-woocommerce-cart\"></div>\n\
         <!-- /wp:woocommerce/cart -->",
    ),
    (
        "woocommerce_checkout_page_id",
        "checkout",
        "Checkout",
        "<!-- wp:woocommerce/checkout -->\n<div class=\"wp-block-woocommerce-checkout\"></div>\n\
         <!-- /wp:woocommerce/checkout -->",
    ),
    (
        "woocommerce_myaccount_page_id",
        "my-account",
        "My account",
        "<!-- wp:shortcode -->\n[woocommerce_my_account]\n<!-- /wp:shortcode -->",
    ),
];

/// Adds what a new shop begins with. The files of its placeholder are placed before; a site that
/// never had it, such as one that was imported, gets it later, too.
pub fn begin(
    conn: &mut dyn Conn,
    first: &mut FirstContent,
    placeholder: Option<&Placed>,
) -> Result<()> {
    if let Some(placed) = placeholder {
        first.add_picture(conn, placed, PLACEHOLDER_OPTION)?;
    }
    if !first.is_due {
        return Ok(());
    }
    for (option, slug, title, content) in PAGES {
        first.add(conn, FirstItem { kind: "page", slug, title, content, option })?;
    }
    Ok(())
}
