//! Keys of connected stores: one that was revoked at the store, one for reports that is replaced, and
//! data keys that are replaced here while copies are open.

use std::time::Duration;

use serde_json::{Value, json};

use crate::connected_stores::{Connection, Hub, assert_same, shop};
use crate::support::{Site, eventually, text};

const PATIENCE: Duration = Duration::from_mins(2);

#[test]
fn a_key_that_was_revoked_is_told_and_a_new_one_resumes() {
    let shop = shop();
    let hub = Hub::open(Site::sqlite());
    let connection = hub.connect(&shop, &shop.running.url);
    hub.wait_for(&connection, "live");
    let of_shop = |words: &[&str]| shop.shop.site.json(&[&["user"], words].concat());
    let credentials = of_shop(&["credentials", "--login", "admin"]);
    let keys = credentials["credentials"].as_array().unwrap().iter();
    for key in keys.filter(|one| one["kind"] == "consumer_key") {
        of_shop(&["revoke", "--login", "admin", &text(key, "id")]);
    }
    let failing = hub.wait_for(&connection, "failing");
    assert_eq!(failing["errorCode"], "key_rejected", "{failing}");
    assert!(text(&failing, "errorMessage").contains("Create a new key"), "{failing}");
    shop.ask("POST", "/wc/v3/coupons", &json!({ "code": "meanwhile", "amount": "3" }));
    // What was copied can be read.
    assert_eq!(hub.look(&connection, "/wc/v3/orders?per_page=1").status, 200);
    let made = of_shop(&["consumer-key", "--login", "admin", "--permissions", "read_write"]);
    let key = json!({ "consumerKey": made["consumer_key"],
        "consumerSecret": made["consumer_secret"] });
    hub.change(&connection, &key);
    let live = hub.wait_for(&connection, "live");
    assert_eq!(live["errorCode"], Value::Null, "{live}");
    assert_same(&shop, &hub, &connection);
}

/// The copy stays open all the time: a report is read from it before, meanwhile and afterwards.
#[test]
fn data_keys_are_replaced_while_copies_are_open() {
    let shop = shop();
    let hub = Hub::open(Site::sqlite());
    let connection = hub.connect(&shop, &shop.running.url);
    hub.wait_for(&connection, "live");
    let report = "/wc-analytics/reports/orders/stats?interval=year";
    assert_eq!(hub.look(&connection, report).status, 200);
    hub.site.json(&["encryption", "rotate-data-keys"]);
    let rotation = || {
        let status = hub.site.json(&["--environment", "sandbox", "encryption", "status"]);
        status["environments"][0]["rotation"].clone()
    };
    eventually("data keys are replaced", PATIENCE, || {
        assert_eq!(hub.look(&connection, report).status, 200);
        rotation()["state"] == "done"
    });
    assert_eq!(rotation()["unreadable"], 0);
    shop.ask("POST", "/wc/v3/coupons", &json!({ "code": "rotated", "amount": "3" }));
    assert_same(&shop, &hub, &connection);
    let hub = hub.restarted();
    assert_eq!(hub.look(&connection, report).status, 200);
    let state = hub.state(&connection);
    assert_eq!(state["errorCode"], Value::Null, "{state}");
}

#[test]
fn a_key_for_reports_is_replaced_and_the_old_one_refused() {
    let shop = shop();
    let hub = Hub::open(Site::sqlite());
    let old = hub.connect(&shop, &shop.running.url);
    hub.wait_for(&old, "live");
    let orders = "/wc/v3/orders?per_page=1";
    assert_eq!(hub.look(&old, orders).status, 200);
    let new = Connection::of(&hub.change(&old, &json!({ "replaceReportsKey": true })));
    // The copy is open all the time.
    assert_eq!(hub.look(&new, orders).status, 200);
    assert_eq!(hub.look(&old, orders).status, 401);
    // Shown once.
    assert_eq!(hub.state(&new)["reportsKey"], Value::Null);
    let hub = hub.restarted();
    assert_eq!(hub.look(&new, orders).status, 200);
    assert_eq!(hub.look(&old, orders).status, 401);
}
