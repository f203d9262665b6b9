//! The runner against servers that a test makes up, and the files of the repository as data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use types::Timestamp;

use super::case::Compare;
use super::compare::{self, Rules};
use super::ids::Ids;
use super::index::{self, Reference};
use super::undefined::NOTHING_OPEN;
use super::*;
use crate::conformance::onboarding::stub::{Received, reply, reply_text, serve};

const NOW_TEXT: &str = "2026-11-15T08:00:00Z";

fn rules(ids: &Ids, ties: bool) -> Rules<'_> {
    Rules { ids, undefined: &NOTHING_OPEN, ties, now: Timestamp::parse(NOW_TEXT).unwrap() }
}

fn places(lines: &[String]) -> Vec<&str> {
    lines.iter().map(|line| line.split(':').next().unwrap()).collect()
}

#[test]
fn bodies_are_compared_to_the_last_member() {
    let check = |want: Value, got: Value, expected: &[&str]| {
        let found = compare::body(rules(&Ids::default(), false), &want, &got);
        assert_eq!(places(&found), expected, "{want} / {got}: {found:?}");
    };
    check(json!({"a": 1, "b": [1, {"c": null}]}), json!({"b": [1, {"c": null}], "a": 1.0}), &[]);
    check(json!({"a": 1}), json!({"a": "1"}), &["body.a"]);
    check(json!({"a": 1}), json!({}), &["body.a"]);
    check(json!({}), json!({"a": 1}), &["body.a"]);
    check(json!([]), json!({}), &["body"]);
    check(json!([1, 2]), json!([1]), &["body"]);
    check(json!([1, 2]), json!([2, 1]), &["body[0]", "body[1]"]);
    check(json!([{"a": 1}, {"a": 2}]), json!([{"a": 2}, {"a": 1}]), &["body[0].a", "body[1].a"]);
    check(json!(false), json!(0), &["body"]);
    check(json!(null), json!(false), &["body"]);
    check(json!(1.000_000_1), json!(1), &[]);
    check(json!(1.000_001), json!(1), &["body"]);
    check(json!("$5"), json!("$6"), &["body"]);
}

#[test]
fn tokens_stand_for_kinds_of_values() {
    let check = |token: &str, got: Value, expected: bool| {
        let found = compare::body(rules(&Ids::default(), false), &json!(token), &got);
        assert_eq!(found.is_empty(), expected, "{token} / {got}: {found:?}");
    };
    check("$text", json!("x"), true);
    check("$text", json!(" "), false);
    check("$text", json!(1), false);
    check("$string", json!(""), true);
    check("$string", json!(null), false);
    check("$any", json!(null), true);
    check("$id", json!(7), true);
    check("$id", json!(0), false);
    check("$id", json!("abc"), true);
    check("$id", json!(""), false);
    check("$now", json!("2026-11-15T08:14:59"), true);
    check("$now", json!("2026-11-15 07:45:01"), true);
    check("$now", json!("2026-11-15T09:00:00+01:00"), true);
    check("$now", json!("2026-11-15T08:15:01"), false);
    check("$now", json!("2026-11-15T09:00:00"), false);
    check("$now", json!("soon"), false);
    check("$now", json!(1), false);
}

#[test]
fn rows_that_tie_may_change_places_but_not_their_content() {
    let check = |want: Value, got: Value, expected: usize| {
        let found = compare::body(rules(&Ids::default(), true), &want, &got);
        assert_eq!(found.len(), expected, "{want} / {got}: {found:?}");
    };
    check(json!([{"a": 1, "t": "$text"}, {"a": 2}]), json!([{"a": 2}, {"a": 1, "t": "x"}]), 0);
    check(json!([{"a": 1}, {"a": 1}]), json!([{"a": 1}, {"a": 2}]), 1);
    check(json!([{"a": 1}, {"a": 1}]), json!([{"a": 1}]), 1);
    check(json!([{"a": [{"b": 1}, {"b": 2}]}]), json!([{"a": [{"b": 2}, {"b": 1}]}]), 0);
    check(json!([1, 2]), json!([2, 1]), 2);
}

