//! Orders and revenue over time: the same numbers, with and without filters.

use contract::rest::{Args, Schema, Stop};
use site::Call;

use super::segments::{Dimension, Ids, Split};
use super::{Habit, Stats, query_args};
use crate::columns::{Column, Shape, column};
use crate::context::{QueryContext, date_named, date_of_orders};
use crate::query::Measure::{self, Distinct, Rows, Sum};
use crate::query::{Column as Of, Filter, Group, LineTest, Per, RollUp, Subject, Table, When};
use crate::reports::{args, filters};

const ORDERS: Measure = Rows(When::Order);

const COLUMNS: &[Column] = &[
    column("orders_count", "Number of orders.", Shape::Count, &[(1, ORDERS)]).indicator(),
    column("num_items_sold", "Pieces sold.", Shape::Count, &[(1, total(Of::Items))]),
    column(
        "gross_sales",
        "Goods and fees before coupons and refunds.",
        Shape::Money,
        &[
            (1, of_orders(Of::Total)),
            (-1, of_orders(Of::Tax)),
            (-1, of_orders(Of::Shipping)),
            (1, total(Of::Discounts)),
        ],
    )
    .indicator()
    .currency(),
    column("total_sales", "What was paid, less refunds.", Shape::Money, &[(1, total(Of::Total))])
        .indicator()
        .currency(),
    column("coupons", "What coupons took off.", Shape::Money, &[(1, total(Of::Discounts))]),
    column(
        "coupons_count",
        "Number of different coupons.",
        Shape::Count,
        &[(1, Distinct(Subject::Coupon, When::Always))],
    ),
    column(
        "refunds",
        "What was paid back.",
        Shape::Magnitude,
        &[(1, Sum(Of::Gross, When::Negative, Per::Row))],
    )
    .indicator()
    .currency(),
    column("taxes", "Taxes.", Shape::Money, &[(1, total(Of::Tax))]).currency(),
    column("shipping", "Shipping without tax.", Shape::Money, &[(1, total(Of::Shipping))])
        .indicator()
        .currency(),
    column("net_revenue", "Sales without tax and shipping.", Shape::Money, &[(1, total(Of::Net))])
        .indicator()
        .currency(),
    column(
        "avg_items_per_order",
        "Pieces in an order, on average.",
        Shape::CountPer(ORDERS),
        &[(1, of_orders(Of::Items))],
    ),
    column(
        "avg_order_value",
        "Net value of an order, on average.",
        Shape::MoneyPer(ORDERS),
        &[(1, of_orders(Of::Net))],
    )
    .indicator()
    .currency(),
    column(
        "total_customers",
        "Number of different customers.",
        Shape::Count,
        &[(1, Distinct(Subject::Customer, When::Always))],
    ),
];

const OF_TOTALS: &[Column] = &[column(
    "products",
    "Number of different products.",
    Shape::Count,
    &[(1, Distinct(Subject::Product, When::Always))],
)];

const fn total(column: Of) -> Measure {
    Sum(column, When::Always, Per::Row)
}

const fn of_orders(column: Of) -> Measure {
    Sum(column, When::Order, Per::Row)
}

/// Orders among the rows of a segment, refunds too.
const EACH_ORDER: Measure = Distinct(Subject::Order, When::Always);

