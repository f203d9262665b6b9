//! Random questions to every report: ranges, intervals, filters, segments, sorting and pages.

mod people;

use super::clock::{Second, written};
use super::compare::{Checker, all_indicators};
use super::dice::Dice;
use super::query::Query;
use super::shop::STATUSES;
use super::stats::STATS;
use super::world::World;

const DAY: i64 = 86_400;
/// Questions of each kind to each route.
const ROUNDS: usize = 14;

/// Asks everything.
pub(super) fn ask(checker: &mut Checker<'_>, dice: &mut Dice, now: Second) {
    let world = checker.world;
    for name in STATS.iter().copied().chain(["downloads"]) {
        let route = format!("reports/{name}/stats");
        for _ in 0..ROUNDS {
            checker.stats(&stats(world, dice, &route));
        }
        let whole = stats(world, dice, &route).with("per_page", 3).with("interval", "month");
        checker.all_intervals(&whole);
        checker.usual_range(&Query::of(&route), now);
    }
    for name in LISTS {
        for _ in 0..ROUNDS {
            checker.list(&list(world, dice, name));
        }
        checker.all_rows(&list(world, dice, name).with("per_page", 4));
    }
    for _ in 0..ROUNDS {
        checker.totals(&people::averages(world, dice));
        let board = dice.pick(&["customers", "coupons", "categories", "products"]);
        checker.leaderboard(&leaderboard(world, dice, board));
        checker.indicators(&indicators(world, dice));
    }
    checker.totals(&Query::of("reports/stock/stats"));
}

/// Every list of a row for each.
const LISTS: [&str; 10] = [
    "reports/orders",
    "reports/products",
    "reports/variations",
    "reports/categories",
    "reports/coupons",
    "reports/taxes",
    "reports/downloads",
    "reports/stock",
    "reports/customers",
    "customers",
];

/// A range that has something in it, at most so many days long.
fn range(world: &World, dice: &mut Dice, most: i64, query: &mut Query) {
    let (first, last) = world.span();
    let middle = dice.pick(&world.rows).created;
    let whole = last - first <= most * DAY && dice.one_in(3);
    let (from, to) = if whole {
        (first - DAY, last + DAY)
    } else {
        let days = dice.between(0, most);
        let from = middle - dice.between(0, days * DAY);
        (from, from + days * DAY + dice.between(0, DAY))
    };
    let mut bound = |name: &str, at: Second, query: &mut Query| {
        let is_utc = dice.one_in(4);
        let local = world.choices.clock.local(at);
        let text = if is_utc { format!("{}Z", written(at, 'T')) } else { written(local, 'T') };
        query.set(name, text);
    };
    bound("after", from, query);
    bound("before", to, query);
    // Where the clock goes back, a time that comes twice is meant for the first time.
    let (after, before) = query.range(&world.choices.clock);
    if after > before {
        query.set("before", format!("{}Z", written(after, 'T')));
    }
}

fn paging(dice: &mut Dice, query: &mut Query) {
    query.set("per_page", dice.pick(&[2, 5, 10, 100, 100, 100]));
    if dice.one_in(3) {
        query.set("page", dice.between(1, 3));
    }
    query.set("order", dice.pick(&["asc", "desc"]));
}

fn listed<T: ToString>(values: Vec<T>) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<String>>().join(",")
}

fn stats(world: &World, dice: &mut Dice, route: &str) -> Query {
    let mut query = Query::of(route);
    let interval = dice.pick(&["hour", "day", "day", "week", "month", "quarter", "year"]);
    query.set("interval", interval);
    let most = match interval {
        "hour" => 4,
        "day" => 60,
        _ => 900,
    };
    range(world, dice, most, &mut query);
    paging(dice, &mut query);
    let (sorts, segments, fields) = choices(route);
    query.set("orderby", dice.pick(&sorts));
    filters(world, dice, &mut query);
    if !segments.is_empty() && dice.one_in(2) {
        query.set("segmentby", dice.pick(&segments));
    }
    if dice.one_in(5) {
        // What it is sorted by is among them, so that it can be seen.
        let mut chosen = dice.some(&fields, 2);
        let by = query.text("orderby").unwrap().to_owned();
        if fields.contains(&by.as_str()) && !chosen.contains(&by.as_str()) {
            chosen.push(fields[fields.iter().position(|name| *name == by).unwrap()]);
        }
        if by == "date" || fields.contains(&by.as_str()) {
            query.params.retain(|(name, _)| name != "segmentby");
            query.set("fields", listed(chosen));
        }
    }
    query
}

type Names = Vec<&'static str>;

