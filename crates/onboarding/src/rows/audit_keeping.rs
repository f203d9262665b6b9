//! The audit log over the years: its ends are told, and its oldest entries are taken off line.
//!
//! What is taken off leaves a checkpoint, from which the rest of the chain can still be checked.

use db::{Conn, Record as _, statements};
use types::{IsoId, Result, Timestamp};

use crate::rows::audit::{self, Head, Link, chain_name};

statements! {
    CHECKPOINT_GET = "SELECT iso_id, seq, hash, seal FROM audit_checkpoints WHERE iso_id = $1";
    CHECKPOINT_SET =
        "INSERT INTO audit_checkpoints (iso_id, seq, hash, seal, made_us)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (iso_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash,
           seal = excluded.seal, made_us = excluded.made_us";
    CHECKPOINT_CUT = "DELETE FROM audit WHERE iso_id = $1 AND seq <= $2";
    HEADS_UNTOLD =
        "SELECT h.iso_id, h.seq, h.hash, h.seal, t.seq FROM audit_heads AS h
         LEFT JOIN audit_heads_told AS t ON t.iso_id = h.iso_id
         WHERE t.iso_id IS NULL OR (t.seq < h.seq AND t.told_us <= $1)
         ORDER BY h.iso_id LIMIT $2";
    HEAD_TOLD =
        "INSERT INTO audit_heads_told (iso_id, seq, told_us) VALUES ($1, $2, $3)
         ON CONFLICT (iso_id) DO UPDATE SET seq = excluded.seq, told_us = excluded.told_us";
}

/// Where the chain starts; at number 0 if nothing was taken off.
pub fn checkpoint(conn: &mut dyn Conn, iso_id: Option<&IsoId>) -> Result<Head> {
    let name = chain_name(iso_id);
    let found = conn.row(&CHECKPOINT_GET, &[name.into()], Head::read)?;
    Ok(found.unwrap_or_else(|| Head { iso_id: name.to_owned(), ..Head::default() }))
}

/// The oldest entries of a chain that are of before that moment, up to `limit`.
pub fn oldest(
    conn: &mut dyn Conn,
    iso_id: Option<&IsoId>,
    before: Timestamp,
    limit: i64,
) -> Result<Vec<Link>> {
    let from = checkpoint(conn, iso_id)?.seq;
    let links = audit::after(conn, iso_id, from, limit)?;
    Ok(links.into_iter().take_while(|link| link.record.at < before).collect())
}

/// Takes the entries up to this one off line. `seal` proves the new start of the chain; it is given
/// the checkpoint without its seal.
pub fn cut(
    conn: &mut dyn Conn,
    last: &Link,
    seal: &dyn Fn(&Head) -> Vec<u8>,
    now: Timestamp,
) -> Result<()> {
    let name = chain_name(last.record.iso_id.as_ref());
    let start =
        Head { iso_id: name.to_owned(), seq: last.seq, hash: last.hash.clone(), seal: Vec::new() };
    let sealed = seal(&start);
    let params =
        [name.into(), start.seq.into(), (&start.hash).into(), (&sealed).into(), now.into()];
    conn.execute_one(&CHECKPOINT_SET, &params)?;
    conn.execute(&CHECKPOINT_CUT, &[name.into(), start.seq.into()]).map(drop)
}

/// Up to `limit` ends of chains that moved since they were told, which was not after `until`; and
/// whether each is new, and was never noted.
pub fn untold(conn: &mut dyn Conn, until: Timestamp, limit: i64) -> Result<Vec<(Head, bool)>> {
    conn.rows(&HEADS_UNTOLD, &[until.into(), limit.into()], |row| {
        Ok((Head::read(row)?, row.get::<Option<i64>>(4)?.is_none()))
    })
}

/// Notes up to which entry the end was told.
pub fn note_told(conn: &mut dyn Conn, chain: &str, seq: i64, now: Timestamp) -> Result<()> {
    conn.execute_one(&HEAD_TOLD, &[chain.into(), seq.into(), now.into()])
}
