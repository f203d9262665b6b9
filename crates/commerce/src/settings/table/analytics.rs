//! Settings of analytics: what reports count, and by which date.

use super::{Default, Offers, Setting, multiselect, radio, select, text};

pub(super) static SETTINGS: &[Setting] = &[
    multiselect(
        "woocommerce_excluded_report_order_statuses",
        "Excluded statuses",
        "Orders with these statuses are excluded from reports.",
        Offers::OrderStatuses,
    )
    .default(Default::This(r#"["pending","cancelled","failed"]"#)),
    multiselect(
        "woocommerce_actionable_order_statuses",
        "Actionable statuses",
        "Orders with these statuses need action.",
        Offers::OrderStatuses,
    )
    .default(Default::This(r#"["processing","on-hold"]"#)),
    text(
        "woocommerce_default_date_range",
        "Default date range",
        "Date range that reports show by default, as a query string.",
    )
    .without_tip()
    .default(Default::This(r#""period=month&compare=previous_year""#)),
    select(
        "woocommerce_date_type",
        "Date type",
        "Order date that reports are based on.",
        Offers::These(&[
            ("date_created", "Date created"),
            ("date_paid", "Date paid"),
            ("date_completed", "Date completed"),
        ]),
    )
    .without_tip()
    .default(Default::Unsaid),
    radio(
        "woocommerce_analytics_scheduled_import",
        "Updates",
        "When reports reflect changes to orders.",
        Offers::These(&[("yes", "Scheduled"), ("no", "Immediately")]),
    )
    .without_tip(),
];
