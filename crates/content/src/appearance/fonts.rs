//! Fonts: collections to choose from, the families that the site has, and their faces. A family or
//! a face is content of a kind of its own; what clients call its settings is kept as JSON.
//!
//! Faces are named by the addresses of their files, or bring them along ([`files`]). The collection
//! is of families that readers have on their own machines.

mod collection;
mod files;
mod settings;

use std::sync::Arc;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, CompiledItem, Item, Links, Refusal, Reply, Schema, Stop};
use db::filter::{Direction, Page};
use frame::action::{Action, Later, later, read, write};
use frame::dates::Moment;
use frame::{Call, Names, paging, text};
use serde_json::{Map, Value, json};
use site_rows::post::{self, PostFilter, PostOrder, PostRow};
use types::Capability;

use self::settings::{Declared, face_key, invalid, text_of};
use crate::posts::kind::{FONT_FACE, FONT_FAMILY, Kind};
use crate::posts::schema::{ALL, page_args};
use crate::posts::{list, permit, schema, status};

/// Faces of one family.
const FACES_MAX: i64 = 100;
/// The version of the format that settings are in.
const FORMAT: i64 = 3;
/// Schemes of addresses at which the files of a face may be.
const SCHEMES: [&str; 2] = ["https", "http"];

/// One of the two kinds, with what its operations share.
struct Fonts {
    kind: &'static Kind,
    item: CompiledItem,
    namespace: String,
    /// The parameter with the settings.
    settings: &'static str,
    declared: Declared,
}

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = collection::routes(names);
    routes.extend(family_routes(names));
    routes.extend(face_routes(names));
    routes
}

fn settings_schema(declared: Declared) -> Schema {
    let text = |name: &str| {
        let schema = Schema::text().about("A setting of the font.");
        let either = Schema::types(&["string", "array"]).about("Where its files are.");
        if name == "src" { either } else { schema }
    };
    Schema::object(declared.iter().map(|(name, _)| (*name, text(name))))
}

fn item(kind: &Kind, settings: &'static str, declared: Declared) -> Item {
    let number = |about: &str| Schema::integer().about(about).context(ALL);
    let mut fields = vec![
        ("id", number("Its number on the site.").readonly()),
        (
            "theme_json_version",
            number("Version of the format of its settings.").default(FORMAT).min(2).max(FORMAT),
        ),
        (settings, settings_schema(declared).about("Its settings.").context(ALL)),
    ];
    if kind.name == FONT_FACE.name {
        fields.push(("parent", number("Id of its family.")));
    } else {
        let faces = Schema::list(Schema::integer()).about("Ids of its faces.");
        fields.push(("font_faces", faces.context(ALL)));
    }
    Item::new(kind.name, Schema::object(fields))
}

fn new_fonts(
    names: &Names,
    kind: &'static Kind,
    settings: &'static str,
    declared: Declared,
) -> (Item, Arc<Fonts>) {
    let item = item(kind, settings, declared);
    let compiled = item.compile().expect("the schema of a font is well formed");
    let namespace = names.content.clone();
    (item, Arc::new(Fonts { kind, item: compiled, namespace, settings, declared }))
}

