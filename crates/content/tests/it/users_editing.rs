//! Making and changing users: who may, what is refused, and what becomes of it.

use frame::auth::nonce::{self, Holder};
use frame::auth::session;
use frame::password;
use frame::users::BoundTo;
use serde_json::{Value, json};
use site_rows::session::SessionRow;
use types::{Role, Secret};

use crate::support::{ADMIN, HOME, NOBODY, TestSite, now};

const PASSWORD: &str = "correct horse battery";

fn site() -> TestSite {
    let mut site = TestSite::new();
    site.user("manager", Role::ShopManager);
    site.user("editor", Role::Editor);
    site.user("subscriber", Role::Subscriber);
    site.user("customer", Role::Customer);
    site
}

fn new_user(more: &Value) -> Value {
    let mut user =
        json!({ "username": "anna", "email": "anna@example.test", "password": PASSWORD });
    user.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    user
}

#[test]
fn a_new_user_has_what_was_asked_for() {
    let site = site();
    let fields = json!({
        "first_name": "Anna", "last_name": "B & C", "url": "https://anna.example/",
        "description": "Hi <b>there</b>", "roles": ["customer", "editor"], "locale": "en_US",
        "meta": { "persisted_preferences": { "core": { "a": 1 } } },
        "woocommerce_meta": { "homepage_layout": "two_columns", "bogus": "x", "homepage_stats": [1] },
    });
    let answer = site.ask("POST", "/wp/v2/users", ADMIN, &new_user(&fields));
    assert_eq!(answer.status, 201, "{}", answer.json);
    assert_eq!(answer.header("location"), format!("{HOME}/wp-json/wp/v2/users/6"));
    let user = answer.json;
    for (field, expected) in [
        ("id", json!(6)),
        ("username", json!("anna")),
        ("name", json!("Anna B &amp; C")),
        ("last_name", json!("B &amp; C")),
        ("nickname", json!("anna")),
        ("slug", json!("anna")),
        ("url", json!("https://anna.example/")),
        ("description", json!("Hi there")),
        ("roles", json!(["customer", "editor"])),
        ("meta", json!({ "persisted_preferences": { "core": { "a": 1 } } })),
        ("link", json!(format!("{HOME}/author/anna/"))),
    ] {
        assert_eq!(user[field], expected, "{field}");
    }
    assert_eq!(user["woocommerce_meta"]["homepage_layout"], json!("two_columns"));
    assert_eq!(user["woocommerce_meta"]["homepage_stats"], json!("[1]"));
    assert_eq!(user["woocommerce_meta"].as_object().unwrap().len(), 23);
    assert!(user.get("password").is_none());
    let stored = site.read(|conn| site_rows::user::get(conn, 6)).unwrap();
    let right = Secret::new(PASSWORD.to_owned());
    assert!(password::matches(&right, stored.password_hash.as_deref()));
    let plain = site.ask(
        "POST",
        "/wp/v2/users",
        ADMIN,
        &json!({ "username": "Anna ", "email": "x@example.test", "password": PASSWORD }),
    );
    assert_eq!(plain.refusal(), (400, "rest_invalid_param"), "a blank at the end");
    let second = json!({ "username": "anna.", "email": "x@example.test", "password": PASSWORD });
    let second = site.ask("POST", "/wp/v2/users", ADMIN, &second).json;
    assert_eq!((&second["slug"], &second["roles"]), (&json!("anna-2"), &json!(["subscriber"])));
}

