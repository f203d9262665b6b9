//! The e-mails to ISOs and about them, queued in the transaction of what they tell of.

use contract::rest::formats;
use contract::{Draft, IssueKind};
use db::filter::Page;
use db::{Conn, counter};
use frame::mail::{self, Email, Sender};
use frame::pages::{Address, Link};
use frame::{Options, Site};
use serde_json::Value;
use site_rows::user::{self, UserFilter};
use types::{Kind, Result, Role, Timestamp};
use vault::Vault;

use super::record::{Decision, IsoRecord};
use crate::rows::api_key::ApiKeyRow;
use crate::{Code, Platform};

/// In the time stamps of rows.
pub(crate) const MICROS_PER_DAY: i64 = 24 * 60 * 60 * 1_000_000;
/// Where the portal lets people confirm what they registered.
const CONFIRM_PATH: &str = "/portal/register?token=";
/// Where the portal lets people accept an invitation.
const INVITATION_PATH: &str = "/portal/invitation?token=";
/// Where people sign in.
const SIGN_IN_PATH: &str = "/login?redirect_to=/portal/";
/// Where an ISO sees what became of a form that it sent.
const LINKS_PATH: &str = "/portal/merchants/invitations/";
const KEYS_PATH: &str = "/portal/console/keys";
const ISOS_PATH: &str = "/portal/console/isos";
/// Administrators who are written to, those first who were there first.
const ADMINISTRATORS_MAX: i64 = 5;
/// E-mails about keys that one ISO gets in a day; events tell of every key.
const KEY_EMAILS_PER_DAY_MAX: i64 = 5;

/// To somebody who registered: the link.
pub(super) fn confirm(
    conn: &mut dyn Conn,
    site: &Site,
    to: &str,
    token: &str,
    now: Timestamp,
) -> Result<()> {
    let paragraphs = [
        String::from("This e-mail address was used to register an account."),
        String::from(
            "Open the link within 48 hours to choose a password. It works once. If you did not \
             register, ignore this e-mail.",
        ),
    ];
    let subject = "Confirm your registration";
    let path = format!("{CONFIRM_PATH}{token}");
    send(conn, site, to, (subject, &paragraphs), ("Confirm", &path), now)
}

/// To somebody who registered again.
pub(super) fn known_already(
    conn: &mut dyn Conn,
    site: &Site,
    to: &str,
    now: Timestamp,
) -> Result<()> {
    let paragraphs = [
        String::from("This e-mail address was used to register an account."),
        String::from("You already have an account with this address. Sign in to use it."),
    ];
    let subject = "You already have an account";
    send(conn, site, to, (subject, &paragraphs), ("Sign in", SIGN_IN_PATH), now)
}

/// To somebody whom an administrator of an ISO invited: the link.
pub(super) fn invited(
    conn: &mut dyn Conn,
    site: &Site,
    to: &str,
    (iso_name, token): (&str, &str),
    now: Timestamp,
) -> Result<()> {
    let paragraphs = [
        format!("{} invited you to sign in here.", shown_name(iso_name)),
        String::from(
            "Open the link within 7 days to choose a password. It works once. If you did not \
             expect this invitation, ignore this e-mail.",
        ),
    ];
    let path = format!("{INVITATION_PATH}{token}");
    let link = ("Accept the invitation", &*path);
    unless_impossible(send(conn, site, to, ("You are invited", &paragraphs), link, now))
}

/// To somebody who was invited and has an account of their own, which is not changed by that.
pub(super) fn invited_with_account(
    conn: &mut dyn Conn,
    site: &Site,
    to: &str,
    iso_name: &str,
    now: Timestamp,
) -> Result<()> {
    let paragraphs = [
        format!("{} invited you to sign in here.", shown_name(iso_name)),
        String::from(
            "You already have an account with this address, and it stays as it is. To accept the \
             invitation, ask to be invited with another address.",
        ),
    ];
    let link = ("Sign in", SIGN_IN_PATH);
    unless_impossible(send(conn, site, to, ("You are invited", &paragraphs), link, now))
}

