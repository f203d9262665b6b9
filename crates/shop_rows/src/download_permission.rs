//! Who may download which file of a product, by which order, and how often still.

use db::filter::{Clause, Direction, Filter, Page};
use db::{Conn, Record, SITE, counter, statements};
use types::{Result, Timestamp};

const PERMISSION_ID: &str = "download_permission.id";

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct DownloadPermissionRow in "download_permissions",
        fixed(site_id = SITE), key(permission_id: i64) {
        /// Which of the files of the product.
        download_id: String,
        product_id: i64,
        order_id: i64,
        order_key: String,
        user_email: String,
        /// 0 for a guest.
        user_id: i64,
        /// None for no limit.
        remaining: Option<i64>,
        granted: Timestamp,
        expires: Option<Timestamp>,
        /// How often the file was downloaded.
        count: i64 as "download_count",
    }
}

statements! {
    DOWNLOAD_PERMISSION_INSERT = db::insert!(DownloadPermissionRow);
    DOWNLOAD_PERMISSION_UPDATE = db::update!(DownloadPermissionRow);
    DOWNLOAD_PERMISSION_DELETE =
        "DELETE FROM download_permissions WHERE site_id = $1 AND permission_id = $2";
    DOWNLOAD_PERMISSION_GET = db::select!(
        DownloadPermissionRow,
        "WHERE site_id = $1 AND permission_id = $2"
    );
}

/// Which permissions to list. An empty list asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct DownloadPermissionFilter {
    pub include: Vec<i64>,
    pub orders: Vec<i64>,
    pub products: Vec<i64>,
    pub users: Vec<i64>,
    pub download_ids: Vec<String>,
    pub order_key: Option<String>,
    /// Only what may be downloaded at that moment: neither expired nor used up.
    pub usable_at: Option<Timestamp>,
    /// By id.
    pub direction: Direction,
    pub page: Page,
}

/// Inserts the permission with the next id, whatever `permission_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, permission: &DownloadPermissionRow) -> Result<i64> {
    conn.insert_next(&DOWNLOAD_PERMISSION_INSERT, permission, PERMISSION_ID)
}

/// Inserts the permission with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn insert_with_id(conn: &mut dyn Conn, permission: &DownloadPermissionRow) -> Result<()> {
    counter::raise(conn, PERMISSION_ID, permission.permission_id)?;
    conn.insert(&DOWNLOAD_PERMISSION_INSERT, permission).map(drop)
}

/// Returns whether there is such a permission.
pub fn update(conn: &mut dyn Conn, permission: &DownloadPermissionRow) -> Result<bool> {
    conn.update_existing(&DOWNLOAD_PERMISSION_UPDATE, permission)
}

/// Deletes the permission with its log. Returns whether there was one.
pub fn delete(conn: &mut dyn Conn, permission_id: i64) -> Result<bool> {
    let params = [SITE.into(), permission_id.into()];
    Ok(conn.execute(&DOWNLOAD_PERMISSION_DELETE, &params)? == 1)
}

pub fn get(conn: &mut dyn Conn, permission_id: i64) -> Result<Option<DownloadPermissionRow>> {
    let params = [SITE.into(), permission_id.into()];
    conn.row(&DOWNLOAD_PERMISSION_GET, &params, DownloadPermissionRow::read)
}

/// A page of the permissions that match, and how many match.
pub fn list(
    conn: &mut dyn Conn,
    wanted: &DownloadPermissionFilter,
) -> Result<(Vec<DownloadPermissionRow>, i64)> {
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_list("permission_id IN (?)", &wanted.include)?;
    filter.and_list("order_id IN (?)", &wanted.orders)?;
    filter.and_list("product_id IN (?)", &wanted.products)?;
    filter.and_list("user_id IN (?)", &wanted.users)?;
    filter.and_list("download_id IN (?)", &wanted.download_ids)?;
    filter.and_value("order_key = ?", wanted.order_key.clone());
    filter.and_value(
        "(remaining IS NULL OR remaining > 0) AND (expires_us IS NULL OR expires_us > ?)",
        wanted.usable_at,
    );
    let order = vec![(Clause::fixed("permission_id"), wanted.direction)];
    filter.records(conn, order, wanted.page)
}
