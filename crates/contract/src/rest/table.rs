//! All routes of the interface: finding the one that a request asks for, and describing them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::thread;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::route::{CompiledRoute, Endpoint, Route, Verb};

/// The compiled routes in the order in which they were written down.
#[derive(Debug)]
pub struct Table<O> {
    routes: Vec<Arc<CompiledRoute<O>>>,
    /// In order of first appearance; the empty one is not listed.
    namespaces: Vec<String>,
    /// For each namespace the routes that a path within it may mean: its own, and those of the
    /// namespaces around it.
    within: FxHashMap<String, Within>,
    /// Segments of the longest namespace.
    depth: usize,
    /// The places of all routes, for paths within none.
    everywhere: Vec<usize>,
}

/// The places of the routes of a namespace, by the segment that follows it in lower case.
#[derive(Debug, Default)]
struct Within {
    by_segment: FxHashMap<String, Vec<usize>>,
    /// Of those that fit whatever follows, which are among those of each segment as well.
    always: Vec<usize>,
}

/// A route and operation that a request asks for.
#[derive(Debug)]
pub struct Found<'t, O> {
    pub route: &'t CompiledRoute<O>,
    pub endpoint: &'t Endpoint<O>,
    /// The path's variables.
    pub variables: Map<String, Value>,
}

impl<O: Send + Sync> Table<O> {
    /// An error tells the programmer which route is wrong.
    pub fn compile(routes: impl IntoIterator<Item = Route<O>>) -> Result<Self, String> {
        Self::new(compile(routes)?)
    }
}

impl<O> Table<O> {
    /// A table of routes that were compiled before, and may be in other tables as well.
    pub fn new(routes: Vec<Arc<CompiledRoute<O>>>) -> Result<Self, String> {
        let mut table = Self {
            routes: Vec::new(),
            namespaces: Vec::new(),
            within: FxHashMap::default(),
            depth: 0,
            everywhere: Vec::new(),
        };
        let mut patterns = HashSet::new();
        for route in routes {
            if !patterns.insert(route.pattern.clone()) {
                return Err(format!("{} is there twice", route.pattern));
            }
            if !route.namespace.is_empty() && !table.namespaces.contains(&route.namespace) {
                table.namespaces.push(route.namespace.clone());
            }
            table.routes.push(route);
        }
        table.everywhere = (0..table.routes.len()).collect();
        let within = table.namespaces.iter().map(|inner| (inner.clone(), table.within(inner)));
        table.within = within.collect();
        table.depth = table.namespaces.iter().map(|name| segments(name)).max().unwrap_or_default();
        Ok(table)
    }

    fn within(&self, inner: &str) -> Within {
        let places = self.routes.iter().enumerate();
        let around = places.filter(|(_, route)| {
            !route.namespace.is_empty() && lies_within(inner, &route.namespace)
        });
        let around = around.map(|(place, route)| (place, route.segment_below(inner)));
        let around: Vec<(usize, Option<String>)> = around.collect();
        let mut within = Within::default();
        for segment in around.iter().filter_map(|(_, segment)| segment.as_ref()) {
            within.by_segment.entry(segment.clone()).or_default();
        }
        for (place, own) in around {
            let fitting = within.by_segment.iter_mut();
            let fitting = fitting.filter(|(name, _)| own.as_ref().is_none_or(|own| own == *name));
            fitting.for_each(|(_, places)| places.push(place));
            if own.is_none() {
                within.always.push(place);
            }
        }
        within
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

    /// The first route at the path, whatever its methods, and the path's variables.
    pub fn route_at(&self, path: &str) -> Option<(&CompiledRoute<O>, Map<String, Value>)> {
        self.candidates(path).find_map(|route| Some((route, route.matches(path)?)))
    }

    /// [`Table::route_at`] for who does not ask for the variables.
    pub fn route_of(&self, path: &str) -> Option<&CompiledRoute<O>> {
        self.candidates(path).find(|route| route.is_at(path))
    }

    /// If the path starts with a namespace, only the routes of such namespaces are looked at. The
    /// longest decides: the others that the path starts with lie around it.
    fn candidates(&self, path: &str) -> impl Iterator<Item = &CompiledRoute<O>> {
        let rest = path.strip_prefix('/').unwrap_or(path);
        let places = self.named(rest).map_or(&self.everywhere, |(within, below)| {
            let below = below.strip_prefix('/').unwrap_or(below);
            let segment = below.split('/').next().unwrap_or(below);
            within.by_segment.get(&*lower_case(segment)).unwrap_or(&within.always)
        });
        places.iter().filter_map(|place| self.routes.get(*place).map(|route| &**route))
    }

    /// The longest namespace that the path starts with, and what follows it.
    fn named<'p>(&self, path: &'p str) -> Option<(&Within, &'p str)> {
        let slashes = path.match_indices('/').map(|(at, _)| at);
        let ends = slashes.chain([path.len()]).take(self.depth);
        let starts = ends.filter_map(|end| {
            let (name, below) = path.split_at_checked(end)?;
            Some((self.within.get(name)?, below))
        });
        starts.last()
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

/// Routes that are not worth a thread.
const FEW_ROUTES: usize = 16;

/// Compiles routes for one table or several, on all processors, because a start waits for it. An
/// error tells the programmer which one is wrong.
pub fn compile<O: Send + Sync>(
    routes: impl IntoIterator<Item = Route<O>>,
) -> Result<Vec<Arc<CompiledRoute<O>>>, String> {
    let compile_some = |some: Vec<Route<O>>| -> Result<Vec<Arc<CompiledRoute<O>>>, String> {
        some.into_iter().map(|route| route.compile().map(Arc::new)).collect()
    };
    let mut routes: Vec<Route<O>> = routes.into_iter().collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = routes.len().div_ceil(threads).max(FEW_ROUTES);
    thread::scope(|scope| {
        let mut parts = Vec::new();
        while routes.len() > share {
            let others = routes.split_off(share);
            let part = std::mem::replace(&mut routes, others);
            parts.push(scope.spawn(move || compile_some(part)));
        }
        let last = compile_some(routes);
        let mut compiled = Vec::new();
        for part in parts {
            let part = part.join().map_err(|_| "a route panicked while it was compiled")?;
            compiled.extend(part?);
        }
        compiled.extend(last?);
        Ok(compiled)
    })
}

fn segments(name: &str) -> usize {
    name.split('/').count()
}

fn lower_case(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        text.to_ascii_lowercase().into()
    } else {
        text.into()
    }
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
            route("wp/v2", r"/pages-(?P<id>[\d]+)", "pages"),
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
            (Verb::Get, "/wc/store/v1/other", Some("store")),
            (Verb::Get, "/wc/store", None),
            (Verb::Get, "/wp/v2/Pages-1", Some("pages")),
            (Verb::Get, "/wp/v2", None),
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
