//! Records read from the store and made into facts, some hundred orders at a time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use db::Conn;
use db::filter::{Page, fold};
use frame::Options;
use shop_rows::customer_lookup::CustomerKey;
use shop_rows::order::figures::{self, Figures};
use shop_rows::order::{self, OrderKind};
use shop_rows::{coupon, customer_lookup, download_log, product};
use site_rows::term::{self, TermFilter};
use types::Result;

use crate::derive::{self, Coupons, Customers};
use crate::facts::{Catalog, DownloadFact, OrderFact};
use crate::record::Rules;
use crate::settings;

/// The taxonomy of the categories of products.
pub(super) const CATEGORY: &str = "product_cat";

/// Orders that are read together. With a refund or two each, they stay within the store's lists.
const ORDERS_AT_ONCE: usize = 500;
/// Downloads that are read together.
const DOWNLOADS_AT_ONCE: i64 = 5_000;
/// Categories that a shop can have in reports.
const CATEGORIES_PAGE: i64 = 1_000;

/// [`ORDERS_AT_ONCE`], to be asked for.
pub(super) fn at_once() -> i64 {
    i64::try_from(ORDERS_AT_ONCE).unwrap_or(i64::MAX)
}

/// What became of some orders.
#[derive(Debug, Default)]
pub(super) struct Change {
    /// Orders and refunds whose rows are no longer right.
    pub(super) deleted: BTreeSet<i64>,
    /// Their rows as they are now.
    pub(super) facts: Vec<OrderFact>,
}

/// Reads these orders, or the orders of these refunds, as they are now.
pub(super) fn orders(conn: &mut dyn Conn, ids: &BTreeSet<i64>) -> Result<Change> {
    let rules = rules(conn)?;
    let mut change = Change { deleted: ids.clone(), facts: Vec::new() };
    let mut order_ids = BTreeSet::new();
    let list: Vec<i64> = ids.iter().copied().collect();
    let mut orders = Vec::new();
    for some in list.chunks(ORDERS_AT_ONCE) {
        for found in figures::get_many(conn, some)? {
            match found.row.kind {
                OrderKind::Order => orders.push(found),
                OrderKind::Refund => drop(order_ids.insert(found.row.parent_id)),
            }
        }
    }
    for order in &orders {
        order_ids.remove(&order.row.order_id);
    }
    let others: Vec<i64> = order_ids.into_iter().collect();
    for some in others.chunks(ORDERS_AT_ONCE) {
        orders.extend(figures::get_many(conn, some)?);
        change.deleted.extend(some);
    }
    for some in orders.chunks(ORDERS_AT_ONCE) {
        let customers = customers_of_orders(conn, some)?;
        change.facts.extend(families(conn, rules, &customers, some)?);
    }
    Ok(change)
}

/// By which rules amounts are facts now.
pub(super) fn rules(conn: &mut dyn Conn) -> Result<Rules> {
    Ok(settings::rules(&Options::read(conn)?))
}

/// How all orders are made into facts.
#[derive(Clone, Debug)]
pub(super) struct Making {
    pub(super) rules: Rules,
    /// All customers; nothing where those of some orders are read with them.
    pub(super) customers: Option<Arc<Customers>>,
    /// Orders with fewer lines together are read together.
    pub(super) items_max: usize,
}

impl Making {
    /// The facts of the orders whose ids are greater than the one and at most the other, and of all
    /// their refunds, and how many orders there are. About `count` orders and refunds lie there.
    pub(super) fn between(
        &self,
        conn: &mut dyn Conn,
        (after, through): (i64, i64),
        count: i64,
    ) -> Result<(Vec<OrderFact>, usize)> {
        let Some(orders) = figures::between(conn, (after, through), self.items_max)? else {
            return self.by_halves(conn, (after, through), count);
        };
        let mut facts = Vec::with_capacity(orders.len());
        // Somebody may have stored more of them than were expected.
        for some in orders.chunks(ORDERS_AT_ONCE) {
            facts.extend(if let Some(all) = &self.customers {
                families(conn, self.rules, all, some)?
            } else {
                let own = customers_of_orders(conn, some)?;
                families(conn, self.rules, &own, some)?
            });
        }
        Ok((facts, orders.len()))
    }

