//! What coupons take off the lines of an order: of each line a part of the price, to the least unit
//! of the currency, so that the parts add up to the whole.

use types::Amount;

use super::money::{Half, floor, round, unit};

/// A line as coupons see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Priced {
    /// Its place among the lines of the order.
    pub(super) index: usize,
    /// The price of all of them together before discounts; with taxes if prices have them.
    pub(super) price: Amount,
    pub(super) quantity: i64,
}

/// What a coupon does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) kind: DiscountType,
    pub(super) amount: Amount,
    /// To how many items it applies; none for all.
    pub(super) items_limit: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiscountType {
    Percent,
    FixedCart,
    FixedProduct,
}

impl DiscountType {
    pub(super) fn of_name(name: &str) -> Self {
        match name {
            "percent" => Self::Percent,
            "fixed_product" => Self::FixedProduct,
            _ => Self::FixedCart,
        }
    }
}

/// The discounts of one coupon after another.
#[derive(Debug)]
pub(super) struct Discounts {
    lines: Vec<Priced>,
    decimals: u32,
    /// Whether a percentage is of what other coupons have left.
    sequentially: bool,
    /// What was taken off each line by now, by the place in `lines`.
    taken: Vec<Amount>,
}

/// What one coupon takes off, by place of the line in the order.
pub(super) type ByLine = Vec<(usize, Amount)>;

impl Discounts {
    /// The line whose items are dearest comes first.
    pub(super) fn new(mut lines: Vec<Priced>, decimals: u32, sequentially: bool) -> Self {
        lines.sort_by_key(|line| {
            let one = line.price.divided_by(Amount::from_whole(line.quantity));
            std::cmp::Reverse(one.unwrap_or_default())
        });
        let taken = vec![Amount::ZERO; lines.len()];
        Self { lines, decimals, sequentially, taken }
    }

    /// Applies a coupon to the lines of these places.
    pub(super) fn apply(&mut self, offer: &Offer, indexes: &[usize]) -> ByLine {
        let chosen: Vec<usize> = (0..self.lines.len())
            .filter(|index| {
                self.line(*index)
                    .is_some_and(|line| line.quantity > 0 && indexes.contains(&line.index))
                    && !self.left(*index).is_zero()
            })
            .collect();
        let before = self.taken.clone();
        match offer.kind {
            DiscountType::Percent => self.percent(offer, &chosen),
            DiscountType::FixedProduct => {
                self.each(offer.amount, offer.items_limit, &chosen);
            }
            DiscountType::FixedCart => self.cart(offer.amount, offer.items_limit, chosen),
        }
        let pairs = self.lines.iter().zip(self.taken.iter().zip(before));
        pairs.map(|(line, (after, before))| (line.index, *after - before)).collect()
    }

    fn line(&self, index: usize) -> Option<Priced> {
        self.lines.get(index).copied()
    }

    fn take(&mut self, index: usize, amount: Amount) {
        if let Some(taken) = self.taken.get_mut(index) {
            *taken += amount;
        }
    }

    /// What of a line's price is left, to the least unit.
    fn left(&self, index: usize) -> Amount {
        let price = self.line(index).map_or(Amount::ZERO, |line| line.price);
        let taken = self.taken.get(index).copied().unwrap_or_default();
        (price - taken).rounded(self.decimals).abs()
    }

    fn percent(&mut self, offer: &Offer, chosen: &[usize]) {
        let mut applied = 0;
        let (mut total, mut base) = (Amount::ZERO, Amount::ZERO);
        let part = |price: Amount| price.share(offer.amount, Amount::HUNDRED).unwrap_or_default();
        for index in chosen {
            let Some(line) = self.line(*index) else { continue };
            let left = self.left(*index);
            let price = if self.sequentially { left } else { line.price.rounded(self.decimals) };
            let count = counted(offer.items_limit, applied, line.quantity);
            let price = if count == line.quantity {
                price
            } else {
                let (count, all) = (Amount::from_whole(count), Amount::from_whole(line.quantity));
                price.share(count, all).unwrap_or_default()
            };
            let discount = floor(part(price), self.decimals).min(left);
            base += price;
            total += discount;
            applied += count;
            self.take(*index, discount);
        }
        let whole = round(part(base), self.decimals, Half::Down);
        if total < whole {
            self.remainder(whole - total, chosen);
        }
    }

    /// So much off each item; says how much that is together.
    fn each(&mut self, amount: Amount, limit: Option<i64>, chosen: &[usize]) -> Amount {
        let mut applied = 0;
        let mut total = Amount::ZERO;
        for index in chosen {
            let Some(line) = self.line(*index) else { continue };
            let count = counted(limit, applied, line.quantity);
            let one = match limit.filter(|limit| *limit > 0) {
                Some(_) => {
                    let all = Amount::from_whole(line.quantity);
                    amount.min(line.price.divided_by(all).unwrap_or_default())
                }
                None => amount,
            };
            let discount = one.times(Amount::from_whole(count)).min(self.left(*index));
            total += discount;
            applied += count;
            self.take(*index, discount);
        }
        total
    }