#[test]
fn a_shape_is_names_and_types() {
    let check = |want: Value, got: Value, expected: &[&str]| {
        let found = compare::shape(&want, &got);
        assert_eq!(places(&found), expected, "{want} / {got}");
    };
    check(json!({"a": "x", "b": 1}), json!({"a": "y", "b": 2, "more": true}), &[]);
    check(json!({"a": "x"}), json!({}), &["body.a"]);
    check(json!({"a": "x"}), json!({"a": 1}), &["body.a"]);
    check(json!({"a": "x"}), json!({"a": null}), &[]);
    check(json!({"a": "$any"}), json!({"a": 1}), &[]);
    check(json!({"a": {}}), json!({"a": []}), &[]);
    check(json!({"a": {"b": 1}}), json!({"a": []}), &["body.a"]);
    check(json!([{"a": 1}]), json!([{"a": 2}, {"b": 1}]), &["body[1].a"]);
    check(json!([{"a": 1}]), json!([]), &[]);
}

fn plan(method: &str, path: &str, body: Option<Value>) -> Plan {
    serde_json::from_value(json!({"method": method, "path": path, "body": body})).unwrap()
}

#[test]
fn rows_are_told_apart_by_their_numbers() {
    let ids = Ids::default();
    let rules =
        Rules { ids: &ids, undefined: &NOTHING_OPEN, ties: false, now: Timestamp::default() };
    let row = |id: i64, sold: i64| json!({"product_id": id, "sold": sold});
    let check = |want: Value, got: Value, expected: &[&str]| {
        let found = compare::body(rules, &want, &got);
        assert_eq!(found, expected, "{want} / {got}");
    };
    check(json!([row(1, 5), row(2, 6)]), json!([row(1, 5), row(2, 6)]), &[]);
    check(json!([row(1, 5)]), json!([row(1, 6)]), &["body[0].sold: want 5, got 6"]);
    check(
        json!([row(1, 5), row(2, 6)]),
        json!([row(2, 7), row(1, 5)]),
        &[
            "body: rows in another order, want [\"1\", \"2\"], got [\"2\", \"1\"]",
            "body[#2].sold: want 6, got 7",
        ],
    );
    check(
        json!([row(1, 5), row(2, 6)]),
        json!([row(3, 5), row(1, 5)]),
        &["body: other rows, without [\"2\"], with [\"3\"]"],
    );
    // Rows without numbers of their own are compared as they come.
    check(
        json!([row(1, 5), row(1, 6)]),
        json!([row(1, 6), row(1, 5)]),
        &["body[0].sold: want 5, got 6", "body[1].sold: want 6, got 5"],
    );
}

#[test]
fn ids_of_created_things_are_learnt() {
    let mut ids = Ids::default();
    let create = plan("POST", "/wp-json/wp/v2/posts", None);
    ids.learn(
        &create,
        &json!({"id": 424, "export_id": "abc"}),
        &json!({"id": 7, "export_id": "d"}),
    );
    let check = |recorded: &str, expected: &str| assert_eq!(ids.text(recorded), expected);
    check("/wp-json/wp/v2/posts/424", "/wp-json/wp/v2/posts/7");
    check("/x/424/424?a=424&b=4240", "/x/7/7?a=7&b=4240");
    check("http://a:424/?p=424", "http://a:424/?p=7");
    check("<http://a/424>; rel=\"x\"", "<http://a/7>; rel=\"x\"");
    check("424", "424");
    check("abc", "d");
    check("/x/abc/status", "/x/d/status");
    check("2026-11-15", "2026-11-15");
    check("größe=424&ü", "größe=7&ü");
    assert_eq!(ids.value(&json!({"a": [424, "424", 4.5]})), json!({"a": [7, "424", 4.5]}));

    let update = plan("POST", "/wp-json/wc-analytics/coupons/61", Some(json!({"x": [5]})));
    let mut ids = Ids::default();
    ids.learn(&update, &json!({"id": 61, "a": {"id": 5}}), &json!({"id": 62, "a": {"id": 6}}));
    assert_eq!(ids.value(&json!([61, 5])), json!([61, 5]), "the request named them");
}

