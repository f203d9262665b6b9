//! Downloading: a permission is used once more, and written down, in the transaction that tells
//! where the file is. **Whether it counts is decided here**: by the order's status, the limit, the
//! day, and who may use it.

use contract::rest::Stop;
use frame::Call;
use shop_rows::download_log::{self, DownloadLogRow};
use shop_rows::download_permission::{self, DownloadPermissionFilter};

use super::of_customer::usable;

/// What an address of a download names.
#[derive(Clone, Debug)]
pub struct DownloadRequest {
    pub product_id: i64,
    pub order_key: String,
    pub email: String,
    pub download_id: String,
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Where the file is.
    At(String),
    /// Only its customer may have it, signed in.
    NeedsSignIn,
    /// There is no such permission, or it counts no more.
    Not,
}

/// Uses a permission to download.
pub fn take(call: &mut Call<'_>, wanted: &DownloadRequest) -> Result<Taken, Stop> {
    if wanted.order_key.is_empty() || wanted.download_id.is_empty() {
        return Ok(Taken::Not);
    }
    let filter = DownloadPermissionFilter {
        products: vec![wanted.product_id],
        download_ids: vec![wanted.download_id.clone()],
        order_key: Some(wanted.order_key.clone()),
        ..DownloadPermissionFilter::default()
    };
    let found = usable(call, filter)?.into_iter();
    let mut found =
        found.filter(|one| one.permission.user_email.eq_ignore_ascii_case(&wanted.email));
    let Some(download) = found.next() else { return Ok(Taken::Not) };
    let mut permission = download.permission;
    let user_id = call.user_id();
    let needs_owner =
        call.options().is_on("woocommerce_downloads_require_login") && permission.user_id != 0;
    if needs_owner && permission.user_id != user_id {
        return Ok(Taken::NeedsSignIn);
    }
    permission.remaining = permission.remaining.map(|left| left - 1);
    permission.count += 1;
    download_permission::update(call.conn()?, &permission)?;
    let entry = DownloadLogRow {
        log_id: 0,
        permission_id: permission.permission_id,
        at: call.now(),
        user_id: Some(user_id).filter(|id| *id != 0),
        ip: call.visit.client.address.to_string(),
    };
    download_log::insert(call.conn()?, &entry)?;
    Ok(Taken::At(download.address))
}
