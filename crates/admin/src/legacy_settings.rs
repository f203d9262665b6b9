//! A page of the shop's settings as one form: what is on it, and saving what was filled in.
//!
//! A tab is a group of settings; each field is saved by the route of that setting, which checks it.
//! **Nothing is saved unless all of it fits**, and only for a form of one of our own pages.

use contract::rest::route::{EDIT, Route, Verb};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop};
use frame::action::write;
use frame::auth::nonce;
use frame::{Action, Call, Names};
use serde_json::{Map, Value, json};
use types::Capability;

use crate::notices::with_holder;

const TAB_USUAL: &str = "general";
/// Names under which forms carry their token.
const NONCES: [&str; 2] = ["_wpnonce", "_ajax_nonce"];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let commerce = names.commerce_v3.clone();
    let save = move |call: &mut Call<'_>| save(call, &commerce);
    let text = |about: &str| Schema::text().about(about);
    let args = Args::new()
        .arg("tab", text("Settings group.").default(TAB_USUAL))
        .arg("section", text("Section of the group.").default(""));
    let route = Route::at(&names.admin, "/legacy-settings");
    vec![route.on(EDIT, args, write(may_manage, save)).schema(item().document())]
}

/// What a saved page is answered with.
fn item() -> Item {
    let text = |about: &str| Schema::text().about(about).context(&["view"]).readonly();
    let map = |about: &str| Schema::map().about(about).context(&["view"]).readonly();
    let data = Schema::object([
        ("settingsScripts", map("Scripts of the page, by settings group.")),
        ("settingsData", map("The settings groups with their sections, and a new token.")),
    ]);
    Item::new(
        "legacy_settings",
        Schema::object([
            ("status", text("Result of the request.")),
            ("data", data.about("The page after the change.").context(&["view"]).readonly()),
        ]),
    )
}

fn may_manage(call: &mut Call<'_>) -> Result<(), Stop> {
    call.need(Capability::ManageWoocommerce, "rest_forbidden", "You are not allowed to do that.")
}

fn save(call: &mut Call<'_>, commerce: &str) -> Result<Reply, Stop> {
    if !has_token(call) {
        let message = "The page has expired; reload it and try again.";
        return Err(Refusal::new(403, "woocommerce_settings_invalid_nonce", message).into());
    }
    let tab = call.params.text("tab").unwrap_or(TAB_USUAL).to_owned();
    let base = format!("/{commerce}/settings/{tab}");
    let settings = call.ask(Verb::Get, &base, Map::new())?;
    let ids: Vec<String> = ids_of(&settings).map(str::to_owned).collect();
    let form = call.params.sources().form.clone();
    let is_saved = form.get("save").and_then(Value::as_str).is_some_and(|save| !save.is_empty());
    for id in ids.iter().filter(|id| is_saved && form.contains_key(*id)) {
        let value = form.get(id).cloned().unwrap_or_default();
        let body = Map::from_iter([(String::from("value"), value)]);
        call.ask(Verb::Put, &format!("{base}/{id}"), body)?;
    }
    let groups = call.ask(Verb::Get, &format!("/{commerce}/settings"), Map::new())?;
    let settings = call.ask(Verb::Get, &base, Map::new())?;
    Ok(Reply::new(page(call, &tab, &groups, &settings)))
}

fn ids_of(settings: &Value) -> impl Iterator<Item = &str> {
    let items = settings.as_array().into_iter().flatten();
    items.filter_map(|setting| setting.get("id")?.as_str())
}

fn has_token(call: &Call<'_>) -> bool {
    let given = NONCES.iter().find_map(|name| call.params.text(name)).unwrap_or_default();
    let (vault, now) = (call.site.vault(), call.now());
    with_holder(call, |holder| nonce::is_valid(vault, nonce::REST, holder, now, given))
}

/// What the page is made of, with a fresh token for its next form.
fn page(call: &Call<'_>, tab: &str, groups: &Value, settings: &Value) -> Value {
    let (vault, now) = (call.site.vault(), call.now());
    let token = with_holder(call, |holder| nonce::make(vault, nonce::REST, holder, now));
    let found = groups
        .as_array()
        .into_iter()
        .flatten()
        .find(|group| group.get("id").and_then(Value::as_str) == Some(tab));
    let label = found.and_then(|group| group.get("label")).cloned().unwrap_or_default();
    let section = json!({ "label": label, "settings": settings });
    let page = json!({
        "label": label,
        "slug": tab,
        "icon": "settings",
        "sections": { "default": section },
        "is_modern": false,
        "start": null,
        "end": null,
    });
    let data = json!({ "pages": { tab: page }, "start": null, "_wpnonce": token });
    json!({
        "status": "success",
        "data": { "settingsScripts": { tab: [] }, "settingsData": data },
    })
}
