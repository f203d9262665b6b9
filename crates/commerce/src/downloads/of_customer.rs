//! The files that a customer may download now: paid for, neither expired nor used up.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Refusal, Reply, Schema, Stop, form};
use db::filter::{Direction, PAGE_MAX, Page};
use frame::action::read;
use frame::{Action, Call, Names};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use shop_rows::download_permission::{self, DownloadPermissionFilter, DownloadPermissionRow};
use shop_rows::{order, product};
use types::{Capability, Error};

use crate::common::moments;
use crate::common::version::Version;
use crate::managers::linked;
use crate::orders;

const VIEW: &[&str] = &["view"];
const NEVER: &str = "never";
const UNLIMITED: &str = "unlimited";

/// What is read of a product.
#[derive(Debug)]
struct Goods {
    name: String,
    files: Vec<File>,
}

#[derive(Clone, Debug, Deserialize)]
struct File {
    id: String,
    name: String,
    #[serde(rename = "file")]
    address: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    downloads: Vec<File>,
}

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let versions = [Version::One, Version::Two, Version::Three];
    versions.map(|version| route(version, version.namespace(names))).into()
}

fn route(version: Version, namespace: &str) -> Route<Action> {
    let item = item(version);
    let customer = Schema::integer().about("Customer ID.");
    let args = Args::new().arg("customer_id", customer).arg("context", item.context_arg());
    let base = format!("/{namespace}");
    let list = move |call: &mut Call<'_>| list(version, call, &base);
    Route::at(namespace, r"/customers/(?P<customer_id>[\d]+)/downloads")
        .on(READ, args, read(may_list, list))
        .lists()
        .schema(item.document())
}

fn item(version: Version) -> Item {
    let shown = |schema: Schema, about: &str| schema.about(about).context(VIEW).readonly();
    let text = |about: &str| shown(Schema::text(), about);
    let file = Schema::object([("name", text("File name.")), ("file", text("File URL."))]);
    let mut fields = vec![
        ("download_id", text("Download ID.")),
        ("download_url", text("Download URL.")),
        ("product_id", shown(Schema::integer(), "Product ID.")),
    ];
    if version != Version::One {
        fields.push(("product_name", text("Product name.")));
    }
    fields.push(("download_name", text("File name.")));
    fields.push(("order_id", shown(Schema::integer(), "Order ID.")));
    fields.push(("order_key", text("Order key.")));
    fields.push(("downloads_remaining", text("Number of downloads remaining.")));
    fields.push(("access_expires", text("Expiry date, in the site's time zone.")));
    if version != Version::One {
        fields.push(("access_expires_gmt", text("Expiry date, in GMT.")));
    }
    fields.push(("file", shown(file, "File details.")));
    Item::new("customer_download", Schema::object(fields))
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let user_id = call.params.int("customer_id").unwrap_or_default();
    if site_rows::user::get(call.conn()?, user_id)?.is_none() {
        let message = "Customer not found.";
        return Err(Refusal::new(404, "woocommerce_rest_customer_invalid", message).into());
    }
    let message = "You are not allowed to view customers' downloads.";
    call.need(Capability::ListUsers, "woocommerce_rest_cannot_view", message)
}

fn list(version: Version, call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let user_id = call.params.int("customer_id").unwrap_or_default();
    let own = of_user(call, user_id)?.into_iter().map(|download| {
        let permission = &download.permission;
        let body = body(version, call, &download);
        let links = Links::new()
            .to("collection", call.visit.rest(&format!("{base}/customers/{user_id}/downloads")))
            .to("product", call.visit.rest(&format!("{base}/products/{}", permission.product_id)))
            .to("order", call.visit.rest(&format!("{base}/orders/{}", permission.order_id)));
        linked(body, links)
    });
    Ok(Reply::new(own.collect::<Vec<Value>>()))
}

/// A file that somebody may download now.
#[derive(Clone, Debug)]
pub struct Download {
    pub permission: DownloadPermissionRow,
    pub product_name: String,
    pub file_name: String,
    /// Where the file is.
    pub(super) address: String,
}

