//! The durable queue of what is to be sent to others, and what came of it.
//!
//! A delivery goes to an endpoint, which is a kind with an id: a webhook of the shop, or whatever
//! else is told of changes. [`enqueue`] runs in the transaction of the change. Who sends takes
//! deliveries with [`claim_due`] for the time of a lease, and says with [`finish`] what came of it;
//! a lease that ends without that makes the delivery due again, so that **each is sent at least
//! once**. Its attempt is the proof of a claim: who lost the lease cannot finish it any more.
//!
//! **A lane of an endpoint gets its deliveries one at a time and in order**: one that is tried
//! again later holds back those behind it, until it is delivered or given up. Lanes do not wait for
//! each other; an endpoint that wants everything in order has one. Two who claim at once never get
//! the same one: on SQLite there is one writer, on PostgreSQL the loser of the race is run again
//! and finds others.

use std::time::Duration;

use types::{Error, Result, Timestamp};

use crate::filter::{Clause, Direction, Filter, Page};
use crate::{Conn, Row, SITE, Val, named, statements};

/// Deliveries that one claim takes.
pub const CLAIM_MAX: i64 = 1000;

named! {
    DeliveryState {
        /// To be sent, or being sent.
        #[default]
        Waiting = "waiting",
        Delivered = "delivered",
        /// Given up.
        Failed = "failed",
    }
}

/// Who gets a delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// What the id is of, such as `webhook`.
    pub kind: String,
    pub id: String,
}

/// Something to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewDelivery {
    pub endpoint: Endpoint,
    /// What must arrive in order has one lane, such as an object's id.
    pub lane: String,
    /// What the sender calls it; may be empty.
    pub message_id: String,
    pub topic: String,
    pub body: Vec<u8>,
    /// A JSON object of what else the sender must know.
    pub details: String,
    /// Not before this moment.
    pub due: Timestamp,
    pub created: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRow {
    pub delivery_id: i64,
    pub endpoint: Endpoint,
    pub lane: String,
    pub message_id: String,
    pub topic: String,
    pub body: Vec<u8>,
    /// A JSON object.
    pub details: String,
    pub state: DeliveryState,
    /// How often it was claimed.
    pub attempt: i64,
    /// When to send it; while it is claimed, when the lease ends.
    pub due: Timestamp,
    pub created: Timestamp,
    pub finished: Option<Timestamp>,
    /// What the last attempt that was finished brought.
    pub answer: Answer,
}

/// What an endpoint answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// None when there was no answer.
    pub status: Option<i64>,
    /// The answer's body, or why there was none. Cut to a length by who sends.
    pub body: String,
    pub duration: Option<Duration>,
}

/// One attempt at a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRow {
    /// Counts from 1.
    pub attempt: i64,
    /// When it had ended.
    pub at: Timestamp,
    pub answer: Answer,
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Delivered,
    /// Try again then.
    Retry(Timestamp),
    /// Given up.
    Failed,
}

/// What [`DeliveryRow::read`] reads, in its order.
macro_rules! delivery_columns {
    () => {
        "delivery_id, endpoint_kind, endpoint_id, topic, body, details, state, attempt, due_us,
         created_us, finished_us, last_status, last_body, last_duration_us, lane, message_id"
    };
}

