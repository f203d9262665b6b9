//! The second factor of people who sign in with a browser: codes of six digits that their phone
//! computes from a secret and the time (RFC 6238), and recovery codes for the day on which it is
//! lost.
//!
//! **A code works once**, and so does a recovery code; guesses are slowed down by user, and after
//! too many in a day only recovery codes are good, which nobody guesses. The secret is sealed,
//! recovery codes are hashes. A factor counts once a code of it was shown, so that nobody locks
//! themselves out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use data_encoding::BASE32_NOPAD;
use db::{Conn, counter};
use serde::{Deserialize, Serialize};
use site_rows::login_token::{self, LoginTokenRow};
use site_rows::second_factor::{self as rows, SecondFactorRow};
use subtle::ConstantTimeEq as _;
use types::{Error, Result, Secret, Timestamp};
use vault::{Aad, Vault};

use super::notices::{self, Notice};
use super::oauth::hmac_sha1;
use crate::Site;

const SECRET_BYTES: usize = 20;
pub const STEP_SECONDS: i64 = 30;
const MICROS: i64 = 1_000_000;
const DIGITS: usize = 6;
const CODES: u32 = 1_000_000;
/// Clocks differ: codes of the step before and of the one after are good, too.
const STEPS_AROUND: i64 = 1;
const RECOVERY_CODES: usize = 10;
const RECOVERY_BYTES: usize = 10;
const RECOVERY_HASHING: &str = "recovery code";

const TOKEN_KIND: &str = "second_factor";
const TOKEN_HASHING: &str = "second factor token";
const TOKEN_BYTES: usize = 24;
const FRESH: &str = "pending";
const USED: &str = "consumed";
/// How long somebody who knew the password may take to show a code.
const PATIENCE: Duration = Duration::from_mins(10);

/// Wrong codes before the password has to be shown again.
const WRONG_PER_STEP_MAX: u32 = 5;
/// Wrong codes of a factor in a day, at whichever door: there are a million codes, of which three
/// are good at a time.
const WRONG_PER_DAY_MAX: i64 = 20;
const MICROS_PER_DAY: i64 = 24 * 60 * 60 * MICROS;

/// What is remembered of somebody who has yet to show a code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Waiting {
    /// Where they go then.
    pub target: String,
    /// Whether their session is to be kept.
    pub keep: bool,
}

/// The same as it is stored.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    waiting: Waiting,
    /// Wrong codes until now.
    #[serde(default)]
    wrong: u32,
}

impl Kept {
    fn read(row: &LoginTokenRow) -> Result<Self> {
        serde_json::from_str(&row.detail)
            .map_err(|error| Error::internal("a kept target cannot be read").because(error))
    }

    fn text(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|error| Error::internal("a target cannot be kept").because(error))
    }
}

/// What a code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    Right,
    Wrong,
    /// Not looked at: too many were wrong today.
    Refused,
}

/// What came of showing a code.
#[derive(Debug)]
pub enum CodeShown {
    Welcome(i64, Waiting),
    Wrong,
    /// Too many were wrong today; a recovery code is good still.
    Refused,
    /// The password has to be shown again.
    Stale,
    Wait(Duration),
}

impl Site {
    /// Counts a code before it is looked at. The error is how long to wait; one that is right is to
    /// be forgiven.
    pub fn attempt_code(&self, user_id: i64) -> Result<(), Duration> {
        self.gate().second_factors.attempt(user_id, Instant::now())
    }

    pub fn forgive_code(&self, user_id: i64) {
        self.gate().second_factors.forgive(&user_id);
    }

    /// What somebody who has shown their password needs to show a code; nothing if they need none.
    pub async fn ask_for_code(
        &self,
        user_id: i64,
        waiting: &Waiting,
        now: Timestamp,
    ) -> Result<Option<Secret<String>>> {
        if !self.store().read(move |conn| is_on(conn, user_id)).await? {
            return Ok(None);
        }
        let mut bytes = [0_u8; TOKEN_BYTES];
        vault::fill_random(&mut bytes)?;
        let token = data_encoding::BASE64URL_NOPAD.encode(&bytes);
        let detail = Kept { waiting: waiting.clone(), wrong: 0 }.text()?;
        let row = LoginTokenRow {
            token_hash: token_hash(self.vault(), &token),
            kind: TOKEN_KIND.to_owned(),
            state: FRESH.to_owned(),
            user_id,
            session_hash: None,
            detail,
            created: now,
            expires: now.plus(PATIENCE),
        };
        self.store().write(move |conn| login_token::insert(conn, &row)).await?;
        Ok(Some(Secret::new(token)))
    }

