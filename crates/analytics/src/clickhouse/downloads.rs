//! Questions about downloads. They have one date, no amounts and few groups, so their statements
//! are simple ones.

use super::measure::Total;
use super::question::{Question, bucket, span};
use super::sql::{FALSE, all, any, is_id_among, is_text_among, joined, not};
use crate::facts::OrderText;
use crate::query::{Filter, Group, Measure, Query, Scope, Span, Subject, When};

/// The statement for a query about downloads. None where they have no such groups.
pub(super) fn question(
    query: &Query,
    scope: &Scope,
    table: &str,
    is_merged: bool,
) -> Option<Question> {
    let key = match query.group {
        Group::None => None,
        Group::Product => Some("product_id"),
        Group::Text(OrderText::Merchant) => Some("merchant_id"),
        Group::Text(OrderText::Store) => Some("store_id"),
        _ => return None,
    };
    let rows = selected(table, scope, span(query), &query.filter);
    let (values, totals): (Vec<String>, Vec<Total>) =
        query.measures.iter().map(|measure| value(*measure, is_merged)).unzip();
    let groups = joined(["bucket"].into_iter().chain(key), ", ");
    let columns = joined([groups.clone()].into_iter().chain(values), ", ");
    let bucket = bucket("at", query);
    let statement = format!(
        "SELECT {columns} FROM (SELECT {bucket} AS bucket, at, product_id, order_id, \
         merchant_id, store_id FROM ({rows})) GROUP BY {groups}"
    );
    Some(Question { statement, totals })
}

fn value(measure: Measure, is_merged: bool) -> (String, Total) {
    let distinct = |column: &str| {
        if is_merged {
            (format!("groupUniqArray({column})"), Total::Set)
        } else {
            (format!("toInt64(uniqExact({column}))"), Total::Sum)
        }
    };
    match measure {
        Measure::Latest(_) => (String::from("max(at)"), Total::Latest),
        // They are neither refunds nor do they take money back.
        Measure::Rows(When::Refund | When::Negative)
        | Measure::Distinct(_, When::Refund | When::Negative)
        | Measure::Sum(..) => (String::from("toInt64(0)"), Total::Sum),
        Measure::Rows(_) => (String::from("toInt64(count())"), Total::Sum),
        Measure::Distinct(Subject::Order, _) => distinct("order_id"),
        Measure::Distinct(Subject::Product, _) => distinct("product_id"),
        Measure::Distinct(..) => (String::from("toInt64(0)"), Total::Sum),
    }
}

/// The downloads that pass.
pub(super) fn selected(table: &str, scope: &Scope, span: Span, filter: &Filter) -> String {
    let (merchants, stores) = scope.parts();
    let seen = [("merchant_id", merchants), ("store_id", stores)];
    let seen = seen.into_iter().filter_map(|(column, list)| Some(is_text_among(column, list?)));
    let (from, until) = (span.from.as_micros(), span.until.as_micros());
    let within = [String::from("deleted = 0"), format!("at >= {from} AND at < {until}")];
    let tests = all(within.into_iter().chain(seen).chain([passes(filter)]));
    let columns = joined(super::tables::DOWNLOADS.names(), ", ");
    format!("SELECT {columns} FROM {table} FINAL WHERE {tests}")
}

fn passes(filter: &Filter) -> String {
    match filter {
        Filter::All(list) => all(list.iter().map(passes)),
        Filter::Any(list) => any(list.iter().map(passes)),
        Filter::Not(inner) => not(&passes(inner)),
        Filter::DownloadProduct(ids) => is_id_among("product_id", ids),
        Filter::DownloadOrder(ids) | Filter::Orders(ids) => is_id_among("order_id", ids),
        Filter::DownloadUser(ids) => is_id_among("user_id", ids),
        Filter::DownloadIp(list) => is_text_among("ip", list),
        Filter::Text(field @ (OrderText::Merchant | OrderText::Store), list) => {
            is_text_among(field.name(), list)
        }
        Filter::Text(..)
        | Filter::Kind(_)
        | Filter::Returning(_)
        | Filter::CustomerType(_)
        | Filter::Customers(_)
        | Filter::HasLine(_)
        | Filter::HasCoupon(_)
        | Filter::HasAnyCoupon
        | Filter::HasTaxRate(_)
        | Filter::Line(_)
        | Filter::Coupon(_)
        | Filter::TaxRate(_) => FALSE.to_owned(),
    }
}
