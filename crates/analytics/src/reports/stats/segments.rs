//! Numbers split by product, category, coupon and so on.
//!
//! Every segment that is known is shown, be it with zeros; **what belongs to none that is known,
//! such as a deleted product, is in no segment**.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use contract::rest::{Refusal, Stop};
use serde_json::{Map, Value, json};
use site::Call;

use super::Stats;
use crate::columns::{Column, Plan};
use crate::context::QueryContext;
use crate::known;
use crate::query::{Answer, Filter, Group, Key, Query, Table};
use crate::reports::filters;

/// By what numbers can be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    Product,
    Variation,
    Category,
    Coupon,
    CustomerType,
    TaxRate,
    Merchant,
    Store,
}

impl Dimension {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::Variation => "variation",
            Self::Category => "category",
            Self::Coupon => "coupon",
            Self::CustomerType => "customer_type",
            Self::TaxRate => "tax_rate_id",
            Self::Merchant => "merchant",
            Self::Store => "store",
        }
    }

    /// Whether only this product splits by it.
    pub const fn is_ours(self) -> bool {
        matches!(self, Self::Merchant | Self::Store)
    }

    pub fn names(dimensions: &[Self]) -> Vec<&'static str> {
        dimensions.iter().map(|dimension| dimension.name()).collect()
    }
}

/// Where the numbers of segments come from.
#[derive(Clone, Debug)]
pub struct Split {
    pub table: Table,
    pub group: Group,
    pub columns: &'static [Column],
    /// What rows must be like besides what the report asks for.
    pub filter: Filter,
    pub ids: Ids,
}

/// How the number of a segment is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    Number,
    Text,
    /// As text where there is something to count.
    TextIfFound,
}

/// The segments that a request asks for.
#[derive(Debug)]
pub struct Segments {
    /// Nothing where the report knows the segments and has no numbers for them.
    split: Option<Split>,
    columns: &'static [Column],
    known: Known,
}

/// Which segments there are, with their labels.
#[derive(Debug)]
enum Known {
    Ids(BTreeMap<i64, Option<String>>),
    /// Whatever is found; its name is its label.
    Found,
}

impl Segments {
    pub(super) fn asked(
        report: &Stats,
        call: &mut Call<'_>,
        context: &QueryContext,
    ) -> Result<Option<Self>, Stop> {
        let name = call.params.text("segmentby").unwrap_or_default();
        let named = report.dimensions.iter().find(|dimension| dimension.name() == name);
        let Some(dimension) = named.copied() else { return Ok(None) };
        let split = (report.split)(dimension, call, context);
        let known = match dimension {
            Dimension::Merchant | Dimension::Store => Known::Found,
            Dimension::CustomerType => Known::Ids(customer_types(context)),
            Dimension::Product => Known::Ids(products(report, call, context)?),
            Dimension::Variation => Known::Ids(variations(report, call)?),
            Dimension::Category => Known::Ids(categories(report, call)?),
            Dimension::Coupon => Known::Ids(coupons(report, call)?),
            Dimension::TaxRate => Known::Ids(tax_rates(call)?),
        };
        let columns = split.as_ref().map_or(report.columns, |split| split.columns);
        Ok(Some(Self { split, columns, known }))
    }

    /// The numbers of the segments in the buckets of the query.
    pub(super) fn of(&self, query: &Query, context: &QueryContext) -> Found<'_> {
        let plan = Plan::of(self.columns.iter().copied());
        let answer = self.split.as_ref().map(|split| {
            let query = Query {
                table: split.table,
                group: split.group,
                measures: plan.measures.clone(),
                filter: query.filter.clone().and(split.filter.clone()),
                ..query.clone()
            };
            context.answer(&query)
        });
        let answer = answer.unwrap_or_default();
        let rows = 0..answer.len();
        Found { segments: self, plan, answer, rows, is_strict: context.is_strict }
    }

    /// Leaves those in which something was found. Who sees some sales only is not to learn from the
    /// names of the others what else there is.
    pub(super) fn keep_found(&mut self, query: &Query, context: &QueryContext) {
        let found = self.of(query, context).answer;
        if let Known::Ids(known) = &mut self.known {
            let rows = (0..found.len()).filter_map(|index| found.row(index));
            let ids: BTreeSet<i64> = rows.map(|row| id_of(row.key)).collect();
            known.retain(|id, _| ids.contains(id));
        }
    }

    /// How many there are at least.
    pub(super) fn count(&self) -> usize {
        match &self.known {
            Known::Ids(known) => known.len(),
            Known::Found => 1,
        }
    }

    fn id(&self, id: i64, is_found: bool, is_strict: bool) -> Value {
        let ids = self.split.as_ref().map_or(Ids::Number, |split| split.ids);
        let as_text = match ids {
            Ids::Number => false,
            Ids::Text => true,
            Ids::TextIfFound => is_found,
        };
        if as_text && !is_strict { json!(id.to_string()) } else { json!(id) }
    }
}

/// The numbers of segments: a row for each bucket and segment in which something was found.
pub(super) struct Found<'s> {
    segments: &'s Segments,
    plan: Plan,
    answer: Answer,
    /// The rows of the answer that are left.
    rows: Range<usize>,
    is_strict: bool,
}

