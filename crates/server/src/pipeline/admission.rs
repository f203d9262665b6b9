//! Who may pass: a key, a device or a person with a session is recognised, counted against the
//! limits, and noted. What is refused is told to the audit log and slowed down.

use std::sync::Arc;
use std::time::Instant;

use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use contract::{Method, Permission};
use onboarding::Code;
use onboarding::caller::{Caller, Reason, Refused, Visitor};
use onboarding::lifecycle::IsoStatus;
use types::Role;

use super::{Onboarding, Visit};
use crate::answer::{Answer, Dialect, denied};
use crate::client_address::{Client, client_address};
use crate::limits::{Exceeded, Standing};

/// Names the ISO for which an administrator of the site acts.
const ISO_HEADER: &str = "x-iso-id";

/// What a signed-in user is told about an ISO in this state.
fn inactive_iso(status: IsoStatus, reason: Option<&str>) -> String {
    let (state, remedy) = match status {
        IsoStatus::Suspended => (
            "is suspended",
            "An administrator can resume it on the ISOs page, or with `boardwalk iso resume`.",
        ),
        IsoStatus::PendingApproval => (
            "is waiting for approval",
            "An administrator can approve it on the ISOs page, or with `boardwalk iso approve`.",
        ),
        IsoStatus::Rejected | IsoStatus::Active => {
            ("is not active", "Contact the operator of this server.")
        }
    };
    match reason.map(|reason| reason.trim_end_matches('.')) {
        Some(reason) => format!("This ISO {state}: {reason}. {remedy}"),
        None => format!("This ISO {state}. {remedy}"),
    }
}

/// What somebody is told who is known and may not do this.
fn insufficient(lacking: Permission, is_key: bool) -> String {
    match lacking {
        Permission::Scope(scope) if is_key => format!("This key lacks the scope {scope}."),
        Permission::Scope(scope) => format!("Your role does not allow this (scope {scope})."),
        _ => String::from("Only administrators of the ISO can do this."),
    }
}

