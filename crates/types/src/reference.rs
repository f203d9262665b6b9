//! Reference data built into the binary: ZIP codes, merchant category codes, calling codes.
//!
//! A lookup never allocates and never fails: an unknown or misshapen key is `None`. The tables are
//! written by `cargo xtask generate reference` from the CSV files in `data/`, which also say where
//! the facts come from; [`layout`] describes their bytes. **Never edit a table by hand.** A table
//! that does not fit its layout finds nothing instead of failing to compile, so that the generator,
//! which depends on this crate, can always be built to repair it; the tests notice.

pub mod layout;

use std::cmp::Ordering;

use layout::{CITIES_PER_BLOCK, KEY_END, ZIP_BLOCK_BYTES, ZIPS_PER_BLOCK};

static ZIP_BLOCKS: &[[u8; ZIP_BLOCK_BYTES]] =
    include_bytes!("reference/zip-present.bin").as_chunks().0;
static ZIP_CITIES: &[[u8; 2]] = include_bytes!("reference/zip-city.bin").as_chunks().0;
static ZIP_STATES: &[[u8; 4]] = include_bytes!("reference/zip-state.bin").as_chunks().0;
static CITIES: &str = include_str!("reference/city.txt");
static CITY_OFFSETS: &[[u8; 4]] = include_bytes!("reference/city-offset.bin").as_chunks().0;
static MCCS: &str = include_str!("reference/mcc.txt");
static CALLING_CODES: &str = include_str!("reference/calling-code.txt");

/// Where a ZIP code is: the city by its main name, and the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub city: &'static str,
    /// Two capital letters: a state, DC, a territory, or AA, AE and AP for the military.
    pub state: &'static str,
}

/// A merchant category code with what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mcc {
    pub code: &'static str,
    pub description: &'static str,
}

/// The place of a ZIP code in use; `None` unless it is exactly five digits and known.
pub fn zip_place(zip: &str) -> Option<Place> {
    let rank = zip_rank(zip_number(zip)?)?;
    Some(Place { city: city_name(rank)?, state: state_name(rank)? })
}

/// What a merchant category code of four digits stands for.
pub fn mcc_description(code: &str) -> Option<&'static str> {
    value_find(MCCS, code)
}

/// All merchant category codes, in ascending order.
pub fn mcc_all() -> impl Iterator<Item = Mcc> {
    MCCS.lines().filter_map(|line| {
        let (code, description) = line.split_once(KEY_END)?;
        Some(Mcc { code, description })
    })
}

/// The regions (ISO 3166, two letters) that share a calling code, the main one first.
///
/// The code is given without its plus sign. A code that belongs to no country, such as freephone
/// or satellite, has no regions, nor has one that does not exist.
pub fn calling_code_regions(code: &str) -> impl Iterator<Item = &'static str> {
    value_find(CALLING_CODES, code).unwrap_or_default().split_ascii_whitespace()
}

/// The main region of a calling code: `US` for `1`, `GB` for `44`.
pub fn calling_code_main_region(code: &str) -> Option<&'static str> {
    calling_code_regions(code).next()
}

fn zip_number(zip: &str) -> Option<usize> {
    let digits: &[u8; 5] = zip.as_bytes().try_into().ok()?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}

/// How many ZIPs in use come before this one, if this one is in use: its index in `zip-city.bin`.
fn zip_rank(number: usize) -> Option<u16> {
    let block = ZIP_BLOCKS.get(number / ZIPS_PER_BLOCK)?;
    let (zips_before_block, bits) = block.split_first_chunk::<2>()?;
    let position = number % ZIPS_PER_BLOCK;
    let (bytes_before, rest) = bits.split_at_checked(position / 8)?;
    let byte = rest.first()?;
    let bit = 1_u8 << (position % 8);
    if byte & bit == 0 {
        return None;
    }
    let before_block = u32::from(u16::from_le_bytes(*zips_before_block));
    let in_bytes_before: u32 = bytes_before.iter().copied().map(u8::count_ones).sum();
    let in_same_byte = (byte & (bit - 1)).count_ones();
    u16::try_from(before_block + in_bytes_before + in_same_byte).ok()
}

