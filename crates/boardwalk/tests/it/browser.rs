//! A browser at the site: it signs in by the form, and asks with the session's cookie and nonce.

use serde_json::Value;
use testkit::http::{self, Request, Response};

use crate::support::{Running, text};

/// Somebody who signed in with a browser.
pub(crate) struct Browser<'a> {
    running: &'a Running,
    pub(crate) cookie: String,
    pub(crate) nonce: String,
}

impl<'a> Browser<'a> {
    pub(crate) fn sign_in(running: &'a Running, login: &str, password: &str) -> Option<Self> {
        let form = http::get(&running.url, "/login", &[]).unwrap();
        let token = form_token(&form);
        let fields = format!("log={}&pwd={}&_wpnonce={token}", encoded(login), encoded(password));
        let request = Request::new("POST", "/login")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Cookie", &cookies(&form))
            .body(fields);
        let answer = http::send(&running.url, &request).unwrap();
        if answer.status != 302 {
            return None;
        }
        let cookie = cookies(&answer);
        let nonce = http::get(&running.url, "/session/nonce", &[("Cookie", &cookie)]).unwrap();
        let nonce = text(&nonce.json().unwrap(), "nonce");
        Some(Self { running, cookie, nonce })
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Response {
        self.send_for(None, method, path, body)
    }

    /// As an administrator of the site who acts for an ISO.
    pub(crate) fn send_for(
        &self,
        iso: Option<&str>,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Response {
        let mut request = Request::new(method, path)
            .header("Cookie", &self.cookie)
            .header("X-WP-Nonce", &self.nonce);
        if let Some(iso) = iso {
            request = request.header("X-Iso-Id", iso);
        }
        if let Some(body) = body {
            request = request.header("Content-Type", "application/json").body(body.to_string());
        }
        http::send(&self.running.url, &request).unwrap()
    }

    #[track_caller]
    pub(crate) fn done(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let answer = self.send(method, path, body);
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text());
        answer.json().unwrap()
    }
}

/// The token of the form on a page.
pub(crate) fn form_token(page: &Response) -> String {
    let page = page.text();
    let (_, rest) = page.split_once("name=\"_wpnonce\" value=\"").expect("a token");
    rest.split('"').next().unwrap().to_owned()
}

/// As the value of a form's field.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().flat_map(|byte| format!("%{byte:02X}").into_bytes()).map(char::from).collect()
}

/// The cookies that an answer sets.
pub(crate) fn cookies(answer: &Response) -> String {
    let set = answer.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    let pairs: Vec<&str> = set.filter_map(|(_, value)| value.split(';').next()).collect();
    pairs.join("; ")
}
