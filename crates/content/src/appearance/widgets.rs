//! Widgets and sidebars. The theme is made of blocks and tells of no sidebars, so that widgets
//! rest among the inactive ones, where no page shows them. **What somebody puts into a sidebar all
//! the same is shown at the end of the pages.**

mod serialized;
mod store;
mod types;

use std::sync::Arc;

use ::types::{Capability, Result};
use contract::rest::form;
use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, CompiledItem, Item, Links, Refusal, Reply, Schema, Stop};
use frame::action::{Action, memory, read, write};
use frame::{Call, Names};
use serde_json::{Map, Value, json};

pub(crate) use self::store::WIDGETS;
pub(super) use self::store::{INACTIVE, Widgets, parts_of};

use self::types::{TYPES, WidgetType, find};
use crate::posts::schema::{ALL, EDIT as EDITOR};

const WIDGETS_MAX: usize = 500;
const SETTINGS_BYTES_MAX: usize = 64 * 1024;

/// What the operations share.
struct Shown {
    widget: CompiledItem,
    namespace: String,
}

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let widget = widget_item();
    let compiled = widget.compile().expect("the schema of a widget is well formed");
    let shown = Arc::new(Shown { widget: compiled, namespace: names.content.clone() });
    let run = |operation: fn(&Shown, &mut Call<'_>) -> Result<Reply, Stop>| {
        let shown = Arc::clone(&shown);
        move |call: &mut Call<'_>| operation(&shown, call)
    };
    let at = |path: &str| Route::at(&names.content, path);
    let context = || Args::new().arg("context", widget.context_arg());
    let id = || Args::new().arg("id", Schema::text().about("Its name."));
    let sidebar = Schema::text().about("Only widgets of this sidebar.");
    let force = Schema::boolean().about("Whether to delete instead of making it inactive.");
    let create_args =
        widget.create_args().revise("sidebar", |name| name.default(INACTIVE).required());
    let of_type = || Args::new().arg("id", Schema::text().required().about("Name of the type."));
    let instance = || Schema::map().about("Settings of the widget.");
    let encode_args = of_type()
        .arg("instance", instance())
        .arg("form_data", Schema::text().about("The form of the widget, as it was sent."));
    let (side, kind) = (sidebar_item(), type_item());
    let encoded = Schema::object([
        ("form", Schema::text().about("The form of the widget.")),
        ("preview", Schema::text().about("What it shows.")),
        ("instance", Schema::map().about("Its settings.")),
    ]);
    let preview = Schema::object([("preview", Schema::text().about("What it shows."))]);
    vec![
        at("/sidebars")
            .on(READ, context(), read(may_manage, run(list_sidebars)))
            .lists()
            .schema(side.document()),
        at(r"/sidebars/(?P<id>[\w-]+)")
            .on(READ, id().with(context()), read(may_manage, run(show_sidebar)))
            .on(EDIT, side.update_args(), write(may_manage, run(update_sidebar)))
            .schema(side.document()),
        at("/widget-types")
            .on(READ, context(), memory(may_manage, run(list_types)))
            .lists()
            .schema(kind.document()),
        at("/widget-types/(?P<id>[a-zA-Z0-9_-]+)")
            .on(READ, id().with(context()), memory(may_use_type, run(show_type)))
            .schema(kind.document()),
        at("/widget-types/(?P<id>[a-zA-Z0-9_-]+)/encode")
            .on(CREATE, encode_args, memory(may_use_type, run(encode)))
            .shows(encoded),
        at("/widget-types/(?P<id>[a-zA-Z0-9_-]+)/render")
            .on(CREATE, of_type().arg("instance", instance()), memory(may_use_type, run(render)))
            .shows(preview),
        at("/widgets")
            .on(READ, context().arg("sidebar", sidebar), read(may_manage, run(list)))
            .lists()
            .on(CREATE, create_args, write(may_manage, run(create)))
            .creates()
            .batchable()
            .schema(widget.document()),
        at(r"/widgets/(?P<id>[\w\-]+)")
            .on(READ, context(), read(may_manage, run(show)))
            .on(EDIT, widget.update_args(), write(may_manage, run(update)))
            .on(DELETE, Args::new().arg("force", force), write(may_manage, run(delete)))
            .notes_deletion()
            .batchable()
            .schema(widget.document()),
    ]
}

