//! Second factors of users, and the codes for those who lost theirs. **Secrets are sealed, and of
//! codes there are hashes only.**

use db::{Conn, Record as _, SITE, statements};
use types::{Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SecondFactorRow in "second_factors", fixed(site_id = SITE), key(user_id: i64) {
        /// The secret, sealed.
        sealed: Vec<u8>,
        /// When its first code was shown; until then it does not count.
        confirmed: Option<Timestamp>,
        /// The time step of the code that was used last.
        last_step: i64,
    }
}

statements! {
    SECOND_FACTOR_PUT = db::upsert!(SecondFactorRow);
    SECOND_FACTOR_GET =
        db::select!(SecondFactorRow, "WHERE site_id = $1 AND user_id = $2");
    SECOND_FACTOR_USE =
        "UPDATE second_factors SET last_step = $1
         WHERE site_id = $2 AND user_id = $3 AND last_step < $1";
    SECOND_FACTOR_DELETE = "DELETE FROM second_factors WHERE site_id = $1 AND user_id = $2";
    RECOVERY_CODE_INSERT =
        "INSERT INTO recovery_codes (site_id, user_id, code_hash) VALUES ($1, $2, $3)";
    RECOVERY_CODE_COUNT =
        "SELECT COUNT(*) FROM recovery_codes WHERE site_id = $1 AND user_id = $2";
    RECOVERY_CODE_TAKE =
        "DELETE FROM recovery_codes WHERE site_id = $1 AND user_id = $2 AND code_hash = $3";
    RECOVERY_CODE_DELETE = "DELETE FROM recovery_codes WHERE site_id = $1 AND user_id = $2";
}

pub fn put(conn: &mut dyn Conn, factor: &SecondFactorRow) -> Result<()> {
    conn.insert(&SECOND_FACTOR_PUT, factor).map(drop)
}

pub fn get(conn: &mut dyn Conn, user_id: i64) -> Result<Option<SecondFactorRow>> {
    conn.row(&SECOND_FACTOR_GET, &[SITE.into(), user_id.into()], SecondFactorRow::read)
}

/// Uses up the codes of a time step and of those before. False if one of them was used already:
/// **of two who show a code, one wins.**
pub fn use_step(conn: &mut dyn Conn, user_id: i64, step: i64) -> Result<bool> {
    let values = [step.into(), SITE.into(), user_id.into()];
    Ok(conn.execute(&SECOND_FACTOR_USE, &values)? == 1)
}

/// Forgets the factor with its recovery codes. Returns whether there was one.
pub fn delete(conn: &mut dyn Conn, user_id: i64) -> Result<bool> {
    conn.execute(&RECOVERY_CODE_DELETE, &[SITE.into(), user_id.into()])?;
    Ok(conn.execute(&SECOND_FACTOR_DELETE, &[SITE.into(), user_id.into()])? == 1)
}

/// Puts these recovery codes in place of those before.
pub fn put_codes(conn: &mut dyn Conn, user_id: i64, hashes: &[Vec<u8>]) -> Result<()> {
    conn.execute(&RECOVERY_CODE_DELETE, &[SITE.into(), user_id.into()])?;
    for hash in hashes {
        let values = [SITE.into(), user_id.into(), hash.as_slice().into()];
        conn.execute(&RECOVERY_CODE_INSERT, &values)?;
    }
    Ok(())
}

/// How many recovery codes are left.
pub fn count_codes(conn: &mut dyn Conn, user_id: i64) -> Result<i64> {
    let count = conn.row(&RECOVERY_CODE_COUNT, &[SITE.into(), user_id.into()], |row| row.get(0))?;
    Ok(count.unwrap_or(0))
}

/// Uses a recovery code up. False if there is no such code.
pub fn take_code(conn: &mut dyn Conn, user_id: i64, hash: &[u8]) -> Result<bool> {
    let values = [SITE.into(), user_id.into(), hash.into()];
    Ok(conn.execute(&RECOVERY_CODE_TAKE, &values)? == 1)
}
