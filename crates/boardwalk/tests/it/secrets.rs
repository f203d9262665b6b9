//! What is entrusted to the server does not get into its log, at any level.

use serde_json::{Value, json};
use testkit::http;

use crate::support::{Running, Site, authorization, basic, full_body, text};

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
    let site = Site::sqlite().set("log.level", "trace,html5ever=trace,hyper=trace,h2=trace");
    check_silence(&site);
}

#[test]
fn no_secret_gets_into_the_log_on_postgres() {
    let site = Site::postgres().set("log.level", "trace,tokio_postgres::query=trace");
    check_silence(&site);
}

fn check_silence(site: &Site) {
    let (key_id, key) = site.key_with(&site.iso("Discreet"), &[]);
    let arguments = ["user", "create", "--login", "boss", "--email", "boss@site.example"];
    site.json(&[&arguments[..], &["--role", "administrator"]].concat());
    let made = site.json(&["user", "app-password", "--login", "boss", "--name", "program"]);
    let rest = format!("boss:{}", text(&made, "password"));
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

    forbidden.extend(send_canaries(&running, &rest));

    let log = running.server.stderr();
    assert!(log.contains("request answered"), "{log}");
    for secret in &forbidden {
        let place = log.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(place, None, "{secret} is in the log");
    }
}

/// Puts a value that looks like nothing else into every place of a request that has one: path,
/// query, header fields, cookies, credentials of each kind, bodies of each kind. Returns the values.
fn send_canaries(running: &Running, rest: &str) -> Vec<String> {
    let mut canaries = vec![rest.split_once(':').unwrap().1.to_owned(), basic(rest)];
    let mut canary = |place: &str| {
        let value = format!("Canary{}{place}", canaries.len());
        canaries.push(value.clone());
        value
    };
    let oauth = format!(
        "oauth_consumer_key={}&oauth_nonce={}&oauth_timestamp=1&oauth_signature={}\
         &oauth_signature_method=HMAC-SHA256",
        canary("Consumer"),
        canary("Nonce"),
        canary("Signature")
    );
    let html = format!("<p onclick='x' title='{}'>{}</p>", canary("Title"), canary("Html"));
    let post = json!({ "title": canary("Post"), "content": html, "status": "publish" });
    let customer = json!({
        "email": format!("{}@example.com", canary("Email").to_lowercase()),
        "password": canary("Password"),
        "billing": { "address_1": canary("Address") },
        "meta_data": [{ "key": canary("Name"), "value": canary("Meta") }],
    });
    let signed_in = basic(rest);
    let wrong = basic(&format!("boss:{}", canary("Wrong")));
    let form = format!("log={}&pwd={}", canary("Login"), canary("Secret"));
    let (signed_in, wrong) = (signed_in.as_str(), wrong.as_str());
    let requests = [
        ("GET", format!("/wp-json/wc/v3/orders?search={}&{oauth}", canary("Query")), "", json!({})),
        ("GET", format!("/wp-json/wp/v2/posts?search={}", canary("Search")), wrong, json!({})),
        ("POST", String::from("/wp-json/wp/v2/posts"), signed_in, post),
        ("POST", String::from("/wp-json/wc/v3/customers"), signed_in, customer),
        ("GET", format!("/{}/{}", canary("Path"), canary("Deep")), signed_in, json!({})),
        ("POST", String::from("/v1/device/pair"), "pairing-code CANARY99", json!({})),
        ("POST", format!("/login?magic_link={}.x", canary("Link")), "", json!(form)),
    ];
    let (cookie, header) = (canary("Cookie"), canary("Header"));
    for (method, path, authorization, body) in &requests {
        let mut request = http::Request::new(method, path)
            .header("Cookie", &format!("boardwalk_sandbox_session={cookie}"))
            .header("X-WP-Nonce", &header)
            .header("User-Agent", &header);
        if !authorization.is_empty() {
            request = request.header("Authorization", authorization);
        }
        if let Some(form) = body.as_str() {
            let media_type = "application/x-www-form-urlencoded";
            request = request.header("Content-Type", media_type).body(form.to_owned());
        } else if *method == "POST" {
            request = request.header("Content-Type", "application/json").body(body.to_string());
        }
        http::send(&running.url, &request).unwrap();
    }
    canaries.push(String::from("CANARY99"));
    canaries.push(String::from("canary"));
    canaries
}
