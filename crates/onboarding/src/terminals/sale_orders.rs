//! What a sale request has to do with the shop: which order it is for, and what becomes of the
//! order when a device answers. The shop is asked by its own routes, **in the transaction of the
//! answer**, so that an approved sale and its paid order are one change.

use std::sync::Arc;

use contract::rest::Verb;
use db::Conn;
use frame::Site;
use serde_json::{Value, json};
use shop_rows::order::{self, OrderKind, OrderRow};
use site_rows::user::UserRow;
use types::{Amount, Error, Result, Role, Timestamp};

use crate::Code;
use crate::Platform;
use crate::change::TpnRecord;
use crate::codes::refusal;
use crate::perform::Outcome;
use crate::rows::sale::SaleRow;

/// What orders that a terminal took the money for are paid with.
const METHOD: &str = "terminal";

/// The statuses of orders that nobody has paid.
const UNPAID: &[&str] = &["pending", "failed", "checkout-draft"];
/// The status of an order that people have to look at before it goes on.
const ON_HOLD: &str = "on-hold";

pub(super) const REFUND: &str = "refund";
pub(super) const SALE: &str = "sale";

/// The shop, as its operator sees it.
#[derive(Clone, Debug)]
pub(super) struct Shop(Arc<Site>);

impl Shop {
    pub(super) fn of(platform: &Platform) -> Result<Self> {
        let site = platform.site().map(Self);
        site.ok_or_else(|| Error::unavailable("The store is not served here."))
    }

    /// Called when a transaction with the shop is over, so that nobody is shown what was before.
    pub(super) fn changed(&self) {
        self.0.note_write();
    }

    fn operator() -> UserRow {
        UserRow { roles: vec![Role::Administrator], ..UserRow::default() }
    }

    fn path(&self, order_id: i64) -> String {
        format!("/{}/orders/{order_id}", self.0.settings().names.commerce_v3)
    }

    fn seen(&self, conn: &mut dyn Conn, order_id: i64, now: Timestamp) -> Result<Value> {
        let seen = self.0.seen_by(conn, Self::operator(), &self.path(order_id), now)?;
        Ok(seen.unwrap_or_default())
    }

    fn needs_payment(&self, conn: &mut dyn Conn, order_id: i64, now: Timestamp) -> Result<bool> {
        let order = self.seen(conn, order_id, now)?;
        Ok(order.get("needs_payment").and_then(Value::as_bool).unwrap_or_default())
    }

    fn done(
        &self,
        conn: &mut dyn Conn,
        (verb, path): (Verb, &str),
        body: Value,
        now: Timestamp,
    ) -> Result<()> {
        self.0.done_by(conn, Self::operator(), (verb, path), body, now).map(drop)
    }

    fn note(&self, conn: &mut dyn Conn, sale: &SaleRow, text: &str, now: Timestamp) -> Result<()> {
        let path = format!("{}/notes", self.path(sale.order_id));
        self.done(conn, (Verb::Post, &path), json!({ "note": text }), now)
    }

    /// The order, if it is one of the TPN's merchant and store that waits for its payment.
    pub(super) fn payable(
        &self,
        conn: &mut dyn Conn,
        record: &TpnRecord,
        order_id: i64,
        now: Timestamp,
    ) -> Outcome<OrderRow> {
        let unknown = || {
            let message = "The TPN's store has no such order.";
            refusal("orderId", Code::NotFound, message)
        };
        let found = order::get(conn, order_id)?;
        let is_own = |row: &OrderRow| {
            let own_store = record.row.store_id.as_ref().map(types::StoreId::as_str);
            row.kind == OrderKind::Order
                && row.merchant_id.as_deref() == Some(record.row.merchant_id.as_str())
                && (row.store_id.is_none() || row.store_id.as_deref() == own_store)
        };
        let row = found.filter(is_own).ok_or_else(unknown)?;
        if !self.needs_payment(conn, order_id, now)? {
            let message = "The order does not wait for a payment.";
            return Err(refusal("orderId", Code::IllegalTransition, message));
        }
        Ok(row)
    }