/// What intervals can be sorted by, by what they can be split, and the columns.
fn choices(route: &str) -> (Names, Names, Names) {
    let orders = || {
        vec![
            "orders_count",
            "num_items_sold",
            "gross_sales",
            "total_sales",
            "coupons",
            "refunds",
            "taxes",
            "shipping",
            "net_revenue",
            "avg_order_value",
            "avg_items_per_order",
        ]
    };
    let by_order = vec!["product", "category", "coupon", "customer_type", "variation", "currency"];
    let goods = [
        "date",
        "net_revenue",
        "orders_count",
        "items_sold",
        "coupons",
        "refunds",
        "shipping",
        "taxes",
    ];
    let of_goods = vec!["items_sold", "net_revenue", "orders_count", "variations_count"];
    match route {
        "reports/orders/stats" => {
            (vec!["date", "net_revenue", "orders_count", "avg_order_value"], by_order, orders())
        }
        "reports/revenue/stats" => {
            let sorts = vec![
                "date",
                "total_sales",
                "coupons",
                "refunds",
                "shipping",
                "taxes",
                "net_revenue",
                "orders_count",
                "gross_sales",
                "items_sold",
            ];
            (sorts, by_order, orders())
        }
        "reports/products/stats" | "reports/variations/stats" => {
            (goods.to_vec(), vec!["product", "category", "variation", "currency"], of_goods)
        }
        "reports/coupons/stats" => (
            vec!["date", "amount", "coupons_count", "orders_count"],
            vec!["product", "category", "coupon", "variation", "currency"],
            vec!["amount", "coupons_count", "orders_count"],
        ),
        "reports/taxes/stats" => (
            vec!["date", "orders_count"],
            vec!["tax_rate_id"],
            vec!["tax_codes", "total_tax", "order_tax", "shipping_tax", "orders_count"],
        ),
        _ => (vec!["date", "download_count"], Vec::new(), vec!["download_count"]),
    }
}

fn ids<'w>(
    dice: &mut Dice,
    query: &mut Query,
    name: &str,
    all: impl Iterator<Item = &'w i64>,
    one_in: usize,
) {
    let all: Vec<i64> = all.copied().collect();
    if dice.one_in(one_in) {
        query.set(name, listed(dice.some(&all, 3)));
    }
}

fn attributes(world: &World, dice: &mut Dice, query: &mut Query) {
    for name in ["attribute_is", "attribute_is_not"] {
        if !dice.one_in(6) {
            continue;
        }
        let (attribute, (_, terms)) = world.attributes.iter().next().unwrap();
        let terms: Vec<i64> = terms.keys().copied().collect();
        query.set(&format!("{name}[0][0]"), attribute);
        query.set(&format!("{name}[0][1]"), dice.pick(&terms));
    }
}

fn statuses(dice: &mut Dice, query: &mut Query) {
    if dice.one_in(5) {
        query.set("status_is", listed(dice.some(&STATUSES, 3)));
    } else if dice.one_in(10) {
        query.set("status_is", "any");
    }
    if dice.one_in(6) {
        query.set("status_is_not", listed(dice.some(&STATUSES, 2)));
    }
}

/// The filters of a route, some of them.
fn filters(world: &World, dice: &mut Dice, query: &mut Query) {
    let products = || world.products.keys();
    let variations = || world.variations.keys();
    let categories = || world.categories.keys();
    if dice.one_in(4) && !query.route.starts_with("reports/downloads") {
        query.set("currency", dice.pick(&[world.choices.currency, world.choices.foreign()]));
    }
    let route = query.route.clone();
    match route.trim_start_matches("reports/") {
        "orders" | "orders/stats" => {
            for (name, all) in [
                ("product", products().collect::<Vec<&i64>>()),
                ("variation", variations().collect()),
                ("coupon", world.coupons.keys().collect()),
                ("tax_rate", world.rates.keys().collect()),
            ] {
                ids(dice, query, &format!("{name}_includes"), all.iter().copied(), 6);
                ids(dice, query, &format!("{name}_excludes"), all.iter().copied(), 7);
            }
            statuses(dice, query);
            attributes(world, dice, query);
            if dice.one_in(5) {
                query.set("customer_type", dice.pick(&["new", "returning"]));
            }
            if dice.one_in(5) {
                query.set("refunds", dice.pick(&["all", "none", "full", "partial"]));
            }
            if route == "reports/orders" {
                let all: Vec<i64> = world.rows.iter().map(|row| row.id).collect();
                ids(dice, query, "order_includes", all.iter(), 10);
                ids(dice, query, "order_excludes", all.iter(), 10);
            }
            matching(dice, query);
        }
        "revenue/stats" if dice.one_in(2) => {
            let names = ["date_paid", "date_created", "date_completed"];
            query.set("date_type", dice.pick(&names));
        }
        "products" | "products/stats" => {
            ids(dice, query, "products", products(), 4);
            ids(dice, query, "categories", categories(), 4);
            if route == "reports/products/stats" {
                ids(dice, query, "variations", variations(), 6);
            } else {
                matching(dice, query);
            }
        }
        "variations" | "variations/stats" => {
            ids(dice, query, "product_includes", products(), 5);
            ids(dice, query, "product_excludes", products(), 6);
            ids(dice, query, "category_includes", categories(), 5);
            ids(dice, query, "category_excludes", categories(), 6);
            ids(dice, query, "variations", variations(), 5);
            attributes(world, dice, query);
            matching(dice, query);
        }
        "categories" => {
            ids(dice, query, "categories", categories(), 4);
            statuses(dice, query);
        }
        "coupons" | "coupons/stats" => ids(dice, query, "coupons", world.coupons.keys(), 3),
        "taxes" | "taxes/stats" => ids(dice, query, "taxes", world.rates.keys(), 3),
        "downloads" | "downloads/stats" => download_filters(world, dice, query),
        _ => {}
    }
}

