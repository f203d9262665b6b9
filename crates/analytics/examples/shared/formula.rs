//! Orders made by a formula that SQL can calculate as well, and twelve questions about them: what
//! reports from memory and from `ClickHouse` are measured with.

use std::sync::Arc;

use analytics::facts::{
    Catalog, CouponFact, LineFact, LineNumber, OrderFact, OrderNumber, OrderText, TaxFact,
};
use analytics::query::{
    Column, DateColumn, Filter, Group, IdSet, LineTest, Measure, Per, Query, RollUp, Span, Subject,
    Table, When,
};
use types::{Amount, Timestamp};

/// Orders lie in this many days, ending at the end of 2026.
pub(crate) const DAYS: i64 = 3 * 365;
pub(crate) const DAY: i64 = 86_400;
/// The first second of 2024.
pub(crate) const START: i64 = 1_704_067_200;
pub(crate) const PRODUCTS: i64 = 2_000;
pub(crate) const CATEGORIES: i64 = 50;
/// The status of orders that no question counts.
pub(crate) const EXCLUDED: &str = "pending";
/// Rows made together.
const BATCH: i64 = 200_000;

/// A number that looks random and that SQL can calculate as well: no bit operations, no overflow.
pub(crate) fn mix(number: i64, salt: i64) -> i64 {
    let spread = number % 1_000_003 * 7_919 + salt * 104_729;
    (spread % 998_244_353) * 31 % 1_000_000_007
}

/// Far from the ids of orders that a server makes on top of these.
pub(crate) const FIRST_ID: i64 = 1_000_000_000;

/// How many orders there are, and of how many customers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) orders: i64,
    pub(crate) customers: i64,
}

impl Shape {
    pub(crate) fn of(orders: i64) -> Self {
        Self { orders, customers: (orders / 8).max(1) }
    }

    pub(crate) fn created(&self, order: i64) -> i64 {
        START + order * (DAYS * DAY) / self.orders
    }

    pub(crate) fn status(order: i64) -> usize {
        match mix(order, 1) % 100 {
            0..70 => 0,
            70..90 => 1,
            90..95 => 2,
            _ => 3,
        }
    }

    pub(crate) fn lines(order: i64) -> i64 {
        2 + order % 2
    }

    pub(crate) fn product(order: i64, line: i64) -> i64 {
        1 + mix(order * 3 + line, 2) % PRODUCTS
    }

    pub(crate) fn quantity(order: i64, line: i64) -> i64 {
        1 + mix(order * 3 + line, 3) % 3
    }

    pub(crate) fn price_cents(order: i64, line: i64) -> i64 {
        199 + mix(order * 3 + line, 4) % 20_000
    }

    pub(crate) fn net_cents(order: i64) -> i64 {
        (0..Self::lines(order))
            .map(|line| Self::quantity(order, line) * Self::price_cents(order, line))
            .sum()
    }

    pub(crate) fn tax_cents(order: i64) -> i64 {
        Self::net_cents(order) * 8 / 100
    }

    pub(crate) fn has_coupon(order: i64) -> bool {
        mix(order, 5) % 5 == 0
    }

    /// All orders, so many at a time.
    pub(crate) fn batches(&self) -> impl Iterator<Item = Vec<OrderFact>> + '_ {
        let statuses: [Arc<str>; 4] =
            ["completed", "processing", "on-hold", EXCLUDED].map(Arc::from);
        let firsts = (0..self.orders).step_by(usize::try_from(BATCH).unwrap_or(1));
        firsts.map(move |first| {
            let last = (first + BATCH).min(self.orders);
            (first..last).map(|order| self.fact(order, &statuses)).collect()
        })
    }

    pub(crate) fn fact(&self, order: i64, statuses: &[Arc<str>]) -> OrderFact {
        let cents = |cents: i64| Amount::from_millionths(cents * 10_000);
        let at = |second: i64| Timestamp::from_micros(second * 1_000_000);
        let created = self.created(order);
        let (net, tax, shipping) = (Self::net_cents(order), Self::tax_cents(order), 795);
        let items = (0..Self::lines(order)).map(|line| Self::quantity(order, line)).sum::<i64>();
        let line = |line: i64| {
            let quantity = Self::quantity(order, line);
            let net = quantity * Self::price_cents(order, line);
            let share = Amount::from_millionths(shipping * 10_000 * quantity / items);
            LineFact {
                product_id: Self::product(order, line),
                quantity,
                net: cents(net),
                tax: cents(net * 8 / 100),
                gross: cents(net + net * 8 / 100) + share,
                shipping: share,
                ..LineFact::default()
            }
        };
        let rate = 1 + mix(order, 6) % 10;
        let paid = created + mix(order, 7) % 7_200;
        let status = Self::status(order);
        OrderFact {
            order_id: FIRST_ID + order,
            created: at(created),
            paid: (status != 3).then(|| at(paid)),
            completed: (status == 0).then(|| at(paid + DAY)),
            status: statuses[status].clone(),
            customer_id: 1 + mix(order, 8) % self.customers,
            items,
            total: cents(net + tax + shipping),
            tax: cents(tax),
            shipping: cents(shipping),
            net: cents(net),
            lines: (0..Self::lines(order)).map(line).collect(),
            coupons: Self::has_coupon(order)
                .then(|| CouponFact { coupon_id: 1 + mix(order, 9) % 40, discount: cents(500) })
                .into_iter()
                .collect(),
            taxes: vec![TaxFact {
                rate_id: rate,
                code: format!("US-{rate}").into(),
                percent: Amount::from_whole(8),
                of_goods: cents(tax),
                of_shipping: Amount::ZERO,
            }],
            ..OrderFact::default()
        }
    }
}

