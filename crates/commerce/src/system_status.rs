//! The state of the shop and of what it runs on, and tools that put things in order.
//!
//! Clients know this from a product that runs on PHP, so some fields ask about things that there
//! are not here. **What there is not is empty or zero, never made up**: clients take no null. The
//! versions are those that this shop is compatible with, beside its own.

mod product_lookup;
mod report;
mod schema;
mod tools;

use contract::rest::Reply;
use contract::rest::route::{READ, Route};
use contract::rest::{Args, Stop};
use frame::action::read;
use frame::{Action, Call, Names};

use crate::managers::may_view;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    [&names.commerce_v2, &names.commerce_v3].into_iter().flat_map(|name| routes_of(name)).collect()
}

fn routes_of(namespace: &str) -> Vec<Route<Action>> {
    let item = schema::status();
    let context = Args::new().arg("context", item.context_arg());
    let mut routes = vec![
        Route::at(namespace, "/system_status")
            .on(READ, context, read(may_view, get))
            .schema(item.document()),
    ];
    routes.extend(tools::routes(namespace));
    routes
}

fn get(call: &mut Call<'_>) -> Result<Reply, Stop> {
    report::of(call).map(Reply::new)
}