/// The columns of segments, whose numbers come from lines or coupons of the orders.
macro_rules! segment_columns {
    (
        $items:expr,
        $total:expr,
        $coupons:expr,
        $refunds:expr,
        $taxes:expr,
        $shipping:expr,
        $net:expr
    ) => {
        segment_columns!(
            $items,
            $total,
            $coupons,
            $refunds,
            $taxes,
            $shipping,
            $net,
            Distinct(Subject::Coupon, When::Always),
            EACH_ORDER,
            Sum(Of::Items, When::Always, Per::Order),
            Sum(Of::Net, When::Always, Per::Order)
        )
    };
    (
        $items:expr,
        $total:expr,
        $coupons:expr,
        $refunds:expr,
        $taxes:expr,
        $shipping:expr,
        $net:expr,
        $kinds_of_coupons:expr,
        $orders:expr,
        $items_of_orders:expr,
        $net_of_orders:expr
    ) => {
        &[
            column("num_items_sold", "Pieces sold.", Shape::Count, &[(1, $items)]),
            column("total_sales", "What was paid.", Shape::Money, &[(1, $total)]),
            column("coupons", "What coupons took off.", Shape::Money, &[(1, $coupons)]),
            column(
                "coupons_count",
                "Number of different coupons.",
                Shape::Count,
                &[(1, $kinds_of_coupons)],
            ),
            column("refunds", "What was paid back.", Shape::Money, &[(1, $refunds)]),
            column("taxes", "Taxes.", Shape::Money, &[(1, $taxes)]),
            column("shipping", "Shipping without tax.", Shape::Money, &[(1, $shipping)]),
            column("net_revenue", "Sales without the rest.", Shape::Money, &[(1, $net)]),
            column("orders_count", "Number of orders.", Shape::Count, &[(1, $orders)]),
            column(
                "avg_items_per_order",
                "Pieces in an order, on average.",
                Shape::CountPer($orders),
                &[(1, $items_of_orders)],
            ),
            column(
                "avg_order_value",
                "Net value of an order, on average.",
                Shape::MoneyPer($orders),
                &[(1, $net_of_orders)],
            ),
            column(
                "total_customers",
                "Number of different customers.",
                Shape::Count,
                &[(1, Distinct(Subject::Customer, When::Always))],
            ),
        ]
    };
}

/// As clients know it: a line counts once beside each coupon of its order.
const OF_LINES_BESIDE_COUPONS: &[Column] = segment_columns!(
    Sum(Of::Quantity, When::Always, Per::Coupon),
    Sum(Of::LineGross, When::Always, Per::Coupon),
    Sum(Of::Discounts, When::Always, Per::Row),
    Sum(Of::LineGross, When::Negative, Per::Coupon),
    Sum(Of::LineTax, When::Always, Per::Coupon),
    Sum(Of::LineShipping, When::Always, Per::Coupon),
    Sum(Of::LineNet, When::Always, Per::Coupon)
);

/// As it should be.
const OF_LINES: &[Column] = segment_columns!(
    total(Of::Quantity),
    total(Of::LineGross),
    total(Of::LineDiscount),
    Sum(Of::LineGross, When::Negative, Per::Row),
    total(Of::LineTax),
    total(Of::LineShipping),
    total(Of::LineNet)
);

/// As clients know it: an order counts once for each of its coupons, and shows all of them.
const OF_COUPONS_BESIDE_COUPONS: &[Column] = segment_columns!(
    Sum(Of::Items, When::Always, Per::Coupon),
    Sum(Of::Total, When::Always, Per::Coupon),
    Sum(Of::CouponDiscount, When::Always, Per::Coupon),
    Sum(Of::Total, When::Refund, Per::Coupon),
    Sum(Of::Tax, When::Always, Per::Coupon),
    Sum(Of::Shipping, When::Always, Per::Coupon),
    Sum(Of::Net, When::Always, Per::Coupon),
    Distinct(Subject::CouponOfOrder, When::Always),
    Sum(Of::One, When::Always, Per::Coupon),
    Sum(Of::Items, When::Always, Per::Coupon),
    Sum(Of::Net, When::Always, Per::Coupon)
);

const OF_COUPONS: &[Column] = segment_columns!(
    total(Of::Items),
    total(Of::Total),
    total(Of::CouponDiscount),
    Sum(Of::Total, When::Refund, Per::Row),
    total(Of::Tax),
    total(Of::Shipping),
    total(Of::Net)
);

const DIMENSIONS: &[Dimension] = &[
    Dimension::Product,
    Dimension::Category,
    Dimension::Variation,
    Dimension::Coupon,
    Dimension::CustomerType,
    Dimension::Merchant,
    Dimension::Store,
];

