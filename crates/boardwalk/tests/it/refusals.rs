//! Nobody gets in without the right key, at any endpoint that there is.

use std::thread;
use std::time::Duration;

use contract::{Compiled, Method, Permission, Route};
use db::{Conn, Database};
use serde_json::{Value, json};
use testkit::http::{self, Request, Response};
use types::Scope;

use crate::load::Ids;
use crate::support::{Running, Site, authorization, body, text};

const DENIED: &str = r#"{"message":"Access denied, invalid authorization token!","errors":[]}"#;
const TEMPLATE: &str = "RESTAURANT01";
const KEY_LIFE: Duration = Duration::from_secs(1);

/// A site with something on it, and everything that can be wrong with a key.
struct Scenario {
    running: Running,
    store: Database,
    key: String,
    other_key: String,
    iso_id: String,
    ids: Ids,
    webhook_id: String,
    /// Of a key that may go.
    key_id: String,
    delivery_id: String,
    request_id: String,
    bulk_id: String,
    /// Of a sale that waits for its terminal.
    sale_id: String,
    rollout_id: String,
    link_id: String,
    connection_id: String,
    /// By what is wrong with the header.
    bad_headers: Vec<(&'static str, Option<String>)>,
    scoped_keys: [(Scope, String); 2],
    // Kept to the end: dropping it removes the folder.
    _site: Site,
}

impl Scenario {
    fn new() -> Self {
        let site = Site::sqlite();
        let (iso, other_iso) = (site.iso("Mine"), site.iso("Theirs"));
        site.json(&["template", "create", "--iso", &iso, "--name", TEMPLATE]);
        let key = site.key(&iso);
        let expired = site.key_with(&iso, &["--expires", "1s"]).1;
        let (revoked_id, revoked) = site.key_with(&iso, &[]);
        site.json(&["key", "revoke", &revoked_id]);
        let mistyped = mistyped(&key);
        let key_id = revoked_id;
        let bad = |key: &str| Some(authorization(key));
        let bad_headers = vec![
            ("none", None),
            ("empty", Some(String::new())),
            ("another scheme", Some(format!("Bearer {key}"))),
            ("without its scheme", Some(key.clone())),
            ("made up", bad(&format!("bw_test_KITWRONG_{}", "Z".repeat(46)))),
            ("mistyped", bad(&mistyped)),
            ("cut off", bad(key.split_at(key.len() - 1).0)),
            ("of the other environment", bad(&site.production_key())),
            ("expired", bad(&expired)),
            ("revoked", bad(&revoked)),
        ];
        let scoped = |scope: Scope| (scope, site.key_with(&iso, &["--scope", scope.name()]).1);
        let scoped_keys = [scoped(Scope::EventsRead), scoped(Scope::AuditRead)];
        let other_key = site.key(&other_iso);
        let running = site.serve();
        let onboarded = running.onboard(&key, &body("Mine"));
        assert_eq!(onboarded.status, 200, "{}", onboarded.text());
        let ids = Ids::of(&onboarded);
        let request_id = onboarded.header("X-Request-Id").unwrap();
        let made = |path: &str, body: Value, member: &str| {
            let headers = [("Authorization", &*authorization(&key))];
            let answer = http::post(&running.url, path, &headers, &body).unwrap();
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            text(&answer.json().unwrap(), member)
        };
        // Nobody is there, and nobody would be asked.
        let nowhere =
            serde_json::json!({ "url": "https://nowhere.example/", "events": ["key.expiring"] });
        let webhook_id = made("/v1/webhooks", nowhere, "webhookId");
        let test = format!("/v1/webhooks/{webhook_id}/test");
        let delivery_id = made(&test, serde_json::json!({}), "deliveryId");
        let file = Request::new("POST", "/v1/bulk/onboardings")
            .header("Authorization", &authorization(&key))
            .header("Content-Type", "application/x-ndjson")
            .body("{}");
        let uploaded = http::send(&running.url, &file).unwrap();
        let bulk_id = text(&uploaded.json().unwrap(), "bulkId");
        let invited = serde_json::json!({ "email": "owner@pier.example", "sendEmail": false });
        let link_id = made("/v1/onboarding-links", invited, "linkId");
        // Without a key nobody asks the store.
        let store = serde_json::json!({ "url": "https://nowhere.example/" });
        let connection_id = made("/v1/connections", store, "connectionId");
        let sale_id = open_sale(&site, &running, (&key, &ids));
        let rollout_id = start_rollout(&running, &key, &ids.tpn);
        thread::sleep(KEY_LIFE);
        let store = site.store();
        Self {
            running,
            store,
            key,
            other_key,
            iso_id: iso,
            ids,
            webhook_id,
            key_id,
            delivery_id,
            request_id,
            bulk_id,
            sale_id,
            rollout_id,
            link_id,
            connection_id,
            bad_headers,
            scoped_keys,
            _site: site,
        }
    }

