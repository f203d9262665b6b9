//! Leaderboards: the best customers, coupons, categories and products of a range.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Reply, Schema, Stop, form};
use frame::action::read;
use frame::{Action, Call};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use types::{Amount, Capability};

use crate::compat::Rule;
use crate::context::{QueryContext, ReportContext};
use crate::reports::args;
use crate::reports::lists;
use crate::reports::lists::customers;

/// Rows of a leaderboard unless somebody asks for more, and at most.
const ROWS: i64 = 5;
const ROWS_MAX: i64 = 20;
/// Keys of the query that clients want to keep in the links.
const KEPT_KEYS_MAX: usize = 50;

/// How many rows to skip, and how many to show.
type Page = (usize, usize);

/// One leaderboard.
struct Board {
    id: &'static str,
    label: &'static str,
    headers: [&'static str; 3],
    /// What the page behind a link shows.
    filter: &'static str,
    rows: fn(&QueryContext, &mut Call<'_>, Page) -> Result<Vec<Entry>, Stop>,
}

/// A row: whom it is about, a number, and an amount in millionths.
struct Entry {
    id: i64,
    name: String,
    count: i64,
    amount: i64,
}

static BOARDS: [Board; 4] = [
    Board {
        id: "customers",
        label: "Top customers - Total spend",
        headers: ["Customer", "Orders", "Total spend"],
        filter: "single_customer",
        rows: best_customers,
    },
    Board {
        id: "coupons",
        label: "Top coupons - Number of orders",
        headers: ["Coupon", "Orders", "Amount discounted"],
        filter: "single_coupon",
        rows: best_coupons,
    },
    Board {
        id: "categories",
        label: "Top categories - Items sold",
        headers: ["Category", "Items sold", "Net sales"],
        filter: "single_category",
        rows: best_categories,
    },
    Board {
        id: "products",
        label: "Top products - Items sold",
        headers: ["Product", "Items sold", "Net sales"],
        filter: "single_product",
        rows: best_products,
    },
];

pub fn routes(namespace: &str, reports: &Arc<ReportContext>) -> Vec<Route<Action>> {
    let (of_all, of_one) = (Arc::clone(reports), Arc::clone(reports));
    let ids: Vec<&str> = BOARDS.iter().map(|board| board.id).collect();
    let name = Schema::text().choices(&ids);
    let all = move |call: &mut Call<'_>| show(&of_all, call, None);
    let one = move |call: &mut Call<'_>| {
        let wanted = call.params.text("leaderboard").unwrap_or_default().to_owned();
        show(&of_one, call, Some(&wanted))
    };
    let document = document();
    vec![
        Route::at(namespace, "/leaderboards")
            .on(READ, list_args(), read(may_view, all).in_turns())
            .schema(document.clone()),
        Route::at(namespace, "/leaderboards/allowed")
            .on(READ, Args::new(), read(may_view, |_| Ok(allowed())))
            .lists()
            .schema(document.clone()),
        Route::at(namespace, r"/leaderboards/(?P<leaderboard>\w+)")
            .on(
                READ,
                Args::new().arg("leaderboard", name).with(list_args()),
                read(may_view, one).in_turns(),
            )
            .schema(document),
    ]
}

fn list_args() -> Args {
    let kept = Schema::text().about("Query parameters to add to links, as a JSON object.");
    args::paging(1, ROWS, ROWS_MAX)
        .with(args::range())
        .arg("persisted_query", kept)
        .with(args::currency())
}

fn document() -> Value {
    let text = |about: &str| Schema::text().about(about).context(&["view"]).readonly();
    let members = [
        ("id", text("Leaderboard ID.")),
        ("label", text("Leaderboard title.")),
        ("headers", Schema::typed("array").about("Column headings.")),
        ("rows", Schema::typed("array").about("Rows, in descending order.")),
    ];
    Item::new("leaderboard", Schema::object(members)).document()
}

/// Whoever may see reports, or runs the shop.
fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.can(Capability::ManageWoocommerce) {
        return crate::context::is_there(call);
    }
    crate::context::may_view(call)
}

fn allowed() -> Reply {
    let boards = BOARDS.iter().map(|board| Value::Object(head(board)));
    let boards: Vec<Value> = boards.collect();
    let total = boards.len().to_string();
    Reply::new(boards).header("x-wp-total", total).header("x-wp-totalpages", "1")
}

fn head(board: &Board) -> Map<String, Value> {
    let headers: Vec<Value> =
        board.headers.iter().map(|header| json!({ "label": header })).collect();
    let mut body = Map::new();
    body.insert(String::from("id"), json!(board.id));
    body.insert(String::from("label"), json!(board.label));
    body.insert(String::from("headers"), json!(headers));
    body
}

