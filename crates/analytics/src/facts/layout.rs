//! Into which chunks rows go.
//!
//! Chunks are settled, but for the *tail*: up to [`TAIL_CHUNKS_MAX`] small chunks at the end, which
//! together have fewer rows than a full one. New orders are a chunk of their own there, so that
//! nobody makes thousands of rows anew for one that comes; now and then some of the last become
//! one, and what fills a chunk is settled.
//!
//! **A settled chunk stays settled until its rows are made anew**: what a question came to in it is
//! kept for as long, and depends on no first order that came behind it. **No chunk is empty**, and
//! few are small: what is left of a settled chunk goes on into the next one, and one with too many
//! rows is cut into equal parts, so that each has room for more.

use std::mem;
use std::sync::Arc;

use super::chunk::{Chunk, Row};
use super::returning::Returning;

/// Chunks of the tail. A question reads each of them; with fewer, rows are made anew more often.
pub(super) const TAIL_CHUNKS_MAX: usize = 8;
/// What is left of a settled chunk stays by itself if it is at least this part of a full one.
const PART_MIN: usize = 4;

/// Rows on their way into chunks, by their places.
#[derive(Debug)]
pub(super) enum Piece {
    /// A chunk that stays as it is, and what is known of its customers.
    Chunk(Arc<Chunk>, Arc<Returning>),
    Rows(Vec<Row>),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Chunk(chunk, _) => chunk.len(),
            Self::Rows(rows) => rows.len(),
        }
    }

    fn into_rows(self) -> Vec<Row> {
        match self {
            Self::Chunk(chunk, _) => chunk.rows(),
            Self::Rows(rows) => rows,
        }
    }
}

/// All chunks in the making: first those that were settled, then the tail, then what is new.
#[derive(Debug)]
pub(super) struct Layout {
    /// Rows of a full chunk.
    full: usize,
    chunks: Vec<Arc<Chunk>>,
    /// By the number of the chunk.
    returning: Vec<Arc<Returning>>,
    /// Of settled chunks, until it is known what comes behind them.
    changed: Vec<Row>,
    tail: Vec<Piece>,
}

/// All chunks, made.
#[derive(Debug)]
pub(super) struct LaidOut {
    pub(super) chunks: Vec<Arc<Chunk>>,
    pub(super) returning: Vec<Arc<Returning>>,
    /// How many of the first are settled.
    pub(super) settled: usize,
}

impl Layout {
    /// Of chunks that have so many rows when they are full.
    pub(super) fn new(full: usize) -> Self {
        let (chunks, returning) = (Vec::new(), Vec::new());
        Self { full, chunks, returning, changed: Vec::new(), tail: Vec::new() }
    }

    /// Puts in what is next of the settled chunks.
    pub(super) fn put_settled(&mut self, piece: Piece) {
        if self.changed.len() >= self.full.div_ceil(PART_MIN) {
            let changed = mem::take(&mut self.changed);
            self.push_evenly(&changed);
        }
        match piece {
            Piece::Chunk(chunk, returning) if self.changed.is_empty() => {
                self.push(chunk, returning);
            }
            piece => self.changed.extend(piece.into_rows()),
        }
    }

    /// Puts in what is next of the tail. It takes over from the last settled chunk, too, if that
    /// has changed: rows that are not enough, or too many, for a full one.
    pub(super) fn put_in_tail(&mut self, piece: Piece) {
        let changed = mem::take(&mut self.changed);
        let rest = self.push_full(changed);
        let pieces = [Piece::Rows(rest), piece];
        self.tail.extend(pieces.into_iter().filter(|piece| piece.len() > 0));
    }

    /// Puts in what comes behind all others, and makes the chunks.
    pub(super) fn finish(mut self, new: Vec<Row>) -> LaidOut {
        self.put_in_tail(Piece::Rows(new));
        let mut tail = mem::take(&mut self.tail);
        let lengths: Vec<usize> = tail.iter().map(Piece::len).collect();
        let merged = tail.split_off(unmerged(&lengths, self.full));
        // There are rows of full chunks only if the whole tail is merged.
        let rest = self.push_full(merged.into_iter().flat_map(Piece::into_rows).collect());
        let settled = self.chunks.len();
        for piece in tail {
            match piece {
                Piece::Chunk(chunk, returning) => self.push(chunk, returning),
                Piece::Rows(rows) => self.push_rows(&rows),
            }
        }
        self.push_rows(&rest);
        LaidOut { chunks: self.chunks, returning: self.returning, settled }
    }

