//! The text formats that the schemas of this crate name. Whether a value looks like card data was
//! asked before ([`contract::card_data`]).

use contract::{Format, Formats, IssueKind, Parsed};
use types::{AddressRange, Timestamp, reference};
use url::Url;

use crate::device_models;
use crate::{Code, text};

pub(crate) const FORMATS: Formats = Formats(&[
    Format {
        name: "word",
        expected: "visible ASCII characters without blanks",
        pattern: Some("^[!-~]+$"),
        parse: |value| allowed(value.bytes().all(|byte| byte.is_ascii_graphic())),
    },
    Format {
        name: "line",
        expected: "text without control characters",
        pattern: None,
        parse: |value| allowed(!value.chars().any(char::is_control)),
    },
    Format {
        name: "password",
        expected: "text without control characters",
        pattern: None,
        parse: |value| allowed(!value.chars().any(char::is_control)),
    },
    Format {
        name: "webhook-url",
        expected: "an absolute http or https address without credentials",
        pattern: None,
        parse: |value| allowed(is_webhook_url(value)),
    },
    Format {
        name: "address-range",
        expected: "an address such as 203.0.113.7 or a network such as 203.0.113.0/24",
        pattern: None,
        parse: |value| allowed(value.parse::<AddressRange>().is_ok()),
    },
    Format {
        name: "header-name",
        expected: "letters, digits and hyphens",
        pattern: Some("^[A-Za-z0-9-]+$"),
        parse: |value| {
            allowed(value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
        },
    },
    Format {
        name: "header-value",
        expected: "visible ASCII characters and blanks",
        pattern: Some("^[ -~]+$"),
        parse: |value| allowed(value.bytes().all(|byte| matches!(byte, b' '..=b'~'))),
    },
    Format {
        name: "day",
        expected: "a day such as 2026-11-15",
        pattern: None,
        parse: |value| allowed(Timestamp::parse(&format!("{value}T00:00:00Z")).is_some()),
    },
    Format {
        name: "currency",
        expected: "the code of a currency such as USD",
        pattern: Some("^[A-Z]{3}$"),
        parse: |value| allowed(value.bytes().all(|byte| byte.is_ascii_uppercase())),
    },
    Format {
        name: "rate",
        expected: "a number more than zero such as 1.0825, with up to ten decimals",
        pattern: None,
        parse: |value| allowed(crate::connections::rates::is_rate(value)),
    },
    Format {
        name: "timestamp",
        expected: "a time such as 2026-11-15T08:00:00Z",
        pattern: None,
        parse: |value| allowed(Timestamp::parse(value).is_some()),
    },
    Format {
        name: "text",
        expected: "letters, digits, blanks and common signs, with at least one letter or digit",
        pattern: None,
        parse: |value| allowed(text::is_text(value)),
    },
    Format {
        name: "name",
        expected: "letters; blanks, apostrophes, hyphens and periods may stand between them",
        pattern: None,
        parse: |value| allowed(text::is_name(value)),
    },
    Format {
        name: "email",
        expected: "an e-mail address",
        pattern: None,
        parse: |value| allowed(text::is_email(value)),
    },
    Format {
        name: "alphanumeric",
        expected: "letters A to Z and digits",
        pattern: Some("^[A-Za-z0-9]+$"),
        parse: |value| allowed(text::is_alphanumeric(value)),
    },
    Format {
        name: "digits",
        expected: "digits",
        pattern: Some("^[0-9]+$"),
        parse: |value| allowed(text::is_digits(value)),
    },
    Format {
        name: "credential",
        expected: "visible characters without control characters",
        pattern: None,
        parse: |value| allowed(!value.chars().any(char::is_control)),
    },
    Format {
        name: "note",
        expected: "visible characters without control characters",
        pattern: None,
        parse: |value| allowed(!value.chars().any(char::is_control)),
    },
    Format {
        name: "metadata-name",
        expected: "letters A to Z, digits, and the signs _ - .",
        pattern: Some("^[A-Za-z0-9_.-]+$"),
        parse: |value| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
            allowed(!value.is_empty() && value.bytes().all(plain))
        },
    },
    Format {
        name: "time-of-day",
        expected: "hours and minutes, such as 23:30",
        pattern: Some("^([01][0-9]|2[0-3]):[0-5][0-9]$"),
        parse: |value| allowed(text::is_time_of_day(value)),
    },
    Format { name: "us-zip", expected: "five digits", pattern: Some("^[0-9]{5}$"), parse: zip },
    Format { name: "mcc", expected: "four digits", pattern: Some("^[0-9]{4}$"), parse: mcc },
    Format {
        name: "isd-code",
        expected: "a plus sign and one to three digits",
        pattern: Some("^\\+[0-9]+$"),
        parse: |value| allowed(value == "+" || text::is_plus_digits(value)),
    },
    Format {
        name: "logo-url",
        expected: "an absolute http or https address of a public host without credentials",
        pattern: None,
        parse: |value| allowed(text::is_logo_url(value)),
    },
    Format {
        name: "device-manufacturer",
        expected: "a listed manufacturer",
        pattern: None,
        parse: |value| canonical(value, device_models::canonical_manufacturer(value)),
    },
    Format {
        name: "device-model",
        expected: "a listed model",
        pattern: None,
        parse: |value| canonical(value, device_models::canonical_model(value)),
    },
]);

fn is_webhook_url(value: &str) -> bool {
    // The parser skips these, so what is kept would not be the address that is called.
    let is_skipped = |letter: char| letter.is_control() || letter.is_whitespace();
    !value.contains(is_skipped)
        && Url::parse(value).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https")
                && url.host().is_some()
                && url.username().is_empty()
                && url.password().is_none()
                && url.fragment().is_none()
        })
}

fn allowed(is_allowed: bool) -> Parsed {
    if is_allowed { Parsed::Fine } else { Parsed::Refused }
}

fn zip(value: &str) -> Parsed {
    if value.len() != 5 || !text::is_digits(value) {
        return Parsed::Refused;
    }
    if reference::zip_place(value).is_some() {
        return Parsed::Fine;
    }
    Parsed::IssueKind(IssueKind::rule(Code::UnknownZip.name(), "This ZIP code is not in use."))
}

fn mcc(value: &str) -> Parsed {
    if value.len() != 4 || !text::is_digits(value) {
        return Parsed::Refused;
    }
    if reference::mcc_description(value).is_some() {
        return Parsed::Fine;
    }
    let message = "This merchant category code is not in the list.";
    Parsed::IssueKind(IssueKind::rule(Code::UnknownMcc.name(), message))
}

/// Texts that are in no list pass here; the schema's list of values refuses them.
fn canonical(value: &str, known: Option<&'static str>) -> Parsed {
    match known {
        Some(spelling) if spelling != value => Parsed::Replaced(spelling.to_owned()),
        _ => Parsed::Fine,
    }
}
