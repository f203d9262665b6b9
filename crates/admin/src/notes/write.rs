//! What people do with notes: read them, put them off, act on them, dismiss them and bring them
//! back.

use contract::rest::{Refusal, Reply, Stop, loose};
use frame::{Call, moments};
use serde_json::{Value, json};

use super::raise::{NewNote, row_of};
use crate::rows::admin_note::{self, NoteKind, NoteRow, NoteStatus};

/// Notes that one call changes at most.
const IDS_MAX: usize = 1_000;

fn unknown_note() -> Stop {
    Refusal::new(404, "woocommerce_note_invalid_id", "Note not found.").into()
}

/// The note that the path names, dismissed or not.
pub(super) fn note_of(call: &mut Call<'_>, param: &str) -> Result<NoteRow, Stop> {
    let note_id = call.params.int(param).unwrap_or_default();
    admin_note::get(call.conn()?, note_id)?.ok_or_else(unknown_note)
}

/// Applies what the request says of status, reminder, reading and dismissing; returns the note as
/// it is then.
pub(super) fn update(call: &mut Call<'_>, before: NoteRow) -> Result<NoteRow, Stop> {
    let mut note = before.clone();
    let params = &call.params;
    if let Some(status) = params.get("status") {
        let named = status.as_str().and_then(NoteStatus::from_name);
        note.status = named.ok_or_else(invalid_status)?;
    }
    if let Some(reminder) = params.get("date_reminder") {
        note.reminder = moments::read(call.options(), reminder);
    }
    if let Some(is_deleted) = params.get("is_deleted") {
        note.is_deleted = loose::to_bool(is_deleted);
    }
    if let Some(is_read) = params.get("is_read") {
        note.is_read = loose::to_bool(is_read);
    }
    stored(call, &before, note)
}

fn invalid_status() -> Stop {
    let statuses: Vec<&str> = NoteStatus::ALL.iter().map(|status| status.as_str()).collect();
    let message = format!("The status must be one of {}.", statuses.join(", "));
    Refusal::new(400, "admin_note_invalid_data", message).into()
}

/// Marks the note as read, and gives it the status that follows from the action.
pub(super) fn act(call: &mut Call<'_>, before: NoteRow) -> Result<NoteRow, Stop> {
    let action_id = call.params.int("action_id").unwrap_or_default();
    let actions = admin_note::actions_of(call.conn()?, &[before.note_id])?;
    let unknown = || {
        let message = "Action not found.";
        Refusal::new(404, "woocommerce_note_action_invalid_id", message)
    };
    let action = actions.iter().find(|action| action.action_id == action_id);
    let action = action.ok_or_else(unknown)?;
    let mut note = NoteRow { is_read: true, ..before.clone() };
    if let Some(status) = NoteStatus::from_name(&action.status) {
        note.status = status;
    }
    stored(call, &before, note)
}

pub(super) fn dismiss(call: &mut Call<'_>, before: NoteRow) -> Result<NoteRow, Stop> {
    let note = NoteRow { is_deleted: true, ..before.clone() };
    stored(call, &before, note)
}

fn stored(call: &mut Call<'_>, before: &NoteRow, note: NoteRow) -> Result<NoteRow, Stop> {
    if note != *before {
        admin_note::update(call.conn()?, &note)?;
    }
    Ok(note)
}

/// The notes that a request for several is about.
pub(super) fn ids_of(call: &Call<'_>) -> Result<Vec<i64>, Stop> {
    let refused = |message: &'static str| {
        Stop::from(Refusal::new(422, "woocommerce_note_invalid_ids", message))
    };
    match call.params.get("noteIds") {
        Some(Value::Array(ids)) if ids.len() <= IDS_MAX => {
            Ok(ids.iter().map(loose::to_int).collect())
        }
        Some(Value::Array(_)) => Err(refused("noteIds must list at most 1000 notes.")),
        _ => Err(refused("noteIds must be a list of note IDs.")),
    }
}

/// Marks a promotion that the operator allows as acted on, and raises it for that if nobody has.
pub(super) fn activate_promotion(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let name = call.params.text("promo_note_name").unwrap_or_default().to_owned();
    if !call.site.settings().promo_notes.contains(&name) {
        let message = "Promotion not found.";
        let code = "woocommerce_note_invalid_promo_note_name";
        return Err(Refusal::new(422, code, message).into());
    }
    let now = call.now();
    let conn = call.conn()?;
    if let Some(note) = admin_note::oldest_named(conn, &name)? {
        admin_note::update(conn, &NoteRow { status: NoteStatus::Actioned, ..note })?;
    } else {
        let promotion = NewNote {
            name: &name,
            kind: NoteKind::Marketing,
            title: name.clone(),
            content: String::new(),
            data: json!({}),
            action: None,
        };
        let row = NoteRow { status: NoteStatus::Actioned, ..row_of(&promotion, now) };
        admin_note::insert(conn, &row, &[])?;
    }
    Ok(Reply::new(json!({ "success": true })))
}
