//! Random facts and questions from a seed.

use analytics::facts::{
    Catalog, CouponFact, LineFact, LineNumber, OrderFact, OrderNumber, OrderText, TaxFact,
};
use analytics::query::{
    AttributeTest, Column, DateColumn, Filter, Group, IdSet, LineTest, Measure, Per, Query, RollUp,
    RowKind, Span, Subject, Table, When,
};
use types::{Amount, Timestamp};

pub(crate) const STATUSES: &[&str] =
    &["completed", "processing", "refunded", "pending", "cancelled"];
/// Statuses that do not make somebody a customer.
pub(crate) const EXCLUDED: &[&str] = &["pending", "cancelled"];
const MERCHANTS: &[&str] = &["", "M1", "M2"];
const CURRENCIES: &[&str] = &["USD", "EUR"];
const STORES: &[&str] = &["", "S1", "S2"];
const DAY: i64 = 86_400_000_000;
/// The facts lie within so many days.
const DAYS: i64 = 40;

/// Numbers that look random and follow from a seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    pub(crate) fn below(&mut self, end: i64) -> i64 {
        i64::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    pub(crate) fn is(&mut self, percent: i64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn of<T: Clone>(&mut self, list: &[T]) -> T {
        let place = self.below(i64::try_from(list.len()).unwrap());
        list[usize::try_from(place).unwrap()].clone()
    }

    fn cents(&mut self) -> Amount {
        Amount::from_millionths((self.below(20_000) - 4_000) * 10_000)
    }

    /// With six decimals, and seldom very large.
    fn share(&mut self) -> Amount {
        let large = if self.is(1) { 1_000_000 } else { 1 };
        Amount::from_millionths((self.below(9_999_999) - 2_000_000) * large)
    }

    fn ids(&mut self, end: i64) -> IdSet {
        (0..self.below(3)).map(|_| self.below(end)).collect()
    }

    fn texts(&mut self, list: &[&str]) -> Vec<String> {
        (0..self.below(3)).map(|_| self.of(list).to_owned()).collect()
    }
}

pub(crate) fn catalog() -> Catalog {
    let mut catalog = Catalog::new([(1, 0), (2, 1), (3, 1), (4, 2), (5, 0)].into());
    for (product, categories) in [(1, vec![4]), (2, vec![1, 2]), (3, vec![5, 4]), (4, vec![3])] {
        catalog.put(product, categories);
    }
    catalog
}

pub(crate) fn order(dice: &mut Dice, order_id: i64) -> OrderFact {
    let created = dice.below(DAYS * 24) * 3_600_000_000 + dice.below(2) * 1_000_000;
    let is_refund = order_id > 1 && dice.is(20);
    let at = Timestamp::from_micros;
    let mut later = |percent: i64| {
        let after = dice.below(3 * 24) * 3_600_000_000;
        dice.is(percent).then(|| at(created + after))
    };
    let (paid, completed) = (later(80), later(50));
    let attributes = |dice: &mut Dice| match dice.below(3) {
        0 => Vec::new(),
        1 => vec![("pa_size".to_owned(), dice.of(&["s", "m"]).to_owned())],
        _ => vec![
            ("pa_colour".to_owned(), dice.of(&["red", "blue"]).to_owned()),
            ("pa_size".to_owned(), dice.of(&["s", "m"]).to_owned()),
        ],
    };
    let line = |dice: &mut Dice| LineFact {
        product_id: dice.below(6),
        variation_id: dice.of(&[0, 0, 11, 12]),
        quantity: dice.below(5) - 1,
        net: dice.cents(),
        gross: dice.share(),
        discount: dice.cents(),
        tax: dice.cents(),
        shipping: dice.share(),
        shipping_tax: dice.share(),
        attributes: attributes(dice),
    };
    let lines = (0..dice.below(4)).map(|_| line(dice)).collect();
    let mut coupons: Vec<CouponFact> = Vec::new();
    for _ in 0..dice.of(&[0, 0, 1, 2]) {
        let coupon_id = dice.below(4) - 1;
        if coupons.iter().all(|own| own.coupon_id != coupon_id) {
            coupons.push(CouponFact { coupon_id, discount: dice.cents() });
        }
    }
    let tax = |dice: &mut Dice| TaxFact {
        rate_id: dice.below(3),
        code: dice.of(&["US-CA", "DE"]).into(),
        percent: Amount::from_whole(dice.of(&[7, 19])),
        of_goods: dice.cents(),
        of_shipping: dice.share(),
    };
    OrderFact {
        order_id,
        parent_id: if is_refund { 1 + dice.below(order_id - 1) } else { 0 },
        created: at(created),
        paid,
        completed,
        status: dice.of(STATUSES).into(),
        customer_id: dice.below(7),
        merchant_id: dice.of(MERCHANTS).into(),
        store_id: dice.of(STORES).into(),
        tpn: dice.of(&["", "T1"]).into(),
        currency: dice.of(CURRENCIES).into(),
        items: dice.below(9) - 2,
        total: dice.cents(),
        tax: dice.cents(),
        shipping: dice.cents(),
        net: dice.share(),
        returning: None,
        lines,
        coupons,
        taxes: (0..dice.of(&[0, 1, 1, 2])).map(|_| tax(dice)).collect(),
    }
}

