//! The durable queue of what is to be sent to others, and what came of it.
//!
//! A delivery goes to an endpoint, which is a kind with an id: a webhook of the shop, or whatever
//! else is told of changes. [`enqueue`] runs in the transaction of the change. Who sends takes
//! deliveries with [`claim_due`] for the time of a lease, and says with [`finish`] what came of it;
//! a lease that ends without that makes the delivery due again, so that **each is sent at least
//! once**. Its attempt is the proof of a claim: who lost the lease cannot finish it any more.
//!
//! **An endpoint gets its deliveries one at a time and in order**: one that is tried again later
//! holds back those behind it, until it is delivered or given up. Two who claim at once never get
//! the same one: on SQLite there is one writer, on PostgreSQL the loser of the race is run again
//! and finds others.

use std::time::Duration;

use types::{Error, Result, Timestamp};

use crate::conn::sql;
use crate::filter::{Clause, Direction, Filter, Page};
use crate::named::named;
use crate::{Conn, Row, SITE, Sql};

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

impl Endpoint {
    pub const WEBHOOK: &str = "webhook";

    /// The endpoint of a webhook of the shop.
    pub fn webhook(webhook_id: i64) -> Self {
        Self { kind: Self::WEBHOOK.to_owned(), id: webhook_id.to_string() }
    }
}

/// Something to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewDelivery {
    pub endpoint: Endpoint,
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
         created_us, finished_us, last_status, last_body, last_duration_us"
    };
}

/// The oldest waiting delivery of each endpoint, as `head`.
macro_rules! heads {
    () => {
        " FROM (SELECT (SELECT first.delivery_id FROM webhook_deliveries AS first
                        WHERE first.site_id = delivery_endpoints.site_id
                          AND first.endpoint_kind = delivery_endpoints.endpoint_kind
                          AND first.endpoint_id = delivery_endpoints.endpoint_id
                          AND first.state = 'waiting'
                        ORDER BY first.delivery_id LIMIT 1) AS delivery_id
                FROM delivery_endpoints WHERE site_id = $"
    };
}

sql!(
    DELIVERY_ENDPOINT_INSERT,
    "INSERT INTO delivery_endpoints (site_id, endpoint_kind, endpoint_id) VALUES ($1, $2, $3)
     ON CONFLICT (site_id, endpoint_kind, endpoint_id) DO NOTHING"
);
sql!(
    DELIVERY_INSERT,
    "INSERT INTO webhook_deliveries
       (site_id, endpoint_kind, endpoint_id, topic, body, details, state, attempt, due_us,
        created_us, last_body)
     VALUES ($1, $2, $3, $4, $5, $6, 'waiting', 0, $7, $8, '')
     RETURNING delivery_id"
);
sql!(
    DELIVERY_CLAIM,
    concat!(
        "UPDATE webhook_deliveries SET due_us = $1, attempt = attempt + 1
         WHERE delivery_id IN (SELECT head.delivery_id",
        heads!(),
        "2) AS next JOIN webhook_deliveries AS head ON head.delivery_id = next.delivery_id
           WHERE head.due_us <= $3 ORDER BY head.due_us, head.delivery_id LIMIT $4)
         RETURNING ",
        delivery_columns!()
    )
);
sql!(
    DELIVERY_NEXT_DUE,
    concat!(
        "SELECT MIN(head.due_us)",
        heads!(),
        "1) AS next JOIN webhook_deliveries AS head ON head.delivery_id = next.delivery_id"
    )
);
sql!(
    DELIVERY_FINISH,
    "UPDATE webhook_deliveries SET
       state = $1, due_us = $2, finished_us = $3, last_status = $4, last_body = $5,
       last_duration_us = $6
     WHERE site_id = $7 AND delivery_id = $8 AND attempt = $9 AND state = 'waiting'"
);
sql!(
    DELIVERY_GET,
    concat!(
        "SELECT ",
        delivery_columns!(),
        " FROM webhook_deliveries WHERE site_id = $1 AND delivery_id = $2"
    )
);
sql!(
    DELIVERIES_FORGET,
    "DELETE FROM webhook_deliveries
     WHERE site_id = $1 AND endpoint_kind = $2 AND endpoint_id = $3"
);
sql!(
    DELIVERIES_PRUNE,
    "DELETE FROM webhook_deliveries WHERE delivery_id IN (
       SELECT old.delivery_id FROM webhook_deliveries AS old
       WHERE old.site_id = $1 AND old.finished_us < $2 AND old.finished_us IS NOT NULL
       ORDER BY old.finished_us LIMIT $3)"
);

