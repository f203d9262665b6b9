//! Placeholder until its routes are written down here.
use contract::rest::route::Route;

use crate::{Action, Names};

pub(crate) fn routes(_: &Names) -> Vec<Route<Action>> {
    Vec::new()
}