    /// A request that the endpoint would accept, but for its key.
    fn request(&self, route: &Route, header: Option<&str>) -> Request {
        let mut path = route.path.to_owned();
        for variable in route.path_variables() {
            let value: &str = match variable {
                "merchantId" => &self.ids.merchant,
                "storeId" => &self.ids.store,
                "tpn" => &self.ids.tpn,
                "webhookId" => &self.webhook_id,
                "isoId" => &self.iso_id,
                "code" => "ABCD2345",
                "keyId" => &self.key_id,
                "requestId" => &self.request_id,
                "deliveryId" => &self.delivery_id,
                "profileId" => "01",
                "name" => TEMPLATE,
                "bulkId" => &self.bulk_id,
                "saleId" => &self.sale_id,
                "rolloutId" => &self.rollout_id,
                "userId" => "1",
                "invitationId" => "inv_0000000000000000",
                "linkId" => &self.link_id,
                "connectionId" => &self.connection_id,
                unknown => panic!("say what to put in place of {{{unknown}}}"),
            };
            path = path.replace(&format!("{{{variable}}}"), value);
        }
        let mut request = Request::new(route.method.name(), &path);
        if route.method.has_body() {
            let body = body("Never stored").to_string();
            let file = route.files.first().and_then(|kind| kind.media_types.first());
            let media_type = file.copied().unwrap_or("application/json");
            request = request.header("Content-Type", media_type).body(body);
        }
        match header {
            Some(value) => request.header("Authorization", value),
            None => request,
        }
    }

