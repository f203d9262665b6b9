//! Webhooks: who wants to be told of what. What is sent waits in [`db::webhook_delivery`].

use db::filter::{Clause, Direction, Filter, Page, containing};
use db::webhook_delivery::Endpoint;
use db::{Conn, Record, SITE, Val, counter, statements};
use types::{Result, Timestamp};

const WEBHOOK_ID: &str = "webhook.id";

/// What deliveries to webhooks call their endpoint.
pub const ENDPOINT_KIND: &str = "webhook";

/// Where deliveries to the webhook go.
pub fn endpoint(webhook_id: i64) -> Endpoint {
    Endpoint { kind: ENDPOINT_KIND.to_owned(), id: webhook_id.to_string() }
}

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct WebhookRow in "webhooks", fixed(site_id = SITE), key(webhook_id: i64) {
        name: String,
        /// `active`, `paused` or `disabled`.
        status: String,
        /// Such as `order.created`.
        topic: String,
        delivery_url: String,
        secret_sealed: Vec<u8>,
        /// In whose name the delivered records are read.
        user_id: i64,
        /// The form of the delivered records.
        api_version: String,
        created: Timestamp,
        modified: Timestamp,
        /// Deliveries that failed since one succeeded.
        failure_count: i64,
        /// Whether nothing was delivered yet.
        pending: bool,
    }
    folded { name as "name_key" }
}

statements! {
    WEBHOOK_INSERT = db::insert!(WebhookRow);
    WEBHOOK_UPDATE = db::update!(WebhookRow);
    WEBHOOK_DELETE = "DELETE FROM webhooks WHERE site_id = $1 AND webhook_id = $2";
    WEBHOOK_GET = db::select!(WebhookRow, "WHERE site_id = $1 AND webhook_id = $2");
    WEBHOOKS_BY_TOPIC = db::select!(
        WebhookRow,
        "WHERE site_id = $1 AND status = 'active' AND topic = $2 ORDER BY webhook_id"
    );
    // The factor is 0 after a success and 1 after a failure.
    WEBHOOK_COUNT =
        "UPDATE webhooks SET failure_count = (failure_count + 1) * $1, pending = 0
         WHERE site_id = $2 AND webhook_id = $3 RETURNING failure_count";
}

/// Which webhooks to list. An empty list asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct WebhookFilter {
    /// A text that must be in the name.
    pub search: Option<String>,
    /// Bounds of the creation; webhooks of exactly that moment are not listed.
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
    pub statuses: Vec<String>,
    pub include: Vec<i64>,
    pub exclude: Vec<i64>,
    pub order: WebhookOrder,
    pub direction: Direction,
    pub page: Page,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WebhookOrder {
    #[default]
    Date,
    Id,
    Name,
}

/// Inserts the webhook with the next id, whatever `webhook_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, webhook: &WebhookRow) -> Result<i64> {
    conn.insert_next(&WEBHOOK_INSERT, webhook, WEBHOOK_ID)
}

/// Inserts the webhook with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn insert_with_id(conn: &mut dyn Conn, webhook: &WebhookRow) -> Result<()> {
    counter::raise(conn, WEBHOOK_ID, webhook.webhook_id)?;
    conn.insert(&WEBHOOK_INSERT, webhook).map(drop)
}

/// Returns whether there is such a webhook.
pub fn update(conn: &mut dyn Conn, webhook: &WebhookRow) -> Result<bool> {
    conn.update_existing(&WEBHOOK_UPDATE, webhook)
}

/// Deletes the webhook but not its deliveries; see [`db::webhook_delivery::forget`]. Returns
/// whether there was one.
pub fn delete(conn: &mut dyn Conn, webhook_id: i64) -> Result<bool> {
    Ok(conn.execute(&WEBHOOK_DELETE, &[SITE.into(), webhook_id.into()])? == 1)
}

pub fn get(conn: &mut dyn Conn, webhook_id: i64) -> Result<Option<WebhookRow>> {
    conn.row(&WEBHOOK_GET, &[SITE.into(), webhook_id.into()], WebhookRow::read)
}

/// The active webhooks on a topic, by their ids.
pub fn active_on(conn: &mut dyn Conn, topic: &str) -> Result<Vec<WebhookRow>> {
    conn.rows(&WEBHOOKS_BY_TOPIC, &[SITE.into(), topic.into()], WebhookRow::read)
}

/// Notes that a delivery succeeded or failed, and returns how many failed since one succeeded;
/// nothing when the webhook is gone.
pub fn count_delivery(
    conn: &mut dyn Conn,
    webhook_id: i64,
    succeeded: bool,
) -> Result<Option<i64>> {
    let params = [Val::from(!succeeded), SITE.into(), webhook_id.into()];
    conn.row(&WEBHOOK_COUNT, &params, |row| row.get(0))
}

/// A page of the webhooks that match, and how many match.
pub fn list(conn: &mut dyn Conn, wanted: &WebhookFilter) -> Result<(Vec<WebhookRow>, i64)> {
    let mut filter = Filter::new("site_id = ?", SITE);
    let pattern = wanted.search.as_deref().map(containing).transpose()?;
    filter.and_value("name_key LIKE ? ESCAPE '!'", pattern);
    filter.and_value("created_us > ?", wanted.after);
    filter.and_value("created_us < ?", wanted.before);
    filter.and_list("status IN (?)", &wanted.statuses)?;
    filter.and_list("webhook_id IN (?)", &wanted.include)?;
    filter.and_list("webhook_id NOT IN (?)", &wanted.exclude)?;
    let key = Clause::fixed(match wanted.order {
        WebhookOrder::Date => "created_us",
        WebhookOrder::Id => "webhook_id",
        WebhookOrder::Name => "name_key",
    });
    let order = vec![(key, wanted.direction), (Clause::fixed("webhook_id"), wanted.direction)];
    filter.records(conn, order, wanted.page)
}
