//! What the shards say to a question, put together to one answer. A shard that says nothing of a
//! group has no rows of it.

use std::collections::{BTreeMap, HashSet};

use types::{Amount, Result};

use super::binary::Decoder;
use super::cluster::Cluster;
use super::measure::Total;
use super::question::{Ground, Question};
use super::source::Rows;
use super::{downloads, question};
use crate::query::{Answer, Group, Key, Query, Scope, Table};

/// What a measure has come to so far.
#[derive(Debug)]
enum Sum {
    Number(i64),
    Set(HashSet<i64>),
}

type Cells = BTreeMap<(usize, Key), Vec<Sum>>;

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
        let mut cells = Cells::new();
        if let Some(Question { statement, totals }) = question {
            for bytes in self.ask(&format!("{statement} FORMAT RowBinary"))? {
                let mut decoder = Decoder::new(&bytes);
                while !decoder.is_at_end() {
                    read(&mut decoder, query.group, &totals, &mut cells)?;
                }
            }
        }
        Ok(whole(query, cells))
    }
}

/// Adds a row of a shard.
fn read(
    decoder: &mut Decoder<'_>,
    group: Group,
    totals: &[Total],
    cells: &mut Cells,
) -> Result<()> {
    let bucket = usize::try_from(decoder.number()?).unwrap_or_default();
    let key = key(decoder, group)?;
    let cell = cells.entry((bucket, key)).or_insert_with(|| {
        let nothing = |total: &Total| match total {
            Total::Sum | Total::Latest => Sum::Number(0),
            Total::Set => Sum::Set(HashSet::new()),
        };
        totals.iter().map(nothing).collect()
    });
    for (sum, total) in cell.iter_mut().zip(totals) {
        match sum {
            Sum::Number(sum) => {
                let number = decoder.number()?;
                *sum = match total {
                    Total::Latest => number.max(*sum),
                    Total::Sum | Total::Set => sum.saturating_add(number),
                };
            }
            Sum::Set(set) => {
                for _ in 0..decoder.length()? {
                    set.insert(decoder.number()?);
                }
            }
        }
    }
    Ok(())
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
fn whole(query: &Query, mut cells: Cells) -> Answer {
    if query.group == Group::None {
        for bucket in 0..query.buckets() {
            let zeros = || query.measures.iter().map(|_| Sum::Number(0)).collect();
            cells.entry((bucket, Key::All)).or_insert_with(zeros);
        }
    }
    let mut answer = Answer::new(query.measures.len());
    for ((bucket, key), sums) in cells {
        let numbers = sums.into_iter().map(|sum| match sum {
            Sum::Number(number) => number,
            Sum::Set(set) => i64::try_from(set.len()).unwrap_or(i64::MAX),
        });
        answer.push(bucket, key, numbers);
    }
    answer
}
