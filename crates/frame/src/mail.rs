//! E-mails of the site, rendered here and sent by whoever runs it.
//!
//! [`enqueue`] puts one into the queue of background jobs **in the transaction of the change
//! that it tells of**: it is sent if that change is, however often the relay must be asked. What an
//! e-mail says is sealed while it waits, since it may hold a link that lets its reader in. Where
//! the operator named no relay, there is no mail, and callers are told so.

use askama::Template;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use contract::rest::{Refusal, Stop};
use db::{Conn, counter};
use serde::{Deserialize, Serialize};
use types::{Error, Result, Timestamp};
use vault::{Aad, Vault};

use crate::pages::{Address, EmailLook, EmailStyle, Link};
use crate::{Call, Options, Site, jobs};

pub use crate::site::MAIL_JOB as JOB;

/// Characters of an address, as the protocol has it.
const ADDRESS_CHARS_MAX: usize = 254;
const SUBJECT_CHARS_MAX: usize = 200;
const ID_BYTES: usize = 16;
/// E-mails that one user has sent in an hour to addresses of their choice.
const EMAILS_PER_HOUR_MAX: i64 = 30;
/// E-mails that one address gets in an hour because of orders and accounts.
const RECEIVED_PER_HOUR_MAX: i64 = 20;
const MICROS_PER_HOUR: i64 = 60 * 60 * 1_000_000;

/// What is written to somebody.
#[derive(Clone, Copy, Debug)]
pub struct Email<'a> {
    /// The address alone.
    pub to: &'a str,
    pub subject: &'a str,
    pub paragraphs: &'a [String],
    /// What the reader is to open.
    pub link: Option<Link<'a>>,
}

/// How an e-mail is presented, where it is not as usual.
#[derive(Clone, Copy, Debug, Default)]
pub struct Presentation<'a> {
    /// Above the text; the subject where there is none.
    pub heading: Option<&'a str>,
    /// The name that readers see; that of the site's style where there is none.
    pub from_name: Option<&'a str>,
    pub format: Format,
}

/// Which bodies an e-mail has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Both, of which the reader's program shows the one it can.
    #[default]
    Both,
    Text,
    Html,
}

/// Who writes: the name and the address of the site.
#[derive(Clone, Copy, Debug)]
pub struct Sender<'a> {
    pub site_name: &'a str,
    pub home: &'a str,
}

/// An e-mail ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The same however often it is sent, so that a reader sees it once.
    #[serde(skip)]
    pub id: String,
    pub to: String,
    pub subject: String,
    /// Empty for an e-mail of HTML alone.
    pub text: String,
    /// Empty for an e-mail of plain text.
    pub html: String,
    /// Instead of the operator's; may be empty.
    #[serde(default)]
    pub from_name: String,
    #[serde(default)]
    pub reply_to: String,
}

#[derive(Debug, Template)]
#[template(path = "mail.txt", escape = "none")]
struct TextMail<'a> {
    heading: &'a str,
    paragraphs: &'a [String],
    link: Option<Link<'a>>,
    site_name: &'a str,
    home: &'a str,
    footer: &'a str,
}

#[derive(Debug, Template)]
#[template(path = "mail.html")]
struct HtmlMail<'a> {
    subject: &'a str,
    heading: &'a str,
    paragraphs: &'a [String],
    link: Option<Link<'a>>,
    site_name: &'a str,
    home: Address<'a>,
    header_image: Address<'a>,
    look: &'a EmailLook,
}

/// An e-mail as it waits: nobody can read it without the master key.
#[derive(Debug, Serialize, Deserialize)]
struct Waiting {
    id: String,
    sealed: String,
}

/// Whether there is somebody who sends mail.
pub fn is_on(site: &Site) -> bool {
    site.job_kind(JOB).is_some()
}

/// Counts an e-mail that the caller sends to whomever they like, and refuses it if there were too
/// many: a shop's manager writes to customers, and floods nobody. Counted in the transaction that
/// sends it, so that one which is run again or refused counts once or not at all.
pub fn count_email(call: &mut Call<'_>) -> std::result::Result<(), Stop> {
    let (name, micros) = (format!("letters {}", call.user_id()), call.now().as_micros());
    let hour = micros.div_euclid(MICROS_PER_HOUR);
    if counter::take_of_period(call.conn()?, &name, hour, EMAILS_PER_HOUR_MAX)? {
        return Ok(());
    }
    let left = MICROS_PER_HOUR - micros.rem_euclid(MICROS_PER_HOUR);
    let seconds = left.saturating_add(999_999) / 1_000_000;
    let message = format!("You have sent too many e-mails; try again in {seconds} seconds.");
    Err(Refusal::new(429, "rest_too_many_letters", message).with("retry_after", seconds).into())
}

