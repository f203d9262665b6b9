//! A question of the algebra as one statement: buckets, groups and measures over the rows of
//! [`source`](super::source).
//!
//! Where a measure takes the first row of each order only, rows are grouped by order first and
//! those groups once more. Else there is one grouping.

use super::filter::Printer;
use super::measure::{Aggregate, Total, is_by_order};
use super::source::{Draft, Rows, date_column};
use super::sql::{self, joined};
use crate::facts::RollUp;
use crate::query::{Group, Measure, Query, Span, Subject, Table};

/// Parts into which the time of all buckets is cut. A table says in which bucket a part begins.
const TIME_SLOTS_MAX: i64 = 16_384;

const FIRST_BUCKET: &str = "toInt64(0)";
const CATEGORY: &str = "category";

/// A statement and how its answers are put together.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) statement: String,
    pub(super) totals: Vec<Total>,
}

/// What a question is asked of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground<'a> {
    pub(super) rows: Rows<'a>,
    /// The table of products with their categories.
    pub(super) products: &'a str,
    /// Whether several shards are asked.
    pub(super) is_merged: bool,
}

impl Question {
    /// None where the table has no such groups.
    pub(super) fn of(query: &Query, ground: Ground<'_>) -> Option<Self> {
        let mut draft = Draft::of(query.table);
        let date = draft.printer.column(date_column(query.date));
        let keys = keys(query, &mut draft.printer)?;
        let mut groups = Vec::new();
        // Groups of one column are found faster than those of two.
        if !query.bounds.is_empty() || keys.is_empty() {
            groups.push(draft.add(&bucket(&date, query)));
        }
        let keys: Vec<String> = keys.iter().map(|key| draft.add(key)).collect();
        match query.group {
            Group::Category(_) => groups.push(CATEGORY.to_owned()),
            _ => groups.extend(keys.iter().cloned()),
        }
        let only_bucket = (query.bounds.is_empty() && !keys.is_empty()).then_some(FIRST_BUCKET);
        let is_by_order = is_by_order(query);
        let order = if is_by_order || query.measures.iter().copied().any(counts_orders) {
            let order = draft.printer.column("order_id");
            draft.add(&order)
        } else {
            String::new()
        };
        let place = if is_by_order {
            let place = draft.printer.place();
            draft.add(&place)
        } else {
            String::new()
        };
        let measures = query.measures.iter();
        let aggregates: Vec<Aggregate> =
            measures.map(|measure| Aggregate::of(*measure, &mut draft)).collect();
        let names = draft.names();
        let mut rows = ground.rows.select(draft);
        if let (Group::Category(roll_up), [product]) = (query.group, keys.as_slice()) {
            rows = by_category(&rows, &names, product, roll_up, ground.products);
        }
        let is_merged = ground.is_merged;
        let totals: Vec<String> = if is_by_order {
            rows = by_order(&rows, &groups, (&order, &place), &aggregates);
            let parts = aggregates.iter().enumerate();
            parts.map(|(number, own)| own.sum_of_parts(&part(number), is_merged)).collect()
        } else {
            aggregates.iter().map(|own| own.whole(&order, is_merged)).collect()
        };
        // Each shard sorts what it says, since what is in no order is put together far more slowly.
        let sorted_by = joined(&groups, ", ");
        let statement = grouped(&rows, only_bucket, &groups, totals) + " ORDER BY " + &sorted_by;
        let totals = aggregates.iter().map(|own| own.total(is_merged)).collect();
        Some(Self { statement, totals })
    }
}

fn counts_orders(measure: Measure) -> bool {
    matches!(measure, Measure::Distinct(Subject::Order, _))
}

/// What the rows of a group have in common; of categories, the product. None where the table has no
/// such groups.
fn keys(query: &Query, printer: &mut Printer) -> Option<Vec<String>> {
    let keys = match (query.group, query.table) {
        (Group::None, _) => Vec::new(),
        (Group::Customer, _) => vec![printer.column("customer_id")],
        (Group::CustomerType, _) => vec![printer.returning()],
        (Group::Text(field), _) => vec![printer.column(field.name())],
        (Group::Product | Group::Category(_), Table::Lines) => {
            vec![printer.own("line_product_id")]
        }
        (Group::VariationId, Table::Lines) => vec![printer.own("line_variation_id")],
        (Group::Variation, Table::Lines) => {
            vec![printer.own("line_product_id"), printer.own("line_variation_id")]
        }
        (Group::Coupon, Table::Coupons) => vec![printer.own("coupon_id")],
        (Group::TaxRate, Table::Taxes) => vec![printer.own("tax_rate_id")],
        (Group::TaxCode, Table::Taxes) => {
            ["tax_rate_id", "tax_code", "tax_percent"].map(|list| printer.own(list)).to_vec()
        }
        _ => return None,
    };
    Some(keys)
}

/// The span as far as it lies in buckets.
pub(super) fn span(query: &Query) -> Span {
    let (from, until) = (query.span.from, query.span.until);
    Span {
        from: query.bounds.first().map_or(from, |bound| from.max(*bound)),
        until: query.bounds.last().map_or(until, |bound| until.min(*bound)),
    }
}

