//! Payments over HTTP: the documented report of a gateway, sent with curl as the guide has it, and
//! orders that terminals take the money for.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use admin::package::{Files, pack};
use serde_json::{Value, json};
use testkit::http::{self, Request, Response};

use crate::shop_client::ShopClient;
use crate::support::{Site, authorization, body, eventually, text};

/// The example of the guide that reports a payment.
fn documented_report() -> String {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let page = fs::read_to_string(root.join("docs/payments.md")).unwrap();
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let found = blocks.filter(|block| block.contains("webhook-signature"));
    found.last().expect("the guide shows how to report").to_owned()
}

/// An order that waits for its payment, with what else the body says.
fn waiting_order(client: &ShopClient, more: &Value) -> Value {
    let mut order = json!({
        "status": "pending",
        "billing": { "email": "ada@example.test", "first_name": "Ada" },
        "fee_lines": [{ "name": "Mooring", "total": "12.50", "tax_status": "none" }],
    });
    for (name, value) in more.as_object().unwrap() {
        order[name] = value.clone();
    }
    client.ask("POST", "/wc/v3/orders", &order)
}

#[test]
fn the_documented_report_pays_an_order() {
    let client = ShopClient::open(Site::sqlite());
    let gateway = json!({ "id": "docs", "sandbox": true, "enabled": true });
    let made = client.ask("POST", "/boardwalk/v1/payment-gateways", &gateway);
    let order = waiting_order(&client, &json!({}));
    let (id, total) = (order["id"].clone(), text(&order, "total"));
    let cart = http::get(&client.running.url, "/wp-json/wc/store/v1/cart", &[]).unwrap();
    let pay = json!({
        "key": order["order_key"], "billing_email": "ada@example.test", "billing_address": {},
        "payment_method": "hosted-docs",
    });
    let path = format!("/wp-json/wc/store/v1/checkout/{id}");
    let token = cart.header("Cart-Token").unwrap();
    let begun = http::post(&client.running.url, &path, &[("Cart-Token", &token)], &pay).unwrap();
    assert_eq!(begun.status, 200, "{}", begun.text());
    let result = begun.json().unwrap()["payment_result"].clone();
    let url = text(&result, "redirect_url");
    let payment = url.split("payment=").nth(1).expect("a payment").to_owned();
    let path = url.strip_prefix(&client.running.url).expect("a page of the shop");
    let page = http::get(&client.running.url, path, &[]).unwrap();
    assert_eq!(page.status, 200, "the gateway is asked for its page: {}", page.text());
    let callback = format!("{}/wp-json/boardwalk/v1/payments/hosted-docs", client.running.url);
    let output = Command::new("bash")
        .args(["-euc", &documented_report()])
        .envs([
            ("PAYMENT", payment.as_str()),
            ("AMOUNT", &total),
            ("SECRET", &text(&made, "secret")),
            ("CALLBACK", &callback),
        ])
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let answer: Value = serde_json::from_str(&printed).expect(&printed);
    assert_eq!(answer["state"], "captured", "{answer}");
    let paid = client.get(&format!("/wc/v3/orders/{id}"));
    assert!(paid["date_paid"].is_string(), "{paid}");
    assert!(matches!(paid["status"].as_str(), Some("processing" | "completed")), "{paid}");

    // The money goes back the same way, and a slow gateway reports it later.
    let refund = json!({ "amount": "2.50", "reason": "slow", "api_refund": true });
    client.ask("POST", &format!("/wc/v3/orders/{id}/refunds"), &refund);
    let is_paid_back = || {
        let notes = client.get(&format!("/wc/v3/orders/{id}/notes"));
        notes.as_array().unwrap().iter().any(|note| text(note, "note").contains("paid back"))
    };
    assert!(!is_paid_back(), "not yet");
    eventually("the gateway pays back", Duration::from_secs(30), is_paid_back);
}

