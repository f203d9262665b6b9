//! Files that were downloaded, one by one.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::rest::{Args, Links, Reply, Schema, Stop};
use frame::Call;
use serde_json::{Map, Value, json};
use shop_rows::download_permission;
use shop_rows::product::ProductRow;
use site_rows::user;

use super::{Rank, described, linked, page, record, reply, sort};
use crate::calendar::Calendar;
use crate::compat::Beyond;
use crate::context::{QueryContext, ReportContext, seconds, span};
use crate::facts::DownloadFact;
use crate::known;
use crate::query::{
    DateColumn, DownloadSort, Filter, Group, IdSet, Key, Measure, Paging, Query, Span, Table, When,
};
use crate::reports::args;
use crate::reports::stats::downloads::{filter, who_and_where};

pub fn args() -> Args {
    args::dated(1, "date", &["date", "product"])
        .with(args::matching())
        .with(args::ids_or_none("product_includes", "Limit results to files of these products."))
        .with(args::ids_or_none("product_excludes", "Exclude files of these products."))
        .with(who_and_where())
}

pub fn document() -> Value {
    let text = |about: &str| Schema::text().about(about);
    let whole = |about: &str| Schema::integer().about(about);
    // With a blank between day and time.
    let date = |about: &str| Schema::date_time().about(about).shown_as(Schema::text());
    let number = text("What people call the order.");
    let number = number.shown_as(Schema::types(&["string", "integer"]));
    let members = [
        ("id", whole("Download ID.")),
        ("product_id", whole("Product ID.")),
        ("date", date("Date of the download, in the site's time zone.")),
        ("date_gmt", date("Date of the download, in UTC.")),
        ("download_id", text("File ID.")),
        ("file_name", text("File name.")),
        ("file_path", text("Address of the file.")),
        ("order_id", whole("Order ID.")),
        ("order_number", number),
        ("user_id", whole("User ID of the customer.")),
        ("username", text("Username of the customer.")),
        ("ip_address", text("IP address.")),
    ];
    described("report_downloads", members)
}

pub fn list(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let context = reports.query_context(call)?;
    let filter = filter(call, &context)?;
    let span = span(context.range(call));
    let (offset, limit) = page(call);
    let paging = Paging { descending: super::is_descending(call), offset, limit };
    let (downloads, total) = if call.params.text("orderby") == Some("product") {
        by_product(call, &context, span, &filter, paging)?
    } else {
        let sort = DownloadSort::Date;
        let found = context.view.list_downloads(context.scope(), span, &filter, sort, paging)?;
        (found.downloads, found.total)
    };
    let mut bodies = Vec::with_capacity(downloads.len());
    let ids: Vec<i64> = downloads.iter().map(|download| download.product_id).collect();
    let products = known::product_rows(call.conn()?, &ids)?;
    for download in &downloads {
        let product = products.get(&download.product_id);
        let body = body(call, &context.calendar, download, product)?;
        let address = record(call, reports, &format!("/products/{}", download.product_id));
        bodies.push(linked(body, Links::new().embeddable("product", address)));
    }
    let path = format!("{}/reports/downloads", reports.base);
    Ok(reply(call, &path, bodies, total, (&context, Beyond::Forgotten)))
}

/// By the titles of products; within one, by their numbers. Products that are gone have no title
/// and are left out.
fn by_product(
    call: &mut Call<'_>,
    context: &QueryContext,
    span: Span,
    filter: &Filter,
    paging: Paging,
) -> Result<(Vec<Arc<DownloadFact>>, usize), Stop> {
    let query = Query {
        filter: filter.clone(),
        group: Group::Product,
        measures: vec![Measure::Rows(When::Always)],
        ..Query::of(Table::Downloads, DateColumn::Created, span)
    };
    let answer = context.answer(&query)?;
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for row in answer.rows() {
        if let (Key::Id(id), Some(count)) = (row.key, row.values.first()) {
            counts.insert(*id, usize::try_from(*count).unwrap_or_default());
        }
    }
    let ids: Vec<i64> = counts.keys().copied().collect();
    let records = known::product_rows(call.conn()?, &ids)?;
    let mut titles: Vec<(Rank, i64)> =
        records.iter().map(|(id, row)| (Rank::text(&row.name), *id)).collect();
    sort(&mut titles, paging.descending);
    let total = records.keys().filter_map(|id| counts.get(id)).sum();
    let (mut skip, mut rest) = (paging.offset, paging.limit);
    let mut found = Vec::new();
    for (_, product_id) in titles {
        let count = counts.get(&product_id).copied().unwrap_or_default();
        if skip >= count || rest == 0 {
            skip = skip.saturating_sub(count);
            continue;
        }
        let only = Filter::DownloadProduct(IdSet::from_iter([product_id]));
        let paging = Paging { descending: false, offset: skip, limit: rest };
        let filter = filter.clone().and(only);
        let page = context.view.list_downloads(
            context.scope(),
            span,
            &filter,
            DownloadSort::Product,
            paging,
        )?;
        skip = 0;
        rest = rest.saturating_sub(page.downloads.len());
        found.extend(page.downloads);
    }
    Ok((found, total))
}

fn body(
    call: &mut Call<'_>,
    calendar: &Calendar,
    download: &DownloadFact,
    product: Option<&ProductRow>,
) -> Result<Map<String, Value>, Stop> {
    let at = seconds(download.at);
    let permission = download_permission::get(call.conn()?, download.permission_id)?;
    let user_id = permission.map_or(0, |permission| permission.user_id);
    let buyer = if user_id == 0 { None } else { user::get(call.conn()?, user_id)? };
    let (file_name, file_path) = file(call, download, product);
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("id", json!(download.log_id));
    put("date_gmt", json!(Calendar::utc().text(at)));
    put("download_id", json!(download.download_id));
    put("product_id", json!(download.product_id));
    put("order_id", json!(download.order_id));
    put("user_id", json!(user_id));
    put("ip_address", json!(download.ip));
    put("date", json!(calendar.text(at)));
    put("file_name", json!(file_name));
    put("file_path", json!(file_path));
    put("username", json!(buyer.map(|user| user.login).unwrap_or_default()));
    put("order_number", json!(download.order_id));
    Ok(body)
}

/// The name and the address of the file, among those of its product.
fn file(
    call: &Call<'_>,
    download: &DownloadFact,
    product: Option<&ProductRow>,
) -> (String, String) {
    let details = product.map(|row| row.details.as_str()).unwrap_or_default();
    let details: Value = serde_json::from_str(details).unwrap_or_default();
    let files = details.get("downloads").and_then(Value::as_array);
    let is_it = |file: &&Value| {
        file.get("id").and_then(Value::as_str) == Some(download.download_id.as_str())
    };
    let address = files
        .into_iter()
        .flatten()
        .find(is_it)
        .and_then(|file| file.get("file").and_then(Value::as_str))
        .unwrap_or_default();
    let address =
        if address.starts_with('/') { call.visit.page(address) } else { address.to_owned() };
    let name = address.rsplit('/').next().unwrap_or_default();
    (name.split('?').next().unwrap_or_default().to_owned(), address)
}
