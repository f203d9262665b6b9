//! Changing merchants, stores and TPNs. A change names the version that it is based on.
//!
//! Null, blanks and absence mean the same everywhere in this interface, so a field that is left out
//! stays as it is, and `clear` names the optional fields to empty.

use contract::{Answer, Draft, Endpoint, Failure, Fault, Issues, Route};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use store::merchant::{MerchantRow, StoreRow};
use store::{Conn, merchant, template};
use types::{MerchantId, Result, Scope, StoreId, Tpn};

use crate::change::{Basis, Record, TpnRecord, Wish, load, record_change};
use crate::fields::{
    AddressLine, Dba, DefaultLabel, DeviceManufacturer, DeviceModel, Ebt, Email, ExternalReference,
    FirstName, IsdCode, IsoAgentReference, IsoMerchant, LastName, LogoUrl, MccCode,
    MerchantOptional, Metadata, PhoneNumber, StoreOptional, TemplateName, TpnOptional, ZipCode,
};
use crate::lifecycle::transition::take_step;
use crate::merchants::views::{Contact, MerchantView, Shown, StoreView, TpnView};
use crate::onboard::{email_key, place_of};
use crate::perform::{Verdict, accept, perform, refusal};
use crate::terminals::models;
use crate::terminals::parameters::{self, Parameters};
use crate::{Caller, Code, Cx, text};

/// A patch: these fields, and those that all patches share.
macro_rules! patches {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident, $optional:ty {
            $($(#[doc = $field_doc:literal])* $(#[serde($($serde:tt)*)])? $field:ident: $type:ty,)*
        }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[doc = $field_doc])* $(#[serde($($serde)*)])? $field: $type,)*
            external_reference: Option<ExternalReference>,
            metadata: Option<Metadata>,
            /// Optional fields to empty.
            #[serde(default)]
            #[schemars(length(max = 20))]
            clear: Vec<$optional>,
            /// The version that the change is based on; instead of `If-Match`.
            expected_version: Option<i64>,
        }
    )*};
}

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
    /// Change a TPN.
    ///
    /// Only what is sent changes. `tpnAssignTemplate` gives the TPN the newest version of that
    /// template, or the one that `templateVersion` names.
    TpnPatch, TpnOptional {
        /// The TPN number.
        tpn: Tpn,
        device_manufacturer: Option<DeviceManufacturer>,
        device_model: Option<DeviceModel>,
        tpn_assign_template: Option<TemplateName>,
        /// Version of the template to give to the TPN.
        template_version: Option<i64>,
        default_label: Option<DefaultLabel>,
        /// The parameters that the TPN has for itself, in the place of those that it had.
        parameters: Option<Parameters>,
    }
}

/// Notes what really changes.
struct Edit {
    clear: Vec<String>,
    changed: Vec<&'static str>,
}

impl Edit {
    fn value<T: PartialEq>(&mut self, name: &'static str, target: &mut T, new: Option<T>) {
        if let Some(new) = new.filter(|new| new != target) {
            *target = new;
            self.changed.push(name);
        }
    }

    fn optional<T: PartialEq>(
        &mut self,
        name: &'static str,
        target: &mut Option<T>,
        new: Option<T>,
    ) {
        let cleared = self.clear.iter().any(|cleared| cleared == name);
        if new.is_some() || cleared {
            self.value(name, target, Some(new));
        }
    }
}

/// The fields of a person and of a place, which merchants and stores share.
macro_rules! edit_face {
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
        let place = place_of(&row.zip);
        row.city = place.city.to_owned();
        row.state = place.state.to_owned();
    }};
}

/// The fields that all objects share.
macro_rules! edit_notes {
    ($edit:expr, $patch:expr, $row:expr) => {{
        let reference = text_of($patch.external_reference.as_ref());
        $edit.optional("externalReference", &mut $row.external_reference, reference);
        let metadata = $patch.metadata.as_ref().and_then(Metadata::to_json);
        $edit.optional("metadata", &mut $row.metadata, metadata);
    }};
}

trait Text {
    fn text(&self) -> String;
}

macro_rules! texts {
    ($($kind:ty),*) => {$(
        impl Text for $kind {
            fn text(&self) -> String {
                self.as_str().to_owned()
            }
        }
    )*};
}
texts!(
    FirstName,
    LastName,
    Email,
    AddressLine,
    ZipCode,
    PhoneNumber,
    IsdCode,
    Ebt,
    IsoAgentReference,
    IsoMerchant,
    LogoUrl,
    MccCode,
    ExternalReference,
    DefaultLabel,
    DeviceManufacturer,
    DeviceModel
);

fn text_of(field: Option<&impl Text>) -> Option<String> {
    field.map(Text::text)
}

