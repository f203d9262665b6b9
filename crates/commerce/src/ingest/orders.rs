//! Orders and refunds in great numbers: what they refer to is looked up for a whole batch, and they
//! are written by few statements.

use std::collections::{HashMap, HashSet};

use db::filter::LIST_MAX;
use db::outbox::{self, Event};
use db::{Conn, counter};
use serde_json::{Value, json};
use shop_rows::customer_lookup::{self, CustomerLookupRow};
use shop_rows::order::{self, OrderFilter, OrderKind, OrderRow};
use shop_rows::{customer, import};
use site_rows::post;
use types::Result;

use super::{Batch, RecordError, RecordKind};
use crate::common::{events, meta};
use crate::orders::Order;
use crate::orders::effects::{self, payload};
use crate::orders::history::{self, ImportedOrder};
use crate::orders::status;

/// The entry that says whether a refund paid everything back.
const REFUND_TYPE: &str = "_refund_type";

/// What becomes of the records of a batch.
#[derive(Debug, Default)]
struct Sorted {
    /// To be added, each with the number that it had.
    new: Vec<(i64, ImportedOrder)>,
    /// To replace what is there.
    changed: Vec<ImportedOrder>,
}

impl Batch<'_> {
    pub(super) fn write_orders(
        &mut self,
        conn: &mut dyn Conn,
        records: &[(u64, &ImportedOrder)],
    ) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let orders = records.iter().map(|(_, imported)| (*imported).clone()).collect();
        let sorted = self.sort(conn, RecordKind::Order, orders)?;
        self.store(conn, RecordKind::Order, sorted)
    }

    pub(super) fn write_refunds(
        &mut self,
        conn: &mut dyn Conn,
        records: &[(u64, &ImportedOrder)],
    ) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let parents = records.iter().map(|(_, imported)| imported.order.row.parent_id);
        let parents: Vec<i64> = parents.collect();
        let own = import::own_ids(conn, self.space(RecordKind::Order), &parents)?;
        let parents = parents.into_iter().map(|id| own.get(&id).copied().unwrap_or(id));
        let rows = rows_of(conn, &parents.collect::<Vec<_>>())?;
        let mut refunds = Vec::new();
        for (line, imported) in records {
            let foreign_id = imported.order.row.parent_id;
            let parent_id = own.get(&foreign_id).copied().unwrap_or(foreign_id);
            let parent = rows.get(&parent_id).filter(|row| row.kind == OrderKind::Order);
            let Some(parent) = parent else {
                self.outcome.errors.push(RecordError {
                    line: *line,
                    field: Some(String::from("parent_id")),
                    message: format!("The refunded order {foreign_id} was not found."),
                });
                continue;
            };
            let mut imported = (*imported).clone();
            adopt(&mut imported.order, parent);
            refunds.push(imported);
        }
        let sorted = self.sort(conn, RecordKind::Refund, refunds)?;
        self.store(conn, RecordKind::Refund, sorted)
    }

    /// Tells what is new from what is here already, and decides about numbers.
    fn sort(
        &mut self,
        conn: &mut dyn Conn,
        kind: RecordKind,
        records: Vec<ImportedOrder>,
    ) -> Result<Sorted> {
        let given =
            records.iter().map(|imported| imported.order.row.order_id).filter(|id| *id != 0);
        let given: Vec<i64> = given.collect();
        let own = import::own_ids(conn, self.space(kind), &given)?;
        let mut taken = post::taken_ids(conn, &given)?;
        let mut suspects: Vec<i64> = own.values().copied().collect();
        suspects.extend(given.iter().filter(|id| taken.contains(id)));
        let mut rows = rows_of(conn, &suspects)?;
        let mut sorted = Sorted::default();
        let mut seen: HashSet<i64> = HashSet::new();
        for mut imported in records {
            let foreign_id = imported.order.row.order_id;
            let known = own.get(&foreign_id).copied().filter(|id| rows.contains_key(id));
            let here = known.or_else(|| {
                let row = rows.get(&foreign_id)?;
                let is_same = self.manner.same_ids || is_same(row, &imported.order.row);
                is_same.then_some(foreign_id)
            });
            let is_taken = taken.contains(&foreign_id);
            if foreign_id != 0 && !is_taken {
                // The next record of this number in the batch meets this one.
                taken.insert(foreign_id);
                rows.insert(foreign_id, imported.order.row.clone());
            }
            match here {
                Some(own_id) if self.manner.replace && seen.insert(own_id) => {
                    imported.order.row.order_id = own_id;
                    sorted.changed.push(imported);
                }
                Some(_) => self.outcome.present += 1,
                None => {
                    if is_taken {
                        imported.order.row.order_id = 0;
                        imported.order.items.iter_mut().for_each(|line| line.row.item_id = 0);
                    }
                    sorted.new.push((foreign_id, imported));
                }
            }
        }
        Ok(sorted)
    }

    fn store(&mut self, conn: &mut dyn Conn, kind: RecordKind, sorted: Sorted) -> Result<()> {
        let Sorted { new, changed } = sorted;
        let (foreign_ids, mut list): (Vec<i64>, Vec<ImportedOrder>) = new.into_iter().unzip();
        let new_count = list.len();
        list.extend(changed);
        self.refer(conn, &mut list)?;
        history::complete(conn, &self.visit.options, &mut list)?;
        let mut orders: Vec<Order> = list.into_iter().map(|imported| imported.order).collect();
        number_entries(conn, &mut orders)?;
        if kind == RecordKind::Order {
            meet_buyers(conn, &orders)?;
        }
        let changed = orders.split_off(new_count);
        let names = if kind == RecordKind::Order {
            [events::imported("order.created"), "order.updated"]
        } else {
            [events::imported("refund.created"), "refund.updated"]
        };
        let imported: Vec<Value> = orders.iter().map(payload).collect();
        let stored: Vec<order::Order> =
            orders.into_iter().map(Order::into_stored).collect::<Result<_>>()?;
        let ids = order::insert_many(conn, &stored)?;
        let moved = foreign_ids.iter().zip(&ids).filter(|(foreign, own)| foreign != own);
        let moved = moved.filter(|(foreign, _)| **foreign != 0).map(|(f, own)| (*f, *own));
        // Of two records that had one number, the first is meant.
        let moved: HashMap<i64, i64> = moved.rev().collect();
        let moved: Vec<(i64, i64)> = moved.into_iter().collect();
        import::remember_ids(conn, self.space(kind), &moved)?;
        let [added, updated] = names;
        let event = |(id, payload): (&i64, &Value)| {
            Event::of_site(added, *id, payload.to_string(), self.now)
        };
        let mut events: Vec<Event> = ids.iter().zip(&imported).map(event).collect();
        let count = ids.len() + changed.len();
        for order in changed {
            events.push(Event::of_site(updated, order.id(), payload(&order).to_string(), self.now));
            order.put(conn)?;
        }
        outbox::append_many(conn, &events)?;
        self.wrote(kind, count);
        Ok(())
    }

    /// Lets the orders refer to records by their numbers here.
    fn refer(&self, conn: &mut dyn Conn, list: &mut [ImportedOrder]) -> Result<()> {
        let mut own = |kind: RecordKind, ids: Vec<i64>| -> Result<HashMap<i64, i64>> {
            let mut ids = ids;
            ids.retain(|id| *id != 0);
            ids.sort_unstable();
            ids.dedup();
            import::own_ids(conn, self.space(kind), &ids)
        };
        let orders = || list.iter().map(|imported| &imported.order);
        let lines = || orders().flat_map(|order| &order.items);
        let customers = own(RecordKind::Customer, orders().map(|o| o.row.customer_id).collect())?;
        let products = own(RecordKind::Product, lines().map(|line| line.row.product_id).collect())?;
        let variations =
            own(RecordKind::Variation, lines().map(|line| line.row.variation_id).collect())?;
        let shares = lines().flat_map(|line| &line.details.taxes).map(|share| share.rate_id);
        let rates = lines().map(|line| line.row.rate_id).chain(shares).collect();
        let rates = own(RecordKind::TaxRate, rates)?;
        let refer = |ids: &HashMap<i64, i64>, id: &mut i64| {
            if let Some(own) = ids.get(id) {
                *id = *own;
            }
        };
        for order in list.iter_mut().map(|imported| &mut imported.order) {
            refer(&customers, &mut order.row.customer_id);
            for line in &mut order.items {
                refer(&products, &mut line.row.product_id);
                refer(&variations, &mut line.row.variation_id);
                refer(&rates, &mut line.row.rate_id);
                line.details.taxes.iter_mut().for_each(|s| refer(&rates, &mut s.rate_id));
            }
        }
        Ok(())
    }
}