#[test]
fn a_new_user_is_refused_for_good_reasons() {
    let mut site = site();
    site.user("taken", Role::Customer);
    for (fields, code, detail) in [
        (json!({ "username": "TAKEN" }), "existing_user_login", ""),
        (json!({ "email": "Taken@Example.test" }), "existing_user_email", ""),
        (json!({ "username": "<b>" }), "rest_invalid_param", "rest_user_invalid_username"),
        (json!({ "username": "ä" }), "rest_invalid_param", "rest_user_invalid_username"),
        (json!({ "username": "" }), "rest_invalid_param", "rest_user_invalid_username"),
        (json!({ "username": 5 }), "rest_invalid_param", "rest_invalid_type"),
        (json!({ "username": "a".repeat(61) }), "user_login_too_long", ""),
        (json!({ "password": "" }), "rest_invalid_param", "rest_user_invalid_password"),
        (json!({ "password": "short" }), "rest_invalid_param", "rest_user_invalid_password"),
        (
            json!({ "password": r"back\slash and more" }),
            "rest_invalid_param",
            "rest_user_invalid_password",
        ),
        (json!({ "email": "nonsense" }), "rest_invalid_param", "rest_invalid_email"),
        (json!({ "locale": "xx_XX" }), "rest_invalid_param", "rest_not_in_enum"),
        (json!({ "name": "n".repeat(251) }), "user_name_too_long", ""),
        (json!({ "slug": "s".repeat(51) }), "user_nicename_too_long", ""),
        (
            json!({ "id": 1, "username": "anna2", "email": "b@example.test" }),
            "rest_user_exists",
            "",
        ),
        (json!({ "roles": ["captain"] }), "rest_user_invalid_role", ""),
        (json!({ "roles": ["iso_admin"] }), "rest_user_invalid_role", ""),
        (json!({ "roles": ["iso_staff"] }), "rest_user_invalid_role", ""),
        (json!({ "roles": ["merchant"] }), "rest_user_invalid_role", ""),
        (json!({ "roles": ["customer", "store"] }), "rest_user_invalid_role", ""),
    ] {
        let answer = site.ask("POST", "/wp/v2/users", ADMIN, &new_user(&fields));
        let expected = if code.is_empty() { 201 } else { 400 };
        assert_eq!(answer.refusal(), (expected, code), "{fields}");
        if !detail.is_empty() {
            let name = fields.as_object().unwrap().keys().next().unwrap();
            assert_eq!(answer.json["data"]["details"][name]["code"], json!(detail), "{fields}");
        }
    }
    let missing = site.ask("POST", "/wp/v2/users", ADMIN, &json!({ "username": "x" }));
    assert_eq!(missing.refusal(), (400, "rest_missing_callback_param"));
    assert_eq!(missing.json["data"]["params"], json!(["email", "password"]));
}