/// All time, and the last 30 days of it.
pub(crate) fn spans() -> [(&'static str, Span); 2] {
    let at = |day: i64| Timestamp::from_micros((START + day * DAY) * 1_000_000);
    let since = |day: i64| Span { from: at(day), until: at(DAYS) };
    [("all", since(0)), ("30 days", since(DAYS - 30))]
}

/// Products, each in one category.
pub(crate) fn catalog() -> Catalog {
    let parents = (1..=CATEGORIES).map(|category| (category, category / 10)).collect();
    let mut catalog = Catalog::new(parents);
    for product in 1..=PRODUCTS {
        catalog.put(product, vec![1 + product % CATEGORIES]);
    }
    catalog
}

/// The twelve questions, each over all time and over the last 30 days.
pub(crate) fn questions(span: Span) -> Vec<(&'static str, Query)> {
    let sum = |column| Measure::Sum(column, When::Always, Per::Row);
    let orders = Measure::Distinct(Subject::Order, When::NotNegative);
    let revenue = vec![
        Measure::Rows(When::Order),
        sum(Column::Order(OrderNumber::Items)),
        sum(Column::Order(OrderNumber::Total)),
        sum(Column::Order(OrderNumber::Tax)),
        sum(Column::Order(OrderNumber::Shipping)),
        sum(Column::Order(OrderNumber::Net)),
    ];
    let days: Vec<Timestamp> = (0..=DAYS)
        .map(|day| Timestamp::from_micros((START + day * DAY) * 1_000_000))
        .filter(|bound| *bound >= span.from && *bound <= span.until)
        .collect();
    let sales =
        vec![sum(Column::Line(LineNumber::Quantity)), sum(Column::Line(LineNumber::Net)), orders];
    let of = |table, date, group, measures: &[Measure]| Query {
        filter: Filter::Not(Box::new(Filter::Text(OrderText::Status, vec![EXCLUDED.to_owned()]))),
        group,
        measures: measures.to_vec(),
        ..Query::of(table, date, span)
    };
    let some: IdSet = (1..=20).collect();
    let (paid, created) = (DateColumn::Paid, DateColumn::Created);
    let by_day = |query: Query| Query { bounds: days.clone(), ..query };
    let with_products = |query: Query| {
        let filter = query.filter.clone().and(Filter::HasLine(LineTest::Product(some.clone())));
        Query { filter, ..query }
    };
    let customers = [Measure::Distinct(Subject::Customer, When::Always)];
    vec![
        ("revenue totals", of(Table::Orders, paid, Group::None, &revenue)),
        ("revenue by day", by_day(of(Table::Orders, paid, Group::None, &revenue))),
        ("distinct customers", of(Table::Orders, paid, Group::None, &customers)),
        ("orders with 20 products", with_products(of(Table::Orders, paid, Group::None, &revenue))),
        ("new and returning", of(Table::Orders, paid, Group::CustomerType, &revenue)),
        ("sales totals", of(Table::Lines, created, Group::None, &sales)),
        ("sales by day", by_day(of(Table::Lines, created, Group::None, &sales))),
        ("products", of(Table::Lines, created, Group::Product, &sales)),
        ("categories", of(Table::Lines, created, Group::Category(RollUp::Direct), &sales)),
        (
            "coupons",
            of(
                Table::Coupons,
                created,
                Group::Coupon,
                &[sum(Column::CouponDiscount), Measure::Distinct(Subject::Order, When::Always)],
            ),
        ),
        (
            "taxes",
            of(
                Table::Taxes,
                paid,
                Group::TaxCode,
                &[sum(Column::TaxOfBoth), Measure::Distinct(Subject::Order, When::Order)],
            ),
        ),
        (
            "customers",
            of(
                Table::Orders,
                created,
                Group::Customer,
                &[Measure::Rows(When::Order), sum(Column::Order(OrderNumber::Total))],
            ),
        ),
    ]
}
