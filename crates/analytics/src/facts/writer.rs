//! The one who makes snapshots: takes rows out, puts rows in, and hands out the next snapshot.
//!
//! Rows lie in chunks by the time of their creation, so a change rewrites the chunks of the rows
//! that go and come, and no other. Where a row lies is found by the bounds of each chunk's ids: an
//! index of all orders would cost more memory than the columns that reports read.

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
use super::returning::{First, NO_FIRST, Returning};
use super::snapshot::{Snapshot, Versions};

#[derive(Debug)]
pub struct Writer {
    dictionaries: Dictionaries,
    chunks: Vec<Arc<Chunk>>,
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
        let settled = self.chunks.last().map_or(NO_FIRST, |chunk| start(chunk));
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
        let changes = before.iter().map(|(customer, before)| (*before, self.first(*customer)));
        let changes: Vec<(First, First)> =
            changes.filter(|(before, after)| before != after).collect();
        // A first order in the last chunk, of somebody who had none, changes no earlier row.
        let is_seen = |(before, after): &(First, First)| *before != NO_FIRST || *after < settled;
        if changes.iter().any(is_seen) {
            self.versions.firsts += 1;
        }
        // Rows before both are before the first order as they were.
        let earliest = changes.iter().map(|(before, after)| *before.min(after)).min();
        if let Some(earliest) = earliest {
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
            incoming.entry(self.chunk_for(row.place())).or_default().push(row);
        }
        let mut lost = HashSet::new();
        let mut chunks = Vec::with_capacity(self.chunks.len() + 1);
        let mut returning = Vec::with_capacity(self.chunks.len() + 1);
        for (index, chunk) in self.chunks.iter().enumerate() {
            let leavers = leavers(chunk, deleted, with_refunds);
            let joining = incoming.remove(&index);
            if leavers.is_empty() && joining.is_none() {
                returning.resize_with(chunks.len(), Arc::default);
                returning.extend(self.returning.get(index).cloned());
                chunks.push(Arc::clone(chunk));
                continue;
            }
            let mut rows = chunk.rows();
            rows.retain(|row| {
                let leaves = leavers.contains(&row.id());
                if leaves
                    && let Some((customer, place)) = self.candidate(row)
                    && self.first(customer) == place
                {
                    lost.insert(customer);
                }
                !leaves
            });
            rows.extend(joining.unwrap_or_default());
            push_chunks(&mut chunks, rows, self.chunk_rows);
        }
        let rest = incoming.into_values().flatten().collect();
        push_chunks(&mut chunks, rest, self.chunk_rows);
        returning.resize_with(chunks.len(), Arc::default);
        (self.chunks, self.returning) = (chunks, returning);
        lost
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
                let place =
                    (chunk.orders[order::CREATED].get(row), chunk.orders[order::ID].get(row));
                found.push((customer, place));
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
    (chunk.orders[order::CREATED].get(0), chunk.orders[order::ID].get(0))
}

/// Makes chunks of rows. Full ones first: at the end, where most rows arrive, a full chunk is left
/// alone from then on.
fn push_chunks(chunks: &mut Vec<Arc<Chunk>>, mut rows: Vec<Row>, chunk_rows: usize) {
    rows.sort_by_key(Row::place);
    for rows in rows.chunks(chunk_rows) {
        chunks.push(Arc::new(Chunk::of_rows(rows)));
    }
}
