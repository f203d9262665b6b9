//! Customers as reports count them: every user who bought something or registered, and every guest,
//! under one number. A guest is known by the e-mail address, in whatever case.

use std::collections::HashSet;
use std::sync::LazyLock;

use db::bulk::{self, BATCH_ROWS};
use db::filter::{Clause, Direction, Filter, LIST_MAX, Page, Param, containing, fold};
use db::{
    Column, Conn, Engine, Record as _, Row, SITE, Sql, Val, counter, record, select, statements,
};
use types::{Error, Kind, Result, Timestamp};

const CUSTOMER_ID: &str = "customer.id";
/// Counts changes of rows that were there before, and of rows that came with a number.
const CHANGES: &str = "customer.changes";
const DELETIONS: &str = "customer.deletions";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomerLookupRow {
    pub customer_id: i64,
    /// None for a guest.
    pub user_id: Option<i64>,
    pub username: String,
    pub first_name: String,
    pub last_name: String,
    pub email: String,
    pub last_active: Option<Timestamp>,
    pub registered: Option<Timestamp>,
    pub country: String,
    pub postcode: String,
    pub city: String,
    pub state: String,
}

/// What [`CustomerLookupRow::read`] reads, in its order.
macro_rules! lookup_columns {
    () => {
        "customer_id, user_id, username, first_name, last_name, email, last_active_us,
         registered_us, country, postcode, city, state"
    };
}

const COLUMNS: usize = 16;

macro_rules! lookup_insert {
    () => {
        "INSERT INTO customer_lookup
           (user_id, username, username_key, first_name, last_name, name_key, email, email_key,
            last_active_us, registered_us, country, postcode, city, state, site_id, customer_id)
         VALUES"
    };
}

statements! {
    CUSTOMER_LOOKUP_INSERT = concat!(
        lookup_insert!(),
        " ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)"
    );
    CUSTOMER_LOOKUP_UPDATE =
        "UPDATE customer_lookup SET
           user_id = $1, username = $2, username_key = $3, first_name = $4, last_name = $5,
           name_key = $6, email = $7, email_key = $8, last_active_us = $9, registered_us = $10,
           country = $11, postcode = $12, city = $13, state = $14
         WHERE site_id = $15 AND customer_id = $16";
    CUSTOMER_LOOKUP_DELETE = "DELETE FROM customer_lookup WHERE site_id = $1 AND customer_id = $2";
    CUSTOMER_LOOKUP_GET = concat!(
        "SELECT ",
        lookup_columns!(),
        " FROM customer_lookup WHERE site_id = $1 AND customer_id = $2"
    );
    CUSTOMER_LOOKUP_AFTER = concat!(
        "SELECT ",
        lookup_columns!(),
        " FROM customer_lookup WHERE site_id = $1 AND customer_id > $2
          ORDER BY customer_id LIMIT $3"
    );
    CUSTOMER_KEYS_AFTER = select!(
        CustomerKey,
        "WHERE site_id = $1 AND customer_id > $2 ORDER BY customer_id LIMIT $3"
    );
    CUSTOMER_LOOKUP_MARK =
        "UPDATE customer_lookup SET changed = $1 WHERE site_id = $2 AND customer_id = $3";
    CUSTOMER_LOOKUP_CHANGED = concat!(
        "SELECT ",
        lookup_columns!(),
        " FROM customer_lookup WHERE changed > $1 AND site_id = $2 ORDER BY changed LIMIT $3"
    );
    CUSTOMER_LOOKUP_BY_USER = concat!(
        "SELECT ",
        lookup_columns!(),
        " FROM customer_lookup WHERE site_id = $1 AND user_id = $2"
    );
    // Who registered comes before the guest of the same address.
    CUSTOMER_LOOKUP_BY_EMAIL = concat!(
        "SELECT ",
        lookup_columns!(),
        " FROM customer_lookup WHERE site_id = $1 AND email_key = $2 AND email_key <> ''
          ORDER BY CASE WHEN user_id IS NULL THEN 1 ELSE 0 END, customer_id LIMIT 1"
    );
    CUSTOMER_LOOKUP_BY_GUEST = concat!(
        "SELECT ",
        lookup_columns!(),
        " FROM customer_lookup WHERE site_id = $1 AND email_key = $2 AND user_id IS NULL"
    );
}

