//! Reports as lists, recomputed: a row for each order, product, coupon and so on.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::clock::{self, written};
use super::columns;
use super::filter::{self, Counted};
use super::money::{self, shown};
use super::query::Query;
use super::rows::Row;
use super::world::World;

/// What rows are compared by.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(super) enum Rank {
    /// Before everything else.
    Nothing,
    Number(f64),
    Text(String),
}

impl Rank {
    pub(super) fn int(value: i64) -> Self {
        Self::Number(money::whole(value))
    }

    /// Without regard to case.
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_lowercase())
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        self.partial_cmp(other).expect("numbers are numbers")
    }
}

/// A row with what it is sorted by.
pub(super) type Ranked = (Rank, Value);

/// The members by which a row of a list is known.
pub(super) fn identity(route: &str) -> &'static [&'static str] {
    match route {
        "reports/orders" => &["order_id"],
        "reports/products" => &["product_id"],
        "reports/variations" => &["product_id", "variation_id"],
        "reports/categories" => &["category_id"],
        "reports/coupons" => &["coupon_id"],
        "reports/taxes" => &["tax_rate_id"],
        _ => &["id"],
    }
}

/// All rows of a list, in any order.
pub(super) fn expected(world: &World, query: &Query) -> Vec<Ranked> {
    match query.route.as_str() {
        "reports/orders" => orders(world, query),
        "reports/products" => products(world, query),
        "reports/variations" => variations(world, query),
        "reports/categories" => categories(world, query),
        "reports/coupons" => coupons(world, query),
        "reports/taxes" => taxes(world, query),
        "reports/downloads" => downloads(world, query),
        "reports/stock" => stock(world, query),
        "reports/customers" | "customers" => super::people::expected(world, query),
        other => panic!("{other} is no list"),
    }
}

fn is_extended(query: &Query) -> bool {
    query.text("extended_info") == Some("true")
}

fn orders(world: &World, query: &Query) -> Vec<Ranked> {
    let clock = world.choices.clock;
    let row = |counted: Counted<'_>| {
        let row = counted.row;
        let mut body = json!({
            "order_id": row.id,
            "parent_id": row.parent,
            "date": clock.text(counted.at),
            "date_created": clock.text(row.created),
            "date_created_gmt": written(row.created, ' '),
            "status": row.status,
            "customer_id": world.people[&row.buyer].id,
            "net_total": shown(row.net),
            "total_sales": shown(row.total),
            "num_items_sold": row.items,
            "customer_type": if row.returning { "returning" } else { "new" },
        });
        if is_extended(query) {
            body["extended_info"] = sold(world, row);
        }
        let rank = match query.text("orderby") {
            Some("num_items_sold") => Rank::int(row.items),
            Some("net_total") => Rank::int(row.net),
            _ => Rank::int(counted.at),
        };
        (rank, body)
    };
    filter::orders(world, query).into_iter().map(row).collect()
}

/// What an order, or that of a refund, was about.
fn sold(world: &World, row: &Row) -> Value {
    let parent = world.rows.iter().find(|order| order.id == row.parent);
    let lines = row.lines.iter().chain(parent.into_iter().flat_map(|order| &order.lines));
    let products = lines.filter(|line| line.quantity > 0).map(|line| {
        let id = if line.variation == 0 { line.product } else { line.variation };
        json!({ "id": id.to_string(), "quantity": line.quantity.to_string() })
    });
    let mut coupons: Vec<(i64, &str)> =
        row.coupons.iter().map(|(code, _)| (world.coupon(code), code.as_str())).collect();
    coupons.sort_unstable();
    let coupon = |(id, code): &(i64, &str)| json!({ "id": id.to_string(), "code": code });
    let person = &world.people[&row.buyer];
    json!({
        "products": products.collect::<Vec<Value>>(),
        "coupons": coupons.iter().map(coupon).collect::<Vec<Value>>(),
        "customer": { "customer_id": person.id, "first_name": person.first_name,
            "last_name": person.last_name, "email": person.email, "country": person.country },
    })
}

/// What is counted, by a key of each line.
fn grouped<'w, K: Ord>(
    counted: Vec<Counted<'w>>,
    keys: impl Fn(&Counted<'w>) -> Vec<K>,
) -> BTreeMap<K, Vec<Counted<'w>>> {
    let mut groups: BTreeMap<K, Vec<Counted<'w>>> = BTreeMap::new();
    for counted in counted {
        for key in keys(&counted) {
            groups.entry(key).or_default().push(counted);
        }
    }
    groups
}

