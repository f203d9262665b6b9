//! The names under which the interface appears: its root and its namespaces. Each is a setting; the
//! defaults are those that existing clients look for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! names {
    ($($(#[doc = $about:literal])+ $field:ident = $default:literal,)*) => {
        /// Path of the REST interface and names of its namespaces.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct Names {
            $($(#[doc = $about])+ pub $field: String,)*
        }

        impl Default for Names {
            fn default() -> Self {
                Self { $($field: String::from($default),)* }
            }
        }

        impl Names {
            /// The settings' names with their values, the root first.
            fn list(&self) -> Vec<(&'static str, &str)> {
                vec![$((stringify!($field), &*self.$field),)*]
            }
        }
    };
}

names! {
    /// Path under which all REST routes are, without slashes around it.
    rest_root = "wp-json",
    /// Embedding of pages.
    oembed = "oembed/1.0",
    /// Commerce, current version.
    commerce_v3 = "wc/v3",
    /// Commerce, first version.
    commerce_v1 = "wc/v1",
    /// The catalogue for points of sale.
    catalogue = "wc/pos/v1/catalog",
    /// Integration of extensions.
    extension = "jetpack/v4",
    /// Administration.
    admin = "wc-admin",
    /// Analytics.
    analytics = "wc-analytics",
    /// The shop window.
    store = "wc/store",
    /// The shop window, first version.
    store_v1 = "wc/store/v1",
    /// For the shop's own pages.
    private = "wc/private",
    /// Commerce, second version.
    commerce_v2 = "wc/v2",
    /// Settings of e-mails.
    admin_email = "wc-admin-email",
    /// Telemetry of mobile apps.
    telemetry = "wc-telemetry",
    /// Connection to the marketplace.
    marketplace = "wccom-site/v3",
    /// Abilities of the site.
    abilities = "wp-abilities/v1",
    /// Posts, pages, users, settings.
    content = "wp/v2",
    /// Health of the site.
    health = "wp-site-health/v1",
    /// The block editor.
    editor = "wp-block-editor/v1",
    /// The theme.
    theme = "boardwalk-theme/v1",
    /// The page builder.
    pages = "boardwalk-pages/v1",
    /// Surveys.
    survey = "boardwalk-survey/v1",
    /// The documentation.
    docs = "boardwalk/v1",
}

/// Paths of the server that are no part of this interface.
const TAKEN: &[&str] =
    &["v1", "docs", "login", "author", "session", "healthz", "readyz", "wp-admin"];

impl Names {
    /// Refuses names that no URL could carry, and names that are taken twice.
    pub fn check(&self) -> Result<(), String> {
        let list = self.list();
        for (setting, name) in &list {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
            let whole = !name.split('/').any(str::is_empty);
            if !whole || !name.chars().all(plain) {
                return Err(format!(
                    "the name `{name}` of {setting} must consist of letters, digits and -_. \
                     separated by single slashes"
                ));
            }
            let taken = name.split('/').next().is_some_and(|first| TAKEN.contains(&first));
            if *setting == "rest_root" && taken {
                return Err(format!("the path `{name}` of {setting} is already in use"));
            }
            if list.iter().filter(|(_, other)| other == name).count() > 1 {
                return Err(format!("the name `{name}` of {setting} is used twice"));
            }
        }
        Ok(())
    }

    /// All namespaces in the order in which the index lists them.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.list().into_iter().skip(1).map(|(_, name)| name)
    }

    /// Whether a REST path belongs to the commerce family, which has its own way with credentials:
    /// what it does not know counts as no credentials.
    pub fn is_commerce(&self, path: &str) -> bool {
        let path = path.trim_start_matches('/');
        [
            &self.commerce_v1,
            &self.commerce_v2,
            &self.commerce_v3,
            &self.catalogue,
            &self.admin,
            &self.analytics,
            &self.store,
            &self.store_v1,
            &self.private,
            &self.admin_email,
            &self.telemetry,
        ]
        .into_iter()
        .any(|name| {
            let rest = path.get(name.len()..).filter(|_| {
                path.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            });
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_cannot_be_is_refused() {
        assert_eq!(Names::default().check(), Ok(()));
        for bad in ["", "/wp", "a//b", "a b", "ä"] {
            let names = Names { content: bad.to_owned(), ..Names::default() };
            assert!(names.check().is_err(), "{bad:?}");
        }
        let twice = Names { content: String::from("wc/v3"), ..Names::default() };
        assert!(twice.check().unwrap_err().contains("twice"));
    }

    #[test]
    fn the_commerce_family_is_known_by_its_names() {
        let names = Names::default();
        for path in ["/wc/v3/orders", "/wc-analytics", "/WC-ADMIN/options", "/wc/store/v1/cart"] {
            assert!(names.is_commerce(path), "{path}");
        }
        for path in ["/wp/v2/posts", "/batch/v1", "/", "/wc-analyticsx", "/wccom-site/v3/status"] {
            assert!(!names.is_commerce(path), "{path}");
        }
    }
}
