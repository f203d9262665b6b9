//! Sends the site's mail through a relay: the only place that knows SMTP.
//!
//! [`frame::mail`] queues e-mails as background jobs; [`Mail`] is the kind that sends one. A relay
//! that is away or busy is asked again for about a day; one that refuses the reader for good is
//! believed. **Neither addresses nor what an e-mail says go to the log.**

#[cfg(test)]
mod tests;

use std::time::Duration;

use frame::jobs::{Halt, JobCx, JobKind, Limits, Running};
use frame::mail::{self, Message};
use lettre::message::{Mailbox, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::{Error as SmtpError, extension::ClientId};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use types::{Error, Result, Secret};

/// For a connection, and for each answer of the relay.
const RELAY_ANSWER_MAX: Duration = Duration::from_secs(30);
/// For an e-mail as a whole.
const SENDING_MAX: Duration = Duration::from_mins(2);
/// Refusals of these numbers are about our own login, which the operator can fix.
const ABOUT_LOGIN: std::ops::RangeInclusive<u16> = 530..=538;

type Transport = AsyncSmtpTransport<Tokio1Executor>;

/// How mail is sent. Without a relay there is none.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MailSettings {
    /// Host of the relay, such as `smtp.example`. Empty: no mail is sent.
    pub relay: Option<String>,
    /// Port of the relay. Empty: 587 for starttls, 465 for tls, 25 for none.
    pub port: Option<u16>,
    /// How the connection is protected: `starttls`, `tls` from the first byte, or `none`.
    pub security: Security,
    /// Name to log in with. Empty: no login.
    pub user: Option<String>,
    /// Password to log in with; never shown.
    #[serde(skip_serializing)]
    #[schemars(with = "Option<String>")]
    pub password: Option<Secret<String>>,
    /// Who writes, such as `Pier Shop <shop@pier.example>`.
    pub from: Option<String>,
}

/// How the connection to the relay is protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    #[default]
    Starttls,
    Tls,
    None,
}