    /// Makes full chunks, and gives back the rows that are not enough for one.
    fn push_full(&mut self, mut rows: Vec<Row>) -> Vec<Row> {
        let rest = rows.split_off(rows.len() - rows.len() % self.full);
        self.push_rows(&rows);
        rest
    }

    /// Makes as few chunks as possible, of the same size.
    fn push_evenly(&mut self, mut rows: &[Row]) {
        for parts in (1..=rows.len().div_ceil(self.full)).rev() {
            let (next, others) = rows.split_at(rows.len().div_ceil(parts));
            self.push_rows(next);
            rows = others;
        }
    }

    /// Makes full chunks, and one of what is over.
    fn push_rows(&mut self, rows: &[Row]) {
        for rows in rows.chunks(self.full) {
            self.push(Arc::new(Chunk::of_rows(rows)), Arc::default());
        }
    }

    fn push(&mut self, chunk: Arc<Chunk>, returning: Arc<Returning>) {
        self.chunks.push(chunk);
        self.returning.push(returning);
    }
}

/// How many of these chunks are settled, if nothing is known but how many rows each has.
pub(super) fn settled(lengths: &[usize], full: usize) -> usize {
    let mut rows = 0;
    let is_of_tail = |length: &&usize| {
        rows += **length;
        rows < full
    };
    let tail = lengths.iter().rev().take(TAIL_CHUNKS_MAX).take_while(is_of_tail).count();
    lengths.len() - tail
}

/// How many chunks of a tail, which have so many rows, stay as they are. All others become one, or
/// full ones.
fn unmerged(lengths: &[usize], full: usize) -> usize {
    if lengths.iter().sum::<usize>() >= full {
        return 0;
    }
    if lengths.len() <= TAIL_CHUNKS_MAX {
        return lengths.len();
    }
    // A place that is free takes one new chunk. Several take far more than one each, because the
    // small chunks in them can be merged among themselves at little cost. Their third power comes
    // close to what is possible: see the test of how often rows are made anew.
    let cost = |first: &usize| {
        let rows: usize = lengths.iter().skip(*first).sum();
        let free = lengths.len() - first - 1;
        rows * 1_000 / free.pow(3)
    };
    (0..TAIL_CHUNKS_MAX).min_by_key(cost).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::chunk::CHUNK_ROWS;
    use super::*;

    #[test]
    fn the_tail_is_what_is_at_the_end_and_less_than_a_full_chunk() {
        for (lengths, expected) in [
            (&[][..], 0),
            (&[3], 0),
            (&[10], 1),
            (&[10, 10], 2),
            (&[10, 10, 3, 1], 2),
            (&[4, 5, 4, 1], 2),
            (&[1; 9], 1),
        ] {
            assert_eq!(settled(lengths, 10), expected, "{lengths:?}");
        }
    }

    #[test]
    fn chunks_are_merged_when_they_fill_one_or_are_too_many() {
        for (lengths, expected) in [
            (&[][..], 0),
            (&[5, 3, 1], 3),
            (&[50, 40, 9], 3),
            (&[50, 40, 10], 0),
            (&[250], 0),
            // Those of about the same size.
            (&[1; 9], 0),
            (&[60, 1, 1, 1, 1, 1, 1, 1, 1], 1),
            (&[40, 20, 10, 5, 4, 3, 2, 1, 1], 2),
            (&[40, 20, 10, 5, 4, 3, 2, 2, 1, 1], 2),
        ] {
            assert_eq!(unmerged(lengths, 100), expected, "{lengths:?}");
        }
    }

    /// How many rows are made anew while 100,000 come, so many in each turn.
    fn made_anew(turn: usize) -> usize {
        let (mut tail, mut made) = (Vec::new(), 0);
        for _ in 0..100_000_usize.div_ceil(turn) {
            tail.push(turn);
            let merged: usize = tail.split_off(unmerged(&tail, CHUNK_ROWS)).iter().sum();
            // The new rows are made in any case.
            made += merged.max(turn) - turn;
            tail.extend(Some(merged % CHUNK_ROWS).filter(|rest| *rest > 0));
            assert!(tail.len() <= TAIL_CHUNKS_MAX);
            assert!(tail.iter().sum::<usize>() < CHUNK_ROWS);
        }
        made
    }

    #[test]
    fn rows_are_made_anew_a_few_times_only() {
        for (turn, most) in
            [(1, 800_000), (7, 500_000), (30, 350_000), (100, 250_000), (1_000, 150_000)]
        {
            let made = made_anew(turn);
            assert!(made < most, "{made} rows were made anew in turns of {turn}");
        }
        assert_eq!(made_anew(100_000), 0, "an import makes each row once");
    }
}
