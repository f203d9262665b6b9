//! What becomes of an order: paid, sent, given up, paid back, written and talked about.

use shop_rows::download_log::DownloadLogRow;
use shop_rows::download_permission::DownloadPermissionRow;
use shop_rows::order::ItemKind;
use shop_rows::order_note::OrderNoteRow;
use shop_rows::review::ReviewRow;
use types::{Amount, Timestamp};

use super::super::catalogue::Ware;
use super::super::dice::Dice;
use super::super::people::Person;
use super::super::words;
use crate::orders::{self, Order, Till, status};

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How many of a thousand orders fail, and how many are given up.
const FAILED: u64 = 17;
const CANCELLED: u64 = 26;
/// How many of a thousand orders of the last hours wait for somebody to pay.
const UNPAID: u64 = 180;
/// How many of a thousand completed orders are paid back, and how many of these in full.
const RETURNED: u64 = 58;
const RETURNED_IN_FULL: u64 = 440;
/// How many of a thousand orders the staff write about.
const NOTED: u64 = 45;
/// How many of a thousand completed orders bring a review.
const REVIEWED: u64 = 36;
/// Who of the staff writes notes.
const STAFF: &[&str] = &["Ines from the counter", "Tom from dispatch"];

/// The status of an order, and when it came to it.
#[derive(Debug)]
pub(super) struct Fate {
    status: &'static str,
    paid: Option<Timestamp>,
    completed: Option<Timestamp>,
    modified: Timestamp,
}

fn after(time: Timestamp, micros: i64) -> Timestamp {
    Timestamp::from_micros(time.as_micros() + micros)
}

/// To the second, like all that orders remember.
fn between(dice: &mut Dice, from: i64, to: i64) -> i64 {
    dice.between(from / SECOND, to / SECOND) * SECOND
}

impl Fate {
    pub(super) fn draw(
        dice: &mut Dice,
        order: &Order,
        till: &Till,
        person: &Person,
        until: Timestamp,
    ) -> Self {
        let created = order.row.created;
        let lost = |status, modified: Timestamp| Self {
            status,
            paid: None,
            completed: None,
            modified: modified.min(until),
        };
        let is_in_store = order.row.tpn.is_some();
        let roll = dice.below(1_000);
        if !is_in_store && roll < FAILED {
            return lost(status::FAILED, after(created, between(dice, MINUTE, 10 * MINUTE)));
        }
        if roll < CANCELLED + FAILED && (!is_in_store || roll < 4) {
            return lost(status::CANCELLED, after(created, between(dice, 2 * MINUTE, 3 * DAY)));
        }
        let by_transfer = order.row.payment_method == "bacs";
        let patience = match (is_in_store, by_transfer) {
            (true, _) => between(dice, 10 * SECOND, MINUTE),
            (false, true) => between(dice, DAY, 5 * DAY),
            (false, false) => between(dice, 20 * SECOND, 9 * MINUTE),
        };
        let is_late = !is_in_store && dice.in_thousand(UNPAID) && after(created, 6 * HOUR) > until;
        let paid = after(created, patience);
        if paid > until || is_late {
            return lost(if by_transfer { status::ON_HOLD } else { status::PENDING }, created);
        }
        let work = if is_in_store || !till.needs_processing(order) {
            0
        } else if person.country.code == "US" {
            between(dice, 5 * HOUR, 3 * DAY)
        } else {
            // Customs papers take longer.
            between(dice, DAY, 5 * DAY)
        };
        let completed = Some(after(paid, work)).filter(|completed| *completed <= until);
        let status = if completed.is_some() { status::COMPLETED } else { status::PROCESSING };
        Self { status, paid: Some(paid), completed, modified: completed.unwrap_or(paid) }
    }

    pub(super) fn apply(&self, order: &mut Order) {
        self.status.clone_into(&mut order.row.status);
        order.row.paid = self.paid;
        order.row.completed = self.completed;
        order.row.modified = self.modified;
    }
}

/// What is paid back, and when.
#[derive(Debug)]
pub(super) struct Return {
    pub(super) at: Timestamp,
    /// A line and how many of its items; none for all of the order.
    pub(super) part: Option<(i64, i64)>,
}