#[test]
fn nobody_changes_what_is_not_theirs() {
    let site = site();
    let name = json!({ "name": "Changed" });
    let roles = |role: &str| json!({ "roles": [role] });
    // Ids: 1 admin, 2 manager, 3 editor, 4 subscriber, 5 customer.
    for (who, path, fields, expected) in [
        (NOBODY, "", new_user(&json!({})), (401, "rest_cannot_create_user")),
        ("subscriber", "", new_user(&json!({})), (403, "rest_cannot_create_user")),
        ("manager", "", new_user(&json!({})), (403, "rest_cannot_create_user")),
        ("editor", "", new_user(&json!({})), (403, "rest_cannot_create_user")),
        (NOBODY, "/me", name.clone(), (404, "rest_user_invalid_id")),
        (NOBODY, "/4", name.clone(), (401, "rest_cannot_edit")),
        (NOBODY, "/4", roles("administrator"), (401, "rest_cannot_edit_roles")),
        (NOBODY, "/99", name.clone(), (404, "rest_user_invalid_id")),
        ("subscriber", "/5", name.clone(), (403, "rest_cannot_edit")),
        ("subscriber", "/1", json!({ "password": PASSWORD }), (403, "rest_cannot_edit")),
        ("subscriber", "/me", roles("administrator"), (403, "rest_cannot_edit_roles")),
        ("subscriber", "/4", roles("administrator"), (403, "rest_cannot_edit_roles")),
        ("subscriber", "/4", json!({ "roles": [] }), (403, "rest_cannot_edit_roles")),
        ("subscriber", "/4?roles=administrator", name.clone(), (403, "rest_cannot_edit_roles")),
        ("subscriber", "/4?id=1", json!({ "name": "x" }), (403, "rest_cannot_edit")),
        ("subscriber", "/me?id=1", json!({ "name": "x", "id": 1 }), (200, "")),
        ("editor", "/5", name.clone(), (403, "rest_cannot_edit")),
        ("manager", "/1", name.clone(), (403, "rest_cannot_edit")),
        ("manager", "/1", json!({ "password": PASSWORD }), (403, "rest_cannot_edit")),
        ("manager", "/1", json!({ "email": "evil@example.test" }), (403, "rest_cannot_edit")),
        ("manager", "/3", name.clone(), (403, "rest_cannot_edit")),
        ("manager", "/4", name.clone(), (403, "rest_cannot_edit")),
        ("manager", "/5", name.clone(), (200, "")),
        ("manager", "/5", roles("administrator"), (403, "rest_cannot_edit_roles")),
        ("manager", "/5", roles("customer"), (403, "rest_cannot_edit_roles")),
        ("manager", "/5", json!({ "roles": [] }), (403, "rest_cannot_edit_roles")),
        ("manager", "/me", roles("administrator"), (403, "rest_cannot_edit_roles")),
        ("manager", "/me", name.clone(), (200, "")),
        ("subscriber", "/4", name.clone(), (200, "")),
        (ADMIN, "/5", name, (200, "")),
        (ADMIN, "/5", roles("captain"), (400, "rest_user_invalid_role")),
        (ADMIN, "/5", roles("merchant"), (400, "rest_user_invalid_role")),
        (ADMIN, "/me", roles("subscriber"), (403, "rest_user_invalid_role")),
        (ADMIN, "/me", roles("shop_manager"), (409, "rest_user_last_administrator")),
        (ADMIN, "/1", json!({ "roles": [] }), (409, "rest_user_last_administrator")),
        (ADMIN, "/5", json!({ "username": "other" }), (400, "rest_user_invalid_argument")),
        (ADMIN, "/5", json!({ "email": "editor@example.test" }), (400, "rest_user_invalid_email")),
        (ADMIN, "/5", json!({ "slug": "editor" }), (400, "rest_user_invalid_slug")),
        (ADMIN, "/5", json!({ "email": null }), (400, "rest_user_invalid_email")),
        (ADMIN, "/5", json!({ "username": "customer", "slug": "customer" }), (200, "")),
        (
            ADMIN,
            "/5",
            json!({ "url": format!("https://{}.example", "u".repeat(100)) }),
            (400, "user_url_too_long"),
        ),
    ] {
        let answer = site.ask("POST", &format!("/wp/v2/users{path}"), who, &fields);
        assert_eq!(answer.refusal(), expected, "{who:?} {path} {fields}");
    }
    let admin = site.read(|conn| site_rows::user::get(conn, 1)).unwrap();
    assert_eq!((admin.display_name.as_str(), admin.password_hash), (ADMIN, None));
    assert_eq!(admin.roles, [Role::Administrator]);
    let users = site.read(site_rows::user::all);
    assert_eq!(users.len(), 5, "nobody was made");
}

#[test]
fn fields_change_as_asked_and_fall_back_to_the_login() {
    let site = site();
    let edit = |fields: Value| site.ask("PUT", "/wp/v2/users/5", ADMIN, &fields).json;
    let changed = edit(json!({
        "name": "A <i>B</i> & C", "nickname": "nick", "slug": "New Slug", "first_name": "F",
        "last_name": "L", "description": "one\ntwo", "url": "javascript:alert(1)",
        "email": "new@example.test",
    }));
    for (field, expected) in [
        ("name", "A B &amp; C"),
        ("nickname", "nick"),
        ("slug", "new-slug"),
        ("first_name", "F"),
        ("description", "one\ntwo"),
        ("url", ""),
        ("email", "new@example.test"),
    ] {
        assert_eq!(changed[field], json!(expected), "{field}");
    }
    let back = edit(json!({ "name": "", "nickname": "", "slug": "" }));
    for field in ["name", "nickname", "slug"] {
        assert_eq!(back[field], json!("customer"), "{field}");
    }
    assert_eq!(back["last_name"], json!("L"), "what is not given stays");
    let same = site.get("/wp/v2/users/5?context=edit", ADMIN).json;
    assert_eq!(same, back);
}

