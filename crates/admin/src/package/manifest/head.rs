//! What plugins and themes alike are named by.

use types::{Error, Result};

const SLUG_LENGTH_MAX: usize = 80;
const VERSION_LENGTH_MAX: usize = 40;

/// Checks the name, the title and the version.
pub(super) fn check_head(slug: &str, name: &str, version: &str) -> Result<()> {
    if !is_slug(slug) {
        return Err(wrong_slug(slug));
    }
    if name.trim().is_empty() {
        return Err(Error::invalid("the package has no name"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-+".contains(c);
    let is_version = version.starts_with(|c: char| c.is_ascii_digit())
        && version.len() <= VERSION_LENGTH_MAX
        && version.chars().all(plain);
    if is_version {
        Ok(())
    } else {
        Err(Error::invalid("the package needs a version such as 1.0.0"))
    }
}

/// Whether a package, or something in it, can be called so: lower case, digits, dashes.
pub fn is_slug(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    let starts = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    starts && text.len() <= SLUG_LENGTH_MAX && text.chars().all(plain)
}

pub(super) fn wrong_slug(slug: &str) -> Error {
    let shown: String = slug.chars().take(SLUG_LENGTH_MAX).collect();
    Error::invalid(format!(
        "`{shown}` is not a valid name; use lower-case letters, digits and hyphens"
    ))
}
