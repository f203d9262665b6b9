//! Random facts in ClickHouse and random questions to it: the answers are those of the columns in
//! memory, which are those of a plain reading. Changes are made twice now and then, as after a
//! crash, and come to the same.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use analytics::clickhouse::{Cluster, ClusterWriter, Wanted};
use analytics::facts::{DownloadFact, IdSet, OrderFact, OrderNumber, OrderText, Snapshot, Writer};
use analytics::query::{
    Column, DateColumn, DownloadSort, Filter, Group, Measure, OrderSort, Paging, Per, Query, Scope,
    Span, Subject, Table, When,
};
use types::Timestamp;

use crate::naive;
use crate::random::{self, Dice, EXCLUDED};
use crate::shards;

/// Cases, rounds of changes in each, and questions in each round.
const CASES: u64 = 40;
const ROUNDS: i64 = 3;
const QUESTIONS: usize = 6;

/// No two cases use the same tables.
static GENERATION: AtomicI64 = AtomicI64::new(1);

/// Facts in both engines.
struct Both {
    memory: Writer,
    cluster: Arc<Cluster>,
    writer: ClusterWriter,
    position: i64,
}

impl Both {
    fn new(cluster: &Arc<Cluster>) -> Self {
        let generation = GENERATION.fetch_add(1, Ordering::Relaxed);
        let mut memory = Writer::new(excluded());
        *memory.catalog_mut() = random::catalog();
        let mut writer = ClusterWriter::create(cluster, generation).unwrap();
        let products: BTreeSet<i64> = (1..=4).collect();
        writer.put_products(&random::catalog(), &products, true).unwrap();
        cluster.set_generation(generation);
        Self { memory, cluster: Arc::clone(cluster), writer, position: 0 }
    }

    /// Makes a change, and now and then once more by another writer, who starts anew.
    fn change(&mut self, dice: &mut Dice, deleted: &BTreeSet<i64>, facts: &[OrderFact]) {
        self.position += 1;
        let with_refunds = dice.is(50);
        if with_refunds {
            self.memory.apply(deleted, facts);
        } else {
            self.memory.replace(deleted, facts);
        }
        for _ in 0..dice.of(&[1, 1, 2]) {
            self.writer = ClusterWriter::open(&self.cluster, self.writer.generation()).unwrap();
            self.writer.begin(self.position);
            let changed = if with_refunds {
                self.writer.apply(deleted, facts)
            } else {
                self.writer.replace(deleted, facts)
            };
            changed.unwrap();
        }
    }
}

fn excluded() -> Vec<String> {
    EXCLUDED.iter().map(|status| (*status).to_owned()).collect()
}

fn check(cluster: &Arc<Cluster>, cases: u64) {
    for seed in 0..cases {
        let mut dice = Dice::new(seed);
        let mut both = Both::new(cluster);
        let count = 1 + dice.below(60);
        for _ in 0..=dice.below(ROUNDS) {
            let ids: Vec<i64> = (1..=count).filter(|_| dice.is(60)).collect();
            let facts: Vec<OrderFact> =
                ids.into_iter().map(|id| random::order(&mut dice, id)).collect();
            let mut deleted: BTreeSet<i64> = facts.iter().map(|fact| fact.order_id).collect();
            deleted.insert(1 + dice.below(count));
            both.change(&mut dice, &deleted, &facts);
            let snapshot = both.memory.snapshot();
            for _ in 0..QUESTIONS {
                ask(&mut dice, cluster, &snapshot, seed);
            }
            list(&mut dice, cluster, &snapshot, seed);
            compare(cluster, &snapshot);
        }
    }
}

fn ask(dice: &mut Dice, cluster: &Cluster, snapshot: &Snapshot, seed: u64) {
    let query = random::query(dice);
    let (merchants, stores) = random::scope(dice);
    let scope = naive::scope(merchants, stores);
    let answer = cluster.answer(&scope, &query, &excluded());
    let answer = answer.unwrap_or_else(|error| panic!("{error:?} for {query:#?} ({seed})"));
    assert_eq!(answer, snapshot.answer(&scope, &query), "{query:#?} in {scope:?} ({seed})");
}

