//! Nobody gets more out of a REST route than `conformance/rest/permissions.json` says.
//!
//! Routes, methods and parameters come from the index of a running site, so a new route is covered
//! at once; **one that is not in the file fails the test**. Who may what is read from the `Allow`
//! header, which a route works out without doing anything; then everything that must be refused is
//! really sent, with ids that exist and ids that do not, and the database is compared.

mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use data_encoding::BASE64;
use serde_json::{Value, json};
use testkit::conformance::rest::folder;
use testkit::http::{Connection, Request, Response};

use self::plan::{Endpoint, Routes};
use crate::load::Ids;
use crate::rest_site::RestSite;
use crate::support::{Running, Site, body};

/// Who asks: a name for the file, and whom of the recorded shop it is.
const CALLERS: [(&str, Option<&str>); 4] = [
    ("anonymous", None),
    ("customer", Some("shopper")),
    ("shop_manager", Some("manager")),
    ("administrator", Some("admin")),
];
/// Users who are bound: a name for the file, which is their role, and what binds them.
const BOUND: [(&str, &str); 3] =
    [("iso_staff", "--iso"), ("merchant", "--merchant"), ("store", "--store")];
/// Wrong credentials, and the code that refuses them outside the commerce family.
const STRANGERS: [(&str, &str); 2] =
    [("badpass", "incorrect_password"), ("baduser", "invalid_username")];
/// Open to anybody although it changes something: each item of a batch is refused by itself, who
/// knows a nonce may say so, and a phone shows what it read from a screen.
const OPEN_WRITES: [&str; 4] = [
    "/batch/v1",
    "/jetpack/v4/verify_xmlrpc_error",
    "/wc-admin/mobile-app/qr-login-exchange",
    "/wc-admin/mobile-app/qr-login-scan",
];
/// Paths whose refusals clients know without a code: no body at all, or an object of their own.
const WITHOUT_CODE: [&str; 3] = [
    "/wc-admin/onboarding/plugins/scheduled-installs/",
    "/wc/v3/marketplace/",
    "/wc/v1/marketplace/",
];
/// Lets anybody in who asks it to change nothing.
const OPEN_TO_NOTHING: [&str; 1] = ["/wc-admin/options"];
/// Lets anybody in and then says that nobody is signed in, that the connection is not safe, or that
/// stock is the shop's and not of one merchant.
const REFUSES_INSIDE: [&str; 4] = [
    "/wp/v2/users/me",
    "/wc-admin/mobile-app/qr-login-session-status",
    "/wc-analytics/reports/stock",
    "/wc-analytics/reports/stock/stats",
];
/// What the routes of the shop window begin with.
const STOREFRONT: &str = "/wc/store/";
/// Paths of the commerce family, where wrong credentials count as none.
const COMMERCE: [&str; 3] = ["/wc/", "/wc-", "/wc"];
/// Refusals that clients know with a status of 500, though nothing failed.
const KNOWN_AS_500: [&str; 1] = ["woocommerce_rest_cannot_create_order_refund"];
/// In no body whatever: how hashes of passwords begin or are called.
const HASHES: [&str; 4] = ["$argon2", "$P$", "$wp$", "user_pass"];

/// What refuses a consumer key that lacks the permission.
const KEY_REFUSED: &str = "woocommerce_rest_authentication_error";

/// Who may use which method of which route.
type Permissions = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// A site with a connection for everybody who asks.
struct Scenario {
    running: Running,
    original: RestSite,
    callers: Vec<Caller>,
    strangers: Vec<Caller>,
    /// An administrator's keys: one that may read alone, one that may write alone.
    keys: [Caller; 2],
    /// Credentials in plain text; none may be in an answer.
    secrets: Vec<String>,
}

struct Caller {
    name: &'static str,
    /// For a stranger, what refuses them.
    code: &'static str,
    authorization: Option<String>,
    /// Over https, without which a consumer key must sign what it sends.
    secure: bool,
}

