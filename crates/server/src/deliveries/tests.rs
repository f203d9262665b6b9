//! The engine against receivers on loopback: what arrives, in which order, and how often.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use db::webhook_delivery::{DeliveryState, NewDelivery};
use onboarding::Platform;
use onboarding::webhooks::WebhookSettings;
use serde_json::json;
use shop_rows::webhook::{self, WebhookRow};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use types::{Clock, Environment};
use vault::{Aad, MasterKey};

use super::*;
use crate::{Reports, Settings, make_site};

const SECRET: &str = "known to both";
const FAST: Pace = Pace {
    pause: Duration::from_millis(10),
    lease: Duration::from_millis(400),
    first_wait: Duration::from_millis(10),
    longest_wait: Duration::from_millis(20),
    kept: Duration::from_hours(1),
};
/// How long something may take before it counts as never.
const PATIENCE: Duration = Duration::from_secs(20);

/// A receiver that answers with the statuses in turn, the last one for ever, and keeps what it got.
#[derive(Clone, Debug)]
struct Receiver {
    address: SocketAddr,
    got: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    async fn start(statuses: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let got: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&got);
        let mut statuses: VecDeque<u16> = statuses.iter().copied().collect();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let text = read_request(&mut stream).await;
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(text);
                let status = match statuses.len() {
                    1 => statuses[0],
                    _ => statuses.pop_front().unwrap(),
                };
                let answer = format!("HTTP/1.1 {status} Said\r\nContent-Length: 2\r\n\r\nok");
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { address, got }
    }

    fn got(&self) -> Vec<String> {
        self.got.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The bodies in the order in which they came.
    fn bodies(&self) -> Vec<String> {
        let body = |text: String| text.split_once("\r\n\r\n").unwrap().1.to_owned();
        self.got().into_iter().map(body).collect()
    }
}

async fn read_request(stream: &mut tokio::net::TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let mut part = [0; 4096];
        let count = stream.read(&mut part).await.unwrap();
        bytes.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            assert!(count > 0, "a request without an end: {text}");
            continue;
        };
        let lower = head.to_lowercase();
        let length = lower.split("content-length: ").nth(1);
        let length = length.map_or(0, |rest| rest.lines().next().unwrap().parse().unwrap());
        if body.len() >= length {
            return text;
        }
    }
}

/// An engine on a store of its own.
struct Bench {
    engine: Engine,
    _folder: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Self {
        tokio::task::spawn_blocking(|| {
            let folder = tempfile::tempdir().unwrap();
            let location = db::Location::File(folder.path().join("sandbox.db"));
            let store = Database::open(&location, schema::MIGRATIONS).unwrap();
            let master = MasterKey::generate().unwrap();
            let environment = Environment::Sandbox;
            let choices = onboarding::Settings::default();
            let platform = Arc::new(
                Platform::new(environment, store, &master, choices, Clock::System).unwrap(),
            );
            let mut settings = Settings::default();
            settings.outbound.exempt = vec!["127.0.0.1".parse().unwrap()];
            let url = Some(String::from("https://shop.example"));
            let of_site = frame::Settings { url, ..frame::Settings::default() };
            let site = make_site(&platform, &settings, of_site, &Reports::default()).unwrap();
            let shared = Arc::new(Shared::new(settings, crate::Portal::default()));
            let settings = WebhookSettings {
                retry_seconds: vec![0; 10],
                timeout_ms: 500,
                disable_after_hours: 1,
            };
            let parties = Parties { site, platform, settings };
            Self { engine: Engine { parties, shared, pace: FAST }, _folder: folder }
        })
        .await
        .unwrap()
    }

