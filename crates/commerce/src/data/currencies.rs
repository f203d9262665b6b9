//! Currencies, and which of them is the shop's.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop};
use frame::action::memory;
use frame::{Action, Call};
use serde_json::{Value, json};

use super::tables::{self, Currency};
use super::{code_and_name, code_in_path, links, shown};
use crate::managers::{linked, may_view};

pub(super) fn routes(namespace: &str) -> [Route<Action>; 3] {
    let bases = [(); 3].map(|()| format!("/{namespace}/data/currencies"));
    let [base_of_list, base_of_current, base_of_one] = bases;
    let list = move |call: &mut Call<'_>| Ok(Reply::new(list(call, &base_of_list)));
    let current = move |call: &mut Call<'_>| {
        let code = call.options().text("woocommerce_currency");
        reply(call, &base_of_current, &code)
    };
    let one = move |call: &mut Call<'_>| {
        let code = code_in_path(call, "currency");
        reply(call, &base_of_one, &code)
    };
    let document = item().document();
    let args = Args::new().arg("location", Schema::text().about("Three-letter currency code."));
    [
        Route::at(namespace, "/data/currencies")
            .on(READ, Args::new(), memory(may_view, list))
            .lists()
            .schema(document.clone()),
        Route::at(namespace, "/data/currencies/current")
            .on(READ, Args::new(), memory(may_view, current))
            .schema(document.clone()),
        Route::at(namespace, r"/data/currencies/(?P<currency>[\w-]{3})")
            .on(READ, args, memory(may_view, one))
            .schema(document),
    ]
}

fn item() -> Item {
    let [code, name] = code_and_name("currency");
    let symbol = shown(Schema::text(), "Currency symbol, as HTML.");
    Item::new("data_currencies", Schema::object([code, name, ("symbol", symbol)]))
}

fn list(call: &Call<'_>, base: &str) -> Vec<Value> {
    let item = |currency: &Currency| linked(body(currency), links(call, base, currency.code));
    tables::currencies().iter().map(item).collect()
}

fn reply(call: &Call<'_>, base: &str, code: &str) -> Result<Reply, Stop> {
    let Some(currency) = tables::currency(code) else {
        let message = "Currency not found.";
        return Err(Refusal::new(404, "woocommerce_rest_data_invalid_currency", message).into());
    };
    Ok(Reply::new(body(currency)).links(links(call, base, currency.code)))
}

fn body(currency: &Currency) -> Value {
    json!({ "code": currency.code, "name": currency.name, "symbol": currency.symbol })
}
