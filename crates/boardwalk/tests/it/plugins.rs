//! Plugins and themes over HTTP, on both engines: what they contribute comes and goes with them,
//! jobs outlive a killed server, and hostile archives leave nothing.

use std::time::Duration;

use admin::package::{Files, pack};
use serde_json::{Value, json};

use crate::shop_client::{ShopClient, each};
use crate::support::{Site, eventually};

const PATIENCE: Duration = Duration::from_mins(1);

on_both_engines!(plugins_come_and_go);

fn plugins_come_and_go(site: Site) {
    let client = ShopClient::open(site);
    contributions_follow_a_plugin(&client);
    channels_follow_their_settings(&client);
    suggestions_are_dismissed(&client);
    products_start_from_a_template(&client);
    let client = jobs_outlive_a_killed_server(client);
    packages_are_plugins_and_themes_of_the_site(&client);
    themes_change_the_pages(&client);
    a_plugin_comes_as_a_file_whole_or_not_at_all(&client);
}

fn contributions_follow_a_plugin(client: &ShopClient) {
    let names = |path: &str| client.get(path)["plugins"].clone();
    assert_eq!(names("/wc-admin/plugins/installed"), json!(["woocommerce"]));
    let both = json!({ "plugins": "ledger,does-not-exist" });
    let told = client.ask("POST", "/wc-admin/plugins/install", &both);
    assert_eq!(told["success"], json!(false));
    assert_eq!(told["data"]["installed"], json!(["ledger"]));
    assert_eq!(told["data"]["results"], json!({ "ledger": true }));
    assert_eq!(told["data"]["plugin_details"]["ledger"]["version"], json!("1.0.0"));
    assert!(told["errors"]["errors"]["does-not-exist"][0].is_string(), "{told}");
    assert_eq!(names("/wc-admin/plugins/installed"), json!(["woocommerce", "ledger"]));
    assert_eq!(names("/wc-admin/plugins/active"), json!(["woocommerce"]));
    let empty = client.send("POST", "/wc-admin/plugins/install", &json!({}));
    assert_eq!(empty.status, 404);
    assert_eq!(empty.json().unwrap()["code"], json!("woocommerce_rest_invalid_plugins"));

    let notes = || each(&client.get("/wc-analytics/admin/notes?per_page=100"), "name");
    let hooks = || each(&client.get("/wc/v3/webhooks?per_page=100"), "name");
    let gateways = || each(&client.get("/wc-admin/payment-gateway-suggestions"), "id");
    let page = || client.page("/plugins/ledger/start/").status;
    let welcome = json!("plugin-ledger-welcome");
    assert!(!gateways().contains(&json!("ledger-invoice")), "it is installed, and not active");
    let hooks_before = hooks();
    assert_eq!((notes().contains(&welcome), page()), (false, 404));

    let told = client.ask("POST", "/wc-admin/plugins/activate", &json!({ "plugins": ["ledger"] }));
    assert_eq!(told["data"]["activated"], json!(["ledger"]));
    assert!(notes().contains(&welcome) && gateways().contains(&json!("ledger-invoice")));
    assert_eq!(
        (page(), hooks()),
        (200, hooks_before.clone()),
        "nothing is sent without an address"
    );
    let settings = "/boardwalk/v1/plugins/ledger/settings";
    let wrong = client.send("POST", settings, &json!({ "values": { "address": "nowhere" } }));
    assert_eq!(wrong.status, 400);
    let address = json!({ "values": { "address": "https://books.example/in" } });
    let shown = client.ask("POST", settings, &address);
    assert_eq!(shown[0]["value"], json!("https://books.example/in"));
    assert_eq!(hooks().len(), hooks_before.len() + 2);
    let hush = "hush-hush-books";
    let shown = client.ask("POST", settings, &json!({ "values": { "secret": hush } }));
    assert_eq!(shown[1]["value"], json!("••••••••"), "nobody is shown a secret");
    assert_eq!(client.ask("POST", settings, &json!({ "values": { "secret": "••••••••" } })), shown);
    let store = client.shop.site.store();
    let kept = store.read_blocking(|conn| {
        admin::rows::package::get(conn, admin::rows::package::PackageKind::Plugin, "ledger")
    });
    let kept = kept.unwrap().unwrap().settings;
    assert!(kept.contains("sealed") && !kept.contains(hush), "{kept}");
    let templates = &client.get("/boardwalk/v1/plugins/contributions")["templates"];
    assert_eq!(templates[0]["plugin"], json!("ledger"));
    let site = &client.shop.site;
    let offers = site.json(&["template", "offers"])["offers"].clone();
    assert_eq!(each(&offers, "name"), [json!("ledger-counter")]);
    let iso = site.iso("Till");
    let create = |name: &str| {
        let words = ["template", "create", "--iso", &iso, "--name", name];
        let output = site.run(&[&words[..], &["--offer", "ledger-counter"]].concat());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert_eq!(create("Counter1"), "", "the template is adopted");

    client.ask("POST", "/boardwalk/v1/plugins/ledger/deactivate", &json!({}));
    assert_eq!((page(), hooks()), (404, hooks_before));
    assert!(create("Counter2").contains("no active plugin offers"));
    assert!(!notes().contains(&welcome) && !gateways().contains(&json!("ledger-invoice")));
    let deleted = client.ask("DELETE", "/boardwalk/v1/plugins/ledger", &json!({}));
    assert_eq!(deleted["deleted"], json!(true));
    assert_eq!(names("/wc-admin/plugins/installed"), json!(["woocommerce"]));
    let again = client.send("DELETE", "/boardwalk/v1/plugins/ledger", &json!({}));
    assert_eq!(again.status, 404);
}

fn channels_follow_their_settings(client: &ShopClient) {
    let recommended = || each(&client.get("/wc-admin/marketing/recommended"), "product");
    assert!(recommended().contains(&json!("letters")));
    let both = json!({ "plugins": ["letters"] });
    let told = client.ask("POST", "/wc-admin/onboarding/plugins/install-and-activate", &both);
    assert_eq!(told["install"]["installed"], json!(["letters"]));
    assert_eq!(told["activate"]["activated"], json!(["letters"]));
    assert!(!recommended().contains(&json!("letters")), "it is there already");
    let status = || {
        let listed = client.get("/wc-admin/marketing/overview/installed-plugins");
        (listed[0]["status"].clone(), client.get("/wc-admin/marketing/channels")[0].clone())
    };
    let task = || {
        let lists = client.get("/wc-admin/onboarding/tasks?ids=boardwalk");
        let tasks = lists[0]["tasks"].as_array().unwrap().clone();
        tasks.into_iter().find(|task| task["id"] == json!("letters-sender")).unwrap()
    };
    assert_eq!(task()["isComplete"], json!(false));
    let (overview, channel) = status();
    assert_eq!(overview, json!("activated"));
    assert_eq!(channel["is_setup_completed"], json!(false));
    let sender = json!({ "values": { "sender": "Pier Shop" } });
    client.ask("POST", "/boardwalk/v1/plugins/letters/settings", &sender);
    let (overview, channel) = status();
    assert_eq!(overview, json!("configured"));
    assert_eq!(task()["isComplete"], json!(true));
    assert_eq!(channel["is_setup_completed"], json!(true));
    let campaigns = client.look("/wc-admin/marketing/campaigns?per_page=2&page=2");
    assert_eq!(campaigns.header("X-WP-Total").as_deref(), Some("3"));
    assert_eq!(campaigns.header("X-WP-TotalPages").as_deref(), Some("2"));
    assert_eq!(each(&campaigns.json().unwrap(), "id"), [json!("review")]);
    assert_eq!(
        client.get("/wc-admin/marketing/campaign-types")[0]["channel"]["slug"],
        json!("letters")
    );
    assert_eq!(client.get("/wc-admin/marketing/knowledge-base")[0]["title"], json!("Letters"));
}

fn suggestions_are_dismissed(client: &ShopClient) {
    let ids = |query: &str| {
        each(&client.get(&format!("/wc-admin/payment-gateway-suggestions{query}")), "id")
    };
    assert!(ids("").contains(&json!("boardwalk_tsys")), "the shop is in the United States");
    let dismiss =
        || client.ask("POST", "/wc-admin/payment-gateway-suggestions/dismiss", &json!({}));
    assert_eq!((dismiss(), dismiss()), (json!(true), json!(false)));
    assert_eq!(ids(""), Vec::<Value>::new());
    assert!(ids("?force_default_suggestions=true").contains(&json!("boardwalk_tsys")));
    let partners = client.get("/wc-admin/shipping-partner-suggestions");
    assert_eq!(partners[0]["id"], json!("parcels"));
    let elsewhere = json!({ "value": "CA:ON" });
    client.ask("PUT", "/wc/v3/settings/general/woocommerce_default_country", &elsewhere);
    assert!(!ids("?force_default_suggestions=true").contains(&json!("boardwalk_tsys")));
}

fn products_start_from_a_template(client: &ShopClient) {
    let boxed = json!({ "template_name": "parcels-boxed" });
    let create = || {
        let path = "/wc-admin/onboarding/tasks/create_product_from_template";
        let answer = client.send("POST", path, &boxed);
        (answer.status, answer.json().unwrap()["id"].clone())
    };
    let kinds = || client.get("/wc-admin/onboarding/product-types");
    assert_eq!((create().0, kinds().get("parcels-boxed")), (400, None));
    let parcels = json!({ "plugins": ["parcels"] });
    client.ask("POST", "/wc-admin/onboarding/plugins/install-and-activate", &parcels);
    assert_eq!(kinds()["parcels-boxed"]["slug"], json!("parcels"));
    let (status, id) = create();
    assert_eq!(status, 200);
    let product = client.get(&format!("/wc/v3/products/{id}"));
    let shown = (&product["status"], &product["weight"], &product["dimensions"]["height"]);
    assert_eq!(shown, (&json!("auto-draft"), &json!("0.5"), &json!("12")), "{product}");
    client.ask("DELETE", "/boardwalk/v1/plugins/parcels", &json!({}));
    assert_eq!((create().0, kinds().get("parcels-boxed")), (400, None));
}

fn jobs_outlive_a_killed_server(client: ShopClient) -> ShopClient {
    let path = "/wc-admin/onboarding/plugins/install-and-activate-async";
    let wanted = json!({ "plugins": ["parcels", "nope"], "source": "test" });
    let started = client.ask("POST", path, &wanted);
    let job_id = started["job_id"].as_str().unwrap().to_owned();
    assert_eq!((job_id.len(), &started["status"]), (13, &json!("pending")));
    let only = json!({ "plugins": "ledger", "async": true });
    let install = client.ask("POST", "/wc-admin/plugins/install", &only);
    let install_id = install["data"]["job_id"].as_str().unwrap().to_owned();
    let client = client.kill();
    let status = format!("/wc-admin/onboarding/plugins/scheduled-installs/{job_id}");
    eventually("the job ends", PATIENCE, || client.get(&status)["status"] == json!("complete"));
    let told = client.get(&status)["plugins"].clone();
    assert_eq!(told["parcels"]["status"], json!("activated"), "{told}");
    assert_eq!(told["nope"]["status"], json!("failed"), "{told}");
    assert!(told["nope"]["errors"][0].is_string(), "{told}");
    let one = format!("/wc-admin/plugins/install/status/{install_id}");
    eventually("the install ends", PATIENCE, || client.get(&one)["status"] == json!("complete"));
    let listed = client.get("/wc-admin/plugins/install/status");
    assert_eq!(each(&listed, "job_id"), [json!(install_id)]);
    assert_eq!(client.get("/wc-admin/plugins/activate/status"), json!([]));
    let active = client.get("/wc-admin/plugins/active")["plugins"].clone();
    assert_eq!(active, json!(["woocommerce", "letters", "parcels"]));
    client
}

/// The same packages as other clients of the site know them.
fn packages_are_plugins_and_themes_of_the_site(client: &ShopClient) {
    let plugins = "/wp/v2/plugins";
    let path = format!("{plugins}/ledger/ledger");
    client.send("DELETE", "/boardwalk/v1/plugins/ledger", &json!({}));
    let made = client.send("POST", plugins, &json!({ "slug": "ledger" }));
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(made.json().unwrap()["status"], json!("inactive"));
    let code = |answer: testkit::http::Response| answer.json().unwrap()["code"].clone();
    let again = client.send("POST", plugins, &json!({ "slug": "ledger" }));
    assert_eq!(code(again), json!("folder_exists"));
    let unknown = client.send("POST", plugins, &json!({ "slug": "nope" }));
    assert_eq!((unknown.status, code(unknown)), (404, json!("plugins_api_failed")));
    let active = client.ask("PUT", &path, &json!({ "status": "active" }));
    assert_eq!(active["status"], json!("active"));
    let listed = client.get(&format!("{plugins}?status=active&search=ledger"));
    assert_eq!(each(&listed, "plugin"), [json!("ledger/ledger")]);
    assert_eq!(
        code(client.send("DELETE", &path, &json!(null))),
        json!("rest_cannot_delete_active_plugin")
    );
    client.ask("PUT", &path, &json!({ "status": "inactive" }));
    assert_eq!(client.ask("DELETE", &path, &json!(null))["deleted"], json!(true));
    let shop = format!("{plugins}/woocommerce/woocommerce");
    let refused = client.send("PUT", &shop, &json!({ "status": "inactive" }));
    assert_eq!(code(refused), json!("rest_cannot_deactivate_plugin"));

    let themes = client.get("/wp/v2/themes");
    let own = each(&themes, "stylesheet")[0].clone();
    assert_eq!(each(&themes, "stylesheet").len(), 3, "the look of the pages, and what came along");
    assert_eq!(themes[0]["status"], json!("active"));
    let link = |theme: &Value| theme["_links"]["wp:user-global-styles"][0]["href"].clone();
    let one = format!("/wp/v2/themes/{}", own.as_str().unwrap());
    assert_eq!(link(&client.get(&one)), link(&themes[0]), "styles have one place");
    assert_eq!(client.get("/wp/v2/themes/harbour")["template"], own);
    assert_eq!(link(&client.get("/wp/v2/themes/harbour")), json!(null), "only the active one has");
}

fn themes_change_the_pages(client: &ShopClient) {
    let plain = client.page("/");
    assert!(!plain.text().contains("--accent:#1d4f7c"));
    let named = json!({ "theme": "harbour" });
    let absent = client.send("POST", "/wc-admin/onboarding/themes/activate", &named);
    assert_eq!(absent.json().unwrap()["code"], json!("woocommerce_rest_invalid_theme"));
    let installed = client.ask("POST", "/wc-admin/onboarding/themes/install", &named);
    assert_eq!(installed["status"], json!("success"));
    let activated = client.ask("POST", "/wc-admin/onboarding/themes/activate", &named);
    assert_eq!(activated.get("warnings"), None, "it can be read");
    let themed = client.page("/");
    assert!(themed.text().contains("--accent:#1d4f7c"), "{}", themed.text());
    assert!(themed.text().contains("Served from the harbour."));
    let policy = |page: &testkit::http::Response| page.header("Content-Security-Policy").unwrap();
    assert_eq!(policy(&themed).matches("'sha256-").count(), 2);
    assert_eq!(policy(&plain).matches("'sha256-").count(), 1);
    assert_eq!(client.get("/boardwalk/v1/theme")["slug"], json!("harbour"));
    let sheet = client.page("/theme.css");
    assert_eq!(sheet.header("Content-Type").as_deref(), Some("text/css; charset=UTF-8"));
    assert!(sheet.text().contains("--accent:#1d4f7c"), "the portal's pages follow: {sheet:?}");

    let pale = r##"{"slug": "pale", "name": "Pale", "version": "1.0.0",
        "colours": {"ink": "#eeeeee", "paper": "#ffffff"}}"##;
    let files: Files = [(String::from("theme.json"), pale.into())].into();
    let archive = pack(&files, None).unwrap();
    let upload = |content: &[u8]| client.upload("/wc-admin/themes", "pluginzip", content);
    let told = upload(&archive).json().unwrap();
    assert_eq!((&told["status"], &told["theme"]), (&json!("success"), &json!("pale")));
    assert_eq!(upload(&archive).json().unwrap()["status"], json!("error"), "it is there already");
    let activated =
        client.ask("POST", "/wc-admin/onboarding/themes/activate", &json!({ "theme": "pale" }));
    let warnings = activated["warnings"].to_string();
    assert!(warnings.contains("ink on paper"), "{warnings}");

    let before = client.get("/boardwalk/v1/themes");
    let taken = pale.replace("\"pale\"", "\"harbour\"");
    let taken: Files = [(String::from("theme.json"), taken.into())].into();
    let told = upload(&pack(&taken, None).unwrap()).json().unwrap();
    assert!(told["message"].as_str().unwrap().contains("is bundled with Boardwalk"), "{told}");
    let mut cut = archive.clone();
    cut.truncate(archive.len() / 2);
    let hostile: Files = [(String::from("theme.json"), vec![0; 3 << 20])].into();
    for content in [&b"nothing"[..], &cut, &pack(&hostile, None).unwrap()] {
        assert_eq!(upload(content).json().unwrap()["status"], json!("error"));
    }
    let none = client.send("POST", "/wc-admin/themes", &json!({}));
    assert_eq!(none.json().unwrap()["code"], json!("woocommerce_rest_invalid_file"));
    assert_eq!(client.get("/boardwalk/v1/themes"), before);
    client.ask("POST", "/boardwalk/v1/themes/deactivate", &json!({}));
    assert_eq!(client.page("/").text(), plain.text());
    assert_eq!(client.page("/theme.css").text(), "");
}

