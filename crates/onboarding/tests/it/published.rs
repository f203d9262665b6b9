//! The published field tables, written down once more: what the OpenAPI document says must not
//! drift from them.

use onboarding::endpoints;
use serde_json::{Value, json};

/// How the published tables type a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// "alphanumeric plus special characters".
    Special,
    /// "alphabets".
    Alphabets,
    Alphanumeric,
    /// "numbers": a string of digits, or a JSON integer.
    Numbers,
    Email,
    Url,
    /// "+xxx".
    CallingCode,
    /// A string without a named alphabet.
    Free,
    /// Chosen from a list.
    Listed,
    Object,
    Array,
    Id,
}
use Class::{
    Alphabets, Alphanumeric, Array, CallingCode, Email, Free, Id, Listed, Numbers, Object, Special,
    Url,
};

/// Name, whether it is mandatory, class, and bounds where the tables give any.
type Field<Name = &'static str> = (Name, bool, Class, Option<(u64, u64)>);

const fn field(name: &'static str, required: bool, class: Class, min: u64, max: u64) -> Field {
    (name, required, class, Some((min, max)))
}

const fn unbounded(name: &'static str, required: bool, class: Class) -> Field {
    (name, required, class, None)
}

const MERCHANT: &[Field] = &[
    field("dba", true, Special, 2, 35),
    field("firstName", true, Alphabets, 2, 50),
    field("lastName", false, Alphabets, 1, 12),
    field("email", true, Email, 6, 255),
    field("addressLine1", true, Special, 2, 35),
    field("addressLine2", false, Special, 2, 35),
    field("zipCode", true, Numbers, 5, 5),
    field("phoneNumber", true, Numbers, 10, 12),
    field("ebt", false, Alphanumeric, 7, 7),
    field("isoAgentReference", false, Alphanumeric, 1, 15),
    field("isoMerchant", false, Alphanumeric, 1, 6),
    // Neither a mandatory marker nor a length is published; both are our choice.
    field("merchantLogoUrl", false, Url, 1, 2048),
    field("ISDcode", true, CallingCode, 2, 4),
];

const STORE: &[Field] = &[
    field("mccCode", true, Numbers, 4, 4),
    field("firstName", true, Alphabets, 2, 50),
    field("lastName", false, Alphabets, 1, 12),
    field("dba", true, Special, 2, 35),
    field("addressLine1", true, Special, 2, 35),
    field("addressLine2", false, Special, 2, 35),
    field("zipCode", true, Numbers, 5, 5),
    field("email", true, Email, 6, 255),
    field("phoneNumber", true, Numbers, 10, 12),
    field("ISDcode", true, CallingCode, 2, 4),
    field("ebt", false, Alphanumeric, 7, 7),
];

const TPN: &[Field] = &[
    unbounded("deviceManufacturer", true, Listed),
    unbounded("deviceModel", true, Listed),
    unbounded("tpnApplicationSign", true, Listed),
    // Marked mandatory with a default: it may be left out.
    unbounded("tpnRoutingType", false, Listed),
    field("tpnAssignTemplate", false, Alphanumeric, 5, 30),
    field("defaultLabel", false, Alphanumeric, 18, 18),
    field("tpnBin", false, Numbers, 6, 6),
    unbounded("tpnProcessor", true, Object),
];

/// The fields of each processor between `profileId`, which all have, and the tpnBin, which may
/// stand in tpnData instead and is therefore optional here.
const PROFILES: &[(&str, &[Field])] = &[
    (
        "TSYS",
        &[
            field("Mid", true, Numbers, 12, 12),
            field("Agent", true, Numbers, 6, 6),
            field("Chain", true, Numbers, 6, 6),
            field("Store", true, Numbers, 4, 4),
            field("TermNo", true, Numbers, 4, 4),
            field("TermId", true, Alphanumeric, 8, 8),
            field("ABA_No", false, Numbers, 9, 9),
            field("Agent_FIID", false, Alphanumeric, 4, 4),
            field("dsGroup", false, Alphanumeric, 1, 30),
            field("tpnBin", false, Numbers, 6, 6),
        ],
    ),
    (
        "PNWX",
        &[
            field("AccessTokenUser", true, Alphanumeric, 25, 50),
            field("AccessTokenPassword", true, Alphanumeric, 25, 50),
            field("tpnBin", false, Numbers, 6, 6),
        ],
    ),
    ("CKNX", &[field("apiKey", true, Free, 1, 45), field("tpnBin", false, Numbers, 6, 6)]),
    (
        "ZCRD",
        &[
            field("TerminalNumber", true, Numbers, 1, 16),
            field("Password", true, Free, 1, 16),
            field("Track2", true, Alphanumeric, 1, 18),
            field("tpnBin", false, Numbers, 6, 6),
        ],
    ),
    (
        "FRDC",
        &[
            field("tpnBin", false, Numbers, 6, 6),
            field("Mid", true, Alphanumeric, 1, 15),
            field("TermId", true, Alphanumeric, 1, 15),
            field("GroupId", true, Alphanumeric, 1, 15),
        ],
    ),
    (
        "WPAY",
        &[
            field("TermId", true, Numbers, 1, 16),
            field("Mid", true, Numbers, 1, 12),
            field("BankId", true, Numbers, 1, 6),
            field("tpnBin", false, Numbers, 6, 6),
        ],
    ),
    (
        "ELVN",
        &[
            field("TermId", true, Numbers, 1, 16),
            field("Mid", true, Numbers, 10, 12),
            field("BankNo", true, Numbers, 1, 6),
            field("tpnBin", false, Numbers, 6, 6),
        ],
    ),
];

