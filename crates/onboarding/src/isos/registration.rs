//! How somebody becomes an ISO by themselves: `POST /v1/isos`, an e-mail,
//! `POST /v1/isos/confirm`.
//!
//! Until the link in the e-mail is opened there is no ISO, only a registration that expires. The
//! link works once; opening it makes the ISO, a person who may sign in for it, and, where no
//! approval is asked for, its first key. **An answer never tells whether an address is known**: who
//! has an account already is told so in the e-mail, and nowhere else.

use std::sync::Arc;
use std::time::Duration;

use contract::{Answer, Draft, Endpoint, Failure, IssueKind, Route};
use data_encoding::HEXLOWER;
use db::{Conn, outbox};
use frame::password;
use frame::users::{BoundTo, NewUser, account, create_user, names};
use frame::{Site, mail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use site_rows::iso::IsoRow;
use site_rows::user;
use types::{Error, IsoId, KeyId, Result, Role, ScopeSet, Timestamp};
use vault::{Aad, Vault};

use super::emails;
use super::record::{IsoContact, IsoRecord};
use crate::audit::{self, Entry};
use crate::codes::refusal;
use crate::event_kinds;
use crate::fields::{LinkToken, LoginEmail, NewPassword, PhoneNumber, PlainName, Website};
use crate::id_source::random_text;
use crate::keys::issue::{KEY_LIFE_DEFAULT, NewKey, NewKeyRow};
use crate::lifecycle::IsoStatus;
use crate::perform::perform;
use crate::rows::api_key::ApiKeyRow;
use crate::rows::iso_account;
use crate::rows::iso_account::IsoAccount;
use crate::rows::iso_invitation;
use crate::rows::iso_registration::{self, IsoRegistration};
use crate::rows::onboarding_link;
use crate::{Code, Cx, Platform, Registration};

/// Random characters of a link's token.
const TOKEN_LENGTH: usize = 40;
/// How long a link can be opened.
const LINK_LIFE: Duration = Duration::from_hours(48);
/// Of the e-mails to one address, the next one after this time: nobody is flooded through us.
const EMAILS_APART: Duration = Duration::from_mins(10);
/// An expired invitation or link is shown for 30 days, so that it can be sent again.
const INVITATION_SHOWN_US: i64 = 30 * emails::MICROS_PER_DAY;
/// Registrations that wait at most; beyond that somebody plays a trick on us.
const WAITING_MAX: i64 = 10_000;

/// What somebody registered with, as it is kept until they confirm it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RegistrationData {
    name: String,
    contact: IsoContact,
}

/// Register as an ISO.
///
/// An e-mail with a link goes to the address; nothing exists before that link is opened. The answer
/// is the same whether or not the address is known here.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IsoRegister {
    name: PlainName,
    contact_name: PlainName,
    email: LoginEmail,
    phone_number: Option<PhoneNumber>,
    website: Option<Website>,
}

/// A registration that waits for its confirmation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct IsoRegistered {
    /// Always `pending_confirmation`.
    status: &'static str,
    /// What to do next.
    message: &'static str,
    /// Until when the link in the e-mail can be opened.
    expires: String,
}

/// The site that would write the e-mails, where registration is possible.
fn open_site(cx: &Cx) -> std::result::Result<Arc<Site>, Failure> {
    let closed = |message| refusal("", Code::RegistrationClosed, message);
    if cx.platform.settings.registration == Registration::Closed {
        return Err(closed("Self-registration is turned off; contact the operator."));
    }
    let site = cx.platform.site().filter(|site| mail::is_on(site));
    site.ok_or_else(|| {
        closed(
            "Registration requires e-mail, which is turned off; ask the operator to register you.",
        )
    })
}

impl Endpoint<Cx> for IsoRegister {
    const ROUTE: Route = Route::post("/v1/isos").public();
    type Reply = IsoRegistered;

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        emails::check_address(draft);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<IsoRegistered>, Failure> {
        let site = open_site(cx)?;
        let (vault, now) = (Arc::clone(&cx.platform.vault), cx.now);
        let email = self.email.into_string();
        let data = RegistrationData {
            name: self.name.into_string(),
            contact: IsoContact {
                contact_name: Some(self.contact_name.into_string()),
                email: Some(email.clone()),
                phone_number: self.phone_number.map(PhoneNumber::into_string),
                website: self.website.map(Website::into_string),
            },
        };
        let token = random_text(TOKEN_LENGTH)?;
        let row = registration(&vault, &data, &email, &token, now)?;
        let expires = row.expires.to_string();
        perform(cx, move |conn| {
            let before = iso_registration::of_email(conn, &row.email_index)?;
            let is_written_to =
                before.is_some_and(|before| now.since(before.created) < EMAILS_APART);
            if !is_written_to {
                if iso_registration::count(conn)? >= WAITING_MAX {
                    return Err(Error::unavailable("too many registrations are pending").into());
                }
                iso_registration::put(conn, &row)?;
                if user::find_by_email(conn, &email)?.is_some() {
                    emails::known_already(conn, &site, &email, now)?;
                } else {
                    emails::confirm(conn, &site, &email, &token, now)?;
                }
            }
            let message = "Open the link in the e-mail we sent to this address.";
            let (status, expires) = ("pending_confirmation", expires.clone());
            Ok(Answer::new(IsoRegistered { status, message, expires }))
        })
        .await
    }
}