/// A server with two routes of content and one list of batches.
fn index() -> Value {
    let entry = |methods: &[&str]| json!({"namespace": "", "methods": methods, "endpoints": []});
    json!({"routes": {
        "/": entry(&["GET"]),
        "/batch/v1": entry(&["POST"]),
        "/wp/v2/posts": entry(&["GET", "POST"]),
        r"/wp/v2/posts/(?P<id>[\d]+)": entry(&["GET", "DELETE"]),
    }})
}

fn exchange(request: &Value, expect: &Value) -> Exchange {
    let line = json!({"id": "a/1", "request": request, "expect": expect}).to_string();
    let area = Area::parse("a", &line).unwrap();
    area.cases[0].exchanges().next().unwrap().1.clone()
}

#[test]
fn a_request_waits_for_every_route_it_needs() {
    let routes = Routes::from_index(&index()).unwrap();
    let check = |request: Value, status: u16, body: Value, expected: Option<&str>| {
        let exchange = exchange(&request, &json!({"status": status, "body": body}));
        assert_eq!(routes.missing(&exchange).as_deref(), expected, "{request}");
    };
    let get = |path: &str| json!({"method": "GET", "path": path});
    let send = |method: &str, path: &str| json!({"method": method, "path": path});
    check(get("/wp-json/"), 200, json!({}), None);
    check(get("/wp-json"), 200, json!({}), None);
    check(get("/wp-json/WP/v2/posts/12"), 200, json!({}), None);
    check(get("/wp-json/wp/v2/posts/12/"), 200, json!({}), None);
    check(get("/wp-json/wp/v2/posts/x"), 200, json!({}), Some("GET /wp/v2/posts/x"));
    check(send("HEAD", "/wp-json/wp/v2/posts"), 200, Value::Null, None);
    check(send("OPTIONS", "/wp-json/batch/v1"), 200, json!({}), None);
    check(send("PUT", "/wp-json/wp/v2/posts/1"), 200, json!({}), Some("PUT /wp/v2/posts/1"));
    check(get("/wp-json/nope"), 404, json!({"code": "rest_no_route"}), None);
    check(get("/wp-json/batch/v1"), 401, json!({"code": "incorrect_password"}), None);
    check(get("/wp-json/nope"), 401, json!({"code": "incorrect_password"}), Some("OPTIONS /nope"));
    let listed = json!({"routes": {"/wp/v2/posts": {"methods": ["GET", "POST"]}}});
    check(get("/wp-json/"), 200, listed, None);
    let listed = json!({"routes": {"/wp/v2/posts": {"methods": ["GET", "PUT"]}}});
    check(get("/wp-json/"), 200, listed, Some("/wp/v2/posts in the index"));
    let listed = json!({"routes": {"/wc/v3": {"methods": ["GET"]}}});
    check(get("/wp-json/"), 200, listed, Some("/wc/v3 in the index"));

    let batch = |items: Value| json!({"method": "POST", "path": "/wp-json/batch/v1", "body": {"requests": items}});
    let options = json!([{"path": "/wp/v2/posts"}, {"path": "/wc-admin/options?a=1"}]);
    let done = json!({"body": {}});
    let check = |items: &Value, status: u16, responses: Value, expected: Option<&str>| {
        check(batch(items.clone()), status, json!({"responses": responses}), expected);
    };
    check(&options, 207, json!([done, done]), Some("POST /wc-admin/options"));
    check(&options, 207, json!([done, null]), Some("POST /wc-admin/options"));
    check(&options, 207, json!([done, {"body": {"code": "rest_no_route"}}]), None);
    check(&options, 400, json!([]), None);
    check(&json!([{"method": "DELETE", "path": "/wp/v2/posts/1"}]), 207, json!([done]), None);
}

