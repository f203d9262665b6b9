//! Collections of fonts to choose from: the families that readers have.

use std::sync::Arc;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Refusal, Reply, Schema};
use frame::action::{Action, memory};
use frame::{Call, Names, paging};
use serde_json::{Value, json};

use super::may_list;
use crate::posts::list;
use crate::posts::schema::{ALL, page_args};

const COLLECTION: &str = "system-fonts";
/// Families that readers have: name, slug, category, list of fonts.
const FAMILIES: &[(&str, &str, &str, &str)] = &[
    ("System Sans-serif", "system-sans-serif", "sans-serif", "system-ui, sans-serif"),
    ("System Serif", "system-serif", "serif", "ui-serif, Georgia, Cambria, serif"),
    ("System Mono", "system-mono", "monospace", "ui-monospace, Menlo, Consolas, monospace"),
    ("System Rounded", "system-rounded", "sans-serif", "ui-rounded, Nunito, sans-serif"),
    ("Humanist", "humanist", "sans-serif", "Seravek, Optima, Candara, sans-serif"),
    ("Old style", "old-style", "serif", "Palatino, Baskerville, Garamond, serif"),
];

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let text = |about: &str| Schema::text().about(about).context(ALL).readonly();
    let array = |about: &str| Schema::types(&["array"]).about(about).context(ALL).readonly();
    let item = Item::new(
        "font-collection",
        Schema::object([
            ("slug", text("Its name.")),
            ("name", text("Its title.")),
            ("description", text("What is in it.")),
            ("font_families", array("The families in it.")),
            ("categories", array("The groups of its families.")),
        ]),
    );
    let namespace: Arc<str> = names.content.as_str().into();
    let also = Arc::clone(&namespace);
    let list_args = page_args(&item).without("search");
    let one_args = Args::new().arg("context", item.context_arg());
    vec![
        Route::at(&names.content, "/font-collections")
            .on(
                READ,
                list_args,
                memory(may_list, move |call: &mut Call<'_>| {
                    let first = list::page(&call.params).offset == 0;
                    let items: Vec<Value> = first
                        .then(|| collection(call, &namespace).into_json().2)
                        .into_iter()
                        .collect();
                    let path = format!("/{namespace}/font-collections");
                    Ok(paging::with_totals(Reply::new(items), call, &path, 1))
                }),
            )
            .schema(item.document()),
        Route::at(&names.content, r"/font-collections/(?P<slug>[\/\w-]+)")
            .on(
                READ,
                one_args,
                memory(may_list, move |call: &mut Call<'_>| {
                    if call.params.text("slug") != Some(COLLECTION) {
                        let message = "Collection of fonts not found.";
                        return Err(
                            Refusal::new(404, "rest_font_collection_not_found", message).into()
                        );
                    }
                    Ok(collection(call, &also))
                }),
            )
            .schema(item.document()),
    ]
}

/// The families that readers have on their own machines.
fn collection(call: &Call<'_>, namespace: &str) -> Reply {
    let families = FAMILIES.iter().map(|(name, slug, category, fonts)| {
        let settings = json!({ "name": name, "slug": slug, "fontFamily": fonts });
        json!({ "font_family_settings": settings, "categories": [category] })
    });
    let fields = json!({
        "slug": COLLECTION,
        "name": "System fonts",
        "description": "Families that readers have on their own machines: nothing is fetched.",
        "font_families": families.collect::<Vec<_>>(),
        "categories": [
            { "name": "Sans-serif", "slug": "sans-serif" },
            { "name": "Serif", "slug": "serif" },
            { "name": "Monospace", "slug": "monospace" },
        ],
    });
    let at = |path: &str| call.visit.rest(&format!("/{namespace}/font-collections{path}"));
    let own = at(&format!("/{COLLECTION}"));
    Reply::new(fields).links(Links::new().to("self", own).to("collection", at("")))
}
