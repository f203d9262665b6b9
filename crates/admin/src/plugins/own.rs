//! What our own clients do with plugins beyond what others know: look at all of them with their
//! contributions, deactivate, configure and remove one.

use std::sync::Arc;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop};
use db::Conn;
use frame::action::{Later, Outcome, anyone, later, read, write};
use frame::managers::may_view;
use frame::{Action, Call, Names};
use serde_json::{Map, Value, json};
use types::{Error, Kind};

use super::lifecycle::{self, Doing, Installed};
use super::{CatalogueRequest, may_install, pages, secrets, with_offers};
use crate::catalogue::Catalogue;
use crate::package::PluginManifest;
use crate::rows::package::PackageKind;
use crate::upload;

pub(super) fn routes(names: &Names, catalogue: &Arc<Catalogue>) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.docs, path);
    let slug = || Args::new().arg("slug", Schema::text().about("Plugin slug."));
    let of_upload = Arc::clone(catalogue);
    let values = Schema::map().required().about("Settings to change, by name.");
    vec![
        at("/plugins")
            .body_bytes_max(upload::FORM_BYTES_MAX)
            .on(READ, Args::new(), with_offers(catalogue, may_view, list))
            .shows_several(plugin_item().document())
            .on(
                CREATE,
                upload::with_file(Args::new(), "The plugin archive."),
                later(may_install, move |request| receive(request, Arc::clone(&of_upload))),
            )
            .shows(Schema::object([("slug", Schema::text().about("Plugin slug."))])),
        at("/plugins/contributions")
            .on(READ, Args::new(), read(may_view, contributions))
            .shows(contributions_schema()),
        at(r"/plugins/(?P<slug>[a-z0-9_\-]+)")
            .on(DELETE, slug(), write(may_install, remove))
            .shows(Schema::object([
                ("deleted", Schema::boolean().about("Always true.")),
                ("previous", plugin_schema().about("The plugin as it was.")),
            ])),
        at(r"/plugins/(?P<slug>[a-z0-9_\-]+)/pages/(?P<page>[a-z0-9_\-]+)")
            .on(READ, slug().arg("page", Schema::text().about("Page name.")), read(anyone, page))
            .shows(page_schema()),
        at(r"/plugins/(?P<slug>[a-z0-9_\-]+)/deactivate")
            .on(CREATE, slug(), write(may_install, deactivate))
            .shows_one(plugin_item().document()),
        at(r"/plugins/(?P<slug>[a-z0-9_\-]+)/settings")
            .on(READ, slug(), read(may_view, settings))
            .shows_several(setting_item().document())
            .on(EDIT, slug().arg("values", values), write(may_install, configure))
            .shows_several(setting_item().document()),
    ]
}

/// A plugin, as [`view`] shows it.
fn plugin_item() -> Item {
    Item::new("plugin", plugin_schema())
}

fn plugin_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    let count = Schema::integer().about("How many.");
    let statuses = &["available", "installed", "active"];
    Schema::object([
        ("slug", text("Plugin slug.")),
        ("name", text("Name of the plugin.")),
        ("description", text("What the plugin does.")),
        ("author", text("Author of the plugin.")),
        ("version", text("Version that is offered.")),
        ("installed_version", text("Version that is installed.").or_null()),
        ("status", text("Whether the plugin is in use.").choices(statuses)),
        ("icon", text("Picture.").or_null()),
        ("documentation", text("Where to read more.")),
        ("origin", text("Where the installed plugin came from.").or_null()),
        ("signed_by", text("Who signed the installed plugin.").or_null()),
        ("contributes", Schema::map().additional(count).about("What it contributes, by kind.")),
    ])
}

/// What [`contributions`] shows: the lists of [`Contributions`], whose members follow from the
/// manifests.
///
/// [`Contributions`]: crate::package::manifest::Contributions
fn contributions_schema() -> Schema {
    let plugin = Schema::text().about("The plugin that contributes it.");
    let item = Schema::object([("plugin", plugin)]).any_additional();
    Schema::map().additional(Schema::list(item)).about("What active plugins contribute, by kind.")
}

