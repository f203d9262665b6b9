//! Orders and revenue over time: the same numbers, with and without filters.

use contract::rest::{Args, Schema, Stop};
use frame::Call;

use super::segments::{self, Dimension, Split};
use super::{Stats, query_args};
use crate::columns::{Column, Shape, column};
use crate::compat::Rule;
use crate::context::{QueryContext, date_named, date_of_orders};
use crate::facts::{LineNumber, OrderNumber, OrderText};
use crate::query::Measure::{self, Distinct, Rows, Sum};
use crate::query::{Column as Of, Filter, Group, LineTest, Per, RollUp, Subject, Table, When};
use crate::reports::{args, filters};

const ORDERS: Measure = Rows(When::Order);

const ORDERS_COUNT: Column =
    column("orders_count", "Number of orders.", Shape::Count, &[(1, ORDERS)]).indicator();

const ITEMS_SOLD: Column = column(
    "num_items_sold",
    "Items sold.",
    Shape::Count,
    &[(1, total(Of::Order(OrderNumber::Items)))],
);

const GROSS_SALES: Column = column(
    "gross_sales",
    "Gross sales: items and fees before discounts and refunds.",
    Shape::Money,
    &[
        (1, of_orders(Of::Order(OrderNumber::Total))),
        (-1, of_orders(Of::Order(OrderNumber::Tax))),
        (-1, of_orders(Of::Order(OrderNumber::Shipping))),
        (1, total(Of::Discounts)),
    ],
)
.indicator()
.currency();

const TOTAL_SALES: Column = column(
    "total_sales",
    "Total sales, less refunds.",
    Shape::Money,
    &[(1, total(Of::Order(OrderNumber::Total)))],
)
.indicator()
.currency();

const COUPONS: Column =
    column("coupons", "What coupons took off.", Shape::Money, &[(1, total(Of::Discounts))]);

const COUPONS_COUNT: Column = column(
    "coupons_count",
    "Number of distinct coupons.",
    Shape::Count,
    &[(1, Distinct(Subject::Coupon, When::Always))],
);

const REFUNDS: Column = column(
    "refunds",
    "What was paid back.",
    Shape::Magnitude,
    &[(1, Sum(Of::Gross, When::Negative, Per::Row))],
)
.indicator()
.currency();

const TAXES: Column =
    column("taxes", "Taxes.", Shape::Money, &[(1, total(Of::Order(OrderNumber::Tax)))]).currency();

const SHIPPING: Column = column(
    "shipping",
    "Shipping, excluding tax.",
    Shape::Money,
    &[(1, total(Of::Order(OrderNumber::Shipping)))],
)
.indicator()
.currency();

const NET_REVENUE: Column = column(
    "net_revenue",
    "Net sales, excluding tax and shipping.",
    Shape::Money,
    &[(1, total(Of::Order(OrderNumber::Net)))],
)
.indicator()
.currency();

const ITEMS_PER_ORDER: Column = column(
    "avg_items_per_order",
    "Average items per order.",
    Shape::CountPer(ORDERS),
    &[(1, of_orders(Of::Order(OrderNumber::Items)))],
);

const ORDER_VALUE: Column = column(
    "avg_order_value",
    "Average order value.",
    Shape::MoneyPer(ORDERS),
    &[(1, of_orders(Of::Order(OrderNumber::Net)))],
)
.indicator()
.currency();

const CUSTOMERS: Column = column(
    "total_customers",
    "Number of distinct customers.",
    Shape::Count,
    &[(1, Distinct(Subject::Customer, When::Always))],
);

const COLUMNS: &[Column] = &[
    ORDERS_COUNT,
    ITEMS_SOLD,
    GROSS_SALES,
    TOTAL_SALES,
    COUPONS,
    COUPONS_COUNT,
    REFUNDS,
    TAXES,
    SHIPPING,
    NET_REVENUE,
    ITEMS_PER_ORDER,
    ORDER_VALUE,
    CUSTOMERS,
];

const OF_TOTALS: &[Column] = &[column(
    "products",
    "Number of distinct products.",
    Shape::Count,
    &[(1, Distinct(Subject::Product, When::Always))],
)];

const fn total(column: Of) -> Measure {
    Sum(column, When::Always, Per::Row)
}

const fn of_orders(column: Of) -> Measure {
    Sum(column, When::Order, Per::Row)
}

/// Different orders among the rows of a segment.
const EACH_ORDER: Measure = Distinct(Subject::Order, When::Order);

/// The columns of segments, whose figures come from lines or coupons of the orders.
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
        &[
            ORDERS_COUNT.terms(&[(1, EACH_ORDER)]),
            ITEMS_SOLD.terms(&[(1, $items)]),
            TOTAL_SALES.terms(&[(1, $total)]),
            COUPONS.terms(&[(1, $coupons)]),
            COUPONS_COUNT,
            REFUNDS.terms(&[(1, $refunds)]),
            TAXES.terms(&[(1, $taxes)]),
            SHIPPING.terms(&[(1, $shipping)]),
            NET_REVENUE.terms(&[(1, $net)]),
            ITEMS_PER_ORDER
                .shape(Shape::CountPer(EACH_ORDER))
                .terms(&[(1, Sum(Of::Order(OrderNumber::Items), When::Order, Per::Order))]),
            ORDER_VALUE
                .shape(Shape::MoneyPer(EACH_ORDER))
                .terms(&[(1, Sum(Of::Order(OrderNumber::Net), When::Order, Per::Order))]),
            CUSTOMERS,
        ]
    };
}

