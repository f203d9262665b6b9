//! The schemas of posts and pages: what they publish, take and show, all from one description.

use std::collections::HashSet;

use contract::rest::check::ParamError;
use contract::rest::{Args, Item, Schema, Treatment, loose};
use serde_json::{Value, json};

use super::kind::{FORMATS, Field, Kind};
use super::taxonomy::Taxonomy;
use super::{slug, status};

/// The views of an item.
pub(crate) const ALL: &[&str] = &["view", "edit", "embed"];
pub(crate) const FULL: &[&str] = &["view", "edit"];
pub(crate) const EDIT: &[&str] = &["edit"];
const PER_PAGE_MAX: i64 = 100;

/// The item of a kind.
pub(crate) fn item(kind: &Kind) -> Item {
    let mut fields = base_fields();
    if !kind.viewable {
        fields.retain(|(name, _)| !OF_VIEWABLE.contains(name));
    }
    if kind.hierarchical {
        let parent = Schema::integer().about("Id of the item in which this one lies.");
        fields.push(("parent", parent.context(FULL)));
    }
    fields.extend(texts_of(kind));
    let author = Schema::integer().about("Id of the user who wrote it.").context(ALL);
    let picture = Schema::integer().about("Id of its picture.").context(ALL);
    let order = Schema::integer().about("Its place among its siblings.").context(FULL);
    let format = Schema::text().about("Format of the post.").choices(FORMATS).context(FULL);
    let sticky = Schema::boolean().about("Whether it stays on top of the others.").context(FULL);
    let optional = [
        (Field::Author, "author", author),
        (Field::Picture, "featured_media", picture),
        (Field::Discussion, "comment_status", open_or_closed("Whether it takes comments.")),
        (Field::Discussion, "ping_status", open_or_closed("Whether it takes notices of links.")),
        (Field::Order, "menu_order", order),
        (Field::Format, "format", format),
        (Field::Meta, "meta", meta(kind)),
        (Field::Sticky, "sticky", sticky),
    ];
    let had = optional.into_iter().filter(|(field, ..)| kind.has(*field));
    fields.extend(had.map(|(_, name, schema)| (name, schema)));
    let template = Schema::text().about("Template by which the theme shows it.");
    fields.push(("template", template.context(FULL)));
    for taxonomy in kind.taxonomies {
        let about = format!("Ids of its terms of the taxonomy {}.", taxonomy.name);
        let terms = Schema::list(Schema::integer()).about(&about).context(FULL);
        fields.push((taxonomy.base, terms));
    }
    Item::new(kind.name, Schema::object(fields))
}

pub(crate) fn base_fields() -> Vec<(&'static str, Schema)> {
    let nullable_date = || Schema::types(&["string", "null"]).format("date-time");
    let classes = Schema::list(Schema::text()).about("Names of classes for its element.");
    vec![
        ("date", nullable_date().about("When it was published, in the site's time.").context(ALL)),
        ("date_gmt", nullable_date().about("When it was published, in UTC.").context(FULL)),
        ("guid", guid()),
        ("id", Schema::integer().about("Its number on the site.").context(ALL).readonly()),
        ("link", Schema::text().format("uri").about("Its address.").context(ALL).readonly()),
        (
            "modified",
            Schema::date_time()
                .about("Date last modified, in the site's time zone.")
                .context(FULL)
                .readonly(),
        ),
        (
            "modified_gmt",
            Schema::date_time().about("When it was last changed, in UTC.").context(FULL).readonly(),
        ),
        ("slug", Schema::text().about("Its part of the address.").context(ALL)),
        ("status", status_field()),
        ("type", Schema::text().about("Its kind.").context(ALL).readonly()),
        (
            "password",
            Schema::text().about("Asked for before content and excerpt are shown.").context(EDIT),
        ),
        (
            "permalink_template",
            Schema::text().about("Its address with a gap for the slug.").context(EDIT).readonly(),
        ),
        (
            "generated_slug",
            Schema::text().about("The slug that its title would get.").context(EDIT).readonly(),
        ),
        ("class_list", classes.context(FULL).readonly()),
    ]
}

