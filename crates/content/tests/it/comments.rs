//! Comments: who reads which, the rules for new ones, moderation, and what is deleted.

use serde_json::{Value, json};
use types::Role;

use crate::content_items::{at, id_of, make};
use crate::support::{ADMIN, HOME, NOBODY, TestSite};

const COMMENTS: &str = "/wp/v2/comments";
const POSTS: &str = "/wp/v2/posts";

fn post(site: &TestSite, more: &Value) -> i64 {
    let mut body = json!({ "title": "Tide", "status": "publish", "content": "Text" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    id_of(&make(site, POSTS, ADMIN, &body))
}

#[test]
fn a_comment_is_shown_with_its_thread() {
    let site = TestSite::new();
    let post = post(&site, &json!({}));
    let first = make(&site, COMMENTS, ADMIN, &json!({ "post": post, "content": "First" }));
    let reply = json!({ "post": post, "content": { "raw": "Reply" }, "parent": first["id"] });
    let reply = make(&site, COMMENTS, ADMIN, &reply);
    let shown = site.get(&at(COMMENTS, &first), NOBODY);
    assert_eq!((shown.status, shown.header("allow")), (200, "GET"));
    assert_eq!(shown.json["content"], json!({ "rendered": "<p>First</p>\n" }));
    assert_eq!(shown.json["link"], format!("{HOME}/tide/#comment-{}", first["id"]));
    assert_eq!(shown.json["author_email"], Value::Null, "addresses are for moderators");
    let children = format!("{HOME}/wp-json{COMMENTS}?parent={}", first["id"]);
    assert_eq!(shown.json["_links"]["children"][0]["href"], children);
    let answers = site.get(&format!("{COMMENTS}?parent={}", first["id"]), NOBODY);
    assert_eq!(answers.each("id"), [reply["id"].clone()]);
    let edited = site.get(&format!("{}?context=edit", at(COMMENTS, &first)), ADMIN);
    assert_eq!(edited.json["content"]["raw"], "First");
    assert_eq!(edited.json["author_ip"], "192.0.2.7");
    // Answers go up one step when what they answer goes.
    let removed =
        site.ask("DELETE", &format!("{}?force=true", at(COMMENTS, &first)), ADMIN, &json!({}));
    assert_eq!((removed.status, removed.json["deleted"].clone()), (200, json!(true)));
    assert_eq!(site.get(&at(COMMENTS, &reply), ADMIN).json["parent"], 0);
}

#[test]
fn new_comments_follow_the_rules() {
    let mut site = TestSite::new();
    site.user("reader", Role::Subscriber);
    let open = post(&site, &json!({}));
    let closed = post(&site, &json!({ "comment_status": "closed" }));
    let draft = post(&site, &json!({ "status": "draft" }));
    for (who, body, expected) in [
        (NOBODY, json!({ "post": open, "content": "x" }), (401, "rest_comment_login_required")),
        (ADMIN, json!({ "content": "x" }), (403, "rest_comment_invalid_post_id")),
        (ADMIN, json!({ "post": 99_999, "content": "x" }), (403, "rest_comment_invalid_post_id")),
        (ADMIN, json!({ "post": open }), (400, "rest_comment_content_invalid")),
        (ADMIN, json!({ "post": closed, "content": "x" }), (403, "rest_comment_closed")),
        (ADMIN, json!({ "post": draft, "content": "x" }), (403, "rest_comment_draft_post")),
        (ADMIN, json!({ "id": 5, "post": open, "content": "x" }), (400, "rest_comment_exists")),
        (
            ADMIN,
            json!({ "post": open, "content": "x", "type": "pingback" }),
            (400, "rest_invalid_comment_type"),
        ),
        (
            ADMIN,
            json!({ "post": open, "content": "x", "author": 99 }),
            (400, "rest_comment_author_invalid"),
        ),
        (
            ADMIN,
            json!({ "post": open, "content": "x".repeat(70_000) }),
            (400, "comment_content_column_length"),
        ),
        (
            ADMIN,
            json!({ "post": open, "content": "x", "author_name": "Gus" }),
            (400, "rest_comment_author_data_required"),
        ),
        (
            "reader",
            json!({ "post": open, "content": "x", "status": "approved" }),
            (403, "rest_comment_invalid_status"),
        ),
        (
            "reader",
            json!({ "post": open, "content": "x", "author": 1 }),
            (403, "rest_comment_invalid_author"),
        ),
    ] {
        let answer = site.ask("POST", COMMENTS, who, &body);
        assert_eq!(answer.refusal(), expected, "{who}");
    }
    let first = json!({ "post": open, "content": "Hello" });
    let made = make(&site, COMMENTS, "reader", &first);
    assert_eq!(made["status"], "hold", "nobody knows this author yet");
    assert_eq!(site.ask("POST", COMMENTS, "reader", &first).refusal(), (409, "comment_duplicate"));
    let second = json!({ "post": open, "content": "Again" });
    assert_eq!(site.ask("POST", COMMENTS, "reader", &second).refusal(), (400, "comment_flood"));
    make(&site, COMMENTS, ADMIN, &second);
}

#[test]
fn nobody_speaks_for_others_or_at_another_time() {
    let mut site = TestSite::new();
    site.user("reader", Role::Subscriber);
    let open = post(&site, &json!({}));
    let earlier = "2024-01-02T00:00:00";
    let known = json!({ "post": open, "content": "Known", "date": earlier });
    make(&site, COMMENTS, ADMIN, &known);
    let known = site.get(&format!("{COMMENTS}?context=edit"), ADMIN).json[0].clone();
    let made = make(
        &site,
        COMMENTS,
        "reader",
        &json!({
            "post": open, "content": "Believe me", "author_name": known["author_name"],
            "author_email": known["author_email"], "date": "2018-01-02T00:00:00",
            "author_user_agent": "A".repeat(9_000), "parent": 99_999,
        }),
    );
    assert_eq!((&made["status"], &made["author_name"]), (&json!("hold"), &json!("reader")));
    let kept = site.get(&format!("{}?context=edit", at(COMMENTS, &made)), ADMIN).json;
    assert_ne!(kept["author"], json!(0));
    assert_ne!(kept["author_email"], known["author_email"]);
    assert!(!kept["date"].as_str().unwrap().starts_with("2018"), "{kept}");
    assert!(kept["author_user_agent"].as_str().unwrap().len() < 300);
    assert_eq!(kept["parent"], 0);
    let second = json!({ "post": open, "content": "More", "date": "2018-01-02T00:00:00" });
    assert_eq!(site.ask("POST", COMMENTS, "reader", &second).refusal(), (400, "comment_flood"));
}

#[test]
fn what_is_not_approved_is_for_its_author_and_moderators() {
    let mut site = TestSite::new();
    site.user("reader", Role::Subscriber);
    site.user("other", Role::Subscriber);
    let open = post(&site, &json!({}));
    let waits = make(&site, COMMENTS, "reader", &json!({ "post": open, "content": "Wait" }));
    let own = at(COMMENTS, &waits);
    for (who, expected) in [(NOBODY, 401), ("other", 403), ("reader", 200), (ADMIN, 200)] {
        assert_eq!(site.get(&own, who).status, expected, "{who}");
    }
    for (query, who, expected) in [
        ("status=hold", NOBODY, (401, "rest_forbidden_param")),
        ("status=hold", "other", (403, "rest_forbidden_param")),
        ("author_email=a@b.example", NOBODY, (401, "rest_forbidden_param")),
        ("context=edit", "reader", (403, "rest_forbidden_context")),
        ("post=0", NOBODY, (401, "rest_cannot_read")),
        ("orderby=other", NOBODY, (400, "rest_invalid_param")),
    ] {
        assert_eq!(site.get(&format!("{COMMENTS}?{query}"), who).refusal(), expected, "{query}");
    }
    assert_eq!(site.ask("PUT", &own, "reader", &json!({})).refusal(), (403, "rest_cannot_edit"));
    assert_eq!(
        site.ask("DELETE", &own, "other", &json!({})).refusal(),
        (403, "rest_cannot_delete")
    );
    let status = |status: &str| site.ask("PUT", &own, ADMIN, &json!({ "status": status })).json;
    for (asked, becomes) in [
        ("approve", "approved"),
        ("spam", "spam"),
        ("unspam", "approved"),
        ("trash", "trash"),
        ("untrash", "approved"),
        ("other", "approved"),
        ("hold", "hold"),
    ] {
        assert_eq!(status(asked)["status"], becomes, "{asked}");
    }
    assert_eq!(site.ask("DELETE", &own, ADMIN, &json!({})).json["status"], "trash");
    assert_eq!(
        site.ask("DELETE", &own, ADMIN, &json!({})).refusal(),
        (410, "rest_already_trashed")
    );
}

#[test]
fn comments_on_what_has_a_password_need_it() {
    let site = TestSite::new();
    let locked = post(&site, &json!({ "password": "hatch" }));
    let made = make(&site, COMMENTS, ADMIN, &json!({ "post": locked, "content": "Inside" }));
    let list = site.get(COMMENTS, NOBODY);
    assert_eq!((list.each("id"), list.header("x-wp-total")), (Vec::<Value>::new(), "1"));
    let of_post = format!("{COMMENTS}?post={locked}");
    assert_eq!(site.get(&of_post, NOBODY).refusal(), (401, "rest_cannot_read_post"));
    assert_eq!(site.get(&format!("{of_post}&password=x"), NOBODY).status, 401);
    let opened = site.get(&format!("{of_post}&password=hatch"), NOBODY);
    assert_eq!(opened.each("id"), [made["id"].clone()]);
    assert_eq!(site.get(&at(COMMENTS, &made), NOBODY).status, 401);
    let all = site.get(&format!("{COMMENTS}?id=1&password=hatch"), NOBODY);
    assert_eq!(all.each("id"), Vec::<Value>::new(), "nobody tries a password on many");
}

#[test]
fn who_guesses_the_password_of_a_post_waits() {
    let site = TestSite::new();
    let locked = post(&site, &json!({ "password": "hatch" }));
    let made = make(&site, COMMENTS, ADMIN, &json!({ "post": locked, "content": "Inside" }));
    let paths = [
        format!("{POSTS}/{locked}?"),
        format!("{COMMENTS}?post={locked}&"),
        format!("{}?", at(COMMENTS, &made)),
    ];
    for path in &paths {
        for _ in 0..3 {
            let right = site.get(&format!("{path}password=hatch"), NOBODY);
            assert_eq!(right.status, 200, "{path}");
        }
    }
    // They are one gate; each request counts once.
    for number in 0..100 {
        let path = &paths[number % paths.len()];
        let status = site.get(&format!("{path}password={number}"), NOBODY).status;
        assert!(matches!(status, 401 | 403), "{number} {path}: {status}");
    }
    for path in &paths {
        let late = site.get(&format!("{path}password=hatch"), NOBODY);
        assert_eq!(late.refusal(), (429, "too_many_attempts"), "{path}");
        assert!(late.header("retry-after").parse::<u64>().unwrap() > 0);
        assert!(!late.json.to_string().contains("Inside"));
    }
    let deleted = site.ask("DELETE", &format!("{}password=hatch", paths[0]), NOBODY, &json!({}));
    assert_eq!((deleted.status, deleted.header("allow")), (401, ""), "nor is a method told");
    assert_eq!(site.get(&format!("{POSTS}/{locked}"), NOBODY).status, 200, "who shows none");
}

#[test]
fn comments_go_with_their_post_and_markup_is_cleaned() {
    let mut site = TestSite::new();
    site.user("reader", Role::Subscriber);
    let open = post(&site, &json!({}));
    let body = json!({ "post": open, "content": "<script>x</script><b>bold</b>" });
    let made = make(&site, COMMENTS, "reader", &body);
    let raw = site.get(&format!("{}?context=edit", at(COMMENTS, &made)), ADMIN);
    assert!(!raw.json["content"]["raw"].as_str().unwrap().contains("<script"), "{}", raw.json);
    site.ask("DELETE", &format!("{POSTS}/{open}?force=true"), ADMIN, &json!({}));
    let removed = site.get(&at(COMMENTS, &made), ADMIN);
    assert_eq!(removed.refusal(), (404, "rest_comment_invalid_id"));
}