/// A page of the documentation, as [`page`] shows it.
fn page_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    Schema::object([
        ("slug", text("Page name.")),
        ("title", text("Page title.")),
        ("plugin", text("Plugin slug.")),
        ("link", text("Address of the page.")),
        ("html", text("Content of the page.")),
    ])
}

/// A setting, as [`shown_settings`] shows it.
fn setting_item() -> Item {
    let text = |about: &str| Schema::text().about(about);
    let value = |about: &str| Schema::types(&["string", "boolean", "integer", "null"]).about(about);
    Item::new(
        "plugin_setting",
        Schema::object([
            ("name", text("Setting ID.")),
            ("label", text("Setting name.")),
            ("description", text("Setting description.")),
            ("type", text("Setting type.")),
            ("default", value("Default value.")),
            ("choices", Schema::list(Schema::text()).about("Values to choose from.")),
            ("value", value("Setting value; a secret is masked.")),
        ]),
    )
}

/// Everything that is offered or installed, by name.
fn list(conn: &mut dyn Conn, request: &CatalogueRequest<'_>) -> Outcome {
    let mut installed = lifecycle::all(conn)?;
    let mut items = Vec::new();
    for offer in request.offers {
        let Some(manifest) = offer.plugin() else { continue };
        let found = installed.iter().position(|plugin| plugin.row.slug == manifest.slug);
        let own = found.map(|place| installed.remove(place));
        items.push(view(manifest, Some(&offer.icon), own.as_ref()));
    }
    // What is installed although nobody offers it any more.
    items.extend(installed.iter().map(|plugin| view(&plugin.manifest, None, Some(plugin))));
    Ok(Reply::new(items))
}

fn view(manifest: &PluginManifest, icon: Option<&str>, installed: Option<&Installed>) -> Value {
    let status = match installed {
        None => "available",
        Some(plugin) if plugin.row.is_active => "active",
        Some(_) => "installed",
    };
    json!({
        "slug": manifest.slug,
        "name": manifest.name,
        "description": manifest.description,
        "author": manifest.author,
        "version": manifest.version,
        "installed_version": installed.map(|plugin| &plugin.row.version),
        "status": status,
        "icon": icon,
        "documentation": manifest.documentation,
        "origin": installed.map(|plugin| &plugin.row.origin),
        "signed_by": installed.and_then(|plugin| plugin.row.signer.as_ref()),
        "contributes": contributed_kinds(manifest),
    })
}

/// Installs the plugin of a form's archive.
async fn receive(request: Later, catalogue: Arc<Catalogue>) -> Outcome {
    match upload::take(&request, &catalogue, PackageKind::Plugin).await? {
        Ok(slug) => Ok(Reply::new(json!({ "slug": slug }))),
        Err(message) => Err(Refusal::new(400, "boardwalk_invalid_package", message).into()),
    }
}

/// How many of each kind a plugin contributes.
fn contributed_kinds(manifest: &PluginManifest) -> Map<String, Value> {
    let lists = serde_json::to_value(&manifest.contributes).unwrap_or_default();
    let lists = lists.as_object().cloned().unwrap_or_default();
    let counted = lists.into_iter().filter_map(|(kind, list)| {
        let count = list.as_array().map_or(0, Vec::len);
        (count > 0).then(|| (kind, json!(count)))
    });
    counted.collect()
}

