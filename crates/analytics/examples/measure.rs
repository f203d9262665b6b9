//! Measures reports at memory speed: makes facts by a formula, asks twelve questions of them, and
//! goes through plain arrays of the same numbers for four of them, as the limit.
//!
//! `cargo xtask bench reports` runs it, and lets DuckDB answer the same questions about the same
//! formula. The output is one JSON object for each line. With the data folder of a site as second
//! argument the facts become those of the site's next start, and nothing is asked.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measurement prints, stops when something is wrong, and its loops are plain"
)]

use std::collections::BTreeSet;
use std::hint::black_box;
use std::num::NonZero;
use std::path::Path;
use std::thread;
use std::time::Instant;

use analytics::facts::{
    CouponFact, LineFact, LineNumber, OrderFact, OrderNumber, OrderText, TaxFact, Writer,
};
use analytics::query::{
    Column, DateColumn, Filter, Group, IdSet, LineTest, Measure, Per, Query, RollUp, Scope, Span,
    Subject, Table, When,
};
use db::{Database, Location};
use types::{Amount, Environment, Timestamp};

/// Orders lie in this many days, ending at the end of 2026.
const DAYS: i64 = 3 * 365;
const DAY: i64 = 86_400;
/// The first second of 2024.
const START: i64 = 1_704_067_200;
const PRODUCTS: i64 = 2_000;
const CATEGORIES: i64 = 50;
/// Rows made together.
const BATCH: i64 = 200_000;
/// How often each question is asked.
const ROUNDS: usize = 9;

/// A number that looks random and that SQL can calculate as well: no bit operations, no overflow.
fn mix(number: i64, salt: i64) -> i64 {
    let spread = number % 1_000_003 * 7_919 + salt * 104_729;
    (spread % 998_244_353) * 31 % 1_000_000_007
}

/// Far from the ids of orders that a server makes on top of these.
const FIRST_ID: i64 = 1_000_000_000;

struct Shape {
    orders: i64,
    customers: i64,
}

impl Shape {
    fn created(&self, order: i64) -> i64 {
        START + order * (DAYS * DAY) / self.orders
    }

    fn status(order: i64) -> usize {
        match mix(order, 1) % 100 {
            0..70 => 0,
            70..90 => 1,
            90..95 => 2,
            _ => 3,
        }
    }

    fn lines(order: i64) -> i64 {
        2 + order % 2
    }

    fn product(order: i64, line: i64) -> i64 {
        1 + mix(order * 3 + line, 2) % PRODUCTS
    }

    fn quantity(order: i64, line: i64) -> i64 {
        1 + mix(order * 3 + line, 3) % 3
    }

    fn price_cents(order: i64, line: i64) -> i64 {
        199 + mix(order * 3 + line, 4) % 20_000
    }

    fn net_cents(order: i64) -> i64 {
        (0..Self::lines(order))
            .map(|line| Self::quantity(order, line) * Self::price_cents(order, line))
            .sum()
    }

    fn tax_cents(order: i64) -> i64 {
        Self::net_cents(order) * 8 / 100
    }

    fn has_coupon(order: i64) -> bool {
        mix(order, 5) % 5 == 0
    }