/// Serves the index, and for everything else what the function says.
fn server(answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static) -> String {
    serve(move |received| match received.line.as_str() {
        "GET /wp-json/ HTTP/1.1\r\n" => reply(200, &[], &index()),
        _ => answer(received),
    })
}

fn identities() -> Identities {
    BTreeMap::from([("admin".to_owned(), "admin:abcd efgh".to_owned())])
}

fn case(line: &Value) -> Case {
    Area::parse("a", &line.to_string()).unwrap().cases.remove(0)
}

#[test]
fn a_request_is_sent_as_recorded() {
    let seen: Arc<Mutex<Vec<Received>>> = Arc::default();
    let keep = Arc::clone(&seen);
    let site = server(move |received| {
        let copy = Received {
            line: received.line.clone(),
            headers: received.headers.clone(),
            body: received.body.clone(),
        };
        keep.lock().unwrap().push(copy);
        reply_text(200, &[("Content-Type", "text/xml")], "<x/>")
    });
    let runner = Runner::new(&site, identities()).unwrap();
    let ask = |request: Value| {
        let expect =
            json!({"status": 200, "headers": {"Content-Type": "text/xml"}, "body": "$text"});
        assert_eq!(
            runner.run(&case(&json!({"id": "a", "request": request, "expect": expect}))),
            [Verdict::Passed]
        );
        seen.lock().unwrap().pop().unwrap()
    };
    let posts = "/wp-json/wp/v2/posts";
    let sent = ask(json!({
        "method": "POST", "path": posts, "query": "url={{site}}/x&a[]=1",
        "headers": {"X-Forwarded-Proto": "https"}, "body": {"at": "{{site}}/y"}, "auth": "admin",
    }));
    let encoded = site.replace(':', "%3A").replace('/', "%2F");
    assert_eq!(sent.line, format!("POST {posts}?url={encoded}/x&a[]=1 HTTP/1.1\r\n"));
    assert_eq!(sent.header("authorization"), Some("Basic YWRtaW46YWJjZCBlZmdo"));
    assert_eq!(sent.header("x-forwarded-proto"), Some("https"));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(sent.json(), json!({"at": format!("{site}/y")}));

    let sent = ask(json!({"method": "GET", "path": posts, "auth": "raw:Basic !!!"}));
    assert_eq!(sent.header("authorization"), Some("Basic !!!"));
    assert_eq!(sent.header("content-type"), None);
    let sent = ask(json!({"method": "POST", "path": posts, "body": {"$raw": "{\"a\":"}}));
    assert_eq!((sent.header("authorization"), sent.body.as_slice()), (None, &b"{\"a\":"[..]));

    let unknown = json!({"method": "GET", "path": posts, "auth": "nobody"});
    let unknown = case(&json!({"id": "a", "request": unknown, "expect": {"status": 200}}));
    let Verdict::Failed(lines) = &runner.run(&unknown)[0] else { panic!() };
    assert!(lines[0].contains("nobody"), "{lines:?}");
}

