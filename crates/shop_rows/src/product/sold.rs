//! When products were last ordered.

use db::filter::{Clause, Direction, Filter, PAGE_MAX, Page};
use db::{Conn, Row, SITE, statements};
use types::{Error, Result, Timestamp};

statements! {
    PRODUCT_ORDERED_NAME =
        "SELECT name FROM order_items
         WHERE site_id = $1 AND product_id = $2 AND product_id <> 0 AND kind = 'line'
         ORDER BY order_id DESC, item_id DESC LIMIT 1";
}

/// What the newest order calls a product, which may be gone by now.
pub fn ordered_name(conn: &mut dyn Conn, product_id: i64) -> Result<Option<String>> {
    conn.row(&PRODUCT_ORDERED_NAME, &[SITE.into(), product_id.into()], |row| row.get(0))
}

/// The lines of orders that count, with their orders.
macro_rules! placed_orders {
    () => {
        " JOIN orders ON orders.site_id = order_items.site_id
            AND orders.order_id = order_items.order_id
          WHERE order_items.site_id = products.site_id AND order_items.kind = 'line'
            AND orders.status NOT IN ('trash', 'auto-draft', 'checkout-draft')"
    };
}

/// Each of these products, and of these variations, that is in an order or a refund, with the
/// moment when the newest of those was made. Orders that were given up or never placed count for
/// nothing.
pub fn last_ordered(conn: &mut dyn Conn, product_ids: &[i64]) -> Result<Vec<(i64, Timestamp)>> {
    if product_ids.is_empty() {
        return Ok(Vec::new());
    }
    // A line about a variation names its product too, so one id may be in either column.
    let columns = [
        concat!(
            "product_id, (SELECT MAX(orders.created_us) FROM order_items",
            placed_orders!(),
            " AND order_items.product_id <> 0 AND order_items.product_id = products.product_id)"
        ),
        concat!(
            "product_id, (SELECT MAX(orders.created_us) FROM order_items",
            placed_orders!(),
            " AND order_items.variation_id <> 0 AND order_items.variation_id = products.product_id)"
        ),
    ];
    let mut dates = Vec::new();
    for select in columns {
        let mut filter = Filter::new("site_id = ?", SITE);
        filter.and_list("product_id IN (?)", product_ids)?;
        let order = vec![(Clause::fixed("product_id"), Direction::Ascending)];
        let selection = (select, "products");
        let (rows, total) = filter.page(conn, selection, order, Page::default(), read)?;
        if total > PAGE_MAX {
            return Err(Error::invalid("ask for the dates of fewer products"));
        }
        dates.extend(rows.into_iter().filter_map(|(id, date)| Some((id, date?))));
    }
    Ok(dates)
}

fn read(row: &dyn Row) -> Result<(i64, Option<Timestamp>)> {
    Ok((row.get(0)?, row.get(1)?))
}
