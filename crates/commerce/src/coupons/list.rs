//! Lists of coupons. Drafts and the trash are not listed; they can be asked for by their ids.

use contract::rest::{Args, Schema, Stop};
use frame::Call;
use shop_rows::coupon::{self, CouponFilter, CouponOrder};
use site_rows::post::SEARCH_WORDS_MAX;

use super::{Coupon, PUBLISHED};
use crate::common::version::Version;
use crate::common::{moments, paging};
use crate::resource::Listed;

pub(super) fn code_arg() -> Args {
    Args::new().arg("code", Schema::text().about("Limit results to the coupon with this code."))
}

pub(super) fn list(version: Version, call: &mut Call<'_>) -> Result<Listed<Coupon>, Stop> {
    let (rows, total) = {
        let wanted = filter(version, call);
        coupon::list(call.conn()?, &wanted)?
    };
    let mut records = Vec::with_capacity(rows.len());
    for row in rows {
        records.push(Coupon::read(row)?.with_uses(call.conn()?)?);
    }
    Ok(Listed { records, total })
}

fn filter(version: Version, call: &Call<'_>) -> CouponFilter {
    let params = &call.params;
    let is_gmt = params.flag("dates_are_gmt");
    let bound = |name: &str| moments::bound(call.options(), params.text(name), is_gmt);
    let mut filter = CouponFilter {
        statuses: vec![PUBLISHED.to_owned(), "private".to_owned()],
        include: params.ints("include"),
        exclude: params.ints("exclude"),
        after: bound("after"),
        before: bound("before"),
        modified_after: bound("modified_after"),
        modified_before: bound("modified_before"),
        order: match params.text("orderby") {
            Some("id") => CouponOrder::Id,
            Some("include") => CouponOrder::Include,
            Some("title" | "slug") => CouponOrder::Code,
            Some("modified") => CouponOrder::Modified,
            _ => CouponOrder::Date,
        },
        direction: paging::direction_unless_listed(params),
        page: paging::page(call),
        ..CouponFilter::default()
    };
    let search = params.text("search").unwrap_or_default().trim();
    if version == Version::Analytics {
        filter.code_contains = Some(search.to_owned()).filter(|text| !text.is_empty());
    } else {
        let words = search.split_whitespace().take(SEARCH_WORDS_MAX);
        filter.search = words.map(str::to_owned).collect();
    }
    if let Some(code) = params.text("code").filter(|code| !code.is_empty()) {
        filter.codes = vec![contract::rest::clean::code(code)];
        filter.include = Vec::new();
        filter.statuses.truncate(1);
    }
    filter
}
