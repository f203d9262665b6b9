//! Names of the records that reports tell about: products, variations, categories, coupons, rates.

use std::collections::BTreeMap;

use contract::rest::Stop;
use db::Conn;
use db::filter::{PAGE_MAX, Page};
use shop_rows::coupon::{self, CouponFilter, CouponRow};
use shop_rows::product::{self, ProductFilter, ProductRow};
use shop_rows::tax_rate::{self, TaxRateFilter, TaxRateRow};
use site_rows::term::{self, TermFilter, TermOrder};

/// Products that are in the trash are not there; all others are, whoever may buy them.
const STATUSES: [&str; 4] = ["publish", "private", "pending", "draft"];
const VARIATION: &str = "variation";
/// Between the name of a product and what a variation of it is about.
pub const SEPARATOR: &str = " - ";
pub const PRODUCT_CATEGORY: &str = "product_cat";

type Names = BTreeMap<i64, String>;

/// Products that are no variations.
pub fn products(conn: &mut dyn Conn) -> Result<Names, Stop> {
    let wanted = ProductFilter {
        kinds_exclude: vec![VARIATION.to_owned()],
        statuses: STATUSES.map(str::to_owned).into(),
        ..ProductFilter::default()
    };
    let found = all_products(conn, wanted)?;
    Ok(found.into_iter().map(|row| (row.product_id, row.name)).collect())
}

pub fn product_name(conn: &mut dyn Conn, product_id: i64) -> Result<Option<String>, Stop> {
    Ok(product::get(conn, product_id)?.map(|row| row.name))
}

/// The variations of these products, or of all, by the names that people read.
pub fn variations(conn: &mut dyn Conn, parents: &[i64]) -> Result<Names, Stop> {
    let wanted = ProductFilter {
        kinds: vec![VARIATION.to_owned()],
        parents: parents.to_vec(),
        statuses: STATUSES.map(str::to_owned).into(),
        ..ProductFilter::default()
    };
    let rows = all_products(conn, wanted)?;
    sold_names(conn, rows)
}

/// Products and variations by the names under which orders show them: a variation whose name does
/// not tell what it is about has its values behind it.
pub fn sold_names(
    conn: &mut dyn Conn,
    rows: impl IntoIterator<Item = ProductRow>,
) -> Result<Names, Stop> {
    let mut names = Names::new();
    for row in rows {
        let mut name = row.name;
        if row.kind == VARIATION && !name.contains(SEPARATOR) {
            let chosen = product::attributes_of(conn, &[row.product_id])?;
            let values: Vec<String> = chosen
                .into_iter()
                .map(|(_, attribute)| attribute.value)
                .filter(|value| !value.is_empty())
                .collect();
            name = format!("{name}{SEPARATOR}{}", values.join(", "));
        }
        names.insert(row.product_id, name);
    }
    Ok(names)
}

fn all_products(conn: &mut dyn Conn, mut wanted: ProductFilter) -> Result<Vec<ProductRow>, Stop> {
    let mut all = Vec::new();
    loop {
        wanted.page =
            Page { offset: i64::try_from(all.len()).unwrap_or(i64::MAX), limit: PAGE_MAX };
        let (mut found, total) = product::list(conn, &wanted)?;
        if found.is_empty() {
            return Ok(all);
        }
        all.append(&mut found);
        if i64::try_from(all.len()).unwrap_or(i64::MAX) >= total {
            return Ok(all);
        }
    }
}

/// Categories that have a product.
pub fn categories(conn: &mut dyn Conn) -> Result<Names, Stop> {
    let wanted = TermFilter {
        taxonomies: vec![PRODUCT_CATEGORY.to_owned()],
        order: TermOrder::Id,
        ..TermFilter::default()
    };
    let counts = product::counts_by_term(conn, PRODUCT_CATEGORY)?;
    let (found, _) = term::list(conn, &wanted)?;
    let is_used = |id: &i64| counts.get(id).is_some_and(|count| *count > 0);
    let names = found.into_iter().map(|row| (row.term_id, row.name));
    Ok(names.filter(|(id, _)| is_used(id)).collect())
}

/// The names of these categories, whether or not they have a product.
pub fn category_names(conn: &mut dyn Conn, ids: &[i64]) -> Result<Names, Stop> {
    if ids.is_empty() {
        return Ok(Names::new());
    }
    let wanted = TermFilter {
        taxonomies: vec![PRODUCT_CATEGORY.to_owned()],
        include: ids.to_vec(),
        ..TermFilter::default()
    };
    let (found, _) = term::list(conn, &wanted)?;
    Ok(found.into_iter().map(|row| (row.term_id, row.name)).collect())
}

pub fn coupons(conn: &mut dyn Conn) -> Result<Names, Stop> {
    let (found, _) = coupon::list(conn, &CouponFilter::default())?;
    Ok(found.into_iter().map(|row| (row.coupon_id, row.code)).collect())
}

/// Rates by the codes under which orders know them.
pub fn tax_rates(conn: &mut dyn Conn) -> Result<Names, Stop> {
    let (found, _) = tax_rate::list(conn, &TaxRateFilter::default())?;
    Ok(found.into_iter().map(|row| (row.rate_id, row.code())).collect())
}

/// The rates that there are now.
pub fn tax_rate_rows(conn: &mut dyn Conn) -> Result<BTreeMap<i64, TaxRateRow>, Stop> {
    let (found, _) = tax_rate::list(conn, &TaxRateFilter::default())?;
    Ok(found.into_iter().map(|row| (row.rate_id, row)).collect())
}

/// Ids that are asked for at once.
const AT_ONCE: usize = 200;

/// Products and variations by their ids, in the trash or not; none for those that are gone.
pub fn product_rows(conn: &mut dyn Conn, ids: &[i64]) -> Result<BTreeMap<i64, ProductRow>, Stop> {
    let mut rows = BTreeMap::new();
    for some in ids.chunks(AT_ONCE) {
        let wanted = ProductFilter { include: some.to_vec(), ..ProductFilter::default() };
        let (found, _) = product::list(conn, &wanted)?;
        rows.extend(found.into_iter().map(|row| (row.product_id, row)));
    }
    Ok(rows)
}

/// How many variations each of these products has.
pub fn variation_counts(conn: &mut dyn Conn, ids: &[i64]) -> Result<BTreeMap<i64, i64>, Stop> {
    let mut counts = BTreeMap::new();
    for some in ids.chunks(AT_ONCE) {
        let wanted = ProductFilter {
            kinds: vec![VARIATION.to_owned()],
            parents: some.to_vec(),
            ..ProductFilter::default()
        };
        for row in all_products(conn, wanted)? {
            *counts.entry(row.parent_id).or_default() += 1;
        }
    }
    Ok(counts)
}

/// Coupons by their ids; none for those that are gone.
pub fn coupon_rows(conn: &mut dyn Conn, ids: &[i64]) -> Result<BTreeMap<i64, CouponRow>, Stop> {
    let mut rows = BTreeMap::new();
    for some in ids.chunks(AT_ONCE) {
        let wanted = CouponFilter { include: some.to_vec(), ..CouponFilter::default() };
        let (found, _) = coupon::list(conn, &wanted)?;
        rows.extend(found.into_iter().map(|row| (row.coupon_id, row)));
    }
    Ok(rows)
}

/// What a product is called that is gone: as its orders call it.
pub fn deleted_name(conn: &mut dyn Conn, product_id: i64) -> Result<String, Stop> {
    Ok(match product::ordered_name(conn, product_id)? {
        Some(name) => format!("{name} (Deleted)"),
        None => String::from("(Deleted)"),
    })
}
