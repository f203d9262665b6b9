//! The ways of shipping that zones can offer.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Refusal, Reply, Schema, Stop};
use frame::action::memory;
use frame::{Action, Call, Names};
use serde_json::{Value, json};

use crate::managers::{linked, may_view, with_total};

/// A way of shipping.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
}

pub(crate) static METHODS: &[Method] = &[
    Method { id: "flat_rate", title: "Flat rate", about: "A fixed rate per order or per item." },
    Method {
        id: "free_shipping",
        title: "Free shipping",
        about: "Free shipping, for all orders, from a minimum amount or with a coupon.",
    },
    Method {
        id: "local_pickup",
        title: "Local pickup",
        about: "Customers pick up their orders at the store.",
    },
    Method {
        id: "pickup_location",
        title: "Pickup locations",
        about: "Customers pick up their orders at a location of their choice.",
    },
];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    [&names.commerce_v2, &names.commerce_v3].into_iter().flat_map(|name| routes_of(name)).collect()
}

fn routes_of(namespace: &str) -> [Route<Action>; 2] {
    let text = |about: &str| Schema::text().about(about).context(&["view"]).readonly();
    let fields = [
        ("id", text("Shipping method ID.")),
        ("title", text("Shipping method name.")),
        ("description", text("Shipping method description.")),
    ];
    let item = Item::new("shipping_method", Schema::object(fields));
    let context = || Args::new().arg("context", item.context_arg());
    let id = Args::new().arg("id", Schema::text().about("Shipping method ID."));
    let base = format!("/{namespace}/shipping_methods");
    let base_of_one = base.clone();
    let list = move |call: &mut Call<'_>| {
        let item = |method: &Method| linked(body(method), links(call, &base, method));
        Ok(with_total(METHODS.iter().map(item).collect()))
    };
    let one = move |call: &mut Call<'_>| {
        let method = find(call)?;
        Ok(Reply::new(body(method)).links(links(call, &base_of_one, method)))
    };
    [
        Route::at(namespace, "/shipping_methods")
            .on(READ, context(), memory(may_view, list))
            .lists()
            .schema(item.document()),
        Route::at(namespace, r"/shipping_methods/(?P<id>[\w-]+)")
            .on(READ, id.with(context()), memory(may_view, one))
            .schema(item.document()),
    ]
}

fn find(call: &Call<'_>) -> Result<&'static Method, Stop> {
    let id = call.params.text("id").unwrap_or_default();
    let found = METHODS.iter().find(|method| method.id == id);
    let invalid = || {
        let message = "Shipping method not found.";
        Refusal::new(404, "woocommerce_rest_shipping_method_invalid", message)
    };
    Ok(found.ok_or_else(invalid)?)
}

fn body(method: &Method) -> Value {
    json!({ "id": method.id, "title": method.title, "description": method.about })
}

fn links(call: &Call<'_>, base: &str, method: &Method) -> Links {
    Links::new()
        .to("self", call.visit.rest(&format!("{base}/{}", method.id)))
        .to("collection", call.visit.rest(base))
}
