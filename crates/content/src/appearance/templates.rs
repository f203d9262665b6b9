//! Templates and template parts over REST: listed, read, found by the rules of their names.

use std::sync::Arc;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, CompiledItem, Item, Refusal, Reply, Schema, Stop, Treatment};
use frame::action::{Action, read, write};
use frame::{Call, Names};
use serde_json::{Value, json};
use types::{Capability, Result};

use super::template::{self, BY_SLUG, Template, item, show_version};
use super::template_write;
use crate::posts::kind::{ALL_KINDS, Kind, TEMPLATE, TEMPLATE_PART};
use crate::posts::schema::ALL;
use crate::posts::versions::Versions;
use crate::posts::{autosaves, revisions};

/// What a name of a template may begin with; what follows says for what it is.
const PREFIXES: &[&str] =
    &["single", "page", "archive", "author", "category", "tag", "taxonomy", "date"];
/// Names of templates that stand for one place each.
const PLACES: &[&str] =
    &["index", "home", "front-page", "singular", "search", "404", "attachment", "privacy-policy"];

/// What the operations on one kind share.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) kind: &'static Kind,
    pub(super) item: CompiledItem,
    pub(super) namespace: String,
}

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

pub(super) fn prepare(
    collection: &Collection,
    call: &mut Call<'_>,
    template: &Template,
    context: &str,
) -> Result<Reply, Stop> {
    let fields = template.fields(call)?;
    let links = template.links(call, &collection.namespace)?;
    Ok(Reply::new(collection.item.filter_by_context(fields, context)).links(links))
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

/// Whether a rule looks for a template of this name.
pub(super) fn is_of_a_rule(slug: &str) -> bool {
    let has_prefix = |prefix: &&str| {
        slug.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    PLACES.contains(&slug) || PREFIXES.iter().any(has_prefix)
}

/// The names that are looked for in place of one, the closest first.
fn candidates(slug: &str, is_custom: bool, prefix: &str) -> Vec<String> {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match slug {
        "index" => return owned(&["index"]),
        "front-page" => return owned(&["front-page", "home", "index"]),
        _ if is_custom => return owned(&["page", "singular", "index"]),
        _ => {}
    }
    let mut names = vec![slug.to_owned()];
    let mut add = |name: &str| {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    if prefix.is_empty() {
        let kinds = ALL_KINDS.iter().map(|kind| kind.name);
        for (start, rest) in PREFIXES.iter().filter_map(|start| {
            let rest = slug.strip_prefix(start)?.strip_prefix('-')?;
            Some((*start, rest))
        }) {
            let of_kind = kinds.clone().find(|kind| rest.starts_with(&format!("{kind}-")));
            if let Some(kind) = of_kind {
                add(&format!("{start}-{kind}"));
            }
            add(start);
        }
    } else {
        add(prefix);
        add(prefix.split('-').next().unwrap_or_default());
    }
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| slug.starts_with(prefix));
    if starts(&["author", "taxonomy", "category", "tag"]) || slug == "date" {
        add("archive");
    }
    if slug == "attachment" {
        add("single");
    }
    if starts(&["single", "page"]) || slug == "attachment" {
        add("singular");
    }
    add("index");
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_looked_for_from_the_special_to_the_general() {
        for (slug, is_custom, prefix, expected) in [
            ("index", false, "", "index"),
            ("nope", false, "", "nope index"),
            ("nope", true, "", "page singular index"),
            ("front-page", false, "", "front-page home index"),
            ("page-about", false, "", "page-about page singular index"),
            ("category-news", false, "", "category-news category archive index"),
            ("single-post-hello", false, "", "single-post-hello single-post single singular index"),
            ("single-product", false, "", "single-product single singular index"),
            (
                "taxonomy-product_cat-boats",
                false,
                "taxonomy-product_cat",
                "taxonomy-product_cat-boats taxonomy-product_cat taxonomy archive index",
            ),
            ("attachment", false, "", "attachment single singular index"),
            ("date", false, "", "date archive index"),
        ] {
            assert_eq!(candidates(slug, is_custom, prefix).join(" "), expected, "{slug}");
        }
    }

    #[test]
    fn names_of_rules_are_no_custom_templates() {
        for name in ["index", "404", "single", "single-product", "category-news", "page-about"] {
            assert!(is_of_a_rule(name), "{name}");
        }
        for name in ["landing", "singles", "pages-of-mine"] {
            assert!(!is_of_a_rule(name), "{name}");
        }
    }
}