/// To a merchant who is to fill in a form: the link.
pub(crate) fn merchant_invited(
    conn: &mut dyn Conn,
    site: &Site,
    to: &str,
    (iso_name, path): (&str, &str),
    expires: Timestamp,
    now: Timestamp,
) -> Result<()> {
    let paragraphs = [
        format!("{} invited you to open a merchant account.", shown_name(iso_name)),
        format!(
            "Open the link and fill in the form by {} (UTC). What you enter is saved, so you can \
             stop at any time and continue with the same link. If you did not expect this e-mail, \
             ignore it.",
            day_of(expires)
        ),
    ];
    let text = ("Open your merchant account", &paragraphs[..]);
    unless_impossible(send(conn, site, to, text, ("Open the form", path), now))
}

/// To who sent a merchant a form, or to the ISO's contact: it was submitted. **The e-mail says
/// nothing that the merchant entered.**
pub(crate) fn form_submitted(
    conn: &mut dyn Conn,
    site: &Site,
    to: &str,
    link_id: &str,
    now: Timestamp,
) -> Result<()> {
    let paragraphs = [
        String::from("A merchant has submitted the onboarding form that you sent."),
        String::from("Open it to add the terminal and the processor, and to onboard the merchant."),
    ];
    let text = ("A merchant submitted its form", &paragraphs[..]);
    let path = format!("{LINKS_PATH}{link_id}");
    unless_impossible(send(conn, site, to, text, ("Review the form", &path), now))
}

/// Refuses what the site could not write to: its addresses are of a narrower kind than others.
pub(crate) fn check_address(draft: &mut Draft<'_>) {
    let email = draft.params.get("email").and_then(Value::as_str);
    if email.is_some_and(|email| !formats::is_email(email)) {
        let message = "Enter a valid e-mail address.";
        draft.issues.add("email", IssueKind::rule(Code::InvalidFormat.name(), message));
    }
}

/// The day of a moment, such as `2026-11-15`.
fn day_of(time: Timestamp) -> String {
    let text = time.to_string();
    text.split('T').next().unwrap_or_default().to_owned()
}

/// The name of an ISO in an e-mail to strangers. **What looks like an address is not repeated**, so
/// that nobody leads them elsewhere through us.
fn shown_name(name: &str) -> &str {
    let looks_like_address = name.contains(['/', '@', ':', '\\']) || {
        let mut inner = name.trim_end_matches('.').split('.').skip(1);
        inner.any(|part| part.starts_with(char::is_alphanumeric))
    };
    if looks_like_address { "An organisation" } else { name }
}

/// To the contact of an ISO that was decided on. Nobody is told where mail is off, or where there
/// is no address.
pub(crate) fn decided(
    conn: &mut dyn Conn,
    platform: &Platform,
    record: &IsoRecord,
    decision: Decision,
    now: Timestamp,
) -> Result<()> {
    let Some(site) = platform.site().filter(|site| mail::is_on(site)) else { return Ok(()) };
    let Some(to) = record.contact(&platform.vault)?.email else { return Ok(()) };
    let (subject, text) = match decision {
        Decision::Approve => (
            "Your registration was approved",
            "Your registration was approved. Sign in and create your first API key.",
        ),
        Decision::Reject => ("Your registration was declined", "Your registration was declined."),
        Decision::Suspend => (
            "Your account was suspended",
            "Your account was suspended. Its API keys, users and devices have no access until it \
             is resumed.",
        ),
        Decision::Resume => {
            ("Your account was resumed", "Your account was resumed. Everything works again.")
        }
    };
    let mut paragraphs = vec![text.to_owned()];
    let reason = record.account.status_reason.as_ref();
    paragraphs.extend(reason.map(|reason| format!("Reason: {reason}")));
    send(conn, &site, &to, (subject, &paragraphs), ("Sign in", SIGN_IN_PATH), now)
}

