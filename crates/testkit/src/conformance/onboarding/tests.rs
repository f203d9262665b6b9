//! Proof that the runner can fail as well as pass: a runner that cannot fail tests nothing.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::case::BodyPlan;
use super::stub::{Received, reply, reply_text, serve};
use super::tokens::{Scope, luhn_check_digit};
use super::*;

fn case(value: Value) -> Case {
    let bases = json!({
        "plain": {"merchantData": {"dba": "Cafe ${uniq}", "zip": "1"}},
        "shorter": {"extends": "plain", "unset": ["merchantData.zip"]},
    });
    Case::parse("test", value, &Arc::new(bases.as_object().unwrap().clone())).unwrap()
}

fn runner(url: &str) -> Runner {
    let keys = Keys { key: "bw_test_KeyA".to_owned(), ..Keys::default() };
    Runner::new(url, keys, Features { sandbox: false, concurrency: true })
}

fn single(expect: Value) -> Case {
    case(json!({"id": "x", "steps": [{"request": {"body": {"json": {}}}, "expect": expect}]}))
}

/// Runs a case of one request whose answer is `answer`. `problem` is a part of what must be told;
/// empty means that the case must pass.
fn check(answer: Vec<u8>, expect: Value, problem: &str) {
    let url = serve(move |_| answer.clone());
    let told = expect.to_string();
    match runner(&url).run(&single(expect)) {
        Verdict::Passed => assert!(problem.is_empty(), "passed, but must not: {told}"),
        Verdict::Failed(problems) => {
            let text = problems.join("\n");
            assert!(!problem.is_empty() && text.contains(problem), "{told} told: {text}");
        }
        other => panic!("{told} gave {other:?}"),
    }
}

fn good_data() -> Value {
    json!({"merchantId": "mmmmmmmmmmmm", "storeId": "s", "tpn": "123456789012"})
}

fn success(data: &Value) -> Vec<u8> {
    reply(200, &[("X-A", "Yes, yes")], &json!({"message": "fine", "data": data}))
}

fn want_success() -> Value {
    let data = json!({"merchantId": "id12", "storeId": "string", "tpn": "digits12"});
    json!({"status": 200, "message": "fine", "data": data})
}

/// `want_success` with other members.
fn want(changes: Value) -> Value {
    let mut expect = want_success();
    let changes = changes.as_object().unwrap().clone();
    expect.as_object_mut().unwrap().extend(changes);
    expect
}

#[test]
fn status_message_and_data_are_compared() {
    let good = || success(&good_data());
    check(good(), want_success(), "");
    check(good(), want(json!({"status": [201, 200]})), "");
    check(good(), want(json!({"status": 201})), "status");
    check(good(), want(json!({"message": null})), "");
    check(good(), want(json!({"message": "other"})), "message: expected \"other\"");
    check(good(), want(json!({"message": {"any": ["a", "fine"]}})), "");
    check(good(), want(json!({"message": {"any": ["a", "b"]}})), "message");
    check(good(), want(json!({"data": {"storeId": "=s"}})), "");
    check(good(), want(json!({"data": {"storeId": "!=s"}})), "data.storeId");
    check(good(), want(json!({"data": {"storeId": "t"}})), "data.storeId");
    check(good(), want(json!({"data": "empty"})), "data: expected none");
    check(success(&json!({})), want(json!({"data": "empty"})), "");
    check(good(), want(json!({"body_members": ["message", "data"]})), "");
    check(good(), want(json!({"body_members": ["message"]})), "not published");
    check(good(), want(json!({"data_members_exact": true})), "");
    check(good(), want(json!({"data_members_exact": true, "data": {}})), "unpublished");
    check(good(), want(json!({"body_excludes": ["1234567"]})), "must not repeat");
    check(good(), json!([want_success(), {"status": 400}]), "");
    check(good(), json!([{"status": 400}, {"status": 401}]), "status");
}