/// Credentials, and the one number that is confidential.
const WRITE_ONLY: &[&str] =
    &["ABA_No", "AccessTokenUser", "AccessTokenPassword", "apiKey", "Password", "Track2"];

fn body_schema() -> Value {
    let document = endpoints::openapi_document();
    let operation = &document["paths"]["/v1/onboardmerchant"]["post"];
    let mut schema = operation["requestBody"]["content"]["application/json"]["schema"].clone();
    leave_out_blanks(&mut schema);
    schema
}

/// Puts the schema of a value in the place of "that, or blank".
fn leave_out_blanks(schema: &mut Value) {
    let blank = json!({ "$ref": "#/components/schemas/Blank" });
    let is_either = schema["anyOf"].as_array().is_some_and(|either| either.contains(&blank));
    if is_either {
        let value = schema["anyOf"][0].take();
        let schema = schema.as_object_mut().unwrap();
        schema.remove("anyOf");
        schema.extend(value.as_object().unwrap().clone());
    }
    match schema {
        Value::Object(members) => members.values_mut().for_each(leave_out_blanks),
        Value::Array(items) => items.iter_mut().for_each(leave_out_blanks),
        _ => {}
    }
}

/// The three shapes: TPN only, store and TPN, full.
fn shapes() -> [Value; 3] {
    let schema = body_schema();
    let shapes = schema["anyOf"].as_array().unwrap().clone();
    shapes.try_into().unwrap()
}

fn type_names(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => name.as_str().into_iter().collect(),
    }
}

fn class_of(name: &str, schema: &Value) -> Class {
    let types = type_names(schema);
    let is_number = types.contains(&"integer");
    let class = match schema["format"].as_str() {
        _ if schema.get("enum").is_some() => Listed,
        Some("text") => Special,
        Some("name") => Alphabets,
        Some("alphanumeric") => Alphanumeric,
        Some("digits" | "us-zip" | "mcc") => Numbers,
        Some("email") => Email,
        Some("logo-url") => Url,
        Some("isd-code") => CallingCode,
        Some("credential") => Free,
        None if types.contains(&"array") => Array,
        None if types.contains(&"object") || schema.get("oneOf").is_some() => Object,
        None if types == ["string"] => Id,
        other => panic!("{name}: {other:?} {types:?}"),
    };
    assert_eq!(is_number, class == Numbers, "{name}: integers stand for numbers alone");
    assert!(class == Array || class == Object || types.contains(&"string"), "{name}");
    class
}

/// An object schema in the form of the tables above, in its order.
fn fields_of(schema: &Value) -> Vec<Field<String>> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().unwrap();
    let read = |(name, property): (&String, &Value)| {
        let bounds = property["minLength"].as_u64().zip(property["maxLength"].as_u64());
        let is_required = required.contains(&json!(name));
        let is_secret = WRITE_ONLY.contains(&name.as_str());
        assert_eq!(property["writeOnly"] == json!(true), is_secret, "{name}");
        assert!(property["description"].is_string(), "{name}");
        (name.clone(), is_required, class_of(name, property), bounds)
    };
    properties.iter().map(read).collect()
}

fn owned(fields: &[Field]) -> Vec<Field<String>> {
    fields
        .iter()
        .map(|&(name, required, class, bounds)| (name.into(), required, class, bounds))
        .collect()
}

#[test]
fn the_shapes_have_their_objects() {
    for shape in shapes() {
        let members: Vec<&String> = shape["properties"].as_object().unwrap().keys().collect();
        assert_eq!(members, ["merchantData", "storeData", "tpnData"]);
        assert_eq!(shape["required"], json!(["merchantData", "storeData", "tpnData"]));
        assert_eq!(fields_of(&shape["properties"]["tpnData"]), owned(TPN));
    }
    let [tpn_only, store_and_tpn, full] = shapes();
    let merchant_id = owned(&[unbounded("merchantId", true, Id)]);
    let store_id = owned(&[unbounded("storeId", true, Id)]);
    for (shape, merchant, store) in [
        (tpn_only, merchant_id.clone(), store_id),
        (store_and_tpn, merchant_id, owned(STORE)),
        (full, owned(MERCHANT), owned(STORE)),
    ] {
        assert_eq!(fields_of(&shape["properties"]["merchantData"]), merchant);
        assert_eq!(fields_of(&shape["properties"]["storeData"]), store);
    }
}

