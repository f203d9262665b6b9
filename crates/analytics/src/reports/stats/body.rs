//! Bodies of reports over time, and their descriptions.

use std::borrow::Cow;

use contract::rest::{Item, Schema, loose};
use frame::Call;
use serde_json::{Map, Value, json};

use super::Stats;
use crate::calendar::Interval;
use crate::columns::{Column, schemas};
use crate::compat::Rule;
use crate::context::QueryContext;

impl Stats {
    pub(super) fn has_segments(&self) -> bool {
        !self.dimensions.is_empty()
    }
}

/// The columns that the request chooses, as a list or as a text with commas. Orders and revenue
/// take them without saying so.
pub(super) fn fields(call: &Call<'_>, context: &QueryContext) -> Option<Vec<String>> {
    let texts: Vec<String> = match call.params.get("fields")? {
        Value::Array(items) => {
            items.iter().filter_map(loose::scalar_text).map(Cow::into_owned).collect()
        }
        Value::String(text) if !context.follows(Rule::FieldsAreLists) => {
            text.split([',', ' ']).map(str::to_owned).collect()
        }
        _ => return None,
    };
    let names = texts.iter().map(|name| name.trim().to_lowercase());
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    (!names.is_empty()).then_some(names)
}

pub(super) fn interval(
    interval: &Interval,
    subtotals: Map<String, Value>,
    context: &QueryContext,
) -> Value {
    let utc = crate::calendar::Calendar::utc();
    let range = interval.range;
    json!({
        "interval": interval.id,
        "date_start": context.calendar.text(range.first),
        "date_start_gmt": utc.text(range.first),
        "date_end": context.calendar.text(range.last),
        "date_end_gmt": utc.text(range.last),
        "subtotals": subtotals,
    })
}

/// What the answer looks like.
pub(super) fn document(report: &Stats) -> Value {
    let shown =
        |schema: Schema, about: &str| schema.about(about).context(&["view", "edit"]).readonly();
    let numbers = |columns: &[Column]| schemas(columns);
    // The id of a record is a text here.
    let id = Schema::types(&["integer", "string"]);
    let segment = Schema::object([
        ("segment_id", shown(Schema::integer(), "Segment ID.").shown_as(id)),
        ("segment_label", shown(Schema::text(), "Segment label.")),
        ("subtotals", shown(Schema::object(numbers(report.columns)), "Segment subtotals.")),
    ]);
    let with_segments = |mut members: Vec<(&'static str, Schema)>| {
        if report.has_segments() {
            let list = Schema::list(segment.clone());
            members.push(("segments", shown(list, "Segments, if requested.")));
        }
        Schema::object(members)
    };
    let mut totals = numbers(report.columns);
    totals.extend(numbers(report.of_totals));
    // With a blank between day and time.
    let date = |about: &str| shown(Schema::date_time(), about).shown_as(Schema::text());
    let interval = Schema::object([
        ("interval", shown(Schema::text(), "Interval.")),
        ("date_start", date("Start date, in the site's time zone.")),
        ("date_start_gmt", date("Start date, in UTC.")),
        ("date_end", date("End date, in the site's time zone.")),
        ("date_end_gmt", date("End date, in UTC.")),
        ("subtotals", shown(with_segments(numbers(report.columns)), "Interval subtotals.")),
    ]);
    let item = Schema::object([
        ("totals", shown(with_segments(totals), "Totals of the date range.").or_null()),
        ("intervals", shown(Schema::list(interval), "Intervals.")),
    ]);
    Item::new(report.title, item).document()
}