impl Download {
    /// The path by which it is downloaded.
    pub fn path(&self) -> String {
        let permission = &self.permission;
        let query = Map::from_iter(
            [
                ("download_file", json!(permission.product_id)),
                ("order", json!(permission.order_key)),
                ("email", json!(permission.user_email)),
                ("key", json!(permission.download_id)),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        format!("/?{}", form::encode(&query))
    }
}

/// What the user may download now.
pub fn of_user(call: &mut Call<'_>, user_id: i64) -> Result<Vec<Download>, Stop> {
    let filter =
        DownloadPermissionFilter { users: vec![user_id], ..DownloadPermissionFilter::default() };
    usable(call, filter)
}

/// What the permissions that match and count now are for.
pub(super) fn usable(
    call: &mut Call<'_>,
    filter: DownloadPermissionFilter,
) -> Result<Vec<Download>, Stop> {
    let mut known: HashMap<i64, Option<Goods>> = HashMap::new();
    let mut downloads = Vec::new();
    for permission in permissions(call, filter)? {
        let product_id = permission.product_id;
        let goods = match known.entry(product_id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(goods(call, product_id)?),
        };
        let Some(goods) = goods else { continue };
        let file = goods.files.iter().find(|file| file.id == permission.download_id);
        let Some(file) = file.cloned() else { continue };
        let product_name = goods.name.clone();
        let (file_name, address) = (file.name, file.address);
        downloads.push(Download { permission, product_name, file_name, address });
    }
    Ok(downloads)
}

/// The permissions that match and count now: their orders grant what was bought.
fn permissions(
    call: &mut Call<'_>,
    filter: DownloadPermissionFilter,
) -> Result<Vec<DownloadPermissionRow>, Stop> {
    let filter = DownloadPermissionFilter {
        usable_at: Some(call.now()),
        direction: Direction::Ascending,
        page: Page { offset: 0, limit: PAGE_MAX },
        ..filter
    };
    let (mut permissions, _) = download_permission::list(call.conn()?, &filter)?;
    let mut order_ids: Vec<i64> = permissions.iter().map(|row| row.order_id).collect();
    order_ids.dedup();
    let found = order::get_many(call.conn()?, &order_ids)?;
    let statuses: HashMap<i64, String> =
        found.into_iter().map(|order| (order.row.order_id, order.row.status)).collect();
    let options = call.options();
    permissions.retain(|permission| {
        let status = statuses.get(&permission.order_id);
        status.is_some_and(|status| orders::is_granted(options, status))
    });
    Ok(permissions)
}

fn goods(call: &mut Call<'_>, product_id: i64) -> Result<Option<Goods>, Stop> {
    let Some(row) = product::get(call.conn()?, product_id)? else { return Ok(None) };
    let details: Details = serde_json::from_str(&row.details)
        .map_err(|error| Error::internal("cannot read a product's details").because(error))?;
    let mut files = details.downloads;
    for file in files.iter_mut().filter(|file| file.address.starts_with('/')) {
        file.address = call.visit.page(&file.address);
    }
    Ok(Some(Goods { name: row.name, files }))
}

fn body(version: Version, call: &Call<'_>, download: &Download) -> Value {
    let permission = &download.permission;
    let remaining = permission.remaining.map(|count| count.to_string());
    let [expires, expires_gmt] = moments::pair(call.options(), permission.expires);
    let or_never = |moment: Value| if moment.is_null() { json!(NEVER) } else { moment };
    let mut body = json!({
        "download_id": permission.download_id,
        "download_url": call.visit.page(&download.path()),
        "product_id": permission.product_id,
        "product_name": download.product_name,
        "download_name": download.file_name,
        "order_id": permission.order_id,
        "order_key": permission.order_key,
        "downloads_remaining": remaining.unwrap_or_else(|| UNLIMITED.to_owned()),
        "access_expires": or_never(expires),
        "access_expires_gmt": or_never(expires_gmt),
        "file": { "name": download.file_name, "file": download.address },
    });
    if let (Version::One, Value::Object(members)) = (version, &mut body) {
        members.shift_remove("product_name");
        members.shift_remove("access_expires_gmt");
    }
    body
}
