//! What an order comes to: taxes of its lines, and sums of everything.
//!
//! **Taxes are kept with six decimals and rounded line by line**, or not before the sum, as the
//! shop has chosen.

use std::collections::BTreeSet;
use std::sync::Arc;

use db::Conn;
use frame::Options;
use shop_rows::order::ItemKind;
use shop_rows::tax_class;
use types::{Amount, Result};

use super::goods::Goods;
use super::money::{Half, round};
use super::record::{Line, Order, TaxShare};
use super::taxes::{self, Rates, Taken, TaxLocation};
use crate::common::amounts;

pub(super) const TAXABLE: &str = "taxable";

/// What the shop has chosen about money and taxes.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[derive(Debug)]
pub(super) struct Shop {
    pub(super) decimals: u32,
    pub(super) calculates_taxes: bool,
    pub(super) prices_include_tax: bool,
    pub(super) rounds_sums: bool,
    pub(super) discounts_sequentially: bool,
    pub(super) rates: Arc<Rates>,
    /// Whether it is a quote that is calculated. Who has said no country yet is taxed nowhere, and
    /// the taxes of a coupon are rounded in sum.
    pub(super) is_quote: bool,
    based_on: String,
    base: TaxLocation,
    shipping_class: String,
    /// The standard class first.
    classes: Vec<String>,
}

impl Shop {
    pub(super) fn load(conn: &mut dyn Conn, options: &Options) -> Result<Self> {
        let location = options.text("woocommerce_default_country");
        let (country, state) = location.split_once(':').unwrap_or((&location, ""));
        let (postcode, city) =
            (options.text("woocommerce_store_postcode"), options.text("woocommerce_store_city"));
        let classes = tax_class::all(conn)?.into_iter().map(|class| class.slug);
        Ok(Self {
            decimals: amounts::decimals(options),
            calculates_taxes: options.is_on("woocommerce_calc_taxes"),
            prices_include_tax: options.is_on("woocommerce_prices_include_tax"),
            rounds_sums: options.is_on("woocommerce_tax_round_at_subtotal"),
            discounts_sequentially: options.is_on("woocommerce_calc_discounts_sequentially"),
            is_quote: false,
            based_on: options.text("woocommerce_tax_based_on"),
            base: TaxLocation::new(country, state, &postcode, &city),
            shipping_class: options.text("woocommerce_shipping_tax_class"),
            classes: [String::new()].into_iter().chain(classes).collect(),
            rates: Rates::kept(conn, options)?,
        })
    }

    /// Where the shop is.
    pub(super) fn base(&self) -> &TaxLocation {
        &self.base
    }

    /// Where the order is taxed.
    pub(super) fn location(&self, order: &Order) -> TaxLocation {
        let (billing, shipping) = (&order.details.billing, &order.details.shipping);
        let picked_up = order
            .lines(ItemKind::Shipping)
            .any(|line| matches!(&*line.details.method_id, "local_pickup" | "pickup_location"));
        let address = match self.based_on.as_str() {
            "base" => None,
            _ if picked_up => None,
            "shipping" if !shipping.country.is_empty() => Some(shipping),
            "shipping" if self.is_quote => return TaxLocation::of_address(shipping),
            _ => Some(billing),
        };
        match address.filter(|address| !address.country.is_empty()) {
            Some(address) => TaxLocation::of_address(address),
            None => self.base.clone(),
        }
    }

    /// A price of the catalogue without the taxes that it may include.
    pub(super) fn without_tax(&self, price: Amount, class: &str) -> Amount {
        if !self.prices_include_tax || !self.calculates_taxes {
            return price;
        }
        let rates = self.rates.at(&self.base, class);
        price - taxes::sum(&taxes::within(price, &rates))
    }

    pub(super) fn round_tax(&self, tax: Amount) -> Amount {
        let half = if self.prices_include_tax { Half::Down } else { Half::Up };
        round(tax, self.decimals, half)
    }

    /// The tax of a line, which is rounded unless only sums are.
    fn line_tax(&self, tax: Amount) -> Amount {
        if self.rounds_sums { tax } else { self.round_tax(tax) }
    }

    /// The price of a line, which is rounded unless only sums are.
    fn line_price(&self, price: Amount) -> Amount {
        if self.rounds_sums { price } else { price.rounded(self.decimals) }
    }
}

/// Whether a line is taxed.
pub(super) fn is_taxed(line: &Line, goods: &Goods) -> bool {
    match line.row.kind {
        ItemKind::Line => goods.of_line(line).is_none_or(|good| good.tax_status() == TAXABLE),
        _ => line.details.tax_status == TAXABLE,
    }
}

