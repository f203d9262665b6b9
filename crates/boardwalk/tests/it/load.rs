//! Many clients that onboard at once, what became of each onboarding, and whether the database
//! agrees.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use db::{Conn, Database, Engine, outbox};
use serde_json::Value;
use testkit::http::{Connection, Response};

use crate::support::{Running, authorization, body, eventually, text};

/// A server that is killed resets its connections, so no client waits this long.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// Even a busy machine gets into swing within this time.
const SWING_WITHIN: Duration = Duration::from_secs(30);
const AFTER_REFUSAL: Duration = Duration::from_millis(250);
const READERS: usize = 4;
const NUMBERED_WITHIN: Duration = Duration::from_secs(10);

/// What a successful onboarding returned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ids {
    pub(crate) merchant: String,
    pub(crate) store: String,
    pub(crate) tpn: String,
}

impl Ids {
    pub(crate) fn of(answer: &Response) -> Self {
        let answer = answer.json().unwrap();
        let data = answer.get("data").unwrap();
        Self {
            merchant: text(data, "merchantId"),
            store: text(data, "storeId"),
            tpn: text(data, "tpn"),
        }
    }
}

/// One onboarding and how it ended.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) dba: String,
    pub(crate) end: End,
}

#[derive(Clone, Debug)]
pub(crate) enum End {
    Acknowledged(Ids),
    /// Answered with something else than 200.
    Refused(u16),
    /// The connection broke off, so that the client cannot know.
    Unanswered,
}

/// When a client gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// The connection breaks: the server is gone.
    Broken,
    /// The flag is raised; a broken connection is opened again.
    Stopped,
}

/// What the clients of one load share.
pub(crate) struct Load<'a> {
    pub(crate) url: &'a str,
    pub(crate) key: &'a str,
    pub(crate) until: Until,
    pub(crate) stop: AtomicBool,
    acknowledged: AtomicUsize,
    /// How many were answered with something else.
    pub(crate) refused: AtomicUsize,
}

impl<'a> Load<'a> {
    pub(crate) fn new(url: &'a str, key: &'a str, until: Until) -> Self {
        let (acknowledged, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { url, key, until, stop: AtomicBool::new(false), acknowledged, refused }
    }

    /// Runs that many clients while `act` does what it wants to them; their names start alike.
    pub(crate) fn run(&self, clients: usize, name: &str, act: impl FnOnce()) -> Vec<Attempt> {
        thread::scope(|scope| {
            let clients: Vec<_> = (0..clients)
                .map(|client| {
                    let name = format!("{name} Client {client} Number");
                    scope.spawn(move || self.onboard_many(&name))
                })
                .collect();
            act();
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
        })
    }

    /// Waits for some more acknowledgements, so that what follows hits a server in full swing.
    pub(crate) fn wait_for_acknowledged(&self, more: usize) {
        let wanted = self.acknowledged.load(Ordering::Relaxed) + more;
        eventually("enough onboardings are acknowledged", SWING_WITHIN, || {
            self.acknowledged.load(Ordering::Relaxed) >= wanted
        });
    }

    /// A client on a kept-alive connection that onboards one merchant after the other.
    fn onboard_many(&self, name: &str) -> Vec<Attempt> {
        let mut attempts = Vec::new();
        let mut connection = None;
        while !self.stop.load(Ordering::Relaxed) {
            let open = match connection.take() {
                Some(open) => Ok(open),
                None => Connection::open_with_timeout(self.url, ANSWER_TIMEOUT),
            };
            let Ok(mut open) = open else {
                if self.until == Until::Broken {
                    break;
                }
                thread::sleep(AFTER_REFUSAL);
                continue;
            };
            let dba = format!("{name} {}", attempts.len());
            let answer = onboard(&mut open, self.key, &dba);
            let end = self.end(&answer);
            if matches!(end, End::Refused(_)) {
                thread::sleep(AFTER_REFUSAL);
            }
            attempts.push(Attempt { dba, end });
            if answer.is_ok() && open.is_open() {
                connection = Some(open);
            } else if self.until == Until::Broken {
                break;
            }
        }
        attempts
    }

    fn end(&self, answer: &Result<Response>) -> End {
        match answer {
            Ok(answer) if answer.status == 200 => {
                self.acknowledged.fetch_add(1, Ordering::Relaxed);
                End::Acknowledged(Ids::of(answer))
            }
            Ok(answer) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                End::Refused(answer.status)
            }
            Err(_) => End::Unanswered,
        }
    }
}

