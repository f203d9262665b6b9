//! Forgetting a person: what the reference product writes in the place of personal data, in every
//! record that names the person.
//!
//! **An erased customer keeps a number of its own**, so that reports count as many customers as
//! before; the address in its place has the number in it, since no two customers share one.

use contract::rest::Stop;
use db::Conn;
use db::filter::fold;
use frame::Call;
use serde::Serialize;
use serde_json::Value;
use shop_rows::coupon::{self, CouponFilter, CouponOrder};
use shop_rows::customer_lookup::{self, CustomerLookupRow};
use shop_rows::{cart, download_log, download_permission, order, order_note};
use site_rows::comment;
use types::{Result, Role};

use super::{Person, REVIEW, order_of};
use crate::common::events;
use crate::coupons::Coupon;
use crate::orders::{Address, Order};

/// What stands in the place of a text.
const DELETED: &str = "[deleted]";
const ANONYMOUS: &str = "Anonymous";
/// Shorter texts are in too many others.
const TELLING_LENGTH_MIN: usize = 3;
/// Entries of an order's `meta_data` that figures follow from.
const KEPT_ENTRIES: &[&str] = &["_refund_type", "_wcpay_mode", "_wc_order_attribution_source_type"];

/// What was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Erased {
    /// Whether there was an account. That of somebody who runs the shop stays, without what it had
    /// as a customer.
    pub account: bool,
    pub orders: usize,
    pub reviews: usize,
    pub downloads: usize,
    pub customers: usize,
    pub coupons: usize,
    pub carts: usize,
}

/// Forgets the person with this address.
pub fn erase(call: &mut Call<'_>, email: &str) -> std::result::Result<Erased, Stop> {
    let person = Person::find(call.conn()?, email)?;
    let downloads = person.downloads(call.conn()?)?;
    let customers = customers_of(call.conn()?, &person)?;
    let telling = telling_texts(call.conn()?, &person)?;
    let mut erased = Erased { customers: customers.len(), ..Erased::default() };
    for order_id in &person.orders {
        let Some(order) = order_of(call.conn()?, *order_id)? else { continue };
        let address = address_of(&customers, &person, &order);
        erase_order(call, order, &address, &telling)?;
        erased.orders += 1;
    }
    for mut row in person.comments.clone() {
        ANONYMOUS.clone_into(&mut row.author);
        for text in [&mut row.email, &mut row.author_url, &mut row.author_ip, &mut row.author_agent]
        {
            text.clear();
        }
        row.user_id = 0;
        comment::update(call.conn()?, &row)?;
        if row.kind == REVIEW {
            events::append(call, "review.updated", row.comment_id, &serde_json::json!({}))?;
        }
        erased.reviews += 1;
    }
    for mut permission in downloads {
        DELETED_ADDRESS.clone_into(&mut permission.user_email);
        permission.user_id = 0;
        download_permission::update(call.conn()?, &permission)?;
        download_log::forget_who(call.conn()?, permission.permission_id)?;
        erased.downloads += 1;
    }
    erased.coupons = erase_coupons(call.conn()?, &person)?;
    for cart in &person.carts {
        cart::delete(call.conn()?, &cart.cart_key)?;
        erased.carts += 1;
    }
    for customer in &customers {
        customer_lookup::update(call.conn()?, &forgotten(customer))?;
    }
    erased.account = erase_account(call, &person)?;
    Ok(erased)
}

const DELETED_ADDRESS: &str = "deleted@site.invalid";

fn numbered_address(customer: &CustomerLookupRow) -> String {
    format!("deleted+{}@site.invalid", customer.customer_id)
}

/// As whom reports know the person: the user, and the guest of the same address.
fn customers_of(conn: &mut dyn Conn, person: &Person) -> Result<Vec<CustomerLookupRow>> {
    let mut found = Vec::new();
    if let Some(account) = &person.account {
        found.extend(customer_lookup::find_by_user(conn, account.user.user_id)?);
    }
    found.extend(customer_lookup::find_guest(conn, &person.email)?);
    Ok(found)
}

fn forgotten(customer: &CustomerLookupRow) -> CustomerLookupRow {
    let text = || DELETED.to_owned();
    CustomerLookupRow {
        customer_id: customer.customer_id,
        user_id: None,
        username: text(),
        first_name: text(),
        last_name: text(),
        email: numbered_address(customer),
        country: String::new(),
        postcode: text(),
        city: text(),
        state: text(),
        last_active: customer.last_active,
        registered: customer.registered,
    }
}

/// The address by which reports find the erased customer of the order.
fn address_of(customers: &[CustomerLookupRow], person: &Person, order: &Order) -> String {
    let user_id = person.account.as_ref().map(|account| account.user.user_id);
    let is_of_user = user_id.is_some_and(|user_id| order.row.customer_id == user_id);
    let theirs = customers.iter().find(|customer| customer.user_id.is_some() == is_of_user);
    let found = theirs.or_else(|| customers.first());
    found.map_or_else(|| DELETED_ADDRESS.to_owned(), numbered_address)
}

/// Texts that tell of the person wherever they stand, such as a name in a note.
fn telling_texts(conn: &mut dyn Conn, person: &Person) -> Result<Vec<String>> {
    let mut texts = vec![person.email.clone()];
    if let Some(account) = &person.account {
        let user = &account.user;
        texts.extend([&user.login, &user.first_name, &user.last_name].map(String::clone));
        let values = account.billing.values().chain(account.shipping.values());
        texts.extend(values.filter_map(Value::as_str).map(str::to_owned));
    }
    for order_id in &person.orders {
        let Some(order) = order_of(conn, *order_id)? else { continue };
        for address in [&order.details.billing, &order.details.shipping] {
            let parts = [
                &address.first_name,
                &address.last_name,
                &address.address_1,
                &address.address_2,
                &address.phone,
            ];
            texts.extend(parts.map(String::clone));
        }
        texts.push(order.details.customer_ip_address);
    }
    let mut texts: Vec<String> = texts.iter().map(|text| fold(text.trim())).collect();
    texts.retain(|text| text.chars().count() >= TELLING_LENGTH_MIN);
    texts.sort_unstable();
    texts.dedup();
    Ok(texts)
}

