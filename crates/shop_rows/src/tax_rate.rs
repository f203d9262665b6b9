//! Rates of taxes and where they hold.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use db::filter::{Clause, Direction, Filter, PAGE_MAX, Page, containing};
use db::{Conn, Record, Row, SITE, counter, statements};
use types::{Amount, Error, Result};

const TAX_RATE_ID: &str = "tax_rate.id";
/// The counter that says in which state the rates are.
const STATE: &str = "tax_rates.state";

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TaxRateRow in "tax_rates", fixed(site_id = SITE), key(rate_id: i64) {
        /// Empty for every country.
        country: String,
        /// Empty for every state.
        state: String,
        /// In percent. None for a rate that was never given, which is no rate of zero.
        rate: Option<Amount>,
        name: String,
        priority: i64,
        compound: bool,
        shipping: bool,
        position: i64,
        /// The slug; empty for the standard class.
        class: String,
    }
    folded { code() as "code_key" }
}

/// A postcode or a city, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxRateLocation {
    pub rate_id: i64,
    /// `postcode` or `city`.
    pub kind: String,
    pub value: String,
}

statements! {
    TAX_RATE_INSERT = db::insert!(TaxRateRow);
    TAX_RATE_UPDATE = db::update!(TaxRateRow);
    TAX_RATE_DELETE = "DELETE FROM tax_rates WHERE site_id = $1 AND rate_id = $2";
    TAX_RATE_GET = db::select!(TaxRateRow, "WHERE site_id = $1 AND rate_id = $2");
    TAX_RATE_LOCATIONS_CLEAR =
        "DELETE FROM tax_rate_locations WHERE site_id = $1 AND rate_id = $2 AND kind = $3";
    TAX_RATE_LOCATION_INSERT =
        "INSERT INTO tax_rate_locations (site_id, rate_id, kind, position, value)
         VALUES ($1, $2, $3, $4, $5)";
    TAX_RATES_STATE_SET =
        "INSERT INTO counters (name, next) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET next = excluded.next";
}

/// Which rates to list. An empty list asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct TaxRateFilter {
    pub classes: Vec<String>,
    pub countries: Vec<String>,
    pub states: Vec<String>,
    /// A part of the code, in whatever case.
    pub code_contains: Option<String>,
    pub include: Vec<i64>,
    pub exclude: Vec<i64>,
    pub order: TaxRateOrder,
    pub direction: Direction,
    pub page: Page,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaxRateOrder {
    #[default]
    Position,
    Id,
    Priority,
}

impl TaxRateRow {
    /// The name by which orders and reports know the rate, such as `US-CA-COUNTY TAX-1`: what is
    /// empty is left out.
    pub fn code(&self) -> String {
        let priority = self.priority.to_string();
        let parts = [&*self.country, &self.state, &self.name, &priority];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("-").to_uppercase()
    }
}

/// Tells the state in which all rates and their locations are from every other one: whoever keeps
/// them in memory may do so as long as it stays the same.
pub fn state(conn: &mut dyn Conn) -> Result<i64> {
    counter::read(conn, STATE)
}

/// Notes that a rate was changed. The number is no count: a change that is undone would be followed
/// by another one of the same number.
fn note_change(conn: &mut dyn Conn) -> Result<()> {
    static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static CHANGES: AtomicU64 = AtomicU64::new(0);
    let state = SEED.hash_one(CHANGES.fetch_add(1, Ordering::Relaxed)) >> 1;
    let state = i64::try_from(state).unwrap_or_default();
    conn.execute_one(&TAX_RATES_STATE_SET, &[STATE.into(), state.into()])
}

/// Inserts the rate with the next id, whatever `rate_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, rate: &TaxRateRow) -> Result<i64> {
    note_change(conn)?;
    conn.insert_next(&TAX_RATE_INSERT, rate, TAX_RATE_ID)
}

