//! A question to a report: its route and parameters, in the plainest form.

use std::fmt::Write as _;

use super::clock::{self, Clock, Second};

#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    /// After `/wc-analytics/`.
    pub(super) route: String,
    pub(super) params: Vec<(String, String)>,
    /// Whether all currencies count, and not just that of the report.
    pub(super) every_currency: bool,
}

impl Query {
    pub(super) fn of(route: &str) -> Self {
        Self { route: route.to_owned(), ..Self::default() }
    }

    pub(super) fn set(&mut self, name: &str, value: impl ToString) {
        self.params.retain(|(known, _)| known != name);
        self.params.push((name.to_owned(), value.to_string()));
    }

    pub(super) fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.set(name, value);
        self
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let found = self.params.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The members of a list with commas.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<&str>> {
        Some(self.text(name)?.split(',').collect())
    }

    pub(super) fn ids(&self, name: &str) -> Option<Vec<i64>> {
        Some(self.texts(name)?.into_iter().map(|id| id.parse().unwrap()).collect())
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.text(name).map(|text| text.parse().unwrap())
    }

    /// Members that are written one by one, such as `x[0]` or `x[0][1]`.
    pub(super) fn members(&self, name: &str) -> Vec<&str> {
        let own = self.params.iter().filter(|(known, _)| {
            known.strip_prefix(name).is_some_and(|rest| rest.starts_with('['))
        });
        own.map(|(_, value)| value.as_str()).collect()
    }

    pub(super) fn is_any(&self) -> bool {
        self.text("match") == Some("any")
    }

    pub(super) fn is_descending(&self) -> bool {
        self.text("order") != Some("asc")
    }

    /// A moment: with a `Z` in UTC, else as the site's clock shows it.
    pub(super) fn moment(&self, name: &str, clock: &Clock) -> Option<Second> {
        let text = self.text(name)?;
        let read = clock::read(text);
        Some(if text.ends_with('Z') { read } else { clock.moment(read) })
    }

    /// Whether a moment lies between `after` and `before`, which must be there.
    pub(super) fn range(&self, clock: &Clock) -> (Second, Second) {
        let bound = |name: &str| self.moment(name, clock).expect("every question has a range");
        (bound("after"), bound("before"))
    }

    pub(super) fn page(&self) -> usize {
        self.text("page").map_or(1, |page| page.parse().unwrap())
    }

    pub(super) fn per_page(&self) -> usize {
        self.text("per_page").map_or(10, |count| count.parse().unwrap())
    }

    /// The rows that are on the page, of so many.
    pub(super) fn slice(&self, count: usize) -> std::ops::Range<usize> {
        let first = (self.page() - 1) * self.per_page();
        first.min(count)..(first + self.per_page()).min(count)
    }

    /// The address of the question.
    pub(super) fn path(&self) -> String {
        let mut path = format!("/wc-analytics/{}", self.route);
        for (place, (name, value)) in self.params.iter().enumerate() {
            let sign = if place == 0 { '?' } else { '&' };
            let _ = write!(path, "{sign}{}={}", encoded(name), encoded(value));
        }
        path
    }
}

fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'_' | b'.' | b',' => {
                encoded.push(char::from(byte));
            }
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}
