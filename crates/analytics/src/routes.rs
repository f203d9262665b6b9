//! Every route of analytics, in the order in which the index lists them.

use std::sync::{Arc, Mutex};

use contract::rest::route::{READ, Route};
use site::action::read;
use site::{Action, Call, Names};

use crate::customers::{self, Door};
use crate::desk::{Desk, Settings, Shop, may_view};
use crate::facts::Facts;
use crate::{indicators, leaderboards, live, reports};

/// The routes over these facts.
pub fn routes(
    names: &Names,
    facts: &Arc<Facts>,
    shop: Shop,
    settings: &Settings,
) -> Vec<Route<Action>> {
    let namespace = names.analytics.as_str();
    let live = live::route(names, facts);
    let (facts, base) = (Arc::clone(facts), format!("/{namespace}"));
    let desk =
        Arc::new(Desk { facts, shop, settings: settings.clone(), base, waited: Mutex::default() });
    let mut routes = customer_routes(namespace, &desk);
    routes.extend(leaderboards::routes(namespace, &desk));
    routes.extend(reports::routes(namespace, &desk));
    routes.extend(indicators::routes(namespace, &desk));
    routes.push(live);
    routes
}

fn customer_routes(namespace: &str, desk: &Arc<Desk>) -> Vec<Route<Action>> {
    let list = |door: Door| {
        let desk = Arc::clone(desk);
        let waiting = Arc::clone(&desk);
        read(may_view, move |call: &mut Call<'_>| customers::list(&desk, call, door))
            .after(move |site, visit, params| waiting.fresh(site, visit, params))
    };
    vec![
        Route::at(namespace, "/customers")
            .on(READ, customers::args::collection(), list(Door::Collection))
            .schema(customers::document()),
        Route::at(namespace, r"/customers/(?P<id>[\d-]+)")
            .on(READ, customers::args::one(), list(Door::One))
            .schema(customers::document()),
    ]
}
