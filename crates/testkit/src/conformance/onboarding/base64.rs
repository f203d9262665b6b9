//! Just enough base64 to read bodies that are not text.

use anyhow::{Result, ensure};

/// Decodes the standard alphabet; padding may be left out.
pub(super) fn decode(text: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut bits = 0_u32;
    let mut bits_count = 0;
    for character in text.trim_end_matches('=').bytes() {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => anyhow::bail!("{text:?} is not base64"),
        };
        bits = (bits << 6) | u32::from(value);
        bits_count += 6;
        if bits_count >= 8 {
            bits_count -= 8;
            bytes.push(u8::try_from(bits >> bits_count)?);
            bits &= (1 << bits_count) - 1;
        }
    }
    ensure!(bits == 0 && bits_count < 6, "{text:?} is base64 that breaks off");
    Ok(bytes)
}
