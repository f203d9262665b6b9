//! Rates of taxes and where they hold.

use db::filter::{Clause, Direction, Filter, PAGE_MAX, Page, containing, fold};
use db::{Conn, Row, SITE, Sql, Val, counter, statements};
use types::{Amount, Error, Result};

const TAX_RATE_ID: &str = "tax_rate.id";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxRateRow {
    pub rate_id: i64,
    /// Empty for every country.
    pub country: String,
    /// Empty for every state.
    pub state: String,
    /// In percent. None for a rate that was never given, which is no rate of zero.
    pub rate: Option<Amount>,
    pub name: String,
    pub priority: i64,
    pub compound: bool,
    pub shipping: bool,
    pub position: i64,
    /// The slug; empty for the standard class.
    pub class: String,
}

/// A postcode or a city, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxRateLocation {
    pub rate_id: i64,
    /// `postcode` or `city`.
    pub kind: String,
    pub value: String,
}

/// What [`TaxRateRow::read`] reads, in its order.
macro_rules! tax_rate_columns {
    () => {
        "rate_id, country, state, rate, name, priority, compound, shipping, position, class"
    };
}

statements! {
    TAX_RATE_INSERT =
        "INSERT INTO tax_rates
           (country, state, rate, name, priority, compound, shipping, position, class, code_key,
            site_id, rate_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    TAX_RATE_UPDATE =
        "UPDATE tax_rates SET
           country = $1, state = $2, rate = $3, name = $4, priority = $5, compound = $6,
           shipping = $7, position = $8, class = $9, code_key = $10
         WHERE site_id = $11 AND rate_id = $12";
    TAX_RATE_DELETE = "DELETE FROM tax_rates WHERE site_id = $1 AND rate_id = $2";
    TAX_RATE_GET = concat!(
        "SELECT ",
        tax_rate_columns!(),
        " FROM tax_rates WHERE site_id = $1 AND rate_id = $2"
    );
    TAX_RATE_LOCATIONS_CLEAR =
        "DELETE FROM tax_rate_locations WHERE site_id = $1 AND rate_id = $2 AND kind = $3";
    TAX_RATE_LOCATION_INSERT =
        "INSERT INTO tax_rate_locations (site_id, rate_id, kind, position, value)
         VALUES ($1, $2, $3, $4, $5)";
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

    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            rate_id: row.get(0)?,
            country: row.get(1)?,
            state: row.get(2)?,
            rate: row.get(3)?,
            name: row.get(4)?,
            priority: row.get(5)?,
            compound: row.get(6)?,
            shipping: row.get(7)?,
            position: row.get(8)?,
            class: row.get(9)?,
        })
    }
}

/// Inserts the rate with the next id, whatever `rate_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, rate: &TaxRateRow) -> Result<i64> {
    let rate_id = counter::take(conn, TAX_RATE_ID, 1)? + 1;
    write(conn, &TAX_RATE_INSERT, rate, rate_id)?;
    Ok(rate_id)
}

/// Inserts the rate with the id that it comes with, and sees to it that the id is not given again.
pub fn insert_with_id(conn: &mut dyn Conn, rate: &TaxRateRow) -> Result<()> {
    counter::raise(conn, TAX_RATE_ID, rate.rate_id)?;
    write(conn, &TAX_RATE_INSERT, rate, rate.rate_id).map(drop)
}

/// Sees to it that an id is not given again: something names it whose rate is gone.
pub fn keep_free(conn: &mut dyn Conn, rate_id: i64) -> Result<()> {
    counter::raise(conn, TAX_RATE_ID, rate_id)
}

/// Returns whether there is such a rate.
pub fn update(conn: &mut dyn Conn, rate: &TaxRateRow) -> Result<bool> {
    write(conn, &TAX_RATE_UPDATE, rate, rate.rate_id)
}

/// Deletes the rate with its locations. Returns whether there was one.
pub fn delete(conn: &mut dyn Conn, rate_id: i64) -> Result<bool> {
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
    filter.page(conn, (tax_rate_columns!(), "tax_rates"), order, wanted.page, TaxRateRow::read)
}

/// Lets the rate hold at these locations of the kind and at no others of it.
pub fn set_locations(
    conn: &mut dyn Conn,
    rate_id: i64,
    kind: &str,
    values: &[String],
) -> Result<()> {
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

fn write(conn: &mut dyn Conn, sql: &Sql, rate: &TaxRateRow, rate_id: i64) -> Result<bool> {
    let code_key = fold(&rate.code());
    let params: [Val<'_>; 12] = [
        (&rate.country).into(),
        (&rate.state).into(),
        rate.rate.into(),
        (&rate.name).into(),
        rate.priority.into(),
        rate.compound.into(),
        rate.shipping.into(),
        rate.position.into(),
        (&rate.class).into(),
        (&code_key).into(),
        SITE.into(),
        rate_id.into(),
    ];
    Ok(conn.execute(sql, &params)? == 1)
}
