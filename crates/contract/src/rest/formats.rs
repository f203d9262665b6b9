//! The named text formats that a schema's `format` keyword checks or cleans.

use std::net::Ipv6Addr;

use super::clean;

/// A format that means something; other names are published and otherwise ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    DateTime,
    Email,
    HexColor,
    Ip,
    TextArea,
    TextField,
    Uri,
    Uuid,
}

impl Format {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "date-time" => Self::DateTime,
            "email" => Self::Email,
            "hex-color" => Self::HexColor,
            "ip" => Self::Ip,
            "textarea-field" => Self::TextArea,
            "text-field" => Self::TextField,
            "uri" => Self::Uri,
            "uuid" => Self::Uuid,
            _ => return None,
        })
    }

    /// The error code of a text that is not of this format, and what it should be.
    pub(super) fn refuses(self, text: &str) -> Option<(&'static str, &'static str)> {
        let (is_fine, code, expected) = match self {
            Self::DateTime => (
                is_date_time(text),
                "rest_invalid_date",
                "a date and time such as 2026-03-31T12:00:00",
            ),
            Self::Email => (is_email(text), "rest_invalid_email", "an email address"),
            Self::HexColor => {
                (is_hex_color(text), "rest_invalid_hex_color", "a colour such as #0a0 or #00aa00")
            }
            Self::Ip => (is_ip(text), "rest_invalid_ip", "an IP address"),
            Self::Uuid => (is_uuid(text), "rest_invalid_uuid", "a lower-case UUID"),
            Self::TextArea | Self::TextField | Self::Uri => return None,
        };
        (!is_fine).then_some((code, expected))
    }

    pub(super) fn clean(self, text: &str) -> String {
        match self {
            Self::DateTime | Self::Email | Self::Ip | Self::Uuid | Self::TextField => {
                clean::text_field(text)
            }
            Self::HexColor if is_hex_color(text) => text.to_owned(),
            Self::HexColor => String::new(),
            Self::TextArea => clean::textarea_field(text),
            Self::Uri => clean::url(text),
        }
    }
}

/// `2026-03-31T12:00:00`, with an optional fraction and zone. A day that the month does not have
/// rolls over to the next month, so it is fine; a month 13 is not.
pub fn is_date_time(text: &str) -> bool {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let Some((date_and_time, rest)) = text.split_at_checked(19) else { return false };
    let shape: Option<[u8; 19]> = date_and_time.as_bytes().try_into().ok();
    let Some(shape) = shape else { return false };
    let [y1, y2, y3, y4, d1, m1, m2, d2, n1, n2, t, h1, h2, c1, i1, i2, c2, s1, s2] = shape;
    let is_separated =
        d1 == b'-' && d2 == b'-' && matches!(t, b'T' | b't' | b' ') && c1 == b':' && c2 == b':';
    let has_year = [y1, y2, y3, y4].iter().all(u8::is_ascii_digit);
    // The last two days of the last year have no place on every clock.
    let is_too_far = date_and_time.starts_with("9999-12-3");
    is_separated
        && has_year
        && !is_too_far
        && two_digits(m1, m2).is_some_and(|month| month <= 12)
        && two_digits(n1, n2).is_some_and(|day| day <= 31)
        && two_digits(h1, h2).is_some_and(|hour| hour <= 24)
        && two_digits(i1, i2).is_some_and(|minute| minute <= 59)
        && two_digits(s1, s2).is_some_and(|second| second <= 60)
        && is_zone(without_fraction(rest))
}

fn two_digits(tens: u8, ones: u8) -> Option<u8> {
    let both = tens.is_ascii_digit() && ones.is_ascii_digit();
    both.then(|| (tens - b'0') * 10 + (ones - b'0'))
}

/// A point without digits stays, and then is no zone.
fn without_fraction(rest: &str) -> &str {
    let Some(fraction) = rest.strip_prefix('.') else { return rest };
    let after = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    if after.len() < fraction.len() { after } else { rest }
}