    fn send(&self, route: &Route, header: Option<&str>) -> Response {
        http::send(&self.running.url, &self.request(route, header)).unwrap()
    }
}

/// Sends an order of the store to its terminal, and returns the id of the sale.
fn open_sale(site: &Site, running: &Running, (key, ids): (&str, &Ids)) -> String {
    let post = |path: &str, authorization: &str, body: &Value| {
        let headers = [("Authorization", authorization)];
        let answer = http::post(&running.url, path, &headers, body).unwrap();
        assert!(answer.status < 300, "{path}: {}", answer.text());
        answer.json().unwrap()
    };
    let admin = site.administrator();
    let order = json!({
        "status": "pending", "merchant_id": ids.merchant, "store_id": ids.store,
        "fee_lines": [{ "name": "Mooring", "total": "12.50", "tax_status": "none" }],
    });
    let order = post("/wp-json/wc/v3/orders", &admin, &order);
    let own = authorization(key);
    let code = post(&format!("/v1/tpns/{}/pairing-code", ids.tpn), &own, &json!({}));
    let device = format!("/v1/sandbox/devices/{}/pair", text(&code, "code"));
    post(&device, &own, &json!({}));
    let sales = format!("/v1/tpns/{}/sales", ids.tpn);
    text(&post(&sales, &own, &json!({ "orderId": order["id"] })), "saleId")
}

/// Gives the terminal a template and then its next version; returns the roll-out.
fn start_rollout(running: &Running, key: &str, tpn: &str) -> String {
    let own = authorization(key);
    let send = |method: &str, path: &str, body: &Value| {
        let request = Request::new(method, path)
            .header("Authorization", &own)
            .header("Content-Type", "application/json")
            .body(body.to_string());
        let answer = http::send(&running.url, &request).unwrap();
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json().unwrap()
    };
    let terminal = format!("/v1/tpns/{tpn}");
    let version = running.get(&terminal, key).json().unwrap()["version"].clone();
    let assign = json!({ "tpnAssignTemplate": TEMPLATE, "expectedVersion": version });
    send("PATCH", &terminal, &assign);
    let template = format!("/v1/templates/{TEMPLATE}");
    let second = json!({ "parameters": { "tipEnabled": true }, "expectedVersion": 1 });
    send("PATCH", &template, &second);
    text(&send("POST", &format!("{template}/rollouts"), &json!({})), "rolloutId")
}

/// The same key with two characters of its secret exchanged.
fn mistyped(key: &str) -> String {
    let mut letters: Vec<char> = key.chars().collect();
    let secret = letters.len() - 46;
    let unlike = (secret..letters.len()).find(|index| letters[*index] != letters[secret]).unwrap();
    letters.swap(secret, unlike);
    letters.into_iter().collect()
}

fn routes() -> Vec<Route> {
    onboarding::endpoints::table().endpoints().map(Compiled::route).collect()
}

/// How many rows there are, but for what every use of a key notes.
fn rows(store: &Database) -> Vec<i64> {
    let tables = [
        "isos",
        "iso_accounts",
        "iso_registrations",
        "caught_webhooks",
        "users",
        "iso_invitations",
        "onboarding_links",
        "api_keys",
        "templates",
        "template_versions",
        "iso_defaults",
        "merchants",
        "stores",
        "tpns",
        "profiles",
        "outbox",
        "webhook_endpoints",
        "webhook_deliveries",
        "pairing_codes",
        "devices",
        "object_versions",
        "due_work",
        "bulk_uploads",
        "sales",
        "template_rollouts",
        "rollout_tpns",
    ];
    let count = move |conn: &mut dyn Conn| {
        let mut counts = Vec::new();
        for table in tables {
            conn.query_text(&format!("SELECT COUNT(*) FROM {table}"), &[], &mut |row| {
                counts.push(row.get(0)?);
                Ok(())
            })?;
        }
        Ok(counts)
    };
    store.read_blocking(count).unwrap()
}

#[test]
fn every_endpoint_refuses_every_bad_key() {
    let scenario = Scenario::new();
    let before = rows(&scenario.store);
    for route in routes() {
        let scope = match route.permission {
            Permission::Scope(scope) => scope,
            Permission::Public | Permission::Link => {
                let answer = scenario.send(&route, None);
                // What is sent here by the way is no registration.
                let expected = if route.method.has_body() { 400 } else { 200 };
                assert_eq!(answer.status, expected, "{route:?} is public: {}", answer.text());
                continue;
            }
            Permission::Device
            | Permission::Pairing
            | Permission::Administrator
            | Permission::IsoAdministrator => {
                check_strangers_to_devices(&scenario, &route);
                continue;
            }
        };
        let unfit = scenario.scoped_keys.iter().find(|(has, _)| *has != scope).unwrap();
        for (what, header) in &scenario.bad_headers {
            let answer = scenario.send(&route, header.as_deref());
            check_denied(&answer, &format!("{route:?} with a key {what}"), *what == "expired");
        }
        let answer = scenario.send(&route, Some(&authorization(&unfit.1)));
        let errors = answer.json().unwrap()["errors"].clone();
        let code = &errors[0]["code"];
        assert_eq!((answer.status, code), (403, &json!("insufficient_scope")), "{route:?}");
        let message = errors[0]["message"].as_str().unwrap_or_default();
        assert!(message.contains(scope.name()), "{route:?}: {message}");
    }
    assert_eq!(rows(&scenario.store), before, "a refused request left something behind");
    assert_eq!(scenario.running.onboard(&scenario.key, &body("Never stored")).status, 200);
}

/// A route for devices takes no key at all, and no credential that was made up.
fn check_strangers_to_devices(scenario: &Scenario, route: &Route) {
    let made_up = [
        format!("device-token bwd_{}", "a".repeat(40)),
        "device-token".to_owned(),
        "pairing-code ABCD2345".to_owned(),
        "pairing-code".to_owned(),
        authorization(&scenario.key),
    ];
    let bad = scenario.bad_headers.iter().map(|(_, header)| header.clone());
    for header in bad.chain(made_up.into_iter().map(Some)) {
        let answer = scenario.send(route, header.as_deref());
        check_denied(&answer, &format!("{route:?} with {header:?}"), false);
    }
}

fn check_denied(answer: &Response, what: &str, expired: bool) {
    assert_eq!((answer.status, &*answer.text()), (401, DENIED), "{what}");
    let challenge = answer.header("WWW-Authenticate").unwrap_or_default();
    assert!(challenge.starts_with("api-key realm="), "{what}: {challenge}");
    assert_eq!(challenge.contains("error=\"expired\""), expired, "{what}: {challenge}");
    for header in ["X-Request-Id", "RateLimit", "RateLimit-Policy", "Server-Timing"] {
        assert!(answer.header(header).is_some(), "{what} lacks {header}");
    }
    assert_eq!(answer.header("Cache-Control").as_deref(), Some("no-store"), "{what}");
}

#[test]
fn what_belongs_to_another_iso_does_not_exist() {
    let scenario = Scenario::new();
    let mut compared = 0;
    for route in routes() {
        let is_read = route.method == Method::Get && route.path_variables().next().is_some();
        if !is_read {
            continue;
        }
        let own = scenario.send(&route, Some(&authorization(&scenario.key)));
        assert_eq!(own.status, 200, "{route:?}: {}", own.text());
        let theirs = scenario.send(&route, Some(&authorization(&scenario.other_key)));
        let unknown_path = route.path_variables().fold(route.path.to_owned(), |path, variable| {
            path.replace(&format!("{{{variable}}}"), "000000000000")
        });
        let unknown = scenario.running.get(&unknown_path, &scenario.other_key);
        assert_eq!((theirs.status, unknown.status), (404, 404), "{route:?}");
        assert_eq!(theirs.text(), unknown.text(), "{route:?}");
        compared += 1;
    }
    assert!(compared >= 7, "only {compared} endpoints read one object");
    check_changes(&scenario);
    check_staged_onboardings(&scenario);
}

/// A body that the endpoint would accept for an object of the caller's own.
fn change_body(scenario: &Scenario, route: &Route) -> Value {
    match (route.method, route.path) {
        (Method::Patch, "/v1/templates/{name}") => {
            json!({ "parameters": {}, "expectedVersion": 1 })
        }
        (Method::Patch, _) => json!({ "expectedVersion": 1 }),
        (_, "/v1/tpns/{tpn}/reassign") => json!({ "storeId": scenario.ids.store }),
        (_, "/v1/tpns/{tpn}/profiles/{profileId}") => {
            let mut processor = body("any")["tpnData"]["tpnProcessor"].clone();
            processor["profile"].as_array_mut().unwrap().truncate(1);
            processor["profile"][0]["profileId"] = json!("01");
            json!({ "tpnProcessor": processor })
        }
        (_, "/v1/onboarding-links/{linkId}/onboard") => {
            json!({ "tpnData": body("any")["tpnData"] })
        }
        (_, "/v1/tpns/{tpn}/sales") => json!({ "orderId": 1 }),
        (_, "/v1/tpns/{tpn}/profiles/{profileId}/verify") => json!({ "verified": true }),
        (_, "/v1/tpns/{tpn}/profiles/{profileId}/reveal") => json!({ "reason": "look" }),
        (_, path) if path.ends_with("/recover") => json!({ "since": "2026-01-01T00:00:00Z" }),
        _ => json!({}),
    }
}

/// What another ISO has cannot be changed, as what never was.
fn check_changes(scenario: &Scenario) {
    let before = rows(&scenario.store);
    let mut compared = 0;
    for route in routes() {
        let is_key_route = matches!(route.permission, Permission::Scope(_));
        if !route.method.has_body() || route.path_variables().next().is_none() || !is_key_route {
            continue;
        }
        let sent = change_body(scenario, &route).to_string();
        let header = authorization(&scenario.other_key);
        let theirs = scenario.request(&route, Some(&header)).body(sent.clone());
        let theirs = http::send(&scenario.running.url, &theirs).unwrap();
        let path = route.path_variables().fold(route.path.to_owned(), |path, variable| {
            let value = if variable == "profileId" { "01" } else { "000000000000" };
            path.replace(&format!("{{{variable}}}"), value)
        });
        let unknown = Request::new(route.method.name(), &path)
            .header("Content-Type", "application/json")
            .header("Authorization", &header)
            .body(sent);
        let unknown = http::send(&scenario.running.url, &unknown).unwrap();
        assert_eq!((theirs.status, unknown.status), (404, 404), "{route:?}: {}", theirs.text());
        assert_eq!(theirs.text(), unknown.text(), "{route:?}");
        compared += 1;
    }
    assert!(compared >= 15, "only {compared} endpoints change one object");
    assert_eq!(rows(&scenario.store), before, "a refused change left something behind");
}

/// Staged onboardings under another ISO's merchant fail as under one that never was.
fn check_staged_onboardings(scenario: &Scenario) {
    let staged = |merchant: &str, store: Option<&str>| {
        let mut request = body("Under another's roof");
        request["merchantData"] = serde_json::json!({ "merchantId": merchant });
        if let Some(store) = store {
            request["storeData"] = serde_json::json!({ "storeId": store });
        }
        let answer = scenario.running.onboard(&scenario.other_key, &request);
        assert_eq!(answer.status, 400, "{}", answer.text());
        answer.json().unwrap()
    };
    let Ids { merchant, store, .. } = &scenario.ids;
    let unknown = "000000000000";
    let same: [(Value, Value); 2] = [
        (staged(merchant, None), staged(unknown, None)),
        (staged(merchant, Some(store)), staged(unknown, Some(unknown))),
    ];
    for (theirs, none) in same {
        assert_eq!(theirs, none);
    }
}
