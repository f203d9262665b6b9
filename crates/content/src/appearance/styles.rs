//! Styles: those of the theme, its variations, and what people changed about them.

use std::sync::Arc;

use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{Args, CompiledItem, Item, Links, Refusal, Reply, Schema, Stop, Treatment};
use frame::action::{Action, memory, read, write};
use frame::appearance::active_stylesheet;
use frame::dates::Moment;
use frame::text::render;
use frame::{Call, Names, text};
use serde_json::{Map, Value, json};
use site_rows::post::{self, PostRow};
use site_rows::revision;
use types::{Capability, Error};

use super::theme;
use crate::posts::kind::{ALL_KINDS, GLOBAL_STYLES};
use crate::posts::schema::{ALL, FULL, page_args};
use crate::posts::versions::{BY_NUMBER, Version, Versions, origin, origin_fields};
use crate::posts::write::{keep_revision, raw_text};
use crate::posts::{permit, revisions};

/// Bytes of what people change about styles, as JSON.
const STYLES_BYTES_MAX: usize = 512 * 1024;

/// What the operations share.
struct Styles {
    item: CompiledItem,
    namespace: String,
}

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let item = item();
    let compiled = item.compile().expect("the schema of styles is well formed");
    let styles = Arc::new(Styles { item: compiled, namespace: names.content.clone() });
    let run = |operation: fn(&Styles, &mut Call<'_>) -> Result<Reply, Stop>| {
        let styles = Arc::clone(&styles);
        move |call: &mut Call<'_>| operation(&styles, call)
    };
    let stylesheet = || Args::new().arg("stylesheet", Schema::text().about("Name of the theme."));
    let id = Args::new().arg("id", Schema::integer().about("Its number on the site."));
    let update_args = item.update_args().treat("title", Treatment::None);
    let of_theme = Schema::object([
        ("settings", Schema::map().about("What can be chosen.")),
        ("styles", Schema::map().about("How things look.")),
    ]);
    let variation = Schema::object([
        ("version", Schema::integer().about("Version of the format.")),
        ("title", Schema::text().about("Its title.")),
        ("settings", Schema::map().about("What can be chosen.")),
        ("styles", Schema::map().about("How things look.")),
    ]);
    let base = format!("/{}", GLOBAL_STYLES.base);
    let of_themes = |pattern: &str| {
        Route::at(&names.content, &format!("{base}/themes/(?P<stylesheet>{pattern}"))
    };
    let mut routes = versions_routes(names);
    routes.extend([
        of_themes(r"[\/\s%\w\.\(\)\[\]\@_\-]+)/variations")
            .on(READ, stylesheet(), memory(may_view, variations))
            .shows(Schema::list(variation)),
        of_themes(r#"[^\/:<>\*\?"\|]+(?:\/[^\/:<>\*\?"\|]+)?)"#)
            .on(READ, stylesheet(), memory(may_view, run(of_the_theme)))
            .shows(of_theme),
        Route::at(&names.content, &format!("{base}/(?P<id>[\\/\\d+]+)"))
            .on(READ, id, read(may_read, run(show)))
            .on(EDIT, update_args, write(may_update, run(update)))
            .schema(item.document()),
    ]);
    routes
}

/// Revisions of styles are read, and neither searched nor deleted.
fn versions_routes(names: &Names) -> Vec<Route<Action>> {
    let mut fields = origin_fields();
    fields.push(("styles", Schema::map().about("How things look.").context(FULL)));
    fields.push(("settings", Schema::map().about("What can be chosen.").context(FULL)));
    let item = Item::new("wp_global_styles-revision", Schema::object(fields));
    let versions = Versions::new(&GLOBAL_STYLES, &names.content, BY_NUMBER, (item, show_version));
    let list_args = page_args(&versions.item)
        .without("search")
        .revise("per_page", |size| size.without("default"))
        .arg("offset", Schema::integer().about("Revisions to leave out at the start."));
    let list_args = revisions::parent_arg(&versions).with(list_args);
    revisions::reading_routes(&versions, list_args).into()
}

fn item() -> Item {
    let title = Schema::types(&["object", "string"]).about("Its title.").properties([
        ("raw", Schema::text().about("As it is stored.").context(ALL)),
        ("rendered", Schema::text().about("As it is shown.").context(ALL).readonly()),
    ]);
    let object = |about: &str| Schema::types(&["object"]).about(about).context(FULL);
    Item::new(
        GLOBAL_STYLES.name,
        Schema::object([
            ("id", Schema::integer().about("Its number on the site.").context(ALL).readonly()),
            ("styles", object("How things look.")),
            ("settings", object("What can be chosen.")),
            ("title", title.context(ALL)),
        ]),
    )
}

fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    if ALL_KINDS.iter().any(|kind| call.can(kind.may.edit)) {
        return Ok(());
    }
    let message = "You are not allowed to view the styles of this site.";
    Err(call.deny("rest_cannot_read_global_styles", message).into())
}

/// Refuses any theme but the active one, whose styles are the only ones that hold.
fn is_active(call: &Call<'_>) -> Result<(), Stop> {
    let wanted = call.params.text("stylesheet").unwrap_or_default();
    if wanted == active_stylesheet(call.options()) {
        return Ok(());
    }
    Err(Refusal::new(404, "rest_theme_not_found", "Theme not found.").into())
}

fn of_the_theme(styles: &Styles, call: &mut Call<'_>) -> Result<Reply, Stop> {
    is_active(call)?;
    let theme = theme::json(call.options());
    let own = format!(
        "/{}/{}/themes/{}",
        styles.namespace,
        GLOBAL_STYLES.base,
        active_stylesheet(call.options())
    );
    let body = json!({ "settings": theme.get("settings"), "styles": theme.get("styles") });
    Ok(Reply::new(body).links(Links::new().to("self", call.visit.rest(&own))))
}