pub(crate) const STATEMENTS: &[&Sql] = &[
    &DELIVERY_ENDPOINT_INSERT,
    &DELIVERY_INSERT,
    &DELIVERY_CLAIM,
    &DELIVERY_NEXT_DUE,
    &DELIVERY_FINISH,
    &DELIVERY_GET,
    &DELIVERIES_FORGET,
    &DELIVERIES_PRUNE,
];

/// Puts a delivery behind those of its endpoint, and returns its id. Call it in the transaction of
/// what it tells of.
pub fn enqueue(conn: &mut dyn Conn, delivery: &NewDelivery) -> Result<i64> {
    let Endpoint { kind, id } = &delivery.endpoint;
    conn.execute(&DELIVERY_ENDPOINT_INSERT, &[SITE.into(), kind.into(), id.into()])?;
    let params = [
        SITE.into(),
        kind.into(),
        id.into(),
        (&delivery.topic).into(),
        (&delivery.body).into(),
        (&delivery.details).into(),
        delivery.due.into(),
        delivery.created.into(),
    ];
    let delivery_id = conn.row(&DELIVERY_INSERT, &params, |row| row.get(0))?;
    delivery_id.ok_or_else(|| Error::internal("a delivery got no number"))
}

/// Takes up to `limit` deliveries that are due, one of each endpoint, the longest due first. They
/// are the caller's until the lease ends.
pub fn claim_due(
    conn: &mut dyn Conn,
    now: Timestamp,
    limit: i64,
    lease: Duration,
) -> Result<Vec<DeliveryRow>> {
    let limit = limit.clamp(0, CLAIM_MAX);
    let params = [now.plus(lease).into(), SITE.into(), now.into(), limit.into()];
    let mut claimed = conn.rows(&DELIVERY_CLAIM, &params, DeliveryRow::read)?;
    claimed.sort_by_key(|delivery| delivery.delivery_id);
    Ok(claimed)
}

/// When the next delivery will be due, or was: until then there is nothing to claim.
pub fn next_due(conn: &mut dyn Conn) -> Result<Option<Timestamp>> {
    let due = conn.row(&DELIVERY_NEXT_DUE, &[SITE.into()], |row| row.get(0))?;
    Ok(due.flatten())
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
    let params = [
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
    Ok(conn.execute(&DELIVERY_FINISH, &params)? == 1)
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
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_value("endpoint_kind = ?", Some(endpoint.kind.clone()));
    filter.and_value("endpoint_id = ?", Some(endpoint.id.clone()));
    filter.and_list("state IN (?)", states)?;
    let keys = ["created_us", "delivery_id"];
    let order = keys.map(|key| (Clause::fixed(key), Direction::Descending)).into();
    let selection = (delivery_columns!(), "webhook_deliveries");
    filter.page(conn, selection, order, page, DeliveryRow::read)
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
        let duration: Option<i64> = row.get(13)?;
        let duration = duration.map(|micros| Duration::from_micros(micros.unsigned_abs()));
        Ok(Self {
            delivery_id: row.get(0)?,
            endpoint: Endpoint { kind: row.get(1)?, id: row.get(2)? },
            topic: row.get(3)?,
            body: row.get(4)?,
            details: row.get(5)?,
            state: row.get(6)?,
            attempt: row.get(7)?,
            due: row.get(8)?,
            created: row.get(9)?,
            finished: row.get(10)?,
            answer: Answer { status: row.get(11)?, body: row.get(12)?, duration },
        })
    }
}
