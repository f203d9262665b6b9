//! The feed of all changes: appended in the transaction of the change, numbered afterwards.
//!
//! Webhooks, analytics and caches follow this feed. Its sequence has no gaps and no reader ever
//! sees a number appear behind one that it has read. Taking the number inside the writer's
//! transaction would make every writer on PostgreSQL wait for the one before it to reach the disk,
//! so rows are appended without a number, and [`sequence`] numbers what has become visible: one
//! numberer at a time, in the order of insertion, which for one object is the order of its changes.
//! The events of an ISO are numbered among themselves as well, and read by [`of_iso`].

use std::sync::LazyLock;

use types::{Error, IsoId, Result, Timestamp};

use crate::filter::{Clause, Direction, Filter, starting_with};
use crate::{Conn, Row, Val, bulk, counter, statements};

/// Something that happened to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Whose object it is; none when it is the site's own, such as a product.
    pub iso_id: Option<IsoId>,
    /// Such as `merchant.created`.
    pub kind: &'static str,
    pub object_id: String,
    /// A JSON object without personal data and without secrets.
    pub payload: String,
    pub created: Timestamp,
}

impl Event {
    /// Something that happened to an object of the site, of which followers know enough when they
    /// know its number. `payload` is a JSON object.
    pub fn of_site(
        kind: &'static str,
        object_id: i64,
        payload: String,
        created: Timestamp,
    ) -> Self {
        Self { iso_id: None, kind, object_id: object_id.to_string(), payload, created }
    }

    fn params(&self) -> [Val<'_>; COLUMNS] {
        [
            self.iso_id.as_ref().into(),
            self.kind.into(),
            (&self.object_id).into(),
            (&self.payload).into(),
            self.created.into(),
        ]
    }
}

/// An event with its place in the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequencedEvent {
    pub seq: i64,
    pub iso_id: Option<IsoId>,
    /// Its number among the events of the ISO.
    pub iso_seq: Option<i64>,
    pub kind: String,
    pub object_id: String,
    pub payload: String,
    pub created: Timestamp,
}

/// The kind of the event after an import of a whole shop, which tells of no record by itself.
pub const IMPORTED: &str = "site.imported";

/// The counter of the feed, which unlike counters of ids has no gaps.
const SEQUENCE: &str = "outbox.seq";
/// Counters of how far somebody has followed the feed start with this.
const FOLLOWER: &str = "outbox.follower.";

/// What [`SequencedEvent::read`] reads, in its order.
macro_rules! event_columns {
    () => {
        "seq, iso_id, iso_seq, kind, object_id, payload, created_us"
    };
}

const COLUMNS: usize = 5;

macro_rules! outbox_insert {
    () => {
        "INSERT INTO outbox (iso_id, kind, object_id, payload, created_us) VALUES"
    };
}

