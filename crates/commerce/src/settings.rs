//! The shop's settings over REST, in groups. A setting is an option of the site with a type, so a
//! change here changes what the shop does from the next request on.
//!
//! The versions differ a little, and [`Version`] says how.

mod choices;
mod item;
mod table;

use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{Args, Links, Refusal, Reply, Schema, Stop, Treatment};
use frame::action::{memory, read, write};
use frame::{Action, Call, Names, Options};
use serde_json::{Map, Value, json};

use self::table::{GROUPS, Group, Setting};
use crate::managers::{linked, may_edit, may_view};
use crate::resource::ITEMS_MAX;
use crate::setting_types::{self, SettingType};

/// What distinguishes the namespaces.
#[derive(Clone, Debug)]
struct Version {
    namespace: String,
    /// Lists the groups.
    has_groups: bool,
    /// Changes settings of several groups at once.
    has_batch: bool,
    /// Tells the group of a setting, and offers the choice of pages.
    is_current: bool,
}

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let version = |namespace: &str, has_groups, has_batch, is_current| Version {
        namespace: namespace.to_owned(),
        has_groups,
        has_batch,
        is_current,
    };
    let versions = [
        version(&names.commerce_v2, true, false, false),
        version(&names.commerce_v3, true, true, true),
        version(&names.analytics, false, false, true),
    ];
    versions.iter().flat_map(routes_of).collect()
}

fn routes_of(version: &Version) -> Vec<Route<Action>> {
    macro_rules! of_version {
        ($operation:path) => {{
            let version = version.clone();
            move |call: &mut Call<'_>| $operation(&version, call)
        }};
    }
    let namespace = &version.namespace;
    let group = || Args::new().arg("group", Schema::text().about("Group ID."));
    let value = |args: Args| args.treated("value", item::value_schema(), Treatment::None);
    let id = || Schema::text().about("Setting ID.");
    let document = item::setting().document();
    let mut routes = Vec::new();
    if version.has_groups {
        let version = version.clone();
        let list = move |call: &mut Call<'_>| Ok(Reply::new(list_groups(&version, call)));
        let list = memory(may_view, list);
        let route = Route::at(namespace, "/settings").on(READ, Args::new(), list).lists();
        routes.push(route.schema(item::group().document()));
    }
    if version.has_batch {
        let batch = write(may_edit, of_version!(batch));
        routes.push(
            Route::at(namespace, "/settings/batch")
                .on(EDIT, Args::new(), batch)
                .batches(document.clone()),
        );
    }
    routes.push(
        Route::at(namespace, r"/settings/(?P<group_id>[\w-]+)")
            .on(READ, group(), read(may_view, of_version!(list)))
            .lists()
            .schema(document.clone()),
    );
    routes.push(
        Route::at(namespace, r"/settings/(?P<group_id>[\w-]+)/batch")
            .on(EDIT, value(group()), write(may_edit, of_version!(batch_of_group)))
            .batches(document.clone()),
    );
    routes.push(
        Route::at(namespace, r"/settings/(?P<group_id>[\w-]+)/(?P<id>[\w-]+)")
            .on(READ, group().arg("id", id()), read(may_view, of_version!(get)))
            .on(EDIT, value(group().arg("id", id())), write(may_edit, of_version!(update)))
            .schema(document),
    );
    routes
}

fn list_groups(version: &Version, call: &Call<'_>) -> Vec<Value> {
    let sub_groups = |group: &Group| -> Vec<&str> {
        let parts = GROUPS.iter().filter(|part| part.parent == group.id);
        parts.map(|part| &*part.id).collect()
    };
    let item = |group: &Group| {
        let href = call.visit.rest(&format!("/{}/settings/{}", version.namespace, group.id));
        let body = json!({
            "id": group.id,
            "label": group.label,
            "description": group.about,
            "parent_id": group.parent,
            "sub_groups": sub_groups(group),
        });
        linked(body, Links::new().to("options", href))
    };
    GROUPS.iter().map(item).collect()
}

fn list(version: &Version, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let group = group_of(path_text(call, "group_id"))?;
    let options = Options::read(call.conn()?)?;
    let mut items = Vec::new();
    for setting in group.settings.iter().filter(|setting| offers(version, setting)) {
        let body = item::body(call, &options, setting)?;
        items.push(linked(body, links(version, call, group, setting)));
    }
    Ok(Reply::new(items))
}

fn get(version: &Version, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (group, setting) = find(version, path_text(call, "group_id"), path_text(call, "id"))?;
    reply(version, call, group, setting)
}

fn update(version: &Version, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (group, setting) = find(version, path_text(call, "group_id"), path_text(call, "id"))?;
    let value = call.params.get("value").cloned().unwrap_or_default();
    set(call, setting, &value)?;
    reply(version, call, group, setting)
}

/// Changes settings of one group. Where there is something to change, all else is passed over.
fn batch_of_group(version: &Version, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let group_id = path_text(call, "group_id").to_owned();
    let mut batch = batch_items(call);
    if !batch.update.is_empty() {
        (batch.create, batch.delete) = (Vec::new(), Vec::new());
    }
    for item in batch.update.iter_mut().filter_map(Value::as_object_mut) {
        item.entry("group_id").or_insert_with(|| json!(group_id));
    }
    run_batch(version, call, batch)
}

fn batch(version: &Version, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let batch = batch_items(call);
    run_batch(version, call, batch)
}

