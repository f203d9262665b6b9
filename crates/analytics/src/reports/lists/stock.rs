//! What is in stock, product by product, and how much of it in all.

use contract::rest::args::id_list;
use contract::rest::{Args, Item, Links, Reply, Schema, Stop, Treatment};
use db::filter::{Direction, Page};
use frame::paging::with_totals;
use frame::{Call, Options};
use serde_json::{Map, Value, json};
use shop_rows::product::{self, LowStock, ProductFilter, ProductOrder, ProductRow};
use types::{Amount, Capability};

use super::{described, linked, page, record};
use crate::columns::number;
use crate::context::{ReportContext, may_view_all};
use crate::reports::args;

const INSTOCK: &str = "instock";
const STATUSES: [&str; 3] = [INSTOCK, "outofstock", "onbackorder"];
const LOW: &str = "lowstock";
/// Whoever has set no threshold is told of the last piece.
const THRESHOLD_MIN: i64 = 1;

pub fn args() -> Args {
    let columns = ["stock_status", "stock_quantity", "date", "id", "include", "title", "sku"];
    let ids = |args: Args, name: &str, about: &str| {
        let schema = Schema::list(Schema::integer()).default(Vec::<i64>::new()).about(about);
        args.treated(name, schema, Treatment::Own(id_list))
    };
    let kinds: Vec<&str> = ["all", LOW].into_iter().chain(STATUSES).collect();
    let kind = Schema::text()
        .default("all")
        .choices(&kinds)
        .about("Limit results to this type of product.");
    let base = args::context()
        .with(args::paging(1, args::PER_PAGE, args::PER_PAGE_MAX))
        .with(args::order("asc", "stock_status", &columns));
    let base = ids(base, "exclude", "Exclude these products.");
    let base = ids(base, "include", "Limit results to these products.");
    let base = base.arg("offset", Schema::integer().about("Number of rows to skip."));
    let base = ids(base, "parent", "Limit results to variations of these products.");
    let base = ids(base, "parent_exclude", "Exclude variations of these products.");
    base.arg("type", kind)
}

pub fn document() -> Value {
    let text = |about: &str| Schema::text().about(about);
    let members = [
        ("id", Schema::integer().about("Product or variation ID.")),
        ("parent_id", Schema::integer().about("Parent product ID.")),
        ("name", text("Product name.")),
        ("sku", text("SKU.")),
        ("stock_status", Schema::text().choices(&STATUSES).about("Stock status.")),
        ("stock_quantity", Schema::integer().about("How many there are.")),
        ("manage_stock", Schema::boolean().about("Whether stock is tracked.")),
    ];
    described("report_stock", members)
}

pub fn list(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    may_view_all(call)?;
    let wanted = filter(call);
    let (found, total) = product::list(call.conn()?, &wanted)?;
    let parents: Vec<i64> = found.iter().map(|row| row.parent_id).filter(|id| *id != 0).collect();
    let parents = crate::known::product_rows(call.conn()?, &parents)?;
    let bodies = found.iter().map(|row| {
        let address = |path: String| record(call, reports, &path);
        let (id, parent) = (row.product_id, row.parent_id);
        let links = match parent {
            0 => Links::new().to("product", address(format!("/products/{id}"))),
            _ => Links::new()
                .to("product", address(format!("/products/{parent}/variations/{id}")))
                .to("parent", address(format!("/products/{parent}"))),
        };
        linked(body(call.options(), row, parents.get(&row.parent_id)), links)
    });
    let bodies: Vec<Value> = bodies.collect();
    let path = format!("{}/reports/stock", reports.base);
    Ok(with_totals(Reply::new(bodies), call, &path, total))
}