statements! {
    DELIVERY_ENDPOINT_INSERT =
        "INSERT INTO delivery_endpoints (site_id, endpoint_kind, endpoint_id) VALUES ($1, $2, $3)
         ON CONFLICT (site_id, endpoint_kind, endpoint_id) DO NOTHING";
    DELIVERY_INSERT =
        "INSERT INTO webhook_deliveries
           (site_id, endpoint_kind, endpoint_id, lane, message_id, topic, body, details, due_us,
            created_us, state, attempt, leased, last_body, held)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'waiting', 0, 0, '',
           CASE WHEN EXISTS (SELECT 1 FROM webhook_deliveries AS ahead
                             WHERE ahead.site_id = $1 AND ahead.endpoint_kind = $2
                               AND ahead.endpoint_id = $3 AND ahead.lane = $4
                               AND ahead.state = 'waiting')
                THEN 1 ELSE 0 END)
         RETURNING delivery_id";
    DELIVERY_DUE =
        "SELECT endpoint_kind, endpoint_id
         FROM (SELECT endpoint_kind, endpoint_id,
                      (SELECT MIN(head.due_us) FROM webhook_deliveries AS head
                       WHERE head.site_id = delivery_endpoints.site_id
                         AND head.endpoint_kind = delivery_endpoints.endpoint_kind
                         AND head.endpoint_id = delivery_endpoints.endpoint_id
                         AND head.state = 'waiting' AND head.held = 0) AS due_us
               FROM delivery_endpoints WHERE site_id = $1) AS heads
         WHERE due_us <= $2 ORDER BY due_us, endpoint_kind, endpoint_id LIMIT $3";
    DELIVERY_CLAIM = concat!(
        "UPDATE webhook_deliveries SET due_us = $1, attempt = attempt + 1, leased = 1
         WHERE delivery_id IN (
           SELECT head.delivery_id FROM webhook_deliveries AS head
           WHERE head.site_id = $2 AND head.endpoint_kind = $3 AND head.endpoint_id = $4
             AND head.state = 'waiting' AND head.held = 0 AND head.due_us <= $5
           ORDER BY head.due_us, head.delivery_id LIMIT $6)
         RETURNING ",
        delivery_columns!()
    );
    DELIVERY_UNLEASE =
        "UPDATE webhook_deliveries SET due_us = $1, leased = 0
         WHERE site_id = $2 AND state = 'waiting' AND held = 0 AND leased = 1";
    // The next of the lane may be sent now.
    DELIVERY_RELEASE =
        "UPDATE webhook_deliveries SET held = 0
         WHERE delivery_id = (
           SELECT MIN(next.delivery_id) FROM webhook_deliveries AS next
           WHERE next.site_id = $1 AND next.endpoint_kind = $2 AND next.endpoint_id = $3
             AND next.lane = $4 AND next.state = 'waiting')";
    ATTEMPT_INSERT =
        "INSERT INTO delivery_attempts (delivery_id, attempt, at_us, status, body, duration_us)
         VALUES ($1, $2, $3, $4, $5, $6)";
    ATTEMPT_LIST =
        "SELECT attempt, at_us, status, body, duration_us FROM delivery_attempts
         WHERE delivery_id = $1 ORDER BY attempt";
    DELIVERY_IS_KNOWN =
        "SELECT 1 FROM webhook_deliveries
         WHERE message_id = $1 AND message_id <> '' AND endpoint_kind = $2 AND endpoint_id = $3
           AND site_id = $4 AND state <> 'failed' LIMIT 1";
    DELIVERY_FINISH =
        "UPDATE webhook_deliveries SET
           state = $1, due_us = $2, finished_us = $3, last_status = $4, last_body = $5,
           last_duration_us = $6, leased = 0
         WHERE site_id = $7 AND delivery_id = $8 AND attempt = $9 AND state = 'waiting'";
    DELIVERY_GET = concat!(
        "SELECT ",
        delivery_columns!(),
        " FROM webhook_deliveries WHERE site_id = $1 AND delivery_id = $2"
    );
    DELIVERIES_FORGET =
        "DELETE FROM webhook_deliveries
         WHERE site_id = $1 AND endpoint_kind = $2 AND endpoint_id = $3";
    DELIVERIES_PRUNE =
        "DELETE FROM webhook_deliveries WHERE delivery_id IN (
           SELECT old.delivery_id FROM webhook_deliveries AS old
           WHERE old.site_id = $1 AND old.finished_us < $2 AND old.finished_us IS NOT NULL
           ORDER BY old.finished_us LIMIT $3)";
}

