//! `/v1/invitations`: how people come to an ISO, or to a merchant or a store of it. An
//! administrator of the ISO names an address and a role, an e-mail brings a link, and who opens it
//! chooses a password.
//!
//! Until then there is no user, so that nobody's address is taken by being invited. A link works
//! once and expires; sent again, the one before works no more. **An answer never tells whether an
//! address is known here**: who has an account already is told so in the e-mail, and nowhere else.
//! Only people invite people (see `Permission::IsoAdministrator`), and only into their own ISO.

use std::sync::Arc;
use std::time::Duration;

use contract::{Answer, Draft, Endpoint, Failure, IssueKind, Route};
use db::{Conn, counter};
use frame::users::{BoundTo, NewUser, account, create_user, names};
use frame::{Site, mail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use site_rows::user;
use types::{Error, IsoId, MerchantId, Result, Role, Secret, StoreId, Timestamp};
use vault::{Aad, DataKey, Vault};

use super::emails::{self, MICROS_PER_DAY};
use super::record::IsoRecord;
use super::registration::refuse_weak_password;
use crate::audit;
use crate::change::object_not_found;
use crate::codes::refusal;
use crate::fields::{IdSearched, LinkToken, LoginEmail, NewPassword, PersonRole, PlainName};
use crate::id_source::random_text;
use crate::perform::{Outcome, perform};
use crate::rows::iso_invitation::{self, IsoInvitation};
use crate::rows::merchant;
use crate::{Code, Cx};

/// Random characters of a link's token.
const TOKEN_LENGTH: usize = 40;
const ID_LENGTH: usize = 16;
/// How long a link can be opened.
const LINK_LIFE: Duration = Duration::from_hours(7 * 24);
/// Invitations of an ISO that wait at most.
const WAITING_MAX: i64 = 100;
/// E-mails with invitations that an ISO sends in a day: their readers did not ask for them.
const EMAILS_PER_DAY_MAX: i64 = 50;

/// Who is invited, as it is kept until they accept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Invited {
    email: String,
    name: String,
}

impl Invited {
    fn seal(&self, key: &DataKey, id: &str) -> Result<Vec<u8>> {
        let plain = serde_json::to_vec(self)
            .map_err(|error| Error::internal("an invitation cannot be kept").because(error))?;
        key.seal(&sealed_aad(id), Secret::new(plain).expose())
    }

    fn open(key: &DataKey, row: &IsoInvitation) -> Result<Self> {
        let plain = key.open(&sealed_aad(&row.invitation_id), &row.sealed)?;
        serde_json::from_slice(plain.expose())
            .map_err(|error| Error::internal("an invitation cannot be read").because(error))
    }
}

fn sealed_aad(id: &str) -> Aad<'_> {
    Aad { kind: "iso_invitation", id, column: "sealed" }
}

fn token_hash(vault: &Vault, token: &str) -> Vec<u8> {
    vault.site_hash("iso invitation link", token, "").to_vec()
}

/// Somebody who was invited and has not accepted yet.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationView {
    /// Id of the invitation.
    invitation_id: String,
    /// Where the link was sent.
    email: String,
    /// Name of the person, if it was given.
    name: String,
    /// What they will be.
    role: String,
    /// The merchant that they will act for.
    merchant_id: Option<String>,
    /// The store that they will act for.
    store_id: Option<String>,
    /// `pending` or `expired`.
    status: &'static str,
    /// Who invited them.
    invited_by: String,
    /// When they were invited.
    created: String,
    /// Until when the link can be opened.
    expires: String,
}

impl InvitationView {
    fn of(row: &IsoInvitation, key: &DataKey, now: Timestamp) -> Result<Self> {
        let Invited { email, name } = Invited::open(key, row)?;
        Ok(Self {
            invitation_id: row.invitation_id.clone(),
            email,
            name,
            role: row.role.clone(),
            merchant_id: row.merchant_id.clone(),
            store_id: row.store_id.clone(),
            status: if row.expires > now { "pending" } else { "expired" },
            invited_by: row.invited_by.clone(),
            created: row.created.to_string(),
            expires: row.expires.to_string(),
        })
    }
}

/// Invite somebody to the ISO, or to one of its merchants or stores. For administrators of the ISO.
///
/// An e-mail with a link goes to the address; nothing exists before that link is opened. The answer
/// is the same whether or not the address is known here.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationCreate {
    email: LoginEmail,
    name: Option<PlainName>,
    role: PersonRole,
    /// The merchant to act for; with the role `merchant` only.
    merchant_id: Option<IdSearched>,
    /// The store to act for; with the role `store` only.
    store_id: Option<IdSearched>,
}

