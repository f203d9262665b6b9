//! Themes as clients of the site know them: the look that the pages have by themselves, and the
//! packages that change it, which are its children.

use std::sync::Arc;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Refusal, Reply, Schema, Stop};
use frame::action::{Outcome, write};
use frame::appearance::{self, OWN_DESCRIPTION, OWN_NAME, active_stylesheet};
use frame::{Action, Call, Names, compatible};
use serde_json::{Value, json};
use types::{Capability, Result};

use super::read_manifest;
use crate::catalogue::Catalogue;
use crate::package::{Manifest, ThemeManifest};
use crate::rows::package::{self, PackageKind};

const ACTIVE: &str = "active";
const INACTIVE: &str = "inactive";
/// Rights of those who make content of any kind, and so may know how it will look.
const WRITERS: &[Capability] =
    &[Capability::EditPosts, Capability::EditPages, Capability::EditProducts];
/// What the look can do, as clients call it.
const TAGS: &[&str] = &["block-patterns", "custom-colors", "e-commerce", "full-site-editing"];

/// A theme of the site.
#[derive(Clone, Debug, Default)]
struct Theme {
    stylesheet: String,
    name: String,
    version: String,
    author: String,
    description: String,
}

impl Theme {
    /// The look that the pages have by themselves.
    fn own() -> Self {
        Self {
            stylesheet: compatible::STYLESHEET.to_owned(),
            name: OWN_NAME.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            author: OWN_NAME.to_owned(),
            description: OWN_DESCRIPTION.to_owned(),
        }
    }

    fn of(manifest: &ThemeManifest) -> Self {
        Self {
            stylesheet: manifest.slug.clone(),
            name: manifest.name.clone(),
            version: manifest.version.clone(),
            author: manifest.author.clone(),
            description: manifest.description.clone(),
        }
    }
}

pub(super) fn routes(names: &Names, catalogue: &Arc<Catalogue>) -> Vec<Route<Action>> {
    let item = item();
    let statuses = Schema::list(Schema::text().choices(&[ACTIVE, INACTIVE]));
    let list_args = Args::new().arg("status", statuses.about("Only themes with this status."));
    let one_args = Args::new().arg("stylesheet", Schema::text().about("Name of the theme."));
    let (of_list, of_one) = (Arc::clone(catalogue), Arc::clone(catalogue));
    let namespace: Arc<str> = names.content.as_str().into();
    let also = Arc::clone(&namespace);
    let editor: Arc<str> = format!("/{}/export", names.editor).into();
    let also_editor = Arc::clone(&editor);
    // Who looks at the active theme is told where to save styles, and that place may be a new one.
    vec![
        Route::at(&names.content, "/themes")
            .on(
                READ,
                list_args,
                write(may_list, move |call: &mut Call<'_>| {
                    list(call, &of_list, (&namespace, &editor))
                }),
            )
            .lists()
            .schema(item.document()),
        Route::at(
            &names.content,
            r#"/themes/(?P<stylesheet>[^\/:<>\*\?"\|]+(?:\/[^\/:<>\*\?"\|]+)?)"#,
        )
        .on(
            READ,
            one_args,
            write(may_read, move |call: &mut Call<'_>| show(call, &of_one, (&also, &also_editor))),
        )
        .schema(item.document()),
    ]
}

fn item() -> Item {
    let text = |about: &str| Schema::text().about(about).readonly();
    let both = |about: &str| {
        let forms = [("raw", text("As it is stored.")), ("rendered", text("As it is shown."))];
        Schema::object(forms).about(about).readonly()
    };
    let tags = Schema::object([
        ("raw", Schema::list(Schema::text()).about("One by one.")),
        ("rendered", text("As they are shown.")),
    ]);
    Item::new(
        "theme",
        Schema::object([
            ("stylesheet", text("Its name on the site.")),
            ("stylesheet_uri", text("Where its files are.").format("uri")),
            ("template", text("The theme that it is a child of, or its own name.")),
            ("template_uri", text("Where the files of that are.").format("uri")),
            ("author", both("Its makers.")),
            ("author_uri", both("Where its makers are.")),
            ("description", both("What it is like.")),
            ("is_block_theme", Schema::boolean().about("Is made of blocks.").readonly()),
            ("name", both("Its title.")),
            ("requires_php", text("Version of the language that it needs.")),
            ("requires_wp", text("Version of the site that it needs.")),
            ("screenshot", text("A picture of it.")),
            ("tags", tags.about("What it can do.").readonly()),
            ("textdomain", text("The name of its translations.")),
            ("theme_supports", Schema::map().about("Features of the site with it.").readonly()),
            ("theme_uri", both("Where its makers tell of it.")),
            ("version", text("Its version.")),
            ("status", text("Its status.").choices(&[INACTIVE, ACTIVE])),
        ]),
    )
}

