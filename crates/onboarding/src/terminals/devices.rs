//! Devices: paired with a TPN by a one-time code, known by a token, given their parameters.
//!
//! A code or a token exists as text only once, in the answer that gives it; stored are hashes.

use std::time::Duration;

use contract::{Answer, Endpoint, Failure, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use types::{Error, IsoId, Result, Scope, Tpn};

use super::views::effective_status;
use crate::caller::DeviceCaller;
use crate::change::{Action, Basis, Record as _, TpnRecord, announce, json_object, load};
use crate::codes::refusal;
use crate::event_kinds;
use crate::fields::{SerialNumber, StatusReason, Word};
use crate::id_source::random_text;
use crate::lifecycle::{self, TpnStatus};
use crate::perform::{Outcome, errors_outside, perform, perform_once_shown};
use crate::rows::device::{self, DeviceRow, PairingCode};
use crate::rows::merchant;
use crate::rows::rollout::{self, RolloutState, RolloutTpnRow};
use crate::terminals::parameters::Effective;
use crate::transition::take_step;
use crate::{Code, Cx, Platform};

/// Characters of a pairing code.
const CODE_LENGTH: usize = 8;
/// Of these, the first ones by which a code is found, so that wrong tries of it can be counted.
const CODE_PREFIX_LENGTH: usize = 4;
/// Random characters of a device's token.
const TOKEN_LENGTH: usize = 40;
/// How precisely the last visit of a device is recorded.
const LAST_SEEN_PRECISION: Duration = Duration::from_mins(1);
/// The effective states in which a device is given its parameters.
pub(super) const AT_WORK: &[&str] = &[
    TpnStatus::Active.name(),
    TpnStatus::Provisioned.name(),
    TpnStatus::Reassigning.name(),
    TpnStatus::Attention.name(),
];

impl Platform {
    pub(crate) fn code_hash(&self, code: &str) -> Vec<u8> {
        let code = code.to_ascii_uppercase();
        self.vault.site_hash("device pairing code", &code, "").to_vec()
    }

    pub(crate) fn code_prefix_hash(&self, code: &str) -> Vec<u8> {
        let prefix: String = code.chars().take(CODE_PREFIX_LENGTH).collect();
        let prefix = prefix.to_ascii_uppercase();
        self.vault.site_hash("device pairing code prefix", &prefix, "").to_vec()
    }

    pub(crate) fn token_hash(&self, token: &str) -> Vec<u8> {
        self.vault.site_hash("device token", token, "").to_vec()
    }
}

const fn lifetime_default() -> i64 {
    24 * 60
}

/// A code by which one device can be paired, once.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PairingCodeView {
    /// The TPN number.
    tpn: Tpn,
    /// The code, shown only now; null in the answer to a repetition.
    code: Option<String>,
    /// Until when it can be used.
    expires: String,
}

/// Make a code by which a device can be paired with the TPN.
///
/// It works once, and no longer after ten wrong tries of it. The code that the TPN had before is
/// worth nothing any more.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairingCodeCreate {
    /// The TPN number.
    tpn: Tpn,
    /// Minutes for which the code can be used: an hour to 30 days.
    #[serde(default = "lifetime_default")]
    #[schemars(range(min = 60, max = 43_200))]
    lifetime_minutes: i64,
}

/// A fresh code with its row.
fn new_code(cx: &Cx, iso_id: &IsoId, tpn: &Tpn, minutes: i64) -> Result<(String, PairingCode)> {
    let code = random_text(CODE_LENGTH)?.to_ascii_uppercase();
    let minutes = u64::try_from(minutes).unwrap_or_default();
    let row = PairingCode {
        iso_id: iso_id.clone(),
        tpn: tpn.clone(),
        code_hash: cx.platform.code_hash(&code),
        created: cx.now,
        expires: cx.now.plus(Duration::from_mins(minutes)),
        prefix_hash: Some(cx.platform.code_prefix_hash(&code)),
        wrong_tries: 0,
    };
    Ok((code, row))
}

impl Endpoint<Cx> for PairingCodeCreate {
    const ROUTE: Route = Route::post("/v1/tpns/{tpn}/pairing-code").scope(Scope::TpnsWrite);
    type Reply = PairingCodeView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<PairingCodeView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let (code, row) = new_code(cx, &iso_id, &self.tpn, self.lifetime_minutes)?;
        let action = Action::of(cx, "make_pairing_code")?;
        perform_once_shown(cx, &["code"], move |conn| {
            let record: TpnRecord = load(conn, &iso_id, self.tpn.as_str())?;
            can_be_paired(conn, &record)?;
            device::pairing_put(conn, &row)?;
            announce(conn, &record, event_kinds::DEVICE_PAIRING_CODE_MADE, &action)?;
            let (tpn, expires) = (row.tpn.clone(), row.expires.to_string());
            Ok(Answer::new(PairingCodeView { tpn, code: Some(code.clone()), expires }))
        })
        .await
    }
}

