//! What follows from an order: dates, notes, stock, sales, uses of coupons, customers.
//!
//! **What was counted for an order is remembered with it**, so that whatever becomes of the order,
//! exactly that is taken back.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use frame::Call;
use serde_json::{Value, json};
use shop_rows::customer_lookup::{self, CustomerLookupRow};
use shop_rows::order::ItemKind;
use shop_rows::order_note::{self, OrderNoteRow};
use shop_rows::{coupon as coupon_store, customer, product, stock_hold};
use site_rows::user::{self, UserRow};
use types::{Amount, Result};

use super::goods::Goods;
use super::record::{Line, Order};
use super::{downloads, notify, status, view};
use crate::common::{events, meta, moments};
use crate::coupons::Coupon;
use crate::products;

/// Who writes notes that no person wrote.
pub(super) const SYSTEM: &str = "system";

/// How many of a line's items were taken from the stock.
pub(super) const REDUCED: &str = "_reduced_stock";
/// How many of them came back by refunds.
pub(super) const RESTOCKED: &str = "_restock_refunded_items";
/// On a line that was paid for when there was not enough of it: nothing was taken for it yet.
pub(super) const SHORT: &str = "_short_of_stock";

/// How the lines of an order were before a change.
#[derive(Debug)]
pub(super) struct Before {
    /// Their ids.
    pub(super) items: HashSet<i64>,
    /// Those that are no longer there.
    pub(super) removed: Vec<Line>,
}

impl Before {
    /// Of an order that is new.
    pub(super) fn nothing() -> Self {
        Self { items: HashSet::new(), removed: Vec::new() }
    }

    /// Of an order whose lines do not change.
    pub(super) fn same(order: &Order) -> Self {
        let items = order.items.iter().map(|line| line.row.item_id).collect();
        Self { items, removed: Vec::new() }
    }
}

/// What whoever changes an order has read already, so that nothing is read twice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known<'a> {
    /// Whether the order is being made, so that nothing can refer to it yet.
    pub(super) is_new: bool,
    /// What its lines are about.
    pub(super) goods: Option<&'a Goods>,
    /// The user who bought.
    pub(super) buyer: Option<&'a UserRow>,
}

/// Who bought, as coupons remember it: the id of a user, or the address of a guest.
pub(super) fn buyer(order: &Order) -> String {
    match order.row.customer_id {
        0 => order.details.billing.email.to_lowercase(),
        user_id => user_id.to_string(),
    }
}

/// The status of the order once it is paid.
pub(super) fn paid_status(call: &mut Call<'_>, order: &Order) -> Result<&'static str> {
    paid_status_knowing(call, order, None)
}

/// [`paid_status`] for whoever may have read what the lines are about.
pub(super) fn paid_status_knowing(
    call: &mut Call<'_>,
    order: &Order,
    goods: Option<&Goods>,
) -> Result<&'static str> {
    let needs_processing = if let Some(goods) = goods {
        view::needs_processing(order, goods)
    } else {
        let goods = Goods::of_orders(call.conn()?, [order].into_iter())?;
        view::needs_processing(order, &goods)
    };
    Ok(if needs_processing { status::PROCESSING } else { status::COMPLETED })
}

/// Gives the order another status, with the dates and the note that come with it.
pub(super) fn set_status(call: &mut Call<'_>, order: &mut Order, to: &str) -> Result<()> {
    set_status_knowing(call, order, to, None)
}

/// [`set_status`] for whoever may have read what the lines are about.
pub(super) fn set_status_knowing(
    call: &mut Call<'_>,
    order: &mut Order,
    to: &str,
    goods: Option<&Goods>,
) -> Result<()> {
    let from = std::mem::replace(&mut order.row.status, to.to_owned());
    if from == to {
        return Ok(());
    }
    let now = moments::now(call);
    if from == status::TRASH {
        order.row.trashed_status = None;
        order.details.meta_data.retain(|entry| {
            let key = entry["key"].as_str().unwrap_or_default();
            key != super::TRASH_STATUS && key != super::TRASH_TIME
        });
    }
    if order.row.paid.is_none() {
        let pays = match to {
            status::COMPLETED => true,
            status::PROCESSING => paid_status_knowing(call, order, goods)? == to,
            _ => false,
        };
        order.row.paid = pays.then_some(now);
    }
    if to == status::COMPLETED {
        order.row.completed = Some(now);
    }
    order.notes.push(note_row(call, order.id(), status_note(&from, to)));
    order.transitions.push((from, to.to_owned()));
    Ok(())
}

/// The note for a change of status.
pub(super) fn status_note(from: &str, to: &str) -> String {
    format!("Order status changed from {} to {}.", status::name(from), status::name(to))
}

/// The payload of an order's events.
pub(crate) fn payload(order: &Order) -> Value {
    json!({ "status": order.row.status, "parent_id": order.row.parent_id })
}

/// Writes a note of the program's own about an order that is stored.
pub(super) fn note(call: &mut Call<'_>, order_id: i64, text: String) -> Result<()> {
    let note = note_row(call, order_id, text);
    order_note::insert(call.conn()?, &note).map(drop)
}

