//! What connected stores sold, by day. **All days of a store are in one currency**, and each holds
//! the running totals of the store as well: what a store sold in a period is the difference of two
//! of them, however long the period is.

use std::collections::{BTreeMap, HashMap};

use db::{Conn, statements};
use types::{Error, IsoId, MerchantId, Result};

use super::connection::{self, ConnectionRow};

/// A day of a store. Amounts are in hundredths of a cent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayRow {
    /// Such as `2026-11-17`, in the store's own time.
    pub day: String,
    pub currency: String,
    pub orders: i64,
    pub items: i64,
    pub gross: i64,
    pub net: i64,
    pub refunds: i64,
}

impl DayRow {
    fn figures(&self) -> Figures {
        let Self { orders, items, gross, net, refunds, .. } = *self;
        Figures { orders, items, gross, net, refunds }
    }
}

/// What was sold. Amounts are in hundredths of a cent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub orders: i64,
    pub items: i64,
    pub gross: i64,
    pub net: i64,
    pub refunds: i64,
}

impl Figures {
    fn combined(self, other: Self, combine: fn(i64, i64) -> i64) -> Self {
        Self {
            orders: combine(self.orders, other.orders),
            items: combine(self.items, other.items),
            gross: combine(self.gross, other.gross),
            net: combine(self.net, other.net),
            refunds: combine(self.refunds, other.refunds),
        }
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.combined(other, i64::saturating_add)
    }

    /// What came after the earlier total.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.combined(earlier, i64::saturating_sub)
    }

    fn columns(self) -> [i64; 5] {
        [self.orders, self.items, self.gross, self.net, self.refunds]
    }

    fn read(row: &dyn db::Row, first: usize) -> Result<Self> {
        Ok(Self {
            orders: row.get(first)?,
            items: row.get(first + 1)?,
            gross: row.get(first + 2)?,
            net: row.get(first + 3)?,
            refunds: row.get(first + 4)?,
        })
    }
}

/// What all stores sold on a day, in one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaySum {
    pub day: String,
    pub currency: String,
    pub stores: i64,
    pub figures: Figures,
}

/// What a connected store belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortfolioStore {
    pub connection_id: String,
    /// What the store calls itself, or empty.
    pub name: String,
    pub url: String,
    /// Code of the store's country, or empty.
    pub country: String,
    pub merchant_id: Option<MerchantId>,
    pub merchant_name: Option<String>,
    /// Category code of the store; of its merchant's stores if they all have the same.
    pub mcc: Option<String>,
}

statements! {
    // The order of the tables is given: what a store has is found by its key, twice for each store.
    PORTFOLIO_TOTALS =
        "SELECT d.connection_id, d.currency, d.orders_sum, d.items_sum, d.gross_sum, d.net_sum,
           d.refunds_sum
         FROM connections c CROSS JOIN connection_days d
         WHERE c.iso_id = $1 AND d.iso_id = c.iso_id AND d.connection_id = c.connection_id
           AND d.day = (SELECT MAX(l.day) FROM connection_days l
                        WHERE l.iso_id = c.iso_id AND l.connection_id = c.connection_id
                          AND l.day <= $2)";
    PORTFOLIO_BY_DAY =
        "SELECT day, currency, COUNT(*), CAST(SUM(orders) AS BIGINT), CAST(SUM(items) AS BIGINT),
           CAST(SUM(gross) AS BIGINT), CAST(SUM(net) AS BIGINT), CAST(SUM(refunds) AS BIGINT)
         FROM connection_days WHERE iso_id = $1 AND day >= $2 AND day <= $3
         GROUP BY day, currency ORDER BY day, currency";
    PORTFOLIO_STORES =
        "SELECT c.connection_id, c.name, c.url, c.country, c.merchant_id, m.dba,
           COALESCE(s.mcc, (SELECT CASE WHEN MIN(o.mcc) = MAX(o.mcc) THEN MIN(o.mcc) END
                            FROM stores o
                            WHERE o.iso_id = c.iso_id AND o.merchant_id = c.merchant_id))
         FROM connections c
         LEFT JOIN merchants m ON m.iso_id = c.iso_id AND m.merchant_id = c.merchant_id
         LEFT JOIN stores s ON s.iso_id = c.iso_id AND s.store_id = c.store_id
         WHERE c.iso_id = $1";
    DAY_RECENT =
        "SELECT day, currency, orders, items, gross, net, refunds FROM connection_days
         WHERE iso_id = $1 AND connection_id = $2 AND day >= $3 ORDER BY day";
    DAY_LIST =
        "SELECT day, currency, orders, items, gross, net, refunds, orders_sum, items_sum,
           gross_sum, net_sum, refunds_sum
         FROM connection_days WHERE iso_id = $1 AND connection_id = $2";
    DAY_PUT =
        "INSERT INTO connection_days
           (iso_id, connection_id, day, currency, orders, items, gross, net, refunds,
            orders_sum, items_sum, gross_sum, net_sum, refunds_sum)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
         ON CONFLICT (iso_id, connection_id, day, currency) DO UPDATE SET
           orders = excluded.orders, items = excluded.items, gross = excluded.gross,
           net = excluded.net, refunds = excluded.refunds, orders_sum = excluded.orders_sum,
           items_sum = excluded.items_sum, gross_sum = excluded.gross_sum,
           net_sum = excluded.net_sum, refunds_sum = excluded.refunds_sum";
    DAY_DELETE =
        "DELETE FROM connection_days
         WHERE iso_id = $1 AND connection_id = $2 AND day = $3 AND currency = $4";
}