type Operation = fn(&Fonts, &mut Call<'_>) -> Result<Reply, Stop>;

fn run(
    fonts: &Arc<Fonts>,
    operation: Operation,
) -> impl Fn(&mut Call<'_>) -> Result<Reply, Stop> + Send + Sync + 'static {
    let fonts = Arc::clone(fonts);
    move |call: &mut Call<'_>| operation(&fonts, call)
}

/// An operation that works on files as well.
macro_rules! run_later {
    ($fonts:ident, $operation:path) => {{
        let fonts = Arc::clone(&$fonts);
        move |call: Later| $operation(Arc::clone(&fonts), call)
    }};
}

fn write_args(settings: &str) -> Args {
    let version = Schema::integer().default(FORMAT).min(2).max(FORMAT);
    Args::new()
        .arg("theme_json_version", version.about("Version of the format of the settings."))
        .arg(settings, Schema::text().required().about("The settings, as JSON in a text."))
}

fn list_args(item: &Item) -> Args {
    let orders = Schema::text().about("What to sort by.").default("id");
    page_args(item)
        .without("search")
        .arg("exclude", schema::ids("None of these ids."))
        .arg("include", schema::ids("Only these ids."))
        .arg("offset", Schema::integer().about("Fonts to leave out at the start."))
        .arg("order", Schema::text().about("Direction.").default("desc").choices(&["asc", "desc"]))
        .arg("orderby", orders.choices(&["id", "include"]))
        .arg(
            "search_semantics",
            Schema::text().about("How the search is meant.").choices(&["exact"]),
        )
}

fn family_routes(names: &Names) -> Vec<Route<Action>> {
    let settings = "font_family_settings";
    let (item, fonts) = new_fonts(names, &FONT_FAMILY, settings, settings::OF_FAMILY);
    let one = schema::id_args().arg("context", item.context_arg());
    let slugs = Schema::list(Schema::text()).about("Only these slugs.");
    let delete_args = schema::delete_args("Must be true: fonts have no trash.");
    let base = format!("/{}", FONT_FAMILY.base);
    vec![
        Route::at(&names.content, &base)
            .on(READ, list_args(&item).arg("slug", slugs), read(may_list, run(&fonts, list_all)))
            .on(CREATE, write_args(settings), write(may_create, run(&fonts, create_family)))
            .creates()
            .schema(item.document()),
        Route::at(&names.content, &format!("{base}/(?P<id>[\\d]+)"))
            .on(READ, one, read(may_read, run(&fonts, show)))
            .on(
                EDIT,
                schema::id_args().with(write_args(settings)),
                write(may_edit, run(&fonts, update_family)),
            )
            .on(DELETE, delete_args, later(may_delete, run_later!(fonts, files::delete_with_files)))
            .notes_deletion()
            .refuses_with(&[501])
            .schema(item.document()),
    ]
}

fn face_routes(names: &Names) -> Vec<Route<Action>> {
    let settings = "font_face_settings";
    let (item, fonts) = new_fonts(names, &FONT_FACE, settings, settings::OF_FACE);
    let family = || {
        let id = Schema::integer().required().about("Id of the family.");
        Args::new().arg("font_family_id", id)
    };
    let id = || family().arg("id", Schema::integer().required().about("Id of the face."));
    let force = Schema::boolean().default(false).about("Must be true: fonts have no trash.");
    let base = format!("/{}", FONT_FACE.base);
    vec![
        Route::at(&names.content, &base)
            .on(READ, family().with(list_args(&item)), read(may_list, run(&fonts, list_all)))
            .on(
                CREATE,
                family().with(write_args(settings)),
                later(may_create, run_later!(fonts, files::create_face)),
            )
            .creates()
            .body_bytes_max(files::FORM_BYTES_MAX)
            .refuses_with(&[413])
            .schema(item.document()),
        Route::at(&names.content, &format!("{base}/(?P<id>[\\d]+)"))
            .on(
                READ,
                id().arg("context", item.context_arg()),
                read(may_read_face, run(&fonts, show)),
            )
            .on(
                DELETE,
                id().arg("force", force),
                later(may_delete_face, run_later!(fonts, files::delete_with_files)),
            )
            .notes_deletion()
            .refuses_with(&[501])
            .schema(item.document()),
    ]
}

fn need(call: &Call<'_>, code: &'static str) -> Result<(), Stop> {
    call.need(Capability::EditThemeOptions, code, "You are not allowed to manage fonts.")
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    need(call, "rest_cannot_read")
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    need(call, "rest_cannot_create")
}

fn family_of(call: &mut Call<'_>) -> Result<PostRow, Stop> {
    permit::item_of(call, &FONT_FAMILY, "id", permit::invalid_id)
}

/// The face, which must be one of the family in the path.
fn face_of(call: &mut Call<'_>) -> Result<PostRow, Stop> {
    let row = permit::item_of(call, &FONT_FACE, "id", permit::invalid_id)?;
    if call.params.int("font_family_id") == Some(row.parent_id) {
        return Ok(row);
    }
    let message = "The face is one of another family.";
    Err(Refusal::new(404, "rest_font_face_parent_id_mismatch", message).into())
}

fn may_read(call: &mut Call<'_>) -> Result<(), Stop> {
    family_of(call)?;
    need(call, "rest_cannot_read")
}

fn may_edit(call: &mut Call<'_>) -> Result<(), Stop> {
    family_of(call)?;
    need(call, "rest_cannot_edit")
}

fn may_delete(call: &mut Call<'_>) -> Result<(), Stop> {
    family_of(call)?;
    need(call, "rest_cannot_delete")
}

fn may_read_face(call: &mut Call<'_>) -> Result<(), Stop> {
    face_of(call)?;
    need(call, "rest_cannot_read")
}

fn may_delete_face(call: &mut Call<'_>) -> Result<(), Stop> {
    face_of(call)?;
    need(call, "rest_cannot_delete")
}

/// The family in the path of a face.
fn parent_of(fonts: &Fonts, call: &mut Call<'_>) -> Result<i64, Stop> {
    if fonts.kind.name != FONT_FACE.name {
        return Ok(0);
    }
    let missing = || Refusal::new(404, "rest_post_invalid_parent", "Invalid family ID.");
    Ok(permit::item_of(call, &FONT_FAMILY, "font_family_id", missing)?.post_id)
}

fn row_of(fonts: &Fonts, call: &mut Call<'_>) -> Result<PostRow, Stop> {
    if fonts.kind.name == FONT_FACE.name { face_of(call) } else { family_of(call) }
}

fn of_kind(kind: &Kind) -> PostFilter {
    PostFilter {
        kinds: vec![kind.name.to_owned()],
        statuses: vec![status::PUBLISH.to_owned()],
        order: PostOrder::Id,
        direction: Direction::Ascending,
        page: Page { offset: 0, limit: FACES_MAX },
        ..PostFilter::default()
    }
}

fn faces(call: &mut Call<'_>, family: i64) -> Result<Vec<PostRow>, Stop> {
    let wanted = PostFilter { parents: vec![family], ..of_kind(&FONT_FACE) };
    Ok(post::list(call.conn()?, &wanted)?.0)
}

fn path_of(fonts: &Fonts, row: &PostRow) -> String {
    let (namespace, families) = (&fonts.namespace, FONT_FAMILY.base);
    if fonts.kind.name == FONT_FACE.name {
        let (family, id) = (row.parent_id, row.post_id);
        return format!("/{namespace}/{families}/{family}/font-faces/{id}");
    }
    format!("/{namespace}/{families}/{}", row.post_id)
}

fn prepare(fonts: &Fonts, call: &mut Call<'_>, row: &PostRow) -> Result<Reply, Stop> {
    let mut settings: Value = serde_json::from_str(&row.content).unwrap_or_default();
    files::shown(call, &mut settings);
    let mut fields = json!({
        "id": row.post_id,
        "theme_json_version": FORMAT,
        fonts.settings: settings,
    });
    let visit = call.visit;
    let at = |path: &str| visit.rest(path);
    let own = path_of(fonts, row);
    let collection = own.rsplit_once('/').map_or(&*own, |(collection, _)| collection);
    let about = format!("/{}/types/{}", fonts.namespace, fonts.kind.name);
    let mut links =
        Links::new().to("self", at(&own)).to("collection", at(collection)).to("about", at(&about));
    if fonts.kind.name == FONT_FACE.name {
        let family = format!("/{}/{}/{}", fonts.namespace, FONT_FAMILY.base, row.parent_id);
        links = links.to("parent", at(&family));
        set(&mut fields, "parent", json!(row.parent_id));
    } else {
        let ids: Vec<i64> = faces(call, row.post_id)?.iter().map(|face| face.post_id).collect();
        for id in &ids {
            links = links.embeddable("font_faces", at(&format!("{own}/font-faces/{id}")));
        }
        set(&mut fields, "font_faces", json!(ids));
    }
    let context = call.context();
    Ok(Reply::new(fonts.item.filter_by_context(fields, &context)).links(links))
}

fn set(fields: &mut Value, name: &str, value: Value) {
    if let Some(members) = fields.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

fn show(fonts: &Fonts, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let row = row_of(fonts, call)?;
    prepare(fonts, call, &row)
}

fn list_all(fonts: &Fonts, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let parent = parent_of(fonts, call)?;
    let params = &call.params;
    let is_included = params.text("orderby") == Some("include");
    let wanted = PostFilter {
        parents: if parent == 0 { Vec::new() } else { vec![parent] },
        include: params.ints("include"),
        exclude: params.ints("exclude"),
        slugs: params.texts("slug"),
        order: if is_included { PostOrder::Include } else { PostOrder::Id },
        direction: list::direction(params),
        page: list::page(params),
        ..of_kind(fonts.kind)
    };
    let (rows, total) = post::list(call.conn()?, &wanted)?;
    let mut items = Vec::new();
    for row in &rows {
        items.push(prepare(fonts, call, row)?.into_json().2);
    }
    let own = PostRow { parent_id: parent, ..PostRow::default() };
    let path = path_of(fonts, &own);
    let path = path.rsplit_once('/').map_or(&*path, |(collection, _)| collection);
    Ok(paging::with_totals(Reply::new(items), call, path, total))
}

fn insert(
    fonts: &Fonts,
    call: &mut Call<'_>,
    settings: Map<String, Value>,
    (title, slug, parent_id): (String, String, i64),
) -> Result<(i64, Reply), Stop> {
    let now = Moment::at(call.options(), call.now());
    let mut row = PostRow {
        kind: fonts.kind.name.to_owned(),
        status: status::PUBLISH.to_owned(),
        slug,
        title,
        content: Value::Object(settings).to_string(),
        author_id: call.user_id(),
        parent_id,
        comment_status: String::from("closed"),
        ping_status: String::from("closed"),
        date: now.local,
        date_gmt: Some(now.gmt),
        modified: now.local,
        modified_gmt: now.gmt,
        meta: String::from("{}"),
        ..PostRow::default()
    };
    row.post_id = post::insert(call.conn()?, &row)?;
    let location = call.visit.rest(&path_of(fonts, &row));
    let mut reply = prepare(fonts, call, &row)?.header("location", location);
    reply.status = 201;
    Ok((row.post_id, reply))
}

fn create_family(fonts: &Fonts, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut settings = settings::read(call, fonts.settings, fonts.declared)?;
    let slug = text::slugify(text_of(&settings, "slug"));
    if post::find_by_slug(call.conn()?, FONT_FAMILY.name, &slug)?.is_some() {
        let message = "There is a family with this slug.";
        return Err(Refusal::new(400, "rest_duplicate_font_family", message).into());
    }
    settings.insert(String::from("slug"), json!(slug));
    let title = text_of(&settings, "name").to_owned();
    Ok(insert(fonts, call, settings, (title, slug, 0))?.1)
}

fn update_family(fonts: &Fonts, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut row = family_of(call)?;
    let settings = settings::read(call, fonts.settings, fonts.declared)?;
    if text_of(&settings, "slug") != row.slug {
        return Err(invalid(
            fonts.settings,
            format!("{}[slug] cannot be changed.", fonts.settings),
        ));
    }
    text_of(&settings, "name").clone_into(&mut row.title);
    row.content = Value::Object(settings).to_string();
    let now = Moment::at(call.options(), call.now());
    (row.modified, row.modified_gmt) = (now.local, now.gmt);
    post::update(call.conn()?, &row)?;
    prepare(fonts, call, &row)
}

/// The family and the settings of a new face.
fn checked_face(fonts: &Fonts, call: &mut Call<'_>) -> Result<(i64, Map<String, Value>), Stop> {
    let family = parent_of(fonts, call)?;
    let settings = settings::read(call, fonts.settings, fonts.declared)?;
    let (key, known) = (face_key(&settings), faces(call, family)?);
    if known.iter().any(|face| face.title == key) {
        let message = "The family has a face with these settings.";
        return Err(Refusal::new(400, "rest_duplicate_font_face", message).into());
    }
    if i64::try_from(known.len()).unwrap_or(i64::MAX) >= FACES_MAX {
        let message = format!("A family may have {FACES_MAX} faces.");
        return Err(Refusal::new(400, "rest_too_many_font_faces", message).into());
    }
    Ok((family, settings))
}

fn insert_face(
    fonts: &Fonts,
    call: &mut Call<'_>,
    settings: Map<String, Value>,
    family: i64,
) -> Result<(i64, Reply), Stop> {
    let key = face_key(&settings);
    let slug = text::slugify(&key);
    insert(fonts, call, settings, (key, slug, family))
}

/// Deletes a face, or a family with its faces, and says which ids they had.
fn delete(fonts: &Fonts, call: &mut Call<'_>) -> Result<(Reply, Vec<i64>), Stop> {
    let row = row_of(fonts, call)?;
    if !call.params.flag("force") {
        let message = "Fonts cannot be moved to the trash; set force to delete one.";
        return Err(Refusal::new(501, "rest_trash_not_supported", message).into());
    }
    let mut previous = prepare(fonts, call, &row)?;
    previous.links = Links::new();
    let mut ids = vec![row.post_id];
    if fonts.kind.name == FONT_FAMILY.name {
        ids.extend(faces(call, row.post_id)?.iter().map(|face| face.post_id));
    }
    for id in &ids {
        post::delete(call.conn()?, *id)?;
    }
    Ok((Reply::new(json!({ "deleted": true, "previous": previous.into_json().2 })), ids))
}
