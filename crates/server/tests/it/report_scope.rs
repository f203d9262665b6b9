//! Whoever is bound to a merchant or a store learns of no record of the shop that was not sold or
//! used there: no name, code, SKU or address of one, whatever a report, an export, a leaderboard or
//! an indicator is asked for.

use std::collections::BTreeSet;

use analytics::exports::columns::Cell;
use analytics::exports::{self, Reader, Reading};
use contract::rest::Verb;
use db::Conn;
use serde_json::{Map, Value, json};
use shop_rows::coupon::{self, CouponFilter};
use shop_rows::customer_lookup::{self, CustomerLookupFilter};
use shop_rows::product::{self, ProductFilter};
use site_rows::term::{self, TermFilter};
use site_rows::user::UserRow;
use types::{Role, Timestamp};

use crate::facts::Recorded;
use crate::reports::{OURS, STORE, ask_path, bound, is_of_merchant, query, readable_paths, shop};

/// Before everything was sold and after it.
const WHOLE_RANGE: [(&str, &str); 2] =
    [("after", "2025-09-01T00:00:00"), ("before", "2026-11-14T23:59:59")];

/// The ids and texts of the shop's records, and the texts of those that a merchant has sold.
#[derive(Debug, Default)]
struct Records {
    ids: BTreeSet<i64>,
    all: BTreeSet<String>,
    of_merchant: BTreeSet<String>,
}

impl Records {
    fn of(recorded: &Recorded) -> Self {
        let snapshot = recorded.facts.snapshot();
        let mut sold = BTreeSet::new();
        let mut used = BTreeSet::new();
        let mut buyers = BTreeSet::new();
        for fact in snapshot.order_facts() {
            let sale = if fact.parent_id == 0 { fact.order_id } else { fact.parent_id };
            if is_of_merchant(sale) {
                sold.extend(
                    fact.lines.iter().flat_map(|line| [line.product_id, line.variation_id]),
                );
                used.extend(fact.coupons.iter().map(|coupon| coupon.coupon_id));
                buyers.insert(fact.customer_id);
            }
        }
        let read = move |conn: &mut dyn Conn| {
            let mut found = Self::default();
            for row in product::list(conn, &ProductFilter::default())?.0 {
                let is_sold = sold.contains(&row.product_id);
                found.add(row.product_id, is_sold, [row.name, row.sku]);
            }
            for row in coupon::list(conn, &CouponFilter::default())?.0 {
                found.add(row.coupon_id, used.contains(&row.coupon_id), [row.code, String::new()]);
            }
            for row in customer_lookup::list(conn, &CustomerLookupFilter::default())?.0 {
                let is_buyer = buyers.contains(&row.customer_id);
                found.add(row.customer_id, is_buyer, [row.email, row.username]);
            }
            for row in term::list(conn, &TermFilter::default())?.0 {
                found.ids.insert(row.term_id);
            }
            Ok(found)
        };
        recorded.store().read_blocking(read).unwrap()
    }

    fn add(&mut self, id: i64, is_of_merchant: bool, texts: [String; 2]) {
        self.ids.insert(id);
        for text in texts.into_iter().filter(|text| !text.is_empty()) {
            if is_of_merchant {
                self.of_merchant.insert(text.clone());
            }
            self.all.insert(text);
        }
    }

    /// What a text tells that it must not.
    fn told<'t>(&self, texts: &'t BTreeSet<String>, allowed: &BTreeSet<String>) -> Vec<&'t String> {
        texts.iter().filter(|text| self.all.contains(*text) && !allowed.contains(*text)).collect()
    }
}

/// Every text of an answer.
fn texts(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(found.insert(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|member| texts(member, found)),
        _ => {}
    }
}

/// The parameters of a path, as its route describes them.
fn args(recorded: &Recorded, path: &str) -> Map<String, Value> {
    let found = recorded.site.table().find(Verb::Get, path).unwrap();
    let document = found.route.description();
    document["endpoints"][0]["args"].as_object().cloned().unwrap_or_default()
}

