//! Which orders the list shows.
//!
//! The reference joins each order with its coupons, lines and taxes and keeps it if one of the
//! joined rows passes; the usual mode tells apart what that tells apart. The strict mode filters as
//! the report over time does, so that both agree.

use contract::rest::Stop;
use site::Call;

use crate::context::QueryContext;
use crate::query::{DateColumn, Filter, Group, IdSet, Key, LineTest, Query, Span, Table};
use crate::reports::filters;
use crate::reports::stats::orders::conditions;

pub(super) fn of(call: &mut Call<'_>, context: &QueryContext) -> Result<Filter, Stop> {
    let any = filters::is_any(&call.params);
    let statuses = filters::statuses(&call.params, context, false);
    let always = if statuses.is_none() { context.counted() } else { Filter::everything() };
    let mut before: Vec<Filter> = statuses.into_iter().collect();
    let orders = filters::ids(&call.params, "order_includes").map(Filter::Orders);
    let others = filters::ids(&call.params, "order_excludes").map(Filter::Orders);
    let chosen = if context.is_strict {
        before.extend(conditions(call, context)?);
        before.extend(orders.into_iter().chain(others.map(Filter::negated)));
        filters::joined(before, any)
    } else {
        before.extend(filters::customer_type(&call.params));
        before.extend(filters::refunds(&call.params));
        before.extend(orders.into_iter().chain(others.map(Filter::negated)));
        joined_rows(call, context, before, any)?
    };
    let scope = Filter::All(filters::scope(&call.params));
    Ok(always.and(chosen).and(scope))
}

fn joined_rows(
    call: &mut Call<'_>,
    context: &QueryContext,
    mut before: Vec<Filter>,
    any: bool,
) -> Result<Filter, Stop> {
    let attributes = filters::orders_by_attributes(call, context)?;
    let ids = |name: &str| filters::ids(&call.params, name);
    before.extend(coupons(context, ids("coupon_includes"), ids("coupon_excludes"), any));
    before.extend(goods(ids("product_includes"), ids("product_excludes"), LineTest::Product));
    before.extend(goods(ids("variation_includes"), ids("variation_excludes"), LineTest::Variation));
    let (rates, other_rates) = (ids("tax_rate_includes"), ids("tax_rate_excludes"));
    let Some(excluded) = other_rates else {
        before.extend(rates.map(Filter::HasTaxRate));
        before.extend(attributes);
        return Ok(filters::joined(before, any));
    };
    let all_rates = all_ids(context, Table::Taxes, Group::TaxRate);
    let outside = Filter::HasTaxRate(without(&all_rates, &excluded));
    let untaxed = Filter::HasTaxRate(all_rates).negated();
    if any {
        before.extend(rates.map(Filter::HasTaxRate));
        before.extend([outside, untaxed]);
        before.extend(attributes);
        return Ok(Filter::Any(before));
    }
    // An order without any tax passes whatever the filters before this one say.
    let taxed = match rates {
        Some(rates) => Filter::HasTaxRate(without(&rates, &excluded)),
        None => outside,
    };
    before.push(taxed);
    let without_tax = Filter::All([untaxed].into_iter().chain(attributes).collect());
    Ok(Filter::Any(vec![Filter::All(before), without_tax]))
}

/// Of each joined row one coupon is looked at.
fn coupons(
    context: &QueryContext,
    included: Option<IdSet>,
    excluded: Option<IdSet>,
    any: bool,
) -> Vec<Filter> {
    let Some(excluded) = excluded else {
        return included.map(Filter::HasCoupon).into_iter().collect();
    };
    let all = all_ids(context, Table::Coupons, Group::Coupon);
    let other = Filter::Any(vec![
        Filter::HasCoupon(without(&all, &excluded)),
        Filter::HasCoupon(all).negated(),
    ]);
    match included {
        None => vec![other],
        Some(included) if any => vec![Filter::HasCoupon(included), other],
        Some(included) => vec![Filter::HasCoupon(without(&included, &excluded))],
    }
}

/// With both lists only what is in both is joined, which then must be there and must not.
fn goods(
    included: Option<IdSet>,
    excluded: Option<IdSet>,
    test: fn(IdSet) -> LineTest,
) -> Vec<Filter> {
    let has = |set: IdSet| Filter::HasLine(test(set));
    match (included, excluded) {
        (None, None) => Vec::new(),
        (Some(included), None) => vec![has(included)],
        (None, Some(excluded)) => vec![has(excluded).negated()],
        (Some(included), Some(excluded)) => {
            let both: IdSet =
                included.ids().iter().copied().filter(|id| excluded.contains(*id)).collect();
            vec![has(both.clone()), has(both).negated()]
        }
    }
}

fn without(set: &IdSet, excluded: &IdSet) -> IdSet {
    set.ids().iter().copied().filter(|id| !excluded.contains(*id)).collect()
}

/// Every coupon, or every rate, that any order has.
fn all_ids(context: &QueryContext, table: Table, group: Group) -> IdSet {
    let query = Query { group, ..Query::of(table, DateColumn::Created, Span::ALWAYS) };
    let answer = context.answer(&query);
    let id = |key: &Key| match key {
        Key::Id(id) => Some(*id),
        _ => None,
    };
    answer.rows().filter_map(|row| id(row.key)).collect()
}