fn list(dice: &mut Dice, cluster: &Cluster, snapshot: &Snapshot, seed: u64) {
    let Query { date, span, filter, .. } = random::query(dice);
    let (merchants, stores) = random::scope(dice);
    let (scope, excluded) = (naive::scope(merchants, stores), excluded());
    let numbers = OrderNumber::ALL.iter().map(|number| OrderSort::Number(*number));
    let sorts: Vec<OrderSort> = numbers.chain([OrderSort::Date, OrderSort::Id]).collect();
    let sort = dice.of(&sorts);
    let (offset, limit) = (dice.below(30), dice.below(20));
    let paging = Paging {
        descending: dice.is(50),
        offset: usize::try_from(offset).unwrap(),
        limit: usize::try_from(limit).unwrap(),
    };
    let wanted = Wanted { scope: &scope, date, span, filter: &filter, excluded: &excluded };
    let page = cluster.list_orders(wanted, sort, paging).unwrap();
    let expected = snapshot.list_orders(&scope, (date, span), &filter, sort, paging);
    assert_eq!(page, expected, "{filter:#?} {sort:?} {paging:?} ({seed})");
    assert_eq!(
        cluster.refunded_orders(wanted).unwrap(),
        snapshot.refunded_orders(&scope, (date, span), &filter)
    );
    let ids: IdSet = (1..20).collect();
    assert_eq!(
        cluster.orders_with_ids(&scope, ids.clone(), &excluded).unwrap(),
        snapshot.orders_with_ids(&scope, ids)
    );
}

/// What is asked of facts besides questions.
fn compare(cluster: &Cluster, snapshot: &Snapshot) {
    assert_eq!(cluster.first_created().unwrap(), snapshot.first_created());
    let since = Timestamp::from_micros(5 * 86_400_000_000);
    assert_eq!(cluster.orders_since(since).unwrap(), snapshot.orders_since(since));
    assert_eq!(cluster.ids_between(3, 17).unwrap(), snapshot.ids_between(3, 17));
    let facts: Vec<OrderFact> = snapshot.order_facts().collect();
    let of_some = facts.iter().filter(|fact| [0, 3].contains(&fact.customer_id));
    let of_some: BTreeSet<i64> = of_some.map(|fact| fact.order_id).collect();
    assert_eq!(cluster.orders_of(&[0, 3].into()).unwrap(), of_some);
    let currencies: BTreeSet<String> = facts.iter().map(|fact| fact.currency.to_string()).collect();
    assert!(cluster.read_currencies().unwrap().is_superset(&currencies));
}

/// Downloads come, and those of some orders go.
fn check_downloads(cluster: &Arc<Cluster>) {
    let mut dice = Dice::new(3);
    let mut both = Both::new(cluster);
    let all: Vec<Arc<DownloadFact>> = (1..=60).map(|id| download(&mut dice, id)).collect();
    both.memory.add_downloads(all.clone());
    both.writer.begin(1);
    both.writer.add_downloads(&all).unwrap();
    both.writer.replace_downloads(&[1, 2].into(), &[]).unwrap();
    let left: Vec<Arc<DownloadFact>> =
        all.into_iter().filter(|own| ![1, 2].contains(&own.order_id)).collect();
    both.memory = Writer::new(excluded());
    both.memory.add_downloads(left);
    let snapshot = both.memory.snapshot();
    let measures = vec![
        Measure::Rows(When::Always),
        Measure::Rows(When::Refund),
        Measure::Distinct(Subject::Order, When::Always),
        Measure::Distinct(Subject::Product, When::NotNegative),
        Measure::Distinct(Subject::Customer, When::Always),
        Measure::Latest(DateColumn::Paid),
    ];
    let merchant = Group::Text(OrderText::Merchant);
    let ids: IdSet = (0..3).collect();
    let filters = [
        Filter::everything(),
        Filter::DownloadProduct(ids.clone()).negated(),
        Filter::DownloadOrder(ids.clone()),
        Filter::DownloadUser(ids),
        Filter::DownloadIp(vec!["10.0.0.1".to_owned()]),
        Filter::Kind(analytics::query::RowKind::Order),
    ];
    for filter in filters {
        for group in [Group::None, Group::Product, merchant, Group::Coupon] {
            let query = Query {
                bounds: [0, 20, 50].map(Timestamp::from_micros).to_vec(),
                filter: filter.clone(),
                group,
                measures: measures.clone(),
                ..Query::of(Table::Downloads, DateColumn::Created, Span::ALWAYS)
            };
            let scope = Scope::everything().of_stores(vec![String::new(), "S1".to_owned()]);
            let answer = cluster.answer(&scope, &query, &[]).unwrap();
            assert_eq!(answer, snapshot.answer(&scope, &query), "{query:#?}");
        }
        for (descending, sort) in [(true, DownloadSort::Date), (false, DownloadSort::Product)] {
            let (scope, paging) = (Scope::everything(), Paging { descending, offset: 3, limit: 9 });
            let page = cluster.list_downloads(&scope, Span::ALWAYS, &filter, sort, paging);
            let expected = snapshot.list_downloads(&scope, Span::ALWAYS, &filter, sort, paging);
            assert_eq!(page.unwrap(), expected);
        }
    }
}

