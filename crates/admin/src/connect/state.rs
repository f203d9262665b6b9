//! Proofs that this site sent a user elsewhere to grant something, a moment ago.
//!
//! A state is signed for a service and a user, is worth nothing after a quarter of an hour, and
//! **works once**: it is written down when it is made, and used up in the transaction that keeps
//! what was granted. Clients that bring back no state are known by how they showed who they are:
//! they get the newest one that was made for that very session, password or key.

use std::time::Duration;

use contract::rest::{Refusal, Stop};
use data_encoding::{BASE64, BASE64URL_NOPAD, HEXLOWER};
use db::Conn;
use frame::{Identity, Site, Via};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use site_rows::login_token::{self, LoginTokenRow};
use types::{Error, Result, Secret, Timestamp};
use vault::Aad;

/// How long somebody may take to grant something elsewhere.
const LIFE: Duration = Duration::from_mins(15);
const NONCE_BYTES: usize = 12;
/// States for one user within an hour.
const PER_HOUR_MAX: i64 = 60;
const HOUR: Duration = Duration::from_hours(1);
/// How the store calls them.
const KIND: &str = "connect";
const PENDING: &str = "pending";
const USED: &str = "consumed";

/// What is signed.
#[derive(Debug, Serialize, Deserialize)]
struct Stated {
    service: String,
    user_id: i64,
    at_us: i64,
    nonce: String,
}

/// Who leaves for a service, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving<'a> {
    pub(super) site: &'a Site,
    pub(super) identity: &'a Identity,
    pub(super) service: &'a str,
    pub(super) now: Timestamp,
}

impl Leaving<'_> {
    fn user_id(&self) -> i64 {
        self.identity.user.as_ref().map_or(0, |user| user.id())
    }

    /// By what the user showed who they are.
    fn holder(&self) -> Vec<u8> {
        let shown = match &self.identity.via {
            Via::Nothing => String::new(),
            Via::Session { token_hash } => format!("session {}", HEXLOWER.encode(token_hash)),
            Via::ApplicationPassword { uuid } => format!("password {uuid}"),
            Via::ConsumerKey { key_id } => format!("key {key_id}"),
        };
        let who = format!("{} {shown}", self.user_id());
        self.site.vault().site_hash("connect holder", self.service, &who).to_vec()
    }

    fn token_hash(&self, state: &str) -> Vec<u8> {
        self.site.vault().site_hash("connect token", state, "").to_vec()
    }

    fn signature(&self, payload: &str) -> String {
        HEXLOWER.encode(&self.site.vault().site_hash("connect state", payload, ""))
    }

    /// A new state, which nobody can come back with before it is written down.
    pub(super) fn sign(&self) -> Result<String> {
        let mut random = [0; NONCE_BYTES];
        vault::fill_random(&mut random)?;
        let stated = Stated {
            service: self.service.to_owned(),
            user_id: self.user_id(),
            at_us: self.now.as_micros(),
            nonce: HEXLOWER.encode(&random),
        };
        let text = serde_json::to_string(&stated).map_err(|error| {
            Error::internal("cannot serialize a connection's state").because(error)
        })?;
        let payload = BASE64URL_NOPAD.encode(text.as_bytes());
        Ok(format!("{payload}.{}", self.signature(&payload)))
    }

    /// The row of a state, with what the service said when it was asked; to be
    /// [written down](keep).
    pub(super) fn row(&self, state: &str, secret: &str) -> Result<LoginTokenRow> {
        let sealed = self.site.vault().site_seal(&PLACE, secret.as_bytes())?;
        Ok(LoginTokenRow {
            token_hash: self.token_hash(state),
            kind: KIND.to_owned(),
            state: PENDING.to_owned(),
            user_id: self.user_id(),
            session_hash: Some(self.holder()),
            detail: json!({ "secret": BASE64.encode(&sealed) }).to_string(),
            created: self.now,
            expires: self.now.plus(LIFE),
        })
    }

    /// What waits for the user to come back: by the state that they bring, or without one the
    /// newest that was made for who they show to be. Nothing if the state is not ours, is somebody
    /// else's, is too old or was used.
    pub(super) fn find(&self, conn: &mut dyn Conn, state: &str) -> Result<Option<LoginTokenRow>> {
        let found = if state.is_empty() {
            login_token::newest(conn, &self.holder(), PENDING, self.now)?
        } else if self.is_ours(state) {
            login_token::get(conn, &self.token_hash(state))?
        } else {
            None
        };
        let is_good = |row: &LoginTokenRow| {
            row.kind == KIND
                && row.state == PENDING
                && row.user_id == self.user_id()
                && row.expires > self.now
        };
        Ok(found.filter(is_good))
    }

    /// Whether this site signed the state for this service and user.
    fn is_ours(&self, state: &str) -> bool {
        let Some((payload, signed)) = state.split_once('.') else { return false };
        // Compared in hashed form, so that the time it takes tells nothing.
        let hashed = |text: &str| self.site.vault().site_hash("compare", text, "");
        if hashed(signed) != hashed(&self.signature(payload)) {
            return false;
        }
        let text = BASE64URL_NOPAD.decode(payload.as_bytes()).unwrap_or_default();
        let Ok(stated) = serde_json::from_slice::<Stated>(&text) else { return false };
        stated.service == self.service && stated.user_id == self.user_id()
    }

    /// What the service said when the state was made.
    pub(super) fn secret(&self, row: &LoginTokenRow) -> Result<Secret<String>> {
        let detail: Value = serde_json::from_str(&row.detail).unwrap_or_default();
        let sealed = detail.get("secret").and_then(Value::as_str).unwrap_or_default();
        let unreadable = || Error::internal("cannot read the service's response");
        let sealed = BASE64.decode(sealed.as_bytes()).map_err(|_| unreadable())?;
        let opened = self.site.vault().site_open(&PLACE, &sealed)?;
        let text = String::from_utf8(opened.expose().clone()).map_err(|_| unreadable())?;
        Ok(Secret::new(text))
    }
}

