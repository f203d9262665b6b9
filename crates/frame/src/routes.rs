//! Every route of the interface, in the order in which the index lists them.

use contract::rest::Table;
use contract::rest::route::Route;
use types::{Error, Result};

use crate::site::Parts;
use crate::{Action, Names, Site, batch, index};

/// The frame's own routes, and those of the crates above.
pub(crate) fn compile(names: &Names, more: Vec<Route<Action>>) -> Result<Table<Action>> {
    let mut routes = vec![index::root(), batch::route()];
    routes.extend(index::namespaces(names));
    routes.extend(more);
    Table::compile(routes).map_err(Error::internal)
}

impl Site {
    /// Compiles the routes; `more` are those of the crates above.
    pub fn new(parts: Parts, more: Vec<Route<Action>>) -> Result<Self> {
        parts.settings.check().map_err(Error::invalid)?;
        let table = compile(&parts.settings.names, more)?;
        Ok(Self::with_table(parts, table))
    }
}
