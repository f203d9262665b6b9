//! Terms over REST: categories and tags, one implementation with the taxonomy as data.

use std::sync::Arc;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, Item, Reply, Schema, Stop, Treatment, args};
use frame::action::{Action, read, write};
use frame::{Call, Names, paging};
use serde_json::Value;
use site_rows::term::{self, TermFilter, TermOrder};
use types::Result;

use super::schema::{ALL, FULL};
use super::taxonomy::{TAXONOMIES, Taxonomy};
use super::term::{Collection, prepare, term_of};
use super::{list, schema, term_write};

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    TAXONOMIES.iter().flat_map(|taxonomy| routes_of(names, taxonomy)).collect()
}

fn routes_of(names: &Names, taxonomy: &'static Taxonomy) -> [Route<Action>; 2] {
    let item = item(taxonomy);
    let compiled = item.compile().expect("the schema of a term is well formed");
    let namespace = names.content.clone();
    let collection = Arc::new(Collection { taxonomy, item: compiled, namespace });
    let one_args = schema::id_args().arg("context", item.context_arg());
    let treated = |args: Args| {
        args.treat("name", Treatment::Cleaned(args::text_field))
            .treat("slug", Treatment::Cleaned(schema::to_slug))
    };
    let run = |operation: fn(&Collection, &mut Call<'_>) -> Result<Reply, Stop>| {
        let collection = Arc::clone(&collection);
        move |call: &mut Call<'_>| operation(&collection, call)
    };
    let may = |permission: fn(&Taxonomy, &mut Call<'_>) -> Result<(), Stop>| {
        move |call: &mut Call<'_>| permission(taxonomy, call)
    };
    let create_args = treated(item.create_args());
    let update_args = schema::id_args().with(treated(item.update_args()));
    let delete_args = schema::delete_args("Must be true: terms have no trash.");
    [
        Route::at(&names.content, &format!("/{}", taxonomy.base))
            .on(READ, list_args(taxonomy, &item), read(may(may_list), run(list_all)))
            .on(CREATE, create_args, write(may(may_create), run(term_write::create)))
            .creates()
            .batchable()
            .schema(item.document()),
        Route::at(&names.content, &format!("/{}/(?P<id>[\\d]+)", taxonomy.base))
            .on(READ, one_args, read(may(may_read), run(read_one)))
            .on(EDIT, update_args, write(may(may_update), run(term_write::update)))
            .on(DELETE, delete_args, write(may(may_delete), run(term_write::delete)))
            .notes_deletion()
            .refuses_with(&[501])
            .batchable()
            .schema(item.document()),
    ]
}

/// Fields of terms that have archives.
const OF_ARCHIVES: &[&str] = &["count", "link", "taxonomy"];

fn item(taxonomy: &Taxonomy) -> Item {
    let count = Schema::integer().about("How many published items bear it.");
    let mut fields = vec![
        ("id", Schema::integer().about("Its number on the site.").context(ALL).readonly()),
        ("count", count.context(FULL).readonly()),
        ("description", Schema::text().about("What it is about, as HTML.").context(FULL)),
        ("link", Schema::text().format("uri").about("Its address.").context(ALL).readonly()),
        ("name", Schema::text().about("Its name, as HTML.").context(ALL).required()),
        ("slug", Schema::text().about("Its part of the address.").context(ALL)),
        (
            "taxonomy",
            Schema::text().about("Its taxonomy.").choices(&[taxonomy.name]).context(ALL).readonly(),
        ),
    ];
    if taxonomy.hierarchical {
        let parent = Schema::integer().about("Id of the term in which this one lies.");
        fields.push(("parent", parent.context(FULL)));
    }
    let meta = Schema::object::<&str>([]).about("Meta fields.").context(FULL);
    let meta = meta.shown_as(Schema::list(Schema::text()));
    fields.push(("meta", meta.readonly()));
    if taxonomy.ordered {
        let order = Schema::integer().about("Its place among its siblings.");
        fields.push(("menu_order", order.context(FULL).readonly()));
    }
    if taxonomy.of_menus {
        fields.retain(|(name, _)| !OF_ARCHIVES.contains(name));
        let places = Schema::list(Schema::text()).about("Places of the theme that show it.");
        fields.push(("locations", places.context(FULL)));
        let adds = Schema::boolean().about("Whether new pages are added to it.");
        fields.push(("auto_add", adds.context(FULL)));
    }
    Item::new(taxonomy.word, Schema::object(fields))
}

