//! Random facts, put in and taken out in random order, and random questions about them: the answers
//! are those of the plain reading.

use std::collections::{BTreeMap, BTreeSet};

use analytics::facts::{OrderFact, OrderNumber, Snapshot, Writer};
use analytics::query::{
    Column, Group, Key, Measure, OrderSort, Paging, Per, Query, Scope, Table, When,
};
use proptest::prelude::*;

use crate::naive::{self, Naive, Rows};
use crate::random::{self, Dice, EXCLUDED};

const CASES: u32 = 3_000;
const QUERIES: usize = 4;

/// Facts that come and go. After each round `check` sees them, and what should be left of them.
fn facts(
    dice: &mut Dice,
    (count, rounds, chunk_rows): (i64, i64, usize),
    mut check: impl FnMut(&mut Dice, &Snapshot, &[OrderFact]) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut writer =
        Writer::new(EXCLUDED.iter().map(|status| (*status).to_owned())).with_chunks_of(chunk_rows);
    *writer.catalog_mut() = random::catalog();
    let mut left: BTreeMap<i64, OrderFact> = BTreeMap::new();
    for _ in 0..rounds {
        let facts: Vec<OrderFact> = (1..=count)
            .filter(|_| dice.is(60))
            .collect::<Vec<i64>>()
            .into_iter()
            .map(|id| random::order(dice, id))
            .collect();
        let mut deleted: BTreeSet<i64> = facts.iter().map(|fact| fact.order_id).collect();
        if dice.is(50) {
            deleted.insert(1 + dice.below(count));
            writer.replace(&deleted, &facts);
            left.retain(|id, _| !deleted.contains(id));
        } else {
            writer.apply(&deleted, &facts);
            left.retain(|id, fact| !deleted.contains(id) && !deleted.contains(&fact.parent_id));
        }
        left.extend(facts.into_iter().map(|fact| (fact.order_id, fact)));
        let expected = random::with_returning(left.values().cloned().collect());
        check(dice, &writer.snapshot(), &expected)?;
    }
    Ok(())
}

/// What the caller is bound to.
type Bound = (Option<Vec<String>>, Option<Vec<String>>);

/// Asks all these questions, each twice, and of another span.
fn check(
    dice: &mut Dice,
    snapshot: &Snapshot,
    facts: &[OrderFact],
    questions: &[(Query, Bound)],
) -> Result<(), TestCaseError> {
    let mut own: Vec<OrderFact> = snapshot.order_facts().collect();
    prop_assert!(own.is_sorted_by_key(|fact| (fact.created, fact.order_id)));
    own.sort_by_key(|fact| fact.order_id);
    prop_assert_eq!(&own, facts);
    for (query, (merchants, stores)) in questions {
        let naive = Naive {
            facts,
            catalog: snapshot.catalog(),
            scope: (merchants.clone(), stores.clone()),
        };
        let scope = naive::scope(merchants.clone(), stores.clone());
        let other = Query { span: random::query(dice).span, ..query.clone() };
        for query in [query, query, &other] {
            let answer = snapshot.answer(&scope, query);
            let rows: Rows = answer
                .rows()
                .map(|row| ((row.bucket, row.key.clone()), row.values.to_vec()))
                .collect();
            prop_assert_eq!(answer.len(), rows.len());
            prop_assert_eq!(&rows, &naive.answer(query), "{:#?} in {:?}", &query, &scope);
            for ((bucket, key), values) in &rows {
                prop_assert_eq!(answer.get(*bucket, key), Some(values.as_slice()));
            }
        }
        check_list(dice, snapshot, &scope, &naive, query.clone())?;
    }
    Ok(())
}

fn questions(dice: &mut Dice) -> Vec<(Query, Bound)> {
    (0..QUERIES).map(|_| (random::query(dice), random::scope(dice))).collect()
}

fn check_list(
    dice: &mut Dice,
    snapshot: &Snapshot,
    scope: &Scope,
    naive: &Naive<'_>,
    query: Query,
) -> Result<(), TestCaseError> {
    let query = Query { bounds: Vec::new(), ..query };
    let numbers = OrderNumber::ALL.iter().map(|number| OrderSort::Number(*number));
    let sorts: Vec<OrderSort> = numbers.chain([OrderSort::Date, OrderSort::Id]).collect();
    let sort = dice.of(&sorts);
    let mut expected = naive.list(&query);
    let total = expected.len();
    expected.sort_by_key(|fact| {
        let key = match sort {
            OrderSort::Date => naive::date(fact, query.date).unwrap().as_micros(),
            OrderSort::Number(number) => number.of(fact),
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

    /// In small chunks, so that parts of answers are kept from one round to the next.
    #[test]
    fn answers_are_those_of_a_plain_reading(seed: u64) {
        let mut dice = Dice::new(seed);
        let size = (1 + dice.below(60), 1 + dice.below(3), dice.of(&[1, 2, 8_192]));
        let asked = questions(&mut dice);
        facts(&mut dice, size, |dice, snapshot, facts| check(dice, snapshot, facts, &asked))?;
    }

    /// An order with its refunds is in one segment, whatever is asked.
    #[test]
    fn new_and_returning_customers_add_up_to_all(seed: u64) {
        let mut dice = Dice::new(seed);
        let size = (1 + dice.below(60), 1 + dice.below(3), dice.of(&[1, 8_192]));
        facts(&mut dice, size, |dice, snapshot, _| check_kinds(snapshot, &random::query(dice)))?;
    }
}

/// Sums over everything, and those of new and of returning customers.
fn check_kinds(snapshot: &Snapshot, query: &Query) -> Result<(), TestCaseError> {
    let sums = OrderNumber::ALL.iter().map(|number| Column::Order(*number));
    let sums = sums.map(|column| Measure::Sum(column, When::Always, Per::Row));
    let all = Query {
        table: Table::Orders,
        group: Group::None,
        measures: sums.into_iter().chain([Measure::Rows(When::Order)]).collect(),
        ..query.clone()
    };
    let kinds = Query { group: Group::CustomerType, ..all.clone() };
    let scope = Scope::everything();
    let (all, kinds) = (snapshot.answer(&scope, &all), snapshot.answer(&scope, &kinds));
    for row in all.rows() {
        let of_kind = |kind: bool| kinds.get(row.bucket, &Key::Returning(kind));
        let both = [of_kind(false), of_kind(true)];
        for (place, value) in row.values.iter().enumerate() {
            let sum: i64 = both.iter().flatten().map(|values| values[place]).sum();
            prop_assert_eq!(sum, *value, "{:#?}", query);
        }
    }
    Ok(())
}

/// So many that there are several chunks, each of several blocks, and several threads.
#[test]
fn answers_about_many_facts_are_right_too() {
    let mut dice = Dice::new(7);
    let asked = questions(&mut dice);
    let checked = facts(&mut dice, (30_000, 2, 2_048), |dice, snapshot, facts| {
        assert!(snapshot.orders() > 15_000);
        check(dice, snapshot, facts, &asked)
    });
    checked.unwrap();
}
