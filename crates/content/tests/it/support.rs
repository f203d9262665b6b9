//! The sites that the tests ask: with content on them, and a few options of another guest.

use contract::rest::Schema;
use frame::Site;
use frame::options::{Definition, Kind, Tables, setting};
use types::Environment;

use crate::harness::Plan;
pub(crate) use crate::harness::{ADMIN, Answer, HOME, NOBODY, TestSite, now};

/// Settings as a crate beside content declares them.
const OF_GUEST: &[Definition] = &[
    setting("guest_places", Kind::Json, "[]", "places", || {
        let name = ("name", Schema::text().about("Name of the place."));
        let open = ("enabled", Schema::boolean().about("Whether it is open."));
        Schema::list(Schema::object([name, open]).no_additional()).about("Places of the guest.")
    }),
    setting("guest_pickup", Kind::Json, r#"{"title":"Pickup"}"#, "pickup", || {
        let title = ("title", Schema::text().about("How it is called."));
        Schema::object([title]).no_additional().about("Pickup by the customer.")
    }),
    setting("guest_phone", Kind::Text, r#""optional""#, "phone", || {
        Schema::text().choices(&["optional", "hidden"]).about("Whether a phone number is asked.")
    }),
];
const OPTIONS: Tables = &[content::OPTIONS, OF_GUEST];

impl TestSite {
    pub(crate) fn new() -> Self {
        Self::with(Plan::bare())
    }

    pub(crate) fn of(environment: Environment) -> Self {
        Self::with(Plan { environment, ..Plan::bare() })
    }

    /// A site whose operator left its address to the requests.
    pub(crate) fn without_address() -> Self {
        Self::with(Plan { url: None, ..Plan::bare() })
    }

    /// A site beside other hosts.
    pub(crate) fn on_network(network: fn(&str) -> Option<Vec<u8>>) -> Self {
        Self::with(Plan { network, ..Plan::bare() })
    }

    /// A site with more on it.
    pub(crate) fn furnished(furnish: fn(Site) -> Site) -> Self {
        Self::with(Plan { furnish, ..Plan::bare() })
    }

    fn with(plan: Plan) -> Self {
        let routes = |names: &_| content::routes(names, OPTIONS);
        let site = Self::make(Plan { routes, options: OPTIONS, ..plan });
        site.write(content::found);
        site
    }
}
