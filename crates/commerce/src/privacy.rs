//! Personal data of buyers, handed out and erased on request, by the e-mail address that they gave.
//!
//! Whoever asks for a person's data gets all of it: the account, orders with their notes, reviews
//! and other comments, and downloads. Whoever asks for its removal is forgotten, and **the orders
//! stay as figures**: what was sold, when and for how much.

mod erase;
mod export;

use contract::rest::route::{CREATE, Route};
use contract::rest::{Args, Item, Reply, Schema, Stop};
use db::Conn;
use db::filter::{Direction, LIST_MAX, PAGE_MAX, Page, fold};
use frame::action::{read, write};
use frame::{Action, Call, Names};
use serde_json::{Value, json};
use shop_rows::cart::{self, CartRow};
use shop_rows::download_permission::{self, DownloadPermissionFilter, DownloadPermissionRow};
use shop_rows::order::{self, OrderFilter, OrderKind, OrderSort};
use site_rows::comment::{self, CommentFilter, CommentOrder, CommentRow};
use site_rows::user;
use types::{Capability, Result};

use crate::customers::Customer;
use crate::orders::Order;

pub use self::erase::{Erased, erase};
pub use self::export::export;

/// The kind of comments that products get.
const REVIEW: &str = "review";

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let email = || {
        let email = Schema::text().format("email").required();
        Args::new().arg("email", email.about("E-mail address of the person."))
    };
    let at = |path: &str| Route::at(&names.docs, path);
    vec![
        at("/privacy/export")
            .on(CREATE, email(), read(may_export, export_route))
            .schema(export_document()),
        at("/privacy/erase")
            .on(CREATE, email(), write(may_erase, erase_route))
            .schema(erased_document()),
    ]
}

fn may_export(call: &mut Call<'_>) -> std::result::Result<(), Stop> {
    let message = "Only site administrators can export personal data.";
    call.need(Capability::ManageOptions, "rest_cannot_export", message)
}

fn may_erase(call: &mut Call<'_>) -> std::result::Result<(), Stop> {
    let message = "Only site administrators can erase personal data.";
    call.need(Capability::ManageOptions, "rest_cannot_erase", message)
}

fn export_route(call: &mut Call<'_>) -> std::result::Result<Reply, Stop> {
    let email = call.params.text("email").unwrap_or_default().to_owned();
    Ok(Reply::new(export(call.conn()?, &email)?))
}

fn erase_route(call: &mut Call<'_>) -> std::result::Result<Reply, Stop> {
    let email = call.params.text("email").unwrap_or_default().to_owned();
    let erased = erase(call, &email)?;
    Ok(Reply::new(json!(erased)))
}

fn export_document() -> Value {
    let pair = Schema::object([
        ("name", Schema::text().about("What it is.")),
        ("value", Schema::text().about("Value.")),
    ]);
    let record = Schema::object([
        ("group_id", Schema::text().about("Kind of the record.")),
        ("group_label", Schema::text().about("Kind of the record, for people.")),
        ("item_id", Schema::text().about("Which record.")),
        ("data", Schema::list(pair).about("Personal data of the record.")),
    ]);
    let members = [
        ("email", Schema::text().about("E-mail address.")),
        ("data", Schema::list(record).about("Records with personal data.")),
    ];
    Item::new("personal_data", Schema::object(members)).document()
}

fn erased_document() -> Value {
    let count = |about: &str| Schema::integer().about(about);
    let members = [
        ("account", Schema::boolean().about("Whether an account was deleted.")),
        ("orders", count("Orders and refunds that are figures now.")),
        ("reviews", count("Reviews that are anonymous now.")),
        ("downloads", count("Download permissions that are anonymous now.")),
        ("customers", count("Customers that reports know as deleted now.")),
        ("coupons", count("Coupons that named the address.")),
        ("carts", count("Carts that were deleted.")),
    ];
    Item::new("erasure", Schema::object(members)).document()
}

