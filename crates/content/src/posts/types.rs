//! What kinds of content, taxonomies and statuses the site has, for clients that ask.

use std::sync::Arc;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, CompiledItem, Item, Links, Refusal, Reply, Schema, Stop};
use frame::action::{Action, memory};
use frame::{Call, Names};
use serde_json::{Map, Value, json};
use types::Result;

use super::kind::{ALL_KINDS, Kind, UNLISTED_KINDS};
use super::labels;
use super::schema::{ALL, EDIT, FULL};
use super::status::{self, STATUSES, Status, Visibility};
use super::taxonomy::{ALL_TAXONOMIES, ATTRIBUTE_TAXONOMY, Taxonomy, UNLISTED_TAXONOMIES};

/// One of the three collections: what its things are called, and how each is found and shown.
struct Collection<T: 'static> {
    base: &'static str,
    /// The variable of the path.
    variable: &'static str,
    item: Item,
    compiled: CompiledItem,
    namespace: String,
    all: fn() -> Vec<&'static T>,
    name: fn(&T) -> &'static str,
    /// Whether the caller may see the thing in a view.
    may: fn(&Call<'_>, &T, &str) -> bool,
    fields: fn(&T) -> Value,
    links: fn(&Call<'_>, &str, &T) -> Links,
    missing: fn(&Call<'_>, &str) -> Refusal,
    denied: fn(&Call<'_>, &str) -> Refusal,
    /// Which of the two the permission looks at; the rest is found out afterwards.
    checks: Checks,
}

/// What is looked at before an operation, so that its refusals name no methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checks {
    Nothing,
    /// Rights, and what is not told of; but not what is unknown.
    Rights,
    All,
}

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = types(names);
    routes.extend(statuses(names));
    routes.extend(taxonomies(names));
    routes
}

fn types(names: &Names) -> Vec<Route<Action>> {
    let item = type_item();
    routes_of(Collection {
        base: "types",
        variable: "type",
        compiled: compile(&item),
        item,
        namespace: names.content.clone(),
        all: || ALL_KINDS.to_vec(),
        name: |kind| kind.name,
        may: |call, kind, context| context != "edit" || call.can(kind.may.edit),
        fields: type_fields,
        links: type_links,
        missing: |call, name| {
            if UNLISTED_KINDS.contains(&name) {
                let message = "You are not allowed to view this content type.";
                return call.deny("rest_cannot_read_type", message);
            }
            Refusal::new(404, "rest_type_invalid", "Content type not found.")
        },
        denied: |call, _| {
            call.deny("rest_forbidden_context", "You are not allowed to edit this content type.")
        },
        checks: Checks::Nothing,
    })
    .into_iter()
    .collect()
}

fn statuses(names: &Names) -> Vec<Route<Action>> {
    let item = status_item();
    routes_of(Collection {
        base: "statuses",
        variable: "status",
        compiled: compile(&item),
        item,
        namespace: names.content.clone(),
        all: || STATUSES.iter().chain(status::OF_ORDERS).collect(),
        name: |status| status.name,
        may: |call, status, _| status.is_public() || may_edit_anything(call),
        fields: status_fields,
        links: status_links,
        missing: |_, _| Refusal::new(404, "rest_status_invalid", "Status not found."),
        denied: |call, _| {
            call.deny("rest_cannot_read_status", "You are not allowed to use this status.")
        },
        checks: Checks::All,
    })
    .into_iter()
    .collect()
}

fn taxonomies(names: &Names) -> Vec<Route<Action>> {
    let item = taxonomy_item();
    routes_of(Collection {
        base: "taxonomies",
        variable: "taxonomy",
        compiled: compile(&item),
        item,
        namespace: names.content.clone(),
        all: || ALL_TAXONOMIES.to_vec(),
        name: |taxonomy| taxonomy.name,
        may: |call, taxonomy, context| context != "edit" || call.can(taxonomy.assign),
        fields: taxonomy_fields,
        links: taxonomy_links,
        missing: |call, name| {
            let unlisted = UNLISTED_TAXONOMIES.contains(&name)
                || name.strip_prefix(ATTRIBUTE_TAXONOMY).is_some_and(|rest| !rest.is_empty());
            if unlisted {
                return call.forbidden();
            }
            Refusal::new(404, "rest_taxonomy_invalid", "Taxonomy not found.")
        },
        denied: |call, _| {
            call.deny("rest_forbidden_context", "You are not allowed to edit this taxonomy.")
        },
        checks: Checks::Rights,
    })
    .into_iter()
    .collect()
}

fn compile(item: &Item) -> CompiledItem {
    item.compile().expect("the schemas of types are well formed")
}

fn may_edit_anything(call: &Call<'_>) -> bool {
    ALL_KINDS.iter().any(|kind| call.can(kind.may.edit))
}

fn routes_of<T: Sync>(collection: Collection<T>) -> [Route<Action>; 2] {
    let collection = Arc::new(collection);
    let Collection { base, variable, .. } = *collection;
    let item = &collection.item;
    let mut list_args = Args::new().arg("context", item.context_arg());
    if base == "taxonomies" {
        let about = "Only taxonomies of this kind of content.";
        list_args = list_args.arg("type", Schema::text().about(about));
    }
    let about = "The name of the one that is asked for.";
    let one_args =
        Args::new().arg(variable, Schema::text().about(about)).arg("context", item.context_arg());
    let (all, one, gate) =
        (Arc::clone(&collection), Arc::clone(&collection), Arc::clone(&collection));
    let listed = Route::at(&collection.namespace, &format!("/{base}"))
        .on(READ, list_args, memory(may_list, move |call: &mut Call<'_>| list_all(&all, call)))
        .maps()
        .schema(item.document());
    let permit = move |call: &mut Call<'_>| match gate.checks {
        Checks::Nothing => Ok(()),
        Checks::All => may_read(&gate, call),
        Checks::Rights => match may_read(&gate, call) {
            Err(Stop::Refused(refusal)) if refusal.status == 404 => Ok(()),
            other => other,
        },
    };
    let single = Route::at(&collection.namespace, &format!("/{base}/(?P<{variable}>[\\w-]+)"))
        .on(READ, one_args, memory(permit, move |call: &mut Call<'_>| read_one(&one, call)))
        .schema(item.document());
    [listed, single]
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.params.text("context") == Some("edit") && !may_edit_anything(call) {
        let message = "You are not allowed to manage these.";
        return Err(call.deny("rest_cannot_view", message).into());
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every operation")]
fn list_all<T>(collection: &Collection<T>, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let context = call.context();
    let kind = call.params.text("type").filter(|_| collection.base == "taxonomies");
    let kind = kind.map(str::to_owned);
    let mut shown = Map::new();
    for thing in (collection.all)() {
        let name = (collection.name)(thing);
        let of_kind = kind.as_ref().is_none_or(|kind| bears(kind, name));
        if !of_kind || !(collection.may)(call, thing, &context) {
            continue;
        }
        let (mut fields, links) = prepare(collection, call, thing, &context);
        if let (Some(links), Some(members)) = (links.into_value(), fields.as_object_mut()) {
            members.insert(String::from("_links"), links);
        }
        shown.insert(name.to_owned(), fields);
    }
    // Nothing at all is an empty list, as clients know it.
    Ok(Reply::new(if shown.is_empty() { json!([]) } else { Value::Object(shown) }))
}

fn bears(kind: &str, taxonomy: &str) -> bool {
    let kind = ALL_KINDS.iter().find(|other| other.name == kind);
    kind.is_some_and(|kind| kind.taxonomies.iter().any(|other| other.name == taxonomy))
}

fn find<T>(collection: &Collection<T>, call: &Call<'_>) -> Result<&'static T, Stop> {
    let name = call.params.text(collection.variable).unwrap_or_default();
    let found = (collection.all)().into_iter().find(|thing| (collection.name)(thing) == name);
    found.ok_or_else(|| (collection.missing)(call, name).into())
}

fn may_read<T>(collection: &Collection<T>, call: &mut Call<'_>) -> Result<(), Stop> {
    let thing = find(collection, call)?;
    let context = call.context();
    if (collection.may)(call, thing, &context) {
        return Ok(());
    }
    Err((collection.denied)(call, &context).into())
}

fn read_one<T>(collection: &Collection<T>, call: &mut Call<'_>) -> Result<Reply, Stop> {
    may_read(collection, call)?;
    let thing = find(collection, call)?;
    let context = call.context();
    let (fields, links) = prepare(collection, call, thing, &context);
    Ok(Reply::new(fields).links(links))
}

fn prepare<T>(
    collection: &Collection<T>,
    call: &Call<'_>,
    thing: &T,
    context: &str,
) -> (Value, Links) {
    let mut fields = (collection.fields)(thing);
    if let Some(place) = fields.get_mut("rest_namespace") {
        *place = json!(collection.namespace);
    }
    let fields = collection.compiled.filter_by_context(fields, context);
    (fields, (collection.links)(call, &collection.namespace, thing))
}

fn field(
    name: &'static str,
    schema: Schema,
    about: &str,
    views: &[&str],
) -> (&'static str, Schema) {
    (name, schema.about(about).context(views).readonly())
}

fn type_item() -> Item {
    let flag = Schema::boolean;
    let visibility = Schema::object([
        ("show_ui", flag().about("Whether it has pages of administration.")),
        ("show_in_nav_menus", flag().about("Whether menus may point at it.")),
    ]);
    let locks = Schema::types(&["string", "boolean"])
        .keyword("enum", json!(["all", "insert", "contentOnly", false]));
    let fields = [
        field("capabilities", Schema::map(), "What one needs to work with it.", EDIT),
        field("description", Schema::text(), "What it is for.", FULL),
        field("hierarchical", flag(), "Whether items lie within each other.", FULL),
        field("viewable", flag(), "Whether readers see it.", EDIT),
        field("labels", Schema::map(), "What it is called in each place.", EDIT),
        field("name", Schema::text(), "Its title.", ALL),
        field("slug", Schema::text(), "Its name.", ALL),
        field("icon", Schema::types(&["string", "null"]), "Its icon.", ALL),
        field("supports", Schema::map(), "Features of its items.", EDIT),
        field("has_archive", Schema::types(&["string", "boolean"]), "Its archive.", FULL),
        field("taxonomies", Schema::list(Schema::text()), "Its taxonomies.", FULL),
        field("rest_base", Schema::text(), "Its part of REST paths.", ALL),
        field("rest_namespace", Schema::text(), "The namespace of its routes.", ALL),
        field("visibility", visibility, "Where it is shown.", EDIT),
        field("template", Schema::types(&["array"]), "Blocks of a new item.", ALL),
        field("template_lock", locks, "Whether these blocks are fixed.", ALL),
    ];
    Item::new("type", Schema::object(fields))
}

fn type_fields(kind: &Kind) -> Value {
    let capabilities = kind.may.named().map(|(name, needed)| (name, needed.name()));
    let base = kind.name;
    let of_one = ["edit_post", "read_post", "delete_post"].map(|name| {
        let verb = name.trim_end_matches("_post");
        (name.to_owned(), json!(format!("{verb}_{base}")))
    });
    let mut named: Map<String, Value> = Map::from_iter(of_one);
    named.extend(capabilities.into_iter().map(|(name, needed)| (name.to_owned(), json!(needed))));
    let supports: Map<String, Value> =
        kind.supports.iter().map(|name| ((*name).to_owned(), support(kind, name))).collect();
    let taxonomies: Vec<&str> = kind.taxonomies.iter().map(|taxonomy| taxonomy.name).collect();
    json!({
        "capabilities": named,
        "description": kind.description,
        "hierarchical": kind.hierarchical,
        "viewable": kind.viewable,
        "has_archive": kind.archive.map_or(json!(false), |path| json!(path)),
        "labels": labels::of_kind(kind),
        "name": kind.label,
        "slug": kind.name,
        "icon": kind.icon,
        "supports": supports,
        "taxonomies": taxonomies,
        "rest_base": kind.base,
        "rest_namespace": "",
        "visibility": { "show_ui": kind.administered, "show_in_nav_menus": in_menus(kind) },
        "template": [],
        "template_lock": false,
    })
}

/// Whether menus may point at items of the kind.
fn in_menus(kind: &Kind) -> bool {
    kind.viewable && kind.name != "attachment"
}

/// What is told about a feature: that of the editor says whether its blocks take comments.
fn support(kind: &Kind, feature: &str) -> Value {
    let notes = feature == "editor" && in_menus(kind) && kind.archive.is_none();
    if notes { json!([{ "notes": true }]) } else { json!(true) }
}

fn type_links(call: &Call<'_>, namespace: &str, kind: &Kind) -> Links {
    items_links(call, namespace, "types", kind.base)
}

fn items_links(call: &Call<'_>, namespace: &str, collection: &str, items: &str) -> Links {
    let at = |path: &str| call.visit.rest(&format!("/{namespace}/{path}"));
    Links::new().to("collection", at(collection)).to("wp:items", at(items))
}

fn taxonomy_item() -> Item {
    let flag = Schema::boolean;
    let place = |about: &str| flag().about(about);
    let visibility = Schema::object([
        ("public", place("Whether readers see it.")),
        ("publicly_queryable", place("Whether readers may ask for it.")),
        ("show_admin_column", place("Whether lists of administration show it.")),
        ("show_in_nav_menus", place("Whether menus may point at it.")),
        ("show_in_quick_edit", place("Whether it can be edited quickly.")),
        ("show_ui", place("Whether it has pages of administration.")),
    ]);
    let fields = [
        field("capabilities", Schema::map(), "What one needs to work with it.", EDIT),
        field("description", Schema::text(), "What it is for.", FULL),
        field("hierarchical", flag(), "Whether terms lie within each other.", FULL),
        field("labels", Schema::map(), "What it is called in each place.", EDIT),
        field("name", Schema::text(), "Its title.", ALL),
        field("slug", Schema::text(), "Its name.", ALL),
        field("show_cloud", flag(), "Whether its terms may be shown as a cloud.", EDIT),
        field("types", Schema::list(Schema::text()), "The kinds of content it groups.", FULL),
        field("rest_base", Schema::text(), "Its part of REST paths.", ALL),
        field("rest_namespace", Schema::text(), "The namespace of its routes.", ALL),
        field("visibility", visibility, "Where it is shown.", EDIT),
    ];
    Item::new("taxonomy", Schema::object(fields))
}

fn taxonomy_fields(taxonomy: &Taxonomy) -> Value {
    let bearers = ALL_KINDS.iter().filter(|kind| bears(kind.name, taxonomy.name));
    let types: Vec<&str> = bearers.map(|kind| kind.name).collect();
    let plural = taxonomy.plural;
    json!({
        "capabilities": {
            "manage_terms": taxonomy.manage.name(),
            "edit_terms": format!("edit_{plural}"),
            "delete_terms": format!("delete_{plural}"),
            "assign_terms": format!("assign_{plural}"),
        },
        "description": "",
        "hierarchical": taxonomy.hierarchical,
        "labels": labels::of_taxonomy(taxonomy),
        "name": taxonomy.label,
        "slug": taxonomy.name,
        "show_cloud": true,
        "types": types,
        "rest_base": taxonomy.base,
        "rest_namespace": "",
        "visibility": {
            "public": true,
            "publicly_queryable": true,
            "show_admin_column": true,
            "show_in_nav_menus": true,
            "show_in_quick_edit": true,
            "show_ui": true,
        },
    })
}

fn taxonomy_links(call: &Call<'_>, namespace: &str, taxonomy: &Taxonomy) -> Links {
    items_links(call, namespace, "taxonomies", taxonomy.base)
}

fn status_item() -> Item {
    let flag = Schema::boolean;
    let fields = [
        field("name", Schema::text(), "Its title.", ALL),
        field("private", flag(), "Whether items are for few.", EDIT),
        field("protected", flag(), "Whether items are work in progress.", EDIT),
        field("public", flag(), "Whether items are for everybody.", FULL),
        field("queryable", flag(), "Whether readers may ask for items.", FULL),
        field("show_in_list", flag(), "Whether lists offer it.", EDIT),
        field("slug", Schema::text(), "Its name.", ALL),
        field("date_floating", flag(), "Whether items have no date of their own yet.", FULL),
    ];
    Item::new("status", Schema::object(fields))
}

fn status_fields(status: &Status) -> Value {
    json!({
        "name": status.label,
        "private": status.visibility == Visibility::Few,
        "protected": status.visibility == Visibility::Unfinished,
        "public": status.is_public(),
        "queryable": status.is_public(),
        "show_in_list": status.listed,
        "slug": status.name,
        "date_floating": status.floating_date,
    })
}

fn status_links(call: &Call<'_>, namespace: &str, status: &Status) -> Links {
    let posts = call.visit.rest(&format!("/{namespace}/{}", super::kind::POST.base));
    let href = match status.name {
        status::PUBLISH => posts,
        name => format!("{posts}?status={name}"),
    };
    Links::new().to("archives", href)
}
