//! Nothing that an answer links to is missing: every address of the site in the answers to the
//! recorded requests is followed, to its end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use testkit::conformance::rest::{self, Suite};
use testkit::http::{self, Request, Response};

use crate::rest_site::RestSite;
use crate::support::{Site, basic};

/// Parts of addresses that answers name before there is anything at them. **May only shrink**: one
/// that nothing needs any more fails the test.
const ABSENT: &[&str] =
    &["/wp-content/uploads/", "/reports/categories/stats", "/reports/downloads/files"];
/// Addresses of what strangers do not see, or of what was deleted: products that are not published,
/// the page of a plugin that is not active, and a variation that a report was asked for in vain.
const HIDDEN: &[&str] = &[
    "/?post_type=product&p=41",
    "/product/private-product/",
    "/plugins/ledger/start/",
    "/products/0/variation/99999",
];
/// The placeholder of pictures lies among the uploads, and is there.
const PLACEHOLDER: &str = "/wp-content/uploads/woocommerce-placeholder";
const REST_ROOT: &str = "/wp-json";
const REDIRECTS_MAX: usize = 5;
/// Below this is the portal, whose pages are those that its own table of routes lists.
const PORTAL: &str = "/portal";

#[test]
fn every_link_of_every_recorded_answer_leads_somewhere() {
    let shop = RestSite::import(Site::sqlite());
    let running = shop.site.serve();
    let url = running.url.as_str();
    let authorization: BTreeMap<&str, String> =
        shop.identities.iter().map(|(name, pair)| (name.as_str(), basic(pair))).collect();
    let suite = Suite::load(&rest::folder()).unwrap();
    let mut links: BTreeMap<String, String> = BTreeMap::new();
    for (_, case) in suite.cases().filter(|(_, case)| !case.is_sequence) {
        for (_, exchange) in case.exchanges() {
            let plan = &exchange.request;
            if plan.method != "GET" || plan.query.contains("{{site}}") {
                continue;
            }
            let mut request = Request::new("GET", &format!("{}?{}", plan.path, plan.query));
            if let Some(value) = authorization.get(plan.auth.as_str()) {
                request = request.header("Authorization", value);
            }
            let answer = http::send(url, &request).unwrap();
            if answer.status < 300 {
                let found = links_of(url, &answer);
                links.extend(found.into_iter().map(|link| (link, case.id.clone())));
            }
        }
    }
    assert!(links.len() > 500, "only {} links", links.len());

    let pages = portal_pages();
    let mut excused = BTreeSet::new();
    let mut dead = Vec::new();
    for (link, case) in &links {
        let end = follow(url, link, &authorization["admin"], &pages);
        if end == End::There || HIDDEN.iter().any(|part| link.ends_with(part)) {
            continue;
        }
        // A link to a download leads on to the file.
        let last = match &end {
            End::Missing(_, path) => path,
            _ => link,
        };
        match ABSENT.iter().find(|part| last.contains(**part) && !last.contains(PLACEHOLDER)) {
            Some(part) => {
                excused.insert(*part);
            }
            None => dead.push(format!("{link} (in {case}): {end:?}")),
        }
    }
    let shown: Vec<&String> = dead.iter().take(100).collect();
    assert!(dead.is_empty(), "{} of {} links: {shown:#?}", dead.len(), links.len());
    let unused: Vec<&&str> = ABSENT.iter().filter(|part| !excused.contains(**part)).collect();
    assert!(unused.is_empty(), "these are there by now, so strike them out: {unused:?}");
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    There,
    /// With the address that the link led to in the end.
    Missing(u16, String),
    /// A page that the portal does not have.
    NoPage(String),
    /// More redirects than anybody follows.
    Endless,
}

/// The addresses of the site in an answer: as values, in markup, and in its headers.
fn links_of(url: &str, answer: &Response) -> BTreeSet<String> {
    let mut texts = vec![answer.header("link").unwrap_or_default()];
    if let Ok(body) = answer.json() {
        collect(&body, &mut texts);
    }
    let mut links = BTreeSet::new();
    for text in texts {
        for (start, _) in text.match_indices(url) {
            let rest = &text[start..];
            let end = rest.find(['"', '\'', '<', '>', ' ', '\n', '\\']).unwrap_or(rest.len());
            let link = rest[..end].split('#').next().unwrap_or_default().replace("&amp;", "&");
            let path = link.strip_prefix(url).unwrap_or_default();
            // A pattern is no address.
            if path.starts_with('/') && !path.contains(['(', '{']) {
                links.insert(path.trim_end_matches([',', '.']).to_owned());
            }
        }
    }
    links
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.values().for_each(|item| collect(item, texts)),
        _ => {}
    }
}

fn follow(url: &str, link: &str, authorization: &str, pages: &[String]) -> End {
    let mut path = link.to_owned();
    for _ in 0..=REDIRECTS_MAX {
        if let Some(page) = path.strip_prefix(PORTAL) {
            let page = page.split('?').next().unwrap_or_default();
            let is_page = pages.iter().any(|pattern| matches(pattern, page));
            return if is_page { End::There } else { End::NoPage(page.to_owned()) };
        }
        let answer = ask(url, "GET", &path, authorization);
        if matches!(answer.status, 301 | 302 | 307 | 308) {
            let location = answer.header("location").unwrap_or_default();
            path = location.strip_prefix(url).unwrap_or(&location).to_owned();
            continue;
        }
        // A route that takes no GET is there nonetheless.
        let is_route = || {
            let options = ask(url, "OPTIONS", &path, authorization).json();
            options.is_ok_and(|options| options.get("methods").is_some())
        };
        let is_missing = answer.status == 404 && !(path.starts_with(REST_ROOT) && is_route());
        return if is_missing { End::Missing(answer.status, path) } else { End::There };
    }
    End::Endless
}

fn ask(url: &str, method: &str, path: &str, authorization: &str) -> Response {
    let mut request = Request::new(method, path);
    if path.starts_with(REST_ROOT) {
        request = request.header("Authorization", authorization);
    }
    http::send(url, &request).unwrap()
}

/// The patterns of the portal's pages, as its sources list them.
fn portal_pages() -> Vec<String> {
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/routes.ts");
    let text = std::fs::read_to_string(sources).unwrap();
    let table = text.split("];").next().unwrap_or_default();
    let found = table.split("path: '").skip(1).filter_map(|rest| rest.split('\'').next());
    let pages: Vec<String> = found.map(str::to_owned).collect();
    assert!(pages.len() > 30, "{pages:?}");
    pages
}

/// Whether a path fits a pattern such as `/users/:id`.
fn matches(pattern: &str, path: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        text.trim_matches('/').split('/').map(str::to_owned).collect()
    };
    let (pattern, path) = (parts(pattern), parts(path));
    let fits = |(pattern, part): (&String, &String)| pattern.starts_with(':') || pattern == part;
    pattern.len() == path.len() && pattern.iter().zip(&path).all(fits)
}
