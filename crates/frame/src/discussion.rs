//! What strangers say, be it about a post or about a product: whether it waits for a moderator, and
//! who is told of it. **One set of rules, by the site's options, for comments and for reviews.**

use contract::rest::clean;
use types::Error;

use crate::mail::{self, Email, Sender};
use crate::pages::{Address, Link};
use crate::text::render;
use crate::{Call, Options};

/// Characters of a title in a subject.
const TITLE_CHARS_MAX: usize = 120;

/// Something new that somebody says.
#[derive(Clone, Copy, Debug)]
pub struct Remark<'a> {
    pub author: &'a str,
    pub email: &'a str,
    /// The author's own page.
    pub url: &'a str,
    pub content: &'a str,
    /// Where it was sent from.
    pub address: &'a str,
}

/// What the site's options make of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has a word that the site does not want to see at all.
    Discarded,
    /// Somebody has to look at it.
    Held,
    /// Nothing speaks against it, as far as its author is trusted.
    Fine,
}

/// What a remark looks like to the options of discussions.
pub fn verdict(options: &Options, remark: &Remark<'_>) -> Verdict {
    let Remark { author, email, url, content, address } = *remark;
    let texts = [author, email, url, content, address].map(str::to_lowercase);
    let holds = |option: &str| {
        let words = options.text(option).to_lowercase();
        let mut words = words.lines().map(str::trim).filter(|word| !word.is_empty());
        words.any(|word| texts.iter().any(|text| text.contains(word)))
    };
    if holds("disallowed_keys") {
        return Verdict::Discarded;
    }
    let links = content.matches("<a ").count() + content.matches("://").count();
    let links_max = usize::try_from(options.integer("comment_max_links")).unwrap_or(0);
    let has_many_links = links_max > 0 && links >= links_max;
    if options.is_on("comment_moderation") || has_many_links || holds("moderation_keys") {
        return Verdict::Held;
    }
    Verdict::Fine
}

/// What a remark is about, and what e-mails call it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Such as `comment on`.
    pub words: &'a str,
    /// Such as `post`.
    pub thing: &'a str,
    /// With markup, of which the text is shown.
    pub title: &'a str,
    /// Complete, with the place of the remark on the page.
    pub address: &'a str,
    pub author_id: i64,
}

/// Whether a new remark is shown, and who wrote it, if they have an account.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    pub verdict: Verdict,
    pub user_id: i64,
}

/// Tells the author of what a remark is about, or whoever moderates what waits. **Only queued, in
/// the transaction of the remark**; a site without mail writes none.
pub fn notify(
    call: &mut Call<'_>,
    remark: &Remark<'_>,
    subject: &Subject<'_>,
    standing: Standing,
) -> Result<(), Error> {
    if call.visit.is_import || !mail::is_on(call.site) {
        return Ok(());
    }
    // A subject is one line.
    let title = clean::text_field(&render::plain_text(subject.title));
    let title: String = title.chars().take(TITLE_CHARS_MAX).collect();
    let words = subject.words;
    let noun = words.split(' ').next().unwrap_or(words);
    let (recipient, line, action) = match standing.verdict {
        Verdict::Fine if call.options().is_on("comments_notify") => {
            let author = site_rows::user::get(call.conn()?, subject.author_id)?;
            let author = author.filter(|author| author.user_id != standing.user_id);
            let Some(author) = author else { return Ok(()) };
            (author.email, format!("New {words} {title}"), format!("View the {noun}"))
        }
        Verdict::Held if call.options().is_on("moderation_notify") => {
            let line = format!("{} {title} awaits moderation", capitalised(words));
            (call.options().text("admin_email"), line, format!("View the {}", subject.thing))
        }
        _ => return Ok(()),
    };
    if recipient.is_empty() {
        return Ok(());
    }
    let (site, visit) = (call.site, call.visit);
    let home = site.address_for_emails(&visit.options);
    let path = subject.address.strip_prefix(&*visit.home).unwrap_or_default();
    let href = format!("{home}{path}");
    let name = visit.options.text("blogname");
    let who = match remark.email {
        "" => remark.author.to_owned(),
        email => format!("{} ({email})", remark.author),
    };
    let paragraphs = [format!("{who} wrote:"), render::plain_text(remark.content)];
    let email = Email {
        to: &recipient,
        subject: &line,
        paragraphs: &paragraphs,
        link: Some(Link { text: &action, href: Address::new(&href) }),
    };
    let sender = Sender { site_name: &name, home: &home };
    let now = call.now();
    mail::enqueue(site, call.conn()?, sender, &email, now).map(drop)
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