#[test]
fn a_sequence_maps_ids_and_skips_what_has_no_route() {
    let site = server(|received| match received.line.split(' ').next().unwrap() {
        "POST" => reply(201, &[], &json!({"id": 7})),
        "GET" if received.line.contains("/posts/7 ") => reply(200, &[], &json!({"id": 7})),
        "DELETE" => reply(500, &[], &json!({})),
        _ => reply(404, &[], &json!({})),
    });
    let post = |path: &str, id: u32| {
        json!({
            "request": {"method": "POST", "path": path, "body": {}, "auth": "admin"},
            "expect": {"status": 201, "body": {"id": id}},
        })
    };
    let get = |id: u32| {
        json!({
            "request": {"method": "GET", "path": format!("/wp-json/wp/v2/posts/{id}")},
            "expect": {"status": 200, "body": {"id": id}},
            "note": "read back",
        })
    };
    let delete = |expect: Value| {
        json!({
            "request": {"method": "DELETE", "path": "/wp-json/wp/v2/posts/9"}, "expect": expect,
        })
    };
    let steps = [
        post("/wp-json/wp/v2/posts", 424),
        json!({"pause_s": 0}),
        get(424),
        post("/wp-json/wc/v3/things", 500),
        get(500),
        get(9),
        delete(json!({"compare": "skip"})),
    ];
    let sequence = case(&json!({"id": "sequences/x", "steps": steps}));
    let verdicts = Runner::new(&site, identities()).unwrap().run(&sequence);
    assert_eq!(verdicts.len(), sequence.exchanges().count());
    assert_eq!(verdicts[..2], [Verdict::Passed, Verdict::Passed]);
    let waits = |verdict: &Verdict| matches!(verdict, Verdict::Waiting(_));
    assert!(waits(&verdicts[2]) && waits(&verdicts[3]), "{verdicts:?}");
    let lines = |verdict: &Verdict| match verdict {
        Verdict::Failed(lines) => lines.join("\n"),
        other => panic!("{other:?}"),
    };
    let wanted = "step 6 GET /wp-json/wp/v2/posts/9: status: want 200, got 404 {}";
    assert_eq!(lines(&verdicts[4]), wanted);
    assert!(lines(&verdicts[5]).contains("status: 500"), "{verdicts:?}");
}

