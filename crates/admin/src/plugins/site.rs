//! Plugins as clients of the site know them: listed, installed, activated, deactivated and removed
//! one by one, under a name of two parts.

use std::sync::Arc;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, Item, Links, Refusal, Reply, Schema, Stop};
use frame::action::{Later, Outcome, later, read, write};
use frame::{Action, Call, Names, Visit, compatible};
use serde_json::{Value, json};
use types::{Capability, Error, Kind};

use super::lifecycle::{self, Doing, Installed};
use super::shapes::SHOP;
use crate::catalogue::Catalogue;
use crate::installation::put_new;
use crate::rows::package::PackageKind;

const ACTIVE: &str = "active";
const INACTIVE: &str = "inactive";
const STATUSES: &[&str] = &[INACTIVE, ACTIVE];
const NAME: &str = r"[^.\/]+(?:\/[^.\/]+)?";
const ALL: &[&str] = &["view", "edit", "embed"];
const FULL: &[&str] = &["view", "edit"];

/// A plugin of the site: the shop itself, or one that is installed.
enum Plugin {
    Shop,
    Installed(Box<Installed>),
}

pub(super) fn routes(names: &Names, catalogue: &Arc<Catalogue>) -> Vec<Route<Action>> {
    let item = item();
    let compiled = Arc::new(item.compile().expect("the schema of a plugin is well formed"));
    let context = || Args::new().arg("context", item.context_arg());
    let one = || {
        let name = Schema::text().pattern(NAME).about("Name of the plugin.");
        context().arg("plugin", name)
    };
    let status = || Schema::text().choices(STATUSES).about("Whether the plugin is active.");
    let list_args = context()
        .arg("search", Schema::text().about("Only plugins with these words."))
        .arg("status", Schema::list(status()).about("Only plugins with this status."));
    let create_args = Args::new()
        .arg("slug", Schema::text().pattern(r"[\w\-]+").required().about("Slug of the plugin."))
        .arg("status", status().default(INACTIVE));
    let namespace: Arc<str> = names.content.as_str().into();
    let show = {
        let namespace = Arc::clone(&namespace);
        move |visit: &Visit, plugin: &Plugin, context: &str| {
            let (fields, links) = plugin.shown(visit, &namespace);
            Reply::new(compiled.filter_by_context(fields, context)).links(links)
        }
    };
    let [of_list, of_one, of_edit, of_delete] = std::array::from_fn(|_| show.clone());
    let catalogue = Arc::clone(catalogue);
    vec![
        Route::at(&names.content, "/plugins")
            .on(READ, list_args, read(may_list, move |call: &mut Call<'_>| list(call, &of_list)))
            .lists()
            .on(
                CREATE,
                create_args,
                later(may_install, move |request| {
                    install(request, Arc::clone(&catalogue), show.clone(), Arc::clone(&namespace))
                }),
            )
            .creates()
            .schema(item.document()),
        Route::at(&names.content, &format!("/plugins/(?P<plugin>{NAME})"))
            .on(
                READ,
                one(),
                read(may_read, move |call: &mut Call<'_>| {
                    let (plugin, context) = (named(call)?, call.context());
                    Ok(of_one(call.visit, &plugin, &context))
                }),
            )
            .on(
                EDIT,
                one().arg("status", status()),
                write(may_change, move |call: &mut Call<'_>| {
                    let plugin = change(call)?;
                    Ok(of_edit(call.visit, &plugin, "edit"))
                }),
            )
            .on(
                DELETE,
                one(),
                write(may_remove, move |call: &mut Call<'_>| {
                    let plugin = remove(call)?;
                    let mut previous = of_delete(call.visit, &plugin, "edit");
                    previous.links = Links::new();
                    let previous = previous.into_json().2;
                    Ok(Reply::new(json!({ "deleted": true, "previous": previous })))
                }),
            )
            .notes_deletion()
            .schema(item.document()),
    ]
}

