//! Entries of menus: links to items, to terms, or to any address. What an entry points at stands
//! among its meta fields; its texts are those of every post.

mod view;
mod write;

use std::sync::Arc;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, Item, Reply, Schema, Stop, Treatment};
use frame::action::{Action, read, write as change};
use frame::{Call, Names, paging};
use serde_json::Value;
use site_rows::post::{self, PostFilter, PostOrder, PostRow, TermCondition};
use types::Capability;

pub(super) use self::write::add_page;

pub(crate) use self::view::menu_links;
use self::view::{CUSTOM, Entries, POST_TYPE, TAXONOMY, prepare};
use super::kind::MENU_ITEM;
use super::schema::{ALL, EDIT as EDITOR, FULL};
use super::{list, permit, schema, status};

const TYPES: [&str; 4] = [TAXONOMY, POST_TYPE, "post_type_archive", CUSTOM];

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let item = item();
    let compiled = item.compile().expect("the schema of a menu item is well formed");
    let entries = Arc::new(Entries { item: compiled, namespace: names.content.clone() });
    let run = |operation: fn(&Entries, &mut Call<'_>) -> Result<Reply, Stop>| {
        let entries = Arc::clone(&entries);
        move |call: &mut Call<'_>| operation(&entries, call)
    };
    let base = format!("/{}", MENU_ITEM.base);
    let one = schema::id_args().arg("context", item.context_arg());
    let delete_args = schema::delete_args("Must be true: menu items have no trash.");
    let update_args = schema::id_args().with(update_args());
    vec![
        Route::at(&names.content, &base)
            .on(READ, list_args(&item), read(may_view, run(list_all)))
            .on(CREATE, treated(item.create_args()), change(may_create, run(write::create)))
            .batchable()
            .schema(item.document()),
        Route::at(&names.content, &format!("{base}/(?P<id>[\\d]+)"))
            .on(READ, one, read(may_read, run(read_one)))
            .on(EDIT, update_args, change(may_update, run(write::update)))
            .on(DELETE, delete_args, change(may_delete, run(write::delete)))
            .batchable()
            .schema(item.document()),
    ]
}

/// What a change of an entry takes.
pub(super) fn update_args() -> Args {
    treated(item().update_args())
}

fn item() -> Item {
    let text = |about: &str| Schema::text().about(about).context(ALL);
    let integer = |about: &str| Schema::integer().about(about).context(ALL);
    let texts = |about: &str| Schema::list(Schema::text()).about(about).context(ALL);
    let title = Schema::types(&["string", "object"]).about("Its title.").context(ALL).properties([
        ("raw", Schema::text().about("As it is stored.").context(EDITOR)),
        ("rendered", text("As it is shown.").readonly()),
    ]);
    let meta = Schema::object::<&str>([]).about("Meta fields.").context(FULL);
    let menus = Schema::integer().about("Id of its menu.").context(FULL);
    Item::new(
        MENU_ITEM.name,
        Schema::object([
            ("title", title),
            ("id", integer("Its number on the site.").readonly()),
            ("type_label", text("What it points at.").readonly()),
            ("type", text("What it points at.").choices(&TYPES).default(CUSTOM)),
            ("status", text("Its status.").choices(&status::settable()).default("publish")),
            ("parent", integer("Id of the entry in which it lies.").min(0).default(0)),
            ("attr_title", text("Title of its link.")),
            ("classes", texts("Names of classes for its link.")),
            ("description", text("What it is about.")),
            ("menu_order", integer("Its place in the menu.").min(1).default(1)),
            ("object", text("Kind or taxonomy of what it points at.")),
            ("object_id", integer("Id of what it points at.").min(0).default(0)),
            ("target", text("Where the link opens.").choices(&["_blank", ""])),
            ("url", text("Its address.").format("uri")),
            ("xfn", texts("Relations of its link.")),
            ("invalid", Schema::boolean().about("Points at nothing.").context(ALL).readonly()),
            ("menus", menus),
            ("meta", meta),
        ]),
    )
}

