//! Changing merchants and stores.

use contract::{Answer, Draft, Endpoint, Failure, Fault, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use types::{MerchantId, Result, Scope, StoreId};
use vault::Vault;

use super::contact::{Contact, city_of};
use super::requirements::asked_for;
use super::views::{MerchantView, StoreView};
use crate::change::Viewed as _;
use crate::codes::refusal;
use crate::fields::{
    AddressLine, Dba, Ebt, Email, ExternalReference, FirstName, IsdCode, IsoAgentReference,
    IsoMerchant, LastName, LogoUrl, MccCode, MerchantOptional, Metadata, PhoneNumber,
    StoreOptional, ZipCode,
};
use crate::lifecycle::MerchantStatus;
use crate::patch::{Edit, Patcher, edit_notes, patches, text_of};
use crate::perform::{Outcome, perform};
use crate::rows::merchant;
use crate::rows::merchant::{MerchantRow, StoreRow};
use crate::transition::take_step;
use crate::{Caller, Code, Cx, text};

patches! {
    /// Change a merchant.
    ///
    /// Only what is sent changes. A merchant of whom data were asked goes back into review when the
    /// last of them is sent.
    MerchantPatch, MerchantOptional {
        /// Id of the merchant.
        merchant_id: MerchantId,
        dba: Option<Dba>,
        first_name: Option<FirstName>,
        last_name: Option<LastName>,
        email: Option<Email>,
        address_line1: Option<AddressLine>,
        address_line2: Option<AddressLine>,
        zip_code: Option<ZipCode>,
        phone_number: Option<PhoneNumber>,
        ebt: Option<Ebt>,
        iso_agent_reference: Option<IsoAgentReference>,
        iso_merchant: Option<IsoMerchant>,
        merchant_logo_url: Option<LogoUrl>,
        #[serde(rename = "ISDcode")]
        isd_code: Option<IsdCode>,
    }
    /// Change a store.
    ///
    /// Only what is sent changes.
    StorePatch, StoreOptional {
        /// Id of the store.
        store_id: StoreId,
        mcc_code: Option<MccCode>,
        first_name: Option<FirstName>,
        last_name: Option<LastName>,
        dba: Option<Dba>,
        address_line1: Option<AddressLine>,
        address_line2: Option<AddressLine>,
        zip_code: Option<ZipCode>,
        email: Option<Email>,
        phone_number: Option<PhoneNumber>,
        #[serde(rename = "ISDcode")]
        isd_code: Option<IsdCode>,
        ebt: Option<Ebt>,
    }
}

/// The fields of a person and of a place, which merchants and stores share.
macro_rules! edit_contact {
    ($edit:expr, $patch:expr, $row:expr, $contact:expr) => {{
        let (edit, patch, row, contact) = ($edit, $patch, $row, $contact);
        let dba = patch.dba.clone().map(Dba::into_string);
        if let Some(dba) = dba.as_deref().filter(|dba| *dba != row.dba) {
            row.dba_key = text::dba_key(dba);
        }
        edit.value("dba", &mut row.dba, dba);
        edit.value("firstName", &mut contact.first_name, text_of(patch.first_name.as_ref()));
        edit.optional("lastName", &mut contact.last_name, text_of(patch.last_name.as_ref()));
        edit.value("email", &mut contact.email, text_of(patch.email.as_ref()));
        edit.value(
            "addressLine1",
            &mut contact.address_line1,
            text_of(patch.address_line1.as_ref()),
        );
        edit.optional(
            "addressLine2",
            &mut contact.address_line2,
            text_of(patch.address_line2.as_ref()),
        );
        edit.value("zipCode", &mut row.zip, text_of(patch.zip_code.as_ref()));
        edit.value("phoneNumber", &mut contact.phone_number, text_of(patch.phone_number.as_ref()));
        edit.value("ISDcode", &mut contact.isd_code, text_of(patch.isd_code.as_ref()));
        edit.optional("ebt", &mut row.ebt, text_of(patch.ebt.as_ref()));
        let city = city_of(&row.zip);
        row.city = city.city.to_owned();
        row.state = city.state.to_owned();
    }};
}

fn index(vault: &Vault, caller: &Caller, kind: &str, value: &str) -> Vec<u8> {
    vault.blind_index(caller.iso_id(), kind, value).to_vec()
}

/// Refuses names with other letters than A to Z where the operator wants that.
fn check_names(draft: &mut Draft<'_>, cx: &Cx) {
    for name in ["firstName", "lastName"] {
        let value = draft.params.get(name).and_then(Value::as_str);
        if cx.platform.settings.strict_names
            && value.is_some_and(|value| !text::is_name_strict(value))
        {
            draft.issues.add(name, Fault::Format { expected: "letters A to Z".to_owned() });
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
        edit_contact!(&mut edit, self, &mut after, &mut contact);
        let agent = text_of(self.iso_agent_reference.as_ref());
        edit.optional("isoAgentReference", &mut after.iso_agent_reference, agent);
        edit.optional("isoMerchant", &mut after.iso_merchant, text_of(self.iso_merchant.as_ref()));
        edit.optional(
            "merchantLogoUrl",
            &mut after.logo_url,
            text_of(self.merchant_logo_url.as_ref()),
        );
        edit_notes!(edit, self, after);
        after.email_index =
            index(&patcher.vault, &patcher.caller, "email", &text::email_key(&contact.email));
        after.phone_index = index(&patcher.vault, &patcher.caller, "phone", &contact.phone_number);
        after.sealed = contact.seal(data_key, "merchant", after.merchant_id.as_str())?;
        check_merchant_is_unique(conn, patcher, &before, &after)?;
        let answered = answered_requirements(&before, &edit.changed)?;
        after.requirements.clone_from(&answered);
        if before.status == MerchantStatus::ActionRequired && answered.is_none() {
            let action = patcher.action.then("complete", &edit.changed);
            let stored = take_step(conn, &before, after, &action)?;
            return Ok(stored.answer(conn, &patcher.caller)?);
        }
        patcher.close(conn, &before, after, edit, "merchant.updated")
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
        edit.value("mccCode", &mut after.mcc, text_of(self.mcc_code.as_ref()));
        edit_contact!(&mut edit, self, &mut after, &mut contact);
        edit_notes!(edit, self, after);
        after.email_index =
            index(&patcher.vault, &patcher.caller, "email", &text::email_key(&contact.email));
        after.phone_index = index(&patcher.vault, &patcher.caller, "phone", &contact.phone_number);
        after.sealed = contact.seal(data_key, "store", id)?;
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
        patcher.close(conn, &before, after, edit, "store.updated")
    }
}
