//! What a thief of the database file, or a reader of the log, gets to see.

use std::fs;
use std::path::Path;

use onboarding::onboard::OnboardMerchant;
use onboarding::rows::{merchant, tpn};
use serde_json::{Value, json};
use types::{MerchantId, StoreId, Tpn};

use crate::bodies::{PROCESSORS, body};
use crate::support::{House, master_key};

/// The fields that must not be readable, wherever they stand in a body.
const SEALED_FIELDS: [&str; 12] = [
    "firstName",
    "lastName",
    "email",
    "addressLine1",
    "addressLine2",
    "phoneNumber",
    "AccessTokenUser",
    "AccessTokenPassword",
    "apiKey",
    "Password",
    "Track2",
    "ABA_No",
];
/// Of those, the ones that not even the program itself prints.
const CREDENTIALS: [&str; 6] =
    ["AccessTokenUser", "AccessTokenPassword", "apiKey", "Password", "Track2", "ABA_No"];

/// A body whose personal data and credentials cannot be anywhere by accident.
fn marked_body(processor: &str, number: usize) -> Value {
    let mut body = body(&format!("full-{processor}-two"));
    let letters: String = number
        .to_string()
        .chars()
        .map(|digit| char::from(u8::try_from(digit).unwrap() - b'0' + b'a'))
        .collect();
    for (object, person) in [("merchantData", "Owner"), ("storeData", "Keeper")] {
        body[object]["firstName"] = json!(format!("Xavier{person}{letters}"));
        body[object]["lastName"] = json!(format!("Quill{letters}"));
        body[object]["email"] = json!(format!("Box.{person}{letters}@Hidden.example"));
        body[object]["addressLine1"] = json!(format!("{number}77 Lantern {person} Alley"));
        body[object]["addressLine2"] = json!(format!("Attic {person} {letters}"));
        let last = if object == "storeData" { 8 } else { 7 };
        body[object]["phoneNumber"] = json!(format!("98765432{number}{last}"));
    }
    for (place, profile) in profiles(&mut body).iter_mut().enumerate() {
        let digits = format!("{number}{place}");
        for (field, value) in [
            ("ABA_No", format!("9517534{digits}")),
            ("AccessTokenUser", format!("TokenUser{digits}{}", "U".repeat(20))),
            ("AccessTokenPassword", format!("TokenPassword{digits}{}", "P".repeat(20))),
            ("apiKey", format!("Api-Key \u{e9} {digits}")),
            ("Password", format!("Pass\u{df}word {digits}")),
            ("Track2", format!("PINPAD7531{digits}")),
        ] {
            if profile.get(field).is_some() {
                profile[field] = json!(value);
            }
        }
    }
    body
}

fn profiles(body: &mut Value) -> &mut Vec<Value> {
    body["tpnData"]["tpnProcessor"]["profile"].as_array_mut().unwrap()
}

/// The values of the fields, wherever they stand.
fn values_of(value: &Value, fields: &[&str], found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| values_of(item, fields, found)),
        Value::Object(members) => {
            for (name, member) in members {
                match member.as_str() {
                    // Too short to mean anything when found: "+1".
                    Some(text) if text.len() < 4 => {}
                    Some(text) if fields.contains(&name.as_str()) => found.push(text.to_owned()),
                    _ => values_of(member, fields, found),
                }
            }
        }
        _ => {}
    }
}

