//! The Luhn check digit, used by TPN numbers and by the card-data guard.

/// The digit that makes `digits` followed by it pass [`is_valid`].
pub fn check_digit(digits: impl DoubleEndedIterator<Item = u8>) -> u8 {
    let sum = weighted_sum(digits, true);
    (10 - sum % 10) % 10
}

/// Whether the digits (values 0 to 9, not characters) end in their own check digit.
pub fn is_valid(digits: impl DoubleEndedIterator<Item = u8>) -> bool {
    weighted_sum(digits, false).is_multiple_of(10)
}

fn weighted_sum(digits: impl DoubleEndedIterator<Item = u8>, double_last: bool) -> u8 {
    let mut double = double_last;
    let mut sum = 0_u8;
    for digit in digits.rev() {
        debug_assert!(digit <= 9, "Luhn works on digit values");
        let weighted = if double { digit * 2 } else { digit };
        sum = (sum + weighted % 10 + weighted / 10) % 100;
        double = !double;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> impl DoubleEndedIterator<Item = u8> + '_ {
        text.bytes().map(|byte| byte - b'0')
    }

    #[test]
    fn known_numbers() {
        assert_eq!(check_digit(values("411111111111111")), 1);
        assert!(is_valid(values("4111111111111111")));
        assert!(is_valid(values("5555555555554444")));
        assert!(!is_valid(values("4111111111111112")));
    }

    #[test]
    fn long_numbers_do_not_overflow() {
        let nines = "9".repeat(4096);
        let _ = is_valid(values(&nines));
    }
}
