//! Customers by what they are called and where they live, resident in memory: lists that are
//! sorted or searched by a text read a page of customers, and not all of them.
//!
//! A [`Directory`] has a [`Texts`] for each column that somebody asked for. It is filled once, and
//! brought up to date by reading who is new and who was changed since, **within the transaction of
//! the question**: what it says is what the transaction sees. An answer can only be newer than
//! that, by what another question has seen meanwhile.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use db::Conn;
use db::filter::PAGE_MAX;
use memchr::memmem::Finder;
use shop_rows::customer_lookup::{self, CustomerLookupRow, LookupState};
use types::Result;

/// Bytes that all columns may take together; the one that was not asked for longest goes first.
const BYTES_MAX: usize = 192 * 1024 * 1024;
/// Texts are this far apart. No text has the byte, so that nothing is found across two of them.
const APART: u8 = 0xff;
/// More changed customers than this are read with all the others.
const CHANGED_MAX: i64 = 5_000;

/// What customers are sorted by, or searched in: bytes in their order.
type TextOf<'a> = &'a dyn Fn(&CustomerLookupRow) -> Vec<u8>;

/// The columns that were asked for.
#[derive(Debug, Default)]
pub struct Directory(Mutex<Columns>);

#[derive(Debug, Default)]
struct Columns {
    by_name: HashMap<String, (u64, Texts)>,
    /// Counts questions.
    time: u64,
}

/// A page of customers, and how many there are in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub ids: Vec<i64>,
    pub total: usize,
}

/// What is asked of a directory.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The column to sort by. Who ties comes in the order of the numbers.
    pub by: &'a str,
    pub descending: bool,
    /// The column to search in, and what for.
    pub search: Option<(&'a str, &'a str)>,
    pub offset: usize,
    pub limit: usize,
}

impl Directory {
    /// The customers that a question asks for; nothing where the engine cannot tell what changed.
    /// `text` gives a column's bytes.
    pub fn ask(
        &self,
        conn: &mut dyn Conn,
        question: &Question<'_>,
        text: &dyn Fn(&str, &CustomerLookupRow) -> Vec<u8>,
    ) -> Result<Option<Found>> {
        let Some(state) = customer_lookup::state(conn)? else { return Ok(None) };
        let mut columns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hits = match question.search {
            None => None,
            Some((column, searched)) => {
                let texts = columns.updated(conn, column, state, &|row| text(column, row))?;
                Some(texts.containing(searched))
            }
        };
        let by = question.by;
        let texts = columns.updated(conn, by, state, &|row| text(by, row))?;
        let found = texts.page(question, hits.as_ref(), state.last_id);
        columns.shrink(BYTES_MAX);
        Ok(Some(found))
    }

    /// Bytes that are held, and that may be.
    pub fn bytes(&self) -> (usize, usize) {
        let columns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (columns.bytes(), BYTES_MAX)
    }
}

impl Columns {
    /// A column as the transaction sees it. One that cannot be read to the end is forgotten.
    fn updated(
        &mut self,
        conn: &mut dyn Conn,
        name: &str,
        state: LookupState,
        text: TextOf<'_>,
    ) -> Result<&mut Texts> {
        self.time += 1;
        let mut texts = self.by_name.remove(name).map(|(_, texts)| texts).unwrap_or_default();
        texts.update(conn, state, text)?;
        let entry = self.by_name.entry(name.to_owned()).or_default();
        *entry = (self.time, texts);
        Ok(&mut entry.1)
    }

    fn bytes(&self) -> usize {
        self.by_name.values().map(|(_, texts)| texts.bytes()).sum()
    }

    fn shrink(&mut self, bytes_max: usize) {
        while self.bytes() > bytes_max {
            let oldest = self.by_name.iter().min_by_key(|(_, (time, _))| *time);
            let Some(name) = oldest.map(|(name, _)| name.clone()) else { return };
            self.by_name.remove(&name);
        }
    }
}

/// One text of every customer, and their order.
#[derive(Debug, Default)]
struct Texts {
    state: LookupState,
    /// The numbers of the customers, ascending. The place of one in here is its slot.
    ids: Vec<i64>,
    /// All texts behind one another, each with [`APART`] at its end. One that was replaced stays
    /// until all are read anew.
    bytes: Vec<u8>,
    /// Where each text begins and whose it is or was, in the order of the bytes.
    entries: Vec<(u32, u32)>,
    /// By slot: which entry is the current one.
    current: Vec<u32>,
    /// The slots, by their texts and then by their numbers.
    sorted: Vec<u32>,
}

impl Texts {
    fn update(&mut self, conn: &mut dyn Conn, state: LookupState, text: TextOf<'_>) -> Result<()> {
        let is_usable = self.state.deletions == state.deletions
            && state.changes - self.state.changes <= CHANGED_MAX
            && self.entries.len() <= self.ids.len() * 2 + 1_024;
        if !is_usable {
            *self = Self::default();
        }
        if self.state.changes < state.changes && !self.ids.is_empty() {
            let rows = customer_lookup::changed_after(conn, self.state.changes, CHANGED_MAX)?;
            if !self.replace(&rows, text) {
                *self = Self::default();
            }
        }
        self.append(conn, text)?;
        self.state = LookupState {
            last_id: self.ids.last().copied().unwrap_or_default(),
            changes: self.state.changes.max(state.changes),
            deletions: state.deletions,
        };
        Ok(())
    }