/// Puts a delivery behind those of its lane, and returns its id. Call it in the transaction of
/// what it tells of.
pub fn enqueue(conn: &mut dyn Conn, delivery: &NewDelivery) -> Result<i64> {
    let Endpoint { kind, id } = &delivery.endpoint;
    conn.execute(&DELIVERY_ENDPOINT_INSERT, &[SITE.into(), kind.into(), id.into()])?;
    let params = [
        SITE.into(),
        kind.into(),
        id.into(),
        (&delivery.lane).into(),
        (&delivery.message_id).into(),
        (&delivery.topic).into(),
        (&delivery.body).into(),
        (&delivery.details).into(),
        delivery.due.into(),
        delivery.created.into(),
    ];
    let delivery_id = conn.row(&DELIVERY_INSERT, &params, |row| row.get(0))?;
    delivery_id.ok_or_else(|| Error::internal("a delivery got no number"))
}

/// Endpoints for which something is due, those first for which it has been so for the longest.
pub fn due_endpoints(conn: &mut dyn Conn, now: Timestamp, limit: i64) -> Result<Vec<Endpoint>> {
    conn.rows(&DELIVERY_DUE, &[SITE.into(), now.into(), limit.into()], |row| {
        Ok(Endpoint { kind: row.get(0)?, id: row.get(1)? })
    })
}

/// Takes up to `limit` deliveries of an endpoint that are due, one of each lane, the longest due
/// first. They are the caller's until the lease ends.
pub fn claim_due(
    conn: &mut dyn Conn,
    endpoint: &Endpoint,
    now: Timestamp,
    limit: i64,
    lease: Duration,
) -> Result<Vec<DeliveryRow>> {
    let limit = limit.clamp(0, CLAIM_MAX);
    let params = [
        now.plus(lease).into(),
        SITE.into(),
        (&endpoint.kind).into(),
        (&endpoint.id).into(),
        now.into(),
        limit.into(),
    ];
    let mut claimed = conn.rows(&DELIVERY_CLAIM, &params, DeliveryRow::read)?;
    claimed.sort_by_key(|delivery| delivery.delivery_id);
    Ok(claimed)
}

/// Ends all leases, and returns how many there were. Only for who knows that nobody else sends: the
/// leases are those of a process that died.
pub fn end_leases(conn: &mut dyn Conn, now: Timestamp) -> Result<u64> {
    conn.execute(&DELIVERY_UNLEASE, &[now.into(), SITE.into()])
}

/// Says what came of a delivery as it was claimed. Returns `false`, and changes nothing, when the
/// lease ended and somebody else claimed it meanwhile, or when it is gone.
pub fn finish(
    conn: &mut dyn Conn,
    claimed: &DeliveryRow,
    now: Timestamp,
    outcome: Outcome,
    answer: &Answer,
) -> Result<bool> {
    let (state, due, finished) = match outcome {
        Outcome::Delivered => (DeliveryState::Delivered, now, Some(now)),
        Outcome::Retry(due) => (DeliveryState::Waiting, due, None),
        Outcome::Failed => (DeliveryState::Failed, now, Some(now)),
    };
    let duration = answer.duration.map(|time| i64::try_from(time.as_micros()).unwrap_or(i64::MAX));
    let params: [Val<'_>; 9] = [
        state.into(),
        due.into(),
        finished.into(),
        answer.status.into(),
        (&answer.body).into(),
        duration.into(),
        SITE.into(),
        claimed.delivery_id.into(),
        claimed.attempt.into(),
    ];
    if conn.execute(&DELIVERY_FINISH, &params)? == 0 {
        return Ok(false);
    }
    let attempt = [
        claimed.delivery_id.into(),
        claimed.attempt.into(),
        now.into(),
        answer.status.into(),
        (&answer.body).into(),
        duration.into(),
    ];
    conn.execute_one(&ATTEMPT_INSERT, &attempt)?;
    if finished.is_some() {
        let Endpoint { kind, id } = &claimed.endpoint;
        let lane = [SITE.into(), kind.into(), id.into(), (&claimed.lane).into()];
        conn.execute(&DELIVERY_RELEASE, &lane)?;
    }
    Ok(true)
}