    async fn webhook(&self, url: String) -> i64 {
        let site = Arc::clone(&self.engine.parties.site);
        let make = move |conn: &mut dyn Conn| {
            let row = WebhookRow {
                status: "active".to_owned(),
                topic: "customer.created".to_owned(),
                delivery_url: url.clone(),
                ..WebhookRow::default()
            };
            let webhook_id = webhook::insert(conn, &row)?;
            let id = webhook_id.to_string();
            let aad = Aad { kind: "webhook", id: &id, column: "secret" };
            let secret_sealed = site.vault().site_seal(&aad, SECRET.as_bytes())?;
            webhook::update(conn, &WebhookRow { webhook_id, secret_sealed, ..row })?;
            Ok(webhook_id)
        };
        self.engine.parties.site.store().write(make).await.unwrap()
    }

    async fn enqueue(&self, webhook_id: i64, bodies: &[&str]) {
        let now = self.engine.now();
        let deliveries: Vec<NewDelivery> = bodies
            .iter()
            .map(|body| NewDelivery {
                endpoint: webhook::endpoint(webhook_id),
                topic: "customer.created".to_owned(),
                body: body.as_bytes().to_vec(),
                details: "{}".to_owned(),
                due: now,
                created: now,
                ..NewDelivery::default()
            })
            .collect();
        let add = move |conn: &mut dyn Conn| {
            deliveries.iter().try_for_each(|one| webhook_delivery::enqueue(conn, one).map(drop))
        };
        self.engine.parties.site.store().write(add).await.unwrap();
    }

    async fn row(&self, webhook_id: i64) -> WebhookRow {
        let found =
            self.engine.parties.site.store().read(move |conn| webhook::get(conn, webhook_id));
        found.await.unwrap().unwrap()
    }

    /// What became of the webhook's deliveries, the oldest first.
    async fn states(&self, webhook_id: i64) -> Vec<DeliveryState> {
        let page = db::filter::Page { offset: 0, limit: 100 };
        let endpoint = webhook::endpoint(webhook_id);
        let list = move |conn: &mut dyn Conn| {
            webhook_delivery::list(conn, &endpoint, &[], page).map(|(rows, _)| rows)
        };
        let rows = self.engine.parties.site.store().read(list).await.unwrap();
        rows.iter().rev().map(|row| row.state).collect()
    }