/// Counts an e-mail that somebody's order or account causes, and says whether it may be sent: **an
/// address that strangers enter is not flooded.**
pub fn may_receive(conn: &mut dyn Conn, to: &str, now: Timestamp) -> Result<bool> {
    let hour = now.as_micros().div_euclid(MICROS_PER_HOUR);
    let key = to.to_lowercase();
    let may = counter::take_shared(conn, "e-mails to", &key, hour, RECEIVED_PER_HOUR_MAX)?;
    if !may {
        tracing::warn!("a recipient has too many e-mails of this hour");
    }
    Ok(may)
}

/// Queues an e-mail, and returns the number of its job. Refused where mail is off.
pub fn enqueue(
    site: &Site,
    conn: &mut dyn Conn,
    sender: Sender<'_>,
    email: &Email<'_>,
    now: Timestamp,
) -> Result<i64> {
    enqueue_presented(site, conn, sender, email, Presentation::default(), now)
}

/// The same for an e-mail that has a heading or a format of its own.
pub fn enqueue_presented(
    site: &Site,
    conn: &mut dyn Conn,
    sender: Sender<'_>,
    email: &Email<'_>,
    presentation: Presentation<'_>,
    now: Timestamp,
) -> Result<i64> {
    if !is_on(site) {
        return Err(Error::unavailable("e-mail is turned off; set mail.relay to your mail server"));
    }
    let style = site.email_style(&Options::read(conn)?);
    let message = written(sender, email, presentation, &style)?;
    let arguments = Waiting::seal(site.vault(), &message)?;
    Ok(jobs::enqueue(conn, JOB, None, &arguments, now)?.job_id)
}

/// For who sends: the message of a job.
pub fn message_of(cx: &jobs::JobCx) -> Result<Message, jobs::Halt> {
    let waiting: Waiting = cx.arguments()?;
    // What cannot be opened now cannot be opened later.
    waiting.open(cx.site().vault()).map_err(jobs::Halt::Failed)
}

/// An e-mail as text and as HTML.
fn written(
    sender: Sender<'_>,
    email: &Email<'_>,
    presentation: Presentation<'_>,
    style: &EmailStyle,
) -> Result<Message> {
    let Email { to, subject, paragraphs, link } = *email;
    let Sender { site_name, home } = sender;
    let EmailStyle { look, from_name, reply_to } = style;
    check(to, subject)?;
    let heading = presentation.heading.unwrap_or(subject);
    let footer = &look.footer;
    let text = TextMail { heading, paragraphs, link, site_name, home, footer };
    let header_image = Address::new(&look.header_image);
    let home = Address::new(home);
    let html = HtmlMail { subject, heading, paragraphs, link, site_name, home, header_image, look };
    let format = presentation.format;
    Ok(Message {
        id: new_id()?,
        to: to.to_owned(),
        subject: subject.to_owned(),
        text: if format == Format::Html { String::new() } else { rendered(&text)? },
        html: if format == Format::Text { String::new() } else { rendered(&html)? },
        from_name: presentation.from_name.unwrap_or(from_name).to_owned(),
        reply_to: reply_to.clone(),
    })
}

fn check(to: &str, subject: &str) -> Result<()> {
    let is_plain = |text: &str| !text.chars().any(char::is_control);
    let is_address = to.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && !host.is_empty() && !to.contains(char::is_whitespace)
    });
    if !is_address || !is_plain(to) || to.chars().count() > ADDRESS_CHARS_MAX {
        return Err(Error::invalid("the recipient is not an e-mail address"));
    }
    if !is_plain(subject) || subject.chars().count() > SUBJECT_CHARS_MAX {
        let message = format!("a subject is one line of at most {SUBJECT_CHARS_MAX} characters");
        return Err(Error::invalid(message));
    }
    Ok(())
}

fn rendered(template: &impl Template) -> Result<String> {
    template.render().map_err(|error| Error::internal("an e-mail cannot be written").because(error))
}

fn new_id() -> Result<String> {
    let mut bytes = [0; ID_BYTES];
    vault::fill_random(&mut bytes)?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

impl Waiting {
    fn seal(vault: &Vault, message: &Message) -> Result<Self> {
        let id = message.id.clone();
        let plain = serde_json::to_vec(message)
            .map_err(|error| Error::internal("an e-mail cannot be kept").because(error))?;
        let sealed = vault.site_seal(&aad(&id), &plain)?;
        Ok(Self { id, sealed: BASE64_STANDARD.encode(sealed) })
    }

    fn open(self, vault: &Vault) -> Result<Message> {
        let damaged = || Error::invalid("an e-mail that waits is damaged");
        let sealed = BASE64_STANDARD.decode(&self.sealed).map_err(|_| damaged())?;
        let plain = vault.site_open(&aad(&self.id), &sealed)?;
        let message: Message =
            serde_json::from_slice(plain.expose()).map_err(|error| damaged().because(error))?;
        Ok(Message { id: self.id, ..message })
    }
}

fn aad(id: &str) -> Aad<'_> {
    Aad { kind: "mail", id, column: "message" }
}