/// Whether the text has one of these in it, as whole words: a name may be a part of any word.
fn tells(text: &str, telling: &[String]) -> bool {
    let text = fold(text);
    let is_apart = |character: Option<char>| character.is_none_or(|one| !one.is_alphanumeric());
    let stands_in = |telling: &String| {
        text.match_indices(telling.as_str()).any(|(start, found)| {
            let (before, behind) = (text.get(..start), text.get(start + found.len()..));
            is_apart(before.and_then(|part| part.chars().next_back()))
                && is_apart(behind.and_then(|part| part.chars().next()))
        })
    };
    telling.iter().any(stands_in)
}

fn erase_order(
    call: &mut Call<'_>,
    mut order: Order,
    address: &str,
    telling: &[String],
) -> Result<()> {
    let buyer = order.details.billing.email.to_lowercase();
    let details = &mut order.details;
    erase_address(&mut details.billing, address);
    erase_address(&mut details.shipping, address);
    details.transaction_id = String::new();
    details.customer_ip_address = String::new();
    details.customer_user_agent = String::new();
    details.cart_hash = String::new();
    if !details.customer_note.is_empty() {
        DELETED.clone_into(&mut details.customer_note);
    }
    details.receipt = None;
    let is_kept = |entry: &Value| entry["key"].as_str().is_some_and(|k| KEPT_ENTRIES.contains(&k));
    details.meta_data.retain(is_kept);
    for (_, user) in details.counted_coupons.iter_mut().flatten() {
        // As the coupon itself remembers it now.
        if *user == buyer {
            DELETED_ADDRESS.clone_into(user);
        }
    }
    order.row.customer_id = 0;
    if tells(&order.row.reason, telling) {
        DELETED.clone_into(&mut order.row.reason);
    }
    for line in &mut order.items {
        line.details.meta_data.retain(|entry| !tells(&entry["value"].to_string(), telling));
    }
    order.row.modified = call.now();
    let kind = match order.row.kind {
        order::OrderKind::Order => "order.updated",
        order::OrderKind::Refund => "refund.updated",
    };
    let order = order.update(call.conn()?)?;
    for mut note in order_note::list(call.conn()?, order.id())? {
        let by_them = tells(&note.author, telling);
        if tells(&note.text, telling) || by_them {
            DELETED.clone_into(&mut note.text);
            note.author = if by_them { DELETED.to_owned() } else { note.author };
            order_note::update(call.conn()?, &note)?;
        }
    }
    events::append(call, kind, order.id(), &crate::orders::effects::payload(&order))
}

/// What is empty stays so; where to is forgotten altogether.
fn erase_address(address: &mut Address, email: &str) {
    let Address { first_name, last_name, company, address_1, address_2, city, postcode, .. } =
        address;
    for text in [first_name, last_name, company, address_1, address_2, city, postcode] {
        if !text.is_empty() {
            DELETED.clone_into(text);
        }
    }
    address.state = String::new();
    address.country = String::new();
    address.phone = String::new();
    if !address.email.is_empty() {
        email.clone_into(&mut address.email);
    }
}

/// Coupons keep how often they were used, and for how many.
fn erase_coupons(conn: &mut dyn Conn, person: &Person) -> Result<usize> {
    let email = person.email.to_lowercase();
    let mut count = 0;
    let mut page = db::filter::Page::default();
    loop {
        let wanted = CouponFilter { order: CouponOrder::Id, page, ..CouponFilter::default() };
        let (rows, _) = coupon::list(conn, &wanted)?;
        let length = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        for row in rows {
            let uses = coupon::rename_uses(conn, row.coupon_id, &email, DELETED_ADDRESS)?;
            let mut coupon = Coupon::read(row)?;
            let details = &mut coupon.details;
            let named = details.used_by.iter_mut().chain(&mut details.email_restrictions);
            let named: Vec<&mut String> =
                named.filter(|name| name.to_lowercase() == email).collect();
            let is_named = !named.is_empty();
            for name in named {
                DELETED_ADDRESS.clone_into(name);
            }
            if is_named {
                coupon.update(conn)?;
            }
            count += usize::from(is_named || uses > 0);
        }
        if length < page.limit {
            return Ok(count);
        }
        page.offset += length;
    }
}

/// Deletes the account with its credentials and sessions, or, of somebody who runs the shop, what
/// it has as a customer.
fn erase_account(call: &mut Call<'_>, person: &Person) -> std::result::Result<bool, Stop> {
    let Some(account) = &person.account else { return Ok(false) };
    let is_buyer =
        account.user.roles.iter().all(|role| matches!(role, Role::Customer | Role::Subscriber));
    if is_buyer {
        frame::users::remove_user(call, &account.user, None)?;
        order::detach_customer(call.conn()?, account.user.user_id)?;
    } else {
        let mut account = account.clone();
        account.billing.clear();
        account.shipping.clear();
        account.details.meta_data.clear();
        account.put(call.conn()?)?;
    }
    let kind = if is_buyer { "customer.deleted" } else { "customer.updated" };
    events::append(call, kind, account.user.user_id, &serde_json::json!({}))?;
    Ok(is_buyer)
}