const OF_LINES: &[Column] = segment_columns!(
    total(Of::Line(LineNumber::Quantity)),
    total(Of::Line(LineNumber::Gross)),
    total(Of::Line(LineNumber::Discount)),
    Sum(Of::Line(LineNumber::Gross), When::Negative, Per::Row),
    total(Of::Line(LineNumber::Tax)),
    total(Of::Line(LineNumber::Shipping)),
    total(Of::Line(LineNumber::Net))
);

const OF_COUPONS: &[Column] = segment_columns!(
    total(Of::Order(OrderNumber::Items)),
    total(Of::Order(OrderNumber::Total)),
    total(Of::CouponDiscount),
    Sum(Of::Gross, When::Negative, Per::Row),
    total(Of::Order(OrderNumber::Tax)),
    total(Of::Order(OrderNumber::Shipping)),
    total(Of::Order(OrderNumber::Net))
);

const DIMENSIONS: &[Dimension] = &[
    Dimension::Product,
    Dimension::Category,
    Dimension::Variation,
    Dimension::Coupon,
    Dimension::CustomerType,
    Dimension::Merchant,
    Dimension::Store,
    Dimension::Currency,
];

pub static STATS: Stats = Stats {
    path: "/orders/stats",
    title: "report_orders_stats",
    table: Table::Orders,
    columns: COLUMNS,
    of_totals: OF_TOTALS,
    always: &["coupons_count", "products"],
    dimensions: DIMENSIONS,
    sorts: &[],
    product_params: ("product_includes", "categories"),
    variations_param: "variation_includes",
    is_of_variations: false,
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
    sorts: &[ITEMS_SOLD.named("items_sold")],
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
        .about("Limit results by refunds: all, partial, full or none.");
    args::dated(1, "date", &["date", "net_revenue", "orders_count", "avg_order_value"])
        .with(args::interval())
        .with(args::matching())
        .with(
            args::statuses().revise("status_is", |schema| schema.default(serde_json::Value::Null)),
        )
        .with(args::loose_ids(
            "product_includes",
            "Limit results to orders with one of these products.",
        ))
        .with(args::loose_ids("product_excludes", "Exclude orders with one of these products."))
        .with(args::ids_or_none(
            "variation_includes",
            "Limit results to orders with these variations.",
        ))
        .with(args::ids_or_none("variation_excludes", "Exclude orders with these variations."))
        .with(args::loose_ids(
            "coupon_includes",
            "Limit results to orders with one of these coupons.",
        ))
        .with(args::loose_ids("coupon_excludes", "Exclude orders with one of these coupons."))
        .with(args::ids_or_none(
            "tax_rate_includes",
            "Limit results to orders taxed at these rates.",
        ))
        .with(args::ids_or_none("tax_rate_excludes", "Exclude orders taxed at these rates."))
        .arg("customer", customer("Legacy name of customer_type."))
        .arg("customer_type", customer("Limit results to new or returning customers."))
        .arg("refunds", refunds)
        .with(args::attributes())
        .with(segments::arg(DIMENSIONS))
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
    let date_type = Schema::text().choices(&dates).about("Order date that the report is based on.");
    args::dated(1, "date", &columns)
        .with(args::interval())
        .with(segments::arg(DIMENSIONS))
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
        None if any && context.follows(Rule::LastFilterCounts) => {
            beside_counted(conditions, context)
        }
        None => filters::joined(conditions, any).and(context.counted()),
    };
    Ok(filter.and(in_scope))
}

/// Only the last of several filters minds which orders count.
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
        filters::customer_type(params, context),
        filters::refunds(params),
    ];
    Ok(conditions.into_iter().flatten().collect())
}

fn split(dimension: Dimension, call: &Call<'_>, context: &QueryContext) -> Option<Split> {
    let text = |field: OrderText| Split::of(Table::Orders, Group::Text(field), COLUMNS);
    let of_lines = |group: Group| Split::of(Table::Lines, group, OF_LINES);
    Some(match dimension {
        Dimension::Product => of_lines(Group::Product),
        Dimension::Variation => {
            // An order with one of the products may have others.
            let products =
                filters::products_in(&call.params, context, "product_includes", "categories");
            let filter = products.map_or_else(Filter::everything, |products| {
                Filter::Line(LineTest::Product(products))
            });
            Split { filter, ..of_lines(Group::VariationId) }
        }
        Dimension::Category if context.follows(Rule::CategoriesByPath) => {
            of_lines(Group::Category(RollUp::EachPath))
        }
        Dimension::Category => of_lines(Group::Category(RollUp::Ancestors)),
        Dimension::Coupon => Split::of(Table::Coupons, Group::Coupon, OF_COUPONS),
        Dimension::CustomerType if context.follows(Rule::CustomerTypesAreEmpty) => Split {
            filter: Filter::nothing(),
            ..Split::of(Table::Orders, Group::CustomerType, OF_COUPONS)
        },
        // An order, with its refunds, is in one of these: they add up to the totals.
        Dimension::CustomerType => Split::of(Table::Orders, Group::CustomerType, COLUMNS),
        Dimension::Merchant => text(OrderText::Merchant),
        Dimension::Store => text(OrderText::Store),
        Dimension::Currency => text(OrderText::Currency),
        Dimension::TaxRate => return None,
    })
}