    /// Checks the code of somebody who has shown their password before, with what they got then.
    /// **That works once, too.**
    pub async fn show_code(
        self: &Arc<Self>,
        token: &str,
        code: &str,
        now: Timestamp,
    ) -> Result<CodeShown> {
        let hash = token_hash(self.vault(), token);
        let wanted = hash.clone();
        let found = self.store().read(move |conn| open_step(conn, &wanted, now)).await?;
        let Some(user_id) = found.map(|row| row.user_id) else { return Ok(CodeShown::Stale) };
        if let Err(wait) = self.attempt_code(user_id) {
            return Ok(CodeShown::Wait(wait));
        }
        let (site, code) = (Arc::clone(self), code.to_owned());
        let check = move |conn: &mut dyn Conn| {
            let Some(row) = open_step(conn, &hash, now)? else { return Ok(CodeShown::Stale) };
            let mut kept = Kept::read(&row)?;
            match take(conn, &site, (user_id, &code), now)? {
                Taken::Refused => Ok(CodeShown::Refused),
                Taken::Wrong => {
                    kept.wrong = kept.wrong.saturating_add(1);
                    let state = if kept.wrong < WRONG_PER_STEP_MAX { FRESH } else { USED };
                    let after =
                        LoginTokenRow { detail: kept.text()?, state: state.to_owned(), ..row };
                    login_token::advance(conn, &after, FRESH)?;
                    Ok(CodeShown::Wrong)
                }
                Taken::Right => {
                    let used = LoginTokenRow { state: USED.to_owned(), ..row };
                    Ok(if login_token::advance(conn, &used, FRESH)? {
                        CodeShown::Welcome(user_id, kept.waiting)
                    } else {
                        CodeShown::Stale
                    })
                }
            }
        };
        let shown = self.store().write(check).await?;
        if matches!(shown, CodeShown::Welcome(..)) {
            self.forgive_code(user_id);
        }
        Ok(shown)
    }
}

/// What somebody got who has yet to show a code, unless it was used or is over.
fn open_step(conn: &mut dyn Conn, hash: &[u8], now: Timestamp) -> Result<Option<LoginTokenRow>> {
    let found = login_token::get(conn, hash)?;
    Ok(found.filter(|row| row.kind == TOKEN_KIND && row.state == FRESH && row.expires > now))
}

fn token_hash(vault: &Vault, token: &str) -> Vec<u8> {
    vault.site_hash(TOKEN_HASHING, token, "").to_vec()
}

/// Whether the user has to show a code when they sign in.
pub fn is_on(conn: &mut dyn Conn, user_id: i64) -> Result<bool> {
    Ok(rows::get(conn, user_id)?.is_some_and(|row| row.confirmed.is_some()))
}

/// A new secret for the user, in the letters that people type. It does not count yet; one that
/// counts stays as it is, and there is nothing.
pub fn begin(conn: &mut dyn Conn, vault: &Vault, user_id: i64) -> Result<Option<Secret<String>>> {
    if is_on(conn, user_id)? {
        return Ok(None);
    }
    let mut secret = [0_u8; SECRET_BYTES];
    vault::fill_random(&mut secret)?;
    let sealed = vault.site_seal(&aad(&user_id.to_string()), &secret)?;
    rows::put(conn, &SecondFactorRow { user_id, sealed, confirmed: None, last_step: 0 })?;
    Ok(Some(Secret::new(BASE32_NOPAD.encode(&secret))))
}

/// Makes the secret count, if this is a code of it, and returns the recovery codes.
pub fn confirm(
    conn: &mut dyn Conn,
    vault: &Vault,
    (user_id, code): (i64, &str),
    now: Timestamp,
) -> Result<Option<Vec<String>>> {
    let Some(row) = rows::get(conn, user_id)?.filter(|row| row.confirmed.is_none()) else {
        return Ok(None);
    };
    let Some(step) = matching_step(vault, &row, code, now)? else { return Ok(None) };
    rows::put(conn, &SecondFactorRow { confirmed: Some(now), last_step: step, ..row })?;
    let mut codes = Vec::with_capacity(RECOVERY_CODES);
    for _ in 0..RECOVERY_CODES {
        let mut bytes = [0_u8; RECOVERY_BYTES];
        vault::fill_random(&mut bytes)?;
        codes.push(in_groups(&BASE32_NOPAD.encode(&bytes).to_lowercase()));
    }
    let hashes: Vec<Vec<u8>> =
        codes.iter().map(|code| recovery_hash(vault, user_id, code)).collect();
    rows::put_codes(conn, user_id, &hashes)?;
    Ok(Some(codes))
}

