//! Addresses from which files were downloaded, for who types the beginning of one.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Refusal, Reply, Schema, Stop, loose};
use frame::action::read;
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::download_log;

use crate::managers::{linked, may_view};

/// Addresses that one answer suggests.
const SUGGESTIONS_MAX: i64 = 10;

pub(super) fn route(namespace: &str) -> Route<Action> {
    let address = Schema::text().about("IP address that a file was downloaded from.");
    let fields = [("user_ip_address", address.context(&["view"]).readonly())];
    let item = Item::new("data_download_ips", Schema::object(fields));
    let path = format!("/{namespace}/data/download-ips");
    let list = move |call: &mut Call<'_>| list(call, &path);
    Route::at(namespace, "/data/download-ips")
        .on(READ, Args::new(), read(may_view, list))
        .lists()
        .schema(item.document())
}

fn list(call: &mut Call<'_>, path: &str) -> Result<Reply, Stop> {
    let beginning = call.params.get("match").and_then(loose::scalar_text).map(String::from);
    let Some(beginning) = beginning else {
        let message = "match is required: the beginning of the addresses.";
        let code = "woocommerce_rest_data_download_ips_invalid_request";
        return Err(Refusal::new(400, code, message).into());
    };
    let found = download_log::ips_starting_with(call.conn()?, &beginning, SUGGESTIONS_MAX)?;
    let collection = call.visit.rest(path);
    let items = found.iter().map(|address| {
        let links = Links::new().to("collection", collection.clone());
        linked(json!({ "user_ip_address": address }), links)
    });
    Ok(Reply::new(items.collect::<Vec<Value>>()))
}