/// The site that would write the e-mails.
fn site_with_mail(cx: &Cx) -> std::result::Result<Arc<Site>, Failure> {
    let site = cx.platform.site().filter(|site| mail::is_on(site));
    site.ok_or_else(|| {
        let message = "Invitations require e-mail, which is turned off; ask the operator.";
        refusal("", Code::RegistrationClosed, message)
    })
}

/// Refuses to send more e-mails than an ISO may in a day.
/// By the real time, whatever the ISO's sandbox made of it: e-mails are real.
fn count_email(conn: &mut dyn Conn, iso_id: &IsoId, real_now: Timestamp) -> Outcome<()> {
    let (name, day) = (format!("invitations {iso_id}"), real_now.as_micros() / MICROS_PER_DAY);
    if counter::take_of_period(conn, &name, day, EMAILS_PER_DAY_MAX)? {
        return Ok(());
    }
    let message = format!("At most {EMAILS_PER_DAY_MAX} invitations can be sent in a day.");
    Err(refusal("", Code::LimitExceeded, message))
}

/// The binding that the role needs exists; and there is no other.
fn check_binding(draft: &mut Draft<'_>) {
    let role = draft.params.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
    for (field, of) in [("merchantId", Role::Merchant), ("storeId", Role::Store)] {
        let is_given = draft.params.get(field).is_some_and(|value| !value.is_null());
        let kind = match (role == of.name(), is_given) {
            (true, false) => IssueKind::rule(
                Code::MandatoryField.name(),
                format!("Choose whom a user with the role {role} acts for."),
            ),
            (false, true) => IssueKind::rule(
                Code::ConflictingField.name(),
                format!("Only users with the role {of} have this."),
            ),
            _ => continue,
        };
        draft.issues.add(field, kind);
    }
}

impl InvitationCreate {
    fn check_exists(&self, conn: &mut dyn Conn, iso_id: &IsoId) -> Outcome<()> {
        let unknown = |field, what| {
            Err(refusal(field, Code::NotFound, format!("The ISO has no {what} with this id.")))
        };
        if let Some(id) = &self.merchant_id
            && merchant::get(conn, iso_id, &MerchantId::new(id.as_str()))?.is_none()
        {
            return unknown("merchantId", "merchant");
        }
        if let Some(id) = &self.store_id
            && merchant::store_get(conn, iso_id, &StoreId::new(id.as_str()))?.is_none()
        {
            return unknown("storeId", "store");
        }
        Ok(())
    }
}

impl Endpoint<Cx> for InvitationCreate {
    const ROUTE: Route = Route::post("/v1/invitations").iso_administrator();
    type Reply = InvitationView;

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        emails::check_address(draft);
        check_binding(draft);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<InvitationView>, Failure> {
        let (site, now, real_now) = (site_with_mail(cx)?, cx.now, cx.platform.clock.now());
        let (caller, vault) = (cx.caller()?.clone(), Arc::clone(&cx.platform.vault));
        let iso_id = caller.iso_id().clone();
        let email = self.email.as_str().to_owned();
        let name = self.name.as_ref().map(|name| name.as_str().to_owned()).unwrap_or_default();
        let invited = Invited { email: email.clone(), name };
        let invitation_id = format!("inv_{}", random_text(ID_LENGTH)?);
        let token = random_text(TOKEN_LENGTH)?;
        let text = |field: &Option<IdSearched>| field.as_ref().map(|id| id.as_str().to_owned());
        let row = IsoInvitation {
            iso_id: iso_id.clone(),
            email_index: vault
                .blind_index(&iso_id, "invitation", &db::filter::fold(&email))
                .to_vec(),
            token_hash: token_hash(&vault, &token),
            role: self.role.as_str().to_owned(),
            merchant_id: text(&self.merchant_id),
            store_id: text(&self.store_id),
            sealed: invited.seal(caller.data_key(), &invitation_id)?,
            invited_by: caller.actor(),
            created: now,
            expires: now.plus(LINK_LIFE),
            invitation_id,
        };
        let entry = cx.entry("invitation.create", "invitation", &*row.invitation_id)?;
        let entry = entry.changed("role", (), &*row.role);
        perform(cx, move |conn| {
            self.check_exists(conn, &iso_id)?;
            let known = user::find_by_email(conn, &email)?;
            if known.as_ref().is_some_and(|user| user.iso_id.as_deref() == Some(iso_id.as_str())) {
                let message = "Somebody with this e-mail address is here already.";
                return Err(refusal("email", Code::AlreadyExists, message));
            }
            if iso_invitation::count(conn, &iso_id)? >= WAITING_MAX {
                let message = format!("{WAITING_MAX} invitations are waiting; withdraw some.");
                return Err(refusal("", Code::LimitExceeded, message));
            }
            count_email(conn, &iso_id, real_now)?;
            iso_invitation::put(conn, &row)?;
            send(
                conn,
                &site,
                &caller.access.iso.name,
                &email,
                (known.is_some(), &token),
                real_now,
            )?;
            audit::append(conn, &entry)?;
            Ok(Answer::new(InvitationView::of(&row, caller.data_key(), now)?))
        })
        .await
    }
}