pub static STATS: Stats = Stats {
    path: "/orders/stats",
    title: "report_orders_stats",
    table: Table::Orders,
    columns: COLUMNS,
    of_totals: OF_TOTALS,
    always: &["coupons_count", "products"],
    dimensions: DIMENSIONS,
    habit: Habit::Sorted,
    product_params: ("product_includes", "categories"),
    variations_param: "variation_includes",
    splits_all_variations: false,
    coupons_param: "coupons",
    args: orders_args,
    query_args: &[
        query_args::FIELDS,
        query_args::INTERVAL,
        query_args::SEGMENTS,
        query_args::text("match", "all"),
        query_args::list("status_is"),
        query_args::list("status_is_not"),
        query_args::list("product_includes"),
        query_args::list("product_excludes"),
        query_args::list("coupon_includes"),
        query_args::list("coupon_excludes"),
        query_args::list("tax_rate_includes"),
        query_args::list("tax_rate_excludes"),
        query_args::null("customer_type"),
        query_args::list("category_includes").of("categories"),
        query_args::list("variation_includes"),
        query_args::list("variation_excludes"),
        query_args::text("refunds", ""),
        query_args::list("attribute_is"),
        query_args::list("attribute_is_not"),
        query_args::REFRESH,
    ],
    date: |call| date_of_orders(call.options()),
    filter: orders_filter,
    split,
};

pub static REVENUE: Stats = Stats {
    path: "/revenue/stats",
    title: "report_revenue_stats",
    product_params: ("", ""),
    variations_param: "",
    args: revenue_args,
    query_args: &[
        query_args::FIELDS,
        query_args::INTERVAL,
        query_args::SEGMENTS,
        query_args::text("match", "all"),
        query_args::list("status_is").of(""),
        query_args::list("status_is_not").of(""),
        query_args::list("product_includes").of(""),
        query_args::list("product_excludes").of(""),
        query_args::list("coupon_includes").of(""),
        query_args::list("coupon_excludes").of(""),
        query_args::list("tax_rate_includes").of(""),
        query_args::list("tax_rate_excludes").of(""),
        query_args::text("customer_type", "").of(""),
        query_args::list("category_includes").of(""),
        query_args::REFRESH,
        query_args::null("date_type"),
    ],
    date: |call| {
        let asked = call.params.text("date_type").and_then(date_named);
        asked.unwrap_or_else(|| date_of_orders(call.options()))
    },
    filter: |call, context| Ok(counted_in_scope(call, context)),
    ..STATS
};

fn orders_args() -> Args {
    let customer = |about: &str| Schema::text().choices(&["new", "returning"]).about(about);
    let refunds = Schema::text()
        .default("")
        .choices(&["", "all", "partial", "full", "none"])
        .about("Count only refunds, only some of them, or none.");
    args::dated(1, "date", &["date", "net_revenue", "orders_count", "avg_order_value"])
        .with(args::interval())
        .with(args::matching())
        .with(
            args::statuses().revise("status_is", |schema| schema.default(serde_json::Value::Null)),
        )
        .with(args::loose_ids("product_includes", "Count only orders with one of these products."))
        .with(args::loose_ids("product_excludes", "Leave out orders with one of these products."))
        .with(args::ids_or_none("variation_includes", "Count only orders with these variations."))
        .with(args::ids_or_none("variation_excludes", "Leave out orders with these variations."))
        .with(args::loose_ids("coupon_includes", "Count only orders with one of these coupons."))
        .with(args::loose_ids("coupon_excludes", "Leave out orders with one of these coupons."))
        .with(args::ids_or_none("tax_rate_includes", "Count only orders taxed at these rates."))
        .with(args::ids_or_none("tax_rate_excludes", "Leave out orders taxed at these rates."))
        .arg("customer", customer("The same as customer_type; for older clients."))
        .arg("customer_type", customer("Count only orders of new, or of returning customers."))
        .arg("refunds", refunds)
        .with(args::attributes())
        .with(args::segments(DIMENSIONS))
        .with(args::scope())
}

fn revenue_args() -> Args {
    let columns = [
        "date",
        "total_sales",
        "coupons",
        "refunds",
        "shipping",
        "taxes",
        "net_revenue",
        "orders_count",
        "items_sold",
        "gross_sales",
    ];
    let dates = ["date_paid", "date_created", "date_completed"];
    let date_type = Schema::text().choices(&dates).about("Which date of an order counts.");
    args::dated(1, "date", &columns)
        .with(args::interval())
        .with(args::segments(DIMENSIONS))
        .arg("date_type", date_type)
        .with(args::scope())
}

