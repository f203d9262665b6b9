//! Reports over the recorded shop: who is bound to a merchant or a store sees nothing else, on
//! every route; parts add up to the whole, and currencies are kept apart.

use std::sync::Arc;

use analytics::feed::Feed;
use contract::rest::Verb;
use serde_json::{Value, json};
use shop_rows::order::{self, OrderFilter};
use site_rows::user::{self, UserRow};
use types::{Role, Timestamp};

use crate::facts::Recorded;

const RANGE: &str = "after=2025-09-01T00:00:00&before=2026-11-14T23:59:59";
pub(crate) const OURS: &str = "merchant-1";
pub(crate) const STORE: &str = "store-1";

/// Every route that tells of sales.
pub(crate) const ROUTES: [&str; 19] = [
    "reports/orders",
    "reports/orders/stats",
    "reports/revenue/stats",
    "reports/products",
    "reports/products/stats",
    "reports/variations",
    "reports/variations/stats",
    "reports/categories",
    "reports/coupons",
    "reports/coupons/stats",
    "reports/taxes",
    "reports/taxes/stats",
    "reports/downloads",
    "reports/downloads/stats",
    "reports/customers",
    "reports/customers/stats",
    "customers",
    "leaderboards",
    "reports/performance-indicators",
];

/// The recorded shop, in which every third order is a sale of one merchant.
pub(crate) fn shop() -> (Recorded, UserRow) {
    let recorded = Recorded::new();
    let admin = recorded.store().write_blocking(|conn| {
        let (orders, _) = order::list(conn, &OrderFilter::default())?;
        for mut row in orders {
            let sale = if row.parent_id == 0 { row.order_id } else { row.parent_id };
            if is_of_merchant(sale) {
                row.merchant_id = Some(OURS.to_owned());
                row.store_id = Some(STORE.to_owned());
                order::update(conn, &row)?;
            }
        }
        user::find_by_login(conn, "admin")
    });
    Feed::open(recorded.store(), Arc::clone(&recorded.facts), None).unwrap();
    (recorded, admin.unwrap().unwrap())
}

/// Whether the order is a sale of the merchant.
pub(crate) fn is_of_merchant(order_id: i64) -> bool {
    order_id % 3 == 0
}

pub(crate) fn bound(user: &UserRow, merchant: Option<&str>, store: Option<&str>) -> UserRow {
    let owned = |name: Option<&str>| name.map(str::to_owned);
    UserRow { merchant_id: owned(merchant), store_id: owned(store), ..user.clone() }
}

pub(crate) fn seen(recorded: &Recorded, user: &UserRow, route: &str, query: &str) -> Value {
    asked(recorded, user, route, query).unwrap_or_else(|| panic!("{route} is refused"))
}

/// Nothing when it is refused.
fn asked(recorded: &Recorded, user: &UserRow, route: &str, query: &str) -> Option<Value> {
    let path = format!("/wc-analytics/{route}?{RANGE}&{query}");
    let (site, user) = (Arc::clone(&recorded.site), user.clone());
    let now = Timestamp::parse("2026-11-15T00:00:00Z").unwrap();
    let read = move |conn: &mut dyn db::Conn| site.seen_by(conn, user.clone(), &path, now);
    recorded.store().read_blocking(read).unwrap()
}

#[test]
fn nobody_is_told_of_a_shop_without_sales_while_facts_are_being_loaded() {
    let recorded = Recorded::new();
    let admin = recorded.store().read_blocking(|conn| user::find_by_login(conn, "admin"));
    let admin = admin.unwrap().unwrap();
    let shown = |route: &&str| asked(&recorded, &admin, route, query(route)).is_some();
    assert_eq!(ROUTES.into_iter().filter(shown).collect::<Vec<&str>>(), Vec::<&str>::new());
    Feed::open(recorded.store(), Arc::clone(&recorded.facts), None).unwrap();
    assert!(ROUTES.iter().all(shown));
}

/// What a route needs to be asked for.
pub(crate) fn query(route: &str) -> &'static str {
    match route {
        "reports/performance-indicators" => {
            "stats=revenue/total_sales,products/items_sold,coupons/amount,downloads/download_count"
        }
        "leaderboards" | "leaderboards/products" => "per_page=20",
        _ if route.ends_with("/stats") => "interval=month&per_page=100",
        _ => "per_page=100",
    }
}

