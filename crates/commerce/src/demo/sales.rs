//! The demo's orders and refunds, one after another as they happened.
//!
//! **What it holds does not grow with the orders**: the customers' account numbers (some bytes
//! each), the refunds that are due in the weeks ahead, and the batch at hand. It numbers everything
//! itself, from the first free numbers on; whoever writes it down finds out whether somebody else
//! took one.

mod fate;

use std::collections::BTreeMap;
use std::ops::Range;

use db::outbox::Event;
use frame::Options;
use serde_json::json;
use shop_rows::customer::CustomerRow;
use shop_rows::customer_lookup::CustomerLookupRow;
use shop_rows::download_log::DownloadLogRow;
use shop_rows::download_permission::DownloadPermissionRow;
use shop_rows::order::ItemKind;
use shop_rows::order_note::OrderNoteRow;
use shop_rows::review::ReviewRow;
use site_rows::user::UserRow;
use types::{Amount, Result, Timestamp};

use super::buyers::{Buyer, Buyers};
use super::calendar::{Day, Moment};
use super::campaigns::{ALWAYS, CAMPAIGNS, WELCOME};
use super::catalogue::{Catalogue, Ware};
use super::dice::{Dice, Stream};
use super::goods::Season;
use super::people::{self, Person};
use super::{Plan, Seller, words};
use crate::common::events;
use crate::coupons::Coupon;
use crate::orders::{self, KEY_BYTES, Line, Order, Till, status};

/// Orders of one batch, which is one transaction.
const BATCH_ORDERS: usize = 2_000;
/// How many lines an order has: one, two and so on, by their weights.
const LINE_COUNTS: [u64; 6] = [38, 27, 17, 10, 5, 3];
/// How many of an article are bought, by their weights.
const QUANTITIES: [u64; 5] = [80, 14, 4, 1, 1];
/// How many of a thousand customers at home buy in a store rather than have it sent.
const STORE_VISITORS: u64 = 460;
/// The hours in which stores are open.
const OPENING_HOURS: Range<i64> = 8..21;
/// How many of a thousand orders are written down by the staff.
const BY_STAFF: u64 = 25;

/// The next free numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) order: i64,
    pub(super) item: i64,
    /// Of an entry of `meta_data`: the last one taken.
    pub(super) entry: i64,
    pub(super) user: i64,
    pub(super) customer: i64,
}

/// Somebody who buys for the first time.
#[derive(Debug)]
pub(super) struct Newcomer {
    pub(super) account: Option<(UserRow, CustomerRow)>,
    pub(super) lookup: CustomerLookupRow,
}

/// A permission to download a file, and what was downloaded.
pub(super) type Downloads = (DownloadPermissionRow, Vec<DownloadLogRow>);

/// What is written in one transaction.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) people: Vec<Newcomer>,
    /// Accounts that have paid for the first time.
    pub(super) paying: Vec<CustomerRow>,
    /// Orders and refunds.
    pub(super) orders: Vec<shop_rows::order::Order>,
    pub(super) notes: Vec<OrderNoteRow>,
    pub(super) downloads: Vec<Downloads>,
    pub(super) reviews: Vec<ReviewRow>,
    pub(super) events: Vec<Event>,
    /// The last numbers of entries before and after it.
    pub(super) entries: (i64, i64),
    /// Orders without refunds.
    pub(super) sold: u64,
}

/// What orders come to that is not written with each.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Sold items by product.
    pub(super) sales: BTreeMap<i64, i64>,
    /// Who used which coupon.
    pub(super) uses: BTreeMap<i64, Vec<String>>,
    pub(super) customers: u64,
    pub(super) refunds: u64,
}

#[derive(Debug)]
pub(super) struct Sales<'a> {
    plan: &'a Plan,
    till: Till,
    catalogue: &'a Catalogue,
    /// Weights of all wares up to each, for each month.
    chances: Vec<Vec<u64>>,
    numbers: Numbers,
    buyers: Buyers,
    /// Account of each customer (0 for a guest), and whether an order of theirs was ever paid.
    accounts: Vec<(i64, bool)>,
    /// Refunds by when they happen.
    due: BTreeMap<(Timestamp, i64), Order>,
    pub(super) tally: Tally,
    batch: Batch,
    currency: String,
}

