//! The schema of an item of the library, and what its operations take.

use contract::rest::{Args, Item, Schema, Treatment};
use frame::library::item::STATUS;
use serde_json::{Value, json};

use crate::posts::schema::{
    self as posts, ALL, EDIT, FULL, base_fields, id_args, open_or_closed, text_fields,
};
use crate::posts::status;

/// By which items can be listed.
pub(super) const STATUSES: &[&str] = &[STATUS, status::PRIVATE, status::TRASH];
/// The families of types that a list may be limited to.
pub(super) const FAMILIES: &[&str] = &["image", "video", "text", "application", "audio"];

pub(super) fn item() -> Item {
    let mut fields: Vec<(&str, Schema)> =
        base_fields().into_iter().filter(|(name, _)| *name != "password").collect();
    for (name, schema) in &mut fields {
        if *name == "status" {
            // A file has the status of what it is attached to.
            *schema = std::mem::take(schema).shown_as(Schema::text());
        }
    }
    fields.extend(text_fields().into_iter().filter(|(name, _)| *name == "title"));
    fields.extend([
        ("author", Schema::integer().about("Id of the user who uploaded it.").context(ALL)),
        ("featured_media", Schema::integer().about("Always 0.").context(ALL)),
        ("comment_status", open_or_closed("Whether it takes comments.")),
        ("ping_status", open_or_closed("Whether it takes notices of links.")),
        ("meta", Schema::object::<&str>([]).about("Meta fields.").context(FULL)),
        ("template", Schema::text().about("Template by which the theme shows it.").context(FULL)),
        ("alt_text", Schema::text().about("Stands for the picture in words.").context(ALL)),
        ("caption", text("Its caption.", ALL).context(ALL)),
        ("description", text("Its description.", FULL).context(FULL)),
    ]);
    let shown = |about: &str| Schema::text().about(about).readonly();
    let number = |about: &str| Schema::integer().about(about).readonly();
    let sizes = Schema::list(Schema::text()).about("Sizes that are still to be made.");
    fields.extend([
        ("media_type", shown("Kind of file.").choices(&["image", "file"]).context(ALL)),
        ("mime_type", shown("Type of the file.").context(ALL)),
        ("media_details", Schema::map().about("Facts of the file.").context(ALL).readonly()),
        ("post", Schema::integer().about("Id of what it is attached to.").context(FULL).or_null()),
        ("source_url", shown("Address of the file.").format("uri").context(ALL)),
        ("missing_image_sizes", sizes.context(EDIT).readonly()),
        ("filename", shown("Name of the file.").context(FULL)),
        ("filesize", number("Bytes of the file.").context(FULL)),
        ("exif_orientation", number("How the file shows the picture turned.").context(EDIT)),
    ]);
    Item::new("attachment", Schema::object(fields))
}

/// The published description, with what some callers may do besides.
pub(super) fn document(item: &Item, namespace: &str) -> Value {
    let mut document = item.document();
    let link = |right: &str, title: &str, properties: Value| {
        json!({
            "rel": format!("https://api.w.org/action-{right}"),
            "title": title,
            "href": format!("/{namespace}/media/{{id}}"),
            "targetSchema": { "type": "object", "properties": properties },
        })
    };
    let raw = json!({ "caption": { "raw": { "type": "string" } } });
    let author = json!({ "author": { "type": "integer" } });
    let links = json!([
        link("unfiltered-html", "You may use all of HTML.", raw),
        link("assign-author", "You may change the author.", author),
    ]);
    if let Some(members) = document.as_object_mut() {
        members.insert(String::from("links"), links);
    }
    document
}

fn text(about: &str, rendered: &[&str]) -> Schema {
    Schema::object([
        ("raw", Schema::text().about("As it is stored.").context(EDIT)),
        ("rendered", Schema::text().about("As it is shown.").context(rendered).readonly()),
    ])
    .about(about)
}