impl Visit<'_> {
    /// Who asks, noted for the log of the audit as well.
    pub(super) fn client_of(&mut self, parts: &Parts) -> Option<Client> {
        let peer = self.peer.as_ref().map(|peer| peer.address.ip());
        let trusted = &self.service.shared.settings.trusted_proxies;
        let client = peer.map(|peer| client_address(peer, &parts.headers, trusted));
        self.origin.address = client.map(|client| client.address);
        client
    }

    /// Counts what somebody sends who needs no credentials, against the address it comes from.
    pub(super) async fn check_visitor(
        &mut self,
        permission: Permission,
        dialect: Dialect,
    ) -> Result<(), Answer> {
        let Some(client) = self.throttled_client() else { return Ok(()) };
        let limits = &self.service.limits;
        let limit = if permission == Permission::Link { &limits.form } else { &limits.visitor };
        let checked =
            limit.check(&client.network().to_string(), self.service.platform.clock.now()).await;
        self.note_standing(checked, dialect)
    }

    pub(super) async fn authenticate(
        &mut self,
        parts: &Parts,
        (permission, method): (Permission, Method),
        dialect: Dialect,
    ) -> Result<Visitor, Answer> {
        let Onboarding { shared, platform, limits, .. } = self.service;
        let mut headers = parts.headers.get_all(AUTHORIZATION).iter();
        let header = match (headers.next(), headers.next()) {
            (Some(_), Some(_)) => Some(&b"two keys are none"[..]),
            (first, _) => first.map(axum::http::HeaderValue::as_bytes),
        };
        if header.is_some() {
            // While an address waits, nothing that it shows is looked at: not even the right key.
            self.check_guesses(dialect)?;
        }
        let by_session = match (header, permission) {
            (None, Permission::Scope(_) | Permission::IsoAdministrator) => {
                self.admit_session(parts, (permission, method)).await
            }
            (None, Permission::Administrator) => self.admit_administrator(parts).await,
            (Some(_), Permission::Administrator | Permission::IsoAdministrator) => {
                Ok(Some(Err(Refused::stranger(Reason::MissingScope))))
            }
            _ => Ok(None),
        };
        let outcome = match by_session {
            Ok(Some(outcome)) => Ok(outcome),
            Ok(None) => platform.admit(header, permission, self.origin.address, self.now).await,
            Err(error) => Err(error),
        };
        let refused = match outcome {
            Ok(Ok(visitor)) => return Ok(visitor),
            Ok(Err(refused)) if refused.key.is_none() => {
                Refused { style: platform.settings.response_style, ..refused }
            }
            Ok(Err(refused)) => refused,
            Err(error) => return Err(dialect.error(&error)),
        };
        let reason = refused.reason.text();
        tracing::info!(reason, environment = platform.environment.name(), "key refused");
        shared.metrics.count_refusal(platform.environment, reason);
        // A known key that lacks a scope, or is used elsewhere, is no guess.
        let is_known = matches!(
            refused.reason,
            Reason::MissingScope | Reason::OtherAddress | Reason::StaleNonce | Reason::InactiveIso
        );
        if let Some(client) = self.throttled_client().filter(|_| !is_known) {
            self.check_guesses(dialect)?;
            limits.refusals.note(client.network(), Instant::now());
        }
        self.audit_refusal(refused.clone());
        Err(match (&refused.inactive_iso, refused.lacks) {
            (Some((status, reason)), _) => {
                let message = inactive_iso(*status, reason.as_deref());
                dialect.refuse(Code::IsoNotActive, "", message)
            }
            (None, Some(lacking)) => {
                let dialect = Dialect { style: refused.style, ..dialect };
                let message = insufficient(lacking, refused.key.is_some());
                dialect.refuse(Code::InsufficientScope, "", message)
            }
            (None, None) => denied(refused),
        })
    }

    fn throttled_client(&self) -> Option<Client> {
        self.client.filter(|client| client.is_throttled())
    }

    /// Refuses an address that has shown too many wrong keys.
    fn check_guesses(&mut self, dialect: Dialect) -> Result<(), Answer> {
        let Some(client) = self.throttled_client() else { return Ok(()) };
        let checked = self.service.limits.check_refusals(client.network(), Instant::now());
        checked.map_err(|exceeded| {
            self.standing = exceeded.standing;
            dialect.too_many(exceeded)
        })
    }

    /// An administrator of the site who is signed in. Whoever else is signed in has no business
    /// here.
    async fn admit_administrator(
        &self,
        parts: &Parts,
    ) -> types::Result<Option<Result<Visitor, Refused>>> {
        let rest = &self.service.rest;
        let request = rest.request(String::new(), parts, Vec::new());
        let Ok(identity) = rest.site.session_visitor(&request, self.now).await? else {
            return Ok(Some(Err(Refused::stranger(Reason::StaleNonce))));
        };
        let user = identity.and_then(|identity| identity.user);
        let refused = |reason| Some(Err(Refused::stranger(reason)));
        Ok(match user {
            None => refused(Reason::NoHeader),
            Some(user) if user.row.roles.contains(&Role::Administrator) => {
                Some(Ok(Visitor::Administrator(user.row.user_id)))
            }
            Some(_) => refused(Reason::MissingScope),
        })
    }

    /// A person of the portal, whose page sends the session's cookie and a nonce; nothing when the
    /// request has neither.
    async fn admit_session(
        &self,
        parts: &Parts,
        route: (Permission, Method),
    ) -> types::Result<Option<Result<Visitor, Refused>>> {
        let Onboarding { platform, rest, .. } = self.service;
        let request = rest.request(String::new(), parts, Vec::new());
        let visitor = rest.site.session_visitor(&request, self.now).await?;
        let Ok(identity) = visitor else {
            return Ok(Some(Err(Refused::stranger(Reason::StaleNonce))));
        };
        let Some(user) = identity.and_then(|identity| identity.user) else { return Ok(None) };
        let named = parts.headers.get(ISO_HEADER).and_then(|value| value.to_str().ok());
        let caller = platform.admit_user(&user.row, named, route).await?;
        Ok(Some(caller.map(Visitor::Key)))
    }

    /// Counts the request for its key or device, and an onboarding for its ISO.
    pub(super) async fn check_rate(
        &mut self,
        key: &str,
        onboards: Option<&str>,
        dialect: Dialect,
    ) -> Result<(), Answer> {
        let limits = &self.service.limits;
        // The clock of an ISO in the sandbox may be ahead; that of its limits is not.
        let now = self.service.platform.clock.now();
        let own = self.caller.as_ref().and_then(|caller| caller.limits().requests);
        let mut checked = limits.check_key(key, own, now).await;
        if let (Ok(_), Some(iso)) = (&checked, onboards) {
            checked = limits.onboard.check(iso, now).await;
        }
        self.note_standing(checked, dialect)
    }

    fn note_standing(
        &mut self,
        checked: Result<Standing, Exceeded>,
        dialect: Dialect,
    ) -> Result<(), Answer> {
        match checked {
            Ok(standing) => {
                self.standing = standing;
                Ok(())
            }
            Err(exceeded) => {
                self.standing = exceeded.standing;
                Err(dialect.too_many(exceeded))
            }
        }
    }

    /// Tells the audit log why, beside the request.
    fn audit_refusal(&self, refused: Refused) {
        let (platform, origin) = (Arc::clone(&self.service.platform), self.origin.clone());
        let now = self.now;
        tokio::spawn(async move {
            if let Err(error) = platform.audit_refused_key(&refused, &origin, now).await {
                tracing::warn!(error = %error.report(), "a refused key is not in the audit log");
            }
        });
    }

    /// Notes the use of the key beside the request, at most once a minute.
    pub(super) fn record_last_use(&self, caller: Caller) {
        let platform = &self.service.platform;
        if platform.last_use_is_stale(&caller, self.now) {
            let (platform, now) = (Arc::clone(platform), self.now);
            let address = self.origin.address;
            tokio::spawn(async move {
                if let Err(error) = platform.record_last_use(caller, address, now).await {
                    tracing::warn!(error = %error.report(), "last use of a key was not noted");
                }
            });
        }
    }
}
