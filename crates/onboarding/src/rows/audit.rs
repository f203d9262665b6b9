//! Who did what: appended in the transaction of the change, chained afterwards.
//!
//! Each ISO has a chain without gaps: an entry's hash covers its number, its content and the hash
//! of the entry before it. Hashing inside the writer's transaction would make the writers of an ISO
//! wait for each other, so rows are appended without a number and [`chain`] links what has become
//! visible, one linker at a time. The end of each chain is sealed by the caller, who has a key; the
//! store has none. **A row that is linked is never changed.**

use std::collections::{BTreeMap, BTreeSet};

use db::filter::{Clause, Direction, Filter};
use db::{Conn, Record as _, Row, Val, counter, statements};
use serde_json::json;
use types::{IsoId, MerchantId, Result, Timestamp};

/// Who links is told whenever a chain has got so many more.
const TOLD_EVERY: i64 = 1_000;

/// Something that somebody did, or was refused to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Whose matter it is; none for what belongs to no ISO.
    pub iso_id: Option<IsoId>,
    pub at: Timestamp,
    /// A key, a user or the system itself, such as `key:3kT9xQ2a`.
    pub actor: String,
    pub address: Option<String>,
    pub request_id: Option<String>,
    /// Such as `merchant.suspend`.
    pub action: String,
    /// What kind of object it was done to.
    pub object: String,
    pub object_id: String,
    /// Ids of other objects that the change made.
    pub related: Vec<String>,
    pub version_before: Option<i64>,
    pub version_after: Option<i64>,
    /// A JSON object of what changed, without personal data and without secrets.
    pub changes: String,
    pub result: String,
    pub reason: String,
}

/// A record in its place in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub seq: i64,
    pub record: Record,
    pub prev_hash: Vec<u8>,
    pub hash: Vec<u8>,
}

db::record! {
    /// The end of a chain.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Head in "audit_heads", key(
        /// Empty for what belongs to no ISO.
        iso_id: String,
    ) {
        seq: i64,
        hash: Vec<u8>,
        seal: Vec<u8>,
    }
}

/// Which entries to list. What is not asked for is not looked at.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    pub iso_id: Option<IsoId>,
    /// Entries with smaller numbers only: the cursor of a list from the newest to the oldest.
    pub before_seq: Option<i64>,
    pub actor: Option<String>,
    pub action: Option<String>,
    pub object: Option<String>,
    pub object_id: Option<String>,
    /// Of a merchant, its stores and its TPNs.
    pub merchant_id: Option<MerchantId>,
    pub request_id: Option<String>,
    pub result: Option<String>,
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub search: Option<Search>,
}

/// What people look for in the log.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// In small letters, anywhere in the action, the object's id or what changed.
    pub text: String,
    /// Actions and actors that people call so.
    pub actions: Vec<String>,
    pub actors: Vec<String>,
}

/// One who links at a time.
const CHAIN: &str = "audit.chain";

/// What [`read_record`] reads, in its order.
macro_rules! record_columns {
    () => {
        "iso_id, at_us, actor, address, request_id, action, object, object_id, related,
         version_before, version_after, changes, result, reason"
    };
}
const RECORD_COLUMNS: usize = 14;

statements! {
    AUDIT_INSERT = concat!(
        "INSERT INTO audit (",
        record_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
    );
    AUDIT_PENDING = "SELECT 1 FROM audit WHERE seq IS NULL LIMIT 1";
    AUDIT_UNCHAINED = concat!(
        "SELECT ",
        record_columns!(),
        ", id FROM audit WHERE seq IS NULL ORDER BY id LIMIT $1"
    );
    AUDIT_LINK = "UPDATE audit SET seq = $1, prev_hash = $2, hash = $3 WHERE id = $4";
    AUDIT_HEAD = db::select!(Head, "WHERE iso_id = $1");
    AUDIT_HEAD_SET = db::upsert!(Head);
    AUDIT_AFTER = concat!(
        "SELECT ",
        record_columns!(),
        ", seq, prev_hash, hash FROM audit WHERE iso_id = $1 AND seq > $2 ORDER BY seq LIMIT $3"
    );
}

/// Appends a record. Call it in the transaction that makes the change.
pub fn append(conn: &mut dyn Conn, record: &Record) -> Result<()> {
    let related = related_text(&record.related);
    conn.execute_one(
        &AUDIT_INSERT,
        &[
            chain_name(record.iso_id.as_ref()).into(),
            record.at.into(),
            (&record.actor).into(),
            record.address.as_ref().into(),
            record.request_id.as_ref().into(),
            (&record.action).into(),
            (&record.object).into(),
            (&record.object_id).into(),
            (&related).into(),
            record.version_before.into(),
            record.version_after.into(),
            (&record.changes).into(),
            (&record.result).into(),
            (&record.reason).into(),
        ],
    )
}

