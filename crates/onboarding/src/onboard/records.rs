//! From a valid request to the rows and events that it creates, with personal data sealed.

use std::sync::Arc;

use serde_json::{Map, Value};
use store::due_work::DueWork;
use store::merchant::{MerchantRow, StoreRow};
use store::outbox::Event;
use store::tpn::{ProfileRow, TpnRow};
use types::{IsoId, MerchantId, Result, Secret, StoreId, Timestamp, Tpn, reference};

use super::lookup::Wanted;
use super::{MerchantDetails, OnboardMerchant, OnboardedIds, StoreDetails, TpnDetails};
use crate::change::{self, TpnRecord};
use crate::fields::{
    AddressLine, DefaultLabel, Ebt, IsoAgentReference, IsoMerchant, LastName, LogoUrl, TpnBin,
};
use crate::id_source::FreshIds;
use crate::lifecycle::due_work;
use crate::merchants::views::Contact;
use crate::terminals::processors::{Processor, Profile};
use crate::{Caller, Cx, audit, sandbox, text};
use vault::{Aad, Vault};

pub(super) const ACTIVE: &str = "active";
const IN_REVIEW: &str = "in_review";
const PROVISIONED: &str = "provisioned";
const UNVERIFIED: &str = "unverified";
const FIRST_VERSION: i64 = 1;

/// The rows of one onboarding. Cheap to clone, because a transaction may have to run again.
#[derive(Clone, Debug)]
pub(super) struct Records(Arc<Rows>);

#[derive(Debug)]
pub(super) struct Rows {
    pub(super) merchant: Option<MerchantRow>,
    pub(super) store: Option<StoreRow>,
    pub(super) tpn: TpnRow,
    pub(super) profiles: Vec<ProfileRow>,
    pub(super) events: Vec<Event>,
    pub(super) entry: audit::Entry,
    /// What the sandbox is to do later.
    pub(super) due: Vec<DueWork>,
    ids: OnboardedIds,
}

impl std::ops::Deref for Records {
    type Target = Rows;

    fn deref(&self) -> &Rows {
        &self.0
    }
}

impl Records {
    /// Builds everything outside of the transaction, which then only stores it.
    pub(super) fn build(
        request: OnboardMerchant,
        ids: FreshIds,
        cx: &Cx,
    ) -> Result<(Self, Arc<Wanted>)> {
        let builder = Builder { cx, caller: cx.caller()? };
        let mut wanted = Wanted::of(builder.caller, cx.now);
        let (merchant, store, merchant_id, store_id, tpn_data) = match request {
            OnboardMerchant::Full { merchant_data, store_data, tpn_data } => {
                let merchant = builder.merchant(merchant_data, &ids.merchant)?;
                let store = builder.store(store_data, &ids.store, &ids.merchant)?;
                (Some(merchant), Some(store), ids.merchant, ids.store, tpn_data)
            }
            OnboardMerchant::Store { merchant_data, store_data, tpn_data } => {
                let merchant_id = merchant_data.merchant_id;
                wanted.merchant_id = Some(merchant_id.clone());
                let store = builder.store(store_data, &ids.store, &merchant_id)?;
                (None, Some(store), merchant_id, ids.store, tpn_data)
            }
            OnboardMerchant::Tpn { merchant_data, store_data, tpn_data } => {
                wanted.merchant_id = Some(merchant_data.merchant_id.clone());
                wanted.store_id = Some(store_data.store_id.clone());
                (None, None, merchant_data.merchant_id, store_data.store_id, tpn_data)
            }
        };
        wanted.template = tpn_data.tpn_assign_template.as_ref().map(|name| name.as_str().into());
        let profiles = builder.profiles(&tpn_data, &ids.tpn)?;
        let ids = OnboardedIds {
            merchant_id: merchant_id.clone(),
            store_id: store_id.clone(),
            tpn: ids.tpn.clone(),
        };
        let tpn = builder.tpn(tpn_data, ids.tpn.clone(), merchant_id, store_id);
        wanted.note_names(merchant.as_ref(), store.as_ref());
        wanted.note_unique(cx, merchant.as_ref(), &profiles);
        let events = builder.events(merchant.as_ref(), store.as_ref(), &tpn);
        let entry = builder.entry(merchant.as_ref(), store.as_ref(), &ids)?;
        let due = builder.due(merchant.as_ref(), &tpn, &profiles);
        let rows = Rows { merchant, store, tpn, profiles, events, entry, due, ids };
        Ok((Self(Arc::new(rows)), Arc::new(wanted)))
    }

