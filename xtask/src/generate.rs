//! Writes the files that are derived from others. So far: the tables of `types::reference`, from
//! the CSV files in `data/`.
//!
//! The CSV files are what people read and change; the tables are what the binary carries, small
//! and searchable as they lie. `types::reference::layout` says what they look like, and the
//! reader next to it is what the tests here hold against every row. **The same CSV files give the
//! same bytes**, so `--check` is a plain comparison.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use types::reference::layout::{CITIES_PER_BLOCK, KEY_END, ZIP_BLOCK_BYTES, ZIPS_PER_BLOCK};

/// North Pole, DC: where letters to Santa Claus go, and nobody else.
const ZIP_OF_SANTA_CLAUS: &str = "88888";

/// One file of `types::reference`.
struct Table {
    name: &'static str,
    content: Vec<u8>,
}

/// Writes the tables of `types::reference`, or with `check` fails if the ones on disk are stale.
pub(crate) fn reference(check: bool) -> Result<()> {
    let tables = reference_tables()?;
    let stale = stale_tables(&tables);
    if check {
        let names: Vec<&str> = stale.iter().map(|table| table.name).collect();
        ensure!(
            names.is_empty(),
            "out of date: {}; run `cargo xtask generate reference`",
            names.join(", ")
        );
        return Ok(());
    }
    for table in stale {
        let path = table_path(table.name);
        fs::write(&path, &table.content).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

fn reference_tables() -> Result<Vec<Table>> {
    let mut tables = zip_tables(&zips_in_use()?)?;
    tables.push(Table { name: "mcc.txt", content: mcc_lines()? });
    tables.push(Table { name: "calling-code.txt", content: calling_code_lines()? });
    Ok(tables)
}

/// The tables that differ from their file; a file that cannot be read differs.
fn stale_tables(tables: &[Table]) -> Vec<&Table> {
    let is_stale = |table: &&Table| {
        fs::read(table_path(table.name)).map_or(true, |content| content != table.content)
    };
    tables.iter().filter(is_stale).collect()
}

struct Zip {
    number: usize,
    city: String,
    state: String,
}

/// The rows of `zip.csv` that a merchant may have, in ascending order.
fn zips_in_use() -> Result<Vec<Zip>> {
    let mut zips = Vec::new();
    for row in rows("zip.csv", ["zip", "city", "state", "type", "active", "source"])? {
        let [zip, city, state, _, active, _] = row;
        let shape_is_right = zip.len() == 5 && zip.bytes().all(|byte| byte.is_ascii_digit());
        ensure!(shape_is_right, "zip.csv: `{zip}` is not five digits");
        ensure!(matches!(active.as_str(), "0" | "1"), "zip.csv: {zip} has active={active}");
        if active == "0" || zip == ZIP_OF_SANTA_CLAUS {
            continue;
        }
        ensure_text(&city).with_context(|| format!("zip.csv: city of {zip}"))?;
        let state_is_right =
            state.len() == 2 && state.bytes().all(|byte| byte.is_ascii_uppercase());
        ensure!(state_is_right, "zip.csv: state `{state}` of {zip} is not two capital letters");
        zips.push(Zip { number: zip.parse()?, city, state });
    }
    let ascends = zips.is_sorted_by(|left, right| left.number < right.number);
    ensure!(ascends, "zip.csv: not in ascending order, or a duplicate ZIP");
    Ok(zips)
}

fn zip_tables(zips: &[Zip]) -> Result<Vec<Table>> {
    let names: BTreeSet<&str> = zips.iter().map(|zip| zip.city.as_str()).collect();
    let (city_text, city_offsets) = city_lines(&names)?;
    Ok(vec![
        Table { name: "zip-present.bin", content: zip_present(zips)? },
        Table { name: "zip-city.bin", content: zip_cities(zips, &names)? },
        Table { name: "zip-state.bin", content: zip_states(zips)? },
        Table { name: "city.txt", content: city_text.into_bytes() },
        Table { name: "city-offset.bin", content: city_offsets },
    ])
}

fn zip_present(zips: &[Zip]) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut remaining = zips;
    for block_first in (0..100_000).step_by(ZIPS_PER_BLOCK) {
        let zips_before = u16::try_from(zips.len() - remaining.len())?;
        let block_end = block_first + ZIPS_PER_BLOCK;
        let in_block = remaining.partition_point(|zip| zip.number < block_end);
        let (block_zips, rest) = remaining.split_at(in_block);
        remaining = rest;

        let mut bits = [0_u8; ZIPS_PER_BLOCK / 8];
        for zip in block_zips {
            let position = zip.number - block_first;
            let byte = bits.get_mut(position / 8).context("a ZIP outside its block")?;
            *byte |= 1 << (position % 8);
        }
        content.extend(zips_before.to_le_bytes());
        content.extend(bits);
    }
    assert!(remaining.is_empty(), "five digits are less than 100000");
    assert_eq!(content.len(), 100 * ZIP_BLOCK_BYTES);
    Ok(content)
}

fn zip_cities(zips: &[Zip], names: &BTreeSet<&str>) -> Result<Vec<u8>> {
    let mut line_of_name = BTreeMap::new();
    for (line, name) in names.iter().enumerate() {
        line_of_name.insert(*name, u16::try_from(line)?);
    }
    let mut content = Vec::new();
    for zip in zips {
        let line = line_of_name.get(zip.city.as_str()).context("a city without a line")?;
        content.extend(line.to_le_bytes());
    }
    Ok(content)
}

fn zip_states(zips: &[Zip]) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut rank = 0;
    for run in zips.chunk_by(|left, right| left.state == right.state) {
        content.extend(u16::try_from(rank)?.to_le_bytes());
        content.extend(run.first().context("a run is never empty")?.state.bytes());
        rank += run.len();
    }
    Ok(content)
}

