//! What was revoked is refused: by the server that revoked it with the very next request, by others
//! on the same database within a second. **Every credential was just used**, so that a server that
//! remembers it would still accept it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::http::{self, Request, Response};
use testkit::process;

use crate::browser::Browser;
use crate::support::{Running, Site, authorization, basic, body, eventually, text};

const BOSS: &str = "boss";
const BOSS_PASSWORD: &str = "the boss's password";
const ME: &str = "/wp-json/wp/v2/users/me";
/// A revocation is promised within a second; the rest is for a busy machine.
const REVOKED_WITHIN: Duration = Duration::from_millis(1500);

on_both_engines!(a_revocation_holds_for_the_next_request);

fn a_revocation_holds_for_the_next_request(site: Site) {
    let site = site.set("server.trusted_proxies", r#"["127.0.0.1"]"#);
    let running = site.serve();
    let scenario = Scenario::new(&site, &running);
    scenario.application_passwords();
    scenario.consumer_keys();
    scenario.sessions();
    scenario.roles();
    scenario.api_keys();
    scenario.devices();
    scenario.isos();
}

#[test]
fn a_revocation_holds_for_other_servers_within_a_second() {
    let site = Site::postgres();
    let servers = [site.serve(), site.serve()];
    let scenario = Scenario::new(&site, &servers[0]);
    let (uuid, pair) = scenario.application_password();
    let (key_id, key) = site.key_with(&scenario.iso, &[]);
    let shows = |url: &str| {
        let me = http::get(url, ME, &[("Authorization", &*basic(&pair))]).unwrap();
        let mine = http::get(url, "/v1/keys", &[("Authorization", &*authorization(&key))]).unwrap();
        (me.status, mine.status)
    };
    let own = format!("{ME}/application-passwords/{uuid}");
    for server in &servers {
        assert_eq!(shows(&server.url), (200, 200));
    }
    scenario.boss.done("DELETE", &own, None);
    let other = site.key(&scenario.iso);
    assert_eq!(scenario.by_key(&other, "DELETE", &format!("/v1/keys/{key_id}"), None).status, 200);
    let revoked = Instant::now();
    assert_eq!(shows(&servers[0].url), (401, 401));
    let left = REVOKED_WITHIN.saturating_sub(revoked.elapsed());
    eventually("the other server refuses", left, || shows(&servers[1].url) == (401, 401));
}

/// A server, an administrator who is signed in, and an ISO.
struct Scenario<'a> {
    site: &'a Site,
    running: &'a Running,
    boss: Browser<'a>,
    iso: String,
}

impl<'a> Scenario<'a> {
    fn new(site: &'a Site, running: &'a Running) -> Self {
        create_user(site, BOSS, &["--role", "administrator"], BOSS_PASSWORD);
        let boss = Browser::sign_in(running, BOSS, BOSS_PASSWORD).unwrap();
        Self { site, running, boss, iso: site.iso("Revoked") }
    }

