//! Postal codes by country: how they look, and how they are written.

/// Countries with the forms of their codes without blanks and hyphens: 9 for a digit, A for a
/// letter.
const FORMS: &[(&str, &[&str])] = &[
    ("AT", &["9999"]),
    ("AU", &["9999"]),
    ("BA", &["99999"]),
    ("BE", &["9999"]),
    ("BR", &["99999999"]),
    ("CA", &["A9A9A9"]),
    ("CH", &["9999"]),
    ("CZ", &["99999"]),
    ("DE", &["99999"]),
    ("DK", &["9999"]),
    ("ES", &["99999"]),
    ("FI", &["99999"]),
    ("FR", &["99999"]),
    ("GB", &["A99AA", "A999AA", "AA99AA", "AA999AA", "A9A9AA", "AA9A9AA"]),
    ("HU", &["9999"]),
    ("IN", &["999999"]),
    ("IT", &["99999"]),
    ("JP", &["9999999"]),
    ("LI", &["9999"]),
    ("NL", &["9999AA"]),
    ("NO", &["9999"]),
    ("PL", &["99999"]),
    ("PR", &["99999", "999999999"]),
    ("PT", &["9999999"]),
    ("SE", &["99999"]),
    ("SI", &["9999"]),
    ("SK", &["99999"]),
    ("US", &["99999", "999999999"]),
];

/// Countries that write something between two parts, and how long the last part is.
const PARTS: &[(&str, usize, char)] = &[
    ("CA", 3, ' '),
    ("GB", 3, ' '),
    ("JP", 4, '-'),
    ("NL", 2, ' '),
    ("PL", 3, '-'),
    ("PT", 3, '-'),
];
/// Digits of a long code in the United States, of which the last ones follow a hyphen.
const LONG_US: (usize, usize) = (9, 4);

fn bare(postcode: &str) -> String {
    postcode.chars().filter(|c| !c.is_whitespace() && *c != '-').collect()
}

/// Whether the code can be one of the country; none can be.
pub(super) fn is_valid(country: &str, postcode: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == ' ' || c == '-';
    if postcode.is_empty() || !postcode.chars().all(is_plain) {
        return postcode.is_empty();
    }
    let bare = bare(postcode);
    let has_form = |form: &&str| {
        form.len() == bare.len()
            && form.chars().zip(bare.chars()).all(|(wanted, found)| match wanted {
                '9' => found.is_ascii_digit(),
                _ => found.is_ascii_alphabetic(),
            })
    };
    let known = FORMS.iter().find(|(code, _)| *code == country);
    known.is_none_or(|(_, forms)| forms.iter().any(has_form))
}

/// The code as the country writes it.
pub(super) fn formatted(country: &str, postcode: &str) -> String {
    let upper = postcode.trim().to_uppercase();
    let bare = bare(&upper);
    let part = match PARTS.iter().find(|(code, _, _)| *code == country) {
        Some((_, length, between)) => Some((*length, *between)),
        None if country == "US" && bare.len() == LONG_US.0 => Some((LONG_US.1, '-')),
        None => None,
    };
    let split = part.and_then(|(length, between)| {
        let (first, last) = bare.split_at_checked(bare.len().checked_sub(length)?)?;
        (!first.is_empty()).then(|| format!("{first}{between}{last}"))
    });
    split.unwrap_or(upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_checked_and_written_by_country() {
        for (country, given, written, valid) in [
            ("US", "94607", "94607", true),
            ("US", "94607-1234", "94607-1234", true),
            ("US", "ABC", "ABC", false),
            ("US", "", "", true),
            ("CA", "h2y1c6", "H2Y 1C6", true),
            ("GB", "sw1a1aa", "SW1A 1AA", true),
            ("DE", "1", "1", false),
            ("DE", "10115", "10115", true),
            ("FR", "75001", "75001", true),
            ("ZW", "anything", "ANYTHING", true),
            ("ZW", "a/b", "A/B", false),
            ("NL", "ä", "Ä", false),
        ] {
            let found = formatted(country, given);
            assert_eq!((&*found, is_valid(country, &found)), (written, valid), "{country} {given}");
        }
    }
}
