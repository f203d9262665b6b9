//! The feed of facts in ClickHouse: nodes that share the work, changes that are followed, a fill
//! that is continued, a shard that goes away. What comes of it is what the facts in memory say.

use std::sync::Arc;
use std::time::Duration;

use analytics::Facts;
use analytics::clickhouse::Cluster;
use analytics::feed::{self, FeedHandle, Portion};
use shop_rows::order;
use types::{Amount, Kind, Timestamp};

use crate::records::{Records, answers};
use crate::shards;

/// A node of its own, and its thread.
pub(crate) fn node(records: &Records, cluster: &Arc<Cluster>) -> (Arc<Facts>, FeedHandle) {
    let facts = Arc::new(Facts::on(Arc::clone(cluster)));
    let handle = feed::start(records.store.clone(), &facts, None).unwrap();
    (facts, handle)
}

#[track_caller]
pub(crate) fn agrees(records: &Records, facts: &Facts) {
    let is_there = facts.wait_until_blocking(records.head(), Duration::from_mins(1));
    assert!(is_there, "{:?} of {}", facts.position(), records.head());
    assert_eq!(answers(facts).unwrap(), records.in_memory());
}

/// Two nodes, of which one brings facts there; when it ends, the other goes on.
#[test]
fn nodes_take_turns_and_follow_every_change() {
    let records = Records::new();
    records.add(50);
    let shards = testkit::clickhouse::shared();
    let database = shards.database();
    let clusters = [(); 2].map(|()| shards::cluster_at(&shards.urls(), &database));
    let (one, of_one) = node(&records, &clusters[0]);
    let (other, _of_other) = node(&records, &clusters[1]);
    agrees(&records, &one);
    agrees(&records, &other);
    records.change(|conn| {
        let mut row = order::get(conn, 3)?.unwrap();
        row.total += Amount::ONE;
        row.created = Timestamp::from_micros(5);
        row.billing_email = "9@example.com".to_owned();
        order::update(conn, &row)?;
        order::delete(conn, 7)?;
        Ok(vec![3, 7])
    });
    agrees(&records, &one);
    agrees(&records, &other);
    drop(of_one);
    records.add(20);
    agrees(&records, &other);
    // Facts that were forgotten and made anew on demand.
    records.change(|conn| {
        feed::ask_to_clear(conn, Timestamp::default())?;
        Ok(Vec::new())
    });
    other.wait_until_blocking(records.head(), Duration::from_mins(1));
    assert_eq!(other.view(Vec::new()).orders_since(Timestamp::from_micros(0)).unwrap(), 0);
    records.change(|conn| {
        let everything =
            Portion { after: 0, through: i64::MAX, since_us: None, skips_existing: false };
        feed::ask(conn, &everything, Timestamp::default())?;
        Ok(Vec::new())
    });
    agrees(&records, &other);
    assert_eq!(other.snapshot().orders(), 0, "a node keeps no order");
}

/// A fill that ends in the middle is continued, and one beside a node replaces what is there.
#[test]
fn a_fill_is_continued_where_it_ended() {
    let records = Records::new();
    records.add(1_200);
    let cluster = shards::debian();
    let interrupted = Facts::on(Arc::clone(&cluster));
    let stop = |_: u64, _: u64| interrupted.stop();
    let ended = feed::rebuild(&records.store, &interrupted, 100, &mut { stop });
    assert_eq!(ended.unwrap_err().kind(), Kind::Unavailable);
    let facts = Arc::new(Facts::on(Arc::clone(&cluster)));
    let mut told = Vec::new();
    let read = feed::rebuild(&records.store, &facts, 100, &mut |done, all| told.push((done, all)));
    assert_eq!(read.unwrap(), 700, "the first 500 were there");
    assert_eq!(told.last(), Some(&(700, 1_200)));
    feed::load(records.store.clone(), &facts, None).unwrap();
    assert_eq!(answers(&facts).unwrap(), records.in_memory());
    // Once more, beside a node that reads them.
    let (node, _handle) = node(&records, &cluster);
    agrees(&records, &node);
    let before = cluster.generation();
    let again = feed::rebuild(&records.store, &facts, 1_000, &mut |_, _| {});
    assert_eq!(again.unwrap(), 1_200);
    for _ in 0..600 {
        if cluster.generation() > before {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(cluster.generation() > before);
    records.add(5);
    agrees(&records, &node);
}

/// No question is answered by some shards only.
#[test]
fn a_shard_that_is_away_makes_no_smaller_sum() {
    let mut servers = testkit::clickhouse::Shards::start(2).unwrap();
    let records = Records::new();
    records.add(40);
    let cluster = shards::cluster_at(&servers.urls(), "away");
    let (facts, _handle) = node(&records, &cluster);
    agrees(&records, &facts);
    servers.kill(1);
    assert_eq!(answers(&facts).unwrap_err().kind(), Kind::Unavailable);
    // What changes meanwhile is not lost, and the node says how late it is.
    records.add(10);
    std::thread::sleep(Duration::from_secs(1));
    assert!(facts.position().unwrap() < records.head());
    assert!(facts.lag().unwrap() > Duration::ZERO);
    assert_eq!(answers(&facts).unwrap_err().kind(), Kind::Unavailable);
    servers.resume(1).unwrap();
    agrees(&records, &facts);
}
