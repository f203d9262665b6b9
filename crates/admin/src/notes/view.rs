//! How a note looks: its schema, its body and where its actions lead.

use contract::rest::{Item, Links, Schema};
use frame::auth::nonce::{self, Holder};
use frame::bundle::ADDRESS_MARK;
use frame::identity::Via;
use frame::{Call, moments};
use serde_json::{Value, json};

use super::data_of;
use crate::rows::admin_note::{NoteActionRow, NoteRow};

const BOTH: &[&str] = &["view", "edit"];
/// Where people administer the shop.
const ADMIN_PATH: &str = "/wp-admin/";
const ADMIN_PAGE: &str = "admin.php";
const NONCE_NAME: &str = "_wpnonce";

pub(super) fn item() -> Item {
    let shown = |schema: Schema, about: &str| schema.about(about).context(BOTH).readonly();
    let text = |about: &str| shown(Schema::text(), about);
    let moment = |about: &str| shown(Schema::text(), about).or_null();
    let flag = |about: &str| shown(Schema::boolean(), about);
    let id = Schema::integer().about("Note ID.").context(&["view"]).readonly();
    let fields = [
        ("id", id),
        ("name", text("Note name.")),
        ("type", text("Note type.")),
        ("locale", text("Locale of the texts.")),
        ("title", text("Title.")),
        ("content", text("Content.")),
        ("content_data", text("Additional data for programs.").shown_as(Schema::map())),
        ("status", Schema::text().about("Note status.").context(BOTH)),
        ("source", text("Source of the note.")),
        ("date_created", moment("Date created, in the site's time zone.")),
        ("date_created_gmt", moment("Date created, in GMT.")),
        ("date_reminder", moment("Date of the reminder, in the site's time zone.")),
        ("date_reminder_gmt", moment("Date of the reminder, in GMT.")),
        ("is_snoozable", flag("Whether the note can be snoozed.")),
        ("actions", shown(Schema::typed("array"), "Available actions.")),
        ("layout", text("Layout.")),
        ("image", text("Image.")),
        ("is_deleted", flag("Whether the note was dismissed.")),
        ("is_read", flag("Whether the note was read.")),
    ];
    Item::new("note", Schema::object(fields))
}

pub(super) fn links(call: &Call<'_>, base: &str, note: &NoteRow) -> Links {
    Links::new()
        .to("self", call.visit.rest(&format!("{base}/{}", note.note_id)))
        .to("collection", call.visit.rest(base))
}

pub(super) fn body(call: &Call<'_>, note: &NoteRow, actions: &[&NoteActionRow]) -> Value {
    let [created, created_gmt] = moments::pair(call.options(), Some(note.created));
    let [reminder, reminder_gmt] = moments::pair(call.options(), note.reminder);
    let actions: Vec<Value> = actions.iter().map(|action| action_body(call, action)).collect();
    json!({
        "id": note.note_id,
        "name": note.name,
        "type": note.kind.as_str(),
        "locale": note.locale,
        "title": note.title,
        "content": note.content,
        "content_data": data_of(note),
        "status": note.status.as_str(),
        "source": note.source,
        "date_created": created,
        "date_created_gmt": created_gmt,
        "date_reminder": reminder,
        "date_reminder_gmt": reminder_gmt,
        "is_snoozable": note.is_snoozable,
        "actions": actions,
        "layout": note.layout,
        "image": note.image,
        "is_deleted": note.is_deleted,
        "is_read": note.is_read,
    })
}

fn action_body(call: &Call<'_>, action: &NoteActionRow) -> Value {
    let query = action.query.replace(ADDRESS_MARK, &call.visit.home);
    json!({
        "id": action.action_id,
        "name": action.name,
        "label": action.label,
        "query": query,
        "status": action.status,
        "actioned_text": action.actioned_text,
        "nonce_action": action.nonce_action,
        "nonce_name": action.nonce_name,
        "url": address(call, action, &query),
    })
}

/// Where the action leads, with a proof that the caller's page is ours if it wants one.
fn address(call: &Call<'_>, action: &NoteActionRow, query: &str) -> String {
    let address = match query {
        "" => String::new(),
        _ if query.starts_with("http://") || query.starts_with("https://") => query.to_owned(),
        _ if query.starts_with('?') => format!("{}{ADMIN_PAGE}{query}", admin_home(call)),
        _ => format!("{}{query}", admin_home(call)),
    };
    let Some(wanted) = action.nonce_action.as_deref().filter(|wanted| !wanted.is_empty()) else {
        return address;
    };
    let session = match &call.visit.identity.via {
        Via::Session { token_hash } => token_hash.as_slice(),
        _ => &[],
    };
    let holder = Holder { user_id: call.user_id(), session };
    let proof = nonce::make(call.site.vault(), wanted, holder, call.now());
    let name = action.nonce_name.as_deref().filter(|name| !name.is_empty()).unwrap_or(NONCE_NAME);
    let joint = if address.contains('?') { '&' } else { '?' };
    format!("{address}{joint}{name}={proof}")
}

fn admin_home(call: &Call<'_>) -> String {
    call.visit.page(ADMIN_PATH)
}
