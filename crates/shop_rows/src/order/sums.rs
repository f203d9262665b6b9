//! Orders counted and summed: by status, and for customers.

use db::filter::{Clause, Direction, Filter, PAGE_MAX, Page, fold};
use db::{Conn, Row, SITE, statements};
use types::{Amount, Error, Result, Timestamp};

use super::OrderKind;
use super::list::NOT_BY_ID;
use super::wide::amount;

/// The orders of one customer that have one status. Which statuses count as a sale is not decided
/// here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomerSum {
    pub customer_id: i64,
    pub status: String,
    pub orders: i64,
    pub total: Amount,
    /// The greatest id.
    pub last_order_id: i64,
    /// When the newest of them was made.
    pub last_created: Timestamp,
}

statements! {
    ORDERS_OF_USER =
        "SELECT order_id FROM orders
         WHERE customer_id = $1 AND customer_id <> 0 AND kind = 'order' AND site_id = $2";
    ORDERS_OF_EMAIL =
        "SELECT order_id FROM orders
         WHERE LOWER(billing_email) = $1 AND kind = 'order' AND site_id = $2";
    ORDER_FIRST = "SELECT MIN(order_id) FROM orders WHERE site_id = $1 AND kind = 'order'";
}

/// How many orders, or refunds, have each status. A status that none has is not listed.
pub fn count_by_status(conn: &mut dyn Conn, kind: OrderKind) -> Result<Vec<(String, i64)>> {
    let mut filter = Filter::tallied("site_id = ?", SITE);
    filter.and_tallied_list("kind IN (?)", &[kind])?;
    filter.counts(conn, "status", "orders")
}

/// How many orders and refunds there are, without drafts and what is in the trash.
pub fn count(conn: &mut dyn Conn) -> Result<i64> {
    let mut filter = Filter::tallied("site_id = ?", SITE);
    filter.and_tallied(Clause::fixed("status NOT IN ('auto-draft', 'trash')"));
    let counts = filter.counts::<OrderKind>(conn, "kind", "orders")?;
    Ok(counts.into_iter().map(|(_, count)| count).sum())
}

/// The orders that name this user, or this e-mail address.
pub fn ids_naming(conn: &mut dyn Conn, user_id: Option<i64>, email: &str) -> Result<Vec<i64>> {
    let mut ids = Vec::new();
    if let Some(user_id) = user_id {
        ids = conn.rows(&ORDERS_OF_USER, &[user_id.into(), SITE.into()], |row| row.get(0))?;
    }
    if !email.is_empty() {
        let email = fold(email);
        let found = conn.rows(&ORDERS_OF_EMAIL, &[(&email).into(), SITE.into()], |row| row.get(0));
        ids.extend::<Vec<i64>>(found?);
    }
    Ok(ids)
}

/// The number of the first order, if there is one.
pub fn first(conn: &mut dyn Conn) -> Result<Option<i64>> {
    Ok(conn.row(&ORDER_FIRST, &[SITE.into()], |row| row.get(0))?.flatten())
}

/// The orders of these users by user and status, refunds left out, in one query.
pub fn sums_of_customers(conn: &mut dyn Conn, user_ids: &[i64]) -> Result<Vec<CustomerSum>> {
    if user_ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut filter = Filter::new(NOT_BY_ID, SITE);
    filter.and_list("customer_id IN (?)", user_ids)?;
    let keys = ["customer_id", "status"];
    let order = keys.map(|key| (Clause::fixed(key), Direction::Ascending)).into();
    let (columns, table) = (
        "customer_id, status, order_count, total_upper, total_lower, last_order_id,
         last_created_us",
        // Both engines apply the conditions inside.
        "(SELECT site_id, customer_id, status, COUNT(*) AS order_count,
                 CAST(SUM(total / 4294967296) AS BIGINT) AS total_upper,
                 CAST(SUM(total % 4294967296) AS BIGINT) AS total_lower,
                 MAX(order_id) AS last_order_id, MAX(created_us) AS last_created_us
          FROM orders WHERE kind = 'order' AND customer_id <> 0
          GROUP BY site_id, customer_id, status) AS sums",
    );
    let page = Page::default();
    let (sums, total) = filter.page(conn, (columns, table), order, page, CustomerSum::read)?;
    if total > PAGE_MAX {
        return Err(Error::invalid("these customers have too many orders; ask for fewer of them"));
    }
    Ok(sums)
}

impl CustomerSum {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            customer_id: row.get(0)?,
            status: row.get(1)?,
            orders: row.get(2)?,
            total: amount(row, 3)?,
            last_order_id: row.get(5)?,
            last_created: row.get(6)?,
        })
    }
}
