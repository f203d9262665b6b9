//! What an ISO is beside its name: its state, and the person to talk to.
//!
//! **An ISO without a row is active**: those that the operator made need no account of their own.

use std::time::Duration;

use db::{Conn, Row, Val, statements};
use site_rows::iso::IsoRow;
use types::{IsoId, Result, Timestamp};

/// The state of an ISO that may work.
pub const ACTIVE: &str = "active";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsoAccount {
    pub iso_id: IsoId,
    pub status: String,
    pub status_reason: Option<String>,
    pub version: i64,
    /// Sealed with the ISO's data key.
    pub contact_sealed: Option<Vec<u8>>,
    /// A JSON object of the limits that are the ISO's own.
    pub limits: String,
    /// How far the ISO's clock is ahead; never in production.
    pub clock_ahead: Duration,
    /// None until it changes for the first time.
    pub updated: Option<Timestamp>,
}

impl IsoAccount {
    /// The account of an ISO that nothing was noted about.
    pub fn plain(iso_id: IsoId) -> Self {
        Self {
            iso_id,
            status: ACTIVE.to_owned(),
            status_reason: None,
            version: 1,
            contact_sealed: None,
            limits: String::from("{}"),
            clock_ahead: Duration::ZERO,
            updated: None,
        }
    }

    pub fn is_active(&self) -> bool {
        self.status == ACTIVE
    }
}

/// What [`read`] reads, in its order.
macro_rules! account_columns {
    () => {
        "iso_id, status, status_reason, version, contact_sealed, limits, clock_ahead_us, updated_us"
    };
}

/// An ISO, and its account as it is where nothing was noted.
macro_rules! with_iso {
    () => {
        "SELECT isos.iso_id, isos.name, isos.response_style, isos.data_key, isos.created_us,
           isos.iso_id, COALESCE(noted.status, 'active'), noted.status_reason,
           COALESCE(noted.version, 1), noted.contact_sealed, COALESCE(noted.limits, '{}'),
           COALESCE(noted.clock_ahead_us, 0), noted.updated_us
         FROM isos LEFT JOIN iso_accounts AS noted ON noted.iso_id = isos.iso_id "
    };
}

statements! {
    ACCOUNT_GET = concat!("SELECT ", account_columns!(), " FROM iso_accounts WHERE iso_id = $1");
    ACCOUNT_LIST = concat!("SELECT ", account_columns!(), " FROM iso_accounts ORDER BY iso_id");
    ACCOUNT_PAGE = concat!(
        with_iso!(),
        "WHERE (isos.created_us, isos.iso_id) > ($1, $2)
         ORDER BY isos.created_us, isos.iso_id LIMIT $3"
    );
    ACCOUNT_PAGE_IN_STATE = concat!(
        with_iso!(),
        "WHERE (isos.created_us, isos.iso_id) > ($1, $2) AND COALESCE(noted.status, 'active') = $3
         ORDER BY isos.created_us, isos.iso_id LIMIT $4"
    );
    ACCOUNT_PUT = concat!(
        "INSERT INTO iso_accounts (",
        account_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (iso_id) DO UPDATE SET status = excluded.status,
           status_reason = excluded.status_reason, version = excluded.version,
           contact_sealed = excluded.contact_sealed, limits = excluded.limits,
           clock_ahead_us = excluded.clock_ahead_us, updated_us = excluded.updated_us"
    );
    ACCOUNT_AHEAD = concat!(
        "SELECT ",
        account_columns!(),
        " FROM iso_accounts WHERE clock_ahead_us > 0 ORDER BY clock_ahead_us, iso_id LIMIT $1"
    );
}

/// The account of an ISO that exists.
pub fn get(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<IsoAccount> {
    let found = conn.row(&ACCOUNT_GET, &[iso_id.into()], read)?;
    Ok(found.unwrap_or_else(|| IsoAccount::plain(iso_id.clone())))
}

/// All accounts of which something was noted.
pub fn list(conn: &mut dyn Conn) -> Result<Vec<IsoAccount>> {
    conn.rows(&ACCOUNT_LIST, &[], read)
}

/// Up to `limit` ISOs, the oldest first, or of those in a state: such as come after the one that
/// was created at that time with that id. Unlike a place in the list, that stays where it is when
/// states change.
pub fn page(
    conn: &mut dyn Conn,
    status: Option<&str>,
    after: Option<&(Timestamp, String)>,
    limit: i64,
) -> Result<Vec<(IsoRow, IsoAccount)>> {
    let (created, iso_id) =
        after.map_or((Timestamp::from_micros(i64::MIN), ""), |(created, id)| (*created, &**id));
    let mut params = vec![created.into(), iso_id.into()];
    params.extend(status.map(Val::from));
    params.push(limit.into());
    let statement = if status.is_some() { &ACCOUNT_PAGE_IN_STATE } else { &ACCOUNT_PAGE };
    let read = |row: &dyn Row| Ok((IsoRow::read(row)?, read_from(row, ISO_COLUMNS)?));
    conn.rows(statement, &params, read)
}

/// Up to `limit` accounts whose clock is ahead.
pub fn ahead(conn: &mut dyn Conn, limit: i64) -> Result<Vec<IsoAccount>> {
    conn.rows(&ACCOUNT_AHEAD, &[limit.into()], read)
}

/// Notes the account, in place of what was noted before.
pub fn put(conn: &mut dyn Conn, account: &IsoAccount, now: Timestamp) -> Result<()> {
    let ahead = i64::try_from(account.clock_ahead.as_micros()).unwrap_or(i64::MAX);
    conn.execute_one(
        &ACCOUNT_PUT,
        &[
            (&account.iso_id).into(),
            (&account.status).into(),
            account.status_reason.as_ref().into(),
            account.version.into(),
            account.contact_sealed.as_ref().into(),
            (&account.limits).into(),
            ahead.into(),
            now.into(),
        ],
    )
}

fn read(row: &dyn Row) -> Result<IsoAccount> {
    read_from(row, 0)
}

/// Columns of an ISO before those of its account.
const ISO_COLUMNS: usize = 5;

fn read_from(row: &dyn Row, first: usize) -> Result<IsoAccount> {
    Ok(IsoAccount {
        iso_id: row.get(first)?,
        status: row.get(first + 1)?,
        status_reason: row.get(first + 2)?,
        version: row.get(first + 3)?,
        contact_sealed: row.get(first + 4)?,
        limits: row.get(first + 5)?,
        clock_ahead: Duration::from_micros(row.get::<i64>(first + 6)?.unsigned_abs()),
        updated: row.get(first + 7)?,
    })
}