    fn send(
        &self,
        authorization: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Response {
        let mut request = Request::new(method, path).header("Authorization", authorization);
        if let Some(body) = body {
            request = request.header("Content-Type", "application/json").body(body.to_string());
        }
        http::send(&self.running.url, &request).unwrap()
    }

    fn by_key(&self, key: &str, method: &str, path: &str, body: Option<&Value>) -> Response {
        self.send(&authorization(key), method, path, body)
    }

    fn application_password(&self) -> (String, String) {
        let path = format!("{ME}/application-passwords");
        let made = self.boss.send("POST", &path, Some(&json!({ "name": "program" })));
        let made = made.json().unwrap();
        (text(&made, "uuid"), format!("{BOSS}:{}", text(&made, "password")))
    }

    fn application_passwords(&self) {
        let (uuid, pair) = self.application_password();
        let create = |name: &str| {
            let tag = json!({ "name": name });
            self.send(&basic(&pair), "POST", "/wp-json/wp/v2/tags", Some(&tag)).status
        };
        assert_eq!(create("before"), 201);
        self.boss.done("DELETE", &format!("{ME}/application-passwords/{uuid}"), None);
        assert_eq!(create("after"), 401);
    }

    fn consumer_keys(&self) {
        let path = "/wp-json/boardwalk/v1/consumer-keys";
        let wanted = json!({ "description": "program", "permissions": "read_write" });
        let made = self.boss.send("POST", path, Some(&wanted)).json().unwrap();
        let pair = [text(&made, "consumer_key"), text(&made, "consumer_secret")].join(":");
        let ask = || {
            let request = Request::new("GET", "/wp-json/wc/v3/orders")
                .header("Authorization", &basic(&pair))
                .header("X-Forwarded-Proto", "https");
            http::send(&self.running.url, &request).unwrap().status
        };
        assert_eq!(ask(), 200);
        self.boss.done("DELETE", &format!("{path}/{}", made["id"]), None);
        assert_eq!(ask(), 401);
    }

    /// A new password ends the sessions that the old one began.
    fn sessions(&self) {
        create_user(self.site, "sam", &["--role", "editor"], "sam's first password");
        let sam = Browser::sign_in(self.running, "sam", "sam's first password").unwrap();
        let own = sam.done("GET", ME, None);
        let user = format!("/wp-json/wp/v2/users/{}", own["id"]);
        self.boss.done("POST", &user, Some(&json!({ "password": "sam's second password" })));
        assert_eq!(sam.send("GET", ME, None).status, 403, "the page has expired");
    }

    fn roles(&self) {
        create_user(self.site, "ria", &["--role", "shop_manager"], "ria's own password");
        let arguments = ["user", "app-password", "--login", "ria", "--name", "program"];
        let made = self.site.json(&arguments);
        let ria = basic(&format!("ria:{}", text(&made, "password")));
        let orders = || self.send(&ria, "GET", "/wp-json/wc/v3/orders", None).status;
        let own = self.send(&ria, "GET", ME, None).json().unwrap();
        assert_eq!((orders(), orders()), (200, 200));
        let user = format!("/wp-json/wp/v2/users/{}", own["id"]);
        self.boss.done("POST", &user, Some(&json!({ "roles": ["subscriber"] })));
        assert_eq!(orders(), 403);
        self.boss.done("DELETE", &format!("{user}?force=true&reassign=false"), None);
        assert_eq!(self.send(&ria, "GET", ME, None).status, 401, "the account was deleted");
    }

    fn api_keys(&self) {
        let (key_id, key) = self.site.key_with(&self.iso, &[]);
        let other = self.site.key(&self.iso);
        let list = || self.by_key(&key, "GET", "/v1/keys", None).status;
        assert_eq!((list(), list()), (200, 200));
        let revoked = self.by_key(&other, "DELETE", &format!("/v1/keys/{key_id}"), None);
        assert_eq!(revoked.status, 200, "{}", revoked.text());
        assert_eq!(list(), 401);
    }

    fn devices(&self) {
        let key = self.site.key(&self.iso);
        let onboarded = self.running.onboard(&key, &body("Swapped")).json().unwrap();
        let tpn = format!("/v1/tpns/{}", text(&onboarded["data"], "tpn"));
        let done = |path: &str| {
            let answer = self.by_key(&key, "POST", &format!("{tpn}/{path}"), Some(&json!({})));
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            answer.json().unwrap()
        };
        let code = format!("pairing-code {}", text(&done("pairing-code"), "code"));
        let serial = json!({ "serialNumber": "SN 1" });
        let paired = self.send(&code, "POST", "/v1/device/pair", Some(&serial)).json().unwrap();
        let token = format!("device-token {}", text(&paired, "deviceToken"));
        let download = || self.send(&token, "GET", "/v1/device/parameters", None).status;
        assert_eq!((download(), download()), (200, 200));
        done("deactivate");
        done("swap");
        assert_eq!(download(), 401);
    }

    /// Keys and people of an ISO that is suspended, and again when it goes on.
    fn isos(&self) {
        let key = self.site.key(&self.iso);
        let bound = ["--role", "iso_admin", "--iso", &self.iso];
        create_user(self.site, "ida", &bound, "ida's own password");
        let ida = Browser::sign_in(self.running, "ida", "ida's own password").unwrap();
        let both = || {
            let by_key = self.by_key(&key, "GET", "/v1/merchants", None).status;
            (by_key, ida.send("GET", "/v1/merchants", None).status)
        };
        assert_eq!((both(), both()), ((200, 200), (200, 200)));
        let path = format!("/v1/isos/{}", self.iso);
        self.boss.done("POST", &format!("{path}/suspend"), Some(&json!({ "reason": "review" })));
        let (by_key, by_session) = both();
        assert!(by_key != 200 && by_session != 200, "{by_key} {by_session}");
        self.boss.done("POST", &format!("{path}/resume"), Some(&json!({})));
        assert_eq!(both(), (200, 200));
    }
}

fn create_user(site: &Site, login: &str, flags: &[&str], password: &str) {
    let email = format!("{login}@site.example");
    let arguments = ["user", "create", "--login", login, "--email", &email, "--password-stdin"];
    let command = site.command(&[&arguments[..], flags].concat());
    let made = process::run_command(command, format!("{password}\n").as_bytes()).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
