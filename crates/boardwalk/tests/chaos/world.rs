//! A server with clients that write all the time, and what can happen to it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::database::Stop;
use testkit::http::{self, Connection, Response};
use testkit::postgres::Cluster;

use crate::chance::Chance;
use crate::disk::SmallDisk;
use crate::load::{Attempt, End, Load, Until};
use crate::orders::{Placed, Placing, Shoppers};
use crate::receiver::{Mood, Receiver};
use crate::support::{Running, Site, authorization, basic, eventually, text};

/// Clients that onboard, and clients that place orders.
const CLIENTS: usize = 4;
const SHOPPERS: usize = 3;
/// So many onboardings are acknowledged before and after a disturbance.
const SWING: usize = 15;
/// So many are refused while the disk is full.
const REFUSALS: usize = 10;
const REFUSED_WITHIN: Duration = Duration::from_secs(30);
const GREEDY_CONNECTIONS: usize = 60;
const GREEDY_TIMEOUT: Duration = Duration::from_secs(20);
const DAY_SECONDS: u64 = 24 * 60 * 60;
/// Mostly well, so that the webhooks keep up with the writes.
const MOODS: &[Mood] = &[
    Mood::Takes,
    Mood::Takes,
    Mood::Fails,
    Mood::Takes,
    Mood::Takes,
    Mood::Takes,
    Mood::Drops,
    Mood::Takes,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disturbance {
    /// The server ends without a warning, and another one starts.
    Kill,
    /// The disk of the data folder has no room left, and then has again.
    FullDisk,
    /// The database ends without a warning, and starts again.
    DatabaseRestart,
    /// The clock of the ISO jumps by a day.
    ClockJump,
    /// Another ISO asks for what is expensive, on many connections at once.
    GreedyCaller,
}

impl Disturbance {
    pub(crate) const ALL: [Self; 5] =
        [Self::Kill, Self::FullDisk, Self::DatabaseRestart, Self::ClockJump, Self::GreedyCaller];

    /// Short, since trading names begin with it.
    fn name(self) -> &'static str {
        match self {
            Self::Kill => "Kill",
            Self::FullDisk => "Disk",
            Self::DatabaseRestart => "Restart",
            Self::ClockJump => "Clock",
            Self::GreedyCaller => "Greedy",
        }
    }
}

pub(crate) struct World {
    /// Killed before its disk and its database go away.
    pub(crate) running: Option<Running>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) orders: Vec<Placed>,
    pub(crate) receiver: Receiver,
    pub(crate) key: String,
    pub(crate) secret: String,
    greedy_key: String,
    authorization: String,
    product: i64,
    chance: Chance,
    round: usize,
    cluster: Option<Cluster>,
    disk: Option<SmallDisk>,
    pub(crate) site: Site,
}

