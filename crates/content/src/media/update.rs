//! Changing what is said about a file, and deleting it.

use std::sync::Arc;

use contract::rest::{Links, Refusal, Reply, Stop, clean};
use frame::action::Later;
use frame::text::slugify;
use frame::{Call, library, text};
use serde_json::json;
use site_rows::{media, post};
use types::Capability;

use super::create::to_the_end;
use super::{Collection, item, permit};
use crate::posts::write as posts;

pub(super) fn update(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (before, mut media) = permit::item_of(call)?;
    let mut row = before.clone();
    let trusted = call.can(Capability::UnfilteredHtml);
    let text_of = |name: &str| posts::raw_text(call, name).map(|text| text.replace('\0', ""));
    let cleaned = |text: String| if trusted { text } else { text::clean_content(&text) };
    if let Some(title) = text_of("title") {
        let title = if trusted { title } else { text::clean_title(&title) };
        title.trim().clone_into(&mut row.title);
    }
    if let Some(description) = text_of("description") {
        row.content = cleaned(description);
    }
    if let Some(caption) = text_of("caption") {
        row.excerpt = cleaned(caption);
    }
    if let Some(alt_text) = text_of("alt_text") {
        media.alt_text = clean::text_field(&alt_text);
    }
    if let Some(parent_id) = call.params.int("post") {
        row.parent_id = parent_id.max(0);
    }
    posts::set_author(call, &mut row)?;
    posts::set_choices(call, &mut row)?;
    posts::set_dates(call, &before, &mut row);
    if let Some(slug) = call.params.text("slug").map(str::to_owned) {
        let wanted = if slug.is_empty() { slugify(&row.title) } else { slug };
        let wanted = if wanted.is_empty() { row.post_id.to_string() } else { wanted };
        row.slug = library::item::unique_slug(call.conn()?, &wanted, row.post_id)?;
    }
    post::update(call.conn()?, &row)?;
    media::update(call.conn()?, &media)?;
    item::answer(collection, call, (&row, &media), "edit")
}

/// The rows go first: a file that is still there is swept, a row without its file would be broken.
pub(super) async fn delete(collection: Arc<Collection>, call: Later) -> Result<Reply, Stop> {
    to_the_end(call, |call| async move {
        let site = Arc::clone(&call.site);
        let deleted = call.attempt(move |call| delete_rows(&collection, call)).await;
        let (reply, files) = deleted?;
        site.remove_files(files).await;
        Ok(reply)
    })
    .await
}

fn delete_rows(
    collection: &Collection,
    call: &mut Call<'_>,
) -> Result<(Reply, Vec<media::MediaFileRow>), Stop> {
    let (row, known) = permit::item_of(call)?;
    if !call.params.flag("force") {
        let message = "Files cannot be moved to the trash; set force to delete it permanently.";
        return Err(Refusal::new(501, "rest_trash_not_supported", message).into());
    }
    let previous = item::answer(collection, call, (&row, &known), "edit")?;
    let previous = Reply { links: Links::default(), ..previous }.into_json().2;
    let files = media::delete(call.conn()?, row.post_id)?;
    post::delete(call.conn()?, row.post_id)?;
    Ok((Reply::new(json!({ "deleted": true, "previous": previous })), files))
}
