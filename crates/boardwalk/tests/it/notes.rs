//! Notes to the shop's people, over HTTP: what they do with them, and what the system tells.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::http::{self, Request, Response};

use crate::rest_site::RestSite;
use crate::support::{Running, Site, basic, eventually, text};

const PATIENCE: Duration = Duration::from_mins(1);
const NOTES: &str = "/wp-json/wc-analytics/admin/notes";

/// A server, and its administrator.
struct Client {
    running: Running,
    authorization: String,
}

impl Client {
    fn send(&self, method: &str, path: &str, body: &Value) -> Response {
        let request = Request::new(method, path)
            .header("Authorization", &self.authorization)
            .header("Content-Type", "application/json")
            .body(body.to_string());
        http::send(&self.running.url, &request).unwrap()
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.send(method, path, body);
        assert!(answer.status < 300, "{method} {path}: {answer:?}");
        answer.json().unwrap()
    }

    fn get(&self, path: &str) -> Value {
        let answer = http::get(&self.running.url, path, &[("Authorization", &self.authorization)]);
        answer.unwrap().json().unwrap()
    }

    /// The notes that can be seen, by name.
    fn names(&self) -> Vec<String> {
        let listed = self.get(&format!("{NOTES}?orderby=note_id&order=asc&per_page=100"));
        listed.as_array().unwrap().iter().map(|note| text(note, "name")).collect()
    }

    /// Where the first action of the note of a name leads.
    fn action_of(&self, name: &str) -> Option<String> {
        let listed = self.get(&format!("{NOTES}?per_page=100"));
        let note = listed.as_array().unwrap().iter().find(|note| note["name"] == *name)?;
        note["actions"][0]["url"].as_str().map(str::to_owned)
    }

    fn waits_for(&self, name: &str) {
        eventually(name, PATIENCE, || self.names().iter().any(|known| known == name));
    }
}

on_both_engines!(people_deal_with_notes);

