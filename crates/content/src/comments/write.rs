//! Writing, changing, moderating and deleting comments.

use contract::rest::{Refusal, Reply, Stop, clean};
use frame::dates::Moment;
use frame::{Call, text};
use serde_json::{Value, json};
use site_rows::comment::{self, CommentRow};
use site_rows::user;
use types::{Capability, Error, Timestamp};

use super::item::{self, Comments};
use super::{APPROVED, COMMENT, HOLD, SPAM, TRASH, notify, permit, rules};
use crate::posts::records;
use crate::users;

/// Characters of the name of a program that are kept.
const AGENT_CHARS_MAX: usize = 254;

pub(super) fn create(comments: &Comments, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let row = insert_new(call)?;
    let context = if call.can(Capability::ModerateComments) { "edit" } else { "view" };
    let (fields, links) = item::prepare(comments, call, &row, context)?;
    let location = call.visit.rest(&comments.path_of(row.comment_id));
    Ok(Reply::created(fields, location).links(links))
}

/// Stores the comment that the request brings, by the rules for new ones.
pub(super) fn insert_new(call: &mut Call<'_>) -> Result<CommentRow, Stop> {
    refuse_given(call)?;
    let blank = CommentRow {
        kind: COMMENT.to_owned(),
        author_ip: call.visit.client.address.to_string(),
        author_agent: agent(call.visit.header("user-agent").unwrap_or_default()),
        created: call.now(),
        meta: String::from("{}"),
        ..CommentRow::default()
    };
    let mut row = changed(call, blank.clone())?;
    if row.content.trim().is_empty() {
        return Err(empty_content());
    }
    if !call.can(Capability::ModerateComments) {
        speak_for_oneself(call, &mut row, blank);
    }
    set_own_author(call, &mut row);
    if comment::get(call.conn()?, row.parent_id)?.is_none_or(|parent| parent.post_id != row.post_id)
    {
        row.parent_id = 0;
    }
    let nameless = row.author.is_empty() || row.email.is_empty();
    if nameless && call.options().is_on("require_name_email") {
        let message = "A name and an e-mail address are required.";
        return Err(Refusal::new(400, "rest_comment_author_data_required", message).into());
    }
    rules::check_lengths(&row)?;
    rules::check_repetition(call, &row)?;
    let post = records::get(call, row.post_id)?;
    let post = post.ok_or_else(|| Error::internal("a comment is about nothing"))?;
    rules::first_status(call, &row, &post)?.clone_into(&mut row.status);
    if let Some(status) = call.params.text("status").map(str::to_owned) {
        set_status(&mut row, &status);
    }
    row.comment_id = comment::insert(call.conn()?, &row)?;
    told(call, &row)?;
    notify::of_new(call, &row, &post)?;
    Ok(row)
}

pub(super) fn update(comments: &Comments, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let before = permit::comment_of(call)?;
    if call.params.text("type").is_some_and(|kind| kind != before.kind) {
        let message = "The kind of a comment cannot be changed.";
        return Err(Refusal::new(404, "rest_comment_invalid_type", message).into());
    }
    if let Some(post_id) = call.params.int("post").filter(|id| *id != 0)
        && records::get(call, post_id)?.is_none()
    {
        let message = "Invalid post ID.";
        return Err(Refusal::new(403, "rest_comment_invalid_post_id", message).into());
    }
    let mut row = changed(call, before.clone())?;
    if row.content.trim().is_empty() {
        return Err(empty_content());
    }
    rules::check_lengths(&row)?;
    if let Some(status) = call.params.text("status").map(str::to_owned) {
        set_status(&mut row, &status);
    }
    comment::update(call.conn()?, &row)?;
    if before.post_id != row.post_id {
        told(call, &before)?;
    }
    told(call, &row)?;
    let (fields, links) = item::prepare(comments, call, &row, "edit")?;
    Ok(Reply::new(fields).links(links))
}

pub(super) fn delete(comments: &Comments, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut row = permit::comment_of(call)?;
    if call.params.flag("force") {
        let (previous, _) = item::prepare(comments, call, &row, "edit")?;
        comment::delete(call.conn()?, row.comment_id)?;
        told(call, &row)?;
        return Ok(Reply::new(json!({ "deleted": true, "previous": previous })));
    }
    if row.status == TRASH {
        let message = "The comment is already in the trash; set force to delete it permanently.";
        return Err(Refusal::new(410, "rest_already_trashed", message).into());
    }
    set_status(&mut row, TRASH);
    comment::update(call.conn()?, &row)?;
    told(call, &row)?;
    let (fields, links) = item::prepare(comments, call, &row, "edit")?;
    Ok(Reply::new(fields).links(links))
}

/// Tells whoever keeps what the comment is about.
fn told(call: &mut Call<'_>, row: &CommentRow) -> Result<(), Error> {
    let Some(post) = records::get(call, row.post_id)? else { return Ok(()) };
    let source = call.site.content_source(&post.kind);
    records::comments_changed(source, call.conn()?, row.post_id)
}

