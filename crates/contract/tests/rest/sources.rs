//! Where parameters come from, which value counts, and how a request is refused.

use contract::rest::args::{absint, id_list};
use contract::rest::params::json_body;
use contract::rest::{
    Args, Fields, ParamError, Params, Refusal, Schema, Sources, Treatment, accept, form,
};
use serde_json::{Map, Value, json};

fn map(value: Value) -> Map<String, Value> {
    let Value::Object(members) = value else { panic!("{value} is no object") };
    members
}

fn query(text: &str) -> Sources {
    Sources::from_query(form::decode(text))
}

fn json(value: Value) -> Sources {
    Sources::default().with_json(Some(value))
}

fn run(args: &Args, sources: Sources) -> Result<Params, Refusal> {
    accept(&args.compile().expect("parameters"), sources)
}

fn paging() -> Args {
    Args::new()
        .arg("page", Schema::integer().default(1).min(1))
        .arg("per_page", Schema::integer().default(10).min(1).max(100))
        .arg("order", Schema::text().default("desc").choices(&["asc", "desc"]))
}

#[track_caller]
fn refused(args: &Args, sources: Sources) -> Value {
    let refusal = run(args, sources).expect_err("a refusal");
    assert_eq!(refusal.status, 400);
    refusal.body()
}

#[track_caller]
fn details(args: &Args, sources: Sources) -> Value {
    let body = refused(args, sources);
    assert_eq!(body["code"], "rest_invalid_param");
    let details = body["data"]["details"].as_object().expect("details");
    let codes = details.iter().map(|(name, error)| (name.clone(), error["code"].clone()));
    Value::Object(codes.collect())
}

#[test]
fn the_highest_source_counts_and_null_falls_through() {
    let sources = Sources {
        json: Some(json!({"a": null, "b": "json"})),
        form: map(json!({"a": "form", "b": "form"})),
        query: map(json!({"a": "query", "id": "2"})),
        path: map(json!({"a": "path", "id": "1", "p": "path"})),
        ..Sources::default()
    };
    let args = Args::new().treated("d", Schema::any().default("default"), Treatment::None);
    let mut params = run(&args, sources).expect("fine");
    let expected = [("a", "form"), ("b", "json"), ("id", "2"), ("p", "path"), ("d", "default")];
    for (name, value) in expected {
        assert_eq!(params.text(name), Some(value), "{name}");
    }
    assert_eq!(params.get("x"), None);
    assert!(params.has("d") && !params.given("d"));
    assert!(params.has("a") && params.given("a") && !params.has("x"));
    let merged = json!({"d": "default", "a": null, "id": "2", "p": "path", "b": "json"});
    assert_eq!(Value::Object(params.merged()), merged);
    params.set("a", "set");
    params.set("new", 5);
    params.remove("d");
    params.remove("b");
    assert_eq!(params.text("a"), Some("set"));
    assert_eq!(params.json(), Some(&json!({"a": "set", "new": 5})));
    assert!(!params.has("d") && !params.has("b"));
}

#[test]
fn a_set_parameter_shows_in_links_of_a_plain_request() {
    let mut params = run(&paging(), query("per_page=3&flag=true")).expect("fine");
    params.set("status", json!(["any"]));
    assert_eq!(form::encode(params.query()), "per_page=3&flag=true&status%5B0%5D=any");
}

#[test]
fn values_are_converted_in_place() {
    let args = paging()
        .arg("extended_info", Schema::boolean())
        .arg("products", Schema::list(Schema::integer()));
    let params =
        run(&args, query("page=2&extended_info=true&products=1,2 3&other=x")).expect("fine");
    assert_eq!(params.int("page"), Some(2));
    assert_eq!(params.int("per_page"), Some(10));
    assert!(params.flag("extended_info") && !params.flag("other_flag"));
    assert_eq!(params.ints("products"), [1, 2, 3]);
    assert_eq!(params.texts("products"), ["1", "2", "3"]);
    assert_eq!(params.text("other"), Some("x"));
    let link =
        "page=2&extended_info=1&products%5B0%5D=1&products%5B1%5D=2&products%5B2%5D=3&other=x";
    assert_eq!(form::encode(params.query()), link);
}

