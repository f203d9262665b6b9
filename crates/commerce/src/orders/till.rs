//! A till: what it takes to price many orders and refunds one after another, read once.
//!
//! **It calculates with the same functions as a request does**, so an order made here comes to what
//! the same order comes to over the interface. It touches no database once it is made.

use std::collections::HashMap;

use db::Conn;
use db::outbox::Event;
use frame::Options;
use shop_rows::order::{ItemKind, OrderKind};
use shop_rows::order_note::OrderNoteRow;
use shop_rows::product;
use types::{Amount, Result, Timestamp};

use super::coupons::{self, Categories};
use super::goods::{self, Goods};
use super::record::{Line, Order};
use super::refunds::{self, Part};
use super::totals::{self, Shop};
use super::{effects, lines, status, view, write};
use crate::common::{events, meta};
use crate::coupons::Coupon;

/// Bytes that make the secret of an order.
pub(crate) const KEY_BYTES: usize = write::KEY_LENGTH;

#[derive(Debug)]
pub(crate) struct Till {
    shop: Shop,
    goods: Goods,
    categories: Categories,
    /// What is chosen of a variation: names and values of attributes.
    choices: HashMap<i64, Vec<(String, String)>>,
}

impl Till {
    /// A till for these products and variations.
    pub(crate) fn load(conn: &mut dyn Conn, options: &Options, ids: &[i64]) -> Result<Self> {
        let goods = Goods::of_ids(conn, ids.to_vec())?;
        let products: Vec<i64> = goods.ids().collect();
        let mut choices: HashMap<i64, Vec<(String, String)>> = HashMap::new();
        for (variation_id, chosen) in product::attributes_of(conn, ids)? {
            let pair = (chosen.name, chosen.value);
            choices.entry(variation_id).or_default().push(pair);
        }
        Ok(Self {
            shop: Shop::load(conn, options)?,
            categories: goods::categories(conn, &products)?,
            goods,
            choices,
        })
    }

    /// A line about so many of a product or variation, if the till knows it.
    pub(crate) fn line(
        &self,
        sold_id: i64,
        quantity: i64,
        number: &mut dyn FnMut() -> i64,
    ) -> Option<Line> {
        let good = self.goods.get(sold_id)?;
        let mut line = Line::of_kind(ItemKind::Line);
        let count = Amount::from_whole(quantity);
        line.row.quantity = count;
        lines::set_good(&mut line, good);
        lines::set_price(&mut line, good, count, &self.shop);
        for (name, value) in self.choices.get(&sold_id).into_iter().flatten() {
            line.details.meta_data.push(meta::entry(number(), name, value.as_str()));
        }
        Some(line)
    }

    /// Brings taxes and sums up to date with the lines.
    pub(crate) fn calculate(&self, order: &mut Order) {
        totals::calculate(order, &self.goods, &self.shop);
    }

    /// Whether the coupon may be used for the order at that moment.
    pub(crate) fn accepts(&self, coupon: &Coupon, order: &Order, at: Timestamp) -> bool {
        coupons::check(at, coupon, order, &self.goods, &self.categories).is_ok()
    }

    /// Uses the coupon for an order whose sums stand, and brings them up to date.
    pub(crate) fn redeem(&self, order: &mut Order, coupon: &Coupon, number: i64) {
        let used = [(order.items.len(), coupon.clone())];
        order.items.push(coupons::new_line(coupon, number));
        coupons::redeem(order, &used, &self.goods, &self.categories, &self.shop);
    }

    /// Whether somebody has to do something once the order is paid.
    pub(crate) fn needs_processing(&self, order: &Order) -> bool {
        view::needs_processing(order, &self.goods)
    }

    /// All of an order that has its number, back.
    pub(crate) fn refund_all(
        &self,
        order: &Order,
        number: &mut dyn FnMut() -> i64,
    ) -> Result<Order> {
        let priced = |line: &&Line| !matches!(line.row.kind, ItemKind::Tax | ItemKind::Coupon);
        let parts = order.items.iter().filter(priced);
        let parts: Vec<Part> =
            parts.map(|line| self.part(line, line.row.quantity.to_whole())).collect();
        self.refund(order, order.row.total, &parts, number)
    }

    /// So many items of one line of an order, back. The line is named by its number.
    pub(crate) fn refund_line(
        &self,
        order: &Order,
        (item_id, quantity): (i64, i64),
        number: &mut dyn FnMut() -> i64,
    ) -> Result<Order> {
        let lines = order.lines(ItemKind::Line).filter(|line| line.row.item_id == item_id);
        let parts: Vec<Part> = lines.map(|line| self.part(line, quantity)).collect();
        let amount = parts.iter().map(|part| part.total + part.tax()).sum();
        self.refund(order, amount, &parts, number)
    }

    fn refund(
        &self,
        order: &Order,
        amount: Amount,
        parts: &[Part],
        number: &mut dyn FnMut() -> i64,
    ) -> Result<Order> {
        let mut refund = refunds::drawn_up(order, &self.shop, amount, parts, &mut || Ok(number()))?;
        let kind = refunds::type_of(amount >= order.row.total);
        refund.details.meta_data.push(meta::entry(number(), refunds::REFUND_TYPE, kind));
        Ok(refund)
    }

    /// The part of a line that so many of its items are, to the least unit of the currency.
    fn part(&self, line: &Line, quantity: i64) -> Part {
        let whole = line.row.quantity;
        let share = |amount: Amount| {
            let part = amount.share(Amount::from_whole(quantity), whole);
            part.unwrap_or(amount).rounded(self.shop.decimals)
        };
        let taxes = line.details.taxes.iter();
        Part {
            item_id: line.row.item_id,
            quantity,
            total: share(line.row.total),
            taxes: taxes.map(|tax| (tax.rate_id, share(tax.total))).collect(),
        }
    }
}

/// Notes on the order what its status lets count, as [`effects`] does when it counts.
pub(crate) fn count(order: &mut Order, coupon: Option<&Coupon>) {
    let status = order.row.status.as_str();
    let is_sale = status::is_sale(status) || status == status::REFUNDED;
    if !status::is_void(status) {
        let who = effects::buyer(order);
        let used = coupon.into_iter().map(|coupon| (coupon.row.coupon_id, who.clone()));
        order.details.counted_coupons = Some(used.collect());
    }
    if is_sale {
        order.details.stock_reduced = true;
        let sold = order.lines(ItemKind::Line);
        let sold = sold.map(|line| (line.row.product_id, line.row.quantity.to_whole()));
        order.details.counted_sales = Some(sold.collect());
    }
}

/// A note of the program's own on the change of an order's status.
pub(crate) fn status_note(order: &Order, from: &str, created: Timestamp) -> OrderNoteRow {
    OrderNoteRow {
        note_id: 0,
        order_id: order.id(),
        author: effects::SYSTEM.to_owned(),
        text: effects::status_note(from, &order.row.status),
        customer_note: false,
        added_by_user: false,
        created,
    }
}

/// The event that tells of an order or refund of the past.
pub(crate) fn event(order: &Order, now: Timestamp) -> Event {
    let kind = match order.row.kind {
        OrderKind::Order => "order.created",
        OrderKind::Refund => "refund.created",
    };
    let payload = effects::payload(order).to_string();
    Event::of_site(events::imported(kind), order.id(), payload, now)
}

/// The secret of an order that these bytes stand for.
pub(crate) fn order_key(bytes: [u8; KEY_BYTES]) -> String {
    write::key_of(bytes)
}
