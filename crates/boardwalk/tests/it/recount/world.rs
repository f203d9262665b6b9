//! Everything that a shop's records say, read through the interface.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::clock::{self, Second};
use super::rows::{self, Buyer, Row};
use super::sales::Download;
use super::shop::{Choices, Shop};

/// Somebody who has an account or has bought something.
#[derive(Clone, Debug)]
pub(super) struct Person {
    /// The number under which reports know them.
    pub(super) id: i64,
    pub(super) user: i64,
    pub(super) username: String,
    pub(super) first_name: String,
    pub(super) last_name: String,
    pub(super) email: String,
    pub(super) country: String,
    pub(super) state: String,
    pub(super) city: String,
    pub(super) postcode: String,
    pub(super) registered: Option<Second>,
}

/// Terms of an attribute by their numbers: name and slug.
type Terms = BTreeMap<i64, (String, String)>;

pub(super) struct World {
    pub(super) choices: Choices,
    pub(super) rows: Vec<Row>,
    /// As the interface shows them; variations have `parent_id`.
    pub(super) products: BTreeMap<i64, Value>,
    pub(super) variations: BTreeMap<i64, Value>,
    /// Name and parent.
    pub(super) categories: BTreeMap<i64, (String, i64)>,
    pub(super) coupons: BTreeMap<i64, Value>,
    pub(super) rates: BTreeMap<i64, Value>,
    /// The taxonomy of each attribute, and the name and slug of each term by its number.
    pub(super) attributes: BTreeMap<i64, (String, Terms)>,
    pub(super) people: BTreeMap<Buyer, Person>,
    pub(super) downloads: Vec<Download>,
}

fn id(record: &Value) -> i64 {
    record["id"].as_i64().unwrap()
}

fn text(record: &Value, name: &str) -> String {
    record[name].as_str().unwrap_or_else(|| panic!("{name} of {record}")).to_owned()
}

fn by_id(records: Vec<Value>) -> BTreeMap<i64, Value> {
    records.into_iter().map(|record| (id(&record), record)).collect()
}

impl World {
    pub(super) fn read(shop: &Shop, downloads: Vec<Download>) -> Self {
        let orders = shop.all("/wc/v3/orders?dp=6");
        let refunds = shop.all("/wc/v3/refunds?dp=6");
        let products = by_id(shop.all("/wc/v3/products?status=any"));
        let mut variations = BTreeMap::new();
        for (product, record) in &products {
            if record["type"] == "variable" {
                for mut variation in shop.all(&format!("/wc/v3/products/{product}/variations")) {
                    variation["parent_id"] = Value::from(*product);
                    variations.insert(id(&variation), variation);
                }
            }
        }
        let categories = shop.all("/wc/v3/products/categories").into_iter();
        let category = |record: Value| {
            (id(&record), (text(&record, "name"), record["parent"].as_i64().unwrap()))
        };
        let mut attributes = BTreeMap::new();
        for attribute in shop.all("/wc/v3/products/attributes") {
            let path = format!("/wc/v3/products/attributes/{}/terms", attribute["id"]);
            let terms = shop.all(&path).into_iter();
            let terms = terms.map(|term| (id(&term), (text(&term, "name"), text(&term, "slug"))));
            attributes.insert(id(&attribute), (text(&attribute, "slug"), terms.collect()));
        }
        Self {
            choices: shop.choices.clone(),
            rows: rows::rows(&shop.choices, &orders, &refunds),
            products,
            variations,
            categories: categories.map(category).collect(),
            coupons: by_id(shop.all("/wc/v3/coupons")),
            rates: by_id(shop.all("/wc/v3/taxes")),
            attributes,
            people: people(shop, &orders),
            downloads,
        }
    }

    /// The number of a coupon with this code.
    pub(super) fn coupon(&self, code: &str) -> i64 {
        let found = self.coupons.values().find(|coupon| coupon["code"] == code);
        id(found.unwrap_or_else(|| panic!("no coupon {code}")))
    }

    /// The categories that a product was put into.
    pub(super) fn own_categories(&self, product: i64) -> BTreeSet<i64> {
        let categories =
            self.products.get(&product).and_then(|record| record["categories"].as_array());
        categories.into_iter().flatten().map(id).collect()
    }

    /// The same, with all that these are parts of.
    pub(super) fn categories_up(&self, product: i64) -> BTreeSet<i64> {
        let mut all = BTreeSet::new();
        for mut category in self.own_categories(product) {
            while category != 0 && all.insert(category) {
                category = self.categories[&category].1;
            }
        }
        all
    }

    /// Products of these categories, and of those that are parts of them.
    pub(super) fn products_in(&self, categories: &[i64]) -> BTreeSet<i64> {
        let is_in = |product: &i64| {
            self.categories_up(*product).iter().any(|category| categories.contains(category))
        };
        self.products.keys().copied().filter(is_in).collect()
    }

    /// The first and the last moment of everything.
    pub(super) fn span(&self) -> (Second, Second) {
        let moments = self.rows.iter().flat_map(|row| [row.paid, row.completed, Some(row.created)]);
        let moments: Vec<Second> = moments.flatten().collect();
        (*moments.iter().min().unwrap(), *moments.iter().max().unwrap())
    }
}

/// Whoever has an account for buying, or bought as a guest. Their numbers are the one thing that
/// only reports tell, so the whole list is asked for once.
fn people(shop: &Shop, orders: &[Value]) -> BTreeMap<Buyer, Person> {
    let mut people = BTreeMap::new();
    let of = |record: &Value, address: &Value, user: i64| Person {
        id: 0,
        user,
        username: record["username"].as_str().unwrap_or_default().to_owned(),
        first_name: text(address, "first_name"),
        last_name: text(address, "last_name"),
        email: text(address, "email"),
        country: text(address, "country"),
        state: text(address, "state"),
        city: text(address, "city"),
        postcode: text(address, "postcode"),
        registered: record["date_created_gmt"].as_str().filter(|_| user != 0).map(clock::read),
    };
    for record in shop.all("/wc/v3/customers") {
        let user = id(&record);
        people.insert(Buyer::User(user), of(&record, &record["billing"], user));
    }
    for order in orders.iter().filter(|order| order["customer_id"] == 0) {
        let guest = of(&Value::Null, &order["billing"], 0);
        people.insert(Buyer::Guest(guest.email.to_lowercase()), guest);
    }
    for row in shop.all("/wc-analytics/reports/customers?force_cache_refresh=true") {
        let buyer = match row["user_id"].as_i64().unwrap() {
            0 => Buyer::Guest(text(&row, "email").to_lowercase()),
            user => Buyer::User(user),
        };
        let person = people.get_mut(&buyer).unwrap_or_else(|| panic!("nobody knows {row}"));
        assert_eq!(person.id, 0, "{row} is there twice");
        person.id = id(&row);
    }
    assert!(people.values().all(|person| person.id > 0), "{people:?}");
    people
}
