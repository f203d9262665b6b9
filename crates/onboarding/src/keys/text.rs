//! The text of an API key: how it is made, read, hashed and found in a header.
//!
//! `bw_test_` or `bw_live_`, a key id of 8 characters, `_`, a secret of 40 and a checksum of 6. The
//! prefix lets secret scanners find a leaked key, the checksum refuses a mistyped or guessed one
//! before any look-up. **The full text exists only in the caller's hands**: the database keeps a
//! keyed hash, and nothing here prints or repeats the secret.
//!
//! Start with [`parse_authorization`] and [`ApiKey::parse`]; [`ParsedKey`] borrows from the header
//! and allocates nothing.

use std::fmt;

use subtle::ConstantTimeEq as _;
use types::{Environment, Error, IsoId, KeyId, Result, Secret};
use zeroize::Zeroizing;

use vault::{Vault, fill_random};

const KEY_ID_LEN: usize = 8;
const SECRET_LEN: usize = 40;
const CHECKSUM_LEN: usize = 6;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CONTEXT_CHECKSUM: &str = "boardwalk 2026 api key checksum v1";
const RANDOM_ROUNDS_MAX: usize = 32;
const SCHEMES: [&[u8]; 3] = [b"api-key", b"api key", b"apikey"];

/// A key just made, to be shown once.
#[derive(Debug)]
pub struct ApiKey {
    environment: Environment,
    key_id: KeyId,
    text: Secret<String>,
}

impl ApiKey {
    pub fn generate(environment: Environment) -> Result<Self> {
        let prefix = environment.key_prefix();
        let mut random = Zeroizing::new([0; KEY_ID_LEN + SECRET_LEN]);
        fill_base62(&mut *random)?;
        let mut characters = random.iter().copied().map(char::from);
        let key_id: String = characters.by_ref().take(KEY_ID_LEN).collect();
        // The full length at once: growing would leave parts of the secret behind.
        let len = prefix.len() + KEY_ID_LEN + 1 + SECRET_LEN + CHECKSUM_LEN;
        let mut text = String::with_capacity(len);
        text.push_str(prefix);
        text.push_str(&key_id);
        text.push('_');
        text.extend(characters);
        let checksum = checksum(&text);
        text.extend(checksum.map(char::from));
        debug_assert_eq!(text.len(), len, "the text has the published length");
        Ok(Self { environment, key_id: KeyId::new(key_id), text: Secret::new(text) })
    }

    /// Reads a key without looking it up.
    pub fn parse(text: &str) -> Result<ParsedKey<'_>, KeyError> {
        let with_prefix = |environment: Environment| {
            text.strip_prefix(environment.key_prefix()).map(|rest| (environment, rest))
        };
        let (environment, rest) =
            Environment::ALL.into_iter().find_map(with_prefix).ok_or(KeyError::Malformed)?;
        let (key_id, rest) = rest.split_at_checked(KEY_ID_LEN).ok_or(KeyError::Malformed)?;
        let secret = rest.strip_prefix('_').ok_or(KeyError::Malformed)?;
        let is_base62 = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if secret.len() != SECRET_LEN + CHECKSUM_LEN || !is_base62(key_id) || !is_base62(secret) {
            return Err(KeyError::Malformed);
        }
        let (body, given) =
            text.split_at_checked(text.len() - CHECKSUM_LEN).ok_or(KeyError::Malformed)?;
        // The checksum is no secret, anybody can compute it: a plain comparison will do.
        if given.as_bytes() != checksum(body) {
            return Err(KeyError::Checksum);
        }
        Ok(ParsedKey { environment, key_id, text })
    }

    pub fn environment(&self) -> Environment {
        self.environment
    }

    pub fn key_id(&self) -> &KeyId {
        &self.key_id
    }

    /// The full text, to be shown to its owner once.
    pub fn text(&self) -> &Secret<String> {
        &self.text
    }

    /// What is stored instead of the key. It covers the ISO and the scopes too.
    pub fn hash(&self, vault: &Vault, iso_id: &IsoId, scopes: &str) -> [u8; 32] {
        vault.api_key_hash(self.text.expose(), iso_id, scopes)
    }
}

/// Why a text is no key; for the audit log, never for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("the key is malformed")]
    Malformed,
    #[error("the checksum of the key is wrong")]
    Checksum,
}

/// A key with the right form and checksum; whether it was ever issued, [`Self::matches`] tells.
#[derive(Clone, Copy)]
pub struct ParsedKey<'a> {
    environment: Environment,
    key_id: &'a str,
    text: &'a str,
}