impl World {
    /// Serves a shop and an ISO with a webhook, on the cluster if there is one.
    pub(crate) fn new(site: Site, cluster: Option<Cluster>) -> Self {
        let site = site
            // Links are the same wherever the next server listens.
            .set("site.url", "http://shop.example")
            .set("server.outbound.exempt", r#"["127.0.0.1"]"#)
            .set("server.webhooks.retry_seconds", format!("{:?}", [0; 30]))
            .set("server.webhooks.timeout_ms", 2_000);
        // The disk of PostgreSQL is its own, and none of the server's.
        let disk = if cluster.is_none() { SmallDisk::under(site.data()) } else { None };
        let (key, greedy_key) = (site.key(&site.iso("Chaos")), site.key(&site.iso("Greedy")));
        let who = ["--login", "boss", "--email", "boss@shop.example", "--role", "administrator"];
        site.json(&[&["user", "create"], &who[..]].concat());
        let made = site.json(&["user", "app-password", "--login", "boss", "--name", "chaos"]);
        let authorization = basic(&format!("boss:{}", text(&made, "password")));
        let receiver = Receiver::start(MOODS);
        let mut world = Self {
            running: Some(site.serve()),
            attempts: Vec::new(),
            orders: Vec::new(),
            receiver,
            key,
            secret: String::new(),
            greedy_key,
            authorization,
            product: 0,
            chance: Chance::new(),
            round: 0,
            cluster,
            disk,
            site,
        };
        let webhook = world.post("/v1/webhooks", &json!({ "url": world.receiver.url }));
        world.secret = text(&webhook, "secret");
        let headers = [("Authorization", &*world.authorization)];
        let product = json!({ "name": "Mittens", "regular_price": "12.50" });
        let product = http::post(&world.url(), "/wp-json/wc/v3/products", &headers, &product);
        world.product = product.unwrap().json().unwrap()["id"].as_i64().unwrap();
        world
    }

    pub(crate) fn url(&self) -> String {
        self.running.as_ref().unwrap().url.clone()
    }

    /// What must succeed, as the ISO.
    fn post(&self, path: &str, body: &Value) -> Value {
        let headers = [("Authorization", &*authorization(&self.key))];
        let answer = http::post(&self.url(), path, &headers, body).unwrap();
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json().unwrap()
    }

    /// Reads something of the shop as its administrator.
    pub(crate) fn look(&self, path: &str) -> Response {
        let headers = [("Authorization", &*self.authorization)];
        http::get(&self.url(), &format!("/wp-json/{path}"), &headers).unwrap()
    }

    /// The same, for what must succeed.
    pub(crate) fn rest(&self, path: &str) -> Value {
        let answer = self.look(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json().unwrap()
    }

    pub(crate) fn next_disturbance(&mut self) -> Disturbance {
        let place = self.chance.next() % u64::try_from(Disturbance::ALL.len()).unwrap();
        Disturbance::ALL[usize::try_from(place).unwrap()]
    }

    fn reason_to_skip(&self, what: Disturbance) -> Option<&'static str> {
        match what {
            Disturbance::FullDisk if self.cluster.is_some() => Some("the disk is PostgreSQL's own"),
            Disturbance::FullDisk if self.disk.is_none() => {
                Some("only root may give the data folder a small disk")
            }
            Disturbance::DatabaseRestart if self.cluster.is_none() => {
                Some("SQLite has no server of its own")
            }
            _ => None,
        }
    }

    /// Lets it happen while clients write, and keeps what they were told.
    pub(crate) fn disturb(&mut self, what: Disturbance) {
        let engine = if self.cluster.is_some() { "PostgreSQL" } else { "SQLite" };
        if let Some(reason) = self.reason_to_skip(what) {
            if self.round < Disturbance::ALL.len() {
                println!("{engine}: {what:?} is skipped: {reason}");
            }
            self.round += 1;
            return;
        }
        let name = format!("{} {}", what.name(), self.round);
        let (url, pause) = (self.url(), self.chance.pause());
        let until = if what == Disturbance::Kill { Until::Broken } else { Until::Stopped };
        let load = Load::new(&url, &self.key, until);
        let shoppers = Shoppers {
            url: &url,
            authorization: &self.authorization,
            product: self.product,
            stop: AtomicBool::new(false),
        };
        let victim = if what == Disturbance::Kill { self.running.take() } else { None };
        let this = &*self;
        let (attempts, orders) = thread::scope(|scope| {
            let (shoppers, name) = (&shoppers, &name);
            let placing: Vec<_> = (0..SHOPPERS)
                .map(|shopper| scope.spawn(move || shoppers.place(&format!("{name} {shopper}"))))
                .collect();
            let attempts = load.run(CLIENTS, name, || {
                let _stop = (Stop(&load.stop), Stop(&shoppers.stop));
                load.wait_for_acknowledged(SWING);
                thread::sleep(pause);
                this.act(what, &load, victim);
            });
            let orders = placing.into_iter().flat_map(|one| one.join().unwrap());
            (attempts, orders.collect::<Vec<Placed>>())
        });
        let acknowledged = attempts.iter().filter(|one| matches!(one.end, End::Acknowledged(_)));
        println!(
            "{engine}: {name}: {} of {} onboardings, {} orders",
            acknowledged.count(),
            attempts.len(),
            orders.len()
        );
        self.keep(what, attempts, orders);
        if what == Disturbance::Kill {
            self.running = Some(self.site.serve());
        }
        self.round += 1;
    }

    fn act(&self, what: Disturbance, load: &Load<'_>, victim: Option<Running>) {
        match what {
            Disturbance::Kill => return victim.unwrap().server.kill(),
            Disturbance::FullDisk => {
                let disk = self.disk.as_ref().unwrap();
                disk.fill();
                eventually("writes are refused", REFUSED_WITHIN, || {
                    load.refused.load(Ordering::Relaxed) >= REFUSALS
                });
                let headers = [("Authorization", &*authorization(&self.key))];
                let read = http::get(load.url, "/v1/merchants?limit=1", &headers).unwrap();
                assert_eq!(read.status, 200, "reads go on: {}", read.text());
                disk.free();
            }
            Disturbance::DatabaseRestart => {
                let cluster = self.cluster.as_ref().unwrap();
                cluster.crash().unwrap();
                cluster.resume().unwrap();
            }
            Disturbance::ClockJump => {
                let told =
                    self.post("/v1/sandbox/clock", &json!({ "advanceSeconds": DAY_SECONDS }));
                assert!(told["aheadSeconds"].as_u64() >= Some(DAY_SECONDS), "{told}");
            }
            Disturbance::GreedyCaller => return self.be_greedy(load),
        }
        load.wait_for_acknowledged(SWING);
    }

    /// Asks for what costs most on many connections, until others have got on with their work.
    fn be_greedy(&self, load: &Load<'_>) {
        let stop = AtomicBool::new(false);
        let authorization = authorization(&self.greedy_key);
        let ask = || {
            let headers = [("Authorization", &*authorization)];
            while !stop.load(Ordering::Relaxed) {
                let opened = Connection::open_with_timeout(load.url, GREEDY_TIMEOUT);
                let Ok(mut connection) = opened else { continue };
                for path in ["/v1/audit/verify", "/v1/merchants?limit=100&dba=Kill"] {
                    // It may be told to wait, which is fair.
                    let _ = connection.request("GET", path, &headers, b"");
                }
            }
        };
        thread::scope(|scope| {
            let _stop = Stop(&stop);
            for _ in 0..GREEDY_CONNECTIONS {
                scope.spawn(ask);
            }
            load.wait_for_acknowledged(SWING);
            load.stop.store(true, Ordering::Relaxed);
        });
    }

    /// Keeps what clients were told. A commit whose connection broke may have happened: who was told
    /// to try again cannot know.
    fn keep(&mut self, what: Disturbance, attempts: Vec<Attempt>, orders: Vec<Placed>) {
        let is_unsure = |status: u16| {
            assert_eq!(status, 503, "{what:?}");
            what == Disturbance::DatabaseRestart
        };
        self.attempts.extend(attempts.into_iter().map(|attempt| match attempt.end {
            End::Refused(status) if is_unsure(status) => {
                Attempt { end: End::Unanswered, ..attempt }
            }
            _ => attempt,
        }));
        self.orders.extend(orders.into_iter().map(|order| match order.end {
            Placing::Refused(status) if is_unsure(status) => {
                Placed { end: Placing::Unanswered, ..order }
            }
            _ => order,
        }));
    }
}
