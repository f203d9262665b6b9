//! A connected store is checked before it is copied, and followed by alerts when it is unlike
//! itself.

use std::time::Duration;

use onboarding::connections::calendar::{day_of, day_text};
use onboarding::rows::connection::{self, ConnectionRow};
use onboarding::rows::portfolio::{self, DayRow};
use serde_json::{Value, json};

use crate::connected_stores::{Hub, shop};
use crate::shop_client::ShopClient;
use crate::support::{Site, eventually, text};

const PATIENCE: Duration = Duration::from_mins(2);

/// Connects with a key of the shop, and has the copy wait.
fn checked(hub: &Hub, shop: &ShopClient, key: &str) -> Value {
    let (key, secret) = shop.shop.identities[key].split_once(':').unwrap();
    let url = &shop.running.url;
    let body = json!({
        "url": url, "consumerKey": key, "consumerSecret": secret, "review": true,
    });
    let id = text(&hub.ask("POST", "/v1/connections", &body), "connectionId");
    let path = format!("/v1/connections/{id}");
    let state = || hub.ask("GET", &path, &Value::Null);
    eventually("the store is checked", PATIENCE, || state()["status"] == "checked");
    state()
}

fn result<'c>(state: &'c Value, check: &str) -> (&'c str, &'c str) {
    let found = state["checks"].as_array().unwrap().iter().find(|one| one["check"] == check);
    let found = found.unwrap_or_else(|| panic!("{check} in {state}"));
    (found["result"].as_str().unwrap(), found["message"].as_str().unwrap())
}

#[test]
fn a_store_is_checked_before_it_is_copied() {
    let shop = shop();
    let hub = Hub::open(Site::sqlite());
    let state = checked(&hub, &shop, "key:read");
    assert_eq!(result(&state, "tls").0, "warning", "this test has no certificate");
    assert_eq!(result(&state, "version").0, "passed");
    assert_eq!(result(&state, "clock").0, "passed");
    assert_eq!(result(&state, "read").0, "passed");
    assert_eq!(result(&state, "webhooks").0, "warning", "the key only reads");
    let orders = state["counts"]["ordersTotal"].as_i64().unwrap();
    assert!(orders > 0 && result(&state, "size").1.contains(&format!("{orders} orders")));
    assert_eq!(state["counts"].get("orders"), None, "nothing is copied yet: {state}");

    let state = checked(&hub, &shop, "key:read_write");
    assert_eq!(result(&state, "webhooks").0, "passed");
    assert_eq!(shop.get("/wc/v3/webhooks"), json!([]), "nothing changed at the store");
    let path = format!("/v1/connections/{}", text(&state, "connectionId"));
    hub.ask("PATCH", &path, &json!({ "status": "active" }));
    let state = || hub.ask("GET", &path, &Value::Null);
    eventually("the store is copied", PATIENCE, || state()["status"] == "live");
    let live = state();
    assert_eq!(live["counts"]["orders"].as_i64(), Some(orders), "{live}");
    assert!(live["country"].as_str().is_some_and(|code| code.len() == 2), "{live}");
}

/// Puts days in the place of those of the store while nobody works on it, and has it looked at.
fn pretend(hub: &Hub, id: &str, days: Vec<DayRow>) {
    let path = format!("/v1/connections/{id}");
    hub.ask("PATCH", &path, &json!({ "status": "paused" }));
    let id = id.to_owned();
    let write = move |conn: &mut dyn db::Conn| {
        let row = connection::find(conn, &id)?.unwrap();
        assert!(portfolio::put_days(conn, &row, &days)?);
        let mut cursor: Value = serde_json::from_str(&row.cursor).unwrap();
        cursor["alerts_seen"] = Value::Null;
        connection::update(conn, &ConnectionRow { cursor: cursor.to_string(), ..row })
    };
    hub.site.store().write_blocking(write).unwrap();
    hub.ask("PATCH", &path, &json!({ "status": "active" }));
}

#[test]
fn a_store_that_stops_selling_raises_one_alert_until_it_sells_again() {
    let shop = shop();
    let hub = Hub::open(Site::sqlite());
    let connection = hub.connect(&shop, &shop.running.url);
    hub.wait_for(&connection, "live");
    let currency = shop.get("/wc/v3/settings/general/woocommerce_currency")["value"].clone();
    let currency = currency.as_str().unwrap().to_owned();
    eventually("the days are known", PATIENCE, || {
        let path = "/v1/portfolio?from=2000-01-01&to=2100-01-01";
        hub.ask("GET", path, &Value::Null)["data"] != json!([])
    });
    let day = |number: i64| DayRow {
        day: day_text(number),
        currency: currency.clone(),
        orders: 5,
        gross: 500_000,
        net: 500_000,
        ..DayRow::default()
    };
    let today = day_of(types::Clock::System.now());
    let silent: Vec<DayRow> = (today - 60..today - 6).map(day).collect();
    pretend(&hub, &connection.id, silent.clone());
    let alerts = |status: &str| {
        let path = format!("/v1/portfolio/alerts?status={status}&connectionId={}", connection.id);
        hub.ask("GET", &path, &Value::Null)["data"].as_array().unwrap().clone()
    };
    eventually("the alert is raised", PATIENCE, || alerts("open").len() == 1);
    assert_eq!(alerts("open")[0]["kind"], "no_orders");
    assert_eq!(alerts("open")[0]["details"]["lastOrderDay"], json!(day_text(today - 7)));
    // It is looked at again, and goes on.
    pretend(&hub, &connection.id, silent.clone());
    hub.wait_for(&connection, "live");

    let sells = [silent, vec![day(today - 1)]].concat();
    pretend(&hub, &connection.id, sells);
    eventually("the alert has ended", PATIENCE, || alerts("ended").len() == 1);
    assert_eq!(alerts("open"), Vec::<Value>::new());
    let kinds = || {
        let events = hub.ask("GET", "/v1/events?types=connection.*", &Value::Null);
        let events = events["data"].as_array().unwrap().clone();
        events.iter().map(|event| event["type"].clone()).collect::<Vec<_>>()
    };
    let expected = [json!("connection.alert_raised"), json!("connection.alert_ended")];
    eventually("the events are numbered", PATIENCE, || kinds().len() == 2);
    assert_eq!(kinds(), expected);
}