fn matching(dice: &mut Dice, query: &mut Query) {
    if dice.one_in(2) {
        query.set("match", dice.pick(&["all", "any"]));
    }
}

fn download_filters(world: &World, dice: &mut Dice, query: &mut Query) {
    let orders: Vec<i64> = world.downloads.iter().map(|download| download.order).collect();
    let people: Vec<i64> = world.people.values().map(|person| person.id).collect();
    if orders.is_empty() {
        return;
    }
    for end in ["includes", "excludes"] {
        ids(dice, query, &format!("product_{end}"), world.products.keys(), 6);
        ids(dice, query, &format!("order_{end}"), orders.iter(), 5);
        ids(dice, query, &format!("customer_{end}"), people.iter(), 5);
        if dice.one_in(5) {
            let address = dice.pick(&["192.0.2.1", "192.0.2.2", "2001:db8::1"]);
            query.set(&format!("ip_address_{end}"), address);
        }
    }
    matching(dice, query);
}

/// What the rows of a list can be sorted by.
fn sorts(route: &str) -> &'static [&'static str] {
    match route {
        "reports/orders" => &["date", "num_items_sold", "net_total"],
        "reports/products" => &[
            "date",
            "net_revenue",
            "orders_count",
            "items_sold",
            "product_name",
            "variations",
            "sku",
        ],
        "reports/variations" => &["date", "net_revenue", "orders_count", "items_sold", "sku"],
        "reports/categories" => &[
            "category_id",
            "items_sold",
            "net_revenue",
            "orders_count",
            "products_count",
            "category",
        ],
        "reports/coupons" => &["coupon_id", "code", "amount", "orders_count"],
        "reports/taxes" => &[
            "name",
            "tax_rate_id",
            "tax_code",
            "rate",
            "order_tax",
            "total_tax",
            "shipping_tax",
            "orders_count",
        ],
        "reports/downloads" => &["date", "product"],
        "reports/stock" => &["stock_status", "stock_quantity", "date", "id", "sku"],
        _ => &[
            "username",
            "name",
            "first_name",
            "last_name",
            "email",
            "location",
            "country",
            "city",
            "state",
            "postcode",
            "date_registered",
            "orders_count",
            "total_spend",
            "avg_order_value",
        ],
    }
}

fn list(world: &World, dice: &mut Dice, route: &str) -> Query {
    let mut query = Query::of(route);
    paging(dice, &mut query);
    query.set("orderby", dice.pick(sorts(route)));
    match route {
        "reports/stock" => stock_filters(world, dice, &mut query),
        "reports/customers" | "customers" => people::filters(world, dice, &mut query),
        _ => {
            range(world, dice, 900, &mut query);
            filters(world, dice, &mut query);
        }
    }
    let is_extended = matches!(
        route.trim_start_matches("reports/"),
        "orders" | "products" | "variations" | "categories" | "coupons"
    );
    if is_extended && dice.one_in(3) {
        query.set("extended_info", "true");
    }
    query
}

fn stock_filters(world: &World, dice: &mut Dice, query: &mut Query) {
    if dice.one_in(2) {
        let kinds = ["all", "lowstock", "instock", "outofstock", "onbackorder"];
        query.set("type", dice.pick(&kinds));
    }
    let all: Vec<i64> = world.products.keys().chain(world.variations.keys()).copied().collect();
    ids(dice, query, "include", all.iter(), 6);
    ids(dice, query, "exclude", all.iter(), 6);
    ids(dice, query, "parent", world.products.keys(), 6);
    ids(dice, query, "parent_exclude", world.products.keys(), 6);
}

fn leaderboard(world: &World, dice: &mut Dice, board: &str) -> Query {
    let mut query = Query::of(&format!("leaderboards/{board}"));
    range(world, dice, 500, &mut query);
    query.set("per_page", dice.pick(&[1, 3, 5, 20]));
    if dice.one_in(2) {
        query.set("page", dice.between(1, 3));
    }
    query
}

fn indicators(world: &World, dice: &mut Dice) -> Query {
    let mut query = Query::of("reports/performance-indicators");
    range(world, dice, 500, &mut query);
    if dice.one_in(2) {
        query.set("stats", all_indicators());
    }
    query
}
