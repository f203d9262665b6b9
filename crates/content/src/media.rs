//! The media library over REST: files are uploaded, described, found, changed and deleted.
//!
//! An item is a post of its own kind, whose description is its content and whose caption is its
//! excerpt, with what the library knows of its file ([`frame::library`]). It has the status of what
//! it is attached to. **Files are written and deleted outside of any transaction**: rows after
//! files when something is made, files after rows when something goes.

mod create;
mod edit;
mod item;
mod list;
mod permit;
mod schema;
mod update;

use std::sync::Arc;

pub(crate) use self::create::to_the_end;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{CompiledItem, Reply, Stop};
use frame::action::{Action, Later, later, read, write};
use frame::{Call, Names};

/// What the operations share.
#[derive(Debug)]
struct Collection {
    item: CompiledItem,
    /// The namespace of its routes.
    namespace: String,
}

impl Collection {
    fn path(&self) -> String {
        format!("/{}/media", self.namespace)
    }

    fn path_of(&self, id: i64) -> String {
        format!("{}/{id}", self.path())
    }
}

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let item = schema::item();
    let compiled = item.compile().expect("the schema of an item is well formed");
    let namespace = names.content.clone();
    let collection = Arc::new(Collection { item: compiled, namespace });
    let run = |operation: fn(&Collection, &mut Call<'_>) -> Result<Reply, Stop>| {
        let collection = Arc::clone(&collection);
        move |call: &mut Call<'_>| operation(&collection, call)
    };
    macro_rules! run_later {
        ($operation:path) => {{
            let collection = Arc::clone(&collection);
            move |call: Later| $operation(Arc::clone(&collection), call)
        }};
    }
    let of_item = |rest: &str| format!("/media/(?P<id>[\\d]+){rest}");
    vec![
        Route::at(&names.content, "/media")
            .on(READ, schema::list_args(&item), read(permit::list, run(list::run)))
            .on(
                CREATE,
                schema::create_args(&item),
                later(permit::create, run_later!(create::create)),
            )
            .creates()
            .refuses_with(&[412, 413])
            .streams_body()
            .schema(schema::document(&item, &names.content)),
        Route::at(&names.content, &of_item(""))
            .on(READ, schema::read_args(&item), read(permit::read, run(item::read_one)))
            .on(EDIT, schema::update_args(&item), write(permit::update, run(update::update)))
            .on(DELETE, schema::delete_args(), later(permit::delete, run_later!(update::delete)))
            .notes_deletion()
            .refuses_with(&[501])
            .schema(schema::document(&item, &names.content)),
        Route::at(&names.content, &of_item("/post-process"))
            .on(
                CREATE,
                schema::process_args(),
                later(permit::update, run_later!(edit::post_process)),
            )
            .shows_one(item.document()),
        Route::at(&names.content, &of_item("/edit"))
            .on(CREATE, schema::edit_args(&item), later(permit::edit_image, run_later!(edit::edit)))
            .creates()
            .shows_one(item.document()),
    ]
}
