//! Processor accounts of a TPN: replaced as a whole, shown without their credentials, revealed only
//! with a scope of its own.

use contract::{Answer, Draft, Endpoint, Failure, IssueKind, Issues, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use types::{Environment, Error, Result, Scope, Tpn};

use super::credentials::{credentials_aad, credentials_id, profile_row};
use super::views::TpnView;
use crate::change::{
    Action, Basis, TpnRecord, Viewed as _, announce, load, object_not_found, record_change,
};
use crate::codes::refusal;
use crate::event_kinds;
use crate::fields::StatusReason;
use crate::lifecycle::{ProfileStatus, TpnStatus};
use crate::perform::{Outcome, perform, perform_once_shown};
use crate::rows::tpn::{self, ProfileRow};
use crate::simulation::is_refused_mid;
use crate::terminals::processors::Processor;
use crate::transition::take_step;
use crate::{Code, Cx};

/// Replace a processor account of a TPN, or add its second one.
///
/// The credentials are stored and never shown. The account is unverified until somebody reports
/// that the processor took it; in the sandbox it is verified at once, unless its Mid is all nines.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfilePut {
    /// The TPN number.
    tpn: Tpn,
    /// 01 with fee, 02 without fee.
    profile_id: String,
    /// The TPN's processor with this one account.
    tpn_processor: Processor,
    /// Refuse if the TPN has another version by now; instead of `If-Match`.
    expected_version: Option<i64>,
}

impl Endpoint<Cx> for ProfilePut {
    const ROUTE: Route =
        Route::put("/v1/tpns/{tpn}/profiles/{profileId}").scope(Scope::CredentialsWrite);
    type Reply = TpnView;

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        let in_path = draft.params.get("profileId").and_then(Value::as_str);
        let list = draft.params.pointer("/tpnProcessor/profile").and_then(Value::as_array);
        let Some(list) = list else { return Ok(()) };
        if list.len() > 1 {
            let error = IssueKind::rule(Code::InvalidProfile.name(), "Send one account.");
            draft.issues.add("tpnProcessor.profile", error);
        }
        let sent = list.first().and_then(|profile| profile.get("profileId")?.as_str());
        if sent.is_some() && sent != in_path {
            let message = "It differs from the profileId of the path.";
            let error = IssueKind::rule(Code::ConflictingField.name(), message);
            draft.issues.add("tpnProcessor.profile[0].profileId", error);
        }
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<TpnView>, Failure> {
        let caller = cx.caller()?.clone();
        let basis = Basis::of(cx, self.expected_version);
        let name = self.tpn_processor.name();
        let profile = self
            .tpn_processor
            .profiles()
            .first()
            .map(|profile| profile_row(cx, *profile, name, None, &self.tpn));
        let mut profile = profile.transpose()?.ok_or_else(object_not_found)?;
        if cx.platform.environment == Environment::Sandbox {
            let refused = is_refused_mid(profile.mid.as_deref());
            let status = if refused { ProfileStatus::Failed } else { ProfileStatus::Verified };
            status.name().clone_into(&mut profile.status);
        }
        let unique = cx.platform.settings.unique_profiles;
        let action = Action::of(cx, "replace_profile")?;
        perform(cx, move |conn| {
            let before: TpnRecord = load(conn, caller.iso_id(), self.tpn.as_str())?;
            basis.check_given(before.row.version)?;
            let profile = checked(&before, profile.clone())?;
            let index = &profile.identity_index;
            if unique
                && tpn::profile_by_identity(conn, caller.iso_id(), index, Some(&self.tpn))?
                    .is_some()
            {
                let path = "tpnProcessor.profile[0].profileId";
                let message = "This processor account is already assigned to another TPN.";
                return Err(refusal(path, Code::DuplicateProfile, message));
            }
            let mut after = before.clone();
            after.profiles.retain(|other| other.profile_id != self.profile_id);
            after.profiles.push(profile);
            after.profiles.sort_by(|one, other| one.profile_id.cmp(&other.profile_id));
            let after = settle(conn, &before, after, &action)?;
            Ok(after.answer(conn, &caller)?)
        })
        .await
    }
}

/// The profile as the TPN can have it.
fn checked(before: &TpnRecord, profile: ProfileRow) -> Outcome<ProfileRow> {
    if before.row.status == TpnStatus::Retired {
        return Err(refusal("", Code::IllegalTransition, "It is retired, which cannot be undone."));
    }
    if before.row.processor != profile.processor {
        let message = format!("The TPN's processor is {}.", before.row.processor);
        return Err(refusal("tpnProcessor.processorName", Code::ConflictingField, message));
    }
    let tpn_bin = profile.tpn_bin.or_else(|| before.row.tpn_bin.clone());
    if tpn_bin.is_none() && Processor::needs_tpn_bin(&profile.processor) {
        let mut issues = Issues::default();
        issues.add("tpnProcessor.profile[0].tpnBin", IssueKind::Missing);
        return Err(issues.into());
    }
    Ok(ProfileRow { tpn_bin, ..profile })
}

