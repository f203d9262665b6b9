//! Sets the demo's shop up: settings, taxes, payment, shipping, categories, products and coupons.
//! All of it is asked for in the owner's name as over the REST interface, so **the same rules hold,
//! and followers are told**.

use std::collections::HashMap;

use contract::rest::Verb;
use db::Conn;
use frame::{Site, options};
use serde_json::{Map, Value, json};
use site_rows::user::UserRow;
use types::{Amount, Error, Result, Timestamp};

use super::calendar::Day;
use super::campaigns::{ALWAYS, CAMPAIGNS, Offer, WELCOME};
use super::goods::{
    Article, COLOURS, DEPARTMENTS, ELSEWHERE, Form, SET, SHELVES, SIZES, Season, Shelf,
};
use super::places::{COUNTRIES, RATES, REDUCED, TARIFFS, Tariff, Zone};
use crate::coupons::Coupon;

/// Something that can be bought.
#[derive(Clone, Debug)]
pub(super) struct Ware {
    /// The product, and the variation or else again the product.
    pub(super) product_id: i64,
    pub(super) sold_id: i64,
    pub(super) weight: u64,
    pub(super) season: Season,
    /// Whether there is something to send.
    pub(super) is_sent: bool,
    /// The files that come with it.
    pub(super) files: Vec<String>,
}

/// How goods get to a zone.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) zone: Zone,
    pub(super) method_id: &'static str,
    pub(super) title: String,
    pub(super) instance_id: String,
    pub(super) cost: Amount,
    /// The least sum for which it is offered.
    pub(super) from: Amount,
}

/// What the shop was given.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    pub(super) wares: Vec<Ware>,
    pub(super) ways: Vec<Way>,
    pub(super) coupons: Vec<Coupon>,
}

/// The site's settings that differ from how a new site is.
pub(super) const SETTINGS: [(&str, &str); 8] = [
    ("blogname", "Boardwalk Supply"),
    ("blogdescription", "Everything for the pier, the beach and the way home"),
    ("timezone_string", "America/New_York"),
    ("woocommerce_calc_taxes", "yes"),
    ("woocommerce_default_country", "US:NJ"),
    ("woocommerce_store_address", "1 Pier Avenue"),
    ("woocommerce_store_city", "Atlantic City"),
    ("woocommerce_store_postcode", "08401"),
];

/// From which weight on an article is put forward.
const FEATURED_WEIGHT: u64 = 90;
/// From which quantity on there are few of an article.
const LOW_STOCK: i64 = 10;

pub(super) fn settings(conn: &mut dyn Conn) -> Result<()> {
    SETTINGS.iter().try_for_each(|(name, value)| options::set(conn, name, &json!(value)))
}

/// Makes everything, as if at that moment, for orders on these days.
pub(super) fn make(
    site: &Site,
    conn: &mut dyn Conn,
    owner: &UserRow,
    days: &[Day],
    at: Timestamp,
) -> Result<Catalogue> {
    let mut maker = Maker { site, conn, owner, at, categories: HashMap::new() };
    let mut catalogue = Catalogue::default();
    maker.taxes()?;
    maker.payments()?;
    maker.ways(&mut catalogue)?;
    maker.products(&mut catalogue)?;
    maker.coupons(days, &mut catalogue)?;
    Ok(catalogue)
}

struct Maker<'a> {
    site: &'a Site,
    conn: &'a mut dyn Conn,
    owner: &'a UserRow,
    at: Timestamp,
    /// Numbers of categories by their names.
    categories: HashMap<&'static str, i64>,
}

