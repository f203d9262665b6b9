//! A served shop with its administrator: the only way in and out of it is the public interface.

use std::cell::RefCell;

use serde_json::{Value, json};
use testkit::http::{Connection, Request, Response};

use super::clock::{Clock, ZONES};
use super::dice::Dice;
use crate::support::{Running, Site, basic, text};

/// Records on a page of a list.
const PAGE: usize = 100;

/// Currencies by the number of their decimals.
const CURRENCIES: [(&str, u32); 4] = [("JPY", 0), ("EUR", 2), ("USD", 2), ("KWD", 3)];
pub(super) const STATUSES: [&str; 7] =
    ["pending", "processing", "on-hold", "completed", "cancelled", "refunded", "failed"];

/// What the shop has decided.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    pub(super) clock: Clock,
    pub(super) currency: &'static str,
    pub(super) decimals: u32,
    /// By which date orders and revenue go.
    pub(super) date_type: &'static str,
    /// Statuses that do not count unless somebody asks for them.
    pub(super) excluded: Vec<&'static str>,
}

impl Choices {
    /// Every seed has another number of decimals than the one before, and mostly another zone.
    pub(super) fn roll(seed: u64, dice: &mut Dice) -> Self {
        let place = |count: usize| usize::try_from(seed).unwrap() % count;
        let (currency, decimals) = CURRENCIES[place(CURRENCIES.len())];
        let zone = ZONES[(place(ZONES.len()) + 2) % ZONES.len()];
        let excluded: &[&str] = if dice.one_in(3) {
            &["failed", "on-hold"]
        } else {
            &["pending", "failed", "cancelled"]
        };
        Self {
            clock: Clock { zone, week_start: dice.pick(&[0, 1, 1, 6]) },
            currency,
            decimals,
            date_type: dice.pick(&["date_paid", "date_paid", "date_created", "date_completed"]),
            excluded: excluded.to_vec(),
        }
    }

    /// A currency that is not the shop's, with as many decimals.
    pub(super) fn foreign(&self) -> &'static str {
        if self.currency == "USD" { "EUR" } else { "USD" }
    }
}

pub(super) struct Shop {
    pub(super) site: Site,
    pub(super) choices: Choices,
    running: Running,
    authorization: String,
    connection: RefCell<Connection>,
}

impl Shop {
    /// A new shop that has decided.
    pub(super) fn open(site: Site, choices: Choices) -> Self {
        let who = ["--login", "boss", "--email", "boss@shop.example", "--role", "administrator"];
        site.json(&[&["user", "create"], &who[..]].concat());
        let made = site.json(&["user", "app-password", "--login", "boss", "--name", "test"]);
        let authorization = basic(&format!("boss:{}", text(&made, "password")));
        let running = site.serve();
        let connection = RefCell::new(Connection::open(&running.url).unwrap());
        let shop = Self { site, choices, running, authorization, connection };
        shop.decide();
        shop
    }

    fn decide(&self) {
        let Choices { clock, currency, decimals, date_type, excluded } = &self.choices;
        let site = json!({ "timezone": clock.zone.name, "start_of_week": clock.week_start });
        self.ask("POST", "/wp/v2/settings", &site);
        let setting = |group: &str, name: &str, value: Value| {
            let path = format!("/wc/v3/settings/{group}/{name}");
            self.ask("PUT", &path, &json!({ "value": value }));
        };
        setting("general", "woocommerce_currency", json!(currency));
        setting("general", "woocommerce_price_num_decimals", json!(decimals.to_string()));
        setting("general", "woocommerce_calc_taxes", json!("yes"));
        setting("wc_admin", "woocommerce_date_type", json!(date_type));
        setting("wc_admin", "woocommerce_excluded_report_order_statuses", json!(excluded));
    }

    pub(super) fn send(&self, method: &str, path: &str, body: &Value) -> Response {
        let mut request = Request::new(method, &format!("/wp-json{path}"))
            .header("Authorization", &self.authorization);
        if !body.is_null() {
            request = request.header("Content-Type", "application/json").body(body.to_string());
        }
        let mut connection = self.connection.borrow_mut();
        if !connection.is_open() {
            *connection = Connection::open(&self.running.url).unwrap();
        }
        connection.send(&request).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// What must succeed.
    pub(super) fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.send(method, path, body);
        assert!(answer.status < 300, "{method} {path} {body}: {} {}", answer.status, answer.text());
        answer.json().unwrap()
    }

    pub(super) fn get(&self, path: &str) -> Response {
        self.send("GET", path, &Value::Null)
    }

    /// All records of a list.
    pub(super) fn all(&self, path: &str) -> Vec<Value> {
        let mut records = Vec::new();
        let sign = if path.contains('?') { '&' } else { '?' };
        for page in 1.. {
            let path = format!("{path}{sign}per_page={PAGE}&page={page}");
            let found = self.ask("GET", &path, &Value::Null);
            let found = found.as_array().unwrap_or_else(|| panic!("{path}: {found}"));
            records.extend(found.iter().cloned());
            if found.len() < PAGE {
                break;
            }
        }
        records
    }

    /// Imports records with their past.
    pub(super) fn import(&self, records: &[Value]) {
        let folder = testkit::temp_dir().unwrap();
        let path = folder.path().join("records.jsonl");
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        std::fs::write(&path, lines.join("\n")).unwrap();
        let done = self.site.json(&["import", "orders", path.to_str().unwrap()]);
        let imported = done["imported"].as_object().unwrap();
        let count: u64 = imported.values().filter_map(Value::as_u64).sum();
        assert_eq!(count, u64::try_from(records.len()).unwrap(), "{done}");
    }
}
