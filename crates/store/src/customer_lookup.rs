//! Customers as reports count them: every user who bought something or registered, and every guest,
//! under one number. A guest is known by the e-mail address, in whatever case.

use types::{Error, Kind, Result, Timestamp};

use crate::conn::sql;
use crate::filter::{Clause, Direction, Filter, Page, containing, fold};
use crate::{Conn, Row, SITE, Sql, Val, counter};

const CUSTOMER_ID: &str = "customer.id";

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

sql!(
    CUSTOMER_LOOKUP_INSERT,
    "INSERT INTO customer_lookup
       (user_id, username, username_key, first_name, last_name, name_key, email, email_key,
        last_active_us, registered_us, country, postcode, city, state, site_id, customer_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)"
);
sql!(
    CUSTOMER_LOOKUP_UPDATE,
    "UPDATE customer_lookup SET
       user_id = $1, username = $2, username_key = $3, first_name = $4, last_name = $5,
       name_key = $6, email = $7, email_key = $8, last_active_us = $9, registered_us = $10,
       country = $11, postcode = $12, city = $13, state = $14
     WHERE site_id = $15 AND customer_id = $16"
);
sql!(CUSTOMER_LOOKUP_DELETE, "DELETE FROM customer_lookup WHERE site_id = $1 AND customer_id = $2");
sql!(
    CUSTOMER_LOOKUP_GET,
    concat!(
        "SELECT ",
        lookup_columns!(),
        " FROM customer_lookup WHERE site_id = $1 AND customer_id = $2"
    )
);
sql!(
    CUSTOMER_LOOKUP_BY_USER,
    concat!(
        "SELECT ",
        lookup_columns!(),
        " FROM customer_lookup WHERE site_id = $1 AND user_id = $2"
    )
);
sql!(
    CUSTOMER_LOOKUP_BY_GUEST,
    concat!(
        "SELECT ",
        lookup_columns!(),
        " FROM customer_lookup WHERE site_id = $1 AND email_key = $2 AND user_id IS NULL"
    )
);

pub(crate) const STATEMENTS: &[&Sql] = &[
    &CUSTOMER_LOOKUP_INSERT,
    &CUSTOMER_LOOKUP_UPDATE,
    &CUSTOMER_LOOKUP_DELETE,
    &CUSTOMER_LOOKUP_GET,
    &CUSTOMER_LOOKUP_BY_USER,
    &CUSTOMER_LOOKUP_BY_GUEST,
];

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

/// The number of the user, or of the guest, when `customer` has no user. Who has none yet gets the
/// next one and is inserted; who has one is left as they are.
pub fn find_or_insert(conn: &mut dyn Conn, customer: &CustomerLookupRow) -> Result<i64> {
    let found = match customer.user_id {
        Some(user_id) => find_by_user(conn, user_id)?,
        None => find_guest(conn, &customer.email)?,
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

/// Inserts the customer with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn insert_with_id(conn: &mut dyn Conn, customer: &CustomerLookupRow) -> Result<()> {
    counter::raise(conn, CUSTOMER_ID, customer.customer_id)?;
    write(conn, &CUSTOMER_LOOKUP_INSERT, customer, customer.customer_id).map(drop)
}

/// Returns whether there is such a customer. A guest who registered becomes a user this way.
pub fn update(conn: &mut dyn Conn, customer: &CustomerLookupRow) -> Result<bool> {
    write(conn, &CUSTOMER_LOOKUP_UPDATE, customer, customer.customer_id)
}

/// Returns whether there was such a customer.
pub fn delete(conn: &mut dyn Conn, customer_id: i64) -> Result<bool> {
    Ok(conn.execute(&CUSTOMER_LOOKUP_DELETE, &[SITE.into(), customer_id.into()])? == 1)
}

pub fn get(conn: &mut dyn Conn, customer_id: i64) -> Result<Option<CustomerLookupRow>> {
    let params = [SITE.into(), customer_id.into()];
    conn.row(&CUSTOMER_LOOKUP_GET, &params, CustomerLookupRow::read)
}

pub fn find_by_user(conn: &mut dyn Conn, user_id: i64) -> Result<Option<CustomerLookupRow>> {
    let params = [SITE.into(), user_id.into()];
    conn.row(&CUSTOMER_LOOKUP_BY_USER, &params, CustomerLookupRow::read)
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
    let mut filter = Filter::new("site_id = ?", SITE);
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
    let order = vec![(key, wanted.direction), (Clause::fixed("customer_id"), wanted.direction)];
    let selection = (lookup_columns!(), "customer_lookup");
    filter.page(conn, selection, order, wanted.page, CustomerLookupRow::read)
}

fn write(
    conn: &mut dyn Conn,
    sql: &Sql,
    customer: &CustomerLookupRow,
    customer_id: i64,
) -> Result<bool> {
    let (username_key, email_key) = (fold(&customer.username), fold(&customer.email));
    let name_key = fold(&format!("{} {}", customer.first_name, customer.last_name));
    let params: [Val<'_>; 16] = [
        customer.user_id.into(),
        (&customer.username).into(),
        (&username_key).into(),
        (&customer.first_name).into(),
        (&customer.last_name).into(),
        (&name_key).into(),
        (&customer.email).into(),
        (&email_key).into(),
        customer.last_active.into(),
        customer.registered.into(),
        (&customer.country).into(),
        (&customer.postcode).into(),
        (&customer.city).into(),
        (&customer.state).into(),
        SITE.into(),
        customer_id.into(),
    ];
    match conn.execute(sql, &params) {
        Err(error) if error.kind() == Kind::Conflict => {
            Err(Error::conflict("this user or guest has a customer number already").because(error))
        }
        written => Ok(written? == 1),
    }
}

impl CustomerLookupRow {
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
