//! The books: what must be true of a shop in which nobody moves.

use std::collections::HashMap;

use serde_json::Value;
use types::Amount;

use super::super::support::{TestShop, now};
use super::{COUPONS, Good, USES_EACH, all};

pub(super) struct Ledger<'s> {
    pub(super) shop: &'s TestShop,
    pub(super) goods: &'s [Good],
}

/// Pieces that are kept for a buyer.
struct Hold {
    order_id: i64,
    product_id: i64,
    quantity: i64,
    is_over: bool,
}

fn amount(value: &Value) -> Amount {
    Amount::parse(value.as_str().unwrap()).unwrap()
}

fn hundredths(of: Amount, count: i64) -> Amount {
    Amount::from_millionths(of.as_millionths() * count / 100)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn status(order: &Value) -> &str {
    order["status"].as_str().unwrap()
}

impl Ledger<'_> {
    pub(super) fn check(&self) {
        let orders = all(self.shop, "/wc/v3/orders");
        self.check_stock(&orders);
        self.check_coupons(&orders);
        for order in &orders {
            self.check_money(order);
        }
    }

    /// When everybody is gone, nothing is kept for them.
    pub(super) fn check_nothing_is_left(&self) {
        assert_eq!(self.holds().len(), 0, "pieces are still held");
        assert_eq!(self.statuses("checkout-draft").len(), 0, "drafts without a cart");
        assert_eq!(self.statuses("pending").len(), 0, "orders that nobody paid in time");
    }

    /// What is there and what was sold is what there was; what is held is there.
    fn check_stock(&self, orders: &[Value]) {
        let mut sold: HashMap<i64, i64> = HashMap::new();
        for order in orders {
            if !matches!(status(order), "on-hold" | "processing" | "completed" | "refunded") {
                continue;
            }
            for (id, kept) in self.kept(order) {
                *sold.entry(id).or_default() += kept;
            }
        }
        let alive = [self.statuses("checkout-draft"), self.statuses("pending")].concat();
        let holds = self.holds();
        for hold in &holds {
            assert!(alive.contains(&hold.order_id), "#{} holds what it gave up", hold.order_id);
        }
        for good in self.goods {
            let Some(initial) = good.stock else { continue };
            let left = self.shop.stock_of(good.id).as_i64().unwrap();
            let sold = sold.get(&good.id).copied().unwrap_or_default();
            assert!(left >= 0, "{left} of {good:?}");
            assert_eq!(left + sold, initial, "{good:?}, of which {sold} were sold");
            let of_good = holds.iter().filter(|hold| hold.product_id == good.id && !hold.is_over);
            let held: i64 = of_good.map(|hold| hold.quantity).sum();
            assert!(held <= left, "{held} are held of {left}: {good:?}");
        }
    }

    /// How many pieces of each product the order has still: no more can come back than were sold.
    fn kept(&self, order: &Value) -> HashMap<i64, i64> {
        let mut kept: HashMap<i64, i64> = HashMap::new();
        let mut add = |lines: &Value| {
            for line in list(lines) {
                let id = line["product_id"].as_i64().unwrap();
                *kept.entry(id).or_default() += line["quantity"].as_i64().unwrap();
            }
        };
        add(&order["line_items"]);
        if !list(&order["refunds"]).is_empty() {
            // The quantities of refunds are below zero.
            let refunds = all(self.shop, &format!("/wc/v3/orders/{}/refunds", order["id"]));
            for refund in &refunds {
                add(&refund["line_items"]);
            }
        }
        for count in kept.values_mut() {
            *count = (*count).max(0);
        }
        kept
    }

    /// Coupons are used as often as there are orders with them, and no oftener than they may be.
    fn check_coupons(&self, orders: &[Value]) {
        let coupons = all(self.shop, "/wc/v3/coupons");
        for (code, _, _, limit) in COUPONS {
            let has = |order: &&Value| {
                let mut lines = list(&order["coupon_lines"]).iter();
                status(order) != "cancelled" && lines.any(|line| line["code"] == code)
            };
            let with: Vec<&Value> = orders.iter().filter(has).collect();
            let uses = i64::try_from(with.len()).unwrap();
            let coupon = coupons.iter().find(|coupon| coupon["code"] == code).unwrap();
            assert_eq!(coupon["usage_count"], uses, "{code}");
            assert!(limit.is_none_or(|limit| uses <= limit), "{code} was used {uses} times");
            let mut by: HashMap<&Value, i64> = HashMap::new();
            for order in &with {
                *by.entry(&order["billing"]["email"]).or_default() += 1;
            }
            let most = by.values().copied().max().unwrap_or_default();
            assert!(limit.is_some() || most <= USES_EACH, "{code}: {by:?}");
        }
    }

    /// An order comes to what its goods cost, less its coupons, with shipping and taxes.
    fn check_money(&self, order: &Value) {
        let sum = |items: &Value, name: &str| -> Amount {
            list(items).iter().map(|item| amount(&item[name])).sum()
        };
        let lines = &order["line_items"];
        let mut goods = Amount::ZERO;
        let mut ships = false;
        for line in list(lines) {
            let good = self.goods.iter().find(|good| line["product_id"] == good.id).unwrap();
            let price = Amount::from_whole(good.price * line["quantity"].as_i64().unwrap());
            assert_eq!(amount(&line["subtotal"]), price, "{line}");
            assert!(amount(&line["total"]) >= Amount::ZERO, "{line}");
            goods += price;
            ships |= good.ships;
        }
        let mut off = Amount::ZERO;
        for line in list(&order["coupon_lines"]) {
            let (_, kind, value, _) =
                COUPONS.into_iter().find(|(code, ..)| line["code"] == *code).unwrap();
            off += match kind {
                "percent" => hundredths(goods, value),
                _ => Amount::from_whole(value),
            };
        }
        let off = off.min(goods);
        let shipping = Amount::from_whole(if ships { 5 } else { 0 });
        assert_eq!(amount(&order["discount_total"]), off, "{order}");
        assert_eq!(sum(lines, "subtotal") - sum(lines, "total"), off, "{order}");
        assert_eq!(amount(&order["shipping_total"]), shipping, "{order}");
        let net = goods - off + shipping;
        let tax = amount(&order["total_tax"]);
        assert_eq!(amount(&order["total"]), net + tax, "{order}");
        // Each line is rounded by itself.
        let cent = hundredths(Amount::from_whole(1), 1);
        let most_off = list(lines).iter().map(|_| cent).sum();
        let exact = hundredths(net, 10);
        assert!(tax - exact <= most_off && exact - tax <= most_off, "{tax} of {net}: {order}");
        let back = list(&order["refunds"]).iter().map(|one| Amount::ZERO - amount(&one["total"]));
        assert!(back.sum::<Amount>() <= amount(&order["total"]), "{order}");
    }

    fn holds(&self) -> Vec<Hold> {
        let text = "SELECT order_id, product_id, quantity, expires_us FROM stock_holds";
        self.shop.read(move |conn| {
            let mut holds = Vec::new();
            conn.query_text(text, &[], &mut |row| {
                holds.push(Hold {
                    order_id: row.get(0)?,
                    product_id: row.get(1)?,
                    quantity: Amount::from_millionths(row.get(2)?).to_whole(),
                    is_over: row.get::<i64>(3)? <= now().as_micros(),
                });
                Ok(())
            })?;
            Ok(holds)
        })
    }

    /// The orders with a status.
    fn statuses(&self, status: &'static str) -> Vec<i64> {
        self.shop.read(move |conn| {
            let mut ids = Vec::new();
            let text = "SELECT order_id FROM orders WHERE status = $1";
            conn.query_text(text, &[status.into()], &mut |row| {
                ids.push(row.get(0)?);
                Ok(())
            })?;
            Ok(ids)
        })
    }
}
