//! What every route gets from the frame: discovery, overrides, wrappings, headers, credentials.

use serde_json::{Value, json};
use types::{Environment, Role};

use crate::support::{ADMIN, Answer, HOME, NOBODY, TestSite};

fn with_header(site: &TestSite, method: &str, path: &str, name: &str, value: &str) -> Answer {
    site.send(method, path, vec![(name.to_owned(), value.to_owned())], &Value::Null)
}

#[test]
fn the_index_is_one_document_however_it_is_asked_for() {
    let site = TestSite::new();
    let index = site.get("/", NOBODY);
    assert_eq!(index.status, 200);
    assert_eq!(site.get("", NOBODY).json, index.json);
    assert_eq!(site.get("//", NOBODY).json, index.json);
    for member in ["name", "namespaces", "authentication", "routes", "site_icon_url", "_links"] {
        assert!(index.json.get(member).is_some(), "{member}");
    }
    let listed = index.json["namespaces"].as_array().unwrap();
    for namespace in listed {
        let path = format!("/{}", namespace.as_str().unwrap());
        let answer = site.get(&path, NOBODY);
        assert_eq!(answer.json["namespace"], *namespace);
        assert_eq!(answer.json["_links"]["up"][0]["href"], format!("{HOME}/wp-json/"));
        assert!(index.json["routes"].get(&path).is_some(), "{path}");
    }
    let unknown = site.get("/wp/v2?namespace=bogus", NOBODY);
    assert_eq!(unknown.refusal(), (404, "rest_invalid_namespace"));
}

#[test]
fn the_index_shows_schemas_on_request_and_fields_of_choice() {
    let site = TestSite::new();
    let users = "/wp/v2/users";
    assert!(site.get("/", NOBODY).json["routes"][users].get("schema").is_none());
    assert!(site.get("/?context=help", NOBODY).json["routes"][users].get("schema").is_some());
    let chosen = site.get("/?_fields=name,site_icon", NOBODY);
    assert_eq!(chosen.json, json!({ "name": "Boardwalk", "site_icon": 0 }));
}

#[test]
fn an_unchanged_index_is_not_sent_again() {
    let site = TestSite::new();
    let tag = site.get("/", NOBODY).header("etag").to_owned();
    assert_eq!(with_header(&site, "GET", "/", "if-none-match", &tag).status, 304);
    assert_eq!(with_header(&site, "GET", "/", "if-none-match", "\"other\"").status, 200);
    let packed = with_header(&site, "GET", "/", "accept-encoding", "br, gzip;q=0.5");
    assert_eq!(packed.header("content-encoding"), "gzip");
    let plain = with_header(&site, "GET", "/", "accept-encoding", "gzip;q=0");
    assert_eq!(plain.header("content-encoding"), "");
    site.ask("POST", "/wp/v2/settings", ADMIN, &json!({ "title": "Pier" }));
    let changed = with_header(&site, "GET", "/", "if-none-match", &tag);
    assert_eq!((changed.status, &changed.json["name"]), (200, &json!("Pier")));
}

#[test]
fn a_wrong_method_is_no_route_and_options_always_answers() {
    let site = TestSite::new();
    for (method, path) in [("DELETE", "/"), ("GET", "/batch/v1"), ("BREW", "/"), ("GET", "/nope")] {
        let answer = site.ask(method, path, NOBODY, &Value::Null);
        assert_eq!(answer.refusal(), (404, "rest_no_route"), "{method} {path}");
        assert_eq!(answer.header("allow"), "");
    }
    let nothing = site.ask("OPTIONS", "/nope", NOBODY, &Value::Null);
    assert_eq!((nothing.status, &nothing.json), (200, &json!([])));
    let users = site.ask("OPTIONS", "/wp/v2/users", ADMIN, &Value::Null);
    assert_eq!(users.header("allow"), "GET, POST");
    assert!(users.json.get("schema").is_some());
    let head = site.ask("HEAD", "/wp/v2/users", ADMIN, &Value::Null);
    assert_eq!((head.status, head.header("x-wp-total")), (200, "1"));
    assert_eq!(head.json, Value::Null);
}