/// Everything that is kept about a person.
#[derive(Debug)]
struct Person {
    email: String,
    /// The account, with what it has as a customer.
    account: Option<Customer>,
    /// Orders and their refunds.
    orders: Vec<i64>,
    /// Reviews and other comments.
    comments: Vec<CommentRow>,
    /// What the person has put into carts and not ordered.
    carts: Vec<CartRow>,
}

impl Person {
    fn find(conn: &mut dyn Conn, email: &str) -> Result<Self> {
        let email = email.trim().to_owned();
        let account = user::find_by_email(conn, &email)?;
        let account = match &account {
            Some(account) => Customer::get(conn, account.user_id)?,
            None => None,
        };
        let user_id = account.as_ref().map(|account| account.user.user_id);
        let orders = orders_of(conn, &email, user_id)?;
        let comments = comments_of(conn, &email, user_id)?;
        let carts = cart::of_person(conn, &email, user_id)?;
        Ok(Self { email, account, orders, comments, carts })
    }

    /// The permissions to download what the person bought.
    fn downloads(&self, conn: &mut dyn Conn) -> Result<Vec<DownloadPermissionRow>> {
        let mut found = Vec::new();
        for orders in self.orders.chunks(LIST_MAX) {
            let wanted = DownloadPermissionFilter { orders: orders.to_vec(), ..Default::default() };
            found.append(&mut download_permission::list(conn, &wanted)?.0);
        }
        Ok(found)
    }
}

/// The orders that were billed to the address or placed by the user, and all refunds of them.
fn orders_of(conn: &mut dyn Conn, email: &str, user_id: Option<i64>) -> Result<Vec<i64>> {
    let by_address = OrderFilter { search: Some(email.to_owned()), ..OrderFilter::default() };
    let by_user =
        user_id.map(|user_id| OrderFilter { customers: vec![user_id], ..OrderFilter::default() });
    let mut ids = Vec::new();
    for wanted in [Some(by_address), by_user].into_iter().flatten() {
        let mut page = Page { offset: 0, limit: PAGE_MAX };
        loop {
            let sort = (OrderSort::Id, Direction::Ascending);
            let wanted = OrderFilter { sort: sort.0, direction: sort.1, page, ..wanted.clone() };
            let (rows, _) = order::list(conn, &wanted)?;
            let length = i64::try_from(rows.len()).unwrap_or(i64::MAX);
            let is_theirs = |row: &&order::OrderRow| {
                fold(&row.billing_email) == fold(email)
                    || (user_id.is_some() && user_id == Some(row.customer_id))
            };
            ids.extend(rows.iter().filter(is_theirs).map(|row| row.order_id));
            if length < page.limit {
                break;
            }
            page.offset += length;
        }
    }
    let mut refunds = Vec::new();
    for orders in ids.chunks(LIST_MAX) {
        refunds.extend(order::refunds_of(conn, orders)?.into_iter().map(|row| row.order_id));
    }
    ids.append(&mut refunds);
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// What the person wrote about products and posts.
fn comments_of(conn: &mut dyn Conn, email: &str, user_id: Option<i64>) -> Result<Vec<CommentRow>> {
    let by_address = CommentFilter { email: Some(email.to_owned()), ..CommentFilter::default() };
    let by_user =
        user_id.map(|user_id| CommentFilter { users: vec![user_id], ..Default::default() });
    let mut found: Vec<CommentRow> = Vec::new();
    for wanted in [Some(by_address), by_user].into_iter().flatten() {
        let wanted = CommentFilter { order: CommentOrder::Id, ..wanted };
        for row in comment::list(conn, &wanted)?.0 {
            if !found.iter().any(|known| known.comment_id == row.comment_id) {
                found.push(row);
            }
        }
    }
    Ok(found)
}

/// The order or refund of this id.
fn order_of(conn: &mut dyn Conn, order_id: i64) -> Result<Option<Order>> {
    match Order::get(conn, order_id, OrderKind::Order)? {
        Some(order) => Ok(Some(order)),
        None => Order::get(conn, order_id, OrderKind::Refund),
    }
}