    /// [`Making::between`], where the orders have too many lines to be read together.
    fn by_halves(
        &self,
        conn: &mut dyn Conn,
        (after, through): (i64, i64),
        count: i64,
    ) -> Result<(Vec<OrderFact>, usize)> {
        let half = count / 2;
        if half == 0 {
            // One huge record must not keep all others out of the reports.
            tracing::error!(after, through, "an order with too many lines is missing in reports");
            return Ok((Vec::new(), 0));
        }
        let middle = figures::end_of(conn, after, half)?;
        let middle = middle.map_or(through, |middle| middle.min(through));
        let (mut facts, mut orders) = self.between(conn, (after, middle), half)?;
        if middle < through {
            let (others, count) = self.between(conn, (middle, through), count - half)?;
            facts.extend(others);
            orders += count;
        }
        Ok((facts, orders))
    }
}

/// The facts of these orders and of all their refunds.
fn families(
    conn: &mut dyn Conn,
    rules: Rules,
    customers: &Customers,
    orders: &[Figures],
) -> Result<Vec<OrderFact>> {
    let ids: Vec<i64> = orders.iter().map(|order| order.row.order_id).collect();
    let mut by_order: HashMap<i64, Vec<Figures>> = HashMap::new();
    for refund in figures::refunds_of(conn, &ids)? {
        by_order.entry(refund.row.parent_id).or_default().push(refund);
    }
    let coupons = coupons(conn, orders)?;
    let mut facts = Vec::with_capacity(orders.len() + by_order.len());
    for order in orders {
        let refunds = by_order.remove(&order.row.order_id).unwrap_or_default();
        match derive::family(rules, (customers, &coupons), order, &refunds) {
            Ok(family) => facts.extend(family),
            // One damaged record must not keep all others out of the reports.
            Err(error) => {
                let (order_id, error) = (order.row.order_id, error.report());
                tracing::error!(order_id, error, "an order is missing in reports");
            }
        }
    }
    Ok(facts)
}

/// The numbers of coupons that the orders name by their codes alone.
fn coupons(conn: &mut dyn Conn, orders: &[Figures]) -> Result<Coupons> {
    let mut coupons = Coupons::new();
    for order in orders {
        for code in derive::unnumbered_coupons(order).unwrap_or_default() {
            if let Some(found) = coupon::find_by_code(conn, &code)? {
                coupons.insert(fold(&code), found.coupon_id);
            }
        }
    }
    Ok(coupons)
}

/// The customers that these orders may belong to.
fn customers_of_orders(conn: &mut dyn Conn, orders: &[Figures]) -> Result<Customers> {
    let users = orders.iter().map(|order| order.row.customer_id).filter(|user_id| *user_id != 0);
    let users: Vec<i64> = users.collect::<BTreeSet<i64>>().into_iter().collect();
    let guests = orders.iter().filter(|order| order.row.customer_id == 0);
    let mut emails: BTreeSet<String> = guests.map(|order| fold(&order.row.billing_email)).collect();
    let nobodys = emails.remove("");
    let emails: Vec<String> = emails.into_iter().collect();
    let mut keys = customer_lookup::keys_of_users(conn, &users)?;
    keys.extend(customer_lookup::keys_of_emails(conn, &emails)?);
    if nobodys && let Some(guest) = customer_lookup::find_guest(conn, "")? {
        let (customer_id, email_key) = (guest.customer_id, String::new());
        keys.push(CustomerKey { customer_id, user_id: None, email_key });
    }
    Ok(keys.iter().collect())
}

/// Downloads after that id.
pub(super) fn downloads_after(
    conn: &mut dyn Conn,
    mut after: i64,
) -> Result<Vec<Arc<DownloadFact>>> {
    let mut downloads = Vec::new();
    loop {
        let some = download_log::after(conn, after, DOWNLOADS_AT_ONCE)?;
        let Some(last) = some.last() else { return Ok(downloads) };
        after = last.log_id;
        downloads.extend(some.into_iter().map(download));
    }
}

/// The downloads of these orders, as far as they are known by that id.
pub(super) fn downloads_of(
    conn: &mut dyn Conn,
    order_ids: &BTreeSet<i64>,
    through: i64,
) -> Result<Vec<Arc<DownloadFact>>> {
    let mut downloads = Vec::new();
    // Nothing is asked for where nobody ever downloaded anything.
    for order_id in order_ids.iter().filter(|_| through > 0) {
        let own = download_log::of_order(conn, *order_id)?;
        downloads.extend(own.into_iter().filter(|own| own.log_id <= through).map(download));
    }
    Ok(downloads)
}

/// The orders that name one of these customers, whoever they are known to be of.
pub(super) fn orders_naming(
    conn: &mut dyn Conn,
    customers: &BTreeSet<i64>,
) -> Result<BTreeSet<i64>> {
    let mut orders = BTreeSet::new();
    for customer_id in customers {
        if let Some(own) = customer_lookup::get(conn, *customer_id)? {
            orders.extend(order::ids_naming(conn, own.user_id, &own.email)?);
        }
    }
    Ok(orders)
}

