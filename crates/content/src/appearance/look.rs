//! How the pages look, as data: for pages that others build of the same look and the same parts.
//! Everybody sees it on the pages, so that everybody may ask for it.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Reply, Schema, Stop};
use frame::action::{Action, anyone, read};
use frame::appearance::{active_name, active_stylesheet};
use frame::{Call, Names};
use serde_json::json;

use super::dress::{self, Dress};

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let text = |about: &str| Schema::text().about(about);
    let look = Schema::object([
        ("stylesheet", text("Name of the active theme.")),
        ("name", text("Its title.")),
        ("colors", Schema::map().about("Colors by the names of the palette.")),
        ("fonts", Schema::map().about("Font families of texts and headings, where chosen.")),
        ("style", text("What follows the usual style sheet; empty if nothing does.")),
    ]);
    let part = Schema::object([
        ("slug", text("Where it is shown: header, menu, footer or widgets.")),
        ("rendered", text("HTML without scripts; empty for what the pages show by themselves.")),
    ]);
    vec![
        Route::at(&names.theme, "/look").on(READ, Args::new(), read(anyone, show_look)).shows(look),
        Route::at(&names.pages, "/parts")
            .on(READ, Args::new(), read(anyone, list_parts))
            .shows(Schema::list(part)),
    ]
}

fn show_look(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let dressed = dress::read(call)?;
    let style = dressed.theme.map(|theme| theme.style).unwrap_or_default();
    Ok(Reply::new(json!({
        "stylesheet": active_stylesheet(call.options()),
        "name": active_name(call.options()),
        "colors": dressed.colours,
        "fonts": dressed.fonts,
        "style": style,
    })))
}

fn list_parts(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let Dress { header, menu, footer, widgets } = dress::read(call)?.dress;
    let parts = [("header", header), ("menu", menu), ("footer", footer), ("widgets", widgets)];
    let each = parts.into_iter().map(|(slug, html)| json!({ "slug": slug, "rendered": html }));
    Ok(Reply::new(each.collect::<Vec<_>>()))
}
