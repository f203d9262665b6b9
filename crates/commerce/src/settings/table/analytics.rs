//! Settings of analytics: what reports count, and by which date.

use super::{Default, Offers, Setting, multiselect, radio, select, text};

pub(super) static SETTINGS: &[Setting] = &[
    multiselect(
        "woocommerce_excluded_report_order_statuses",
        "Statuses that do not count",
        "Orders with one of these statuses are left out of reports.",
        Offers::OrderStatuses,
    )
    .default(Default::This(r#"["pending","cancelled","failed"]"#)),
    multiselect(
        "woocommerce_actionable_order_statuses",
        "Statuses that need action",
        "Orders with one of these statuses wait for somebody to do something.",
        Offers::OrderStatuses,
    )
    .default(Default::This(r#"["processing","on-hold"]"#)),
    text(
        "woocommerce_default_date_range",
        "Range of dates",
        "The range that reports show first, as a query string.",
    )
    .without_tip()
    .default(Default::This(r#""period=month&compare=previous_year""#)),
    select(
        "woocommerce_date_type",
        "Date of an order",
        "By which of its dates an order belongs to a day.",
        Offers::These(&[
            ("date_created", "When it was made"),
            ("date_paid", "When it was paid"),
            ("date_completed", "When it was completed"),
        ]),
    )
    .without_tip()
    .default(Default::Unsaid),
    radio(
        "woocommerce_analytics_scheduled_import",
        "Updates",
        "When changes of orders reach the reports.",
        Offers::These(&[("yes", "Now and then"), ("no", "At once")]),
    )
    .without_tip(),
];
