//! Lists of orders and refunds: which match, in which order, and how many there are.

use db::filter::{Clause, Direction, Filter, PAGE_MAX, Page};
use db::{Conn, SITE, TextIndex};
use types::{Error, Result, Timestamp};

use super::{OrderKind, OrderRow, order_columns};

/// The texts by which orders are found.
pub const TEXT_INDEX: TextIndex = TextIndex { table: "orders", id: "order_id", column: "search" };

/// Which orders to list. An empty list asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct OrderFilter {
    pub kinds: Vec<OrderKind>,
    pub statuses: Vec<String>,
    pub statuses_exclude: Vec<String>,
    /// A text that must be in the search text of an order, or be its id.
    pub search: Option<String>,
    /// How the number begins.
    pub number: Option<String>,
    /// Bounds of the creation; orders of exactly that moment are not listed.
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
    pub modified_after: Option<Timestamp>,
    pub modified_before: Option<Timestamp>,
    pub include: Vec<i64>,
    pub exclude: Vec<i64>,
    pub parents: Vec<i64>,
    pub parents_exclude: Vec<i64>,
    /// Users; 0 stands for guests.
    pub customers: Vec<i64>,
    /// Orders with a line about any of these products or variations.
    pub products: Vec<i64>,
    pub created_via: Vec<String>,
    pub merchants: Vec<String>,
    pub stores: Vec<String>,
    pub tpns: Vec<String>,
    pub sort: OrderSort,
    pub direction: Direction,
    pub page: Page,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrderSort {
    #[default]
    Date,
    Modified,
    Id,
    /// Shorter numbers first, so that 9 comes before 10.
    Number,
    /// As the ids are listed in `include`.
    Include,
}

/// A page of the orders that match, without their lines, and how many match.
pub fn list(conn: &mut dyn Conn, wanted: &OrderFilter) -> Result<(Vec<OrderRow>, i64)> {
    let of_few = [&wanted.merchants, &wanted.stores, &wanted.tpns];
    let of_few = wanted.kinds == [OrderKind::Refund]
        || of_few.iter().any(|texts| !texts.is_empty())
        || [&wanted.parents, &wanted.customers].iter().any(|ids| !ids.is_empty());
    let not_by_id = of_few && wanted.include.is_empty() && wanted.products.is_empty();
    let mut filter = Filter::tallied(if not_by_id { NOT_BY_ID } else { "site_id = ?" }, SITE);
    filter.and_tallied_list("kind IN (?)", &wanted.kinds)?;
    filter.and_tallied_list("status IN (?)", &wanted.statuses)?;
    filter.and_tallied_list("status NOT IN (?)", &wanted.statuses_exclude)?;
    filter.and_list("order_id IN (?)", &wanted.include)?;
    filter.and_list("order_id NOT IN (?)", &wanted.exclude)?;
    filter.and_list(indexed_unless_zero(&wanted.parents, &PARENTS), &wanted.parents)?;
    filter.and_list("parent_id NOT IN (?)", &wanted.parents_exclude)?;
    filter.and_list(indexed_unless_zero(&wanted.customers, &CUSTOMERS), &wanted.customers)?;
    filter.and_list("created_via IN (?)", &wanted.created_via)?;
    filter.and_list("merchant_id IN (?)", &wanted.merchants)?;
    filter.and_list("store_id IN (?)", &wanted.stores)?;
    filter.and_list("tpn IN (?)", &wanted.tpns)?;
    filter.and_value("created_us > ?", wanted.after);
    filter.and_value("created_us < ?", wanted.before);
    filter.and_value("modified_us > ?", wanted.modified_after);
    filter.and_value("modified_us < ?", wanted.modified_before);
    // Numbers are not folded, and only SQLite's LIKE has no regard to case.
    filter.and_value("SUBSTR(number, 1, LENGTH(?)) = ?", wanted.number.clone());
    search(&mut filter, conn, wanted)?;
    products(&mut filter, wanted)?;
    let order = order(&mut filter, wanted)?;
    filter.page(conn, (order_columns!(), "orders"), order, wanted.page, OrderRow::read)
}

/// The refunds of these orders without their lines, by order and then by age, in one query.
pub fn refunds_of(conn: &mut dyn Conn, order_ids: &[i64]) -> Result<Vec<OrderRow>> {
    if order_ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut filter = Filter::new(NOT_BY_ID, SITE);
    filter.and(Clause::fixed("kind = 'refund'"));
    filter.and_list("(parent_id <> 0 AND parent_id IN (?))", order_ids)?;
    let keys = ["parent_id", "created_us", "order_id"];
    let order = keys.map(|key| (Clause::fixed(key), Direction::Ascending)).into();
    let selection = (order_columns!(), "orders");
    let (refunds, total) = filter.page(conn, selection, order, Page::default(), OrderRow::read)?;
    if total > PAGE_MAX {
        return Err(Error::invalid("these orders have too many refunds; ask for fewer orders"));
    }
    Ok(refunds)
}

/// The plus keeps an engine without statistics from taking the primary key, which begins with the
/// site, for the best way to a few orders: it would read all of them.
pub(super) const NOT_BY_ID: &str = "+site_id = ?";

/// A condition for the partial index, and one for lists that ask for what it does not hold.
type Conditions = [&'static str; 2];

const PARENTS: Conditions = ["(parent_id <> 0 AND parent_id IN (?))", "parent_id IN (?)"];
const CUSTOMERS: Conditions = ["(customer_id <> 0 AND customer_id IN (?))", "customer_id IN (?)"];

fn indexed_unless_zero(ids: &[i64], [indexed, other]: &Conditions) -> &'static str {
    if ids.contains(&0) { other } else { indexed }
}

fn search(filter: &mut Filter, conn: &mut dyn Conn, wanted: &OrderFilter) -> Result<()> {
    let Some(text) = &wanted.search else { return Ok(()) };
    let order_id = text.trim().parse::<i64>().ok();
    let clause = filter.containing(conn, &TEXT_INDEX, (text, order_id))?;
    filter.and(clause);
    Ok(())
}

fn products(filter: &mut Filter, wanted: &OrderFilter) -> Result<()> {
    if wanted.products.is_empty() {
        return Ok(());
    }
    let clause = filter.list(
        // One counter numbers the orders of all sites.
        "order_id IN (
           SELECT sold.order_id FROM order_items AS sold
             WHERE sold.product_id <> 0 AND sold.product_id IN (?)
           UNION ALL SELECT sold.order_id FROM order_items AS sold
             WHERE sold.variation_id <> 0 AND sold.variation_id IN (?))",
        &wanted.products,
    )?;
    filter.and(clause);
    Ok(())
}

fn order(filter: &mut Filter, wanted: &OrderFilter) -> Result<Vec<(Clause, Direction)>> {
    let mut keys = match wanted.sort {
        OrderSort::Include if !wanted.include.is_empty() => {
            vec![filter.place("order_id", &wanted.include)?]
        }
        // Who asks for a product is better served from its lines than from all orders by date.
        OrderSort::Date | OrderSort::Include if !wanted.products.is_empty() => {
            vec![Clause::fixed("+created_us")]
        }
        OrderSort::Date | OrderSort::Include => vec![Clause::fixed("created_us")],
        OrderSort::Modified => vec![Clause::fixed("modified_us")],
        OrderSort::Id => Vec::new(),
        OrderSort::Number => vec![Clause::fixed("LENGTH(number)"), Clause::fixed("number")],
    };
    keys.push(Clause::fixed("order_id"));
    Ok(keys.into_iter().map(|key| (key, wanted.direction)).collect())
}