#[test]
fn invalid_parameters_are_listed_together() {
    let body = refused(&paging(), query("per_page=0&page=abc&order=asc"));
    let expected = json!({
        "code": "rest_invalid_param",
        "message": "Invalid parameter(s): page, per_page",
        "data": {
            "status": 400,
            "params": {
                "page": "page must be a whole number.",
                "per_page": "per_page must be at least 1 and at most 100."
            },
            "details": {
                "page": {
                    "code": "rest_invalid_type",
                    "message": "page must be a whole number.",
                    "data": {"param": "page"}
                },
                "per_page": {
                    "code": "rest_out_of_bounds",
                    "message": "per_page must be at least 1 and at most 100.",
                    "data": null
                }
            }
        }
    });
    assert_eq!(body, expected);
}

#[test]
fn missing_parameters_are_listed_together_and_come_first() {
    let args = paging()
        .arg("name", Schema::text().required())
        .arg("kind", Schema::text().required().default("x"))
        .arg("email", Schema::text().required());
    let body = refused(&args, json(json!({"page": "abc", "name": null})));
    assert_eq!(body["code"], "rest_missing_callback_param");
    assert_eq!(body["data"], json!({"status": 400, "params": ["name", "email"]}));
}

#[test]
fn an_explicit_null_is_refused_or_converted() {
    let schema = || Schema::integer().default(5);
    let parsed = Args::new().arg("n", schema());
    assert_eq!(details(&parsed, json(json!({"n": null}))), json!({"n": "rest_invalid_type"}));
    let with_null = Args::new().arg("n", Schema::types(&["integer", "null"]).default(5));
    assert_eq!(run(&with_null, json(json!({"n": null}))).expect("fine").int("n"), Some(5));
    let converted = Args::new().treated("n", schema(), Treatment::Convert);
    assert_eq!(run(&converted, json(json!({"n": null}))).expect("fine").int("n"), Some(0));
    assert_eq!(details(&converted, json(json!({"n": "x"}))), json!({"n": "rest_invalid_type"}));
}

#[test]
fn a_hidden_value_can_fail_a_good_one() {
    let sources = Sources { json: Some(json!({"page": 2})), ..query("page=abc") };
    assert_eq!(details(&paging(), sources), json!({"page": "rest_invalid_type"}));
}

fn refuse_bogus(value: &Value, param: &str) -> Result<(), Option<ParamError>> {
    match value.as_str() {
        Some("no") => Err(None),
        Some("bogus") => Err(Some(ParamError::new("own_code", format!("{param} is bogus.")))),
        _ => Ok(()),
    }
}

#[test]
fn own_treatments() {
    let args = Args::new()
        .arg("width", Schema::integer().default("600x"))
        .treat("width", Treatment::Own(absint))
        .treated("ids", Schema::list(Schema::integer()), Treatment::Own(id_list))
        .treated("page", Schema::integer().min(1), Treatment::Cleaned(absint))
        .treated("pair", Schema::list(Schema::integer()), Treatment::Checked(refuse_bogus))
        .treated(
            "own",
            Schema::typed("array").keyword("items", "string"),
            Treatment::Custom(refuse_bogus, absint),
        )
        .treated("free", Schema::integer(), Treatment::None);
    let params = run(&args, query("ids=-3,3,x&free=x&own=-5&page=2")).expect("fine");
    assert_eq!(params.get("width"), Some(&json!(600)));
    assert_eq!(params.get("ids"), Some(&json!([3, 0])));
    assert_eq!(params.get("free"), Some(&json!("x")));
    assert_eq!(params.get("own"), Some(&json!(5)));
    assert_eq!(params.get("page"), Some(&json!(2)));

    assert_eq!(details(&args, query("page=0")), json!({"page": "rest_out_of_bounds"}));
    assert_eq!(details(&args, query("pair=bogus")), json!({"pair": "own_code"}));
    assert_eq!(details(&args, query("pair[]=1.5")), json!({"pair": "rest_invalid_type"}));
    let body = refused(&args, query("pair=no"));
    assert_eq!(body["data"]["details"], json!([]));
    assert_eq!(body["data"]["params"], json!({"pair": "Invalid value."}));
}

