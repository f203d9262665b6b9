//! What an envelope tells of a report beside its body: how the request was understood, and whether
//! the figures were at hand. They always are, unless the request waits for newer ones.

use frame::Call;
use serde_json::{Map, Value, json};

use super::Stats;
use crate::calendar::{Range, Second};
use crate::context::QueryContext;

/// An argument that is shown.
#[derive(Clone, Copy, Debug)]
pub struct QueryArg {
    name: &'static str,
    /// The parameter that it is.
    param: &'static str,
    usual: Usual,
}

/// What is shown of an argument that nobody gave.
#[derive(Clone, Copy, Debug)]
enum Usual {
    Null,
    List,
    No,
    Text(&'static str),
    /// The columns of the report.
    Columns,
    /// Nothing at all.
    Nothing,
}

pub(super) const FIELDS: QueryArg = null("fields");
pub(super) const ALL_FIELDS: QueryArg = QueryArg { usual: Usual::Columns, ..FIELDS };
pub(super) const INTERVAL: QueryArg = text("interval", "week");
pub(super) const SEGMENTS: QueryArg = null("segmentby");
pub(super) const REFRESH: QueryArg = null("force_cache_refresh");
const COMMON: &[QueryArg] = &[null("per_page"), null("page"), null("order"), null("orderby")];

pub(super) const fn null(name: &'static str) -> QueryArg {
    QueryArg { name, param: name, usual: Usual::Null }
}

pub(super) const fn list(name: &'static str) -> QueryArg {
    QueryArg { name, param: name, usual: Usual::List }
}

pub(super) const fn no(name: &'static str) -> QueryArg {
    QueryArg { name, param: name, usual: Usual::No }
}

pub(super) const fn text(name: &'static str, usual: &'static str) -> QueryArg {
    QueryArg { name, param: name, usual: Usual::Text(usual) }
}

impl QueryArg {
    /// Shown under another name than that of its parameter.
    pub(super) const fn of(self, param: &'static str) -> Self {
        Self { param, ..self }
    }

    /// Shown only if it was given.
    pub(super) const fn if_given(self) -> Self {
        Self { usual: Usual::Nothing, ..self }
    }

    fn value(self, report: &Stats, call: &Call<'_>) -> Option<Value> {
        let given = call.params.get(self.param).filter(|value| !value.is_null());
        let usual = || match self.usual {
            Usual::Null => Some(Value::Null),
            Usual::List => Some(json!([])),
            Usual::No => Some(json!(false)),
            Usual::Text(text) => Some(json!(text)),
            Usual::Columns => {
                Some(report.columns.iter().map(|column| column.name).collect::<Value>())
            }
            Usual::Nothing => None,
        };
        given.cloned().or_else(usual)
    }
}

/// How the request was understood, and whether the figures were at hand.
pub(super) fn of_cache(
    report: &Stats,
    call: &Call<'_>,
    context: &QueryContext,
    range: Range,
) -> Value {
    let named = |arg: &QueryArg| Some((arg.name.to_owned(), arg.value(report, call)?));
    let bounds = [("before", range.last), ("after", range.first)];
    let bounds = bounds.map(|(name, at)| (name.to_owned(), moment(context, at)));
    let common = COMMON.iter().filter_map(named).chain(bounds);
    let arguments: Map<String, Value> =
        common.chain(report.query_args.iter().filter_map(named)).collect();
    let is_forced = call.params.flag("force_cache_refresh");
    json!({
        "query_args": arguments,
        "should_use_cache": true,
        "force_cache_refresh": is_forced,
        "cache_hit": !is_forced,
    })
}

/// A moment in the site's time, with its zone.
fn moment(context: &QueryContext, at: Second) -> Value {
    let (kind, zone) = match context.calendar.zone_name(at) {
        Ok(name) => (3, name),
        Err(offset) => (1, offset),
    };
    let date = format!("{}.000000", context.calendar.text(at));
    json!({ "date": date, "timezone_type": kind, "timezone": zone })
}
