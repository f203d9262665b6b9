//! Sales added up: which orders, refunds and lines count in a span of time.

use db::Database;
use shop_rows::order::sales::{self, SalesSum, Sold, Span};
use shop_rows::order::{self, ItemKind, Order, OrderItemRow, OrderKind, OrderRow};
use types::Amount;

use crate::sales::{item, order_row};
use crate::support::{TestDatabase, time};

testkit::on_both_engines!(
    sums_are_of_the_span,
    nothing_is_zero,
    the_best_comes_first,
    extremes_are_added_up_without_a_failure
);

const SALES: [&str; 3] = ["completed", "processing", "on-hold"];
const ALL: [&str; 4] = ["completed", "processing", "on-hold", "refunded"];

fn whole(number: i64) -> Amount {
    Amount::from_whole(number)
}

fn span(from: i64, to: i64) -> Span {
    Span { from: time(from), to: time(to) }
}

/// Kind, parent, status, when, total, and the quantities of product 31 and of product 32.
type Short = (OrderKind, i64, &'static str, i64, i64, [i64; 2]);

const ORDERS: [Short; 7] = [
    (OrderKind::Order, 0, "completed", 10, 100, [2, 0]),
    (OrderKind::Order, 0, "processing", 20, 200, [1, 4]),
    (OrderKind::Order, 0, "pending", 20, 400, [50, 0]),
    (OrderKind::Order, 0, "refunded", 20, 800, [0, 7]),
    (OrderKind::Refund, 1, "completed", 20, 30, [-1, 0]),
    (OrderKind::Refund, 4, "completed", 30, 800, [0, -7]),
    (OrderKind::Order, 0, "on-hold", 30, 1600, [1, 0]),
];

fn filled(database: &TestDatabase) -> Database {
    let store = database.open();
    let orders = ORDERS.map(|(kind, parent_id, status, created, total, quantities)| {
        let sign = if kind == OrderKind::Refund { -1 } else { 1 };
        let row = OrderRow {
            kind,
            parent_id,
            status: status.to_owned(),
            created: time(created),
            total: whole(sign * total),
            shipping_total: whole(sign * total / 10),
            cart_tax: whole(sign * total / 20),
            shipping_tax: whole(sign),
            refund_amount: whole(if sign < 0 { total } else { 0 }),
            ..order_row()
        };
        let sold = [31, 32].into_iter().zip(quantities).filter(|(_, quantity)| *quantity != 0);
        let line = |(product_id, quantity)| OrderItemRow {
            product_id,
            quantity: whole(quantity),
            ..item("x")
        };
        let mut items: Vec<OrderItemRow> = sold.map(line).collect();
        items.push(OrderItemRow { kind: ItemKind::Coupon, total: whole(3), ..item("code") });
        Order { row, items }
    });
    store
        .write_blocking(move |conn| {
            orders.iter().try_for_each(|order| order::insert(conn, order).map(drop))
        })
        .unwrap();
    store
}

fn sum(count: i64, total: i64) -> SalesSum {
    SalesSum {
        count,
        total: whole(total),
        shipping: whole(total / 10),
        tax: whole(total / 20),
        shipping_tax: whole(count),
    }
}

fn sums_are_of_the_span(database: &TestDatabase) {
    let store = filled(database);
    store
        .read_blocking(|conn| {
            for (from, to, count, total, items) in
                [(0, 99, 4, 2700, 15), (10, 20, 1, 100, 2), (20, 30, 2, 1000, 12)]
            {
                let expected = Sold {
                    sum: sum(count, total),
                    items: whole(items),
                    discount: whole(3 * count),
                };
                assert_eq!(sales::sold(conn, span(from, to), ALL)?, expected, "{from} {to}");
            }
            let part = sales::refunded_in_part(conn, span(0, 99), SALES)?;
            let expected = SalesSum {
                count: 1,
                total: whole(30),
                shipping: whole(-3),
                tax: whole(-1),
                shipping_tax: whole(-1),
            };
            assert_eq!(part, expected);
            assert_eq!(sales::refunded_in_part(conn, span(21, 99), SALES)?.count, 0);
            assert_eq!(sales::refunded_whole(conn, span(30, 31), "refunded")?, sum(1, 800));
            assert_eq!(sales::refunded_whole(conn, span(0, 30), "refunded")?.count, 0);
            Ok(())
        })
        .unwrap();
}

fn nothing_is_zero(database: &TestDatabase) {
    let store = database.open();
    store
        .read_blocking(|conn| {
            assert_eq!(sales::sold(conn, span(0, 99), ALL)?, Sold::default());
            assert_eq!(sales::refunded_in_part(conn, span(0, 99), SALES)?, SalesSum::default());
            assert_eq!(sales::refunded_whole(conn, span(0, 99), "x")?, SalesSum::default());
            assert_eq!(sales::best_sellers(conn, span(0, 99), SALES, 5)?, []);
            Ok(())
        })
        .unwrap();
}

/// What was refunded as a whole is neither sold nor taken back.
fn the_best_comes_first(database: &TestDatabase) {
    let store = filled(database);
    store
        .read_blocking(|conn| {
            let best = |conn: &mut dyn db::Conn, from, to, limit| {
                sales::best_sellers(conn, span(from, to), SALES, limit)
            };
            assert_eq!(best(conn, 0, 99, 5)?, [(32, whole(4)), (31, whole(3))]);
            assert_eq!(best(conn, 0, 20, 5)?, [(31, whole(2))]);
            assert_eq!(best(conn, 0, 99, 1)?, [(32, whole(4))]);
            Ok(())
        })
        .unwrap();
}

/// What an import may have brought. No sum of it fails, and small sums beside it stay exact.
fn extremes_are_added_up_without_a_failure(database: &TestDatabase) {
    let store = database.open();
    let sale = |amount: Amount, product_id: i64, customer_id: i64| Order {
        row: OrderRow {
            customer_id,
            status: "completed".to_owned(),
            created: time(10),
            total: amount,
            shipping_total: amount,
            cart_tax: amount,
            shipping_tax: -amount,
            ..order_row()
        },
        items: vec![OrderItemRow { product_id, quantity: amount, ..item("x") }],
    };
    let (most, least) = (Amount::MAX, Amount::MIN);
    let orders = [
        sale(most, 31, 5),
        sale(most, 31, 5),
        sale(least, 32, 6),
        sale(least, 32, 6),
        sale(amount("-0.000001"), 33, 7),
        sale(amount("2.5"), 33, 7),
    ];
    store
        .write_blocking(move |conn| {
            orders.iter().try_for_each(|order| order::insert(conn, order).map(drop))
        })
        .unwrap();
    store
        .read_blocking(move |conn| {
            let sold = sales::sold(conn, span(0, 99), ALL)?;
            assert_eq!((sold.sum.count, sold.sum.total), (6, amount("2.499997")));
            assert_eq!(sold.items, amount("2.499997"));
            let best = sales::best_sellers(conn, span(0, 99), SALES, 5)?;
            assert_eq!(best, [(31, most), (33, amount("2.499999")), (32, least)]);
            let between = order::sums_between(conn, time(0), time(99))?;
            assert_eq!(between, [("completed".to_owned(), amount("2.499997"))]);
            let sums = order::sums_of_customers(conn, &[5, 6, 7])?;
            let sums: Vec<_> = sums.iter().map(|sum| (sum.customer_id, sum.total)).collect();
            assert_eq!(sums, [(5, most), (6, least), (7, amount("2.499999"))]);
            Ok(())
        })
        .unwrap();
}

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}
