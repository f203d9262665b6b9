//! Numbers, texts and columns as bytes, for the file of the facts. **Reading gives nothing for
//! bytes that make no sense**; it never panics and never asks for more memory than there are bytes.

use super::column::{Column, Steps};

#[derive(Debug, Default)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn number(&mut self, number: i64) {
        self.raw(&number.to_le_bytes());
    }

    pub(crate) fn length(&mut self, length: usize) {
        self.number(i64::try_from(length).unwrap_or(i64::MAX));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.length(text.len());
        self.raw(text.as_bytes());
    }

    pub(crate) fn numbers(&mut self, numbers: &[i64]) {
        self.column(&Column::new(numbers));
    }

    pub(crate) fn column(&mut self, column: &Column) {
        let (base, scale, steps) = column.parts();
        self.number(base);
        self.number(scale);
        let (width, rows) = match steps {
            Steps::Same(rows) => (0, *rows),
            Steps::I8(steps) => (1, steps.len()),
            Steps::I16(steps) => (2, steps.len()),
            Steps::I32(steps) => (4, steps.len()),
            Steps::I64(steps) => (8, steps.len()),
        };
        self.raw(&[width]);
        self.length(rows);
        match steps {
            Steps::Same(_) => {}
            Steps::I8(steps) => self.bytes.extend(steps.iter().flat_map(|step| step.to_le_bytes())),
            Steps::I16(steps) => {
                self.bytes.extend(steps.iter().flat_map(|step| step.to_le_bytes()));
            }
            Steps::I32(steps) => {
                self.bytes.extend(steps.iter().flat_map(|step| step.to_le_bytes()));
            }
            Steps::I64(steps) => {
                self.bytes.extend(steps.iter().flat_map(|step| step.to_le_bytes()));
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    bytes: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn raw(&mut self, length: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(first)
    }

    pub(crate) fn number(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.raw(8)?.try_into().ok()?))
    }

    pub(crate) fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        let length = self.length()?;
        String::from_utf8(self.raw(length)?.to_vec()).ok()
    }

    pub(crate) fn numbers(&mut self) -> Option<Vec<i64>> {
        // All equal numbers take no bytes, so their count must be believed within a bound.
        self.column().filter(|column| column.len() <= NUMBERS_MAX).map(|column| column.to_vec())
    }

    pub(crate) fn column(&mut self) -> Option<Column> {
        let (base, scale) = (self.number()?, self.number()?);
        let width = *self.raw(1)?.first()?;
        let rows = self.length()?;
        macro_rules! steps {
            ($kind:ident, $type:ty) => {{
                let (bytes, _) = self.raw(rows.checked_mul(size_of::<$type>())?)?.as_chunks();
                Steps::$kind(bytes.iter().map(|bytes| <$type>::from_le_bytes(*bytes)).collect())
            }};
        }
        let steps = match width {
            0 if rows <= NUMBERS_MAX => Steps::Same(rows),
            1 => steps!(I8, i8),
            2 => steps!(I16, i16),
            4 => steps!(I32, i32),
            8 => steps!(I64, i64),
            _ => return None,
        };
        Column::of_parts(base, scale, steps)
    }

    pub(crate) fn columns<const COLUMNS: usize>(&mut self) -> Option<[Column; COLUMNS]> {
        let columns: Option<Vec<Column>> = (0..COLUMNS).map(|_| self.column()).collect();
        columns?.try_into().ok()
    }
}

/// Equal numbers in one list.
const NUMBERS_MAX: usize = 1 << 28;
