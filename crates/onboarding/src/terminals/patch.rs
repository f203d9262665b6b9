//! Changing TPNs, based on a version that the caller names.

use contract::{Answer, Draft, Endpoint, Failure, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Result, Scope, TemplateId, Tpn};

use super::parameters::{self, Parameters};
use super::views::TpnView;
use crate::change::{Record as _, TpnRecord};
use crate::codes::refusal;
use crate::device_models;
use crate::event_kinds;
use crate::fields::{
    DefaultLabel, DeviceManufacturer, DeviceModel, ExternalReference, Metadata, TemplateName,
    TpnOptional,
};
use crate::patch::{Edit, Patcher, edit_notes, patches, text_of};
use crate::perform::{Outcome, perform};
use crate::rows::template;
use crate::{Code, Cx};

patches! {
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

impl Endpoint<Cx> for TpnPatch {
    const ROUTE: Route = Route::patch("/v1/tpns/{tpn}").scope(Scope::TpnsWrite);
    type Reply = TpnView;

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        parameters::check(draft);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<TpnView>, Failure> {
        let patcher = Patcher::new(cx, self.expected_version)?;
        perform(cx, move |conn| self.apply(conn, &patcher)).await
    }
}

impl TpnPatch {
    fn apply(&self, conn: &mut dyn Conn, patcher: &Patcher) -> Outcome<Answer<TpnView>> {
        let before: TpnRecord = patcher.open(conn, self.tpn.as_str())?;
        let mut record = before.clone();
        let after = &mut record.row;
        let mut edit = Edit::new(self.clear.iter().map(AsRef::as_ref));
        let manufacturer = text_of(self.device_manufacturer.as_ref());
        edit.value("deviceManufacturer", &mut after.device_manufacturer, manufacturer);
        edit.value("deviceModel", &mut after.device_model, text_of(self.device_model.as_ref()));
        if !device_models::is_made_by(&after.device_model, &after.device_manufacturer) {
            let message = "The manufacturer does not make this model.";
            return Err(refusal("deviceModel", Code::InvalidDeviceModel, message));
        }
        let template = self.template(conn, &before)?;
        edit.optional("tpnAssignTemplate", &mut after.template, template);
        edit.optional(
            "defaultLabel",
            &mut after.default_label,
            text_of(self.default_label.as_ref()),
        );
        let parameters = self.parameters.as_ref().map(Parameters::to_json);
        edit.optional("parameters", &mut after.parameters, parameters);
        edit_notes!(edit, self, after);
        patcher.close(conn, &before, record, edit, event_kinds::TPN_UPDATED)
    }

    /// The template and version to give to the TPN, if one is named.
    fn template(
        &self,
        conn: &mut dyn Conn,
        before: &TpnRecord,
    ) -> Outcome<Option<(TemplateId, i64)>> {
        let iso_id = before.iso_id();
        let assigned = match &self.tpn_assign_template {
            Some(name) => template::find(conn, iso_id, name.as_str())?,
            None if self.template_version.is_some() => before.row.template.clone(),
            None => return Ok(None),
        };
        let Some((id, newest)) = assigned else {
            let message = "Template not found.";
            return Err(refusal("tpnAssignTemplate", Code::TemplateNotFound, message));
        };
        let version = self.template_version.unwrap_or(newest);
        if template::version_parameters(conn, iso_id, &id, version)?.is_none() {
            let message = "Template version not found.";
            return Err(refusal("templateVersion", Code::InvalidValue, message));
        }
        Ok(Some((id, version)))
    }
}
