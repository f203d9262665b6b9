//! What goods, coupons and a way of shipping come to before anybody has ordered them.
//!
//! **A quote is an order that is not stored yet**: it is calculated by the functions that calculate
//! orders, and the order that is made of it comes to the same.

use contract::rest::Refusal;
use db::Conn;
use frame::Options;
use serde_json::{Value, json};
use shop_rows::order::ItemKind;
use types::{Amount, Result, Timestamp};

use super::coupons::{self, Categories};
use super::goods::{self, Goods};
use super::record::{Address, Line, Order};
use super::totals::{self, Shop};
use super::{effects, lines, view};
use crate::common::meta;
use crate::coupons::Coupon;

/// Something that a buyer wants.
#[derive(Clone, Debug)]
pub struct QuoteItem {
    /// The variation, or else the product.
    pub sold_id: i64,
    pub quantity: i64,
    /// What was chosen of a variation: names and values of attributes.
    pub chosen: Vec<(String, String)>,
}

/// Who wants it, and where it goes.
#[derive(Clone, Debug, Default)]
pub struct Buyer {
    /// The id of a user; 0 for a guest.
    pub customer_id: i64,
    pub billing: Address,
    pub shipping: Address,
}

/// A way of shipping and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Such as `flat_rate`.
    pub method_id: String,
    pub instance_id: i64,
    pub title: String,
    pub cost: Amount,
    pub is_taxable: bool,
    /// What is shipped, in words.
    pub items: String,
}

impl Rate {
    /// The name by which a buyer chooses it, such as `flat_rate:4`.
    pub fn id(&self) -> String {
        format!("{}:{}", self.method_id, self.instance_id)
    }
}

#[derive(Debug)]
pub struct Quote {
    order: Order,
    goods: Goods,
    shop: Shop,
    categories: Categories,
}

impl Quote {
    /// The goods alone.
    pub fn of(
        conn: &mut dyn Conn,
        options: &Options,
        buyer: Buyer,
        wanted: &[QuoteItem],
    ) -> Result<Self> {
        let mut shop = Shop::load(conn, options)?;
        shop.is_quote = true;
        let ids = wanted.iter().map(|wanted| wanted.sold_id).collect();
        let goods = Goods::of_ids(conn, ids)?;
        let mut order = Order::default();
        order.row.customer_id = buyer.customer_id;
        order.row.currency = options.text("woocommerce_currency");
        order.row.prices_include_tax = shop.prices_include_tax;
        order.details.billing = buyer.billing;
        order.details.shipping = buyer.shipping;
        for wanted in wanted {
            let Some(good) = goods.get(wanted.sold_id) else { continue };
            let mut line = Line::of_kind(ItemKind::Line);
            let count = Amount::from_whole(wanted.quantity);
            line.row.quantity = count;
            lines::set_good(&mut line, good);
            lines::set_price(&mut line, good, count, &shop);
            let entries =
                wanted.chosen.iter().map(|(name, value)| meta::entry(0, name, value.as_str()));
            line.details.meta_data = entries.collect();
            order.items.push(line);
        }
        totals::calculate(&mut order, &goods, &shop);
        Ok(Self { order, goods, shop, categories: Categories::new() })
    }

    pub fn order(&self) -> &Order {
        &self.order
    }

    pub fn into_order(self) -> Order {
        self.order
    }

    /// Reads what coupons may be restricted to.
    pub fn prepare_coupons(&mut self, conn: &mut dyn Conn) -> Result<()> {
        let ids: Vec<i64> = self.goods.ids().collect();
        self.categories = goods::categories(conn, &ids)?;
        Ok(())
    }

    /// Whether the coupon may be used.
    pub fn check_coupon(
        &self,
        coupon: &Coupon,
        now: Timestamp,
    ) -> std::result::Result<(), Refusal> {
        coupons::check(now, coupon, &self.order, &self.goods, &self.categories)
    }

    /// Whether the coupon is for whoever has the buyer's e-mail address.
    pub fn is_for_buyer(&self, coupon: &Coupon) -> bool {
        coupons::is_for_email(coupon, &self.order.details.billing.email)
    }

    /// Who buys, as coupons remember it.
    pub fn buyer(&self) -> String {
        effects::buyer(&self.order)
    }

    /// Takes off what the coupons take.
    pub fn redeem(&mut self, coupons: &[Coupon]) {
        let mut used = Vec::new();
        for coupon in coupons {
            used.push((self.order.items.len(), coupon.clone()));
            self.order.items.push(coupons::new_line(coupon, 0));
        }
        coupons::redeem(&mut self.order, &used, &self.goods, &self.categories, &self.shop);
    }

    /// Adds the way of shipping.
    pub fn ship(&mut self, rate: &Rate) {
        self.order.items.push(shipping_line(rate));
        totals::calculate(&mut self.order, &self.goods, &self.shop);
    }

    /// The taxes of a way of shipping, if it were chosen.
    pub fn shipping_tax(&self, rate: &Rate) -> Amount {
        let mut order = self.order.clone();
        order.items.retain(|line| line.row.kind != ItemKind::Shipping);
        order.items.push(shipping_line(rate));
        totals::calculate(&mut order, &self.goods, &self.shop);
        order.row.shipping_tax
    }

    /// Whether somebody has to do something once it is paid.
    pub fn needs_processing(&self) -> bool {
        view::needs_processing(&self.order, &self.goods)
    }

    /// Refuses what comes to more than can be calculated with.
    pub fn check_sums(&self) -> std::result::Result<(), Refusal> {
        lines::check_sums(&self.order)
    }
}

fn shipping_line(rate: &Rate) -> Line {
    let mut line = Line::of_kind(ItemKind::Shipping);
    line.row.name.clone_from(&rate.title);
    line.row.total = rate.cost;
    line.details.method_id.clone_from(&rate.method_id);
    line.details.instance_id = rate.instance_id.to_string();
    if !rate.is_taxable {
        "none".clone_into(&mut line.details.tax_status);
    }
    let items: Value = json!(rate.items);
    line.details.meta_data = vec![meta::entry(0, "Items", items)];
    line
}