fn may_view_active(call: &Call<'_>) -> Result<(), Stop> {
    if WRITERS.iter().any(|needed| call.can(*needed)) {
        return Ok(());
    }
    let message = "You are not allowed to view the active theme.";
    Err(call.deny("rest_cannot_view_active_theme", message).into())
}

fn may_view_all(call: &Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to view themes.";
    call.need(Capability::SwitchThemes, "rest_cannot_view_themes", message)
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let active_alone = call.params.texts("status") == [ACTIVE];
    match may_view_all(call) {
        Err(_) if active_alone => may_view_active(call),
        outcome => outcome,
    }
}

fn may_read(call: &mut Call<'_>) -> Result<(), Stop> {
    let is_active = call.params.text("stylesheet") == Some(&active_stylesheet(call.options()));
    match may_view_all(call) {
        Err(_) if is_active => may_view_active(call),
        outcome => outcome,
    }
}

/// All that can be shown without fetching anything: what is installed, and what came along.
fn all(call: &mut Call<'_>, catalogue: &Catalogue) -> Result<Vec<Theme>> {
    let mut themes = vec![Theme::own()];
    for row in package::list(call.conn()?, PackageKind::Theme)? {
        themes.push(Theme::of(&read_manifest(&row)?));
    }
    for offer in catalogue.bundled() {
        if let Manifest::Theme(manifest) = &offer.manifest
            && !themes.iter().any(|theme| theme.stylesheet == manifest.slug)
        {
            themes.push(Theme::of(manifest));
        }
    }
    Ok(themes)
}

fn list(call: &mut Call<'_>, catalogue: &Catalogue, paths: (&str, &str)) -> Outcome {
    let active = active_stylesheet(call.options());
    let wanted = call.params.texts("status");
    let mut items = Vec::new();
    for theme in all(call, catalogue)? {
        let status = if theme.stylesheet == active { ACTIVE } else { INACTIVE };
        if wanted.is_empty() || wanted.iter().any(|one| one == status) {
            items.push(prepare(call, &theme, paths)?.into_json().2);
        }
    }
    let total = items.len().to_string();
    let reply = Reply::new(items).header("x-wp-total", total);
    Ok(reply.header("x-wp-totalpages", "1"))
}

fn show(call: &mut Call<'_>, catalogue: &Catalogue, paths: (&str, &str)) -> Outcome {
    let wanted = call.params.text("stylesheet").unwrap_or_default().to_owned();
    let found = all(call, catalogue)?.into_iter().find(|theme| theme.stylesheet == wanted);
    let missing = || Refusal::new(404, "rest_theme_not_found", "Theme not found.");
    prepare(call, &found.ok_or_else(missing)?, paths)
}

fn prepare(call: &mut Call<'_>, theme: &Theme, (namespace, export): (&str, &str)) -> Outcome {
    let visit = call.visit;
    let is_active = theme.stylesheet == active_stylesheet(&visit.options);
    let both = |text: &str| json!({ "raw": text, "rendered": frame::text::render::title(text) });
    let mut fields = json!({
        "stylesheet": theme.stylesheet,
        "template": compatible::STYLESHEET,
        "requires_php": "",
        "requires_wp": "",
        "textdomain": theme.stylesheet,
        "version": theme.version,
        "screenshot": "",
        "author": both(&theme.author),
        "author_uri": both(""),
        "description": both(&theme.description),
        "name": both(&theme.name),
        "tags": { "raw": TAGS, "rendered": TAGS.join(", ") },
        "theme_uri": both(""),
        "status": if is_active { ACTIVE } else { INACTIVE },
        "is_block_theme": true,
        "stylesheet_uri": visit.page("/"),
        "template_uri": visit.page("/"),
    });
    let own = visit.rest(&format!("/{namespace}/themes/{}", theme.stylesheet));
    let collection = visit.rest(&format!("/{namespace}/themes"));
    let mut links = Links::new().to("self", own).to("collection", collection);
    if is_active {
        if let Some(members) = fields.as_object_mut() {
            members.insert(String::from("theme_supports"), supports());
        }
        let styles = {
            let (options, now) = (&visit.options, visit.now);
            appearance::styles_of(call.conn()?, options, now, &theme.stylesheet)?
        };
        let styles = format!("/{namespace}/global-styles/{}", styles.post_id);
        links = links.to("wp:user-global-styles", visit.rest(&styles));
        if call.can(Capability::EditThemeOptions) {
            let hints = json!({ "allow": ["GET"] });
            let target = json!({ "href": visit.rest(export), "targetHints": hints });
            links = links.add("wp:export-theme", target);
        }
    }
    Ok(Reply::new(fields).links(links))
}

/// What the pages of the site can do.
fn supports() -> Value {
    json!({
        "automatic-feed-links": true,
        "block-templates": true,
        "block-template-parts": true,
        "html5": ["comment-form", "comment-list", "gallery", "caption", "style", "script"],
        "post-formats": ["standard"],
        "post-thumbnails": true,
        "responsive-embeds": true,
        "title-tag": true,
        "wp-block-styles": true,
        "widgets": false,
    })
}