/// Lets the days of a connection that is held be these. Returns whether it was still held. Only
/// days that differ are written.
pub fn put_days(conn: &mut dyn Conn, row: &ConnectionRow, days: &[DayRow]) -> Result<bool> {
    if !connection::is_held_by(conn, row)? {
        return Ok(false);
    }
    let currency = days.first().map(|day| &day.currency);
    if days.iter().any(|day| Some(&day.currency) != currency) {
        return Err(Error::internal("the days of a store are in several currencies"));
    }
    let id = row.connection_id.as_str();
    let mut stored: BTreeMap<(String, String), (Figures, Figures)> = BTreeMap::new();
    for (key, figures) in conn.rows(&DAY_LIST, &[(&row.iso_id).into(), id.into()], |row| {
        let figures = (Figures::read(row, 2)?, Figures::read(row, 7)?);
        Ok(((row.get(0)?, row.get(1)?), figures))
    })? {
        stored.insert(key, figures);
    }
    let mut ordered: Vec<&DayRow> = days.iter().collect();
    ordered.sort_by(|a, b| a.day.cmp(&b.day));
    let mut total = Figures::default();
    for day in ordered {
        total = total.plus(day.figures());
        let figures = (day.figures(), total);
        if stored.remove(&(day.day.clone(), day.currency.clone())) == Some(figures) {
            continue;
        }
        let mut params = vec![
            (&row.iso_id).into(),
            id.into(),
            day.day.as_str().into(),
            day.currency.as_str().into(),
        ];
        params.extend(figures.0.columns().into_iter().chain(total.columns()).map(db::Val::Int));
        conn.execute_one(&DAY_PUT, &params)?;
    }
    for (day, currency) in stored.keys() {
        let params =
            [(&row.iso_id).into(), id.into(), day.as_str().into(), currency.as_str().into()];
        conn.execute_one(&DAY_DELETE, &params)?;
    }
    Ok(true)
}

/// What each store of the ISO sold up to the end of a day, with its currency, by connection.
pub fn totals(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    day: &str,
) -> Result<HashMap<String, (String, Figures)>> {
    let found = conn.rows(&PORTFOLIO_TOTALS, &[iso_id.into(), day.into()], |row| {
        Ok((row.get(0)?, (row.get(1)?, Figures::read(row, 2)?)))
    });
    Ok(found?.into_iter().collect())
}

/// What all stores of the ISO sold on each day from one to another, by day.
pub fn by_day(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    (from, to): (&str, &str),
) -> Result<Vec<DaySum>> {
    conn.rows(&PORTFOLIO_BY_DAY, &[iso_id.into(), from.into(), to.into()], |row| {
        let (day, currency, stores) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(DaySum { day, currency, stores, figures: Figures::read(row, 3)? })
    })
}

/// All connected stores of the ISO.
pub fn stores(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<Vec<PortfolioStore>> {
    conn.rows(&PORTFOLIO_STORES, &[iso_id.into()], |row| {
        Ok(PortfolioStore {
            connection_id: row.get(0)?,
            name: row.get(1)?,
            url: row.get(2)?,
            country: row.get(3)?,
            merchant_id: row.get(4)?,
            merchant_name: row.get(5)?,
            mcc: row.get(6)?,
        })
    })
}

/// The days of a store from one on, by day.
pub fn recent_days(conn: &mut dyn Conn, row: &ConnectionRow, from: &str) -> Result<Vec<DayRow>> {
    let params = [(&row.iso_id).into(), row.connection_id.as_str().into(), from.into()];
    conn.rows(&DAY_RECENT, &params, |row| {
        let Figures { orders, items, gross, net, refunds } = Figures::read(row, 2)?;
        let (day, currency) = (row.get(0)?, row.get(1)?);
        Ok(DayRow { day, currency, orders, items, gross, net, refunds })
    })
}