/// Whether there are records that are in no chain yet.
pub fn has_unchained(conn: &mut dyn Conn) -> Result<bool> {
    Ok(conn.row(&AUDIT_PENDING, &[], |row| row.get::<i64>(0))?.is_some())
}

/// What was linked at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linked {
    pub count: usize,
    /// Chains that have become longer by another thousand.
    pub grown: Vec<Option<IsoId>>,
}

/// Links up to `limit` records, in the order in which they were appended. `seal` proves the end of
/// a chain; it does not look at the seal that the head has. **A chain whose end was not sealed
/// right is never sealed again**: what was forged stays to be found.
pub fn chain(conn: &mut dyn Conn, limit: i64, seal: &dyn Fn(&Head) -> Vec<u8>) -> Result<Linked> {
    counter::lock(conn, CHAIN)?;
    let pending = conn.rows(&AUDIT_UNCHAINED, &[limit.into()], |row| {
        Ok((row.get::<i64>(RECORD_COLUMNS)?, read_record(row)?))
    })?;
    let mut heads: BTreeMap<String, Head> = BTreeMap::new();
    let mut forged: BTreeSet<String> = BTreeSet::new();
    let mut grown: BTreeSet<Option<IsoId>> = BTreeSet::new();
    for (id, record) in &pending {
        let name = chain_name(record.iso_id.as_ref());
        let mut last = if let Some(last) = heads.remove(name) {
            last
        } else {
            let last = head(conn, record.iso_id.as_ref())?;
            if last.seq > 0 && last.seal != seal(&last) {
                forged.insert(last.iso_id.clone());
            }
            last
        };
        last.seq += 1;
        let hash = hash(last.seq, record, &last.hash);
        let params = [last.seq.into(), (&last.hash).into(), Val::Bytes(&hash), (*id).into()];
        conn.execute_one(&AUDIT_LINK, &params)?;
        if last.seq % TOLD_EVERY == 0 {
            grown.insert(record.iso_id.clone());
        }
        last.hash = hash.to_vec();
        heads.insert(name.to_owned(), last);
    }
    for mut head in heads.into_values() {
        head.seal = if forged.contains(&head.iso_id) { Vec::new() } else { seal(&head) };
        conn.insert(&AUDIT_HEAD_SET, &head)?;
    }
    Ok(Linked { count: pending.len(), grown: grown.into_iter().collect() })
}

/// The end of a chain; one that has no entries ends at number 0.
pub fn head(conn: &mut dyn Conn, iso_id: Option<&IsoId>) -> Result<Head> {
    let name = chain_name(iso_id);
    let found = conn.row(&AUDIT_HEAD, &[name.into()], Head::read)?;
    Ok(found.unwrap_or_else(|| Head { iso_id: name.to_owned(), ..Head::default() }))
}

/// Up to `limit` entries of a chain after `seq`, in order.
pub fn after(
    conn: &mut dyn Conn,
    iso_id: Option<&IsoId>,
    seq: i64,
    limit: i64,
) -> Result<Vec<Link>> {
    let params = [chain_name(iso_id).into(), seq.into(), limit.into()];
    conn.rows(&AUDIT_AFTER, &params, read_link)
}

/// The first `limit` entries that match, the newest first.
pub fn list(conn: &mut dyn Conn, wanted: &AuditFilter, limit: i64) -> Result<Vec<Link>> {
    let iso_id = chain_name(wanted.iso_id.as_ref()).to_owned();
    let mut filter = match &wanted.merchant_id {
        None => Filter::new("iso_id = ?", iso_id),
        Some(merchant_id) => of_merchant(iso_id, merchant_id),
    };
    filter.and(Clause::fixed("seq IS NOT NULL"));
    filter.and_value("seq < ?", wanted.before_seq);
    filter.and_value("actor = ?", wanted.actor.clone());
    filter.and_value("action = ?", wanted.action.clone());
    filter.and_value("object = ?", wanted.object.clone());
    if let Some(object_id) = &wanted.object_id {
        let own = filter.clause("object_id = ?", object_id.clone());
        // The engines disagree about case in LIKE, and about the name of a plain search.
        let word = format!(" {object_id} ");
        let related = filter.clause("REPLACE(related, ?, '') <> related", word);
        filter.and(Clause::joined(vec![own, related], " OR "));
    }
    filter.and_value("request_id = ?", wanted.request_id.clone());
    filter.and_value("result = ?", wanted.result.clone());
    filter.and_value("at_us >= ?", wanted.from);
    filter.and_value("at_us < ?", wanted.until);
    if let Some(search) = &wanted.search {
        and_search(&mut filter, search)?;
    }
    let columns = concat!(record_columns!(), ", seq, prev_hash, hash");
    let order = vec![(Clause::fixed("seq"), Direction::Descending)];
    filter.first(conn, (columns, "audit"), order, limit, read_link)
}