fn note_row(call: &Call<'_>, order_id: i64, text: String) -> OrderNoteRow {
    OrderNoteRow {
        note_id: 0,
        order_id,
        author: SYSTEM.to_owned(),
        text,
        customer_note: false,
        added_by_user: false,
        created: moments::now(call),
    }
}

/// Appends an event to the feed.
pub(super) fn append_event(call: &mut Call<'_>, kind: &'static str, order: &Order) -> Result<()> {
    events::append(call, kind, order.id(), &payload(order))
}

/// Brings everything that follows from the order up to date with it.
pub(super) fn settle(call: &mut Call<'_>, order: &mut Order, before: &Before) -> Result<()> {
    settle_knowing(call, order, before, Known::default())
}

/// [`settle`] for whoever has read some of it.
pub(super) fn settle_knowing(
    call: &mut Call<'_>,
    order: &mut Order,
    before: &Before,
    known: Known<'_>,
) -> Result<()> {
    settle_stock(call, order, before, known.goods)?;
    if !known.is_new {
        settle_hold(call, order)?;
    }
    settle_sales(call, order)?;
    settle_coupons(call, order)?;
    downloads::settle(call, order, (known.is_new, known.goods))?;
    settle_customer(call, order, known.buyer)?;
    notify::follow_status(call, order)
}

/// Takes back what was counted for an order that goes away for good. Goods that were sold stay
/// sold. Of an order that is a copy, its shop takes back what it counted.
pub(super) fn release(call: &mut Call<'_>, order: &mut Order) -> Result<()> {
    stock_hold::release(call.conn()?, order.id())?;
    if !call.visit.is_import {
        change_sales(call, order, None)?;
        change_coupons(call, order, None)?;
    }
    downloads::release(call, order.id())
}

fn settle_stock(
    call: &mut Call<'_>,
    order: &mut Order,
    before: &Before,
    goods: Option<&Goods>,
) -> Result<()> {
    for line in &before.removed {
        let reduced = reduced(line);
        if !reduced.is_zero() {
            change_stock(call, line.sold_id(), reduced)?;
        }
    }
    let was_reduced = order.details.stock_reduced;
    let is_reduced = match order.row.status.as_str() {
        status::CANCELLED | status::PENDING => false,
        status => was_reduced || status::is_sale(status),
    };
    order.details.stock_reduced = is_reduced;
    let mut changes = Vec::new();
    let (id, mut items) = (order.id(), std::mem::take(&mut order.items));
    for line in items.iter_mut().filter(|line| line.row.kind == ItemKind::Line) {
        let reduced = reduced(line);
        // A line that was there when the stock fell, and for which it did not fall, is left alone.
        let is_known = was_reduced && before.items.contains(&line.row.item_id);
        let is_short = line.meta(SHORT).is_some();
        if line.sold_id() == 0 || (is_known && line.meta(REDUCED).is_none() && !is_short) {
            continue;
        }
        if is_short && is_reduced {
            if let Some(counted) = products::stock::scarce(call, line.sold_id())?
                && products::stock::left_for(call, &counted, id)? < line.row.quantity
            {
                continue;
            }
            let entry = json!({ "key": SHORT, "value": Value::Null });
            meta::merge(call.conn()?, &mut line.details.meta_data, &[entry])?;
        }
        let restocked = line.meta(RESTOCKED).and_then(Amount::parse).unwrap_or_default();
        let target = if is_reduced { line.row.quantity - restocked } else { Amount::ZERO };
        if target == reduced {
            continue;
        }
        let good = goods.and_then(|goods| goods.of_line(line));
        let changed = match good {
            Some(good) if !good.counts_stock() => None,
            _ => change_stock(call, line.sold_id(), reduced - target)?,
        };
        if let Some((from, to)) = changed {
            changes.push(format!("{} (#{}) {from}→{to}", line.row.name, line.sold_id()));
        }
        let value = (changed.is_some() && is_reduced).then(|| json!(target.to_string()));
        let entry = json!({ "key": REDUCED, "value": value });
        meta::merge(call.conn()?, &mut line.details.meta_data, &[entry])?;
        if !is_reduced {
            let entry = json!({ "key": RESTOCKED, "value": Value::Null });
            meta::merge(call.conn()?, &mut line.details.meta_data, &[entry])?;
        }
    }
    order.items = items;
    if !changes.is_empty() {
        let text = format!("Stock levels changed: {}.", changes.join(", "));
        order.notes.push(note_row(call, id, text));
    }
    Ok(())
}

/// What waits for nothing holds no stock: it has it, or gave it up.
fn settle_hold(call: &mut Call<'_>, order: &Order) -> Result<()> {
    if matches!(&*order.row.status, status::PENDING | status::CHECKOUT_DRAFT) {
        return Ok(());
    }
    stock_hold::release(call.conn()?, order.id())
}

fn reduced(line: &Line) -> Amount {
    line.meta(REDUCED).and_then(Amount::parse).unwrap_or_default()
}

