//! What a shop has before anything is sold: goods in categories and variations, coupons, taxes and
//! customers. Everything is written through the interface.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::dice::Dice;
use super::money;
use super::shop::Shop;

const COLOURS: [&str; 3] = ["Red", "Blue", "Green"];
/// Where buyers live, with the address that taxes go by.
pub(super) const PLACES: [(&str, &str, &str, &str); 4] = [
    ("US", "CA", "Fresno", "93650"),
    ("US", "NY", "Albany", "12201"),
    ("DE", "", "Kiel", "24103"),
    ("NZ", "AUK", "Auckland", "1010"),
];

/// What orders can be made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Catalogue {
    /// Product and variation; 0 where there is none.
    pub(super) goods: Vec<(i64, i64)>,
    /// What was chosen of each variation, as lines of orders note it.
    pub(super) chosen: BTreeMap<i64, Value>,
    pub(super) album: i64,
    pub(super) codes: Vec<String>,
    /// User and address of those with an account; user 0 for guests.
    pub(super) buyers: Vec<(i64, Value)>,
}

fn id(record: &Value) -> i64 {
    record["id"].as_i64().unwrap_or_else(|| panic!("{record} has no id"))
}

/// Furnishes the shop.
pub(super) fn furnish(shop: &Shop, dice: &mut Dice) -> Catalogue {
    let mut catalogue = Catalogue::default();
    let (colour, terms) = colours(shop);
    let categories = categories(shop);
    let price =
        |dice: &mut Dice| money::text(dice.between(500, 90_000) * 1_000, shop.choices.decimals);
    let chosen = |dice: &mut Dice| -> Vec<Value> {
        dice.some(&categories, 3).into_iter().map(|id| json!({ "id": id })).collect()
    };
    for (place, name) in ["Anchor", "buoy", "Compass", "Deck chair", "Ensign"].iter().enumerate() {
        let mut body = json!({ "name": name, "sku": format!("s-{}", 9 - place),
            "regular_price": price(dice), "categories": chosen(dice) });
        if dice.one_in(2) {
            body["manage_stock"] = json!(true);
            body["stock_quantity"] = json!(dice.between(0, 4) * 50);
        } else if dice.one_in(3) {
            body["stock_status"] = json!(dice.pick(&["outofstock", "onbackorder"]));
        }
        if place == 0 {
            body["attributes"] = json!([{ "id": colour, "visible": true, "options": ["Red"] }]);
        }
        catalogue.goods.push((id(&shop.ask("POST", "/wc/v3/products", &body)), 0));
    }
    for name in ["Flag", "Gangway"] {
        let product = variable(shop, dice, (name, colour), chosen);
        for (place, term) in terms.iter().enumerate().take(2 + dice.below(2)) {
            let body = json!({ "regular_price": price(dice), "sku": format!("{name}-{place}"),
                "attributes": [{ "id": colour, "option": term }] });
            let path = format!("/wc/v3/products/{product}/variations");
            let variation = id(&shop.ask("POST", &path, &body));
            let chosen = json!([{ "key": "pa_colour", "value": term.to_lowercase() }]);
            catalogue.chosen.insert(variation, chosen);
            catalogue.goods.push((product, variation));
        }
    }
    catalogue.album = album(shop, price(dice), chosen(dice));
    catalogue.goods.push((catalogue.album, 0));
    coupons(shop, &mut catalogue);
    taxes(shop);
    buyers(shop, &mut catalogue);
    catalogue
}

fn colours(shop: &Shop) -> (i64, Vec<String>) {
    let attribute =
        id(&shop.ask("POST", "/wc/v3/products/attributes", &json!({ "name": "Colour" })));
    for name in COLOURS {
        let path = format!("/wc/v3/products/attributes/{attribute}/terms");
        shop.ask("POST", &path, &json!({ "name": name }));
    }
    (attribute, COLOURS.map(str::to_owned).into())
}

/// Two trees, one of which is three high.
fn categories(shop: &Shop) -> Vec<i64> {
    let mut ids: Vec<i64> = Vec::new();
    for (name, parent) in [
        ("Harbour", None),
        ("Ships", Some(0)),
        ("Boats", Some(1)),
        ("Shore", None),
        ("Cafe", Some(3)),
    ] {
        let parent = parent.map_or(0, |place: usize| ids[place]);
        let body = json!({ "name": name, "parent": parent });
        ids.push(id(&shop.ask("POST", "/wc/v3/products/categories", &body)));
    }
    ids
}

fn variable(
    shop: &Shop,
    dice: &mut Dice,
    (name, colour): (&str, i64),
    chosen: impl Fn(&mut Dice) -> Vec<Value>,
) -> i64 {
    let attribute = json!({ "id": colour, "variation": true, "options": COLOURS });
    let body = json!({ "name": name, "type": "variable", "sku": name.to_lowercase(),
        "attributes": [attribute], "categories": chosen(dice) });
    id(&shop.ask("POST", "/wc/v3/products", &body))
}

fn album(shop: &Shop, price: String, categories: Vec<Value>) -> i64 {
    let files = json!([{ "id": "f1", "name": "One", "file": "https://files.example/1.zip" }]);
    let body = json!({ "name": "Hymns", "sku": "album", "regular_price": price, "virtual": true,
        "downloadable": true, "downloads": files, "categories": categories });
    id(&shop.ask("POST", "/wc/v3/products", &body))
}

fn coupons(shop: &Shop, catalogue: &mut Catalogue) {
    for (code, kind, amount) in
        [("tenth", "percent", "10"), ("basket", "fixed_cart", "3"), ("each", "fixed_product", "1")]
    {
        let body = json!({ "code": code, "discount_type": kind, "amount": amount });
        shop.ask("POST", "/wc/v3/coupons", &body);
        catalogue.codes.push(code.to_owned());
    }
}

fn taxes(shop: &Shop) {
    for (country, state, name, rate, priority, of_shipping) in [
        ("US", "CA", "STATE TAX", "7.25", 1, true),
        ("US", "", "FEDERAL", "1.5", 2, false),
        ("DE", "", "VAT", "19", 1, true),
    ] {
        let body = json!({ "country": country, "state": state, "name": name, "rate": rate,
            "priority": priority, "shipping": of_shipping });
        shop.ask("POST", "/wc/v3/taxes", &body);
    }
}

/// Four with an account, of whom the last never buys, and three guests.
fn buyers(shop: &Shop, catalogue: &mut Catalogue) {
    for (place, name) in ["Ada", "ben", "Cleo", "Dan", "Eve", "Finn", "Gus"].iter().enumerate() {
        let (country, state, city, postcode) = PLACES[place % PLACES.len()];
        let email = format!("{}@example.com", name.to_lowercase());
        let address = json!({ "first_name": name, "last_name": format!("Berg{place}"),
            "address_1": "1 Pier", "country": country, "state": state, "city": city,
            "postcode": postcode, "email": email });
        let user_id = if place < 4 {
            let body = json!({ "email": email, "username": name.to_lowercase(),
                "password": "a long enough password", "first_name": name,
                "last_name": format!("Berg{place}"), "billing": address, "shipping": address });
            id(&shop.ask("POST", "/wc/v3/customers", &body))
        } else {
            0
        };
        if place != 3 {
            catalogue.buyers.push((user_id, address));
        }
    }
}