fn list_args(taxonomy: &Taxonomy, item: &Item) -> Args {
    let orders =
        ["id", "include", "name", "slug", "include_slugs", "term_group", "description", "count"];
    let mut args = schema::page_args(item)
        .arg("exclude", schema::ids("None of these ids."))
        .arg("include", schema::ids("Only these ids."));
    if !taxonomy.hierarchical {
        args = args.arg("offset", Schema::integer().about("Terms to leave out at the start."));
    }
    let direction = Schema::text().about("Direction of the order.").default("asc");
    let hide = Schema::boolean().about("Exclude terms that no published item bears.");
    args = args
        .arg("order", direction.choices(&["asc", "desc"]))
        .arg("orderby", Schema::text().about("What to sort by.").default("name").choices(&orders))
        .arg("hide_empty", hide.default(false));
    if taxonomy.hierarchical {
        args = args.arg("parent", Schema::integer().about("Only terms that lie in this one."));
    }
    let post = Schema::integer().about("Only terms that this item bears.").default(Value::Null);
    let slugs = Schema::list(Schema::text()).about("Only these slugs.");
    args.arg("post", post).arg("slug", slugs)
}

fn may_list(taxonomy: &Taxonomy, call: &mut Call<'_>) -> Result<(), Stop> {
    may_see(taxonomy, call)?;
    if call.params.text("context") == Some("edit") {
        let message = "You are not allowed to edit terms of this taxonomy.";
        call.need(taxonomy.manage, "rest_forbidden_context", message)?;
    }
    // The terms of an item that the caller may not read would tell about it.
    if let Some(id) = call.params.int("post").filter(|id| *id > 0)
        && let Some(row) = super::records::get(call, id)?
        && !super::permit::may_read(&call.visit.identity, &row)
    {
        let message = "You are not allowed to view the terms of this item.";
        return Err(call.deny("rest_forbidden_context", message).into());
    }
    Ok(())
}

/// Terms of some taxonomies are for those who write.
fn may_see(taxonomy: &Taxonomy, call: &Call<'_>) -> Result<(), Stop> {
    let Some(needed) = taxonomy.read else { return Ok(()) };
    call.need(needed, "rest_cannot_view", "You are not allowed to view these terms.")
}

fn may_read(taxonomy: &Taxonomy, call: &mut Call<'_>) -> Result<(), Stop> {
    may_see(taxonomy, call)?;
    term_of(taxonomy, call)?;
    if call.params.text("context") == Some("edit") {
        let message = "You are not allowed to edit this term.";
        call.need(taxonomy.manage, "rest_forbidden_context", message)?;
    }
    Ok(())
}

fn may_create(taxonomy: &Taxonomy, call: &mut Call<'_>) -> Result<(), Stop> {
    // Whoever writes may make up tags; categories belong to those who keep order.
    let needed = if taxonomy.hierarchical { taxonomy.manage } else { taxonomy.assign };
    call.need(needed, "rest_cannot_create", "You are not allowed to create terms.")
}

fn may_update(taxonomy: &Taxonomy, call: &mut Call<'_>) -> Result<(), Stop> {
    term_of(taxonomy, call)?;
    call.need(taxonomy.manage, "rest_cannot_update", "You are not allowed to edit this term.")
}

fn may_delete(taxonomy: &Taxonomy, call: &mut Call<'_>) -> Result<(), Stop> {
    let row = term_of(taxonomy, call)?;
    let default =
        taxonomy.default_option.is_some_and(|name| call.options().integer(name) == row.term_id);
    if default {
        let message = "The default category cannot be deleted; make another one the default.";
        return Err(call.deny("rest_cannot_delete", message).into());
    }
    call.need(taxonomy.manage, "rest_cannot_delete", "You are not allowed to delete this term.")
}

fn list_all(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let params = &call.params;
    let mut page = list::page(params);
    if call.leaves_out_items() {
        page.limit = 0;
    }
    let wanted = TermFilter {
        taxonomies: vec![collection.taxonomy.name.to_owned()],
        search: params.text("search").filter(|text| !text.is_empty()).map(str::to_owned),
        include: params.ints("include"),
        exclude: params.ints("exclude"),
        slugs: params.texts("slug"),
        parent: params.int("parent").filter(|_| collection.taxonomy.hierarchical),
        hide_empty: params.flag("hide_empty"),
        bearer: params.int("post").filter(|id| *id > 0),
        order: order(params.text("orderby").unwrap_or_default()),
        direction: list::direction(params),
        page,
    };
    let (rows, total) = term::list(call.conn()?, &wanted)?;
    let context = call.context();
    let mut items = Vec::with_capacity(rows.len());
    for row in &rows {
        let (mut fields, links) = prepare(collection, call, row, &context)?;
        if let (Some(links), Some(members)) = (links.into_value(), fields.as_object_mut()) {
            members.insert(String::from("_links"), links);
        }
        items.push(fields);
    }
    Ok(paging::with_totals(Reply::new(items), call, &collection.path(), total))
}

fn order(name: &str) -> TermOrder {
    match name {
        "id" => TermOrder::Id,
        "include" => TermOrder::Include,
        "slug" => TermOrder::Slug,
        "include_slugs" => TermOrder::IncludeSlugs,
        "term_group" => TermOrder::Group,
        "description" => TermOrder::Description,
        "count" => TermOrder::Count,
        _ => TermOrder::Name,
    }
}

fn read_one(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let row = term_of(collection.taxonomy, call)?;
    let context = call.context();
    let (fields, links) = prepare(collection, call, &row, &context)?;
    Ok(Reply::new(fields).links(links))
}