/// A file as text, whatever the case of its letters; what is no text does not matter.
fn readable(path: &Path) -> String {
    let bytes = fs::read(path).unwrap().to_ascii_lowercase();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn the_files_show_no_personal_data_and_no_credentials() {
    let house = House::new();
    let mut hidden = Vec::new();
    let mut shown = Vec::new();
    for (number, processor) in PROCESSORS.into_iter().enumerate() {
        let sent = marked_body(processor, number);
        house.onboard(sent.clone()).unwrap();
        values_of(&sent, &SEALED_FIELDS, &mut hidden);
        values_of(&sent, &["dba"], &mut shown);
    }
    assert_eq!(hidden.len(), 7 * 2 * 6 + 2 * (1 + 2 + 1 + 2), "no field was forgotten");
    hidden.push(house.key.text.expose().clone());
    hidden.push(house.key.text.expose().rsplit('_').next().unwrap().to_owned());
    hidden.push(master_key().to_text().expose().clone());
    hidden.push(String::from("hidden.example"));
    hidden.push(String::from("Lantern"));

    let files: Vec<_> = fs::read_dir(house.folder()).unwrap().map(|entry| entry.unwrap()).collect();
    let contents: Vec<String> = files.iter().map(|file| readable(&file.path())).collect();
    let names: Vec<String> =
        files.iter().map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert!(names.iter().any(|name| name.ends_with(".db-wal")), "{names:?}");
    let is_anywhere =
        |text: &str| contents.iter().any(|content| content.contains(&text.to_ascii_lowercase()));
    for text in &hidden {
        assert!(!is_anywhere(text), "{text} is readable in {names:?}");
    }
    // The search would find what is there.
    for text in &shown {
        assert!(is_anywhere(text), "{text} is not in {names:?}");
    }
}

#[test]
fn equal_secrets_are_stored_differently() {
    let house = House::new();
    let answers: Vec<Value> = (0..2)
        .map(|_| {
            let mut sent = marked_body("zcrd", 1);
            sent["merchantData"]["dba"] = body("full-zcrd")["merchantData"]["dba"].clone();
            house.onboard(sent).unwrap()
        })
        .collect();
    let sealed: Vec<Vec<u8>> =
        answers.iter().map(|answer| rows(&house, answer).3.sealed.clone()).collect();
    assert_ne!(sealed[0], sealed[1]);
    assert_eq!(sealed[0].len(), sealed[1].len());
}

type Rows = (merchant::MerchantRow, merchant::StoreRow, tpn::TpnRow, tpn::ProfileRow);

fn rows(house: &House, answer: &Value) -> Rows {
    let id = |name: &str| answer["data"][name].as_str().unwrap().to_owned();
    let iso_id = house.iso_id.clone();
    let (merchant_id, store_id, number) =
        (MerchantId::new(id("merchantId")), StoreId::new(id("storeId")), Tpn::new(id("tpn")));
    house
        .platform
        .store
        .read_blocking(move |conn| {
            let merchant = merchant::get(conn, &iso_id, &merchant_id)?.expect("it exists");
            let store = merchant::store_get(conn, &iso_id, &store_id)?.expect("it exists");
            let row = tpn::get(conn, &iso_id, &number)?.expect("it exists");
            let profile = tpn::profile_list(conn, &iso_id, &number)?.remove(0);
            Ok((merchant, store, row, profile))
        })
        .unwrap()
}

#[test]
fn nothing_prints_what_is_secret() {
    let house = House::new();
    for (number, processor) in PROCESSORS.into_iter().enumerate() {
        let sent = marked_body(processor, number);
        let answer = house.onboard(sent.clone()).unwrap();
        let printed_rows = format!("{:?}", rows(&house, &answer));
        let mut sealed = Vec::new();
        values_of(&sent, &SEALED_FIELDS, &mut sealed);
        for value in &sealed {
            assert!(!printed_rows.contains(value), "a row prints {value}");
        }
        let request: OnboardMerchant = serde_json::from_value(sent.clone()).unwrap();
        let printed_request = format!("{request:?} {request:#?}");
        let mut credentials = Vec::new();
        values_of(&sent, &CREDENTIALS, &mut credentials);
        for value in &credentials {
            assert!(!printed_request.contains(value), "a request prints {value}");
        }
    }
    let printed = format!("{:?} {:?} {:?}", house.platform, house.caller(), house.key);
    let text = house.key.text.expose();
    assert!(!printed.contains(text.as_str()));
    assert!(!printed.contains(text.rsplit('_').next().unwrap()));
    assert!(!printed.contains(master_key().to_text().expose().as_str()));
}

#[test]
fn refusals_repeat_no_value() {
    let house = House::new();
    for (number, processor) in PROCESSORS.into_iter().enumerate() {
        let mut sent = marked_body(processor, number);
        let mut secrets = Vec::new();
        for profile in profiles(&mut sent) {
            for (name, value) in profile.as_object_mut().unwrap() {
                if CREDENTIALS.contains(&name.as_str()) {
                    let wrong = format!("{}\u{7}{}", value.as_str().unwrap(), "x".repeat(60));
                    secrets.push(value.as_str().unwrap().to_owned());
                    *value = json!(wrong);
                }
            }
        }
        let outcome = house.call("onboard_merchant", sent);
        let printed = format!("{outcome:?}");
        for secret in &secrets {
            assert!(!printed.contains(secret.as_str()), "{printed}");
        }
        assert_eq!(outcome.result.is_err(), !secrets.is_empty(), "{processor}");
    }
}