    /// So much off all items together, evenly.
    fn cart(&mut self, amount: Amount, limit: Option<i64>, mut chosen: Vec<usize>) {
        let mut rest = amount;
        loop {
            chosen.retain(|index| !self.left(*index).is_zero());
            let lines = chosen.iter().filter_map(|index| self.line(*index));
            let count: i64 = lines.map(|line| line.quantity).sum();
            if count == 0 || rest <= Amount::ZERO {
                return;
            }
            let even = rest.divided_by(Amount::from_whole(count)).unwrap_or_default();
            let even = floor(even, self.decimals);
            if even.is_zero() {
                self.remainder(rest, &chosen);
                return;
            }
            let taken = self.each(even, limit, &chosen);
            if taken.is_zero() {
                return;
            }
            rest -= taken;
        }
    }

    /// Spreads what is left by one least unit for each item.
    fn remainder(&mut self, amount: Amount, chosen: &[usize]) {
        let unit = unit(self.decimals).as_millionths();
        // The last unit may be more than what was left to take.
        let mut rest = amount.as_millionths().div_euclid(unit)
            + i64::from(amount.as_millionths().rem_euclid(unit) > 0);
        for index in chosen {
            let Some(line) = self.line(*index) else { continue };
            let available = self.left(*index).as_millionths().div_euclid(unit);
            let units = line.quantity.min(available).min(rest);
            self.take(*index, Amount::from_millionths(units.saturating_mul(unit)));
            rest -= units;
            if rest <= 0 {
                return;
            }
        }
    }
}

/// To how many items of a line a coupon applies that has applied to so many already.
fn counted(limit: Option<i64>, applied: i64, quantity: i64) -> i64 {
    match limit.filter(|limit| *limit > 0) {
        Some(limit) => (limit - applied).clamp(0, quantity),
        None => quantity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Amount {
        text.parse().unwrap()
    }

    fn lines(prices: &[(&str, i64)]) -> Vec<Priced> {
        let priced = |(index, (price, quantity)): (usize, &(&str, i64))| Priced {
            index,
            price: amount(price),
            quantity: *quantity,
        };
        prices.iter().enumerate().map(priced).collect()
    }

    fn taken(prices: &[(&str, i64)], offers: &[(DiscountType, &str, Option<i64>)]) -> Vec<String> {
        let mut discounts = Discounts::new(lines(prices), 2, false);
        let indexes: Vec<usize> = (0..prices.len()).collect();
        for (kind, text, items_limit) in offers {
            let offer = Offer { kind: *kind, amount: amount(text), items_limit: *items_limit };
            discounts.apply(&offer, &indexes);
        }
        let mut pairs: Vec<_> = discounts.lines.iter().zip(&discounts.taken).collect();
        pairs.sort_by_key(|(line, _)| line.index);
        pairs.into_iter().map(|(_, taken)| taken.to_string()).collect()
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        use DiscountType::{FixedCart, FixedProduct, Percent};
        let three = [("10", 1), ("10", 1), ("10", 1)];
        for (prices, offers, expected) in [
            (&[("0", 1), ("45", 1), ("6.75", 1)][..], &[(Percent, "20", None)][..], "0 9 1.35"),
            (&[("9.99", 1), ("9.99", 1)], &[(Percent, "15", None)], "1.5 1.5"),
            (&[("225", 5)], &[(Percent, "20", None)], "45"),
            (&three, &[(FixedCart, "10", None)], "3.34 3.33 3.33"),
            (&three, &[(FixedCart, "100", None)], "10 10 10"),
            (&three, &[(FixedProduct, "4", None)], "4 4 4"),
            (&[("30", 3), ("5", 1)], &[(FixedProduct, "4", Some(2))], "8 0"),
            (&[("30", 3), ("5", 1)], &[(Percent, "50", Some(2))], "10 0"),
            (&[("10", 1)], &[(Percent, "50", None), (FixedCart, "8", None)], "10"),
            (&[("10", 1)], &[(FixedCart, "0.005", None)], "0.01"),
            (&[("0", 1)], &[(FixedCart, "5", None)], "0"),
            (&[("16", 1), ("39.8", 4), ("34.98", 2)], &[(FixedCart, "5", None)], "0.72 2.84 1.44"),
        ] {
            assert_eq!(taken(prices, offers).join(" "), expected, "{prices:?} {offers:?}");
        }
    }
}
