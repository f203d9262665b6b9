//! Every route of the interface, in the order in which the index lists them.

use std::sync::{Arc, Mutex, PoisonError};

use contract::rest::Table;
use contract::rest::route::{CompiledRoute, Route};
use contract::rest::table;
use types::{Error, Result};

use crate::site::Parts;
use crate::{Action, Names, Site, batch, index};

/// Routes that are ready to be put on sites.
pub type Routes = Vec<Arc<CompiledRoute<Action>>>;

pub fn compile(routes: Vec<Route<Action>>) -> Result<Routes> {
    table::compile(routes).map_err(Error::internal)
}

/// The frame's own routes, and those of the crates above.
pub(crate) fn table_of(names: &Names, more: Routes) -> Result<Table<Action>> {
    let mut own = vec![index::root(), batch::route()];
    own.extend(index::namespaces(names));
    let mut routes = compile(own)?;
    routes.extend(more);
    Table::new(routes).map_err(Error::internal)
}

impl Site {
    /// `more` are the routes of the crates above.
    pub fn new(parts: Parts, more: Routes) -> Result<Self> {
        parts.settings.check().map_err(Error::invalid)?;
        let table = table_of(&parts.settings.names, more)?;
        Ok(Self::with_table(parts, table))
    }
}

/// Routes that work with nothing but the site that they are on. They are compiled once for all
/// sites of a process that name them alike: those of commerce take some 20 MB, and a process has
/// a site for each environment and for each connected store that is open.
#[derive(Debug)]
pub struct SharedRoutes {
    make: fn(&Names) -> Vec<Route<Action>>,
    made: Mutex<Vec<(Names, Routes)>>,
}

impl SharedRoutes {
    pub const fn new(make: fn(&Names) -> Vec<Route<Action>>) -> Self {
        Self { make, made: Mutex::new(Vec::new()) }
    }

    /// The routes by these names. Where the interface begins is no part of a route.
    pub fn named(&self, names: &Names) -> Result<Routes> {
        let names = Names { rest_root: String::new(), ..names.clone() };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, routes)) = made.iter().find(|(known, _)| *known == names) {
            return Ok(routes.clone());
        }
        let routes = compile((self.make)(&names))?;
        made.push((names, routes.clone()));
        Ok(routes)
    }
}
