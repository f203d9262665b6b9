//! All routes of the interface: finding the one that a request asks for, and describing them.

use serde_json::{Map, Value};

use super::route::{CompiledRoute, Endpoint, Route, Verb};

/// The compiled routes in the order in which they were written down.
#[derive(Debug)]
pub struct Table<O> {
    routes: Vec<CompiledRoute<O>>,
    /// In order of first appearance; the empty one is not listed.
    namespaces: Vec<String>,
}

/// A route and operation that a request asks for.
#[derive(Debug)]
pub struct Found<'t, O> {
    pub route: &'t CompiledRoute<O>,
    pub endpoint: &'t Endpoint<O>,
    /// The path's variables.
    pub variables: Map<String, Value>,
}

impl<O> Table<O> {
    /// An error tells the programmer which route is wrong.
    pub fn compile(routes: impl IntoIterator<Item = Route<O>>) -> Result<Self, String> {
        let mut table = Self { routes: Vec::new(), namespaces: Vec::new() };
        for route in routes {
            let route = route.compile()?;
            if table.routes.iter().any(|other| other.pattern == route.pattern) {
                return Err(format!("{} is there twice", route.pattern));
            }
            if !route.namespace.is_empty() && !table.namespaces.contains(&route.namespace) {
                table.namespaces.push(route.namespace.clone());
            }
            table.routes.push(route);
        }
        Ok(table)
    }

    pub fn namespaces(&self) -> &[String] {
        &self.namespaces
    }

    pub fn routes(&self) -> &[CompiledRoute<O>] {
        &self.routes
    }

    /// The first route at the path that has the method. A route with another method only is no
    /// match: the search goes on, and ends with nothing found rather than with a wrong method.
    pub fn find(&self, verb: Verb, path: &str) -> Option<Found<'_, O>> {
        self.candidates(path).find_map(|route| {
            let endpoint = route.endpoint(verb)?;
            let variables = route.matches(path)?;
            Some(Found { route, endpoint, variables })
        })
    }

    /// The first route at the path, whatever its methods.
    pub fn route_at(&self, path: &str) -> Option<(&CompiledRoute<O>, Map<String, Value>)> {
        self.routes.iter().find_map(|route| Some((route, route.matches(path)?)))
    }

    /// If the path starts with a namespace, only the routes of such namespaces are looked at.
    fn candidates<'t>(&'t self, path: &str) -> impl Iterator<Item = &'t CompiledRoute<O>> {
        let rest = path.strip_prefix('/').unwrap_or(path);
        let within = |namespace: &str| {
            rest.strip_prefix(namespace).is_some_and(|r| r.is_empty() || r.starts_with('/'))
        };
        let of_path: Vec<&String> = self.namespaces.iter().filter(|name| within(name)).collect();
        self.routes
            .iter()
            .filter(move |route| of_path.is_empty() || of_path.contains(&&route.namespace))
    }

    /// The entries of all routes, or of one namespace.
    pub fn documents(
        &self,
        namespace: Option<&str>,
        rest_url: &str,
        help: bool,
    ) -> Map<String, Value> {
        self.routes
            .iter()
            .filter(|route| namespace.is_none_or(|name| route.namespace == name))
            .map(|route| (route.pattern.clone(), route.document(rest_url, help)))
            .collect()
    }
}