/// Inserts the rate with the id that it comes with, and sees to it that the id is not given again.
pub fn insert_with_id(conn: &mut dyn Conn, rate: &TaxRateRow) -> Result<()> {
    note_change(conn)?;
    counter::raise(conn, TAX_RATE_ID, rate.rate_id)?;
    conn.insert(&TAX_RATE_INSERT, rate).map(drop)
}

/// Sees to it that an id is not given again: something names it whose rate is gone.
pub fn keep_free(conn: &mut dyn Conn, rate_id: i64) -> Result<()> {
    counter::raise(conn, TAX_RATE_ID, rate_id)
}

/// Returns whether there is such a rate.
pub fn update(conn: &mut dyn Conn, rate: &TaxRateRow) -> Result<bool> {
    note_change(conn)?;
    conn.update_existing(&TAX_RATE_UPDATE, rate)
}

/// Deletes the rate with its locations. Returns whether there was one.
pub fn delete(conn: &mut dyn Conn, rate_id: i64) -> Result<bool> {
    note_change(conn)?;
    Ok(conn.execute(&TAX_RATE_DELETE, &[SITE.into(), rate_id.into()])? == 1)
}

pub fn get(conn: &mut dyn Conn, rate_id: i64) -> Result<Option<TaxRateRow>> {
    conn.row(&TAX_RATE_GET, &[SITE.into(), rate_id.into()], TaxRateRow::read)
}

/// A page of the rates that match, and how many match.
pub fn list(conn: &mut dyn Conn, wanted: &TaxRateFilter) -> Result<(Vec<TaxRateRow>, i64)> {
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_list("class IN (?)", &wanted.classes)?;
    filter.and_list("country IN (?)", &wanted.countries)?;
    filter.and_list("state IN (?)", &wanted.states)?;
    let part = wanted.code_contains.as_deref().map(containing).transpose()?;
    filter.and_value("code_key LIKE ? ESCAPE '!'", part);
    filter.and_list("rate_id IN (?)", &wanted.include)?;
    filter.and_list("rate_id NOT IN (?)", &wanted.exclude)?;
    let key = Clause::fixed(match wanted.order {
        TaxRateOrder::Position => "position",
        TaxRateOrder::Id => "rate_id",
        TaxRateOrder::Priority => "priority",
    });
    let order = vec![(key, wanted.direction), (Clause::fixed("rate_id"), wanted.direction)];
    filter.records(conn, order, wanted.page)
}

/// Lets the rate hold at these locations of the kind and at no others of it.
pub fn set_locations(
    conn: &mut dyn Conn,
    rate_id: i64,
    kind: &str,
    values: &[String],
) -> Result<()> {
    note_change(conn)?;
    conn.execute(&TAX_RATE_LOCATIONS_CLEAR, &[SITE.into(), rate_id.into(), kind.into()])?;
    for (position, value) in (0_i64..).zip(values) {
        let params = [SITE.into(), rate_id.into(), kind.into(), position.into(), value.into()];
        conn.execute_one(&TAX_RATE_LOCATION_INSERT, &params)?;
    }
    Ok(())
}

/// The locations of these rates: by rate, by kind, then as they were given.
pub fn locations_of(conn: &mut dyn Conn, rate_ids: &[i64]) -> Result<Vec<TaxRateLocation>> {
    if rate_ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_list("rate_id IN (?)", rate_ids)?;
    let keys = ["rate_id", "kind", "position"];
    let order = keys.map(|key| (Clause::fixed(key), Direction::Ascending)).into();
    let what = ("rate_id, kind, value", "tax_rate_locations");
    let read = |row: &dyn Row| {
        Ok(TaxRateLocation { rate_id: row.get(0)?, kind: row.get(1)?, value: row.get(2)? })
    };
    let (rows, total) = filter.page(conn, what, order, Page::default(), read)?;
    if total > PAGE_MAX {
        return Err(Error::invalid("these rates have too many locations; ask for fewer rates"));
    }
    Ok(rows)
}
