//! Templates and template parts over REST: listed, read, found by the rules of their names.

use std::sync::Arc;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop, Treatment};
use frame::action::{Action, read, write};
use frame::{Call, Names};
use serde_json::{Value, json};
use types::{Capability, Result};

use super::rules::candidates;
use super::template::{self, BY_SLUG, Collection, item, prepare, show_version};
use super::template_write;
use crate::posts::kind::{ALL_KINDS, Kind, TEMPLATE, TEMPLATE_PART};
use crate::posts::schema::ALL;
use crate::posts::versions::Versions;
use crate::posts::{autosaves, revisions};

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    [&TEMPLATE, &TEMPLATE_PART].into_iter().flat_map(|kind| routes_of(names, kind)).collect()
}

fn routes_of(names: &Names, kind: &'static Kind) -> Vec<Route<Action>> {
    let item = item(kind);
    let compiled = item.compile().expect("the schema of a template is well formed");
    let namespace = names.content.clone();
    let collection = Arc::new(Collection { kind, item: compiled, namespace });
    let run = |operation: fn(&Collection, &mut Call<'_>) -> Result<Reply, Stop>| {
        let collection = Arc::clone(&collection);
        move |call: &mut Call<'_>| operation(&collection, call)
    };
    let base = format!("/{}", kind.base);
    let document = item.document();
    let mut routes = vec![
        Route::at(&names.content, &base)
            .on(READ, list_args(&item), read(may_view, run(list)))
            .lists()
            .on(CREATE, treated(item.create_args()), write(may_manage, run(template_write::create)))
            .creates()
            .schema(document.clone()),
        Route::at(&names.content, &format!("{base}/lookup"))
            .on(READ, lookup_args(), read(may_view, run(look_up)))
            .schema(document.clone()),
    ];
    // A name may have slashes in it, so that the longer paths come first.
    let versions = versions(names, kind, &item);
    routes.extend(revisions::routes(&versions));
    let update_args = treated(item.update_args());
    routes.extend(autosaves::routes(&versions, None, update_args.clone()));
    let about = "Whether to delete permanently instead of moving to the trash.";
    let force = Schema::boolean().default(false).about(about);
    let id = || Args::new().arg("id", Schema::text().about("Theme and name."));
    routes.push(
        Route::at(&names.content, &format!("{base}/(?P<id>{})", BY_SLUG.pattern))
            .on(READ, id().arg("context", item.context_arg()), read(may_view, run(show)))
            .on(EDIT, id().with(update_args), write(may_manage, run(template_write::update)))
            .on(DELETE, id().arg("force", force), write(may_manage, run(template_write::delete)))
            .notes_deletion()
            .refuses_with(&[410])
            .schema(document),
    );
    routes
}

fn versions(names: &Names, kind: &'static Kind, item: &Item) -> Arc<Versions> {
    let parent = Schema::integer().about("Number of what it is a version of.").context(ALL);
    let versions = Versions::new(kind, &names.content, BY_SLUG, (item.clone(), show_version));
    versions.with_fields(vec![("parent", parent)])
}

fn list_args(item: &Item) -> Args {
    Args::new()
        .arg("context", item.context_arg())
        .arg("wp_id", Schema::integer().about("Only what has this number."))
        .arg("area", Schema::text().about("Only parts of this area."))
        .arg("post_type", Schema::text().about("Only what items of this kind may choose."))
}

fn lookup_args() -> Args {
    Args::new()
        .arg("slug", Schema::text().required().about("Name of the template that is wanted."))
        .arg("is_custom", Schema::boolean().about("Whether items choose it."))
        .arg("template_prefix", Schema::text().about("Prefix of the rule that it belongs to."))
}

/// Texts may come alone or as objects; that is looked at when they are used.
fn treated(args: Args) -> Args {
    args.treat("title", Treatment::None).treat("content", Treatment::None)
}

/// Templates are read by those who write anything.
fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    let writes = ALL_KINDS.iter().any(|kind| call.can(kind.may.edit));
    if writes || call.can(Capability::EditPosts) { Ok(()) } else { Err(denied(call).into()) }
}

fn may_manage(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.can(Capability::EditThemeOptions) { Ok(()) } else { Err(denied(call).into()) }
}

fn denied(call: &Call<'_>) -> Refusal {
    let message = "You are not allowed to use the templates of this site.";
    call.deny("rest_cannot_manage_templates", message)
}

fn list(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let context = call.context();
    let kind = call.params.text("post_type").filter(|kind| !kind.is_empty()).map(str::to_owned);
    let area = call.params.text("area").filter(|area| !area.is_empty()).map(str::to_owned);
    let number = call.params.int("wp_id");
    let mut items = Vec::new();
    for template in template::all(call, collection.kind)? {
        let has_number = number
            .is_none_or(|number| template.row.as_ref().is_some_and(|row| row.post_id == number));
        let is_chosen = kind.as_ref().is_none_or(|kind| {
            let fits = |file: &super::theme::TemplateFile| file.post_types.contains(&kind.as_str());
            template.is_custom() && template.file.is_none_or(fits)
        });
        let of_area = area.as_ref().is_none_or(|area| {
            collection.kind.name != TEMPLATE_PART.name || template.area() == *area
        });
        if has_number && is_chosen && of_area {
            let reply = prepare(collection, call, &template, &context)?;
            items.push(reply.into_json().2);
        }
    }
    Ok(Reply::new(Value::Array(items)))
}

fn show(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let template = template::named(call, collection.kind, "id")?;
    let context = call.context();
    prepare(collection, call, &template, &context)
}

/// The template that stands in for one that is not there, which is always a whole one.
fn look_up(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let slug = call.params.text("slug").unwrap_or_default().to_owned();
    let prefix = call.params.text("template_prefix").unwrap_or_default().to_owned();
    let names = candidates(&slug, call.params.flag("is_custom"), &prefix);
    let all = template::all(call, &TEMPLATE)?;
    let of_name = |name: &String| all.iter().find(|template| template.slug == *name);
    match names.iter().find_map(of_name) {
        Some(found) => prepare(collection, call, found, "view"),
        None => Ok(Reply::new(json!({}))),
    }
}
