//! The demo's shop is the same for the same seed, believable, and adds up.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use commerce::demo::{self, Made, Plan, Seller, Standing};
use commerce::orders::{Line, Order};
use db::filter::{PAGE_MAX, Page};
use serde_json::{Value, json};
use shop_rows::download_log::{self, DownloadLogFilter};
use shop_rows::download_permission::{self, DownloadPermissionFilter};
use shop_rows::order::{ItemKind, OrderFilter, OrderKind, OrderSort};
use shop_rows::review::{self, ReviewFilter};
use site_rows::user::UserRow;
use types::{Amount, Timestamp};

use super::support::{ADMIN, TestShop, now};

const ORDERS: u64 = 3_000;
const DAYS: u32 = 500;

fn sellers() -> Vec<Seller> {
    let seller = |number: u32| Seller {
        merchant_id: format!("M{number}"),
        store_id: format!("S{number}"),
        tpn: format!("90000000000{number}"),
    };
    (1..=3).map(seller).collect()
}

fn plan(shop: &TestShop, seed: u64, orders: u64) -> Plan {
    let owner = shop.read(|conn| site_rows::user::find_by_login(conn, ADMIN));
    let owner_id = owner.map(|user: UserRow| user.user_id).unwrap();
    Plan { seed, orders, days: DAYS, until: now(), owner_id, sellers: sellers() }
}

fn made(seed: u64, orders: u64) -> (TestShop, Made) {
    let shop = TestShop::new();
    let plan = plan(&shop, seed, orders);
    let mut seen = 0;
    let made = demo::make(&shop.site, &plan, &mut |count| seen = count).unwrap();
    assert_eq!((made.orders, seen), (orders, orders));
    (shop, made)
}

/// All orders, or all refunds, with their lines.
fn records(shop: &TestShop, kind: OrderKind) -> Vec<Order> {
    let stored = shop.read(move |conn| {
        let mut all = Vec::new();
        loop {
            let offset = i64::try_from(all.len()).unwrap();
            let page = Page { offset, limit: PAGE_MAX };
            let sort = OrderSort::Id;
            let kinds = vec![kind];
            let wanted = OrderFilter { page, sort, kinds, ..OrderFilter::default() };
            let (rows, _) = shop_rows::order::list(conn, &wanted)?;
            if rows.is_empty() {
                return shop_rows::order::with_items(conn, all);
            }
            all.extend(rows);
        }
    });
    stored.into_iter().map(|order| Order::read(order).unwrap()).collect()
}

fn digest(shop: &TestShop) -> u64 {
    let mut hasher = DefaultHasher::new();
    for kind in [OrderKind::Order, OrderKind::Refund] {
        for order in records(shop, kind) {
            format!("{order:?}").hash(&mut hasher);
        }
    }
    let users = shop.read(site_rows::user::all);
    // The administrator is the test's own.
    for user in users.iter().filter(|user| user.login != ADMIN) {
        format!("{user:?}").hash(&mut hasher);
    }
    hasher.finish()
}

