//! What the shards say to a question, put together to one answer. A shard that says nothing of a
//! group has no rows of it.

use types::{Amount, Result};

use super::binary::Decoder;
use super::cluster::Cluster;
use super::measure::Total;
use super::question::{Ground, Question};
use super::source::Rows;
use super::{downloads, question};
use crate::query::{Answer, Group, Key, Query, Scope, Table};

/// What a measure comes to in a row.
#[derive(Debug)]
enum Sum {
    Number(i64),
    /// Each shard names a thing once.
    Set(Vec<i64>),
}

/// What a shard says of a group. There may be hundreds of thousands.
#[derive(Debug)]
struct Row {
    head: (usize, Key),
    sums: Vec<Sum>,
}

impl Cluster {
    /// Carries the query out on what the scope shows. Orders with the excluded statuses do not make
    /// somebody a customer who returns.
    pub fn answer(&self, scope: &Scope, query: &Query, excluded: &[String]) -> Result<Answer> {
        let is_merged = self.shards() > 1;
        let (orders, products) = (self.table("orders"), self.table("products"));
        let question = if query.table == Table::Downloads {
            downloads::question(query, scope, &self.table("downloads"), is_merged)
        } else {
            let span = question::span(query);
            let (date, filter) = (query.date, &query.filter);
            let rows = Rows { orders: &orders, excluded, scope, date, span, filter };
            Question::of(query, Ground { rows, products: &products, is_merged })
        };
        let mut rows = Vec::new();
        let Some(Question { statement, totals }) = question else {
            return Ok(whole(query, &vec![Total::Sum; query.measures.len()], rows));
        };
        for bytes in self.ask(&format!("{statement} FORMAT RowBinary"))? {
            let mut decoder = Decoder::new(&bytes);
            while !decoder.is_at_end() {
                rows.push(Row::read(&mut decoder, query.group, &totals)?);
            }
        }
        Ok(whole(query, &totals, rows))
    }
}

impl Row {
    fn read(decoder: &mut Decoder<'_>, group: Group, totals: &[Total]) -> Result<Self> {
        let bucket = usize::try_from(decoder.number()?).unwrap_or_default();
        let head = (bucket, key(decoder, group)?);
        let sums = totals.iter().map(|total| match total {
            Total::Sum => decoder.number().map(Sum::Number),
            // No date is earlier than all others.
            Total::Latest => decoder.number().map(|latest| Sum::Number(latest.max(0))),
            Total::Set => {
                let all = (0..decoder.length()?).map(|_| decoder.number());
                all.collect::<Result<_>>().map(Sum::Set)
            }
        });
        Ok(Self { head, sums: sums.collect::<Result<_>>()? })
    }

    /// A group of which no row was found.
    fn empty(head: (usize, Key), totals: &[Total]) -> Self {
        let nothing = |total: &Total| match total {
            Total::Sum | Total::Latest => Sum::Number(0),
            Total::Set => Sum::Set(Vec::new()),
        };
        Self { head, sums: totals.iter().map(nothing).collect() }
    }

    /// What two shards say of the same group.
    fn merge(&mut self, other: Self, totals: &[Total]) {
        for ((own, other), total) in self.sums.iter_mut().zip(other.sums).zip(totals) {
            match (own, other) {
                (Sum::Number(own), Sum::Number(other)) => {
                    *own = match total {
                        Total::Latest => other.max(*own),
                        Total::Sum | Total::Set => own.saturating_add(other),
                    };
                }
                (Sum::Set(own), Sum::Set(other)) => own.extend(other),
                // The same measure is the same kind on all shards.
                (Sum::Number(_), Sum::Set(_)) | (Sum::Set(_), Sum::Number(_)) => {}
            }
        }
    }
}

fn key(decoder: &mut Decoder<'_>, group: Group) -> Result<Key> {
    Ok(match group {
        Group::None => Key::All,
        Group::CustomerType => Key::Returning(decoder.flag()?),
        Group::Text(_) => Key::Text(decoder.text()?.into()),
        Group::Variation => {
            Key::Variation { product_id: decoder.number()?, variation_id: decoder.number()? }
        }
        Group::TaxCode => Key::TaxCode {
            rate_id: decoder.number()?,
            code: decoder.text()?.into(),
            percent: Amount::from_millionths(decoder.number()?),
        },
        Group::Product
        | Group::VariationId
        | Group::Category(_)
        | Group::Coupon
        | Group::TaxRate
        | Group::Customer => Key::Id(decoder.number()?),
    })
}

/// The answer. Without groups every bucket has a row.
fn whole(query: &Query, totals: &[Total], mut rows: Vec<Row>) -> Answer {
    if query.group == Group::None {
        rows.extend((0..query.buckets()).map(|bucket| Row::empty((bucket, Key::All), totals)));
    }
    rows.sort_unstable_by(|one, other| one.head.cmp(&other.head));
    let mut answer = Answer::new(query.measures.len());
    let mut rows = rows.into_iter().peekable();
    while let Some(mut row) = rows.next() {
        while let Some(same) = rows.next_if(|next| next.head == row.head) {
            row.merge(same, totals);
        }
        let numbers = row.sums.into_iter().map(|sum| match sum {
            Sum::Number(number) => number,
            Sum::Set(mut set) => {
                set.sort_unstable();
                set.dedup();
                i64::try_from(set.len()).unwrap_or(i64::MAX)
            }
        });
        answer.push(row.head.0, row.head.1, numbers);
    }
    answer
}
