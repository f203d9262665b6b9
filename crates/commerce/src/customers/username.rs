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
    numbered(conn, &base_name(email))
}

/// The name, or the first of `-2`, `-3`, … that is free.
fn numbered(conn: &mut dyn Conn, base_name: &str) -> Result<String> {
    let mut candidate = base_name.to_owned();
    for number in 2..ATTEMPTS_MAX {
        if user::find_by_login(conn, &candidate)?.is_none() {
            return Ok(candidate);
        }
        candidate = format!("{base_name}-{number}");
    }
    Err(Error::conflict("too many customers have this name; choose a username"))
}

/// A login of somebody's first and last name that nobody has; from the address without them.
pub(super) fn free_of_name(
    conn: &mut dyn Conn,
    first_name: &str,
    last_name: &str,
    email: &str,
) -> Result<String> {
    let names: Vec<String> = [first_name, last_name].iter().map(|name| plain(name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|n| !n.is_empty()).collect();
    let base_name = if names.is_empty() { base_name(email) } else { names.join(".") };
    numbered(conn, &base_name)
}

fn base_name(email: &str) -> String {
    let (local, domain) = email.split_once('@').unwrap_or((email, ""));
    let part = if EVERYBODYS.contains(&local.to_lowercase().as_str()) { domain } else { local };
    let name = plain(part);
    if name.is_empty() { FALLBACK.to_owned() } else { name }
}

/// What of a text can be a part of a login.
fn plain(text: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "._-".contains(*letter);
    text.to_lowercase().chars().filter(is_plain).take(LENGTH_MAX).collect()
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
