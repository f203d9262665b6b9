//! A site with the recorded shop in it, and somebody for every name that the cases use.

use serde_json::Value;
use testkit::conformance::rest::{self, Identities};

use crate::support::{Site, text};

/// The users of the recorded shop that make requests.
const LOGINS: [&str; 5] = ["admin", "manager", "editor", "subscriber", "shopper"];
const PERMISSIONS: [&str; 3] = ["read", "write", "read_write"];
/// Those who are refused, whatever the server gave out.
const STRANGERS: [(&str, &str); 3] = [
    ("badpass", "admin:wrong wrong wrong"),
    ("baduser", "nobody:wrong"),
    (
        "badkey",
        "ck_0000000000000000000000000000000000000000:cs_0000000000000000000000000000000000000000",
    ),
];

pub(crate) struct RestSite {
    pub(crate) site: Site,
    pub(crate) identities: Identities,
}

impl RestSite {
    /// Imports the recorded shop into a new site and gives its users their credentials.
    pub(crate) fn import(site: Site) -> Self {
        // The cases that say they came by https are believed, as from a proxy beside the server.
        let site = site.set("server.trusted_proxies", r#"["127.0.0.1"]"#);
        let bundle = rest::folder().join("bundle.json");
        site.json(&["import", "bundle", bundle.to_str().unwrap()]);
        let mut identities: Identities =
            STRANGERS.map(|(name, pair)| (name.to_owned(), pair.to_owned())).into();
        for login in LOGINS {
            let made = site.json(&["user", "app-password", "--login", login, "--name", "Cases"]);
            let pair = format!("{login}:{}", text(&made, "password"));
            identities.insert(login.to_owned(), pair);
        }
        for permissions in PERMISSIONS {
            let who = ["--login", "admin", "--permissions", permissions];
            let made: Value = site.json(&[&["user", "consumer-key"], &who[..]].concat());
            let pair =
                format!("{}:{}", text(&made, "consumer_key"), text(&made, "consumer_secret"));
            identities.insert(format!("key:{permissions}"), pair);
        }
        Self { site, identities }
    }

    /// The same shop as it was imported, for a test that changes it.
    pub(crate) fn fresh(&self) -> Self {
        Self { site: self.site.copied(), identities: self.identities.clone() }
    }
}