/// Whether this is a code of the user's factor or one of their recovery codes; either is used up.
/// Wrong ones are counted: **the transaction has to be kept.**
pub fn take(
    conn: &mut dyn Conn,
    site: &Site,
    (user_id, code): (i64, &str),
    now: Timestamp,
) -> Result<Taken> {
    let factor = rows::get(conn, user_id)?;
    let Some((row, since)) = factor.and_then(|row| row.confirmed.map(|since| (row, since))) else {
        return Ok(Taken::Wrong);
    };
    // A factor that takes the place of this one begins anew.
    let counted = format!("wrong codes {user_id} {}", since.as_micros());
    let today = now.as_micros().div_euclid(MICROS_PER_DAY);
    let is_left = counter::left_of_period(conn, &counted, today, WRONG_PER_DAY_MAX)? > 0;
    if digits_of(code).is_some() {
        if !is_left {
            return Ok(Taken::Refused);
        }
        if let Some(step) = matching_step(site.vault(), &row, code, now)?
            && rows::use_step(conn, user_id, step)?
        {
            return Ok(Taken::Right);
        }
    } else if rows::take_code(conn, user_id, &recovery_hash(site.vault(), user_id, code))? {
        return Ok(Taken::Right);
    }
    if !is_left {
        return Ok(Taken::Wrong);
    }
    counter::take_of_period(conn, &counted, today, WRONG_PER_DAY_MAX)?;
    if counter::left_of_period(conn, &counted, today, WRONG_PER_DAY_MAX)? == 0
        && let Some(user) = site_rows::user::get(conn, user_id)?
    {
        notices::tell(conn, site, &user, Notice::CodesRefused, now)?;
    }
    Ok(Taken::Wrong)
}

/// The digits of what could be a code of an app.
fn digits_of(given: &str) -> Option<String> {
    let digits: String = given.chars().filter(|c| !c.is_whitespace()).collect();
    let is_code = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_code.then_some(digits)
}

/// The newest step with this code that was not used yet.
fn matching_step(
    vault: &Vault,
    row: &SecondFactorRow,
    given: &str,
    now: Timestamp,
) -> Result<Option<i64>> {
    let Some(digits) = digits_of(given) else { return Ok(None) };
    let secret = vault.site_open(&aad(&row.user_id.to_string()), &row.sealed)?;
    let now = now.as_micros().div_euclid(MICROS * STEP_SECONDS);
    let is_it = |step: &i64| {
        bool::from(code_at(secret.expose(), *step).as_bytes().ct_eq(digits.as_bytes()))
    };
    let steps = (now - STEPS_AROUND)..=(now + STEPS_AROUND);
    Ok(steps.filter(|step| *step > row.last_step).rfind(is_it))
}

/// The code of a time step, as RFC 6238 and RFC 4226 compute it; for those who have the secret.
pub fn code_at(secret: &[u8], step: i64) -> String {
    let mac = hmac_sha1(secret, &step.to_be_bytes());
    let offset = usize::from(mac.last().copied().unwrap_or_default() & 0xf);
    let word = mac.get(offset..).unwrap_or_default().iter().take(4);
    let number = word.fold(0_u32, |number, byte| (number << 8) | u32::from(*byte));
    format!("{:06}", (number & 0x7fff_ffff) % CODES)
}

fn recovery_hash(vault: &Vault, user_id: i64, code: &str) -> Vec<u8> {
    let plain: String =
        code.chars().filter(char::is_ascii_alphanumeric).flat_map(char::to_lowercase).collect();
    vault.site_hash(RECOVERY_HASHING, &plain, &user_id.to_string()).to_vec()
}

/// In groups of four, so that people can copy it.
fn in_groups(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
    groups.join("-")
}

fn aad(id: &str) -> Aad<'_> {
    Aad { kind: "second_factor", id, column: "sealed" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last six of the eight digits of RFC 6238, appendix B.
    #[test]
    fn codes_are_those_of_the_standard() {
        let secret = b"12345678901234567890";
        for (seconds, expected) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(code_at(secret, seconds / STEP_SECONDS), expected, "{seconds}");
        }
    }

    #[test]
    fn recovery_codes_are_read_however_they_are_typed() {
        assert_eq!(in_groups("abcdefgh2345mnop"), "abcd-efgh-2345-mnop");
        let vault = Vault::new(&vault::MasterKey::generate().unwrap(), types::Environment::Sandbox);
        let hash = |code: &str| recovery_hash(&vault, 7, code);
        assert_eq!(hash("abcd-efgh"), hash(" ABCD efgh "));
        assert_ne!(hash("abcd-efgh"), recovery_hash(&vault, 8, "abcd-efgh"));
    }
}
