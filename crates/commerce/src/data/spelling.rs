//! How the shop writes amounts of money, for whoever shows them. Unlike the other tables, it is for
//! everybody who can sign in: a merchant who looks at sales manages no shop.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Reply, Schema, Stop};
use frame::action::memory;
use frame::{Action, Call};
use serde_json::json;
use types::Capability;

use super::{shown, tables};
use crate::common::amounts;

pub(super) fn route(namespace: &str) -> Route<Action> {
    let item = Item::new(
        "currency_spelling",
        Schema::object([
            ("code", shown(Schema::text(), "Currency code.")),
            ("symbol", shown(Schema::text(), "Currency symbol, as HTML.")),
            ("position", shown(Schema::text(), "Position of the currency symbol.")),
            ("decimals", shown(Schema::integer(), "Number of decimals.")),
            ("decimal_separator", shown(Schema::text(), "Decimal separator.")),
            ("thousand_separator", shown(Schema::text(), "Thousands separator.")),
        ]),
    );
    Route::at(namespace, "/currency")
        .on(READ, Args::new(), memory(signed_in, |call| Ok(show(call))))
        .schema(item.document())
}

fn signed_in(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not signed in.";
    call.need(Capability::Read, "rest_not_logged_in", message)
}

fn show(call: &Call<'_>) -> Reply {
    let options = call.options();
    let code = options.text("woocommerce_currency");
    let symbol = tables::currency(&code).map_or(code.as_str(), |currency| currency.symbol);
    Reply::new(json!({
        "code": code,
        "symbol": symbol,
        "position": options.text("woocommerce_currency_pos"),
        "decimals": amounts::decimals(options),
        "decimal_separator": options.text("woocommerce_price_decimal_sep"),
        "thousand_separator": options.text("woocommerce_price_thousand_sep"),
    }))
}