/// A TPN takes one device, in the states that the table names.
fn can_be_paired(conn: &mut dyn Conn, record: &TpnRecord) -> Outcome<()> {
    if lifecycle::TPN.step("pair", record.status()).is_none()
        || device::get(conn, record.iso_id(), &record.row.tpn)?.is_some()
    {
        let message = "The TPN already has a device or cannot have one; deactivate it and swap \
                       the device.";
        return Err(refusal("", Code::IllegalTransition, message));
    }
    Ok(())
}

/// Take the device off a TPN and make a code for the next one.
///
/// The old device's token is worth nothing from now on. An active TPN must be deactivated first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TpnSwap {
    /// The TPN number.
    tpn: Tpn,
    reason: Option<StatusReason>,
    /// Minutes for which the code can be used: an hour to 30 days.
    #[serde(default = "lifetime_default")]
    #[schemars(range(min = 60, max = 43_200))]
    lifetime_minutes: i64,
    /// Refuse if the TPN has another version by now; instead of `If-Match`.
    expected_version: Option<i64>,
}

impl Endpoint<Cx> for TpnSwap {
    const ROUTE: Route = Route::post("/v1/tpns/{tpn}/swap").scope(Scope::TpnsWrite);
    type Reply = PairingCodeView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<PairingCodeView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let basis = Basis::of(cx, self.expected_version);
        let (code, row) = new_code(cx, &iso_id, &self.tpn, self.lifetime_minutes)?;
        let action = Action::of(cx, "swap")?.then("swap", &["device"]).because(self.reason);
        perform_once_shown(cx, &["code"], move |conn| {
            let before: TpnRecord = load(conn, &iso_id, self.tpn.as_str())?;
            basis.check_given(before.version())?;
            take_step(conn, &before, before.clone(), &action)?;
            device::pairing_put(conn, &row)?;
            let (tpn, expires) = (row.tpn.clone(), row.expires.to_string());
            Ok(Answer::new(PairingCodeView { tpn, code: Some(code.clone()), expires }))
        })
        .await
    }
}

/// Pair this device with the TPN of the code.
///
/// The code goes into the header: `Authorization: pairing-code ABCD2345`. The token in the answer
/// is the device's own from now on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DevicePair {
    serial_number: SerialNumber,
}

/// A device that was just paired.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairedView {
    /// The TPN number.
    tpn: Tpn,
    /// Id of the device on this TPN.
    device_id: String,
    /// The token for `Authorization: device-token …`, shown only now.
    device_token: String,
}

impl Endpoint<Cx> for DevicePair {
    const ROUTE: Route = Route::post("/v1/device/pair").pairing();
    type Reply = PairedView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<PairedView>, Failure> {
        let Some(DeviceCaller::Pairing(code)) = cx.device.clone() else {
            return Err(Error::internal("a device pairs without a code").into());
        };
        pair(cx, code, self.serial_number.into_string()).await
    }
}

/// Binds a device of that serial number to the TPN of the code, which is used up.
pub(crate) async fn pair(
    cx: &Cx,
    code: PairingCode,
    serial_number: String,
) -> std::result::Result<Answer<PairedView>, Failure> {
    let device_id = format!("dev_{}", random_text(16)?);
    let device_token = format!("bwd_{}", random_text(TOKEN_LENGTH)?);
    let row = DeviceRow {
        iso_id: code.iso_id.clone(),
        tpn: code.tpn.clone(),
        device_id: device_id.clone(),
        token_hash: cx.platform.token_hash(&device_token),
        serial_number,
        bound: cx.now,
        last_seen: None,
        parameters: None,
    };
    let action = Action::of(cx, "pair")?.then("pair", &["device"]);
    perform(cx, move |conn| {
        // Of two devices with one code, the second finds it gone.
        if device::pairing_find(conn, &code.code_hash)?.is_none() {
            let message = "This code was already used; request a new one.";
            return Err(refusal("", Code::IllegalTransition, message));
        }
        let before: TpnRecord = load(conn, &code.iso_id, code.tpn.as_str())?;
        can_be_paired(conn, &before)?;
        device::pairing_delete(conn, &code.iso_id, &code.tpn)?;
        device::insert(conn, &row)?;
        let after = take_step(conn, &before, before.clone(), &action)?;
        announce(conn, &after, event_kinds::DEVICE_BOUND, &action)?;
        Ok(Answer::new(PairedView {
            tpn: code.tpn.clone(),
            device_id: device_id.clone(),
            device_token: device_token.clone(),
        }))
    })
    .await
}

/// Give this device its parameters.
///
/// The token goes into the header: `Authorization: device-token bwd_…`. With `If-None-Match`
/// nothing is sent when nothing changed. With `have`, the `version` that the device has, only what
/// changed since is sent.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeviceParametersGet {
    /// The `version` of the parameters that the device has.
    have: Option<Word>,
}

