//! The one who makes snapshots: takes rows out, puts rows in, and hands out the next snapshot.
//!
//! Rows lie in chunks by the time of their creation, so a change rewrites the chunks of the rows
//! that go and come, and hardly any other; [`layout`] says how many chunks they become. Where a row
//! lies is found by the bounds of each chunk's ids: an index of all orders would cost more memory
//! than the columns that reports read.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use types::Memo;

use super::bytes::{Decoder, Encoder};
use super::catalog::Catalog;
use super::chunk::{Bounds, CHUNK_ROWS, Chunk, Row, line, order};
use super::column::{Column, NOTHING};
use super::dictionary::{Dictionaries, Names, RateCode};
use super::fact::{DownloadFact, LineFact, OrderFact};
use super::fact::{LineNumber, OrderNumber, OrderText};
use super::layout::{self, LaidOut, Layout, Piece};
use super::returning::{First, NO_FIRST, Returning};
use super::snapshot::{Snapshot, Versions};

#[derive(Debug)]
pub struct Writer {
    dictionaries: Dictionaries,
    chunks: Vec<Arc<Chunk>>,
    /// How many of them are settled.
    settled: usize,
    firsts: Arc<Vec<First>>,
    /// By the number of the chunk.
    returning: Vec<Arc<Returning>>,
    downloads: Arc<Vec<Arc<DownloadFact>>>,
    catalog: Arc<Catalog>,
    /// Statuses of orders that do not make somebody a customer.
    excluded: BTreeSet<String>,
    position: i64,
    versions: Versions,
    memo: Arc<Memo>,
    /// Orders of a full chunk.
    chunk_rows: usize,
}

impl Default for Writer {
    fn default() -> Self {
        Self {
            dictionaries: Dictionaries::default(),
            chunks: Vec::new(),
            settled: 0,
            firsts: Arc::default(),
            returning: Vec::new(),
            downloads: Arc::default(),
            catalog: Arc::default(),
            excluded: BTreeSet::new(),
            position: 0,
            versions: Versions::default(),
            memo: Arc::default(),
            chunk_rows: CHUNK_ROWS,
        }
    }
}

impl Writer {
    /// One that has no facts yet. Orders with these statuses do not make somebody a customer who
    /// returns.
    pub fn new(excluded: impl IntoIterator<Item = String>) -> Self {
        Self { excluded: excluded.into_iter().collect(), ..Self::default() }
    }

    /// The same with chunks of so many orders: with small ones, few orders make many chunks.
    #[must_use]
    pub fn with_chunks_of(self, chunk_rows: usize) -> Self {
        Self { chunk_rows: chunk_rows.clamp(1, CHUNK_ROWS), ..self }
    }