fn send(
    conn: &mut dyn Conn,
    site: &Site,
    iso_name: &str,
    to: &str,
    (is_known, token): (bool, &str),
    now: Timestamp,
) -> Result<()> {
    if !mail::may_receive(conn, to, now)? {
        return Ok(());
    }
    if is_known {
        emails::invited_with_account(conn, site, to, iso_name, now)
    } else {
        emails::invited(conn, site, to, (iso_name, token), now)
    }
}

/// List those who were invited and have not accepted yet, the newest first. For administrators of
/// the ISO.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct InvitationList {}

/// Those who were invited and have not accepted yet.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Invitations {
    /// The invitations, at most 100.
    data: Vec<InvitationView>,
}

impl Endpoint<Cx> for InvitationList {
    const ROUTE: Route = Route::get("/v1/invitations").iso_administrator();
    type Reply = Invitations;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Invitations>, Failure> {
        let caller = cx.caller()?;
        let iso_id = caller.iso_id().clone();
        let rows =
            cx.platform.store.read(move |conn| iso_invitation::list(conn, &iso_id, WAITING_MAX));
        let rows = rows.await?;
        let views = rows.iter().map(|row| InvitationView::of(row, caller.data_key(), cx.now));
        Ok(Answer::new(Invitations { data: views.collect::<Result<_>>()? }))
    }
}

/// Send an invitation again, with a new link; the one before works no more. For administrators of
/// the ISO.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationResend {
    /// Id of the invitation.
    invitation_id: String,
}

impl Endpoint<Cx> for InvitationResend {
    const ROUTE: Route = Route::post("/v1/invitations/{invitationId}/resend").iso_administrator();
    type Reply = InvitationView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<InvitationView>, Failure> {
        let (site, now, caller) = (site_with_mail(cx)?, cx.now, cx.caller()?.clone());
        let real_now = cx.platform.clock.now();
        let token = random_text(TOKEN_LENGTH)?;
        let hash = token_hash(&cx.platform.vault, &token);
        let entry = cx.entry("invitation.resend", "invitation", &*self.invitation_id)?;
        perform(cx, move |conn| {
            let iso_id = caller.iso_id();
            let found = iso_invitation::get(conn, iso_id, &self.invitation_id)?;
            let mut row = found.ok_or_else(object_not_found)?;
            row.token_hash.clone_from(&hash);
            row.expires = now.plus(LINK_LIFE);
            count_email(conn, iso_id, real_now)?;
            iso_invitation::update(conn, &row)?;
            let email = Invited::open(caller.data_key(), &row)?.email;
            let is_known = user::find_by_email(conn, &email)?.is_some();
            send(conn, &site, &caller.access.iso.name, &email, (is_known, &token), real_now)?;
            audit::append(conn, &entry)?;
            Ok(Answer::new(InvitationView::of(&row, caller.data_key(), now)?))
        })
        .await
    }
}

/// Withdraw an invitation; its link works no more. For administrators of the ISO.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationWithdraw {
    /// Id of the invitation.
    invitation_id: String,
}

/// An invitation that was withdrawn.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationWithdrawn {
    /// Id of the invitation.
    invitation_id: String,
}

