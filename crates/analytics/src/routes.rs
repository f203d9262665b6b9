//! Every route of analytics, in the order in which the index lists them; and its background jobs.

use std::sync::Arc;

use contract::rest::route::{READ, Route};
use frame::action::read;
use frame::jobs::JobKind;
use frame::{Action, Call, Names};

use crate::customers::{self, Door};
use crate::desk::{Desk, may_view};
use crate::exports::job::ExportJob;
use crate::{exports, imports, indicators, leaderboards, live, reports};

/// The routes of the reports at this desk.
pub fn routes(names: &Names, desk: &Arc<Desk>) -> Vec<Route<Action>> {
    let namespace = names.analytics.as_str();
    let mut routes = customer_routes(namespace, desk);
    routes.extend(leaderboards::routes(namespace, desk));
    routes.extend(reports::routes(namespace, desk));
    routes.extend(imports::routes(namespace, desk));
    routes.extend(exports::routes::routes(namespace, desk));
    routes.extend(indicators::routes(namespace, desk));
    routes.push(live::route(names, &desk.facts));
    routes
}

/// The kinds of background jobs of the reports at this desk.
pub fn jobs(desk: &Arc<Desk>) -> Vec<Box<dyn JobKind>> {
    let mut kinds: Vec<Box<dyn JobKind>> = imports::jobs(&desk.facts, desk.shop).into();
    kinds.push(Box::new(ExportJob { desk: Arc::clone(desk) }));
    kinds
}

fn customer_routes(namespace: &str, desk: &Arc<Desk>) -> Vec<Route<Action>> {
    let list = |door: Door| {
        let desk = Arc::clone(desk);
        let waiting = Arc::clone(&desk);
        read(may_view, move |call: &mut Call<'_>| customers::list(&desk, call, door))
            .after(move |site, visit, params| waiting.fresh(site, visit, params))
            .in_turns()
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
