//! Which rows, lines, coupons, taxes and downloads a question is about, by what its parameters say.

use std::collections::BTreeSet;

use super::clock::Second;
use super::query::Query;
use super::rows::{Line, Row, Tax};
use super::sales::Download;
use super::world::World;

/// What a report counts: a row, or a part of one, with the moment by which it goes.
#[derive(Clone, Copy)]
pub(super) struct Counted<'w> {
    pub(super) at: Second,
    pub(super) row: &'w Row,
    pub(super) line: Option<&'w Line>,
    /// Number of the coupon, and what it took off.
    pub(super) coupon: Option<(i64, i64)>,
    pub(super) tax: Option<&'w Tax>,
}

/// All conditions, or any of them; none at all lets everything pass.
fn joined(conditions: &[bool], any: bool) -> bool {
    if conditions.is_empty() || !any {
        conditions.iter().all(|holds| *holds)
    } else {
        conditions.iter().any(|holds| *holds)
    }
}

/// Whether the row is in the currency of the report: the shop's unless one is named.
pub(super) fn in_currency(world: &World, query: &Query, row: &Row) -> bool {
    query.every_currency || row.currency == query.text("currency").unwrap_or(world.choices.currency)
}

fn is_counted(world: &World, row: &Row) -> bool {
    !world.choices.excluded.contains(&&*row.status)
}

fn status_conditions(query: &Query, row: &Row) -> Vec<bool> {
    let named = |name: &str| {
        let list = query.texts(name)?;
        Some(list.contains(&"any") || list.contains(&&*row.status))
    };
    [named("status_is"), named("status_is_not").map(|named| !named)].into_iter().flatten().collect()
}

/// Rows of orders and revenue, in the range of the question.
pub(super) fn orders<'w>(world: &'w World, query: &Query) -> Vec<Counted<'w>> {
    let (first, last) = query.range(&world.choices.clock);
    let date_type = query.text("date_type").unwrap_or(world.choices.date_type);
    let dated = world.rows.iter().filter_map(|row| Some((row.date(date_type)?, row)));
    dated
        .filter(|(at, _)| (first..=last).contains(at))
        .filter(|(_, row)| in_currency(world, query, row) && order_passes(world, query, row))
        .map(|(at, row)| Counted { at, row, line: None, coupon: None, tax: None })
        .collect()
}

fn order_passes(world: &World, query: &Query, row: &Row) -> bool {
    let statuses = status_conditions(query, row);
    let is_open = statuses.is_empty();
    let mut conditions = order_conditions(world, query, row);
    conditions.extend(statuses);
    joined(&conditions, query.is_any()) && (!is_open || is_counted(world, row))
}

/// What is asked of an order besides its status.
fn order_conditions(world: &World, query: &Query, row: &Row) -> Vec<bool> {
    let mut conditions = Vec::new();
    let ids = |name: &str| query.ids(name);
    let mut both = |name: &str, has: &dyn Fn(&[i64]) -> bool| {
        conditions.extend(ids(&format!("{name}_includes")).map(|ids| has(&ids)));
        conditions.extend(ids(&format!("{name}_excludes")).map(|ids| !has(&ids)));
    };
    both("product", &|ids| row.lines.iter().any(|line| ids.contains(&line.product)));
    both("variation", &|ids| row.lines.iter().any(|line| ids.contains(&line.variation)));
    both("coupon", &|ids| row.coupons.iter().any(|(code, _)| ids.contains(&world.coupon(code))));
    both("tax_rate", &|ids| row.taxes.iter().any(|tax| ids.contains(&tax.rate)));
    both("order", &|ids| ids.contains(&row.id));
    if let Some(kind) = query.text("customer_type").or(query.text("customer")) {
        conditions.push(row.returning == (kind == "returning"));
    }
    if let Some(kind) = query.text("refunds") {
        let is_full = row.status == "refunded";
        conditions.push(match kind {
            "none" => row.is_order(),
            "all" => !row.is_order(),
            "full" => !row.is_order() && is_full,
            _ => !row.is_order() && !is_full,
        });
    }
    if has_attributes(query) {
        conditions.push(row.lines.iter().any(|line| attributes_hold(world, query, line)));
    }
    conditions
}

fn has_attributes(query: &Query) -> bool {
    ["attribute_is", "attribute_is_not"].iter().any(|name| !query.members(name).is_empty())
}

/// Whether a line has, or has not, the attributes.
fn attributes_hold(world: &World, query: &Query, line: &Line) -> bool {
    let mut conditions = Vec::new();
    for (name, equal) in [("attribute_is", true), ("attribute_is_not", false)] {
        for pair in query.members(name).chunks(2) {
            let [attribute, term] = pair else { panic!("{pair:?}") };
            let number = |text: &str| -> i64 { text.parse().unwrap() };
            let (taxonomy, terms) = &world.attributes[&number(attribute)];
            let (term, slug) = &terms[&number(term)];
            let is_chosen =
                |(key, value): &(String, String)| key == taxonomy && (value == slug) == equal;
            let has_fixed = fixed(world, number(attribute), term).contains(&line.product);
            conditions.push(
                line.attributes.iter().any(is_chosen)
                    || (line.variation == 0 && has_fixed == equal),
            );
        }
    }
    joined(&conditions, query.is_any())
}

/// Products that have the term without being offered in variations of it.
fn fixed(world: &World, attribute: i64, term: &str) -> BTreeSet<i64> {
    let has = |attributes: &serde_json::Value| {
        attributes.as_array().unwrap().iter().any(|own| {
            let options = own["options"].as_array().unwrap();
            own["id"] == attribute && own["variation"] == false && options.iter().any(|o| o == term)
        })
    };
    let products = world.products.iter();
    products.filter(|(_, record)| has(&record["attributes"])).map(|(id, _)| *id).collect()
}

