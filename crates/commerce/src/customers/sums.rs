//! What the orders of customers come to, as the older versions show it.

use std::collections::HashMap;

use db::Conn;
use shop_rows::order;
use types::{Amount, Result, Timestamp};

use super::Customer;
use crate::orders::status;

/// Orders in these are none yet, or none any more.
const UNCOUNTED: &[&str] = &[status::TRASH, status::AUTO_DRAFT];
/// Orders in these count as sold.
const SOLD: &[&str] = &[status::PROCESSING, status::COMPLETED];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) orders: i64,
    pub(super) spent: Amount,
    pub(super) last_order: Option<(i64, Timestamp)>,
}

pub(super) fn none() -> HashMap<i64, Sums> {
    HashMap::new()
}

/// The sums of these customers by their ids; who has no orders is missing.
pub(super) fn of(conn: &mut dyn Conn, customers: &[Customer]) -> Result<HashMap<i64, Sums>> {
    let user_ids: Vec<i64> = customers.iter().map(|customer| customer.user.user_id).collect();
    let mut sums: HashMap<i64, Sums> = none();
    let mut last_ids: HashMap<i64, i64> = HashMap::new();
    for of_status in order::sums_of_customers(conn, &user_ids)? {
        if UNCOUNTED.contains(&of_status.status.as_str()) {
            continue;
        }
        let sum = sums.entry(of_status.customer_id).or_default();
        sum.orders += of_status.orders;
        if SOLD.contains(&of_status.status.as_str()) {
            sum.spent += of_status.total;
        }
        let last = last_ids.entry(of_status.customer_id).or_default();
        *last = (*last).max(of_status.last_order_id);
    }
    let order_ids: Vec<i64> = last_ids.values().copied().collect();
    for order in order::get_many(conn, &order_ids)? {
        if let Some(sum) = sums.get_mut(&order.row.customer_id) {
            sum.last_order = Some((order.row.order_id, order.row.created));
        }
    }
    Ok(sums)
}

/// Whether any order of the user is or was completed, which makes them a paying customer.
pub(super) fn has_paid(conn: &mut dyn Conn, user_id: i64) -> Result<bool> {
    let sums = order::sums_of_customers(conn, &[user_id])?;
    Ok(sums.iter().any(|sum| matches!(sum.status.as_str(), status::COMPLETED | status::REFUNDED)))
}