pub(crate) fn onboard(connection: &mut Connection, key: &str, dba: &str) -> Result<Response> {
    let authorization = authorization(key);
    let headers = [("Authorization", &*authorization), ("Content-Type", "application/json")];
    let body = body(dba).to_string();
    connection.request("POST", "/v1/onboardmerchant", &headers, body.as_bytes())
}

/// Sends again what got no answer: it was stored whole or not at all, so the server either takes it
/// now or names what it has. Returns the acknowledged onboardings, those of earlier among them.
pub(crate) fn settle(running: &Running, key: &str, attempts: &[Attempt]) -> BTreeMap<String, Ids> {
    let mut settled = BTreeMap::new();
    for Attempt { dba, end } in attempts {
        if let End::Acknowledged(ids) = end {
            assert!(settled.insert(dba.clone(), ids.clone()).is_none(), "{dba} won twice");
            continue;
        }
        let answer = running.onboard(key, &body(dba));
        match answer.status {
            200 => drop(settled.insert(dba.clone(), Ids::of(&answer))),
            400 => {
                let existing = answer.header("X-Existing-Merchant-Id");
                assert!(existing.is_some(), "{dba}: {}", answer.text());
            }
            status => panic!("{dba}: {status} {}", answer.text()),
        }
    }
    settled
}

/// Reads every onboarding back, whole.
pub(crate) fn read_back(running: &Running, key: &str, settled: &BTreeMap<String, Ids>) {
    let all: Vec<(&String, &Ids)> = settled.iter().collect();
    let share = all.len().div_ceil(READERS).max(1);
    thread::scope(|scope| {
        for part in all.chunks(share) {
            scope.spawn(move || {
                let mut connection = Connection::open(&running.url).unwrap();
                for (dba, ids) in part {
                    check_one(&mut connection, key, dba, ids)
                        .with_context(|| format!("{dba} was acknowledged as {ids:?}"))
                        .unwrap();
                }
            });
        }
    });
}

fn check_one(connection: &mut Connection, key: &str, dba: &str, ids: &Ids) -> Result<()> {
    let authorization = authorization(key);
    let mut get = |path: String| -> Result<Value> {
        let answer = connection.request("GET", &path, &[("Authorization", &authorization)], b"")?;
        ensure!(answer.status == 200, "GET {path}: {} {}", answer.status, answer.text());
        answer.json()
    };
    let is = |object: &Value, pointer: &str, wanted: &str| {
        let found = object.pointer(pointer).and_then(Value::as_str);
        ensure!(found == Some(wanted), "{pointer} is not {wanted} in {object}");
        Ok(())
    };
    let merchant = get(format!("/v1/merchants/{}", ids.merchant))?;
    is(&merchant, "/dba", dba)?;
    is(&merchant, "/contact/email", "maria@harbor.example")?;
    let store = get(format!("/v1/stores/{}", ids.store))?;
    is(&store, "/dba", dba)?;
    is(&store, "/merchantId", &ids.merchant)?;
    is(&store, "/contact/firstName", "Daniel")?;
    let tpn = get(format!("/v1/tpns/{}", ids.tpn))?;
    is(&tpn, "/storeId", &ids.store)?;
    is(&tpn, "/merchantId", &ids.merchant)?;
    is(&tpn, "/tpnProcessor/processorName", "CKNX")?;
    is(&tpn, "/tpnProcessor/profile/0/profileId", "01")?;
    ensure!(tpn.pointer("/tpnProcessor/profile/1").is_none(), "a second profile in {tpn}");
    Ok(())
}

