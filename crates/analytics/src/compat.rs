//! Where the reference answers otherwise than its interface says: for a shop whose clients must
//! find exactly that, `analytics.compat = true`.
//!
//! **A rule is a line of the table and a few lines at the edge of a report.** None follows an order
//! that the reference leaves open, and what cannot be said in a few lines is not followed: see
//! `conformance/deviations/reports.jsonl`.

use serde_json::{Value, json};

use crate::intervals::{IntervalPage, Slot};

macro_rules! rules {
    ($($rule:ident: $about:literal,)*) => {
        /// One of the ways in which the reference answers otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule { $($rule,)* }

        impl Rule {
            pub const ALL: &[Self] = &[$(Self::$rule,)*];

            /// What the reference does.
            pub fn about(self) -> &'static str {
                match self { $(Self::$rule => $about,)* }
            }
        }
    };
}

rules! {
    AddsCurrencies: "amounts in different currencies are added up",
    AnyStatusIsNone: "`status_is=any` matches nothing",
    AttributesSkipRefunds: "a refund of a whole order has no attributes",
    BoundsExclude: "one bound of customers' figures excludes itself and who never bought",
    CategoriesByPath: "segments by category count an item once for each way up from it",
    CouponDatesRepeat: "UTC dates of coupons repeat the local ones",
    CustomerTypesAreEmpty: "segments by `customer_type` are empty and nameless",
    FieldsAreLists: "`fields` as text is ignored by orders and revenue",
    FigurelessSegments: "variations split by product or category show no figures",
    IndicatorsNeedDates: "indicators without both dates are null, and without `stats` refused",
    IntervalsUnsorted: "goods, coupons and taxes do not sort intervals unless one was empty",
    KnownSegmentsOnly: "sales of deleted products, variations and coupons are in no segment",
    LastFilterCounts: "with `match=any`, only the last filter of orders minds which orders count",
    LastRefundHasGoods: "of the refunds of an order, only the last on a page shows its goods",
    LeaderboardsHaveOnePage: "leaderboards ignore `page`",
    NoVariationIsOne: "sales without a variation count as one in `variations_count`",
    PersonAndFigures: "with `match=any`, one filter on persons and one on figures must hold",
    ProductsLiftFilter: "products outside of the categories asked for lift the filter",
    RefundsAreOrders: "refunds are orders in segments, categories and customer filters",
    RefundsReturn: "a refund is shown as that of a returning customer, and never found as one",
    SegmentIdsAreText: "ids of segments are text in some reports",
    SortsByColumnsOnly: "sorting by a name that is no column of the report is sorting by date",
    StatsIgnoreFilters: "`customers/stats` ignores most filters",
    TaxNamesFromCodes: "parts of a tax rate are read from its code, be they missing",
    TotalsForgotten: "a page behind the last has no totals in its headers",
    TotalsOfIds: "totals in the headers count the ids asked for, found or not",
    VariationsMatchAll: "`match=any` has no effect on variations",
    VariationsOfOneProduct: "`segmentby=variation` needs exactly one product",
}

/// What becomes of the totals on a page behind the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// There is nothing, and nothing was ever there.
    Forgotten,
    /// The rows are counted, and the pages are not.
    RowsOnly,
    /// Nothing special.
    Kept,
}

/// The parameters that [`Rule::StatsIgnoreFilters`] is about.
pub(crate) const IGNORED_BY_STATS: [&str; 8] = [
    "after",
    "before",
    "searchby",
    "users",
    "user_type",
    "filter_empty",
    "location_includes",
    "location_excludes",
];

/// [`Rule::SegmentIdsAreText`]: how the id of a segment is written; some only where there is
/// something to count.
pub(crate) fn segment_id(path: &str, segmentby: &str, id: i64, is_found: bool) -> Value {
    let is_text = match (path, segmentby) {
        ("/taxes/stats", _) | ("/coupons/stats", "coupon") => true,
        ("/products/stats" | "/coupons/stats", _) | ("/variations/stats", "variation") => is_found,
        _ => false,
    };
    if is_text { json!(id.to_string()) } else { json!(id) }
}

/// [`Rule::IntervalsUnsorted`]: the intervals of a page. Taxes do not even page where all of the
/// range was busy.
pub(crate) fn page(path: &str, slots: Vec<Slot>, page: &IntervalPage) -> Vec<usize> {
    let is_whole = slots.iter().all(|slot| slot.is_present);
    let is_by_time = match path {
        "/products/stats" | "/variations/stats" | "/taxes/stats" => is_whole,
        "/coupons/stats" => is_whole && !page.by_date,
        _ => return page.cut(slots),
    };
    let all = 0..slots.len();
    if is_by_time && path == "/taxes/stats" {
        return all.collect();
    }
    if is_by_time {
        return all.skip(page.offset()).take(page.per_page).collect();
    }
    let is_busy = |index: &usize| slots.get(*index).is_some_and(|slot| slot.is_present);
    let mut shown = page.cut(slots.clone());
    if shown.iter().all(is_busy) {
        shown.sort_unstable();
    }
    shown
}

/// [`Rule::LastRefundHasGoods`]: takes the goods of its order from every refund but the last.
pub(crate) fn leave_goods_to_last_refund(rows: &mut [Value]) {
    let mut seen = Vec::new();
    for row in rows.iter_mut().rev().filter(|row| row["parent_id"] != 0) {
        if seen.contains(&row["parent_id"]) {
            if let Some(products) = row.pointer_mut("/extended_info/products") {
                *products = json!([]);
            }
        } else {
            seen.push(row["parent_id"].clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_names_every_rule() {
        let guide = include_str!("../../../docs/analytics.md");
        let guide = guide.split_whitespace().collect::<Vec<&str>>().join(" ");
        for rule in Rule::ALL {
            assert!(guide.contains(rule.about()), "{rule:?}");
        }
    }

    #[test]
    fn busy_intervals_come_by_time() {
        let slot = |index: usize, is_present: bool| Slot { index, is_present, rank: 0.0 };
        let busy: Vec<Slot> = (0..5).map(|index| slot(index, true)).collect();
        let newest = IntervalPage { by_date: true, descending: true, page: 1, per_page: 2 };
        let dated = |slots: &[Slot]| -> Vec<Slot> {
            let rank = |index: usize| f64::from(u32::try_from(index).unwrap());
            slots.iter().map(|slot| Slot { rank: rank(slot.index), ..*slot }).collect()
        };
        assert_eq!(page("/orders/stats", dated(&busy), &newest), [4, 3]);
        assert_eq!(page("/products/stats", dated(&busy), &newest), [0, 1]);
        assert_eq!(page("/taxes/stats", dated(&busy), &newest), [0, 1, 2, 3, 4]);
        assert_eq!(page("/coupons/stats", dated(&busy), &newest), [3, 4]);
        let mut idle = busy;
        idle[3] = slot(3, false);
        assert_eq!(page("/products/stats", dated(&idle), &newest), [4, 3]);
    }
}