/// Whether customers had bought before, by what the words mean.
pub(crate) fn with_returning(mut facts: Vec<OrderFact>) -> Vec<OrderFact> {
    let copy = facts.clone();
    for fact in facts.iter_mut().filter(|fact| fact.parent_id == 0) {
        let is_before = |other: &&OrderFact| {
            other.parent_id == 0
                && other.customer_id == fact.customer_id
                && !EXCLUDED.contains(&&*other.status)
                && (other.created, other.order_id) < (fact.created, fact.order_id)
        };
        fact.returning = Some(fact.customer_id != 0 && copy.iter().find(is_before).is_some());
    }
    facts
}

fn line_test(dice: &mut Dice, depth: i64) -> LineTest {
    let list = |dice: &mut Dice| (0..dice.below(3)).map(|_| line_test(dice, depth - 1)).collect();
    match dice.below(if depth > 0 { 7 } else { 4 }) {
        0 => LineTest::Product(dice.ids(6)),
        1 => LineTest::Variation([0, 11, 12].into_iter().filter(|_| dice.is(50)).collect()),
        2 => LineTest::HasVariation,
        3 => LineTest::Attribute(AttributeTest {
            name: dice.of(&["pa_size", "pa_colour"]).to_owned(),
            value: dice.of(&["s", "red"]).to_owned(),
            equal: dice.is(50),
            products: dice.ids(6),
        }),
        4 => LineTest::All(list(dice)),
        5 => LineTest::Any(list(dice)),
        _ => LineTest::Not(Box::new(line_test(dice, depth - 1))),
    }
}

pub(crate) fn filter(dice: &mut Dice, depth: i64) -> Filter {
    let list = |dice: &mut Dice| (0..dice.below(4)).map(|_| filter(dice, depth - 1)).collect();
    let kinds = [RowKind::Order, RowKind::Refund, RowKind::FullRefund, RowKind::PartialRefund];
    match dice.below(if depth > 0 { 19 } else { 14 }) {
        0 => Filter::Text(OrderText::Status, dice.texts(STATUSES)),
        1 => Filter::Kind(dice.of(&kinds)),
        2 if dice.is(50) => Filter::CustomerType(dice.is(50)),
        2 => Filter::Returning(dice.is(50)),
        3 => Filter::Orders(dice.ids(40)),
        4 => Filter::Customers(dice.ids(7)),
        5 => Filter::Text(OrderText::Merchant, dice.texts(MERCHANTS)),
        6 => Filter::Text(OrderText::Store, dice.texts(STORES)),
        7 if dice.is(50) => Filter::Text(OrderText::Currency, dice.texts(CURRENCIES)),
        7 => Filter::Text(OrderText::Tpn, dice.texts(&["", "T1"])),
        8 => Filter::HasLine(line_test(dice, 2)),
        9 if dice.is(20) => Filter::HasAnyCoupon,
        9 => Filter::HasCoupon(dice.ids(3)),
        10 => Filter::HasTaxRate(dice.ids(3)),
        11 => Filter::Line(line_test(dice, 2)),
        12 => Filter::Coupon(dice.ids(3)),
        13 => Filter::TaxRate(dice.ids(3)),
        14 | 15 => Filter::All(list(dice)),
        16 | 17 => Filter::Any(list(dice)),
        _ => Filter::Not(Box::new(filter(dice, depth - 1))),
    }
}

