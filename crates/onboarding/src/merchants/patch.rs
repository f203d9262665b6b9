//! Changing merchants and stores.

use contract::{Answer, Draft, Endpoint, Failure, IssueKind, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use types::{MerchantId, Result, Scope, StoreId};

use super::details::{
    Contact, MerchantChanges, MerchantOptional, Sealer, StoreChanges, StoreOptional,
};
use super::requirements::asked_for;
use super::views::{MerchantView, StoreView};
use crate::change::Viewed as _;
use crate::codes::refusal;
use crate::event_kinds;
use crate::fields::{ExternalReference, Metadata};
use crate::lifecycle::MerchantStatus;
use crate::patch::{Edit, Patcher, edit_notes, patches, text_of};
use crate::perform::{Outcome, perform};
use crate::rows::merchant;
use crate::rows::merchant::{MerchantRow, StoreRow};
use crate::transition::take_step;
use crate::{Code, Cx, text};

patches! {
    /// Change a merchant.
    ///
    /// Only what is sent changes. A merchant of whom data were asked goes back into review when the
    /// last of them is sent.
    MerchantPatch, MerchantOptional {
        /// Id of the merchant.
        merchant_id: MerchantId,
        #[serde(flatten)]
        details: MerchantChanges,
    }
    /// Change a store.
    ///
    /// Only what is sent changes.
    StorePatch, StoreOptional {
        /// Id of the store.
        store_id: StoreId,
        #[serde(flatten)]
        details: StoreChanges,
    }
}

/// Refuses names with other letters than A to Z where the operator wants that.
fn check_names(draft: &mut Draft<'_>, cx: &Cx) {
    for name in ["firstName", "lastName"] {
        let value = draft.params.get(name).and_then(Value::as_str);
        if cx.platform.settings.strict_names
            && value.is_some_and(|value| !text::is_name_strict(value))
        {
            draft.issues.add(name, IssueKind::Format { expected: "letters A to Z".to_owned() });
        }
    }
}

impl Endpoint<Cx> for MerchantPatch {
    const ROUTE: Route = Route::patch("/v1/merchants/{merchantId}").scope(Scope::MerchantsWrite);
    type Reply = MerchantView;

    async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
        check_names(draft, cx);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<MerchantView>, Failure> {
        let patcher = Patcher::new(cx, self.expected_version)?;
        perform(cx, move |conn| self.apply(conn, &patcher)).await
    }
}

impl MerchantPatch {
    fn apply(&self, conn: &mut dyn Conn, patcher: &Patcher) -> Outcome<Answer<MerchantView>> {
        let before: MerchantRow = patcher.open(conn, self.merchant_id.as_str())?;
        let (mut after, data_key) = (before.clone(), patcher.caller.data_key());
        let mut contact = Contact::of_merchant(data_key, &before)?;
        let mut edit = Edit::new(self.clear.iter().map(AsRef::as_ref));
        self.details.edit(&mut edit, &mut after, &mut contact);
        edit_notes!(edit, self, after);
        let sealer = Sealer { vault: &patcher.vault, data_key };
        after.complete(&contact, &sealer)?;
        check_merchant_is_unique(conn, patcher, &before, &after)?;
        let answered = answered_requirements(&before, &edit.changed)?;
        after.requirements.clone_from(&answered);
        if before.status == MerchantStatus::ActionRequired && answered.is_none() {
            let action = patcher.action.then("complete", &edit.changed);
            let stored = take_step(conn, &before, after, &action)?;
            return Ok(stored.answer(conn, &patcher.caller)?);
        }
        patcher.close(conn, &before, after, edit, event_kinds::MERCHANT_UPDATED)
    }
}

/// What is still asked for after these fields were sent.
fn answered_requirements(before: &MerchantRow, changed: &[&str]) -> Result<Option<String>> {
    let mut open = asked_for(before)?;
    open.retain(|field| !changed.contains(&field.as_str()));
    Ok((!open.is_empty()).then(|| Value::from(open).to_string()))
}

fn check_merchant_is_unique(
    conn: &mut dyn Conn,
    patcher: &Patcher,
    before: &MerchantRow,
    after: &MerchantRow,
) -> Outcome<()> {
    let iso_id = patcher.caller.iso_id();
    if after.dba_key != before.dba_key
        && merchant::by_dba(conn, iso_id, &after.dba_key)?.is_some_and(|id| id != after.merchant_id)
    {
        return Err(refusal("dba", Code::AlreadyExists, "This trading name is already in use."));
    }
    if patcher.unique_email
        && after.email_index != before.email_index
        && merchant::by_email(conn, iso_id, &after.email_index)?.is_some()
    {
        let message = "A merchant with this e-mail address already exists.";
        return Err(refusal("email", Code::AlreadyExists, message));
    }
    Ok(())
}

impl Endpoint<Cx> for StorePatch {
    const ROUTE: Route = Route::patch("/v1/stores/{storeId}").scope(Scope::StoresWrite);
    type Reply = StoreView;

    async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
        check_names(draft, cx);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<StoreView>, Failure> {
        let patcher = Patcher::new(cx, self.expected_version)?;
        perform(cx, move |conn| self.apply(conn, &patcher)).await
    }
}

impl StorePatch {
    fn apply(&self, conn: &mut dyn Conn, patcher: &Patcher) -> Outcome<Answer<StoreView>> {
        let before: StoreRow = patcher.open(conn, self.store_id.as_str())?;
        let (mut after, data_key) = (before.clone(), patcher.caller.data_key());
        let id = before.store_id.as_str();
        let mut contact = Contact::open(data_key, "store", id, &before.sealed)?;
        let mut edit = Edit::new(self.clear.iter().map(AsRef::as_ref));
        self.details.edit(&mut edit, &mut after, &mut contact);
        edit_notes!(edit, self, after);
        let sealer = Sealer { vault: &patcher.vault, data_key };
        after.complete(&contact, &sealer)?;
        let taken = after.dba_key != before.dba_key
            && merchant::store_by_dba(conn, &before.iso_id, &after.dba_key)?
                .is_some_and(|other| other != after.store_id);
        if taken {
            return Err(refusal(
                "dba",
                Code::AlreadyExists,
                "This trading name is already in use.",
            ));
        }
        patcher.close(conn, &before, after, edit, event_kinds::STORE_UPDATED)
    }
}