/// Entries on a merchant, its stores and its TPNs, found by the index of objects: an expression
/// keeps the engines from reading all of the ISO's entries in the order of the list instead.
fn of_merchant(iso_id: String, merchant_id: &MerchantId) -> Filter {
    let mut filter = Filter::new("iso_id || '' = ?", iso_id);
    // The ISO is the first parameter.
    let objects = "object_id IN (
        SELECT CAST(? AS TEXT)
        UNION ALL SELECT store_id FROM stores WHERE merchant_id = ? AND iso_id = $1
        UNION ALL SELECT tpn FROM tpns WHERE merchant_id = ? AND iso_id = $1)";
    let objects = filter.clause(objects, merchant_id.as_str().to_owned());
    filter.and(objects);
    filter
}

fn and_search(filter: &mut Filter, search: &Search) -> Result<()> {
    // The engines disagree about case in LIKE; ids, actions and names of fields are ASCII.
    let text = search.text.clone();
    let contained = "(REPLACE(LOWER(action), ?, '') <> LOWER(action)
        OR REPLACE(LOWER(object_id), ?, '') <> LOWER(object_id)
        OR REPLACE(LOWER(changes), ?, '') <> LOWER(changes))";
    let mut clauses = vec![filter.clause(contained, text)];
    if !search.actions.is_empty() {
        clauses.push(filter.list("action IN (?)", &search.actions)?);
    }
    if !search.actors.is_empty() {
        clauses.push(filter.list("actor IN (?)", &search.actors)?);
    }
    filter.and(Clause::joined(clauses, " OR "));
    Ok(())
}

/// What the entry's hash must be in this place: BLAKE3 of the hash before it and of a JSON list of
/// everything that the entry says, in the order of its columns.
pub fn hash(seq: i64, record: &Record, prev_hash: &[u8]) -> [u8; 32] {
    let canonical = json!([
        seq,
        chain_name(record.iso_id.as_ref()),
        record.at.as_micros(),
        record.actor,
        record.address,
        record.request_id,
        record.action,
        record.object,
        record.object_id,
        related_text(&record.related),
        record.version_before,
        record.version_after,
        record.changes,
        record.result,
        record.reason,
    ]);
    let mut hasher = blake3::Hasher::new();
    hasher.update(prev_hash).update(canonical.to_string().as_bytes());
    *hasher.finalize().as_bytes()
}

pub(crate) fn chain_name(iso_id: Option<&IsoId>) -> &str {
    iso_id.map_or("", IsoId::as_str)
}

fn related_text(ids: &[String]) -> String {
    if ids.is_empty() { String::new() } else { format!(" {} ", ids.join(" ")) }
}

fn read_link(row: &dyn Row) -> Result<Link> {
    Ok(Link {
        record: read_record(row)?,
        seq: row.get(RECORD_COLUMNS)?,
        // Who empties a hash has broken the chain, which is for the reader to find.
        prev_hash: row.get::<Option<Vec<u8>>>(RECORD_COLUMNS + 1)?.unwrap_or_default(),
        hash: row.get::<Option<Vec<u8>>>(RECORD_COLUMNS + 2)?.unwrap_or_default(),
    })
}

fn read_record(row: &dyn Row) -> Result<Record> {
    let iso_id: String = row.get(0)?;
    let related: String = row.get(8)?;
    Ok(Record {
        iso_id: (!iso_id.is_empty()).then(|| IsoId::new(iso_id)),
        at: row.get(1)?,
        actor: row.get(2)?,
        address: row.get(3)?,
        request_id: row.get(4)?,
        action: row.get(5)?,
        object: row.get(6)?,
        object_id: row.get(7)?,
        related: related.split_ascii_whitespace().map(str::to_owned).collect(),
        version_before: row.get(9)?,
        version_after: row.get(10)?,
        changes: row.get(11)?,
        result: row.get(12)?,
        reason: row.get(13)?,
    })
}
