//! `/v1/people`: who can sign in for an ISO, or for a merchant or a store of it, managed by the
//! ISO's administrators.
//!
//! **An ISO sees its own people only**; users of others, of the shop and of the site are not there.
//! Nobody changes or removes themselves, so that an ISO keeps whoever could invite others.

use contract::{Answer, Endpoint, Failure, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use site_rows::session;
use site_rows::user::{self, UserRow};
use types::{Error, IsoId, Result, Role};

use crate::audit;
use crate::change::object_not_found;
use crate::codes::refusal;
use crate::fields::IsoRole;
use crate::perform::{Outcome, perform};
use crate::rows::iso_invitation;
use crate::{Caller, Code, Cx};

/// People that a list shows.
const SHOWN_MAX: i64 = 500;

/// Roles of people who belong to an ISO.
const OF_ISO: [Role; 4] = [Role::IsoAdmin, Role::IsoStaff, Role::Merchant, Role::Store];

/// Somebody who can sign in for an ISO, or for a merchant or a store of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    /// Number of the user.
    user_id: i64,
    /// Name to sign in with.
    login: String,
    /// Name of the person.
    name: String,
    /// E-mail address.
    email: String,
    /// What they are.
    role: &'static str,
    /// The merchant that they act for.
    merchant_id: Option<String>,
    /// The store that they act for.
    store_id: Option<String>,
    /// Since when they can sign in.
    created: String,
}

impl MemberView {
    /// Nothing for users who are more than the ISO's people.
    fn of(row: UserRow) -> Option<Self> {
        let role = match row.roles.as_slice() {
            [role] if OF_ISO.contains(role) => role.name(),
            _ => return None,
        };
        Some(Self {
            user_id: row.user_id,
            login: row.login,
            name: row.display_name,
            email: row.email,
            role,
            merchant_id: row.merchant_id,
            store_id: row.store_id,
            created: row.registered.to_string(),
        })
    }

    fn answer(row: UserRow) -> Result<Answer<Self>> {
        Self::of(row).map(Answer::new).ok_or_else(object_not_found)
    }
}

/// List who can sign in for the ISO, its merchants and stores. For administrators of the ISO.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MemberList {}

/// The people of an ISO.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Members {
    /// Those who came first; at most 500.
    data: Vec<MemberView>,
}

impl Endpoint<Cx> for MemberList {
    const ROUTE: Route = Route::get("/v1/people").iso_administrator();
    type Reply = Members;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Members>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let rows =
            cx.platform.store.read(move |conn| user::of_iso(conn, iso_id.as_str(), SHOWN_MAX));
        let data = rows.await?.into_iter().filter_map(MemberView::of).collect();
        Ok(Answer::new(Members { data }))
    }
}

/// The user as the audit log calls them.
fn actor(user_id: i64) -> String {
    format!("user:{user_id}")
}

/// The user, if they are one of the ISO's people and somebody else than the caller.
fn other(conn: &mut dyn Conn, caller: &Caller, iso_id: &IsoId, user_id: i64) -> Outcome<UserRow> {
    let is_theirs = |row: &UserRow| {
        let is_bound = row.iso_id.as_deref() == Some(iso_id.as_str());
        is_bound && row.roles.iter().all(|role| OF_ISO.contains(role))
    };
    let found = user::get(conn, user_id)?.filter(is_theirs).ok_or_else(object_not_found)?;
    if caller.actor() == actor(user_id) {
        let message = "Ask another administrator of the ISO to change your own account.";
        return Err(refusal("userId", Code::InvalidValue, message));
    }
    Ok(found)
}

/// Change what somebody of the ISO may do. For administrators of the ISO.
///
/// Invitations that they have sent are withdrawn if they are no administrator any more.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberUpdate {
    /// Number of the user.
    user_id: String,
    role: IsoRole,
}

/// What is no number is nobody's.
fn number(text: &str) -> Result<i64> {
    text.parse().map_err(|_| object_not_found())
}

impl Endpoint<Cx> for MemberUpdate {
    const ROUTE: Route = Route::patch("/v1/people/{userId}").iso_administrator();
    type Reply = MemberView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<MemberView>, Failure> {
        let (caller, user_id) = (cx.caller()?.clone(), number(&self.user_id)?);
        let unknown = |message: String| Error::internal("a role is unknown").because(message);
        let role: Role = self.role.as_str().parse().map_err(unknown)?;
        let entry = cx.entry("user.update", "user", &*self.user_id)?;
        perform(cx, move |conn| {
            let mut row = other(conn, &caller, caller.iso_id(), user_id)?;
            if row.merchant_id.is_some() || row.store_id.is_some() {
                let message = "Users of merchants and stores have no other role; invite them anew.";
                return Err(refusal("role", Code::ConflictingField, message));
            }
            let before = row.roles.first().map(|role| role.name());
            row.roles = vec![role];
            user::update(conn, &row)?;
            if role != Role::IsoAdmin {
                // Who may invite nobody any more has invited nobody.
                iso_invitation::delete_by(conn, caller.iso_id(), &actor(user_id))?;
            }
            audit::append(conn, &entry.clone().changed("role", before, role.name()))?;
            Ok(MemberView::answer(row)?)
        })
        .await
    }
}

/// Remove somebody of the ISO: their sessions end at once. For administrators of the ISO.
///
/// Invitations that they have sent are withdrawn.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberRemove {
    /// Number of the user.
    user_id: String,
}

impl Endpoint<Cx> for MemberRemove {
    const ROUTE: Route = Route::delete("/v1/people/{userId}").iso_administrator();
    type Reply = MemberView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<MemberView>, Failure> {
        let (caller, user_id) = (cx.caller()?.clone(), number(&self.user_id)?);
        let entry = cx.entry("user.remove", "user", &*self.user_id)?;
        perform(cx, move |conn| {
            let row = other(conn, &caller, caller.iso_id(), user_id)?;
            session::delete_of_user(conn, user_id, None)?;
            iso_invitation::delete_by(conn, caller.iso_id(), &actor(user_id))?;
            user::delete(conn, user_id)?;
            let role = row.roles.first().map(|role| role.name());
            audit::append(conn, &entry.clone().changed("role", role, ()))?;
            Ok(MemberView::answer(row)?)
        })
        .await
    }
}
