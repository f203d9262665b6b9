//! The credentials of a processor account: sealed, and comparable by a blind index.

use serde_json::{Map, Value};
use store::tpn::ProfileRow;
use types::{IsoId, Result, Secret, Tpn};
use vault::{Aad, Vault};

use crate::Cx;
use crate::lifecycle::ProfileStatus;
use crate::terminals::processors::{Processor, Profile};

/// The row of a profile that was just sent, its credentials sealed.
pub(crate) fn profile_row(
    cx: &Cx,
    profile: &dyn Profile,
    processor: &str,
    shared_bin: Option<&str>,
    tpn: &Tpn,
) -> Result<ProfileRow> {
    let caller = cx.caller()?;
    let identifiers = profile.identifiers();
    let secrets = profile.secrets();
    let id = credentials_id(tpn, profile.profile_id());
    let plain = Secret::new(credentials_json(&secrets));
    let sealed = caller.data_key().seal(&credentials_aad(&id), plain.expose().as_bytes())?;
    let values = identity_values(processor, &identifiers, &secrets);
    let vault = &cx.platform.vault;
    Ok(ProfileRow {
        iso_id: caller.iso_id().clone(),
        tpn: tpn.clone(),
        profile_id: profile.profile_id().to_owned(),
        processor: processor.to_owned(),
        status: ProfileStatus::Unverified.name().to_owned(),
        tpn_bin: profile.tpn_bin().or(shared_bin).map(str::to_owned),
        mid: identifiers.get("Mid").and_then(Value::as_str).map(str::to_owned),
        identity_index: identity_index(vault, caller.iso_id(), processor, &values),
        identifiers: Value::Object(identifiers).to_string(),
        sealed,
        created: cx.now,
    })
}

pub(crate) fn credentials_id(tpn: &Tpn, profile_id: &str) -> String {
    format!("{tpn}/{profile_id}")
}

/// Where the credentials of a profile are sealed.
pub(crate) fn credentials_aad(id: &str) -> Aad<'_> {
    Aad { kind: "profile", id, column: "sealed" }
}

fn credentials_json(secrets: &[(&'static str, &Secret<String>)]) -> String {
    let fields = secrets
        .iter()
        .map(|(name, secret)| ((*name).to_owned(), Value::from(secret.expose().as_str())));
    Value::Object(fields.collect()).to_string()
}

fn identity_values<'a>(
    processor: &str,
    identifiers: &'a Map<String, Value>,
    secrets: &[(&'static str, &'a Secret<String>)],
) -> Vec<&'a str> {
    let secret = |field: &str| {
        let found = secrets.iter().find(|(name, _)| *name == field);
        found.map(|(_, secret)| secret.expose().as_str())
    };
    let fields = Processor::identity_fields(processor).iter();
    fields
        .filter_map(|field| identifiers.get(*field).and_then(Value::as_str).or(secret(field)))
        .collect()
}

/// Equal for equal accounts of one ISO, and unreadable.
pub(crate) fn identity_index(
    vault: &Vault,
    iso_id: &IsoId,
    processor: &str,
    values: &[&str],
) -> Vec<u8> {
    let joined = Secret::new(format!("{processor}\u{1f}{}", values.join("\u{1f}")));
    vault.blind_index(iso_id, "profile", joined.expose()).to_vec()
}
