//! A query made ready: where each bucket begins, what each group is numbered, which columns are
//! read. Made once; all threads read it.

use std::sync::Arc;

use super::answer::Key;
use super::compile::Compiled;
use super::{Column, DateColumn, Group, Measure, Per, Query, Scope, Subject, Table, When};
use crate::facts::chunk::{Bounds, Chunk, order};
use crate::facts::{LineNumber, Snapshot};

/// How the number of a row's group is found.
#[derive(Debug)]
pub(super) enum Grouping {
    None,
    /// A column of the order.
    Row(usize),
    Returning,
    /// The row's own number.
    Unit,
    /// Of the row's own number.
    Kind(Arc<Vec<u32>>),
    /// By the row's own number: where its list begins, and all lists.
    Lists(Vec<usize>, Vec<u32>),
    /// The table has no such groups.
    Nowhere,
}

/// A measure with the places of what it needs in the lists of the plan.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Rows { when: usize },
    Sum { source: usize, when: usize, per: Per },
    Distinct { subject: Subject, when: usize },
    Latest { date: DateColumn },
}

#[derive(Clone, Debug)]
pub(super) struct Plan<'a> {
    pub(super) facts: &'a Snapshot,
    pub(super) table: Table,
    pub(super) date: DateColumn,
    pub(super) from: i64,
    pub(super) until: i64,
    pub(super) bounds: Vec<i64>,
    pub(super) filter: Arc<Compiled>,
    pub(super) grouping: Arc<Grouping>,
    /// How many groups there can be.
    pub(super) keys: usize,
    pub(super) buckets: usize,
    pub(super) steps: Vec<Step>,
    pub(super) sources: Vec<Column>,
    pub(super) whens: Vec<When>,
    /// Of each of `whens`, whether somebody asks for the first row of an order.
    pub(super) firsts: Vec<bool>,
    group: Group,
    pub(super) categories: Arc<Vec<i64>>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(facts: &'a Snapshot, scope: &Scope, query: &Query) -> Self {
        let bounds: Vec<i64> = query.bounds.iter().map(|bound| bound.as_micros()).collect();
        let edge = |bound: Option<&i64>, own: i64| bound.copied().unwrap_or(own);
        let (from, until) = (query.span.from.as_micros(), query.span.until.as_micros());
        let mut plan = Self {
            facts,
            table: query.table,
            date: query.date,
            // Nothing is a date, and earlier than all others.
            from: from.max(edge(bounds.first(), from)).max(i64::MIN + 1),
            until: until.min(edge(bounds.last(), until)),
            buckets: query.buckets(),
            bounds,
            filter: Arc::new(Compiled::new(facts, query.table, scope, &query.filter)),
            grouping: Arc::new(Grouping::Nowhere),
            keys: 0,
            steps: Vec::new(),
            sources: Vec::new(),
            whens: Vec::new(),
            firsts: Vec::new(),
            group: query.group,
            categories: Arc::default(),
        };
        plan.set_grouping();
        for measure in &query.measures {
            let step = plan.step(*measure);
            plan.steps.push(step);
        }
        plan
    }

    fn set_grouping(&mut self) {
        let names = &self.facts.names;
        let (grouping, keys) = match (self.group, self.table) {
            (Group::None, _) => (Grouping::None, 1),
            (Group::Customer, _) => (Grouping::Row(order::CUSTOMER), names.customers.len()),
            (Group::Text(field), _) => {
                (Grouping::Row(order::text(field)), names.texts(field).len())
            }
            (Group::CustomerType, _) => (Grouping::Returning, 2),
            (Group::Product, Table::Lines) => {
                (Grouping::Kind(Arc::clone(&names.products.of)), names.products.values.len())
            }
            (Group::VariationId, Table::Lines) => {
                (Grouping::Kind(Arc::clone(&names.variations.of)), names.variations.values.len())
            }
            (Group::Variation, Table::Lines) => (Grouping::Unit, names.goods.len()),
            (Group::Coupon, Table::Coupons) => (Grouping::Unit, names.coupons.len()),
            (Group::TaxCode, Table::Taxes) => (Grouping::Unit, names.rates.len()),
            (Group::TaxRate, Table::Taxes) => {
                (Grouping::Kind(Arc::clone(&names.rate_ids.of)), names.rate_ids.values.len())
            }
            (Group::Category(_), Table::Lines) => self.category_lists(),
            _ => (Grouping::Nowhere, 0),
        };
        (self.grouping, self.keys) = (Arc::new(grouping), keys);
    }

    fn category_lists(&mut self) -> (Grouping, usize) {
        let Group::Category(roll_up) = self.group else { return (Grouping::Nowhere, 0) };
        let catalog = self.facts.catalog();
        let lists = self.facts.names.goods.iter();
        let lists: Vec<Vec<i64>> =
            lists.map(|(product, _)| catalog.categories_of(*product, roll_up)).collect();
        let mut categories: Vec<i64> = lists.iter().flatten().copied().collect();
        categories.sort_unstable();
        categories.dedup();
        self.categories = Arc::new(categories);
        let mut starts = vec![0];
        let mut codes = Vec::new();
        for list in lists {
            let code = |category: &i64| self.categories.binary_search(category).ok();
            let found = list.iter().filter_map(code).filter_map(|code| u32::try_from(code).ok());
            codes.extend(found);
            starts.push(codes.len());
        }
        let is_one_each = codes.len() + 1 == starts.len()
            && starts.iter().enumerate().all(|(place, start)| place == *start);
        let grouping = if is_one_each {
            Grouping::Kind(Arc::new(codes))
        } else {
            Grouping::Lists(starts, codes)
        };
        (grouping, self.categories.len())
    }

    /// What the numbers of groups stand for, where that is an id. No two have the same.
    pub(super) fn ids(&self) -> Option<&[i64]> {
        let names = &self.facts.names;
        match self.group {
            Group::Product => Some(&names.products.values),
            Group::Category(_) => Some(&self.categories),
            Group::Coupon => Some(&names.coupons),
            Group::TaxRate => Some(&names.rate_ids.values),
            Group::Customer => Some(&names.customers),
            Group::VariationId => Some(&names.variations.values),
            _ => None,
        }
    }

    /// What a number of a group stands for.
    pub(super) fn key(&self, code: usize) -> Key {
        let names = &self.facts.names;
        if let Some(ids) = self.ids() {
            return Key::Id(ids.get(code).copied().unwrap_or_default());
        }
        match self.group {
            Group::CustomerType => Key::Returning(code == 1),
            Group::Text(field) => {
                Key::Text(names.texts(field).get(code).cloned().unwrap_or_default())
            }
            Group::Variation => {
                let (product_id, variation_id) = names.goods.get(code).copied().unwrap_or_default();
                Key::Variation { product_id, variation_id }
            }
            Group::TaxCode => {
                let Some(rate) = names.rates.get(code) else { return Key::All };
                Key::TaxCode {
                    rate_id: rate.rate_id,
                    code: Arc::clone(&rate.code),
                    percent: types::Amount::from_millionths(rate.percent),
                }
            }
            _ => Key::All,
        }
    }

    fn step(&mut self, measure: Measure) -> Step {
        match measure {
            Measure::Rows(when) => Step::Rows { when: self.when(when) },
            Measure::Sum(column, when, per) => {
                let when = self.when(when);
                if per == Per::Order {
                    self.need_first(when);
                }
                Step::Sum { source: self.source(column), when, per }
            }
            Measure::Distinct(subject, when) => {
                let when = self.when(when);
                if subject == Subject::Order {
                    self.need_first(when);
                }
                Step::Distinct { subject, when }
            }
            Measure::Latest(date) => Step::Latest { date },
        }
    }

    fn need_first(&mut self, when: usize) {
        if let Some(first) = self.firsts.get_mut(when) {
            *first = true;
        }
    }

    fn when(&mut self, when: When) -> usize {
        if matches!(when, When::Negative | When::NotNegative) {
            self.source(self.sign());
        }
        let found = self.whens.iter().position(|own| *own == when);
        found.unwrap_or_else(|| {
            self.whens.push(when);
            self.firsts.push(false);
            self.whens.len() - 1
        })
    }

    /// The column by which a row takes money back or does not.
    pub(super) fn sign(&self) -> Column {
        if self.table == Table::Lines { Column::Line(LineNumber::Gross) } else { Column::Gross }
    }

    fn source(&mut self, column: Column) -> usize {
        let found = self.sources.iter().position(|own| *own == column);
        found.unwrap_or_else(|| {
            self.sources.push(column);
            self.sources.len() - 1
        })
    }

    /// How many different subjects there can be.
    pub(super) fn subjects(&self, subject: Subject) -> usize {
        let names = &self.facts.names;
        match subject {
            Subject::Order => 0,
            Subject::Customer => names.customers.len(),
            Subject::Product => names.products.values.len(),
            Subject::Variation | Subject::VariationOrNone => names.variations.values.len(),
            Subject::Coupon => names.coupons.len(),
            Subject::TaxRate => names.rate_ids.values.len(),
        }
    }

    /// The same for some of the buckets only, whose bounds these are. What they do not cover must
    /// not be asked of it.
    pub(super) fn within(&self, bounds: &[i64]) -> Self {
        Self {
            bounds: bounds.to_vec(),
            buckets: bounds.len().saturating_sub(1).max(1),
            ..self.clone()
        }
    }

    /// Whether nearly all groups are known to stay empty.
    pub(super) fn has_few_groups(&self) -> bool {
        self.group == Group::Customer && self.filter.is_of_few_buyers()
    }

    /// Whether no row of the chunk can count.
    pub(super) fn skips(&self, chunk: &Chunk) -> bool {
        let Some((first, last)) = date_bounds(chunk, self.date) else { return true };
        last < self.from || first >= self.until || self.filter.skips(chunk)
    }

    /// Where rows of the block can lie. None when none can count, by their dates.
    pub(super) fn reach(&self, chunk: &Chunk, block: usize) -> Option<Reach> {
        let (first, last) = block_bounds(chunk, block, self.date)?;
        let is_within = self.from <= first && last < self.until;
        let (first, last) = (first.max(self.from), last.min(self.until.saturating_sub(1)));
        if first > last {
            return None;
        }
        let bucket = self.bucket(first, 0);
        Some(Reach { first: bucket, last: self.bucket(last, bucket), is_within })
    }

    /// The bucket of a time that lies within the span; `hint` is looked at first.
    pub(super) fn bucket(&self, time: i64, hint: usize) -> usize {
        if self.bounds.is_empty() || self.is_in(time, hint) {
            return if self.bounds.is_empty() { 0 } else { hint };
        }
        // Buckets are of about the same length, so this is the right one, or next to it.
        let guess = self.guess(time);
        for near in [guess, guess + 1, guess.saturating_sub(1)] {
            if self.is_in(time, near) {
                return near;
            }
        }
        self.bounds.partition_point(|bound| *bound <= time).saturating_sub(1)
    }

    fn is_in(&self, time: i64, bucket: usize) -> bool {
        let bound = |index: usize| self.bounds.get(index).copied();
        bound(bucket).is_some_and(|from| from <= time)
            && bound(bucket + 1).is_some_and(|until| time < until)
    }

    fn guess(&self, time: i64) -> usize {
        let (Some(first), Some(last)) = (self.bounds.first(), self.bounds.last()) else { return 0 };
        let length = last.saturating_sub(*first) / i64::try_from(self.buckets).unwrap_or(i64::MAX);
        usize::try_from(time.saturating_sub(*first) / length.max(1)).unwrap_or_default()
    }
}

/// Where rows lie that have the date at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// The first and the last bucket.
    pub(super) first: usize,
    pub(super) last: usize,
    /// Whether all are in the span.
    pub(super) is_within: bool,
}

pub(super) fn date_bounds(chunk: &Chunk, date: DateColumn) -> Bounds {
    match date {
        DateColumn::Created => chunk.created,
        DateColumn::Paid => chunk.paid,
        DateColumn::Completed => chunk.completed,
    }
}

fn block_bounds(chunk: &Chunk, block: usize, date: DateColumn) -> Bounds {
    let dates = chunk.dates(block);
    match date {
        DateColumn::Created => dates.created,
        DateColumn::Paid => dates.paid,
        DateColumn::Completed => dates.completed,
    }
}
