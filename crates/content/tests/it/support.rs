//! The sites that the tests ask: with nothing on them but what every site has.

use types::Environment;

use crate::harness::Plan;
pub(crate) use crate::harness::{ADMIN, Answer, HOME, NOBODY, TestSite, now};

impl TestSite {
    pub(crate) fn new() -> Self {
        Self::make(Plan::bare())
    }

    pub(crate) fn of(environment: Environment) -> Self {
        Self::make(Plan { environment, ..Plan::bare() })
    }

    /// A site whose operator left its address to the requests.
    pub(crate) fn without_address() -> Self {
        Self::make(Plan { url: None, ..Plan::bare() })
    }
}