fn newest(counted: &[Counted<'_>]) -> Rank {
    Rank::int(counted.iter().map(|counted| counted.at).max().unwrap_or_default())
}

fn products(world: &World, query: &Query) -> Vec<Ranked> {
    let line = |counted: &Counted<'_>| counted.line.expect("a line").product;
    let mut groups = grouped(filter::lines(world, query), |counted| vec![line(counted)]);
    let asked = filter::products_asked(world, query, ("products", "categories"));
    for id in asked.into_iter().flatten() {
        groups.entry(id).or_default();
    }
    let children = |id: i64| {
        let own = world.variations.values().filter(|record| record["parent_id"] == id);
        i64::try_from(own.count()).unwrap()
    };
    let row = |(id, counted): (i64, Vec<Counted<'_>>)| {
        let record = &world.products[&id];
        let (items, net) = (columns::items(&counted), columns::net(&counted));
        let orders = columns::orders_of_lines(&counted);
        let rank = match query.text("orderby").unwrap_or("date") {
            "net_revenue" => Rank::int(net),
            "orders_count" => Rank::int(orders),
            "items_sold" => Rank::int(items),
            "product_name" => Rank::text(record["name"].as_str().unwrap()),
            "sku" => Rank::text(record["sku"].as_str().unwrap()),
            "variations" => Rank::int(children(id)),
            _ => newest(&counted),
        };
        let mut body = json!({ "product_id": id, "items_sold": items, "net_revenue": shown(net),
            "orders_count": orders });
        if is_extended(query) {
            let categories = record["categories"].as_array().unwrap().iter();
            let categories: Vec<&Value> = categories.map(|category| &category["id"]).collect();
            body["extended_info"] = json!({ "name": record["name"], "sku": record["sku"],
                "stock_status": record["stock_status"], "manage_stock": record["manage_stock"],
                "stock_quantity": record["stock_quantity"].as_i64().unwrap_or_default(),
                "category_ids": categories });
        }
        (rank, body)
    };
    groups.into_iter().map(row).collect()
}

fn variations(world: &World, query: &Query) -> Vec<Ranked> {
    let key = |counted: &Counted<'_>| {
        let line = counted.line.expect("a line");
        vec![(line.product, line.variation)]
    };
    let mut groups = grouped(filter::lines(world, query), key);
    for id in query.ids("variations").into_iter().flatten() {
        if !groups.keys().any(|(_, variation)| *variation == id) {
            groups.insert((0, id), Vec::new());
        }
    }
    let row = |((product, variation), counted): ((i64, i64), Vec<Counted<'_>>)| {
        let record = &world.variations[&variation];
        let (items, net) = (columns::items(&counted), columns::net(&counted));
        let orders = columns::orders_of_lines(&counted);
        let rank = match query.text("orderby").unwrap_or("date") {
            "net_revenue" => Rank::int(net),
            "orders_count" => Rank::int(orders),
            "items_sold" => Rank::int(items),
            "sku" => Rank::text(record["sku"].as_str().unwrap()),
            _ => newest(&counted),
        };
        let mut body = json!({ "product_id": product, "variation_id": variation,
            "items_sold": items, "net_revenue": shown(net), "orders_count": orders });
        if is_extended(query) {
            body["extended_info"] =
                json!({ "sku": record["sku"], "stock_status": record["stock_status"] });
        }
        (rank, body)
    };
    groups.into_iter().map(row).collect()
}

/// A product counts in each category that it was put into.
fn categories(world: &World, query: &Query) -> Vec<Ranked> {
    let of = |counted: &Counted<'_>| -> Vec<i64> {
        let own = world.own_categories(counted.line.expect("a line").product);
        own.into_iter().collect()
    };
    let mut groups = grouped(filter::lines(world, query), of);
    if let Some(asked) = query.ids("categories") {
        groups.retain(|id, _| asked.contains(id));
        for id in asked {
            groups.entry(id).or_default();
        }
    }
    let row = |(id, counted): (i64, Vec<Counted<'_>>)| {
        let columns = columns::of_products(&counted);
        let number = |name: &str| columns::number(&columns, name);
        let name = &world.categories[&id].0;
        let rank = match query.text("orderby").unwrap_or("category_id") {
            "category_id" => Rank::int(id),
            "category" => Rank::text(name),
            by => Rank::Number(number(by)),
        };
        let mut body = json!({ "category_id": id });
        for column in ["items_sold", "net_revenue", "orders_count", "products_count"] {
            body[column] = columns[column].clone();
        }
        if is_extended(query) {
            body["extended_info"] = json!({ "name": name });
        }
        (rank, body)
    };
    groups.into_iter().map(row).collect()
}

fn coupons(world: &World, query: &Query) -> Vec<Ranked> {
    let id = |counted: &Counted<'_>| vec![counted.coupon.expect("a coupon").0];
    let mut groups = grouped(filter::coupons(world, query), id);
    for id in query.ids("coupons").into_iter().flatten() {
        groups.entry(id).or_default();
    }
    let row = |(id, counted): (i64, Vec<Counted<'_>>)| {
        let record = &world.coupons[&id];
        let columns = columns::of_coupons(&counted);
        let rank = match query.text("orderby").unwrap_or("coupon_id") {
            "coupon_id" => Rank::int(id),
            "code" => Rank::text(record["code"].as_str().unwrap()),
            by => Rank::Number(columns::number(&columns, by)),
        };
        let mut body = json!({ "coupon_id": id, "amount": columns["amount"],
            "orders_count": columns["orders_count"] });
        if is_extended(query) {
            body["extended_info"] = json!({ "code": record["code"],
                "discount_type": record["discount_type"], "date_created": record["date_created"],
                "date_created_gmt": record["date_created_gmt"], "date_expires": "" });
        }
        (rank, body)
    };
    groups.into_iter().map(row).collect()
}