fn filter(call: &Call<'_>) -> ProductFilter {
    let params = &call.params;
    let ids = |name: &str| params.ints(name).into_iter().filter(|id| *id != 0).collect();
    let (offset, limit) = page(call);
    let offset = params.int("offset").unwrap_or_else(|| i64::try_from(offset).unwrap_or(i64::MAX));
    let kind = params.text("type").unwrap_or("all");
    let (low_stock, stock_statuses) = match kind {
        "all" => (None, Vec::new()),
        LOW => (Some(low(call.options())), vec![INSTOCK.to_owned()]),
        status => (None, vec![status.to_owned()]),
    };
    ProductFilter {
        statuses: readable(call),
        // What is no id is no product's.
        include: params.ints("include"),
        exclude: ids("exclude"),
        // Products have no parent, which a 0 stands for.
        parents: params.ints("parent"),
        parents_exclude: params.ints("parent_exclude"),
        low_stock,
        stock_statuses,
        order: match params.text("orderby") {
            Some("stock_quantity") => ProductOrder::StockQuantity,
            Some("date") => ProductOrder::Date,
            Some("id") => ProductOrder::Id,
            Some("include") => ProductOrder::Include,
            Some("title") => ProductOrder::Title,
            Some("sku") => ProductOrder::Sku,
            _ => ProductOrder::StockStatus,
        },
        // The order of `include` has no other direction.
        direction: match (params.text("order"), params.text("orderby")) {
            (Some("desc"), Some("include")) if !params.ints("include").is_empty() => {
                Direction::Ascending
            }
            (Some("desc"), _) => Direction::Descending,
            _ => Direction::Ascending,
        },
        page: Page { offset: offset.max(0), limit: i64::try_from(limit).unwrap_or(0) },
        ..ProductFilter::default()
    }
}

/// The statuses of products that the caller may read.
fn readable(call: &Call<'_>) -> Vec<String> {
    let private = call.can(Capability::ReadPrivateProducts).then_some("private");
    ["publish"].into_iter().chain(private).map(str::to_owned).collect()
}

/// Few are left, and not none.
fn low(options: &Options) -> LowStock {
    let none = options.integer("woocommerce_notify_no_stock_amount");
    LowStock {
        threshold: Amount::from_whole(threshold(options)),
        above: Some(Amount::from_whole(none)),
    }
}

fn threshold(options: &Options) -> i64 {
    options.integer("woocommerce_notify_low_stock_amount").max(THRESHOLD_MIN)
}

fn body(options: &Options, row: &ProductRow, parent: Option<&ProductRow>) -> Map<String, Value> {
    let own = row.low_stock_amount.map(Amount::to_whole);
    let of_parent = parent.is_some_and(|parent| parent.manage_stock) && !row.manage_stock;
    let counted = if of_parent { parent.unwrap_or(row) } else { row };
    let quantity = counted.stock_quantity.map_or(0.0, Amount::to_f64);
    let manage = if of_parent { json!("parent") } else { json!(row.manage_stock) };
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("id", json!(row.product_id));
    put("parent_id", json!(row.parent_id));
    put("name", json!(row.name));
    // A variation without a SKU is known by that of its product.
    let sku = parent.map(|parent| &parent.sku).filter(|_| row.sku.is_empty());
    put("sku", json!(sku.unwrap_or(&row.sku)));
    put("stock_status", json!(row.stock_status));
    put("stock_quantity", number(quantity));
    put("manage_stock", manage);
    put("low_stock_amount", json!(own.unwrap_or_else(|| threshold(options))));
    body
}

pub fn stats_document() -> Value {
    let shown =
        |schema: Schema, about: &str| schema.about(about).context(&["view", "edit"]).readonly();
    let names = ["products", LOW].into_iter().chain(STATUSES);
    let count = |name| (name, shown(Schema::integer(), "Number of products."));
    let totals = shown(Schema::object(names.map(count)), "Stock quantity.");
    Item::new("report_stock_stats", Schema::object([("totals", totals)])).document()
}

/// How many products there are of each status, and of how many few are left.
pub fn stats(_: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    may_view_all(call)?;
    let page = Page { offset: 0, limit: 0 };
    let shown = || ProductFilter {
        statuses: ["publish", "private"].map(str::to_owned).into(),
        page,
        ..ProductFilter::default()
    };
    let few = ProductFilter {
        low_stock: Some(low(call.options())),
        stock_statuses: vec![INSTOCK.to_owned()],
        ..shown()
    };
    let mut totals = Map::new();
    let (_, lowstock) = product::list(call.conn()?, &few)?;
    totals.insert(LOW.to_owned(), json!(lowstock));
    for status in STATUSES {
        let of_status = ProductFilter { stock_statuses: vec![status.to_owned()], ..shown() };
        let (_, count) = product::list(call.conn()?, &of_status)?;
        totals.insert(status.to_owned(), json!(count));
    }
    let (_, all) = product::list(call.conn()?, &shown())?;
    totals.insert(String::from("products"), json!(all));
    Ok(Reply::new(json!({ "totals": totals })))
}
