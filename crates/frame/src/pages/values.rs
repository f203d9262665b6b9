//! The values of pages that are more than text: addresses, dates, and HTML that somebody vouches
//! for.

use std::fmt;

use url::Url;

/// Where a link may lead: a web address or a place on this site. **Never an address that runs**;
/// such a text becomes a link to nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'a>(&'a str);

/// Schemes whose addresses run in the page or read the visitor's files.
const REFUSED_SCHEMES: &[&str] = &["javascript", "data", "vbscript", "blob", "file", "about"];
const NOWHERE: &str = "#";

impl<'a> Address<'a> {
    /// `https`, `http`, or a path on this site.
    pub fn new(text: &'a str) -> Self {
        let starts = |start: &str| {
            text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
        };
        let is_path = starts("/") && !starts("//") && !starts("/\\");
        let is_known = is_path || starts("https://") || starts("http://");
        Self(if is_known { text } else { NOWHERE })
    }

    /// Also an address that an app on the visitor's device opens, such as `shop://connected`.
    pub fn of_app(text: &'a str) -> Self {
        let is_harmless = |url: &Url| !REFUSED_SCHEMES.contains(&url.scheme());
        match Url::parse(text) {
            Ok(url) if is_harmless(&url) => Self(text),
            _ => Self::new(text),
        }
    }
}

impl fmt::Display for Address<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

/// A text that leads somewhere.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    pub text: &'a str,
    pub href: Address<'a>,
}

/// HTML that is shown as it is, because whoever wrote it may write any.
#[derive(Clone, Copy, Debug)]
pub struct TrustedHtml<'a>(pub &'a str);

/// A day of the site's calendar, from a text such as `2026-11-15T08:00:00`; shown in words.
#[derive(Clone, Copy, Debug)]
pub struct Date<'a>(pub &'a str);

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl<'a> Date<'a> {
    /// The day alone, for programs.
    pub fn machine(&self) -> &'a str {
        self.0.get(..10).unwrap_or(self.0)
    }

    fn parts(&self) -> Option<(u16, &'static str, u8)> {
        let mut parts = self.machine().splitn(3, '-');
        let year = parts.next()?.parse().ok()?;
        let month: usize = parts.next()?.parse().ok()?;
        let day = parts.next()?.parse().ok()?;
        Some((year, MONTHS.get(month.checked_sub(1)?)?, day))
    }
}

impl fmt::Display for Date<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            Some((year, month, day)) => write!(formatter, "{day} {month} {year}"),
            None => formatter.write_str(self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_never_runs() {
        let kept = ["https://a.example/?b", "HTTP://a.example", "/docs/", "/"];
        let refused = [
            "javascript:alert(1)",
            " javascript:alert(1)",
            "java\tscript:x",
            "JAVASCRIPT:x",
            "data:text/html,x",
            "vbscript:x",
            "//other.example",
            "/\\other.example",
            "",
            "docs",
            "é",
            "shop:x",
        ];
        for text in kept {
            assert_eq!(Address::new(text).0, text);
            assert_eq!(Address::of_app(text).0, text);
        }
        for text in refused {
            assert_eq!(Address::new(text).0, NOWHERE, "{text}");
            let is_app = text.starts_with("shop:");
            assert_eq!(Address::of_app(text).0, if is_app { text } else { NOWHERE }, "{text}");
        }
        for text in ["blob:https://a.example/x", "file:///etc/hosts", "about:blank"] {
            assert_eq!(Address::of_app(text).0, NOWHERE, "{text}");
        }
    }

    #[test]
    fn a_date_is_shown_in_words() {
        let check = |text: &str, machine: &str, shown: &str| {
            assert_eq!(Date(text).machine(), machine);
            assert_eq!(Date(text).to_string(), shown);
        };
        check("2026-11-05T08:00:00", "2026-11-05", "5 November 2026");
        check("2026-01-31 23:59:59", "2026-01-31", "31 January 2026");
        check("2026-13-01", "2026-13-01", "2026-13-01");
        check("2026-00-01", "2026-00-01", "2026-00-01");
        check("soon", "soon", "soon");
        check("ééééé-ééé", "ééééé", "ééééé-ééé");
        check("", "", "");
    }
}
