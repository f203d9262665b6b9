//! Numbers split by product, category, coupon and so on.
//!
//! Every segment that is known is shown, be it with zeros, in the totals and in every interval.
//! What was sold of something that is gone has a segment, too, so that **no sale is lost**.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use contract::rest::{Args, Refusal, Schema, Stop};
use frame::Call;
use serde_json::{Map, Value, json};

use super::{Stats, body};
use crate::columns::{Column, Plan};
use crate::compat::{self, Rule};
use crate::context::QueryContext;
use crate::known;
use crate::query::{Answer, Filter, Group, IdSet, Key, Query, Table};
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
    Currency,
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
            Self::Currency => "currency",
        }
    }

    /// Whether only this product splits by it.
    pub const fn is_ours(self) -> bool {
        matches!(self, Self::Merchant | Self::Store | Self::Currency)
    }

    pub fn names(dimensions: &[Self]) -> Vec<&'static str> {
        dimensions.iter().map(|dimension| dimension.name()).collect()
    }
}

/// By what the numbers are split; ours come after those that the reference knows.
pub fn arg(dimensions: &[Dimension]) -> Args {
    let (own, known): (Vec<Dimension>, Vec<Dimension>) =
        dimensions.iter().copied().partition(|dimension| dimension.is_ours());
    let schema = Schema::text().choices(&Dimension::names(&known));
    let own = Dimension::names(&own);
    let schema = if own.is_empty() { schema } else { schema.own_choices(&own) };
    Args::new().arg("segmentby", schema.about("Dimension to segment by."))
}

/// Where the numbers of segments come from.
#[derive(Clone, Debug)]
pub struct Split {
    pub table: Table,
    pub group: Group,
    pub columns: &'static [Column],
    /// What rows must be like besides what the report asks for.
    pub filter: Filter,
}

impl Split {
    pub const fn of(table: Table, group: Group, columns: &'static [Column]) -> Self {
        Self { table, group, columns, filter: Filter::All(Vec::new()) }
    }
}

/// The segments that a request asks for.
#[derive(Debug)]
pub struct Segments {
    /// Nothing where the report knows the segments and has no numbers for them.
    split: Option<Split>,
    columns: Vec<Column>,
    known: Known,
    /// Names of what has a segment only if it was sold.
    others: BTreeMap<i64, String>,
    /// The report that is split.
    path: &'static str,
    dimension: Dimension,
    /// Whether something that is not known has a segment if it was sold.
    is_open: bool,
}

/// Names of segments by their ids.
type Labels = BTreeMap<i64, Option<String>>;

/// What a segment is called of which nothing is known, and that of sales without variation.
const DELETED: &str = "(Deleted)";
const NO_VARIATION: &str = "(No variation)";

/// Which segments there are, with their labels.
#[derive(Debug)]
enum Known {
    Ids(Labels),
    /// Whatever is found in the range; its name is its label.
    Texts(BTreeSet<Arc<str>>),
}

impl Segments {
    pub(super) fn requested(
        report: &Stats,
        call: &mut Call<'_>,
        context: &QueryContext,
    ) -> Result<Option<Self>, Stop> {
        let name = call.params.text("segmentby").unwrap_or_default();
        let named = report.dimensions.iter().find(|dimension| dimension.name() == name);
        let Some(dimension) = named.copied() else { return Ok(None) };
        let split = (report.split)(dimension, call, context);
        let (known, is_chosen) = match dimension {
            Dimension::Merchant | Dimension::Store | Dimension::Currency => {
                (Known::Texts(BTreeSet::new()), false)
            }
            Dimension::CustomerType => (Known::Ids(customer_types(context)), true),
            Dimension::Product => products(report, call, context)?,
            Dimension::Variation => variations(report, call, context)?,
            Dimension::Category => {
                let wanted = filters::ids(&call.params, report.product_params.1);
                chosen(categories(call, context)?, wanted)
            }
            Dimension::Coupon => {
                let wanted = filters::ids(&call.params, report.coupons_param);
                chosen(known::coupons(call.conn()?)?, wanted)
            }
            Dimension::TaxRate => {
                let wanted = filters::ids(&call.params, "taxes");
                chosen(known::tax_rates(call.conn()?)?, wanted)
            }
        };
        let others = match dimension {
            Dimension::Category => {
                let all: Vec<i64> = context.view.catalog().categories().collect();
                known::category_names(call.conn()?, &all)?
            }
            _ => BTreeMap::new(),
        };
        let columns = split.as_ref().map_or(report.columns, |split| split.columns);
        let fields = body::fields(call, context);
        let is_shown = |column: &&Column| {
            fields.as_ref().is_none_or(|fields| fields.iter().any(|name| name == column.name))
        };
        Ok(Some(Self {
            split,
            columns: columns.iter().filter(is_shown).copied().collect(),
            known,
            others,
            path: report.path,
            dimension,
            is_open: !is_chosen
                && (dimension.is_ours() || !context.follows(Rule::KnownSegmentsOnly)),
        }))
    }

