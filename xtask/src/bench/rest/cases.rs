//! What is asked of the product, and the site that it is asked of.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use testkit::http::{self, Request};

use super::CONNECTIONS;
use crate::subject::{Running, Subject};

const LOGIN: &str = "bench";
/// Published posts on the site; a list shows ten of them.
const POSTS: usize = 25;
const BATCH_ITEMS: usize = 25;
const BATCH_CONNECTIONS: usize = 4;
const ORDER_CONNECTIONS: usize = 16;

/// What is wanted of the share of the bare server's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The target of the index and of simple reads.
    Share,
    /// It is shown, and nothing is wanted of it.
    Nothing,
}

/// A request that is measured.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) request: Vec<u8>,
    pub(crate) status: u16,
    pub(crate) wanted: Target,
    /// On how many connections it is sent at once, to the product and to the bare server.
    pub(crate) connections: usize,
}

/// A running site with a user, an application password and some posts.
#[derive(Debug)]
pub(crate) struct Scenario {
    running: Running,
    authorization: String,
    post_id: u64,
}

impl Scenario {
    pub(crate) fn create(program: &Path, data: &Path, database: Option<String>) -> Result<Self> {
        let subject = Subject::create(program, data, database)?;
        let who = ["--login", LOGIN];
        let new = ["--email", "bench@site.example", "--role", "administrator"];
        subject.run(&[&["user", "create"], &who[..], &new[..]].concat())?;
        let made =
            subject.run(&[&["user", "app-password", "--name", "bench"], &who[..]].concat())?;
        let password = made.get("password").and_then(Value::as_str).context("no password")?;
        let authorization = format!("Basic {}", base64(&format!("{LOGIN}:{password}")));
        let (running, _) = subject.start()?;
        let mut scenario = Self { running, authorization, post_id: 0 };
        for number in 1..=POSTS {
            scenario.post_id = scenario.create_post(number)?;
        }
        Ok(scenario)
    }

    fn create_post(&self, number: usize) -> Result<u64> {
        let body = json!({
            "title": format!("Post {number}"), "status": "publish",
            "content": format!("<p>{}</p>", "Some words of a post. ".repeat(20)),
        });
        let made = self.post("wp/v2/posts", &body)?;
        made.get("id").and_then(Value::as_u64).context("the post has no id")
    }

    pub(crate) fn authority(&self) -> &str {
        self.running.url().trim_start_matches("http://")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.running.pid()
    }

    pub(crate) fn stop(self) -> Result<()> {
        self.running.stop()
    }

    /// The last ones change the site.
    pub(crate) fn cases(&self) -> Result<Vec<Case>> {
        let index = http::get(self.running.url(), "/wp-json/", &[])?;
        let etag = index.header("ETag").context("the index has no tag")?;
        let get = |name, path: &str, headers: &[(&str, &str)], status, wanted| Case {
            name,
            request: self.bytes("GET", path, headers, ""),
            status,
            wanted,
            connections: CONNECTIONS,
        };
        let me = [("Authorization", &*self.authorization)];
        let one = format!("/wp/v2/posts/{}", self.post_id);
        let (share, nothing) = (Target::Share, Target::Nothing);
        let batch = batch();
        Ok(vec![
            get("index", "/", &[], 200, share),
            get("index, gzip", "/", &[("Accept-Encoding", "gzip, br")], 200, share),
            get("index, known by its tag (304)", "/", &[("If-None-Match", &etag)], 304, share),
            get("index of a namespace", "/wp/v2", &[], 200, share),
            get("unknown route (404)", "/wp/v2/nothing", &[], 404, nothing),
            get("invalid parameter (400)", "/wp/v2/posts?per_page=1000", &[], 400, nothing),
            get("types", "/wp/v2/types", &[], 200, share),
            get("one post", &one, &[], 200, share),
            get("list of 10 posts", "/wp/v2/posts", &[], 200, nothing),
            get("users/me, application password", "/wp/v2/users/me", &me, 200, share),
            Case {
                name: "order of two products (201)",
                request: self.bytes("POST", "/wc/v3/orders", &me, &self.order()?),
                status: 201,
                wanted: nothing,
                connections: ORDER_CONNECTIONS,
            },
            Case {
                name: "batch of 25 drafts (207)",
                request: self.bytes("POST", "/batch/v1", &me, &batch),
                status: 207,
                wanted: nothing,
                // More would only wait for each other, and be given up by the server.
                connections: BATCH_CONNECTIONS,
            },
        ])
    }

    /// An order of two taxed products by somebody who has an account.
    fn order(&self) -> Result<String> {
        let rate = json!({ "country": "US", "state": "CA", "rate": "7.25", "name": "Tax" });
        self.post("wc/v3/taxes", &rate)?;
        let on = json!({ "value": "yes" });
        self.post("wc/v3/settings/general/woocommerce_calc_taxes", &on)?;
        let product = |name: &str| {
            self.post("wc/v3/products", &json!({ "name": name, "regular_price": "25" }))
        };
        let lines = [product("Mittens")?, product("Scarf")?];
        let lines = lines.map(|made| json!({ "product_id": made.get("id"), "quantity": 1 }));
        let buyer = json!({ "email": "buyer@bench.example", "password": "a long one 5" });
        let buyer = self.post("wc/v3/customers", &buyer)?;
        Ok(json!({
            "status": "processing",
            "customer_id": buyer.get("id"),
            "billing": {
                "first_name": "Maria", "last_name": "Lindqvist", "email": "buyer@bench.example",
                "address_1": "12 Pier Road", "city": "Oakland", "state": "CA",
                "postcode": "94601", "country": "US",
            },
            "line_items": lines,
        })
        .to_string())
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let request = Request::new("POST", &format!("/wp-json/{path}"))
            .header("Authorization", &self.authorization)
            .header("Content-Type", "application/json")
            .body(body.to_string());
        let answer = http::send(self.running.url(), &request)?;
        ensure!(answer.status < 300, "POST {path}: {}", answer.text());
        answer.json()
    }

    fn bytes(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
        let mut text = format!(
            "{method} /wp-json{path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: bench\r\n",
            self.authority()
        );
        for (name, value) in headers {
            text.extend([name, ": ", value, "\r\n"]);
        }
        if !body.is_empty() {
            let length = body.len().to_string();
            text.extend(["Content-Type: application/json\r\nContent-Length: ", &length, "\r\n"]);
        }
        text.extend(["\r\n", body]);
        text.into_bytes()
    }
}

fn batch() -> String {
    let item = |number: usize| {
        json!({
            "method": "POST", "path": "/wp/v2/posts",
            "body": { "title": format!("Draft {number}"), "status": "draft" },
        })
    };
    json!({ "requests": (1..=BATCH_ITEMS).map(item).collect::<Vec<_>>() }).to_string()
}

pub(crate) fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32| {
        let index = usize::try_from(bits & 63).unwrap_or_default();
        LETTERS.get(index).map_or('=', |byte| char::from(*byte))
    };
    let mut encoded = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        encoded.extend([letter(bits >> 18), letter(bits >> 12)]);
        encoded.push(if chunk.len() > 1 { letter(bits >> 6) } else { '=' });
        encoded.push(if chunk.len() > 2 { letter(bits) } else { '=' });
    }
    encoded
}
