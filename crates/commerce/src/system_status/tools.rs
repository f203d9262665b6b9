//! Tools that put things in order. Each does what it says at once, and says what it did.

use std::collections::BTreeSet;
use std::sync::Arc;

use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{Args, CompiledItem, Item, Links, Refusal, Reply, Schema, Stop};
use db::filter::Page;
use frame::action::{memory, write};
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::download_permission::{self, DownloadPermissionFilter, DownloadPermissionRow};
use types::{Capability, Result as StoreResult, Timestamp};

use super::product_lookup;
use crate::common::events;
use crate::managers::{linked, may_view};

/// Download permissions that are looked at in one go.
const PERMISSIONS_PER_PAGE: i64 = 1_000;

/// What a tool does; the text says what came of it.
type Run = fn(&mut Call<'_>) -> StoreResult<String>;

struct Tool {
    id: &'static str,
    name: &'static str,
    action: &'static str,
    about: &'static str,
    run: Run,
}

static TOOLS: &[Tool] = &[
    Tool {
        id: "clear_transients",
        name: "Link previews",
        action: "Clear all",
        about: "Deletes all cached link previews, so that they are fetched again.",
        run: forget_previews,
    },
    Tool {
        id: "clear_expired_transients",
        name: "Expired link previews",
        action: "Clear expired",
        about: "Deletes cached link previews that have expired.",
        run: forget_old_previews,
    },
    Tool {
        id: "clear_expired_download_permissions",
        name: "Download permissions",
        action: "Delete expired",
        about: "Deletes download permissions that have expired or are used up.",
        run: delete_used_permissions,
    },
    Tool {
        id: "regenerate_product_lookup_tables",
        name: "Product lookup tables",
        action: "Regenerate",
        about: "Recalculates prices, sales, stock statuses and ratings of all products.",
        run: refresh_products,
    },
    Tool {
        id: "clear_sessions",
        name: "Sessions",
        action: "Delete expired",
        about: "Deletes expired customer sessions.",
        run: delete_old_sessions,
    },
    Tool {
        id: "verify_db_tables",
        name: "Database",
        action: "Check",
        about: "Verifies that the database has all tables and columns.",
        run: check_database,
    },
];

pub(super) fn routes(namespace: &str) -> [Route<Action>; 2] {
    let item = item();
    let context = Args::new().arg("context", item.context_arg());
    let id = || Args::new().arg("id", Schema::text().about("Tool ID."));
    let update = id().with(item.update_args().without("id"));
    let base = format!("/{namespace}/system_status/tools");
    let [base_of_list, base_of_one, base_of_run] = [base.clone(), base.clone(), base];
    let compiled = || item.compile().expect("the schema is well formed");
    let (item_of_list, item_of_one, item_of_run) = (compiled(), compiled(), compiled());
    let list = move |call: &mut Call<'_>| Ok(Reply::new(list(&item_of_list, call, &base_of_list)));
    let one = move |call: &mut Call<'_>| {
        let tool = find(call)?;
        let body = item_of_one.filter_by_context(body(tool), "view");
        Ok(Reply::new(body).links(links(call, &base_of_one, tool)))
    };
    let run = move |call: &mut Call<'_>| run(&item_of_run, call, &base_of_run);
    [
        Route::at(namespace, "/system_status/tools")
            .on(READ, context, memory(may_view, list))
            .lists()
            .schema(item.document()),
        Route::at(namespace, r"/system_status/tools/(?P<id>[\w-]+)")
            .on(READ, id(), memory(may_view, one))
            .on(EDIT, update, write(may_run, run))
            .schema(item.document()),
    ]
}

fn item() -> Item {
    let (both, edit): (&[&str], &[&str]) = (&["view", "edit"], &["edit"]);
    let text = |about: &str, contexts: &[&str]| Schema::text().about(about).context(contexts);
    Item::new(
        "system_status_tool",
        Schema::object([
            ("id", text("Tool ID.", both)),
            ("name", text("Tool name.", both)),
            ("action", text("Action name.", both)),
            ("description", text("Tool description.", both)),
            ("success", Schema::boolean().about("Whether the tool succeeded.").context(edit)),
            ("message", text("Result message.", edit)),
        ]),
    )
}

