//! The downloads that happened: when, by which permission and from where. Entries never change, but
//! for who it was, which is forgotten on request.

use db::filter::{Clause, Direction, Filter, Page, starting_with};
use db::{Conn, Record, Row, SITE, counter, statements};
use types::{Result, Timestamp};

const LOG_ID: &str = "download_log.id";

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct DownloadLogRow in "download_log", fixed(site_id = SITE), key(log_id: i64) {
        permission_id: i64,
        at: Timestamp,
        /// Who was signed in, if somebody was.
        user_id: Option<i64>,
        ip: String,
    }
}

/// What [`Download::read`] reads, in its order.
macro_rules! downloads {
    () => {
        "SELECT log.log_id, log.at_us, log.permission_id, log.ip, permitted.download_id,
           permitted.product_id, permitted.order_id, permitted.user_id, orders.merchant_id,
           orders.store_id
         FROM download_log AS log
           JOIN download_permissions AS permitted
             ON permitted.site_id = log.site_id AND permitted.permission_id = log.permission_id
           LEFT JOIN orders
             ON orders.site_id = log.site_id AND orders.order_id = permitted.order_id"
    };
}

statements! {
    DOWNLOAD_LOG_INSERT = db::insert!(DownloadLogRow);
    DOWNLOAD_LOG_GET = db::select!(DownloadLogRow, "WHERE site_id = $1 AND log_id = $2");
    DOWNLOAD_LOG_FORGET =
        "UPDATE download_log SET ip = '', user_id = NULL
         WHERE site_id = $1 AND permission_id = $2";
    DOWNLOADS_AFTER = concat!(
        downloads!(),
        " WHERE log.site_id = $1 AND log.log_id > $2 ORDER BY log.log_id LIMIT $3"
    );
    DOWNLOADS_OF_ORDER = concat!(
        downloads!(),
        " WHERE permitted.order_id = $1 AND permitted.site_id = $2 ORDER BY log.log_id"
    );
    DOWNLOAD_IPS =
        "SELECT DISTINCT ip FROM download_log WHERE site_id = $1 AND LOWER(ip) LIKE $2 ESCAPE '!'
         ORDER BY ip LIMIT $3";
}

/// Which entries to list. An empty list asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct DownloadLogFilter {
    pub include: Vec<i64>,
    pub permissions: Vec<i64>,
    pub users: Vec<i64>,
    pub ips: Vec<String>,
    pub ips_exclude: Vec<String>,
    /// Entries of exactly that moment are not listed.
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
    pub order: DownloadLogOrder,
    pub direction: Direction,
    pub page: Page,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DownloadLogOrder {
    #[default]
    Time,
    Id,
}

/// Inserts the entry with the next id, whatever `log_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, entry: &DownloadLogRow) -> Result<i64> {
    conn.insert_next(&DOWNLOAD_LOG_INSERT, entry, LOG_ID)
}

/// Inserts the entry with the id that it comes with, and sees to it that the id is not given again.
pub fn insert_with_id(conn: &mut dyn Conn, entry: &DownloadLogRow) -> Result<()> {
    counter::raise(conn, LOG_ID, entry.log_id)?;
    conn.insert(&DOWNLOAD_LOG_INSERT, entry).map(drop)
}

/// Forgets who downloaded by a permission, and from where. When it happened stays.
pub fn forget_who(conn: &mut dyn Conn, permission_id: i64) -> Result<()> {
    conn.execute(&DOWNLOAD_LOG_FORGET, &[SITE.into(), permission_id.into()]).map(drop)
}

pub fn get(conn: &mut dyn Conn, log_id: i64) -> Result<Option<DownloadLogRow>> {
    conn.row(&DOWNLOAD_LOG_GET, &[SITE.into(), log_id.into()], DownloadLogRow::read)
}

/// A page of the entries that match, and how many match.
pub fn list(conn: &mut dyn Conn, wanted: &DownloadLogFilter) -> Result<(Vec<DownloadLogRow>, i64)> {
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_list("log_id IN (?)", &wanted.include)?;
    filter.and_list("permission_id IN (?)", &wanted.permissions)?;
    filter.and_list("user_id IN (?)", &wanted.users)?;
    filter.and_list("ip IN (?)", &wanted.ips)?;
    filter.and_list("ip NOT IN (?)", &wanted.ips_exclude)?;
    filter.and_value("at_us > ?", wanted.after);
    filter.and_value("at_us < ?", wanted.before);
    let key = Clause::fixed(match wanted.order {
        DownloadLogOrder::Time => "at_us",
        DownloadLogOrder::Id => "log_id",
    });
    let order = vec![(key, wanted.direction), (Clause::fixed("log_id"), wanted.direction)];
    filter.records(conn, order, wanted.page)
}

/// A download together with what its permission says, and whose sale its order was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Download {
    pub log_id: i64,
    pub at: Timestamp,
    pub permission_id: i64,
    pub ip: String,
    pub download_id: String,
    pub product_id: i64,
    pub order_id: i64,
    /// Who bought the file; 0 for a guest.
    pub buyer_id: i64,
    pub merchant_id: Option<String>,
    pub store_id: Option<String>,
}

/// Up to `limit` downloads whose ids are greater than `log_id`, by their ids.
pub fn after(conn: &mut dyn Conn, log_id: i64, limit: i64) -> Result<Vec<Download>> {
    let params = [SITE.into(), log_id.into(), limit.into()];
    conn.rows(&DOWNLOADS_AFTER, &params, Download::read)
}

/// The downloads of an order, by their ids.
pub fn of_order(conn: &mut dyn Conn, order_id: i64) -> Result<Vec<Download>> {
    conn.rows(&DOWNLOADS_OF_ORDER, &[order_id.into(), SITE.into()], Download::read)
}

impl Download {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            log_id: row.get(0)?,
            at: row.get(1)?,
            permission_id: row.get(2)?,
            ip: row.get(3)?,
            download_id: row.get(4)?,
            product_id: row.get(5)?,
            order_id: row.get(6)?,
            buyer_id: row.get(7)?,
            merchant_id: row.get(8)?,
            store_id: row.get(9)?,
        })
    }
}

/// Up to `limit` addresses that begin with the text, each once.
pub fn ips_starting_with(conn: &mut dyn Conn, text: &str, limit: i64) -> Result<Vec<String>> {
    let pattern = starting_with(text)?;
    conn.rows(&DOWNLOAD_IPS, &[SITE.into(), (&pattern).into(), limit.into()], |row| row.get(0))
}
