//! SKUs and global ids, of which no two products may have the same.

use contract::rest::{Refusal, Stop, clean};
use db::Conn;
use db::filter::Page;
use frame::Call;
use shop_rows::product::{self, ProductColumn, ProductFilter, ProductSearch};
use types::Result;

/// How often another number is tried behind a SKU.
const ATTEMPTS_MAX: u32 = 10_000;
/// Characters of a SKU, and of a global id, at most.
const LENGTH_MAX: usize = 100;

/// The SKU of a request; it must be free.
pub(super) fn checked(
    call: &mut Call<'_>,
    wanted: &str,
    product_id: i64,
) -> std::result::Result<String, Stop> {
    let sku = clean::text_field(wanted);
    if sku.is_empty() {
        return Ok(sku);
    }
    if sku.chars().count() > LENGTH_MAX {
        let message = format!("A SKU must have at most {LENGTH_MAX} characters.");
        return Err(Refusal::new(400, "product_invalid_sku", message).into());
    }
    let Some(owner) = product::id_of_sku(call.conn()?, &sku, product_id)? else { return Ok(sku) };
    let free = free_sku(call.conn()?, &sku, product_id)?;
    let message = "This SKU is already in use; choose another one.";
    let refusal = Refusal::new(400, "product_invalid_sku", message)
        .with("resource_id", owner)
        .with("unique_sku", free);
    Err(refusal.into())
}

/// The first of `-1`, `-2`, … that is free.
fn free_sku(conn: &mut dyn Conn, sku: &str, product_id: i64) -> Result<String> {
    for number in 1..ATTEMPTS_MAX {
        let candidate = format!("{sku}-{number}");
        if product::id_of_sku(conn, &candidate, product_id)?.is_none() {
            return Ok(candidate);
        }
    }
    Ok(String::new())
}

/// The SKU of a copy: the number at the end is the next one that no product has.
pub(super) fn of_copy(conn: &mut dyn Conn, sku: &str) -> Result<String> {
    if sku.is_empty() {
        return Ok(String::new());
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let root = sku.rsplit_once('-').filter(|(_, end)| is_number(end)).map_or(sku, |(root, _)| root);
    let search =
        ProductSearch { words: vec![format!("{root}-")], columns: vec![ProductColumn::Sku] };
    let wanted =
        ProductFilter { searches: vec![search], page: Page::default(), ..ProductFilter::default() };
    let (rows, _) = product::list(conn, &wanted)?;
    let start = format!("{root}-");
    let numbers = rows.iter().filter_map(|row| row.sku.strip_prefix(&start)?.parse::<u32>().ok());
    let greatest = numbers.max().unwrap_or_default();
    for number in greatest.saturating_add(1)..greatest.saturating_add(ATTEMPTS_MAX) {
        let candidate = format!("{root}-{number}");
        if product::id_of_sku(conn, &candidate, 0)?.is_none() {
            return Ok(candidate);
        }
    }
    Ok(String::new())
}

/// The global id of a request: digits and hyphens; it must be free.
pub(super) fn checked_unique_id(
    call: &mut Call<'_>,
    wanted: &str,
    product_id: i64,
) -> std::result::Result<String, Stop> {
    let is_kept = |c: &char| c.is_ascii_digit() || matches!(c, '-' | 'X' | 'x');
    let id: String = wanted.chars().filter(is_kept).take(LENGTH_MAX).collect();
    if id.is_empty() {
        return Ok(id);
    }
    let Some(owner) = product::id_of_unique_id(call.conn()?, &id, product_id)? else {
        return Ok(id);
    };
    let message = "This GTIN, UPC, EAN or ISBN is already in use.";
    let refusal = Refusal::new(400, "product_invalid_global_unique_id", message);
    Err(refusal.with("resource_id", owner).into())
}