fn download(dice: &mut Dice, log_id: i64) -> Arc<DownloadFact> {
    Arc::new(DownloadFact {
        log_id,
        at: Timestamp::from_micros(dice.below(60)),
        permission_id: dice.below(5),
        download_id: "file".to_owned(),
        product_id: dice.below(4),
        order_id: dice.below(6),
        user_id: dice.below(4),
        ip: dice.of(&["10.0.0.1", "::1"]).to_owned(),
        merchant_id: dice.of(&["", "M1"]).into(),
        store_id: dice.of(&["", "S1", "S2"]).into(),
    })
}

/// First orders of one moment, of early moments, and with ids of which one is written shorter.
fn check_first_orders(cluster: &Arc<Cluster>) {
    let mut both = Both::new(cluster);
    let mut dice = Dice::new(9);
    let order_ids = [1, 2, 9, 10, 255, 256, 257, 65_535, 65_536, 1 << 40];
    let moments = [i64::from(i32::MIN) * 1_000_000, -256, -1, 0, 255, 256, 1 << 50];
    let orders = moments.into_iter().zip(1_i64..).flat_map(|(at, customer_id)| {
        order_ids.map(|id| OrderFact {
            order_id: customer_id * (1 << 44) + id,
            parent_id: 0,
            created: Timestamp::from_micros(at),
            status: "completed".into(),
            customer_id,
            ..OrderFact::default()
        })
    });
    both.change(&mut dice, &BTreeSet::new(), &orders.collect::<Vec<_>>());
    let query = Query {
        group: Group::CustomerType,
        measures: vec![
            Measure::Rows(When::Always),
            Measure::Sum(Column::Order(OrderNumber::Total), When::Always, Per::Row),
        ],
        ..Query::of(Table::Orders, DateColumn::Created, Span::ALWAYS)
    };
    let (scope, snapshot) = (Scope::everything(), both.memory.snapshot());
    let answer = cluster.answer(&scope, &query, &excluded()).unwrap();
    assert_eq!(answer, snapshot.answer(&scope, &query));
    let ids: IdSet = snapshot.order_facts().map(|fact| fact.order_id).collect();
    let orders = cluster.orders_with_ids(&scope, ids.clone(), &excluded()).unwrap();
    assert_eq!(orders, snapshot.orders_with_ids(&scope, ids));
    let new = snapshot.order_facts().filter(|fact| fact.returning == Some(false));
    assert_eq!(new.count(), moments.len());
}

#[test]
fn answers_of_two_shards_are_those_of_memory() {
    let cluster = shards::debian();
    check_first_orders(&cluster);
    check(&cluster, CASES);
}

#[test]
fn answers_about_downloads_are_those_of_memory() {
    check_downloads(&shards::debian());
}

/// The same statements on the version of now, as one shard and as two.
#[test]
fn the_current_version_answers_alike() {
    for count in [1, 2] {
        let Some(cluster) = shards::current(count) else { return };
        check_first_orders(&cluster);
        check(&cluster, CASES);
        check_downloads(&cluster);
    }
}

/// Categories that products leave, and products that leave all of them.
#[test]
fn categories_follow_the_catalogue() {
    let cluster = shards::debian();
    let mut both = Both::new(&cluster);
    let mut dice = Dice::new(5);
    let facts: Vec<OrderFact> = (1..40).map(|id| random::order(&mut dice, id)).collect();
    both.change(&mut dice, &BTreeSet::new(), &facts);
    let catalog = both.memory.catalog_mut();
    catalog.put(1, vec![]);
    catalog.put(2, vec![5]);
    both.writer.put_products(catalog, &[2, 3].into(), true).unwrap();
    catalog.put(4, vec![]);
    let snapshot = both.memory.snapshot();
    for seed in 0..200 {
        let query = Query { table: Table::Lines, ..random::query(&mut Dice::new(seed)) };
        if matches!(query.group, Group::Category(_)) {
            let scope = Scope::everything();
            let answer = cluster.answer(&scope, &query, &excluded()).unwrap();
            assert_eq!(answer, snapshot.answer(&scope, &query), "{query:#?}");
        }
    }
}
