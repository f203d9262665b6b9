//! Random facts, put in and taken out in random order, and random questions about them: the answers
//! are those of the plain reading.

use std::collections::{BTreeMap, BTreeSet};

use analytics::facts::{OrderFact, Snapshot, Writer};
use analytics::query::{OrderSort, Paging, Query};
use proptest::prelude::*;

use crate::naive::{self, Naive, Rows};
use crate::random::{self, Dice, EXCLUDED};

const CASES: u32 = 3_000;
const QUERIES: usize = 4;

/// Facts that came and went, and what is left of them.
fn facts(dice: &mut Dice, count: i64, rounds: i64) -> (Snapshot, Vec<OrderFact>) {
    let mut writer = Writer::new(EXCLUDED.iter().map(|status| (*status).to_owned()));
    *writer.catalog_mut() = random::catalog();
    let mut left: BTreeMap<i64, OrderFact> = BTreeMap::new();
    for _ in 0..rounds {
        let facts: Vec<OrderFact> = (1..=count)
            .filter(|_| dice.is(60))
            .collect::<Vec<i64>>()
            .into_iter()
            .map(|id| random::order(dice, id))
            .collect();
        let mut gone: BTreeSet<i64> = facts.iter().map(|fact| fact.order_id).collect();
        if dice.is(50) {
            gone.insert(1 + dice.below(count));
            writer.replace(&gone, &facts);
            left.retain(|id, _| !gone.contains(id));
        } else {
            writer.apply(&gone, &facts);
            left.retain(|id, fact| !gone.contains(id) && !gone.contains(&fact.parent_id));
        }
        left.extend(facts.into_iter().map(|fact| (fact.order_id, fact)));
    }
    (writer.snapshot(), random::with_returning(left.into_values().collect()))
}

fn check(dice: &mut Dice, snapshot: &Snapshot, facts: &[OrderFact]) -> Result<(), TestCaseError> {
    let mut own: Vec<OrderFact> = snapshot.order_facts().collect();
    prop_assert!(own.is_sorted_by_key(|fact| (fact.created, fact.order_id)));
    own.sort_by_key(|fact| fact.order_id);
    prop_assert_eq!(&own, facts);
    for _ in 0..QUERIES {
        let query = random::query(dice);
        let (merchants, stores) = random::scope(dice);
        let naive = Naive {
            facts,
            catalog: snapshot.catalog(),
            scope: (merchants.clone(), stores.clone()),
        };
        let scope = naive::scope(merchants, stores);
        let answer = snapshot.answer(&scope, &query);
        let rows: Rows =
            answer.rows().map(|row| ((row.bucket, row.key.clone()), row.values.to_vec())).collect();
        prop_assert_eq!(answer.len(), rows.len());
        prop_assert_eq!(&rows, &naive.answer(&query), "{:#?} in {:?}", &query, scope);
        for ((bucket, key), values) in &rows {
            prop_assert_eq!(answer.get(*bucket, key), Some(values.as_slice()));
        }
        check_list(dice, snapshot, &scope, &naive, query)?;
    }
    Ok(())
}

fn check_list(
    dice: &mut Dice,
    snapshot: &Snapshot,
    scope: &analytics::query::Scope,
    naive: &Naive<'_>,
    query: Query,
) -> Result<(), TestCaseError> {
    let query = Query { bounds: Vec::new(), ..query };
    let sorts =
        [OrderSort::Date, OrderSort::Items, OrderSort::Net, OrderSort::Total, OrderSort::Id];
    let sort = dice.of(&sorts);
    let mut expected = naive.list(&query);
    let total = expected.len();
    expected.sort_by_key(|fact| {
        let key = match sort {
            OrderSort::Date => naive::date(fact, query.date).unwrap().as_micros(),
            OrderSort::Items => fact.items,
            OrderSort::Net => fact.net.as_millionths(),
            OrderSort::Total => fact.total.as_millionths(),
            OrderSort::Id => fact.order_id,
        };
        (key, fact.order_id)
    });
    let (offset, limit) = (dice.below(30), dice.below(20));
    let paging = Paging {
        descending: dice.is(50),
        offset: usize::try_from(offset).unwrap(),
        limit: usize::try_from(limit).unwrap(),
    };
    if paging.descending {
        expected.reverse();
    }
    let expected: Vec<OrderFact> =
        expected.into_iter().skip(paging.offset).take(paging.limit).cloned().collect();
    let page = snapshot.list_orders(scope, (query.date, query.span), &query.filter, sort, paging);
    prop_assert_eq!(page.total, total);
    prop_assert_eq!(page.orders, expected, "{:?} {:?} {:#?}", sort, paging, query);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn answers_are_those_of_a_plain_reading(seed: u64) {
        let mut dice = Dice::new(seed);
        let (count, rounds) = (1 + dice.below(40), 1 + dice.below(3));
        let (snapshot, facts) = facts(&mut dice, count, rounds);
        check(&mut dice, &snapshot, &facts)?;
    }
}

/// So many that there are several chunks, each of several blocks, and several threads.
#[test]
fn answers_about_many_facts_are_right_too() {
    let mut dice = Dice::new(7);
    let (snapshot, facts) = facts(&mut dice, 30_000, 2);
    assert!(snapshot.orders() > 20_000);
    for _ in 0..3 {
        check(&mut dice, &snapshot, &facts).unwrap();
    }
}