#[test]
fn a_plugin_brings_a_gateway_once_it_is_set_up() {
    let client = ShopClient::open(Site::sqlite());
    let manifest = json!({
        "slug": "pier", "name": "Pier", "version": "1.0.0",
        "contributes": {
            "payment_gateways": [{
                "id": "pier", "title": "Card", "content": "Pay by card.",
                "hosted": { "url_setting": "address", "secret_setting": "secret" },
            }],
            "settings": [
                { "name": "address", "label": "Address", "type": "url" },
                { "name": "secret", "label": "Secret", "type": "secret" },
            ],
        },
    });
    let files: Files = [(String::from("plugin.json"), manifest.to_string().into())].into();
    let sent = client.upload("/boardwalk/v1/plugins", "pluginzip", &pack(&files, None).unwrap());
    assert_eq!(sent.json().unwrap()["slug"], "pier", "{}", sent.text());
    client.ask("POST", "/wc-admin/plugins/activate", &json!({ "plugins": "pier" }));
    let gateways = || client.get("/boardwalk/v1/payment-gateways");
    assert_eq!(gateways(), json!([]), "nobody said where it is");
    let configure = |values: Value| {
        let path = "/boardwalk/v1/plugins/pier/settings";
        client.ask("POST", path, &json!({ "values": values }))
    };
    let secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    configure(json!({ "address": "https://pay.example/one", "secret": secret }));
    let made = gateways()[0].clone();
    assert_eq!((&made["id"], &made["enabled"]), (&json!("hosted-pier"), &json!(true)), "{made}");
    let path = "/wc/v3/payment_gateways/hosted-pier";
    client.ask("PUT", path, &json!({ "title": "Card or phone" }));
    configure(json!({ "address": "https://pay.example/two" }));
    let kept = gateways()[0].clone();
    assert_eq!(kept["url"], "https://pay.example/two");
    assert_eq!(kept["title"], "Card or phone", "what people changed stays");
    client.ask("POST", "/boardwalk/v1/plugins/pier/deactivate", &json!({}));
    assert_eq!(gateways(), json!([]));
    assert_eq!(client.look(path).status, 404);
}

fn post(client: &ShopClient, path: &str, who: &str, body: &Value) -> Response {
    let request = Request::new("POST", path)
        .header("Authorization", who)
        .header("Content-Type", "application/json")
        .body(body.to_string());
    http::send(&client.running.url, &request).unwrap()
}

#[track_caller]
fn done(answer: &Response) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json().unwrap()
}

on_both_engines!(a_terminal_takes_the_money);

fn a_terminal_takes_the_money(site: Site) {
    let client = ShopClient::open(site);
    let key = client.shop.site.key(&client.shop.site.iso("Sellers"));
    let owner = authorization(&key);
    let data = done(&client.running.onboard(&key, &body("Terminal cafe")))["data"].clone();
    let tpn = text(&data, "tpn");
    let own = json!({ "merchant_id": data["merchantId"], "store_id": data["storeId"] });
    let order = waiting_order(&client, &own);
    let sales = format!("/v1/tpns/{tpn}/sales");
    let ask = |order: &Value| post(&client, &sales, &owner, &json!({ "orderId": order["id"] }));
    assert_eq!(ask(&order).status, 409, "there is no device");
    let code = done(&post(&client, &format!("/v1/tpns/{tpn}/pairing-code"), &owner, &json!({})));
    let code = text(&code, "code");
    let simulated = |action: &str, body: &Value| {
        post(&client, &format!("/v1/sandbox/devices/{code}/{action}"), &owner, body)
    };
    let paired = done(&simulated("pair", &json!({})));
    let device = format!("device-token {}", text(&paired, "deviceToken"));
    let strange = waiting_order(&client, &json!({}));
    assert_eq!(ask(&strange).status, 400, "it is no order of the store");
    let sale = done(&ask(&order));
    assert_eq!((&sale["status"], &sale["amount"]), (&json!("requested"), &json!("12.50")));
    assert_eq!(ask(&order).status, 409, "one request at a time");
    let headers = [("Authorization", device.as_str())];
    let shown = http::get(&client.running.url, "/v1/device/sale", &headers).unwrap();
    let shown = done(&shown)["sale"].clone();
    assert_eq!((&shown["saleId"], &shown["status"]), (&sale["saleId"], &json!("shown")));
    let path = format!("/v1/device/sales/{}/answer", text(&sale, "saleId"));
    let approval = json!({ "approved": true, "approvalCode": "A1B2" });
    let approved = done(&post(&client, &path, &device, &approval));
    assert_eq!(approved["status"], "approved");
    assert_eq!(done(&post(&client, &path, &device, &approval)), approved, "an answer counts once");
    let path = format!("/wc/v3/orders/{}", order["id"]);
    let paid = client.get(&path);
    assert!(paid["date_paid"].is_string(), "{paid}");
    assert_eq!(
        (&paid["payment_method"], &paid["transaction_id"]),
        (&json!("terminal"), &json!("A1B2"))
    );
    // A part goes back the same way; the rest is refused, and then cancelled.
    let back = format!("/v1/sales/{}/refund", text(&sale, "saleId"));
    assert_eq!(post(&client, &back, &owner, &json!({ "amount": "99" })).status, 400);
    done(&post(&client, &back, &owner, &json!({ "amount": "2.50" })));
    let answered = done(&simulated("answer", &json!({})));
    assert_eq!((&answered["kind"], &answered["status"]), (&json!("refund"), &json!("approved")));
    assert_eq!(client.get(&path)["refunds"][0]["total"], "-2.50");
    let rest = done(&post(&client, &back, &owner, &json!({})));
    assert_eq!(rest["amount"], "10.00");
    let refused = done(&simulated("answer", &json!({ "approved": false, "reason": "No card" })));
    assert_eq!((&refused["status"], &refused["reason"]), (&json!("declined"), &json!("No card")));
    let again = done(&post(&client, &back, &owner, &json!({})));
    let cancel = format!("/v1/sales/{}/cancel", text(&again, "saleId"));
    assert_eq!(done(&post(&client, &cancel, &owner, &json!({})))["status"], "cancelled");
    assert_eq!(simulated("answer", &json!({})).status, 404, "nothing is left to answer");
    assert_eq!(client.get(&path)["refunds"].as_array().unwrap().len(), 1);
    // Who does not answer in time, answers nothing.
    let other = waiting_order(&client, &own);
    let sale = done(&ask(&other));
    let hour = json!({ "advanceSeconds": 3_600 });
    done(&post(&client, "/v1/sandbox/clock", &owner, &hour));
    let path = format!("/v1/sales/{}", text(&sale, "saleId"));
    assert_eq!(done(&client.running.get(&path, &key))["status"], "expired");
    let stranger = client.shop.site.key(&client.shop.site.iso("Others"));
    assert_eq!(client.running.get(&path, &stranger).status, 404);
    let listed = done(&client.running.get(&sales, &key));
    assert_eq!(listed["data"].as_array().unwrap().len(), 5);
}

