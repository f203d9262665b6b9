//! Who asks for fresh figures waits for them, but not for ever: facts that nobody brings up to date
//! are answered as they are.

use db::outbox::{self, Event};
use std::sync::Arc;
use std::time::{Duration, Instant};

use analytics::feed::Feed;
use data_encoding::BASE64;
use frame::auth::application_password::create_password;
use frame::{Client, Payload, Request};
use serde_json::{Map, Value, json};
use site_rows::user;
use types::Timestamp;

use crate::facts::Recorded;

const PATH: &str = "/wc-analytics/reports/revenue/stats";
const QUERY: [(&str, &str); 3] = [
    ("after", "2025-09-01T00:00:00"),
    ("before", "2026-11-14T23:59:59"),
    ("force_cache_refresh", "true"),
];
/// Nobody waits longer, however slow the machine is.
const ENOUGH: Duration = Duration::from_secs(20);

/// A site whose facts were made once, and that nobody follows any more.
struct Still {
    recorded: Recorded,
    password: String,
}

impl Still {
    fn new() -> Self {
        let recorded = Recorded::new();
        Feed::open(recorded.store(), Arc::clone(&recorded.facts), None).unwrap();
        let site = Arc::clone(&recorded.site);
        let made = recorded.store().write_blocking(move |conn| {
            let admin = user::find_by_login(conn, "admin")?.unwrap();
            let now = Timestamp::default();
            create_password(conn, site.vault(), admin.user_id, ("patience", ""), now)
        });
        let password = made.unwrap().1.expose().clone();
        Self { recorded, password }
    }

    /// Tells of a change that will not be in the facts.
    fn change(&self, is_numbered: bool) {
        let changed = self.recorded.store().write_blocking(move |conn| {
            let event = Event::of_site("order.updated", 77, "{}".to_owned(), Timestamp::default());
            outbox::append(conn, &event)?;
            if is_numbered { outbox::sequence(conn, 1_000).map(drop) } else { Ok(()) }
        });
        changed.unwrap();
    }

    /// The orders that the report counts, and how long it took. Each question is written another
    /// way, since the same one is answered from memory for a moment.
    fn ask(&self, spelling: &str) -> (Value, Duration) {
        let basic = BASE64.encode(format!("admin:{}", self.password).as_bytes());
        let query: Map<String, Value> =
            QUERY.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let request = Request {
            method: "GET".to_owned(),
            path: PATH.to_owned(),
            url_path: format!("/wp-json{PATH}"),
            query_text: spelling.to_owned(),
            query,
            headers: Arc::new(vec![("authorization".to_owned(), format!("Basic {basic}"))]),
            body: Vec::new(),
            upload: None,
            secure: true,
            encrypted_here: true,
            host: "shop.example".to_owned(),
            client: Client { address: [127, 0, 0, 1].into(), throttled: false, local: true },
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let start = Instant::now();
        let response = runtime.block_on(self.recorded.site.answer(request));
        let took = start.elapsed();
        assert_eq!(response.status, 200);
        let bytes = match &response.payload {
            Payload::Bytes(bytes) => bytes,
            Payload::Shared(bytes) => &**bytes,
            other => panic!("{other:?}"),
        };
        let body: Value = serde_json::from_slice(bytes).unwrap();
        (body["totals"]["orders_count"].clone(), took)
    }
}

#[test]
fn figures_that_do_not_advance_are_answered_as_they_are() {
    let still = Still::new();
    let (known, _) = still.ask("first");
    assert!(known.as_i64() > Some(0));
    for (is_numbered, spelling) in [(false, "second"), (true, "third")] {
        still.change(is_numbered);
        let (shown, took) = still.ask(spelling);
        assert_eq!(shown, known);
        assert!(took > Duration::from_secs(1), "it waited for the figures");
        assert!(took < ENOUGH, "it gave up after {took:?}");
    }
}