const PLACE: Aad<'_> = Aad { kind: "connect_state", id: "", column: "secret" };

/// Writes a state down, unless the user left for other sites too often.
pub(super) fn keep(conn: &mut dyn Conn, row: &LoginTokenRow) -> Result<(), Stop> {
    let hour = i64::try_from(HOUR.as_micros()).unwrap_or(i64::MAX);
    let since = Timestamp::from_micros(row.created.as_micros().saturating_sub(hour));
    if login_token::count_since(conn, row.user_id, KIND, since)? >= PER_HOUR_MAX {
        let message = "Too many connection attempts in the past hour; try again later.";
        return Err(Refusal::new(429, "boardwalk_too_many_connections", message).into());
    }
    Ok(login_token::insert(conn, row)?)
}

/// Uses a state up. Returns whether it was there to be used: **of two who bring it, one wins.**
pub(super) fn spend(conn: &mut dyn Conn, row: &LoginTokenRow) -> Result<bool> {
    let used = LoginTokenRow { state: USED.to_owned(), ..row.clone() };
    login_token::advance(conn, &used, PENDING)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use frame::User;
    use frame::outbound::{Fetch, FetchError, Fetching, Outbound};
    use frame::users::account::error_of;
    use frame::users::{NewUser, create_user};

    use super::*;
    use crate::testing::site_at;

    #[derive(Debug)]
    struct NoNetwork;

    impl Outbound for NoNetwork {
        fn fetch(&self, _: Fetch) -> Fetching<'_> {
            Box::pin(async { Err(FetchError::Unreachable) })
        }
    }

    fn start() -> Timestamp {
        Timestamp::parse("2026-11-15T08:00:00Z").unwrap()
    }

    fn somebody(site: &Site, login: &str, uuid: &str) -> Identity {
        let new = NewUser::new(login, format!("{login}@site.example"), start());
        let made =
            site.store().write_blocking(move |conn| create_user(conn, &new).map_err(error_of));
        let via = Via::ApplicationPassword { uuid: uuid.to_owned() };
        Identity::of(Arc::new(User::new(made.unwrap())), via)
    }

    /// Whether somebody who comes back then finds what waits for them.
    fn finds(
        site: &Arc<Site>,
        identity: &Identity,
        service: &'static str,
        state: &str,
        minutes: u64,
    ) -> bool {
        let (own, identity, state) = (Arc::clone(site), identity.clone(), state.to_owned());
        let now = start().plus(Duration::from_mins(minutes));
        let found = site.store().read_blocking(move |conn| {
            Leaving { site: &own, identity: &identity, service, now }.find(conn, &state)
        });
        found.unwrap().is_some()
    }

    #[test]
    fn a_state_is_good_once_for_a_while_and_for_one_user_and_service() {
        let folder = testkit::temp_dir().unwrap();
        let site = Arc::new(site_at(folder.path(), start(), Arc::new(NoNetwork)));
        let (ada, bob) = (somebody(&site, "ada", "one"), somebody(&site, "bob", "two"));
        let leaving = Leaving { site: &site, identity: &ada, service: "market", now: start() };
        let state = leaving.sign().unwrap();
        assert!(!finds(&site, &ada, "market", &state, 1), "it was not written down");
        let row = leaving.row(&state, "told in confidence").unwrap();
        assert_eq!(leaving.secret(&row).unwrap().expose(), "told in confidence");
        assert!(!row.detail.contains("confidence"), "{}", row.detail);
        let written = row.clone();
        let keep_row = move |conn: &mut dyn Conn| Ok(keep(conn, &written).is_ok());
        assert!(site.store().write_blocking(keep_row).unwrap());
        let elsewhere = Via::ApplicationPassword { uuid: String::from("other") };
        let ada_elsewhere = Identity { via: elsewhere, ..ada.clone() };
        let (payload, signed) = state.split_once('.').unwrap();
        let forged = format!("{payload}x.{signed}");
        for (who, service, brought, minutes, expected) in [
            (&ada, "market", &*state, 1, true),
            (&ada, "market", "", 1, true),
            (&ada, "market", &*state, 14, true),
            (&ada, "market", &*state, 15, false),
            (&ada, "market", "", 15, false),
            (&ada, "other", &*state, 1, false),
            (&ada, "other", "", 1, false),
            (&bob, "market", &*state, 1, false),
            (&bob, "market", "", 1, false),
            (&ada_elsewhere, "market", &*state, 1, true),
            (&ada_elsewhere, "market", "", 1, false),
            (&ada, "market", &*forged, 1, false),
            (&ada, "market", "no state", 1, false),
        ] {
            let found = finds(&site, who, service, brought, minutes);
            assert_eq!(found, expected, "{service} {brought} after {minutes} minutes");
        }
        let spent =
            site.store().write_blocking(move |conn| Ok((spend(conn, &row)?, spend(conn, &row)?)));
        assert_eq!(spent.unwrap(), (true, false));
        assert!(!finds(&site, &ada, "market", &state, 1), "it works once");
        assert!(!finds(&site, &ada, "market", "", 1));
    }
}
