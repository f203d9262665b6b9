//! E-mails to the owner of an account about changes in how it is signed in to, **in the transaction
//! of the change**. Where there is no mail, nobody is told.

use db::{Conn, counter};
use site_rows::user::UserRow;
use types::{Kind, Result, Timestamp};

use crate::mail::{self, Email, Sender};
use crate::pages::{Address, Link};
use crate::{Options, Site};

/// Notices that one address gets in an hour: an account can be given anybody's.
const PER_HOUR_MAX: i64 = 20;
const MICROS_PER_HOUR: i64 = 60 * 60 * 1_000_000;
const SIGN_IN: (&str, &str) = ("Sign in", "/login");
const RESET: (&str, &str) = ("Reset your password", "/login?action=lostpassword");

/// What the owner of an account has to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    PasswordReset,
    /// For the address that the account had before.
    EmailChanged,
    SecondFactorOn,
    SecondFactorOff,
    /// Turned off by an administrator.
    SecondFactorReset,
    /// Somebody who knows the password showed too many wrong codes.
    CodesRefused,
    /// An account of the company's provider signs in as this user from now on.
    IdentityLinked,
}

impl Notice {
    fn subject(self) -> &'static str {
        match self {
            Self::PasswordReset => "Your password was changed",
            Self::EmailChanged => "Your e-mail address was changed",
            Self::SecondFactorOn => "Two-factor authentication was turned on",
            Self::SecondFactorOff => "Two-factor authentication was turned off",
            Self::SecondFactorReset => "Two-factor authentication was reset",
            Self::CodesRefused => "Too many wrong codes for your account",
            Self::IdentityLinked => "You can now sign in with your company account",
        }
    }

    fn paragraphs(self, login: &str) -> [String; 2] {
        let (first, second) = match self {
            Self::PasswordReset => (
                format!("The password of {login} was changed with a link from an e-mail."),
                "All sessions were signed out. If it was not you, reset it again.",
            ),
            Self::EmailChanged => (
                format!("The account {login} now has another e-mail address."),
                "E-mails about the account no longer come here. If it was not you, contact the \
                 administrator of the site.",
            ),
            Self::SecondFactorOn => (
                format!("Signing in as {login} now takes a code from an authenticator app."),
                "All other sessions were signed out. If it was not you, contact the administrator \
                 of the site.",
            ),
            Self::SecondFactorOff => (
                format!("Signing in as {login} no longer takes a code."),
                "If it was not you, reset your password and turn two-factor authentication on \
                 again.",
            ),
            Self::SecondFactorReset => (
                format!("An administrator turned off two-factor authentication for {login}."),
                "Signing in no longer takes a code. Turn it on again on your account page. If you \
                 did not ask for this, contact the administrator of the site.",
            ),
            Self::CodesRefused => (
                format!(
                    "Somebody who knows the password of {login} entered too many wrong codes. \
                     Codes from your authenticator app are refused until tomorrow; recovery codes \
                     still work."
                ),
                "If it was not you, reset your password now.",
            ),
            Self::IdentityLinked => (
                format!(
                    "A company account with your e-mail address was used to sign in as {login}."
                ),
                "From now on it can be used instead of the password. If it was not you, contact \
                 the administrator of the site.",
            ),
        };
        [first, second.to_owned()]
    }

    fn link(self) -> (&'static str, &'static str) {
        match self {
            Self::SecondFactorOff | Self::CodesRefused => RESET,
            _ => SIGN_IN,
        }
    }
}

/// Writes to the address of the user as it is in the row.
pub fn tell(
    conn: &mut dyn Conn,
    site: &Site,
    user: &UserRow,
    notice: Notice,
    now: Timestamp,
) -> Result<()> {
    if !mail::is_on(site) {
        return Ok(());
    }
    // Apart from other e-mails, so that nobody uses the owner's up with orders first.
    let hour = now.as_micros().div_euclid(MICROS_PER_HOUR);
    let key = user.email.to_lowercase();
    if !counter::take_shared(conn, "notices to", &key, hour, PER_HOUR_MAX)? {
        return Ok(());
    }
    let paragraphs = notice.paragraphs(&user.login);
    let written = (notice.subject(), &paragraphs[..]);
    write_to(conn, site, &user.email, written, notice.link(), now)
}

pub(super) fn write_to(
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
    match mail::enqueue(site, conn, sender, &email, now) {
        // Who has no proper address gets no e-mail.
        Err(error) if error.kind() == Kind::Invalid => Ok(()),
        sent => sent.map(drop),
    }
}
