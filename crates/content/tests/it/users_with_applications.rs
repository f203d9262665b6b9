//! Application passwords over REST: made, used, looked at, renamed, taken back.

use serde_json::{Value, json};
use types::{Environment, Role};

use crate::support::{ADMIN, Answer, HOME, NOBODY, TestSite};

const LIST: &str = "/wp/v2/users/me/application-passwords";

fn site() -> TestSite {
    let mut site = TestSite::new();
    site.user("manager", Role::ShopManager);
    site.user("subscriber", Role::Subscriber);
    site.user("customer", Role::Customer);
    site
}

fn with_password(site: &TestSite, login: &str, password: &str, path: &str) -> Answer {
    let encoded = data_encoding::BASE64.encode(format!("{login}:{password}").as_bytes());
    let header = ("authorization".to_owned(), format!("Basic {encoded}"));
    site.send("GET", path, vec![header], &Value::Null)
}

#[test]
fn a_password_lives_and_dies() {
    let site = site();
    let app_id = "6f9619ff-8b86-4011-b42d-00c04fc964ff";
    let fields = json!({ "name": " My <b>app</b> ", "app_id": app_id });
    let made = site.ask("POST", LIST, "subscriber", &fields);
    assert_eq!(made.status, 201, "{}", made.json);
    let uuid = made.json["uuid"].as_str().unwrap().to_owned();
    let path = format!("/wp/v2/users/3/application-passwords/{uuid}");
    assert_eq!(made.header("location"), format!("{HOME}/wp-json{path}"));
    let password = made.json["password"].as_str().unwrap().to_owned();
    assert_eq!((password.len(), password.split(' ').count()), (29, 6));
    let allow = ["GET", "POST", "PUT", "PATCH", "DELETE"];
    assert_eq!(
        made.json,
        json!({
            "uuid": uuid, "app_id": app_id, "name": "My app", "password": password,
            "created": "2026-11-15T08:00:00", "last_used": null, "last_ip": null,
            "_links": { "self": [{
                "href": format!("{HOME}/wp-json{path}"), "targetHints": { "allow": allow },
            }] },
        })
    );

    let me = with_password(&site, "subscriber", &password, "/wp/v2/users/me");
    assert_eq!((me.status, &me.json["id"]), (200, &json!(3)));
    let plain = password.replace(' ', "");
    let own = with_password(&site, "subscriber", &plain, &format!("{LIST}/introspect"));
    assert_eq!((own.status, &own.json["uuid"]), (200, &json!(uuid)));
    assert_eq!(own.json["last_used"], json!("2026-11-15T08:00:00"));
    assert_eq!(own.json["last_ip"], json!("192.0.2.7"));
    assert!(own.json.get("password").is_none());

    let shown = site.get(&format!("{path}?context=embed"), ADMIN).json;
    let names: Vec<&String> = shown.as_object().unwrap().keys().collect();
    assert_eq!(names, ["uuid", "app_id", "name", "_links"]);
    let renamed = site.ask("PATCH", &path, "subscriber", &json!({ "name": "B", "app_id": "" }));
    assert_eq!((&renamed.json["name"], &renamed.json["app_id"]), (&json!("B"), &json!(app_id)));
    let listed = site.get(LIST, "subscriber");
    // Both were made at the same moment, so their order is any.
    let mut names = listed.each("name");
    names.sort_by_key(Value::to_string);
    assert_eq!(json!(names), json!(["B", "test"]));
    assert_eq!(listed.header("x-wp-total"), "");

    let deleted = site.ask("DELETE", &path, "subscriber", &Value::Null);
    assert_eq!((deleted.status, &deleted.json["deleted"]), (200, &json!(true)));
    assert_eq!(deleted.json["previous"]["uuid"], json!(uuid));
    std::thread::sleep(std::time::Duration::from_secs(1));
    let refused = with_password(&site, "subscriber", &password, "/wp/v2/users/me");
    assert_eq!(refused.refusal(), (401, "incorrect_password"));
    let missing = site.get(&path, "subscriber");
    assert_eq!(missing.refusal(), (404, "rest_application_password_not_found"));
    let all = site.ask("DELETE", LIST, "customer", &Value::Null);
    assert_eq!(all.json, json!({ "deleted": true, "count": 1 }));
}

#[test]
fn making_one_is_remembered_in_the_options() {
    let site = TestSite::new();
    let stored = site.read(|conn| site_rows::option::get(conn, "using_application_passwords"));
    assert_eq!(stored.as_deref(), Some("true"));
}

#[test]
fn names_and_ids_of_applications_are_checked() {
    let site = site();
    for (fields, expected) in [
        (json!({}), (400, "rest_missing_callback_param")),
        (json!({ "name": "" }), (400, "rest_invalid_param")),
        (json!({ "name": "   " }), (400, "rest_invalid_param")),
        (json!({ "name": 5 }), (400, "rest_invalid_param")),
        (json!({ "name": "<b></b>" }), (400, "application_password_empty_name")),
        (json!({ "name": "n".repeat(251) }), (400, "application_password_name_too_long")),
        (json!({ "name": "a", "app_id": "x" }), (400, "rest_invalid_param")),
        (json!({ "name": "a", "app_id": "" }), (201, "")),
        (json!({ "name": "a" }), (201, "")),
    ] {
        let answer = site.ask("POST", LIST, ADMIN, &fields);
        assert_eq!(answer.refusal(), expected, "{fields}");
    }
}