pub(super) fn guid() -> Schema {
    let text = |about: &str| Schema::text().about(about).readonly();
    Schema::object([
        ("raw", text("As it is stored.").context(EDIT)),
        ("rendered", text("As it is shown.").context(FULL)),
    ])
    .about("A name that is its own for ever.")
    .context(FULL)
    .readonly()
}

/// Fields that tell about the page on which readers see an item.
const OF_VIEWABLE: &[&str] = &["permalink_template", "generated_slug", "class_list"];

/// The texts of a kind: rendered for readers, or as they are stored.
pub(super) fn texts_of(kind: &Kind) -> Vec<(&'static str, Schema)> {
    let mut texts = text_fields();
    texts.retain(|(name, _)| *name != "excerpt" || kind.has(Field::Excerpt));
    for (name, schema) in &mut texts {
        if kind.raw && *name != "excerpt" {
            let raw = Schema::text().about("As it is stored.").context(FULL);
            let raw = if *name == "title" { raw.context(ALL) } else { raw };
            *schema = raw_only(std::mem::take(schema), raw);
        }
        if kind.embeds_content && *name == "content" {
            *schema = std::mem::take(schema).context(ALL);
        }
    }
    texts
}

/// An object of texts without the one that is rendered.
fn raw_only(schema: Schema, raw: Schema) -> Schema {
    let properties = schema.get("properties").and_then(Value::as_object).cloned();
    let mut kept = properties.unwrap_or_default();
    kept.shift_remove("rendered");
    kept.insert(String::from("raw"), Value::from(raw));
    schema.keyword("properties", kept)
}

/// Title, content and excerpt.
pub(crate) fn text_fields() -> Vec<(&'static str, Schema)> {
    let raw = || Schema::text().about("As it is stored.").context(EDIT);
    let rendered = || Schema::text().about("As it is shown.").readonly();
    let protected =
        || Schema::boolean().about("Whether a password is needed.").context(ALL).readonly();
    let version = Schema::integer().about("Version of the blocks in it; 0 is none.");
    vec![
        (
            "title",
            Schema::object([("raw", raw()), ("rendered", rendered().context(ALL))])
                .about("Its title.")
                .context(ALL),
        ),
        (
            "content",
            Schema::object([
                ("raw", raw()),
                ("rendered", rendered().context(FULL)),
                ("block_version", version.context(EDIT).readonly()),
                ("protected", protected()),
            ])
            .about("Its content.")
            .context(FULL),
        ),
        (
            "excerpt",
            Schema::object([
                ("raw", raw()),
                ("rendered", rendered().context(ALL)),
                ("protected", protected()),
            ])
            .about("Its excerpt.")
            .context(ALL),
        ),
    ]
}

pub(crate) fn open_or_closed(about: &str) -> Schema {
    Schema::text().about(about).choices(&["open", "closed"]).context(FULL)
}

pub(super) fn meta(kind: &Kind) -> Schema {
    let text = |name: &&'static str| (*name, Schema::text().about("Text.").default(""));
    Schema::object(kind.meta.iter().map(text)).about("Meta fields.").context(FULL)
}

/// What is taken when an item is made.
pub(crate) fn create_args(item: &Item) -> Args {
    treated(item.create_args())
}

/// What is taken when an item is changed.
pub(crate) fn update_args(item: &Item) -> Args {
    let args = treated(item.update_args());
    id_args().with(args).treat("status", Treatment::Custom(check_status, as_it_is))
}

/// Texts may come alone or as objects; that is looked at when they are used.
fn treated(args: Args) -> Args {
    let texts = ["title", "content", "excerpt"];
    let given = texts.into_iter().filter(|name| args.get(name).is_some()).collect::<Vec<_>>();
    let args = given.into_iter().fold(args, |args, name| args.treat(name, Treatment::None));
    args.treat("slug", Treatment::Cleaned(to_slug))
}

