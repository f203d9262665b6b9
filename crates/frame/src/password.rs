//! Passwords that people choose: hashed slowly, for the sign-in page.
//!
//! **There is one rule for them, [`check`], and nothing is hashed that breaks it**, at whichever
//! door it is set: eight characters at least, and none of those that everybody tries first.
//!
//! Hashing takes tens of milliseconds and megabytes, on purpose. **It never runs on a thread that
//! others wait for**: a [`Hasher`] lets few run at once, beside the server's own threads, and sends
//! the rest away.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _, phc::PasswordHash};
use tokio::sync::Semaphore;
use types::{Error, Result, Secret};

pub const LENGTH_MIN: usize = 8;
pub const LENGTH_MAX: usize = 1024;

/// Passwords that are tried first, a line each, in lower case.
const WEAK: &str = include_str!("weak_passwords.txt");
static WEAK_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| WEAK.lines().collect());

/// Hashes under way at once.
const PLACES: usize = 2;
/// Callers who wait for a place; more are sent away.
const WAITING_MAX: usize = 64;

const GENERATED_LENGTH: usize = 24;
const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Hashes passwords beside the work of the server.
#[derive(Debug)]
pub struct Hasher {
    places: Semaphore,
    waiting: AtomicUsize,
}

impl Default for Hasher {
    fn default() -> Self {
        Self { places: Semaphore::new(PLACES), waiting: AtomicUsize::new(0) }
    }
}

impl Hasher {
    pub async fn hash(&self, password: Secret<String>) -> Result<String> {
        self.run(move || hash(&password)).await?
    }

    pub async fn matches(&self, password: Secret<String>, stored: Option<String>) -> Result<bool> {
        self.run(move || matches(&password, stored.as_deref())).await
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let busy = || Error::unavailable("too many sign-in attempts; try again in a moment");
        let place = Waiting::join(&self.waiting).ok_or_else(busy)?;
        let permit = self.places.acquire().await.map_err(|_| busy())?;
        drop(place);
        let done = tokio::task::spawn_blocking(work).await;
        drop(permit);
        done.map_err(|error| Error::internal("hashing a password failed").because(error))
    }
}

/// A place in the queue, left when dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn join(count: &'a AtomicUsize) -> Option<Self> {
        let before = count.fetch_add(1, Ordering::Relaxed);
        let place = Self(count);
        (before < WAITING_MAX).then_some(place)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The rule for every password that is set, at whichever door.
pub fn check(password: &Secret<String>) -> Result<()> {
    let password = password.expose();
    if !(LENGTH_MIN..=LENGTH_MAX).contains(&password.chars().count()) {
        let message = format!("a password has {LENGTH_MIN} to {LENGTH_MAX} characters");
        return Err(Error::invalid(message));
    }
    let mut letters = password.chars();
    let first = letters.next();
    let is_one_letter = letters.all(|letter| Some(letter) == first);
    if is_one_letter || WEAK_SET.contains(password.to_lowercase().as_str()) {
        return Err(Error::invalid("this password is too easy to guess; choose another one"));
    }
    Ok(())
}

/// [`check`] for forms: what is wrong with the password, as a sentence.
pub fn error(password: &str) -> Option<String> {
    let error = check(&Secret::new(password.to_owned())).err()?.to_string();
    let mut letters = error.chars();
    let first = letters.next()?.to_uppercase();
    Some(format!("{first}{}.", letters.as_str()))
}

/// Fails for what [`check`] refuses. Takes tens of milliseconds, on purpose.
pub fn hash(password: &Secret<String>) -> Result<String> {
    check(password)?;
    let hash = Argon2::default().hash_password(password.expose().as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| {
        Error::internal("the password cannot be hashed").because(error.to_string())
    })
}

/// The hash of a random text that nobody knows.
static NOBODY: LazyLock<Option<String>> = LazyLock::new(|| {
    let random = generate().ok()?;
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

/// The hashes of the passwords that a request sets, by the password.
#[derive(Clone, Default)]
pub struct Hashes(HashMap<String, String>);

/// Shows nothing: its keys are passwords.
impl fmt::Debug for Hashes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Hashes")
    }
}

impl Hashes {
    pub(crate) fn insert(&mut self, password: String, hash: String) {
        self.0.insert(password, hash);
    }

    /// The hash, if it was made beforehand.
    pub fn made(&self, given: &str) -> Option<String> {
        self.0.get(given).cloned()
    }

    /// The hash, made beforehand or, where that was not foreseen, now.
    pub fn of(&self, given: &str) -> Result<String, Error> {
        match self.0.get(given) {
            Some(hash) => Ok(hash.clone()),
            None => hash(&Secret::new(given.to_owned())),
        }
    }
}

/// A fresh password.
pub fn generate() -> Result<Secret<String>> {
    let mut text = String::with_capacity(GENERATED_LENGTH);
    while text.len() < GENERATED_LENGTH {
        let mut bytes = [0_u8; 64];
        vault::fill_random(&mut bytes)?;
        // Bytes beyond the last whole alphabet would make some letters likelier than others.
        let fair = bytes.iter().filter(|byte| usize::from(**byte) < ALPHABET.len() * 4);
        let letters = fair.filter_map(|byte| ALPHABET.get(usize::from(*byte) % ALPHABET.len()));
        text.extend(letters.take(GENERATED_LENGTH - text.len()).map(|letter| char::from(*letter)));
    }
    Ok(Secret::new(text))
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
    }

    #[test]
    fn a_password_is_long_enough_and_not_a_known_one() {
        let is_fine = |text: &str| check(&Secret::new(text.to_owned())).is_ok();
        for fine in ["harbour seal", "k7#Vw9qz", "пристань1"] {
            assert!(is_fine(fine), "{fine}");
        }
        let long = "ab".repeat(LENGTH_MAX / 2 + 1);
        for refused in ["", "short", "7letter", "password", "PassWord1", "aaaaaaaaaa", &long] {
            assert!(!is_fine(refused), "{refused}");
        }
        assert!(hash(&Secret::new(String::from("12345678"))).is_err());
        assert!(WEAK_SET.len() > 500, "{}", WEAK_SET.len());
        for known in WEAK_SET.iter() {
            assert_eq!(known.to_lowercase(), *known);
            assert!(known.chars().count() >= LENGTH_MIN, "{known} is too short to be needed");
        }
    }
}