fn variations(call: &mut Call<'_>) -> Result<Reply, Stop> {
    is_active(call)?;
    Ok(Reply::new(theme::variations()))
}

fn row_of(call: &mut Call<'_>) -> Result<PostRow, Stop> {
    let missing = || Refusal::new(404, "rest_global_styles_not_found", "Styles not found.");
    permit::item_of(call, &GLOBAL_STYLES, "id", missing)
}

fn may_read(call: &mut Call<'_>) -> Result<(), Stop> {
    let row = row_of(call)?;
    let identity = &call.visit.identity;
    if call.params.text("context") == Some("edit") && !permit::may_edit(identity, &row) {
        let message = "You are not allowed to edit these styles.";
        return Err(call.deny("rest_forbidden_context", message).into());
    }
    if permit::may_read(identity, &row) {
        return Ok(());
    }
    Err(call.deny("rest_cannot_view", "You are not allowed to view these styles.").into())
}

fn may_update(call: &mut Call<'_>) -> Result<(), Stop> {
    let row = row_of(call)?;
    if permit::may_edit(&call.visit.identity, &row) {
        return Ok(());
    }
    Err(call.deny("rest_cannot_edit", "You are not allowed to edit these styles.").into())
}

/// What people chose: styles and settings.
fn chosen(content: &str) -> (Value, Value) {
    let content: Value = serde_json::from_str(content).unwrap_or_default();
    let member = |name: &str| content.get(name).cloned().unwrap_or_else(|| json!({}));
    (member("styles"), member("settings"))
}

fn prepare(styles: &Styles, call: &mut Call<'_>, row: &PostRow) -> Result<Reply, Stop> {
    let (looks, settings) = chosen(&row.content);
    let fields = json!({
        "id": row.post_id,
        "title": { "raw": row.title, "rendered": render::title(&row.title) },
        "settings": settings,
        "styles": looks,
    });
    let visit = call.visit;
    let at = |path: &str| visit.rest(&format!("/{}/{path}", styles.namespace));
    let own = at(&format!("{}/{}", GLOBAL_STYLES.base, row.post_id));
    let (count, _) = revision::count(call.conn()?, row.post_id)?;
    let history = json!({ "count": count, "href": format!("{own}/revisions") });
    let mut links = Links::new()
        .to("self", &*own)
        .to("about", at(&format!("types/{}", GLOBAL_STYLES.name)))
        .add("version-history", history);
    for (needed, right) in
        [(GLOBAL_STYLES.may.publish, "publish"), (Capability::UnfilteredHtml, "edit-css")]
    {
        if call.can(needed) {
            links = links.to(&format!("wp:action-{right}"), &*own);
        }
    }
    Ok(Reply::new(styles.item.filter_by_context(fields, "view")).links(links))
}

fn show(styles: &Styles, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let row = row_of(call)?;
    prepare(styles, call, &row)
}

fn update(styles: &Styles, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut row = row_of(call)?;
    let (mut looks, mut settings) = chosen(&row.content);
    if let Some(given) = object(call, "styles") {
        check_css(call, &given)?;
        looks = Value::Object(given);
    }
    if let Some(given) = object(call, "settings") {
        settings = Value::Object(given);
    }
    let content = json!({ "styles": looks, "settings": settings }).to_string();
    if content.len() > STYLES_BYTES_MAX {
        let message = format!("Styles and settings may have {STYLES_BYTES_MAX} bytes at most.");
        return Err(Refusal::new(400, "rest_styles_too_large", message).into());
    }
    row.content = content.replace('\0', "");
    if let Some(title) = raw_text(call, "title") {
        row.title = text::clean_title(&title.replace('\0', ""));
    }
    let now = Moment::at(call.options(), call.now());
    (row.modified, row.modified_gmt) = (now.local, now.gmt);
    post::update(call.conn()?, &row)?;
    keep_revision(call, &GLOBAL_STYLES, &row)?;
    prepare(styles, call, &row)
}

/// An object among the parameters; one without members may come as an empty list.
fn object(call: &Call<'_>, name: &str) -> Option<Map<String, Value>> {
    match call.params.get(name)? {
        Value::Object(members) => Some(members.clone()),
        Value::Array(items) if items.is_empty() => Some(Map::new()),
        _ => None,
    }
}

/// A style sheet of one's own is for those who may write any markup, and never ends its element.
fn check_css(call: &Call<'_>, styles: &Map<String, Value>) -> Result<(), Stop> {
    let Some(css) = styles.get("css").and_then(Value::as_str) else { return Ok(()) };
    let message = "You are not allowed to edit style sheets.";
    call.need(Capability::UnfilteredHtml, "rest_cannot_edit_css", message)?;
    let starts_tag = |after: &str| {
        let after = after.strip_prefix('/').unwrap_or(after);
        after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    };
    if css.split('<').skip(1).any(starts_tag) {
        let message = "Markup is not allowed in a style sheet.";
        return Err(Refusal::new(400, "rest_custom_css_illegal_markup", message).into());
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every version")]
fn show_version(_: &mut Call<'_>, _: &PostRow, version: &Version) -> Result<Value, Error> {
    let mut fields = origin(&version.row);
    let (styles, settings) = chosen(&version.row.content);
    if let Some(members) = fields.as_object_mut() {
        members.insert(String::from("styles"), styles);
        members.insert(String::from("settings"), settings);
    }
    Ok(fields)
}