#[test]
fn only_those_who_may_change_a_user_see_their_passwords() {
    let site = site();
    let list = |user: &str| format!("/wp/v2/users/{user}/application-passwords");
    let uuid_of = |who: &str| site.get(LIST, who).json[0]["uuid"].as_str().unwrap().to_owned();
    let (admins, customers) = (uuid_of(ADMIN), uuid_of("customer"));
    let name = json!({ "name": "stolen" });
    let no_list = "rest_cannot_list_application_passwords";
    let no_create = "rest_cannot_create_application_passwords";
    // Ids: 1 admin, 2 manager, 3 subscriber, 4 customer.
    for (who, method, path, expected) in [
        (NOBODY, "GET", list("me"), (401, "rest_not_logged_in")),
        (NOBODY, "GET", list("1"), (401, no_list)),
        (NOBODY, "POST", list("1"), (401, no_create)),
        (NOBODY, "GET", list("99"), (404, "rest_user_invalid_id")),
        (NOBODY, "GET", list("me/introspect"), (404, "rest_no_route")),
        (NOBODY, "GET", format!("{}/introspect", list("me")), (401, "rest_not_logged_in")),
        (
            NOBODY,
            "GET",
            format!("{}/introspect", list("1")),
            (401, "rest_cannot_introspect_app_password_for_non_authenticated_user"),
        ),
        (
            ADMIN,
            "GET",
            format!("{}/introspect", list("4")),
            (403, "rest_cannot_introspect_app_password_for_non_authenticated_user"),
        ),
        ("subscriber", "GET", list("4"), (403, no_list)),
        ("subscriber", "POST", list("1"), (403, no_create)),
        ("subscriber", "DELETE", list("1"), (403, "rest_cannot_delete_application_passwords")),
        (
            "subscriber",
            "GET",
            format!("{}/{admins}", list("1")),
            (403, "rest_cannot_read_application_password"),
        ),
        (
            "subscriber",
            "PUT",
            format!("{}/{admins}", list("1")),
            (403, "rest_cannot_edit_application_password"),
        ),
        (
            "subscriber",
            "DELETE",
            format!("{}/{admins}", list("1")),
            (403, "rest_cannot_delete_application_password"),
        ),
        // The password of another user is not reached through one's own list.
        (
            "subscriber",
            "GET",
            format!("{LIST}/{admins}"),
            (404, "rest_application_password_not_found"),
        ),
        ("manager", "GET", list("1"), (403, no_list)),
        ("manager", "POST", list("1"), (403, no_create)),
        ("manager", "POST", list("3"), (403, no_create)),
        ("manager", "GET", list("4"), (200, "")),
        (ADMIN, "GET", format!("{}/{customers}", list("4")), (200, "")),
        (ADMIN, "PUT", format!("{}/{customers}", list("4")), (200, "")),
    ] {
        let body = if matches!(method, "POST" | "PUT") { &name } else { &Value::Null };
        let answer = site.ask(method, &path, who, body);
        assert_eq!(answer.refusal(), expected, "{who:?} {method} {path}");
    }
}

#[test]
fn without_encryption_there_are_none() {
    let site = TestSite::of(Environment::Production);
    let answer = site.get("/wp/v2/users/1/application-passwords", NOBODY);
    assert_eq!(answer.refusal(), (501, "application_passwords_disabled"));
}

#[test]
fn a_consumer_key_is_shown_once_and_is_nobody_elses() {
    const KEYS: &str = "/boardwalk/v1/consumer-keys";
    let site = site();
    let fields = json!({ "description": "<b>Till</b>", "permissions": "read_write" });
    let made = site.ask("POST", KEYS, "manager", &fields);
    assert_eq!((made.status, &made.json["description"]), (201, &json!("Till")), "{}", made.json);
    let text = |name: &str| made.json[name].as_str().unwrap().to_owned();
    let (key, secret) = (text("consumer_key"), text("consumer_secret"));
    assert!(key.starts_with("ck_") && secret.starts_with("cs_"), "{}", made.json);
    assert!(key.ends_with(&text("truncated_key")));

    let listed = site.get(KEYS, "manager");
    assert_eq!(json!(listed.each("description")), json!(["Till"]));
    let shown = listed.json.to_string();
    assert!(!shown.contains(&key) && !shown.contains(&secret), "{shown}");
    assert_eq!(site.get(KEYS, ADMIN).json, json!([]));

    let one = format!("{KEYS}/{}", made.json["id"]);
    for (who, method, path, body, expected) in [
        (NOBODY, "GET", KEYS, json!({}), (401, "rest_cannot_use_consumer_keys")),
        ("customer", "POST", KEYS, fields.clone(), (403, "rest_cannot_use_consumer_keys")),
        ("manager", "POST", KEYS, json!({}), (400, "rest_missing_callback_param")),
        (
            "manager",
            "POST",
            KEYS,
            json!({ "description": "a", "permissions": "all" }),
            (400, "rest_invalid_param"),
        ),
        (
            "manager",
            "POST",
            KEYS,
            json!({ "description": "<i></i>", "permissions": "read" }),
            (400, "consumer_key_description"),
        ),
        (ADMIN, "DELETE", &one, json!({}), (404, "rest_consumer_key_not_found")),
    ] {
        assert_eq!(site.ask(method, path, who, &body).refusal(), expected, "{who} {method}");
    }
    let deleted = site.ask("DELETE", &one, "manager", &Value::Null);
    assert_eq!((deleted.status, &deleted.json["deleted"]), (200, &json!(true)));
    assert_eq!(site.get(KEYS, "manager").json, json!([]));
}