impl Scenario {
    fn new(site: Site) -> Self {
        let original = RestSite::import(site);
        let pair = |who: &str| original.identities.get(who).unwrap().clone();
        let basic = |who: &str| format!("Basic {}", BASE64.encode(pair(who).as_bytes()));
        let caller = |(name, who): (&'static str, Option<&str>)| Caller {
            name,
            code: "",
            authorization: who.map(basic),
            secure: false,
        };
        let stranger = |(who, code): (&'static str, &'static str)| Caller {
            name: who,
            code,
            authorization: Some(basic(who)),
            secure: false,
        };
        let key = |who: &'static str| Caller { secure: true, ..stranger((who, KEY_REFUSED)) };
        let keys = ["key:read", "key:write"].map(key);
        let mut callers: Vec<Caller> = CALLERS.into_iter().map(caller).collect();
        let strangers = STRANGERS.into_iter().map(stranger).collect();
        let known = original.identities.iter().filter(|(name, _)| !name.starts_with("bad"));
        let secrets = known.flat_map(|(name, pair)| {
            let (login, secret) = pair.split_once(':').unwrap();
            let bare = secret.replace(' ', "");
            // A consumer key is as secret as its secret; a login is not.
            let key = name.starts_with("key:").then(|| login.to_owned());
            [secret.to_owned(), bare].into_iter().chain(key)
        });
        let mut secrets: Vec<String> = secrets.collect();
        let running = original.site.serve();
        for (name, pair) in bound_users(&original.site, &running) {
            let authorization = Some(crate::support::basic(&pair));
            // The administrator stays the last.
            callers.insert(1, Caller { name, code: "", authorization, secure: false });
            secrets.extend(pair.split_once(':').map(|(_, secret)| secret.to_owned()));
        }
        let scenario = Self { running, original, callers, strangers, keys, secrets };
        // The first use of an application password is noted; later ones of the same day are not.
        for caller in &scenario.callers {
            let answer = scenario.send(caller, "GET", "/wp/v2/users/me", None);
            assert_eq!(answer.status == 200, caller.authorization.is_some(), "{}", caller.name);
        }
        scenario
    }

    /// Sends a request, and checks what must hold for every answer.
    fn send(&self, caller: &Caller, method: &str, path: &str, body: Option<&Value>) -> Response {
        let mut request = Request::new(method, &format!("/wp-json{path}"));
        if let Some(authorization) = &caller.authorization {
            request = request.header("Authorization", authorization);
        }
        if caller.secure {
            request = request.header("X-Forwarded-Proto", "https");
        }
        if let Some(body) = body {
            request = request.header("Content-Type", "application/json").body(body.to_string());
        }
        let answer = Connection::open(&self.running.url).unwrap().send(&request).unwrap();
        let what = format!("{method} {path} by {}", caller.name);
        let text = answer.text();
        let known = KNOWN_AS_500.iter().any(|code| text.contains(code));
        assert!(answer.status < 500 || known, "{what}: {} {text}", answer.status);
        let is_bare = WITHOUT_CODE.iter().any(|start| path.starts_with(start));
        if answer.status >= 400 && !is_bare {
            let error = answer.json().unwrap();
            assert!(error["code"].is_string() && error["message"].is_string(), "{what}: {text}");
        }
        for secret in self.secrets.iter().map(String::as_str).chain(HASHES) {
            assert!(!text.contains(secret), "{what} tells a secret: {text}");
        }
        answer
    }

    /// The administrator, whose view of the site tells which ids there are.
    fn administrator(&self) -> &Caller {
        self.callers.last().unwrap()
    }

    /// The routes of the site, after there is something in every collection.
    fn routes(&self) -> Routes {
        let get = |path: &str| self.send(self.administrator(), "GET", path, None).json().unwrap();
        let read = || Routes::read(&get("/"), &self.running.url, &get);
        self.upload();
        let bare = read();
        // Changing an item leaves a revision, where there are any.
        for endpoint in bare.creating().chain(bare.changing()) {
            let path = bare.existing_path(&endpoint.pattern);
            call(self, self.administrator(), endpoint, "POST", &path);
        }
        read()
    }

    /// Files are no JSON, so the library gets its first one here.
    fn upload(&self) {
        let authorization = self.administrator().authorization.clone().unwrap();
        let request = Request::new("POST", "/wp-json/wp/v2/media")
            .header("Authorization", &authorization)
            .header("Content-Type", "text/plain")
            .header("Content-Disposition", "attachment; filename=\"notes.txt\"")
            .body("plain notes");
        let answer = Connection::open(&self.running.url).unwrap().send(&request).unwrap();
        assert_eq!(answer.status, 201, "{}", answer.text());
    }