fn counted_in_scope(call: &Call<'_>, context: &QueryContext) -> Filter {
    filters::scope(&call.params).into_iter().fold(context.counted(), Filter::and)
}

/// The filters of orders, each about the order as a whole.
fn orders_filter(call: &mut Call<'_>, context: &QueryContext) -> Result<Filter, Stop> {
    let conditions = conditions(call, context)?;
    let params = &call.params;
    let any = filters::is_any(params);
    let in_scope = Filter::All(filters::scope(params));
    let statuses = filters::statuses(params, context, any);
    let filter = match statuses {
        Some(statuses) => filters::joined([conditions, vec![statuses]].concat(), any),
        None if any && !context.is_strict => beside_counted(conditions, context),
        None => filters::joined(conditions, any).and(context.counted()),
    };
    Ok(filter.and(in_scope))
}

/// Clients know that with any of several filters only the last minds which orders count.
fn beside_counted(mut conditions: Vec<Filter>, context: &QueryContext) -> Filter {
    let last = conditions.pop().unwrap_or_else(Filter::everything);
    conditions.push(last.and(context.counted()));
    Filter::Any(conditions)
}

/// What the request asks of orders besides their statuses, in the order of the reference.
pub fn conditions(call: &mut Call<'_>, context: &QueryContext) -> Result<Vec<Filter>, Stop> {
    let attributes = filters::orders_by_attributes(call, context)?;
    let params = &call.params;
    let ids = |name: &str| filters::ids(params, name);
    let has_product = |set| Filter::HasLine(LineTest::Product(set));
    let has_variation = |set| Filter::HasLine(LineTest::Variation(set));
    let products = filters::products_in(params, context, "product_includes", "categories");
    let conditions = [
        products.map(has_product),
        ids("product_excludes").map(has_product).map(Filter::negated),
        ids("variation_includes").map(has_variation),
        ids("variation_excludes").map(has_variation).map(Filter::negated),
        ids("coupon_includes").map(Filter::HasCoupon),
        ids("coupon_excludes").map(Filter::HasCoupon).map(Filter::negated),
        ids("tax_rate_includes").map(Filter::HasTaxRate),
        ids("tax_rate_excludes").map(Filter::HasTaxRate).map(Filter::negated),
        attributes,
        filters::customer_type(params),
        filters::refunds(params),
    ];
    Ok(conditions.into_iter().flatten().collect())
}

fn split(dimension: Dimension, call: &Call<'_>, context: &QueryContext) -> Option<Split> {
    let strict = context.is_strict;
    let of = |table: Table, group: Group, columns: &'static [Column]| Split {
        table,
        group,
        columns,
        filter: Filter::everything(),
        ids: Ids::Number,
    };
    let lines = if strict { OF_LINES } else { OF_LINES_BESIDE_COUPONS };
    Some(match dimension {
        Dimension::Product => of(Table::Lines, Group::Product, lines),
        Dimension::Variation => {
            let product = filters::ids(&call.params, "product_includes").unwrap_or_default();
            let filter = Filter::Line(LineTest::Product(product));
            Split { filter, ..of(Table::Lines, Group::Variation, lines) }
        }
        Dimension::Category => {
            let roll_up = if strict { RollUp::Ancestors } else { RollUp::EachPath };
            of(Table::Lines, Group::Category(roll_up), lines)
        }
        Dimension::Coupon => {
            let columns = if strict { OF_COUPONS } else { OF_COUPONS_BESIDE_COUPONS };
            of(Table::Coupons, Group::Coupon, columns)
        }
        // Clients know these segments with nothing in them.
        Dimension::CustomerType if !strict => {
            let nothing = of(Table::Orders, Group::CustomerType, OF_COUPONS);
            Split { filter: Filter::nothing(), ..nothing }
        }
        // An order, with its refunds, is in one of these: they add up to the totals.
        Dimension::CustomerType => of(Table::Orders, Group::CustomerType, COLUMNS),
        Dimension::Merchant => of(Table::Orders, Group::Merchant, COLUMNS),
        Dimension::Store => of(Table::Orders, Group::Store, COLUMNS),
        Dimension::TaxRate => return None,
    })
}