/// Adds to the stock; says how it was before and after, if it is counted.
pub(super) fn change_stock(
    call: &mut Call<'_>,
    product_id: i64,
    by: Amount,
) -> Result<Option<(Amount, Amount)>> {
    let (options, now) = (Arc::clone(&call.visit.options), moments::now(call));
    products::stock::change(call.conn()?, &options, product_id, by, now)
}

fn settle_sales(call: &mut Call<'_>, order: &mut Order) -> Result<()> {
    let is_counted = order.details.counted_sales.is_some();
    let status = order.row.status.as_str();
    if status::is_void(status) || !(is_counted || status::is_sale(status)) {
        return change_sales(call, order, None);
    }
    let sold = order.lines(ItemKind::Line).filter(|line| line.row.product_id != 0);
    let sold = sold.map(|line| (line.row.product_id, line.row.quantity.to_whole()));
    let sold: Vec<(i64, i64)> = sold.collect();
    change_sales(call, order, Some(sold))
}

fn change_sales(
    call: &mut Call<'_>,
    order: &mut Order,
    target: Option<Vec<(i64, i64)>>,
) -> Result<()> {
    let mut differences: BTreeMap<i64, i64> = BTreeMap::new();
    for (product_id, count) in target.iter().flatten() {
        *differences.entry(*product_id).or_default() += count;
    }
    for (product_id, count) in order.details.counted_sales.iter().flatten() {
        *differences.entry(*product_id).or_default() -= count;
    }
    for (product_id, count) in differences {
        if count != 0 {
            product::add_sales(call.conn()?, product_id, count)?;
        }
    }
    order.details.counted_sales = target;
    Ok(())
}

fn settle_coupons(call: &mut Call<'_>, order: &mut Order) -> Result<()> {
    let status = order.row.status.as_str();
    if status::is_void(status) || matches!(status, status::AUTO_DRAFT | status::CHECKOUT_DRAFT) {
        return change_coupons(call, order, None);
    }
    let who = buyer(order);
    let codes: Vec<String> =
        order.lines(ItemKind::Coupon).map(|line| line.row.name.clone()).collect();
    let mut used = Vec::new();
    for code in codes {
        if let Some(row) = coupon_store::find_by_code(call.conn()?, &code)? {
            used.push((row.coupon_id, who.clone()));
        }
    }
    change_coupons(call, order, Some(used))
}

type Uses = Vec<(i64, String)>;

fn change_coupons(call: &mut Call<'_>, order: &mut Order, target: Option<Uses>) -> Result<()> {
    let counted = order.details.counted_coupons.take().unwrap_or_default();
    let uses = target.clone().unwrap_or_default();
    let deleted = counted.iter().filter(|used| !uses.contains(used)).map(|used| (used, false));
    let new = uses.iter().filter(|used| !counted.contains(used)).map(|used| (used, true));
    for ((coupon_id, who), is_new) in deleted.chain(new) {
        let Some(mut coupon) = Coupon::get(call.conn()?, *coupon_id)? else { continue };
        coupon.count_use(call.conn()?, who, is_new)?;
        let payload = json!({ "code": coupon.row.code, "status": coupon.row.status });
        events::append(call, "coupon.updated", *coupon_id, &payload)?;
    }
    order.details.counted_coupons = target;
    Ok(())
}

/// Lets the buyer have a number in reports, and remembers who has ever paid.
fn settle_customer(call: &mut Call<'_>, order: &Order, buyer: Option<&UserRow>) -> Result<()> {
    let user_id = order.row.customer_id;
    let status = order.row.status.as_str();
    if matches!(status, status::TRASH | status::AUTO_DRAFT | status::CHECKOUT_DRAFT) {
        return Ok(());
    }
    if user_id != 0
        && status == status::COMPLETED
        && let Some(customer) = customer::get(call.conn()?, user_id)?
        && !customer.row.is_paying
    {
        let row = customer::CustomerRow { is_paying: true, ..customer.row };
        customer::put(call.conn()?, &row)?;
    }
    let row = match buyer.filter(|user| user.user_id == user_id) {
        Some(user) => buyer_row(order, Some(user)),
        None if user_id == 0 => buyer_row(order, None),
        None => buyer_row(order, user::get(call.conn()?, user_id)?.as_ref()),
    };
    customer_lookup::find_or_insert(call.conn()?, &row).map(drop)
}

/// The buyer of the order as reports know them.
pub(crate) fn buyer_row(order: &Order, user: Option<&UserRow>) -> CustomerLookupRow {
    let billing = &order.details.billing;
    let mut row = CustomerLookupRow {
        user_id: Some(order.row.customer_id).filter(|id| *id != 0),
        first_name: billing.first_name.clone(),
        last_name: billing.last_name.clone(),
        email: billing.email.clone(),
        last_active: Some(order.row.created),
        country: billing.country.clone(),
        postcode: billing.postcode.clone(),
        city: billing.city.clone(),
        state: billing.state.clone(),
        ..CustomerLookupRow::default()
    };
    if let Some(user) = user {
        row.username.clone_from(&user.login);
        row.email.clone_from(&user.email);
        row.registered = Some(user.registered);
    }
    row
}