/// A shop with a terminal that has a device.
struct Till {
    client: ShopClient,
    owner: String,
    tpn: String,
    code: String,
    device: String,
    /// What makes an order one of the terminal's store.
    own: Value,
}

impl Till {
    fn open() -> Self {
        let client = ShopClient::open(Site::sqlite());
        let key = client.shop.site.key(&client.shop.site.iso("Sellers"));
        let data = done(&client.running.onboard(&key, &body("Terminal cafe")))["data"].clone();
        let own = json!({ "merchant_id": data["merchantId"], "store_id": data["storeId"] });
        let (owner, tpn) = (authorization(&key), text(&data, "tpn"));
        let (code, device) = (String::new(), String::new());
        let mut till = Self { client, owner, tpn, code, device, own };
        till.pair("pairing-code");
        till
    }

    /// Pairs a device with the code that the action makes.
    fn pair(&mut self, action: &str) {
        self.code = text(&self.act(action), "code");
        let paired = done(&self.simulate("pair"));
        self.device = format!("device-token {}", text(&paired, "deviceToken"));
    }

    fn post(&self, path: &str, body: &Value) -> Response {
        post(&self.client, path, &self.owner, body)
    }

    fn act(&self, action: &str) -> Value {
        done(&self.post(&format!("/v1/tpns/{}/{action}", self.tpn), &json!({})))
    }

    fn simulate(&self, action: &str) -> Response {
        self.post(&format!("/v1/sandbox/devices/{}/{action}", self.code), &json!({}))
    }

    /// An order, and the request to take the money for it.
    fn sale(&self) -> (Value, Value) {
        let order = waiting_order(&self.client, &self.own);
        let path = format!("/v1/tpns/{}/sales", self.tpn);
        let sale = done(&self.post(&path, &json!({ "orderId": order["id"] })));
        (order, sale)
    }

    /// What the device is to show.
    fn next(&self) -> Value {
        let headers = [("Authorization", self.device.as_str())];
        let next = http::get(&self.client.running.url, "/v1/device/sale", &headers).unwrap();
        done(&next)["sale"].clone()
    }

    fn answer(&self, sale: &Value, body: &Value) -> Response {
        let path = format!("/v1/device/sales/{}/answer", text(sale, "saleId"));
        post(&self.client, &path, &self.device, body)
    }