impl Maker<'_> {
    fn ask(&mut self, verb: Verb, path: &str, body: Value) -> Result<Value> {
        let path = format!("/{}{path}", self.site.settings().names.commerce_v3);
        self.site.done_by(self.conn, self.owner.clone(), (verb, &path), body, self.at)
    }

    /// So that who looks at the shop can order something.
    fn payments(&mut self) -> Result<()> {
        for method in ["bacs", "cod"] {
            let path = format!("/payment_gateways/{method}");
            self.ask(Verb::Put, &path, json!({ "enabled": true }))?;
        }
        Ok(())
    }

    /// Makes a record and returns its number.
    fn made(&mut self, path: &str, body: Value) -> Result<i64> {
        let answer = self.ask(Verb::Post, path, body)?;
        number(&answer, "id")
    }

    fn taxes(&mut self) -> Result<()> {
        for (rate, place) in RATES.iter().zip(1..) {
            let cities: Vec<&str> =
                [rate.city].into_iter().filter(|city| !city.is_empty()).collect();
            let body = json!({
                "country": rate.country,
                "state": rate.state,
                "cities": cities,
                "rate": rate.percent,
                "name": rate.name,
                "priority": rate.priority,
                "shipping": rate.shipping,
                "class": rate.class,
                "order": place,
            });
            self.made("/taxes", body)?;
        }
        Ok(())
    }

    fn ways(&mut self, catalogue: &mut Catalogue) -> Result<()> {
        for tariff in &TARIFFS {
            let zone_id = self.made("/shipping/zones", json!({ "name": tariff.name }))?;
            let countries = COUNTRIES.iter().filter(|country| country.zone == tariff.zone);
            let places = countries.map(|one| json!({ "code": one.code, "type": "country" }));
            let places: Vec<Value> = places.collect();
            let path = format!("/shipping/zones/{zone_id}");
            self.ask(Verb::Put, &format!("{path}/locations"), json!(places))?;
            let parcel = cents(tariff.cost_cents);
            let paid = json!({ "title": tariff.title, "cost": parcel.to_text(2) });
            self.way(catalogue, (tariff, &path), ("flat_rate", tariff.title), paid)?;
            let least = cents(tariff.free_from_cents).to_text(2);
            let free = json!({ "requires": "min_amount", "min_amount": least });
            self.way(catalogue, (tariff, &path), ("free_shipping", "Free shipping"), free)?;
        }
        Ok(())
    }

    fn way(
        &mut self,
        catalogue: &mut Catalogue,
        (tariff, zone_path): (&Tariff, &str),
        (method_id, title): (&'static str, &str),
        settings: Value,
    ) -> Result<()> {
        let body = json!({ "method_id": method_id, "settings": settings });
        let answer = self.ask(Verb::Post, &format!("{zone_path}/methods"), body)?;
        let (cost, from) = match method_id {
            "free_shipping" => (Amount::ZERO, cents(tariff.free_from_cents)),
            _ => (cents(tariff.cost_cents), Amount::ZERO),
        };
        catalogue.ways.push(Way {
            zone: tariff.zone,
            method_id,
            title: title.to_owned(),
            instance_id: number(&answer, "instance_id")?.to_string(),
            cost,
            from,
        });
        Ok(())
    }

    fn products(&mut self, catalogue: &mut Catalogue) -> Result<()> {
        let size = self.attribute("Size", &SIZES)?;
        let colour = self.attribute("Colour", &COLOURS)?;
        let mut tags: HashMap<&str, i64> = HashMap::new();
        for department in DEPARTMENTS {
            let id = self.made("/products/categories", json!({ "name": department }))?;
            self.categories.insert(department, id);
        }
        let mut numbers: HashMap<&str, i64> = HashMap::new();
        for shelf in SHELVES {
            let above = self.categories.get(shelf.above).copied().unwrap_or_default();
            let body = json!({ "name": shelf.name, "parent": above });
            let category = self.made("/products/categories", body)?;
            self.categories.insert(shelf.name, category);
            let tag = match tags.get(shelf.tag) {
                Some(id) => *id,
                None => self.made("/products/tags", json!({ "name": shelf.tag }))?,
            };
            tags.insert(shelf.tag, tag);
            for article in shelf.articles {
                let place = (numbers.len(), category, tag);
                let id = self.article(catalogue, shelf, article, place, [size, colour])?;
                numbers.insert(article.name, id);
            }
        }
        self.others(&numbers)
    }

    fn attribute(&mut self, name: &str, terms: &[&str]) -> Result<i64> {
        let id = self.made("/products/attributes", json!({ "name": name }))?;
        for (term, place) in terms.iter().zip(1..) {
            let body = json!({ "name": term, "menu_order": place });
            self.made(&format!("/products/attributes/{id}/terms"), body)?;
        }
        Ok(id)
    }

    /// A product of the table, with its variations.
    fn article(
        &mut self,
        catalogue: &mut Catalogue,
        shelf: &Shelf,
        article: &Article,
        (place, category, tag): (usize, i64, i64),
        attributes: [i64; 2],
    ) -> Result<i64> {
        let choices = choices(article.form);
        let sku = format!("BW-{:03}", place + 101);
        let files = match article.form {
            Form::File => vec![file(&sku, article.name)],
            _ => Vec::new(),
        };
        let mut body = description(shelf, article, &sku);
        body.insert("categories".to_owned(), json!([{ "id": category }]));
        body.insert("tags".to_owned(), json!([{ "id": tag }]));
        if choices.is_empty() {
            body.extend(price(article));
            body.insert("downloadable".to_owned(), json!(!files.is_empty()));
            body.insert("downloads".to_owned(), json!(files));
        } else {
            body.insert("type".to_owned(), json!("variable"));
            body.insert("attributes".to_owned(), attributes_of(&choices, attributes));
        }
        let product_id = self.made("/products", Value::Object(body))?;
        let kinds = u64::try_from(choices.len().max(1)).unwrap_or(1);
        let files = files.iter().filter_map(|file| file["id"].as_str().map(str::to_owned));
        let ware = Ware {
            product_id,
            sold_id: product_id,
            // In units that can be shared among variations.
            weight: article.weight * 60 / kinds,
            season: article.season,
            is_sent: is_sent(article),
            files: files.collect(),
        };
        for (chosen, place) in choices.iter().zip(1..) {
            let mut body = price(article);
            let option = |(attribute, value): &(usize, &str)| {
                let id = attributes.get(*attribute);
                json!({ "id": id, "option": value })
            };
            body.insert("attributes".to_owned(), chosen.iter().map(option).collect());
            body.insert("sku".to_owned(), json!(format!("{sku}-{place}")));
            let path = format!("/products/{product_id}/variations");
            let sold_id = self.made(&path, Value::Object(body))?;
            catalogue.wares.push(Ware { sold_id, ..ware.clone() });
        }
        if choices.is_empty() {
            catalogue.wares.push(ware);
        }
        Ok(product_id)
    }

    /// A set of products, and one that is sold elsewhere. Nobody orders these themselves.
    fn others(&mut self, numbers: &HashMap<&str, i64>) -> Result<()> {
        let (name, parts) = SET;
        let parts: Vec<i64> = parts.iter().filter_map(|part| numbers.get(part).copied()).collect();
        let category = |maker: &Self, name| json!([{ "id": maker.categories.get(name) }]);
        let categories = category(self, "Beach");
        let body = json!({
            "name": name,
            "type": "grouped",
            "grouped_products": parts,
            "categories": categories,
            "short_description": "Everything for an afternoon on the boardwalk.",
        });
        self.made("/products", body)?;
        let (name, url, price) = ELSEWHERE;
        let categories = category(self, "Gifts and services");
        let body = json!({
            "name": name,
            "type": "external",
            "external_url": url,
            "button_text": "Ask the workshop",
            "regular_price": cents(price).to_text(2),
            "categories": categories,
        });
        self.made("/products", body).map(drop)
    }

    fn coupons(&mut self, days: &[Day], catalogue: &mut Catalogue) -> Result<()> {
        for offer in [&WELCOME].into_iter().chain(&ALWAYS) {
            self.coupon(offer, offer.code, None, catalogue)?;
        }
        let mut running = None;
        for day in days {
            let next = day.campaign.map(|place| (place, day.year));
            if next == running {
                continue;
            }
            running = next;
            let Some(campaign) = day.campaign.and_then(|place| CAMPAIGNS.get(place)) else {
                continue;
            };
            let code = campaign.code(day.year);
            self.coupon(&campaign.offer, &code, day.campaign_ends(), catalogue)?;
        }
        Ok(())
    }

    fn coupon(
        &mut self,
        offer: &Offer,
        code: &str,
        ends: Option<String>,
        catalogue: &mut Catalogue,
    ) -> Result<()> {
        let category = self.categories.get(offer.category).copied();
        let id = self.made("/coupons", offer.body(code, ends, category))?;
        let missing = || Error::internal("a new coupon was not found");
        catalogue.coupons.push(Coupon::get(self.conn, id)?.ok_or_else(missing)?);
        Ok(())
    }
}