fn widget_item() -> Item {
    let text = |about: &str| Schema::text().about(about).context(ALL);
    let inner = |about: &str| Schema::text().about(about).context(EDITOR);
    let instance = Schema::object([
        ("encoded", inner("The settings in a text.")),
        ("hash", inner("What proves that this site wrote the text.")),
        ("raw", Schema::map().about("The settings.").context(EDITOR)),
    ]);
    let form = Schema::text().about("The form in which it is changed.").context(EDITOR);
    Item::new(
        "widget",
        Schema::object([
            ("id", text("Its name.")),
            ("id_base", text("The name of its type.")),
            ("sidebar", text("Where it is.")),
            ("rendered", text("What it shows.").readonly()),
            ("rendered_form", form.readonly()),
            ("instance", instance.about("Its settings.").context(EDITOR)),
            ("form_data", Schema::text().about("The form, as it was sent.").context(&[])),
        ]),
    )
}

fn sidebar_item() -> Item {
    let text = |about: &str| Schema::text().about(about).context(ALL).readonly();
    let widgets = Schema::list(Schema::types(&["object", "string"])).context(ALL);
    Item::new(
        "sidebar",
        Schema::object([
            ("id", text("Its name.")),
            ("name", text("Its title.")),
            ("description", text("Where it is shown.")),
            ("class", text("Name of its class.")),
            ("before_widget", text("HTML before each widget.")),
            ("after_widget", text("HTML behind each widget.")),
            ("before_title", text("HTML before each title.")),
            ("after_title", text("HTML behind each title.")),
            ("status", text("Whether pages show it.").choices(&["active", "inactive"])),
            ("widgets", widgets.about("The widgets in it.")),
        ]),
    )
}

fn type_item() -> Item {
    let text = |about: &str| Schema::text().about(about).context(ALL).readonly();
    Item::new(
        "widget-type",
        Schema::object([
            ("id", text("Its name.")),
            ("name", text("Its title.")),
            ("description", text("What it shows.")),
            (
                "is_multi",
                Schema::boolean().about("Whether there may be several.").context(ALL).readonly(),
            ),
            ("classname", text("Name of its class.")),
        ]),
    )
}

fn may_manage(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to manage widgets.";
    call.need(Capability::EditThemeOptions, "rest_cannot_manage_widgets", message)
}

