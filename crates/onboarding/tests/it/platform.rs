//! The database belongs to one master key and one environment; ids come from it alone.

use std::collections::HashSet;

use onboarding::dialect::ResponseStyle;
use onboarding::{Cx, Settings};
use serde_json::{Value, json};
use types::{Environment, Kind, luhn};
use vault::MasterKey;

use crate::bodies::body;
use crate::support::{House, master_key, open_platform, open_platform_as, set_ids};

#[test]
fn another_master_key_or_environment_is_refused() {
    let folder = testkit::temp_dir().unwrap();
    let open = |environment, master: &MasterKey| {
        let opened = open_platform_as(folder.path(), environment, master, Settings::default());
        opened.map_err(|error| (error.kind(), error.to_string()))
    };
    let other = MasterKey::from_text(&"a5".repeat(32)).unwrap();
    drop(open(Environment::Sandbox, &master_key()).unwrap());
    for (environment, master) in [
        (Environment::Sandbox, &other),
        (Environment::Production, &master_key()),
        (Environment::Sandbox, &MasterKey::generate().unwrap()),
    ] {
        let (kind, message) = open(environment, master).unwrap_err();
        assert_eq!(kind, Kind::Invalid);
        assert!(message.contains("another master key"), "{message}");
    }
    // A refusal changes nothing.
    open(Environment::Sandbox, &master_key()).unwrap();
}

#[test]
fn what_one_platform_sealed_the_next_one_opens() {
    let house = House::new();
    let answer = house.onboard(body("full-zcrd")).unwrap();
    let reopened = House::reopened(&house);
    assert_eq!(house.read_back(&answer), reopened.read_back(&answer));
}

#[test]
fn templates_are_checked() {
    let folder = testkit::temp_dir().unwrap();
    let platform = open_platform(folder.path(), Settings::default()).unwrap();
    let iso_id = platform.iso_create("ISO", ResponseStyle::Detailed).unwrap();
    let other = platform.iso_create("Other", ResponseStyle::Detailed).unwrap();
    let create = |name: &str, parameters: Value| {
        platform.template_create(&iso_id, name, &parameters).map_err(|error| error.kind())
    };
    create("RETAIL01", json!({ "tipEnabled": false })).unwrap();
    create("retail01", json!({})).unwrap();
    assert_eq!(create("RETAIL01", json!({})), Err(Kind::Conflict));
    platform.template_create(&other, "RETAIL01", &json!({})).unwrap();
    let long_name = "x".repeat(31);
    for name in ["abcd", long_name.as_str(), "with blank", "caf\u{e9}1", "", "a-b-c-d"] {
        assert_eq!(create(name, json!({})), Err(Kind::Invalid), "{name}");
    }
    for parameters in [json!([]), json!(null), json!("x"), json!({ "tip": true })] {
        assert_eq!(create("OTHER01", parameters), Err(Kind::Invalid));
    }
    assert_eq!(platform.template_list().unwrap().len(), 3);
}

/// More than one block of numbers, from two processes at once.
#[test]
fn ids_are_unique_and_well_formed() {
    const COUNT: usize = 1_100;
    let first = House::new();
    let second = House::reopened(&first);
    let parents = first.onboard(body("full-cknx")).unwrap();
    let mut seen = HashSet::new();
    for house in [&first, &second] {
        let requests: Vec<_> = (0..COUNT)
            .map(|_| {
                let mut staged = body("tpn-only-cknx");
                set_ids(&mut staged, &parents);
                house.request(house.caller(), "onboard_merchant", staged)
            })
            .collect();
        house.runtime().block_on(async {
            let running: Vec<_> = requests.into_iter().map(tokio::spawn).collect();
            for request in running {
                let answer = request.await.unwrap().result.expect("success");
                let answer: Value = serde_json::from_slice(&answer).unwrap();
                let tpn = answer["data"]["tpn"].as_str().unwrap().to_owned();
                check_tpn(&tpn);
                assert!(seen.insert(tpn));
            }
        });
    }
    assert_eq!(seen.len(), 2 * COUNT);
    for _ in 0..20 {
        let answer = second.onboard(body("minimal-cknx")).unwrap();
        for id in ["merchantId", "storeId"] {
            let id = answer["data"][id].as_str().unwrap().to_owned();
            assert!(id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
            assert!(seen.insert(id));
        }
    }
}

#[test]
fn a_list_of_isos_skips_nobody_when_states_change() {
    let house = House::new();
    for name in ["Second ISO", "Third ISO"] {
        house.platform.iso_create(name, ResponseStyle::Detailed).unwrap();
    }
    let boss = Cx { caller: None, administrator: Some(1), ..house.later(0) };
    let page = |cursor: &Value| {
        let mut wanted = json!({ "status": "active", "limit": 1 });
        if !cursor.is_null() {
            wanted["cursor"] = cursor.clone();
        }
        house.call_in(&boss, "iso_list", wanted).done()
    };
    let (mut seen, mut cursor) = (HashSet::new(), Value::Null);
    for number in 0..3 {
        let found = page(&cursor);
        let iso_id = found["data"][0]["isoId"].as_str().unwrap_or_default().to_owned();
        // Who is stopped leaves the list, and those behind move up.
        house.call_in(&boss, "iso_suspend", json!({ "isoId": iso_id })).done();
        assert!(seen.insert(iso_id), "{number}: {found}");
        cursor = found["nextCursor"].clone();
    }
    assert_eq!((seen.len(), cursor), (3, Value::Null));
    let wrong = house.call_in(&boss, "iso_list", json!({ "cursor": "1" })).refused();
    assert_eq!(wrong, ["invalid_value cursor"]);
}

fn check_tpn(tpn: &str) {
    let digits: Vec<u8> = tpn.bytes().map(|byte| byte - b'0').collect();
    assert_eq!(digits.len(), 12, "{tpn}");
    assert!(digits.iter().all(|digit| *digit < 10) && digits[0] > 0, "{tpn}");
    assert_eq!(luhn::check_digit(digits[..11].iter().copied()), digits[11], "{tpn}");
}