/// The attempts at a delivery that were finished, the first one first.
pub fn attempts(conn: &mut dyn Conn, delivery_id: i64) -> Result<Vec<AttemptRow>> {
    conn.rows(&ATTEMPT_LIST, &[delivery_id.into()], |row| {
        let answer = Answer { status: row.get(2)?, body: row.get(3)?, duration: duration(row, 4)? };
        Ok(AttemptRow { attempt: row.get(0)?, at: row.get(1)?, answer })
    })
}

/// Whether a message waits for the endpoint, or was delivered to it.
pub fn is_known(conn: &mut dyn Conn, endpoint: &Endpoint, message_id: &str) -> Result<bool> {
    let Endpoint { kind, id } = endpoint;
    let params = [message_id.into(), kind.into(), id.into(), SITE.into()];
    Ok(conn.row(&DELIVERY_IS_KNOWN, &params, |row| row.get::<i64>(0))?.is_some())
}

fn duration(row: &dyn Row, index: usize) -> Result<Option<Duration>> {
    let micros: Option<i64> = row.get(index)?;
    Ok(micros.map(|micros| Duration::from_micros(micros.unsigned_abs())))
}

pub fn get(conn: &mut dyn Conn, delivery_id: i64) -> Result<Option<DeliveryRow>> {
    conn.row(&DELIVERY_GET, &[SITE.into(), delivery_id.into()], DeliveryRow::read)
}

/// A page of the deliveries of an endpoint, the newest first, and how many there are. No states
/// means all.
pub fn list(
    conn: &mut dyn Conn,
    endpoint: &Endpoint,
    states: &[DeliveryState],
    page: Page,
) -> Result<(Vec<DeliveryRow>, i64)> {
    let mut filter = of_endpoint(endpoint);
    filter.and_list("state IN (?)", states)?;
    let keys = ["created_us", "delivery_id"];
    let order = keys.map(|key| (Clause::fixed(key), Direction::Descending)).into();
    let selection = (delivery_columns!(), "webhook_deliveries");
    filter.page(conn, selection, order, page, DeliveryRow::read)
}

/// The first `limit` deliveries of an endpoint with smaller numbers than `before`, the newest
/// first. No states means all.
pub fn list_before(
    conn: &mut dyn Conn,
    endpoint: &Endpoint,
    states: &[DeliveryState],
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<DeliveryRow>> {
    let mut filter = of_endpoint(endpoint);
    filter.and_value("delivery_id < ?", before);
    filter.and_list("state IN (?)", states)?;
    let order = vec![(Clause::fixed("delivery_id"), Direction::Descending)];
    let selection = (delivery_columns!(), "webhook_deliveries");
    filter.first(conn, selection, order, limit, DeliveryRow::read)
}

fn of_endpoint(endpoint: &Endpoint) -> Filter {
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_value("endpoint_kind = ?", Some(endpoint.kind.clone()));
    filter.and_value("endpoint_id = ?", Some(endpoint.id.clone()));
    filter
}

/// Deletes all deliveries of an endpoint that is gone, and returns how many.
pub fn forget(conn: &mut dyn Conn, endpoint: &Endpoint) -> Result<u64> {
    // The endpoint's own row stays: somebody may be about to enqueue.
    let params = [SITE.into(), (&endpoint.kind).into(), (&endpoint.id).into()];
    conn.execute(&DELIVERIES_FORGET, &params)
}

/// Deletes up to `limit` deliveries that were finished before that moment, and returns how many.
pub fn prune(conn: &mut dyn Conn, before: Timestamp, limit: i64) -> Result<u64> {
    conn.execute(&DELIVERIES_PRUNE, &[SITE.into(), before.into(), limit.into()])
}

impl DeliveryRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            delivery_id: row.get(0)?,
            endpoint: Endpoint { kind: row.get(1)?, id: row.get(2)? },
            lane: row.get(14)?,
            message_id: row.get(15)?,
            topic: row.get(3)?,
            body: row.get(4)?,
            details: row.get(5)?,
            state: row.get(6)?,
            attempt: row.get(7)?,
            due: row.get(8)?,
            created: row.get(9)?,
            finished: row.get(10)?,
            answer: Answer {
                status: row.get(11)?,
                body: row.get(12)?,
                duration: duration(row, 13)?,
            },
        })
    }
}
