//! Who holds a gateway's secret can say that an order is paid: nobody is shown it again, and nothing
//! that it did not sign is believed.

use data_encoding::BASE64;
use serde_json::{Value, json};
use testkit::http::{Connection, Request, Response};

use crate::shop_client::ShopClient;
use crate::support::{Site, basic};

const GATEWAYS: &str = "/boardwalk/v1/payment-gateways";
const SECRET: &str = "whsec_c2VjcmV0IG9mIGJvdGggc2lkZXM=";

fn client() -> ShopClient {
    let client = ShopClient::open(Site::sqlite());
    let gateway = json!({
        "id": "quiet", "name": "Quiet", "title": "Card", "url": "https://pay.example/",
        "secret": SECRET, "enabled": true,
    });
    let made = client.send("POST", GATEWAYS, &gateway);
    assert_eq!(made.status, 201, "{}", made.text());
    assert!(!made.text().contains(SECRET), "a secret that is known is not repeated");
    client
}

#[test]
fn nobody_reads_the_secret_again() {
    let client = client();
    let path = "/wp-json/wc-admin/options?options=boardwalk_hosted_gateway_secrets";
    for who in ["admin", "manager", "key:read"] {
        let pair = client.shop.identities[who].clone();
        let request = Request::new("GET", path)
            .header("Authorization", &basic(&pair))
            .header("X-Forwarded-Proto", "https");
        let answer = Connection::open(&client.running.url).unwrap().send(&request).unwrap();
        assert!(!answer.text().contains("whsec_"), "{who}: {}", answer.text());
    }
}

/// Signed by the secret, sent with this media type and query string.
fn report(client: &ShopClient, (media_type, query): (&str, &str), body: &str) -> Response {
    let key = BASE64.decode(SECRET.trim_start_matches("whsec_").as_bytes()).unwrap();
    let now = types::Clock::System.now().as_micros().div_euclid(1_000_000);
    let time = now.to_string();
    let signed = format!("msg_1.{time}.{body}");
    let mac = frame::signing::hmac_sha256(&key, signed.as_bytes()).unwrap();
    let path = format!("/wp-json/boardwalk/v1/payments/hosted-quiet{query}");
    let request = Request::new("POST", &path)
        .header("Content-Type", media_type)
        .header("webhook-id", "msg_1")
        .header("webhook-timestamp", &time)
        .header("webhook-signature", &format!("v1,{}", BASE64.encode(&mac)))
        .body(body.to_owned());
    Connection::open(&client.running.url).unwrap().send(&request).unwrap()
}

#[test]
fn only_what_is_signed_is_believed() {
    let client = client();
    let query = "?type=captured&payment=pay_x&amount=10&currency=USD&occurred=2026-11-16T10:00:00Z";
    let fine = json!({
        "type": "captured", "payment": "pay_x", "amount": "10", "currency": "USD",
        "occurred": "2026-11-16T10:00:00Z",
    });
    let code = |answer: &Response| answer.json().unwrap_or(Value::Null)["code"].clone();
    let plain = report(&client, ("application/json", ""), &fine.to_string());
    assert_eq!(code(&plain), "payment_not_found", "the signature is right: {}", plain.text());
    for (how, body) in [
        (("application/json", query), "{}"),
        (("text/plain", query), "hello"),
        (("application/json", "?amount=10"), &*fine.to_string()),
    ] {
        let answer = report(&client, how, body);
        assert_eq!(answer.status, 400, "{how:?}: {}", answer.text());
        assert_eq!(code(&answer), "payment_message_invalid", "{how:?}");
    }
}

#[test]
fn a_new_gateway_does_not_replace_another() {
    let client = client();
    let other = json!({ "id": "quiet", "url": "https://thief.example/", "only_new": true });
    let refused = client.send("POST", GATEWAYS, &other);
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert_eq!(client.get(GATEWAYS)[0]["url"], "https://pay.example/");
}