#[test]
fn paths_match_in_any_case_and_with_a_slash_at_the_end() {
    let site = TestSite::new();
    for path in ["/WP/V2/users/ME", "/wp/v2/users/me/"] {
        assert_eq!(site.get(path, ADMIN).status, 200, "{path}");
    }
}

#[test]
fn the_method_can_be_overridden() {
    let site = TestSite::new();
    let by_query = site.ask("GET", "/wp/v2/users/me?_method=delete", ADMIN, &Value::Null);
    assert_eq!(by_query.refusal(), (400, "rest_missing_callback_param"));
    let mut headers = site.credentials(ADMIN);
    headers.push(("x-http-method-override".into(), "PUT".into()));
    let body = json!({ "description": "overridden" });
    let by_header = site.send("POST", "/wp/v2/users/me", headers, &body);
    assert_eq!(by_header.json["description"], "overridden");
}

#[test]
fn answers_come_in_envelopes_and_callbacks() {
    let site = TestSite::new();
    let enveloped = site.get("/nope?_envelope", NOBODY);
    assert_eq!((enveloped.status, &enveloped.json["status"]), (200, &json!(404)));
    assert_eq!(enveloped.json["headers"], json!([]));
    let listed = site.get("/wp/v2/users?_envelope=1", ADMIN);
    assert_eq!(listed.json["headers"]["X-WP-Total"], 1);
    assert_eq!(listed.header("x-wp-total"), "");
    for (path, who, code) in [
        ("/?_jsonp=a(b", NOBODY, "rest_callback_invalid"),
        ("/?_jsonp=", NOBODY, "rest_callback_invalid"),
        ("/?_jsonp[]=a", NOBODY, "rest_callback_invalid"),
        ("/wp/v2/users/me?_jsonp=a", ADMIN, "rest_callback_disabled"),
    ] {
        let answer = site.get(path, who);
        assert_eq!(answer.refusal(), (400, code), "{path}");
        assert!(answer.json.get("data").is_none());
    }
    let (media_type, text) = site.get_text("/wp/v2/users/99?_jsonp=a.b");
    assert_eq!(media_type, "application/javascript; charset=UTF-8");
    assert!(text.starts_with("/**/a.b({") && text.ends_with("})"), "{text}");
}

#[test]
fn headers_say_who_may_keep_and_read_an_answer() {
    let site = TestSite::new();
    let anonymous = site.get("/wp/v2/users", NOBODY);
    assert_eq!(anonymous.header("cache-control"), "");
    assert_eq!(anonymous.header("access-control-allow-origin"), "");
    assert_eq!(anonymous.header("x-content-type-options"), "nosniff");
    let signed_in = site.get("/wp/v2/users", ADMIN);
    assert!(signed_in.header("cache-control").contains("no-store"));
    let foreign = with_header(&site, "GET", "/nope", "origin", "https://x.example");
    assert_eq!(foreign.header("access-control-allow-origin"), "https://x.example");
    assert_eq!(foreign.header("vary"), "Origin");
    let overridden = with_header(&site, "POST", "/nope", "x-http-method-override", "PUT");
    assert!(overridden.header("cache-control").contains("no-store"));
}

#[test]
fn a_wrong_parameter_beats_a_missing_right_and_wrong_credentials_beat_both() {
    let site = TestSite::new();
    let invalid = site.get("/wp/v2/users?per_page=0&order=up&context=edit", NOBODY);
    assert_eq!(invalid.refusal(), (400, "rest_invalid_param"));
    assert_eq!(invalid.json["data"]["details"]["per_page"]["code"], "rest_out_of_bounds");
    assert_eq!(invalid.json["data"]["details"]["order"]["code"], "rest_not_in_enum");
    assert_eq!(site.get("/wp/v2/settings", NOBODY).status, 401);
    let wrong = data_encoding::BASE64.encode(b"admin:wrong wrong");
    let wrong = format!("Basic {wrong}");
    for (path, expected) in [
        ("/", 401),
        ("/nope", 401),
        ("/wp/v2/users?per_page=0", 401),
        // The commerce family takes what it does not know for nothing.
        ("/wc/v3", 200),
        ("/wc-analytics/nope", 404),
    ] {
        let answer = with_header(&site, "GET", path, "authorization", &wrong);
        assert_eq!(answer.status, expected, "{path}");
    }
    let body = site.send_bytes("POST", "/wp/v2/users/me", site.credentials(ADMIN), b"{");
    assert_eq!(body.refusal(), (400, "rest_invalid_json"));
    assert_eq!(body.json["data"]["json_error_code"], 4);
}

