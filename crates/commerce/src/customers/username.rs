//! The name to log in with of a customer who chose none: it follows from the e-mail address.

use db::Conn;
use site_rows::user;
use types::{Error, Result};

/// Names that say nothing about whose address it is; its domain says more.
const EVERYBODYS: &[&str] = &["sales", "hello", "mail", "contact", "info"];
/// How often another number is tried behind the name.
const ATTEMPTS_MAX: u32 = 10_000;
const LENGTH_MAX: usize = 50;
const FALLBACK: &str = "customer";

/// A login that nobody has.
pub(super) fn free(conn: &mut dyn Conn, email: &str) -> Result<String> {
    let base_name = base_name(email);
    let mut candidate = base_name.clone();
    for number in 2..ATTEMPTS_MAX {
        if user::find_by_login(conn, &candidate)?.is_none() {
            return Ok(candidate);
        }
        candidate = format!("{base_name}-{number}");
    }
    Err(Error::conflict("too many customers have this name; choose a username"))
}

fn base_name(email: &str) -> String {
    let (local, domain) = email.split_once('@').unwrap_or((email, ""));
    let part = if EVERYBODYS.contains(&local.to_lowercase().as_str()) { domain } else { local };
    let plain = |letter: &char| letter.is_ascii_alphanumeric() || "._-".contains(*letter);
    let name: String = part.to_lowercase().chars().filter(plain).take(LENGTH_MAX).collect();
    if name.is_empty() { FALLBACK.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_follows_from_the_address() {
        for (email, expected) in [
            ("Ada.Lovelace@example.test", "ada.lovelace"),
            ("info@example.test", "example.test"),
            ("o'neil+x@example.test", "oneilx"),
            ("é@example.test", "customer"),
        ] {
            assert_eq!(base_name(email), expected);
        }
    }
}
