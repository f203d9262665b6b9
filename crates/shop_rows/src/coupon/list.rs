//! Lists of coupons: which match, in which order, and how many there are.

use db::filter::{Clause, Direction, Filter, Page, containing, fold};
use db::{Conn, SITE};
use site_rows::post::SEARCH_WORDS_MAX;
use types::{Error, Result, Timestamp};

use super::CouponRow;

/// Which coupons to list. An empty list asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct CouponFilter {
    /// Whole codes, in whatever case.
    pub codes: Vec<String>,
    /// A part of the code.
    pub code_contains: Option<String>,
    /// Words, each of which must be in the code or in the description.
    pub search: Vec<String>,
    pub statuses: Vec<String>,
    pub statuses_exclude: Vec<String>,
    pub discount_kinds: Vec<String>,
    pub include: Vec<i64>,
    pub exclude: Vec<i64>,
    /// Coupons of exactly that moment are not listed.
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
    pub modified_after: Option<Timestamp>,
    pub modified_before: Option<Timestamp>,
    pub order: CouponOrder,
    pub direction: Direction,
    pub page: Page,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CouponOrder {
    #[default]
    Date,
    Modified,
    Id,
    Code,
    /// As the ids are listed in `include`.
    Include,
}

/// A page of the coupons that match, and how many match.
pub fn list(conn: &mut dyn Conn, wanted: &CouponFilter) -> Result<(Vec<CouponRow>, i64)> {
    let mut filter = conditions(wanted)?;
    let key = match wanted.order {
        CouponOrder::Include if !wanted.include.is_empty() => {
            filter.place("coupon_id", &wanted.include)?
        }
        CouponOrder::Date | CouponOrder::Include => Clause::fixed("created_us"),
        CouponOrder::Modified => Clause::fixed("modified_us"),
        CouponOrder::Id => Clause::fixed("coupon_id"),
        CouponOrder::Code => Clause::fixed("code_key"),
    };
    let order = vec![(key, wanted.direction), (Clause::fixed("coupon_id"), wanted.direction)];
    filter.records(conn, order, wanted.page)
}

/// How many of the coupons that match there are of each kind of discount, by its name.
pub fn count_by_kind(conn: &mut dyn Conn, wanted: &CouponFilter) -> Result<Vec<(String, i64)>> {
    conditions(wanted)?.counts(conn, "discount_kind", "coupons")
}

fn conditions(wanted: &CouponFilter) -> Result<Filter> {
    let mut filter = Filter::tallied("site_id = ?", SITE);
    let codes: Vec<String> = wanted.codes.iter().map(|code| fold(code)).collect();
    filter.and_list("code_key IN (?)", &codes)?;
    let part = wanted.code_contains.as_deref().map(containing).transpose()?;
    filter.and_value("code_key LIKE ? ESCAPE '!'", part);
    if wanted.search.len() > SEARCH_WORDS_MAX {
        return Err(Error::invalid(format!("search for at most {SEARCH_WORDS_MAX} words")));
    }
    for word in &wanted.search {
        filter.and_value("search LIKE ? ESCAPE '!'", Some(containing(word)?));
    }
    filter.and_tallied_list("status IN (?)", &wanted.statuses)?;
    filter.and_tallied_list("status NOT IN (?)", &wanted.statuses_exclude)?;
    filter.and_tallied_list("discount_kind IN (?)", &wanted.discount_kinds)?;
    filter.and_list("coupon_id IN (?)", &wanted.include)?;
    filter.and_list("coupon_id NOT IN (?)", &wanted.exclude)?;
    filter.and_value("created_us > ?", wanted.after);
    filter.and_value("created_us < ?", wanted.before);
    filter.and_value("modified_us > ?", wanted.modified_after);
    filter.and_value("modified_us < ?", wanted.modified_before);
    Ok(filter)
}
