//! Files that customers may download, and where downloads came from.

mod addresses;
mod bundle;
mod of_customer;
mod take;

use contract::rest::route::Route;
use frame::{Action, Names};

pub use self::of_customer::{Download, of_user};
pub use self::take::{DownloadRequest, Taken, take};

pub(crate) use self::bundle::{import_log, import_permissions};

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = of_customer::routes(names);
    routes.push(addresses::route(&names.analytics));
    routes
}
