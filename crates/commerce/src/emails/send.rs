//! Queueing an e-mail of the shop: whether it is wanted, to whom it goes, and in which words.

use std::sync::Arc;

use contract::rest::formats;
use frame::mail::{self, Email, Format, Presentation, Sender};
use frame::pages::Link;
use frame::{Call, Options};
use serde_json::Value;
use types::Result;

use super::kinds::{
    ADDITIONAL_CONTENT, Audience, EMAIL_TYPE, EmailKind, HEADING, RECIPIENT, SUBJECT, SWITCH,
};

/// Addresses at most that one e-mail to the store goes to.
const RECIPIENTS_MAX: usize = 20;
/// A longer subject is cut.
const SUBJECT_CHARS_MAX: usize = 190;

/// What an e-mail says beside the words that the merchant chose.
#[derive(Debug, Default)]
pub(crate) struct Content<'a> {
    /// The address of the customer; nothing for an e-mail to the store.
    pub(crate) to: &'a str,
    /// Which wording, by its suffix.
    pub(crate) case: &'a str,
    /// What stands for names in braces, without them.
    pub(crate) words: Vec<(&'static str, String)>,
    pub(crate) paragraphs: Vec<String>,
    pub(crate) link: Option<Link<'a>>,
}

/// Whether the merchant wants the e-mail to be sent.
pub(crate) fn is_on(options: &Options, kind: &EmailKind) -> bool {
    kind.is_manual() || setting(options, kind, SWITCH) != Some(String::from("no"))
}

/// Queues the e-mail for everybody it is for. Nothing where mail is off or the e-mail switched off,
/// and nothing for what is no address. Returns how many are sent.
pub(crate) fn queue(call: &mut Call<'_>, kind: &EmailKind, content: &Content<'_>) -> Result<usize> {
    let options = Arc::clone(&call.visit.options);
    if !mail::is_on(call.site) || !is_on(&options, kind) || call.visit.is_import {
        return Ok(0);
    }
    let (subject, heading) = words(&options, kind, content.case, &content.words);
    let mut paragraphs = vec![fill(kind.intro, &options, &content.words)];
    paragraphs.extend(content.paragraphs.iter().cloned());
    let closing = setting(&options, kind, ADDITIONAL_CONTENT);
    let closing = fill(closing.as_deref().unwrap_or(kind.closing), &options, &content.words);
    paragraphs.extend(Some(closing).filter(|closing| !closing.is_empty()));
    let format = match setting(&options, kind, EMAIL_TYPE).as_deref() {
        Some("plain") => Format::Text,
        Some("html") => Format::Html,
        _ => Format::Both,
    };
    let presentation = Presentation { heading: Some(&heading), from_name: None, format };
    let site_name = options.text("blogname");
    let (site, now) = (call.site, call.now());
    let home = site.address_for_emails(&options);
    let sender = Sender { site_name: &site_name, home: &home };
    let recipients = recipients(&options, kind, content.to);
    for to in &recipients {
        if kind.audience == Audience::Customer && !mail::may_receive(call.conn()?, to, now)? {
            continue;
        }
        let email = Email { to, subject: &subject, paragraphs: &paragraphs, link: content.link };
        mail::enqueue_presented(site, call.conn()?, sender, &email, presentation, now)?;
    }
    Ok(recipients.len())
}

/// The subject and the heading, with what stands for the names in braces.
fn words(
    options: &Options,
    kind: &EmailKind,
    case: &str,
    words: &[(&'static str, String)],
) -> (String, String) {
    let wording = kind.wording(case);
    let chosen = |name: &str, usual: &str| {
        let own = setting(options, kind, &format!("{name}{}", wording.suffix));
        let text = own.filter(|text| !text.is_empty());
        fill(text.as_deref().unwrap_or(usual), options, words)
    };
    let subject = chosen(SUBJECT, wording.subject);
    let subject = subject.replace(char::is_control, " ").chars().take(SUBJECT_CHARS_MAX).collect();
    (subject, chosen(HEADING, wording.heading))
}

/// What the merchant set, if anything.
fn setting(options: &Options, kind: &EmailKind, name: &str) -> Option<String> {
    match options.get(kind.option).get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    }
}

fn recipients(options: &Options, kind: &EmailKind, customer: &str) -> Vec<String> {
    let named = match kind.audience {
        Audience::Customer => customer.to_owned(),
        Audience::Shop => setting(options, kind, RECIPIENT)
            .filter(|recipients| !recipients.is_empty())
            .unwrap_or_else(|| options.text("admin_email")),
    };
    let addresses = named.split(',').map(str::trim).filter(|address| formats::is_email(address));
    addresses.map(str::to_owned).take(RECIPIENTS_MAX).collect()
}

/// Puts what is known for the names in braces.
pub(super) fn fill(text: &str, options: &Options, words: &[(&'static str, String)]) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    let home = options.text("siteurl");
    let host = home.split_once("://").map_or(home.as_str(), |(_, host)| host).to_owned();
    let line = |names: [&str; 3]| {
        let parts = names.map(|name| options.text(name));
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    };
    let of_site = [
        ("site_title", options.text("blogname")),
        ("site_address", host),
        ("site_url", home),
        ("store_email", options.text("woocommerce_email_from_address")),
        (
            "store_address",
            line([
                "woocommerce_store_address",
                "woocommerce_store_city",
                "woocommerce_store_postcode",
            ]),
        ),
    ];
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    // What is put in is not looked at again, so nobody's name can hold another one.
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let named = after.split_once('}').and_then(|(name, after)| {
            let known = words.iter().chain(of_site.iter()).find(|(known, _)| *known == name);
            known.map(|(_, word)| (word, after))
        });
        if let Some((word, after)) = named {
            filled.push_str(word);
            rest = after;
        } else {
            filled.push('{');
            rest = after;
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_are_filled_once() {
        let options = crate::options::defaults();
        let words = [("customer_name", String::from("{site_title}"))];
        for (text, expected) in [
            ("Hello {customer_name}", "Hello {site_title}"),
            ("{site_title}: {unknown} {", "Boardwalk: {unknown} {"),
            ("plain", "plain"),
        ] {
            assert_eq!(fill(text, &options, &words), expected);
        }
    }
}
