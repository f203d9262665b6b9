//! The rules between fields, which no schema of a single field can say.

use std::sync::LazyLock;

use contract::{Draft, IssueKind};
use serde_json::Value;

use crate::device_models;
use crate::merchants::details::{MerchantDetails, StoreDetails};
use crate::terminals::processors::Processor;
use crate::{Code, Settings, text};

const PROFILE: &str = "tpnData.tpnProcessor.profile";

pub(crate) fn check(draft: &mut Draft<'_>, settings: Settings) {
    if settings.strict_ids {
        check_ids_stand_alone(draft);
    }
    if settings.strict_fields {
        check_no_unknown_fields(draft);
    }
    if settings.strict_names {
        check_strict_names(draft);
    }
    check_device(draft);
    check_profile_ids(draft);
    check_tpn_bin(draft);
}

/// An id together with details of the same object is a mistake; ignoring the details would hide it.
fn check_ids_stand_alone(draft: &mut Draft<'_>) {
    if draft.ignored.is_empty() {
        return;
    }
    for (object, id, details) in OBJECTS.iter() {
        let by_id = draft.params.pointer(&format!("/{object}/{id}")).is_some();
        let prefix = format!("{object}.");
        let stands_beside = |name: &str| {
            if by_id { details.iter().any(|detail| detail == name) } else { name == *id }
        };
        let conflict = draft.ignored.iter().any(|ignored| {
            !ignored.blank && ignored.path.strip_prefix(&prefix).is_some_and(stands_beside)
        });
        if conflict {
            let message = if by_id || *object == "merchantData" {
                "Send either the id alone or the details without an id."
            } else {
                "A storeId requires the merchantId of its merchant."
            };
            let error = IssueKind::rule(Code::ConflictingField.name(), message);
            draft.issues.add(format!("{object}.{id}"), error);
        }
    }
}

/// The two objects that are given by their id or by their details, with the names of those.
static OBJECTS: LazyLock<[(&str, &str, Vec<String>); 2]> = LazyLock::new(|| {
    [
        ("merchantData", "merchantId", property_names::<MerchantDetails>()),
        ("storeData", "storeId", property_names::<StoreDetails>()),
    ]
});

fn property_names<T: schemars::JsonSchema>() -> Vec<String> {
    let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default()
}

fn check_no_unknown_fields(draft: &mut Draft<'_>) {
    if draft.ignored.is_empty() {
        return;
    }
    let objects = &*OBJECTS;
    for ignored in draft.ignored {
        // Details beside an id are in the published tables; whether they may stand there is the
        // question of `strict_ids`.
        let is_of_the_other_shape = objects.iter().any(|(object, id, details)| {
            let name = ignored.path.strip_prefix(object).and_then(|rest| rest.strip_prefix('.'));
            name.is_some_and(|name| name == *id || details.iter().any(|detail| detail == name))
        });
        if is_of_the_other_shape {
            continue;
        }
        let name = ignored.path.rsplit('.').next().unwrap_or_default();
        let in_profile = ignored.path.starts_with(PROFILE);
        let (code, message) = if in_profile && Processor::is_profile_field(name) {
            (Code::UnexpectedField, "This field belongs to another processor.")
        } else {
            (Code::UnknownField, "Unknown field.")
        };
        draft.issues.add(ignored.path.clone(), IssueKind::rule(code.name(), message));
    }
}

fn check_strict_names(draft: &mut Draft<'_>) {
    for path in [
        "merchantData.firstName",
        "merchantData.lastName",
        "storeData.firstName",
        "storeData.lastName",
    ] {
        let name = text_at(draft.params, path);
        if name.is_some_and(|name| !text::is_name_strict(name)) {
            draft.issues.add(path, IssueKind::Format { expected: "letters A to Z".to_owned() });
        }
    }
}

fn check_device(draft: &mut Draft<'_>) {
    let manufacturer = text_at(draft.params, "tpnData.deviceManufacturer");
    let model = text_at(draft.params, "tpnData.deviceModel");
    if let (Some(manufacturer), Some(model)) = (manufacturer, model)
        && !device_models::is_made_by(model, manufacturer)
    {
        let message = "The manufacturer does not make this model.";
        let error = IssueKind::rule(Code::InvalidDeviceModel.name(), message);
        draft.issues.add("tpnData.deviceModel", error);
    }
}

fn check_profile_ids(draft: &mut Draft<'_>) {
    let mut seen: Vec<&str> = Vec::new();
    for (index, profile) in profiles(draft.params).iter().enumerate() {
        let Some(id) = profile.get("profileId").and_then(Value::as_str) else { continue };
        if seen.contains(&id) {
            let message = "This profileId appears twice.";
            let error = IssueKind::rule(Code::DuplicateProfile.name(), message);
            draft.issues.add(format!("{PROFILE}[{index}].profileId"), error);
        }
        seen.push(id);
    }
}

/// The number may stand in tpnData or in the profiles; where both have it, they must agree.
fn check_tpn_bin(draft: &mut Draft<'_>) {
    const SHARED: &str = "tpnData.tpnBin";
    let shared = text_at(draft.params, SHARED);
    let processor = text_at(draft.params, "tpnData.tpnProcessor.processorName");
    let needed = processor.is_some_and(Processor::needs_tpn_bin);
    for (index, profile) in profiles(draft.params).iter().enumerate() {
        let path = format!("{PROFILE}[{index}].tpnBin");
        let own = profile.get("tpnBin").and_then(Value::as_str);
        match (shared, own) {
            (Some(shared), Some(own)) if shared != own => {
                let message = "It differs from tpnData.tpnBin.";
                draft.issues.add(path, IssueKind::rule(Code::ConflictingField.name(), message));
            }
            // A value that is there but malformed has its own issue already.
            (None, None) if needed && !draft.issues.has(&path) && profile.is_object() => {
                draft.issues.add(SHARED, IssueKind::Missing);
            }
            _ => {}
        }
    }
}

fn profiles(params: &Value) -> &[Value] {
    let list = params.pointer("/tpnData/tpnProcessor/profile").and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

fn text_at<'a>(params: &'a Value, path: &str) -> Option<&'a str> {
    path.split('.').try_fold(params, |value, name| value.get(name))?.as_str()
}