fn people_deal_with_notes(site: Site) {
    let shop = RestSite::import(site.set("site.promo_notes", r#"["spring-sale"]"#));
    let running = shop.site.serve();
    let client = Client { running, authorization: basic(&shop.identities["admin"]) };
    let note = |id: i64| format!("{NOTES}/{id}");

    let read = client.ask("PUT", &note(2), &json!({ "is_read": true }));
    assert_eq!(read["is_read"], json!(true));
    assert_eq!(client.get(&format!("{NOTES}?is_read=1"))[0]["id"], json!(2));
    let wrong = client.send("PUT", &note(2), &json!({ "status": "bogus" }));
    assert_eq!(
        (wrong.status, &wrong.json().unwrap()["code"]),
        (400, &json!("admin_note_invalid_data"))
    );

    let acted = client.ask("POST", &format!("{NOTES}/3/action/3"), &json!({}));
    assert_eq!((&acted["status"], &acted["is_read"]), (&json!("actioned"), &json!(true)));
    let unknown = client.send("POST", &format!("{NOTES}/4/action/3"), &json!({}));
    assert_eq!(unknown.json().unwrap()["code"], json!("woocommerce_note_action_invalid_id"));
    assert_eq!(client.get(&note(4))["is_read"], json!(false), "what is refused leaves no trace");

    let deleted = client.ask("DELETE", &format!("{NOTES}/delete/3"), &json!({}));
    assert_eq!(deleted["is_deleted"], json!(true));
    assert!(!client.names().contains(&String::from("sample-note-warning")));
    assert_eq!(client.get(&note(3))["is_deleted"], json!(true), "it can still be asked for");
    let body = json!({ "noteIds": [3, 999], "is_deleted": 0 });
    let back = client.ask("PUT", &format!("{NOTES}/update"), &body);
    assert_eq!(back.as_array().unwrap().len(), 1);
    assert!(client.names().contains(&String::from("sample-note-warning")));
    let wrong = client.send("PUT", &format!("{NOTES}/update"), &json!({ "noteIds": "3" }));
    assert_eq!(
        (wrong.status, &wrong.json().unwrap()["code"]),
        (422, &json!("woocommerce_note_invalid_ids"))
    );

    let all = client.send("DELETE", &format!("{NOTES}/delete/all?status=unactioned"), &json!({}));
    assert_eq!(
        all.header("x-wp-total").as_deref(),
        Some("1"),
        "the warning that was acted on is left"
    );
    let all: Value = all.json().unwrap();
    let ids: Vec<&Value> = all.as_array().unwrap().iter().map(|note| &note["id"]).collect();
    assert_eq!(ids, [&json!(2), &json!(6), &json!(1)]);

    let promo = |name: &str| {
        let path = format!("{NOTES}/experimental-activate-promo/{name}");
        client.send("POST", &path, &json!({})).status
    };
    assert_eq!((promo("winter-sale"), promo("spring-sale"), promo("spring-sale")), (422, 200, 200));
    let promoted = client.names().iter().filter(|name| *name == "spring-sale").count();
    assert_eq!(promoted, 1);

    // A note that was put off wakes when its time has come.
    let body = json!({ "status": "snoozed", "date_reminder": 86_400 });
    assert_eq!(client.ask("PUT", &note(4), &body)["status"], json!("snoozed"));
    eventually("the note wakes", Duration::from_mins(2), || {
        let note = client.get(&note(4));
        note["status"] == json!("unactioned") && note["date_reminder"].is_null()
    });
}

on_both_engines!(the_system_tells_what_happened);

fn the_system_tells_what_happened(site: Site) {
    site.json(&[
        "user",
        "create",
        "--login",
        "boss",
        "--email",
        "boss@shop.example",
        "--role",
        "administrator",
    ]);
    let made = site.json(&["user", "app-password", "--login", "boss", "--name", "test"]);
    let authorization = basic(&format!("boss:{}", text(&made, "password")));
    let client = Client { running: site.serve(), authorization };
    assert_eq!(client.names(), Vec::<String>::new());
    let product = json!({
        "name": "Deck chair", "regular_price": "20", "manage_stock": true, "stock_quantity": 5,
    });
    let product = client.ask("POST", "/wp-json/wc/v3/products", &product);
    let order = json!({
        "status": "processing",
        "line_items": [{ "product_id": product["id"], "quantity": 3 }],
    });
    let order = client.ask("POST", "/wp-json/wc/v3/orders", &order);
    client.waits_for("first-order");
    let leads_to = client.action_of("first-order").expect("something to do");
    assert!(leads_to.ends_with(&format!("/portal/store/orders/{}", order["id"])), "{leads_to}");
    let low = format!("low-stock-{}", product["id"]);
    client.waits_for(&low);
    client.ask("POST", "/wp-json/wc/v3/orders", &json!({ "status": "pending" }));
    // Enough of it is there again, so the note has nothing to tell any more.
    let path = format!("/wp-json/wc/v3/products/{}", product["id"]);
    client.ask("PUT", &path, &json!({ "stock_quantity": 50 }));
    eventually("the note on the stock goes", PATIENCE, || !client.names().contains(&low));
    client.ask("PUT", &path, &json!({ "stock_quantity": 1 }));
    client.waits_for(&low);
    assert_eq!(client.names(), [String::from("first-order"), low], "the second order is no news");
    an_export_can_be_downloaded_from_its_note(&client);
}

fn an_export_can_be_downloaded_from_its_note(client: &Client) {
    let wanted = json!({ "report_args": { "after": "2020-01-01T00:00:00" } });
    client.ask("POST", "/wp-json/wc-analytics/reports/orders/export", &wanted);
    client.waits_for("report-export-ready");
    let address = client.action_of("report-export-ready").expect("a link to the file");
    let path = address.strip_prefix(&client.running.url).expect("an address of this site");
    let file = http::get(&client.running.url, path, &[]).unwrap();
    assert_eq!(file.status, 200, "{address}");
    assert!(file.text().contains("Order #"), "{}", file.text());
}
