//! The format `RowBinary`: values one after the other, without names and without separators. Both
//! ways use it, so no number is ever printed and read again, and no text has to be escaped.

use types::{Error, Result};

/// Longest text or list that an answer may have.
const LENGTH_MAX: u64 = 1 << 32;

#[derive(Debug, Default)]
pub(super) struct Encoder(Vec<u8>);

impl Encoder {
    pub(super) fn number(&mut self, value: i64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn unsigned(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn flag(&mut self, value: bool) {
        self.0.push(value.into());
    }

    /// The length of a text or list: seven bits at a time, the least first.
    pub(super) fn length(&mut self, length: usize) {
        let mut left = u64::try_from(length).unwrap_or(u64::MAX);
        loop {
            let [low, ..] = left.to_le_bytes();
            left >>= 7;
            if left == 0 {
                return self.0.push(low & 0x7f);
            }
            self.0.push(low | 0x80);
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.length(text.len());
        self.0.extend(text.as_bytes());
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

#[derive(Debug)]
pub(super) struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn number(&mut self) -> Result<i64> {
        self.eight().map(i64::from_le_bytes)
    }

    pub(super) fn unsigned(&mut self) -> Result<u64> {
        self.eight().map(u64::from_le_bytes)
    }

    pub(super) fn flag(&mut self) -> Result<bool> {
        let (first, rest) = self.0.split_first().ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(*first != 0)
    }

    pub(super) fn length(&mut self) -> Result<usize> {
        let mut length = 0_u64;
        for shift in (0..63).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or_else(cut_off)?;
            self.0 = rest;
            length |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let length = Some(length).filter(|length| *length <= LENGTH_MAX);
        length.and_then(|length| usize::try_from(length).ok()).ok_or_else(cut_off)
    }

    pub(super) fn text(&mut self) -> Result<&'a str> {
        let length = self.length()?;
        let (text, rest) = self.0.split_at_checked(length).ok_or_else(cut_off)?;
        self.0 = rest;
        std::str::from_utf8(text)
            .map_err(|error| Error::internal("ClickHouse returned a damaged text").because(error))
    }

    fn eight(&mut self) -> Result<[u8; 8]> {
        let (eight, rest) = self.0.split_first_chunk().ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(*eight)
    }
}

fn cut_off() -> Error {
    Error::internal("an answer of ClickHouse ends too early")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_went() {
        let long = "ä".repeat(9_000);
        let mut encoder = Encoder::default();
        encoder.number(i64::MIN);
        encoder.text(&long);
        encoder.flag(true);
        encoder.length(127);
        encoder.length(128);
        encoder.unsigned(u64::MAX);
        let bytes = encoder.into_bytes();
        let mut decoder = Decoder::new(&bytes);
        assert_eq!(decoder.number().unwrap(), i64::MIN);
        assert_eq!(decoder.text().unwrap(), long);
        assert!(decoder.flag().unwrap());
        assert_eq!((decoder.length().unwrap(), decoder.length().unwrap()), (127, 128));
        assert_eq!(decoder.unsigned().unwrap(), u64::MAX);
        assert!(decoder.is_at_end() && decoder.number().is_err());
    }
}
