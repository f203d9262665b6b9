//! Pages of products as visitors and other sites see them: the shop keeps the product, and the
//! site's content shows it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use contract::rest::Verb;
use frame::{Client, Payload, Request};
use serde_json::{Value, json};

use super::facts::Recorded;

const HOST: &str = "shop.example";

/// A request of a stranger; the same path is asked for as a page and as a REST path.
fn request(path: &str, query: &str) -> Request {
    Request {
        method: "GET".to_owned(),
        path: path.to_owned(),
        url_path: path.to_owned(),
        query_text: query.to_owned(),
        query: Request::decode_query(query),
        headers: Arc::default(),
        body: Vec::new(),
        upload: None,
        secure: false,
        encrypted_here: false,
        host: HOST.to_owned(),
        client: Client {
            address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)),
            throttled: true,
            local: false,
        },
    }
}

#[test]
fn a_product_has_a_page_that_can_be_embedded() {
    let shop = Recorded::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let call = |verb: Verb, path: String, body: Value| {
        let (site, now) = (Arc::clone(&shop.site), shop.site.clock().now());
        let done = shop.store().write_blocking(move |conn| {
            let admin = site_rows::user::get(conn, 1)?.unwrap();
            site.done_by(conn, admin, (verb, &path), body.clone(), now)
        });
        // What was answered a moment ago is old, as after any request that changes something.
        shop.site.note_write();
        done.unwrap()
    };
    let page = |path: &str| {
        let answer = runtime.block_on(content::web::page(&shop.site, request(path, "")))?;
        (answer.status == 200).then_some(answer.body)
    };
    let embed = |path: &str| {
        let query = format!("url=http://{HOST}{path}");
        let answer = runtime.block_on(shop.site.answer(request("/oembed/1.0/embed", &query)));
        let json: Value = match &answer.payload {
            Payload::Bytes(bytes) => serde_json::from_slice(bytes).unwrap(),
            Payload::Shared(bytes) => serde_json::from_slice(bytes).unwrap(),
            _ => Value::Null,
        };
        (answer.status, json)
    };
    let body = json!({ "name": "Fish & <b>chips</b>", "slug": "fish", "regular_price": "3",
                       "description": "With salt.<script>x()</script>" });
    let made = call(Verb::Post, String::from("/wc/v3/products"), body);
    let (status, found) = embed("/product/fish/");
    assert_eq!((status, &found["title"]), (200, &json!("Fish & chips")), "{found}");
    assert_eq!(embed(&format!("/%3Fp%3D{}", made["id"])).0, 200);
    for path in ["/product/", "/product/none/", "/product/fish/more/", "/fish/"] {
        let (status, refused) = embed(path);
        assert_eq!((status, &refused["code"]), (404, &json!("oembed_invalid_url")), "{path}");
    }
    let shown = page("/product/fish/").unwrap();
    assert!(shown.contains("<p>With salt.") && !shown.contains("x()"), "{shown}");
    assert!(shown.contains("3.00</bdi>") && shown.contains("Fish &#38; chips"), "{shown}");
    assert!(page("/product/fish/embed/").unwrap().contains("/product/fish/"));
    assert_eq!(page("/product/none/"), None);
    let path = format!("/wc/v3/products/{}", made["id"]);
    call(Verb::Put, path, json!({ "status": "private" }));
    assert_eq!((embed("/product/fish/").0, page("/product/fish/")), (404, None));
}
