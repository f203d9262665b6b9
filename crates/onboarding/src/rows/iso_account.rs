//! What an ISO is beside its name: its state, and the person to talk to.
//!
//! **An ISO without a row is active**: those that the operator made need no account of their own.

use std::time::Duration;

use db::record::Columns;
use db::{Conn, Record as _, Val, statements};
use site_rows::iso::IsoRow;
use types::{IsoId, Result, Timestamp};

/// The state of an ISO that may work.
pub const ACTIVE: &str = "active";

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct IsoAccount in "iso_accounts", key(iso_id: IsoId) {
        status: String,
        status_reason: Option<String>,
        version: i64,
        /// Sealed with the ISO's data key.
        contact_sealed: Option<Vec<u8>>,
        /// A JSON object of the limits that are the ISO's own.
        limits: String,
        /// How far the ISO's clock is ahead; never in production.
        clock_ahead: Duration,
        /// None until it changes for the first time.
        updated: Option<Timestamp>,
    }
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

/// Columns of an ISO before those of its account.
const ISO_COLUMNS: usize = 5;

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
    ACCOUNT_GET = db::select!(IsoAccount, "WHERE iso_id = $1");
    ACCOUNT_LIST = db::select!(IsoAccount, "ORDER BY iso_id");
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
    ACCOUNT_PUT = db::upsert!(IsoAccount);
    ACCOUNT_AHEAD = db::select!(
        IsoAccount,
        "WHERE clock_ahead_us > 0 ORDER BY clock_ahead_us, iso_id LIMIT $1"
    );
}

/// The account of an ISO that exists.
pub fn get(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<IsoAccount> {
    let found = conn.row(&ACCOUNT_GET, &[iso_id.into()], IsoAccount::read)?;
    Ok(found.unwrap_or_else(|| IsoAccount::plain(iso_id.clone())))
}

/// All accounts of which something was noted.
pub fn list(conn: &mut dyn Conn) -> Result<Vec<IsoAccount>> {
    conn.rows(&ACCOUNT_LIST, &[], IsoAccount::read)
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
    conn.rows(statement, &params, |row| {
        let account = IsoAccount::take(&mut Columns::after(ISO_COLUMNS, row))?;
        Ok((IsoRow::read(row)?, account))
    })
}

/// Up to `limit` accounts whose clock is ahead.
pub fn ahead(conn: &mut dyn Conn, limit: i64) -> Result<Vec<IsoAccount>> {
    conn.rows(&ACCOUNT_AHEAD, &[limit.into()], IsoAccount::read)
}

/// Notes the account, in place of what was noted before.
pub fn put(conn: &mut dyn Conn, account: &IsoAccount, now: Timestamp) -> Result<()> {
    let noted = IsoAccount { updated: Some(now), ..account.clone() };
    conn.insert(&ACCOUNT_PUT, &noted).map(drop)
}
