//! Forms that ISOs sent to merchants, with what the merchants have entered so far.

use db::filter::{Clause, Direction, Filter};
use db::{Conn, Record as _, statements};
use types::{IsoId, MerchantId, Result, StoreId, Timestamp, Tpn};

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OnboardingLinkRow in "onboarding_links", key(iso_id: IsoId, link_id: String) {
        /// Keyed hash of the link's token.
        token_hash: Vec<u8>,
        status: String,
        version: i64,
        /// Address, name, and what was entered, sealed with the ISO's data key.
        sealed: Vec<u8>,
        /// Who sent it, as the audit log calls them.
        created_by: String,
        /// What became of it.
        merchant_id: Option<MerchantId>,
        store_id: Option<StoreId>,
        tpn: Option<Tpn>,
        created: Timestamp,
        updated: Timestamp,
        expires: Timestamp,
        submitted: Option<Timestamp>,
    }
}

statements! {
    LINK_INSERT = db::insert!(OnboardingLinkRow);
    LINK_UPDATE = db::update!(OnboardingLinkRow);
    LINK_GET = db::select!(OnboardingLinkRow, "WHERE iso_id = $1 AND link_id = $2");
    LINK_FIND = db::select!(OnboardingLinkRow, "WHERE token_hash = $1");
    LINK_WAITING =
        "SELECT COUNT(*) FROM onboarding_links
         WHERE status IN ('open', 'submitted') AND iso_id = $1";
    LINK_PRUNE =
        "DELETE FROM onboarding_links
         WHERE status IN ('expired', 'withdrawn') AND updated_us <= $1";
}

pub fn insert(conn: &mut dyn Conn, link: &OnboardingLinkRow) -> Result<()> {
    conn.insert(&LINK_INSERT, link).map(drop)
}

pub fn update(conn: &mut dyn Conn, link: &OnboardingLinkRow) -> Result<()> {
    conn.update(&LINK_UPDATE, link)
}

pub fn get(conn: &mut dyn Conn, iso_id: &IsoId, id: &str) -> Result<Option<OnboardingLinkRow>> {
    conn.row(&LINK_GET, &[iso_id.into(), id.into()], OnboardingLinkRow::read)
}

/// The one that a token is for, whatever became of it.
pub fn find(conn: &mut dyn Conn, token_hash: &[u8]) -> Result<Option<OnboardingLinkRow>> {
    conn.row(&LINK_FIND, &[token_hash.into()], OnboardingLinkRow::read)
}

/// How many of the ISO wait for their merchants, or for the ISO itself.
pub fn waiting(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<i64> {
    let count = conn.row(&LINK_WAITING, &[iso_id.into()], |row| row.get(0))?;
    Ok(count.unwrap_or(0))
}

/// The newest of the ISO, in one state or in all, behind a place in the list.
pub fn list(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    status: Option<&str>,
    after: Option<&(Timestamp, String)>,
    limit: i64,
) -> Result<Vec<OnboardingLinkRow>> {
    let mut filter = Filter::new("iso_id = ?", iso_id.as_str().to_owned());
    filter.and_value("status = ?", status.map(str::to_owned));
    if let Some((created, id)) = after {
        let before = filter.clause("created_us < ?", *created);
        let same = filter.clause("created_us = ?", *created);
        let older = filter.clause("link_id < ?", id.clone());
        let same = Clause::joined(vec![same, older], " AND ");
        filter.and(Clause::joined(vec![before, same], " OR "));
    }
    let order = vec![
        (Clause::fixed("created_us"), Direction::Descending),
        (Clause::fixed("link_id"), Direction::Descending),
    ];
    let source = (OnboardingLinkRow::COLUMNS, OnboardingLinkRow::TABLE);
    filter.first(conn, source, order, limit, OnboardingLinkRow::read)
}

/// Forgets those that ended without a merchant before then, and returns how many there were.
pub fn prune(conn: &mut dyn Conn, before: Timestamp) -> Result<u64> {
    conn.execute(&LINK_PRUNE, &[before.into()])
}
