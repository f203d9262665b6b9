//! A connected store whose clock is off by an hour, and then set back by two: it is asked by its own
//! clock, and nothing is missed. The store runs with a library in front of the system's clock; see
//! `other_clock.c`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::connected_stores::{Hub, assert_same};
use crate::rest_site::RestSite;
use crate::shop_client::ShopClient;
use crate::store_proxy::Proxy;
use crate::support::{Site, eventually};

const PATIENCE: Duration = Duration::from_mins(1);

/// Compiles the library. Building SQLite needs a C compiler as well.
fn library(folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/other_clock.c");
    let library = folder.join("other_clock.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]);
    let status = compiler.arg(&library).arg(source).arg("-ldl").status();
    assert!(status.expect("a C compiler is there").success());
    library
}

#[test]
fn a_store_whose_clock_is_off_is_followed_by_its_own() {
    let folder = testkit::temp_dir().unwrap();
    let library = library(folder.path());
    let imported = RestSite::import(Site::sqlite());
    let off = |shop: RestSite, seconds: &str| RestSite {
        site: shop
            .site
            .with_variable("LD_PRELOAD", library.to_str().unwrap())
            .with_variable("CLOCK_OFF", seconds),
        ..shop
    };
    let shop = ShopClient::of(off(imported, "3600"));
    let proxy = Proxy::start(&shop.running.url);
    let hub = Hub::open(Site::sqlite());
    // A key that only reads: there are no webhooks.
    let connection = hub.connect_by(&shop.shop.identities["key:read"], &proxy.url);
    hub.wait_for(&connection, "live");
    let made = shop.ask("POST", "/wc/v3/coupons", &json!({ "code": "ahead", "amount": "3" }));
    let modified = made["date_modified_gmt"].as_str().unwrap();
    assert!(modified > &types::Clock::System.now().to_string()[..19], "the clock is ahead");
    let here = |code: &str| {
        let path = format!("/wc/v3/coupons?code={code}");
        hub.look(&connection, &path).json().unwrap() != Value::Array(Vec::new())
    };
    eventually("it is found by asking", PATIENCE, || here("ahead"));

    let shop = shop.kill_and(|shop| off(shop, "-3600"));
    proxy.aim(&shop.running.url);
    shop.ask("POST", "/wc/v3/coupons", &json!({ "code": "behind", "amount": "4" }));
    eventually("it is found by asking", PATIENCE, || here("behind"));
    let order = &shop.get("/wc/v3/orders?per_page=1")[0]["id"];
    shop.ask("PUT", &format!("/wc/v3/orders/{order}"), &json!({ "customer_note": "behind" }));
    assert_same(&shop, &hub, &connection);
}
