//! The first copy of a large store, and changes that come one after the other while it is followed.
//!
//! A change is visible when the copy shows it: its latency counts from the answer that the store
//! gave to whoever made it, so that it includes the store's own way to its webhooks.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use testkit::http::Connection;
use testkit::postgres::Cluster;

use super::{Copied, Hub, Line, Plan, Source, database_of};
use crate::statistics::{float, milliseconds, percentile};
use crate::{Engine, processes};

/// Who change orders.
const WRITERS: u32 = 4;
/// Changes that are looked for at once.
const LOOKED_FOR: usize = 100;
const PAUSE: Duration = Duration::from_millis(20);
/// A change that is not seen so long after the last one is lost.
const SEEN_WITHIN: Duration = Duration::from_mins(1);
const COPIED_PER_SECOND_MIN: f64 = 2_000.0;
const VISIBLE_MS_MAX: f64 = 2_000.0;
const P99: usize = 990;

/// A change of an order, and when the store said that it was made.
type Change = (i64, String, Instant);

pub(super) fn measure(engine: Engine, program: &Path, plan: Plan) -> Result<Vec<Line>> {
    println!("{}: a store of {} orders", engine.name(), plan.orders);
    let folder = testkit::temp_dir()?;
    let cluster = match engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(Cluster::start()?),
    };
    let database = || database_of(cluster.as_ref());
    let data = folder.path().join("source");
    let source = Source::start(program, &data, database()?, plan.orders)?;
    let hub = Hub::start(program, &folder.path().join("hub"), database()?)?;
    let before = time_of_both(&source, &hub)?;
    println!("  copying");
    let copied = hub.connect(source.running.url(), Some(&source))?;
    let taken = hub.wait_until_live(&copied)?;
    let used = time_of_both(&source, &hub)?.saturating_sub(before);
    let mut lines = vec![
        Line::new("first copy", float(plan.orders) / taken.as_secs_f64(), "orders/s")
            .at_least(COPIED_PER_SECOND_MIN),
        Line::new("first copy, processors in use by both", share(used, taken), ""),
        Line::new(
            "first copy, resident memory, peak",
            processes::memory_of(hub.running.pid())?.resident_peak,
            "MB",
        ),
    ];
    println!("  {} changes a second", plan.changes_per_second);
    let latencies = follow(&source, &hub, &copied, plan)?;
    let of = |per_mille| milliseconds(percentile(&latencies, per_mille));
    lines.push(Line::new("live changes, visible after, p50", of(500), "ms"));
    lines
        .push(Line::new("live changes, visible after, p99", of(P99), "ms").at_most(VISIBLE_MS_MAX));
    hub.running.stop()?;
    source.running.stop()?;
    Ok(lines)
}

fn time_of_both(source: &Source, hub: &Hub) -> Result<Duration> {
    Ok(processes::time_of(source.running.pid())? + processes::time_of(hub.running.pid())?)
}

