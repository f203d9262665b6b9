//! Reports over time, recomputed: totals, intervals, and both split into segments.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::clock::{Interval, UNITS, Unit, written};
use super::columns::{self, Columns};
use super::filter::{self, Counted};
use super::query::Query;
use super::world::World;

/// What a report must answer.
pub(super) struct Expected {
    pub(super) totals: Columns,
    /// In the order of time, each with what it is sorted by.
    pub(super) intervals: Vec<(f64, Value)>,
}

/// The columns of what is counted.
type ColumnsOf = fn(&[Counted<'_>]) -> Columns;

/// Segments by the text of their numbers, with their labels.
type Known = BTreeMap<(i64, String), String>;

/// A report: what it counts, and its columns.
struct Report<'w> {
    world: &'w World,
    query: &'w Query,
    counted: Vec<Counted<'w>>,
    /// The same in every currency, unless the question names one, where these are kept apart.
    by_currency: Vec<Counted<'w>>,
    columns: fn(&[Counted<'_>]) -> Columns,
}

/// The routes of reports over time, without `reports/` and `/stats`.
pub(super) const STATS: [&str; 6] =
    ["orders", "revenue", "products", "variations", "coupons", "taxes"];

fn report<'w>(world: &'w World, query: &'w Query) -> Report<'w> {
    let columns: fn(&[Counted<'_>]) -> Columns = match query.route.as_str() {
        "reports/orders/stats" | "reports/revenue/stats" => columns::of_orders,
        "reports/products/stats" => columns::of_products,
        "reports/variations/stats" => columns::of_variations,
        "reports/coupons/stats" => columns::of_coupons,
        "reports/taxes/stats" => columns::of_taxes,
        other => panic!("{other} is no report over time"),
    };
    let every_currency = query.text("currency").is_none();
    let apart = Query { every_currency, ..query.clone() };
    let by_currency = match query.text("segmentby") {
        Some("currency") => counted(world, &apart),
        _ => Vec::new(),
    };
    Report { world, query, counted: counted(world, query), by_currency, columns }
}

/// What a report counts.
pub(super) fn counted<'w>(world: &'w World, query: &Query) -> Vec<Counted<'w>> {
    match query.route.as_str() {
        "reports/orders/stats" | "reports/revenue/stats" => filter::orders(world, query),
        "reports/products/stats" | "reports/variations/stats" => filter::lines(world, query),
        "reports/coupons/stats" => filter::coupons(world, query),
        _ => filter::taxes(world, query),
    }
}

/// The intervals of the question.
pub(super) fn intervals(world: &World, query: &Query) -> Vec<Interval> {
    let name = query.text("interval").unwrap_or("week");
    let unit = UNITS.iter().find(|(known, _)| *known == name).map_or(Unit::Week, |(_, unit)| *unit);
    let (first, last) = query.range(&world.choices.clock);
    world.choices.clock.intervals(unit, first, last)
}

pub(super) fn expected(world: &World, query: &Query) -> Expected {
    if query.route == "reports/downloads/stats" {
        return downloads(world, query);
    }
    let report = report(world, query);
    let mut totals = report.subtotals(&report.counted, &report.by_currency);
    if matches!(query.route.as_str(), "reports/orders/stats" | "reports/revenue/stats") {
        totals.insert(String::from("products"), columns::products_of(&report.counted));
    }
    let intervals = intervals(world, query);
    let bodies = intervals.iter().enumerate().map(|(place, interval)| {
        let within =
            |counted: &&Counted<'_>| (interval.first..=interval.last).contains(&counted.at);
        let counted: Vec<Counted<'_>> = report.counted.iter().filter(within).copied().collect();
        let apart: Vec<Counted<'_>> = report.by_currency.iter().filter(within).copied().collect();
        let subtotals = report.subtotals(&counted, &apart);
        let rank = rank(query, &subtotals, &counted).unwrap_or_else(|| place_rank(place));
        (rank, body(world, interval, subtotals))
    });
    Expected { totals, intervals: bodies.collect() }
}

fn place_rank(place: usize) -> f64 {
    super::money::whole(i64::try_from(place).unwrap())
}

/// What an interval is sorted by, if that is not its date.
fn rank(query: &Query, subtotals: &Columns, counted: &[Counted<'_>]) -> Option<f64> {
    let by = query.text("orderby").filter(|by| *by != "date")?;
    let column = if by == "items_sold" && query.route == "reports/revenue/stats" {
        "num_items_sold"
    } else {
        by
    };
    let shown = subtotals.get(column).and_then(Value::as_f64);
    Some(shown.or_else(|| columns::hidden(counted, by)).unwrap_or_else(|| panic!("orderby {by}")))
}

fn body(world: &World, interval: &Interval, subtotals: Columns) -> Value {
    let Interval { id, first, last } = interval;
    let clock = world.choices.clock;
    json!({
        "interval": id,
        "date_start": clock.text(*first),
        "date_start_gmt": written(*first, ' '),
        "date_end": clock.text(*last),
        "date_end_gmt": written(*last, ' '),
        "subtotals": subtotals,
    })
}

fn downloads(world: &World, query: &Query) -> Expected {
    let found = filter::downloads(world, query);
    let columns = |count: usize| -> Columns {
        [(String::from("download_count"), json!(count))].into_iter().collect()
    };
    let bodies = intervals(world, query).into_iter().enumerate().map(|(place, interval)| {
        let within = found.iter().filter(|one| (interval.first..=interval.last).contains(&one.at));
        let count = within.count();
        let by_count = query.text("orderby") == Some("download_count");
        let rank = place_rank(if by_count { count } else { place });
        (rank, body(world, &interval, columns(count)))
    });
    Expected { totals: columns(found.len()), intervals: bodies.collect() }
}

impl<'w> Report<'w> {
    /// The columns that are asked for, with the segments.
    fn subtotals(&self, counted: &[Counted<'w>], apart: &[Counted<'w>]) -> Columns {
        let mut columns = (self.columns)(counted);
        self.keep_fields(&mut columns);
        let is_apart = self.query.text("segmentby") == Some("currency");
        let split = self.segments(if is_apart { apart } else { counted });
        columns.insert(String::from("segments"), split);
        columns
    }

    fn keep_fields(&self, columns: &mut Columns) {
        let Some(fields) = self.query.texts("fields") else { return };
        let is_orders = columns.contains_key("gross_sales");
        columns.retain(|name, _| {
            fields.contains(&name.as_str()) || (is_orders && name == "coupons_count")
        });
    }

    fn segments(&self, counted: &[Counted<'w>]) -> Value {
        let Some(by) = self.query.text("segmentby") else { return json!([]) };
        let (units, columns) = self.split(by, counted);
        let known = self.known(by);
        let segment = |((id, name), label): (&(i64, String), &String)| {
            let own: Vec<Counted<'_>> = units
                .iter()
                .filter(|unit| self.keys(by, unit).contains(&(*id, name.clone())))
                .copied()
                .collect();
            let id = if name.is_empty() { json!(id) } else { json!(name) };
            json!({ "segment_id": id, "segment_label": label, "subtotals": columns(&own) })
        };
        known.iter().map(segment).collect()
    }

    /// What segments count, and their columns.
    fn split(&self, by: &str, counted: &[Counted<'w>]) -> (Vec<Counted<'w>>, ColumnsOf) {
        let of_lines = || -> Vec<Counted<'w>> {
            let mut rows: Vec<Counted<'w>> = counted.to_vec();
            rows.dedup_by_key(|counted| counted.row.id);
            let lines = rows.into_iter().flat_map(|counted| {
                let line = move |line| Counted { line: Some(line), coupon: None, ..counted };
                counted.row.lines.iter().map(line)
            });
            // Variations are those of the product that is asked for.
            let params = ("product_includes", "categories");
            let of = filter::products_asked(self.world, self.query, params);
            let of = of.filter(|_| by == "variation");
            let is_asked = |product: i64| of.as_ref().is_none_or(|of| of.contains(&product));
            lines
                .filter(|counted| counted.line.is_some_and(|line| is_asked(line.product)))
                .collect()
        };
        let of_coupons = || -> Vec<Counted<'w>> {
            let mut coupons = Vec::new();
            for counted in counted {
                for (code, discount) in &counted.row.coupons {
                    let coupon = Some((self.world.coupon(code), *discount));
                    coupons.push(Counted { coupon, ..*counted });
                }
            }
            coupons
        };
        match (self.query.route.as_str(), by) {
            ("reports/orders/stats" | "reports/revenue/stats", "customer_type" | "currency") => {
                (counted.to_vec(), columns::of_orders)
            }
            ("reports/orders/stats" | "reports/revenue/stats", "coupon") => {
                (of_coupons(), columns::of_order_segment)
            }
            ("reports/orders/stats" | "reports/revenue/stats", _) => {
                (of_lines(), columns::of_order_segment)
            }
            ("reports/products/stats", _) => (counted.to_vec(), columns::of_products),
            ("reports/variations/stats", _) => (counted.to_vec(), columns::of_variations),
            ("reports/coupons/stats", "coupon" | "currency") => {
                (counted.to_vec(), columns::of_coupons)
            }
            ("reports/coupons/stats", _) => (of_lines(), columns::of_coupons),
            ("reports/taxes/stats", _) => (counted.to_vec(), columns::of_taxes),
            (route, by) => panic!("{route} by {by}"),
        }
    }

    /// The segments that something is in.
    fn keys(&self, by: &str, counted: &Counted<'_>) -> Vec<(i64, String)> {
        let number = |id: i64| vec![(id, String::new())];
        match by {
            "customer_type" => number(i64::from(counted.row.returning)),
            "currency" => vec![(0, counted.row.currency.clone())],
            "coupon" => counted.coupon.map_or_else(Vec::new, |(id, _)| number(id)),
            "tax_rate_id" => counted.tax.map_or_else(Vec::new, |tax| number(tax.rate)),
            "product" => counted.line.map_or_else(Vec::new, |line| number(line.product)),
            "variation" => counted.line.map_or_else(Vec::new, |line| number(line.variation)),
            "category" => {
                let product = counted.line.map_or(0, |line| line.product);
                let all = self.world.categories_up(product).into_iter();
                all.map(|id| (id, String::new())).collect()
            }
            other => panic!("by {other}"),
        }
    }

    /// The segments that are shown, be they empty, with those of what was sold and deleted.
    fn known(&self, by: &str) -> Known {
        let Self { world, query, .. } = self;
        let text = |record: &Value, name: &str| record[name].as_str().unwrap().to_owned();
        let params = match query.route.as_str() {
            "reports/orders/stats" => ("product_includes", "categories"),
            "reports/products/stats" => ("products", "categories"),
            "reports/variations/stats" => ("product_includes", "category_includes"),
            _ => ("", ""),
        };
        let products = filter::products_asked(world, query, params);
        let known: Vec<(i64, String)> = match by {
            "customer_type" => vec![(0, String::from("New")), (1, String::from("Returning"))],
            "product" => world
                .products
                .iter()
                .filter(|(id, _)| products.as_ref().is_none_or(|asked| asked.contains(id)))
                .map(|(id, record)| (*id, text(record, "name")))
                .collect(),
            "variation" => self.known_variations(),
            "category" => self.known_categories(params.1),
            "coupon" => {
                let asked = query.ids("coupons");
                let is_asked = |id: &i64| asked.as_ref().is_none_or(|asked| asked.contains(id));
                let coupons = world.coupons.iter().filter(|(id, _)| is_asked(id));
                coupons.map(|(id, record)| (*id, text(record, "code"))).collect()
            }
            "tax_rate_id" => {
                let asked = query.ids("taxes");
                let is_asked = |id: &i64| asked.as_ref().is_none_or(|asked| asked.contains(id));
                let rates = world.rates.iter().filter(|(id, _)| is_asked(id));
                rates.map(|(id, record)| (*id, rate_code(record))).collect()
            }
            "currency" => {
                let all = self.by_currency.iter().map(|counted| counted.row.currency.clone());
                return all.map(|currency| ((0, currency.clone()), currency)).collect();
            }
            other => panic!("by {other}"),
        };
        let mut known: Known =
            known.into_iter().map(|(id, label)| ((id, String::new()), label)).collect();
        let is_chosen = match by {
            "product" => products.is_some(),
            "variation" => query.ids(self.variations_param()).is_some(),
            "coupon" => query.ids("coupons").is_some(),
            _ => true,
        };
        if !is_chosen {
            // What was sold and is not there any more.
            for key in self.split(by, &self.counted).0.iter().flat_map(|unit| self.keys(by, unit)) {
                known.entry(key).or_insert_with(|| String::from("(Deleted)"));
            }
        }
        known
    }

    fn variations_param(&self) -> &'static str {
        match self.query.route.as_str() {
            "reports/orders/stats" => "variation_includes",
            _ => "variations",
        }
    }

    fn known_variations(&self) -> Vec<(i64, String)> {
        let Self { world, query, .. } = self;
        let products = match query.route.as_str() {
            "reports/orders/stats" => "product_includes",
            "reports/products/stats" => "products",
            _ => "",
        };
        let asked = query.ids(self.variations_param());
        let of = filter::products_asked(world, query, (products, "categories"));
        let is_asked = |(id, record): &(&i64, &Value)| {
            let parent = record["parent_id"].as_i64().unwrap();
            asked.as_ref().is_none_or(|asked| asked.contains(id))
                && of.as_ref().is_none_or(|of| of.contains(&parent))
        };
        let label = |(id, record): (&i64, &Value)| {
            let parent = &world.products[&record["parent_id"].as_i64().unwrap()];
            let options = record["attributes"].as_array().unwrap().iter();
            let options: Vec<&str> = options.map(|own| own["option"].as_str().unwrap()).collect();
            (*id, format!("{} - {}", parent["name"].as_str().unwrap(), options.join(", ")))
        };
        let mut known: Vec<(i64, String)> =
            world.variations.iter().filter(is_asked).map(label).collect();
        // What was sold without a variation.
        if asked.is_none() && query.route != "reports/variations/stats" {
            let name = match of.as_ref().filter(|of| of.len() == 1).and_then(|of| of.first()) {
                Some(only) => world.products[only]["name"].as_str().unwrap(),
                None => "(No variation)",
            };
            known.push((0, name.to_owned()));
        }
        known
    }

    /// Categories with a product, be it in a part of them, or those that are asked for.
    fn known_categories(&self, param: &str) -> Vec<(i64, String)> {
        let Self { world, query, .. } = self;
        let asked = query.ids(param);
        let is_used = |id: &i64| {
            world.products.keys().any(|product| world.categories_up(*product).contains(id))
        };
        let is_known =
            |id: &&i64| is_used(id) && asked.as_ref().is_none_or(|asked| asked.contains(id));
        let ids = world.categories.keys().filter(is_known);
        ids.map(|id| (*id, world.categories[id].0.clone())).collect()
    }
}

/// The code under which orders know a rate.
pub(super) fn rate_code(record: &Value) -> String {
    let text = |name: &str| record[name].as_str().unwrap().to_owned();
    let parts = [text("country"), text("state"), text("name"), record["priority"].to_string()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("-").to_uppercase()
}