    /// Every row of the database, sorted.
    fn rows(&self, name: &str) -> Vec<String> {
        let file = self.original.site.data().join(name);
        self.original.site.json(&["backup", file.to_str().unwrap()]);
        let text = std::fs::read_to_string(file).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        // The first line has the time, the last the checksum.
        lines.pop();
        lines.remove(0);
        lines.sort();
        lines
    }
}

/// Makes a merchant with a store, and users who may see no more than an ISO, that merchant or that
/// store; with the login and password of each.
fn bound_users(site: &Site, running: &Running) -> Vec<(&'static str, String)> {
    let iso = site.iso("Bound");
    let onboarded = running.onboard(&site.key(&iso), &body("Bound Diner"));
    assert_eq!(onboarded.status, 200, "{}", onboarded.text());
    let Ids { merchant, store, .. } = Ids::of(&onboarded);
    let make = |((role, flag), id): ((&'static str, &str), &str)| {
        let email = format!("{role}@site.example");
        site.json(&[
            "user", "create", "--login", role, "--email", &email, "--role", role, flag, id,
        ]);
        let made = site.json(&["user", "app-password", "--login", role, "--name", "Refusals"]);
        (role, format!("{role}:{}", crate::support::text(&made, "password")))
    };
    BOUND.into_iter().zip([iso.as_str(), &merchant, &store]).map(make).collect()
}

fn is_commerce(path: &str) -> bool {
    let [within, family, root] = COMMERCE;
    path.starts_with(within) || path.starts_with(family) || path == root
}

fn declared() -> Permissions {
    let text = std::fs::read_to_string(folder().join("permissions.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What `Allow` tells everybody about every route.
fn seen(scenario: &Scenario, routes: &Routes) -> Permissions {
    let mut seen = Permissions::new();
    for endpoint in &routes.endpoints {
        let methods = seen.entry(endpoint.pattern.clone()).or_default();
        for method in &endpoint.methods {
            methods.entry(method.clone()).or_default();
        }
    }
    for (pattern, methods) in &mut seen {
        let path = routes.existing_path(pattern);
        for caller in &scenario.callers {
            let answer = scenario.send(caller, "OPTIONS", &path, None);
            assert_eq!(answer.status, 200, "{path}");
            let allowed = answer.header("Allow").unwrap_or_default();
            for method in allowed.split(", ").filter(|method| !method.is_empty()) {
                methods.get_mut(method).unwrap().insert(caller.name.to_owned());
            }
        }
    }
    seen
}

on_both_engines!(every_route_lets_in_whom_it_declares);

fn every_route_lets_in_whom_it_declares(site: Site) {
    let scenario = Scenario::new(site);
    let routes = scenario.routes();
    let (declared, seen) = (declared(), seen(&scenario, &routes));
    let mut differences = String::new();
    for (pattern, methods) in &seen {
        for (method, who) in methods {
            match declared.get(pattern).and_then(|methods| methods.get(method)) {
                Some(wanted) if wanted == who => {}
                wanted => {
                    let line = format!("{method} {pattern}: let in {who:?}, declared {wanted:?}");
                    writeln!(differences, "{line}").unwrap();
                }
            }
        }
    }
    let stale: Vec<&String> = declared.keys().filter(|name| !seen.contains_key(*name)).collect();
    if !differences.is_empty() {
        // To be judged before it becomes the file.
        println!("{}", serde_json::to_string(&seen).unwrap());
    }
    assert!(
        differences.is_empty() && stale.is_empty(),
        "conformance/rest/permissions.json says who may use a route; these differ:\n{differences}\
         declared, but not in the index: {stale:?}"
    );
    refused_requests_change_nothing(&scenario, &routes, &declared);
    strangers_are_refused(&scenario, &routes);
    batches_are_refused_item_by_item(&scenario, &routes);
    nobody_rises(&scenario);
    keys_do_what_they_are_for(&scenario, &routes);
    allowed_requests_are_served(&scenario, &routes, &declared);
}

/// Sends everything that must be refused, then compares the database.
fn refused_requests_change_nothing(scenario: &Scenario, routes: &Routes, declared: &Permissions) {
    let before = scenario.rows("before.backup");
    let mut count = 0;
    for_each_call(scenario, routes, |caller, endpoint, method| {
        if declared[&endpoint.pattern][method].contains(caller.name) {
            return;
        }
        for path in routes.paths(&endpoint.pattern) {
            let answer = call(scenario, caller, endpoint, method, &path);
            let is_nothing = OPEN_TO_NOTHING.contains(&endpoint.pattern.as_str());
            let refused = matches!(answer.status, 400 | 401 | 403 | 404);
            let is_fine = refused || (is_nothing && answer.text() == "[]");
            assert!(is_fine, "{method} {path} by {}: {}", caller.name, answer.text());
            count += 1;
        }
    });
    assert!(count > routes.endpoints.len(), "only {count} refusals");
    for caller in &scenario.strangers {
        for endpoint in &routes.endpoints {
            for method in &endpoint.methods {
                call(scenario, caller, endpoint, method, &routes.existing_path(&endpoint.pattern));
            }
        }
    }
    assert!(before == scenario.rows("after.backup"), "a refused request changed the database");
}

fn for_each_call<'a>(
    scenario: &'a Scenario,
    routes: &'a Routes,
    mut run: impl FnMut(&'a Caller, &'a Endpoint, &'a str),
) {
    for endpoint in &routes.endpoints {
        for method in &endpoint.methods {
            for caller in &scenario.callers {
                run(caller, endpoint, method);
            }
        }
    }
}

fn call(
    scenario: &Scenario,
    caller: &Caller,
    endpoint: &Endpoint,
    method: &str,
    path: &str,
) -> Response {
    let params = endpoint.params(&scenario.running.url);
    if matches!(method, "GET" | "DELETE") {
        let query = plan::query(&params);
        return scenario.send(caller, method, &format!("{path}{query}"), None);
    }
    scenario.send(caller, method, path, Some(&Value::Object(params)))
}

/// Outside the commerce family wrong credentials are refused everywhere, also where there is no
/// route; inside it they are nobody's.
fn strangers_are_refused(scenario: &Scenario, routes: &Routes) {
    let nobody = scenario.callers.first().unwrap();
    let known = routes.endpoints.iter().flat_map(|endpoint| {
        let path = routes.existing_path(&endpoint.pattern);
        endpoint.methods.iter().map(move |method| (Some(endpoint), method.as_str(), path.clone()))
    });
    let unknown = ["/no/such/route", "/wp/v2/nothing", "/wc/v3/nothing"];
    let unknown = unknown.map(|path| (None, "GET", path.to_owned()));
    for (endpoint, method, path) in known.chain(unknown) {
        for stranger in &scenario.strangers {
            let ask = |caller: &Caller| match endpoint {
                Some(endpoint) => call(scenario, caller, endpoint, method, &path),
                None => scenario.send(caller, method, &path, None),
            };
            let answer = ask(stranger);
            let code = answer.json().ok().and_then(|body| body["code"].as_str().map(str::to_owned));
            let what = format!("{method} {path} by {}: {}", stranger.name, answer.text());
            if is_commerce(&path) {
                assert_eq!(answer.body, ask(nobody).body, "{what}");
            } else {
                assert_eq!((answer.status, code.as_deref()), (401, Some(stranger.code)), "{what}");
            }
        }
    }
}

/// A key that may read changes nothing and one that may write reads nothing, though they are an
/// administrator's; outside of the commerce family they are nobody's.
fn keys_do_what_they_are_for(scenario: &Scenario, routes: &Routes) {
    let before = scenario.rows("before-keys.backup");
    let [reads, writes] = &scenario.keys;
    let mut count = 0;
    for endpoint in &routes.endpoints {
        let path = routes.existing_path(&endpoint.pattern);
        for method in &endpoint.methods {
            let unfit = if method == "GET" { writes } else { reads };
            let mut checks = vec![(unfit, KEY_REFUSED)];
            if !is_commerce(&path) {
                checks = scenario.keys.iter().map(|key| (key, "invalid_username")).collect();
            }
            for (key, code) in checks {
                let answer = call(scenario, key, endpoint, method, &path);
                let what = format!("{method} {path} by {}: {}", key.name, answer.text());
                assert_eq!(answer.status, 401, "{what}");
                assert_eq!(answer.json().unwrap()["code"], code, "{what}");
                count += 1;
            }
        }
    }
    assert!(count > routes.endpoints.len(), "only {count} refusals");
    assert!(before == scenario.rows("after-keys.backup"), "a key did what it is not for");
}

/// Nobody's batch is taken, but nothing in it is done.
fn batches_are_refused_item_by_item(scenario: &Scenario, routes: &Routes) {
    let nobody = scenario.callers.first().unwrap();
    let before = scenario.rows("before-batch.backup");
    let batchable = routes.endpoints.iter().filter(|endpoint| endpoint.batchable);
    let mut count = 0;
    for endpoint in batchable {
        for method in endpoint.methods.iter().filter(|method| *method != "GET") {
            let path = routes.existing_path(&endpoint.pattern);
            let params = endpoint.params(&scenario.running.url);
            let item = json!({ "method": method, "path": path, "body": params });
            let answer =
                scenario.send(nobody, "POST", "/batch/v1", Some(&json!({"requests": [item]})));
            assert_eq!(answer.status, 207, "{}", answer.text());
            let status = answer.json().unwrap()["responses"][0]["status"].as_u64().unwrap();
            assert!(matches!(status, 400 | 401 | 403 | 404), "{item}: {}", answer.text());
            count += 1;
        }
    }
    assert!(count > 0, "no route can be called in a batch");
    assert!(before == scenario.rows("after-batch.backup"), "a refused batch changed the database");
}

/// Who may change some users cannot change those above, nor make themselves more than they are.
fn nobody_rises(scenario: &Scenario) {
    let before = scenario.rows("before-rise.backup");
    let admin = scenario.send(scenario.administrator(), "GET", "/wp/v2/users/me", None);
    let admin = format!("/wp/v2/users/{}", admin.json().unwrap()["id"]);
    let passwords = format!("{admin}/application-passwords");
    let (password, role) =
        (json!({ "password": "taken over by me" }), json!({ "roles": ["administrator"] }));
    let attempts = [
        ("POST", &*admin, &password),
        ("PUT", &*admin, &json!({ "email": "thief@site.example" })),
        ("POST", &*passwords, &json!({ "name": "taken over" })),
        ("DELETE", &*passwords, &json!({})),
        ("DELETE", &*admin, &json!({ "force": true, "reassign": 0 })),
        ("POST", "/wp/v2/users/me", &role),
        ("PATCH", "/wp/v2/settings", &json!({ "title": "taken over" })),
    ];
    for caller in scenario.callers.iter().filter(|caller| caller.name != "administrator") {
        for (method, path, body) in attempts {
            let answer = scenario.send(caller, method, path, Some(body));
            let refused = matches!(answer.status, 401 | 403 | 404);
            assert!(refused, "{method} {path} by {}: {}", caller.name, answer.text());
        }
    }
    assert!(before == scenario.rows("after-rise.backup"), "somebody rose");
}

/// Whether buyers use the route, who need no account: they show a token or a nonce instead.
fn is_of_buyers(endpoint: &Endpoint) -> bool {
    let below = |part: &str| endpoint.pattern.contains(&format!("/{part}"));
    endpoint.pattern.starts_with(STOREFRONT) && ["batch", "cart", "checkout"].into_iter().any(below)
}

/// What is declared is also given; deletions come last. The site is of no use afterwards.
fn allowed_requests_are_served(scenario: &Scenario, routes: &Routes, declared: &Permissions) {
    for turn in [&["GET"][..], &["POST", "PUT", "PATCH"], &["DELETE"]] {
        for_each_call(scenario, routes, |caller, endpoint, method| {
            let may = declared[&endpoint.pattern][method].contains(caller.name);
            if !may || !turn.contains(&method) {
                return;
            }
            let open = OPEN_WRITES.contains(&endpoint.pattern.as_str()) || is_of_buyers(endpoint);
            let changes = method != "GET" && !open;
            assert!(!changes || caller.name != "anonymous", "{method} {}", endpoint.pattern);
            let path = routes.existing_path(&endpoint.pattern);
            let answer = call(scenario, caller, endpoint, method, &path);
            // An earlier turn may have deleted it, and what is plausible need not be right.
            let inside =
                REFUSES_INSIDE.contains(&endpoint.pattern.as_str()) || is_of_buyers(endpoint);
            let refused = matches!(answer.status, 401 | 403) && method == "GET" && !inside;
            assert!(!refused, "{method} {path} by {}: {}", caller.name, answer.text());
        });
    }
}
