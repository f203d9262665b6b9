//! A browser without scripts: it follows links, keeps cookies, fills in forms and sends them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use contract::rest::form;
use frame::{Client, Request};
use serde_json::{Map, Value, json};

use super::harness::{HOME, TestSite};

/// Somebody who looks at pages.
pub(crate) struct Browser<'s> {
    shop: &'s TestSite,
    cookies: RefCell<BTreeMap<String, String>>,
}

/// What is shown.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) status: u16,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

type Fields = BTreeMap<String, String>;

impl<'s> Browser<'s> {
    pub(crate) fn new(shop: &'s TestSite) -> Self {
        Self { shop, cookies: RefCell::default() }
    }

    pub(crate) fn cookie(&self, start: &str) -> Option<(String, String)> {
        let cookies = self.cookies.borrow();
        let found = cookies.iter().find(|(name, _)| name.starts_with(start));
        found.map(|(name, value)| (name.clone(), value.clone()))
    }

    pub(crate) fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn get(&self, path: &str) -> Shown {
        self.send("GET", path, &[], String::new())
    }

    /// Sends a form as the page itself would.
    pub(crate) fn post(&self, path: &str, fields: &Fields) -> Shown {
        self.post_from(path, fields, HOME)
    }

    /// The same from a page of another site.
    pub(crate) fn post_from(&self, path: &str, fields: &Fields, origin: &str) -> Shown {
        let fields: Map<String, Value> =
            fields.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let headers = [("origin", origin), ("content-type", "application/x-www-form-urlencoded")];
        self.send("POST", path, &headers, form::encode(&fields))
    }

    /// Fills in the form of a page that has this field, and sends it with its button.
    pub(crate) fn submit(&self, page: &Shown, button: &str, typed: &[(&str, &str)]) -> Shown {
        let (action, mut fields) = page.form(button);
        for (name, value) in typed {
            fields.insert((*name).to_owned(), (*value).to_owned());
        }
        self.post(&action, &fields)
    }

    /// Goes where an answer leads.
    pub(crate) fn follow(&self, answer: &Shown) -> Shown {
        let location = answer.header("location");
        assert_eq!(answer.status, 302, "{}", answer.body);
        self.get(location.strip_prefix(HOME).expect("a page of the site"))
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: String) -> Shown {
        let url_path = path.split('?').next().unwrap_or_default();
        let mut all: Vec<(String, String)> =
            headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let cookies = self.cookies.borrow().iter().map(|(n, v)| format!("{n}={v}")).collect();
        let cookies: Vec<String> = cookies;
        all.push((String::from("cookie"), cookies.join("; ")));
        all.push((String::from("accept"), String::from("text/html")));
        let request = request(method, path, all, body.into_bytes());
        let answer = self.shop.run(storefront::pages::page(&self.shop.site, request));
        let answer = answer.expect("a browser is always shown a page");
        let mut named = std::collections::HashSet::new();
        for (_, cookie) in answer.headers.iter().filter(|(name, _)| *name == "set-cookie") {
            assert!(named.insert(cookie.split('=').next()), "twice: {cookie}");
            let (pair, rest) = cookie.split_once(';').unwrap();
            assert!(rest.contains("HttpOnly") && rest.contains("SameSite=Lax"), "{cookie}");
            let (name, value) = pair.split_once('=').unwrap();
            if rest.contains("Max-Age=0") {
                self.cookies.borrow_mut().remove(name);
            } else {
                self.set_cookie(name, value);
            }
        }
        let (status, headers) = (answer.status, answer.headers);
        Shown { status, path: url_path.to_owned(), headers, body: answer.body }
    }
}

/// A request over TLS, as the server hands it over.
pub(crate) fn request(
    method: &str,
    path: &str,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
) -> Request {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    Request {
        method: method.to_owned(),
        path: path.to_owned(),
        url_path: path.to_owned(),
        query_text: query.to_owned(),
        query: Request::decode_query(query),
        headers: Arc::new(headers),
        body,
        upload: None,
        secure: true,
        encrypted_here: true,
        host: String::from("shop.example"),
        client: Client { address: "192.0.2.9".parse().unwrap(), throttled: true, local: false },
    }
}

impl Shown {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(own, _)| *own == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    pub(crate) fn has(&self, text: &str) -> bool {
        self.body.contains(text)
    }

    /// The first form with a field or a button of this name: where it goes, and what it holds.
    pub(crate) fn form(&self, button: &str) -> (String, Fields) {
        let named = format!("name=\"{button}\"");
        let forms = self.body.split("<form").skip(1);
        let mut forms = forms.map(|rest| rest.split("</form>").next().unwrap_or_default());
        let form = forms.find(|form| form.contains(&named));
        let form = form.unwrap_or_else(|| panic!("no form has {button}: {}", self.body));
        let (head, content) = form.split_once('>').unwrap();
        let action = attribute(head, "action").unwrap_or_else(|| self.path.clone());
        (action, fields_of(content, button))
    }
}

/// What a browser would send of a form: the button that is pressed, and no other.
fn fields_of(content: &str, button: &str) -> Fields {
    let mut fields = Fields::new();
    let mut select = String::new();
    for tag in content.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').unwrap_or((tag, ""));
        let name = attribute(tag, "name").unwrap_or_default();
        let value = attribute(tag, "value").unwrap_or_default();
        let kind = tag.split_whitespace().next().unwrap_or_default();
        let is_choice = tag.contains("type=\"radio\"") || tag.contains("type=\"checkbox\"");
        match kind {
            "input" if !is_choice || tag.contains(" checked") => {
                fields.insert(name, value);
            }
            "textarea" => {
                fields.insert(name, unescaped(text));
            }
            "select" => select = name,
            "option" if tag.contains(" selected") => {
                fields.insert(select.clone(), value);
            }
            "button" if name == button => {
                fields.insert(name, value);
            }
            _ => {}
        }
    }
    fields
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    Some(unescaped(rest.split('"').next()?))
}

fn unescaped(text: &str) -> String {
    text.replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&#60;", "<")
        .replace("&lt;", "<")
        .replace("&#62;", ">")
        .replace("&quot;", "\"")
        .replace("&#38;", "&")
        .replace("&amp;", "&")
}
