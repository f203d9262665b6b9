//! What people wrote about products, as far as the shop approved it.

use std::collections::HashMap;

use commerce::common::{args, moments, paging};
use commerce::products::{ProductRecord, address};
use contract::rest::args::{absint, id_list};
use contract::rest::route::{READ, Route};
use contract::rest::{Args, Reply, Schema, Stop, Treatment};
use db::filter::Direction;
use frame::action::{anyone, read};
use frame::paging::with_totals;
use frame::text::render;
use frame::users::avatar_urls;
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::product::{self, ProductFilter};
use shop_rows::review::{self, ReviewFilter, ReviewOrder, ReviewRow};
use site_rows::term;

use crate::products::context;
use crate::{images, schemas};

const ORDERS: &[&str] = &["date", "date_gmt", "id", "rating", "product"];
const APPROVED: &str = "approved";
/// An id that nothing has.
const NOBODY: i64 = 0;

pub(crate) fn route(namespace: &str) -> Route<Action> {
    let item = schemas::item("product_review", include_str!("schemas/review.txt"));
    let base = format!("/{namespace}/products/reviews");
    let text = |about: &str| Schema::text().about(about);
    let args = Args::new()
        .arg("context", context(&["view", "edit"]))
        .with(args::paging())
        .treated(
            "offset",
            Schema::integer().about("Number of reviews to skip."),
            Treatment::Own(absint),
        )
        .arg("order", text("Sort order.").default("desc").choices(&["asc", "desc"]))
        .arg("orderby", text("Field to sort by.").default("date").choices(ORDERS))
        .treated(
            "category_id",
            text("Limit results to products of these categories."),
            Treatment::Own(id_list),
        )
        .treated("product_id", text("Limit results to these products."), Treatment::Own(id_list));
    Route::at(namespace, "/products/reviews")
        .on(READ, args, read(anyone, move |call| list(call, &base)))
        .schema(item.document())
        .batchable()
}

fn list(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let params = &call.params;
    let direction = match params.text("order") {
        Some("asc") => Direction::Ascending,
        _ => Direction::Descending,
    };
    let order = match params.text("orderby").unwrap_or("date") {
        "id" => ReviewOrder::Id,
        "rating" => ReviewOrder::Rating,
        "product" => ReviewOrder::Product,
        _ => ReviewOrder::Date,
    };
    let mut wanted = ReviewFilter {
        statuses: vec![APPROVED.to_owned()],
        of_published: true,
        order,
        direction,
        page: paging::page(call),
        ..ReviewFilter::default()
    };
    if params.get("product_id").is_some() {
        wanted.products = params.ints("product_id");
        if wanted.products.is_empty() {
            wanted.products = vec![NOBODY];
        }
    }
    let categories = params.ints("category_id");
    let mut known = Vec::new();
    for id in categories {
        known.extend(term::get(call.conn()?, id)?.map(|row| row.term_id));
    }
    // Categories that there are not narrow nothing.
    wanted.terms = term::with_descendants(call.conn()?, &known)?;
    let (rows, total) = review::list(call.conn()?, &wanted)?;
    let products = products(call, &rows)?;
    let items = rows.iter().filter_map(|row| {
        let product = products.get(&row.product_id);
        // What has a password is not talked about before those who do not know it.
        let lock = product.map(ProductRecord::lock).unwrap_or_default();
        call.site.is_open_to(call.visit, &lock).then(|| body(call, row, product))
    });
    let reply = crate::products::kept_apart(call, Reply::new(items.collect::<Vec<Value>>()));
    Ok(with_totals(reply, call, base, total))
}

/// What the reviews are about, as far as it is published.
fn products(call: &mut Call<'_>, rows: &[ReviewRow]) -> Result<HashMap<i64, ProductRecord>, Stop> {
    if rows.is_empty() {
        return Ok(HashMap::new());
    }
    let include = rows.iter().map(|row| row.product_id).collect();
    let wanted = ProductFilter { include, ..crate::products::published() };
    let mut products = HashMap::new();
    for row in product::list(call.conn()?, &wanted)?.0 {
        products.insert(row.product_id, ProductRecord::of_row(row)?);
    }
    let mut images: Vec<_> = products.values_mut().map(|one| &mut one.details.images).collect();
    commerce::pictures::refresh(call.conn()?, &mut images)?;
    Ok(products)
}

fn body(call: &Call<'_>, row: &ReviewRow, product: Option<&ProductRecord>) -> Value {
    let [local, gmt] = moments::pair(call.options(), Some(row.created));
    let name = product.map(|product| render::title(&product.row.name));
    let permalink = product.map(|product| address::of_row(call.visit, &product.row));
    let image = product.and_then(|product| product.details.images.first());
    json!({
        "id": row.review_id,
        "date_created": local,
        "formatted_date_created": frame::dates::long(call.options(), row.created),
        "date_created_gmt": gmt,
        "product_id": row.product_id,
        "product_name": name.unwrap_or_default(),
        "product_permalink": permalink.unwrap_or_default(),
        "product_image": image.map(|image| images::shown(call.visit, image)),
        "reviewer": row.reviewer,
        "review": render::paragraphs(&row.review),
        "rating": row.rating,
        "verified": row.verified,
        "reviewer_avatar_urls": avatar_urls(&row.email),
    })
}