fn a_plugin_comes_as_a_file_whole_or_not_at_all(client: &ShopClient) {
    let manifest = r#"{"slug": "own", "name": "Own", "version": "1.0.0"}"#;
    let files: Files = [(String::from("plugin.json"), manifest.into())].into();
    let archive = pack(&files, None).unwrap();
    let upload = |content: &[u8]| client.upload("/boardwalk/v1/plugins", "pluginzip", content);
    assert_eq!(upload(&archive).json().unwrap()["slug"], json!("own"));
    let after = client.get("/boardwalk/v1/plugins");
    let own = after.as_array().unwrap().iter().find(|one| one["slug"] == "own").unwrap();
    assert_eq!((&own["status"], &own["origin"]), (&json!("installed"), &json!("upload")));

    let theme = r#"{"slug": "own-theme", "name": "Own", "version": "1.0.0"}"#;
    let theme: Files = [(String::from("theme.json"), theme.into())].into();
    let theme = pack(&theme, None).unwrap();
    let (cut, _) = archive.split_at(archive.len() / 2);
    for content in [&archive[..], cut, b"nothing", &theme] {
        let refused = upload(content);
        assert_eq!(refused.json().unwrap()["code"], json!("boardwalk_invalid_package"));
    }
    assert_eq!(client.get("/boardwalk/v1/plugins"), after);
}