    /// Reads those who are new.
    fn append(&mut self, conn: &mut dyn Conn, text: TextOf<'_>) -> Result<()> {
        let known = self.ids.len();
        loop {
            let last = self.ids.last().map_or(i64::MIN, |id| *id);
            let rows = customer_lookup::after(conn, last, PAGE_MAX)?;
            if rows.is_empty() {
                break;
            }
            for row in &rows {
                let slot = number(self.ids.len());
                self.ids.push(row.customer_id);
                let entry = self.push(slot, &text(row));
                self.current.push(entry);
            }
        }
        let new: Vec<u32> = (known..self.ids.len()).map(number).collect();
        if new.len() > known / 64 + 16 {
            self.sorted.extend(new);
            let mut sorted = std::mem::take(&mut self.sorted);
            sorted.sort_unstable_by(|one, other| self.place(*one).cmp(&self.place(*other)));
            self.sorted = sorted;
        } else {
            for slot in new {
                self.insert(slot);
            }
        }
        Ok(())
    }

    /// Takes over other texts of customers; `false` if one of them was unknown, though others with
    /// greater numbers are not.
    fn replace(&mut self, rows: &[CustomerLookupRow], text: TextOf<'_>) -> bool {
        for row in rows {
            let slot = match self.ids.binary_search(&row.customer_id) {
                Ok(slot) => number(slot),
                Err(slot) if slot == self.ids.len() => continue,
                Err(_) => return false,
            };
            let text = text(row);
            if self.text(slot) == text {
                continue;
            }
            self.sorted.retain(|one| *one != slot);
            let entry = self.push(slot, &text);
            if let Some(current) = self.current.get_mut(index(slot)) {
                *current = entry;
            }
            self.insert(slot);
        }
        true
    }

    fn insert(&mut self, slot: u32) {
        let place = self.place(slot);
        let at = self.sorted.partition_point(|one| self.place(*one) < place);
        self.sorted.insert(at, slot);
    }

    /// Adds a text, and returns its entry.
    fn push(&mut self, slot: u32, text: &[u8]) -> u32 {
        let entry = number(self.entries.len());
        self.entries.push((number(self.bytes.len()), slot));
        debug_assert!(!text.contains(&APART), "nothing is found across two texts");
        self.bytes.extend_from_slice(text);
        self.bytes.push(APART);
        entry
    }

    fn place(&self, slot: u32) -> (&[u8], u32) {
        (self.text(slot), slot)
    }

    fn text(&self, slot: u32) -> &[u8] {
        let entry = self.current.get(index(slot)).map_or(0, |entry| index(*entry));
        let start = self.entries.get(entry).map_or(0, |(start, _)| index(*start));
        let end = self.entries.get(entry + 1).map_or(self.bytes.len(), |(start, _)| index(*start));
        self.bytes.get(start..end.saturating_sub(1)).unwrap_or_default()
    }

    /// By slot, whether the text contains another.
    fn containing(&self, searched: &str) -> Vec<bool> {
        let mut hits = vec![false; self.ids.len()];
        let finder = Finder::new(searched.as_bytes());
        let mut from = 0;
        while from < self.bytes.len() {
            let rest = self.bytes.get(from..).unwrap_or_default();
            let Some(at) = finder.find(rest) else { break };
            let at = number(from + at);
            let entry = self.entries.partition_point(|(start, _)| *start <= at).saturating_sub(1);
            let slot = self.entries.get(entry).map_or(0, |(_, slot)| *slot);
            let is_current =
                self.current.get(index(slot)).is_some_and(|current| index(*current) == entry);
            if let Some(hit) = hits.get_mut(index(slot)).filter(|_| is_current) {
                *hit = true;
            }
            // The next text; what else this one contains does not matter.
            from = self.entries.get(entry + 1).map_or(self.bytes.len(), |(start, _)| index(*start));
        }
        hits
    }

    /// The page of those who were hit, of all up to a number.
    fn page(&self, question: &Question<'_>, hits: Option<&Vec<bool>>, last_id: i64) -> Found {
        let known = self.ids.partition_point(|id| *id <= last_id);
        let is_hit = |slot: u32| {
            index(slot) < known && hits.is_none_or(|hits| hits.get(index(slot)) == Some(&true))
        };
        let total = match hits {
            None => known,
            Some(hits) => hits.iter().take(known).filter(|hit| **hit).count(),
        };
        let id = |slot: u32| self.ids.get(index(slot)).copied().unwrap_or_default();
        let (skip, limit) = (question.offset, question.limit);
        let slots = if question.descending {
            self.descending(&is_hit, skip.saturating_add(limit))
        } else {
            let hits = self.sorted.iter().copied().filter(|slot| is_hit(*slot));
            hits.take(skip.saturating_add(limit)).collect()
        };
        let ids = slots.into_iter().skip(skip).take(limit).map(id).collect();
        Found { ids, total }
    }

    /// The hits from the last text on, at least so many of them; who has the same text comes in the
    /// order of the numbers.
    fn descending(&self, is_hit: &dyn Fn(u32) -> bool, count: usize) -> Vec<u32> {
        let mut slots: Vec<u32> = Vec::new();
        for slot in self.sorted.iter().rev().copied().filter(|slot| is_hit(*slot)) {
            let is_other = slots.last().is_none_or(|last| self.text(*last) != self.text(slot));
            if slots.len() >= count && is_other {
                break;
            }
            slots.push(slot);
        }
        for same in slots.chunk_by_mut(|one, other| self.text(*one) == self.text(*other)) {
            same.reverse();
        }
        slots
    }

    fn bytes(&self) -> usize {
        self.bytes.capacity()
            + self.ids.capacity() * size_of::<i64>()
            + self.entries.capacity() * size_of::<(u32, u32)>()
            + (self.current.capacity() + self.sorted.capacity()) * size_of::<u32>()
    }
}

/// More customers, or more bytes of their texts, than 32 bits can count would not fit into memory.
fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn index(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