pub(super) fn list_args(item: &Item) -> Args {
    let args = posts::ordered_args(posts::dated_args(item, true), posts::ORDERS);
    let args = posts::searched_args(posts::parent_args(args), STATUSES, STATUS);
    let families = Schema::list(Schema::text().choices(FAMILIES)).default(Value::Null);
    let types = Schema::list(Schema::text()).default(Value::Null);
    args.arg("media_type", families.about("Only files of these kinds."))
        .arg("mime_type", types.about("Only files of these types."))
}

pub(super) fn read_args(item: &Item) -> Args {
    id_args().arg("context", item.context_arg())
}

pub(super) fn create_args(item: &Item) -> Args {
    let file = Schema::typed("file").about("The file, which may be the whole body instead.");
    let file = Args::new().treated("file", file, Treatment::None);
    treated(item.create_args()).with(file.unpublished(&["file"]))
}

pub(super) fn update_args(item: &Item) -> Args {
    let status = Treatment::Custom(posts::check_status, posts::as_it_is);
    id_args().with(treated(item.update_args())).treat("status", status)
}

fn treated(args: Args) -> Args {
    texts_as_they_come(args).treat("slug", Treatment::Cleaned(posts::to_slug))
}

/// Texts may come alone or as objects.
fn texts_as_they_come(args: Args) -> Args {
    args.treat("title", Treatment::None)
        .treat("caption", Treatment::None)
        .treat("description", Treatment::None)
}

pub(super) fn delete_args() -> Args {
    posts::delete_args("Must be true: files have no trash.")
}

pub(super) fn process_args() -> Args {
    let action = Schema::text().about("What to do.").choices(&["create-image-subsizes"]);
    id_args().arg("action", action.required())
}

pub(super) fn edit_args(item: &Item) -> Args {
    let percent = |about: &str| Schema::number().min(0).max(100).about(about);
    let modifiers = Schema::list(modifier()).min_items(1).about("What to do, in this order.");
    let rotation = Schema::integer().min(0).max(360).exclusive_min().exclusive_max();
    let texts = ["caption", "description", "title", "post", "alt_text"];
    let described = item.update_args();
    let mut args = Args::new()
        .arg("src", Schema::text().format("uri").about("Address of the image.").required())
        .arg("modifiers", modifiers)
        .arg("rotation", rotation.about("Degrees to turn it clockwise."))
        .arg("x", percent("Left edge of the part to keep, in percent."))
        .arg("y", percent("Upper edge of the part to keep, in percent."))
        .arg("width", percent("Width of the part to keep, in percent."))
        .arg("height", percent("Height of the part to keep, in percent."));
    for name in texts {
        if let Some(arg) = described.get(name) {
            args = args.arg(name, arg.schema.clone());
        }
    }
    texts_as_they_come(args)
}

fn modifier() -> Schema {
    let number = |about: &str| Schema::number().about(about).required();
    let flag = |about: &str| Schema::boolean().about(about).required();
    let kind = |name: &str| Schema::text().about("What is done.").choices(&[name]);
    let one = |name: &str, args: Vec<(&str, Schema)>| {
        let args = Schema::object(args).about("How it is done.");
        Schema::any().properties([("type", kind(name)), ("args", args)])
    };
    let flip = Schema::object([
        ("horizontal", flag("From left to right.")),
        ("vertical", flag("From top to bottom.")),
    ]);
    let ways = [
        one("flip", vec![("flip", flip.about("Which way.").required())]),
        one("rotate", vec![("angle", number("Degrees to turn it clockwise."))]),
        one(
            "crop",
            vec![
                ("left", number("Left edge of the part to keep, in percent.")),
                ("top", number("Upper edge of the part to keep, in percent.")),
                ("width", number("Width of the part to keep, in percent.")),
                ("height", number("Height of the part to keep, in percent.")),
            ],
        ),
    ];
    let ways: Vec<Value> = ways.into_iter().map(Value::from).collect();
    Schema::typed("object").keyword("required", json!(["type", "args"])).keyword("oneOf", ways)
}