    /// The numbers of the segments in the buckets of the query.
    pub(super) fn of<'s>(
        &'s self,
        query: &Query,
        context: &'s QueryContext,
    ) -> types::Result<Found<'s>> {
        let plan = Plan::of(self.columns.iter().copied());
        let answer = self.split.as_ref().map(|split| {
            let query = Query {
                table: split.table,
                group: split.group,
                measures: plan.measures.clone(),
                filter: query.filter.clone().and(split.filter.clone()),
                ..query.clone()
            };
            if self.dimension == Dimension::Currency {
                context.answer_by_currency(&query)
            } else {
                context.answer(&query)
            }
        });
        let answer = answer.transpose()?.unwrap_or_default();
        Ok(Found { segments: self, plan, answer, context })
    }

    /// Adds segments for what was sold and is not known. **Who sees some sales only is not to learn
    /// from the names of the others what else there is**: there, those are left that have sales.
    pub(super) fn settle(&mut self, query: &Query, context: &QueryContext) -> types::Result<()> {
        if !self.is_open && !context.is_bound() {
            return Ok(());
        }
        let answer = self.of(query, context)?.answer;
        let found: BTreeSet<i64> = answer.rows().map(|row| id_of(row.key)).collect();
        let known = match &mut self.known {
            Known::Ids(known) => known,
            Known::Texts(known) => {
                known.extend(answer.rows().filter_map(|row| match row.key {
                    Key::Text(text) => Some(Arc::clone(text)),
                    _ => None,
                }));
                return Ok(());
            }
        };
        if self.is_open {
            let unknown: Vec<i64> =
                found.iter().copied().filter(|id| !known.contains_key(id)).collect();
            known.extend(unknown.into_iter().map(|id| {
                let name = self.others.get(&id).map_or(DELETED, String::as_str);
                (id, Some(name.to_owned()))
            }));
        }
        if context.is_bound() {
            known.retain(|id, _| found.contains(id));
        }
        Ok(())
    }

    /// How many there are at least.
    pub(super) fn count(&self) -> usize {
        match &self.known {
            Known::Ids(known) => known.len(),
            Known::Texts(known) => known.len(),
        }
    }
}

/// The numbers of segments: a row for each bucket and segment in which something was found.
pub(super) struct Found<'s> {
    segments: &'s Segments,
    plan: Plan,
    answer: Answer,
    context: &'s QueryContext,
}