impl<'a> ParsedKey<'a> {
    pub fn environment(&self) -> Environment {
        self.environment
    }

    pub fn key_id(&self) -> &'a str {
        self.key_id
    }

    /// Whether this is the key of a stored hash, with the ISO and the scopes that are stored beside
    /// it; takes equally long for any hash of full length.
    pub fn matches(&self, vault: &Vault, iso_id: &IsoId, scopes: &str, stored: &[u8]) -> bool {
        vault.api_key_hash(self.text, iso_id, scopes).ct_eq(stored).into()
    }
}

impl fmt::Debug for ParsedKey<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ParsedKey")
            .field("environment", &self.environment)
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

/// The key in an `Authorization` header: `api-key`, `api key` or `apikey` in any case, blanks, key.
pub fn parse_authorization(header: &[u8]) -> Option<&str> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let after_scheme = SCHEMES.into_iter().find_map(|scheme| {
        let (word, rest) = header.split_at_checked(scheme.len())?;
        let is_scheme = word.eq_ignore_ascii_case(scheme) && rest.first().is_some_and(is_blank);
        is_scheme.then_some(rest)
    })?;
    let key = str::from_utf8(after_scheme).ok()?.trim_matches([' ', '\t']);
    let is_one_word = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
    is_one_word.then_some(key)
}

fn checksum(body: &str) -> [u8; CHECKSUM_LEN] {
    let hash = blake3::derive_key(CONTEXT_CHECKSUM, body.as_bytes());
    let mut number = hash.iter().take(8).fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
    [(); CHECKSUM_LEN].map(|()| {
        let digit = number % 62;
        number /= 62;
        base62_character(u8::try_from(digit).unwrap_or(0))
    })
}

fn base62_character(digit: u8) -> u8 {
    BASE62.get(usize::from(digit)).copied().unwrap_or(b'0')
}

