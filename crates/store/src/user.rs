//! Users of the site, with their roles and what they are bound to.

use types::{Error, Result, Timestamp};

use crate::conn::sql;
use crate::{Conn, Row, Sql, Val, counter};

/// One installation serves one site for now; the column is there so that tables can be distributed.
const SITE: i64 = 1;
const USER_ID: &str = "user.id";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRow {
    pub user_id: i64,
    pub login: String,
    pub email: String,
    pub password_hash: Option<String>,
    pub role: String,
    pub iso_id: Option<String>,
    pub merchant_id: Option<String>,
    pub store_id: Option<String>,
    pub created: Timestamp,
}

sql!(
    USER_INSERT,
    "INSERT INTO users
       (site_id, user_id, login, email, password_hash, role, iso_id, merchant_id, store_id,
        created_us)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
);
sql!(
    USER_LIST,
    "SELECT user_id, login, email, password_hash, role, iso_id, merchant_id, store_id, created_us
     FROM users WHERE site_id = $1 ORDER BY user_id"
);

pub(crate) const STATEMENTS: &[&Sql] = &[&USER_INSERT, &USER_LIST];

/// Inserts the user with the next id, whatever `user_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, user: &UserRow) -> Result<i64> {
    // The greatest id plus one would let two writers on PostgreSQL collide on the primary key.
    let user_id = counter::take(conn, USER_ID, 1)? + 1;
    let inserted = conn.execute(
        &USER_INSERT,
        &[
            SITE.into(),
            user_id.into(),
            (&user.login).into(),
            (&user.email).into(),
            user.password_hash.as_deref().into(),
            (&user.role).into(),
            user.iso_id.as_deref().into(),
            user.merchant_id.as_deref().into(),
            user.store_id.as_deref().into(),
            user.created.into(),
        ],
    );
    match inserted {
        Err(error) if error.kind() == types::Kind::Conflict => {
            Err(Error::conflict("a user with this login or e-mail exists already").because(error))
        }
        other => other.map(|_| user_id),
    }
}

pub fn list(conn: &mut dyn Conn) -> Result<Vec<UserRow>> {
    conn.rows(&USER_LIST, &[Val::Int(SITE)], |row: &dyn Row| {
        Ok(UserRow {
            user_id: row.get(0)?,
            login: row.get(1)?,
            email: row.get(2)?,
            password_hash: row.get(3)?,
            role: row.get(4)?,
            iso_id: row.get(5)?,
            merchant_id: row.get(6)?,
            store_id: row.get(7)?,
            created: row.get(8)?,
        })
    })
}