impl Found<'_> {
    /// The segments of a bucket.
    pub(super) fn of_bucket(&self, bucket: usize) -> Vec<Value> {
        let Self { segments, plan, answer, .. } = self;
        match &segments.known {
            Known::Texts(known) => {
                let values = |name: &Arc<str>| answer.get(bucket, &Key::Text(Arc::clone(name)));
                let segment = |name: &Arc<str>| {
                    let numbers = plan.members(values(name).unwrap_or_default());
                    segment_body(json!(&**name), json!(&**name), numbers)
                };
                known.iter().map(segment).collect()
            }
            Known::Ids(known) => {
                let found = answer.rows_of(bucket);
                let values: BTreeMap<i64, &[i64]> =
                    found.map(|row| (id_of(row.key), row.values)).collect();
                let segment = |(id, label): (&i64, &Option<String>)| {
                    let found = values.get(id).copied();
                    let numbers = plan.members(found.unwrap_or_default());
                    let id = if self.context.follows(Rule::SegmentIdsAreText) {
                        let by = segments.dimension.name();
                        compat::segment_id(segments.path, by, *id, found.is_some())
                    } else {
                        json!(id)
                    };
                    segment_body(id, json!(label), numbers)
                };
                known.iter().map(segment).collect()
            }
        }
    }
}

fn segment_body(id: Value, label: Value, subtotals: Map<String, Value>) -> Value {
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

fn customer_types(context: &QueryContext) -> Labels {
    let is_named = !context.follows(Rule::CustomerTypesAreEmpty);
    let label = |name: &str| is_named.then(|| name.to_owned());
    BTreeMap::from([(0, label("New")), (1, label("Returning"))])
}

/// Those of all that the request chooses, and whether it does.
fn chosen(all: BTreeMap<i64, String>, wanted: Option<IdSet>) -> (Known, bool) {
    let is_wanted = |id: &i64| wanted.as_ref().is_none_or(|wanted| wanted.contains(*id));
    let known = all.into_iter().filter(|(id, _)| is_wanted(id));
    (Known::Ids(known.map(|(id, name)| (id, Some(name))).collect()), wanted.is_some())
}

/// Categories with a product, be it in one below.
fn categories(call: &mut Call<'_>, context: &QueryContext) -> Result<BTreeMap<i64, String>, Stop> {
    let mut all = known::categories(call.conn()?)?;
    if !context.follows(Rule::KnownSegmentsOnly) {
        let catalog = context.view.catalog();
        let above = all.keys().flat_map(|id| catalog.with_ancestors(*id));
        let above: Vec<i64> = above.filter(|id| !all.contains_key(id)).collect();
        all.extend(known::category_names(call.conn()?, &above)?);
    }
    Ok(all)
}

fn products(
    report: &Stats,
    call: &mut Call<'_>,
    context: &QueryContext,
) -> Result<(Known, bool), Stop> {
    let (products, categories) = report.product_params;
    let wanted = filters::products_in(&call.params, context, products, categories);
    Ok(chosen(known::products(call.conn()?)?, wanted))
}

/// Of the products that are asked for, or of all. What was sold without a variation has a segment
/// of its own; that of a single product has its name.
fn variations(
    report: &Stats,
    call: &mut Call<'_>,
    context: &QueryContext,
) -> Result<(Known, bool), Stop> {
    let (products, categories) = report.product_params;
    let parents = filters::products_in(&call.params, context, products, categories);
    let parents = parents.filter(|_| !report.is_of_variations);
    let only = match parents.as_ref().map(IdSet::ids) {
        Some([only]) => Some(*only),
        _ => None,
    };
    let needs_one = context.follows(Rule::VariationsOfOneProduct) && !report.is_of_variations;
    if needs_one && only.is_none() {
        return Err(needs_one_product().into());
    }
    let all = known::variations(call.conn()?, parents.as_ref().map_or(&[], IdSet::ids))?;
    let wanted = filters::ids(&call.params, report.variations_param);
    let (mut known, is_chosen) = chosen(all, wanted);
    if let Known::Ids(known) = &mut known
        && !is_chosen
        && !report.is_of_variations
    {
        let name = match only {
            Some(product_id) => known::product_name(call.conn()?, product_id)?,
            None => Some(NO_VARIATION.to_owned()),
        };
        known.insert(0, name);
    }
    Ok((known, is_chosen))
}

fn needs_one_product() -> Refusal {
    let message = "To segment by variation, filter by exactly one product.";
    Refusal::new(400, "wc_admin_reports_invalid_segmenting_variation", message)
}
