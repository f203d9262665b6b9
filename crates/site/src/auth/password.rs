//! Passwords that people choose: hashed slowly, for the sign-in page.

use std::sync::LazyLock;

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _, phc::PasswordHash};
use types::{Error, Result, Secret};

const LENGTH_MIN: usize = 12;
const LENGTH_MAX: usize = 1024;

/// Says what is wrong with a password, if anything is.
pub fn check(password: &Secret<String>) -> Result<()> {
    let length = password.expose().chars().count();
    if (LENGTH_MIN..=LENGTH_MAX).contains(&length) {
        return Ok(());
    }
    Err(Error::invalid(format!("a password has {LENGTH_MIN} to {LENGTH_MAX} characters")))
}

/// Takes tens of milliseconds, on purpose.
pub fn hash(password: &Secret<String>) -> Result<String> {
    let hash = Argon2::default().hash_password(password.expose().as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| {
        Error::internal("the password cannot be hashed").because(error.to_string())
    })
}

/// The hash of a random text that nobody knows.
static NOBODY: LazyLock<Option<String>> = LazyLock::new(|| {
    let random = super::application_password::generate().ok()?;
    hash(&random).ok()
});

/// Takes as long whether or not there is an account, so that time tells nothing.
pub fn matches(password: &Secret<String>, stored: Option<&str>) -> bool {
    let compared = stored.or(NOBODY.as_deref()).unwrap_or_default();
    let verified = PasswordHash::new(compared).is_ok_and(|hash| {
        Argon2::default().verify_password(password.expose().as_bytes(), &hash).is_ok()
    });
    verified && stored.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_password_of_an_account_matches() {
        let right = Secret::new(String::from("a rather long password"));
        let stored = hash(&right).unwrap();
        assert!(matches(&right, Some(&stored)));
        assert!(!matches(&Secret::new(String::from("another password")), Some(&stored)));
        assert!(!matches(&right, None));
        assert!(check(&Secret::new(String::from("short"))).is_err());
    }
}