#[test]
fn wrong_data_is_found() {
    let wrong = |name: &str, value: Value| {
        let mut data = good_data();
        data[name] = value;
        check(success(&data), want_success(), &format!("data.{name}"));
    };
    wrong("tpn", json!("12345678901"));
    wrong("tpn", json!("012345678901"));
    wrong("tpn", json!(123_456_789_012_u64));
    wrong("merchantId", json!("mmmmmmmmmmm"));
    wrong("storeId", json!(""));
    wrong("storeId", Value::Null);
}

#[test]
fn headers_are_compared() {
    let expect = |matcher: Value| want(json!({"headers": {"x-a": matcher}}));
    let good = || success(&good_data());
    check(good(), expect(json!("Yes, yes")), "");
    check(good(), expect(json!("yes")), "header x-a");
    check(good(), expect(json!({"contains": "YES"})), "");
    check(good(), expect(json!({"contains": "no"})), "header x-a");
    check(good(), expect(json!({"regex": "^Y.*s$"})), "");
    check(good(), expect(json!({"regex": "^y"})), "header x-a");
    check(good(), expect(json!({"absent": true})), "header x-a");
    check(good(), want(json!({"headers": {"X-B": {"absent": true}}})), "");
    check(good(), want(json!({"headers": {"X-B": {"regex": ""}}})), "header X-B");
}