/// What is kept of a registration.
fn registration(
    vault: &Vault,
    data: &RegistrationData,
    email: &str,
    token: &str,
    now: Timestamp,
) -> Result<IsoRegistration> {
    let token_hash = token_hash(vault, token);
    let plain = serde_json::to_vec(data)
        .map_err(|error| Error::internal("a registration cannot be kept").because(error))?;
    let sealed = vault.site_seal(&sealed_aad(&HEXLOWER.encode(&token_hash)), &plain)?;
    let folded = db::filter::fold(email);
    Ok(IsoRegistration {
        email_index: vault.site_hash("iso registration address", &folded, "").to_vec(),
        token_hash,
        sealed,
        created: now,
        expires: now.plus(LINK_LIFE),
    })
}

fn token_hash(vault: &Vault, token: &str) -> Vec<u8> {
    vault.site_hash("iso registration link", token, "").to_vec()
}

fn sealed_aad(id: &str) -> Aad<'_> {
    Aad { kind: "iso_registration", id, column: "sealed" }
}

fn data_of(vault: &Vault, row: &IsoRegistration) -> Result<RegistrationData> {
    let plain = vault.site_open(&sealed_aad(&HEXLOWER.encode(&row.token_hash)), &row.sealed)?;
    serde_json::from_slice(plain.expose())
        .map_err(|error| Error::internal("a registration cannot be read").because(error))
}

/// Confirm a registration with the link that was sent, and choose a password for the portal.
///
/// The link works once. Where the operator approves ISOs, the state is `pending_approval` and there
/// is no key yet; else the answer holds the first key. It is not shown again.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct IsoConfirm {
    token: LinkToken,
    password: NewPassword,
}

/// An ISO that was just made.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IsoConfirmed {
    /// Id of the ISO.
    iso_id: IsoId,
    /// `active` or `pending_approval`.
    status: String,
    /// Name to sign in to the portal with; the e-mail address will do as well.
    login: String,
    /// The first key; null while the approval is pending.
    key: Option<FirstKey>,
}

/// The first key of an ISO.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FirstKey {
    /// Id of the key: its public part.
    key_id: KeyId,
    /// What to send. Shown only now.
    text: String,
    /// When it ends.
    expires: Option<String>,
}

impl From<NewKey> for FirstKey {
    fn from(key: NewKey) -> Self {
        let expires = key.expires.map(|time| time.to_string());
        Self { key_id: key.key_id, text: key.text.expose().clone(), expires }
    }
}

fn stale_link() -> Failure {
    let message = "The link was already used or has expired; register again.";
    refusal("token", Code::InvalidValue, message)
}

/// The schema says how long a password is; which ones are too easy to guess, the rule knows.
pub(super) fn refuse_weak_password(draft: &mut Draft<'_>) {
    let given = draft.params.get("password").and_then(Value::as_str).unwrap_or_default();
    let length = password::LENGTH_MIN..=password::LENGTH_MAX;
    if length.contains(&given.chars().count())
        && let Some(error) = password::error(given)
    {
        draft.issues.add("password", IssueKind::rule(Code::InvalidValue.name(), error));
    }
}

impl Endpoint<Cx> for IsoConfirm {
    const ROUTE: Route = Route::post("/v1/isos/confirm").public();
    type Reply = IsoConfirmed;

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        refuse_weak_password(draft);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<IsoConfirmed>, Failure> {
        let site = open_site(cx)?;
        let (vault, now) = (&cx.platform.vault, cx.now);
        let hash = token_hash(vault, self.token.as_str());
        let token_hash = hash.clone();
        // Passwords are hashed slowly: only for those who hold a link.
        let found =
            cx.platform.store.read(move |conn| iso_registration::find(conn, &token_hash, now));
        let Some(row) = found.await? else { return Err(stale_link()) };
        let data = data_of(vault, &row)?;
        let password_hash = site.hasher().hash(self.password.into_secret()).await?;
        let made = NewIso::new(&cx.platform, data, password_hash, cx)?;
        perform(cx, move |conn| {
            let is_ours = iso_registration::take(conn, &hash, now)?;
            if !is_ours || user::find_by_email(conn, &made.user.email)?.is_some() {
                return Err(stale_link());
            }
            made.store(conn, now)?;
            if made.record.account.status == IsoStatus::PendingApproval {
                emails::waits_for_approval(conn, &site, &made.record.row.name, now)?;
            }
            Ok(Answer::new(IsoConfirmed {
                iso_id: made.record.row.iso_id.clone(),
                status: made.record.account.status.clone(),
                login: made.user.login.clone(),
                key: made.key.as_ref().map(|(_, key)| key.clone()),
            }))
        })
        .await
    }
}