#[test]
fn an_administrator_gives_roles() {
    let mut site = site();
    let merchant = BoundTo::Merchant("M00000000001".to_owned());
    let merchant = site.bound_user("merchant", Role::Merchant, merchant);
    let iso = site.bound_user("iso", Role::IsoAdmin, BoundTo::Iso("iso-1".to_owned()));
    for (user_id, roles, expected) in [
        (5, json!(["shop_manager"]), (200, "")),
        (5, json!(["editor", "editor"]), (200, "")),
        (5, json!([]), (200, "")),
        (5, json!("administrator"), (200, "")),
        (merchant, json!(["customer"]), (200, "")),
        (merchant, json!(["merchant"]), (200, "")),
        (merchant, json!(["store"]), (400, "rest_user_invalid_role")),
        (merchant, json!(["iso_admin"]), (400, "rest_user_invalid_role")),
        (iso, json!(["iso_staff"]), (200, "")),
        (iso, json!(["iso_admin", "merchant"]), (400, "rest_user_invalid_role")),
        // There are two administrators now.
        (1, json!(["shop_manager"]), (200, "")),
    ] {
        let path = format!("/wp/v2/users/{user_id}");
        let answer = site.ask("PATCH", &path, ADMIN, &json!({ "roles": roles }));
        assert_eq!(answer.refusal(), expected, "{user_id} {roles}");
    }
    let users = site.read(site_rows::user::all);
    let of = |user_id: i64| users.iter().find(|user| user.user_id == user_id).unwrap();
    assert_eq!(of(5).roles, [Role::Administrator]);
    assert_eq!(of(merchant).merchant_id.as_deref(), Some("M00000000001"));
    assert_eq!(
        (of(iso).iso_id.as_deref(), &*of(iso).roles),
        (Some("iso-1"), &[Role::IsoStaff][..])
    );
}

#[test]
fn a_new_password_ends_the_sessions() {
    let site = site();
    let begin = |token: &str, user_id: i64| {
        let row = SessionRow {
            token_hash: token.as_bytes().to_vec(),
            user_id,
            created: now(),
            expires: now().plus(std::time::Duration::from_hours(1)),
            ip: String::new(),
            user_agent: String::new(),
        };
        site.write(move |conn| site_rows::session::insert(conn, &row));
    };
    begin("one", 4);
    begin("two", 5);
    let alive = |token: &'static str| {
        site.read(move |conn| site_rows::session::get(conn, token.as_bytes(), now())).is_some()
    };
    let name = json!({ "name": "No new password" });
    assert_eq!(site.ask("PUT", "/wp/v2/users/4", ADMIN, &name).status, 200);
    assert!(alive("one"));
    let fields = json!({ "password": PASSWORD });
    assert_eq!(site.ask("PUT", "/wp/v2/users/me", "subscriber", &fields).status, 200);
    assert!(!alive("one") && alive("two"));
    let still = site.get("/wp/v2/users/me", "subscriber");
    assert_eq!(still.status, 200, "application passwords stay");
}

#[test]
fn whoever_changes_their_password_stays_signed_in() {
    let site = site();
    let begin = |token: &str| {
        let token_hash = session::hash(site.site.vault(), token);
        let row = SessionRow {
            token_hash: token_hash.clone(),
            user_id: 4,
            created: now(),
            expires: now().plus(std::time::Duration::from_hours(1)),
            ip: String::new(),
            user_agent: String::new(),
        };
        site.write(move |conn| site_rows::session::insert(conn, &row));
        token_hash
    };
    let change = |token: &str, hash: &[u8]| {
        let holder = Holder { user_id: 4, session: hash };
        let nonce = nonce::make(site.site.vault(), nonce::REST, holder, now());
        let cookie =
            ("cookie".to_owned(), format!("{}={token}", site.site.environment().session_cookie()));
        let headers = vec![cookie, ("x-wp-nonce".to_owned(), nonce)];
        site.send("POST", "/wp/v2/users/me", headers, &json!({ "password": PASSWORD }))
    };
    let (here, elsewhere) = (begin("here"), begin("elsewhere"));
    assert_eq!(change("here", &here).status, 200);
    assert_eq!(change("here", &here).status, 200, "this session goes on");
    assert_ne!(change("elsewhere", &elsewhere).status, 200, "the other one is over");
}

#[test]
fn a_batch_makes_users_and_me_is_not_in_it() {
    let site = site();
    let requests = json!({ "requests": [
        { "path": "/wp/v2/users", "body": new_user(&json!({})) },
        { "method": "PUT", "path": "/wp/v2/users/5", "body": { "name": "Batch" } },
        { "method": "PUT", "path": "/wp/v2/users/me", "body": { "name": "Batch" } },
    ] });
    let answer = site.ask("POST", "/batch/v1", ADMIN, &requests);
    let statuses: Vec<&Value> =
        answer.json["responses"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!((answer.status, json!(statuses)), (207, json!([201, 200, 400])));
}
