//! What counts as unusual, by made-up days.

use super::*;

/// A Monday.
const TODAY: &str = "2026-11-16";

fn today() -> i64 {
    day_number(TODAY).unwrap()
}

/// Days before today with so many orders of 10.00 each, by the number of the day.
fn history(orders: impl Fn(i64) -> i64) -> History {
    refunded(orders, |_| 0)
}

fn refunded(orders: impl Fn(i64) -> i64, refunds: impl Fn(i64) -> i64) -> History {
    let day = |number: i64| DayRow {
        day: day_text(number),
        currency: String::from("USD"),
        orders: orders(number),
        gross: orders(number) * 100_000,
        refunds: refunds(number),
        ..DayRow::default()
    };
    let rows = (today() - 130..=today()).map(day);
    History::of(rows.filter(|day| day.orders + day.refunds > 0).collect(), today())
}

fn found(history: &History, kind: AlertKind, lasting: Option<&AlertRow>) -> Option<NewAlert> {
    match history.state(kind, &Settings::default(), lasting) {
        State::Usual => None,
        State::Unusual(alert) => Some(alert),
    }
}

fn lasting(kind: AlertKind, details: &Value) -> AlertRow {
    AlertRow {
        iso_id: types::IsoId::new("iso_1"),
        alert_id: String::from("alr_1"),
        connection_id: String::from("con_1"),
        kind,
        message: String::new(),
        details: details.to_string(),
        raised: Timestamp::from_micros(0),
        ended: None,
    }
}

#[test]
fn a_store_that_stopped_selling_is_noticed() {
    let stopped = |silent: i64| {
        let last = today() - silent - 1;
        history(move |day| if day <= last { 3 } else { 0 })
    };
    assert!(found(&stopped(1), AlertKind::NoOrders, None).is_none(), "3 were expected");
    let alert = found(&stopped(2), AlertKind::NoOrders, None).unwrap();
    assert_eq!(alert.message, "No orders since 2026-11-13. About 6 were expected by now.");
    assert!(found(&stopped(90), AlertKind::NoOrders, None).is_some());
    assert!(found(&stopped(95), AlertKind::NoOrders, None).is_none(), "it stopped long ago");
}

#[test]
fn days_without_orders_that_are_usual_are_none_of_our_business() {
    // 2026-11-14 and 15 were a weekend.
    let weekdays = |day: i64| match (day - today()).rem_euclid(7) {
        5 | 6 => 0,
        _ => 20,
    };
    let history_of = |until: i64| history(move |day| if day <= until { weekdays(day) } else { 0 });
    assert!(found(&history_of(today() - 3), AlertKind::NoOrders, None).is_none());
    assert!(found(&history_of(today() - 4), AlertKind::NoOrders, None).is_some(), "no Friday");
    let rare = history(|day| i64::from(day % 9 == 0));
    assert!(found(&rare, AlertKind::NoOrders, None).is_none());
    let young = history(|day| if (today() - 20..today() - 3).contains(&day) { 50 } else { 0 });
    assert!(found(&young, AlertKind::NoOrders, None).is_none(), "nobody knows its usual");
}

#[test]
fn silence_ends_with_an_order() {
    let details = json!({ "lastOrderDay": day_text(today() - 5) });
    let alert = lasting(AlertKind::NoOrders, &details);
    let silent = history(|day| if day <= today() - 5 { 3 } else { 0 });
    assert!(found(&silent, AlertKind::NoOrders, Some(&alert)).is_some());
    let sold = history(|day| if day <= today() - 5 || day == today() { 3 } else { 0 });
    assert!(found(&sold, AlertKind::NoOrders, Some(&alert)).is_none());
    let nothing = history(|_| 0);
    assert!(found(&nothing, AlertKind::NoOrders, Some(&alert)).is_some(), "it goes on");
}

#[test]
fn a_refund_rate_that_jumps_is_noticed() {
    // Of 50.00 a day, 1.00 is usual.
    let of_recent =
        |refund: i64| refunded(|_| 5, move |day| if day > today() - 7 { refund } else { 10_000 });
    assert!(found(&of_recent(10_000), AlertKind::RefundRate, None).is_none());
    assert!(found(&of_recent(49_000), AlertKind::RefundRate, None).is_none(), "below 10%");
    let alert = found(&of_recent(60_000), AlertKind::RefundRate, None).unwrap();
    assert_eq!(
        alert.message,
        "Refunds were 12.0% of gross sales in the last 7 days, compared with 2.0% in the 28 days \
         before."
    );
    let raised = lasting(AlertKind::RefundRate, &alert.details);
    assert!(found(&of_recent(40_000), AlertKind::RefundRate, Some(&raised)).is_some());
    assert!(found(&of_recent(30_000), AlertKind::RefundRate, Some(&raised)).is_none());
    // Much is usual elsewhere.
    let high = refunded(|_| 5, |day| if day > today() - 7 { 200_000 } else { 100_000 });
    assert!(found(&high, AlertKind::RefundRate, None).is_none(), "not three times as much");
    let few = refunded(
        |day| i64::from(day.rem_euclid(3) == 0),
        |day| if day > today() - 7 { 100_000 } else { 0 },
    );
    assert!(found(&few, AlertKind::RefundRate, None).is_none(), "too few orders");
}

#[test]
fn alerts_can_be_switched_off() {
    let settings =
        Settings { alert_orders_expected: 0, alert_refund_percent: 0, ..Settings::default() };
    let history = history(|day| if day <= today() - 20 { 30 } else { 0 });
    let is_usual = |state| matches!(state, State::Usual);
    assert!(is_usual(history.state(AlertKind::NoOrders, &settings, None)));
    let refunds = refunded(|_| 50, |day| if day > today() - 7 { 4_000_000 } else { 0 });
    assert!(is_usual(refunds.state(AlertKind::RefundRate, &settings, None)));
    assert!(found(&refunds, AlertKind::RefundRate, None).is_some());
}
