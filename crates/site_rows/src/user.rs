//! Users of the site, with their roles and what they are bound to.

mod list;

use db::filter::{containing, fold};
use db::{Conn, Row, SITE, Sql, Val, counter, statements};
use types::{Error, Kind, Result, Role, Timestamp};

pub use list::{UserColumn, UserFilter, UserOrder, list};

const USER_ID: &str = "user.id";
/// How often a nicename is tried with another number behind it.
const NICENAME_ATTEMPTS_MAX: u32 = 10_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserRow {
    pub user_id: i64,
    pub login: String,
    pub email: String,
    /// As a PHC string. A user without one cannot sign in with a password.
    pub password_hash: Option<String>,
    pub roles: Vec<Role>,
    pub display_name: String,
    /// The name in addresses.
    pub nicename: String,
    pub first_name: String,
    pub last_name: String,
    pub nickname: String,
    pub description: String,
    pub url: String,
    pub locale: String,
    pub registered: Timestamp,
    /// A JSON object.
    pub meta: String,
    pub iso_id: Option<String>,
    pub merchant_id: Option<String>,
    pub store_id: Option<String>,
}

/// What [`UserRow::read`] reads, in its order.
macro_rules! user_columns {
    () => {
        "user_id, login, email, password_hash, roles, display_name, nicename, first_name,
         last_name, nickname, description, url, locale, registered_us, meta, iso_id, merchant_id,
         store_id"
    };
}
use user_columns;

statements! {
    USER_INSERT =
        "INSERT INTO users
       (login, login_key, email, email_key, password_hash, roles, display_name, display_name_key,
        nicename, first_name, last_name, nickname, description, url, url_key, locale,
        registered_us, meta, iso_id, merchant_id, store_id, site_id, user_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        $20, $21, $22, $23)";
    USER_UPDATE =
        "UPDATE users SET
       login = $1, login_key = $2, email = $3, email_key = $4, password_hash = $5, roles = $6,
       display_name = $7, display_name_key = $8, nicename = $9, first_name = $10, last_name = $11,
       nickname = $12, description = $13, url = $14, url_key = $15, locale = $16,
       registered_us = $17, meta = $18, iso_id = $19, merchant_id = $20, store_id = $21
     WHERE site_id = $22 AND user_id = $23";
    USER_DELETE = "DELETE FROM users WHERE site_id = $1 AND user_id = $2";
    USER_GET =
        concat!("SELECT ", user_columns!(), " FROM users WHERE site_id = $1 AND user_id = $2");
    USER_BY_LOGIN =
        concat!("SELECT ", user_columns!(), " FROM users WHERE site_id = $1 AND login_key = $2");
    USER_BY_EMAIL =
        concat!("SELECT ", user_columns!(), " FROM users WHERE site_id = $1 AND email_key = $2");
    USER_BY_NICENAME =
        concat!("SELECT ", user_columns!(), " FROM users WHERE site_id = $1 AND nicename = $2");
    USERS_OF_ISO = concat!(
        "SELECT ",
        user_columns!(),
        " FROM users WHERE iso_id = $1 AND site_id = $2 ORDER BY user_id LIMIT $3"
    );
    USERS_OF_ISO_COUNT =
        "SELECT COUNT(*), COUNT(COALESCE(merchant_id, store_id)) FROM users
         WHERE iso_id = $1 AND site_id = $2";
    USERS_REGISTERED =
        "SELECT registered_us FROM users
         WHERE site_id = $1 AND registered_us >= $2 AND registered_us < $3
           AND roles LIKE $4 ESCAPE '!'";
    USER_ALL =
        concat!("SELECT ", user_columns!(), " FROM users WHERE site_id = $1 ORDER BY user_id");
}

/// Inserts the user with the next id, whatever `user_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, user: &UserRow) -> Result<i64> {
    // The greatest id plus one would let two writers on PostgreSQL collide on the primary key.
    let user_id = counter::take(conn, USER_ID, 1)? + 1;
    write(conn, &USER_INSERT, user, user_id)?;
    Ok(user_id)
}

/// The id that the next user gets if nobody else makes one meanwhile.
pub fn next_id(conn: &mut dyn Conn) -> Result<i64> {
    Ok(counter::read(conn, USER_ID)? + 1)
}

/// Inserts the user with the id that it comes with, and sees to it that the id is not given again.
pub fn insert_with_id(conn: &mut dyn Conn, user: &UserRow) -> Result<()> {
    counter::raise(conn, USER_ID, user.user_id)?;
    write(conn, &USER_INSERT, user, user.user_id).map(drop)
}

/// Returns whether there is such a user.
pub fn update(conn: &mut dyn Conn, user: &UserRow) -> Result<bool> {
    write(conn, &USER_UPDATE, user, user.user_id)
}

/// Deletes the user with its passwords, keys and sessions. Returns whether there was one.
pub fn delete(conn: &mut dyn Conn, user_id: i64) -> Result<bool> {
    Ok(conn.execute(&USER_DELETE, &[SITE.into(), user_id.into()])? == 1)
}

pub fn get(conn: &mut dyn Conn, user_id: i64) -> Result<Option<UserRow>> {
    conn.row(&USER_GET, &[SITE.into(), user_id.into()], UserRow::read)
}

