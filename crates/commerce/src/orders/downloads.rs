//! Files that come with an order: who may fetch them, once the order is paid. **Whether a
//! permission counts is decided when somebody uses it, by the order's status**, so it need not be
//! taken back.

use db::filter::{PAGE_MAX, Page};
use frame::{Call, Options};
use shop_rows::download_permission::{self, DownloadPermissionFilter, DownloadPermissionRow};
use shop_rows::order::ItemKind;
use types::{Result, Timestamp};

use super::goods::Goods;
use super::record::Order;
use super::status;
use crate::common::moments;
use crate::products::ProductRecord;

const DAY_MICROS: i64 = 86_400_000_000;

/// Whether what an order of this status holds may be fetched.
pub(crate) fn is_granted(options: &Options, status: &str) -> bool {
    match status {
        status::COMPLETED => true,
        status::PROCESSING => options.is_on("woocommerce_downloads_grant_access_after_payment"),
        _ => false,
    }
}

/// Lets the buyer fetch each file of each product, as often and as long as the product says. What
/// was granted before is left alone, but for who the buyer is. For an order that is being made
/// nothing was, and its goods may be known.
pub(super) fn settle(
    call: &mut Call<'_>,
    order: &Order,
    (is_new, known): (bool, Option<&Goods>),
) -> Result<()> {
    if order.id() == 0 {
        return Ok(());
    }
    let mut granted = if is_new { Vec::new() } else { of_order(call, order.id())? };
    for permission in &mut granted {
        if follow_buyer(permission, order) {
            download_permission::update(call.conn()?, permission)?;
        }
    }
    if !is_granted(call.options(), &order.row.status) {
        return Ok(());
    }
    let read = match known {
        Some(_) => None,
        None => Some(Goods::of_orders(call.conn()?, [order].into_iter())?),
    };
    let Some(goods) = known.or(read.as_ref()) else { return Ok(()) };
    for line in order.lines(ItemKind::Line) {
        let Some(good) = goods.of_line(line).filter(|good| good.row.downloadable) else { continue };
        let product = ProductRecord::of_row(good.row.clone())?;
        for file in &product.details.downloads {
            let is_known = |known: &DownloadPermissionRow| {
                known.product_id == product.id() && known.download_id == file.id
            };
            if granted.iter().any(is_known) {
                continue;
            }
            let limit = Some(product.details.download_limit).filter(|limit| *limit > 0);
            let quantity = line.row.quantity.to_whole().max(1);
            let mut permission = DownloadPermissionRow {
                download_id: file.id.clone(),
                product_id: product.id(),
                order_id: order.id(),
                order_key: order.row.order_key.clone(),
                remaining: limit.map(|limit| limit.saturating_mul(quantity)),
                granted: moments::now(call),
                expires: expires(call, order, product.details.download_expiry),
                ..DownloadPermissionRow::default()
            };
            follow_buyer(&mut permission, order);
            download_permission::insert(call.conn()?, &permission)?;
            granted.push(permission);
        }
    }
    Ok(())
}

/// Takes the permissions of an order away that goes for good.
pub(super) fn release(call: &mut Call<'_>, order_id: i64) -> Result<()> {
    for permission in of_order(call, order_id)? {
        download_permission::delete(call.conn()?, permission.permission_id)?;
    }
    Ok(())
}

fn of_order(call: &mut Call<'_>, order_id: i64) -> Result<Vec<DownloadPermissionRow>> {
    let filter = DownloadPermissionFilter {
        orders: vec![order_id],
        page: Page { offset: 0, limit: PAGE_MAX },
        ..DownloadPermissionFilter::default()
    };
    Ok(download_permission::list(call.conn()?, &filter)?.0)
}

/// Returns whether that changed anything.
fn follow_buyer(permission: &mut DownloadPermissionRow, order: &Order) -> bool {
    let email = &order.details.billing.email;
    let is_same = permission.user_id == order.row.customer_id && permission.user_email == *email;
    permission.user_id = order.row.customer_id;
    permission.user_email.clone_from(email);
    !is_same
}

/// So many days after the order was completed, from the beginning of that day on; after now as long
/// as it is not.
fn expires(call: &Call<'_>, order: &Order, days: i64) -> Option<Timestamp> {
    if days <= 0 {
        return None;
    }
    let options = call.options();
    let from = match order.row.completed.map(|time| options.local(time).as_micros()) {
        Some(completed) => completed.div_euclid(DAY_MICROS) * DAY_MICROS,
        None => options.local(call.now()).as_micros(),
    };
    let last = from.saturating_add(days.saturating_mul(DAY_MICROS));
    Some(options.from_local(Timestamp::from_micros(last)))
}