fn measure(dice: &mut Dice) -> Measure {
    let whens = [When::Always, When::Order, When::Refund, When::Negative, When::NotNegative];
    let whole = [Column::Gross, Column::Discounts, Column::CouponDiscount];
    let of_taxes = [Column::TaxOfGoods, Column::TaxOfShipping, Column::TaxOfBoth];
    let of_orders = OrderNumber::ALL.iter().map(|number| Column::Order(*number));
    let of_lines = LineNumber::ALL.iter().map(|number| Column::Line(*number));
    let columns: Vec<Column> =
        whole.into_iter().chain(of_taxes).chain(of_orders).chain(of_lines).collect();
    let subjects = [
        Subject::Order,
        Subject::Customer,
        Subject::Product,
        Subject::Variation,
        Subject::VariationOrNone,
        Subject::Coupon,
        Subject::TaxRate,
    ];
    let when = dice.of(&whens);
    match dice.below(9) {
        0 => Measure::Rows(when),
        1..=4 => Measure::Sum(dice.of(&columns), when, dice.of(&[Per::Row, Per::Order])),
        5..=7 => Measure::Distinct(dice.of(&subjects), when),
        _ => Measure::Latest(dice.of(&[
            DateColumn::Created,
            DateColumn::Paid,
            DateColumn::Completed,
        ])),
    }
}

pub(crate) fn query(dice: &mut Dice) -> Query {
    let table = dice.of(&[Table::Orders, Table::Lines, Table::Coupons, Table::Taxes]);
    let date = dice.of(&[DateColumn::Created, DateColumn::Paid, DateColumn::Completed]);
    let at = |hours: i64| Timestamp::from_micros(hours * 3_600_000_000);
    let span = if dice.is(30) {
        Span::ALWAYS
    } else {
        let from = dice.below(DAYS * 24);
        Span { from: at(from), until: at(from + dice.below(DAYS * 24)) }
    };
    let mut bounds: Vec<i64> = match dice.below(3) {
        0 => Vec::new(),
        1 => (0..=DAYS).map(|day| day * DAY).collect(),
        _ => (0..2 + dice.below(9)).map(|_| dice.below(DAYS * DAY)).collect(),
    };
    bounds.sort_unstable();
    bounds.dedup();
    if bounds.len() == 1 {
        bounds.clear();
    }
    let groups = [
        Group::None,
        Group::None,
        Group::Product,
        Group::Variation,
        Group::Category(RollUp::Direct),
        Group::Category(RollUp::Ancestors),
        Group::Category(RollUp::EachPath),
        Group::Coupon,
        Group::TaxRate,
        Group::TaxCode,
        Group::Customer,
        Group::CustomerType,
        Group::VariationId,
        Group::Text(OrderText::Merchant),
        Group::Text(OrderText::Store),
        Group::Text(OrderText::Currency),
    ];
    Query {
        table,
        date,
        span,
        bounds: bounds.into_iter().map(Timestamp::from_micros).collect(),
        filter: if dice.is(30) { Filter::everything() } else { filter(dice, 3) },
        group: dice.of(&groups),
        measures: (0..=dice.below(6)).map(|_| measure(dice)).collect(),
    }
}

/// What somebody may see.
pub(crate) fn scope(dice: &mut Dice) -> (Option<Vec<String>>, Option<Vec<String>>) {
    let merchants = dice.is(25).then(|| dice.texts(MERCHANTS));
    let stores = dice.is(25).then(|| dice.texts(STORES));
    (merchants, stores)
}