#[cfg(test)]
mod tests {
    use types::Environment;
    use vault::MasterKey;

    use super::*;

    const SENDER: Sender<'_> = Sender { site_name: "Pier & Sons", home: "https://shop.example" };

    fn usual() -> EmailStyle {
        EmailStyle::new(EmailLook::read(&serde_json::Value::Null))
    }

    fn written(sender: Sender<'_>, email: &Email<'_>, style: &EmailStyle) -> Result<Message> {
        super::written(sender, email, Presentation::default(), style)
    }

    fn email<'a>(to: &'a str, subject: &'a str, paragraphs: &'a [String]) -> Email<'a> {
        let href = Address::new("https://shop.example/get?a=1&b=2");
        Email { to, subject, paragraphs, link: Some(Link { text: "Download", href }) }
    }

    #[test]
    fn an_email_is_text_and_escaped_html() {
        let paragraphs = [String::from("1 < 2 & so on."), String::from("Second.")];
        let message =
            written(SENDER, &email("a@b.example", "It's <ready>", &paragraphs), &usual()).unwrap();
        let text = "It's <ready>\n\n1 < 2 & so on.\n\nSecond.\n\nDownload:\n\
                    https://shop.example/get?a=1&b=2\n\n--\nPier & Sons\nhttps://shop.example";
        assert_eq!(message.text, text);
        for part in ["1 &#60; 2 &#38; so on.", "Pier &#38; Sons", "<title>It&#39;s &#60;ready"] {
            assert!(message.html.contains(part), "{part}: {}", message.html);
        }
        assert!(!message.html.contains("<ready>"));
    }

    #[test]
    fn an_email_is_presented_as_its_site_and_its_kind_say() {
        let mut style = usual();
        style.look.set_accent(String::from("#fafafa"));
        style.look.header_image = String::from("https://shop.example/logo.png");
        style.look.header_image_width = 77;
        style.look.header_alignment = String::from("center");
        style.look.footer = String::from("Open daily");
        let message = |presentation| {
            super::written(SENDER, &email("a@b.example", "Subject", &[]), presentation, &style)
        };
        let both = message(Presentation { heading: Some("Heading"), ..Presentation::default() });
        let both = both.unwrap();
        assert!(both.text.starts_with("Heading\n"), "{}", both.text);
        assert!(both.text.ends_with("https://shop.example\nOpen daily"), "{}", both.text);
        for part in [
            "<title>Subject</title>",
            ">Heading</h1>",
            "background:#fafafa;color:#000000",
            "<img src=\"https://shop.example/logo.png\" width=\"77\"",
            "text-align:center",
            "Open daily",
        ] {
            assert!(both.html.contains(part), "{part}: {}", both.html);
        }
        let of = |format| message(Presentation { format, ..Presentation::default() }).unwrap();
        let (text, html) = (of(Format::Text), of(Format::Html));
        assert_eq!((text.text.is_empty(), text.html.is_empty()), (false, true));
        assert_eq!((html.text.is_empty(), html.html.is_empty()), (true, false));
    }

    #[test]
    fn what_is_no_address_or_subject_is_refused() {
        for (to, subject, is_fine) in [
            ("a@b.example", "Fine", true),
            ("a@b.example\r\nBcc: c@d.example", "x", false),
            ("a b@c.example", "x", false),
            ("nobody", "x", false),
            ("@b.example", "x", false),
            ("a@b.example", "two\nlines", false),
            ("a@b.example", &"x".repeat(SUBJECT_CHARS_MAX + 1), false),
            (&format!("{}@b.example", "a".repeat(ADDRESS_CHARS_MAX)), "x", false),
        ] {
            let written = written(SENDER, &email(to, subject, &[]), &usual());
            assert_eq!(written.is_ok(), is_fine, "{to} {subject}");
        }
    }

    #[test]
    fn an_email_that_waits_is_sealed_by_its_id() {
        let vault = Vault::new(&MasterKey::generate().unwrap(), Environment::Sandbox);
        let paragraphs = [String::from("the secret link")];
        let message =
            written(SENDER, &email("a@b.example", "Subject", &paragraphs), &usual()).unwrap();
        let waiting = Waiting::seal(&vault, &message).unwrap();
        let kept = serde_json::to_string(&waiting).unwrap();
        assert!(!kept.contains("secret") && !kept.contains("b.example"), "{kept}");
        let other = Waiting { id: "other".to_owned(), sealed: waiting.sealed.clone() };
        assert!(other.open(&vault).is_err(), "an e-mail with another id does not open");
        assert_eq!(waiting.open(&vault).unwrap(), message);
    }
}