/// The items of a batch request.
struct BatchRequest {
    create: Vec<Value>,
    update: Vec<Value>,
    delete: Vec<Value>,
}

fn batch_items(call: &Call<'_>) -> BatchRequest {
    let items = |name: &str| match call.params.get(name) {
        Some(Value::Array(items)) => items.clone(),
        Some(Value::Object(members)) => members.values().cloned().collect(),
        _ => Vec::new(),
    };
    BatchRequest { create: items("create"), update: items("update"), delete: items("delete") }
}

/// Settings can be changed, and neither made nor deleted. A change that is refused leaves the
/// others alone.
fn run_batch(version: &Version, call: &mut Call<'_>, batch: BatchRequest) -> Result<Reply, Stop> {
    if batch.create.len() + batch.update.len() + batch.delete.len() > ITEMS_MAX {
        let message = format!("A batch must have at most {ITEMS_MAX} items.");
        let code = "woocommerce_rest_request_entity_too_large";
        return Err(Refusal::new(413, code, message).into());
    }
    let fixed = || {
        let message = "Settings can only be updated; send them in update.";
        Refusal::new(405, "invalid-method", message)
    };
    let failed = |id: Value, refusal: &Refusal| json!({ "id": id, "error": refusal.body() });
    let mut results = Map::new();
    let created: Vec<Value> = batch.create.iter().map(|_| failed(json!(0), &fixed())).collect();
    let mut updated = Vec::new();
    for item in batch.update.iter().filter_map(Value::as_object) {
        updated.push(match update_one(version, call, item) {
            Ok(reply) => reply.into_json().2,
            Err(Stop::Refused(refusal)) => {
                failed(item.get("id").cloned().unwrap_or_default(), &refusal)
            }
            Err(failure) => return Err(failure),
        });
    }
    let ids = batch.delete.iter().map(contract::rest::loose::to_int).filter(|id| *id != 0);
    let deleted: Vec<Value> = ids.map(|id| failed(json!(id), &fixed())).collect();
    for (name, list) in [("create", created), ("update", updated), ("delete", deleted)] {
        if !list.is_empty() {
            results.insert(name.to_owned(), Value::Array(list));
        }
    }
    Ok(Reply::new(if results.is_empty() { json!([]) } else { Value::Object(results) }))
}

fn update_one(
    version: &Version,
    call: &mut Call<'_>,
    item: &Map<String, Value>,
) -> Result<Reply, Stop> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
    let (group, setting) = find(version, text("group_id"), text("id"))?;
    set(call, setting, item.get("value").unwrap_or(&Value::Null))?;
    reply(version, call, group, setting)
}

fn set(call: &mut Call<'_>, setting: &Setting, value: &Value) -> Result<(), Stop> {
    let options = Options::read(call.conn()?)?;
    let offered = choices::of(call, setting.offers)?;
    let default = item::default(&options, setting);
    let value = setting_types::accept(setting.kind, value, &offered, default.as_ref())?;
    check_bounds(&setting.id, &value)?;
    item::keep(call, setting, &value)
}

/// Amounts are kept in millionths, so prices have no more decimals than that.
const DECIMALS_MAX: u32 = 6;

fn check_bounds(id: &str, value: &Value) -> Result<(), Refusal> {
    if id != "woocommerce_price_num_decimals" {
        return Ok(());
    }
    let decimals = value.as_str().unwrap_or_default().parse::<u32>();
    if decimals.is_ok_and(|decimals| decimals <= DECIMALS_MAX) {
        Ok(())
    } else {
        Err(setting_types::invalid())
    }
}

fn reply(
    version: &Version,
    call: &mut Call<'_>,
    group: &Group,
    setting: &Setting,
) -> Result<Reply, Stop> {
    let options = Options::read(call.conn()?)?;
    let mut body = item::body(call, &options, setting)?;
    if let (true, Value::Object(members)) = (version.is_current, &mut body) {
        members.insert(String::from("group_id"), json!(group.id));
    }
    Ok(Reply::new(body).links(links(version, call, group, setting)))
}

fn links(version: &Version, call: &Call<'_>, group: &Group, setting: &Setting) -> Links {
    let base = format!("/{}/settings/{}", version.namespace, group.id);
    Links::new()
        .to("self", call.visit.rest(&format!("{base}/{}", setting.id)))
        .to("collection", call.visit.rest(&base))
}

/// The variable of the path: a parameter of the same name elsewhere does not count.
fn path_text<'c>(call: &'c Call<'_>, name: &str) -> &'c str {
    call.params.path().get(name).and_then(Value::as_str).unwrap_or_default()
}

fn offers(version: &Version, setting: &Setting) -> bool {
    version.is_current || setting.kind != SettingType::Page
}

fn group_of(id: &str) -> Result<&'static Group, Refusal> {
    GROUPS.iter().find(|group| group.id == id).ok_or_else(|| {
        let message = "Settings group not found.";
        Refusal::new(404, "rest_setting_setting_group_invalid", message)
    })
}

fn find(
    version: &Version,
    group_id: &str,
    id: &str,
) -> Result<(&'static Group, &'static Setting), Refusal> {
    let group = group_of(group_id)?;
    let mut offered = group.settings.iter().filter(|setting| offers(version, setting));
    let found = offered.find(|setting| setting.id == id);
    let invalid = || {
        let message = "Setting not found.";
        Refusal::new(404, "rest_setting_setting_invalid", message)
    };
    Ok((group, found.ok_or_else(invalid)?))
}