    pub(super) fn ids(&self) -> OnboardedIds {
        self.ids.clone()
    }
}

impl Wanted {
    fn note_names(&mut self, merchant: Option<&MerchantRow>, store: Option<&StoreRow>) {
        self.merchant_dba = merchant.map(|merchant| merchant.dba_key.clone());
        self.store_dba = store.map(|store| store.dba_key.clone());
    }

    fn note_unique(&mut self, cx: &Cx, merchant: Option<&MerchantRow>, profiles: &[ProfileRow]) {
        if cx.platform.settings.unique_email {
            self.merchant_email = merchant.map(|merchant| merchant.email_index.clone());
        }
        if cx.platform.settings.unique_profiles {
            let indexes = profiles.iter().map(|profile| profile.identity_index.clone());
            self.identities = indexes.enumerate().collect();
        }
    }
}

struct Builder<'a> {
    cx: &'a Cx,
    caller: &'a Caller,
}

/// The personal data of a new merchant or a new store, whose fields have the same names.
macro_rules! contact_of {
    ($details:expr) => {
        Contact {
            first_name: $details.first_name.into_string(),
            last_name: $details.last_name.map(LastName::into_string),
            email: $details.email.into_string(),
            address_line1: $details.address_line1.into_string(),
            address_line2: $details.address_line2.map(AddressLine::into_string),
            phone_number: $details.phone_number.into_string(),
            isd_code: $details.isd_code.into_string(),
        }
    };
}

