//! What was sold and paid back in a span of time, added up. Which statuses count is the caller's
//! choice.

use db::{Conn, Row, SITE, Sql, Val, statements};
use types::{Amount, Error, Result, Timestamp};

use super::wide::{amount, order, sum};

/// From the first moment on, and before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Timestamp,
    pub to: Timestamp,
}

/// Orders or refunds, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SalesSum {
    pub count: i64,
    pub total: Amount,
    pub shipping: Amount,
    /// Without the tax on shipping.
    pub tax: Amount,
    pub shipping_tax: Amount,
}

/// What orders of some statuses came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sold {
    pub sum: SalesSum,
    pub items: Amount,
    pub discount: Amount,
}

statements! {
    SALES_SUM = concat!(
        "SELECT COUNT(*), ",
        sum!("total"),
        ", ",
        sum!("shipping_total"),
        ", ",
        sum!("cart_tax"),
        ", ",
        sum!("shipping_tax"),
        " FROM orders
     WHERE site_id = $1 AND kind = 'order' AND created_us >= $2 AND created_us < $3
       AND status IN ($4, $5, $6, $7)"
    );
    SALES_LINES = concat!(
        "SELECT ",
        sum!("CASE WHEN items.kind = 'line' THEN items.quantity ELSE 0 END"),
        ", ",
        sum!("CASE WHEN items.kind = 'coupon' THEN items.total ELSE 0 END"),
        " FROM orders AS sales
     JOIN order_items AS items
       ON items.site_id = sales.site_id AND items.order_id = sales.order_id
     WHERE sales.site_id = $1 AND sales.kind = 'order'
       AND sales.created_us >= $2 AND sales.created_us < $3
       AND sales.status IN ($4, $5, $6, $7)"
    );
    SALES_REFUNDED_IN_PART = concat!(
        "SELECT COUNT(*), ",
        sum!("refunds.refund_amount"),
        ", ",
        sum!("refunds.shipping_total"),
        ", ",
        sum!("refunds.cart_tax"),
        ", ",
        sum!("refunds.shipping_tax"),
        " FROM orders AS refunds
     JOIN orders AS sales
       ON sales.site_id = refunds.site_id AND sales.order_id = refunds.parent_id
     WHERE refunds.site_id = $1 AND refunds.kind = 'refund'
       AND refunds.created_us >= $2 AND refunds.created_us < $3
       AND sales.status IN ($4, $5, $6)"
    );
    SALES_REFUNDED_WHOLE = concat!(
        "SELECT COUNT(*), ",
        sum!("total"),
        ", ",
        sum!("shipping_total"),
        ", ",
        sum!("cart_tax"),
        ", ",
        sum!("shipping_tax"),
        " FROM orders
     WHERE site_id = $1 AND kind = 'order' AND order_id IN (
         SELECT refunds.parent_id FROM orders AS refunds
         WHERE refunds.site_id = $1 AND refunds.kind = 'refund'
           AND refunds.created_us >= $2 AND refunds.created_us < $3)
       AND status = $4"
    );
    SALES_BEST_SELLERS = concat!(
        "SELECT product_id, ",
        sum!("quantity"),
        " FROM (
       SELECT items.product_id, items.quantity
       FROM orders AS sales
       JOIN order_items AS items
         ON items.site_id = sales.site_id AND items.order_id = sales.order_id
       WHERE sales.site_id = $1 AND sales.kind = 'order'
         AND sales.created_us >= $2 AND sales.created_us < $3
         AND sales.status IN ($4, $5, $6) AND items.kind = 'line' AND items.product_id <> 0
       UNION ALL
       SELECT items.product_id, items.quantity
       FROM orders AS refunds
       JOIN orders AS sales
         ON sales.site_id = refunds.site_id AND sales.order_id = refunds.parent_id
       JOIN order_items AS items
         ON items.site_id = refunds.site_id AND items.order_id = refunds.order_id
       WHERE refunds.site_id = $1 AND refunds.kind = 'refund'
         AND refunds.created_us >= $2 AND refunds.created_us < $3
         AND sales.status IN ($4, $5, $6) AND items.kind = 'line' AND items.product_id <> 0
     ) AS lines
     GROUP BY product_id ORDER BY ",
        order!("quantity"),
        " DESC, product_id LIMIT $7"
    );
}

/// What the orders of these statuses came to that were made in the span.
pub fn sold(conn: &mut dyn Conn, span: Span, statuses: [&str; 4]) -> Result<Sold> {
    let params = in_span(span, statuses);
    let sum = one(conn, &SALES_SUM, &params, SalesSum::read)?;
    if sum.count == 0 {
        return Ok(Sold::default());
    }
    let read = |row: &dyn Row| Ok((amount(row, 0)?, amount(row, 2)?));
    let (items, discount) = one(conn, &SALES_LINES, &params, read)?;
    Ok(Sold { sum, items, discount })
}

/// What refunds of the span paid back of orders that have these statuses. The total is positive,
/// the other amounts are negative.
pub fn refunded_in_part(conn: &mut dyn Conn, span: Span, statuses: [&str; 3]) -> Result<SalesSum> {
    one(conn, &SALES_REFUNDED_IN_PART, &in_span(span, statuses), SalesSum::read)
}

/// What the orders of this status came to that have a refund of the span.
pub fn refunded_whole(conn: &mut dyn Conn, span: Span, status: &str) -> Result<SalesSum> {
    one(conn, &SALES_REFUNDED_WHOLE, &in_span(span, [status]), SalesSum::read)
}

/// The products that sold best in the span with orders of these statuses, less what came back, and
/// how many were sold of each; the best comes first.
pub fn best_sellers(
    conn: &mut dyn Conn,
    span: Span,
    statuses: [&str; 3],
    limit: i64,
) -> Result<Vec<(i64, Amount)>> {
    let mut params = in_span(span, statuses);
    params.push(limit.into());
    conn.rows(&SALES_BEST_SELLERS, &params, |row| Ok((row.get(0)?, amount(row, 1)?)))
}

fn in_span<const N: usize>(span: Span, statuses: [&str; N]) -> Vec<Val<'_>> {
    let mut params = vec![SITE.into(), span.from.into(), span.to.into()];
    params.extend(statuses.map(Val::from));
    params
}

/// The one row of sums that there always is.
fn one<T>(
    conn: &mut dyn Conn,
    sql: &Sql,
    params: &[Val<'_>],
    read: fn(&dyn Row) -> Result<T>,
) -> Result<T> {
    conn.row(sql, params, read)?.ok_or_else(|| Error::internal("a sum has no row"))
}

impl SalesSum {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            count: row.get(0)?,
            total: amount(row, 1)?,
            shipping: amount(row, 3)?,
            tax: amount(row, 5)?,
            shipping_tax: amount(row, 7)?,
        })
    }
}
