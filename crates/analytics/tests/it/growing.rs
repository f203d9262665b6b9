//! A shop that grows at the end, as shops do: now and then an order is late, changes, goes or is
//! refunded. After each turn, answers are those of a writer that was given all facts at once.

use std::collections::{BTreeMap, BTreeSet};

use analytics::facts::OrderNumber;
use analytics::facts::{OrderFact, Snapshot, Writer};
use analytics::query::{
    Column, DateColumn, Filter, Group, Measure, Per, Query, Scope, Span, Table, When,
};
use proptest::prelude::*;
use types::Timestamp;

use crate::naive::Rows;
use crate::random::{self, Dice, EXCLUDED};

const CASES: u32 = 150;
const TURNS: i64 = 30;
const QUESTIONS: usize = 3;

fn writer(chunk_rows: usize) -> Writer {
    let excluded = EXCLUDED.iter().map(|status| (*status).to_owned());
    let mut writer = Writer::new(excluded).with_chunks_of(chunk_rows);
    *writer.catalog_mut() = random::catalog();
    writer
}

/// A shop at one time.
struct Shop {
    writer: Writer,
    chunk_rows: usize,
    facts: BTreeMap<i64, OrderFact>,
    now: i64,
    last_id: i64,
}

impl Shop {
    fn new(chunk_rows: usize) -> Self {
        let writer = writer(chunk_rows);
        Self { writer, chunk_rows, facts: BTreeMap::new(), now: 0, last_id: 0 }
    }

    /// An order, or a refund of one, that was made at this time.
    fn order(dice: &mut Dice, order_id: i64, created: i64) -> OrderFact {
        let fact = random::order(dice, order_id);
        let since = created - fact.created.as_micros();
        let moved = |time: Timestamp| Timestamp::from_micros(time.as_micros() + since);
        OrderFact {
            created: Timestamp::from_micros(created),
            paid: fact.paid.map(moved),
            completed: fact.completed.map(moved),
            // Customers who come for the first time are among those who come again.
            customer_id: if dice.is(30) { order_id } else { fact.customer_id },
            ..fact
        }
    }

    /// Orders come, and in some turns others change or go.
    fn turn(&mut self, dice: &mut Dice) {
        let mut facts = Vec::new();
        for _ in 0..dice.below(10) {
            // Several are made at the same time, and some are late.
            self.now += dice.below(3) * 1_800_000_000;
            self.last_id += 1;
            let late = if dice.is(5) { dice.below(self.now + 1) } else { 0 };
            facts.push(Self::order(dice, self.last_id, self.now - late));
        }
        let mut deleted: BTreeSet<i64> = facts.iter().map(|fact| fact.order_id).collect();
        let with_refunds = dice.is(50);
        if dice.is(40) {
            let least = if dice.is(50) { 1 } else { (self.last_id - 20).max(1) };
            let greatest = (least + dice.below(30)).min(self.last_id);
            for order_id in least..=greatest {
                let Some(fact) = self.facts.get(&order_id).filter(|_| dice.is(40)) else {
                    continue;
                };
                deleted.insert(order_id);
                if dice.is(60) {
                    facts.push(Self::order(dice, order_id, fact.created.as_micros()));
                }
            }
        }
        if with_refunds {
            self.writer.apply(&deleted, &facts);
        } else {
            self.writer.replace(&deleted, &facts);
        }
        self.facts.retain(|id, fact| {
            let is_deleted =
                deleted.contains(id) || (with_refunds && deleted.contains(&fact.parent_id));
            !is_deleted
        });
        self.facts.extend(facts.into_iter().map(|fact| (fact.order_id, fact)));
    }

    /// The same facts, put in at once.
    fn made_at_once(&self) -> Snapshot {
        let mut writer = writer(self.chunk_rows);
        let facts: Vec<OrderFact> = self.facts.values().cloned().collect();
        writer.apply(&BTreeSet::new(), &facts);
        writer.snapshot()
    }
}

/// Random questions, and who is new, which depends on orders elsewhere.
fn questions(dice: &mut Dice) -> Vec<Query> {
    let mut questions: Vec<Query> = (0..QUESTIONS).map(|_| random::query(dice)).collect();
    let total = Column::Order(OrderNumber::Total);
    for (group, filter) in [
        (Group::CustomerType, Filter::everything()),
        (Group::None, Filter::CustomerType(false)),
        (Group::None, Filter::Returning(true)),
    ] {
        questions.push(Query {
            group,
            filter,
            measures: vec![
                Measure::Rows(When::Always),
                Measure::Sum(total, When::Always, Per::Order),
            ],
            ..Query::of(Table::Orders, DateColumn::Created, Span::ALWAYS)
        });
    }
    questions
}

fn rows(snapshot: &Snapshot, query: &Query) -> Rows {
    let answer = snapshot.answer(&Scope::everything(), query);
    answer.rows().map(|row| ((row.bucket, row.key.clone()), row.values.to_vec())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// All are asked the same in each turn, so that parts of answers are kept from one to the next.
    #[test]
    fn answers_are_those_of_facts_that_came_at_once(seed: u64) {
        let mut dice = Dice::new(seed);
        let mut shop = Shop::new(dice.of(&[1, 2, 5, 20, 60, 8_192]));
        let questions = questions(&mut dice);
        // Whoever holds an old snapshot goes on with it.
        let mut older = (shop.writer.snapshot(), shop.made_at_once());
        for _ in 0..TURNS {
            shop.turn(&mut dice);
            let (own, expected) = (shop.writer.snapshot(), shop.made_at_once());
            prop_assert!(own.order_facts().eq(expected.order_facts()));
            for query in &questions {
                prop_assert_eq!(rows(&own, query), rows(&expected, query), "{:#?}", query);
                prop_assert_eq!(rows(&older.0, query), rows(&older.1, query), "{:#?}", query);
            }
            if dice.is(50) {
                older = (own, expected);
            }
        }
    }
}