    /// What readers see from now on.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            chunks: self.chunks.clone(),
            settled: self.settled,
            names: self.dictionaries.shared(),
            firsts: Arc::clone(&self.firsts),
            returning: self.returning.clone(),
            downloads: Arc::clone(&self.downloads),
            catalog: Arc::clone(&self.catalog),
            position: self.position,
            versions: self.versions,
            memo: Arc::clone(&self.memo),
        }
    }

    pub fn position(&self) -> i64 {
        self.position
    }

    pub fn set_position(&mut self, position: i64) {
        self.position = position;
    }

    pub fn catalog_mut(&mut self) -> &mut Catalog {
        self.versions.catalog += 1;
        Arc::make_mut(&mut self.catalog)
    }

    /// Adds downloads that are not there yet.
    pub fn add_downloads(&mut self, downloads: Vec<Arc<DownloadFact>>) {
        let own = Arc::make_mut(&mut self.downloads);
        own.extend(downloads);
        own.sort_by_key(|download| (download.at, download.log_id));
    }

    /// Lets these orders have these downloads and no others.
    pub(crate) fn replace_downloads(
        &mut self,
        orders: &BTreeSet<i64>,
        downloads: Vec<Arc<DownloadFact>>,
    ) {
        let is_of_them = |download: &Arc<DownloadFact>| orders.contains(&download.order_id);
        // Most orders have none, and then nothing is copied.
        if self.downloads.iter().filter(|known| is_of_them(known)).eq(&downloads) {
            return;
        }
        Arc::make_mut(&mut self.downloads).retain(|known| !is_of_them(known));
        self.add_downloads(downloads);
    }

    /// The customers of these facts of whom nothing was known.
    pub(crate) fn new_customers(&self, facts: &[OrderFact]) -> BTreeSet<i64> {
        let customers = facts.iter().map(|fact| fact.customer_id);
        customers.filter(|id| *id != 0 && !self.dictionaries.customers.has(id)).collect()
    }

    /// Whether there are, or were, orders of nobody who is known.
    pub(crate) fn has_nobodys_orders(&self) -> bool {
        self.dictionaries.customers.has(&0)
    }

    /// The ids of the orders and refunds of these customers.
    pub(crate) fn orders_of(&self, customers: &BTreeSet<i64>) -> BTreeSet<i64> {
        let names = self.dictionaries.shared();
        let codes = (0_i64..).zip(names.customers.iter());
        let theirs: HashSet<i64> =
            codes.filter(|(_, id)| customers.contains(id)).map(|(code, _)| code).collect();
        let mut found = BTreeSet::new();
        for chunk in self.chunks.iter().filter(|_| !theirs.is_empty()) {
            let column =
                |index: usize| chunk.orders.get(index).map(Column::to_vec).unwrap_or_default();
            let rows = column(order::ID).into_iter().zip(column(order::CUSTOMER));
            found.extend(rows.filter(|(_, of)| theirs.contains(of)).map(|(id, _)| id));
        }
        found
    }

    /// The greatest id of a download; 0 when there is none.
    pub(crate) fn last_download(&self) -> i64 {
        self.downloads.iter().map(|download| download.log_id).max().unwrap_or_default()
    }

    pub(crate) fn downloads(&self) -> Vec<Arc<DownloadFact>> {
        self.downloads.to_vec()
    }

    /// The ids of the rows after the one and up to the other.
    pub(crate) fn ids_between(&self, after: i64, through: i64) -> BTreeSet<i64> {
        super::chunk::ids_between(&self.chunks, after, through)
    }

    pub(crate) fn excluded(&self) -> Vec<String> {
        self.excluded.iter().cloned().collect()
    }

    pub(crate) fn chunks(&self) -> &[Arc<Chunk>] {
        &self.chunks
    }

    /// Says which statuses do not make somebody a customer who returns.
    pub fn set_excluded(&mut self, excluded: impl IntoIterator<Item = String>) {
        let excluded = excluded.into_iter().collect();
        if self.excluded != excluded {
            self.excluded = excluded;
            self.firsts = Arc::default();
            self.versions.firsts += 1;
            self.find_firsts(None);
            self.forget_returning(0);
        }
    }

    /// Takes out all rows of these orders and of their refunds, and puts these rows in. A row whose
    /// id is there already must be among those that are taken out.
    pub fn apply(&mut self, deleted: &BTreeSet<i64>, facts: &[OrderFact]) {
        self.exchange(deleted, true, facts);
    }

    /// Takes out the rows with these ids and no others, and puts these rows in.
    pub fn replace(&mut self, deleted: &BTreeSet<i64>, facts: &[OrderFact]) {
        self.exchange(deleted, false, facts);
    }

    fn exchange(&mut self, deleted: &BTreeSet<i64>, with_refunds: bool, facts: &[OrderFact]) {
        let mut come: Vec<Row> = facts.iter().map(|fact| self.row(fact)).collect();
        come.sort_by_key(Row::place);
        let new: Vec<(usize, First)> = come.iter().filter_map(|row| self.candidate(row)).collect();
        let settled = self.chunks.iter().take(self.settled).next_back().map(|chunk| end(chunk));
        let mut lost = self.rewrite(deleted, with_refunds, come);
        // Most changes leave an order where it was; then nobody else's can be the first.
        for (customer, place) in &new {
            if self.first(*customer) == *place {
                lost.remove(customer);
            }
        }
        let touched: HashSet<usize> =
            new.iter().map(|(customer, _)| *customer).chain(lost.iter().copied()).collect();
        let before: Vec<(usize, First)> =
            touched.into_iter().map(|customer| (customer, self.first(customer))).collect();
        self.find_firsts(Some(&lost));
        for (customer, place) in new {
            self.note_first(customer, place);
        }
        let changes = before.into_iter().map(|(customer, first)| (first, self.first(customer)));
        let changes = changes.filter(|(before, after)| before != after);
        // Rows before both are before the first order as they were. Those are all settled ones if
        // somebody new buys, or the last orders change.
        if let Some(earliest) = changes.map(|(before, after)| before.min(after)).min() {
            if Some(earliest) <= settled {
                self.versions.firsts += 1;
            }
            self.forget_returning(self.chunk_for(earliest));
        }
    }

    /// Lets whether customers had bought before be found out again, from this chunk on.
    fn forget_returning(&mut self, number: usize) {
        self.returning.truncate(number);
        self.returning.resize_with(self.chunks.len(), Arc::default);
    }

    fn first(&self, customer: usize) -> First {
        self.firsts.get(customer).copied().unwrap_or(NO_FIRST)
    }

    /// Replaces chunks. Returns the customers whose first order is no longer what it was.
    fn rewrite(
        &mut self,
        deleted: &BTreeSet<i64>,
        with_refunds: bool,
        come: Vec<Row>,
    ) -> HashSet<usize> {
        let mut incoming: BTreeMap<usize, Vec<Row>> = BTreeMap::new();
        for row in come {
            incoming.entry(self.chunk_with(row.place())).or_default().push(row);
        }
        let mut lost = HashSet::new();
        let mut layout = Layout::new(self.chunk_rows);
        for (index, (chunk, returning)) in self.chunks.iter().zip(&self.returning).enumerate() {
            let leavers = leavers(chunk, deleted, with_refunds);
            let joining = incoming.remove(&index);
            let piece = if leavers.is_empty() && joining.is_none() {
                Piece::Chunk(Arc::clone(chunk), Arc::clone(returning))
            } else {
                let mut rows = chunk.rows();
                rows.retain(|row| {
                    let leaves = leavers.contains(&row.id());
                    if leaves {
                        lost.extend(self.customer_of_first(row));
                    }
                    !leaves
                });
                rows.extend(joining.unwrap_or_default());
                rows.sort_by_key(Row::place);
                Piece::Rows(rows)
            };
            if index < self.settled {
                layout.put_settled(piece);
            } else {
                layout.put_in_tail(piece);
            }
        }
        let new = incoming.into_values().flatten().collect();
        let LaidOut { chunks, returning, settled } = layout.finish(new);
        (self.chunks, self.returning, self.settled) = (chunks, returning, settled);
        lost
    }

    /// The chunk that a row at this place belongs to; behind all others, it belongs to none.
    fn chunk_with(&self, place: First) -> usize {
        let is_behind_all = self.chunks.last().is_none_or(|chunk| end(chunk) < place);
        if is_behind_all { self.chunks.len() } else { self.chunk_for(place) }
    }

    /// The last chunk that begins before the place.
    fn chunk_for(&self, place: First) -> usize {
        let begins = |chunk: &Arc<Chunk>| start(chunk) <= place;
        self.chunks.partition_point(begins).saturating_sub(1)
    }

    /// The customer and place of an order that makes its customer one.
    fn candidate(&self, row: &Row) -> Option<(usize, First)> {
        let customer = usize::try_from(row.order[order::CUSTOMER]).ok().filter(|code| *code > 0)?;
        let status = row.order.get(order::text(OrderText::Status))?;
        let status = usize::try_from(*status).ok()?;
        let statuses = self.dictionaries.texts(OrderText::Status);
        let counts = !self.excluded.contains(statuses.get(status)?.as_ref());
        (row.order[order::PARENT] == NOTHING && counts).then(|| (customer, row.place()))
    }

    /// The customer whose first order this is.
    fn customer_of_first(&self, row: &Row) -> Option<usize> {
        let (customer, place) = self.candidate(row)?;
        (self.first(customer) == place).then_some(customer)
    }

    fn note_first(&mut self, customer: usize, place: First) {
        let firsts = Arc::make_mut(&mut self.firsts);
        if firsts.len() <= customer {
            firsts.resize(customer + 1, NO_FIRST);
        }
        if let Some(first) = firsts.get_mut(customer) {
            *first = place.min(*first);
        }
    }

    /// Finds the first orders of these customers again, or of all.
    fn find_firsts(&mut self, customers: Option<&HashSet<usize>>) {
        if customers.is_some_and(HashSet::is_empty) {
            return;
        }
        for customer in customers.into_iter().flatten() {
            if let Some(first) = Arc::make_mut(&mut self.firsts).get_mut(*customer) {
                *first = NO_FIRST;
            }
        }
        let statuses = self.dictionaries.texts(OrderText::Status);
        let counts: Vec<bool> =
            statuses.iter().map(|status| !self.excluded.contains(status.as_ref())).collect();
        let mut found = Vec::new();
        for chunk in &self.chunks {
            let column = |index: usize| chunk.orders.get(index).map(Column::to_vec);
            let of_customer = column(order::CUSTOMER).unwrap_or_default();
            let of_status = column(order::text(OrderText::Status)).unwrap_or_default();
            let parents = column(order::PARENT).unwrap_or_default();
            let rows = of_customer.iter().zip(&of_status).zip(&parents).enumerate();
            for (row, ((customer, status), parent)) in rows {
                let customer = usize::try_from(*customer).unwrap_or_default();
                let status = usize::try_from(*status).unwrap_or_default();
                if customer == 0
                    || *parent != NOTHING
                    || customers.is_some_and(|wanted| !wanted.contains(&customer))
                    || !counts.get(status).copied().unwrap_or_default()
                {
                    continue;
                }
                found.push((customer, place(chunk, row)));
            }
        }
        for (customer, place) in found {
            self.note_first(customer, place);
        }
    }

    /// Everything but the chunks.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.number(self.position);
        encoder.length(self.excluded.len());
        self.excluded.iter().for_each(|status| encoder.text(status));
        let (times, ids): (Vec<i64>, Vec<i64>) = self.firsts.iter().copied().unzip();
        encoder.numbers(&times);
        encoder.numbers(&ids);
        encoder.length(self.downloads.len());
        self.downloads.iter().for_each(|download| download.encode(encoder));
        self.dictionaries.shared().encode(encoder);
    }

    /// From a file. None when it makes no sense.
    pub(super) fn decode(decoder: &mut Decoder<'_>, chunks: Vec<Arc<Chunk>>) -> Option<Self> {
        let position = decoder.number()?;
        let count = decoder.length()?;
        let excluded = (0..count).map(|_| decoder.text()).collect::<Option<_>>()?;
        let (times, ids) = (decoder.numbers()?, decoder.numbers()?);
        let count = decoder.length()?;
        let downloads = (0..count).map(|_| DownloadFact::decode(decoder).map(Arc::new));
        let downloads = Arc::new(downloads.collect::<Option<Vec<_>>>()?);
        let dictionaries = Dictionaries::of_names(&Names::decode(decoder)?)?;
        let firsts = Arc::new(times.into_iter().zip(ids).collect());
        let mut read =
            Self { dictionaries, chunks, firsts, downloads, excluded, position, ..Self::default() };
        let lengths: Vec<usize> = read.chunks.iter().map(|chunk| chunk.len()).collect();
        read.settled = layout::settled(&lengths, read.chunk_rows);
        read.forget_returning(0);
        Some(read)
    }

    fn row(&mut self, fact: &OrderFact) -> Row {
        let names = &mut self.dictionaries;
        let created = fact.created.as_micros();
        let after = |time: Option<types::Timestamp>| {
            time.map_or(NOTHING, |time| time.as_micros().wrapping_sub(created))
        };
        let mut row = [0; order::COUNT];
        row[order::ID] = fact.order_id;
        row[order::PARENT] =
            if fact.is_refund() { fact.order_id.wrapping_sub(fact.parent_id) } else { NOTHING };
        row[order::CREATED] = created;
        row[order::PAID] = after(fact.paid);
        row[order::COMPLETED] = after(fact.completed);
        row[order::CUSTOMER] = names.customers.code(&fact.customer_id).into();
        for field in OrderText::ALL {
            put(&mut row, order::text(*field), names.text_code(*field, field.of(fact)).into());
        }
        for field in OrderNumber::ALL {
            put(&mut row, order::number(*field), field.of(fact));
        }
        let coupons = fact.coupons.iter().map(|coupon| {
            let code = names.coupons.code(&coupon.coupon_id);
            [0, code.into(), coupon.discount.as_millionths()]
        });
        let coupons = coupons.collect();
        let taxes = fact.taxes.iter().map(|tax| {
            let percent = tax.percent.as_millionths();
            let rate = RateCode { rate_id: tax.rate_id, code: Arc::clone(&tax.code), percent };
            let code = names.rate_code(&rate);
            [0, code.into(), tax.of_goods.as_millionths(), tax.of_shipping.as_millionths()]
        });
        let taxes = taxes.collect();
        let lines = fact.lines.iter().map(|line| line_row(names, line)).collect();
        Row { order: row, lines, coupons, taxes }
    }
}

