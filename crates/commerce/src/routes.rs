//! Every route of commerce, module by module, in the order in which the index lists them.

use contract::rest::route::Route;
use frame::routes::SharedRoutes;
use frame::{Action, Names};

/// The routes of commerce, for all sites of the process.
pub static ROUTES: SharedRoutes = SharedRoutes::new(routes);

/// The routes of commerce records and of the shop's settings.
pub fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = Vec::new();
    routes.extend(crate::data::routes(names));
    routes.extend(crate::settings::routes(names));
    routes.extend(crate::gateways::routes(names));
    routes.extend(crate::shipping_methods::routes(names));
    routes.extend(crate::shipping_zones::routes(names));
    routes.extend(crate::system_status::routes(names));
    routes.extend(crate::layout_templates::routes(names));
    routes.extend(crate::coupons::routes(names));
    routes.extend(crate::taxes::routes(names));
    routes.extend(crate::products::routes(names));
    routes.extend(crate::attributes::routes(names));
    routes.extend(crate::taxonomies::routes(names));
    routes.extend(crate::attributes::routes_by_slug(names));
    routes.extend(crate::reviews::routes(names));
    routes.extend(crate::orders::routes(names));
    routes.extend(crate::payments::routes(names));
    routes.extend(crate::reports::routes(names));
    routes.extend(crate::customers::routes(names));
    routes.extend(crate::downloads::routes(names));
    routes.extend(crate::webhooks::routes(names));
    routes.extend(crate::privacy::routes(names));
    routes
}