    fn delete(&self, order: &Value) {
        let path = format!("/wc/v3/orders/{}?force=true", order["id"]);
        self.client.ask("DELETE", &path, &json!({}));
    }
}

#[test]
fn a_terminal_does_not_pay_an_order_that_has_changed() {
    let till = Till::open();
    let changes: [fn(&Value) -> Value; 3] = [
        |_| json!({ "fee_lines": [{ "name": "Crane", "total": "7.50", "tax_status": "none" }] }),
        |order| json!({ "fee_lines": [{ "id": order["fee_lines"][0]["id"], "total": "0" }] }),
        |order| json!({ "currency": if order["currency"] == "EUR" { "USD" } else { "EUR" } }),
    ];
    for change in changes {
        let (order, sale) = till.sale();
        let path = format!("/wc/v3/orders/{}", order["id"]);
        let changed = till.client.ask("PUT", &path, &change(&order));
        let sum = |order: &Value| format!("{} {}", text(order, "total"), text(order, "currency"));
        assert_ne!(sum(&changed), sum(&order));
        let approval = json!({ "approved": true, "approvalCode": "A1B2" });
        assert_eq!(done(&till.answer(&sale, &approval))["status"], "approved");
        let held = till.client.get(&path);
        assert_eq!((&held["status"], &held["date_paid"]), (&json!("on-hold"), &json!(null)));
        assert_eq!(held["transaction_id"], "A1B2", "the money can be found");
        let notes = till.client.get(&format!("{path}/notes"));
        let told = format!("took {}, but the order is for {}", sum(&order), sum(&changed));
        let mut notes = notes.as_array().unwrap().iter().map(|note| text(note, "note"));
        assert!(notes.any(|note| note.contains(&told)), "{told}");
    }
}

#[test]
fn a_terminal_answers_for_an_order_that_was_deleted() {
    let till = Till::open();
    for (approved, status) in [(true, "approved"), (false, "declined")] {
        let (order, sale) = till.sale();
        till.delete(&order);
        let answered = done(&till.answer(&sale, &json!({ "approved": approved })));
        assert_eq!(answered["status"], status);
    }
    let (order, sale) = till.sale();
    done(&till.answer(&sale, &json!({ "approved": true })));
    let back = format!("/v1/sales/{}/refund", text(&sale, "saleId"));
    let refund = done(&till.post(&back, &json!({})));
    till.delete(&order);
    assert_eq!(done(&till.answer(&refund, &json!({ "approved": true })))["status"], "approved");
}

#[test]
fn a_device_can_repeat_its_answer() {
    let mut till = Till::open();
    let approval = json!({ "approved": true, "approvalCode": "A1B2" });
    let refusal = json!({ "approved": false, "reason": "No card" });
    let (order, sale) = till.sale();
    let approved = done(&till.answer(&sale, &approval));
    let path = format!("/wc/v3/orders/{}/notes", order["id"]);
    let notes = till.client.get(&path);
    assert_eq!(done(&till.answer(&sale, &approval)), approved);
    assert_eq!(till.client.get(&path), notes, "the order hears of it once");
    assert_eq!(till.answer(&sale, &refusal).status, 409);
    let other_code = json!({ "approved": true, "approvalCode": "C3D4" });
    assert_eq!(till.answer(&sale, &other_code).status, 409);
    let (_, other) = till.sale();
    let declined = done(&till.answer(&other, &refusal));
    done(&till.post("/v1/sandbox/clock", &json!({ "advanceSeconds": 3_600 })));
    assert_eq!(done(&till.answer(&other, &refusal)), declined, "the time for it is over");
    assert_eq!(till.answer(&other, &approval).status, 409);
    till.act("deactivate");
    till.pair("swap");
    assert_eq!(till.answer(&sale, &approval).status, 409, "another device said so");
}

#[test]
fn a_terminal_that_is_not_active_is_given_no_sale() {
    let till = Till::open();
    let (_, sale) = till.sale();
    till.act("deactivate");
    assert_eq!(till.next(), Value::Null);
    assert_eq!(till.simulate("answer").status, 404);
    till.act("activate");
    assert_eq!(till.next()["saleId"], sale["saleId"]);
    // What the device shows by now, it can answer.
    till.act("deactivate");
    assert_eq!(done(&till.answer(&sale, &json!({ "approved": true })))["status"], "approved");
}