/// The status of an item: what can be set, or the trash where it is.
fn status_field() -> Schema {
    let settable = status::settable();
    let shown = [&*settable, &[status::TRASH]].concat();
    let field = Schema::text().about("Its status.").choices(&settable);
    field.shown_as(Schema::text().choices(&shown)).context(FULL)
}

/// An item that is in the trash may be told to stay there; whether it is, is known later.
pub(crate) fn check_status(value: &Value, name: &str) -> Result<(), Option<ParamError>> {
    let known = |text: &str| status::find(text).is_some();
    match value.as_str() {
        Some(text) if known(text) => Ok(()),
        Some(_) => Err(Some(unknown_status(name))),
        None => Err(Some(
            ParamError::new("rest_invalid_type", format!("{name} must be a text."))
                .with_data(json!({ "param": name })),
        )),
    }
}

pub(super) fn unknown_status(name: &str) -> ParamError {
    let message = format!("{name} must be one of {}.", status::settable().join(", "));
    ParamError::new("rest_not_in_enum", message)
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every converter")]
pub(crate) fn as_it_is(value: &Value, _: &str) -> Result<Value, ParamError> {
    Ok(value.clone())
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every converter")]
pub(crate) fn to_slug(value: &Value, _: &str) -> Result<Value, ParamError> {
    Ok(Value::from(slug::slugify(&loose::scalar_text(value).unwrap_or_default())))
}

pub(crate) fn id_args() -> Args {
    Args::new().arg("id", Schema::integer().about("Its number on the site."))
}

/// What is taken when an item is read.
pub(crate) fn read_args(kind: &Kind, item: &Item) -> Args {
    let length = Schema::integer().about("Words of an excerpt that is taken from the content.");
    let args = id_args().arg("context", item.context_arg());
    let args = if kind.has(Field::Excerpt) { args.arg("excerpt_length", length) } else { args };
    args.arg("password", Schema::text().about("The password of a protected item."))
}

pub(crate) fn delete_args(about: &str) -> Args {
    id_args().arg("force", Schema::boolean().default(false).about(about))
}

/// The pages of a list, and what to search for in it.
pub(crate) fn page_args(item: &Item) -> Args {
    let size = Schema::integer().about("Items on a page.").default(10).min(1).max(PER_PAGE_MAX);
    Args::new()
        .arg("context", item.context_arg())
        .arg("page", Schema::integer().about("Page of the list.").default(1).min(1))
        .arg("per_page", size)
        .arg("search", Schema::text().about("Only items with these words."))
}

pub(crate) fn ids(about: &str) -> Schema {
    Schema::list(Schema::integer()).about(about).default(json!([]))
}

/// What every list can be sorted by.
pub(crate) const ORDERS: &[&str] = &[
    "author",
    "date",
    "id",
    "include",
    "modified",
    "parent",
    "relevance",
    "slug",
    "include_slugs",
    "title",
];

/// Pages, dates, authors and ids.
pub(crate) fn dated_args(item: &Item, has_author: bool) -> Args {
    let date = |about: &str| Schema::date_time().about(about);
    let mut args = page_args(item)
        .arg("after", date("Only what was published after this."))
        .arg("modified_after", date("Only what was changed after this."));
    if has_author {
        args = args
            .arg("author", ids("Only what these users wrote."))
            .arg("author_exclude", ids("Nothing that these users wrote."));
    }
    args.arg("before", date("Only what was published before this."))
        .arg("modified_before", date("Only what was changed before this."))
        .arg("exclude", ids("None of these ids."))
        .arg("include", ids("Only these ids."))
}

pub(crate) fn ordered_args(args: Args, orders: &[&str]) -> Args {
    let semantics = Schema::text().about("How the search is meant.").choices(&["exact"]);
    let direction = Schema::text().about("Direction of the order.").default("desc");
    args.arg("search_semantics", semantics)
        .arg("offset", Schema::integer().about("Items to leave out at the start."))
        .arg("order", direction.choices(&["asc", "desc"]))
        .arg("orderby", Schema::text().about("What to sort by.").default("date").choices(orders))
}

pub(crate) fn parent_args(args: Args) -> Args {
    args.arg("parent", ids("Only what lies in these."))
        .arg("parent_exclude", ids("Nothing that lies in these."))
}

pub(crate) fn searched_args(args: Args, statuses: &[&str], usual: &str) -> Args {
    let columns = Schema::text().choices(&["post_title", "post_content", "post_excerpt"]);
    let columns = Schema::list(columns).about("Fields to search.").default(json!([]));
    let slugs = Schema::list(Schema::text()).about("Only these slugs.");
    let statuses = Schema::list(Schema::text().choices(statuses));
    let statuses = statuses.about("Only these statuses.").default(usual);
    args.arg("search_columns", columns).treated("slug", slugs, Treatment::Own(slug_list)).treated(
        "status",
        statuses,
        Treatment::Own(slug_list),
    )
}

/// What a list of a kind can be asked for.
pub(crate) fn list_args(kind: &Kind, item: &Item) -> Args {
    let mut args = dated_args(item, kind.has(Field::Author));
    if kind.has(Field::Order) {
        args = args.arg("menu_order", Schema::integer().about("Only this place."));
    }
    let mut orders = ORDERS.to_vec();
    if kind.has(Field::Order) || kind.archive.is_some() {
        orders.push("menu_order");
    }
    args = ordered_args(args, &orders);
    if kind.hierarchical {
        args = parent_args(args);
    }
    args = searched_args(args, status::LISTABLE, status::PUBLISH);
    if !kind.taxonomies.is_empty() {
        let relation = Schema::text().about("Whether all taxonomies must fit, or one.");
        args = args.arg("tax_relation", relation.choices(&["AND", "OR"]));
    }
    for taxonomy in kind.taxonomies {
        let excluded = format!("{}_exclude", taxonomy.base);
        args = args
            .arg(taxonomy.base, terms(taxonomy, true).about("Only items with these terms."))
            .arg(&excluded, terms(taxonomy, false).about("No items with these terms."));
    }
    if kind.has(Field::Sticky) {
        let about = "Only what stays on top, or only the rest.";
        args = args.arg("sticky", Schema::boolean().about(about));
    }
    if kind.has(Field::Format) {
        let formats = Schema::list(Schema::text().choices(FORMATS)).unique_items();
        args = args.arg("format", formats.about("Only these formats."));
    }
    args
}

/// Terms as a list of ids, or as an object that says more about them.
fn terms(taxonomy: &Taxonomy, with_operator: bool) -> Schema {
    let list = Schema::list(Schema::integer()).title("List of term ids");
    let ids = Schema::list(Schema::integer()).about("Ids of terms.").default(json!([]));
    let mut properties = vec![("terms", ids)];
    if taxonomy.hierarchical {
        let about = "Whether terms within these count as well.";
        properties.push(("include_children", Schema::boolean().about(about).default(false)));
    }
    if with_operator {
        let operator = Schema::text().about("Whether all terms are needed, or one.");
        properties.push(("operator", operator.choices(&["AND", "OR"]).default("OR")));
    }
    let query = Schema::object(properties).title("Query by terms").no_additional();
    let alternatives: Vec<Value> = [list, query].into_iter().map(Value::from).collect();
    Schema::types(&["object", "array"]).keyword("oneOf", alternatives)
}

/// Slugs, from a list or from text.
pub(super) fn slug_list(value: &Value, name: &str) -> Result<Value, ParamError> {
    let texts = contract::rest::args::text_list(value, name)?;
    let texts = texts.as_array().map(Vec::as_slice).unwrap_or_default();
    let slugs = texts.iter().filter_map(loose::scalar_text).map(|text| slug::slugify(&text));
    let mut seen = HashSet::new();
    let unique: Vec<String> = slugs.filter(|slug| seen.insert(slug.clone())).collect();
    Ok(Value::from(unique))
}
