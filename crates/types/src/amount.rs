//! Money and quantities as exact numbers: an integer of millionths, never a binary fraction.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Millionths in one.
const SCALE: i64 = 1_000_000;
/// Decimals that an amount keeps.
const DECIMALS: u32 = 6;
/// All whole numbers up to this one are binary fractions of double precision.
const WHOLE_AS_F64_MAX: u64 = 1 << 53;

/// An exact decimal number with six decimals, as stored in every column of money or quantity.
///
/// **No overflow goes unnoticed**: what lies beyond nine million million becomes [`Amount::MAX`] or
/// [`Amount::MIN`], which are no amounts themselves. Everything that is calculated from one of them
/// is one of them again, so a single [`Amount::is_exact`] at the end tells; whoever stores a result
/// asks. What has more than six decimals is rounded half away from zero, here and everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(i64);

impl Amount {
    pub const ZERO: Self = Self(0);
    pub const ONE: Self = Self(SCALE);
    pub const HUNDRED: Self = Self(100 * SCALE);
    /// More than any amount.
    pub const MAX: Self = Self(i64::MAX);
    /// Less than any amount.
    pub const MIN: Self = Self(i64::MIN);

    pub const fn from_millionths(millionths: i64) -> Self {
        Self(millionths)
    }

    pub const fn as_millionths(self) -> i64 {
        self.0
    }

    /// So many whole ones.
    pub const fn from_whole(whole: i64) -> Self {
        Self(whole.saturating_mul(SCALE))
    }

    /// The whole part, without regard to what is behind the point.
    pub const fn to_whole(self) -> i64 {
        self.0 / SCALE
    }

    /// Reads plain decimal text such as `-12.5`, `.5` or `12.`: no blanks, no grouping, no
    /// exponent. None when it is something else, or too large.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] | rest => (false, rest),
        };
        let mut parts = digits.splitn(2, |byte| *byte == b'.');
        let whole = parts.next().unwrap_or_default();
        let fraction = parts.next().unwrap_or_default();
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut millionths: u64 = 0;
        for byte in whole {
            millionths = millionths.checked_mul(10)?.checked_add(digit(*byte)?)?;
        }
        millionths = millionths.checked_mul(SCALE.unsigned_abs())?;
        let mut place = SCALE.unsigned_abs();
        for (index, byte) in (0_u32..).zip(fraction) {
            let value = digit(*byte)?;
            place /= 10;
            millionths = millionths.checked_add(value * place)?;
            if index == DECIMALS && value >= 5 {
                millionths = millionths.checked_add(1)?;
            }
        }
        let magnitude = i64::try_from(millionths).ok()?;
        Some(Self(if negative { -magnitude } else { magnitude })).filter(|amount| amount.is_exact())
    }

    /// With exactly so many decimals (six at most), rounded half away from zero: `12.50`.
    pub fn to_text(self, decimals: u32) -> String {
        let decimals = decimals.min(DECIMALS);
        let rounded = self.rounded(decimals);
        let sign = if rounded.0 < 0 { "-" } else { "" };
        let magnitude = rounded.0.unsigned_abs();
        let scale = SCALE.unsigned_abs();
        let (whole, fraction) = (magnitude / scale, magnitude % scale);
        if decimals == 0 {
            return format!("{sign}{whole}");
        }
        let fraction = fraction / 10_u64.pow(DECIMALS - decimals);
        let width = usize::try_from(decimals).unwrap_or_default();
        format!("{sign}{whole}.{fraction:0width$}")
    }

    /// Rounded half away from zero to so many decimals. More than six change nothing.
    #[must_use]
    pub fn rounded(self, decimals: u32) -> Self {
        if !self.is_exact() {
            return self;
        }
        let step = 10_i64.pow(DECIMALS.saturating_sub(decimals));
        Self::saturated(divided(i128::from(self.0), i128::from(step)) * i128::from(step))
    }

    /// For whoever must calculate with binary fractions: the nearest of them.
    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        reason = "both numbers are what they are as binary fractions, so that their quotient is \
                  the nearest to the amount"
    )]
    pub fn to_f64(self) -> f64 {
        if self.0.unsigned_abs() <= WHOLE_AS_F64_MAX {
            return self.0 as f64 / SCALE as f64;
        }
        self.to_string().parse().unwrap_or_default()
    }

    /// The nearest amount. None for what is no number, or too large.
    pub fn from_f64(value: f64) -> Option<Self> {
        Self::parse(&value.to_string())
    }

    /// Whether nothing that this was calculated from was too large for an amount.
    pub const fn is_exact(self) -> bool {
        self.0 > i64::MIN && self.0 < i64::MAX
    }

    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    #[must_use]
    pub const fn abs(self) -> Self {
        Self(self.0.saturating_abs())
    }

    /// The product, such as a price times a quantity.
    #[must_use]
    pub fn times(self, factor: Self) -> Self {
        self.scaled(factor, Self::ONE)
    }

    /// This amount times `part`, divided by `whole`, rounded once. None when `whole` is zero.
    pub fn share(self, part: Self, whole: Self) -> Option<Self> {
        if whole.is_zero() {
            return None;
        }
        Some(self.scaled(part, whole))
    }

    /// This amount times `part`, divided by `whole`, which is not zero.
    fn scaled(self, part: Self, whole: Self) -> Self {
        let product = i128::from(self.0) * i128::from(part.0);
        if self.is_exact() && part.is_exact() && whole.is_exact() {
            return Self::saturated(divided(product, i128::from(whole.0)));
        }
        if (product < 0) == whole.is_negative() { Self::MAX } else { Self::MIN }
    }

    /// The quotient. None when the divisor is zero.
    pub fn divided_by(self, divisor: Self) -> Option<Self> {
        self.share(Self::ONE, divisor)
    }

    /// So many millionths, from sums that were made in a wider type; what is too large is
    /// [`Amount::MAX`] or [`Amount::MIN`].
    pub fn saturated(millionths: i128) -> Self {
        let edge = if millionths < 0 { i64::MIN } else { i64::MAX };
        Self(i64::try_from(millionths).unwrap_or(edge))
    }
}

