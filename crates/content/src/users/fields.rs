//! What a user consists of: the fields with the views that show them, and from these the parameters
//! of each operation.

use std::sync::LazyLock;

use contract::rest::args::text_field;
use contract::rest::{Args, CompiledItem, Item, ParamError, Schema, Treatment, loose};
use frame::password;
use frame::users::{AVATAR_SIZES, names};
use serde_json::{Map, Value, json};

/// The kinds of content whose authors are public once something of theirs is published.
pub(super) const PUBLIC_KINDS: &[&str] = &[
    "post",
    "page",
    "attachment",
    "nav_menu_item",
    "wp_block",
    "wp_template",
    "wp_template_part",
    "wp_global_styles",
    "wp_navigation",
    "wp_font_family",
    "wp_font_face",
    "product",
];
/// Languages that a user may choose; the empty one is the site's.
const LOCALES: &[&str] = &["", "en_US"];

const EVERYWHERE: &[&str] = &["embed", "view", "edit"];
const EDIT_ONLY: &[&str] = &["edit"];

static COMPILED: LazyLock<CompiledItem> =
    LazyLock::new(|| item().compile().expect("the fields of a user are written down right"));

/// The fields that a view shows.
pub(super) fn in_context(body: Value, context: &str) -> Value {
    COMPILED.filter_by_context(body, context)
}

pub(super) fn id() -> Schema {
    Schema::integer().about("User ID.")
}

pub(super) fn item() -> Item {
    let shown = |schema: Schema| schema.context(EVERYWHERE);
    let inner = |schema: Schema| schema.context(EDIT_ONLY);
    let text = |about: &str| Schema::text().about(about);
    let uri = |about: &str| Schema::text().format("uri").about(about);
    let schema = Schema::object([
        ("id", shown(id()).readonly()),
        ("username", inner(text("Username.")).required()),
        ("name", shown(text("Display name."))),
        ("first_name", inner(text("First name."))),
        ("last_name", inner(text("Last name."))),
        ("email", inner(Schema::text().format("email").about("E-mail address.")).required()),
        ("url", shown(uri("User's website."))),
        ("description", shown(text("User description."))),
        ("link", shown(uri("Author page URL.")).readonly()),
        ("locale", inner(Schema::text().choices(LOCALES).about("Language."))),
        ("nickname", inner(text("Nickname."))),
        ("slug", shown(text("User slug."))),
        ("registered_date", inner(Schema::date_time().about("Date registered.")).readonly()),
        ("roles", inner(Schema::list(Schema::text()).about("User roles."))),
        ("password", text("Password, never returned.").context(&[]).required()),
        ("capabilities", inner(Schema::map().about("User capabilities.")).readonly()),
        (
            "extra_capabilities",
            inner(Schema::map().about("Additional capabilities of the user.")).readonly(),
        ),
        ("avatar_urls", shown(avatars()).readonly()),
        ("meta", meta().context(&["view", "edit"])),
    ]);
    Item::new("user", schema)
}

fn avatars() -> Schema {
    let picture = |size: u32| {
        let about = format!("Avatar URL, {size} pixels.");
        let schema = Schema::text().format("uri").about(&about).context(EVERYWHERE);
        (size.to_string(), schema)
    };
    Schema::object(AVATAR_SIZES.map(picture)).about("Avatar URLs.")
}

fn meta() -> Schema {
    let modified = Schema::date_time().about("Date last modified.").keyword("readonly", false);
    let preferences = Schema::object([("_modified", modified)])
        .any_additional()
        .keyword("default", json!([]))
        .context(EDIT_ONLY)
        .shown_as(Schema::types(&["object", "array"]));
    // Without a field it is an empty list.
    let shown = Schema::types(&["object", "array"]);
    Schema::object([("persisted_preferences", preferences)]).about("Meta fields.").shown_as(shown)
}

pub(super) fn get_args() -> Args {
    Args::new().arg("context", item().context_arg())
}

pub(super) fn create_args() -> Args {
    own_ways(item().create_args())
}

pub(super) fn edit_args() -> Args {
    own_ways(item().update_args())
}

fn own_ways(args: Args) -> Args {
    args.treat("username", Treatment::Cleaned(check_login))
        .treat("name", Treatment::Cleaned(text_field))
        .treat("first_name", Treatment::Cleaned(text_field))
        .treat("last_name", Treatment::Cleaned(text_field))
        .treat("nickname", Treatment::Cleaned(text_field))
        .treat("slug", Treatment::Cleaned(clean_slug))
        .treat("password", Treatment::Cleaned(check_password))
}