fn index(cx_vault: &vault::Vault, caller: &Caller, kind: &str, value: &str) -> Vec<u8> {
    cx_vault.blind_index(caller.iso_id(), kind, value).to_vec()
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

fn refuse_final<R: Record>(record: &R) -> std::result::Result<(), Issues> {
    if !R::MACHINE.is_final(record.status()) {
        return Ok(());
    }
    let message = format!("It is {}, which is final.", record.status());
    Err(refusal("", Code::IllegalTransition, message))
}

/// What every patch needs beside its fields.
#[derive(Clone)]
struct Desk {
    caller: Caller,
    vault: std::sync::Arc<vault::Vault>,
    basis: Basis,
    unique_email: bool,
    wish: Wish,
}

impl Desk {
    fn new(cx: &Cx, expected_version: Option<i64>) -> Result<Self> {
        Ok(Self {
            caller: cx.caller()?.clone(),
            vault: std::sync::Arc::clone(&cx.platform.vault),
            basis: Basis::of(cx, expected_version),
            unique_email: cx.platform.settings.unique_email,
            wish: Wish::of(cx, "update")?,
        })
    }

    /// The object to change, if it may be changed from this version.
    fn open<R: Record>(&self, conn: &mut dyn Conn, id: &str) -> Verdict<R> {
        let before: R = load(conn, self.caller.iso_id(), id)?;
        accept!(self.basis.check(before.version()));
        accept!(refuse_final(&before));
        Ok(Ok(before))
    }

    /// Stores what changed; nothing changes if nothing differs.
    fn close<R: Shown>(
        &self,
        conn: &mut dyn Conn,
        before: &R,
        after: R,
        edit: Edit,
        event: &'static str,
    ) -> Verdict<Answer<R::View>> {
        let stored = if edit.changed.is_empty() {
            before.clone()
        } else {
            let wish = self.wish.then("update", &edit.changed);
            record_change(conn, before, after, event, &wish)?
        };
        Ok(Ok(stored.answer(conn, &self.caller)?))
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
        let desk = Desk::new(cx, self.expected_version)?;
        perform(cx, move |conn| self.apply(conn, &desk)).await
    }
}

impl MerchantPatch {
    fn apply(&self, conn: &mut dyn Conn, desk: &Desk) -> Verdict<Answer<MerchantView>> {
        let before: MerchantRow = accept!(desk.open(conn, self.merchant_id.as_str())?);
        let (mut after, data_key) = (before.clone(), desk.caller.data_key());
        let mut contact = Contact::of_merchant(data_key, &before)?;
        let clear = self.clear.iter().map(|name| name.as_str().to_owned()).collect();
        let mut edit = Edit { clear, changed: Vec::new() };
        edit_face!(&mut edit, self, &mut after, &mut contact);
        let agent = text_of(self.iso_agent_reference.as_ref());
        edit.optional("isoAgentReference", &mut after.iso_agent_reference, agent);
        edit.optional("isoMerchant", &mut after.iso_merchant, text_of(self.iso_merchant.as_ref()));
        edit.optional(
            "merchantLogoUrl",
            &mut after.logo_url,
            text_of(self.merchant_logo_url.as_ref()),
        );
        edit_notes!(edit, self, after);
        after.email_index = index(&desk.vault, &desk.caller, "email", &email_key(&contact.email));
        after.phone_index = index(&desk.vault, &desk.caller, "phone", &contact.phone_number);
        after.sealed = contact.seal(data_key, "merchant", after.merchant_id.as_str())?;
        accept!(check_merchant_is_unique(conn, desk, &before, &after)?);
        let answered = answered_requirements(&before, &edit.changed)?;
        after.requirements.clone_from(&answered);
        if before.status == "action_required" && answered.is_none() {
            let wish = desk.wish.then("complete", &edit.changed);
            let stored = accept!(take_step(conn, &before, after, &wish)?);
            return Ok(Ok(stored.answer(conn, &desk.caller)?));
        }
        desk.close(conn, &before, after, edit, "merchant.updated")
    }
}

/// What is still asked for after these fields were sent.
fn answered_requirements(before: &MerchantRow, changed: &[&str]) -> Result<Option<String>> {
    let mut open = crate::merchants::requirements::asked_for(before)?;
    open.retain(|field| !changed.contains(&field.as_str()));
    Ok((!open.is_empty()).then(|| Value::from(open).to_string()))
}

fn check_merchant_is_unique(
    conn: &mut dyn Conn,
    desk: &Desk,
    before: &MerchantRow,
    after: &MerchantRow,
) -> Verdict<()> {
    let iso_id = desk.caller.iso_id();
    if after.dba_key != before.dba_key
        && merchant::by_dba(conn, iso_id, &after.dba_key)?.is_some_and(|id| id != after.merchant_id)
    {
        return Ok(Err(refusal("dba", Code::AlreadyExists, "This dba exists already.")));
    }
    if desk.unique_email
        && after.email_index != before.email_index
        && merchant::by_email(conn, iso_id, &after.email_index)?.is_some()
    {
        let message = "A merchant with this e-mail address exists already.";
        return Ok(Err(refusal("email", Code::AlreadyExists, message)));
    }
    Ok(Ok(()))
}

impl Endpoint<Cx> for StorePatch {
    const ROUTE: Route = Route::patch("/v1/stores/{storeId}").scope(Scope::StoresWrite);
    type Reply = StoreView;

    async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
        check_names(draft, cx);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<StoreView>, Failure> {
        let desk = Desk::new(cx, self.expected_version)?;
        perform(cx, move |conn| self.apply(conn, &desk)).await
    }
}

impl StorePatch {
    fn apply(&self, conn: &mut dyn Conn, desk: &Desk) -> Verdict<Answer<StoreView>> {
        let before: StoreRow = accept!(desk.open(conn, self.store_id.as_str())?);
        let (mut after, data_key) = (before.clone(), desk.caller.data_key());
        let id = before.store_id.as_str();
        let mut contact = Contact::open(data_key, "store", id, &before.sealed)?;
        let clear = self.clear.iter().map(|name| name.as_str().to_owned()).collect();
        let mut edit = Edit { clear, changed: Vec::new() };
        edit.value("mccCode", &mut after.mcc, text_of(self.mcc_code.as_ref()));
        edit_face!(&mut edit, self, &mut after, &mut contact);
        edit_notes!(edit, self, after);
        after.email_index = index(&desk.vault, &desk.caller, "email", &email_key(&contact.email));
        after.phone_index = index(&desk.vault, &desk.caller, "phone", &contact.phone_number);
        after.sealed = contact.seal(data_key, "store", id)?;
        let taken = after.dba_key != before.dba_key
            && merchant::store_by_dba(conn, &before.iso_id, &after.dba_key)?
                .is_some_and(|other| other != after.store_id);
        if taken {
            return Ok(Err(refusal("dba", Code::AlreadyExists, "This dba exists already.")));
        }
        desk.close(conn, &before, after, edit, "store.updated")
    }
}

impl Endpoint<Cx> for TpnPatch {
    const ROUTE: Route = Route::patch("/v1/tpns/{tpn}").scope(Scope::TpnsWrite);
    type Reply = TpnView;

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        parameters::check(draft);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<TpnView>, Failure> {
        let desk = Desk::new(cx, self.expected_version)?;
        perform(cx, move |conn| self.apply(conn, &desk)).await
    }
}

impl TpnPatch {
    fn apply(&self, conn: &mut dyn Conn, desk: &Desk) -> Verdict<Answer<TpnView>> {
        let before: TpnRecord = accept!(desk.open(conn, self.tpn.as_str())?);
        let mut record = before.clone();
        let after = &mut record.row;
        let clear = self.clear.iter().map(|name| name.as_str().to_owned()).collect();
        let mut edit = Edit { clear, changed: Vec::new() };
        let manufacturer = text_of(self.device_manufacturer.as_ref());
        edit.value("deviceManufacturer", &mut after.device_manufacturer, manufacturer);
        edit.value("deviceModel", &mut after.device_model, text_of(self.device_model.as_ref()));
        if !models::is_made_by(&after.device_model, &after.device_manufacturer) {
            let message = "The manufacturer does not make this model.";
            return Ok(Err(refusal("deviceModel", Code::InvalidDeviceModel, message)));
        }
        let template = accept!(self.template(conn, &before)?);
        edit.optional("tpnAssignTemplate", &mut after.template, template);
        edit.optional(
            "defaultLabel",
            &mut after.default_label,
            text_of(self.default_label.as_ref()),
        );
        let parameters = self.parameters.as_ref().map(Parameters::to_json);
        edit.optional("parameters", &mut after.parameters, parameters);
        edit_notes!(edit, self, after);
        desk.close(conn, &before, record, edit, "tpn.updated")
    }

    /// The template and version to give to the TPN, if one is named.
    fn template(
        &self,
        conn: &mut dyn Conn,
        before: &TpnRecord,
    ) -> Verdict<Option<(types::TemplateId, i64)>> {
        let iso_id = before.iso_id();
        let assigned = match &self.tpn_assign_template {
            Some(name) => template::find(conn, iso_id, name.as_str())?,
            None if self.template_version.is_some() => before.row.template.clone(),
            None => return Ok(Ok(None)),
        };
        let Some((id, newest)) = assigned else {
            let message = "There is no template of this name.";
            return Ok(Err(refusal("tpnAssignTemplate", Code::TemplateNotFound, message)));
        };
        let version = self.template_version.unwrap_or(newest);
        if template::version_parameters(conn, iso_id, &id, version)?.is_none() {
            let message = "The template has no such version.";
            return Ok(Err(refusal("templateVersion", Code::InvalidValue, message)));
        }
        Ok(Ok(Some((id, version))))
    }
}