fn number(answer: &Value, name: &str) -> Result<i64> {
    let missing = || Error::internal(format!("a response has no {name}"));
    answer[name].as_i64().ok_or_else(missing)
}

pub(super) fn cents(cents: i64) -> Amount {
    Amount::from_millionths(cents * 10_000)
}

/// What can be chosen: for each variation its values by the place of their attribute.
fn choices(form: Form) -> Vec<Vec<(usize, &'static str)>> {
    let sizes = SIZES.map(|size| vec![(0, size)]);
    let colours = COLOURS.map(|colour| vec![(1, colour)]);
    match form {
        Form::Sizes => sizes.to_vec(),
        Form::Colours => colours.to_vec(),
        Form::SizesAndColours => {
            let pairs =
                sizes.iter().flat_map(|size| colours.iter().map(move |colour| (size, colour)));
            pairs.map(|(size, colour)| [size.as_slice(), colour.as_slice()].concat()).collect()
        }
        Form::Plain | Form::File | Form::Service => Vec::new(),
    }
}

/// The attributes of a product with these variations, each with the values that occur.
fn attributes_of(choices: &[Vec<(usize, &str)>], attributes: [i64; 2]) -> Value {
    let described = attributes.iter().enumerate().filter_map(|(place, id)| {
        let chosen = choices.iter().flatten().filter(|(attribute, _)| *attribute == place);
        let mut values: Vec<&str> = Vec::new();
        for (_, value) in chosen {
            if !values.contains(value) {
                values.push(value);
            }
        }
        (!values.is_empty())
            .then(|| json!({ "id": id, "visible": true, "variation": true, "options": values }))
    });
    described.collect()
}