#[test]
fn application_passwords_need_a_safe_way() {
    let site = TestSite::of(Environment::Production);
    let answer = site.get("/wp/v2/users/me", ADMIN);
    assert_eq!(answer.refusal(), (401, "rest_not_logged_in"), "plain http from elsewhere");
    assert_eq!(site.get("/", NOBODY).json["authentication"], json!([]));
}

#[test]
fn who_guesses_waits_and_the_right_password_is_not_looked_at() {
    let mut site = TestSite::new();
    site.user("anna", Role::Subscriber);
    let wrong = format!("Basic {}", data_encoding::BASE64.encode(b"anna:wrong wrong"));
    let guess = || with_header(&site, "GET", "/wp/v2/users/me", "authorization", &wrong);
    let statuses: Vec<u16> = (0..102).map(|_| guess().status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 100);
    let last = guess();
    assert_eq!(last.refusal(), (429, "too_many_attempts"));
    assert!(last.header("retry-after").parse::<u64>().unwrap() > 0);
    let right = site.get("/wp/v2/users/me", "anna");
    assert_eq!(right.refusal(), (429, "too_many_attempts"));
    assert_eq!(site.get("/wc/v3/products", "anna").status, 429, "commerce waits too");
    assert_eq!(site.get("/wp/v2/types", NOBODY).status, 200, "who shows nothing does not wait");
}

#[test]
fn keys_in_the_query_are_counted_too() {
    let site = TestSite::new();
    let signed = "oauth_consumer_key=ck_1&oauth_nonce=n&oauth_timestamp=1&oauth_signature=s\
                  &oauth_signature_method=HMAC-SHA256";
    let ask = || site.get(&format!("/wc/v3/products?{signed}"), NOBODY);
    for _ in 0..100 {
        assert_eq!(ask().status, 401);
    }
    assert_eq!(ask().refusal(), (429, "too_many_attempts"));
    assert_eq!(site.get("/wp/v2/users/me", ADMIN).status, 429, "it is the address that waits");
}

#[test]
fn a_nonce_without_a_session_is_stale() {
    let site = TestSite::new();
    let stale = with_header(&site, "GET", "/", "x-wp-nonce", "0123456789");
    assert_eq!(stale.refusal(), (403, "rest_cookie_invalid_nonce"));
    assert!(stale.header("cache-control").contains("no-store"));
}

#[test]
fn no_choice_of_fields_is_too_deep() {
    let site = TestSite::new();
    let body = json!({ "_fields": "a.".repeat(200_000) });
    assert_eq!(site.ask("GET", "/wp/v2/types", NOBODY, &body).status, 200);
}

#[test]
fn passwords_of_a_batch_are_hashed_before_its_transaction() {
    let mut site = TestSite::new();
    let anna = site.user("anna", Role::Subscriber);
    let item = |number: i32| {
        json!({
            "path": format!("/wp/v2/users/{anna}"),
            "body": { "password": format!("a rather long password {number}") },
        })
    };
    let body = json!({ "requests": [item(1), item(2)] });
    let answer = site.ask("POST", "/batch/v1", "anna", &body);
    let statuses: Vec<&Value> =
        answer.json["responses"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, [200, 200]);
}

#[test]
fn an_answer_of_a_moment_ago_never_outlives_a_write() {
    let mut site = TestSite::new();
    site.user("anna", Role::Subscriber);
    let me = "/wp/v2/users/me";
    let before = site.get(me, "anna");
    assert_eq!(site.get(me, "anna").json, before.json, "from memory");
    assert_ne!(site.get(me, ADMIN).json["id"], before.json["id"], "each caller has their own");
    site.ask("POST", me, "anna", &json!({ "description": "changed" }));
    assert_eq!(site.get(me, "anna").json["description"], "changed");
    let enveloped = site.get("/wp/v2/users/me?_envelope", "anna");
    assert_eq!(site.get("/wp/v2/users/me?_envelope", "anna").json, enveloped.json);
    assert_eq!(enveloped.json["body"]["description"], "changed");
}