fn digit(byte: u8) -> Option<u64> {
    byte.is_ascii_digit().then(|| u64::from(byte - b'0'))
}

/// The quotient, rounded half away from zero. The divisor is not zero.
fn divided(number: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (number / divisor, number % divisor);
    if rest.abs() * 2 < divisor.abs() {
        return quotient;
    }
    if (number < 0) == (divisor < 0) { quotient + 1 } else { quotient - 1 }
}

/// Without zeros at the end, and without a point if nothing is behind it: `12.5`, `12`.
impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (magnitude, scale) = (self.0.unsigned_abs(), SCALE.unsigned_abs());
        let (whole, mut fraction) = (magnitude / scale, magnitude % scale);
        if fraction == 0 {
            return write!(formatter, "{sign}{whole}");
        }
        let mut width = 6;
        while fraction.is_multiple_of(10) {
            fraction /= 10;
            width -= 1;
        }
        write!(formatter, "{sign}{whole}.{fraction:0width$}")
    }
}

impl FromStr for Amount {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text).ok_or("expected a decimal number such as 12.50")
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Decimal)
    }
}

/// Reads an amount where its text stands, without a copy.
struct Decimal;

impl Visitor<'_> for Decimal {
    type Value = Amount;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a decimal number as a text")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Amount, E> {
        text.parse().map_err(E::custom)
    }
}

impl Add for Amount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        if !self.is_exact() {
            return self;
        }
        if other.is_exact() { Self(self.0.saturating_add(other.0)) } else { other }
    }
}

impl Sub for Amount {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Amount {
    type Output = Self;

