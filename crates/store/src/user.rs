//! Users of the site.

use types::{Error, Result, Timestamp};

use crate::conn::sql;
use crate::{Conn, Row, Sql, Val};

/// One installation serves one site for now; the column is there so that tables can be distributed.
const SITE: i64 = 1;

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

sql!(USER_ID_MAX, "SELECT MAX(user_id) FROM users WHERE site_id = $1");
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

pub(crate) const STATEMENTS: &[&Sql] = &[&USER_ID_MAX, &USER_INSERT, &USER_LIST];

/// Inserts the user with the next id, whatever `user_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, user: &UserRow) -> Result<i64> {
    let newest = conn.row(&USER_ID_MAX, &[SITE.into()], |row| row.get::<Option<i64>>(0))?;
    let user_id = newest.flatten().unwrap_or(0) + 1;
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