#[test]
fn the_processors_have_their_fields() {
    for shape in shapes() {
        let processor = &shape["properties"]["tpnData"]["properties"]["tpnProcessor"];
        let variants = processor["oneOf"].as_array().unwrap();
        assert_eq!(variants.len(), PROFILES.len());
        for (variant, (name, fields)) in variants.iter().zip(PROFILES) {
            assert_eq!(variant["properties"]["processorName"]["const"], *name);
            assert_eq!(variant["required"], json!(["processorName", "profile"]));
            let profile = &variant["properties"]["profile"];
            assert_eq!((&profile["minItems"], &profile["maxItems"]), (&json!(1), &json!(2)));
            let mut expected = owned(&[unbounded("profileId", true, Listed)]);
            expected.extend(owned(fields));
            assert_eq!(fields_of(&profile["items"]), expected, "{name}");
            let profile_id = &profile["items"]["properties"]["profileId"];
            assert_eq!(profile_id["enum"], json!(["01", "02"]));
        }
    }
}

#[test]
fn the_listed_values_are_the_published_ones() {
    let [_, _, full] = shapes();
    let listed = |name: &str| full["properties"]["tpnData"]["properties"][name].clone();
    let sorted = |name: &str| {
        let mut values: Vec<String> = listed(name)["enum"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_str().unwrap().into())
            .collect();
        values.sort();
        values
    };
    assert_eq!(
        sorted("deviceManufacturer"),
        ["Android Phone", "Apple", "Cloud POS", "Kozen", "WizardPOS", "Wizer POS"]
    );
    assert_eq!(
        sorted("deviceModel"),
        [
            "Apple Pay",
            "Cloud POS",
            "P1",
            "P12",
            "P3",
            "P5",
            "P8",
            "Q2",
            "QD2",
            "QD3",
            "QD4",
            "QD5",
            "QD6",
            "Tap on phone",
        ]
    );
    assert_eq!(sorted("tpnApplicationSign"), ["CRDT"]);
    assert_eq!(sorted("tpnRoutingType"), ["SIMPLE"]);
    assert_eq!(listed("tpnRoutingType")["default"], "SIMPLE");
}

#[test]
fn the_reply_has_the_three_ids() {
    let document = endpoints::openapi_document();
    let answers = &document["paths"]["/v1/onboardmerchant"]["post"]["responses"];
    let success = &answers["200"]["content"]["application/json"]["schema"];
    assert_eq!(success["$ref"], json!("#/components/schemas/Onboarded"));
    let success = &document["components"]["schemas"]["Onboarded"];
    assert_eq!(success["required"], json!(["message", "data"]));
    // A dry run answers without ids, so none of them is required.
    let ids = success["properties"]["data"]["properties"].as_object().unwrap();
    let ids: Vec<&String> = ids.keys().collect();
    assert_eq!(ids, ["merchantId", "storeId", "tpn"]);
    let failure = &document["components"]["schemas"]["Failure"];
    assert_eq!(failure["required"], json!(["message", "errors"]));
    assert_eq!(
        failure["properties"]["errors"]["items"]["required"],
        json!(["code", "message", "param"])
    );
    for status in ["400", "401"] {
        assert!(answers[status].is_object(), "{status}");
    }
}

#[test]
fn every_operation_names_its_permission() {
    let document = endpoints::openapi_document();
    let mut seen = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let security = &operation["security"];
            let device = [json!([{ "deviceToken": [] }]), json!([{ "pairingCode": [] }])];
            let other = match security {
                own if device.contains(own) => "device",
                own if *own == json!([{ "session": [], "nonce": [] }]) => "administrator",
                _ => "public",
            };
            let scope = operation["x-scope"].as_str().unwrap_or(other);
            assert_eq!(scope == "public", *security == json!([]), "{path}");
            seen.push(format!("{method} {path} {scope}"));
        }
    }
    for expected in [
        "post /v1/onboardmerchant onboard.write",
        "get /v1/merchants/{merchantId} merchants.read",
        "get /v1/stores/{storeId} stores.read",
        "get /v1/tpns/{tpn} tpns.read",
        "post /v1/device/pair device",
        "get /v1/device/parameters device",
        "get /v1/errors public",
        "get /v1/openapi.json public",
    ] {
        assert!(seen.iter().any(|line| line == expected), "{expected}: {seen:?}");
    }
}