    fn fact(&self, order: i64, statuses: &[std::sync::Arc<str>]) -> OrderFact {
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

fn facts(shape: &Shape) -> Writer {
    let statuses = ["completed", "processing", "on-hold", "pending"].map(std::sync::Arc::from);
    let mut writer = Writer::new(["pending".to_owned()]);
    let parents = (1..=CATEGORIES).map(|category| (category, category / 10)).collect();
    *writer.catalog_mut() = analytics::facts::Catalog::new(parents);
    for product in 1..=PRODUCTS {
        writer.catalog_mut().put(product, vec![1 + product % CATEGORIES]);
    }
    let mut first = 0;
    while first < shape.orders {
        let last = (first + BATCH).min(shape.orders);
        let rows: Vec<OrderFact> =
            (first..last).map(|order| shape.fact(order, &statuses)).collect();
        writer.apply(&BTreeSet::new(), &rows);
        first = last;
    }
    writer
}

/// The twelve questions, each over all time and over the last 30 days.
fn questions(span: Span) -> Vec<(&'static str, Query)> {
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
        filter: Filter::Not(Box::new(Filter::Text(OrderText::Status, vec!["pending".to_owned()]))),
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

/// Milliseconds, the median of several times; getting ready does not count.
fn timed(get_ready: impl Fn(), run: impl Fn()) -> f64 {
    run();
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            get_ready();
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1_000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}

/// The same numbers as plain arrays.
struct Plain {
    status: Vec<u8>,
    paid: Vec<i64>,
    customer: Vec<u32>,
    items: Vec<i32>,
    money: [Vec<i32>; 4],
    row: Vec<u32>,
    product: Vec<u16>,
    quantity: Vec<i32>,
    net: Vec<i32>,
}

impl Plain {
    fn new(shape: &Shape) -> Self {
        let narrow = |number: i64| i32::try_from(number).unwrap();
        let all = 0..shape.orders;
        let lines =
            || all.clone().flat_map(|order| (0..Shape::lines(order)).map(move |l| (order, l)));
        let money = |of: fn(i64) -> i64| all.clone().map(|order| narrow(of(order))).collect();
        Self {
            status: all.clone().map(|order| u8::try_from(Shape::status(order)).unwrap()).collect(),
            paid: all.clone().map(|order| shape.created(order) + mix(order, 7) % 7_200).collect(),
            customer: all
                .clone()
                .map(|order| u32::try_from(mix(order, 8) % shape.customers).unwrap())
                .collect(),
            items: money(|order| (0..Shape::lines(order)).map(|l| Shape::quantity(order, l)).sum()),
            money: [
                money(|order| Shape::net_cents(order) + Shape::tax_cents(order) + 795),
                money(Shape::tax_cents),
                money(|_| 795),
                money(Shape::net_cents),
            ],
            row: lines().map(|(order, _)| u32::try_from(order).unwrap()).collect(),
            product: lines()
                .map(|(order, line)| u16::try_from(Shape::product(order, line)).unwrap())
                .collect(),
            quantity: lines().map(|(order, line)| narrow(Shape::quantity(order, line))).collect(),
            net: lines()
                .map(|(order, line)| {
                    narrow(Shape::quantity(order, line) * Shape::price_cents(order, line))
                })
                .collect(),
        }
    }

    /// Runs a part of the rows on each core and adds up what they found.
    fn on_all_cores<T: Send>(rows: usize, part: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let each = rows.div_ceil(cores);
        let part = &part;
        thread::scope(|scope| {
            let threads: Vec<_> = (0..cores)
                .map(|core| {
                    let (from, until) = ((core * each).min(rows), ((core + 1) * each).min(rows));
                    scope.spawn(move || part(from, until))
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    fn revenue(&self) -> i64 {
        let parts = Self::on_all_cores(self.status.len(), |from, until| {
            let mut sums = [0_i64; 6];
            for row in from..until {
                let counts = i64::from(self.status[row] != 3);
                sums[0] += counts;
                sums[1] += i64::from(self.items[row]) * counts;
                for (sum, money) in sums[2..].iter_mut().zip(&self.money) {
                    *sum += i64::from(money[row]) * counts;
                }
            }
            sums
        });
        parts.iter().map(|sums| sums.iter().sum::<i64>()).sum()
    }

    fn revenue_by_day(&self) -> i64 {
        let days = usize::try_from(DAYS).unwrap() + 1;
        let parts = Self::on_all_cores(self.status.len(), |from, until| {
            let mut sums = vec![[0_i64; 6]; days];
            for row in from..until {
                let day = usize::try_from((self.paid[row] - START) / DAY).unwrap();
                if self.status[row] != 3 {
                    let cell = &mut sums[day];
                    cell[0] += 1;
                    cell[1] += i64::from(self.items[row]);
                    for (sum, money) in cell[2..].iter_mut().zip(&self.money) {
                        *sum += i64::from(money[row]);
                    }
                }
            }
            sums
        });
        parts.iter().flatten().map(|cell| cell.iter().sum::<i64>()).sum()
    }

    fn customers(&self, customers: i64) -> usize {
        let words = usize::try_from(customers).unwrap() / 64 + 1;
        let mut parts = Self::on_all_cores(self.status.len(), |from, until| {
            let mut bits = vec![0_u64; words];
            for row in from..until {
                if self.status[row] != 3 {
                    let customer = usize::try_from(self.customer[row]).unwrap();
                    bits[customer / 64] |= 1 << (customer % 64);
                }
            }
            bits
        });
        let mut all = parts.pop().unwrap();
        for part in parts {
            all.iter_mut().zip(part).for_each(|(own, other)| *own |= other);
        }
        all.iter().map(|word| word.count_ones()).sum::<u32>().try_into().unwrap()
    }

    fn products(&self) -> i64 {
        let count = usize::try_from(PRODUCTS).unwrap() + 1;
        let parts = Self::on_all_cores(self.row.len(), |from, until| {
            let mut cells = vec![([0_i64; 3], u32::MAX); count];
            for line in from..until {
                let row = self.row[line];
                if self.status[usize::try_from(row).unwrap()] != 3 {
                    let (sums, last) = &mut cells[usize::from(self.product[line])];
                    sums[0] += i64::from(self.quantity[line]);
                    sums[1] += i64::from(self.net[line]);
                    sums[2] += i64::from(*last != row);
                    *last = row;
                }
            }
            cells
        });
        parts.iter().flatten().map(|(sums, _)| sums.iter().sum::<i64>()).sum()
    }
}

/// Makes the facts those of the site's next start.
fn plant(data: &Path, writer: &mut Writer) {
    let place = Location::parse(None, data, Environment::Sandbox, 1).unwrap();
    let store = Database::open(&place, schema::MIGRATIONS).unwrap();
    analytics::feed::plant(&store, writer, &data.join("sandbox.facts")).unwrap();
}

fn main() {
    let orders = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let shape = Shape { orders, customers: (orders / 8).max(1) };
    let start = Instant::now();
    let mut writer = facts(&shape);
    if let Some(data) = std::env::args().nth(2) {
        return plant(Path::new(&data), &mut writer);
    }
    let facts = writer.snapshot();
    drop(writer);
    facts.find_returning();
    let made = start.elapsed().as_secs_f64();
    println!(
        r#"{{"orders":{orders},"lines":{},"bytes_per_order":{},"seconds_to_make":{made:.1}}}"#,
        facts.lines(),
        facts.bytes() / facts.orders().max(1)
    );
    let end = Timestamp::from_micros((START + DAYS * DAY) * 1_000_000);
    let month =
        Span { from: Timestamp::from_micros((START + (DAYS - 30) * DAY) * 1_000_000), until: end };
    let all = Span { from: Timestamp::from_micros(START * 1_000_000), until: end };
    for (name, span) in [("all", all), ("30 days", month)] {
        for (question, query) in questions(span) {
            let answer = facts.answer(&Scope::everything(), &query);
            let check: i64 =
                answer.rows().flat_map(|row| row.values.to_vec()).fold(0, i64::wrapping_add);
            let ask = || drop(black_box(facts.answer(&Scope::everything(), &query)));
            let first = timed(|| facts.forget(), ask);
            let again = timed(|| (), ask);
            println!(
                "{{\"question\":\"{question}\",\"span\":\"{name}\",\"first_ms\":{first:.3},\
                 \"ms\":{again:.3},\"rows\":{},\"check\":{check}}}",
                answer.len()
            );
        }
    }
    drop(facts);
    let plain = Plain::new(&shape);
    let limits: [(&str, &dyn Fn()); 4] = [
        ("revenue totals", &|| _ = black_box(plain.revenue())),
        ("revenue by day", &|| _ = black_box(plain.revenue_by_day())),
        ("distinct customers", &|| _ = black_box(plain.customers(shape.customers))),
        ("products", &|| _ = black_box(plain.products())),
    ];
    for (question, run) in limits {
        println!(r#"{{"limit":"{question}","ms":{:.3}}}"#, timed(|| (), run));
    }
}
