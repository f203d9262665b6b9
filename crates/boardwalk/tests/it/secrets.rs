//! What is entrusted to the server does not get into its log, at any level.

use serde_json::{Value, json};
use testkit::http;

use crate::support::{Site, authorization, full_body};

/// Values that look like nothing else, so that finding one in the log means that it leaked.
fn secretive_body(number: usize, processor: &str, profile: &Value) -> Value {
    let mut body = full_body(&format!("Quiet {number}"), processor, profile.clone());
    body["merchantData"]["firstName"] = json!("Xaverina");
    body["merchantData"]["lastName"] = json!("Quibbleton");
    body["merchantData"]["email"] = json!("xaverina@quibbleton.example");
    body["merchantData"]["addressLine1"] = json!("77 Zephyrine Wharf");
    body["merchantData"]["phoneNumber"] = json!("2129870654");
    body["storeData"]["firstName"] = json!("Ysolde");
    body["storeData"]["lastName"] = json!("Ombersley");
    body["storeData"]["email"] = json!("ysolde@ombersley.example");
    body["storeData"]["addressLine1"] = json!("88 Obsidian Quay");
    body["storeData"]["phoneNumber"] = json!("3129870654");
    body["tpnData"]["tpnBin"] = json!("450123");
    body
}

const PERSONAL: [&str; 11] = [
    "Quiet",
    "Xaverina",
    "Quibbleton",
    "xaverina@quibbleton.example",
    "77 Zephyrine Wharf",
    "2129870654",
    "Ysolde",
    "Ombersley",
    "ysolde@ombersley.example",
    "88 Obsidian Quay",
    "3129870654",
];

#[test]
fn no_secret_gets_into_the_log() {
    let site = Site::sqlite().set("log.level", "trace");
    check_silence(&site);
}

#[test]
fn no_secret_gets_into_the_log_on_postgres() {
    let site = Site::postgres().set("log.level", "trace,tokio_postgres::query=trace");
    check_silence(&site);
}

fn check_silence(site: &Site) {
    let (key_id, key) = site.key_with(&site.iso("Discreet"), &[]);
    let running = site.serve();
    let profiles = [
        (
            "ZCRD",
            json!({
                "profileId": "01", "TerminalNumber": "7712345601",
                "Password": "Wq7zTrellisGate", "Track2": "PINPAD771239",
            }),
            &["Wq7zTrellisGate", "PINPAD771239"][..],
        ),
        (
            "PNWX",
            json!({
                "profileId": "01", "AccessTokenUser": "Uk2pLanternMossUk2pLanternMoss12",
                "AccessTokenPassword": "Vn8sCopperFernVn8sCopperFernVn12",
            }),
            &["LanternMoss", "CopperFern"],
        ),
        (
            "TSYS",
            json!({
                "profileId": "01", "Mid": "771234567890", "Agent": "123456", "Chain": "654321",
                "Store": "5001", "TermNo": "7001", "TermId": "7712AB34", "ABA_No": "779988123",
                "Agent_FIID": "AB12", "dsGroup": "GROUP1",
            }),
            &["779988123"],
        ),
    ];
    let mut forbidden: Vec<String> = PERSONAL.map(str::to_owned).to_vec();
    forbidden.push(key.clone());
    let secret_part = key.split_once(&format!("{key_id}_")).unwrap().1;
    forbidden.push(secret_part.to_owned());
    for (number, (processor, profile, secrets)) in profiles.iter().enumerate() {
        let body = secretive_body(number, processor, profile);
        let answer = running.onboard(&key, &body);
        assert_eq!(answer.status, 200, "{processor}: {}", answer.text());
        // Refusals are the usual way for values to get into a log.
        assert_eq!(running.onboard(&key, &body).status, 400, "{processor}");
        let mut wrong = body.clone();
        wrong["merchantData"]["zipCode"] = json!("00000");
        wrong["tpnData"]["tpnProcessor"]["profile"][0]["profileId"] = json!("09");
        assert_eq!(running.onboard(&key, &wrong).status, 400, "{processor}");
        let cut_off = &body.to_string()[..600];
        let headers =
            [("Authorization", &*authorization(&key)), ("Content-Type", "application/json")];
        let mut connection = http::Connection::open(&running.url).unwrap();
        let path = "/v1/onboardmerchant";
        let answer = connection.request("POST", path, &headers, cut_off.as_bytes()).unwrap();
        assert_eq!(answer.status, 400, "{processor}");
        forbidden.extend(secrets.iter().map(|secret| (*secret).to_owned()));
        let data = running.onboard(&key, &body).header("X-Existing-Merchant-Id").unwrap();
        assert_eq!(running.get(&format!("/v1/merchants/{data}"), &key).status, 200);
    }
    // A key that is almost right, and one in the wrong place.
    running.get("/v1/merchants/000000000000", &format!("{key}A"));
    running.get(&format!("/v1/merchants/{key}"), &key);
    running.get(&format!("/v1/errors?key={key}"), &key);

    let log = running.server.stderr();
    assert!(log.contains("request answered"), "{log}");
    for secret in &forbidden {
        let place = log.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(place, None, "{secret} is in the log");
    }
}