impl Found<'_> {
    /// Leaves so many rows for each segment that is known, after those that are skipped.
    pub(super) fn cut(mut self, (skip, count): (usize, usize)) -> Self {
        if let Known::Ids(known) = &self.segments.known {
            let end = skip.saturating_add(count.saturating_mul(known.len()));
            self.rows = skip.min(self.answer.len())..end.min(self.answer.len());
        }
        self
    }

    /// The segments of a bucket.
    pub(super) fn of_bucket(&self, bucket: usize) -> Vec<Value> {
        let Self { segments, plan, answer, .. } = self;
        let found = self.rows.clone().filter_map(|index| answer.row(index));
        let found = found.filter(|row| row.bucket == bucket);
        match &segments.known {
            Known::Found => {
                let segment = |key: &Key, values: &[i64]| match key {
                    Key::Text(name) => {
                        Some(body(json!(&**name), json!(&**name), plan.members(values)))
                    }
                    _ => None,
                };
                found.filter_map(|row| segment(row.key, row.values)).collect()
            }
            Known::Ids(known) => {
                let values: BTreeMap<i64, &[i64]> =
                    found.map(|row| (id_of(row.key), row.values)).collect();
                let segment = |(id, label): (&i64, &Option<String>)| {
                    let found = values.get(id).copied();
                    let numbers = plan.members(found.unwrap_or_default());
                    let id = segments.id(*id, found.is_some(), self.is_strict);
                    body(id, json!(label), numbers)
                };
                known.iter().map(segment).collect()
            }
        }
    }
}

fn body(id: Value, label: Value, subtotals: Map<String, Value>) -> Value {
    json!({ "segment_id": id, "segment_label": label, "subtotals": subtotals })
}

fn id_of(key: &Key) -> i64 {
    match key {
        Key::Id(id) | Key::Variation { variation_id: id, .. } => *id,
        Key::Returning(returning) => i64::from(*returning),
        Key::TaxCode { rate_id, .. } => *rate_id,
        Key::All | Key::Text(_) => 0,
    }
}

fn customer_types(context: &QueryContext) -> BTreeMap<i64, Option<String>> {
    // Clients know these segments without names.
    let label = |name: &str| context.is_strict.then(|| name.to_owned());
    BTreeMap::from([(0, label("New")), (1, label("Returning"))])
}

fn labelled(names: impl Iterator<Item = (i64, String)>) -> BTreeMap<i64, Option<String>> {
    names.map(|(id, name)| (id, Some(name))).collect()
}

fn products(
    report: &Stats,
    call: &mut Call<'_>,
    context: &QueryContext,
) -> Result<BTreeMap<i64, Option<String>>, Stop> {
    let (products, categories) = report.product_params;
    let wanted = filters::products_in(&call.params, context, products, categories);
    let all = known::products(call.conn()?)?;
    let is_wanted = |id: &i64| wanted.as_ref().is_none_or(|wanted| wanted.contains(*id));
    Ok(labelled(all.into_iter().filter(|(id, _)| is_wanted(id))))
}

/// Of one product, with the product itself for sales before it had variations; or of all.
fn variations(report: &Stats, call: &mut Call<'_>) -> Result<BTreeMap<i64, Option<String>>, Stop> {
    let chosen = filters::ids(&call.params, report.variations_param);
    let is_chosen = |id: &i64| chosen.as_ref().is_none_or(|chosen| chosen.contains(*id));
    if report.splits_all_variations {
        let all = known::variations(call.conn()?, &[])?;
        return Ok(labelled(all.into_iter().filter(|(id, _)| is_chosen(id))));
    }
    let products = match report.product_params.0 {
        "" => None,
        name => filters::ids(&call.params, name),
    };
    let product_id = match products.as_ref().map(crate::query::IdSet::ids) {
        Some([only]) => *only,
        _ => return Err(needs_one_product().into()),
    };
    let of_product = known::variations(call.conn()?, &[product_id])?;
    let mut found = labelled(of_product.into_iter().filter(|(id, _)| is_chosen(id)));
    if chosen.is_none() {
        found.insert(0, known::product_name(call.conn()?, product_id)?);
    }
    Ok(found)
}

fn needs_one_product() -> Refusal {
    let message = "To split by variation, ask for exactly one product.";
    Refusal::new(400, "wc_admin_reports_invalid_segmenting_variation", message)
}

fn categories(report: &Stats, call: &mut Call<'_>) -> Result<BTreeMap<i64, Option<String>>, Stop> {
    let wanted = filters::ids(&call.params, report.product_params.1);
    let all = known::categories(call.conn()?)?;
    let is_wanted = |id: &i64| wanted.as_ref().is_none_or(|wanted| wanted.contains(*id));
    Ok(labelled(all.into_iter().filter(|(id, _)| is_wanted(id))))
}

fn coupons(report: &Stats, call: &mut Call<'_>) -> Result<BTreeMap<i64, Option<String>>, Stop> {
    let wanted = filters::ids(&call.params, report.coupons_param);
    let all = known::coupons(call.conn()?)?;
    let is_wanted = |id: &i64| wanted.as_ref().is_none_or(|wanted| wanted.contains(*id));
    Ok(labelled(all.into_iter().filter(|(id, _)| is_wanted(id))))
}

fn tax_rates(call: &mut Call<'_>) -> Result<BTreeMap<i64, Option<String>>, Stop> {
    let wanted = filters::ids(&call.params, "taxes");
    let all = known::tax_rates(call.conn()?)?;
    let is_wanted = |id: &i64| wanted.as_ref().is_none_or(|wanted| wanted.contains(*id));
    Ok(labelled(all.into_iter().filter(|(id, _)| is_wanted(id))))
}
