//! Who may depend on whom, read from `cargo metadata`: the crates' layers, and the dependencies
//! that belong to one crate. **Both rules hold for tests' dependencies too**, or a test would be
//! the way around them.

use serde_json::Value;

use super::{Problems, Tree};
use crate::tools::json_text;

/// The crates by layer, lowest first. A crate sees only layers below its own.
const LAYERS: &[&[&str]] = &[
    &["types", "schema"],
    &["contract", "db", "vault"],
    &["site_rows"],
    &["shop_rows"],
    &["frame"],
    &["onboarding", "content", "commerce", "analytics", "admin"],
    &["storefront", "connect"],
    &["server"],
    &["portal", "fuzz"],
    &["boardwalk"],
];

/// Outside the layers: the tests' helper and this program. They may see every layer.
const TESTKIT: &str = "testkit";
const XTASK: &str = "xtask";

/// Dependencies that belong to somebody: who else names one is taking over that crate's job.
const OWNED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("axum", &["server", TESTKIT, XTASK]),
    ("hyper", &["server", TESTKIT, XTASK]),
    ("hyper-util", &["server", TESTKIT, XTASK]),
    ("tokio-rustls", &["server", TESTKIT, XTASK]),
    ("tower", &["server", TESTKIT, XTASK]),
    ("tower-http", &["server", TESTKIT, XTASK]),
    ("instant-acme", &["server"]),
    ("lettre", &["server"]),
    ("object_store", &["server"]),
    // The benchmark compares the product with the engine alone.
    ("rusqlite", &["db", XTASK]),
    ("postgres", &["db", XTASK]),
    ("tokio-postgres", &["db"]),
    ("tokio-postgres-rustls", &["db"]),
    ("arrow", &["analytics"]),
    ("parquet", &["analytics"]),
    ("clap", &["boardwalk", XTASK]),
    ("clap_complete", &["boardwalk"]),
    ("clap_mangen", &["boardwalk"]),
    ("rmcp", &["boardwalk"]),
];

pub(super) fn layers(tree: &Tree) -> Problems {
    let mut problems = Problems::new();
    for edge in edges(tree).filter(|edge| edge.in_workspace) {
        let Edge { from, to, kind, .. } = edge;
        if to == TESTKIT {
            if kind != "dev" && from != XTASK {
                problems.push(format!("{from} ships {to}: make it a dev-dependency"));
            }
        } else if from != XTASK && from != TESTKIT {
            match (layer_of(from), layer_of(to)) {
                (Some(upper), Some(lower)) if lower < upper => {}
                (None, _) => problems.push(format!("{from} has no layer: add it to LAYERS")),
                _ => problems.push(format!(
                    "{from} depends on {to}, which is not a lower layer: move the shared code \
                     down, or use the feed of changes"
                )),
            }
        }
    }
    problems
}

fn layer_of(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&name))
}

pub(super) fn owned_dependencies(tree: &Tree) -> Problems {
    let mut problems = Problems::new();
    for Edge { from, to, .. } in edges(tree) {
        for (name, owners) in OWNED_DEPENDENCIES {
            if to == *name && !owners.contains(&from) {
                let owners = owners.join(", ");
                problems.push(format!(
                    "{from} uses {to}, which belongs to {owners}: use that crate's interface"
                ));
            }
        }
    }
    problems
}

/// One crate of the workspace depends on another, or on somebody else's.
struct Edge<'tree> {
    from: &'tree str,
    to: &'tree str,
    /// `normal`, `dev` or `build`.
    kind: &'tree str,
    in_workspace: bool,
}

fn edges(tree: &Tree) -> impl Iterator<Item = Edge<'_>> {
    members(&tree.metadata, "packages").iter().flat_map(|package| {
        members(package, "dependencies").iter().map(|dependency| Edge {
            from: json_text(package, "name").unwrap_or_default(),
            to: json_text(dependency, "name").unwrap_or_default(),
            kind: json_text(dependency, "kind").unwrap_or("normal"),
            in_workspace: dependency.get("path").is_some_and(Value::is_string),
        })
    })
}

fn members<'value>(object: &'value Value, name: &str) -> &'value [Value] {
    object.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A workspace with one dependency in it.
    fn edge(from: &str, to: &str, kind: Option<&str>) -> Tree {
        let path = if to == "axum" { None } else { Some("somewhere") };
        let dependency = json!({ "name": to, "kind": kind, "path": path });
        let package = json!({ "name": from, "dependencies": [dependency] });
        Tree { files: Vec::new(), metadata: json!({ "packages": [package] }) }
    }

    #[test]
    fn layers_point_down() {
        let check = |from: &str, to: &str, kind: Option<&str>, expected: usize| {
            assert_eq!(layers(&edge(from, to, kind)).len(), expected, "{from} -> {to}");
        };
        check("server", "types", None, 0);
        check("types", "server", None, 1);
        check("onboarding", "commerce", Some("dev"), 1);
        check("db", "testkit", Some("dev"), 0);
        check("db", "testkit", None, 1);
        check("db", "shop_rows", None, 1);
        check("xtask", "testkit", None, 0);
        check("newcomer", "types", None, 1);
        assert_eq!(owned_dependencies(&edge("onboarding", "axum", None)).len(), 1);
        assert_eq!(owned_dependencies(&edge("server", "axum", None)).len(), 0);
    }
}