fn item() -> Item {
    let text = |about: &str| Schema::text().about(about).readonly();
    let address = |about: &str| text(about).format("uri").context(FULL);
    let description =
        Schema::object([("raw", text("As it is stored.")), ("rendered", text("As it is shown."))]);
    Item::new(
        "plugin",
        Schema::object([
            ("plugin", text("Its name on the site.").pattern(NAME).context(ALL)),
            ("status", Schema::text().about("Its status.").choices(STATUSES).context(ALL)),
            ("name", text("Its title.").context(ALL)),
            ("plugin_uri", address("Where its makers tell of it.")),
            // Names of makers are texts here.
            ("author", Schema::text().about("Its makers.").context(FULL).readonly()),
            ("author_uri", address("Where its makers are.")),
            ("description", description.about("What it does.").context(FULL).readonly()),
            ("version", text("Its version.").context(FULL)),
            (
                "network_only",
                Schema::boolean().about("Is for several sites alone.").context(ALL).readonly(),
            ),
            ("requires_wp", text("Version of the site that it needs.").context(ALL)),
            ("requires_php", text("Version of the language that it needs.").context(ALL)),
            ("textdomain", text("The name of its translations.").context(FULL)),
        ]),
    )
}

impl Plugin {
    fn slug(&self) -> &str {
        match self {
            Self::Shop => SHOP,
            Self::Installed(plugin) => &plugin.row.slug,
        }
    }

    fn is_active(&self) -> bool {
        match self {
            Self::Shop => true,
            Self::Installed(plugin) => plugin.row.is_active,
        }
    }

    fn status(&self) -> &'static str {
        if self.is_active() { ACTIVE } else { INACTIVE }
    }

    /// Title, address, makers, description, version.
    fn head(&self) -> [&str; 5] {
        match self {
            Self::Shop => {
                let about = "The shop of this site, which is a part of the program.";
                ["Boardwalk Commerce", "", "Boardwalk", about, compatible::SHOP]
            }
            Self::Installed(plugin) => {
                let told = &plugin.manifest;
                [&told.name, &told.uri, &told.author, &told.description, &plugin.row.version]
            }
        }
    }

    fn shown(&self, visit: &Visit, namespace: &str) -> (Value, Links) {
        let [name, uri, author, description, version] = self.head();
        let id = format!("{0}/{0}", self.slug());
        let rendered = frame::text::render::title(description);
        let fields = json!({
            "plugin": id,
            "status": self.status(),
            "name": name,
            "plugin_uri": uri,
            "author": author,
            "author_uri": "",
            "description": { "raw": description, "rendered": rendered },
            "version": version,
            "network_only": false,
            "requires_wp": "",
            "requires_php": "",
            "textdomain": self.slug(),
        });
        let own = visit.rest(&format!("/{namespace}/plugins/{id}"));
        (fields, Links::new().to("self", own))
    }
}

/// The plugin that the path names: its slug, once or twice.
fn named(call: &mut Call<'_>) -> Result<Plugin, Stop> {
    let missing = || Refusal::new(404, "rest_plugin_not_found", "Plugin not found.");
    let name = call.params.text("plugin").unwrap_or_default().to_owned();
    let slug = match name.split_once('/') {
        Some((folder, file)) if folder == file => folder,
        Some(_) => return Err(missing().into()),
        None => &name,
    };
    if slug == SHOP {
        return Ok(Plugin::Shop);
    }
    let found = lifecycle::get(call.conn()?, slug)?;
    Ok(Plugin::Installed(Box::new(found.ok_or_else(missing)?)))
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to manage the plugins of this site.";
    call.need(Capability::ActivatePlugins, "rest_cannot_view_plugins", message)
}

fn may_read(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to manage the plugins of this site.";
    call.need(Capability::ActivatePlugins, "rest_cannot_view_plugin", message)?;
    named(call).map(drop)
}

fn may_change(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to manage the plugins of this site.";
    call.need(Capability::ActivatePlugins, "rest_cannot_manage_plugins", message)?;
    named(call).map(drop)
}

fn may_remove(call: &mut Call<'_>) -> Result<(), Stop> {
    may_change(call)?;
    let message = "You are not allowed to delete plugins.";
    call.need(Capability::DeletePlugins, "rest_cannot_manage_plugins", message)
}

fn may_install(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to install plugins.";
    call.need(Capability::InstallPlugins, "rest_cannot_install_plugin", message)?;
    if call.params.text("status") == Some(ACTIVE) {
        let message = "You are not allowed to activate plugins.";
        call.need(Capability::ActivatePlugins, "rest_cannot_activate_plugin", message)?;
    }
    Ok(())
}

