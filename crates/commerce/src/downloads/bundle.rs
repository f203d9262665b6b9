//! Permissions to download, and the downloads that happened, of a bundle.

use db::Conn;
use frame::Options;
use frame::bundle::records;
use serde::Deserialize;
use serde_json::Value;
use shop_rows::download_log::{self, DownloadLogRow};
use shop_rows::download_permission::{self, DownloadPermissionRow};
use types::{Error, Result, Timestamp};

use crate::common::moments;

#[derive(Debug, Deserialize)]
struct BundlePermission {
    permission_id: String,
    download_id: String,
    product_id: String,
    order_id: String,
    order_key: String,
    user_email: String,
    user_id: Option<String>,
    downloads_remaining: Option<String>,
    access_granted: String,
    access_expires: Option<String>,
    download_count: String,
}

#[derive(Debug, Deserialize)]
struct BundleDownload {
    download_log_id: String,
    timestamp: String,
    permission_id: String,
    user_id: Option<String>,
    user_ip_address: Option<String>,
}

fn number(text: &str) -> Result<i64> {
    text.parse().map_err(|_| Error::invalid(format!("`{text}` is not a number")))
}

/// A number that may be missing; an empty text counts as missing.
fn number_if_any(text: Option<&str>) -> Result<Option<i64>> {
    text.filter(|text| !text.is_empty()).map(number).transpose()
}

fn time(options: &Options, text: &str) -> Result<Timestamp> {
    let wrong = || Error::invalid(format!("`{text}` is not a time"));
    moments::bound(options, Some(text), true).ok_or_else(wrong)
}

/// Imports the permissions, their ids kept.
pub(crate) fn import_permissions(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let permissions: Vec<BundlePermission> = records(section)?;
    let options = Options::read(conn)?;
    let count = permissions.len();
    for permission in permissions {
        let row = permission.row(&options)?;
        if !download_permission::update(conn, &row)? {
            download_permission::insert_with_id(conn, &row)?;
        }
    }
    Ok(count)
}

impl BundlePermission {
    fn row(self, options: &Options) -> Result<DownloadPermissionRow> {
        let expires = self.access_expires.as_deref().map(|text| time(options, text));
        Ok(DownloadPermissionRow {
            permission_id: number(&self.permission_id)?,
            product_id: number(&self.product_id)?,
            order_id: number(&self.order_id)?,
            user_id: number_if_any(self.user_id.as_deref())?.unwrap_or_default(),
            remaining: number_if_any(self.downloads_remaining.as_deref())?,
            granted: time(options, &self.access_granted)?,
            expires: expires.transpose()?,
            count: number(&self.download_count)?,
            download_id: self.download_id,
            order_key: self.order_key,
            user_email: self.user_email,
        })
    }
}

/// Imports the downloads, their ids kept. One that is there already stays as it is, because what
/// happened does not change.
pub(crate) fn import_log(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let downloads: Vec<BundleDownload> = records(section)?;
    let options = Options::read(conn)?;
    for download in &downloads {
        let log_id = number(&download.download_log_id)?;
        if download_log::get(conn, log_id)?.is_some() {
            continue;
        }
        let row = DownloadLogRow {
            log_id,
            permission_id: number(&download.permission_id)?,
            at: time(&options, &download.timestamp)?,
            user_id: number_if_any(download.user_id.as_deref())?,
            ip: download.user_ip_address.clone().unwrap_or_default(),
        };
        download_log::insert_with_id(conn, &row)?;
    }
    Ok(downloads.len())
}
