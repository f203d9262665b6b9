//! What the sandbox's own gateway knows of the payments that it was asked for.

use db::{Conn, Record, SITE, statements};
use types::{Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SandboxPaymentRow in "sandbox_payments", fixed(site_id = SITE),
        key(session_id: String)
    {
        /// The gateway of the shop that asked.
        gateway: String,
        payment_id: String,
        description: String,
        currency: String,
        /// As the shop wrote it.
        amount: String,
        callback_url: String,
        return_url: String,
        cancel_url: String,
        /// `open`, `action` or `done`.
        state: String,
        created: Timestamp,
    }
}

statements! {
    SANDBOX_PAYMENT_INSERT = db::insert!(SandboxPaymentRow);
    SANDBOX_PAYMENT_UPDATE = db::update!(SandboxPaymentRow);
    SANDBOX_PAYMENT_GET = db::select!(
        SandboxPaymentRow,
        "WHERE site_id = $1 AND session_id = $2"
    );
    SANDBOX_PAYMENT_OF = db::select!(
        SandboxPaymentRow,
        "WHERE site_id = $1 AND payment_id = $2 ORDER BY session_id LIMIT 1"
    );
    SANDBOX_PAYMENTS_PRUNE =
        "DELETE FROM sandbox_payments WHERE site_id = $1 AND created_us <= $2";
}

pub fn insert(conn: &mut dyn Conn, row: &SandboxPaymentRow) -> Result<()> {
    conn.insert(&SANDBOX_PAYMENT_INSERT, row).map(drop)
}

/// Returns whether there is such a session.
pub fn update(conn: &mut dyn Conn, row: &SandboxPaymentRow) -> Result<bool> {
    conn.update_existing(&SANDBOX_PAYMENT_UPDATE, row)
}

pub fn get(conn: &mut dyn Conn, session_id: &str) -> Result<Option<SandboxPaymentRow>> {
    conn.row(&SANDBOX_PAYMENT_GET, &[SITE.into(), session_id.into()], SandboxPaymentRow::read)
}

/// The session of a payment of the shop.
pub fn of_payment(conn: &mut dyn Conn, payment_id: &str) -> Result<Option<SandboxPaymentRow>> {
    conn.row(&SANDBOX_PAYMENT_OF, &[SITE.into(), payment_id.into()], SandboxPaymentRow::read)
}

/// Forgets sessions of before that time, and returns how many those were.
pub fn prune(conn: &mut dyn Conn, before: Timestamp) -> Result<u64> {
    conn.execute(&SANDBOX_PAYMENTS_PRUNE, &[SITE.into(), before.into()])
}
