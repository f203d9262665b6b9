//! A served shop with its administrator, for tests that walk through what people do with it.

use serde_json::Value;
use testkit::http::{self, Request, Response};

use crate::rest_site::RestSite;
use crate::support::{Running, Site};

/// A server, and its administrator.
pub(crate) struct ShopClient {
    pub(crate) shop: RestSite,
    pub(crate) running: Running,
    authorization: String,
}

impl ShopClient {
    pub(crate) fn open(site: Site) -> Self {
        Self::of(RestSite::import(site))
    }

    /// Serves a shop that is there already.
    pub(crate) fn of(shop: RestSite) -> Self {
        let running = shop.site.serve();
        let authorization = basic(&shop.identities["admin"]);
        Self { shop, running, authorization }
    }

    /// Kills the server without a warning, and starts another on the same data.
    pub(crate) fn kill(self) -> Self {
        self.kill_and(|shop| shop)
    }

    /// Kills the server without a warning, and starts another on what is made of its data.
    pub(crate) fn kill_and(self, change: impl FnOnce(RestSite) -> RestSite) -> Self {
        let Self { shop, running, authorization } = self;
        running.server.kill();
        let shop = change(shop);
        let running = shop.site.serve();
        Self { shop, running, authorization }
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Response {
        let request = Request::new(method, &format!("/wp-json{path}"))
            .header("Authorization", &self.authorization)
            .header("Content-Type", "application/json")
            .body(body.to_string());
        http::send(&self.running.url, &request).unwrap()
    }

    /// What must succeed.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.send(method, path, body);
        assert!(answer.status < 300, "{method} {path}: {answer:?}");
        answer.json().unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let answer = self.look(path);
        assert!(answer.status < 300, "{path}: {answer:?}");
        answer.json().unwrap()
    }

    pub(crate) fn look(&self, path: &str) -> Response {
        let headers = [("Authorization", &*self.authorization)];
        http::get(&self.running.url, &format!("/wp-json{path}"), &headers).unwrap()
    }

    /// A page as a browser asks for it.
    pub(crate) fn page(&self, path: &str) -> Response {
        http::get(&self.running.url, path, &[("Accept", "text/html")]).unwrap()
    }

    /// Sends a file by a form.
    pub(crate) fn upload(&self, path: &str, field: &str, content: &[u8]) -> Response {
        let mut body = format!(
            "--x\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"a.zip\"\r\n\
             Content-Type: application/zip\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n--x--\r\n");
        let request = Request::new("POST", &format!("/wp-json{path}"))
            .header("Authorization", &self.authorization)
            .header("Content-Type", "multipart/form-data; boundary=x")
            .body(body);
        http::send(&self.running.url, &request).unwrap()
    }
}

fn basic(pair: &str) -> String {
    format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes()))
}

/// A member of each item of a list.
pub(crate) fn each(list: &Value, member: &str) -> Vec<Value> {
    list.as_array().expect("a list").iter().map(|item| item[member].clone()).collect()
}
