//! Any input: nothing panics, and what was converted still fits its schema.

use contract::rest::check::{sanitize, validate};
use contract::rest::params::json_body;
use contract::rest::{Args, Fields, Item, Params, Schema, Sources, accept, clean, form, multipart};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn word() -> impl Strategy<Value = String> {
    let known = vec![
        "",
        "0",
        "1",
        "12 ",
        "-3",
        "1.5",
        "1e3",
        "1e999",
        "9223372036854775808",
        "true",
        "FALSE",
        "a,b 1",
        "asc",
        "#fff",
        "::1",
        "a@b.cc",
        "2026-03-31T12:00:00",
        "<b>x",
        "%41",
        "https://a.b/",
    ];
    prop_oneof![any::<String>(), prop::sample::select(known).prop_map(str::to_owned)]
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3_i64..3).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        let name = prop_oneof![word(), "[0-3]", "[abc]"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Formats that clean text are left out: cleaning may shorten what was just long enough.
fn schema() -> impl Strategy<Value = Schema> {
    let types = ["array", "object", "string", "number", "integer", "boolean", "null", "mixed"];
    let leaf = prop_oneof![
        prop::sample::select(types.to_vec()).prop_map(Schema::typed),
        prop::sample::subsequence(types.to_vec(), 1..4).prop_map(|types| Schema::types(&types)),
        Just(Schema::any()),
        Just(Schema::text().choices(&["", "1", "asc"])),
        Just(Schema::text().min_length(1).max_length(3)),
        Just(Schema::text().pattern("[a-z]")),
        Just(Schema::text().format("hex-color")),
        Just(Schema::text().format("ip")),
        Just(Schema::text().format("uuid")),
        Just(Schema::date_time()),
        Just(Schema::integer().keyword("enum", json!([0, 1, 1000]))),
        (-3_i64..3, 0_i64..5)
            .prop_map(|(least, more)| Schema::number().min(least).max(least + more)),
        Just(Schema::integer().multiple_of(2)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(Schema::list),
            inner.clone().prop_map(|items| Schema::list(items).unique_items().max_items(3)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Schema::object([("a", a), ("b", b)])),
            (inner.clone(), inner.clone()).prop_map(|(a, rest)| Schema::object([(
                "a",
                a.required()
            )])
            .additional(rest)),
            inner.prop_map(|a| Schema::object([("a", a)]).no_additional()),
        ]
    })
}

fn alternatives() -> impl Strategy<Value = Schema> {
    let two = || (schema(), schema());
    prop_oneof![
        two().prop_map(|(a, b)| Schema::any_of([a, b])),
        two().prop_map(|(a, b)| Schema::one_of([a, b])),
        two().prop_map(|(a, b)| Schema::list(Schema::any_of([a, b]))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_was_converted_still_fits(schema in schema(), value in value()) {
        let node = schema.compile().expect("a schema");
        if validate(&node, &value, "p").is_ok() {
            match sanitize(&node, value, "p") {
                Ok(value) => prop_assert_eq!(validate(&node, &value, "p"), Ok(()), "{}", value),
                Err(error) => prop_assert_eq!(error.code, "rest_duplicate_items"),
            }
        }
    }

    #[test]
    fn alternatives_never_panic(schema in alternatives(), value in value()) {
        let node = schema.compile().expect("a schema");
        let is_valid = validate(&node, &value, "p").is_ok();
        let is_converted = sanitize(&node, value, "p").is_ok();
        prop_assert!(is_converted || !is_valid || schema.document().to_owned().contains_key("items")
            || Value::from(schema).to_string().contains("uniqueItems"));
    }

    #[test]
    fn any_parameters_are_accepted_or_refused(
        schema in schema(),
        json in prop::option::of(value()),
        query in "[a-c\\[\\]=&%0-9+.]{0,40}",
    ) {
        let args = Args::new().arg("a", schema.clone()).arg("b", Schema::integer());
        let compiled = args.compile().expect("args");
        let sources = Sources::from_query(form::decode(&query)).with_json(json);
        match accept(&compiled, sources) {
            Ok(params) => {
                let _ = (params.ints("a"), params.texts("a"), params.flag("a"), params.number("b"));
                prop_assert!(params.get("b").is_none_or(Value::is_i64));
            }
            Err(refusal) => prop_assert_eq!(refusal.status, 400),
        }
    }

    #[test]
    fn any_query_is_decoded(text in any::<String>(), brackets in "[ab\\[\\]=&%0-9+. ]{0,60}") {
        for text in [text, brackets] {
            let decoded = form::decode(&text);
            let _ = form::encode(&decoded);
            let _ = Fields::read(&Params::unchecked(Sources::from_query(decoded)));
        }
    }

    #[test]
    fn a_decoded_query_survives_a_link(query in "([a-c](\\[[a-c0-2]?\\]){0,2}=[x-z]{1,2}&){0,6}") {
        let decoded = form::decode(&query);
        prop_assert_eq!(form::decode(&form::encode(&decoded)), decoded);
    }

    #[test]
    fn any_body_is_decoded(bytes in prop::collection::vec(any::<u8>(), 0..200), marks in "(--X|\r\n|form-data|; |name=|\"|Content-Disposition: |:|a){0,40}") {
        for body in [&bytes[..], marks.as_bytes()] {
            let _ = multipart::decode("multipart/form-data; boundary=X", body);
            let _ = multipart::decode(&String::from_utf8_lossy(body), body);
            let _ = json_body(body);
        }
    }

    #[test]
    fn clean_text_stays_clean(text in any::<String>(), tags in "[<>a/'\"% \n14bscript&;:.?\\[\\]]{0,60}") {
        for text in [text, tags] {
            let line = clean::text_field(&text);
            prop_assert!(!line.contains('\n'), "{line:?}");
            let _ = clean::textarea_field(&text);
            let address = clean::url(&text);
            prop_assert!(!address.contains(['<', '>', '"', ' ']), "{address:?}");
            let key = clean::key(&text);
            prop_assert_eq!(clean::key(&key), key.clone());
            let code = clean::code(&text);
            prop_assert_eq!(clean::code(&code), code.clone());
        }
    }

    #[test]
    fn any_answer_is_filtered(schema in schema(), value in value(), names in prop::collection::vec("[ab0.]{0,5}", 0..4)) {
        if let Some(fields) = Fields::of(names.iter().map(String::as_str)) {
            let _ = fields.filter(value.clone());
        }
        let item = Item::new("x", Schema::object([("a", schema.context(&["edit"]))]));
        let compiled = item.compile().expect("an item");
        let mut holder = Map::new();
        holder.insert(String::from("a"), value);
        let shown = compiled.filter_by_context(Value::Object(holder), "view");
        prop_assert_eq!(shown, json!([]));
    }
}
