//! How payments are spoken of, in notes and in requests.

use contract::rest::Stop;
use frame::{Call, Options};
use shop_rows::payment::PaymentRow;
use types::Amount;

use crate::common::amounts;
use crate::gateways::hosted;

/// What the shop's people call the gateway of a payment.
pub(super) fn title(call: &mut Call<'_>, payment: &PaymentRow) -> Result<String, Stop> {
    let options = Options::read(call.conn()?)?;
    let found = hosted::find(call.site.vault(), &options, &payment.gateway)?;
    Ok(found.map_or_else(|| payment.gateway.clone(), |found| found.title))
}

/// A reason as the end of a sentence.
pub(super) fn because(reason: &str) -> String {
    let reason = reason.trim_end_matches('.');
    if reason.is_empty() { String::from(".") } else { format!(": {reason}.") }
}

/// An amount as people read it, such as `24.20 USD`.
pub(super) fn money(options: &Options, amount: Amount, currency: &str) -> String {
    format!("{} {currency}", decimal(options, amount))
}

/// An amount with the decimals of the shop's prices, and never rounded.
pub(super) fn decimal(options: &Options, amount: Amount) -> String {
    let text = amount.to_text(amounts::decimals(options));
    if Amount::parse(&text) == Some(amount) { text } else { amount.to_string() }
}
