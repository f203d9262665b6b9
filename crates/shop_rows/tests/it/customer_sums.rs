//! Sums of orders by customer: no amount is too large for them.

use shop_rows::order::{self, Order, OrderItemRow, OrderRow};
use types::Amount;

use crate::sales::{item, order_row};
use crate::support::{TestDatabase, time};

testkit::on_both_engines!(extremes_are_added_up_without_a_failure);

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