impl Security {
    fn usual_port(self) -> u16 {
        match self {
            Self::Starttls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

/// The kind of job that sends an e-mail.
#[derive(Debug)]
pub(crate) struct Mail {
    transport: Transport,
    from: Mailbox,
}

impl Mail {
    /// None where mail is off.
    pub(crate) fn new(settings: &MailSettings) -> Result<Option<Self>> {
        let Some(relay) = settings.relay.as_deref().filter(|relay| !relay.is_empty()) else {
            return Ok(None);
        };
        let from = settings.from.as_deref().unwrap_or_default();
        let from: Mailbox = from.parse().map_err(|_| {
            Error::invalid("mail.from must say who writes: `Pier Shop <shop@pier.example>`")
        })?;
        Ok(Some(Self { transport: transport(relay, settings)?, from }))
    }

    async fn send(&self, message: Message) -> Result<(), Halt> {
        let email = self.email(message)?;
        let sent = tokio::time::timeout(SENDING_MAX, self.transport.send(email)).await;
        match sent {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(halt(&error)),
            Err(_) => Err(Halt::Retry(Error::unavailable("the mail relay takes too long"))),
        }
    }

    /// The operator's address, under the name that the site gave itself.
    fn sender(&self, name: &str) -> Mailbox {
        let name = Some(name.to_owned()).filter(|name| !name.is_empty());
        Mailbox { name: name.or_else(|| self.from.name.clone()), email: self.from.email.clone() }
    }

    fn email(&self, message: Message) -> Result<lettre::Message, Halt> {
        let unfit = |error: &dyn std::fmt::Display| {
            Halt::Failed(Error::invalid(format!("the e-mail cannot be addressed: {error}")))
        };
        let to: Mailbox = message.to.parse().map_err(|_| unfit(&"it has no such address"))?;
        let host = self.from.email.domain();
        let mut builder = lettre::Message::builder()
            .from(self.sender(&message.from_name))
            .to(to)
            .subject(message.subject)
            .message_id(Some(format!("<{}@{host}>", message.id)));
        // The relay takes mail of one address; others stand where answers go.
        if let Ok(reply_to) = message.reply_to.parse::<Mailbox>() {
            builder = builder.reply_to(reply_to);
        }
        let built = match (message.text.is_empty(), message.html.is_empty()) {
            (true, _) => builder.singlepart(SinglePart::html(message.html)),
            (_, true) => builder.singlepart(SinglePart::plain(message.text)),
            _ => builder.multipart(MultiPart::alternative_plain_html(message.text, message.html)),
        };
        built.map_err(|error| unfit(&error))
    }
}

impl JobKind for Mail {
    fn name(&self) -> &'static str {
        mail::JOB
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(async move {
            let message = mail::message_of(cx)?;
            self.send(message).await?;
            Ok(json!({}))
        })
    }

    fn limits(&self) -> Limits {
        Limits {
            at_once: 4,
            attempts: 10,
            first_wait: Duration::from_secs(30),
            longest_wait: Duration::from_hours(4),
            kept: Duration::from_hours(24 * 7),
        }
    }

    /// E-mails tell of what the feed has told already.
    fn is_told(&self) -> bool {
        false
    }
}

/// Asks the relay whether it would take mail, logging in as for an e-mail. Says what was found;
/// nothing where mail is off. Blocks; never call it from async code.
pub fn check(settings: &MailSettings) -> Result<Option<String>> {
    let Some(mail) = Mail::new(settings)? else { return Ok(None) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::internal("no runtime").because(error))?;
    let tried = runtime.block_on(async {
        tokio::time::timeout(SENDING_MAX, mail.transport.test_connection()).await
    });
    match tried {
        Ok(Ok(true)) => Ok(Some(format!("the relay takes mail from {}", mail.from.email))),
        Ok(Ok(false)) => Err(Error::unavailable("the relay answers, but does not take mail")),
        Ok(Err(error)) => Err(reason(&error)),
        Err(_) => Err(Error::unavailable("the relay takes too long")),
    }
}

fn transport(relay: &str, settings: &MailSettings) -> Result<Transport> {
    let parameters = || {
        TlsParameters::new(relay.to_owned()).map_err(|error| {
            Error::invalid(format!("mail.relay `{relay}` cannot be used with TLS")).because(error)
        })
    };
    let tls = match settings.security {
        Security::Starttls => Tls::Required(parameters()?),
        Security::Tls => Tls::Wrapper(parameters()?),
        Security::None => Tls::None,
    };
    let mut builder = Transport::builder_dangerous(relay)
        .port(settings.port.unwrap_or_else(|| settings.security.usual_port()))
        .timeout(Some(RELAY_ANSWER_MAX))
        .hello_name(ClientId::default())
        .tls(tls);
    match (&settings.user, &settings.password) {
        (Some(user), Some(password)) => {
            if settings.security == Security::None && !is_loopback(relay) {
                return Err(Error::invalid(
                    "mail.password would cross the network in plain text; set mail.security to \
                     starttls or tls",
                ));
            }
            let credentials = Credentials::new(user.clone(), password.expose().clone());
            builder = builder.credentials(credentials);
        }
        (None, None) => {}
        _ => return Err(Error::invalid("set both mail.user and mail.password, or neither")),
    }
    Ok(builder.build())
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Whether to try again: a refusal for good is one of the reader's address or of the e-mail.
fn halt(error: &SmtpError) -> Halt {
    let number = error.status().map_or(0, u16::from);
    if error.is_permanent() && !ABOUT_LOGIN.contains(&number) {
        Halt::Failed(reason(error))
    } else {
        Halt::Retry(reason(error))
    }
}

/// What went wrong. The relay's own words may hold addresses and are left out.
fn reason(error: &SmtpError) -> Error {
    match error.status().map(u16::from) {
        Some(number) if ABOUT_LOGIN.contains(&number) => Error::unavailable(format!(
            "the mail relay refuses the login ({number}); look at mail.user and mail.password"
        )),
        Some(number) => Error::unavailable(format!("the mail relay answers {number}")),
        None => {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            let message = "the mail relay cannot be reached; look at mail.relay, mail.port and \
                           mail.security";
            Error::unavailable(message).because(cause.unwrap_or_else(|| error.to_string()))
        }
    }
}
