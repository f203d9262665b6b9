//! Application passwords: 24 random letters and digits that stand in for a user in one program.

use std::sync::Arc;
use std::time::Duration;

use contract::rest::Refusal;
use db::Conn;
use serde_json::json;
use site_rows::application_password::{self as rows, ApplicationPasswordRow};
use subtle::ConstantTimeEq as _;
use types::{Error, Result, Secret, Timestamp};
use vault::Vault;

pub use crate::password::generate;

use super::{Found, basic};
use crate::{Identity, Request, Site, User, Via, options};

/// The option that says that application passwords have been made on this site.
const IN_USE: &str = "using_application_passwords";
/// Characters of a name at most.
pub const NAME_LENGTH_MAX: usize = 250;
const GROUP: usize = 4;
const HASH_PURPOSE: &str = "application password";
/// How precisely the last use is noted.
const LAST_USED_PRECISION: Duration = Duration::from_hours(24);

/// The password in groups of four, as it is shown.
pub fn in_groups(password: &str) -> String {
    let letters: Vec<char> = password.chars().collect();
    let groups = letters.chunks(GROUP).map(|group| group.iter().collect::<String>());
    groups.collect::<Vec<_>>().join(" ")
}

/// What is stored instead of the password. Blanks and other signs in it do not count.
pub fn hash(vault: &Vault, user_id: i64, password: &str) -> Vec<u8> {
    let letters: String = password.chars().filter(char::is_ascii_alphanumeric).collect();
    vault.site_hash(HASH_PURPOSE, &letters, &user_id.to_string()).to_vec()
}

/// The entry of the user that the password belongs to.
fn matching(
    vault: &Vault,
    user_id: i64,
    password: &str,
    entries: Vec<ApplicationPasswordRow>,
) -> Option<ApplicationPasswordRow> {
    let hash = hash(vault, user_id, password);
    entries.into_iter().find(|entry| entry.hash.ct_eq(&hash).into())
}

/// Makes a password for one program. The secret is not stored; whoever asked shows it once.
pub fn create_password(
    conn: &mut dyn Conn,
    vault: &Vault,
    user_id: i64,
    (name, app_id): (&str, &str),
    now: Timestamp,
) -> Result<(ApplicationPasswordRow, Secret<String>), Error> {
    if name.chars().count() > NAME_LENGTH_MAX {
        let message = format!("a name must have at most {NAME_LENGTH_MAX} characters");
        return Err(Error::invalid(message));
    }
    let secret = generate()?;
    let row = ApplicationPasswordRow {
        user_id,
        uuid: random_uuid()?,
        app_id: app_id.to_owned(),
        name: name.to_owned(),
        hash: hash(vault, user_id, secret.expose()),
        created: now,
        last_used: None,
        last_ip: None,
    };
    rows::insert(conn, &row)?;
    options::set(conn, IN_USE, &json!(true))?;
    Ok((row, secret))
}

/// A random UUID of version 4.
fn random_uuid() -> Result<String, Error> {
    let mut bytes = [0_u8; 16];
    vault::fill_random(&mut bytes)?;
    let random = u128::from_be_bytes(bytes);
    let versioned = (random & !(0xf << 76)) | (0x4 << 76);
    let number = (versioned & !(0b11 << 62)) | (0b10 << 62);
    let digits = format!("{number:032x}");
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    Ok([part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-"))
}

impl Site {
    pub(super) async fn application_password_of(
        &self,
        request: &Request,
        now: Timestamp,
    ) -> Result<Found, Error> {
        let Some(basic) = basic::of(request) else { return Ok(Found::Nothing) };
        if !self.takes_application_passwords(request) {
            return Ok(Found::Nothing);
        }
        let credentials = format!("{}:{}", basic.login, basic.secret);
        let key = self.vault().site_hash("credentials seen", "application password", &credentials);
        let before = match self.gate().seen.get(&key) {
            Ok(identity) => return Ok(Found::Somebody(Box::new(identity))),
            Err(before) => before,
        };
        let login = basic.login.clone();
        let found = self.store().read(move |conn| {
            let by_login = site_rows::user::find_by_login(conn, &login)?;
            let user = match by_login {
                None if login.contains('@') => site_rows::user::find_by_email(conn, &login)?,
                other => other,
            };
            let entries = match &user {
                Some(user) => rows::list(conn, user.user_id)?,
                None => Vec::new(),
            };
            Ok((user, entries, rows::any_exist(conn)?))
        });
        let (user, entries, in_use) = found.await?;
        if !in_use {
            return Ok(Found::Nothing);
        }
        let Some(user) = user else {
            let code = if basic.login.contains('@') { "invalid_email" } else { "invalid_username" };
            let message = "Unknown username. Check it or use your e-mail address.";
            return Ok(Found::Unknown(Box::new(Refusal::new(401, code, message))));
        };
        let Some(entry) = matching(self.vault(), user.user_id, &basic.secret, entries) else {
            let message = "Incorrect application password.";
            let refusal = Refusal::new(401, "incorrect_password", message);
            return Ok(Found::Refused(Box::new(refusal)));
        };
        self.note_use(&entry, request, now).await?;
        let via = Via::ApplicationPassword { uuid: entry.uuid };
        let identity = Identity::of(Arc::new(User::new(user)), via);
        self.gate().seen.put(key, identity.clone(), before);
        Ok(Found::Somebody(Box::new(identity)))
    }

    async fn note_use(
        &self,
        entry: &ApplicationPasswordRow,
        request: &Request,
        now: Timestamp,
    ) -> Result<(), Error> {
        let stale = entry.last_used.is_none_or(|used| now.since(used) >= LAST_USED_PRECISION);
        if !stale {
            return Ok(());
        }
        let (user_id, uuid) = (entry.user_id, entry.uuid.clone());
        let address = request.client.address.to_string();
        self.store().write(move |conn| rows::touch(conn, user_id, &uuid, now, &address)).await
    }
}

#[cfg(test)]
mod tests {
    use contract::rest::formats;

    use super::*;

    #[test]
    fn a_password_is_24_letters_in_six_groups() {
        let password = generate().unwrap();
        let shown = in_groups(password.expose());
        assert_eq!(shown.len(), 29);
        assert_eq!(shown.split(' ').filter(|group| group.len() == 4).count(), 6);
        assert_ne!(password.expose(), generate().unwrap().expose());
    }

    #[test]
    fn blanks_do_not_matter_and_users_do() {
        let master = vault::MasterKey::generate().unwrap();
        let vault = Vault::new(&master, types::Environment::Sandbox);
        assert_eq!(hash(&vault, 1, "abcd EFGH"), hash(&vault, 1, "abcdEFGH"));
        assert_ne!(hash(&vault, 1, "abcdEFGH"), hash(&vault, 2, "abcdEFGH"));
    }

    #[test]
    fn an_id_is_a_random_uuid() {
        let uuid = random_uuid().unwrap();
        assert!(formats::is_uuid(&uuid), "{uuid}");
        assert_eq!((&uuid[14..15], uuid.len()), ("4", 36));
        assert!("89ab".contains(&uuid[19..20]), "{uuid}");
        assert_ne!(uuid, random_uuid().unwrap());
    }
}
