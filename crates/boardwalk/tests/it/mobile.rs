//! The shop on a phone and before it opens: a link from an e-mail signs in once, the session that it
//! begins saves a form of settings and tries e-mails, and a store that is shut shows nothing.

use std::time::Duration;

use data_encoding::BASE64;
use testkit::http::{Connection, Request, Response};
use testkit::smtp::Sink;

use crate::rest_site::RestSite;
use crate::support::{Running, Site};

const PATIENCE: Duration = Duration::from_mins(1);
const STRANGER: &str = "stranger.example";
const COOKIE: &str = "boardwalk_sandbox_session=";

on_both_engines!(a_link_from_an_email_signs_in_once);

/// Each route that makes or approves a credential of its caller.
const ISSUING: &[(&str, &str, &str)] = &[
    ("GET", "/wc-admin/mobile-app/send-magic-link", "{}"),
    ("POST", "/wc-admin/mobile-app/qr-login-token", "{}"),
    ("POST", "/wc-admin/mobile-app/qr-login-approve", r#"{"token":"x","choice":"1"}"#),
    ("POST", "/wp/v2/users/me/application-passwords", r#"{"name":"stolen"}"#),
    ("POST", "/boardwalk/v1/consumer-keys", r#"{"description":"x","permissions":"read_write"}"#),
    ("PUT", "/wc/v3/customers/ME", r#"{"password":"the thief's own words"}"#),
    ("PUT", "/wc/v3/customers/ME", r#"{"email":"thief@site.example"}"#),
];

#[test]
fn a_consumer_key_makes_nothing_stronger_than_itself() {
    let shop = RestSite::import(Site::sqlite());
    let running = shop.site.serve();
    let key = shop.identities.get("key:write").unwrap();
    let basic = format!("Basic {}", BASE64.encode(key.as_bytes()));
    let ask = |method: &str, path: &str, body: &str| {
        let request = Request::new(method, &format!("/wp-json{path}"))
            .header("Authorization", &basic)
            .header("X-Forwarded-Proto", "https")
            .header("Content-Type", "application/json");
        send(&running, &request.body(body.as_bytes().to_vec()))
    };
    let product = ask("POST", "/wc/v3/products", r#"{"name":"Rope"}"#);
    assert_eq!(product.status, 201, "the key works: {}", product.text());
    let admin = BASE64.encode(shop.identities.get("admin").unwrap().as_bytes());
    let me = Request::new("GET", "/wp-json/wp/v2/users/me");
    let owner = send(&running, &me.header("Authorization", &format!("Basic {admin}")));
    let owner = owner.json().unwrap();
    for (method, path, body) in ISSUING {
        let path = path.replace("ME", &owner["id"].to_string());
        let answer = ask(method, &path, body);
        assert!(matches!(answer.status, 401 | 403), "{path}: {} {}", answer.status, answer.text());
    }
}

#[test]
fn who_guesses_codes_of_phones_waits() {
    const GUESSES: usize = 5;
    let site = Site::sqlite()
        .set("server.rate_limits.enabled", true)
        .set("server.rate_limits.refused_keys_per_minute", GUESSES);
    let shop = RestSite::import(site);
    let running = shop.site.serve();
    let guess = |path: &str, client: &str| {
        let body = r#"{"token":"x","exchange_grant":"x","device":{"os":"x"},
                       "supports_number_matching":true}"#;
        let request = Request::new("POST", &format!("/wp-json/wc-admin/mobile-app/{path}"))
            .header("X-Forwarded-Proto", "https")
            .header("X-Forwarded-For", client)
            .header("Content-Type", "application/json");
        send(&running, &request.body(body)).status
    };
    for _ in 0..GUESSES {
        assert_eq!(guess("qr-login-scan", "198.51.100.7"), 401);
    }
    for path in ["qr-login-scan", "qr-login-exchange"] {
        assert_eq!(guess(path, "198.51.100.7"), 429, "{path}");
        assert_eq!(guess(path, "203.0.113.9"), 401, "{path} for others");
    }
}

fn send(running: &Running, request: &Request) -> Response {
    Connection::open(&running.url).unwrap().send(request).unwrap()
}

/// The e-mail as it is read: its lines were broken and some characters spelt out on the way.
fn as_read(data: &str) -> String {
    data.replace("=\r\n", "").replace("=\n", "").replace("=3D", "=")
}

fn a_link_from_an_email_signs_in_once(site: Site) {
    let sink = Sink::start().unwrap();
    let site = site
        .set("mail.relay", "127.0.0.1")
        .set("mail.port", sink.port())
        .set("mail.security", "none")
        .set("mail.from", "Pier Shop <shop@pier.example>");
    let shop = RestSite::import(site);
    let running = shop.site.serve();
    let basic = BASE64.encode(shop.identities.get("manager").unwrap().as_bytes());
    let basic = format!("Basic {basic}");
    let ask = |method: &str, path: &str| {
        // Where a caller claims the site to be is no concern of e-mails.
        let request = Request::new(method, &format!("/wp-json{path}")).header("Host", STRANGER);
        send(&running, &request.header("Authorization", &basic))
    };
    let sent = ask("GET", "/wc-admin/mobile-app/send-magic-link");
    assert_eq!((sent.status, sent.text()), (200, String::from(r#"{"code":"success"}"#)));
    let email = as_read(&sink.wait_for(1, PATIENCE).unwrap()[0].data);
    assert!(!email.contains(STRANGER), "{email}");
    let start = email.find("/login?magic_link=").unwrap();
    let link: String =
        email[start..].chars().take_while(|c| !c.is_whitespace() && *c != '"').collect();

    let open = |method: &str, path: &str| send(&running, &Request::new(method, path));
    assert_eq!(open("GET", &format!("{link}0")).status, 403, "a wrong signature");
    assert_eq!(open("HEAD", &link).status, 200);
    for _ in 0..3 {
        let question = open("GET", &link);
        assert_eq!(question.status, 200, "looking does not use it up");
        assert!(question.text().contains("Sign in as manager"), "{}", question.text());
    }
    let cookie = press(&running, &link);
    assert_eq!(open("GET", &link).status, 403, "it works once");

    let nonce = send(&running, &Request::new("GET", "/session/nonce").header("Cookie", &cookie));
    let nonce = nonce.json().unwrap()["nonce"].as_str().unwrap().to_owned();
    settings_are_saved_by_a_form(&running, &cookie, &nonce);
    emails_are_tried(&running, &sink, &cookie, &nonce);
    a_shut_store_shows_nothing(&running, &cookie, &nonce);
}

/// Presses the button of the page that the link leads to; returns the cookie of the session.
fn press(running: &Running, link: &str) -> String {
    let question = send(running, &Request::new("GET", link));
    let policy = question.header("Content-Security-Policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("script-src"), "{policy}");
    let page = question.text();
    let value = |name: &str| {
        let start = page.find(&format!("name=\"{name}\" value=\"")).unwrap();
        page[start..].split('"').nth(3).unwrap().to_owned()
    };
    let visitor = question.header("Set-Cookie").unwrap();
    let visitor = visitor.split(';').next().unwrap().to_owned();
    let form = format!("magic_link={}&_wpnonce={}", value("magic_link"), value("_wpnonce"));
    let post = |form: &str, visitor: &str| {
        let request = Request::new("POST", "/login")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Cookie", visitor)
            .body(form);
        send(running, &request)
    };
    let foreign = post(&form, "");
    assert_eq!(foreign.status, 403, "a form of another site: {}", foreign.text());
    let welcome = post(&form, &visitor);
    assert_eq!(welcome.status, 302, "{}", welcome.text());
    assert!(welcome.header("Location").unwrap().ends_with("/portal/"));
    let cookie = welcome.header("Set-Cookie").unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    assert!(cookie.starts_with(COOKIE), "{cookie}");
    assert_eq!(post(&form, &visitor).status, 403, "it works once");
    cookie
}

fn settings_are_saved_by_a_form(running: &Running, cookie: &str, nonce: &str) {
    let form = |fields: &str| {
        let request = Request::new("POST", "/wp-json/wc-admin/legacy-settings")
            .header("Cookie", cookie)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(format!("_wpnonce={nonce}&tab=general&{fields}"));
        send(running, &request)
    };
    let city = |answer: &Response| {
        let body = answer.json().unwrap();
        let page = "/data/settingsData/pages/general/sections/default/settings";
        let settings = body.pointer(page).unwrap().as_array().unwrap().clone();
        let found = settings.iter().find(|one| one["id"] == "woocommerce_store_city").cloned();
        found.unwrap()["value"].as_str().unwrap().to_owned()
    };
    let seen = form("woocommerce_store_city=Oslo");
    assert_eq!((seen.status, city(&seen)), (200, String::from("San Francisco")), "not saved");
    let refused = form("woocommerce_store_city=Oslo&woocommerce_currency=XXX&save=1");
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert_eq!(city(&form("")), "San Francisco", "nothing of it is saved");
    let saved = form("woocommerce_store_city=Oslo&save=1");
    assert_eq!((saved.status, city(&saved)), (200, String::from("Oslo")));
}

fn with_session(running: &Running, (cookie, nonce): (&str, &str), sent: Request) -> Response {
    send(running, &sent.header("Cookie", cookie).header("X-WP-Nonce", nonce))
}

fn emails_are_tried(running: &Running, sink: &Sink, cookie: &str, nonce: &str) {
    let base = "/wp-json/wc-admin-email/settings/email";
    let post = |path: &str, body: &str| {
        let request = Request::new("POST", &format!("{base}/{path}"));
        let request = request.header("Content-Type", "application/json").body(body);
        with_session(running, (cookie, nonce), request)
    };
    let subject = || {
        let path = format!("{base}/preview-subject?type=WC_Email_New_Order");
        let answer = with_session(running, (cookie, nonce), Request::new("GET", &path));
        answer.json().unwrap()["subject"].as_str().unwrap().to_owned()
    };
    assert!(subject().contains("Sample Store"), "{}", subject());
    let refused = post("save-transient", r#"{"key":"blogname","value":"x"}"#);
    assert_eq!(refused.status, 400);
    let tried =
        post("save-transient", r#"{"key":"woocommerce_email_from_name","value":"Pier Two"}"#);
    assert_eq!(tried.status, 200, "{}", tried.text());
    assert!(subject().contains("Pier Two"), "{}", subject());
    let sent =
        post("send-preview", r#"{"type":"WC_Email_New_Order","email":"reader@home.example"}"#);
    assert_eq!(sent.status, 200, "{}", sent.text());
    let got = sink.wait_for(2, PATIENCE).unwrap();
    assert_eq!(got[1].to, ["reader@home.example"]);
    assert!(got[1].data.contains("Pier Two"), "{}", got[1].data);
}

fn a_shut_store_shows_nothing(running: &Running, cookie: &str, nonce: &str) {
    let front = |headers: &[(&str, &str)], path: &str| {
        let request = Request::new("GET", path).header("Accept", "text/html");
        let add = |request: Request, (name, value): &(&str, &str)| request.header(name, value);
        send(running, &headers.iter().fold(request, add)).text()
    };
    let words = "This store opens soon";
    assert!(!front(&[], "/").contains(words));
    let path = "/wp-json/wc-admin/launch-your-store/initialize-coming-soon";
    let shut = with_session(running, (cookie, nonce), Request::new("POST", path));
    assert_eq!(shut.status, 200, "{}", shut.text());
    for path in ["/", "/shop/", "/cart/", "/checkout/", "/my-account/"] {
        assert!(front(&[], path).contains(words), "{path}");
    }
    assert!(!front(&[("Cookie", cookie)], "/shop/").contains(words));
    assert!(!front(&[("Cookie", cookie)], "/").contains(words), "whoever works for it looks in");
    let options = "/wp-json/wc-admin/options";
    let open = Request::new("POST", options).header("Content-Type", "application/json");
    let open = open.body(r#"{"woocommerce_private_link":"yes"}"#);
    assert_eq!(with_session(running, (cookie, nonce), open).status, 200);
    let key = Request::new("GET", &format!("{options}?options=woocommerce_share_key"));
    let key = with_session(running, (cookie, nonce), key).json().unwrap();
    let key = key["woocommerce_share_key"].as_str().unwrap().to_owned();
    assert!(front(&[], "/?woo-share=wrong").contains(words));
    assert!(!front(&[], &format!("/?woo-share={key}")).contains(words));
}
