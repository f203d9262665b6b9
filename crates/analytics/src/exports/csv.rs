//! Comma-separated values as spreadsheets read them: UTF-8 with a mark, commas, doubled quotes, a
//! line feed behind each row. **A text that a spreadsheet would take for a formula is preceded by
//! an apostrophe**, so that nobody's name can make it calculate; a negative number is no formula.

use super::Page;
use super::columns::{Cell, Column};
use crate::columns::number;

/// Tells programs that the text is UTF-8.
const MARK: &str = "\u{feff}";
/// A text that begins with one of these may be taken for a formula.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
/// Signs that stand before or after an amount.
const CURRENCIES: [char; 8] = ['$', '€', '£', '¥', '₹', '₩', '₽', '\u{a0}'];
const APOSTROPHE: char = '\'';

/// The beginning of a file.
pub fn head(columns: &[&Column]) -> String {
    let names: Vec<String> = columns.iter().map(|column| quoted(column.heading)).collect();
    format!("{MARK}{}\n", names.join(","))
}

/// The rows of a page.
pub fn rows(page: &Page) -> String {
    let mut text = String::new();
    for row in &page.rows {
        let cells: Vec<String> = row.iter().map(|cell| written(cell, page)).collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

fn written(cell: &Cell, page: &Page) -> String {
    match cell {
        Cell::Nothing => String::new(),
        Cell::Text(text) => quoted(&guarded(text)),
        Cell::Whole(value) => value.to_string(),
        Cell::Real(value) => number(*value).to_string(),
        Cell::Money(value) => fixed(*value, page.decimals),
    }
}

fn guarded(text: &str) -> String {
    if text.starts_with(FORMULA) && !is_negative_number(text) {
        format!("{APOSTROPHE}{text}")
    } else {
        text.to_owned()
    }
}

/// Whether a text is a negative number or amount, such as `-$2.00`: nothing in it calculates.
fn is_negative_number(text: &str) -> bool {
    let Some(number) = text.strip_prefix('-') else { return false };
    let digits = number.trim_matches(|letter: char| CURRENCIES.contains(&letter));
    digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | ','))
}

fn quoted(text: &str) -> String {
    // Where lists have semicolons, so have the columns of a spreadsheet.
    let is_special = |letter: char| matches!(letter, ',' | ';' | '"' | '\n' | '\r' | '\t' | ' ');
    if text.contains(is_special) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// An amount with so many decimals; halves go away from zero, also those that a sum of fractions
/// misses by a hair.
pub fn fixed(value: f64, decimals: usize) -> String {
    let factor = 10_f64.powi(i32::try_from(decimals).unwrap_or(2));
    let scaled = value * factor;
    let nudged = scaled + scaled.signum() * scaled.abs().max(1.0) * 1e-12;
    let rounded = nudged.round() / factor;
    // There is no negative nothing.
    let rounded = if rounded == 0.0 { 0.0 } else { rounded };
    format!("{rounded:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(rows: Vec<Vec<Cell>>) -> Page {
        Page { rows, total: 0, columns: Vec::new(), decimals: 2 }
    }

    #[test]
    fn texts_are_quoted_and_guarded() {
        for (text, expected) in [
            ("plain", "plain"),
            ("two words", "\"two words\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("a,b", "\"a,b\""),
            ("a\nb", "\"a\nb\""),
            ("=1+1", "'=1+1"),
            ("@sum", "'@sum"),
            ("+49 30", "\"'+49 30\""),
            ("-$2.00", "-$2.00"),
            ("-1,627.47", "\"-1,627.47\""),
            ("-2.00\u{a0}€", "-2.00\u{a0}€"),
            ("-12", "-12"),
            ("-2+3", "'-2+3"),
            ("-2-3", "'-2-3"),
            ("-SUM(A1)", "'-SUM(A1)"),
            ("-", "'-"),
            ("--1", "'--1"),
            ("\tx", "\"'\tx\""),
            ("\n=1", "\"'\n=1\""),
            ("＝1+1", "'＝1+1"),
            ("x;=1", "\"x;=1\""),
            ("", ""),
        ] {
            let rows = rows(&page(vec![vec![Cell::Text(text.to_owned())]]));
            assert_eq!(rows, format!("{expected}\n"), "{text:?}");
        }
    }

    #[test]
    fn numbers_are_numbers_and_amounts_have_their_decimals() {
        let row = || vec![Cell::Whole(-3), Cell::Real(-5.0), Cell::Real(8.875), Cell::Nothing];
        assert_eq!(rows(&page(vec![row()])), "-3,-5,8.875,\n");
        let amounts = || vec![Cell::Money(-1_627.47), Cell::Money(80.475), Cell::Money(-0.001)];
        assert_eq!(rows(&page(vec![amounts()])), "-1627.47,80.48,0.00\n");
        for (value, decimals, expected) in
            [(1.005, 2, "1.01"), (-1.005, 2, "-1.01"), (2.5, 0, "3"), (0.1 + 0.2, 6, "0.300000")]
        {
            assert_eq!(fixed(value, decimals), expected);
        }
    }
}