fn line_row(names: &mut Dictionaries, fact: &LineFact) -> [i64; line::COUNT] {
    let mut row = [0; line::COUNT];
    row[line::GOODS] = names.goods_code((fact.product_id, fact.variation_id)).into();
    row[line::ATTRIBUTES] = names.attributes.code(&fact.attributes).into();
    for field in LineNumber::ALL {
        put(&mut row, line::number(*field), field.of(fact));
    }
    row
}

fn put(row: &mut [i64], column: usize, value: i64) {
    if let Some(own) = row.get_mut(column) {
        *own = value;
    }
}

/// The ids of the chunk's rows that are among these, or are refunds of one of them.
fn leavers(chunk: &Chunk, deleted: &BTreeSet<i64>, with_refunds: bool) -> HashSet<i64> {
    let touches = |bounds: Bounds| {
        bounds.is_some_and(|(least, greatest)| deleted.range(least..=greatest).next().is_some())
    };
    let has_some = touches(chunk.ids) || (with_refunds && touches(chunk.parents));
    if !has_some {
        return HashSet::new();
    }
    let ids = chunk.orders[order::ID].to_vec();
    let distances = chunk.orders[order::PARENT].to_vec();
    let rows = ids.into_iter().zip(distances);
    let leaves = |(id, distance): &(i64, i64)| {
        let is_refund = with_refunds && *distance != NOTHING;
        deleted.contains(id) || (is_refund && deleted.contains(&id.wrapping_sub(*distance)))
    };
    rows.filter(leaves).map(|(id, _)| id).collect()
}

/// The place of the first row.
fn start(chunk: &Chunk) -> First {
    place(chunk, 0)
}

/// The place of the last row.
fn end(chunk: &Chunk) -> First {
    place(chunk, chunk.len().saturating_sub(1))
}

fn place(chunk: &Chunk, row: usize) -> First {
    (chunk.orders[order::CREATED].get(row), chunk.orders[order::ID].get(row))
}

#[cfg(test)]
mod tests;
