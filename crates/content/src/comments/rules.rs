//! What a new comment must be, and whether it waits for a moderator: rules against repetition and
//! floods, and those that the site's discussion options say.

use std::time::Duration;

use contract::rest::{Refusal, Stop};
use frame::Call;
use frame::discussion::{self, Remark, Verdict};
use site_rows::comment::{self, CommentRow};
use site_rows::post::PostRow;
use types::{Capability, Error, Timestamp};

use super::{APPROVED, HOLD, TRASH};

/// Who may not moderate waits so long between two comments.
const PAUSE: Duration = Duration::from_secs(15);
/// Bytes of a comment.
const CONTENT_LENGTH_MAX: usize = 65_525;
const NAME_LENGTH_MAX: usize = 245;
const EMAIL_LENGTH_MAX: usize = 100;
const URL_LENGTH_MAX: usize = 200;

/// Refuses what is longer than what is kept.
pub(super) fn check_lengths(row: &CommentRow) -> Result<(), Stop> {
    let fields = [
        ("comment_author_column_length", row.author.chars().count(), NAME_LENGTH_MAX),
        ("comment_author_email_column_length", row.email.chars().count(), EMAIL_LENGTH_MAX),
        ("comment_author_url_column_length", row.author_url.chars().count(), URL_LENGTH_MAX),
        ("comment_content_column_length", row.content.len(), CONTENT_LENGTH_MAX),
    ];
    match fields.into_iter().find(|(_, length, most)| length > most) {
        Some((code, ..)) => {
            Err(Refusal::new(400, code, "The text is too long; shorten it.").into())
        }
        None => Ok(()),
    }
}

/// Refuses what was said before, and who says much in a short time.
pub(super) fn check_repetition(call: &mut Call<'_>, row: &CommentRow) -> Result<(), Stop> {
    if comment::is_repeated(call.conn()?, row)? {
        let message = "You have said that already.";
        return Err(Refusal::new(409, "comment_duplicate", message).into());
    }
    if call.can(Capability::ModerateComments) {
        return Ok(());
    }
    let pause = i64::try_from(PAUSE.as_micros()).unwrap_or(i64::MAX);
    let since = Timestamp::from_micros(call.now().as_micros().saturating_sub(pause));
    if comment::last_of_author(call.conn()?, row, since)?.is_some() {
        let message = "You are commenting too quickly; wait a moment.";
        return Err(Refusal::new(400, "comment_flood", message).into());
    }
    Ok(())
}

pub(super) fn remark(row: &CommentRow) -> Remark<'_> {
    Remark {
        author: &row.author,
        email: &row.email,
        url: &row.author_url,
        content: &row.content,
        address: &row.author_ip,
    }
}

/// The status of a new comment.
pub(super) fn first_status(
    call: &mut Call<'_>,
    row: &CommentRow,
    post: &PostRow,
) -> Result<&'static str, Error> {
    let is_own_post = row.user_id != 0 && row.user_id == post.author_id;
    let by_moderator = row.user_id == call.user_id() && call.can(Capability::ModerateComments);
    if is_own_post || by_moderator {
        return Ok(APPROVED);
    }
    match discussion::verdict(call.options(), &remark(row)) {
        Verdict::Discarded => return Ok(TRASH),
        Verdict::Held => return Ok(HOLD),
        Verdict::Fine => {}
    }
    let must_be_known = call.options().is_on("comment_previously_approved");
    if must_be_known && !comment::is_known_author(call.conn()?, row)? {
        return Ok(HOLD);
    }
    Ok(APPROVED)
}
