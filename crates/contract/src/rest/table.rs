//! All routes of the interface: finding the one that a request asks for, and describing them.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::route::{CompiledRoute, Endpoint, Route, Verb};

/// The compiled routes in the order in which they were written down.
#[derive(Debug)]
pub struct Table<O> {
    routes: Vec<Arc<CompiledRoute<O>>>,
    /// In order of first appearance; the empty one is not listed.
    namespaces: Vec<String>,
    /// For each namespace the places of the routes that a path within it may mean: its own, and
    /// those of the namespaces around it.
    within: Vec<Vec<usize>>,
    /// The places of all routes, for paths within none.
    everywhere: Vec<usize>,
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
        Self::new(compile(routes)?)
    }

    /// A table of routes that were compiled before, and may be in other tables as well.
    pub fn new(routes: Vec<Arc<CompiledRoute<O>>>) -> Result<Self, String> {
        let mut table = Self {
            routes: Vec::new(),
            namespaces: Vec::new(),
            within: Vec::new(),
            everywhere: Vec::new(),
        };
        for route in routes {
            if table.routes.iter().any(|other| other.pattern == route.pattern) {
                return Err(format!("{} is there twice", route.pattern));
            }
            if !route.namespace.is_empty() && !table.namespaces.contains(&route.namespace) {
                table.namespaces.push(route.namespace.clone());
            }
            table.routes.push(route);
        }
        table.everywhere = (0..table.routes.len()).collect();
        table.within = table.namespaces.iter().map(|inner| table.places_within(inner)).collect();
        Ok(table)
    }

    fn places_within(&self, inner: &str) -> Vec<usize> {
        let places = self.routes.iter().enumerate();
        let around = places.filter(|(_, route)| {
            !route.namespace.is_empty() && lies_within(inner, &route.namespace)
        });
        around.map(|(place, _)| place).collect()
    }

    pub fn namespaces(&self) -> &[String] {
        &self.namespaces
    }

    pub fn routes(&self) -> impl Iterator<Item = &CompiledRoute<O>> {
        self.routes.iter().map(|route| &**route)
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
        self.candidates(path).find_map(|route| Some((route, route.matches(path)?)))
    }

    /// If the path starts with a namespace, only the routes of such namespaces are looked at. The
    /// longest decides: the others that the path starts with lie around it.
    fn candidates(&self, path: &str) -> impl Iterator<Item = &CompiledRoute<O>> {
        let rest = path.strip_prefix('/').unwrap_or(path);
        let named = self.namespaces.iter().enumerate().filter(|(_, name)| lies_within(rest, name));
        let longest = named.max_by_key(|(_, name)| name.len());
        let places = longest.and_then(|(place, _)| self.within.get(place));
        let places = places.unwrap_or(&self.everywhere);
        places.iter().filter_map(|place| self.routes.get(*place).map(|route| &**route))
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
            .filter(|route| !route.is_unlisted)
            .filter(|route| namespace.is_none_or(|name| route.namespace == name))
            .map(|route| (route.pattern.clone(), route.document(rest_url, help)))
            .collect()
    }
}

/// Compiles routes for one table or several. An error tells the programmer which one is wrong.
pub fn compile<O>(
    routes: impl IntoIterator<Item = Route<O>>,
) -> Result<Vec<Arc<CompiledRoute<O>>>, String> {
    routes.into_iter().map(|route| route.compile().map(Arc::new)).collect()
}

/// Whether the path is the namespace, or below it.
fn lies_within(path: &str, namespace: &str) -> bool {
    path.strip_prefix(namespace).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::route::{CREATE, READ};
    use crate::rest::{Args, Schema};

    fn table() -> Table<&'static str> {
        let route = |namespace, path, name| Route::at(namespace, path).on(READ, Args::new(), name);
        Table::compile([
            route("", "", "index"),
            route("", "/batch/v1", "batch"),
            route("wc/store", r"/(?P<name>[\w/]+)", "store"),
            route("wc/store/v1", "/cart", "cart"),
            route("wp/v2", "/posts", "posts"),
            route("wp/v2", r"/posts/(?P<id>[\d]+)", "post").on(CREATE, Args::new(), "post"),
        ])
        .unwrap()
    }

    #[test]
    fn the_first_route_of_the_namespaces_around_a_path_is_found() {
        let table = table();
        let found = |verb, path| table.find(verb, path).map(|found| found.endpoint.operation);
        for (verb, path, expected) in [
            (Verb::Get, "/", Some("index")),
            (Verb::Get, "/batch/v1", Some("batch")),
            (Verb::Get, "/wp/v2/posts", Some("posts")),
            (Verb::Get, "/WP/V2/Posts/7", Some("post")),
            (Verb::Post, "/wp/v2/posts/7", Some("post")),
            (Verb::Post, "/wp/v2/posts", None),
            (Verb::Get, "/wp/v2/postsx", None),
            (Verb::Get, "/wp/v2x/posts", None),
            // The pattern of the outer namespace comes first and fits as well.
            (Verb::Get, "/wc/store/v1/cart", Some("store")),
        ] {
            assert_eq!(found(verb, path), expected, "{path}");
        }
        let (route, variables) = table.route_at("/wp/v2/posts/7").unwrap();
        assert_eq!(
            (route.pattern.as_str(), &variables["id"]),
            (r"/wp/v2/posts/(?P<id>[\d]+)", &Value::from("7"))
        );
    }

    #[test]
    fn what_is_unlisted_is_found_and_not_told_of() {
        let args = Args::new().arg("context", Schema::text().choices(&["view", "edit"]));
        let quiet = Route::at("a", "/quiet").on(READ, args, "quiet").unlisted();
        let loud = Route::at("a", "/loud").on(READ, Args::new(), "loud");
        let table = Table::compile([quiet, loud]).unwrap();
        let found = table.find(Verb::Get, "/a/quiet").unwrap();
        assert_eq!(found.endpoint.operation, "quiet");
        let listed: Vec<String> = table.documents(None, "", false).keys().cloned().collect();
        assert_eq!(listed, ["/a/loud"]);
        // A parameter with choices takes no other value, one without takes any.
        let args = &found.endpoint.args;
        assert!(args.takes("context", "view") && args.takes("other", "x"));
        assert!(!args.takes("context", "embed"));
    }
}