pub(super) fn delete_args() -> Args {
    let force = Schema::boolean()
        .default(false)
        .about("Required to be true, as users cannot be moved to the trash.");
    let reassign =
        Schema::integer().about("ID of the user to reassign posts to; false deletes them.");
    Args::new().arg("force", force).treated(
        "reassign",
        reassign.required(),
        Treatment::Own(check_reassign),
    )
}

/// Orders of the list.
const ORDERS: &[&str] =
    &["id", "include", "name", "registered_date", "slug", "include_slugs", "email", "url"];
const SEARCH_COLUMNS: &[&str] = &["email", "name", "id", "username", "slug"];

pub(super) fn list_args() -> Args {
    let texts = || Schema::list(Schema::text());
    let ids = || Schema::list(Schema::integer()).default(json!([]));
    let kinds: Map<String, Value> =
        PUBLIC_KINDS.iter().map(|kind| ((*kind).to_owned(), json!(kind))).collect();
    let kind = Schema::text().keyword("enum", Value::Object(kinds));
    let published = Schema::types(&["boolean", "array"]).keyword("items", kind);
    let columns = Schema::list(Schema::text().choices(SEARCH_COLUMNS)).default(json!([]));
    let page_size = Schema::integer().default(10).min(1).max(100);
    let search = Schema::text().about("Limit results to users matching this text.");
    get_args()
        .arg("page", Schema::integer().default(1).min(1).about("Page of the collection."))
        .arg("per_page", page_size.about("Maximum number of users per page."))
        .treated("search", search, Treatment::Cleaned(text_field))
        .arg("exclude", ids().about("Exclude users with these IDs."))
        .arg("include", ids().about("Limit results to users with these IDs."))
        .arg("offset", Schema::integer().about("Number of users to skip."))
        .arg("order", Schema::text().default("asc").choices(&["asc", "desc"]).about("Direction."))
        .arg("orderby", Schema::text().default("name").choices(ORDERS).about("Field to sort by."))
        .arg("slug", texts().about("Limit results to users with these slugs."))
        .arg("roles", texts().about("Limit results to users with these roles."))
        .arg("capabilities", texts().about("Limit results to users with these capabilities."))
        .arg(
            "who",
            Schema::text()
                .choices(&["authors"])
                .about("Limit results to users who can write posts."),
        )
        .arg("has_published_posts", published.about("Limit results to users with published posts."))
        .arg("search_columns", columns.about("Fields to search."))
}

const BAD_REQUEST: u16 = 400;

fn error(code: &'static str, message: &'static str) -> ParamError {
    ParamError::new(code, message).with_data(json!({ "status": BAD_REQUEST }))
}

fn check_login(value: &Value, _: &str) -> Result<Value, ParamError> {
    let login = loose::scalar_text(value).unwrap_or_default();
    if names::is_login(&login) {
        return Ok(json!(login));
    }
    let message = "A username can contain only letters, digits, single spaces and . _ - @.";
    Err(error("rest_user_invalid_username", message))
}

fn check_password(value: &Value, _: &str) -> Result<Value, ParamError> {
    let text = loose::scalar_text(value).unwrap_or_default();
    if text.contains('\\') {
        let message = "A password cannot contain a backslash.";
        return Err(error("rest_user_invalid_password", message));
    }
    match password::error(&text) {
        None => Ok(json!(text)),
        Some(message) => {
            let error = ParamError::new("rest_user_invalid_password", message);
            Err(error.with_data(json!({ "status": BAD_REQUEST })))
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every conversion")]
fn clean_slug(value: &Value, _: &str) -> Result<Value, ParamError> {
    Ok(json!(names::slug(&loose::scalar_text(value).unwrap_or_default())))
}

/// A number is a user; what is empty, or says false, means that nobody gets the posts.
fn check_reassign(value: &Value, _: &str) -> Result<Value, ParamError> {
    if loose::numeric(value).is_some() {
        return Ok(json!(loose::to_int(value)));
    }
    let means_nobody = match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty() || text == "false",
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    };
    if means_nobody {
        return Ok(json!(false));
    }
    Err(error("rest_invalid_param", "Must be the ID of a user, or false."))
}