/// Those of the orders that are here, by the numbers that they had.
pub(super) fn known(conn: &mut dyn Conn, source: &str, ids: &[i64]) -> Result<HashSet<i64>> {
    let own = import::own_ids(conn, (source, RecordKind::Order.name()), ids)?;
    let own_id = |id: i64| own.get(&id).copied().unwrap_or(id);
    let rows = rows_of(conn, &ids.iter().map(|id| own_id(*id)).collect::<Vec<_>>())?;
    let is_order = |id: &i64| rows.get(&own_id(*id)).is_some_and(|r| r.kind == OrderKind::Order);
    Ok(ids.iter().copied().filter(is_order).collect())
}

/// Orders by their numbers, without their lines.
fn rows_of(conn: &mut dyn Conn, ids: &[i64]) -> Result<HashMap<i64, OrderRow>> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let mut rows = HashMap::new();
    for ids in ids.chunks(LIST_MAX) {
        let filter = OrderFilter { include: ids.to_vec(), ..OrderFilter::default() };
        let (found, _) = order::list(conn, &filter)?;
        rows.extend(found.into_iter().map(|row| (row.order_id, row)));
    }
    Ok(rows)
}

/// Whether two orders of one number are one order.
fn is_same(row: &OrderRow, imported: &OrderRow) -> bool {
    if row.kind != imported.kind || row.parent_id != imported.parent_id {
        return false;
    }
    match imported.kind {
        OrderKind::Order => row.created == imported.created || row.order_key == imported.order_key,
        OrderKind::Refund => row.refund_amount == imported.refund_amount,
    }
}

