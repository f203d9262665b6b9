//! The rules by which templates are chosen: their names, from the special to the general.

use crate::posts::kind::ALL_KINDS;

/// What a name of a template may begin with; what follows says for what it is.
const PREFIXES: &[&str] =
    &["single", "page", "archive", "author", "category", "tag", "taxonomy", "date"];
/// Names of templates that stand for one place each.
const PLACES: &[&str] =
    &["index", "home", "front-page", "singular", "search", "404", "attachment", "privacy-policy"];

/// Whether a rule looks for a template of this name.
pub(super) fn is_of_a_rule(slug: &str) -> bool {
    let has_prefix = |prefix: &&str| {
        slug.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    PLACES.contains(&slug) || PREFIXES.iter().any(has_prefix)
}

/// The names that are looked for in place of one, the closest first.
pub(super) fn candidates(slug: &str, is_custom: bool, prefix: &str) -> Vec<String> {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match slug {
        "index" => return owned(&["index"]),
        "front-page" => return owned(&["front-page", "home", "index"]),
        _ if is_custom => return owned(&["page", "singular", "index"]),
        _ => {}
    }
    let mut names = vec![slug.to_owned()];
    let mut add = |name: &str| {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    if prefix.is_empty() {
        let kinds = ALL_KINDS.iter().map(|kind| kind.name);
        for (start, rest) in PREFIXES.iter().filter_map(|start| {
            let rest = slug.strip_prefix(start)?.strip_prefix('-')?;
            Some((*start, rest))
        }) {
            let of_kind = kinds.clone().find(|kind| rest.starts_with(&format!("{kind}-")));
            if let Some(kind) = of_kind {
                add(&format!("{start}-{kind}"));
            }
            add(start);
        }
    } else {
        add(prefix);
        add(prefix.split('-').next().unwrap_or_default());
    }
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| slug.starts_with(prefix));
    if starts(&["author", "taxonomy", "category", "tag"]) || slug == "date" {
        add("archive");
    }
    if slug == "attachment" {
        add("single");
    }
    if starts(&["single", "page"]) || slug == "attachment" {
        add("singular");
    }
    add("index");
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_looked_for_from_the_special_to_the_general() {
        for (slug, is_custom, prefix, expected) in [
            ("index", false, "", "index"),
            ("nope", false, "", "nope index"),
            ("nope", true, "", "page singular index"),
            ("front-page", false, "", "front-page home index"),
            ("page-about", false, "", "page-about page singular index"),
            ("category-news", false, "", "category-news category archive index"),
            ("single-post-hello", false, "", "single-post-hello single-post single singular index"),
            ("single-product", false, "", "single-product single singular index"),
            (
                "taxonomy-product_cat-boats",
                false,
                "taxonomy-product_cat",
                "taxonomy-product_cat-boats taxonomy-product_cat taxonomy archive index",
            ),
            ("attachment", false, "", "attachment single singular index"),
            ("date", false, "", "date archive index"),
        ] {
            assert_eq!(candidates(slug, is_custom, prefix).join(" "), expected, "{slug}");
        }
    }

    #[test]
    fn names_of_rules_are_no_custom_templates() {
        for name in ["index", "404", "single", "single-product", "category-news", "page-about"] {
            assert!(is_of_a_rule(name), "{name}");
        }
        for name in ["landing", "singles", "pages-of-mine"] {
            assert!(!is_of_a_rule(name), "{name}");
        }
    }
}
