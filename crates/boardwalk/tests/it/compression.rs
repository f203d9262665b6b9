//! Answers are sent in fewer bytes to clients that can unpack them, and only there.

use std::io::Read as _;

use flate2::read::GzDecoder;
use testkit::http::{self, Connection, Request, Response};

use crate::shop_client::ShopClient;
use crate::support::{Site, basic};

const LIST: &str = "/wp-json/wc/v3/orders?per_page=20";

fn ask(client: &ShopClient, method: &str, path: &str, codings: &str) -> Response {
    let mut connection = Connection::open(&client.running.url).unwrap();
    let mut request = Request::new(method, path)
        .header("Authorization", &basic(&client.shop.identities["admin"]))
        .header("Accept", "text/html, */*");
    if !codings.is_empty() {
        request = request.header("Accept-Encoding", codings);
    }
    connection.send(&request).unwrap()
}

#[test]
fn answers_are_packed_for_who_can_unpack_them() {
    let client = ShopClient::open(Site::sqlite());
    let plain = ask(&client, "GET", LIST, "");
    assert_eq!((plain.status, plain.header("content-encoding")), (200, None));
    for (codings, expected) in [
        ("gzip", Some("gzip")),
        ("br", Some("br")),
        ("zstd", Some("zstd")),
        ("gzip;q=0.1, br;q=0.9", Some("br")),
        ("gzip;q=0", None),
        ("identity", None),
    ] {
        let packed = ask(&client, "GET", LIST, codings);
        let coding = packed.header("content-encoding");
        assert_eq!(coding.as_deref(), expected, "{codings}");
        let is_shorter = packed.body.len() * 3 < plain.body.len();
        assert_eq!(is_shorter, expected.is_some(), "{codings}: {} bytes", packed.body.len());
        let vary = packed.header("vary").unwrap_or_default().to_ascii_lowercase();
        assert!(vary.contains("accept-encoding"), "{codings}: {vary}");
    }
    let mut text = String::new();
    let packed = ask(&client, "GET", LIST, "gzip");
    GzDecoder::new(packed.body.as_slice()).read_to_string(&mut text).unwrap();
    assert_eq!(text, plain.text());

    // Pages and the other interface gain as well; what is short does not.
    for path in ["/", "/docs/", "/v1/errors", "/wp-json/"] {
        assert!(ask(&client, "GET", path, "gzip").header("content-encoding").is_some(), "{path}");
    }
    let short = ask(&client, "GET", "/wp-json/wc/v3/data/currencies/usd", "gzip");
    assert_eq!(short.header("content-encoding"), None);
}

#[test]
fn a_secret_beside_what_was_sent_is_not_packed() {
    let client = ShopClient::open(Site::sqlite());
    let target = "a".repeat(2_000);
    for path in [
        format!("/wp-login.php?redirect_to=/{target}"),
        format!("/login?redirect_to=/{target}"),
        format!(
            "/wc-auth/v1/login/?app_name={target}&user_id=1&return_url=https://a.example\
             &callback_url=https://a.example&scope=read"
        ),
    ] {
        let page = ask(&client, "GET", &path, "gzip, br, zstd");
        assert_eq!(page.status, 200, "{path}");
        assert!(page.text().contains(&target[..100]), "{path}");
        assert_eq!(page.header("content-encoding"), None, "{path}");
    }
}

#[test]
fn head_states_no_length_that_get_does_not_have() {
    let client = ShopClient::open(Site::sqlite());
    for path in ["/wp-json/wp/v2/users/me", "/wp-json/wc/v3/data/countries", "/", "/v1/errors"] {
        let (get, head) = (ask(&client, "GET", path, "gzip"), ask(&client, "HEAD", path, "gzip"));
        assert_eq!(head.status, get.status, "{path}");
        if let Some(length) = head.header("content-length") {
            assert_eq!(length, get.body.len().to_string(), "{path}");
        }
    }
    let plain = http::get(&client.running.url, "/", &[]).unwrap();
    let head = ask(&client, "HEAD", "/", "");
    assert_eq!(head.header("content-length"), Some(plain.body.len().to_string()));
}