impl Return {
    pub(super) fn draw(dice: &mut Dice, order: &Order, until: Timestamp) -> Option<Self> {
        let completed = order.row.completed?;
        if !dice.in_thousand(RETURNED) || order.row.total.is_zero() {
            return None;
        }
        let at = after(completed, between(dice, DAY, 26 * DAY));
        if at > until {
            return None;
        }
        if dice.in_thousand(RETURNED_IN_FULL) {
            return Some(Self { at, part: None });
        }
        let lines: Vec<_> = order.lines(ItemKind::Line).collect();
        let line = dice.pick(&lines)?;
        let quantity = dice.between(1, line.row.quantity.to_whole().max(1));
        let is_all = lines.len() == 1 && Amount::from_whole(quantity) == line.row.quantity;
        Some(Self { at, part: (!is_all).then_some((line.row.item_id, quantity)) })
    }
}

/// Notes of the program on what went wrong, and of the staff on what they did.
pub(super) fn notes(dice: &mut Dice, order: &Order, changed: Timestamp) -> Vec<OrderNoteRow> {
    let mut notes = Vec::new();
    let from = match order.row.status.as_str() {
        status::FAILED | status::CANCELLED | status::ON_HOLD => Some(status::PENDING),
        status::REFUNDED => Some(status::COMPLETED),
        _ => None,
    };
    notes.extend(from.map(|from| orders::status_note(order, from, changed)));
    if dice.in_thousand(NOTED) {
        let (text, customer_note) = words::note(dice);
        notes.push(OrderNoteRow {
            note_id: 0,
            order_id: order.id(),
            author: dice.text(STAFF).to_owned(),
            text,
            customer_note,
            added_by_user: true,
            created: order.row.paid.unwrap_or(changed),
        });
    }
    notes
}

/// The permission that comes with a paid file, and when it was fetched.
pub(super) fn downloads(
    dice: &mut Dice,
    order: &Order,
    (ware, file): (&Ware, &str),
    until: Timestamp,
) -> Option<super::Downloads> {
    let granted = order.row.paid?;
    let user_id = order.row.customer_id;
    let mut log = Vec::new();
    for _ in 0..dice.below(4) {
        let at = after(granted, between(dice, MINUTE, 10 * DAY));
        let nets = ["192.0.2", "198.51.100", "203.0.113"];
        let ip = format!("{}.{}", dice.text(&nets), dice.between(1, 254));
        let user_id = Some(user_id).filter(|user_id| *user_id != 0);
        log.push(DownloadLogRow { log_id: 0, permission_id: 0, at, user_id, ip });
    }
    log.retain(|entry| entry.at <= until);
    log.sort_by_key(|entry| entry.at);
    let permission = DownloadPermissionRow {
        permission_id: 0,
        download_id: file.to_owned(),
        product_id: ware.product_id,
        order_id: order.id(),
        order_key: order.row.order_key.clone(),
        user_email: order.details.billing.email.clone(),
        user_id,
        remaining: None,
        granted,
        expires: None,
        count: i64::try_from(log.len()).unwrap_or_default(),
    };
    Some((permission, log))
}

/// What the buyer has to say about the first thing bought.
pub(super) fn review(
    dice: &mut Dice,
    order: &Order,
    person: &Person,
    until: Timestamp,
) -> Option<ReviewRow> {
    let completed = order.row.completed?;
    if !dice.in_thousand(REVIEWED) {
        return None;
    }
    let created = after(completed, between(dice, 2 * DAY, 25 * DAY));
    let line = order.lines(ItemKind::Line).next()?;
    let (rating, review) = words::review(dice);
    let billing = &person.billing;
    // The newest wait for the shop to look at them.
    let waits = dice.in_thousand(300) && after(created, 4 * DAY) > until;
    let row = ReviewRow {
        review_id: 0,
        product_id: line.row.product_id,
        user_id: order.row.customer_id,
        reviewer: format!("{} {}.", billing.first_name, initial(&billing.last_name)),
        email: billing.email.clone(),
        review,
        rating,
        status: if waits { "hold" } else { "approved" }.to_owned(),
        trashed_status: None,
        verified: true,
        created,
    };
    Some(row).filter(|row| row.created <= until)
}

fn initial(name: &str) -> String {
    name.chars().take(1).collect()
}