#[test]
fn args_are_composed_and_published() {
    let args = paging()
        .with(Args::new().arg("page", Schema::integer()).arg("search", Schema::text()))
        .without("order")
        .revise("search", |schema| schema.about("What to look for."));
    let expected = json!({
        "page": {"type": "integer", "required": false},
        "per_page": {"type": "integer", "default": 10, "minimum": 1, "maximum": 100, "required": false},
        "search": {"type": "string", "description": "What to look for.", "required": false}
    });
    assert_eq!(args.document(), expected);
    assert_eq!(Args::new().document(), json!([]));
    for (args, problem) in [
        (paging().treat("x", Treatment::None), "there is no parameter x to change"),
        (
            Args::new().arg("n", Schema::integer().default("x")),
            "parameter n: its default is refused: n must be a whole number.",
        ),
        (Args::new().arg("n", Schema::text().pattern("(")), "parameter n: pattern ("),
    ] {
        let told = args.compile().expect_err(problem);
        assert!(told.starts_with(problem), "{told}");
    }
}

#[test]
fn json_bodies() {
    assert_eq!(json_body(b""), Ok(None));
    assert_eq!(json_body(br#"{"a":1,"a":2}"#), Ok(Some(json!({"a": 2}))));
    let deep = "[".repeat(200);
    for (body, code) in [
        (&b"{"[..], 4),
        (br#"{"code":"#, 4),
        (b"x", 4),
        (b" ", 4),
        (b"{} x", 4),
        (b"\"a\nb\"", 3),
        (b"\"\xff\"", 5),
        (br#""\ud800""#, 10),
        (deep.as_bytes(), 1),
    ] {
        let body = json_body(body).expect_err("not JSON").body();
        assert_eq!(body["code"], "rest_invalid_json");
        assert_eq!(body["data"]["status"], 400);
        assert_eq!(body["data"]["json_error_code"], code, "{body}");
        assert!(body["data"]["json_error_message"].is_string());
    }
    // Anything but an object gives no parameters.
    let params = run(&paging(), json(json!([1, 2]))).expect("fine");
    assert_eq!(params.json(), Some(&json!([1, 2])));
    assert_eq!(params.int("page"), Some(1));
}

#[test]
fn the_body_of_a_batch_item_counts_as_a_form_with_its_types() {
    let body = map(json!({"page": 3, "order": "asc", "title": 5}));
    let args = paging().arg("title", Schema::text());
    let sources = || query("page=9").with_form(body.clone());
    assert_eq!(details(&args, sources()), json!({"title": "rest_invalid_type"}));
    let params = run(&paging(), sources()).expect("fine");
    assert_eq!(params.int("page"), Some(3));
    assert_eq!(params.query(), &map(json!({"page": 9})));
}

#[test]
fn fields_are_read_from_any_source() {
    for sources in [query("_fields=id,title"), json(json!({"_fields": ["id", "title"]}))] {
        let params = run(&paging(), sources).expect("fine");
        let fields = Fields::read(&params).expect("fields");
        assert!(fields.includes("title") && !fields.includes("content"));
    }
    for none in ["", "_fields", "_fields=", "_fields=,%20"] {
        assert_eq!(Fields::read(&Params::unchecked(query(none))), None, "{none}");
    }
}