    /// What is left of an order that can be paid back.
    pub(super) fn left(
        &self,
        conn: &mut dyn Conn,
        order_id: i64,
        now: Timestamp,
    ) -> Result<Amount> {
        let order = self.seen(conn, order_id, now)?;
        let total = |value: &Value| {
            let text = value.get("total").and_then(Value::as_str);
            text.and_then(Amount::parse).unwrap_or_default()
        };
        let refunds = order.get("refunds").and_then(Value::as_array).into_iter().flatten();
        let refunded: Amount = refunds.map(|refund| total(refund).abs()).sum();
        Ok(total(&order) - refunded)
    }

    /// Lets the order follow a sale that was approved.
    pub(super) fn approved(
        &self,
        conn: &mut dyn Conn,
        sale: &SaleRow,
        now: Timestamp,
    ) -> Result<()> {
        // The verdict counts even if the order was deleted meanwhile: the money has moved.
        let Some(order) = order::get(conn, sale.order_id)? else { return Ok(()) };
        if sale.kind == REFUND {
            return self.paid_back(conn, sale, now);
        }
        self.paid(conn, sale, &order, now)
    }

    fn paid_back(&self, conn: &mut dyn Conn, sale: &SaleRow, now: Timestamp) -> Result<()> {
        let (tpn, sum) = (&sale.tpn, money(sale.amount, &sale.currency));
        if sale.amount > self.left(conn, sale.order_id, now)? {
            let text = format!(
                "Terminal {tpn} paid back {sum}, which is more than was left of the order. \
                 Check it."
            );
            return self.note(conn, sale, &text, now);
        }
        let path = format!("{}/refunds", self.path(sale.order_id));
        let reason = format!("Paid back at terminal {tpn}");
        let body = json!({
            "amount": sale.amount.to_string(), "reason": reason, "api_refund": false,
            "api_restock": false,
        });
        self.done(conn, (Verb::Post, &path), body, now)?;
        self.note(conn, sale, &format!("Terminal {tpn} paid back {sum}."), now)
    }

    /// Pays the order with what was taken, **if that is what it costs by now**.
    fn paid(
        &self,
        conn: &mut dyn Conn,
        sale: &SaleRow,
        order: &OrderRow,
        now: Timestamp,
    ) -> Result<()> {
        let (tpn, sum) = (&sale.tpn, money(sale.amount, &sale.currency));
        // Not whether it needs a payment: an order that costs nothing any more does not, and has
        // got one all the same.
        if !UNPAID.contains(&&*order.status) {
            let text = format!(
                "Terminal {tpn} took {sum}, although the order did not wait for a payment any \
                 more. Check whether it was paid twice."
            );
            return self.note(conn, sale, &text, now);
        }
        let is_whole = sale.amount == order.total && sale.currency == order.currency;
        let (member, value) =
            if is_whole { ("set_paid", json!(true)) } else { ("status", json!(ON_HOLD)) };
        let body = json!({
            (member): value,
            "payment_method": METHOD,
            "payment_method_title": format!("Terminal {tpn}"),
            "transaction_id": sale.approval_code.as_ref().unwrap_or(&sale.sale_id),
        });
        self.done(conn, (Verb::Put, &self.path(sale.order_id)), body, now)?;
        let text = if is_whole {
            format!("Terminal {tpn} took the payment of {sum}.")
        } else {
            let total = money(order.total, &order.currency);
            format!(
                "Terminal {tpn} took {sum}, but the order is for {total} by now. Settle the \
                 difference with the customer."
            )
        };
        self.note(conn, sale, &text, now)
    }

    /// Writes down that a device refused.
    pub(super) fn declined(
        &self,
        conn: &mut dyn Conn,
        sale: &SaleRow,
        now: Timestamp,
    ) -> Result<()> {
        if order::get(conn, sale.order_id)?.is_none() {
            return Ok(());
        }
        let what = if sale.kind == REFUND { "the refund" } else { "the payment" };
        let reason = sale.status_reason.as_ref().map(|text| format!(": {text}"));
        let (tpn, sum) = (&sale.tpn, money(sale.amount, &sale.currency));
        let text = format!("Terminal {tpn} declined {what} of {sum}{}", reason.unwrap_or_default());
        self.note(conn, sale, &text, now)
    }
}

/// An amount as people read it.
fn money(amount: Amount, currency: &str) -> String {
    format!("{} {currency}", decimal(amount))
}

/// An amount with two decimals, or as many as it has.
pub(super) fn decimal(amount: Amount) -> String {
    let text = amount.to_text(2);
    if Amount::parse(&text) == Some(amount) { text } else { amount.to_string() }
}