/// Brings taxes and sums up to date with the lines.
pub(super) fn calculate(order: &mut Order, goods: &Goods, shop: &Shop) {
    let cart = cart_total(order, shop);
    let shipping = shipping_total(order, shop);
    limit_fees(order, cart + shipping, shop);
    tax_lines(order, goods, shop);
    collect_taxes(order, shop);
    sum_up(order, shop);
}

/// The sums of an order whose taxes stand.
pub(super) fn sum_up(order: &mut Order, shop: &Shop) {
    let lines = || order.lines(ItemKind::Line);
    let subtotal: Amount = lines().map(|line| shop.line_price(line.row.subtotal)).sum();
    let shares = lines().flat_map(|line| &line.details.taxes);
    let discounted = shares.map(|share| share.subtotal.unwrap_or_default() - share.total);
    let discount_tax = shop.round_tax(discounted.sum());
    let cart = cart_total(order, shop);
    let fees: Amount = order.lines(ItemKind::Fee).map(|line| line.row.total).sum();
    let shipping = shipping_total(order, shop);
    let row = &mut order.row;
    row.shipping_total = shipping;
    row.discount_total = (subtotal - cart).rounded(shop.decimals);
    row.discount_tax = discount_tax;
    let sum = cart + fees + shipping + row.cart_tax + row.shipping_tax;
    row.total = sum.rounded(shop.decimals);
}

fn cart_total(order: &Order, shop: &Shop) -> Amount {
    order.lines(ItemKind::Line).map(|line| shop.line_price(line.row.total)).sum()
}

fn shipping_total(order: &Order, shop: &Shop) -> Amount {
    let lines = order.lines(ItemKind::Shipping);
    lines.map(|line| line.row.total.rounded(shop.decimals)).sum()
}

/// A fee that gives something back gives at most what the rest costs.
fn limit_fees(order: &mut Order, rest: Amount, shop: &Shop) {
    let mut rest = rest;
    for line in order.lines_mut(ItemKind::Fee) {
        let most = -rest.rounded(shop.decimals);
        if line.row.total.is_negative() && most.is_negative() && line.row.total < most {
            line.row.total = most;
        }
        rest += line.row.total;
    }
}

/// Calculates the taxes of every line by the rates that hold where the order is taxed.
fn tax_lines(order: &mut Order, goods: &Goods, shop: &Shop) {
    let location = shop.location(order);
    let classes = classes_of_lines(order, goods);
    let shipping_class = match shop.shipping_class.as_str() {
        "inherit" => shop.classes.iter().find(|class| classes.contains(*class)).cloned(),
        class => Some(class.to_owned()),
    };
    let costs = costs_by_class(order, goods, &classes);
    for line in &mut order.items {
        let taxed = shop.calculates_taxes && is_taxed(line, goods);
        let rates = |class: &str| shop.rates.at(&location, class);
        let (total, subtotal) = match line.row.kind {
            ItemKind::Line if taxed => {
                let rates = rates(&line.details.tax_class);
                let subtotal = taxes::on_top(line.row.subtotal, &rates);
                (taxes::on_top(line.row.total, &rates), Some(subtotal))
            }
            ItemKind::Fee if line.row.total.is_negative() && shop.calculates_taxes => {
                (apportioned(line.row.total, &costs, shop, &location), None)
            }
            ItemKind::Fee if taxed => {
                (taxes::on_top(line.row.total, &rates(&line.details.tax_class)), None)
            }
            ItemKind::Shipping if taxed => match &shipping_class {
                Some(class) => {
                    let mut rates = rates(class);
                    rates.retain(|rate| rate.shipping);
                    (taxes::on_top(line.row.total, &rates), None)
                }
                None => (Vec::new(), None),
            },
            ItemKind::Tax | ItemKind::Coupon => continue,
            _ => (Vec::new(), None),
        };
        set_taxes(line, &total, subtotal.as_deref(), shop);
    }
}

/// Writes the taxes of a line by rate and in all.
pub(super) fn set_taxes(line: &mut Line, total: &[Taken], subtotal: Option<&[Taken]>, shop: &Shop) {
    let is_product = line.row.kind == ItemKind::Line;
    let share = |(index, (rate_id, tax)): (usize, &Taken)| TaxShare {
        rate_id: *rate_id,
        total: *tax,
        subtotal: is_product.then(|| {
            let before = subtotal.and_then(|list| list.get(index));
            before.map_or(Amount::ZERO, |(_, tax)| *tax)
        }),
    };
    line.details.taxes = total.iter().enumerate().map(share).collect();
    line.row.total_tax = rounded(total, shop);
    line.row.subtotal_tax = rounded(subtotal.unwrap_or_default(), shop);
}