impl<'a> Sales<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        till: Till,
        catalogue: &'a Catalogue,
        numbers: Numbers,
        currency: String,
    ) -> Self {
        let chances = (1..=12).map(|month| chances(&catalogue.wares, month)).collect();
        let entries = (numbers.entry, numbers.entry);
        Self {
            plan,
            till,
            catalogue,
            chances,
            numbers,
            buyers: Buyers::new(plan.seed),
            accounts: Vec::new(),
            due: BTreeMap::new(),
            tally: Tally::default(),
            batch: Batch { entries, ..Batch::default() },
            currency,
        }
    }

    /// Makes all orders, and hands them over batch by batch as long as `take` wants more.
    pub(super) fn run(
        &mut self,
        options: &Options,
        days: &[Day],
        take: &mut dyn FnMut(Batch) -> bool,
    ) -> Result<()> {
        let mut number = 0;
        for day in days {
            for moment in day.moments(options, self.plan.seed, self.plan.until) {
                self.refunds_until(moment.at);
                self.sale(number, day, moment)?;
                number += 1;
                if self.batch.orders.len() >= BATCH_ORDERS && !take(self.finished()) {
                    return Ok(());
                }
            }
        }
        self.refunds_until(self.plan.until);
        take(self.finished());
        Ok(())
    }

    fn finished(&mut self) -> Batch {
        self.batch.entries.1 = self.numbers.entry;
        let entries = (self.numbers.entry, self.numbers.entry);
        std::mem::replace(&mut self.batch, Batch { entries, ..Batch::default() })
    }

    /// Writes the refunds down that happened by then.
    fn refunds_until(&mut self, moment: Timestamp) {
        while let Some(next) = self.due.first_entry().filter(|next| next.key().0 <= moment) {
            let refund = next.remove();
            self.tally.refunds += 1;
            self.push(refund);
        }
    }

    fn push(&mut self, mut order: Order) {
        if order.row.order_id == 0 {
            self.number(&mut order);
        }
        self.batch.events.push(orders::event(&order, self.plan.until));
        self.batch.orders.push(order.into_stored().expect("a demo has small prices"));
    }

    fn number(&mut self, order: &mut Order) {
        order.row.order_id = self.numbers.order;
        self.numbers.order += 1;
        for line in &mut order.items {
            line.row.item_id = self.numbers.item;
            self.numbers.item += 1;
        }
    }

    fn entry(&mut self) -> i64 {
        self.numbers.entry += 1;
        self.numbers.entry
    }

    /// One order, with all that comes with it.
    fn sale(&mut self, number: u64, day: &Day, moment: Moment) -> Result<()> {
        let mut dice = Dice::new(self.plan.seed, Stream::Orders, number);
        let buyer = self.buyers.buyer();
        let Some(person) = people::person(self.plan.seed, buyer.number) else { return Ok(()) };
        let seller = self.seller(&mut dice, buyer.number, &person);
        let seller = seller.filter(|_| OPENING_HOURS.contains(&moment.hour));
        let mut order = self.header(&mut dice, &person, seller.as_ref(), moment.at);
        let wares = self.basket(&mut dice, day, &mut order);
        let is_sent = seller.is_none() && wares.iter().any(|ware| ware.is_sent);
        if is_sent {
            order.details.shipping = person.shipping.clone();
        }
        let coupon = self.coupon(&mut dice, day, buyer, seller.is_some());
        self.price(&mut order, &person, is_sent, coupon);
        let used = order.lines(ItemKind::Coupon).next().is_some();
        let coupon = coupon.filter(|_| used);
        let fate = fate::Fate::draw(&mut dice, &order, &self.till, &person, self.plan.until);
        fate.apply(&mut order);
        self.newcomer(&mut dice, buyer, &person, &order);
        order.row.customer_id = self.account(buyer.number);
        self.number(&mut order);
        self.refund(&mut dice, &mut order)?;
        orders::count(&mut order, coupon);
        self.count(&order);
        self.extras(&mut dice, &person, &order, &wares);
        self.batch.sold += 1;
        self.push(order);
        Ok(())
    }

    /// The store in which it was bought, if it was.
    fn seller(&self, dice: &mut Dice, buyer: u64, person: &Person) -> Option<Seller> {
        let mut habits = Dice::new(self.plan.seed, Stream::People, !buyer);
        let visits = person.country.code == "US" && habits.in_thousand(STORE_VISITORS);
        let home = habits.pick(&self.plan.sellers);
        let is_away = dice.in_thousand(150);
        let other = dice.pick(&self.plan.sellers);
        let seller = if is_away { other } else { home };
        seller.filter(|_| visits).cloned()
    }

    fn header(
        &self,
        dice: &mut Dice,
        person: &Person,
        seller: Option<&Seller>,
        created: Timestamp,
    ) -> Order {
        let mut order = Order::default();
        let mut key = [0; KEY_BYTES];
        key.fill_with(|| u8::try_from(dice.below(256)).unwrap_or_default());
        let row = &mut order.row;
        row.order_key = orders::order_key(key);
        row.created = created;
        row.currency.clone_from(&self.currency);
        row.merchant_id = seller.map(|seller| seller.merchant_id.clone());
        row.store_id = seller.map(|seller| seller.store_id.clone());
        row.tpn = seller.map(|seller| seller.tpn.clone());
        let is_staff = dice.in_thousand(BY_STAFF);
        let by_transfer = dice.in_thousand(person.country.by_transfer);
        let (via, method, title) = match (seller, is_staff, by_transfer) {
            (Some(_), _, _) => ("terminal", "card_present", "Card at the terminal"),
            (None, true, _) => ("admin", "bacs", "Bank transfer"),
            (None, false, true) => ("checkout", "bacs", "Bank transfer"),
            (None, false, false) => ("checkout", "card", "Card"),
        };
        via.clone_into(&mut row.created_via);
        method.clone_into(&mut row.payment_method);
        let details = &mut order.details;
        title.clone_into(&mut details.payment_method_title);
        details.billing = person.billing.clone();
        if method != "bacs" {
            details.transaction_id = format!("demo-{:016x}", dice.throw());
        }
        if via == "checkout" {
            let nets = ["192.0.2", "198.51.100", "203.0.113"];
            details.customer_ip_address = format!("{}.{}", dice.text(&nets), dice.between(1, 254));
            let agents = ["ExampleBrowser/12 (phone)", "ExampleBrowser/12 (desk)"];
            dice.text(&agents).clone_into(&mut details.customer_user_agent);
            if dice.in_thousand(40) {
                details.customer_note = words::wish(dice);
            }
        }
        order
    }

    /// Puts lines about goods into the order; says which goods.
    fn basket(&mut self, dice: &mut Dice, day: &Day, order: &mut Order) -> Vec<&'a Ware> {
        let catalogue = self.catalogue;
        let mut wares: Vec<&Ware> = Vec::new();
        let month = usize::try_from(day.month - 1).unwrap_or_default();
        let Some(chances) = self.chances.get(month) else { return wares };
        let whole = chances.last().copied().unwrap_or_default();
        for _ in 0..=dice.weighted(LINE_COUNTS.iter().copied()) {
            let drawn = dice.below(whole);
            let place = chances.partition_point(|sum| *sum <= drawn);
            let Some(ware) = catalogue.wares.get(place) else { continue };
            if wares.iter().any(|other| other.sold_id == ware.sold_id) {
                continue;
            }
            let quantity = dice.weighted(QUANTITIES.iter().copied()) + 1;
            // A file or a service is bought once.
            let quantity = if ware.is_sent { i64::try_from(quantity).unwrap_or(1) } else { 1 };
            let entry = &mut self.numbers.entry;
            let mut number = || {
                *entry += 1;
                *entry
            };
            let Some(line) = self.till.line(ware.sold_id, quantity, &mut number) else { continue };
            order.items.push(line);
            wares.push(ware);
        }
        wares
    }

    /// The coupon that the buyer tries, if any.
    fn coupon(
        &self,
        dice: &mut Dice,
        day: &Day,
        buyer: Buyer,
        is_in_store: bool,
    ) -> Option<&'a Coupon> {
        let campaign = day.campaign.and_then(|place| CAMPAIGNS.get(place));
        let campaign = campaign.map(|campaign| (campaign.code(day.year), campaign.offer.share));
        let welcome = Some((WELCOME.code.to_owned(), WELCOME.share)).filter(|_| buyer.is_new);
        let always = ALWAYS.iter().map(|offer| (offer.code.to_owned(), offer.share));
        let mut offers = campaign.into_iter().chain(welcome).chain(always);
        let (code, _) = offers.find(|(_, share)| dice.in_thousand(*share))?;
        // What is bought in a store is not sent.
        let fits = |coupon: &&Coupon| {
            coupon.row.code == code && !(is_in_store && coupon.details.free_shipping)
        };
        self.catalogue.coupons.iter().find(fits)
    }

    /// Shipping, taxes, the coupon if it may be used, and the sums.
    fn price(
        &mut self,
        order: &mut Order,
        person: &Person,
        is_sent: bool,
        coupon: Option<&Coupon>,
    ) {
        self.till.calculate(order);
        let at = order.row.created;
        let coupon = coupon.filter(|coupon| self.till.accepts(coupon, order, at));
        if is_sent {
            let goods: Amount = order.lines(ItemKind::Line).map(|line| line.row.total).sum();
            let is_free = coupon.is_some_and(|coupon| coupon.details.free_shipping);
            order.items.extend(self.shipping(person, goods, is_free));
            self.till.calculate(order);
        }
        if let Some(coupon) = coupon {
            let number = self.entry();
            self.till.redeem(order, coupon, number);
        }
    }

    fn shipping(&self, person: &Person, goods: Amount, is_free: bool) -> Option<Line> {
        let ways = self.catalogue.ways.iter().filter(|way| way.zone == person.country.zone);
        let offered = ways.filter(|way| is_free || way.from <= goods);
        let way = offered.min_by_key(|way| way.cost)?;
        let mut line = Line::of_kind(ItemKind::Shipping);
        line.row.name.clone_from(&way.title);
        line.row.total = way.cost;
        way.method_id.clone_into(&mut line.details.method_id);
        line.details.instance_id.clone_from(&way.instance_id);
        Some(line)
    }

    fn account(&self, buyer: u64) -> i64 {
        let place = usize::try_from(buyer).ok();
        place.and_then(|place| self.accounts.get(place)).map_or(0, |(user_id, _)| *user_id)
    }

    /// Makes an account for somebody new who registers, and notes who has paid.
    fn newcomer(&mut self, dice: &mut Dice, buyer: Buyer, person: &Person, order: &Order) {
        let pays = order.row.completed.is_some();
        if !buyer.is_new {
            let place = usize::try_from(buyer.number).ok();
            let account = place.and_then(|place| self.accounts.get_mut(place));
            if let Some((user_id, paid @ false)) = account.filter(|(user_id, _)| *user_id != 0)
                && pays
            {
                *paid = true;
                self.batch.paying.push(person.customer(*user_id, true));
            }
            return;
        }
        let created = order.row.created;
        let registered =
            Timestamp::from_micros(created.as_micros() - dice.between(30, 1_200) * 1_000_000);
        let account = person.is_registered.then(|| {
            let user_id = self.numbers.user;
            self.numbers.user += 1;
            (person.user(user_id, registered), person.customer(user_id, pays))
        });
        let user = account.as_ref().map(|(user, _)| user);
        self.accounts.push((user.map_or(0, |user| user.user_id), pays));
        let lookup = person.lookup(self.numbers.customer, user, created);
        self.numbers.customer += 1;
        self.tally.customers += 1;
        if let Some(user) = user {
            let (id, now) = (user.user_id, self.plan.until);
            let kind = events::imported("customer.created");
            self.batch.events.push(Event::of_site(kind, id, json!({}).to_string(), now));
        }
        self.batch.people.push(Newcomer { account, lookup });
    }

    /// Lets some of what was completed be paid back later, all of it or in part.
    fn refund(&mut self, dice: &mut Dice, order: &mut Order) -> Result<()> {
        let Some(draft) = fate::Return::draw(dice, order, self.plan.until) else { return Ok(()) };
        let entry = &mut self.numbers.entry;
        let mut number = || {
            *entry += 1;
            *entry
        };
        let mut refund = match draft.part {
            None => self.till.refund_all(order, &mut number)?,
            Some(part) => self.till.refund_line(order, part, &mut number)?,
        };
        if refund.row.refund_amount.is_zero() {
            return Ok(());
        }
        refund.row.created = draft.at;
        refund.row.modified = draft.at;
        refund.row.reason = words::reason(dice);
        refund.row.refunded_by = self.plan.owner_id;
        order.row.modified = draft.at;
        if refund.row.refund_amount >= order.row.total {
            status::REFUNDED.clone_into(&mut order.row.status);
        }
        self.due.insert((draft.at, order.id()), refund);
        Ok(())
    }

    fn count(&mut self, order: &Order) {
        for (product_id, count) in order.details.counted_sales.iter().flatten() {
            *self.tally.sales.entry(*product_id).or_default() += count;
        }
        for (coupon_id, who) in order.details.counted_coupons.iter().flatten() {
            self.tally.uses.entry(*coupon_id).or_default().push(who.clone());
        }
    }

    /// Notes, downloads and reviews.
    fn extras(&mut self, dice: &mut Dice, person: &Person, order: &Order, wares: &[&Ware]) {
        let until = self.plan.until;
        let changed = order.row.modified;
        self.batch.notes.extend(fate::notes(dice, order, changed));
        if matches!(&*order.row.status, status::COMPLETED | status::PROCESSING) {
            for ware in wares {
                let files = ware.files.iter();
                let given = files.map(|file| fate::downloads(dice, order, (ware, file), until));
                self.batch.downloads.extend(given.flatten());
            }
        }
        self.batch.reviews.extend(fate::review(dice, order, person, until));
    }
}

/// Weights of all wares up to each in a month.
fn chances(wares: &[Ware], month: i64) -> Vec<u64> {
    let mut sum = 0;
    let add = |ware: &Ware| {
        let factor = match (ware.season, month) {
            (Season::Summer, 5..=8) | (Season::Winter, 10..=12 | 1) => 17,
            (Season::Summer, 11..=12 | 1..=2) | (Season::Winter, 5..=8) => 4,
            _ => 10,
        };
        sum += ware.weight * factor;
        sum
    };
    wares.iter().map(add).collect()
}
