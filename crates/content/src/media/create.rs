//! Uploading: the file was received while the request came in, and is taken into the library here.

use std::sync::Arc;

use contract::rest::multipart::disposition_file_name;
use contract::rest::{Refusal, Reply, Stop, clean};
use frame::action::Later;
use frame::dates::Moment;
use frame::library::place::folder_of;
use frame::library::{NewItem, NotTaken, Placed};
use frame::media::receive::UploadedFile;
use frame::{Call, line_of_user, text};
use types::{Capability, Error};

use super::{Collection, item};
use crate::posts::write as posts;

/// Whoever asked may go; what was begun is ended all the same.
pub(super) async fn create(collection: Arc<Collection>, call: Later) -> Result<Reply, Stop> {
    to_the_end(call, |call| upload(collection, call)).await
}

/// Carries an operation out on its own, so that rows and files stay together.
pub(crate) async fn to_the_end<F>(call: Later, run: impl FnOnce(Later) -> F) -> Result<Reply, Stop>
where
    F: Future<Output = Result<Reply, Stop>> + Send + 'static,
{
    let user_id = call.visit.identity.user.as_ref().map_or(0, |user| user.id());
    let running = tokio::spawn(db::as_caller(line_of_user(user_id), run(call)));
    let failed = |error| Stop::from(Error::internal("an operation on files failed").because(error));
    running.await.map_err(failed)?
}

async fn upload(collection: Arc<Collection>, call: Later) -> Result<Reply, Stop> {
    let (file, called) = sent_file(&call)?;
    let (site, bytes) = (Arc::clone(&call.site), file.bytes);
    let full = Arc::clone(&site);
    call.look(move |call| full.check_quota(call.conn()?, bytes).map_err(NotTaken::into_stop))
        .await?;
    let now = Moment::at(&call.visit.options, call.visit.now);
    let placed = site.place(file.content, called, folder_of(now)).await;
    let placed = Arc::new(placed.map_err(NotTaken::into_stop)?);
    let writing = Arc::clone(&placed);
    let reply = call.attempt(move |call| record(&collection, call, &writing)).await?;
    placed.keep();
    Ok(reply)
}

/// The file that was sent, and what it is called.
fn sent_file(call: &Later) -> Result<(UploadedFile, String), Stop> {
    let refuse =
        |status, code, message: &'static str| Err(Refusal::new(status, code, message).into());
    let header = |name: &str| call.visit.header(name).map(str::to_owned);
    let Some(upload) = &call.upload else {
        let Some(_) = call.params.json() else {
            return refuse(400, "rest_upload_no_data", "No file was sent.");
        };
        return match header("content-disposition") {
            Some(_) => Err(NotTaken::Type.into_stop()),
            None => refuse(400, "rest_upload_no_content_disposition", NO_DISPOSITION),
        };
    };
    let is_form = upload.is_form;
    let file = upload.take_file().filter(|file| is_form || file.bytes > 0);
    let Some(file) = file else {
        return refuse(400, "rest_upload_no_data", "No file was sent.");
    };
    let called = if is_form {
        if file.field != "file" {
            let message = "Send the file in the field file.";
            return refuse(400, "rest_upload_unknown_error", message);
        }
        file.name.clone()
    } else {
        if header("content-type").is_none_or(|kind| kind.is_empty()) {
            return refuse(400, "rest_upload_no_content_type", "Send the type of the file.");
        }
        let Some(disposition) = header("content-disposition") else {
            return refuse(400, "rest_upload_no_content_disposition", NO_DISPOSITION);
        };
        match disposition_file_name(&disposition) {
            Some(name) => name,
            None => return refuse(400, "rest_upload_invalid_disposition", NO_DISPOSITION),
        }
    };
    let stated = header("content-md5");
    if stated.is_some_and(|stated| !stated.trim().eq_ignore_ascii_case(&file.md5)) {
        let message = "The file does not have the MD5 hash that was stated.";
        return refuse(412, "rest_upload_hash_mismatch", message);
    }
    Ok((file, called))
}

const NO_DISPOSITION: &str =
    "Send the name of the file: Content-Disposition: attachment; filename=\"image.png\".";

fn record(collection: &Collection, call: &mut Call<'_>, placed: &Placed) -> Result<Reply, Stop> {
    let site = call.site;
    site.check_quota(call.conn()?, placed.bytes).map_err(NotTaken::into_stop)?;
    let now = Moment::at(call.options(), call.now());
    let new = NewItem {
        comment_status: call.options().text("default_comment_status"),
        ..described(call, NewItem::at(now, call.user_id()))
    };
    let (mut row, media) = new.insert(call.conn()?, placed)?;
    let before = row.clone();
    posts::set_author(call, &mut row)?;
    posts::set_choices(call, &mut row)?;
    posts::set_dates(call, &before, &mut row);
    site_rows::post::update(call.conn()?, &row)?;
    let location = call.visit.rest(&collection.path_of(row.post_id));
    let reply = item::answer(collection, call, (&row, &media), "edit")?;
    Ok(Reply { status: 201, ..reply }.header("location", location))
}

/// A new item with the texts of the request.
pub(super) fn described(call: &Call<'_>, new: NewItem) -> NewItem {
    let trusted = call.can(Capability::UnfilteredHtml);
    let text_of = |name: &str| posts::raw_text(call, name).map(|text| text.replace('\0', ""));
    let cleaned = |text: String| if trusted { text } else { text::clean_content(&text) };
    let title = text_of("title").map(|title| {
        let title = if trusted { title } else { text::clean_title(&title) };
        title.trim().to_owned()
    });
    NewItem {
        title: title.unwrap_or(new.title),
        description: text_of("description").map_or(new.description, cleaned),
        caption: text_of("caption").map_or(new.caption, cleaned),
        alt_text: text_of("alt_text").map_or(new.alt_text, |text| clean::text_field(&text)),
        slug: call.params.text("slug").map_or(new.slug, str::to_owned),
        parent_id: call.params.int("post").unwrap_or(new.parent_id),
        ..new
    }
}
