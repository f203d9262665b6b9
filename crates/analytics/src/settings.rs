//! What the shop has decided about its reports, read from the site's options.

use frame::Options;
use serde_json::Value;

use crate::record::Rules;

/// Left out of reports unless the shop decided otherwise.
const EXCLUDED: &[&str] = &["pending", "failed", "cancelled"];
/// Left out of reports whatever the shop decided: they are no orders yet, or no longer.
const EXCLUDED_ALWAYS: &[&str] = &["auto-draft", "trash", "checkout-draft"];

/// The statuses of orders that reports leave out when nobody asks for a status.
pub fn excluded_statuses(options: &Options) -> Vec<String> {
    let mut statuses: Vec<String> = match options.get("woocommerce_excluded_report_order_statuses")
    {
        Value::Array(list) => {
            list.iter().filter_map(Value::as_str).map(|text| bare_status(text).to_owned()).collect()
        }
        _ => EXCLUDED.iter().map(|status| (*status).to_owned()).collect(),
    };
    statuses.extend(EXCLUDED_ALWAYS.iter().map(|status| (*status).to_owned()));
    statuses
}

/// A status without the prefix with which some clients write it.
pub fn bare_status(status: &str) -> &str {
    status.strip_prefix("wc-").unwrap_or(status)
}

/// How amounts of new facts are rounded.
pub fn rules(options: &Options) -> Rules {
    let decimals = options.integer("woocommerce_price_num_decimals");
    Rules {
        decimals: u32::try_from(decimals).unwrap_or(2).min(6),
        rounds_taxes_late: options.is_on("woocommerce_tax_round_at_subtotal"),
    }
}