    /// Runs the engine until nothing waits any more.
    async fn run_until_idle(&self, webhook_id: i64) {
        let (stop, stopped) = watch::channel(false);
        let running = tokio::spawn(self.engine.clone().run(stopped));
        let started = Instant::now();
        while self.states(webhook_id).await.contains(&DeliveryState::Waiting) {
            assert!(started.elapsed() < PATIENCE, "it never ends");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stop.send(true).unwrap();
        running.await.unwrap();
    }
}

#[test]
fn only_the_usual_waits_have_a_last_attempt() {
    let bounds = (Duration::from_secs(1), Duration::from_secs(9));
    let is_last = |next, attempt| wait_for(next, bounds, (attempt, 1)).is_none();
    assert!(!is_last(Next::Usual, ATTEMPTS_MAX - 1));
    assert!(is_last(Next::Usual, ATTEMPTS_MAX));
    assert!(!is_last(Next::After(Duration::ZERO), ATTEMPTS_MAX));
    assert!(is_last(Next::Never, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_arrives_signed() {
    let bench = Bench::new().await;
    let receiver = Receiver::start(&[200]).await;
    let id = bench.webhook(format!("http://{}/in?key=1", receiver.address)).await;
    let change = |conn: &mut dyn Conn| {
        let now = Timestamp::from_micros(0);
        let event = db::outbox::Event::of_site("customer.created", 7, json!({}).to_string(), now);
        db::outbox::append(conn, &event)?;
        db::outbox::sequence(conn, 10).map(drop)
    };
    bench.engine.parties.site.store().write(change).await.unwrap();
    kinds::follow(&bench.engine.parties).await.unwrap();
    bench.run_until_idle(id).await;
    let got = receiver.got();
    assert_eq!(got.len(), 1);
    let (head, body) = got[0].split_once("\r\n\r\n").unwrap();
    assert_eq!(body, r#"{"id":7}"#);
    assert!(head.starts_with("POST /in?key=1 HTTP/1.1"), "{head}");
    let signature = frame::signing::hmac_sha256_base64(SECRET.as_bytes(), body.as_bytes()).unwrap();
    for field in [
        format!("x-wc-webhook-signature: {signature}"),
        String::from("x-wc-webhook-source: https://shop.example/"),
        String::from("x-wc-webhook-topic: customer.created"),
        String::from("x-wc-webhook-resource: customer"),
        String::from("x-wc-webhook-event: created"),
        format!("x-wc-webhook-id: {id}"),
        String::from("content-type: application/json"),
    ] {
        let has = head.lines().any(|line| line.eq_ignore_ascii_case(&field));
        assert!(has, "{field} is missing in {head}");
    }
    assert_eq!(bench.states(id).await, [DeliveryState::Delivered]);
    let text = bench.engine.shared.metrics.text();
    let counted = r#"kind="webhook",outcome="delivered"} 1"#;
    assert!(text.contains(counted), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_is_tried_again_and_holds_back_what_follows() {
    let bench = Bench::new().await;
    let receiver = Receiver::start(&[500, 503, 200]).await;
    let id = bench.webhook(format!("http://{}/", receiver.address)).await;
    bench.enqueue(id, &["a", "b", "c"]).await;
    bench.run_until_idle(id).await;
    assert_eq!(receiver.bodies(), ["a", "a", "a", "b", "c"]);
    assert_eq!(bench.states(id).await, [DeliveryState::Delivered; 3]);
    assert_eq!(bench.row(id).await.failure_count, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_fails_too_often_is_told_no_more() {
    let bench = Bench::new().await;
    let receiver = Receiver::start(&[410]).await;
    let id = bench.webhook(format!("http://{}/", receiver.address)).await;
    bench.enqueue(id, &["a", "b"]).await;
    bench.run_until_idle(id).await;
    assert_eq!(receiver.bodies(), ["a"; 5]);
    assert_eq!(bench.row(id).await.status, "disabled");
    assert_eq!(bench.states(id).await, [DeliveryState::Failed; 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_dies_leaves_it_to_the_next() {
    let bench = Bench::new().await;
    let receiver = Receiver::start(&[200]).await;
    let id = bench.webhook(format!("http://{}/", receiver.address)).await;
    bench.enqueue(id, &["a", "b"]).await;
    let nothing = Sending::default();
    let lost = bench.engine.claim(&nothing).await.unwrap();
    assert_eq!(lost.len(), 1, "claimed, and never finished");
    assert!(bench.engine.claim(&nothing).await.unwrap().is_empty(), "b waits for a");
    bench.run_until_idle(id).await;
    assert_eq!(receiver.bodies(), ["a", "b"]);
    let late = bench.engine.attempt(&TakesAll, &lost[0]).await;
    assert!(late.is_err(), "the lease is somebody else's");
}

/// For a claim that was lost.
#[derive(Debug)]
struct TakesAll;

impl Kind for TakesAll {
    fn request(
        &self,
        _: &Parties,
        _: &mut dyn Conn,
        _: &DeliveryRow,
        _: Timestamp,
    ) -> Result<Option<frame::outbound::Fetch>> {
        let url = url::Url::parse("http://127.0.0.1:9/").unwrap();
        Ok(Some(frame::outbound::Fetch::get(url, 10, Duration::from_millis(100))))
    }

    fn is_taken(&self, _: u16) -> bool {
        true
    }

    fn note(
        &self,
        _: &Parties,
        _: &mut dyn Conn,
        _: &DeliveryRow,
        _: Attempted,
        _: Timestamp,
    ) -> Result<Next> {
        Ok(Next::Usual)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_reached_inside_of_the_network() {
    let bench = Bench::new().await;
    let id = bench.webhook(String::from("http://169.254.169.254/latest")).await;
    bench.enqueue(id, &["a"]).await;
    bench.run_until_idle(id).await;
    assert_eq!(bench.states(id).await, [DeliveryState::Failed]);
    let row = bench.row(id).await;
    assert_eq!((row.status.as_str(), row.failure_count), ("disabled", 5));
}