/// Which customers to list. An empty list asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct CustomerLookupFilter {
    /// A text, and the columns of which one must contain it.
    pub search: Option<(String, Vec<LookupColumn>)>,
    pub include: Vec<i64>,
    pub exclude: Vec<i64>,
    pub users: Vec<i64>,
    /// Only users, or only guests.
    pub registered: Option<bool>,
    pub order: LookupOrder,
    pub direction: Direction,
    pub page: Page,
}

/// What a search looks into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupColumn {
    /// The first and the last name with a blank between them.
    Name,
    Username,
    Email,
}

impl LookupColumn {
    pub const ALL: &[Self] = &[Self::Name, Self::Username, Self::Email];

    fn contains(self) -> &'static str {
        match self {
            Self::Name => "name_key LIKE ? ESCAPE '!'",
            Self::Username => "username_key LIKE ? ESCAPE '!'",
            Self::Email => "email_key LIKE ? ESCAPE '!'",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookupOrder {
    #[default]
    Id,
    Name,
    Username,
    Email,
    /// Whoever never registered comes first.
    Registered,
    /// Whoever was never active comes first.
    LastActive,
}

/// The number of the user, or of the guest, when `customer` has no user. A guest with the address
/// of somebody who registered is that customer. Who has no number yet gets the next one and is
/// inserted; who has one is left as they are.
pub fn find_or_insert(conn: &mut dyn Conn, customer: &CustomerLookupRow) -> Result<i64> {
    let found = match customer.user_id {
        Some(user_id) => find_by_user(conn, user_id)?,
        // All guests without an address are one.
        None if customer.email.is_empty() => find_guest(conn, &customer.email)?,
        None => find_by_email(conn, &customer.email)?,
    };
    if let Some(found) = found {
        return Ok(found.customer_id);
    }
    let customer_id = counter::take(conn, CUSTOMER_ID, 1)? + 1;
    write(conn, &CUSTOMER_LOOKUP_INSERT, customer, customer_id)?;
    Ok(customer_id)
}

/// The number that the next customer gets if nobody else makes one meanwhile.
pub fn next_id(conn: &mut dyn Conn) -> Result<i64> {
    Ok(counter::read(conn, CUSTOMER_ID)? + 1)
}

static INSERT_BATCH: LazyLock<String> = LazyLock::new(|| bulk::text(lookup_insert!(), COLUMNS));

/// Sees to it that all of these users and guests have a number, by few statements. Who has one is
/// left as they are; of several rows for the same one, the first counts.
pub fn ensure_many(conn: &mut dyn Conn, customers: &[CustomerLookupRow]) -> Result<()> {
    let mut missing: Vec<(&CustomerLookupRow, Keys)> = Vec::new();
    for part in customers.chunks(LIST_MAX) {
        let mut seen = Known::read(conn, part)?;
        let keyed = part.iter().map(|customer| (customer, customer.keys()));
        missing.extend(keyed.filter(|(customer, keys)| seen.add(customer, keys)));
    }
    let mut all = Known::default();
    missing.retain(|(customer, keys)| all.add(customer, keys));
    let Ok(count @ 1..) = i64::try_from(missing.len()) else { return Ok(()) };
    let first = counter::take(conn, CUSTOMER_ID, count)? + 1;
    for (first, part) in (first..).step_by(BATCH_ROWS).zip(missing.chunks(BATCH_ROWS)) {
        let numbered = (first..).zip(part);
        let rows: Vec<[Val<'_>; COLUMNS]> =
            numbered.map(|(id, (customer, keys))| customer.params(id, keys)).collect();
        bulk::insert(conn, (&CUSTOMER_LOOKUP_INSERT, &INSERT_BATCH), &rows)?;
    }
    Ok(())
}

/// Users and guests who have a number.
#[derive(Debug, Default)]
struct Known {
    users: HashSet<i64>,
    /// By the folded address.
    guests: HashSet<String>,
}

impl Known {
    fn read(conn: &mut dyn Conn, customers: &[CustomerLookupRow]) -> Result<Self> {
        let users: Vec<i64> = customers.iter().filter_map(|customer| customer.user_id).collect();
        let guests = customers.iter().filter(|customer| customer.user_id.is_none());
        let guests: Vec<String> = guests.map(|customer| fold(&customer.email)).collect();
        let mut known = Self::default();
        if !users.is_empty() {
            let mut filter = Filter::new("site_id = ?", SITE);
            filter.and_list("user_id IN (?)", &users)?;
            known.users = column(conn, filter, "user_id")?.into_iter().collect();
        }
        if !guests.is_empty() {
            let mut filter = Filter::new("user_id IS NULL AND site_id = ?", SITE);
            filter.and_list("email_key IN (?)", &guests)?;
            known.guests = column(conn, filter, "email_key")?.into_iter().collect();
        }
        Ok(known)
    }

    /// Returns whether the customer was not among them.
    fn add(&mut self, customer: &CustomerLookupRow, keys: &Keys) -> bool {
        match customer.user_id {
            Some(user_id) => self.users.insert(user_id),
            None => self.guests.insert(keys.email.clone()),
        }
    }
}

fn column<T: Column>(conn: &mut dyn Conn, filter: Filter, name: &'static str) -> Result<Vec<T>> {
    let order = vec![(Clause::fixed(name), Direction::Ascending)];
    let read = |row: &dyn Row| row.get(0);
    Ok(filter.page(conn, (name, "customer_lookup"), order, Page::default(), read)?.0)
}

/// Inserts the customer with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn insert_with_id(conn: &mut dyn Conn, customer: &CustomerLookupRow) -> Result<()> {
    let last_id = counter::read(conn, CUSTOMER_ID)?;
    counter::raise(conn, CUSTOMER_ID, customer.customer_id)?;
    write(conn, &CUSTOMER_LOOKUP_INSERT, customer, customer.customer_id)?;
    // Who looks for greater numbers alone does not find it.
    if customer.customer_id <= last_id { mark(conn, customer.customer_id) } else { Ok(()) }
}

/// Returns whether there is such a customer. A guest who registered becomes a user this way.
pub fn update(conn: &mut dyn Conn, customer: &CustomerLookupRow) -> Result<bool> {
    let is_there = write(conn, &CUSTOMER_LOOKUP_UPDATE, customer, customer.customer_id)?;
    if is_there {
        mark(conn, customer.customer_id)?;
    }
    Ok(is_there)
}

/// Notes that a row is another one than before, for those who keep customers in memory.
fn mark(conn: &mut dyn Conn, customer_id: i64) -> Result<()> {
    if conn.engine() == Engine::Postgres {
        return Ok(());
    }
    let change = counter::take(conn, CHANGES, 1)? + 1;
    let params = [change.into(), SITE.into(), customer_id.into()];
    conn.execute(&CUSTOMER_LOOKUP_MARK, &params).map(drop)
}

/// How far the customers are, as this transaction sees them: with these numbers, whoever keeps them
/// in memory knows what to read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookupState {
    /// No customer has a greater number.
    pub last_id: i64,
    pub changes: i64,
    pub deletions: i64,
}

/// None on PostgreSQL: customers may appear there after others that have greater numbers.
pub fn state(conn: &mut dyn Conn) -> Result<Option<LookupState>> {
    if conn.engine() == Engine::Postgres {
        return Ok(None);
    }
    Ok(Some(LookupState {
        last_id: counter::read(conn, CUSTOMER_ID)?,
        changes: counter::read(conn, CHANGES)?,
        deletions: counter::read(conn, DELETIONS)?,
    }))
}

/// Up to `limit` customers that were changed after so many changes.
pub fn changed_after(
    conn: &mut dyn Conn,
    changes: i64,
    limit: i64,
) -> Result<Vec<CustomerLookupRow>> {
    let params = [changes.into(), SITE.into(), limit.into()];
    conn.rows(&CUSTOMER_LOOKUP_CHANGED, &params, CustomerLookupRow::read)
}

/// Returns whether there was such a customer.
pub fn delete(conn: &mut dyn Conn, customer_id: i64) -> Result<bool> {
    counter::take(conn, DELETIONS, 1)?;
    Ok(conn.execute(&CUSTOMER_LOOKUP_DELETE, &[SITE.into(), customer_id.into()])? == 1)
}

pub fn get(conn: &mut dyn Conn, customer_id: i64) -> Result<Option<CustomerLookupRow>> {
    let params = [SITE.into(), customer_id.into()];
    conn.row(&CUSTOMER_LOOKUP_GET, &params, CustomerLookupRow::read)
}

/// Up to `limit` customers with greater numbers, by them: to read all of them in parts.
pub fn after(conn: &mut dyn Conn, customer_id: i64, limit: i64) -> Result<Vec<CustomerLookupRow>> {
    let params = [SITE.into(), customer_id.into(), limit.into()];
    conn.rows(&CUSTOMER_LOOKUP_AFTER, &params, CustomerLookupRow::read)
}

pub fn find_by_user(conn: &mut dyn Conn, user_id: i64) -> Result<Option<CustomerLookupRow>> {
    let params = [SITE.into(), user_id.into()];
    conn.row(&CUSTOMER_LOOKUP_BY_USER, &params, CustomerLookupRow::read)
}

/// The customer with this e-mail address, in whatever case: who registered, else the guest.
pub fn find_by_email(conn: &mut dyn Conn, email: &str) -> Result<Option<CustomerLookupRow>> {
    let email_key = fold(email);
    let params = [SITE.into(), (&email_key).into()];
    conn.row(&CUSTOMER_LOOKUP_BY_EMAIL, &params, CustomerLookupRow::read)
}

record! {
    /// What tells whose orders are a customer's.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct CustomerKey in "customer_lookup", fixed(site_id = SITE), key(customer_id: i64) {
        user_id: Option<i64>,
        email_key: String,
    }
}

