//! A crowd at random: several buyers and the shop's people at once, in steps that follow from a
//! seed. **Whatever they do, stock, money and coupons come out even** whenever they rest, nobody is
//! answered with a failure of ours, and nobody sees another's cart.
//!
//! The seed of a run is printed; `CROWD_SEED` repeats it and `CROWD_ROUNDS` makes it longer. In
//! which order threads get their turn is not repeatable.

mod ledger;
mod people;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use types::Timestamp;

use self::ledger::Ledger;
use self::people::{Clerk, Shopper};
use super::dice::Dice;
use super::support::{ADMIN, TestShop, now};

const SHOPPERS: u8 = 4;
/// Steps of each in a round; all rest after it.
const STEPS: usize = 12;
const ROUNDS: u64 = 4;

/// The code of a coupon, what it is, and how many orders may have it.
const COUPONS: [(&str, &str, i64, Option<i64>); 3] = [
    ("few", "fixed_cart", 5, Some(4)),
    ("tenth", "percent", 10, Some(6)),
    ("each", "percent", 20, None),
];
/// How often one person may use the last of them.
const USES_EACH: i64 = 2;

/// Something that is sold.
#[derive(Clone, Debug)]
struct Good {
    id: i64,
    price: i64,
    /// Pieces at the beginning, where they are counted.
    stock: Option<i64>,
    ships: bool,
}

#[test]
fn stock_money_and_coupons_come_out_even() {
    let seed = number_in("CROWD_SEED");
    let seed = seed.unwrap_or_else(|| RandomState::new().build_hasher().finish());
    println!("CROWD_SEED={seed}");
    let (shop, goods) = furnished();
    let ledger = Ledger { shop: &shop, goods: &goods };
    let mut dice = Dice::new(seed);
    let mut shoppers: Vec<Shopper> = (0..SHOPPERS)
        .map(|number| Shopper::new(&shop, number, &goods, Dice::new(roll(&mut dice))))
        .collect();
    let mut clerk = Clerk::new(&shop, Dice::new(roll(&mut dice)));
    for _ in 0..number_in("CROWD_ROUNDS").unwrap_or(ROUNDS) {
        thread::scope(|scope| {
            for shopper in &mut shoppers {
                scope.spawn(move || (0..STEPS).for_each(|_| shopper.step()));
            }
            scope.spawn(|| (0..STEPS).for_each(|_| clerk.step()));
        });
        ledger.check();
        shoppers.iter().zip(shoppers.iter().cycle().skip(1)).for_each(|(one, next)| {
            one.sees_nothing_of(next);
        });
    }
    people::forget(&shop.site);
    ledger.check();
    ledger.check_nothing_is_left();
}

fn number_in(variable: &str) -> Option<u64> {
    std::env::var_os(variable)?.to_str()?.parse().ok()
}

fn roll(dice: &mut Dice) -> u64 {
    u64::try_from(dice.between(0, i64::MAX - 1)).unwrap()
}

/// When every cart of today is over.
fn days_later() -> Timestamp {
    now().plus(Duration::from_hours(49))
}

/// A shop with few pieces, coupons of few uses, and a gateway with a page of its own.
fn furnished() -> (TestShop, Arc<[Good]>) {
    let (shop, ids) = TestShop::furnished();
    let path = format!("/wc/v3/products/{}", ids.anchor);
    shop.made("PUT", &path, &json!({ "stock_quantity": 14 }));
    let buoy = shop.product(&json!({
        "name": "Buoy", "regular_price": "7", "manage_stock": true, "stock_quantity": 9,
    }));
    for (code, kind, amount, limit) in COUPONS {
        let each = if limit.is_none() { Some(USES_EACH) } else { None };
        let coupon = json!({
            "code": code, "discount_type": kind, "amount": amount.to_string(),
            "usage_limit": limit, "usage_limit_per_user": each,
        });
        shop.made("POST", "/wc/v3/coupons", &coupon);
    }
    let gateway = json!({ "id": "test", "title": "Card", "sandbox": true, "enabled": true });
    shop.made("POST", "/boardwalk/v1/payment-gateways", &gateway);
    let good = |id, price, stock, ships| Good { id, price, stock, ships };
    let goods = [
        good(ids.anchor, 25, Some(14), true),
        good(buoy, 7, Some(9), true),
        good(ids.rope, 10, None, true),
        good(ids.course, 60, None, false),
    ];
    (shop, goods.into())
}

/// Everything that there is of a kind, page by page.
fn all(shop: &TestShop, path: &str) -> Vec<Value> {
    let mut items = Vec::new();
    for page in 1.. {
        let answer = shop.get(&format!("{path}?per_page=100&page={page}"), ADMIN);
        assert_eq!(answer.status, 200, "{}", answer.json);
        let found = answer.json.as_array().unwrap();
        items.extend(found.iter().cloned());
        if found.len() < 100 {
            break;
        }
    }
    items
}
