//! The letters of a registration, queued in the transaction of what they tell of.

use site::mail::{self, Letter, Sender};
use site::pages::{Address, Link};
use site::{Options, Site};
use store::Conn;
use types::{Result, Timestamp};

use crate::Platform;
use crate::isos::{Decision, IsoRecord};

/// Where the portal lets people confirm what they registered.
const CONFIRM_PATH: &str = "/portal/register?token=";
/// Where people sign in.
const SIGN_IN_PATH: &str = "/login?redirect_to=/portal/";

/// To somebody who registered: the link.
pub(super) fn confirm(
    conn: &mut dyn Conn,
    site: &Site,
    to: &str,
    token: &str,
    now: Timestamp,
) -> Result<()> {
    let paragraphs = [
        String::from("Somebody, probably you, registered with this e-mail address."),
        String::from(
            "Open the link within 48 hours and choose a password. It works once. If it was not \
             you, do nothing: without the link nothing happens.",
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
        String::from("Somebody, probably you, registered with this e-mail address."),
        String::from("There is an account with this address already. Sign in to use it."),
    ];
    let subject = "You have an account already";
    send(conn, site, to, (subject, &paragraphs), ("Sign in", SIGN_IN_PATH), now)
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
            "Your registration was approved. Sign in and make your first API key.",
        ),
        Decision::Reject => {
            ("Your registration was turned down", "Your registration was turned down.")
        }
        Decision::Suspend => (
            "Your account was suspended",
            "Your account was suspended. Its keys are refused until it is resumed.",
        ),
        Decision::Resume => {
            ("Your account was resumed", "Your account was resumed. Its keys work again.")
        }
    };
    let mut paragraphs = vec![text.to_owned()];
    let reason = record.account.status_reason.as_ref();
    paragraphs.extend(reason.map(|reason| format!("The reason given: {reason}")));
    send(conn, &site, &to, (subject, &paragraphs), ("Sign in", SIGN_IN_PATH), now)
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
    let home = site.address_for_letters(&options);
    let address = format!("{home}{path}");
    let sender = Sender { site_name: &options.text("blogname"), home: &home };
    let link = Some(Link { text, href: Address::new(&address) });
    let letter = Letter { to, subject, paragraphs, link };
    mail::enqueue(site, conn, sender, &letter, now).map(drop)
}
