//! Lists of posts and pages: filters, orders, pages, and what whom is shown.

use serde_json::{Value, json};
use types::Role;

use crate::content_items::make;
use crate::support::{ADMIN, HOME, NOBODY, TestSite};

const POSTS: &str = "/wp/v2/posts";
const PAGES: &str = "/wp/v2/pages";

fn titles(site: &TestSite, path: &str, who: &str) -> Vec<String> {
    let answer = site.get(path, who);
    assert_eq!(answer.status, 200, "{path}: {}", answer.json);
    let rendered = |title: Value| title["rendered"].as_str().unwrap().to_owned();
    answer.each("title").into_iter().map(rendered).collect()
}

fn publish(site: &TestSite, title: &str, more: Value) -> Value {
    let mut body = json!({ "title": title, "status": "publish" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    make(site, POSTS, ADMIN, &body)
}

#[test]
fn pages_of_a_list_know_their_neighbours() {
    let site = TestSite::new();
    for number in 1..=5 {
        let date = format!("2026-01-0{number}T00:00:00");
        publish(&site, &number.to_string(), json!({ "date": date }));
    }
    let list = |page: i64| site.get(&format!("{POSTS}?per_page=2&page={page}&order=desc"), NOBODY);
    let second = list(2);
    assert_eq!((second.header("x-wp-total"), second.header("x-wp-totalpages")), ("5", "3"));
    let link = |page: i64, relation: &str| {
        format!("<{HOME}/wp-json{POSTS}?per_page=2&page={page}&order=desc>; rel=\"{relation}\"")
    };
    assert_eq!(second.header("link"), format!("{}, {}", link(1, "prev"), link(3, "next")));
    assert_eq!(list(3).each("id").len(), 1);
    assert_eq!(list(4).refusal(), (400, "rest_post_invalid_page_number"));
    let none = site.get(&format!("{POSTS}?page=7&search=nothing"), NOBODY);
    assert_eq!((none.status, none.json), (200, json!([])));
    let head = site.ask("HEAD", POSTS, NOBODY, &Value::Null);
    assert_eq!((head.header("x-wp-total"), &head.json), ("5", &Value::Null));
    assert_eq!(titles(&site, &format!("{POSTS}?offset=3"), NOBODY), ["2", "1"]);
    for (query, code) in [
        ("per_page=0", "rest_invalid_param"),
        ("per_page=101", "rest_invalid_param"),
        ("page=0", "rest_invalid_param"),
        ("orderby=bogus", "rest_invalid_param"),
        ("after=yesterday", "rest_invalid_param"),
        ("orderby=relevance", "rest_no_search_term_defined"),
        ("orderby=include", "rest_orderby_include_missing_include"),
    ] {
        let answer = site.get(&format!("{POSTS}?{query}"), NOBODY);
        assert_eq!(answer.refusal(), (400, code), "{query}");
    }
}

#[test]
fn filters_find_what_they_say() {
    let mut site = TestSite::new();
    let author = site.user("author", Role::Author);
    let term = |path: &str, body: Value| make(&site, path, ADMIN, &body)["id"].as_i64().unwrap();
    let news = term("/wp/v2/categories", json!({ "name": "News" }));
    let local = term("/wp/v2/categories", json!({ "name": "Local", "parent": news }));
    let red = term("/wp/v2/tags", json!({ "name": "Red" }));
    let a = publish(
        &site,
        "Alpha apple",
        json!({ "date": "2026-01-01T00:00:00", "categories": [news], "sticky": true }),
    );
    let b = publish(
        &site,
        "Beta",
        json!({ "date": "2026-02-01T00:00:00", "content": "apple pie", "tags": [red] }),
    );
    publish(
        &site,
        "Gamma",
        json!({ "date": "2026-03-01T00:00:00", "categories": [local], "format": "aside",
            "author": author }),
    );
    let (a, b) = (a["id"].as_i64().unwrap(), b["id"].as_i64().unwrap());
    for (query, expected) in [
        (String::new(), vec!["Gamma", "Beta", "Alpha apple"]),
        (String::from("order=asc"), vec!["Alpha apple", "Beta", "Gamma"]),
        (String::from("orderby=title&order=desc"), vec!["Gamma", "Beta", "Alpha apple"]),
        (format!("include={b},{a}&orderby=include&order=asc"), vec!["Beta", "Alpha apple"]),
        (format!("include={b},{a}&orderby=include"), vec!["Beta", "Alpha apple"]),
        (format!("exclude[]={a}&exclude[]={b}"), vec!["Gamma"]),
        (String::from("slug=beta,gamma"), vec!["Gamma", "Beta"]),
        (format!("author={author}"), vec!["Gamma"]),
        (format!("author_exclude={author}"), vec!["Beta", "Alpha apple"]),
        (String::from("after=2026-01-01T00:00:00"), vec!["Gamma", "Beta"]),
        (String::from("before=2026-02-01T01:00:00%2B01:00"), vec!["Alpha apple"]),
        (String::from("modified_after=2026-11-15T08:00:00"), vec![]),
        (String::from("modified_before=2026-11-15T08:00:01"), vec!["Gamma", "Beta", "Alpha apple"]),
        (String::from("search=APPLE"), vec!["Beta", "Alpha apple"]),
        (String::from("search=apple&search_columns=post_title"), vec!["Alpha apple"]),
        (String::from("search=pie+apple"), vec!["Beta"]),
        (String::from("search=alpha+apple&search_semantics=exact"), vec!["Alpha apple"]),
        (String::from("search=alpha&search_semantics=exact"), vec![]),
        (String::from("search=%22pie+apple%22"), vec![]),
        (String::from("search=apple&orderby=relevance"), vec!["Alpha apple", "Beta"]),
        (format!("categories={news}"), vec!["Alpha apple"]),
        (
            format!("categories[terms]={news}&categories[include_children]=true"),
            vec!["Gamma", "Alpha apple"],
        ),
        (format!("categories_exclude={news},{local}"), vec!["Beta"]),
        (format!("tags={red}"), vec!["Beta"]),
        (format!("categories={news}&tags={red}"), vec![]),
        (format!("categories={news}&tags={red}&tax_relation=OR"), vec!["Beta", "Alpha apple"]),
        (String::from("sticky=true"), vec!["Alpha apple"]),
        (String::from("sticky=false"), vec!["Gamma", "Beta"]),
        (String::from("format=aside"), vec!["Gamma"]),
        (String::from("format=standard"), vec!["Beta", "Alpha apple"]),
    ] {
        assert_eq!(titles(&site, &format!("{POSTS}?{query}"), NOBODY), expected, "{query}");
    }
}

#[test]
fn pages_lie_within_each_other() {
    let site = TestSite::new();
    let page = |title: &str, more: Value| {
        let mut body = json!({ "title": title, "status": "publish" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        make(&site, PAGES, ADMIN, &body)
    };
    let top = page("Top", json!({ "menu_order": 2 }));
    assert_eq!((&top["comment_status"], &top["ping_status"]), (&json!("closed"), &json!("closed")));
    assert!(top.get("sticky").is_none() && top.get("categories").is_none());
    page("Inner", json!({ "menu_order": 1, "parent": top["id"] }));
    let id = &top["id"];
    for (query, expected) in [
        (format!("parent={id}"), vec!["Inner"]),
        (format!("parent_exclude={id}"), vec!["Top"]),
        (String::from("parent=0"), vec!["Top"]),
        (String::from("menu_order=1"), vec!["Inner"]),
        (String::from("orderby=menu_order&order=asc"), vec!["Inner", "Top"]),
    ] {
        assert_eq!(titles(&site, &format!("{PAGES}?{query}"), NOBODY), expected, "{query}");
    }
    let path = format!("{PAGES}/{id}?force=true");
    assert_eq!(site.ask("DELETE", &path, ADMIN, &Value::Null).status, 200);
    assert_eq!(titles(&site, &format!("{PAGES}?parent=0"), NOBODY), ["Inner"]);
}

#[test]
fn statuses_are_listed_for_those_who_may_see_them() {
    let mut site = TestSite::new();
    site.user("contributor", Role::Contributor);
    site.user("reader", Role::Subscriber);
    publish(&site, "Public", json!({}));
    for (title, status) in [("Draft", "draft"), ("Private", "private"), ("Pending", "pending")] {
        make(&site, POSTS, ADMIN, &json!({ "title": title, "status": status }));
    }
    make(&site, POSTS, "contributor", &json!({ "title": "Own" }));
    let sorted = |query: &str, who: &str| {
        let mut found = titles(&site, &format!("{POSTS}?{query}"), who);
        found.sort();
        found
    };
    assert_eq!(sorted("status=any", ADMIN), ["Draft", "Own", "Pending", "Private", "Public"]);
    assert_eq!(sorted("status=draft,private", ADMIN), ["Draft", "Own", "Private"]);
    assert_eq!(sorted("status=any", "contributor"), ["Own", "Public"]);
    assert_eq!(sorted("status=any&context=edit", "contributor"), ["Own"]);
    for (who, status) in [(NOBODY, 401), ("reader", 403)] {
        let answer = site.get(&format!("{POSTS}?status=draft"), who);
        assert_eq!(answer.refusal(), (400, "rest_invalid_param"));
        let detail = &answer.json["data"]["details"]["status"];
        assert_eq!(detail["code"], "rest_forbidden_status");
        assert_eq!(detail["data"]["status"], status);
        let edit = site.get(&format!("{POSTS}?context=edit"), who);
        assert_eq!(edit.refusal(), (status, "rest_forbidden_context"));
    }
    let bogus = site.get(&format!("{POSTS}?status=bogus"), ADMIN);
    assert_eq!(bogus.json["data"]["details"]["status"]["code"], "rest_not_in_enum");
}

#[test]
fn embedding_and_chosen_fields_work_together() {
    let site = TestSite::new();
    publish(&site, "T", json!({}));
    let fields = site.get(&format!("{POSTS}?_fields=id,title.rendered"), NOBODY);
    assert_eq!(fields.json[0]["title"], json!({ "rendered": "T" }));
    assert_eq!(fields.json[0].as_object().unwrap().len(), 2);
    let embedded = site.get(&format!("{POSTS}?_embed=wp:term"), NOBODY);
    let terms = &embedded.json[0]["_embedded"]["wp:term"];
    assert_eq!(terms[0][0]["slug"], "uncategorized");
    assert_eq!(terms[1], json!([]));
}

#[test]
fn what_a_password_hides_is_not_found_by_its_words() {
    let site = TestSite::new();
    let hidden = json!({
        "title": "Sealed", "content": "the code is qx7zebra9", "password": "pier", "status": "publish",
    });
    assert_eq!(site.ask("POST", POSTS, ADMIN, &hidden).status, 201);
    let search = format!("{POSTS}?search=qx7zebra9");
    assert_eq!(site.get(&search, NOBODY).json, json!([]));
    assert_eq!(site.get(&search, ADMIN).json.as_array().unwrap().len(), 1);
}

#[test]
fn long_lists_are_refused_before_they_cost_anything() {
    let site = TestSite::new();
    let many: Vec<String> = (0..5_000).map(|number| format!("s{number}")).collect();
    let answer = site.ask("GET", POSTS, NOBODY, &json!({ "slug": many }));
    assert_eq!(answer.json["data"]["details"]["slug"]["code"], "rest_too_many_items");
    let tags: Vec<i64> = (1..200).collect();
    let answer = site.ask("POST", POSTS, ADMIN, &json!({ "title": "x", "tags": tags }));
    assert_eq!(answer.json["data"]["details"]["tags"]["code"], "rest_too_many_items");
    assert_eq!(site.get(POSTS, NOBODY).json, json!([]), "nothing is left of it");
}