/// The user with this login, in whatever case.
pub fn find_by_login(conn: &mut dyn Conn, login: &str) -> Result<Option<UserRow>> {
    conn.row(&USER_BY_LOGIN, &[SITE.into(), (&fold(login)).into()], UserRow::read)
}

/// The user with this e-mail address, in whatever case.
pub fn find_by_email(conn: &mut dyn Conn, email: &str) -> Result<Option<UserRow>> {
    conn.row(&USER_BY_EMAIL, &[SITE.into(), (&fold(email)).into()], UserRow::read)
}

pub fn find_by_nicename(conn: &mut dyn Conn, nicename: &str) -> Result<Option<UserRow>> {
    conn.row(&USER_BY_NICENAME, &[SITE.into(), nicename.into()], UserRow::read)
}

/// Up to `limit` people of an ISO, its merchants and stores: those who came first.
pub fn of_iso(conn: &mut dyn Conn, iso_id: &str, limit: i64) -> Result<Vec<UserRow>> {
    conn.rows(&USERS_OF_ISO, &[iso_id.into(), SITE.into(), limit.into()], UserRow::read)
}

/// How many people an ISO has, and how many of them act for one of its merchants or stores.
pub fn of_iso_count(conn: &mut dyn Conn, iso_id: &str) -> Result<(i64, i64)> {
    let params = [iso_id.into(), SITE.into()];
    let found = conn.row(&USERS_OF_ISO_COUNT, &params, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.unwrap_or_default())
}

/// The wanted nicename, with the lowest number behind it that makes it free for the user. A new
/// user has the id 0.
pub fn free_nicename(conn: &mut dyn Conn, wanted: &str, user_id: i64) -> Result<String> {
    let mut candidate = wanted.to_owned();
    for number in 2..NICENAME_ATTEMPTS_MAX {
        match find_by_nicename(conn, &candidate)? {
            Some(user) if user.user_id != user_id => candidate = format!("{wanted}-{number}"),
            _ => return Ok(candidate),
        }
    }
    Err(Error::conflict("too many users share this name; choose another one"))
}

/// When the users of a role registered who did so from the one moment on and before the other.
pub fn registered_between(
    conn: &mut dyn Conn,
    role: Role,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<Timestamp>> {
    let pattern = containing(&format!(" {role} "))?;
    let params = [SITE.into(), from.into(), until.into(), (&pattern).into()];
    conn.rows(&USERS_REGISTERED, &params, |row| row.get(0))
}

/// All users by their ids, for whoever looks after the whole site.
pub fn all(conn: &mut dyn Conn) -> Result<Vec<UserRow>> {
    conn.rows(&USER_ALL, &[SITE.into()], UserRow::read)
}

fn write(conn: &mut dyn Conn, sql: &Sql, user: &UserRow, user_id: i64) -> Result<bool> {
    let (login_key, email_key) = (fold(&user.login), fold(&user.email));
    let (display_name_key, url_key) = (fold(&user.display_name), fold(&user.url));
    let roles = roles_text(&user.roles);
    let params: [Val<'_>; 23] = [
        (&user.login).into(),
        (&login_key).into(),
        (&user.email).into(),
        (&email_key).into(),
        user.password_hash.as_deref().into(),
        (&roles).into(),
        (&user.display_name).into(),
        (&display_name_key).into(),
        (&user.nicename).into(),
        (&user.first_name).into(),
        (&user.last_name).into(),
        (&user.nickname).into(),
        (&user.description).into(),
        (&user.url).into(),
        (&url_key).into(),
        (&user.locale).into(),
        user.registered.into(),
        (&user.meta).into(),
        user.iso_id.as_deref().into(),
        user.merchant_id.as_deref().into(),
        user.store_id.as_deref().into(),
        SITE.into(),
        user_id.into(),
    ];
    match conn.execute(sql, &params) {
        Err(error) if error.kind() == Kind::Conflict => {
            let message = "a user with this login or e-mail or nicename exists already";
            Err(Error::conflict(message).because(error))
        }
        written => Ok(written? == 1),
    }
}

fn roles_text(roles: &[Role]) -> String {
    let names = roles.iter().map(|role| format!(" {role}"));
    names.chain([String::from(" ")]).collect()
}

impl UserRow {
    fn read(row: &dyn Row) -> Result<Self> {
        let roles: String = row.get(4)?;
        let roles: std::result::Result<_, String> =
            roles.split_ascii_whitespace().map(str::parse).collect();
        Ok(Self {
            user_id: row.get(0)?,
            login: row.get(1)?,
            email: row.get(2)?,
            password_hash: row.get(3)?,
            roles: roles.map_err(|error| Error::internal("a user has no role").because(error))?,
            display_name: row.get(5)?,
            nicename: row.get(6)?,
            first_name: row.get(7)?,
            last_name: row.get(8)?,
            nickname: row.get(9)?,
            description: row.get(10)?,
            url: row.get(11)?,
            locale: row.get(12)?,
            registered: row.get(13)?,
            meta: row.get(14)?,
            iso_id: row.get(15)?,
            merchant_id: row.get(16)?,
            store_id: row.get(17)?,
        })
    }
}