/// The numbers under which orders of these users may be known: their own, and that of the guest
/// with their address.
pub(super) fn customers_of(conn: &mut dyn Conn, users: &BTreeSet<i64>) -> Result<BTreeSet<i64>> {
    let mut numbers = BTreeSet::new();
    for user_id in users {
        let Some(own) = customer_lookup::find_by_user(conn, *user_id)? else { continue };
        numbers.insert(own.customer_id);
        if !own.email.is_empty() {
            let guest = customer_lookup::find_guest(conn, &own.email)?;
            numbers.extend(guest.map(|guest| guest.customer_id));
        }
    }
    Ok(numbers)
}

fn download(record: download_log::Download) -> Arc<DownloadFact> {
    let text = |text: Option<String>| text.map(Arc::from).unwrap_or_default();
    Arc::new(DownloadFact {
        log_id: record.log_id,
        at: record.at,
        permission_id: record.permission_id,
        download_id: record.download_id,
        product_id: record.product_id,
        order_id: record.order_id,
        user_id: record.buyer_id,
        ip: record.ip,
        merchant_id: text(record.merchant_id),
        store_id: text(record.store_id),
    })
}

/// The categories, without the products in them.
pub(super) fn catalog(conn: &mut dyn Conn) -> Result<Catalog> {
    let mut parents = BTreeMap::new();
    let mut page = Page { offset: 0, limit: CATEGORIES_PAGE };
    loop {
        let taxonomies = vec![CATEGORY.to_owned()];
        let wanted = TermFilter { taxonomies, page, ..TermFilter::default() };
        let (terms, total) = term::list(conn, &wanted)?;
        parents.extend(terms.iter().map(|term| (term.term_id, term.parent_id)));
        page.offset += CATEGORIES_PAGE;
        if page.offset >= total {
            return Ok(Catalog::new(parents));
        }
    }
}

/// The categories of these products.
pub(super) fn categories(conn: &mut dyn Conn, product_ids: &[i64]) -> Result<Vec<(i64, Vec<i64>)>> {
    let mut found: BTreeMap<i64, Vec<i64>> =
        product_ids.iter().map(|product_id| (*product_id, Vec::new())).collect();
    for term in product::terms_of(conn, product_ids)? {
        if term.taxonomy == CATEGORY {
            found.entry(term.product_id).or_default().push(term.term_id);
        }
    }
    Ok(found.into_iter().collect())
}

/// The categories of all products.
pub(super) fn all_categories(conn: &mut dyn Conn) -> Result<Vec<(i64, Vec<i64>)>> {
    let mut found: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (product_id, term_id) in product::bearers(conn, CATEGORY)? {
        found.entry(product_id).or_default().push(term_id);
    }
    Ok(found.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use db::{Database, Location};
    use shop_rows::order::{ITEMS_MAX, ItemKind, Order, OrderItemRow, OrderRow};
    use types::Amount;

    use super::*;

    /// The sixth has many lines.
    fn order(number: i64) -> Order {
        let details = || String::from("{}");
        let line = OrderItemRow {
            kind: ItemKind::Line,
            product_id: number,
            quantity: Amount::ONE,
            details: details(),
            ..OrderItemRow::default()
        };
        let lines = if number == 6 { 9 } else { 2 };
        let row = OrderRow { details: details(), ..OrderRow::default() };
        Order { row, items: vec![line; lines] }
    }

    #[test]
    fn many_lines_are_read_by_halves_and_keep_no_other_order_out() {
        let folder = tempfile::tempdir().unwrap();
        let store =
            Database::open(&Location::File(folder.path().join("site.db")), schema::MIGRATIONS);
        let store = store.unwrap();
        let orders: Vec<Order> = (1..=20).map(order).collect();
        store.write_blocking(move |conn| order::insert_many(conn, &orders)).unwrap();
        let made = |items_max: usize, count: i64| {
            let making = Making { rules: Rules::default(), customers: None, items_max };
            let read = move |conn: &mut dyn Conn| making.between(conn, (0, i64::MAX), count);
            let (facts, orders) = store.read_blocking(read).unwrap();
            assert_eq!(facts.len(), orders);
            facts
        };
        let all = made(ITEMS_MAX, 500);
        assert_eq!(all.len(), 20);
        for count in [20, 33, 500] {
            assert_eq!(made(10, count), all, "{count}");
        }
        let others: Vec<OrderFact> =
            all.iter().filter(|fact| fact.lines.len() == 2).cloned().collect();
        assert_eq!((others.len(), made(9, 500)), (19, others));
        assert_eq!(made(3, 500).len(), 19, "each is read alone");
    }
}
