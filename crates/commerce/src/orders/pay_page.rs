//! Where an order is paid for: the address that `payment_url` tells, for whoever knows the order's
//! key.

use frame::Options;

const ENDPOINT: &str = "woocommerce_checkout_pay_endpoint";
const CHECKOUT: &str = "/checkout";

/// The path of the page at which an order is paid for.
pub fn path(options: &Options, (order_id, key): (i64, &str)) -> String {
    let endpoint = options.text(ENDPOINT);
    format!("{CHECKOUT}/{endpoint}/{order_id}/?pay_for_order=true&key={key}")
}