#[test]
fn who_is_bound_sees_only_those_sales_on_every_route() {
    let (recorded, admin) = shop();
    for route in ROUTES {
        let query = query(route);
        let all = seen(&recorded, &admin, route, query);
        let ours = seen(&recorded, &bound(&admin, Some(OURS), None), route, query);
        let of_store = seen(&recorded, &bound(&admin, None, Some(STORE)), route, query);
        let none = seen(&recorded, &bound(&admin, Some("nobody"), None), route, query);
        assert_ne!(all, ours, "{route} shows a merchant everything");
        assert_ne!(ours, none, "{route} shows a merchant nothing");
        assert_eq!(ours, of_store, "{route} of the store of all its sales");
        // Asking for others' sales gives none of them.
        let asked = format!("{query}&merchant_includes=somebody-else&store_includes=elsewhere");
        let asked = seen(&recorded, &bound(&admin, Some(OURS), None), route, &asked);
        assert!(is_either(&asked, &ours, &none), "{route} shows what was asked for");
        assert!(numbers(&none) == 0.0, "{route} shows sales to somebody without any");
    }
}

/// Routes that tell of the whole shop, or that are for those who run it.
const NOT_FOR_THE_BOUND: [&str; 5] = [
    "/wc-analytics/reports/stock",
    "/wc-analytics/reports/stock/stats",
    "/wc-analytics/reports/import/status",
    "/wc-analytics/reports/import/totals",
    "/wc-analytics/reports/orders/export/none/status",
];

