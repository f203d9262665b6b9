//! Payments of orders at gateways with a payment page of their own, their refunds, and the messages
//! that were received about them.

use db::{Conn, Record, SITE, statements};
use types::{Amount, Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PaymentRow in "payments", fixed(site_id = SITE), key(payment_id: String) {
        order_id: i64,
        gateway: String,
        currency: String,
        /// What the buyer is asked for.
        amount: Amount,
        /// What the gateway calls the payment; may be empty.
        reference: String,
        /// The gateway's page; empty until it was asked for.
        page_url: String,
        /// The most that the gateway says it has taken.
        captured: Amount,
        authorised: Option<Timestamp>,
        declined: Option<Timestamp>,
        disputed: Option<Timestamp>,
        created: Timestamp,
        modified: Timestamp,
    }
}

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PaymentRefundRow in "payment_refunds", fixed(site_id = SITE),
        key(payment_id: String, refund_key: String)
    {
        /// The refund of the order; 0 while it has none.
        order_refund_id: i64,
        amount: Amount,
        /// `requested`, `accepted`, `paid`, `declined`, `failed` or [`WITHDRAWN`].
        state: String,
        reason: String,
        /// The status that the order had before it.
        status_before: String,
        created: Timestamp,
    }
}

statements! {
    PAYMENT_INSERT = db::insert!(PaymentRow);
    PAYMENT_UPDATE = db::update!(PaymentRow);
    PAYMENT_GET = db::select!(PaymentRow, "WHERE site_id = $1 AND payment_id = $2");
    PAYMENTS_OF_ORDER = db::select!(
        PaymentRow,
        "WHERE site_id = $1 AND order_id = $2 ORDER BY created_us DESC, payment_id LIMIT $3"
    );
    PAYMENT_REFUND_INSERT = db::insert!(PaymentRefundRow);
    PAYMENT_REFUND_UPDATE = db::update!(PaymentRefundRow);
    PAYMENT_REFUND_GET = db::select!(
        PaymentRefundRow,
        "WHERE site_id = $1 AND payment_id = $2 AND refund_key = $3"
    );
    PAYMENT_REFUNDS_OF = db::select!(
        PaymentRefundRow,
        "WHERE site_id = $1 AND payment_id = $2 ORDER BY created_us, refund_key"
    );
    PAYMENT_MESSAGE_INSERT =
        "INSERT INTO payment_messages (site_id, gateway, message_id, payment_id, received_us)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    PAYMENT_MESSAGES_PRUNE =
        "DELETE FROM payment_messages WHERE site_id = $1 AND received_us <= $2";
}

/// The state of a refund that was deleted before the gateway answered.
pub const WITHDRAWN: &str = "withdrawn";

/// Payments of one order that are ever looked at: the newest.
const OF_ORDER_MAX: i64 = 100;

pub fn insert(conn: &mut dyn Conn, payment: &PaymentRow) -> Result<()> {
    conn.insert(&PAYMENT_INSERT, payment).map(drop)
}

/// Returns whether there is such a payment.
pub fn update(conn: &mut dyn Conn, payment: &PaymentRow) -> Result<bool> {
    conn.update_existing(&PAYMENT_UPDATE, payment)
}

pub fn get(conn: &mut dyn Conn, payment_id: &str) -> Result<Option<PaymentRow>> {
    conn.row(&PAYMENT_GET, &[SITE.into(), payment_id.into()], PaymentRow::read)
}

/// The payments of an order, the newest first.
pub fn of_order(conn: &mut dyn Conn, order_id: i64) -> Result<Vec<PaymentRow>> {
    let params = [SITE.into(), order_id.into(), OF_ORDER_MAX.into()];
    conn.rows(&PAYMENTS_OF_ORDER, &params, PaymentRow::read)
}

/// Inserts or replaces the refund of this name.
pub fn refund_put(conn: &mut dyn Conn, refund: &PaymentRefundRow) -> Result<()> {
    if conn.update_existing(&PAYMENT_REFUND_UPDATE, refund)? {
        return Ok(());
    }
    conn.insert(&PAYMENT_REFUND_INSERT, refund).map(drop)
}

pub fn refund_get(
    conn: &mut dyn Conn,
    payment_id: &str,
    refund_key: &str,
) -> Result<Option<PaymentRefundRow>> {
    let params = [SITE.into(), payment_id.into(), refund_key.into()];
    conn.row(&PAYMENT_REFUND_GET, &params, PaymentRefundRow::read)
}

/// The refunds of a payment, the oldest first.
pub fn refunds_of(conn: &mut dyn Conn, payment_id: &str) -> Result<Vec<PaymentRefundRow>> {
    let params = [SITE.into(), payment_id.into()];
    conn.rows(&PAYMENT_REFUNDS_OF, &params, PaymentRefundRow::read)
}

/// Notes that a message of a gateway was received. `false` if it was before.
pub fn take_message(
    conn: &mut dyn Conn,
    (gateway, message_id): (&str, &str),
    payment_id: &str,
    now: Timestamp,
) -> Result<bool> {
    let params = [SITE.into(), gateway.into(), message_id.into(), payment_id.into(), now.into()];
    Ok(conn.execute(&PAYMENT_MESSAGE_INSERT, &params)? == 1)
}

/// Forgets messages of before that time, and returns how many those were.
pub fn prune_messages(conn: &mut dyn Conn, before: Timestamp) -> Result<u64> {
    conn.execute(&PAYMENT_MESSAGES_PRUNE, &[SITE.into(), before.into()])
}