#[test]
fn the_same_seed_makes_the_same_shop() {
    let [first, again, other] = [9, 9, 10].map(|seed| digest(&made(seed, 300).0));
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn a_shop_is_made_once_and_only_where_there_is_none() {
    let shop = TestShop::new();
    assert_eq!(shop.read(demo::standing), Standing::Empty);
    let plan = plan(&shop, 1, 40);
    demo::make(&shop.site, &plan, &mut |_| {}).unwrap();
    assert_eq!(shop.read(demo::standing), Standing::Made { orders: 40, seed: 1 });
    let again = demo::make(&shop.site, &plan, &mut |_| {}).unwrap_err();
    assert!(again.to_string().contains("choose an empty one"), "{again}");

    let shop = TestShop::new();
    shop.ask("POST", "/wc/v3/products", ADMIN, &json!({ "name": "Own" }));
    assert_eq!(shop.read(demo::standing), Standing::InUse);

    let shop = TestShop::new();
    shop.write(|conn| db::fact::get_or_set(conn, "demo.begun", "x").map(drop));
    assert_eq!(shop.read(demo::standing), Standing::CutOff);
    let wrong = Plan { days: 0, ..plan };
    assert!(demo::make(&shop.site, &wrong, &mut |_| {}).is_err());
}

#[test]
fn an_order_comes_to_what_its_lines_say() {
    let (shop, _) = made(4, 400);
    for order in records(&shop, OrderKind::Order) {
        let sum =
            |kind: ItemKind, of: fn(&Line) -> Amount| -> Amount { order.lines(kind).map(of).sum() };
        let total = |line: &Line| line.row.total;
        let tax = |line: &Line| line.row.total_tax;
        let goods = sum(ItemKind::Line, total);
        let shipping = sum(ItemKind::Shipping, total);
        let cart_tax = sum(ItemKind::Line, tax);
        let shipping_tax = sum(ItemKind::Shipping, tax);
        let row = &order.row;
        let id = order.id();
        assert_eq!(row.total, goods + shipping + cart_tax + shipping_tax, "{id}");
        assert_eq!((row.cart_tax, row.shipping_tax), (cart_tax, shipping_tax), "{id}");
        assert_eq!(row.total_tax, cart_tax + shipping_tax, "{id}");
        let before = sum(ItemKind::Line, |line| line.row.subtotal);
        assert_eq!(row.discount_total, before - goods, "{id}");
        assert_eq!(row.discount_total, sum(ItemKind::Coupon, total), "{id}");
        assert_eq!(row.total, row.total.rounded(2), "{id}");
        assert!(order.lines(ItemKind::Line).next().is_some(), "{id}");
    }
}

/// An order that is sent to the interface again comes to the same.
#[test]
fn the_interface_reckons_the_same() {
    let (shop, _) = made(6, 150);
    let orders = records(&shop, OrderKind::Order);
    let mut with_coupons = 0;
    for order in orders.iter().filter(|order| order.row.status == "completed").take(60) {
        let answer = shop.get(&format!("/wc/v3/orders/{}", order.id()), ADMIN);
        assert_eq!(answer.status, 200);
        let body = &answer.json;
        let pick = |lines: &Value, names: &[&str]| -> Vec<Value> {
            let lines = lines.as_array().unwrap().iter();
            let chosen = |line: &Value| -> Value {
                names.iter().map(|name| ((*name).to_owned(), line[name].clone())).collect()
            };
            lines.map(chosen).collect()
        };
        // Coupons of campaigns have ended, so they would be refused.
        let coupons = pick(&body["coupon_lines"], &["code"]);
        if coupons.iter().any(|coupon| coupon["code"] != "welcome10") {
            continue;
        }
        with_coupons += coupons.len();
        let goods = ["product_id", "variation_id", "quantity"];
        let sent = ["method_id", "method_title", "instance_id", "total"];
        let again = json!({
            "billing": body["billing"],
            "shipping": body["shipping"],
            "line_items": pick(&body["line_items"], &goods),
            "shipping_lines": pick(&body["shipping_lines"], &sent),
            "coupon_lines": coupons,
        });
        let answer = shop.ask("POST", "/wc/v3/orders", ADMIN, &again);
        assert_eq!(answer.status, 201, "{}", answer.json);
        for name in ["total", "total_tax", "cart_tax", "discount_total", "shipping_total"] {
            assert_eq!(answer.json[name], body[name], "{name} of {}", order.id());
        }
    }
    assert!(with_coupons > 0);
}

#[test]
fn everything_that_is_named_is_there() {
    let (shop, made) = made(3, 600);
    let orders = records(&shop, OrderKind::Order);
    let refunds = records(&shop, OrderKind::Refund);
    assert_eq!(u64::try_from(refunds.len()), Ok(made.refunds));
    let users: HashSet<i64> =
        shop.read(site_rows::user::all).iter().map(|user| user.user_id).collect();
    let by_id: HashMap<i64, &Order> = orders.iter().map(|order| (order.id(), order)).collect();
    let mut ids = HashSet::new();
    for order in orders.iter().chain(&refunds) {
        assert!(ids.insert(order.id()));
        assert!(order.row.customer_id == 0 || users.contains(&order.row.customer_id));
        assert!(order.row.created <= order.row.modified && order.row.modified <= now());
        for line in &order.items {
            assert!(ids.insert(-line.row.item_id), "numbers of lines are their own");
        }
    }
    for refund in &refunds {
        let order = by_id[&refund.row.parent_id];
        assert!(refund.row.created > order.row.completed.unwrap());
        assert!(refund.row.refund_amount <= order.row.total);
        let lines: Amount = refund.items.iter().map(|line| line.row.total).sum();
        let taxes: Amount = refund.lines(ItemKind::Tax).map(|line| line.row.total_tax).sum();
        let shipping_taxes = refund.lines(ItemKind::Tax).filter_map(|l| l.details.shipping_tax);
        let all = lines + taxes + shipping_taxes.sum();
        assert_eq!(all, refund.row.total, "refund {}", refund.id());
        let is_full = refund.row.refund_amount == order.row.total;
        assert_eq!(is_full, order.row.status == "refunded");
        for line in refund.items.iter().filter(|line| line.row.kind == ItemKind::Line) {
            let of: i64 = line.meta("_refunded_item_id").unwrap().parse().unwrap();
            let whole = order.items.iter().find(|line| line.row.item_id == of).unwrap();
            assert!(-line.row.quantity <= whole.row.quantity);
        }
    }
    let sold: i64 =
        orders.iter().flat_map(|o| o.details.counted_sales.iter().flatten()).map(|s| s.1).sum();
    let products = all_of(&shop, "/wc/v3/products");
    let counted: i64 =
        products.iter().map(|product| product["total_sales"].as_i64().unwrap()).sum();
    assert_eq!(counted, sold, "products know what was sold");
    let known: HashSet<i64> =
        products.iter().map(|product| product["id"].as_i64().unwrap()).collect();
    let mut lines = orders.iter().flat_map(|order| order.lines(ItemKind::Line));
    assert!(lines.all(|line| known.contains(&line.row.product_id)));
    let coupons = all_of(&shop, "/wc/v3/coupons");
    let used: i64 = coupons.iter().map(|coupon| coupon["usage_count"].as_i64().unwrap()).sum();
    let kept = orders.iter().filter(|order| order.row.status != "cancelled");
    let taken = kept.map(|order| order.lines(ItemKind::Coupon).count()).sum::<usize>();
    assert_eq!(usize::try_from(used), Ok(taken), "coupons know how often they were used");
    // The next record gets a number of its own.
    let next = shop.ask("POST", "/wc/v3/orders", ADMIN, &json!({}));
    assert_eq!(next.status, 201);
    assert!(!ids.contains(&next.json["id"].as_i64().unwrap()));
    let user = json!({ "email": "new@example.com" });
    assert_eq!(shop.ask("POST", "/wc/v3/customers", ADMIN, &user).status, 201);
}

fn all_of(shop: &TestShop, path: &str) -> Vec<Value> {
    let pages = (1..).map(|page| shop.get(&format!("{path}?per_page=100&page={page}"), ADMIN));
    let lists = pages.map(|answer| answer.json.as_array().cloned().unwrap());
    lists.take_while(|list| !list.is_empty()).flatten().collect()
}

#[test]
fn the_catalogue_has_something_of_everything() {
    let (shop, _) = made(1, 200);
    let products = all_of(&shop, "/wc/v3/products");
    assert!((60..=120).contains(&products.len()), "{}", products.len());
    let kinds: BTreeSet<&str> = products.iter().filter_map(|p| p["type"].as_str()).collect();
    assert_eq!(kinds, BTreeSet::from(["simple", "variable", "grouped", "external"]));
    for flag in ["virtual", "downloadable", "on_sale", "manage_stock", "featured"] {
        assert!(products.iter().any(|product| product[flag] == true), "{flag}");
    }
    assert!(products.iter().any(|product| product["stock_status"] == "outofstock"));
    let categories = all_of(&shop, "/wc/v3/products/categories");
    assert!(categories.iter().filter(|category| category["parent"] != 0).count() >= 10);
    let taxes = all_of(&shop, "/wc/v3/taxes");
    let countries: BTreeSet<&str> =
        taxes.iter().filter_map(|tax| tax["country"].as_str()).collect();
    assert!(countries.len() >= 5 && taxes.len() >= 20);
    let zones = shop.get("/wc/v3/shipping/zones", ADMIN);
    assert_eq!(zones.json.as_array().unwrap().len(), 5);
    let reviewed = products.iter().filter(|product| product["rating_count"] != 0).count();
    assert!(reviewed > 0);
}

#[test]
fn the_statistics_are_believable() {
    let (shop, made) = made(2, ORDERS);
    let orders = records(&shop, OrderKind::Order);
    let share = |count: usize| count * 1_000 / orders.len();
    let count = |is: &dyn Fn(&Order) -> bool| orders.iter().filter(|order| is(order)).count();
    let check = |what: &str, found: usize, wanted: std::ops::Range<usize>| {
        assert!(wanted.contains(&found), "{what}: {found} of a thousand");
    };
    let zone_hours = 5;
    let local_day =
        |order: &Order| (order.row.created.as_micros() / 3_600_000_000 - zone_hours) / 24;
    let weekend = count(&|order| matches!(local_day(order).rem_euclid(7), 2 | 3));
    check("weekends", share(weekend), 300..380);
    let in_status = |name: &str| share(count(&|order| order.row.status == name));
    check("completed", in_status("completed"), 880..970);
    check("failed", in_status("failed"), 5..40);
    check("cancelled", in_status("cancelled"), 5..50);
    check("processing", in_status("processing"), 1..40);
    let month = now().as_micros() - 30 * 24 * 3_600_000_000;
    let waits = |order: &Order| matches!(&*order.row.status, "processing" | "on-hold" | "pending");
    assert!(orders.iter().filter(|o| waits(o)).all(|o| o.row.created.as_micros() > month));
    check("refunds", usize::try_from(made.refunds).unwrap() * 1_000 / orders.len(), 30..80);
    check("coupons", share(count(&|order| order.lines(ItemKind::Coupon).count() > 0)), 60..250);
    check("guests", share(count(&|order| order.row.customer_id == 0)), 150..450);
    check("terminals", share(count(&|order| order.row.tpn.is_some())), 150..400);
    let mut of_buyers: BTreeMap<&str, u32> = BTreeMap::new();
    for order in &orders {
        *of_buyers.entry(&order.row.billing_email).or_default() += 1;
    }
    assert_eq!(u64::try_from(of_buyers.len()), Ok(made.customers));
    check("returning", 1_000 - share(of_buyers.len()), 500..700);
    let countries: BTreeSet<&str> =
        orders.iter().map(|order| &*order.details.billing.country).collect();
    assert!(countries.len() >= 5, "{countries:?}");
    check("taxed", share(count(&|order| !order.row.total_tax.is_zero())), 500..950);
    let half = Timestamp::from_micros(now().as_micros() - i64::from(DAYS) * 12 * 3_600_000_000);
    check("newer half", share(count(&|order| order.row.created > half)), 520..700);
    let tables = shop.read(|conn| {
        let permissions = download_permission::list(conn, &DownloadPermissionFilter::default())?.1;
        let downloads = download_log::list(conn, &DownloadLogFilter::default())?.1;
        let reviews = review::list(conn, &ReviewFilter::default())?.1;
        Ok([permissions, downloads, reviews])
    });
    assert!(tables.iter().all(|count| *count > 20), "{tables:?}");
}
