//! Cases that are worked out by hand.

use std::collections::BTreeSet;

use analytics::facts::{LineFact, LineNumber, OrderFact, OrderNumber, Writer};
use analytics::query::{
    Column, DateColumn, Filter, Group, Key, Measure, Per, Query, Scope, Span, Subject, Table, When,
};
use types::{Amount, Timestamp};

fn whole(amount: i64) -> Amount {
    Amount::from_whole(amount)
}

fn line(product_id: i64, variation_id: i64, quantity: i64, price: i64) -> LineFact {
    let net = whole(quantity * price);
    LineFact { product_id, variation_id, quantity, net, gross: net, ..LineFact::default() }
}

fn order(order_id: i64, lines: Vec<LineFact>) -> OrderFact {
    let net = lines.iter().map(|line| line.net).sum();
    OrderFact {
        order_id,
        created: Timestamp::from_micros(order_id),
        status: "completed".into(),
        customer_id: 1,
        merchant_id: format!("M{}", order_id % 2).into(),
        items: lines.iter().map(|line| line.quantity).sum(),
        total: net,
        net,
        lines,
        ..OrderFact::default()
    }
}

/// Three orders: four of one product with three of another's variation, five of that product, and
/// four of the first.
fn writer() -> Writer {
    let mut writer = Writer::new([]);
    let orders = [
        order(1, vec![line(1, 0, 4, 25), line(2, 21, 3, 23)]),
        order(2, vec![line(2, 21, 4, 23), line(2, 22, 1, 27)]),
        order(3, vec![line(1, 0, 4, 25)]),
    ];
    writer.apply(&BTreeSet::new(), &orders);
    writer
}

#[test]
fn orders_of_a_product_are_counted_and_averaged_once() {
    let query = Query {
        group: Group::Product,
        measures: vec![
            Measure::Distinct(Subject::Order, When::Always),
            Measure::Sum(Column::Line(LineNumber::Quantity), When::Always, Per::Row),
            Measure::Sum(Column::Line(LineNumber::Net), When::Always, Per::Row),
            Measure::Sum(Column::Order(OrderNumber::Items), When::Always, Per::Order),
            Measure::Sum(Column::Order(OrderNumber::Net), When::Always, Per::Order),
        ],
        ..Query::of(Table::Lines, DateColumn::Created, Span::ALWAYS)
    };
    let answer = writer().snapshot().answer(&Scope::everything(), &query);
    let money = |amount: i64| whole(amount).as_millionths();
    // On average 5.5 and 6 items, and 134.5 and 144 of net revenue.
    let expected =
        [(1, [2, 8, money(200), 11, money(269)]), (2, [2, 8, money(188), 12, money(288)])];
    for (product, values) in expected {
        assert_eq!(answer.get(0, &Key::Id(product)), Some(values.as_slice()), "{product}");
    }
    assert_eq!(answer.len(), 2);
}

#[test]
fn nobody_sees_what_is_beyond_their_scope() {
    let snapshot = writer().snapshot();
    let query = Query {
        filter: Filter::Any(vec![Filter::everything()]),
        measures: vec![Measure::Rows(When::Always)],
        ..Query::of(Table::Orders, DateColumn::Created, Span::ALWAYS)
    };
    let count = |scope: Scope| snapshot.answer(&scope, &query).totals(0).to_vec();
    let of = |merchants: &[&str]| {
        let merchants = merchants.iter().map(|id| (*id).to_owned()).collect();
        Scope::everything().of_merchants(merchants)
    };
    assert_eq!(count(Scope::everything()), [3]);
    assert_eq!(count(of(&["M1"])), [2]);
    assert_eq!(count(of(&["M1", "M0"])), [3]);
    assert_eq!(count(of(&["M9"])), [0]);
    assert_eq!(count(of(&[])), [0]);
    assert_eq!(count(of(&["M1"]).of_stores(vec!["S1".to_owned()])), [0]);
}

#[test]
fn no_facts_come_to_zeros() {
    let query = Query {
        bounds: [0, 10, 20].map(Timestamp::from_micros).to_vec(),
        measures: vec![
            Measure::Sum(Column::Order(OrderNumber::Total), When::Always, Per::Row),
            Measure::Distinct(Subject::Customer, When::Always),
        ],
        ..Query::of(Table::Orders, DateColumn::Paid, Span::ALWAYS)
    };
    let answer = Writer::default().snapshot().answer(&Scope::everything(), &query);
    assert_eq!(answer.len(), 2);
    assert_eq!((answer.totals(0), answer.totals(1)), ([0, 0].as_slice(), [0, 0].as_slice()));
}

#[test]
fn an_order_takes_few_bytes() {
    let orders: Vec<OrderFact> = (0..50_000)
        .map(|id| {
            let cents = |cents: i64| Amount::from_millionths(cents * 10_000);
            let line = |place: i64| LineFact {
                product_id: id * 7 % 1_000 + place,
                quantity: 1 + id % 3,
                net: cents(id * 37 % 20_000),
                gross: cents(id * 41 % 25_000) + Amount::from_millionths(id % 9),
                tax: cents(id % 900),
                shipping: Amount::from_millionths(id % 7_000_000),
                shipping_tax: Amount::from_millionths(id % 700_000),
                ..LineFact::default()
            };
            let created = Timestamp::from_micros(id * 9_000_000);
            OrderFact {
                order_id: 100 + id,
                created,
                paid: Some(created.plus(std::time::Duration::from_mins(1))),
                customer_id: 1 + id * 31 % 9_000,
                total: cents(id * 43 % 90_000),
                tax: cents(id * 3 % 9_000),
                net: cents(id * 39 % 80_000),
                status: "completed".into(),
                lines: (0..2 + id % 2).map(line).collect(),
                ..OrderFact::default()
            }
        })
        .collect();
    let mut writer = Writer::new([]);
    writer.apply(&BTreeSet::new(), &orders);
    let snapshot = writer.snapshot();
    assert_eq!((snapshot.orders(), snapshot.lines()), (50_000, 125_000));
    let bytes = snapshot.bytes() / snapshot.orders();
    assert!(bytes < 250, "{bytes} bytes per order");
}