fn is_sent(article: &Article) -> bool {
    !matches!(article.form, Form::File | Form::Service)
}

/// A simple product without a price.
fn description(shelf: &Shelf, article: &Article, sku: &str) -> Map<String, Value> {
    let about = about(shelf, article);
    // A voucher is taxed when it is spent.
    let tax_status = if article.form == Form::Service { "none" } else { "taxable" };
    let fields = [
        ("name", json!(article.name)),
        ("type", json!("simple")),
        ("sku", json!(sku)),
        ("description", json!(format!("<p>{about}</p>"))),
        ("short_description", json!(about)),
        ("virtual", json!(!is_sent(article))),
        ("tax_status", json!(tax_status)),
        ("tax_class", json!(if shelf.is_food { REDUCED } else { "" })),
        ("featured", json!(article.weight >= FEATURED_WEIGHT)),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// Prices and stock.
fn price(article: &Article) -> Map<String, Value> {
    let mut fields = vec![("regular_price", json!(cents(article.cents).to_text(2)))];
    if article.sale_cents != 0 {
        fields.push(("sale_price", json!(cents(article.sale_cents).to_text(2))));
    }
    if let Some(stock) = article.stock {
        fields.push(("manage_stock", json!(true)));
        fields.push(("stock_quantity", json!(stock)));
        fields.push(("low_stock_amount", json!(LOW_STOCK)));
    }
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn file(sku: &str, name: &str) -> Value {
    let id = format!("file-{}", sku.to_lowercase());
    json!({ "id": id, "name": name, "file": format!("https://files.example/{id}.zip") })
}

fn about(shelf: &Shelf, article: &Article) -> String {
    let made = match article.form {
        Form::File => "Ready to download right away.",
        Form::Service => "A service, nothing to ship.",
        _ if shelf.is_food => "Made in small batches near the coast.",
        _ => "Made to last more than one season.",
    };
    let season = match article.season {
        Season::Summer => " Best from May to September.",
        Season::Winter => " Best when the evenings are long.",
        Season::Always => "",
    };
    format!("{}: {made}{season}", article.name)
}