impl Builder<'_> {
    fn iso_id(&self) -> IsoId {
        self.caller.iso_id().clone()
    }

    fn index(&self, kind: &str, value: &str) -> Vec<u8> {
        self.cx.platform.vault.blind_index(self.caller.iso_id(), kind, value).to_vec()
    }

    fn now(&self) -> Timestamp {
        self.cx.now
    }

    fn merchant(&self, details: MerchantDetails, id: &MerchantId) -> Result<MerchantRow> {
        let contact = contact_of!(details);
        let sealed = contact.seal(self.caller.data_key(), "merchant", id.as_str())?;
        let place = place_of(details.zip_code.as_str());
        let dba_key = text::dba_key(details.dba.as_str());
        let platform = &self.cx.platform;
        let staged = sandbox::staged_for_merchant(platform.environment, &dba_key, self.now());
        let in_review =
            staged.map_or(platform.settings.review_merchants, |(_, in_review, _)| in_review);
        Ok(MerchantRow {
            iso_id: self.iso_id(),
            merchant_id: id.clone(),
            status: (if in_review { IN_REVIEW } else { ACTIVE }).to_owned(),
            status_reason: None,
            version: FIRST_VERSION,
            email_index: self.index("email", &email_key(&contact.email)),
            phone_index: self.index("phone", &contact.phone_number),
            dba_key,
            dba: details.dba.into_string(),
            zip: details.zip_code.into_string(),
            city: place.city.to_owned(),
            state: place.state.to_owned(),
            ebt: details.ebt.map(Ebt::into_string),
            iso_agent_reference: details.iso_agent_reference.map(IsoAgentReference::into_string),
            iso_merchant: details.iso_merchant.map(IsoMerchant::into_string),
            logo_url: details.merchant_logo_url.map(LogoUrl::into_string),
            external_reference: None,
            metadata: None,
            requirements: None,
            sealed,
            created: self.now(),
            updated: self.now(),
        })
    }

    fn store(
        &self,
        details: StoreDetails,
        id: &StoreId,
        merchant_id: &MerchantId,
    ) -> Result<StoreRow> {
        let contact = contact_of!(details);
        let sealed = contact.seal(self.caller.data_key(), "store", id.as_str())?;
        let place = place_of(details.zip_code.as_str());
        Ok(StoreRow {
            iso_id: self.iso_id(),
            store_id: id.clone(),
            merchant_id: merchant_id.clone(),
            status: ACTIVE.to_owned(),
            status_reason: None,
            version: FIRST_VERSION,
            email_index: self.index("email", &email_key(&contact.email)),
            phone_index: self.index("phone", &contact.phone_number),
            dba_key: text::dba_key(details.dba.as_str()),
            dba: details.dba.into_string(),
            mcc: details.mcc_code.into_string(),
            zip: details.zip_code.into_string(),
            city: place.city.to_owned(),
            state: place.state.to_owned(),
            ebt: details.ebt.map(Ebt::into_string),
            external_reference: None,
            metadata: None,
            sealed,
            created: self.now(),
            updated: self.now(),
        })
    }

    fn tpn(
        &self,
        details: TpnDetails,
        tpn: Tpn,
        merchant_id: MerchantId,
        store_id: StoreId,
    ) -> TpnRow {
        TpnRow {
            iso_id: self.iso_id(),
            tpn,
            merchant_id,
            store_id: Some(store_id),
            status: PROVISIONED.to_owned(),
            status_reason: None,
            version: FIRST_VERSION,
            device_manufacturer: details.device_manufacturer.into_string(),
            device_model: details.device_model.into_string(),
            application_sign: details.tpn_application_sign.into_string(),
            routing_type: details.tpn_routing_type.into_string(),
            default_label: details.default_label.map(DefaultLabel::into_string),
            template: None,
            processor: details.tpn_processor.name().to_owned(),
            tpn_bin: details.tpn_bin.map(TpnBin::into_string),
            parameters: None,
            external_reference: None,
            metadata: None,
            created: self.now(),
            updated: self.now(),
        }
    }

    fn profiles(&self, details: &TpnDetails, tpn: &Tpn) -> Result<Vec<ProfileRow>> {
        let processor = &details.tpn_processor;
        let shared_bin = details.tpn_bin.as_ref().map(TpnBin::as_str);
        let build = |profile: &&dyn Profile| {
            profile_row(self.cx, *profile, processor.name(), shared_bin, tpn)
        };
        processor.profiles().iter().map(build).collect()
    }

    fn events(
        &self,
        merchant: Option<&MerchantRow>,
        store: Option<&StoreRow>,
        tpn: &TpnRow,
    ) -> Vec<Event> {
        let now = self.now();
        let merchant = merchant.map(|row| change::event(row, "merchant.created", &[], now));
        let store = store.map(|row| change::event(row, "store.created", &[], now));
        let record = TpnRecord { row: tpn.clone(), profiles: Vec::new() };
        let tpn = change::event(&record, "tpn.created", &[], now);
        merchant.into_iter().chain(store).chain([tpn]).collect()
    }

    fn due(
        &self,
        merchant: Option<&MerchantRow>,
        tpn: &TpnRow,
        profiles: &[ProfileRow],
    ) -> Vec<DueWork> {
        let (environment, now) = (self.cx.platform.environment, self.now());
        let merchant = merchant.and_then(|row| {
            let staged = sandbox::staged_for_merchant(environment, &row.dba_key, now);
            staged.map(|(kind, _, at)| due_work::at(row, kind, at))
        });
        let mids = profiles.iter().map(|profile| profile.mid.as_deref());
        let refused = sandbox::staged_refusal(environment, mids, now).map(|at| {
            let record = TpnRecord { row: tpn.clone(), profiles: Vec::new() };
            due_work::at(&record, due_work::Kind::RefuseCredentials, at)
        });
        merchant.into_iter().chain(refused).collect()
    }

    /// One entry for all that the request makes, under the topmost of it.
    fn entry(
        &self,
        merchant: Option<&MerchantRow>,
        store: Option<&StoreRow>,
        ids: &OnboardedIds,
    ) -> Result<audit::Entry> {
        let (merchant_id, store_id) = (ids.merchant_id.as_str(), ids.store_id.as_str());
        let made = |action, object, id: &str| {
            let entry = audit::Entry::new(self.cx, action, object, id)?;
            Ok(entry.versions(None, Some(FIRST_VERSION)))
        };
        Ok(match (merchant, store) {
            (Some(_), _) => made("merchant.onboard", "merchant", merchant_id)?
                .related(store_id)
                .related(ids.tpn.as_str()),
            (None, Some(_)) => made("store.onboard", "store", store_id)?.related(ids.tpn.as_str()),
            (None, None) => made("tpn.onboard", "tpn", ids.tpn.as_str())?,
        })
    }
}

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
        status: UNVERIFIED.to_owned(),
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

/// The domain of an address has no case; the local part has.
pub(crate) fn email_key(email: &str) -> String {
    match email.rsplit_once('@') {
        Some((local, domain)) => format!("{local}@{}", domain.to_lowercase()),
        None => email.to_owned(),
    }
}

pub(crate) fn place_of(zip: &str) -> reference::Place {
    reference::zip_place(zip).expect("the us-zip format lets only known codes pass")
}