fn share(used: Duration, taken: Duration) -> f64 {
    used.as_secs_f64() / taken.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// Changes orders at a fixed rate, and returns how long after each the copy showed it, sorted.
fn follow(source: &Source, hub: &Hub, copied: &Copied, plan: Plan) -> Result<Vec<Duration>> {
    let orders = newest(hub, copied, plan)?;
    let (sender, receiver) = mpsc::channel();
    let store = (source.running.url(), source.authorization.as_str());
    thread::scope(|scope| {
        let mut writers = Vec::new();
        for writer in 0..WRITERS {
            let (sender, orders) = (sender.clone(), &orders);
            let write = move || change(store, (writer, orders), plan, &sender);
            writers.push(scope.spawn(write));
        }
        drop(sender);
        let latencies = watch(hub, copied, &receiver);
        for writer in writers {
            writer.join().map_err(|_| anyhow::anyhow!("a writer failed"))??;
        }
        latencies
    })
}

/// Ids of as many orders as are changed, each once as far as there are enough.
fn newest(hub: &Hub, copied: &Copied, plan: Plan) -> Result<Vec<i64>> {
    let wanted = u64::from(plan.changes_per_second) * plan.changing.as_secs();
    let wanted = usize::try_from(wanted)?.min(plan.orders);
    let mut ids = Vec::new();
    while ids.len() < wanted {
        let path = format!("/wc/v3/orders?per_page=100&offset={}&_fields=id", ids.len());
        let page = copied.ask(&hub.running, &path)?;
        let page = page.as_array().context("a list of orders")?;
        ensure!(!page.is_empty(), "the copy has {} orders", ids.len());
        ids.extend(page.iter().filter_map(|order| order.get("id")?.as_i64()));
    }
    Ok(ids)
}

/// What one of the writers does: its share of the changes, when they are due.
fn change(
    (url, authorization): (&str, &str),
    (writer, orders): (u32, &[i64]),
    plan: Plan,
    sender: &Sender<Change>,
) -> Result<()> {
    let mut connection = Connection::open(url)?;
    let headers = [("Authorization", authorization), ("Content-Type", "application/json")];
    let interval = Duration::from_secs(1) / plan.changes_per_second;
    let (started, mut number) = (Instant::now(), writer);
    while interval * number < plan.changing {
        thread::sleep((started + interval * number).saturating_duration_since(Instant::now()));
        let order = orders.get(usize::try_from(number)? % orders.len().max(1));
        let order = *order.context("there are orders")?;
        let note = format!("change {number}");
        let body = json!({ "customer_note": note }).to_string();
        let path = format!("/wp-json/wc/v3/orders/{order}");
        let answer = connection.request("PUT", &path, &headers, body.as_bytes())?;
        ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
        sender.send((order, note, Instant::now()))?;
        number += WRITERS;
    }
    Ok(())
}

/// Looks for the changes until all of them were seen. Of several changes of one order, the last
/// counts.
fn watch(hub: &Hub, copied: &Copied, receiver: &Receiver<Change>) -> Result<Vec<Duration>> {
    let mut pending: BTreeMap<i64, (String, Instant)> = BTreeMap::new();
    let (mut latencies, mut is_over, mut last) = (Vec::new(), false, Instant::now());
    while !(is_over && pending.is_empty()) {
        loop {
            match receiver.try_recv() {
                Ok((order, note, at)) => drop(pending.insert(order, (note, at))),
                Err(mpsc::TryRecvError::Empty) => break,
                Err(mpsc::TryRecvError::Disconnected) => {
                    is_over = true;
                    break;
                }
            }
        }
        let mut oldest: Vec<(&i64, &(String, Instant))> = pending.iter().collect();
        oldest.sort_by_key(|(_, (_, at))| *at);
        let ids: Vec<String> =
            oldest.iter().take(LOOKED_FOR).map(|(order, _)| order.to_string()).collect();
        if ids.is_empty() {
            last = Instant::now();
            thread::sleep(PAUSE);
            continue;
        }
        let path = format!(
            "/wc/v3/orders?per_page={LOOKED_FOR}&_fields=id,customer_note&include={}",
            ids.join(",")
        );
        let shown = copied.ask(&hub.running, &path)?;
        let seen = Instant::now();
        for order in shown.as_array().into_iter().flatten() {
            let Some(id) = order.get("id").and_then(Value::as_i64) else { continue };
            let note = order.get("customer_note").and_then(Value::as_str);
            if let Some((_, at)) =
                pending.get(&id).filter(|(wanted, _)| note == Some(wanted.as_str()))
            {
                latencies.push(seen.duration_since(*at));
                pending.remove(&id);
                last = seen;
            }
        }
        ensure!(last.elapsed() < SEEN_WITHIN, "{} changes were not seen", pending.len());
        thread::sleep(PAUSE);
    }
    latencies.sort();
    Ok(latencies)
}