/// The number of the bucket that a time lies in, which is in one.
///
/// The time of all buckets is cut into equal parts, no longer than the shortest bucket if that is
/// possible. A list says in which bucket each part begins; how many bounds it has within is at most
/// one then, and few in any case.
pub(super) fn bucket(time: &str, query: &Query) -> String {
    let bounds: Vec<i64> = query.bounds.iter().map(|bound| bound.as_micros()).collect();
    let (Some(first), Some(last)) = (bounds.first().copied(), bounds.last().copied()) else {
        return FIRST_BUCKET.to_owned();
    };
    let gaps = bounds.iter().zip(bounds.iter().skip(1)).map(|(from, until)| until - from);
    let shortest = gaps.min().unwrap_or(1).max(1);
    let length = shortest.max(last.saturating_sub(first) / TIME_SLOTS_MAX + 1);
    let slots = last.saturating_sub(first) / length + 1;
    let begins = (0..slots).map(|slot| {
        let start = first.saturating_add(slot.saturating_mul(length));
        count_until(&bounds, start).saturating_sub(1)
    });
    let begins: Vec<i64> = begins.collect();
    let inside = (0_i64..).zip(&begins).map(|(slot, begin)| {
        let end = first.saturating_add((slot + 1).saturating_mul(length)).saturating_sub(1);
        count_until(&bounds, end) - 1 - begin
    });
    let inside = inside.max().unwrap_or_default();
    // There is no time that reaches the bounds that are added, which are found at no place.
    let padded: Vec<i64> = bounds.iter().copied().chain((0..=inside).map(|_| i64::MAX)).collect();
    let slot = format!("{}[1 + intDiv({time} - ({first}), {length})]", sql::numbers(&begins));
    let list = sql::numbers(&padded);
    let passed = (1..=inside).map(|more| format!("({time} >= {list}[slot + {}])", more + 1));
    joined([format!("({slot} AS slot)")].into_iter().chain(passed), " + ")
}

/// How many bounds are not after that time.
fn count_until(bounds: &[i64], time: i64) -> i64 {
    i64::try_from(bounds.partition_point(|bound| *bound <= time)).unwrap_or(i64::MAX)
}

/// A row for each category in which the row counts.
fn by_category(rows: &str, names: &str, product: &str, roll_up: RollUp, products: &str) -> String {
    let list = match roll_up {
        RollUp::Direct => "direct",
        RollUp::Ancestors => "ancestors",
        RollUp::EachPath => "each_path",
    };
    format!(
        "SELECT {names}, {CATEGORY} FROM (SELECT {names}, categories FROM ({rows}) AS units \
         ANY LEFT JOIN (SELECT product_id AS {product}, {list} AS categories \
         FROM {products} FINAL WHERE deleted = 0) AS goods USING {product}) \
         ARRAY JOIN categories AS {CATEGORY}"
    )
}

/// Rows by their groups. What is the same for all comes first.
fn grouped(rows: &str, same: Option<&str>, groups: &[String], totals: Vec<String>) -> String {
    let same = same.map(str::to_owned).into_iter();
    let selected = joined(same.chain(groups.iter().cloned()).chain(totals), ", ");
    format!("SELECT {selected} FROM ({rows}) GROUP BY {}", joined(groups, ", "))
}

/// Rows by order within their groups.
fn by_order(
    rows: &str,
    groups: &[String],
    (order, place): (&str, &str),
    aggregates: &[Aggregate],
) -> String {
    let parts = aggregates.iter().enumerate();
    let parts = parts.map(|(number, own)| format!("{} AS {}", own.part(place), part(number)));
    let mut finer = groups.to_vec();
    finer.push(order.to_owned());
    grouped(rows, None, &finer, parts.collect())
}

fn part(number: usize) -> String {
    format!("part{number}")
}

#[cfg(test)]
mod tests {
    use types::Timestamp;

    use super::*;
    use crate::query::DateColumn;

    #[test]
    fn buckets_are_found_in_parts_of_time() {
        let with = |bounds: &[i64]| Query {
            bounds: bounds.iter().copied().map(Timestamp::from_micros).collect(),
            ..Query::of(Table::Orders, DateColumn::Created, Span::ALWAYS)
        };
        assert_eq!(bucket("t", &with(&[])), "toInt64(0)");
        let even = "(CAST('[0,1,2]' AS Array(Int64))[1 + intDiv(t - (10), 5)] AS slot)";
        assert_eq!(bucket("t", &with(&[10, 15, 20])), even);
        let far = 16_384 * 100;
        let printed = bucket("t", &with(&[0, 1, 2, far]));
        assert!(
            printed.ends_with(
                "[slot + 2]) + (t >= CAST('[0,1,2,1638400,9223372036854775807,\
                                   9223372036854775807,9223372036854775807]' AS Array(Int64))\
                                   [slot + 3])"
            ),
            "{printed}"
        );
    }
}