fn is_zone(zone: &str) -> bool {
    match *zone.as_bytes() {
        [] | [b'Z'] => true,
        [b'+' | b'-', h1, h2] => two_digits(h1, h2).is_some_and(|hour| hour <= 24),
        [b'+' | b'-', h1, h2, b':', m1, m2] => {
            two_digits(h1, h2).is_some_and(|hour| hour <= 24)
                && two_digits(m1, m2).is_some_and(|minute| minute <= 59)
        }
        _ => false,
    }
}

pub fn is_email(text: &str) -> bool {
    const LENGTH_MIN: usize = 6;
    let Some((local, domain)) = text.split_once('@') else { return false };
    let is_local = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+/=?^_`{|}~.-".contains(c);
    let labels = || domain.split('.');
    text.len() >= LENGTH_MIN
        && !local.is_empty()
        && local.chars().all(is_local)
        && labels().count() >= 2
        && labels().all(is_domain_label)
}

fn is_domain_label(label: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !label.is_empty() && label.chars().all(fits) && !label.starts_with('-') && !label.ends_with('-')
}

pub fn is_ip(text: &str) -> bool {
    is_ip_v4(text) || text.parse::<Ipv6Addr>().is_ok()
}

/// Four numbers up to 255; unlike elsewhere, leading zeros do not matter.
fn is_ip_v4(text: &str) -> bool {
    let is_part = |part: &str| {
        (1..=3).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u8>().is_ok()
    };
    text.split('.').count() == 4 && text.split('.').all(is_part)
}

pub fn is_uuid(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|byte| byte == b'-' || is_digit(byte))
}

pub fn is_hex_color(text: &str) -> bool {
    let Some(digits) = text.strip_prefix('#') else { return false };
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is_fine: fn(&str) -> bool, fine: &[&str], refused: &[&str]) {
        for text in fine {
            assert!(is_fine(text), "{text} is refused");
        }
        for text in refused {
            assert!(!is_fine(text), "{text} is accepted");
        }
    }

    #[test]
    fn dates() {
        let fine = [
            "2026-03-31T12:00:00",
            "2026-03-31t12:00:00Z",
            "2026-03-31 12:00:00",
            "2026-03-31T12:00:00.123456+02:00",
            "2026-03-31T12:00:00-05",
            "2026-02-31T00:00:00",
            "2026-03-31T24:00:00",
        ];
        let refused = [
            "",
            "notadate",
            "2026-03-31",
            "2026-13-45T00:00:00",
            "2026-13-01T00:00:00",
            "2026-03-32T00:00:00",
            "2026-03-31T25:00:00",
            "2026-03-31T12:60:00",
            "2026-03-31T12:00",
            "2026-03-31T12:00:00.",
            "2026-03-31T12:00:00z",
            "2026-03-31T12:00:00+0200",
            "2026-03-31T12:00:00+99:00",
            "2026-03-31T12:00:0é",
            " 2026-03-31T12:00:00",
        ];
        check(is_date_time, &fine, &refused);
    }

    #[test]
    fn emails() {
        let fine = ["a@b.cc", "first.last+tag@mail.example.com", "x%y@a-b.example", ".a@b.cc"];
        let refused = [
            "",
            "a@b.c",
            "@bbb.cc",
            "a@b@c.dd",
            "aaaaaa",
            "a@localhost",
            "a@b..cc",
            "a@.b.cc",
            "a@b.cc.",
            "a@-b.cc",
            "a@b-.cc",
            "ä@b.ccc",
            "a b@c.dd",
            "a@b_c.dd",
        ];
        check(is_email, &fine, &refused);
    }

    #[test]
    fn addresses_and_ids() {
        check(
            is_ip,
            &["1.2.3.4", "255.255.255.255", "01.02.03.004", "::1", "2001:db8::1"],
            &["", "1.2.3", "1.2.3.256", "1.2.3.4.5", "a.b.c.d", "1.2.3.+4", ":::1", "1.2.3.0004"],
        );
        check(
            is_uuid,
            &["00000000-0000-0000-0000-000000000000", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"],
            &["", "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "f81d4fae7dec11d0a76500a0c91e6bf6"],
        );
        check(is_hex_color, &["#fff", "#00aaFF"], &["", "fff", "#ffff", "#ggg", "#fffffff"]);
    }
}