impl Endpoint<Cx> for InvitationWithdraw {
    const ROUTE: Route = Route::delete("/v1/invitations/{invitationId}").iso_administrator();
    type Reply = InvitationWithdrawn;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<InvitationWithdrawn>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let entry = cx.entry("invitation.withdraw", "invitation", &*self.invitation_id)?;
        perform(cx, move |conn| {
            if !iso_invitation::delete(conn, &iso_id, &self.invitation_id)? {
                return Err(object_not_found().into());
            }
            audit::append(conn, &entry)?;
            Ok(Answer::new(InvitationWithdrawn { invitation_id: self.invitation_id.clone() }))
        })
        .await
    }
}

/// Accept an invitation with the link that was sent, and choose a password for the portal.
///
/// The link works once.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct InvitationAccept {
    token: LinkToken,
    name: Option<PlainName>,
    password: NewPassword,
}

/// Somebody who can sign in now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationAccepted {
    /// Name to sign in to the portal with; the e-mail address will do as well.
    login: String,
    /// What they are.
    role: String,
}

fn stale_link() -> Failure {
    let message = "The link was already used, was withdrawn or has expired; ask for a new one.";
    refusal("token", Code::InvalidValue, message)
}

impl Endpoint<Cx> for InvitationAccept {
    const ROUTE: Route = Route::post("/v1/invitations/accept").public();
    type Reply = InvitationAccepted;

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        refuse_weak_password(draft);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<InvitationAccepted>, Failure> {
        let (vault, now) = (&cx.platform.vault, cx.now);
        let site = cx.platform.site().ok_or_else(|| Error::internal("there is no site"))?;
        let hash = token_hash(vault, self.token.as_str());
        let wanted = hash.clone();
        let found = cx.platform.store.read(move |conn| {
            let Some(row) = iso_invitation::find(conn, &wanted, now)? else { return Ok(None) };
            let record = IsoRecord::load(conn, &row.iso_id)?;
            Ok(Some((row, record)))
        });
        // Passwords are hashed slowly: only for those who hold a link.
        let is_open = |(_, record): &(IsoInvitation, IsoRecord)| record.account.is_active();
        let Some((row, record)) = found.await?.filter(is_open) else { return Err(stale_link()) };
        let invited = Invited::open(&record.data_key(vault)?, &row)?;
        let password_hash = site.hasher().hash(self.password.into_secret()).await?;
        let chosen = self.name.map(PlainName::into_string);
        let user = new_user(&row, invited, chosen, password_hash, now)?;
        let entry = cx.entry_by_visitor(&row.iso_id, "invitation.accept");
        perform(cx, move |conn| {
            let is_open = IsoRecord::load(conn, &row.iso_id)?.account.is_active();
            let is_ours = is_open && iso_invitation::take(conn, &hash, now)?;
            if !is_ours || user::find_by_email(conn, &user.email)?.is_some() {
                return Err(stale_link());
            }
            let mut made = create_user(conn, &user).map_err(account::error_of)?;
            // Who acts for a merchant or a store is still one of the ISO's people.
            made.iso_id = Some(row.iso_id.as_str().to_owned());
            user::update(conn, &made)?;
            let id = made.user_id.to_string();
            let entry = entry.about("invitation.accept", "user", &id);
            audit::append(conn, &entry.changed("role", (), &*row.role))?;
            Ok(Answer::new(InvitationAccepted { login: made.login, role: row.role.clone() }))
        })
        .await
    }
}

/// The user that an invitation becomes.
fn new_user(
    row: &IsoInvitation,
    invited: Invited,
    name: Option<String>,
    password_hash: String,
    now: Timestamp,
) -> Result<NewUser> {
    let damaged = |message: String| Error::internal("an invitation has no role").because(message);
    let role: Role = row.role.parse().map_err(damaged)?;
    let bound_to = match (role, &row.merchant_id, &row.store_id) {
        (Role::IsoAdmin | Role::IsoStaff, ..) => BoundTo::Iso(row.iso_id.as_str().to_owned()),
        (Role::Merchant, Some(merchant), _) => BoundTo::Merchant(merchant.clone()),
        (Role::Store, _, Some(store)) => BoundTo::Store(store.clone()),
        _ => return Err(Error::internal("an invitation binds to nobody")),
    };
    let Invited { email, name: given } = invited;
    let login = if names::is_login(&email) && email.len() <= names::LOGIN_LENGTH_MAX {
        email.clone()
    } else {
        row.invitation_id.clone()
    };
    Ok(NewUser {
        password_hash: Some(password_hash),
        roles: vec![role],
        bound_to,
        name: name.unwrap_or(given),
        ..NewUser::new(login, email, now)
    })
}
