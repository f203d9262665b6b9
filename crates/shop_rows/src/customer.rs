//! Users as customers: where to bill and to ship. Names and e-mail addresses are those of
//! [`site_rows::user`]; guests are no customers in this sense, see [`crate::customer_lookup`].

use std::collections::HashMap;

use db::filter::{Clause, Direction, Filter, LIST_MAX, Page};
use db::{Conn, Record, SITE, statements};
use site_rows::user::{self, UserFilter, UserRow};
use types::{Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CustomerRow in "customers", fixed(site_id = SITE), key(user_id: i64) {
        /// A JSON object.
        billing: String,
        /// A JSON object.
        shipping: String,
        /// Whether an order of theirs was ever paid.
        is_paying: bool,
        last_active: Option<Timestamp>,
        /// A JSON object.
        meta: String,
    }
}

/// A user with what they have as a customer: nothing, as long as nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Customer {
    pub user: UserRow,
    pub row: CustomerRow,
}

/// Which customers to list: users that match, or the one of them with this e-mail address.
#[derive(Clone, Debug, Default)]
pub struct CustomerFilter {
    pub users: UserFilter,
    /// In whatever case.
    pub email: Option<String>,
}

statements! {
    CUSTOMER_PUT = db::insert!(
        CustomerRow,
        "ON CONFLICT (site_id, user_id) DO UPDATE SET
           billing = excluded.billing, shipping = excluded.shipping, is_paying = excluded.is_paying,
           last_active_us = excluded.last_active_us, meta = excluded.meta"
    );
    CUSTOMER_GET = db::select!(CustomerRow, "WHERE site_id = $1 AND user_id = $2");
}

/// Writes what the user has as a customer. It goes when the user goes.
pub fn put(conn: &mut dyn Conn, customer: &CustomerRow) -> Result<()> {
    conn.insert(&CUSTOMER_PUT, customer).map(drop)
}

/// The user as a customer, if there is such a user.
pub fn get(conn: &mut dyn Conn, user_id: i64) -> Result<Option<Customer>> {
    let Some(user) = user::get(conn, user_id)? else { return Ok(None) };
    let row = conn.row(&CUSTOMER_GET, &[SITE.into(), user_id.into()], CustomerRow::read)?;
    let row = row.unwrap_or_else(|| CustomerRow::empty(user_id));
    Ok(Some(Customer { user, row }))
}

/// A page of the users that match, as customers, in two queries, and how many match.
pub fn list(conn: &mut dyn Conn, wanted: &CustomerFilter) -> Result<(Vec<Customer>, i64)> {
    let mut users = wanted.users.clone();
    if let Some(email) = &wanted.email {
        let named = user::find_by_email(conn, email)?.map(|user| user.user_id);
        let named = named.filter(|id| users.include.is_empty() || users.include.contains(id));
        let Some(user_id) = named else { return Ok((Vec::new(), 0)) };
        users.include = vec![user_id];
    }
    let (users, total) = user::list(conn, &users)?;
    Ok((with_rows(conn, users)?, total))
}

/// Those of the users that there are, as customers, by their ids, in two queries.
pub fn get_many(conn: &mut dyn Conn, user_ids: &[i64]) -> Result<Vec<Customer>> {
    if user_ids.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = UserFilter { include: user_ids.to_vec(), ..UserFilter::default() };
    let (users, _) = user::list(conn, &wanted)?;
    with_rows(conn, users)
}

fn with_rows(conn: &mut dyn Conn, users: Vec<UserRow>) -> Result<Vec<Customer>> {
    let user_ids: Vec<i64> = users.iter().map(|user| user.user_id).collect();
    let mut rows: HashMap<i64, CustomerRow> = HashMap::new();
    for user_ids in user_ids.chunks(LIST_MAX) {
        let mut filter = Filter::new("site_id = ?", SITE);
        filter.and_list("user_id IN (?)", user_ids)?;
        let order = vec![(Clause::fixed("user_id"), Direction::Ascending)];
        let (found, _) = filter.records::<CustomerRow>(conn, order, Page::default())?;
        rows.extend(found.into_iter().map(|row| (row.user_id, row)));
    }
    let customers = users.into_iter().map(|user| {
        let row = rows.remove(&user.user_id);
        let row = row.unwrap_or_else(|| CustomerRow::empty(user.user_id));
        Customer { user, row }
    });
    Ok(customers.collect())
}

impl CustomerRow {
    /// What a user has who never bought anything.
    pub fn empty(user_id: i64) -> Self {
        let object = || String::from("{}");
        Self {
            user_id,
            billing: object(),
            shipping: object(),
            is_paying: false,
            last_active: None,
            meta: object(),
        }
    }
}