fn list(call: &mut Call<'_>, show: &impl Fn(&Visit, &Plugin, &str) -> Reply) -> Outcome {
    let installed = lifecycle::all(call.conn()?)?.into_iter();
    let installed = installed.map(|plugin| Plugin::Installed(Box::new(plugin)));
    let words = call.params.text("search").unwrap_or_default().to_lowercase();
    let statuses = call.params.texts("status");
    let context = call.context();
    let mut items = Vec::new();
    for plugin in std::iter::once(Plugin::Shop).chain(installed) {
        let fits = statuses.is_empty() || statuses.iter().any(|one| one == plugin.status());
        let has_words = plugin.head().iter().any(|text| text.to_lowercase().contains(&words));
        if fits && (words.is_empty() || has_words) {
            items.push(show(call.visit, &plugin, &context).into_json().2);
        }
    }
    Ok(Reply::new(items))
}

fn doing<'c>(call: &Call<'c>) -> Result<Doing<'c>, Stop> {
    let user = call.user().ok_or_else(|| call.forbidden())?.row.clone();
    Ok(Doing { site: call.site, user, now: call.now() })
}

fn change(call: &mut Call<'_>) -> Result<Plugin, Stop> {
    let plugin = named(call)?;
    let Some(wanted) = call.params.text("status").map(|status| status == ACTIVE) else {
        return Ok(plugin);
    };
    match plugin {
        Plugin::Shop if !wanted => {
            let message = "The shop is a part of the program and cannot be deactivated.";
            Err(Refusal::new(400, "rest_cannot_deactivate_plugin", message).into())
        }
        Plugin::Shop => Ok(Plugin::Shop),
        Plugin::Installed(plugin) => {
            let doing = doing(call)?;
            let act = if wanted { lifecycle::activate } else { lifecycle::deactivate };
            let changed = act(call.conn()?, &plugin.row.slug, &doing).map_err(not_done)?;
            Ok(Plugin::Installed(Box::new(changed)))
        }
    }
}

/// What the plugin itself prevent is the caller's to fix.
fn not_done(error: Error) -> Stop {
    if error.kind() == Kind::Internal {
        return error.into();
    }
    Refusal::new(400, "rest_cannot_activate_plugin", error.to_string()).into()
}

fn remove(call: &mut Call<'_>) -> Result<Plugin, Stop> {
    let plugin = named(call)?;
    if plugin.is_active() {
        let message = "An active plugin cannot be deleted; deactivate it first.";
        return Err(Refusal::new(400, "rest_cannot_delete_active_plugin", message).into());
    }
    let doing = doing(call)?;
    let removed = lifecycle::remove(call.conn()?, plugin.slug(), &doing)?;
    Ok(Plugin::Installed(Box::new(removed)))
}

/// Installs a plugin of the catalogue, and activates it if that is wanted.
async fn install(
    request: Later,
    catalogue: Arc<Catalogue>,
    show: impl Fn(&Visit, &Plugin, &str) -> Reply,
    namespace: Arc<str>,
) -> Outcome {
    let slug = request.params.text("slug").unwrap_or_default().to_ascii_lowercase();
    let obtained = catalogue.obtain(&request.site, PackageKind::Plugin, &slug).await;
    let obtained = Arc::new(obtained.map_err(|error| match error.kind() {
        Kind::Internal => Stop::from(error),
        Kind::NotFound => Refusal::new(404, "plugins_api_failed", error.to_string()).into(),
        _ => Refusal::new(400, "plugins_api_failed", error.to_string()).into(),
    })?);
    let (now, wanted) = (request.visit.now, slug.clone());
    let activates = request.params.text("status") == Some(ACTIVE);
    let plugin = request.attempt(move |call: &mut Call<'_>| {
        if !put_new(call.conn()?, &obtained, now)? {
            let message = "The plugin is installed already.";
            return Err(Refusal::new(400, "folder_exists", message).into());
        }
        let doing = doing(call)?;
        let conn = call.conn()?;
        if activates {
            return lifecycle::activate(conn, &wanted, &doing).map_err(not_done);
        }
        let installed = lifecycle::get(conn, &wanted)?;
        Ok(installed.ok_or_else(|| Error::internal("an installed plugin no longer exists"))?)
    });
    let plugin = Plugin::Installed(Box::new(plugin.await?));
    let mut reply = show(&request.visit, &plugin, "edit");
    reply.status = 201;
    let own = request.visit.rest(&format!("/{namespace}/plugins/{slug}/{slug}"));
    Ok(reply.header("location", own))
}
