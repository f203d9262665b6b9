//! A database of records, and some questions about them.

use std::sync::Arc;

use analytics::Facts;
use analytics::facts::{OrderNumber, OrderText};
use analytics::feed::Feed;
use analytics::query::{
    Answer, Column, DateColumn, Group, Measure, Per, Query, Scope, Span, Subject, Table, When,
};
use db::outbox::{self, Event};
use db::{Conn, Database, Location};
use shop_rows::order::{self, ItemKind, Order, OrderItemRow, OrderRow};
use types::{Amount, Result, Timestamp};

/// A database of records.
pub(crate) struct Records {
    pub(crate) store: Database,
    _folder: tempfile::TempDir,
}

impl Records {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::File(folder.path().join("site.db"));
        let store = Database::open(&location, schema::MIGRATIONS).unwrap();
        Self { store, _folder: folder }
    }

    /// Changes records, tells of these orders, and numbers the events.
    pub(crate) fn change(
        &self,
        change: impl Fn(&mut dyn Conn) -> Result<Vec<i64>> + Send + 'static,
    ) {
        let changed = self.store.write_blocking(move |conn| {
            for id in change(conn)? {
                let at = Timestamp::from_micros(id);
                outbox::append(conn, &Event::of_site("order.updated", id, "{}".to_owned(), at))?;
            }
            outbox::sequence(conn, 10_000).map(drop)
        });
        changed.unwrap();
    }

    pub(crate) fn add(&self, count: i64) {
        self.change(move |conn| (0..count).map(|seed| order::insert(conn, &order(seed))).collect());
    }

    pub(crate) fn head(&self) -> i64 {
        self.store.read_blocking(outbox::head).unwrap()
    }

    /// What facts in memory say.
    pub(crate) fn in_memory(&self) -> Vec<Answer> {
        let facts = Arc::new(Facts::default());
        Feed::open(self.store.clone(), Arc::clone(&facts), None).unwrap();
        assert!(facts.snapshot().orders() >= 40, "no record is left out");
        answers(&facts).unwrap()
    }
}

pub(crate) fn order(seed: i64) -> Order {
    let cents = |cents: i64| Amount::from_millionths(cents * 10_000);
    let item = OrderItemRow {
        kind: ItemKind::Line,
        product_id: 1 + seed % 5,
        quantity: Amount::from_whole(1 + seed % 3),
        total: cents(100 + seed),
        subtotal: cents(110 + seed),
        details: "{}".to_owned(),
        ..OrderItemRow::default()
    };
    let row = OrderRow {
        status: ["completed", "processing", "cancelled"][usize::try_from(seed % 3).unwrap()].into(),
        currency: "USD".to_owned(),
        billing_email: format!("{}@example.com", seed % 7),
        total: cents(100 + seed),
        created: Timestamp::from_micros(seed * 3_600_000_000),
        merchant_id: (seed % 2 == 0).then(|| "M1".to_owned()),
        details: "{}".to_owned(),
        ..OrderRow::default()
    };
    Order { row, items: vec![item] }
}

/// Some questions, and what they come to.
pub(crate) fn answers(facts: &Facts) -> Result<Vec<Answer>> {
    let of = |table: Table, group: Group| Query {
        group,
        measures: vec![
            Measure::Rows(When::Always),
            Measure::Sum(Column::Order(OrderNumber::Total), When::Always, Per::Order),
            Measure::Distinct(Subject::Customer, When::Always),
            Measure::Distinct(Subject::Product, When::Always),
        ],
        ..Query::of(table, DateColumn::Created, Span::ALWAYS)
    };
    let queries = [
        of(Table::Orders, Group::None),
        of(Table::Orders, Group::CustomerType),
        of(Table::Orders, Group::Text(OrderText::Merchant)),
        of(Table::Lines, Group::Product),
    ];
    let view = facts.view(vec!["cancelled".to_owned()]);
    queries.iter().map(|query| view.answer(&Scope::everything(), query)).collect()
}
