//! What three server processes on one PostgreSQL database agree on.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::http::{self, Request};
use testkit::process;

use crate::load::check_onboardings;
use crate::node_group::{NODES, Nodes, site};
use crate::rolling;
use crate::support::{PROGRAM, authorization, body, complaint, eventually, text};

const DONE_WITHIN: Duration = Duration::from_mins(1);

#[test]
fn nodes_come_and_go_under_load() {
    rolling::roll(Path::new(PROGRAM));
}

#[test]
fn a_job_is_done_once_whichever_node_takes_it() {
    let site = site();
    let key = site.key(&site.iso("Jobs"));
    let nodes = Nodes::start(&site);
    let rows: Vec<String> = (0..ROWS).map(|row| body(&format!("Row {row}")).to_string()).collect();
    let request = Request::new("POST", "/v1/bulk/onboardings")
        .header("Authorization", &authorization(&key))
        .header("Content-Type", "application/x-ndjson")
        .body(rows.join("\n"));
    let taken = http::send(&nodes.url(), &request).unwrap();
    assert_eq!(taken.status, 200, "{}", taken.text());
    let path = format!("/v1/bulk/onboardings/{}", text(&taken.json().unwrap(), "bulkId"));
    let mut done = Value::Null;
    eventually("all rows are done", DONE_WITHIN, || {
        let headers = [("Authorization", &*authorization(&key))];
        done = http::get(&nodes.url(), &path, &headers).unwrap().json().unwrap();
        done["status"] == json!("done")
    });
    assert_eq!(done["succeeded"], json!(ROWS), "{done}");
    let dbas = (0..ROWS).map(|row| format!("Row {row}")).collect();
    check_onboardings(&site.store(), &dbas);
}

const ROWS: usize = 300;

/// A limit holds over all nodes, and so does the wait of an address that guesses.
#[test]
fn limits_hold_over_all_nodes() {
    let site = site()
        .set("server.rate_limits.enabled", true)
        .set("server.rate_limits.key_sandbox", format!("{{ per_second = 1, burst = {BURST} }}"))
        .set("server.rate_limits.refused_keys_per_minute", GUESSES);
    let (slow, fast) = (site.iso("Slow"), site.iso("Guessed"));
    let (key, _other) = (site.key(&slow), site.key(&fast));
    let nodes = Nodes::start(&site);
    let began = Instant::now();
    let passed = thread::scope(|scope| {
        let ask = || {
            let headers = [("Authorization", &*authorization(&key))];
            let asked = (0..BURST).map(|_| http::get(&nodes.url(), "/v1/keys", &headers).unwrap());
            asked.filter(|answer| answer.status == 200).count()
        };
        let clients: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum::<usize>()
    });
    let refilled = usize::try_from(began.elapsed().as_secs()).unwrap() + 1;
    println!("{passed} of {} passed in {:?}", 4 * BURST, began.elapsed());
    assert!(passed <= BURST + refilled, "{passed} passed, {BURST} may");
    // What is taken and not used is at most one share a node.
    assert!(passed + NODES * (BURST / 16 + 1) >= BURST, "only {passed} passed");

    let mut answers = Vec::new();
    for _ in 0..GUESSES + 6 {
        let headers =
            [("Authorization", "api-key bw_test_wrong"), ("X-Forwarded-For", "192.0.2.9")];
        answers.push(http::get(&nodes.url(), "/v1/keys", &headers).unwrap().status);
        // As long as nodes take to tell each other.
        thread::sleep(Duration::from_millis(250));
    }
    let looked_at = answers.iter().filter(|status| **status == 401).count();
    assert!(answers.ends_with(&[429, 429]), "{answers:?}");
    assert!(looked_at <= GUESSES + 1, "{answers:?}");
}

const BURST: usize = 48;
const GUESSES: usize = 6;

/// A page that one node serves learns of an order that another took.
#[test]
fn news_of_one_node_are_heard_at_another() {
    let site = site();
    let authorization = site.administrator();
    let nodes = Nodes::start(&site);
    let headers = [("Authorization", &*authorization)];
    let product = json!({ "name": "Mittens", "regular_price": "12.50" });
    let made = http::post(&nodes.running[0].url, "/wp-json/wc/v3/products", &headers, &product);
    let product = made.unwrap().json().unwrap()["id"].clone();

    let address = nodes.running[1].url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let wanted = format!(
        "GET {NEWS} HTTP/1.1\r\nHost: {address}\r\nAuthorization: {authorization}\r\n\
         Accept: text/event-stream\r\n\r\n"
    );
    stream.write_all(wanted.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut heard = String::new();
    // Whether there was any news before the next second without.
    let mut listen = || {
        let known = heard.matches("event: facts").count();
        let mut part = [0; 4096];
        match stream.read(&mut part) {
            Ok(0) => panic!("the stream ended: {heard}"),
            Ok(count) => heard.push_str(&String::from_utf8_lossy(&part[..count])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("{error}: {heard}"),
        }
        heard.matches("event: facts").count() > known
    };
    eventually("the stream begins", DONE_WITHIN, &mut listen);
    // What is left of the making of the product.
    eventually("nothing new is heard", DONE_WITHIN, || !listen());
    let order = json!({ "line_items": [{ "product_id": product, "quantity": 1 }] });
    let began = Instant::now();
    let made = http::post(&nodes.running[2].url, "/wp-json/wc/v3/orders", &headers, &order);
    assert_eq!(made.unwrap().status, 201);
    eventually("the order is heard of", DONE_WITHIN, &mut listen);
    println!("heard at another node {:?} after the order was made", began.elapsed());
    // Half a second on a machine that has nothing else to do.
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

const NEWS: &str = "/wp-json/boardwalk/v1/live";

/// A newer version has changed the tables: who runs goes on, who starts is told.
#[test]
fn a_schema_that_is_too_new_is_refused_at_start_and_borne_by_those_who_run() {
    let site = site();
    let key = site.key(&site.iso("Older"));
    let running = site.serve();
    site.store()
        .write_blocking(|conn| {
            conn.script(
                "INSERT INTO schema_migrations (version, name) VALUES (9999, 'of the future');
                 ALTER TABLE merchants ADD COLUMN of_the_future BIGINT",
            )
        })
        .unwrap();
    assert_eq!(running.onboard(&key, &body("Goes on")).status, 200);
    let listed = running.get("/v1/merchants?limit=1", &key);
    assert_eq!(listed.status, 200, "{}", listed.text());
    let refused = process::run_command(site.command(&["iso", "list"]), b"").unwrap();
    let said = complaint(&refused, 1);
    assert!(said.contains("newer version of boardwalk"), "{said}");
}