fn type_of(call: &Call<'_>) -> Result<&'static WidgetType, Stop> {
    let id = call.params.text("id").unwrap_or_default();
    let missing = || Refusal::new(404, "rest_widget_type_invalid", "Type of widget not found.");
    Ok(find(id).ok_or_else(missing)?)
}

fn may_use_type(call: &mut Call<'_>) -> Result<(), Stop> {
    may_manage(call)?;
    type_of(call).map(drop)
}

impl Shown {
    fn at(&self, call: &Call<'_>, path: &str) -> String {
        call.visit.rest(&format!("/{}/{path}", self.namespace))
    }

    fn sidebar(&self, call: &Call<'_>, name: &str, widgets: &Widgets) -> Reply {
        let title = if name == INACTIVE { "Inactive widgets" } else { name };
        let fields = json!({
            "id": name,
            "name": title,
            "description": "",
            "class": "",
            "before_widget": "",
            "after_widget": "",
            "before_title": "",
            "after_title": "",
            "status": "inactive",
            "widgets": widgets.of_sidebar(name),
        });
        let listed = self.at(call, &format!("widgets?sidebar={name}"));
        let links = Links::new()
            .to("collection", self.at(call, "sidebars"))
            .to("self", self.at(call, &format!("sidebars/{name}")))
            .embeddable("wp:widget", listed);
        Reply::new(fields).links(links)
    }

    fn type_of(&self, call: &Call<'_>, widget: &WidgetType) -> Reply {
        let fields = json!({
            "id": widget.id,
            "name": widget.name,
            "description": widget.description,
            "is_multi": true,
            "classname": widget.class(),
        });
        let links = Links::new()
            .to("collection", self.at(call, "widget-types"))
            .to("self", self.at(call, &format!("widget-types/{}", widget.id)));
        Reply::new(fields).links(links)
    }

    fn widget(&self, call: &Call<'_>, name: &str, widgets: &Widgets, context: &str) -> Reply {
        let (base, number) = parts_of(name).unwrap_or((name, 0));
        let sidebar = widgets.sidebar_of(name).unwrap_or(INACTIVE);
        let settings = widgets.settings(name);
        let form = find(base).map_or_else(String::new, |widget| widget.form(number, &settings));
        let fields = json!({
            "id": name,
            "id_base": base,
            "sidebar": sidebar,
            // Editors of widgets show what rests by its settings.
            "rendered": "",
            "rendered_form": form,
            "instance": instance(call, &settings),
        });
        let about = self.at(call, &format!("widget-types/{base}"));
        let links = Links::new()
            .to("self", self.at(call, &format!("widgets/{name}")))
            .to("collection", self.at(call, "widgets"))
            .embeddable("about", about)
            .to("wp:sidebar", self.at(call, &format!("sidebars/{sidebar}/")));
        Reply::new(self.widget.filter_by_context(fields, context)).links(links)
    }
}

/// Settings in the forms in which clients hand them around.
fn instance(call: &Call<'_>, settings: &Map<String, Value>) -> Value {
    let encoded = serialized::encode(settings);
    let hash = serialized::hash(call.site.vault(), &encoded);
    json!({ "encoded": encoded, "hash": hash, "raw": settings })
}

fn list_sidebars(shown: &Shown, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let widgets = Widgets::read(call.conn()?)?;
    let inactive = shown.sidebar(call, INACTIVE, &widgets);
    Ok(Reply::new(vec![inactive.into_json().2]))
}

fn no_sidebar() -> Stop {
    Refusal::new(404, "rest_sidebar_not_found", "Sidebar not found.").into()
}

fn show_sidebar(shown: &Shown, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let name = call.params.text("id").unwrap_or_default().to_owned();
    if name != INACTIVE {
        return Err(no_sidebar());
    }
    let widgets = Widgets::read(call.conn()?)?;
    Ok(shown.sidebar(call, &name, &widgets))
}

/// Puts the named widgets into the sidebar, in their order. Those that leave it rest.
fn update_sidebar(shown: &Shown, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let name = call.params.text("id").unwrap_or_default().to_owned();
    let mut widgets = Widgets::read(call.conn()?)?;
    if name != INACTIVE && !widgets.sidebars.contains_key(&name) {
        return Err(no_sidebar());
    }
    if let Some(Value::Array(given)) = call.params.get("widgets").cloned() {
        let name_of = |widget: &Value| {
            let named = widget.as_str().or_else(|| widget.get("id")?.as_str());
            named.map(str::to_owned)
        };
        let mut wanted: Vec<String> = given.iter().filter_map(name_of).collect();
        wanted.retain(|widget| widgets.instances.contains_key(widget));
        let left = widgets.of_sidebar(&name).into_iter().filter(|old| !wanted.contains(old));
        let left: Vec<String> = left.collect();
        for widget in &wanted {
            widgets.leave(widget);
        }
        // Who leaves the inactive ones has nowhere else to be, and stays at their end.
        if name == INACTIVE {
            wanted.extend(left);
        } else {
            let resting = widgets.of_sidebar(INACTIVE).into_iter().chain(left).collect();
            widgets.set_sidebar(INACTIVE, resting);
        }
        widgets.set_sidebar(&name, wanted);
        widgets.save(call.conn()?)?;
    }
    Ok(shown.sidebar(call, &name, &widgets))
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every operation")]
fn list_types(shown: &Shown, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let items = TYPES.iter().map(|widget| shown.type_of(call, widget).into_json().2);
    Ok(Reply::new(items.collect::<Vec<_>>()))
}

fn show_type(shown: &Shown, call: &mut Call<'_>) -> Result<Reply, Stop> {
    Ok(shown.type_of(call, type_of(call)?))
}

fn not_a_widget(message: &'static str) -> Stop {
    Refusal::new(400, "rest_invalid_widget", message).into()
}

/// The settings of the request, in whichever form they come; nothing if it has none.
fn settings_in(
    call: &Call<'_>,
    widget: &WidgetType,
    number: Option<i64>,
) -> Result<Option<Map<String, Value>>, Stop> {
    let trusted = call.can(Capability::UnfilteredHtml);
    let given = call.params.get("instance").and_then(Value::as_object);
    let part = |name: &str| given.and_then(|given| given.get(name));
    let text = |name: &str| part(name).and_then(Value::as_str);
    let settings = if let Some(raw) = part("raw").and_then(Value::as_object) {
        Some(raw.clone())
    } else if part("raw").is_some_and(|raw| *raw == json!([])) {
        Some(Map::new())
    } else if let (Some(encoded), Some(hash)) = (text("encoded"), text("hash")) {
        let decoded = serialized::decode(call.site.vault(), encoded, hash);
        let message = "The settings were not written by this site.";
        Some(decoded.ok_or_else(|| not_a_widget(message))?)
    } else {
        call.params.text("form_data").and_then(|sent| {
            let sent = form::decode(sent);
            let of_type = sent.get(&format!("widget-{}", widget.id))?.as_object()?.clone();
            let of_number = number.and_then(|number| of_type.get(&number.to_string()).cloned());
            let first = of_number.or_else(|| of_type.values().next().cloned())?;
            first.as_object().cloned()
        })
    };
    let accepted = settings.map(|settings| widget.accept(&settings, trusted));
    let bytes = accepted.as_ref().map_or(0, |settings| json!(settings).to_string().len());
    if bytes > SETTINGS_BYTES_MAX {
        return Err(not_a_widget("The settings are too long."));
    }
    Ok(accepted)
}

fn encode(_: &Shown, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let widget = type_of(call)?;
    let settings = settings_in(call, widget, None)?.unwrap_or_default();
    Ok(Reply::new(json!({
        "form": widget.form(-1, &settings),
        "preview": widget.rendered(&settings),
        "instance": instance(call, &settings),
    })))
}

fn render(_: &Shown, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let widget = type_of(call)?;
    let settings = settings_in(call, widget, None)?.unwrap_or_default();
    Ok(Reply::new(json!({ "preview": widget.rendered(&settings) })))
}

fn list(shown: &Shown, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let widgets = Widgets::read(call.conn()?)?;
    let wanted = call.params.text("sidebar").filter(|name| !name.is_empty());
    let context = call.context();
    let mut items = Vec::new();
    for sidebar in widgets.sidebars.keys() {
        if wanted.is_none_or(|wanted| wanted == sidebar) {
            for name in widgets.of_sidebar(sidebar) {
                items.push(shown.widget(call, &name, &widgets, &context).into_json().2);
            }
        }
    }
    Ok(Reply::new(items))
}

fn create(shown: &Shown, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut widgets = Widgets::read(call.conn()?)?;
    let base = call.params.text("id_base").unwrap_or_default();
    let Some(widget) = find(base) else {
        return Err(not_a_widget("There is no type of widget with this name."));
    };
    if widgets.instances.len() >= WIDGETS_MAX {
        return Err(not_a_widget("The site has as many widgets as it can keep."));
    }
    let number = widgets.next_number(widget.id);
    let settings = settings_in(call, widget, Some(number))?;
    let settings = settings.unwrap_or_else(|| widget.accept(&Map::new(), true));
    let name = format!("{}-{number}", widget.id);
    widgets.instances.insert(name.clone(), Value::Object(settings));
    let sidebar = call.params.text("sidebar").unwrap_or(INACTIVE).to_owned();
    widgets.move_to(&name, &sidebar);
    widgets.save(call.conn()?)?;
    let mut reply = shown.widget(call, &name, &widgets, "edit");
    reply.status = 201;
    Ok(reply)
}

/// All widgets, and the name of the one that the path names.
fn found(call: &mut Call<'_>) -> Result<(Widgets, String), Stop> {
    let widgets = Widgets::read(call.conn()?)?;
    let name = call.params.path().get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    if widgets.sidebar_of(&name).is_some() {
        return Ok((widgets, name));
    }
    Err(Refusal::new(404, "rest_widget_not_found", "Widget not found.").into())
}

fn show(shown: &Shown, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (widgets, name) = found(call)?;
    let context = call.context();
    Ok(shown.widget(call, &name, &widgets, &context))
}

fn update(shown: &Shown, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (mut widgets, name) = found(call)?;
    let (base, number) = parts_of(&name).unwrap_or((&name, 0));
    if let Some(widget) = find(base)
        && let Some(settings) = settings_in(call, widget, Some(number))?
    {
        widgets.instances.insert(name.clone(), Value::Object(settings));
    }
    if let Some(sidebar) = call.params.text("sidebar").filter(|sidebar| !sidebar.is_empty()) {
        widgets.move_to(&name, sidebar);
    }
    widgets.save(call.conn()?)?;
    Ok(shown.widget(call, &name, &widgets, "edit"))
}

/// Deletes the widget, or lets it rest.
fn delete(shown: &Shown, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (mut widgets, name) = found(call)?;
    if call.params.flag("force") {
        let mut previous = shown.widget(call, &name, &widgets, "edit");
        let links = std::mem::take(&mut previous.links);
        widgets.leave(&name);
        widgets.instances.remove(&name);
        widgets.save(call.conn()?)?;
        let previous = previous.into_json().2;
        let body = json!({ "deleted": true, "previous": previous });
        return Ok(Reply::new(body).links(links));
    }
    widgets.move_to(&name, INACTIVE);
    widgets.save(call.conn()?)?;
    Ok(shown.widget(call, &name, &widgets, "edit"))
}