    fn neg(self) -> Self {
        match self {
            Self::MAX => Self::MIN,
            Self::MIN => Self::MAX,
            Self(exact) => Self(-exact),
        }
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Amount {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use serde::de::value::StrDeserializer;

    use super::*;

    fn amount(text: &str) -> Amount {
        Amount::parse(text).unwrap_or_else(|| panic!("{text} is an amount"))
    }

    #[test]
    fn texts_are_read_exactly() {
        let table = [
            ("0", 0),
            ("-0", 0),
            ("12", 12_000_000),
            ("+12.5", 12_500_000),
            ("-12.50", -12_500_000),
            (".5", 500_000),
            ("5.", 5_000_000),
            ("000012.000000", 12_000_000),
            ("0.0000004999999", 0),
            ("0.0000005", 1),
            ("-0.0000005", -1),
            ("0.99999950", 1_000_000),
            ("1.0000014", 1_000_001),
            ("9223372036854.775806", i64::MAX - 1),
            ("-9223372036854.775807", i64::MIN + 1),
        ];
        for (text, expected) in table {
            assert_eq!(amount(text).as_millionths(), expected, "{text}");
        }
    }

    #[test]
    fn binary_fractions_and_texts_are_the_nearest() {
        let mut number = 1_u64;
        for _ in 0..100_000 {
            // Of all magnitudes and both signs.
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let millionths = number.cast_signed() >> (number % 63);
            let amount = Amount::from_millionths(millionths);
            let exact = amount.to_text(DECIMALS);
            assert_eq!(amount.to_f64().to_bits(), exact.parse::<f64>().unwrap().to_bits());
            let short = exact.trim_end_matches('0').trim_end_matches('.');
            assert_eq!(amount.to_string(), if short == "-0" { "0" } else { short });
            assert!(!amount.is_exact() || Amount::parse(short) == Some(amount), "{exact}");
            let read = Amount::deserialize(StrDeserializer::<de::value::Error>::new(&exact));
            assert_eq!(read.ok(), Amount::parse(&exact));
        }
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        let long = "9".repeat(4096);
        let table = [
            "",
            ".",
            "-",
            "+-1",
            "--1",
            "-.",
            "1e3",
            "0x1",
            " 1",
            "1 ",
            "1,5",
            "1.2.3",
            "١",
            "inf",
            "NaN",
            "9223372036854.775807",
            "-9223372036854.775808",
            "9223372036854.7758065",
            &long,
        ];
        for text in table {
            assert_eq!(Amount::parse(text), None, "{text}");
        }
        let zeros = format!("0.{}", "0".repeat(4096));
        assert_eq!(Amount::parse(&zeros), Some(Amount::ZERO));
    }

    #[test]
    fn texts_are_written_with_their_decimals() {
        let table = [
            ("12.5", 2, "12.50"),
            ("12.345", 2, "12.35"),
            ("-12.345", 2, "-12.35"),
            ("12.344999", 2, "12.34"),
            ("0.5", 0, "1"),
            ("-0.4", 0, "0"),
            ("-0.004", 2, "0.00"),
            ("0.000001", 6, "0.000001"),
            ("7", 99, "7.000000"),
            ("1.05", 4, "1.0500"),
        ];
        for (text, decimals, expected) in table {
            assert_eq!(amount(text).to_text(decimals), expected, "{text} {decimals}");
        }
        for (text, expected) in [("12.50", "12.5"), ("100", "100"), ("-0.10", "-0.1"), ("0", "0")] {
            assert_eq!(amount(text).to_string(), expected);
        }
        assert_eq!(Amount::MIN.to_string(), "-9223372036854.775808");
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(amount("0.1") + amount("0.2"), amount("0.3"));
        assert_eq!(["1", "2.5"].map(amount).into_iter().sum::<Amount>(), amount("3.5"));
        assert_eq!(amount("-7.9").to_whole(), -7);
        assert!(amount("9223372036854.775806").is_exact());
    }

    /// A bill that was too large once must not look like a small one in the end.
    #[test]
    fn what_was_too_large_once_stays_too_large() {
        let (most, least) = (amount("9223372036854.775806"), amount("-9223372036854.775807"));
        let one = Amount::from_millionths(1);
        for (overflow, expected) in [
            (most + one, Amount::MAX),
            (least - one, Amount::MIN),
            (most + one - most, Amount::MAX),
            (amount("5") - (most + one), Amount::MIN),
            (Amount::from_whole(i64::MAX), Amount::MAX),
            (most.times(amount("2")), Amount::MAX),
            (most.times(amount("-2")), Amount::MIN),
            (most.times(amount("2")).times(amount("0.1")), Amount::MAX),
            (most.times(amount("-2")).rounded(0), Amount::MIN),
            (most.rounded(0), Amount::MAX),
            (most.times(amount("2")).abs(), Amount::MAX),
            (least.times(amount("2")).abs(), Amount::MAX),
            (-Amount::MIN, Amount::MAX),
            (-Amount::MAX, Amount::MIN),
        ] {
            assert_eq!(overflow, expected);
            assert!(!overflow.is_exact());
        }
        assert_eq!(least.share(least, one), Some(Amount::MAX));
        assert_eq!(Amount::MAX.divided_by(amount("-3")), Some(Amount::MIN));
        let bill = [most, most, -most].into_iter().sum::<Amount>();
        assert!(!bill.is_exact());
    }

    #[test]
    fn products_and_shares_are_rounded_once() {
        assert_eq!(amount("19.99").times(amount("3")), amount("59.97"));
        assert_eq!(amount("0.000001").times(amount("0.5")), amount("0.000001"));
        assert_eq!(amount("-0.000001").times(amount("0.5")), amount("-0.000001"));
        assert_eq!(amount("10").divided_by(amount("3")), Some(amount("3.333333")));
        assert_eq!(amount("20").divided_by(amount("-3")), Some(amount("-6.666667")));
        assert_eq!(amount("121").share(amount("21"), amount("121")), Some(amount("21")));
        assert_eq!(amount("1").divided_by(Amount::ZERO), None);
    }

    #[test]
    fn fractions_go_there_and_back() {
        for text in ["0.1", "1520.06", "-3.333333", "0"] {
            assert_eq!(Amount::from_f64(amount(text).to_f64()), Some(amount(text)), "{text}");
        }
        for value in [f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(Amount::from_f64(value), None, "{value}");
        }
        assert_eq!(Amount::from_f64(1e-7), Some(Amount::ZERO));
    }
}
