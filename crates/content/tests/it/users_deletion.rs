//! Deleting users, and what becomes of what they leave behind.

use serde_json::{Value, json};
use site_rows::consumer_key::ConsumerKeyRow;
use site_rows::session::SessionRow;
use types::Role;

use crate::support::{ADMIN, NOBODY, TestSite, now};
use crate::users_reading::publish;

fn site() -> TestSite {
    let mut site = TestSite::new();
    site.user("manager", Role::ShopManager);
    site.user("editor", Role::Editor);
    site.user("customer", Role::Customer);
    site
}

#[test]
fn a_deletion_is_refused_for_good_reasons() {
    let site = site();
    // Ids: 1 admin, 2 manager, 3 editor, 4 customer.
    for (who, path, expected) in [
        (NOBODY, "/3?force=true&reassign=1", (401, "rest_user_cannot_delete")),
        (NOBODY, "/me?force=true&reassign=1", (404, "rest_user_invalid_id")),
        (NOBODY, "/3?force=true", (400, "rest_missing_callback_param")),
        ("manager", "/4?force=true&reassign=1", (403, "rest_user_cannot_delete")),
        ("customer", "/4?force=true&reassign=1", (403, "rest_user_cannot_delete")),
        ("customer", "/me?force=true&reassign=1", (403, "rest_user_cannot_delete")),
        (ADMIN, "/99?force=true&reassign=1", (404, "rest_user_invalid_id")),
        (ADMIN, "/3?force=true&reassign=x", (400, "rest_invalid_param")),
        (ADMIN, "/3?reassign=1", (501, "rest_trash_not_supported")),
        (ADMIN, "/3?force=false&reassign=1", (501, "rest_trash_not_supported")),
        (ADMIN, "/3?force=true&reassign=3", (400, "rest_user_invalid_reassign")),
        (ADMIN, "/3?force=true&reassign=99", (400, "rest_user_invalid_reassign")),
        (ADMIN, "/1?force=true&reassign=2", (409, "rest_user_last_administrator")),
        (ADMIN, "/me?force=true&reassign=false", (409, "rest_user_last_administrator")),
    ] {
        let path = format!("/wp/v2/users{path}");
        let answer = site.ask("DELETE", &path, who, &Value::Null);
        assert_eq!(answer.refusal(), expected, "{who:?} {path}");
    }
    assert_eq!(site.read(site_rows::user::all).len(), 4);
}

#[test]
fn posts_go_to_the_heir_and_credentials_go_altogether() {
    let site = site();
    let post = publish(&site, 3);
    site.write(|conn| {
        let key = ConsumerKeyRow {
            key_id: 0,
            user_id: 3,
            description: String::new(),
            permissions: "read".to_owned(),
            key_hash: vec![1],
            secret_sealed: vec![2],
            truncated_key: "1234567".to_owned(),
            created: now(),
            last_access: None,
        };
        site_rows::consumer_key::insert(conn, &key)?;
        let session = SessionRow {
            token_hash: vec![3],
            user_id: 3,
            created: now(),
            expires: now().plus(std::time::Duration::from_hours(1)),
            ip: String::new(),
            user_agent: String::new(),
        };
        site_rows::session::insert(conn, &session)
    });
    let answer = site.ask("DELETE", "/wp/v2/users/3?force=true&reassign=1", ADMIN, &Value::Null);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json["deleted"], json!(true));
    assert_eq!(answer.json["previous"]["username"], json!("editor"));
    assert!(answer.json["previous"].get("_links").is_none());
    site.read(move |conn| {
        assert_eq!(site_rows::user::get(conn, 3)?, None);
        assert_eq!(site_rows::post::get(conn, post)?.unwrap().author_id, 1);
        assert!(site_rows::application_password::list(conn, 3)?.is_empty());
        assert!(site_rows::consumer_key::list(conn, Some(3))?.is_empty());
        assert!(site_rows::session::get(conn, &[3], now())?.is_none());
        Ok(())
    });
}

#[test]
fn without_an_heir_posts_go_to_the_trash() {
    for reassign in ["false", "", "0"] {
        let site = site();
        let post = publish(&site, 3);
        let path = format!("/wp/v2/users/3?force=true&reassign={reassign}");
        assert_eq!(site.ask("DELETE", &path, ADMIN, &Value::Null).status, 200, "{reassign:?}");
        let post = site.read(move |conn| site_rows::post::get(conn, post)).unwrap();
        assert_eq!(
            (post.status.as_str(), post.trashed_status.as_deref()),
            ("trash", Some("publish"))
        );
    }
}

#[test]
fn one_of_two_administrators_may_go() {
    let mut site = site();
    site.user("second", Role::Administrator);
    let path = "/wp/v2/users/me";
    let fields = json!({ "force": true, "reassign": false });
    assert_eq!(site.ask("DELETE", path, "second", &fields).status, 200);
    assert_eq!(site.ask("DELETE", path, ADMIN, &fields).status, 409);
}