fn treated(args: Args) -> Args {
    args.treat("title", Treatment::None)
}

fn list_args(item: &Item) -> Args {
    schema::list_args(&MENU_ITEM, item)
        .revise("per_page", |size| size.default(100))
        .revise("order", |order| order.default("asc"))
        .revise("orderby", |order| order.default("menu_order"))
}

/// Menus are seen by those who write.
fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to view menu items.";
    if call.can(Capability::EditThemeOptions) {
        return Ok(());
    }
    call.need(Capability::EditPosts, "rest_cannot_view", message)
}

fn entry_of(call: &mut Call<'_>) -> Result<PostRow, Stop> {
    permit::item_of(call, &MENU_ITEM, "id", permit::invalid_id)
}

fn may_read(call: &mut Call<'_>) -> Result<(), Stop> {
    entry_of(call)?;
    may_view(call)
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create menu items.";
    call.need(Capability::EditThemeOptions, "rest_cannot_create", message)
}

fn may_update(call: &mut Call<'_>) -> Result<(), Stop> {
    entry_of(call)?;
    let message = "You are not allowed to edit this menu item.";
    call.need(Capability::EditThemeOptions, "rest_cannot_edit", message)
}

fn may_delete(call: &mut Call<'_>) -> Result<(), Stop> {
    entry_of(call)?;
    let message = "You are not allowed to delete this menu item.";
    call.need(Capability::EditThemeOptions, "rest_cannot_delete", message)
}

fn list_all(entries: &Entries, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let params = &call.params;
    let mut page = list::page(params);
    if call.leaves_out_items() {
        page.limit = 0;
    }
    let ids = |name: &str| params.ints(name);
    let mut terms = Vec::new();
    for (name, excludes) in [("menus", false), ("menus_exclude", true)] {
        let wanted = match params.get(name) {
            Some(Value::Object(query)) => {
                let listed = query.get("terms").and_then(Value::as_array);
                listed.into_iter().flatten().filter_map(Value::as_i64).collect()
            }
            _ => ids(name),
        };
        if !wanted.is_empty() {
            let excluded = || TermCondition::NoneOf(wanted.clone());
            terms.push(if excludes { excluded() } else { TermCondition::AnyOf(wanted) });
        }
    }
    let order = match params.text("orderby").unwrap_or_default() {
        "id" => PostOrder::Id,
        "include" => PostOrder::Include,
        "date" => PostOrder::Date,
        "modified" => PostOrder::Modified,
        "parent" => PostOrder::Parent,
        "slug" => PostOrder::Slug,
        "title" => PostOrder::Title,
        _ => PostOrder::MenuOrder,
    };
    let asked = params.texts("status");
    let public = asked.is_empty() || !call.can(Capability::EditThemeOptions);
    let wanted = PostFilter {
        kinds: vec![MENU_ITEM.name.to_owned()],
        statuses: if public { vec![status::PUBLISH.to_owned()] } else { asked },
        include: ids("include"),
        exclude: ids("exclude"),
        slugs: params.texts("slug"),
        search: list::words(params.text("search").unwrap_or_default(), false),
        menu_order: params.int("menu_order"),
        terms,
        order,
        direction: list::direction(params),
        page,
        ..PostFilter::default()
    };
    let (rows, total) = post::list(call.conn()?, &wanted)?;
    let context = call.context();
    let mut items = Vec::with_capacity(rows.len());
    for row in &rows {
        let (mut fields, links) = prepare(entries, call, row, &context)?;
        if let (Some(links), Some(members)) = (links.into_value(), fields.as_object_mut()) {
            members.insert(String::from("_links"), links);
        }
        items.push(fields);
    }
    Ok(paging::with_totals(Reply::new(items), call, &entries.path(), total))
}

fn read_one(entries: &Entries, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let row = entry_of(call)?;
    let context = call.context();
    let (fields, links) = prepare(entries, call, &row, &context)?;
    Ok(Reply::new(fields).links(links))
}