/// Everything in the database is whole and there once, its events too; `dbas` are the merchants, and
/// there is nothing else.
pub(crate) fn check_database(store: &Database, dbas: &BTreeSet<String>) {
    let others = check_onboardings(store, dbas);
    assert!(others.is_empty(), "events of nothing that was onboarded: {others:?}");
}

/// As [`check_database`], beside other records, whose events are returned by object and kind.
pub(crate) fn check_onboardings(
    store: &Database,
    dbas: &BTreeSet<String>,
) -> Vec<(String, String)> {
    eventually("all events have numbers", NUMBERED_WITHIN, || {
        !store.read_blocking(outbox::has_unsequenced).unwrap()
    });
    let merchants = pairs(store, "SELECT merchant_id, dba FROM merchants");
    let stores = pairs(store, "SELECT store_id, merchant_id FROM stores");
    let tpns = pairs(store, "SELECT tpn, store_id FROM tpns");
    let profiles = pairs(store, "SELECT tpn, profile_id FROM profiles");
    let events = store.read_blocking(|conn| outbox::after(conn, 0, i64::MAX)).unwrap();

    let second = |pairs: &[(String, String)]| -> BTreeSet<String> {
        pairs.iter().map(|(_, second)| second.clone()).collect()
    };
    let first = |pairs: &[(String, String)]| -> BTreeSet<String> {
        pairs.iter().map(|(first, _)| first.clone()).collect()
    };
    let merchants_of_stores = second(&stores);
    assert_eq!(second(&merchants), *dbas, "the merchants are not those that were onboarded");
    assert_eq!((merchants.len(), first(&merchants).len()), (dbas.len(), dbas.len()));
    assert_eq!(stores.len(), merchants.len(), "one store for each merchant");
    assert_eq!(merchants_of_stores, first(&merchants));
    assert_eq!(tpns.len(), stores.len(), "one TPN for each store");
    assert_eq!(second(&tpns), first(&stores));
    assert_eq!(profiles.len(), tpns.len(), "one profile for each TPN");
    assert_eq!(first(&profiles), first(&tpns));

    let created = |kind: &str, ids: BTreeSet<String>| {
        ids.into_iter().map(|id| (id, kind.to_owned())).collect::<Vec<_>>()
    };
    let mut wanted = created("merchant.created", first(&merchants));
    wanted.extend(created("store.created", first(&stores)));
    wanted.extend(created("tpn.created", first(&tpns)));
    wanted.sort_unstable();
    for (number, event) in (1..).zip(&events) {
        assert_eq!(event.seq, number, "the sequence of events has a gap");
    }
    let kinds: BTreeSet<&String> = wanted.iter().map(|(_, kind)| kind).collect();
    let all = events.into_iter().map(|event| (event.object_id, event.kind));
    let (mut found, others): (Vec<_>, Vec<_>) = all.partition(|(_, kind)| kinds.contains(kind));
    found.sort_unstable();
    assert!(found == wanted, "{} events for {} objects", found.len(), wanted.len());
    store.read_blocking(sound).unwrap();
    others
}

/// SQLite can tell whether its file is damaged.
fn sound(conn: &mut dyn Conn) -> types::Result<()> {
    if conn.engine() == Engine::Sqlite {
        conn.query_text("PRAGMA integrity_check", &[], &mut |row| {
            assert_eq!(row.text(0)?.as_deref(), Some("ok"));
            Ok(())
        })?;
    }
    Ok(())
}

/// The first two columns of every row.
pub(crate) fn pairs(store: &Database, query: &'static str) -> Vec<(String, String)> {
    let read = move |conn: &mut dyn Conn| {
        let mut rows = Vec::new();
        conn.query_text(query, &[], &mut |row| {
            rows.push((row.get(0)?, row.get(1)?));
            Ok(())
        })?;
        Ok(rows)
    };
    store.read_blocking(read).unwrap()
}
