//! Two server processes on one PostgreSQL database.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::http::{self, Connection, Response};

use crate::load::{Ids, check_database, onboard};
use crate::support::{Running, Site, authorization, body, eventually};

const NAMES: usize = 200;
const CLIENTS_OF_EACH: usize = 4;
/// Requests that every client sends with the same key.
const REPEATED: usize = 20;
/// A revocation is promised within a second; the rest is for a busy machine.
const REVOKED_WITHIN: Duration = Duration::from_millis(1500);

#[test]
fn two_servers_share_a_database() {
    let site = Site::postgres();
    let iso = site.iso("Shared");
    let (key_id, key) = site.key_with(&iso, &[]);
    let servers = [site.serve(), site.serve()];
    one_winner_each(&site, &servers, &key);
    one_change_per_key(&servers, &key);
    a_revoked_key_is_refused_by_both(&site, &servers, &key_id, &key);
}

/// All clients of both servers onboard the same names at the same time.
fn one_winner_each(site: &Site, servers: &[Running; 2], key: &str) {
    let dbas: Vec<String> = (0..NAMES).map(|number| format!("Contested {number}")).collect();
    let clients = servers.iter().flat_map(|server| [&server.url; CLIENTS_OF_EACH]);
    let won: Vec<(String, Ids)> = thread::scope(|scope| {
        let dbas = &dbas;
        let clients: Vec<_> =
            clients.map(|url| scope.spawn(move || onboard_all(url, key, dbas))).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(won.len(), dbas.len(), "each name has one winner");
    let names: BTreeSet<String> = won.iter().map(|(dba, _)| dba.clone()).collect();
    assert_eq!(names, dbas.into_iter().collect());
    check_database(&site.store(), &names);
}

/// All clients of both servers send the same request with the same idempotency key at once. No name
/// collides in it, so only the key keeps a second TPN from being made.
fn one_change_per_key(servers: &[Running; 2], key: &str) {
    let parents = Ids::of(&servers[0].onboard(key, &body("Shared roof")));
    let mut request = body("Shared roof");
    request["merchantData"] = json!({ "merchantId": parents.merchant });
    request["storeData"] = json!({ "storeId": parents.store });
    for number in 0..REPEATED {
        let once = format!("shared-{number}");
        let send = |url: &str| {
            let authorization = authorization(key);
            let headers = [("Authorization", &*authorization), ("Idempotency-Key", &*once)];
            http::post(url, "/v1/onboardmerchant", &headers, &request).unwrap()
        };
        let clients = servers.iter().flat_map(|server| [&server.url; CLIENTS_OF_EACH]);
        let answers: Vec<Response> = thread::scope(|scope| {
            let clients: Vec<_> = clients.map(|url| scope.spawn(|| send(url))).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        let ids: BTreeSet<Ids> = answers.iter().map(Ids::of).collect();
        assert_eq!(ids.len(), 1, "{once}");
        let replayed = answers.iter().filter(|a| a.header("Idempotent-Replayed").is_some()).count();
        assert_eq!(replayed, answers.len() - 1, "{once}");
    }
    let path = format!("/v1/tpns?merchantId={}&limit=100", parents.merchant);
    let tpns = servers[1].get(&path, key).json().unwrap()["data"].as_array().unwrap().len();
    assert_eq!(tpns, REPEATED + 1);
}

/// The onboardings that this client won. Those that it lost must be told apart from failures.
fn onboard_all(url: &str, key: &str, dbas: &[String]) -> Vec<(String, Ids)> {
    let mut connection = Connection::open(url).unwrap();
    let mut won = Vec::new();
    for dba in dbas {
        let answer = onboard(&mut connection, key, dba).unwrap();
        match answer.status {
            200 => won.push((dba.clone(), Ids::of(&answer))),
            400 => {
                let body = answer.json().unwrap();
                let errors = body.get("errors").and_then(Value::as_array).unwrap();
                let taken = |error: &Value| error["code"] == "already_exists";
                assert!(!errors.is_empty() && errors.iter().all(taken), "{body}");
                assert!(answer.header("X-Existing-Merchant-Id").is_some(), "{body}");
            }
            status => panic!("{dba}: {status} {}", answer.text()),
        }
    }
    won
}

fn a_revoked_key_is_refused_by_both(site: &Site, servers: &[Running; 2], id: &str, key: &str) {
    let status = |server: &Running| server.get("/v1/merchants/000000000000", key).status;
    for server in servers {
        assert_eq!(status(server), 404, "the key is good before");
    }
    site.json(&["key", "revoke", id]);
    let revoked = Instant::now();
    for server in servers {
        let left = REVOKED_WITHIN.saturating_sub(revoked.elapsed());
        eventually("the key is refused", left, || status(server) == 401);
    }
}
