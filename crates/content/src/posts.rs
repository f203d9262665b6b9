//! Posts and pages, their terms and revisions, and what kinds of content there are.
//!
//! One implementation serves both kinds, and one both taxonomies; what differs stands in [`kind`].
//! The item's schema is written once ([`schema`]): what is taken, shown and published follows from
//! it. **Markup of writers who are not trusted with all of it is cleaned before it is stored.**

mod address;
pub(crate) mod autosaves;
pub(crate) mod first_menu;
mod item;
pub(crate) mod kind;
mod labels;
pub(crate) mod list;
mod menu_items;
mod menu_locations;
pub(crate) mod page_list;
mod permalinks;
pub(crate) mod permit;
pub(crate) mod records;
pub(crate) mod revisions;
mod scheduled;
pub(crate) mod schema;
mod slug;
pub(crate) mod status;
pub(crate) mod taxonomy;
mod term;
mod term_write;
mod terms;
mod types;
pub(crate) mod versions;
pub(crate) mod write;

use std::sync::Arc;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Reply, Stop};
use db::Conn;
use frame::action::{Action, read, write};
use frame::text::render;
use frame::{Call, Names};
use site_rows::post::PostRow;

pub use self::address::find_by_path;
pub(crate) use self::address::{is_publicly_viewable, permalink, term_link};
pub use self::first_menu::begin;
pub(crate) use self::list::{direction, page, words};
pub(crate) use self::menu_items::menu_links;
pub(crate) use self::permit::lock_of;
pub use self::scheduled::{is_any_due, publish_due};

use self::item::{Collection, ItemView, Terms};
use self::kind::{Field, KINDS, Kind, MENU_ITEM};
use self::versions::Versions;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = Vec::new();
    for kind in KINDS {
        routes.extend(routes_of(names, kind));
    }
    routes.extend(types::routes(names));
    routes.extend(terms::routes(names));
    routes.extend(menu_items::routes(names));
    let entries = Versions::of_kind(&MENU_ITEM, &names.content);
    routes.extend(autosaves::routes(&entries, None, menu_items::update_args()));
    routes.extend(menu_locations::routes(names));
    routes
}

/// Makes what every site has: the category of posts that name none. Called at each start.
pub fn found(conn: &mut dyn Conn) -> ::types::Result<()> {
    term_write::found(conn)
}

/// The first words of the item as plain text, for lists and descriptions.
pub(crate) fn shown_summary(row: &PostRow) -> String {
    if !row.password.is_empty() {
        return String::new();
    }
    let source = if row.excerpt.trim().is_empty() { &row.content } else { &row.excerpt };
    let plain = render::plain_text(source);
    let words: Vec<&str> = plain.split_whitespace().take(render::EXCERPT_WORDS).collect();
    words.join(" ")
}

fn routes_of(names: &Names, kind: &'static Kind) -> Vec<Route<Action>> {
    let item = schema::item(kind);
    let compiled = item.compile().expect("the schema of an item is well formed");
    let namespace = names.content.clone();
    let collection = Arc::new(Collection { kind, item: compiled, namespace });
    let run = |operation: fn(&Collection, &mut Call<'_>) -> Result<Reply, Stop>| {
        let collection = Arc::clone(&collection);
        move |call: &mut Call<'_>| operation(&collection, call)
    };
    let may = |permission: fn(&mut Call<'_>, &Kind) -> Result<(), Stop>| {
        move |call: &mut Call<'_>| permission(call, kind)
    };
    let (list_args, create_args) = (schema::list_args(kind, &item), schema::create_args(&item));
    let delete_args =
        schema::delete_args("Whether to delete permanently instead of moving to the trash.");
    let base = format!("/{}", kind.base);
    let mut routes = vec![
        Route::at(&names.content, &base)
            .on(READ, list_args, read(may(permit::list), run(list::run)))
            .on(CREATE, create_args, write(may(permit::create), run(write::create)))
            .creates()
            .batchable()
            .schema(item.document()),
        Route::at(&names.content, &format!("{base}/(?P<id>[\\d]+)"))
            .on(READ, schema::read_args(kind, &item), read(may(permit::read), run(read_one)))
            .on(EDIT, schema::update_args(&item), write(may(permit::update), run(write::update)))
            .on(DELETE, delete_args, write(may(permit::delete), run(write::delete)))
            .notes_deletion()
            .refuses_with(&[410])
            .batchable()
            .schema(item.document()),
    ];
    let versions = Versions::of_kind(kind, &names.content);
    if kind.has(Field::Revisions) {
        routes.extend(revisions::routes(&versions));
    }
    let update_args = schema::update_args(&item).without("id");
    routes.extend(autosaves::routes(&versions, Some(collection), update_args));
    routes
}

fn read_one(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let row = permit::item_of(call, collection.kind, "id", permit::invalid_id)?;
    let terms = Terms::read(call, collection.kind, std::slice::from_ref(&row))?;
    let context = call.context();
    let is_open = permit::is_told(call, &row)?;
    let words = call.params.int("excerpt_length").filter(|words| *words > 0);
    let words = words.and_then(|words| usize::try_from(words).ok());
    let wanted = ItemView {
        is_open,
        excerpt_words: words.unwrap_or(render::EXCERPT_WORDS),
        ..ItemView::in_context(&context)
    };
    let (fields, links) = item::prepare(collection, call, &row, &terms, wanted)?;
    let visit = call.visit;
    let address = permalink(call.conn()?, visit, &row)?;
    let reply = Reply::new(fields).links(links);
    if !collection.kind.viewable {
        return Ok(reply);
    }
    let alternate = format!("<{address}>; rel=\"alternate\"; type=text/html");
    Ok(reply.header("link", alternate))
}