statements! {
    OUTBOX_INSERT = concat!(outbox_insert!(), " ($1, $2, $3, $4, $5)");
    OUTBOX_PENDING = "SELECT 1 FROM outbox WHERE seq IS NULL LIMIT 1";
    // The events are chosen before they are counted: those that wait may be very many.
    OUTBOX_NUMBER =
        "UPDATE outbox SET
           seq = numbered.seq,
           iso_seq = CASE WHEN outbox.iso_id IS NULL THEN NULL ELSE numbered.iso_seq END
         FROM (SELECT new.id,
                      $1 + ROW_NUMBER() OVER (ORDER BY new.id) - 1 AS seq,
                      COALESCE(event_heads.last_seq, 0)
                        + ROW_NUMBER() OVER (PARTITION BY new.iso_id ORDER BY new.id) AS iso_seq
                 FROM (SELECT id, iso_id FROM outbox WHERE seq IS NULL ORDER BY id LIMIT $2) AS new
                   LEFT JOIN event_heads ON event_heads.iso_id = new.iso_id) AS numbered
         WHERE outbox.id = numbered.id";
    EVENT_HEADS_ADVANCE =
        "INSERT INTO event_heads (iso_id, last_seq)
         SELECT iso_id, MAX(iso_seq) FROM outbox
         WHERE seq >= $1 AND seq < $2 AND iso_id IS NOT NULL GROUP BY iso_id
         ON CONFLICT (iso_id) DO UPDATE SET last_seq = excluded.last_seq";
    SEQUENCE_ADVANCE = "UPDATE counters SET next = next + $1 WHERE name = $2";
    OUTBOX_FOLLOWERS =
        "SELECT name, next FROM counters WHERE name LIKE 'outbox.follower.%' ORDER BY name";
    OUTBOX_AFTER =
        concat!("SELECT ", event_columns!(), " FROM outbox WHERE seq > $1 ORDER BY seq LIMIT $2");
    OUTBOX_ISO_OLDEST = "SELECT MIN(iso_seq) FROM outbox WHERE iso_id = $1 AND iso_seq IS NOT NULL";
    // Only the oldest are looked at, so that looking costs the same however many there are.
    OUTBOX_PRUNE =
        "DELETE FROM outbox WHERE id IN (
           SELECT oldest.id FROM (
             SELECT id, created_us FROM outbox
             WHERE seq IS NOT NULL
               AND seq <= (SELECT MIN(next) FROM counters WHERE name LIKE 'outbox.follower.%')
             ORDER BY seq LIMIT $1) AS oldest
           WHERE oldest.created_us < $2)";
}

static INSERT_BATCH: LazyLock<String> = LazyLock::new(|| bulk::text(outbox_insert!(), COLUMNS));

/// Appends an event. Call it in the transaction that makes the change.
pub fn append(conn: &mut dyn Conn, event: &Event) -> Result<()> {
    conn.execute_one(&OUTBOX_INSERT, &event.params())
}