/// Every path of reports that can be read, as the site itself lists them.
pub(crate) fn readable_paths(recorded: &Recorded) -> Vec<String> {
    let roots =
        ["reports", "leaderboards", "customers"].map(|name| format!("/wc-analytics/{name}"));
    let routes = recorded.site.table().routes();
    let readable = routes.filter(|route| {
        let is_ours = roots.iter().any(|root| {
            let rest = route.pattern.strip_prefix(root.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        is_ours && route.endpoint(Verb::Get).is_some()
    });
    let path = |pattern: &str| {
        pattern
            .replace(r"(?P<leaderboard>\w+)", "products")
            .replace(r"(?P<id>[\d-]+)", "1")
            .replace("(?P<type>[a-z]+)", "orders")
            .replace("(?P<export_id>[a-z0-9]+)", "none")
    };
    readable.map(|route| path(&route.pattern)).collect()
}

#[test]
fn merchants_and_stores_read_their_own_figures() {
    let (recorded, admin) = shop();
    let ask = |user: &UserRow, path: &str| {
        let route = path.strip_prefix("/wc-analytics/").unwrap();
        let path = format!("{path}?{RANGE}&{}", query(route));
        ask_path(&recorded, user, &path)
    };
    let of_role = |role: Role, merchant: Option<&str>, store: Option<&str>| {
        bound(&UserRow { roles: vec![role], ..admin.clone() }, merchant, store)
    };
    let paths = readable_paths(&recorded);
    assert!(paths.len() > 25 && !paths.iter().any(|path| path.contains('(')), "{paths:?}");
    let mut refused = Vec::new();
    for path in &paths {
        for role in [Role::Merchant, Role::Store] {
            let unbound = ask(&of_role(role, None, None), path);
            assert_eq!(unbound, None, "{path} for a {role} of nobody");
        }
        let ours = ask(&of_role(Role::Merchant, Some(OURS), None), path);
        let of_store = ask(&of_role(Role::Store, None, Some(STORE)), path);
        assert_eq!(ours, of_store, "{path} for a merchant and its store");
        let Some(ours) = ours else {
            refused.push(path.as_str());
            continue;
        };
        let of_admin = ask(&bound(&admin, Some(OURS), None), path);
        assert_eq!(Some(&ours), of_admin.as_ref(), "{path} for somebody with more rights");
        let none = ask(&of_role(Role::Merchant, Some("nobody"), None), path).unwrap();
        assert!(numbers(&none) == 0.0, "{path} shows sales to somebody without any: {none}");
    }
    refused.sort_unstable();
    let mut expected = NOT_FOR_THE_BOUND;
    expected.sort_unstable();
    assert_eq!(refused, expected);
    // The older reports know no merchants.
    let older = "/wc/v3/reports/sales";
    assert!(ask_path(&recorded, &admin, older).is_some());
    let merchant = of_role(Role::Merchant, Some(OURS), None);
    assert_eq!(ask_path(&recorded, &merchant, older), None);
}

pub(crate) fn ask_path(recorded: &Recorded, user: &UserRow, path: &str) -> Option<Value> {
    let (site, user, path) = (Arc::clone(&recorded.site), user.clone(), path.to_owned());
    let now = Timestamp::parse("2026-11-15T00:00:00Z").unwrap();
    let read = move |conn: &mut dyn db::Conn| site.seen_by(conn, user.clone(), &path, now);
    recorded.store().read_blocking(read).unwrap()
}

/// Whether an answer, or each part of it, is one of two: of leaderboards, not all can be filtered.
fn is_either(asked: &Value, ours: &Value, none: &Value) -> bool {
    let parts = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (asked_parts, ours_parts, none_parts) = (parts(asked), parts(ours), parts(none));
    let is_alike = asked_parts.len() == ours_parts.len() && ours_parts.len() == none_parts.len();
    let mut triples = asked_parts.iter().zip(ours_parts.iter().zip(&none_parts));
    asked == ours
        || asked == none
        || (is_alike && triples.all(|(part, (ours, none))| part == ours || part == none))
}

/// The sum of everything that counts or is worth something.
fn numbers(value: &Value) -> f64 {
    const LABELS: [&str; 6] =
        ["id", "category_id", "product_id", "user_id", "_links", "segment_id"];
    match value {
        Value::Number(number) => number.as_f64().unwrap().abs(),
        Value::Array(items) => items.iter().map(numbers).sum(),
        Value::Object(members) => {
            let counted = members.iter().filter(|(name, _)| !LABELS.contains(&name.as_str()));
            counted.map(|(_, member)| numbers(member)).sum()
        }
        _ => 0.0,
    }
}

#[test]
fn sales_can_be_chosen_and_split_by_merchant_and_store() {
    let (recorded, admin) = shop();
    let orders = |query: &str| {
        let body = seen(&recorded, &admin, "reports/orders/stats", query);
        body["totals"].clone()
    };
    let (all, ours) = (orders(""), orders("merchant_includes=merchant-1"));
    assert_eq!(ours, orders("store_includes=store-1"));
    assert!(ours["orders_count"].as_i64() < all["orders_count"].as_i64());
    let split = orders("segmentby=merchant");
    let segments = split["segments"].as_array().unwrap();
    let named = segments.iter().find(|segment| segment["segment_id"] == OURS).unwrap();
    assert_eq!(named["subtotals"]["total_sales"], ours["total_sales"]);
    let sum: f64 =
        segments.iter().map(|segment| segment["subtotals"]["net_revenue"].as_f64().unwrap()).sum();
    assert!((sum - all["net_revenue"].as_f64().unwrap()).abs() < 1e-6, "segments add up");
}

/// The value of a column.
fn number(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("no {name} in {of}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

/// The routes over time with what they can be split by, as they declare it.
fn splits(recorded: &Recorded) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for route in recorded.site.table().routes() {
        let document = route.description();
        let choices = &document["endpoints"][0]["args"]["segmentby"]["enum"];
        if let (Some(path), Some(choices)) =
            (route.pattern.strip_prefix("/wc-analytics/"), choices.as_array())
        {
            let names = choices.iter().filter_map(|name| name.as_str().map(str::to_owned));
            found.push((path.to_owned(), names.collect()));
        }
    }
    found
}

/// Sums over time, whatever they are split by.
const ADDITIVE: [&str; 12] = [
    "num_items_sold",
    "items_sold",
    "gross_sales",
    "total_sales",
    "coupons",
    "taxes",
    "shipping",
    "net_revenue",
    "amount",
    "total_tax",
    "order_tax",
    "shipping_tax",
];

#[test]
fn segments_are_whole_in_every_interval() {
    let (recorded, admin) = shop();
    let splits = splits(&recorded);
    assert!(splits.len() >= 6, "{splits:?}");
    let mut compared = 0;
    for (route, names) in &splits {
        for name in names {
            let query = format!("interval=month&per_page=100&segmentby={name}");
            let body = seen(&recorded, &admin, route, &query);
            let of_totals = list(&body["totals"]["segments"]);
            assert!(!of_totals.is_empty(), "{route} by {name}");
            for segment in of_totals {
                let id = &segment["segment_id"];
                for column in
                    ADDITIVE.iter().filter(|name| segment["subtotals"].get(**name).is_some())
                {
                    let mut sum = 0.0;
                    for interval in list(&body["intervals"]) {
                        let own = list(&interval["subtotals"]["segments"]);
                        let own = own.iter().filter(|own| own["segment_id"] == *id);
                        sum += own.map(|own| number(&own["subtotals"], column)).sum::<f64>();
                    }
                    let total = number(&segment["subtotals"], column);
                    assert!((sum - total).abs() < 1e-6, "{route} by {name}, {id}: {column}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn segments_add_up_to_the_totals() {
    let (recorded, admin) = shop();
    let check = |route: &str, name: &str, columns: &[&str]| {
        let body = seen(&recorded, &admin, route, &format!("interval=year&segmentby={name}"));
        for column in columns {
            let segments = list(&body["totals"]["segments"]).iter();
            let sum: f64 = segments.map(|segment| number(&segment["subtotals"], column)).sum();
            let total = number(&body["totals"], column);
            assert!((sum - total).abs() < 1e-6, "{route} by {name}: {column} {sum} of {total}");
        }
    };
    // Every order is in one of these, with its refunds.
    let all = ["orders_count", "num_items_sold", "gross_sales", "total_sales", "refunds", "taxes"];
    for name in ["customer_type", "merchant", "store"] {
        check("reports/orders/stats", name, &all);
        check("reports/revenue/stats", name, &all);
    }
    for name in ["product", "variation"] {
        check("reports/products/stats", name, &["items_sold", "net_revenue"]);
    }
    check("reports/variations/stats", "variation", &["items_sold", "net_revenue"]);
    check("reports/variations/stats", "product", &["items_sold", "net_revenue"]);
    check("reports/coupons/stats", "coupon", &["amount", "coupons_count"]);
    check("reports/taxes/stats", "tax_rate_id", &["total_tax", "order_tax", "tax_codes"]);
}

#[test]
fn intervals_are_sorted_and_cut_as_asked() {
    let (recorded, admin) = shop();
    let get = |route: &str, query: &str| seen(&recorded, &admin, route, query);
    for (route, _) in splits(&recorded) {
        let whole = get(&route, "interval=week&per_page=100&order=asc");
        let columns = whole["totals"].as_object().unwrap().keys();
        let columns: Vec<&String> = columns.filter(|name| *name != "segments").collect();
        for column in columns {
            let query = format!("interval=week&per_page=100&orderby={column}&order=asc");
            let Some(body) = asked(&recorded, &admin, &route, &query) else { continue };
            let values: Vec<f64> = list(&body["intervals"])
                .iter()
                .map(|one| number(&one["subtotals"], column))
                .collect();
            assert!(values.is_sorted(), "{route} by {column}: {values:?}");
        }
        let page = get(&route, "interval=month&per_page=4&page=2&order=desc");
        let names: Vec<&str> =
            list(&page["intervals"]).iter().map(|one| one["interval"].as_str().unwrap()).collect();
        assert_eq!(names, ["2026-07", "2026-06", "2026-05", "2026-04"], "{route}");
    }
    // What a report does not show it can still be sorted by.
    let body = get("reports/revenue/stats", "interval=month&per_page=100&orderby=items_sold");
    let items: Vec<f64> = list(&body["intervals"])
        .iter()
        .map(|one| number(&one["subtotals"], "num_items_sold"))
        .collect();
    assert!(items.is_sorted_by(|one, other| one >= other), "{items:?}");
    let by = |name: &str| {
        let query = format!("interval=month&per_page=100&orderby={name}");
        let body = get("reports/products/stats", &query);
        list(&body["intervals"]).iter().map(|one| one["interval"].clone()).collect::<Vec<_>>()
    };
    assert_ne!(by("taxes"), by("date"));
}

#[test]
fn filters_mean_what_they_say() {
    let (recorded, admin) = shop();
    let get = |route: &str, query: &str| seen(&recorded, &admin, route, query);
    let count = |query: &str| number(&get("reports/orders/stats", query)["totals"], "orders_count");
    assert!(count("status_is=any") > count(""));
    let all: f64 = [
        "completed",
        "processing",
        "on-hold",
        "pending",
        "failed",
        "cancelled",
        "refunded",
        "checkout-draft",
    ]
    .iter()
    .map(|status| count(&format!("status_is={status}")))
    .sum();
    assert!((count("status_is=any") - all).abs() < 0.5, "{all} orders of single statuses");
    let totals = get("reports/orders/stats", "fields=net_revenue")["totals"].clone();
    assert!(totals.get("net_revenue").is_some() && totals.get("taxes").is_none(), "{totals}");
    // A refund of a whole order has the goods of the order.
    let query = "interval=year&attribute_is[0][0]=finish&attribute_is[0][1]=Matte";
    assert!(number(&get("reports/orders/stats", query)["totals"], "refunds") > 0.0);
    // Whoever is listed is counted, whatever is asked for.
    for query in [
        "user_type=guest",
        "search=a&searchby=email",
        "filter_empty=city",
        "location_includes=US",
        "total_spend_max=100",
        "orders_count_max=0",
        "match=any&user_type=guest&orders_count_min=3",
    ] {
        let listed = get("reports/customers", &format!("{query}&per_page=100"));
        let counted = get("reports/customers/stats", query);
        assert_eq!(counted["totals"]["customers_count"], list(&listed).len(), "{query}");
    }
    // What is no id is nobody's.
    assert_eq!(get("reports/customers", "include=bogus"), json!([]));
    assert_eq!(get("reports/customers", "customers=0"), json!([]));
    assert_eq!(get("customers", "include=0"), json!([]));
    assert_eq!(get("customers/0", ""), json!([]));
    assert_eq!(get("reports/stock", "include=bogus"), json!([]));
    let boards = |query: &str| get("leaderboards/products", query)[0]["rows"].clone();
    let (both, second) = (boards("per_page=4"), boards("per_page=2&page=2"));
    assert_eq!(list(&both)[2..], *list(&second));
    let indicators = get("reports/performance-indicators", "");
    assert_eq!(list(&indicators).len(), 15);
}

#[test]
fn currencies_are_kept_apart() {
    let recorded = Recorded::new();
    let admin = recorded.store().write_blocking(|conn| {
        let (orders, _) = order::list(conn, &OrderFilter::default())?;
        for mut row in orders {
            let sale = if row.parent_id == 0 { row.order_id } else { row.parent_id };
            if sale % 4 == 0 {
                row.currency = String::from("EUR");
                order::update(conn, &row)?;
            }
        }
        user::find_by_login(conn, "admin")
    });
    let admin = admin.unwrap().unwrap();
    Feed::open(recorded.store(), Arc::clone(&recorded.facts), None).unwrap();
    let get = |query: &str| seen(&recorded, &admin, "reports/orders/stats", query);
    let (own, other) = (get(""), get("currency=eur"));
    assert!(number(&other["totals"], "orders_count") > 10.0);
    let split = get("segmentby=currency");
    assert_eq!(split["totals"]["total_sales"], own["totals"]["total_sales"]);
    for (code, totals) in [("EUR", &other["totals"]), ("USD", &own["totals"])] {
        let segments = list(&split["totals"]["segments"]).iter();
        let segment = segments.clone().find(|segment| segment["segment_id"] == code).unwrap();
        for column in ["orders_count", "total_sales", "refunds", "avg_order_value"] {
            assert_eq!(segment["subtotals"][column], totals[column], "{code}");
        }
    }
    for route in ROUTES.iter().filter(|route| !route.contains("downloads")) {
        let own = seen(&recorded, &admin, route, query(route));
        let other = seen(&recorded, &admin, route, &format!("{}&currency=EUR", query(route)));
        assert_ne!(own, other, "{route} adds currencies up");
        let none = seen(&recorded, &admin, route, &format!("{}&currency=XXX", query(route)));
        assert_ne!(none, other, "{route}");
    }
}