fn show(reports: &ReportContext, call: &mut Call<'_>, wanted: Option<&str>) -> Result<Reply, Stop> {
    let count = call.params.int("per_page").unwrap_or(ROWS).clamp(1, ROWS_MAX);
    let count = usize::try_from(count).unwrap_or(1);
    let context = reports.query_context(call)?;
    let skip = match call.params.int("page") {
        Some(page) if !context.follows(Rule::LeaderboardsHaveOnePage) => {
            usize::try_from(page.saturating_sub(1)).unwrap_or_default().saturating_mul(count)
        }
        _ => 0,
    };
    let kept = kept_query(call);
    let mut bodies: Vec<Value> = Vec::new();
    for board in BOARDS.iter().filter(|board| wanted.is_none_or(|wanted| wanted == board.id)) {
        let entries = (board.rows)(&context, call, (skip, count))?;
        let rows = entries.iter().map(|entry| row(reports, call, board, entry, &kept));
        let rows: Vec<Value> = rows.collect();
        let mut body = head(board);
        body.insert(String::from("rows"), json!(rows));
        bodies.push(Value::Object(body));
    }
    Ok(context.with_notes(Reply::new(bodies)))
}

/// What the client wants to find again in the links.
fn kept_query(call: &Call<'_>) -> Map<String, Value> {
    let text = call.params.text("persisted_query").unwrap_or_default();
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => members.into_iter().take(KEPT_KEYS_MAX).collect(),
        _ => Map::new(),
    }
}

fn row(
    reports: &ReportContext,
    call: &Call<'_>,
    board: &Board,
    entry: &Entry,
    kept: &Map<String, Value>,
) -> Value {
    let mut query = kept.clone();
    query.insert(String::from("filter"), json!(board.filter));
    query.insert(board.id.to_owned(), json!(entry.id));
    let page = format!("/wp-admin/admin.php?page=wc-admin&path=/analytics/{}&", board.id);
    let address = format!("{}{}", call.visit.page(&page), form::encode(&query));
    let display = format!("<a href='{}'>{}</a>", attribute(&address), escaped(&entry.name));
    let options = call.options();
    let amount = Amount::from_millionths(entry.amount);
    json!([
        { "display": display, "value": entry.name },
        {
            "display": grouped(entry.count, &options.text("woocommerce_price_thousand_sep")),
            "value": entry.count,
            "format": "number",
        },
        {
            "display": (reports.shop.price_html)(options, amount),
            "value": crate::columns::money(entry.amount),
            "format": "currency",
        },
    ])
}

/// A number with something between its thousands.
pub fn grouped(number: i64, separator: &str) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = if number < 0 { String::from("-") } else { String::new() };
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push_str(separator);
        }
        text.push(digit);
    }
    text
}

/// **Names are other people's words**: in markup they are text. What is escaped already stays so.
fn escaped(name: &str) -> String {
    let bare = name.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    bare.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Within single quotes.
fn attribute(address: &str) -> String {
    address.replace('\'', "%27").replace('<', "%3C").replace('>', "%3E")
}

fn best_customers(
    context: &QueryContext,
    call: &mut Call<'_>,
    page: Page,
) -> Result<Vec<Entry>, Stop> {
    let found = customers::best(call, context, page)?;
    let entry = |customer: customers::Customer| Entry {
        id: customer.row.customer_id,
        // Clients know the blank between the names, be there none.
        name: format!("{} {}", customer.row.first_name, customer.row.last_name),
        count: customer.sums.orders,
        amount: customer.sums.spend,
    };
    Ok(found.into_iter().map(entry).collect())
}

fn best_coupons(
    context: &QueryContext,
    call: &mut Call<'_>,
    page: Page,
) -> Result<Vec<Entry>, Stop> {
    Ok(entries(lists::coupons::best(context, call, page)?))
}

fn best_categories(
    context: &QueryContext,
    call: &mut Call<'_>,
    page: Page,
) -> Result<Vec<Entry>, Stop> {
    Ok(entries(lists::categories::best(context, call, page)?))
}

fn best_products(
    context: &QueryContext,
    call: &mut Call<'_>,
    page: Page,
) -> Result<Vec<Entry>, Stop> {
    Ok(entries(lists::products::best(context, call, page)?))
}

fn entries(rows: Vec<(i64, String, i64, i64)>) -> Vec<Entry> {
    let entry = |(id, name, count, amount)| Entry { id, name, count, amount };
    rows.into_iter().map(entry).collect()
}
