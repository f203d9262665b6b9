//! What a gateway reported about a payment, and what that comes to. **The result depends on what
//! was reported and never on the order in which it came**: facts only grow, and those that exclude
//! each other are told apart by when the gateway says they happened.

use shop_rows::payment::PaymentRow;
use types::{Amount, Timestamp};

use crate::orders::Order;

/// What a gateway reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    Authorised,
    /// With all that was taken so far.
    Captured(Amount),
    Declined,
    Disputed,
}

/// What a payment comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing was reported yet.
    Open,
    Authorised,
    Declined,
    /// Less was taken than the order asks for.
    PartlyCaptured,
    Captured,
    /// The buyer wants the money back from the gateway.
    Disputed,
}

impl State {
    /// As the interface calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Authorised => "authorised",
            Self::Declined => "declined",
            Self::PartlyCaptured => "partly_captured",
            Self::Captured => "captured",
            Self::Disputed => "disputed",
        }
    }
}

/// Adds a report to the facts.
pub(super) fn add(payment: &mut PaymentRow, report: Report, occurred: Timestamp) {
    let fact = match report {
        Report::Captured(amount) => {
            payment.captured = payment.captured.max(amount);
            return;
        }
        Report::Authorised => &mut payment.authorised,
        Report::Declined => &mut payment.declined,
        Report::Disputed => &mut payment.disputed,
    };
    *fact = (*fact).max(Some(occurred));
}

/// Whether the order says that this payment paid it.
pub(super) fn is_paid_with(order: &Order, payment: &PaymentRow) -> bool {
    let named = &order.details.transaction_id;
    // What the gateway calls the payment may have come after the order was paid.
    !named.is_empty() && (*named == payment.payment_id || *named == payment.reference)
}

pub(super) fn is_captured(payment: &PaymentRow) -> bool {
    payment.captured >= payment.amount && payment.captured > Amount::ZERO
}

pub(super) fn of(payment: &PaymentRow) -> State {
    if payment.disputed.is_some() {
        return State::Disputed;
    }
    if is_captured(payment) {
        return State::Captured;
    }
    if payment.captured > Amount::ZERO {
        return State::PartlyCaptured;
    }
    match (payment.authorised, payment.declined) {
        (None, None) => State::Open,
        // A card may be declined and another one accepted, and an authorisation may lapse.
        (authorised, declined) if authorised >= declined => State::Authorised,
        _ => State::Declined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    /// All orders of the reports.
    fn permutations(reports: &[(Report, i64)]) -> Vec<Vec<(Report, i64)>> {
        if reports.is_empty() {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for place in 0..reports.len() {
            let mut rest = reports.to_vec();
            let first = rest.remove(place);
            for mut tail in permutations(&rest) {
                tail.insert(0, first);
                all.push(tail);
            }
        }
        all
    }

    #[test]
    fn the_order_of_reports_does_not_matter() {
        let ten = Amount::from_whole(10);
        let captured = Report::Captured(ten);
        for (reports, expected) in [
            (vec![], State::Open),
            (vec![(Report::Authorised, 1)], State::Authorised),
            (vec![(Report::Authorised, 1), (captured, 2)], State::Captured),
            (vec![(Report::Declined, 1), (Report::Authorised, 2)], State::Authorised),
            (vec![(Report::Authorised, 1), (Report::Declined, 2)], State::Declined),
            (vec![(Report::Declined, 9), (captured, 2)], State::Captured),
            (vec![(Report::Captured(Amount::ONE), 1)], State::PartlyCaptured),
            (vec![(Report::Captured(Amount::ONE), 3), (captured, 2)], State::Captured),
            (vec![(Report::Authorised, 1), (captured, 2), (Report::Disputed, 3)], State::Disputed),
        ] {
            for order in permutations(&reports) {
                let mut payment = PaymentRow { amount: ten, ..PaymentRow::default() };
                for (report, time) in order.iter().chain(&order) {
                    add(&mut payment, *report, at(*time));
                }
                assert_eq!(of(&payment), expected, "{order:?}");
            }
        }
    }
}
