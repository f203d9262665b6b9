//! E-mails about new comments: to the author of what is commented on, and to whoever moderates what
//! waits. **Only queued, in the transaction of the comment**; a site without mail writes none.

use frame::Call;
use frame::mail::{self, Email, Sender};
use frame::pages::{Address, Link};
use frame::text::render;
use site_rows::comment::CommentRow;
use site_rows::post::PostRow;
use site_rows::user;
use types::Error;

use super::{APPROVED, HOLD};
use crate::posts;

/// Characters of a title in a subject.
const TITLE_CHARS_MAX: usize = 120;

pub(super) fn of_new(call: &mut Call<'_>, row: &CommentRow, post: &PostRow) -> Result<(), Error> {
    if call.visit.is_import || !mail::is_on(call.site) {
        return Ok(());
    }
    // A subject is one line.
    let title = contract::rest::clean::text_field(&render::plain_text(&post.title));
    let title: String = title.chars().take(TITLE_CHARS_MAX).collect();
    let (recipient, subject, action) = match row.status.as_str() {
        APPROVED if call.options().is_on("comments_notify") => {
            let author = user::get(call.conn()?, post.author_id)?;
            let author = author.filter(|author| author.user_id != row.user_id);
            let Some(author) = author else { return Ok(()) };
            (author.email, format!("New comment on {title}"), "View the comment")
        }
        HOLD if call.options().is_on("moderation_notify") => {
            let moderator = call.options().text("admin_email");
            (moderator, format!("Comment on {title} awaits moderation"), "View the post")
        }
        _ => return Ok(()),
    };
    if recipient.is_empty() {
        return Ok(());
    }
    let (site, visit) = (call.site, call.visit);
    let home = site.address_for_emails(&visit.options);
    let permalink = posts::permalink(call.conn()?, visit, post)?;
    let path = permalink.strip_prefix(&*visit.home).unwrap_or_default();
    let href = format!("{home}{path}#comment-{}", row.comment_id);
    let name = visit.options.text("blogname");
    let who = if row.email.is_empty() {
        row.author.clone()
    } else {
        format!("{} ({})", row.author, row.email)
    };
    let paragraphs = [format!("{who} wrote:"), render::plain_text(&row.content)];
    let email = Email {
        to: &recipient,
        subject: &subject,
        paragraphs: &paragraphs,
        link: Some(Link { text: action, href: Address::new(&href) }),
    };
    let sender = Sender { site_name: &name, home: &home };
    let now = call.now();
    mail::enqueue(site, call.conn()?, sender, &email, now).map(drop)
}
