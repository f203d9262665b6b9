//! Bad days of facts in ClickHouse: a step that is interrupted anywhere, servers that are added,
//! exchanged or emptied.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use analytics::Facts;
use analytics::clickhouse::{Cluster, ClusterWriter, Shard};
use analytics::query::Scope;
use db::outbox::{self, Event};
use shop_rows::customer_lookup::{self, CustomerLookupRow};
use shop_rows::order;
use testkit::http::{self, Request};
use types::{Error, Kind, Result, Timestamp};

use crate::cluster_feed::{agrees, node};
use crate::records::{self, Records, answers};
use crate::shards;

/// Fails at one of the next changes: before it is made, or after.
#[derive(Debug)]
struct Brittle {
    inner: Box<dyn Shard>,
    /// Changes until then; nothing fails when there are none left.
    changes_left: Arc<AtomicI64>,
    is_late: bool,
}

impl Shard for Brittle {
    fn prepare(&self) -> Result<()> {
        self.inner.prepare()
    }

    fn send(&self, statement: &str, body: &[u8]) -> Result<Vec<u8>> {
        let is_change = statement.starts_with("INSERT");
        if !is_change || self.changes_left.fetch_sub(1, Ordering::SeqCst) != 1 {
            return self.inner.send(statement, body);
        }
        if self.is_late {
            self.inner.send(statement, body)?;
        }
        Err(Error::unavailable("broken"))
    }
}

fn brittle(changes_left: &Arc<AtomicI64>, is_late: bool) -> Arc<Cluster> {
    let servers = testkit::clickhouse::shared();
    let database = servers.database();
    let shard = |url: &String| -> Box<dyn Shard> {
        let (inner, changes_left) = (shards::shard_at(url, &database), Arc::clone(changes_left));
        Box::new(Brittle { inner, changes_left, is_late })
    };
    shards::cluster_of(servers.urls().iter().map(shard).collect())
}

/// Orders that were nobody's become those of a guest and of somebody who registers, a guest's
/// become theirs, one goes and one comes.
fn change_much(records: &Records) {
    records.change(|conn| {
        let customer = |user_id: Option<i64>, email: &str| CustomerLookupRow {
            user_id,
            email: email.to_owned(),
            ..CustomerLookupRow::default()
        };
        customer_lookup::find_or_insert(conn, &customer(None, "3@example.com"))?;
        customer_lookup::find_or_insert(conn, &customer(Some(5), "4@example.com"))?;
        let event = Event::of_site("customer.updated", 5, "{}".to_owned(), Timestamp::default());
        outbox::append(conn, &event)?;
        order::delete(conn, 9)?;
        let mut moved = order::get(conn, 12)?.unwrap();
        moved.created = Timestamp::from_micros(1);
        order::update(conn, &moved)?;
        Ok(vec![order::insert(conn, &records::order(3))?, 9, 12])
    });
}

#[test]
fn a_step_may_be_interrupted_anywhere() {
    for is_late in [false, true] {
        let changes_left = Arc::new(AtomicI64::new(0));
        let cluster = brittle(&changes_left, is_late);
        let records = Records::new();
        records.add(60);
        let (facts, _handle) = node(&records, &cluster);
        agrees(&records, &facts);
        for place in 1..9 {
            records.change(|conn| {
                // Nobody's again.
                for customer in customer_lookup::after(conn, 0, 10)? {
                    customer_lookup::delete(conn, customer.customer_id)?;
                }
                order::ids_naming(conn, Some(5), "4@example.com").and_then(|mut all| {
                    all.extend(order::ids_naming(conn, None, "3@example.com")?);
                    Ok(all)
                })
            });
            agrees(&records, &facts);
            changes_left.store(place, Ordering::SeqCst);
            change_much(&records);
            agrees(&records, &facts);
            assert!(changes_left.load(Ordering::SeqCst) <= 0, "it was interrupted");
            records.add(3);
            agrees(&records, &facts);
        }
    }
}

/// A row of an order that has gone arrives after its going: from somebody who stood still while
/// another took over. It does not stay.
#[test]
fn what_arrives_late_does_not_stay() {
    let cluster = shards::debian();
    let records = Records::new();
    records.add(60);
    let (facts, handle) = node(&records, &cluster);
    agrees(&records, &facts);
    let all = Scope::everything();
    let mut late = cluster.orders_with_ids(&all, [12].into_iter().collect(), &[]).unwrap();
    late[0].created = Timestamp::from_micros(late[0].created.as_micros() + 1);
    records.change(|conn| order::delete(conn, 12).map(|_| vec![12]));
    agrees(&records, &facts);
    drop(handle);
    let mut writer = ClusterWriter::open(&cluster, cluster.generation()).unwrap();
    writer.begin(records.head());
    writer.add(&late).unwrap();
    let (facts, _handle) = node(&records, &cluster);
    assert!(facts.wait_until_blocking(records.head(), Duration::from_mins(1)));
    let right = records.in_memory();
    assert_ne!(answers(&facts).unwrap(), right);
    let started = Instant::now();
    while answers(&facts).unwrap() != right {
        assert!(started.elapsed() < Duration::from_mins(2), "it stays");
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// A shard more, and then all in another order: facts are made anew, and none count twice.
#[test]
fn other_shards_are_filled_anew() {
    let servers = testkit::clickhouse::Shards::start(3).unwrap();
    let mut urls = servers.urls();
    let records = Records::new();
    records.add(60);
    let generation = {
        let two = shards::cluster_at(&urls[..2], "grown");
        let (facts, _handle) = node(&records, &two);
        agrees(&records, &facts);
        two.generation()
    };
    let of_three = {
        let three = shards::cluster_at(&urls, "grown");
        let (facts, _handle) = node(&records, &three);
        agrees(&records, &facts);
        three.generation()
    };
    assert!(of_three > generation);
    urls.rotate_left(1);
    let turned = shards::cluster_at(&urls, "grown");
    let (facts, _handle) = node(&records, &turned);
    agrees(&records, &facts);
    assert!(turned.generation() > of_three);
    records.add(5);
    agrees(&records, &facts);
}

#[test]
fn one_server_is_not_taken_for_two() {
    let servers = testkit::clickhouse::shared();
    let (url, database) = (&servers.urls()[0], servers.database());
    let records = Records::new();
    records.add(10);
    let facts = Facts::on(shards::cluster_at(&[url.clone(), url.clone()], &database));
    let refused = analytics::feed::rebuild(&records.store, &facts, 100, &mut |_, _| {});
    assert_eq!(refused.unwrap_err().kind(), Kind::Invalid);
}

/// Beside a node that answers, a server loses everything. Nobody is told a smaller sum meanwhile.
#[test]
fn an_emptied_shard_is_filled_again() {
    let servers = testkit::clickhouse::shared();
    let database = servers.database();
    let cluster = shards::cluster_at(&servers.urls(), &database);
    let records = Records::new();
    records.add(80);
    let (facts, _handle) = node(&records, &cluster);
    agrees(&records, &facts);
    let (right, before) = (records.in_memory(), cluster.generation());
    let drop = Request::new("POST", "/").body(format!("DROP DATABASE {database}"));
    assert_eq!(http::send(&servers.urls()[1], &drop).unwrap().status, 200);
    let started = Instant::now();
    loop {
        match answers(&facts) {
            Ok(told) => assert_eq!(told, right),
            Err(error) => assert_eq!(error.kind(), Kind::Unavailable, "{}", error.report()),
        }
        if cluster.generation() > before {
            break;
        }
        assert!(started.elapsed() < Duration::from_mins(1), "nobody fills it");
    }
    agrees(&records, &facts);
}
