//! HEAD states the length of the body that GET returns, or none.

use serde_json::Value;
use testkit::http::{self, Connection, Request};

use crate::shop_client::ShopClient;
use crate::support::{Site, authorization, basic};

/// Their bodies are streams, or tell the time that they took.
const CHANGING: &[&str] = &["/boardwalk/v1/live"];
/// Pages and files beside the interfaces.
const OTHERS: &[&str] = &[
    "/",
    "/wp-login.php",
    "/portal/",
    "/portal/assets/none.js",
    "/feeds/none.json",
    "/healthz",
    "/robots.txt",
    "/nothing/here",
    "/v1/openapi.json",
    "/v1/errors",
    "/v1/nothing",
];

#[test]
fn head_states_the_length_of_get_or_none() {
    let client = ShopClient::open(Site::sqlite());
    let admin = basic(&client.shop.identities["admin"]);
    let index = client.get("/");
    let routes = index["routes"].as_object().unwrap();
    let readable = |route: &Value| {
        let methods = route["methods"].as_array();
        methods.is_some_and(|methods| methods.iter().any(|method| method == "GET"))
    };
    let literal: Vec<&String> = routes
        .iter()
        .filter(|(path, route)| readable(route) && !path.contains('('))
        .map(|(path, _)| path)
        .filter(|path| !CHANGING.contains(&path.as_str()))
        .collect();
    assert!(literal.len() > 100, "only {} routes", literal.len());
    let lengths: Vec<bool> =
        literal.iter().map(|path| check(&client, &format!("/wp-json{path}"), &admin)).collect();
    let stated = lengths.iter().filter(|stated| **stated).count();
    assert!(stated > 20 && stated < lengths.len(), "{stated} of {} lengths", lengths.len());
    for list in ["/wp/v2/posts", "/wp/v2/users", "/wp/v2/categories", "/wc/v3/orders"] {
        assert!(!check(&client, &format!("/wp-json{list}"), &admin), "{list} counts no items");
    }
    assert!(check(&client, "/wp-json/wp/v2/users/me", &admin), "one record has a known length");
    assert!(!check(&client, "/wp-json/wc/v3/orders?_envelope=1", &admin));

    let overridden = "/wp-json/wp/v2/posts?_method=HEAD";
    let answer = http::get(&client.running.url, overridden, &[]).unwrap();
    assert_eq!((answer.status, answer.body.len()), (200, 0), "HEAD, however it is asked for");

    let site = &client.shop.site;
    let key = authorization(&site.key(&site.iso("Heads")));
    for path in ["/v1/merchants", "/v1/stores", "/v1/tpns", "/v1/events", "/v1/keys", "/v1/audit"] {
        check(&client, path, &key);
    }
    for path in OTHERS {
        check(&client, path, &admin);
    }
}

/// Compares HEAD with GET, and returns whether it stated a length.
fn check(client: &ShopClient, path: &str, authorization: &str) -> bool {
    let get = || {
        let headers = [("Authorization", authorization)];
        http::get(&client.running.url, path, &headers).unwrap()
    };
    let before = get();
    let mut connection = Connection::open(&client.running.url).unwrap();
    let head = Request::new("HEAD", path).header("Authorization", authorization);
    let head = connection.send(&head).unwrap();
    assert_eq!(head.status, before.status, "{path}");
    assert!(head.body.is_empty(), "{path}");
    let Some(length) = head.header("content-length") else { return false };
    // What counts its own requests may grow by a digit meanwhile.
    let after = get();
    let lengths = [before.body.len(), after.body.len()].map(|bytes| bytes.to_string());
    assert!(lengths.contains(&length), "{path}: HEAD states {length}, GET has {lengths:?}");
    true
}