fn city_lines(names: &BTreeSet<&str>) -> Result<(String, Vec<u8>)> {
    let mut text = String::new();
    let mut offsets = Vec::new();
    for (line, name) in names.iter().enumerate() {
        if line.is_multiple_of(CITIES_PER_BLOCK) {
            offsets.extend(u32::try_from(text.len())?.to_le_bytes());
        }
        text.push_str(name);
        text.push('\n');
    }
    Ok((text, offsets))
}

const MCC_COLUMNS: [&str; 9] = [
    "mcc",
    "description",
    "group",
    "iso",
    "visa",
    "mastercard",
    "amex",
    "irs_reportable",
    "source",
];

fn mcc_lines() -> Result<Vec<u8>> {
    let mut description_of_code = BTreeMap::new();
    for [code, description, ..] in rows("mcc.csv", MCC_COLUMNS)? {
        let shape_is_right = code.len() == 4 && code.bytes().all(|byte| byte.is_ascii_digit());
        ensure!(shape_is_right, "mcc.csv: `{code}` is not four digits");
        let former = description_of_code.insert(code.clone(), description);
        ensure!(former.is_none(), "mcc.csv: duplicate code {code}");
    }
    keyed_lines(&description_of_code).context("mcc.csv")
}

const CALLING_CODE_COLUMNS: [&str; 5] =
    ["calling_code", "region", "country", "main_region", "kind"];

fn calling_code_lines() -> Result<Vec<u8>> {
    let mut regions_of_code: BTreeMap<String, String> = BTreeMap::new();
    for row in rows("calling-codes.csv", CALLING_CODE_COLUMNS)? {
        let [code, region, _, main_region, kind] = row;
        if kind != "geo" {
            continue;
        }
        let shape_is_right = !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit());
        ensure!(shape_is_right, "calling-codes.csv: `{code}` is not digits");
        let regions = regions_of_code.entry(code.clone()).or_default();
        let is_first = regions.is_empty();
        let is_main = main_region == "1";
        ensure!(
            is_first == is_main,
            "calling-codes.csv: {code} must list exactly one main region, first"
        );
        if !is_first {
            regions.push(' ');
        }
        regions.push_str(&region);
    }
    keyed_lines(&regions_of_code).context("calling-codes.csv")
}

fn keyed_lines(value_of_key: &BTreeMap<String, String>) -> Result<Vec<u8>> {
    let mut text = String::new();
    for (key, value) in value_of_key {
        ensure_text(value).with_context(|| format!("value of {key}"))?;
        text.push_str(key);
        text.push(KEY_END);
        text.push_str(value);
        text.push('\n');
    }
    Ok(text.into_bytes())
}

/// Tabs and line ends separate things in the tables, so no text may hold one.
fn ensure_text(text: &str) -> Result<()> {
    ensure!(!text.is_empty(), "empty");
    ensure!(!text.contains(char::is_control), "{text:?} contains a control character");
    Ok(())
}

