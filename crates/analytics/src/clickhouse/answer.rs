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

impl Default for Sum {
    fn default() -> Self {
        Self::Number(0)
    }
}

type Head = (usize, Key);

/// What a shard says, which may be of hundreds of thousands of groups.
#[derive(Debug, Default)]
struct Said {
    /// Buckets and keys, with the place of the first sum of each.
    heads: Vec<(Head, usize)>,
    /// As many for each as there are measures.
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
        let Some(Question { statement, totals }) = question else {
            return Ok(whole(query, &vec![Total::Sum; query.measures.len()], Vec::new()));
        };
        // Each by the thread that asks its shard.
        let read = |bytes: Vec<u8>| Said::read(&bytes, query.group, &totals);
        let said = self.ask_and(&format!("{statement} FORMAT RowBinary"), read)?;
        Ok(whole(query, &totals, said))
    }
}

impl Said {
    /// In the order of the heads.
    fn read(bytes: &[u8], group: Group, totals: &[Total]) -> Result<Self> {
        let mut said = Self::default();
        let mut decoder = Decoder::new(bytes);
        while !decoder.is_at_end() {
            let bucket = usize::try_from(decoder.number()?).unwrap_or_default();
            said.begin((bucket, key(&mut decoder, group)?));
            for total in totals {
                said.sums.push(sum(&mut decoder, *total)?);
            }
        }
        // They are, unless the two sort texts or lists in another way.
        said.heads.sort_unstable();
        Ok(said)
    }

    /// Of all buckets, in which nothing was found.
    fn nothing(buckets: usize, totals: &[Total]) -> Self {
        let mut said = Self::default();
        for bucket in 0..buckets {
            said.begin((bucket, Key::All));
            said.sums.extend(totals.iter().map(|total| match total {
                Total::Sum | Total::Latest => Sum::default(),
                Total::Set => Sum::Set(Vec::new()),
            }));
        }
        said
    }

    /// A group, whose sums are added next.
    fn begin(&mut self, head: Head) {
        self.heads.push((head, self.sums.len()));
    }
}

fn sum(decoder: &mut Decoder<'_>, total: Total) -> Result<Sum> {
    match total {
        Total::Sum => decoder.number().map(Sum::Number),
        // No date is earlier than all others.
        Total::Latest => decoder.number().map(|latest| Sum::Number(latest.max(0))),
        Total::Set => {
            let all = (0..decoder.length()?).map(|_| decoder.number());
            all.collect::<Result<_>>().map(Sum::Set)
        }
    }
}

/// Adds what another shard says of the same group.
fn merge(sums: &mut [Sum], others: impl Iterator<Item = Sum>, totals: &[Total]) {
    for ((own, other), total) in sums.iter_mut().zip(others).zip(totals) {
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
fn whole(query: &Query, totals: &[Total], mut said: Vec<Said>) -> Answer {
    if query.group == Group::None {
        said.push(Said::nothing(query.buckets(), totals));
    }
    let left = |said: Said| (said.heads.into_iter().peekable(), said.sums);
    let mut left: Vec<_> = said.into_iter().map(left).collect();
    let mut answer = Answer::new(query.measures.len());
    let mut group = Vec::new();
    loop {
        let heads = left.iter_mut().filter_map(|(heads, _)| heads.peek().map(|(head, _)| head));
        let Some(head) = heads.min().cloned() else { return answer };
        for (heads, sums) in &mut left {
            while let Some((_, place)) = heads.next_if(|(own, _)| *own == head) {
                let own = sums.iter_mut().skip(place).take(totals.len()).map(std::mem::take);
                if group.is_empty() {
                    group.extend(own);
                } else {
                    merge(&mut group, own, totals);
                }
            }
        }
        let numbers = group.drain(..).map(|sum| match sum {
            Sum::Number(number) => number,
            Sum::Set(mut set) => {
                set.sort_unstable();
                set.dedup();
                i64::try_from(set.len()).unwrap_or(i64::MAX)
            }
        });
        answer.push(head.0, head.1, numbers);
    }
}