fn rounded(taken: &[Taken], shop: &Shop) -> Amount {
    taken.iter().map(|(_, tax)| shop.line_tax(*tax)).sum()
}

/// The tax classes of what is sold.
fn classes_of_lines(order: &Order, goods: &Goods) -> BTreeSet<String> {
    let taxed = order.lines(ItemKind::Line).filter(|line| {
        let status = goods.of_line(line).map(|good| good.tax_status().to_owned());
        status.is_none_or(|status| matches!(&*status, TAXABLE | "shipping"))
    });
    taxed.map(|line| line.details.tax_class.clone()).collect()
}

/// What is sold by tax class; none for what is not taxed.
fn costs_by_class(
    order: &Order,
    goods: &Goods,
    classes: &BTreeSet<String>,
) -> Vec<(Option<String>, Amount)> {
    let mut costs: Vec<(Option<String>, Amount)> = Vec::new();
    let first = order.lines(ItemKind::Line).map(|line| &line.details.tax_class);
    let first = first.into_iter().find(|class| classes.contains(*class)).cloned();
    for line in &order.items {
        if matches!(line.row.kind, ItemKind::Tax | ItemKind::Coupon) || line.row.total.is_negative()
        {
            continue;
        }
        let class = if !is_taxed(line, goods) {
            None
        } else if line.row.kind == ItemKind::Shipping {
            Some(first.clone().unwrap_or_default())
        } else {
            Some(line.details.tax_class.clone())
        };
        match costs.iter_mut().find(|(known, _)| *known == class) {
            Some((_, cost)) => *cost += line.row.total,
            None => costs.push((class, line.row.total)),
        }
    }
    costs
}

/// The taxes of what is given back: in the proportion in which the rest is taxed.
fn apportioned(
    amount: Amount,
    costs: &[(Option<String>, Amount)],
    shop: &Shop,
    location: &TaxLocation,
) -> Vec<Taken> {
    let all: Amount = costs.iter().map(|(_, cost)| *cost).sum();
    let mut taken: Vec<Taken> = Vec::new();
    for (class, cost) in costs {
        let (Some(class), Some(part)) = (class, amount.share(*cost, all)) else { continue };
        for (rate_id, tax) in taxes::on_top(part, &shop.rates.at(location, class)) {
            add(&mut taken, rate_id, tax);
        }
    }
    taken
}

fn add(taken: &mut Vec<Taken>, rate_id: i64, tax: Amount) {
    match taken.iter_mut().find(|(known, _)| *known == rate_id) {
        Some((_, sum)) => *sum += tax,
        None => taken.push((rate_id, tax)),
    }
}

/// Lets the order have one tax line for each rate, and sums them up.
pub(super) fn collect_taxes(order: &mut Order, shop: &Shop) {
    let (mut cart, mut shipping): (Vec<Taken>, Vec<Taken>) = (Vec::new(), Vec::new());
    for line in &order.items {
        let sums = match line.row.kind {
            ItemKind::Line | ItemKind::Fee => &mut cart,
            ItemKind::Shipping => &mut shipping,
            ItemKind::Tax | ItemKind::Coupon => continue,
        };
        for share in &line.details.taxes {
            add(sums, share.rate_id, shop.line_tax(share.total));
        }
    }
    let mut left: Vec<i64> = Vec::new();
    for (rate_id, _) in cart.iter().chain(&shipping) {
        if !left.contains(rate_id) {
            left.push(*rate_id);
        }
    }
    order.items.retain(|line| {
        if line.row.kind != ItemKind::Tax {
            return true;
        }
        let location = left.iter().position(|rate_id| *rate_id == line.row.rate_id);
        location.map(|location| left.remove(location)).is_some()
    });
    for rate_id in left {
        let mut line = Line::of_kind(ItemKind::Tax);
        line.row.rate_id = rate_id;
        order.items.push(line);
    }
    let of = |sums: &[Taken], rate_id: i64| {
        sums.iter().find(|(known, _)| *known == rate_id).map_or(Amount::ZERO, |(_, tax)| *tax)
    };
    for line in order.lines_mut(ItemKind::Tax) {
        line.row.total_tax = of(&cart, line.row.rate_id);
        line.details.shipping_tax = Some(of(&shipping, line.row.rate_id));
        if let Some(rate) = shop.rates.get(line.row.rate_id) {
            line.row.name = rate.code();
            line.details.label =
                if rate.name.is_empty() { "Tax".into() } else { rate.name.clone() };
            line.details.compound = rate.compound;
            line.details.rate_percent = rate.rate;
        }
    }
    order.row.cart_tax = taxes::sum(&cart);
    order.row.shipping_tax = taxes::sum(&shipping);
    order.row.total_tax = shop.round_tax(order.row.cart_tax + order.row.shipping_tax);
}