fn refuse_given(call: &Call<'_>) -> Result<(), Stop> {
    if call.params.int("id").is_some_and(|id| id != 0) {
        let message = "The ID of a new comment cannot be set.";
        return Err(Refusal::new(400, "rest_comment_exists", message).into());
    }
    let kind = call.params.text("type").filter(|kind| !kind.is_empty());
    if kind.is_some_and(|kind| kind != COMMENT) {
        let message = "Comments of this kind cannot be created.";
        return Err(Refusal::new(400, "rest_invalid_comment_type", message).into());
    }
    Ok(())
}

/// The name of a program, as much of it as is kept.
fn agent(given: &str) -> String {
    clean::text_field(given).chars().take(AGENT_CHARS_MAX).collect()
}

fn empty_content() -> Stop {
    Refusal::new(400, "rest_comment_content_invalid", "The comment is empty.").into()
}

/// The comment with what the request says about it.
fn changed(call: &mut Call<'_>, mut row: CommentRow) -> Result<CommentRow, Stop> {
    if let Some(content) = raw_content(call) {
        let content = content.replace('\0', "");
        let trusted = call.can(Capability::UnfilteredHtml);
        row.content = if trusted { content } else { text::clean_comment(&content) };
    }
    if let Some(post) = call.params.int("post").filter(|post| *post != 0) {
        row.post_id = post;
    }
    if let Some(parent) = call.params.int("parent") {
        row.parent_id = parent;
    }
    if let Some(author) = call.params.int("author") {
        set_author(call, &mut row, author)?;
    }
    let given = |name: &str| call.params.text(name).map(|text| text.replace('\0', ""));
    if let Some(name) = given("author_name") {
        row.author = name;
    }
    if let Some(email) = given("author_email") {
        row.email = email;
    }
    if let Some(url) = given("author_url") {
        row.author_url = clean::url(&url);
    }
    if let Some(agent) = given("author_user_agent").filter(|agent| !agent.is_empty()) {
        row.author_agent = self::agent(&agent);
    }
    if let Some(ip) = given("author_ip").filter(|_| call.can(Capability::ModerateComments)) {
        row.author_ip = ip;
    }
    row.created = date(call).unwrap_or(row.created);
    let note = call.params.get("meta").and_then(|meta| meta.get("_wp_note_status"));
    if let Some(Value::String(note)) = note {
        row.meta = json!({ "_wp_note_status": note }).to_string();
    }
    Ok(row)
}

/// A text may come alone or as the member `raw` of an object.
fn raw_content(call: &Call<'_>) -> Option<String> {
    match call.params.get("content")? {
        Value::String(text) => Some(text.clone()),
        Value::Object(members) => Some(members.get("raw")?.as_str()?.to_owned()),
        _ => None,
    }
}

fn date(call: &Call<'_>) -> Option<Timestamp> {
    let given = |name: &str, is_gmt: bool| {
        let text = call.params.text(name).filter(|text| !text.is_empty())?;
        Moment::parse(call.options(), text, is_gmt)
    };
    given("date", false).or_else(|| given("date_gmt", true)).map(|moment| moment.gmt)
}

/// The named user becomes the author, with the name and addresses of the account.
fn set_author(call: &mut Call<'_>, row: &mut CommentRow, author: i64) -> Result<(), Stop> {
    let Some(found) = user::get(call.conn()?, author)? else {
        let message = "Invalid author ID.";
        return Err(Refusal::new(400, "rest_comment_author_invalid", message).into());
    };
    row.author_url = users::url(call, &found);
    row.user_id = found.user_id;
    row.author = found.display_name;
    row.email = found.email;
    Ok(())
}

/// Whoever does not moderate writes now, from where they are, and signed in as nobody else: names
/// that were approved before, and pauses between comments, are theirs.
fn speak_for_oneself(call: &Call<'_>, row: &mut CommentRow, blank: CommentRow) {
    row.created = blank.created;
    row.author_agent = blank.author_agent;
    if call.user().is_some() {
        (row.author, row.email, row.author_url) = (blank.author, blank.email, blank.author_url);
        row.user_id = blank.user_id;
    }
}

/// Who says nothing about the author is the author.
fn set_own_author(call: &Call<'_>, row: &mut CommentRow) {
    let unsaid = row.user_id == 0
        && [&row.author, &row.email, &row.author_url].into_iter().all(String::is_empty);
    if let (true, Some(user)) = (unsaid, call.user()) {
        row.user_id = user.id();
        row.author.clone_from(&user.row.display_name);
        row.email.clone_from(&user.row.email);
        row.author_url = users::url(call, &user.row);
    }
}

/// What a status that is asked for makes of a comment. Out of the trash, and from among spam, it
/// becomes what it was; a word that means nothing changes nothing.
fn set_status(row: &mut CommentRow, requested: &str) {
    let former = row.former_status.clone().unwrap_or_else(|| HOLD.to_owned());
    let status = match requested {
        "approved" | "approve" | "1" => APPROVED.to_owned(),
        "hold" | "0" => HOLD.to_owned(),
        "spam" => SPAM.to_owned(),
        "trash" => TRASH.to_owned(),
        "unspam" if row.status == SPAM => former,
        "untrash" if row.status == TRASH => former,
        _ => return,
    };
    if status == row.status {
        return;
    }
    let hidden = |status: &str| [SPAM, TRASH].contains(&status);
    let before = std::mem::replace(&mut row.status, status);
    row.former_status = hidden(&row.status).then_some(before);
}
