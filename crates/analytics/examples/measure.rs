//! Measures reports at memory speed: makes facts by a formula, asks twelve questions of them, and
//! goes through plain arrays of the same numbers for four of them, as the limit.
//!
//! `cargo xtask bench reports` runs it, and lets DuckDB answer the same questions about the same
//! formula. The output is one JSON object for each line. With the data folder of a site as second
//! argument the facts become those of the site's next start, and nothing is asked. With `records`
//! and the data folder of a site as arguments, the facts are made of the site's own records.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measurement prints, stops when something is wrong, and its loops are plain"
)]

#[path = "shared/formula.rs"]
mod formula;

use std::collections::BTreeSet;
use std::hint::black_box;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use analytics::Facts;
use analytics::facts::Writer;
use analytics::query::Scope;
use db::{Database, Location};
use types::Environment;

use formula::{DAY, DAYS, EXCLUDED, PRODUCTS, START, Shape, mix, questions};

/// How often each question is asked.
const ROUNDS: usize = 9;

fn facts(shape: &Shape) -> Writer {
    let mut writer = Writer::new([EXCLUDED.to_owned()]);
    *writer.catalog_mut() = formula::catalog();
    for rows in shape.batches() {
        writer.apply(&BTreeSet::new(), &rows);
    }
    writer
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

fn open(data: &Path) -> Database {
    let place = Location::parse(None, data, Environment::Sandbox, 1).unwrap();
    Database::open(&place, schema::MIGRATIONS).unwrap()
}

/// Makes the facts of a site of its records, as a first start does.
fn remake(data: &Path) {
    let (store, facts) = (open(data), Arc::new(Facts::default()));
    let start = Instant::now();
    analytics::feed::load(store, &facts, None).unwrap();
    let made = start.elapsed().as_secs_f64();
    let (orders, lines) = (facts.snapshot().orders(), facts.snapshot().lines());
    println!(r#"{{"records":{orders},"lines":{lines},"seconds_to_make":{made:.1}}}"#);
}

/// Makes the facts those of the site's next start.
fn plant(data: &Path, writer: &mut Writer) {
    let store = open(data);
    analytics::feed::plant(&store, writer, &data.join("sandbox.facts")).unwrap();
}

fn main() {
    if std::env::args().nth(1).is_some_and(|word| word == "records") {
        let data = std::env::args().nth(2).expect("the data folder of a site");
        return remake(Path::new(&data));
    }
    let orders = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let shape = Shape::of(orders);
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
    for (name, span) in formula::spans() {
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