/// The rows of a file in `data/`, whose header must be `columns`.
fn rows<const WIDTH: usize>(file: &str, columns: [&str; WIDTH]) -> Result<Vec<[String; WIDTH]>> {
    let path = root().join("data").join(file);
    let mut reader =
        csv::Reader::from_path(&path).with_context(|| format!("reading {}", path.display()))?;
    let header = reader.headers()?;
    ensure!(header == columns.as_slice(), "{file}: expected the columns {}", columns.join(","));
    let mut rows = Vec::new();
    for record in reader.into_records() {
        let fields: Vec<String> = record?.iter().map(String::from).collect();
        let row = <[String; WIDTH]>::try_from(fields)
            .ok()
            .context("a row has the wrong number of columns")?;
        rows.push(row);
    }
    Ok(rows)
}

fn table_path(name: &str) -> PathBuf {
    root().join("crates/types/src/reference").join(name)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use types::reference::{
        Mcc, Place, calling_code_main_region, calling_code_regions, mcc_all, mcc_description,
        zip_place,
    };

    use super::*;

    #[test]
    fn the_tables_on_disk_are_fresh() {
        reference(true).expect("fresh tables");
    }

    #[test]
    fn a_table_that_differs_by_one_byte_or_is_missing_is_stale() {
        let mut tables = reference_tables().expect("tables");
        tables[0].content[0] ^= 1;
        tables.push(Table { name: "missing.bin", content: Vec::new() });
        let stale: Vec<&str> = stale_tables(&tables).iter().map(|table| table.name).collect();
        assert_eq!(stale, ["zip-present.bin", "missing.bin"]);
    }

    #[test]
    fn every_zip_is_found_exactly_as_its_row_says() {
        let mut place_of_zip = BTreeMap::new();
        for row in rows("zip.csv", ["zip", "city", "state", "type", "active", "source"]).unwrap() {
            let [zip, city, state, _, active, _] = row;
            if active == "1" && zip != "88888" {
                place_of_zip.insert(zip, (city, state));
            }
        }
        assert!(place_of_zip.len() > 40_000, "the file is whole");
        for number in 0..=99_999 {
            let zip = format!("{number:05}");
            let expected =
                place_of_zip.get(&zip).map(|(city, state)| (city.as_str(), state.as_str()));
            let found = zip_place(&zip).map(|Place { city, state }| (city, state));
            assert_eq!(found, expected, "{zip}");
        }
    }

    #[test]
    fn every_merchant_category_code_is_found_exactly_as_its_row_says() {
        let mut description_of_code = BTreeMap::new();
        for [code, description, ..] in rows("mcc.csv", MCC_COLUMNS).unwrap() {
            description_of_code.insert(code, description);
        }
        assert!(description_of_code.len() > 1_000, "the file is whole");
        for number in 0..=9_999 {
            let code = format!("{number:04}");
            let expected = description_of_code.get(&code).map(String::as_str);
            assert_eq!(mcc_description(&code), expected, "{code}");
        }
        let listed = mcc_all().map(|Mcc { code, description }| (code, description));
        assert!(listed.eq(description_of_code.iter().map(|(k, v)| (k.as_str(), v.as_str()))));
    }

    #[test]
    fn every_calling_code_is_found_exactly_as_its_rows_say() {
        let mut regions_of_code: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut main_of_code = BTreeMap::new();
        for row in rows("calling-codes.csv", CALLING_CODE_COLUMNS).unwrap() {
            let [code, region, _, main_region, kind] = row;
            if kind == "nongeo" {
                continue;
            }
            if main_region == "1" {
                main_of_code.insert(code.clone(), region.clone());
            }
            regions_of_code.entry(code).or_default().insert(region);
        }
        assert!(regions_of_code.len() > 200, "the file is whole");
        for number in 0..=9_999 {
            let code = number.to_string();
            let expected = regions_of_code.remove(&code).unwrap_or_default();
            let found: BTreeSet<String> = calling_code_regions(&code).map(String::from).collect();
            assert_eq!(found, expected, "{code}");
            let expected_main = main_of_code.get(&code).map(String::as_str);
            assert_eq!(calling_code_main_region(&code), expected_main, "{code}");
        }
        assert!(regions_of_code.is_empty(), "every code was asked for");
    }
}