/// What somebody may ask for who looks for more: each parameter by itself, with every id, with
/// every choice, with texts that match much.
fn questions(args: &Map<String, Value>, ids: &str) -> Vec<String> {
    let mut questions = vec![String::new()];
    for (name, arg) in args {
        let is_list = arg["type"] == "array";
        let choices = arg["enum"].as_array().or_else(|| arg["items"]["enum"].as_array());
        match (choices, name.as_str()) {
            (_, "context" | "per_page" | "page" | "after" | "before" | "stats") => {}
            (Some(choices), _) => {
                let choices = choices.iter().filter_map(Value::as_str);
                questions.extend(choices.map(|choice| format!("&{name}={choice}")));
            }
            (None, "search") => {
                questions
                    .extend(["e", "a", "@"].map(|text| format!("&{name}={text}&searchby=all")));
            }
            (None, _) if is_list && arg["items"]["type"] == "integer" => {
                questions.extend(["", "&match=any"].map(|more| format!("&{name}={ids}{more}")));
            }
            _ => {}
        }
    }
    questions
}

fn merchants(admin: &UserRow) -> [(UserRow, bool); 3] {
    let of_role = |role: Role| UserRow { roles: vec![role], ..admin.clone() };
    [
        (bound(&of_role(Role::Merchant), Some(OURS), None), true),
        (bound(&of_role(Role::Store), None, Some(STORE)), true),
        (bound(&of_role(Role::Merchant), Some("nobody"), None), false),
    ]
}

#[test]
fn no_report_tells_of_records_that_were_not_sold_there() {
    let (recorded, admin) = shop();
    let records = Records::of(&recorded);
    assert!(records.of_merchant.len() + 20 < records.all.len(), "nothing is hidden: {records:?}");
    let ids: Vec<String> = records.ids.iter().map(i64::to_string).collect();
    let (ids, none) = (ids.join(","), BTreeSet::new());
    let (mut asked, mut seen) = (0, BTreeSet::new());
    for path in readable_paths(&recorded) {
        let usual = query(path.strip_prefix("/wc-analytics/").unwrap());
        let [after, before] = WHOLE_RANGE.map(|(name, value)| format!("{name}={value}"));
        for question in questions(&args(&recorded, &path), &ids) {
            let path = format!("{path}?{after}&{before}&{usual}&extended_info=true{question}");
            for (user, is_seller) in merchants(&admin) {
                let Some(answer) = ask_path(&recorded, &user, &path) else { continue };
                let mut found = BTreeSet::new();
                texts(&answer, &mut found);
                let allowed = if is_seller { &records.of_merchant } else { &none };
                let told = records.told(&found, allowed);
                assert!(told.is_empty(), "{path} tells {told:?}");
                seen.extend(found.into_iter().filter(|text| allowed.contains(text)));
                asked += 1;
            }
        }
    }
    assert!(asked > 300, "{asked} questions were answered");
    assert!(seen.len() * 2 > records.of_merchant.len(), "a merchant sees little: {seen:?}");
}

#[test]
fn no_export_has_records_that_were_not_sold_there() {
    let (recorded, admin) = shop();
    let records = Records::of(&recorded);
    let ids: Value = records.ids.iter().copied().collect();
    let none = BTreeSet::new();
    let reports = recorded.reports();
    let now = Timestamp::parse("2026-11-15T00:00:00Z").unwrap();
    let mut rows = 0;
    for export in exports::ALL {
        let ids_of = match export.name {
            "products" | "variations" | "categories" | "coupons" | "customers" => export.name,
            "downloads" | "orders" => "product_includes",
            _ => "merchant_includes",
        };
        for chosen in [None, Some(ids_of)] {
            let mut asked: Map<String, Value> = WHOLE_RANGE
                .iter()
                .map(|(name, value)| ((*name).to_owned(), json!(value)))
                .collect();
            if let Some(name) = chosen.filter(|name| *name != "merchant_includes") {
                asked.insert(name.to_owned(), ids.clone());
            }
            for (user, is_seller) in merchants(&admin) {
                let reader = (Reader::Operator(Box::new(user)), now);
                let site = &recorded.site;
                let reading = Reading::new(export, site, &reports, &asked, reader).unwrap();
                let page = recorded.store().read_blocking(move |conn| reading.page(conn, 1));
                // The stock of the whole shop is for those who run it.
                let Ok(page) = page else {
                    assert_eq!(export.name, "stock");
                    continue;
                };
                let cells = page.rows.iter().flatten().filter_map(|cell| match cell {
                    Cell::Text(text) => Some(text.clone()),
                    _ => None,
                });
                let found: BTreeSet<String> = cells.collect();
                let allowed = if is_seller { &records.of_merchant } else { &none };
                let told = records.told(&found, allowed);
                assert!(told.is_empty(), "the export of {} tells {told:?}", export.name);
                rows += page.rows.len();
            }
        }
    }
    assert!(rows > 50, "{rows} rows");
}