/// Gives a refund what it has from its order.
fn adopt(refund: &mut Order, parent: &OrderRow) {
    let row = &mut refund.row;
    row.parent_id = parent.order_id;
    row.currency.clone_from(&parent.currency);
    row.prices_include_tax = parent.prices_include_tax;
    row.merchant_id.clone_from(&parent.merchant_id);
    row.store_id.clone_from(&parent.store_id);
    row.tpn.clone_from(&parent.tpn);
    let entries = &mut refund.details.meta_data;
    if entries.iter().all(|entry| entry["key"] != REFUND_TYPE) {
        let is_full = row.refund_amount >= parent.total;
        let kind = if is_full { "full" } else { "partial" };
        entries.push(json!({ "id": 0, "key": REFUND_TYPE, "value": kind }));
    }
}

/// Gives the entries of `meta_data` their numbers, for all orders by one statement.
fn number_entries(conn: &mut dyn Conn, orders: &mut [Order]) -> Result<()> {
    let entries = |order: &Order| {
        let lines = order.items.iter().map(|line| line.details.meta_data.len());
        order.details.meta_data.len() + lines.sum::<usize>()
    };
    let count: usize = orders.iter().map(entries).sum();
    let Ok(count @ 1..) = i64::try_from(count) else { return Ok(()) };
    let mut next = counter::take(conn, meta::ENTRY_ID, count)? + 1;
    for order in orders {
        let lines = order.items.iter_mut().flat_map(|line| &mut line.details.meta_data);
        for entry in order.details.meta_data.iter_mut().chain(lines) {
            if let Some(members) = entry.as_object_mut() {
                members.insert(String::from("id"), json!(next));
            }
            next += 1;
        }
    }
    Ok(())
}

/// Lets the buyers have numbers in reports, and remembers who has ever paid.
fn meet_buyers(conn: &mut dyn Conn, orders: &[Order]) -> Result<()> {
    let is_sale = |order: &&Order| {
        !matches!(&*order.row.status, status::TRASH | status::AUTO_DRAFT | status::CHECKOUT_DRAFT)
    };
    let users = orders.iter().map(|order| order.row.customer_id).filter(|id| *id != 0);
    let mut users: Vec<i64> = users.collect();
    users.sort_unstable();
    users.dedup();
    let mut known = HashMap::new();
    for ids in users.chunks(LIST_MAX) {
        let found = customer::get_many(conn, ids)?;
        known.extend(found.into_iter().map(|customer| (customer.user.user_id, customer)));
    }
    let payers = orders.iter().filter(|order| order.row.status == status::COMPLETED);
    for user_id in payers.map(|order| order.row.customer_id) {
        let Some(customer) = known.get_mut(&user_id) else { continue };
        if !customer.row.is_paying {
            customer.row.is_paying = true;
            customer::put(conn, &customer.row)?;
        }
    }
    let buyer = |order: &Order| {
        let user = known.get(&order.row.customer_id).map(|customer| &customer.user);
        effects::buyer_row(order, user)
    };
    let buyers: Vec<CustomerLookupRow> = orders.iter().filter(is_sale).map(buyer).collect();
    customer_lookup::ensure_many(conn, &buyers)
}
