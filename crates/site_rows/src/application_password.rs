//! Application passwords: what a user gives to one program so that it can act in their name.

use db::{Conn, Record, SITE, statements};
use types::{Error, Kind, Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ApplicationPasswordRow in "application_passwords",
        fixed(site_id = SITE), key(user_id: i64, uuid: String) {
        /// A UUID that the program gave itself, or nothing.
        app_id: String,
        name: String,
        hash: Vec<u8>,
        created: Timestamp,
        last_used: Option<Timestamp>,
        last_ip: Option<String>,
    }
}

statements! {
    APPLICATION_PASSWORD_INSERT = db::insert!(ApplicationPasswordRow);
    APPLICATION_PASSWORD_LIST = db::select!(
        ApplicationPasswordRow,
        "WHERE site_id = $1 AND user_id = $2 ORDER BY created_us, uuid"
    );
    APPLICATION_PASSWORD_GET = db::select!(
        ApplicationPasswordRow,
        "WHERE site_id = $1 AND user_id = $2 AND uuid = $3"
    );
    APPLICATION_PASSWORD_RENAME =
        "UPDATE application_passwords SET name = $1
         WHERE site_id = $2 AND user_id = $3 AND uuid = $4";
    APPLICATION_PASSWORD_TOUCH =
        "UPDATE application_passwords SET last_used_us = $1, last_ip = $2
         WHERE site_id = $3 AND user_id = $4 AND uuid = $5";
    APPLICATION_PASSWORD_DELETE =
        "DELETE FROM application_passwords WHERE site_id = $1 AND user_id = $2 AND uuid = $3";
    APPLICATION_PASSWORD_DELETE_ALL =
        "DELETE FROM application_passwords WHERE site_id = $1 AND user_id = $2";
    APPLICATION_PASSWORD_ANY = "SELECT 1 FROM application_passwords WHERE site_id = $1 LIMIT 1";
}

pub fn insert(conn: &mut dyn Conn, password: &ApplicationPasswordRow) -> Result<()> {
    match conn.insert(&APPLICATION_PASSWORD_INSERT, password) {
        Err(error) if error.kind() == Kind::Conflict => {
            Err(Error::conflict("this user cannot have this application password").because(error))
        }
        inserted => inserted.map(drop),
    }
}

/// The user's application passwords, oldest first.
pub fn list(conn: &mut dyn Conn, user_id: i64) -> Result<Vec<ApplicationPasswordRow>> {
    let params = [SITE.into(), user_id.into()];
    conn.rows(&APPLICATION_PASSWORD_LIST, &params, ApplicationPasswordRow::read)
}

pub fn get(
    conn: &mut dyn Conn,
    user_id: i64,
    uuid: &str,
) -> Result<Option<ApplicationPasswordRow>> {
    let params = [SITE.into(), user_id.into(), uuid.into()];
    conn.row(&APPLICATION_PASSWORD_GET, &params, ApplicationPasswordRow::read)
}

/// Returns whether there is such a password.
pub fn rename(conn: &mut dyn Conn, user_id: i64, uuid: &str, name: &str) -> Result<bool> {
    let params = [name.into(), SITE.into(), user_id.into(), uuid.into()];
    Ok(conn.execute(&APPLICATION_PASSWORD_RENAME, &params)? == 1)
}

/// Notes that the password was used. One that is gone meanwhile needs no note.
pub fn touch(
    conn: &mut dyn Conn,
    user_id: i64,
    uuid: &str,
    now: Timestamp,
    ip: &str,
) -> Result<()> {
    let params = [now.into(), ip.into(), SITE.into(), user_id.into(), uuid.into()];
    conn.execute(&APPLICATION_PASSWORD_TOUCH, &params).map(drop)
}

/// Returns whether there was such a password.
pub fn delete(conn: &mut dyn Conn, user_id: i64, uuid: &str) -> Result<bool> {
    let params = [SITE.into(), user_id.into(), uuid.into()];
    Ok(conn.execute(&APPLICATION_PASSWORD_DELETE, &params)? == 1)
}

/// Returns how many there were.
pub fn delete_all(conn: &mut dyn Conn, user_id: i64) -> Result<u64> {
    conn.execute(&APPLICATION_PASSWORD_DELETE_ALL, &[SITE.into(), user_id.into()])
}

/// Whether any user has an application password.
pub fn any_exist(conn: &mut dyn Conn) -> Result<bool> {
    Ok(conn.row(&APPLICATION_PASSWORD_ANY, &[SITE.into()], |row| row.get::<i64>(0))?.is_some())
}