/// To the contact of the ISO of a key that ends soon, as far as the ISO has e-mails left for the
/// day. Nobody is told where mail is off, or where there is no address.
///
/// The address is the ISO's own to set, and nobody proved that it is theirs: **the e-mail
/// says nothing that the ISO chose.**
pub(crate) fn key_expires(
    conn: &mut dyn Conn,
    (site, vault): (&Site, &Vault),
    key: &ApiKeyRow,
    now: Timestamp,
) -> Result<()> {
    let Some(expires) = key.expires.filter(|_| mail::is_on(site)) else { return Ok(()) };
    let to = match IsoRecord::load(conn, &key.iso_id)?.contact(vault) {
        Ok(contact) => contact.email,
        Err(error) => {
            // Others are not to miss their e-mails for that.
            let (iso_id, error) = (key.iso_id.as_str(), error.report());
            tracing::warn!(iso_id, error, "the contact of an ISO cannot be opened");
            None
        }
    };
    let Some(to) = to else { return Ok(()) };
    let (counter, day) = (format!("key_letters {}", key.iso_id), now.as_micros() / MICROS_PER_DAY);
    if !counter::take_of_period(conn, &counter, day, KEY_EMAILS_PER_DAY_MAX)? {
        return Ok(());
    }
    let day = day_of(expires);
    let paragraphs = [
        format!("Your API key {} expires on {day} (UTC).", key.key_id.as_str()),
        String::from("Create a new key and switch to it before then, and revoke the old key."),
    ];
    let subject = format!("Your API key expires on {day}");
    unless_impossible(send(conn, site, &to, (&subject, &paragraphs), ("Keys", KEYS_PATH), now))
}

/// To the administrators: somebody registered, and waits for their word.
pub(super) fn waits_for_approval(
    conn: &mut dyn Conn,
    site: &Site,
    name: &str,
    now: Timestamp,
) -> Result<()> {
    let administrators = UserFilter {
        roles: vec![Role::Administrator],
        page: Page { offset: 0, limit: ADMINISTRATORS_MAX },
        ..UserFilter::default()
    };
    let paragraphs = [
        format!("{name} registered as an ISO and is waiting for your approval."),
        String::from("Until you approve it, it can only view its own account."),
    ];
    let subject = "An ISO is waiting for your approval";
    for user in user::list(conn, &administrators)?.0 {
        let text = (subject, &paragraphs[..]);
        unless_impossible(send(conn, site, &user.email, text, ("Decide", ISOS_PATH), now))?;
    }
    Ok(())
}

/// Who has no proper address gets no e-mail; what it tells of happens all the same.
fn unless_impossible(sent: Result<()>) -> Result<()> {
    match sent {
        Err(error) if error.kind() == Kind::Invalid => Ok(()),
        sent => sent,
    }
}

fn send(
    conn: &mut dyn Conn,
    site: &Site,
    to: &str,
    (subject, paragraphs): (&str, &[String]),
    (text, path): (&str, &str),
    now: Timestamp,
) -> Result<()> {
    let options = Options::read(conn)?;
    let home = site.address_for_emails(&options);
    let address = format!("{home}{path}");
    let sender = Sender { site_name: &options.text("blogname"), home: &home };
    let link = Some(Link { text, href: Address::new(&address) });
    let email = Email { to, subject, paragraphs, link };
    mail::enqueue(site, conn, sender, &email, now).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nobody_elsewhere() {
        for name in ["Pier Payments", "Pier Inc.", "St. Ives Cards"] {
            assert_eq!(shown_name(name), name);
        }
        for name in ["evil.example", "Win at evil.example now", "https://a", "a@b", "a:b"] {
            assert_eq!(shown_name(name), "An organisation", "{name}");
        }
    }
}
