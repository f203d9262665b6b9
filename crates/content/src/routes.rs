//! Every route of the interface, in the order in which the index lists them.

use contract::rest::route::Route;

use crate::{
    Action, Names, batch, content, docs_routes, index, me, oembed_routes, reference_routes,
    site_settings, users,
};

/// The site's own routes, and those of the crates above.
pub(crate) fn all(names: &Names, more: Vec<Route<Action>>) -> Vec<Route<Action>> {
    let mut routes = vec![index::root(), batch::route()];
    routes.extend(index::namespaces(names));
    routes.extend(oembed_routes::routes(names));
    routes.extend(content::routes(names));
    routes.extend(users::routes(names));
    routes.extend(site_settings::routes(names));
    routes.extend(docs_routes::routes(names));
    routes.extend(me::routes(names));
    routes.extend(reference_routes::routes(names));
    routes.extend(more);
    routes
}
