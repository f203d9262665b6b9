//! What one visitor of a site carries from request to request: cookies, the last nonce and cart
//! token, and the fields and links of the last page.
//!
//! Recorded requests name such values by tokens: `{{nonce}}`, `{{cart-token}}`, `{{input:NAME}}`,
//! `{{link:PART}}`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::http::Response;

use super::facts::Page;

static TOKEN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\{\{(input|link):([^}]*)\}\}").ok());
static HASH: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("[0-9a-f]{32}").ok());
/// Where a request goes that follows a link which the last page does not have.
const MISSING_LINK: &str = "/missing-link";

#[derive(Clone, Debug, Default)]
pub(super) struct Visitor {
    cookies: BTreeMap<String, String>,
    nonce: String,
    cart_token: String,
    page: Page,
}

impl Visitor {
    /// A recorded text with this visitor's values in it.
    pub(super) fn fill(&self, text: &str, site: &str) -> String {
        let text =
            text.replace("{{nonce}}", &self.nonce).replace("{{cart-token}}", &self.cart_token);
        let Some(token) = &*TOKEN else { return text };
        let value = |found: &Captures<'_>| {
            let part = |number| found.get(number).map_or("", |part| part.as_str());
            match part(1) {
                "input" => self.page.input(part(2)).unwrap_or_default().to_owned(),
                _ => self.page.link(part(2)).unwrap_or(MISSING_LINK).replace(site, ""),
            }
        };
        token.replace_all(&text, value).into_owned()
    }

    pub(super) fn cookie_header(&self) -> Option<String> {
        let pairs: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// Takes from an answer what the next request may need.
    pub(super) fn remember(&mut self, answer: &Response) {
        for (name, value, attributes) in cookies(answer) {
            if attributes.contains("Max-Age=0") || attributes.contains("expires=Thu, 01") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let given = |name: &str| answer.header(name).filter(|value| !value.is_empty());
        self.nonce = given("Nonce").unwrap_or_else(|| std::mem::take(&mut self.nonce));
        self.cart_token =
            given("Cart-Token").unwrap_or_else(|| std::mem::take(&mut self.cart_token));
        if answer.header("Content-Type").is_some_and(|kind| kind.starts_with("text/html")) {
            self.page = Page::parse(&answer.text());
        }
    }
}

/// The names of the cookies that an answer sets; what is a hash in them is another on each site.
pub(super) fn cookie_names(answer: &Response) -> BTreeSet<String> {
    let levelled = |name: &str| match &*HASH {
        Some(hash) => hash.replace_all(name, "<hash>").into_owned(),
        None => name.to_owned(),
    };
    cookies(answer).map(|(name, ..)| levelled(name)).collect()
}

/// Name, value and attributes of each cookie that an answer sets.
fn cookies(answer: &Response) -> impl Iterator<Item = (&str, &str, &str)> {
    let set = answer.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("Set-Cookie"));
    set.filter_map(|(_, line)| {
        let (pair, attributes) = line.split_once(';').unwrap_or((line, ""));
        let (name, value) = pair.split_once('=')?;
        Some((name, value, attributes))
    })
}