fn taxes(world: &World, query: &Query) -> Vec<Ranked> {
    let key = |counted: &Counted<'_>| vec![counted.tax.expect("a tax").rate];
    let groups = grouped(filter::taxes(world, query), key);
    let row = |(id, counted): (i64, Vec<Counted<'_>>)| {
        let record = &world.rates[&id];
        let columns = columns::of_taxes(&counted);
        let code = &counted[0].tax.expect("a tax").code;
        let percent = money::amount(&record["rate"]);
        let text = |name: &str| record[name].as_str().unwrap();
        let rank = match query.text("orderby").unwrap_or("tax_rate_id") {
            "tax_rate_id" => Rank::int(id),
            "name" => Rank::text(text("name")),
            "tax_code" => Rank::text(code),
            "rate" => Rank::int(percent),
            by => Rank::Number(columns::number(&columns, by)),
        };
        let mut body = json!({ "tax_rate_id": id, "name": text("name"), "tax_rate": shown(percent),
            "country": text("country"), "state": text("state"), "priority": record["priority"] });
        for column in ["total_tax", "order_tax", "shipping_tax", "orders_count"] {
            body[column] = columns[column].clone();
        }
        (rank, body)
    };
    groups.into_iter().map(row).collect()
}

fn downloads(world: &World, query: &Query) -> Vec<Ranked> {
    let clock = world.choices.clock;
    filter::downloads(world, query)
        .into_iter()
        .map(|download| {
            let name = world
                .people
                .values()
                .find(|person| person.user == download.user && person.user != 0);
            let title = world.products[&download.product]["name"].as_str().unwrap();
            let rank = match query.text("orderby") {
                Some("product") => Rank::text(title),
                _ => Rank::int(download.at),
            };
            let body = json!({ "id": download.id, "date": clock.text(download.at),
                "date_gmt": written(download.at, ' '), "product_id": download.product,
                "order_id": download.order, "user_id": download.user,
                "username": name.map_or("", |person| &person.username),
                "ip_address": download.address, "download_id": "f1", "file_name": "1.zip",
                "file_path": "https://files.example/1.zip" });
            (rank, body)
        })
        .collect()
}

/// The least number of pieces below which few are left, as new shops have it.
pub(super) const FEW: i64 = 2;

/// Whether few are left, and not none.
pub(super) fn is_low(record: &Value) -> bool {
    let quantity = record["stock_quantity"].as_i64();
    record["stock_status"] == "instock"
        && record["manage_stock"] == true
        && quantity.is_some_and(|quantity| (1..=FEW).contains(&quantity))
}

fn stock(world: &World, query: &Query) -> Vec<Ranked> {
    let all = world.products.values().chain(world.variations.values());
    let ids = |name: &str, own: i64| query.ids(name).map(|ids| ids.contains(&own));
    let passes = |record: &&Value| {
        let (id, parent) =
            (record["id"].as_i64().unwrap(), record["parent_id"].as_i64().unwrap_or(0));
        let of_type = match query.text("type").unwrap_or("all") {
            "all" => true,
            "lowstock" => is_low(record),
            status => record["stock_status"] == status,
        };
        of_type
            && ids("include", id).unwrap_or(true)
            && !ids("exclude", id).unwrap_or(false)
            && ids("parent", parent).unwrap_or(true)
            && !ids("parent_exclude", parent).unwrap_or(false)
    };
    all.filter(passes)
        .map(|record| {
            let id = record["id"].as_i64().unwrap();
            let parent = record["parent_id"].as_i64().unwrap_or(0);
            let quantity = record["stock_quantity"].as_i64();
            let rank = match query.text("orderby").unwrap_or("stock_status") {
                "stock_status" => Rank::text(record["stock_status"].as_str().unwrap()),
                "stock_quantity" => quantity.map_or(Rank::Nothing, Rank::int),
                "sku" => Rank::text(record["sku"].as_str().unwrap()),
                "date" => Rank::int(clock::read(record["date_created_gmt"].as_str().unwrap())),
                _ => Rank::int(id),
            };
            let body = json!({ "id": id, "parent_id": parent, "sku": record["sku"],
                "stock_status": record["stock_status"],
                "stock_quantity": quantity.unwrap_or_default(),
                "manage_stock": record["manage_stock"] });
            (rank, body)
        })
        .collect()
}
