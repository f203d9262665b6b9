//! The shop window: what strangers see of the catalogue, the cart, and the checkout, under
//! `wc/store/v1` and its alias `wc/store`. Nobody has to sign in here, so **nothing is shown that
//! is not published, and a cart only to whoever shows its token** ([`session`]).
//!
//! It stands above [`commerce`], whose records it shows and whose rules it follows; it has none of
//! its own about money. Amounts are texts in the minor unit of the currency ([`money`]); what an
//! item looks like is declared in the folder `schemas`, one file for each. **Knows no HTTP and no
//! SQL.**

mod address;
mod attempts;
mod batch;
mod cart;
mod checkout;
mod images;
mod money;
mod order;
pub mod pages;
mod products;
mod reminders;
mod reviews;
mod sandbox_gateway;
mod schemas;
mod session;
pub mod sweep;
mod terms;

use contract::rest::route::Route;
use frame::jobs::JobKind;
use frame::routes::SharedRoutes;
use frame::{Action, Names};

/// The routes of the shop window, for all sites of the process.
pub static ROUTES: SharedRoutes = SharedRoutes::new(routes);

/// The routes of both namespaces, in the order in which the index lists them.
pub fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = Vec::new();
    for namespace in [&names.store, &names.store_v1] {
        routes.push(batch::route(namespace));
        routes.extend(cart::routes(namespace));
        routes.extend(checkout::routes(namespace));
        routes.push(order::route(namespace));
        routes.extend(terms::attribute_routes(namespace));
        routes.extend(terms::routes(namespace));
        routes.push(products::collection_data::route(namespace));
        routes.push(reviews::route(namespace));
        routes.extend(products::routes(namespace));
    }
    routes.push(sandbox_gateway::route(&names.docs));
    routes.push(reminders::route(&names.docs));
    routes
}

/// The kinds of jobs that the shop window needs.
pub fn jobs() -> Vec<Box<dyn JobKind>> {
    vec![Box::new(sandbox_gateway::ReportJob), Box::new(reminders::ReminderJob)]
}