/// Fills with random base62 characters, each equally likely: bytes beyond the last full multiple of
/// 62 are thrown away.
fn fill_base62(characters: &mut [u8]) -> Result<()> {
    const BYTE_LIMIT: u8 = 62 * 4;
    let mut free = characters.iter_mut();
    let mut random = Zeroizing::new([0; 64]);
    for _ in 0..RANDOM_ROUNDS_MAX {
        fill_random(&mut *random)?;
        for (byte, character) in random.iter().filter(|&&byte| byte < BYTE_LIMIT).zip(&mut free) {
            *character = base62_character(byte % 62);
        }
        if free.len() == 0 {
            return Ok(());
        }
    }
    Err(Error::internal("the operating system returned no random bytes"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use vault::MasterKey;

    fn vault(environment: Environment) -> Vault {
        let master = MasterKey::from_text(&"5a".repeat(32)).expect("64 digits");
        Vault::new(&master, environment)
    }

    #[test]
    fn a_new_key_has_the_published_form() {
        for (environment, prefix) in
            [(Environment::Sandbox, "bw_test_"), (Environment::Production, "bw_live_")]
        {
            let key = ApiKey::generate(environment).expect("random");
            let text = key.text().expose();
            assert_eq!(text.len(), 8 + 8 + 1 + 40 + 6);
            assert_eq!(text.capacity(), text.len());
            assert!(text.starts_with(&format!("{prefix}{}_", key.key_id())));
            let parsed = ApiKey::parse(text).expect("own key");
            assert_eq!(parsed.environment(), environment);
            assert_eq!(parsed.key_id(), key.key_id().as_str());
            let vault = vault(environment);
            assert!(parsed.matches(&vault, &iso(), "*", &key.hash(&vault, &iso(), "*")));
        }
    }

    #[test]
    fn a_key_matches_its_own_hash_only() {
        let vault = vault(Environment::Sandbox);
        let key = ApiKey::generate(Environment::Sandbox).expect("random");
        let other = ApiKey::generate(Environment::Sandbox).expect("random");
        let parsed = ApiKey::parse(key.text().expose()).expect("own key");
        let stored = key.hash(&vault, &iso(), "*");
        let matches = |stored: &[u8]| parsed.matches(&vault, &iso(), "*", stored);
        assert!(matches(&stored));
        assert!(!matches(&other.hash(&vault, &iso(), "*")));
        assert!(!matches(&stored[..31]));
        assert!(!matches(&[]));
        let production = self::vault(Environment::Production);
        assert!(!parsed.matches(&production, &iso(), "*", &stored));
    }

    #[test]
    fn a_row_cannot_be_given_to_another_iso_or_more_scopes() {
        let vault = vault(Environment::Sandbox);
        let key = ApiKey::generate(Environment::Sandbox).expect("random");
        let parsed = ApiKey::parse(key.text().expose()).expect("own key");
        let stored = key.hash(&vault, &iso(), "events.read");
        assert!(parsed.matches(&vault, &iso(), "events.read", &stored));
        assert!(!parsed.matches(&vault, &iso(), "*", &stored));
        assert!(!parsed.matches(&vault, &IsoId::new("iso2"), "events.read", &stored));
    }

    fn iso() -> IsoId {
        IsoId::new("iso1")
    }

    #[test]
    fn every_other_form_is_malformed() {
        let key = ApiKey::generate(Environment::Production).expect("random");
        let text = key.text().expose().as_str();
        for bad in [
            "",
            "bw_live_",
            &text[1..],
            &text[..text.len() - 1],
            &format!("{text}A"),
            &format!("\"{text}\""),
            &text.replace("bw_live_", "BW_LIVE_"),
            &text.replace("bw_live_", "bw_prod_"),
            &format!("bw_live_{}é{}", "a".repeat(7), "b".repeat(46)),
            &format!("bw_live_{}_{}", "a".repeat(8), "-".repeat(46)),
            &format!("bw_live_{}-{}", "a".repeat(8), "b".repeat(46)),
        ] {
            assert_eq!(ApiKey::parse(bad).expect_err(bad), KeyError::Malformed, "{bad}");
        }
    }

    #[test]
    fn the_checksum_covers_prefix_id_and_secret() {
        let key = ApiKey::generate(Environment::Production).expect("random");
        let text = key.text().expose();
        let other_environment = text.replace("bw_live_", "bw_test_");
        assert_eq!(ApiKey::parse(&other_environment).expect_err("moved"), KeyError::Checksum);
        for at in (8..text.len()).filter(|&at| at != 16) {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("ASCII");
            assert_eq!(ApiKey::parse(&changed).expect_err("changed"), KeyError::Checksum, "{at}");
        }
    }

    #[test]
    fn the_form_of_the_checksum_never_changes() {
        // Keys already issued depend on it.
        let body = format!("bw_test_abcdefgh_{}", "0".repeat(40));
        assert_eq!(str::from_utf8(&checksum(&body)), Ok("8FY571"));
    }

    #[test]
    fn nothing_prints_the_secret() {
        let key = ApiKey::generate(Environment::Sandbox).expect("random");
        let text = key.text().expose();
        let parsed = ApiKey::parse(text).expect("own key");
        let printed = format!("{key:?} {parsed:?}");
        assert!(!printed.contains(&text[17..57]) && !printed.contains(&text[57..]));
        assert!(printed.contains(key.key_id().as_str()));
    }

    #[test]
    fn random_characters_are_all_used_about_equally() {
        let mut characters = vec![0; 1000];
        let mut counts = [0_u32; 256];
        for _ in 0..62 {
            fill_base62(&mut characters).expect("random");
            for &character in &characters {
                counts[usize::from(character)] += 1;
            }
        }
        // 1000 expected each; a bias towards the first eight, as `byte % 62` has, gives 1220.
        for &character in BASE62 {
            let count = counts[usize::from(character)];
            assert!((800..1200).contains(&count), "{}: {count}", char::from(character));
        }
    }

    #[test]
    fn the_scheme_is_read_in_its_three_spellings() {
        for header in [
            "api-key KEY",
            "API-Key KEY",
            "API KEY KEY",
            "ApiKey KEY",
            "api-key    KEY",
            "api-key\tKEY",
            "api-key KEY  ",
            "apikey \t KEY\t",
        ] {
            assert_eq!(parse_authorization(header.as_bytes()), Some("KEY"), "{header}");
        }
    }

    #[test]
    fn everything_else_is_no_scheme() {
        for header in [
            "",
            "KEY",
            "Bearer KEY",
            "Basic a2V5OnB3",
            "api_key KEY",
            "api-keyKEY",
            "api-key",
            "api-key ",
            "api--key KEY",
            "api  key KEY",
            "apikey: KEY",
            " api-key KEY",
            "api-key KEY KEY",
            "api-key K\u{e9}Y",
            "api key",
        ] {
            assert_eq!(parse_authorization(header.as_bytes()), None, "{header}");
        }
        assert_eq!(parse_authorization(b"api-key \xff"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_readers_panic(text: String, header: Vec<u8>) {
            let _ = parse_authorization(&header);
            prop_assert!(ApiKey::parse(&text).is_err());
            let prefixed = format!("bw_test_{text}");
            prop_assert!(ApiKey::parse(&prefixed).is_err());
        }
    }
}