/// Everything that a confirmation makes.
struct NewIso {
    record: IsoRecord,
    user: NewUser,
    key: Option<(ApiKeyRow, FirstKey)>,
    entry: Entry,
}

impl NewIso {
    fn new(
        platform: &Platform,
        data: RegistrationData,
        password_hash: String,
        cx: &Cx,
    ) -> Result<Self> {
        let iso_id = IsoId::new(format!("iso_{}", random_text(16)?));
        let (data_key, wrapped) = platform.vault.data_key_create(&iso_id)?;
        let is_open = platform.settings.registration == Registration::Open;
        let status = if is_open { IsoStatus::Active } else { IsoStatus::PendingApproval };
        let account = IsoAccount {
            status: status.name().to_owned(),
            contact_sealed: Some(data.contact.seal(&data_key, &iso_id)?),
            ..IsoAccount::plain(iso_id.clone())
        };
        let row = IsoRow {
            iso_id: iso_id.clone(),
            name: data.name,
            response_style: platform.settings.response_style.name().to_owned(),
            data_key: wrapped.0,
            created: cx.now,
        };
        let email = data.contact.email.unwrap_or_default();
        let login = if names::is_login(&email) && email.len() <= names::LOGIN_LENGTH_MAX {
            email.clone()
        } else {
            iso_id.as_str().to_owned()
        };
        let user = NewUser {
            password_hash: Some(password_hash),
            roles: vec![Role::IsoAdmin],
            bound_to: BoundTo::Iso(iso_id.as_str().to_owned()),
            name: data.contact.contact_name.unwrap_or_default(),
            ..NewUser::new(login, email, cx.now)
        };
        let key = if is_open { Some(first_key(platform, &iso_id, cx.now)?) } else { None };
        let entry = cx.entry_by_visitor(&iso_id, "iso.register");
        Ok(Self { record: IsoRecord { row, account }, user, key, entry })
    }

    fn store(&self, conn: &mut dyn Conn, now: Timestamp) -> Result<()> {
        let iso_id = &self.record.row.iso_id;
        site_rows::iso::insert(conn, &self.record.row)?;
        iso_account::put(conn, &self.record.account, now)?;
        let user = create_user(conn, &self.user).map_err(account::error_of)?;
        outbox::append(conn, &self.record.event(event_kinds::ISO_REGISTERED, &[], now))?;
        let entry = self.entry.clone().versions(None, Some(self.record.account.version));
        audit::append(conn, &entry.related(&format!("user:{}", user.user_id)))?;
        if let Some((row, _)) = &self.key {
            crate::rows::api_key::insert(conn, row)?;
            let entry = self.entry.about("key.create", "key", row.key_id.as_str());
            audit::append(conn, &entry.related(iso_id.as_str()))?;
        }
        Ok(())
    }
}

fn first_key(platform: &Platform, iso_id: &IsoId, now: Timestamp) -> Result<(ApiKeyRow, FirstKey)> {
    let (row, key) = platform.new_key_row(NewKeyRow {
        iso_id: iso_id.clone(),
        name: String::from("First key"),
        scopes: ScopeSet::Full,
        allowed_ips: String::new(),
        created_by: String::from("registration"),
        created: now,
        expires: Some(now.plus(KEY_LIFE_DEFAULT)),
    })?;
    Ok((row, key.into()))
}

impl Platform {
    /// Forgets registrations, invitations and onboarding links that came to nothing, and returns
    /// how many.
    pub async fn registrations_prune(&self) -> Result<u64> {
        let now = self.clock.now();
        let prune = move |conn: &mut dyn Conn| {
            let before =
                Timestamp::from_micros(now.as_micros().saturating_sub(INVITATION_SHOWN_US));
            let registrations = iso_registration::prune(conn, now)?;
            let invitations = iso_invitation::prune(conn, before)?;
            Ok(registrations + invitations + onboarding_link::prune(conn, before)?)
        };
        self.store.write(prune).await
    }
}