/// Rows by the date of their creation that count, in the range.
fn made<'w>(world: &'w World, query: &Query) -> Vec<&'w Row> {
    let (first, last) = query.range(&world.choices.clock);
    let rows = world.rows.iter();
    rows.filter(|row| (first..=last).contains(&row.created) && in_currency(world, query, row))
        .filter(|row| {
            let statuses = status_conditions(query, row);
            if statuses.is_empty() { is_counted(world, row) } else { joined(&statuses, false) }
        })
        .collect()
}

/// The products that are asked for, by themselves and by their categories.
pub(super) fn products_asked(
    world: &World,
    query: &Query,
    (products, categories): (&str, &str),
) -> Option<BTreeSet<i64>> {
    let listed: Option<BTreeSet<i64>> = query.ids(products).map(|ids| ids.into_iter().collect());
    let of_categories = query.ids(categories).map(|ids| world.products_in(&ids));
    match (listed, of_categories) {
        (Some(one), Some(other)) if query.is_any() => Some(&one | &other),
        (Some(one), Some(other)) => Some(&one & &other),
        (one, other) => one.or(other),
    }
}

/// Lines of products, of variations, or by category.
pub(super) fn lines<'w>(world: &'w World, query: &Query) -> Vec<Counted<'w>> {
    let all = made(world, query).into_iter().flat_map(|row| {
        let counted = Counted { at: row.created, row, line: None, coupon: None, tax: None };
        row.lines.iter().map(move |line| (line, Counted { line: Some(line), ..counted }))
    });
    all.filter(|(line, _)| line_passes(world, query, line)).map(|(_, counted)| counted).collect()
}

fn line_passes(world: &World, query: &Query, line: &Line) -> bool {
    let variations = query.ids("variations").map(|ids| ids.contains(&line.variation));
    if query.route.starts_with("reports/products") {
        let asked = products_asked(world, query, ("products", "categories"));
        let is_asked = asked.is_none_or(|asked| asked.contains(&line.product));
        return is_asked && variations.unwrap_or(true);
    }
    if !query.route.starts_with("reports/variations") {
        return true;
    }
    let named = if query.text("products").is_some() { "products" } else { "product_includes" };
    let asked = products_asked(world, query, (named, "category_includes"));
    let mut conditions: Vec<bool> = Vec::new();
    conditions.extend(asked.map(|asked| asked.contains(&line.product)));
    let out = query.ids("product_excludes").unwrap_or_default();
    let out_categories = query.ids("category_excludes").unwrap_or_default();
    if !out.is_empty() || !out_categories.is_empty() {
        let is_out = out.contains(&line.product)
            || world.products_in(&out_categories).contains(&line.product);
        conditions.push(!is_out);
    }
    if has_attributes(query) {
        conditions.push(attributes_hold(world, query, line));
    }
    conditions.extend(variations);
    // Goods without a variation are none of the report's, whatever is asked for.
    line.variation != 0 && joined(&conditions, query.is_any())
}

pub(super) fn coupons<'w>(world: &'w World, query: &Query) -> Vec<Counted<'w>> {
    let asked = query.ids("coupons");
    let mut counted = Vec::new();
    for row in made(world, query) {
        for (code, discount) in &row.coupons {
            let id = world.coupon(code);
            if asked.as_ref().is_none_or(|asked| asked.contains(&id)) {
                let coupon = Some((id, *discount));
                counted.push(Counted { at: row.created, row, line: None, coupon, tax: None });
            }
        }
    }
    counted
}

pub(super) fn taxes<'w>(world: &'w World, query: &Query) -> Vec<Counted<'w>> {
    let asked = query.ids("taxes");
    let mut counted = Vec::new();
    for row in made(world, query) {
        for tax in &row.taxes {
            if asked.as_ref().is_none_or(|asked| asked.contains(&tax.rate)) {
                let tax = Some(tax);
                counted.push(Counted { at: row.created, row, line: None, coupon: None, tax });
            }
        }
    }
    counted
}

pub(super) fn downloads<'w>(world: &'w World, query: &Query) -> Vec<&'w Download> {
    let (first, last) = query.range(&world.choices.clock);
    let users = |name: &str| {
        let asked = query.ids(name)?;
        let people = world.people.values().filter(|person| asked.contains(&person.id));
        Some(people.map(|person| person.user).filter(|user| *user != 0).collect::<Vec<i64>>())
    };
    let (buyers, others) = (users("customer_includes"), users("customer_excludes"));
    let passes = |download: &&Download| {
        let ids = |name: &str, own: i64| query.ids(name).map(|ids| ids.contains(&own));
        let address = |name: &str| query.texts(name).map(|list| list.contains(&&*download.address));
        let conditions = [
            ids("product_includes", download.product),
            ids("product_excludes", download.product).map(|is| !is),
            ids("order_includes", download.order),
            ids("order_excludes", download.order).map(|is| !is),
            buyers.as_ref().map(|users| users.contains(&download.user)),
            others.as_ref().map(|users| !users.contains(&download.user)),
            address("ip_address_includes"),
            address("ip_address_excludes").map(|is| !is),
        ];
        let conditions: Vec<bool> = conditions.into_iter().flatten().collect();
        (first..=last).contains(&download.at) && joined(&conditions, query.is_any())
    };
    world.downloads.iter().filter(passes).collect()
}
