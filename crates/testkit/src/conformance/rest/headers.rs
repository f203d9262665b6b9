//! An answer's headers against the recorded ones. Those that were not recorded are free.

use std::collections::{BTreeMap, BTreeSet};

use crate::http::Response;

use super::compare::levelled;
use super::ids::Ids;

/// A header that must be there, whatever it says.
const ANYTHING: &str = "$any";

/// Every difference, as a line that begins with `header` and its name.
pub(super) fn compare(
    ids: &Ids,
    want: &BTreeMap<String, String>,
    answer: &Response,
) -> Vec<String> {
    let difference = |(name, value): (&String, &String)| {
        let want = ids.text(value);
        match answer.header(name) {
            None => Some(format!("header {name}: missing, want {want:?}")),
            Some(_) if want == ANYTHING => None,
            Some(got) if are_equal(name, &want, &got) => None,
            Some(got) if ids.fits(value, &levelled(&got)) => None,
            Some(got) => Some(format!("header {name}: want {want:?}, got {got:?}")),
        }
    };
    want.iter().filter_map(difference).collect()
}

fn are_equal(name: &str, want: &str, got: &str) -> bool {
    match name.to_ascii_lowercase().as_str() {
        "allow" => methods(want) == methods(got),
        "content-type" => media_type(want) == media_type(got),
        "link" => links(want) == links(got),
        _ => want == got,
    }
}

fn methods(value: &str) -> BTreeSet<&str> {
    value.split(',').map(str::trim).collect()
}

fn media_type(value: &str) -> String {
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A link's path and the parameters of its query, in an order of their own.
type Target = (String, BTreeSet<(String, String)>);

/// The links of a header by their relations.
fn links(value: &str) -> BTreeMap<String, Target> {
    let mut found = BTreeMap::new();
    for part in value.split('<').skip(1) {
        let Some((address, parameters)) = part.split_once('>') else { continue };
        let relation = parameters.split(';').find_map(|one| one.trim().strip_prefix("rel="));
        let relation = relation.unwrap_or_default().trim_end_matches([',', ' ']).trim_matches('"');
        found.insert(relation.to_owned(), target(address));
    }
    found
}

fn target(address: &str) -> Target {
    let after_scheme = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (place, query) = after_scheme.split_once('?').unwrap_or((after_scheme, ""));
    let path = place.find('/').map_or("", |start| place.split_at(start).1);
    (path.to_owned(), form_urlencoded::parse(query.as_bytes()).into_owned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_header_has_its_own_equality() {
        let check = |name: &str, want: &str, got: &str, expected: bool| {
            assert_eq!(are_equal(name, want, got), expected, "{name}: {want} / {got}");
        };
        check("Allow", "GET, POST", "POST,GET", true);
        check("Allow", "GET, POST", "GET", false);
        check("Content-Type", "application/json; charset=UTF-8", "application/json", true);
        check("Content-Type", "application/json", "text/html", false);
        check("X-WP-Total", "3", "3", true);
        check("X-WP-Total", "3", "03", false);
        let want = r#"<http://a:1/x?page=2&order=asc>; rel="next", <http://a:1/y>; rel="prev""#;
        check(
            "Link",
            want,
            r#"<http://a/y>; rel=prev, <http://a/x?order=asc&page=2>; rel="next""#,
            true,
        );
        check(
            "Link",
            want,
            r#"<http://a/y>; rel="prev", <http://a/x?order=asc&page=3>; rel="next""#,
            false,
        );
        check("Link", want, r#"<http://a/y>; rel="prev""#, false);
        check(
            "Link",
            "<http://a/x?f%5B0%5D=1>; rel=\"next\"",
            "<http://a/x?f[0]=1>; rel=\"next\"",
            true,
        );
    }
}
