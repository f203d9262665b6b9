//! Every route of analytics, in the order in which the index lists them; and its background jobs.

use std::sync::Arc;

use contract::rest::route::{READ, Route};
use frame::action::read;
use frame::jobs::JobKind;
use frame::{Action, Call, Names};

use crate::context::{ReportContext, may_view};
use crate::exports::job::ExportJob;
use crate::reports::lists::customers::{self, CustomersRoute};
use crate::{exports, imports, indicators, leaderboards, live, reports, sales_reports};

/// The routes of all reports.
pub fn routes(names: &Names, reports: &Arc<ReportContext>) -> Vec<Route<Action>> {
    let namespace = names.analytics.as_str();
    let mut routes = customer_routes(namespace, reports);
    routes.extend(leaderboards::routes(namespace, reports));
    routes.extend(reports::routes(namespace, reports));
    routes.extend(imports::routes(namespace, reports));
    routes.extend(exports::routes::routes(namespace, reports));
    routes.extend(indicators::routes(namespace, reports));
    routes.extend(sales_reports::routes(names, reports));
    routes.push(live::route(names, &reports.facts));
    routes
}

/// The kinds of background jobs of reports.
pub fn jobs(reports: &Arc<ReportContext>) -> Vec<Box<dyn JobKind>> {
    let mut kinds: Vec<Box<dyn JobKind>> = imports::jobs(&reports.facts, reports.shop).into();
    kinds.push(Box::new(ExportJob { reports: Arc::clone(reports) }));
    kinds
}

fn customer_routes(namespace: &str, reports: &Arc<ReportContext>) -> Vec<Route<Action>> {
    let list = |route: CustomersRoute| {
        let reports = Arc::clone(reports);
        let waiting = Arc::clone(&reports);
        read(may_view, move |call: &mut Call<'_>| customers::list(&reports, call, route))
            .after(move |site, visit, params| waiting.fresh(site, visit, params))
            .in_turns()
    };
    vec![
        Route::at(namespace, "/customers")
            .on(READ, customers::args::collection(), list(CustomersRoute::Collection))
            .schema(customers::document()),
        Route::at(namespace, r"/customers/(?P<id>[\d-]+)")
            .on(READ, customers::args::one(), list(CustomersRoute::One))
            .schema(customers::document()),
    ]
}
