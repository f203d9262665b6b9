//! Costs as shops write them: numbers, the four operations and parentheses, with `[qty]` for the
//! pieces, `[cost]` for what they cost, and `[fee percent="10" min_fee="5" max_fee="20"]` for a
//! part of that.

use types::Amount;

use super::Parcel;

/// Parentheses within each other at most.
const DEPTH_MAX: usize = 50;

/// What the text comes to; nothing if it cannot be read.
pub(super) fn evaluate(text: &str, parcel: &Parcel) -> Option<Amount> {
    let mut reader = Reader { rest: text, parcel, depth: 0 };
    let value = reader.sum()?;
    reader.rest.trim().is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
    parcel: &'a Parcel,
    depth: usize,
}

impl Reader<'_> {
    /// Takes the character if it comes next.
    fn take(&mut self, wanted: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Option<Amount> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value += self.product()?;
            } else if self.take('-') {
                value -= self.product()?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<Amount> {
        let mut value = self.factor()?;
        loop {
            if self.take('*') {
                value = value.times(self.factor()?);
            } else if self.take('/') {
                value = value.divided_by(self.factor()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn factor(&mut self) -> Option<Amount> {
        if self.take('-') {
            return Some(-self.factor()?);
        }
        if self.take('(') {
            self.depth += 1;
            if self.depth > DEPTH_MAX {
                return None;
            }
            let value = self.sum()?;
            self.depth -= 1;
            return self.take(')').then_some(value);
        }
        if self.take('[') {
            let (inside, rest) = self.rest.split_once(']')?;
            self.rest = rest;
            return self.code(inside.trim());
        }
        self.number()
    }

    fn code(&self, text: &str) -> Option<Amount> {
        match text {
            "qty" => Some(Amount::from_whole(self.parcel.quantity)),
            "cost" => Some(self.parcel.cost),
            _ => {
                let attributes = text.strip_prefix("fee")?;
                let percent = attribute(attributes, "percent")?;
                let fee = self.parcel.cost.share(percent, Amount::HUNDRED)?;
                let least = attribute(attributes, "min_fee").unwrap_or(fee);
                let most = attribute(attributes, "max_fee").unwrap_or(fee.max(least));
                Some(fee.max(least).min(most))
            }
        }
    }

    fn number(&mut self) -> Option<Amount> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (digits, rest) = rest.split_at_checked(end)?;
        self.rest = rest;
        Amount::parse(digits).filter(|_| !digits.is_empty())
    }
}

/// The value of `name="…"`, if there is a number.
fn attribute(text: &str, name: &str) -> Option<Amount> {
    let (_, rest) = text.split_once(&format!("{name}="))?;
    let value = rest.trim_start_matches('"').split(['"', ' ']).next()?;
    Amount::parse(value).filter(|_| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_calculated() {
        let parcel = Parcel { quantity: 3, cost: "40".parse().unwrap(), ..Parcel::default() };
        for (text, expected) in [
            ("5", Some("5")),
            (" 10 + 2 ", Some("12")),
            ("10 + 2 * [qty]", Some("16")),
            ("(10 + 2) * [qty]", Some("36")),
            ("[cost] / 4 - 1.5", Some("8.5")),
            (r#"[fee percent="10" min_fee="5"]"#, Some("5")),
            (r#"[fee percent="10" max_fee="3"]"#, Some("3")),
            (r#"[fee percent="10"]"#, Some("4")),
            ("-2", Some("-2")),
            ("5 / 0", None),
            ("abc", None),
            ("5 5", None),
            ("(5", None),
            ("", None),
        ] {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(evaluate(text, &parcel), expected, "{text}");
        }
        assert_eq!(evaluate(&"(".repeat(10_000), &parcel), None);
    }
}