/// What a device needs to know.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceParametersView {
    /// The TPN number.
    tpn: Tpn,
    /// Names these parameters; the device sends it as `have` next time.
    version: String,
    /// Whether all parameters are here, or only those that changed.
    full: bool,
    /// The parameters.
    parameters: Map<String, Value>,
    /// Label shown for the terminal.
    default_label: Option<String>,
    /// Trading name of the store.
    store_dba: Option<String>,
    /// Name of the processor.
    processor_name: String,
    /// What identifies the accounts with the processor, by profileId.
    profiles: Map<String, Value>,
}

impl Endpoint<Cx> for DeviceParametersGet {
    const ROUTE: Route = Route::get("/v1/device/parameters").device();
    type Reply = DeviceParametersView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<DeviceParametersView>, Failure> {
        let Some(DeviceCaller::Bound(device)) = cx.device.clone() else {
            return Err(Error::internal("a device has no token").into());
        };
        download(cx, device, self.have.as_ref().map(Word::as_str)).await
    }
}

/// Gives a device its parameters, or what changed since the version that it has.
pub(crate) async fn download(
    cx: &Cx,
    device: DeviceRow,
    have: Option<&str>,
) -> std::result::Result<Answer<DeviceParametersView>, Failure> {
    let (caller, now) = (device.clone(), cx.now);
    let found = cx.platform.store.read(move |conn| errors_outside(Download::of(conn, &caller)));
    let download = found.await??;
    let stale = device.last_seen.is_none_or(|at| now.since(at) >= LAST_SEEN_PRECISION);
    let is_awaited = download.rollout.is_some();
    if stale || is_awaited || download.arrives || download.is_new_to(&device) {
        let action = Action::of(cx, "download")?;
        let (device, download) = (device.clone(), download.clone());
        let record =
            move |conn: &mut dyn Conn| errors_outside(download.record(conn, &device, &action));
        cx.platform.store.attempt(record).await??;
    }
    let view = download.view(&device, have)?;
    let tag = blake3::hash(&serde_json::to_vec(&view).unwrap_or_default()).to_hex();
    Ok(Answer::new(view).header("etag", format!("\"{tag}\"")))
}

/// What a device is to be given now.
#[derive(Clone, Debug)]
struct Download {
    record: TpnRecord,
    store_dba: Option<String>,
    values: Map<String, Value>,
    version: String,
    /// Whether the TPN is at work from this download on.
    arrives: bool,
    /// The roll-out that waits for this download.
    rollout: Option<RolloutTpnRow>,
}

impl Download {
    fn of(conn: &mut dyn Conn, device: &DeviceRow) -> Outcome<Self> {
        let record: TpnRecord = load(conn, &device.iso_id, device.tpn.as_str())?;
        if !AT_WORK.contains(&effective_status(conn, &record, None)?.as_str()) {
            let message = "The TPN, its store or its merchant is not active.";
            return Err(refusal("", Code::NotActive, message));
        }
        let store_dba = match &record.row.store_id {
            Some(id) => merchant::store_get(conn, &device.iso_id, id)?.map(|store| store.dba),
            None => None,
        };
        let effective = Effective::of(conn, &record.row)?;
        let version = effective.tag();
        let arrives = lifecycle::TPN.step("download", record.status()).is_some();
        let rollout = rollout::pending_of(conn, &device.iso_id, &device.tpn)?;
        Ok(Self { record, store_dba, values: effective.values, version, arrives, rollout })
    }

    fn is_new_to(&self, device: &DeviceRow) -> bool {
        device.parameters.as_ref().is_none_or(|(version, _)| *version != self.version)
    }

    /// Records the visit, and takes the step that a download is in some states.
    fn record(&self, conn: &mut dyn Conn, device: &DeviceRow, action: &Action) -> Outcome<()> {
        let record: TpnRecord = load(conn, &device.iso_id, device.tpn.as_str())?;
        if lifecycle::TPN.step("download", record.status()).is_some() {
            take_step(conn, &record, record.clone(), action)?;
        }
        let given = Value::Object(self.values.clone()).to_string();
        device::seen(conn, device, action.now, (&self.version, &given))?;
        if let Some(row) = &self.rollout {
            rollout::tpn_end(conn, row, RolloutState::Downloaded, action.now)?;
        }
        Ok(())
    }

    /// All parameters, or what changed since the version that the device has.
    fn view(self, device: &DeviceRow, have: Option<&str>) -> Result<DeviceParametersView> {
        let row = self.record.row;
        let known =
            device.parameters.as_ref().filter(|(version, _)| Some(version.as_str()) == have);
        let mut parameters = self.values;
        if let Some((_, known)) = known {
            let known = json_object(known)?;
            parameters.retain(|name, value| known.get(name) != Some(value));
        }
        let mut profiles = Map::new();
        for profile in self.record.profiles {
            let identifiers = Value::Object(json_object(&profile.identifiers)?);
            profiles.insert(profile.profile_id, identifiers);
        }
        Ok(DeviceParametersView {
            tpn: row.tpn,
            version: self.version,
            full: known.is_none(),
            parameters,
            default_label: row.default_label,
            store_dba: self.store_dba,
            processor_name: row.processor,
            profiles,
        })
    }
}
