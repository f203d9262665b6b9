//! What comments look like to clients, what is taken when one is written, and how their list is
//! asked for.

use contract::rest::check::ParamError;
use contract::rest::{Args, Item, Schema, Treatment, args, formats, loose};
use frame::users::AVATAR_SIZES;
use serde_json::{Value, json};

const ALL: &[&str] = &["view", "edit", "embed"];
const FULL: &[&str] = &["view", "edit"];
const EDIT: &[&str] = &["edit"];
const PER_PAGE_MAX: i64 = 100;
const SCHEMA_URI: &str = "uri";

pub(super) fn item() -> Item {
    let text = |about: &str| Schema::text().about(about);
    let integer = |about: &str| Schema::integer().about(about);
    let date = |about: &str| Schema::date_time().about(about);
    let raw = text("As it is stored.").context(EDIT);
    let rendered = text("As it is shown.").context(ALL).readonly();
    let content = Schema::object([("raw", raw), ("rendered", rendered)]).about("What it says.");
    let avatar = |size: u32| (size.to_string(), text("Address of the picture.").format(SCHEMA_URI));
    let avatars = Schema::object(AVATAR_SIZES.map(avatar)).about("Pictures of the author.");
    let note = text("State of a note.").default("").choices(&["resolved", "reopen"]);
    Item::new(
        "comment",
        Schema::object([
            ("id", integer("Its number on the site.").context(ALL).readonly()),
            ("author", integer("Id of the user who wrote it.").context(ALL)),
            ("author_email", text("E-mail address of its author.").format("email").context(EDIT)),
            ("author_ip", text("Network address of its author.").format("ip").context(EDIT)),
            ("author_name", text("Name of its author.").context(ALL)),
            ("author_url", text("Website of its author.").format(SCHEMA_URI).context(ALL)),
            ("author_user_agent", text("What its author wrote it with.").context(EDIT)),
            ("content", content.context(ALL)),
            ("date", date("When it was written, in the site's time.").context(ALL)),
            ("date_gmt", date("When it was written, in UTC.").context(FULL)),
            ("link", text("Its address.").format(SCHEMA_URI).context(ALL).readonly()),
            ("parent", integer("Id of the comment that it answers.").context(ALL).default(0)),
            ("post", integer("Id of what it is about.").context(FULL).default(0)),
            ("status", text("Its status.").context(FULL)),
            ("type", text("Its kind.").context(ALL).readonly()),
            ("author_avatar_urls", avatars.context(ALL).readonly()),
            (
                "meta",
                Schema::object([("_wp_note_status", note.or_null())]).about("Meta.").context(FULL),
            ),
        ]),
    )
}

pub(super) fn create_args(item: &Item) -> Args {
    treated(item.create_args())
}

pub(super) fn update_args(item: &Item) -> Args {
    id_args().with(treated(item.update_args()))
}

fn treated(args: Args) -> Args {
    args.treat("content", Treatment::None)
        .treat("author_email", Treatment::Custom(check_email, as_text))
        .treat("author_name", Treatment::Cleaned(args::text_field))
        .treat("author_user_agent", Treatment::Cleaned(args::text_field))
}

/// An address may be taken away, which an empty text says.
fn check_email(value: &Value, name: &str) -> Result<(), Option<ParamError>> {
    let text = loose::scalar_text(value).unwrap_or_default();
    if text.is_empty() || formats::is_email(&text) {
        return Ok(());
    }
    Err(Some(ParamError::new("rest_invalid_email", format!("{name} must be an e-mail address."))))
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every converter")]
fn as_text(value: &Value, _: &str) -> Result<Value, ParamError> {
    Ok(Value::from(loose::scalar_text(value).unwrap_or_default().trim()))
}

fn id_args() -> Args {
    Args::new().arg("id", Schema::integer().about("Its number on the site."))
}

fn password() -> Schema {
    Schema::text().about("The password of what it is about, if that is protected.")
}

pub(super) fn read_args(item: &Item) -> Args {
    id_args().arg("context", item.context_arg()).arg("password", password())
}

pub(super) fn delete_args() -> Args {
    let force = Schema::boolean().default(false).about("Whether to pass over the trash.");
    id_args().arg("force", force).arg("password", password())
}

pub(super) fn list_args(item: &Item) -> Args {
    let ids = |about: &str| Schema::list(Schema::integer()).about(about);
    let listed = |about: &str| ids(about).default(json!([]));
    let text = |about: &str| Schema::text().about(about);
    let date = |about: &str| Schema::date_time().about(about);
    let size = Schema::integer().about("Items on a page.").default(10).min(1).max(PER_PAGE_MAX);
    let orders = ["date", "date_gmt", "id", "include", "post", "parent", "type"];
    let email = text("Only of this e-mail address.").format("email").default(Value::Null);
    Args::new()
        .arg("context", item.context_arg())
        .arg("page", Schema::integer().about("Page of the list.").default(1).min(1))
        .arg("per_page", size)
        .arg("search", text("Only items with these words."))
        .arg("after", date("Only what was written after this."))
        .arg("author", ids("Only what these users wrote."))
        .arg("author_exclude", ids("Nothing that these users wrote."))
        .arg("author_email", email)
        .arg("before", date("Only what was written before this."))
        .arg("exclude", listed("None of these ids."))
        .arg("include", listed("Only these ids."))
        .arg("offset", Schema::integer().about("Items to leave out at the start."))
        .arg("order", text("Direction.").default("desc").choices(&["asc", "desc"]))
        .arg("orderby", text("What to sort by.").default("date_gmt").choices(&orders))
        .arg("parent", listed("Only answers to these."))
        .arg("parent_exclude", listed("No answers to these."))
        .arg("post", listed("Only comments on these."))
        .treated(
            "status",
            text("Only this status.").default("approve"),
            Treatment::Cleaned(args::key),
        )
        .treated("type", text("Only this kind.").default("comment"), Treatment::Cleaned(args::key))
        .arg("password", password())
}