fn may_run(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to run tools.";
    call.need(Capability::ManageWoocommerce, "woocommerce_rest_cannot_update", message)
}

fn list(item: &CompiledItem, call: &Call<'_>, base: &str) -> Vec<Value> {
    let context = call.context();
    let body = |tool: &Tool| {
        let body = item.filter_by_context(body(tool), &context);
        linked(body, links(call, base, tool))
    };
    TOOLS.iter().map(body).collect()
}

fn run(item: &CompiledItem, call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let tool = find(call)?;
    let message = (tool.run)(call)?;
    let mut body = body(tool);
    if let Value::Object(members) = &mut body {
        members.insert(String::from("success"), json!(true));
        members.insert(String::from("message"), json!(message));
    }
    let body = item.filter_by_context(body, "edit");
    Ok(Reply::new(body).links(links(call, base, tool)))
}

fn find(call: &Call<'_>) -> Result<&'static Tool, Refusal> {
    let id = call.params.path().get("id").and_then(Value::as_str).unwrap_or_default();
    TOOLS.iter().find(|tool| tool.id == id).ok_or_else(|| {
        let message = "Tool not found.";
        Refusal::new(404, "woocommerce_rest_system_status_tool_invalid_id", message)
    })
}

fn body(tool: &Tool) -> Value {
    let Tool { id, name, action, about, .. } = tool;
    json!({ "id": id, "name": name, "action": action, "description": about })
}

fn links(call: &Call<'_>, base: &str, tool: &Tool) -> Links {
    Links::new().embeddable("item", call.visit.rest(&format!("{base}/{}", tool.id)))
}

fn forget_previews(call: &mut Call<'_>) -> StoreResult<String> {
    let end_of_time = Timestamp::from_micros(i64::MAX);
    let count = site_rows::oembed_cache::prune(call.conn()?, end_of_time)?;
    Ok(format!("Link previews deleted: {count}."))
}

fn forget_old_previews(call: &mut Call<'_>) -> StoreResult<String> {
    let now = call.now();
    let count = site_rows::oembed_cache::prune(call.conn()?, now)?;
    Ok(format!("Link previews deleted: {count}."))
}

fn delete_used_permissions(call: &mut Call<'_>) -> StoreResult<String> {
    let now = call.now();
    let is_used = |permission: &DownloadPermissionRow| {
        permission.remaining.is_some_and(|left| left <= 0)
            || permission.expires.is_some_and(|end| end <= now)
    };
    let (mut kept, mut deleted) = (0, 0_u64);
    let mut orders = BTreeSet::new();
    loop {
        let conn = call.conn()?;
        let page = Page { offset: kept, limit: PERMISSIONS_PER_PAGE };
        let filter = DownloadPermissionFilter { page, ..DownloadPermissionFilter::default() };
        let (permissions, _) = download_permission::list(conn, &filter)?;
        if permissions.is_empty() {
            break;
        }
        for permission in permissions {
            if is_used(&permission) {
                download_permission::delete(conn, permission.permission_id)?;
                orders.insert(permission.order_id);
                deleted += 1;
            } else {
                kept += 1;
            }
        }
    }
    // What was downloaded by them goes as well, and reports follow.
    for order_id in orders {
        events::append(call, "order.downloads_deleted", order_id, &json!({}))?;
    }
    Ok(format!("Download permissions deleted: {deleted}."))
}

fn refresh_products(call: &mut Call<'_>) -> StoreResult<String> {
    let (options, now) = (Arc::clone(&call.visit.options), call.now());
    let (seen, changed) = product_lookup::refresh_all(call.conn()?, &options, now)?;
    Ok(format!("Products checked: {seen}; corrected: {changed}."))
}

fn delete_old_sessions(call: &mut Call<'_>) -> StoreResult<String> {
    let now = call.now();
    let count = site_rows::session::prune(call.conn()?, now)?;
    Ok(format!("Sessions deleted: {count}."))
}

fn check_database(call: &mut Call<'_>) -> StoreResult<String> {
    let tables = db::check_tables(call.conn()?, schema::MIGRATIONS)?;
    Ok(format!("The database is complete: {tables} tables checked."))
}