/// What the active plugins contribute, by kind, each with the plugin that it is of.
fn contributions(call: &mut Call<'_>) -> Outcome {
    let mut all: Map<String, Value> = Map::new();
    for plugin in lifecycle::active(call.conn()?)? {
        let lists = serde_json::to_value(&plugin.manifest.contributes).unwrap_or_default();
        for (kind, list) in lists.as_object().cloned().unwrap_or_default() {
            let merged = all.entry(kind).or_insert_with(|| json!([]));
            for mut item in list.as_array().cloned().unwrap_or_default() {
                if let Some(members) = item.as_object_mut() {
                    members.insert(String::from("plugin"), json!(plugin.row.slug));
                }
                if let Some(merged) = merged.as_array_mut() {
                    merged.push(item);
                }
            }
        }
    }
    Ok(Reply::new(Value::Object(all)))
}

fn slug_of(call: &Call<'_>) -> String {
    call.params.text("slug").unwrap_or_default().to_owned()
}

/// Runs something with a plugin in the caller's name.
fn act(
    call: &mut Call<'_>,
    run: impl FnOnce(&mut dyn Conn, &str, &Doing<'_>) -> Result<Installed, Error>,
) -> Outcome {
    let slug = slug_of(call);
    let user = call.user().ok_or_else(|| call.forbidden())?.row.clone();
    let doing = Doing { site: call.site, user, now: call.now() };
    let plugin = run(call.conn()?, &slug, &doing).map_err(refused)?;
    Ok(Reply::new(view(&plugin.manifest, None, Some(&plugin))))
}

/// What the caller can fix.
fn refused(error: Error) -> Stop {
    let message = error.to_string();
    match error.kind() {
        Kind::NotFound => Refusal::new(404, "boardwalk_unknown_plugin", message).into(),
        Kind::Invalid => Refusal::new(400, "boardwalk_invalid_setting", message).into(),
        _ => error.into(),
    }
}

fn deactivate(call: &mut Call<'_>) -> Outcome {
    act(call, lifecycle::deactivate)
}

fn remove(call: &mut Call<'_>) -> Outcome {
    let deleted = act(call, lifecycle::remove)?;
    let (_, _, before) = deleted.into_json();
    Ok(Reply::new(json!({ "deleted": true, "previous": before })))
}

fn settings(call: &mut Call<'_>) -> Outcome {
    let slug = slug_of(call);
    let plugin = lifecycle::get(call.conn()?, &slug)?;
    let plugin = plugin.ok_or_else(|| refused(Error::not_found("the plugin is not installed")))?;
    Ok(Reply::new(shown_settings(&plugin)))
}

/// The settings in the order of the manifest, with their values.
fn shown_settings(plugin: &Installed) -> Vec<Value> {
    let shown = plugin.manifest.contributes.settings.iter().map(|setting| {
        let mut shown = serde_json::to_value(setting).unwrap_or_default();
        if let Some(members) = shown.as_object_mut() {
            let value = secrets::shown(setting, plugin.setting(&setting.name));
            members.insert(String::from("value"), value);
        }
        shown
    });
    shown.collect()
}

fn configure(call: &mut Call<'_>) -> Outcome {
    let values = call.params.get("values").and_then(Value::as_object).cloned().unwrap_or_default();
    let slug = slug_of(call);
    act(call, |conn, slug, doing| lifecycle::configure(conn, slug, &values, doing))?;
    let plugin = lifecycle::get(call.conn()?, &slug)?;
    Ok(Reply::new(plugin.as_ref().map(shown_settings).unwrap_or_default()))
}

/// A page of the documentation of an active plugin.
fn page(call: &mut Call<'_>) -> Outcome {
    let (slug, page) = (slug_of(call), call.params.text("page").unwrap_or_default().to_owned());
    let found = pages::find(call.conn()?, &slug, &page)?;
    let (manifest, page, html) =
        found.ok_or_else(|| Refusal::new(404, "boardwalk_unknown_page", "Page not found."))?;
    let link = call.visit.page(&pages::path(&slug, &page.slug));
    Ok(Reply::new(json!({
        "slug": page.slug, "title": page.title, "plugin": manifest.slug, "link": link,
        "html": html,
    })))
}