/// The keys of up to `limit` customers with greater numbers, by them: to read all of them in parts.
pub fn keys_after(conn: &mut dyn Conn, customer_id: i64, limit: i64) -> Result<Vec<CustomerKey>> {
    let params = [SITE.into(), customer_id.into(), limit.into()];
    conn.rows(&CUSTOMER_KEYS_AFTER, &params, CustomerKey::read)
}

/// The keys of these users, as far as they are customers, in one query.
pub fn keys_of_users(conn: &mut dyn Conn, user_ids: &[i64]) -> Result<Vec<CustomerKey>> {
    // In the order of the index; another would be a reason for SQLite to read the whole table.
    keys(conn, ("user_id IN (?)", user_ids), "user_id")
}

/// The keys of all customers with these folded e-mail addresses, in one query.
pub fn keys_of_emails(conn: &mut dyn Conn, email_keys: &[String]) -> Result<Vec<CustomerKey>> {
    keys(conn, ("email_key IN (?)", email_keys), "email_key")
}

fn keys<T: Into<Param> + Clone>(
    conn: &mut dyn Conn,
    (fragment, values): (&'static str, &[T]),
    order: &'static str,
) -> Result<Vec<CustomerKey>> {
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_list(fragment, values)?;
    let order = vec![(Clause::fixed(order), Direction::Ascending)];
    filter.records_uncounted(conn, order, Page::default())
}

/// The guest with this e-mail address, in whatever case.
pub fn find_guest(conn: &mut dyn Conn, email: &str) -> Result<Option<CustomerLookupRow>> {
    let email_key = fold(email);
    let params = [SITE.into(), (&email_key).into()];
    conn.row(&CUSTOMER_LOOKUP_BY_GUEST, &params, CustomerLookupRow::read)
}

/// A page of the customers that match, and how many match.
pub fn list(
    conn: &mut dyn Conn,
    wanted: &CustomerLookupFilter,
) -> Result<(Vec<CustomerLookupRow>, i64)> {
    let mut filter = Filter::tallied("site_id = ?", SITE);
    if let Some((text, columns)) = &wanted.search {
        let pattern = containing(text)?;
        let chosen = LookupColumn::ALL.iter().filter(|column| columns.contains(column));
        let mut clauses: Vec<Clause> =
            chosen.map(|column| filter.clause(column.contains(), pattern.clone())).collect();
        clauses.push(Clause::fixed("1 = 0"));
        filter.and(Clause::joined(clauses, " OR "));
    }
    filter.and_list("customer_id IN (?)", &wanted.include)?;
    filter.and_list("customer_id NOT IN (?)", &wanted.exclude)?;
    filter.and_list("user_id IN (?)", &wanted.users)?;
    match wanted.registered {
        Some(true) => filter.and(Clause::fixed("user_id IS NOT NULL")),
        Some(false) => filter.and(Clause::fixed("user_id IS NULL")),
        None => {}
    }
    let key = Clause::fixed(match wanted.order {
        LookupOrder::Id => "customer_id",
        LookupOrder::Name => "name_key",
        LookupOrder::Username => "username_key",
        LookupOrder::Email => "email_key",
        // The engines disagree about where nothing is sorted.
        LookupOrder::Registered => "COALESCE(registered_us, -9000000000000000000)",
        LookupOrder::LastActive => "COALESCE(last_active_us, -9000000000000000000)",
    });
    // Who ties comes in the order of the numbers, whichever way the rest is sorted.
    let order = vec![(key, wanted.direction), (Clause::fixed("customer_id"), Direction::Ascending)];
    let selection = (lookup_columns!(), "customer_lookup");
    filter.page(conn, selection, order, wanted.page, CustomerLookupRow::read)
}

fn write(
    conn: &mut dyn Conn,
    sql: &Sql,
    customer: &CustomerLookupRow,
    customer_id: i64,
) -> Result<bool> {
    let keys = customer.keys();
    let params = customer.params(customer_id, &keys);
    match conn.execute(sql, &params) {
        Err(error) if error.kind() == Kind::Conflict => {
            Err(Error::conflict("this user or guest has a customer number already").because(error))
        }
        written => Ok(written? == 1),
    }
}

/// The folded texts by which customers are found and sorted.
#[derive(Debug)]
struct Keys {
    username: String,
    name: String,
    email: String,
}

impl CustomerLookupRow {
    fn keys(&self) -> Keys {
        Keys {
            username: fold(&self.username),
            name: fold(&format!("{} {}", self.first_name, self.last_name)),
            email: fold(&self.email),
        }
    }

    fn params<'a>(&'a self, customer_id: i64, keys: &'a Keys) -> [Val<'a>; COLUMNS] {
        [
            self.user_id.into(),
            (&self.username).into(),
            (&keys.username).into(),
            (&self.first_name).into(),
            (&self.last_name).into(),
            (&keys.name).into(),
            (&self.email).into(),
            (&keys.email).into(),
            self.last_active.into(),
            self.registered.into(),
            (&self.country).into(),
            (&self.postcode).into(),
            (&self.city).into(),
            (&self.state).into(),
            SITE.into(),
            customer_id.into(),
        ]
    }

    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            customer_id: row.get(0)?,
            user_id: row.get(1)?,
            username: row.get(2)?,
            first_name: row.get(3)?,
            last_name: row.get(4)?,
            email: row.get(5)?,
            last_active: row.get(6)?,
            registered: row.get(7)?,
            country: row.get(8)?,
            postcode: row.get(9)?,
            city: row.get(10)?,
            state: row.get(11)?,
        })
    }
}
