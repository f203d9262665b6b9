//! E-mails about new comments: to the author of what is commented on, and to whoever moderates what
//! waits. What they say, and who gets them, is the same for reviews.

use frame::Call;
use frame::discussion::{self, Standing, Subject, Verdict};
use site_rows::comment::CommentRow;
use site_rows::post::PostRow;
use types::Error;

use super::{APPROVED, HOLD, rules};
use crate::posts;

pub(super) fn of_new(call: &mut Call<'_>, row: &CommentRow, post: &PostRow) -> Result<(), Error> {
    let verdict = match row.status.as_str() {
        APPROVED => Verdict::Fine,
        HOLD => Verdict::Held,
        _ => return Ok(()),
    };
    let visit = call.visit;
    let permalink = posts::permalink(call.conn()?, visit, post)?;
    let subject = Subject {
        words: "comment on",
        thing: "post",
        title: &post.title,
        address: &format!("{permalink}#comment-{}", row.comment_id),
        author_id: post.author_id,
    };
    let standing = Standing { verdict, user_id: row.user_id };
    discussion::notify(call, &rules::remark(row), &subject, standing)
}
