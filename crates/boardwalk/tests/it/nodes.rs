//! Three server processes on one PostgreSQL database behind a balancer, which asks them in turn.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::balancer::{Balancer, SERVER_HEADER};
use testkit::http::{self, Request};
use testkit::{free_port, process};

use crate::load::{Attempt, End, Load, Until, check_onboardings, read_back, settle};
use crate::receiver::{Mood, Receiver, check_signatures};
use crate::support::{Running, Site, authorization, body, complaint, eventually, text};

const NODES: usize = 3;
const READY_WITHIN: Duration = Duration::from_secs(20);
const STOPS_WITHIN: Duration = Duration::from_secs(20);
const DONE_WITHIN: Duration = Duration::from_mins(1);
const CLIENTS: usize = 6;
const SWING: usize = 60;
/// Longer than the balancer takes to notice, also on a busy machine.
const DRAIN_MS: u64 = 3_000;
/// Of all requests, so many at most may have to be sent again during a rolling restart: one in...
const RETRIED_ONE_IN: usize = 100;

/// Nodes with fixed ports, and what is in front of them.
pub(crate) struct Nodes {
    pub(crate) balancer: Balancer,
    ports: [u16; NODES],
    pub(crate) running: Vec<Running>,
}

impl Nodes {
    pub(crate) fn start(site: &Site) -> Self {
        let ports = [(); NODES].map(|()| free_port().unwrap());
        let running = ports.iter().map(|port| serve(site, *port)).collect();
        let balancer = Balancer::start(&ports).unwrap();
        let nodes = Self { balancer, ports, running };
        nodes.wait_until_ready();
        nodes
    }

    pub(crate) fn url(&self) -> String {
        self.balancer.url()
    }

    fn wait_until_ready(&self) {
        for node in &self.running {
            eventually("the node is ready", READY_WITHIN, || {
                http::get(&node.url, "/readyz", &[]).is_ok_and(|answer| answer.status == 200)
            });
        }
        // The balancer looks by itself, and needs a moment.
        eventually("the balancer knows all nodes", READY_WITHIN, || {
            let ask = |_| http::get(&self.url(), "/readyz", &[]).ok()?.header(SERVER_HEADER);
            // Others may ask as well meanwhile.
            (0..NODES * 4).filter_map(ask).collect::<BTreeSet<String>>().len() == NODES
        });
    }

    /// Replaces one node by a new process on its port.
    fn restart(&mut self, place: usize, site: &Site, end: impl FnOnce(Running)) {
        end(self.running.remove(place));
        self.running.insert(place, serve(site, self.ports[place]));
        self.wait_until_ready();
    }
}

fn serve(site: &Site, port: u16) -> Running {
    site.serve_with(&["--listen", &format!("127.0.0.1:{port}")])
}

/// A site that believes the balancer, on which webhooks may go to loopback.
pub(crate) fn site() -> Site {
    Site::postgres()
        .set("server.trusted_proxies", r#"["127.0.0.1"]"#)
        .set("server.drain_ms", DRAIN_MS)
        .set("server.outbound.exempt", r#"["127.0.0.1"]"#)
        // Links are the same whichever node made them.
        .set("site.url", "http://shop.example")
}

/// Nodes are restarted one after the other, and one is killed, with the load going on.
#[test]
fn nodes_come_and_go_under_load() {
    let site = site();
    let iso = site.iso("Nodes");
    let key = site.key(&iso);
    let receiver = Receiver::start(&[Mood::Takes]);
    let mut nodes = Nodes::start(&site);
    let headers = [("Authorization", &*authorization(&key))];
    let wanted = json!({ "url": receiver.url, "events": ["merchant.created"] });
    let webhook = http::post(&nodes.url(), "/v1/webhooks", &headers, &wanted);
    let secret = text(&webhook.unwrap().json().unwrap(), "secret");

    let url = nodes.url();
    let load = Load::new(&url, &key, Until::Stopped);
    let restarted = load.run(CLIENTS, "Rolling", || {
        for place in 0..NODES {
            load.wait_for_acknowledged(SWING);
            nodes.restart(place, &site, |node| {
                let ended = node.server.terminate(STOPS_WITHIN).unwrap();
                assert!(ended.success(), "{ended}");
            });
        }
        load.wait_for_acknowledged(SWING);
        load.stop.store(true, Ordering::Relaxed);
    });
    let retried: Vec<&Attempt> =
        restarted.iter().filter(|one| !matches!(one.end, End::Acknowledged(_))).collect();
    println!("rolling restart: {} of {} were to be sent again", retried.len(), restarted.len());
    assert!(retried.len() * RETRIED_ONE_IN <= restarted.len(), "{retried:?}");

    let load = Load::new(&url, &key, Until::Stopped);
    let killed = load.run(CLIENTS, "Killed", || {
        load.wait_for_acknowledged(SWING);
        nodes.restart(1, &site, |node| node.server.kill());
        load.wait_for_acknowledged(SWING);
        load.stop.store(true, Ordering::Relaxed);
    });
    let all: Vec<Attempt> = restarted.into_iter().chain(killed).collect();
    let acknowledged = settle(&nodes.running[0], &key, &all);
    read_back(&nodes.running[2], &key, &acknowledged);
    let dbas: BTreeSet<String> = all.into_iter().map(|attempt| attempt.dba).collect();
    check_onboardings(&site.store(), &dbas);
    check_webhooks(&receiver, &secret, dbas.len());
}

/// Every event was sent; none twice, except for those that a killed node had in its hands.
fn check_webhooks(receiver: &Receiver, secret: &str, merchants: usize) {
    let (mut taken, mut since) = (0, Instant::now());
    while taken < merchants {
        assert!(since.elapsed() < STALLED, "{taken} of {merchants} events were delivered");
        thread::sleep(Duration::from_millis(250));
        let now = receiver.taken().len();
        if now > taken {
            (taken, since) = (now, Instant::now());
        }
    }
    check_signatures(&receiver.all(), secret);
    let twice = receiver.taken().values().filter(|count| **count > 1).count();
    println!("{merchants} events, {twice} of them more than once");
    assert!(twice <= IN_HANDS_MAX, "{twice} events were sent more than once");
}

/// Longer than the lease of what a killed node had in its hands.
const STALLED: Duration = Duration::from_secs(45);

/// What one node sends at once at most.
const IN_HANDS_MAX: usize = 64;

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
    stream.set_read_timeout(Some(READY_WITHIN)).unwrap();
    let mut heard = String::new();
    let mut read_until = |heard: &mut String, events: usize| {
        while heard.matches("event: facts").count() < events {
            let mut part = [0; 4096];
            let count = stream.read(&mut part).unwrap();
            assert!(count > 0, "{heard}");
            heard.push_str(&String::from_utf8_lossy(&part[..count]));
        }
    };
    read_until(&mut heard, 1);
    // What is left of the making of the product.
    thread::sleep(Duration::from_secs(1));
    let known = heard.matches("event: facts").count();
    let order = json!({ "line_items": [{ "product_id": product, "quantity": 1 }] });
    let began = Instant::now();
    let made = http::post(&nodes.running[2].url, "/wp-json/wc/v3/orders", &headers, &order);
    assert_eq!(made.unwrap().status, 201);
    read_until(&mut heard, known + 1);
    println!("heard at another node {:?} after the order was made", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
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