/// Appends many events by few statements, in their order.
pub fn append_many(conn: &mut dyn Conn, events: &[Event]) -> Result<()> {
    let rows: Vec<[Val<'_>; COLUMNS]> = events.iter().map(Event::params).collect();
    bulk::insert(conn, (&OUTBOX_INSERT, &INSERT_BATCH), &rows)
}

/// Whether there are events without a number.
pub fn has_unsequenced(conn: &mut dyn Conn) -> Result<bool> {
    Ok(conn.row(&OUTBOX_PENDING, &[], |row| row.get::<i64>(0))?.is_some())
}

/// Numbers up to `limit` events that have none yet and returns how many there were.
pub fn sequence(conn: &mut dyn Conn, limit: i64) -> Result<u64> {
    let next = counter::lock(conn, SEQUENCE)?;
    let numbered = conn.execute(&OUTBOX_NUMBER, &[Val::Int(next), Val::Int(limit)])?;
    let advance = i64::try_from(numbered).expect("a count of rows fits");
    conn.execute_one(&SEQUENCE_ADVANCE, &[Val::Int(advance), SEQUENCE.into()])?;
    if numbered > 0 {
        let range = [Val::Int(next), Val::Int(next.saturating_add(advance))];
        conn.execute(&EVENT_HEADS_ADVANCE, &range)?;
    }
    Ok(numbered)
}

/// Up to `limit` numbered events after `seq`, in order.
pub fn after(conn: &mut dyn Conn, seq: i64, limit: i64) -> Result<Vec<SequencedEvent>> {
    conn.rows(&OUTBOX_AFTER, &[seq.into(), limit.into()], SequencedEvent::read)
}

/// Which events of an ISO to list. No kinds and no groups means all.
#[derive(Clone, Debug)]
pub struct IsoEvents {
    pub iso_id: IsoId,
    /// Events with larger numbers only.
    pub after: i64,
    /// Events of this moment or later.
    pub since: Option<Timestamp>,
    /// Whole kinds, such as `merchant.created`.
    pub kinds: Vec<String>,
    /// Beginnings of kinds, such as `merchant.`.
    pub groups: Vec<String>,
}

/// Up to `limit` numbered events of an ISO, in order.
pub fn of_iso(conn: &mut dyn Conn, wanted: &IsoEvents, limit: i64) -> Result<Vec<SequencedEvent>> {
    let mut filter = Filter::new("iso_id = ?", wanted.iso_id.as_str().to_owned());
    filter.and_value("iso_seq > ?", Some(wanted.after));
    filter.and_value("created_us >= ?", wanted.since);
    let mut kinds = Vec::new();
    if !wanted.kinds.is_empty() {
        kinds.push(filter.list("kind IN (?)", &wanted.kinds)?);
    }
    for group in &wanted.groups {
        kinds.push(filter.clause("kind LIKE ? ESCAPE '!'", starting_with(group)?));
    }
    if !kinds.is_empty() {
        filter.and(Clause::joined(kinds, " OR "));
    }
    let order = vec![(Clause::fixed("iso_seq"), Direction::Ascending)];
    filter.first(conn, (event_columns!(), "outbox"), order, limit, SequencedEvent::read)
}

/// The number of the oldest event that is kept of an ISO.
pub fn oldest_of_iso(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<Option<i64>> {
    let oldest = conn.row(&OUTBOX_ISO_OLDEST, &[iso_id.into()], |row| row.get(0))?;
    Ok(oldest.flatten())
}

/// Forgets events of before that moment which all who follow have dealt with, among the oldest
/// `limit`, and returns how many there were.
pub fn prune(conn: &mut dyn Conn, before: Timestamp, limit: i64) -> Result<u64> {
    conn.execute(&OUTBOX_PRUNE, &[limit.into(), before.into()])
}

/// The number of the last event that has one; 0 when none has.
pub fn head(conn: &mut dyn Conn) -> Result<i64> {
    Ok((counter::read(conn, SEQUENCE)? - 1).max(0))
}

/// Who follows the feed, and how many events each has not dealt with.
pub fn lags(conn: &mut dyn Conn) -> Result<Vec<(String, i64)>> {
    let head = head(conn)?;
    let positions =
        conn.rows(&OUTBOX_FOLLOWERS, &[], |row| Ok((row.get::<String>(0)?, row.get::<i64>(1)?)))?;
    let lag = |(name, position): (String, i64)| {
        (name.trim_start_matches(FOLLOWER).to_owned(), (head - position).max(0))
    };
    Ok(positions.into_iter().map(lag).collect())
}

/// The number of the last event that the follower has dealt with.
pub fn position(conn: &mut dyn Conn, follower: &str) -> Result<i64> {
    counter::read(conn, &place(follower))
}

/// Notes that the follower has dealt with the events up to `to`. Call it in the transaction of what
/// the follower made of them. A conflict when somebody else moved it meanwhile.
pub fn advance(conn: &mut dyn Conn, follower: &str, from: i64, to: i64) -> Result<()> {
    if from == to {
        return Ok(());
    }
    // The sequence has no gaps, so a position counts events.
    if counter::take(conn, &place(follower), to - from)? == from {
        return Ok(());
    }
    Err(Error::conflict("somebody else has dealt with these events"))
}

fn place(follower: &str) -> String {
    format!("{FOLLOWER}{follower}")
}

/// Whether the counter says where the feed ends, or how far somebody has followed it.
pub(crate) fn is_own_counter(name: &str) -> bool {
    name == SEQUENCE || name.starts_with(FOLLOWER)
}

impl SequencedEvent {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            seq: row.get(0)?,
            iso_id: row.get(1)?,
            iso_seq: row.get(2)?,
            kind: row.get(3)?,
            object_id: row.get(4)?,
            payload: row.get(5)?,
            created: row.get(6)?,
        })
    }
}