/// Stores changed profiles, and takes the step that their health asks for.
fn settle(
    conn: &mut dyn db::Conn,
    before: &TpnRecord,
    after: TpnRecord,
    action: &Action,
) -> Outcome<TpnRecord> {
    let failed = after.profiles.iter().any(|profile| profile.status == ProfileStatus::Failed);
    let step = match (failed, TpnStatus::from_name(&before.row.status)) {
        (true, Some(TpnStatus::Provisioned | TpnStatus::Active)) => Some("fail"),
        (false, Some(TpnStatus::Attention)) if all_verified(&after) => Some("recover"),
        _ => None,
    };
    if let Some(step) = step {
        return take_step(conn, before, after, &action.then(step, &["tpnProcessor"]));
    }
    let action = action.then(action.name, &["tpnProcessor"]);
    Ok(record_change(conn, before, after, event_kinds::TPN_UPDATED, &action)?)
}

fn all_verified(record: &TpnRecord) -> bool {
    record.profiles.iter().all(|profile| profile.status == ProfileStatus::Verified)
}

/// Report whether the processor took the credentials of an account.
///
/// A refusal brings the TPN to attention; when all accounts are verified, it is at work again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileVerify {
    /// The TPN number.
    tpn: Tpn,
    /// 01 with fee, 02 without fee.
    profile_id: String,
    /// Whether the processor took them.
    verified: bool,
}

impl Endpoint<Cx> for ProfileVerify {
    const ROUTE: Route =
        Route::post("/v1/tpns/{tpn}/profiles/{profileId}/verify").scope(Scope::CredentialsWrite);
    type Reply = TpnView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<TpnView>, Failure> {
        let caller = cx.caller()?.clone();
        let action = Action::of(cx, "verify_profile")?;
        perform(cx, move |conn| {
            let before: TpnRecord = load(conn, caller.iso_id(), self.tpn.as_str())?;
            let mut after = before.clone();
            let profile =
                after.profiles.iter_mut().find(|profile| profile.profile_id == self.profile_id);
            let profile = profile.ok_or_else(object_not_found)?;
            if before.row.status == TpnStatus::Retired {
                let message = "It is retired, which cannot be undone.";
                return Err(refusal("", Code::IllegalTransition, message));
            }
            let status =
                if self.verified { ProfileStatus::Verified } else { ProfileStatus::Failed };
            status.name().clone_into(&mut profile.status);
            let after = settle(conn, &before, after, &action)?;
            Ok(after.answer(conn, &caller)?)
        })
        .await
    }
}

/// Reveal the credentials of a processor account.
///
/// That it was asked for is an event, and is noted in the audit log.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileReveal {
    /// The TPN number.
    tpn: Tpn,
    /// 01 with fee, 02 without fee.
    profile_id: String,
    /// What they are needed for.
    reason: StatusReason,
}

/// The credentials of a processor account.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CredentialsView {
    /// The TPN number.
    tpn: Tpn,
    /// 01 with fee, 02 without fee.
    profile_id: String,
    /// The credentials, by their published names; null in the answer to a repetition.
    credentials: Option<Map<String, Value>>,
}

impl Endpoint<Cx> for ProfileReveal {
    const ROUTE: Route =
        Route::post("/v1/tpns/{tpn}/profiles/{profileId}/reveal").scope(Scope::CredentialsReveal);
    type Reply = CredentialsView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<CredentialsView>, Failure> {
        let caller = cx.caller()?.clone();
        let action = Action::of(cx, "reveal_credentials")?.because(Some(self.reason));
        perform_once_shown(cx, &["credentials"], move |conn| {
            let record: TpnRecord = load(conn, caller.iso_id(), self.tpn.as_str())?;
            let profile =
                record.profiles.iter().find(|profile| profile.profile_id == self.profile_id);
            let profile = profile.ok_or_else(object_not_found)?;
            if profile.sealed.is_empty() {
                let message = "The credentials were deleted.";
                return Err(refusal("", Code::IllegalTransition, message));
            }
            let id = credentials_id(&self.tpn, &self.profile_id);
            let plain = caller.data_key().open(&credentials_aad(&id), &profile.sealed)?;
            let credentials: Map<String, Value> =
                serde_json::from_slice(plain.expose()).map_err(|error| {
                    Error::internal("stored credentials cannot be read").because(error)
                })?;
            announce(conn, &record, event_kinds::TPN_CREDENTIALS_REVEALED, &action)?;
            let (tpn, profile_id) = (self.tpn.clone(), self.profile_id.clone());
            Ok(Answer::new(CredentialsView { tpn, profile_id, credentials: Some(credentials) }))
        })
        .await
    }
}
