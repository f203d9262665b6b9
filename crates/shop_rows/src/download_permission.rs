//! Who may download which file of a product, by which order, and how often still.

use db::filter::{Clause, Direction, Filter, Page};
use db::{Conn, Row, SITE, Sql, Val, counter, statements};
use types::{Result, Timestamp};

const PERMISSION_ID: &str = "download_permission.id";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DownloadPermissionRow {
    pub permission_id: i64,
    /// Which of the files of the product.
    pub download_id: String,
    pub product_id: i64,
    pub order_id: i64,
    pub order_key: String,
    pub user_email: String,
    /// 0 for a guest.
    pub user_id: i64,
    /// None for no limit.
    pub remaining: Option<i64>,
    pub granted: Timestamp,
    pub expires: Option<Timestamp>,
    /// How often the file was downloaded.
    pub count: i64,
}

/// What [`DownloadPermissionRow::read`] reads, in its order.
macro_rules! permission_columns {
    () => {
        "permission_id, download_id, product_id, order_id, order_key, user_email, user_id,
         remaining, granted_us, expires_us, download_count"
    };
}

statements! {
    DOWNLOAD_PERMISSION_INSERT =
        "INSERT INTO download_permissions
       (download_id, product_id, order_id, order_key, user_email, user_id, remaining, granted_us,
        expires_us, download_count, site_id, permission_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    DOWNLOAD_PERMISSION_UPDATE =
        "UPDATE download_permissions SET
           download_id = $1, product_id = $2, order_id = $3, order_key = $4, user_email = $5,
           user_id = $6, remaining = $7, granted_us = $8, expires_us = $9, download_count = $10
         WHERE site_id = $11 AND permission_id = $12";
    DOWNLOAD_PERMISSION_DELETE =
        "DELETE FROM download_permissions WHERE site_id = $1 AND permission_id = $2";
    DOWNLOAD_PERMISSION_GET = concat!(
        "SELECT ",
        permission_columns!(),
        " FROM download_permissions WHERE site_id = $1 AND permission_id = $2"
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
    let permission_id = counter::take(conn, PERMISSION_ID, 1)? + 1;
    write(conn, &DOWNLOAD_PERMISSION_INSERT, permission, permission_id)?;
    Ok(permission_id)
}

/// Inserts the permission with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn insert_with_id(conn: &mut dyn Conn, permission: &DownloadPermissionRow) -> Result<()> {
    counter::raise(conn, PERMISSION_ID, permission.permission_id)?;
    write(conn, &DOWNLOAD_PERMISSION_INSERT, permission, permission.permission_id).map(drop)
}

/// Returns whether there is such a permission.
pub fn update(conn: &mut dyn Conn, permission: &DownloadPermissionRow) -> Result<bool> {
    write(conn, &DOWNLOAD_PERMISSION_UPDATE, permission, permission.permission_id)
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
    let what = (permission_columns!(), "download_permissions");
    filter.page(conn, what, order, wanted.page, DownloadPermissionRow::read)
}

fn write(
    conn: &mut dyn Conn,
    sql: &Sql,
    permission: &DownloadPermissionRow,
    permission_id: i64,
) -> Result<bool> {
    let params: [Val<'_>; 12] = [
        (&permission.download_id).into(),
        permission.product_id.into(),
        permission.order_id.into(),
        (&permission.order_key).into(),
        (&permission.user_email).into(),
        permission.user_id.into(),
        permission.remaining.into(),
        permission.granted.into(),
        permission.expires.into(),
        permission.count.into(),
        SITE.into(),
        permission_id.into(),
    ];
    Ok(conn.execute(sql, &params)? == 1)
}

impl DownloadPermissionRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            permission_id: row.get(0)?,
            download_id: row.get(1)?,
            product_id: row.get(2)?,
            order_id: row.get(3)?,
            order_key: row.get(4)?,
            user_email: row.get(5)?,
            user_id: row.get(6)?,
            remaining: row.get(7)?,
            granted: row.get(8)?,
            expires: row.get(9)?,
            count: row.get(10)?,
        })
    }
}