fn city_name(rank: u16) -> Option<&'static str> {
    let line = usize::from(u16::from_le_bytes(*ZIP_CITIES.get(usize::from(rank))?));
    let offset = u32::from_le_bytes(*CITY_OFFSETS.get(line / CITIES_PER_BLOCK)?);
    let block = CITIES.get(usize::try_from(offset).ok()?..)?;
    block.lines().nth(line % CITIES_PER_BLOCK)
}

fn state_name(rank: u16) -> Option<&'static str> {
    let runs_started =
        ZIP_STATES.partition_point(|[low, high, ..]| u16::from_le_bytes([*low, *high]) <= rank);
    let [_, _, state @ ..] = ZIP_STATES.get(runs_started.checked_sub(1)?)?;
    str::from_utf8(state).ok()
}

/// Binary search for the value of `key` in lines sorted by key.
fn value_find(lines: &'static str, key: &str) -> Option<&'static str> {
    let mut remaining = lines;
    while !remaining.is_empty() {
        let (first_half, _) = remaining.as_bytes().split_at(remaining.len() / 2);
        let line_end_before = first_half.iter().rposition(|byte| *byte == b'\n');
        let start = line_end_before.map_or(0, |end| end + 1);
        let (before, rest) = remaining.split_at_checked(start)?;
        let (line, after) = rest.split_once('\n')?;
        let (line_key, value) = line.split_once(KEY_END)?;
        match key.cmp(line_key) {
            Ordering::Equal => return Some(value),
            Ordering::Less => remaining = before,
            Ordering::Greater => remaining = after,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_zips() {
        for (zip, city, state) in [
            ("00501", "Holtsville", "NY"),
            ("00601", "Adjuntas", "PR"),
            ("02134", "Allston", "MA"),
            ("09128", "APO", "AE"),
            ("10001", "New York", "NY"),
            ("20500", "Washington", "DC"),
            ("83814", "Coeur d'Alene", "ID"),
            ("90210", "Beverly Hills", "CA"),
            ("96910", "Hagatna", "GU"),
            ("99950", "Ketchikan", "AK"),
        ] {
            assert_eq!(zip_place(zip), Some(Place { city, state }), "{zip}");
        }
    }

    #[test]
    fn a_zip_is_five_digits_and_in_use() {
        for zip in ["", "1000", "100011", "10001-1234", " 10001", "+1000", "1000a", "1000١"] {
            assert_eq!(zip_place(zip), None, "{zip:?} has the wrong shape");
        }
        for zip in ["00000", "00500", "99951", "99999"] {
            assert_eq!(zip_place(zip), None, "{zip} does not exist");
        }
        assert_eq!(zip_place("88888"), None, "the post office's North Pole is no merchant");
    }

    #[test]
    fn known_merchant_category_codes() {
        assert_eq!(mcc_description("0742"), Some("Veterinary Services"));
        assert_eq!(mcc_description("5812"), Some("Eating places and Restaurants"));
        for code in ["", "0", "742", "0741", "07420", "581", "9999", "5812\t", "abcd"] {
            assert_eq!(mcc_description(code), None, "{code:?}");
        }
    }

    #[test]
    fn every_merchant_category_code_is_listed_once_and_found() {
        let all: Vec<Mcc> = mcc_all().collect();
        assert_eq!(all.len(), MCCS.lines().count());
        assert!(all.is_sorted_by(|left, right| left.code < right.code));
        assert!(all.len() > 1_000, "the table is whole");
        for mcc in all {
            assert_eq!(mcc_description(mcc.code), Some(mcc.description));
        }
    }

    #[test]
    fn known_calling_codes() {
        assert_eq!(calling_code_main_region("1"), Some("US"));
        assert_eq!(calling_code_main_region("44"), Some("GB"));
        assert_eq!(calling_code_main_region("998"), Some("UZ"));
        assert!(calling_code_regions("7").eq(["RU", "KZ"]));
        assert!(calling_code_regions("1").any(|region| region == "PR"));
        for code in ["", "+1", "01", "999", "800", "881"] {
            assert_eq!(calling_code_main_region(code), None, "{code:?}");
        }
    }
}