#[test]
fn a_report_counts_excuses_and_pins_what_waits() {
    let get = json!({"method": "GET", "path": "/wp-json/"});
    let one = case(&json!({"id": "a/1", "request": get, "expect": {"status": 200}}));
    let failed = |line: &str| vec![Verdict::Failed(vec![line.to_owned()])];
    let waiting = || vec![Verdict::Waiting("GET /x".to_owned())];
    let pinned = |count: usize| BTreeMap::from([("a".to_owned(), count)]);
    let mut deviations = Deviations::default();
    deviations.add("a", r#"{"case":"a/*","difference":"body.x","reason":"ours"}"#).unwrap();

    let mut report = Report::new(deviations.clone());
    report.add("a", &one, vec![Verdict::Passed]);
    report.add("a", &one, failed("body.x: want 1, got 2"));
    report.add("a", &one, waiting());
    assert_eq!(report.problems(&pinned(1)), None);
    assert!(report.table().contains("meant: ours"), "{}", report.table());
    assert!(report.problems(&pinned(0)).unwrap().contains("only shrink"));
    assert!(report.problems(&BTreeMap::new()).unwrap().contains("only shrink"));
    assert!(report.problems(&pinned(2)).unwrap().contains("smaller numbers"));
    report.add("a", &one, failed("body.y: want 1, got 2"));
    assert!(report.problems(&pinned(1)).unwrap().contains("FAIL a/1\n     body.y"));

    let mut report = Report::new(deviations);
    report.add("a", &one, vec![]);
    let problems = report.problems(&BTreeMap::new()).unwrap();
    assert!(problems.contains("not every request"), "{problems}");
    assert!(problems.contains("excuses nothing"), "{problems}");
}

#[test]
fn a_case_file_is_read_to_the_letter() {
    let wrong = |line: Value| assert!(Area::parse("a", &line.to_string()).is_err(), "{line}");
    let request = json!({"method": "GET", "path": "/"});
    let expect = json!({"status": 200});
    wrong(json!({"id": "a", "request": request}));
    wrong(json!({"id": "a", "request": request, "expect": {}}));
    wrong(json!({"id": "a", "request": request, "expect": {"status": 200, "bodi": 1}}));
    wrong(json!({"id": "a", "request": request, "expect": {"status": 200, "compare": "x"}}));
    wrong(json!({"id": "a", "request": request, "expect": expect, "steps": [{"pause_s": 1}]}));
    wrong(json!({"id": "a", "steps": [{"pause_s": 1000}]}));
    wrong(json!({"id": "a", "steps": [{"request": request}]}));
    let expect = json!({"status": 200, "ties": true});
    let exchange = exchange(&request, &expect);
    assert!(matches!(exchange.expect, Expected::Answer { compare: Compare::Ties, .. }));
}

#[test]
fn the_repository_has_cases_a_reference_and_no_idle_pins() {
    let suite = Suite::load(&folder()).unwrap();
    let names: BTreeSet<&str> = suite.areas.iter().map(|area| area.name.as_str()).collect();
    let pinned = waiting_pinned(&folder()).unwrap();
    assert!(pinned.keys().all(|area| names.contains(area.as_str())), "{pinned:?}");
    assert!(suite.cases().all(|(_, case)| case.exchanges().count() > 0));
    Deviations::load(&deviations_folder()).unwrap();

    let reference = Reference::load(&folder().join("reference")).unwrap();
    let everything = reference.as_index();
    Routes::from_index(&everything).unwrap();
    let findings = reference.compare(&everything, "").unwrap();
    assert_eq!((findings.absent.len(), findings.differences), (0, Vec::new()));
    let absent = index::absent_known(&folder()).unwrap();
    let unknown: Vec<_> = absent.iter().filter(|route| !reference.names(route)).collect();
    assert!(unknown.is_empty(), "the reference has no {unknown:?}");
}

#[test]
fn routes_are_compared_by_methods_and_arguments() {
    let args = json!({"page": {"type": "integer", "default": 1, "required": false, "minimum": 1}});
    let full = |args: &Value| {
        json!({
            "methods": ["GET"], "endpoints": [{"methods": ["GET"], "args": args}],
        })
    };
    let reference = Reference::from_routes(json!({
        "/a": full(&args), "/b": {"methods": ["GET", "POST"]}, "/c": full(&json!([])),
    }));
    let check = |a: Value, b: Value, expected: &[&str]| {
        let index = json!({"routes": {"/a": a, "/b": b, "/ours": {}}});
        let findings = reference.compare(&index, "").unwrap();
        assert_eq!(findings.absent, BTreeSet::from(["/c".to_owned()]));
        let found: Vec<String> =
            findings.differences.iter().map(|(case, line)| format!("{case} {line}")).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (line, part) in found.iter().zip(expected) {
            assert!(line.contains(part), "{line} lacks {part}");
        }
        let known = BTreeSet::from(["/c".to_owned()]);
        let problems = findings.problems(&known, &mut Deviations::default());
        assert_eq!(problems.is_none(), expected.is_empty());
        assert!(findings.problems(&BTreeSet::new(), &mut Deviations::default()).is_some());
        let stale = BTreeSet::from(["/b".to_owned(), "/c".to_owned()]);
        let problems = findings.problems(&stale, &mut Deviations::default()).unwrap();
        assert!(problems.contains("/b is there"), "{problems}");
    };
    let b = json!({"methods": ["GET", "POST"], "endpoints": [{"args": {"free": {}}}]});
    let mut ours = args.clone();
    ours["page"]["description"] = "prose".into();
    check(full(&ours), b.clone(), &[]);
    ours["page"]["minimum"] = 0.into();
    ours["page"]["maximum"] = 9.into();
    check(full(&ours), b.clone(), &["index/a [\"GET\"] page.maximum", "page.minimum: want 1"]);
    check(full(&json!({})), b.clone(), &["page: missing"]);
    ours = args.clone();
    ours["more"] = json!({});
    check(full(&ours), b, &["more: not in the reference"]);
    check(full(&args), json!({"methods": ["GET"]}), &["index/b methods"]);
}