#[test]
fn answers_of_the_wrong_form_are_found() {
    check(reply_text(200, &[], "<html>"), want_success(), "expected a JSON object");
    check(reply_text(200, &[], "[]"), want_success(), "expected a JSON object");
    check(reply_text(200, &[], r#"{"message":"fine","message":"fine"}"#), want_success(), "JSON");
    check(reply_text(200, &[], r#"{"message":"fine"}"#), want_success(), "Content-Type");
    check(reply_text(200, &[], "<html>"), json!({"status": 200, "body": "none"}), "");
    check(Vec::new(), want_success(), "no response from the server");
    let both = json!({"message": "fine", "data": good_data(), "errors": [1]});
    check(reply(200, &[], &both), want_success(), "errors: expected none");
    check(reply(200, &[], &json!({"message": "", "data": {}})), json!({"status": 200}), "message");
}

fn failure(errors: &[(&str, &str, &str)]) -> Vec<u8> {
    let items: Vec<Value> = errors
        .iter()
        .map(|(code, param, message)| json!({"code": code, "param": param, "message": message}))
        .collect();
    reply(400, &[], &json!({"message": "no", "errors": items}))
}

#[test]
fn errors_are_compared() {
    let both = || failure(&[("a", "x", "2 to 35"), ("b", "y[0].z", "t")]);
    let one = || failure(&[("a", "x", "2 to 35")]);
    let a = || json!({"code": "a", "param": "x"});
    let b = || json!({"code": "b|c", "param": {"regex": r"^y(\.|\[|$)"}});
    let expect = |mode: &str, errors: &[Value]| json!({"status": 400, "message": "no", "errors_mode": mode, "errors": errors});
    check(both(), expect("exact-set", &[b(), a()]), "");
    check(one(), expect("exact-set", &[a(), b()]), "errors missing: b|c");
    check(both(), expect("exact-set", &[a()]), "errors unexpected: b");
    check(failure(&[("a", "x", "m"), ("a", "x", "m")]), expect("exact-set", &[a()]), "unexpected");
    check(one(), expect("exact-set", &[json!({"code": "a", "param": "z"})]), "errors missing");
    check(both(), expect("exact-list", &[a(), b()]), "");
    check(both(), expect("exact-list", &[b(), a()]), "another order");
    check(both(), expect("contains", &[b()]), "");
    check(one(), expect("contains", &[b()]), "errors missing");
    check(both(), expect("only", &[a(), b(), json!({"code": "z", "param": ""})]), "");
    check(both(), expect("only", &[a()]), "expected only");
    check(failure(&[]), expect("only", &[a()]), "got none");
    check(failure(&[]), expect("empty", &[]), "");
    check(one(), expect("empty", &[]), "errors: expected none");
    check(one(), expect("any", &[]), "");
    let with = |words: &[&str]| json!({"code": "a", "param": "x", "message_has": words});
    check(one(), expect("exact-set", &[with(&["2", "35"])]), "");
    check(one(), expect("exact-set", &[with(&["3"])]), "errors missing");
    check(failure(&[("a", "x", " ")]), expect("exact-set", &[a()]), "lacks a code");
    check(reply(400, &[], &json!({"message": "no"})), expect("any", &[]), "expected a list");
    let data = json!({"message": "no", "errors": [], "data": {"tpn": "1"}});
    check(reply(400, &[], &data), expect("empty", &[]), "data: expected none");
}

#[test]
fn overlapping_expectations_find_their_partners() {
    // The first expectation fits both errors, the second only one: taking the first that fits
    // would leave the second without a partner.
    let wants = [json!({"code": "a", "param": {"regex": ""}}), json!({"code": "a", "param": "x"})];
    let expect = json!({"status": 400, "message": "no", "errors": wants});
    check(failure(&[("a", "x", "m"), ("a", "y", "m")]), expect, "");
}

#[test]
fn doubtful_cases_are_noted_and_impossible_ones_skipped() {
    let url = serve(|_| success(&good_data()));
    let steps = json!([{"request": {"body": null}, "expect": {"status": 400}}]);
    let noted = case(json!({"id": "x", "strict": false, "steps": steps}));
    assert!(matches!(runner(&url).run(&noted), Verdict::Noted(_)));
    for skipped in [
        case(json!({"id": "x", "needs": ["sandbox"], "steps": steps})),
        case(json!({"id": "x", "needs": ["key-expired"], "steps": steps})),
        case(json!({"id": "x", "steps":
            [{"request": {"auth": "other_iso", "body": null}, "expect": {"status": 400}}]})),
    ] {
        assert!(matches!(runner(&url).run(&skipped), Verdict::Skipped(_)));
    }
    let without = Runner::new(&url, Keys::default(), Features::default());
    let crowd = json!({"request": {"body": null}, "parallel": 2, "expect_mix":
        [{"name": "n", "count": [0, 2], "expect": {"status": 200}}]});
    let verdict = without.run(&case(json!({"id": "x", "steps": [crowd]})));
    assert_eq!(verdict, Verdict::Skipped("needs concurrency".to_owned()));
}

#[test]
fn saved_values_are_used_in_later_steps() {
    let url = serve(|received| {
        let id = received.json()["id"].as_str().unwrap_or("mmmmmmmmmmmm").to_owned();
        reply(200, &[("X-Id", "h1")], &json!({"message": "fine", "data": {"merchantId": id}}))
    });
    let run = |wanted: &str| {
        let first = json!({"request": {"body": {"json": {}}},
            "expect": {"status": 200, "data": {"merchantId": "id12"}},
            "save": {"merchantId": "$.data.merchantId", "fromHeader": "header:X-Id"}});
        let second = json!({"request": {"body": {"resend": 0, "set": {"id": "${merchantId}${fromHeader}"}}},
            "expect": {"status": 200, "data": {"merchantId": wanted}}});
        runner(&url).run(&case(json!({"id": "x", "steps": [first, second]})))
    };
    assert_eq!(run("=${merchantId}h1"), Verdict::Passed);
    let Verdict::Failed(problems) = run("!=${merchantId}${fromHeader}") else { panic!("passed") };
    assert!(problems[0].starts_with("step 2 of 2: data.merchantId"), "{problems:?}");
    assert!(matches!(run("=${unknown}"), Verdict::Failed(_)));
}

#[test]
fn parallel_answers_are_counted_by_kind() {
    let run = |identical: bool, created: [usize; 2], distinct: usize| {
        let seen = Mutex::new(BTreeSet::new());
        let number = AtomicUsize::new(0);
        let url = serve(move |received| {
            let number = number.fetch_add(1, Ordering::Relaxed);
            if seen.lock().unwrap().insert(received.body.clone()) {
                let data = json!({"tpn": format!("{}", 100_000_000_000_usize + number)});
                reply(200, &[], &json!({"message": "fine", "data": data}))
            } else {
                failure(&[("already_exists", "x", "m")])
            }
        });
        let refused = json!({"status": 400, "errors": [{"code": "already_exists", "param": "x"}]});
        let mut step = json!({"request": {"body": {"base": "plain"}}, "parallel": 4, "expect_mix": [
            {"name": "created", "count": created, "expect":
                {"status": 200, "data": {"tpn": "digits12"}}},
            {"name": "refused", "count": [0, 4], "expect": refused}]});
        step["identical"] = json!(identical);
        step["distinct"] = json!({"$.data.tpn": distinct});
        runner(&url).run(&case(json!({"id": "x", "steps": [step]})))
    };
    assert_eq!(run(true, [1, 1], 1), Verdict::Passed);
    assert_eq!(run(false, [4, 4], 4), Verdict::Passed);
    assert!(matches!(run(true, [2, 2], 1), Verdict::Failed(_)));
    assert!(matches!(run(false, [4, 4], 1), Verdict::Failed(_)));
}

#[test]
fn a_throttled_request_is_sent_again() {
    let left = AtomicUsize::new(2);
    let url = serve(move |_| {
        if left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
            .is_ok()
        {
            return reply(429, &[("Retry-After", "0")], &json!({"message": "slow", "errors": []}));
        }
        success(&good_data())
    });
    assert_eq!(runner(&url).run(&single(want_success())), Verdict::Passed);
    let slow = reply(429, &[], &json!({"message": "slow", "errors": []}));
    check(slow, json!({"status": 429, "errors_mode": "empty"}), "");
}

#[test]
fn requests_carry_what_the_case_says() {
    let received: Arc<Mutex<Vec<Received>>> = Arc::default();
    let log = Arc::clone(&received);
    let url = serve(move |request| {
        let Received { line, headers, body } = request;
        let copy = Received { line: line.clone(), headers: headers.clone(), body: body.clone() };
        log.lock().unwrap().push(copy);
        success(&good_data())
    });
    let step = |request: Value| json!({"request": request, "expect": want_success()});
    let steps = json!([
        step(json!({"body": {"base": "shorter", "set": {"merchantData.tags[0]": 1}, "unset": []},
                    "auth": "bad"})),
        step(json!({"body": null, "auth": "none", "method": "PUT", "path": "/p?k=${key_long}",
                    "headers": {"content-type": null, "X-K": "${key_swapcase}"}})),
    ]);
    let verdict = runner(&url).run(&case(json!({"id": "x", "steps": steps})));
    let Verdict::Failed(problems) = verdict else { panic!("an index without an array passed") };
    assert!(problems[0].contains("merchantData.tags[0]"), "{problems:?}");

    let mut fixed = steps;
    fixed[0]["request"]["body"]["set"] = json!({"merchantData.tags": [], "merchantData.n.o": 1});
    assert_eq!(runner(&url).run(&case(json!({"id": "x", "steps": fixed}))), Verdict::Passed);
    let received = received.lock().unwrap();
    assert_eq!(received[0].line, "POST /v1/onboardmerchant HTTP/1.1\r\n");
    assert!(received[0].header("authorization").unwrap().starts_with("api-key bw_live_KITWRONG_"));
    assert_eq!(received[0].header("content-type"), Some("application/json"));
    assert_eq!(received[0].json()["merchantData"]["n"], json!({"o": 1}));
    assert_eq!(received[0].json()["merchantData"].get("zip"), None);
    assert_eq!(received[1].line, "PUT /p?k=bw_test_KeyAA HTTP/1.1\r\n");
    assert_eq!(received[1].header("x-k"), Some("BW_TEST_kEYa"));
    assert_eq!(received[1].header("authorization"), None);
    assert_eq!(received[1].header("content-type"), None);
}

#[test]
fn tokens_are_fresh_unless_named() {
    let mut scope = Scope::new([("storeId2".to_owned(), "S2".to_owned())].into());
    let mut text = |source: &str| scope.text(source).unwrap();
    assert_ne!(text("${uniq}"), text("${uniq}"));
    assert_eq!(text("${uniq:n}"), text("${uniq:n}"));
    assert_ne!(text("${uniq:n}"), text("${uniq:m}"));
    assert_eq!(text("${uniq}").len(), 10);
    assert_eq!(text("<${uniq35:a}>").len(), 37);
    assert_eq!(text("${storeId2} $x ${ ${9} ${a-b}"), "S2 $x ${ ${9} ${a-b}");
    assert!(text("${an8}").bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()));
    assert!(text("${alpha40}").bytes().all(|byte| byte.is_ascii_lowercase()));
    assert!(text("${d12}").parse::<u64>().unwrap() >= 100_000_000_000);
    let card = text("${luhn16}");
    assert!(card.len() == 16 && card.ends_with(luhn_check_digit(&card[..15])), "{card}");
    assert_eq!(luhn_check_digit("411111111111111"), '1');
    let number = scope.json(&json!({"z": {"$int": "-10001"}, "${storeId2}": 1})).unwrap();
    assert_eq!(number, json!({"z": -10001, "S2": 1}));
    scope.text("${merchantId}").unwrap_err();
}

#[test]
fn bodies_are_made_as_described() {
    let check = |plan: Value, expected: &[u8]| {
        let plan: BodyPlan = serde_json::from_value(plan).unwrap();
        let sent = [br#"{"a":1,"b":2,"c":3}"#.to_vec()];
        let mut scope = Scope::new([].into());
        let bytes = body::bytes(&plan, &serde_json::Map::new(), &mut scope, &sent).unwrap();
        assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(expected));
    };
    check(json!({"raw": "{x"}), b"{x");
    check(json!({"raw_base64": "Cafe+/8="}), b"\x09\xa7\xde\xfb\xff");
    check(json!({"json": {}, "pad_to": 4}), b"{}  ");
    check(json!({"json": {}, "pad_to": 1}), b"{}");
    check(json!({"resend": 0}), br#"{"a":1,"b":2,"c":3}"#);
    check(json!({"resend": 0, "unset": ["a"], "set": {"b": 9}}), br#"{"b":9,"c":3}"#);
    check(json!({"json": {"a": "é😀", "b": [{"c": 1, "d": 2}]}, "reorder": true}),
        b"{\n  \"b\": [\n    {\n      \"d\": 2,\n      \"c\": 1\n    }\n  ],\n  \"a\": \"\\u00e9\\ud83d\\ude00\"\n}");
}

#[test]
fn misspelt_cases_are_refused() {
    let parse = |value: Value| Case::parse("test", value, &Arc::default());
    let step = |expect: Value| json!({"id": "x", "steps": [{"request": {}, "expect": expect}]});
    parse(step(json!({"status": 200}))).unwrap();
    parse(step(json!({"status": 200, "eror_mode": "any"}))).unwrap_err();
    parse(step(json!({"status": 200, "headers": {"A": {"regx": "."}}}))).unwrap_err();
    parse(step(json!({"status": 200, "headers": {"A": {"regex": "("}}}))).unwrap_err();
    parse(json!({"id": "x", "steps": [{"request": {}}]})).unwrap_err();
}

#[test]
fn all_recorded_cases_can_be_read_and_sent() {
    let cases = load(&folder()).unwrap();
    assert!(cases.len() > 900, "{} cases", cases.len());
    assert!(cases.iter().any(Case::refuses_keys) && cases.iter().any(Case::is_crowded));
    let url = serve(|_| success(&good_data()));
    let verdicts = runner(&url).run_all(&cases, 4);
    assert_eq!(verdicts.len(), cases.len());
    for (case, verdict) in cases.iter().zip(verdicts) {
        // A server that accepts everything fails, but never because a request could not be made.
        if let Verdict::Failed(problems) | Verdict::Noted(problems) = verdict {
            let text = problems.join("\n");
            assert!(
                !text.contains("the case") && !text.contains("not known"),
                "{}: {text}",
                case.id
            );
        }
    }
}
