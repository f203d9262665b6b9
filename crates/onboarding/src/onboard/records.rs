//! From a valid request to the rows and events that it creates, with personal data sealed.

use std::sync::Arc;

use contract::Issues;
use db::Conn;
use db::outbox::{self, Event};
use schemars::JsonSchema;
use serde::Serialize;
use types::{Error, IsoId, MerchantId, Result, StoreId, Timestamp, Tpn};

use super::lookup::{self, References};
use super::request::{OnboardMerchant, Shape, TpnDetails};
use crate::audit::{self, Entry};
use crate::change::{self, TpnRecord};
use crate::event_kinds;
use crate::fields::{DefaultLabel, TpnBin};
use crate::id_source::FreshIds;
use crate::lifecycle::schedule::{self, DueKind};
use crate::lifecycle::{MerchantStatus, StoreStatus, TpnStatus};
use crate::merchants::details::{MerchantDetails, Sealer, StoreDetails};
use crate::rows::due_work::{self, DueWork};
use crate::rows::merchant::{self, MerchantRow, StoreRow};
use crate::rows::tpn::{self, ProfileRow, TpnRow};
use crate::simulation;
use crate::terminals::credentials::profile_row;
use crate::terminals::processors::Profile;
use crate::{Caller, Cx};

const FIRST_VERSION: i64 = 1;

// The ids of what an onboarding makes or names. A plain comment: the published schema has none.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(crate) struct OnboardedIds {
    /// Id of the merchant.
    pub(crate) merchant_id: MerchantId,
    /// Id of the store.
    pub(crate) store_id: StoreId,
    /// The TPN number.
    pub(crate) tpn: Tpn,
}

/// An onboarding that only has to be inserted. Cheap to clone, because a transaction may have to
/// run again.
#[derive(Clone, Debug)]
pub(crate) struct Prepared(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    shape: Shape,
    records: Records,
    references: References,
}

/// The rows of one onboarding.
#[derive(Debug)]
struct Records {
    merchant: Option<MerchantRow>,
    store: Option<StoreRow>,
    tpn: TpnRow,
    profiles: Vec<ProfileRow>,
    events: Vec<Event>,
    entry: Entry,
    /// What the sandbox is to do later.
    due: Vec<DueWork>,
    ids: OnboardedIds,
}

impl Prepared {
    /// Builds everything outside of the transaction, which then only inserts it.
    pub(crate) async fn new(request: OnboardMerchant, cx: &Cx) -> Result<Self> {
        let ids = cx.platform.ids.fresh(&cx.platform.store).await?;
        let shape = request.shape();
        let (records, references) = build(request, ids, cx)?;
        Ok(Self(Arc::new(Parts { shape, records, references })))
    }

    pub(super) fn ids(&self) -> OnboardedIds {
        self.0.records.ids.clone()
    }

    pub(super) fn shape(&self) -> Shape {
        self.0.shape
    }

    /// Whether nothing has to be read to insert it, and all of it is new.
    pub(super) fn only_adds(&self) -> bool {
        !self.0.references.must_be_looked_up()
    }

    pub(super) fn references(&self) -> References {
        self.0.references.clone()
    }

    /// What speaks against it, in the transaction that is to insert it.
    pub(crate) fn issues(&self, conn: &mut dyn Conn) -> Result<Option<Issues>> {
        let findings = lookup::find_all(conn, &self.0.references)?;
        let mut issues = Issues::default();
        findings.add_to(&mut issues, &mut Vec::new());
        Ok(Some(issues).filter(|issues| !issues.is_empty()))
    }

    /// Inserts everything, or fails with [`types::Kind::Conflict`] so that the transaction is
    /// undone.
    pub(crate) fn insert(&self, conn: &mut dyn Conn) -> Result<OnboardedIds> {
        let refused = || Error::conflict("the onboarding is refused");
        let Parts { records, references, .. } = &*self.0;
        let mut template = None;
        if references.must_be_looked_up() {
            let findings = lookup::find(conn, references)?;
            if !findings.is_empty() {
                return Err(refused());
            }
            template = findings.template;
        }
        if let Some(row) = &records.merchant
            && !merchant::insert(conn, row)?
        {
            return Err(refused());
        }
        if let Some(row) = &records.store
            && !merchant::store_insert(conn, row)?
        {
            return Err(refused());
        }
        match template {
            None => tpn::insert(conn, &records.tpn)?,
            template => tpn::insert(conn, &TpnRow { template, ..records.tpn.clone() })?,
        }
        records.profiles.iter().try_for_each(|profile| tpn::profile_put(conn, profile))?;
        records.events.iter().try_for_each(|event| outbox::append(conn, event))?;
        records.due.iter().try_for_each(|work| due_work::put(conn, work))?;
        audit::append(conn, &records.entry)?;
        Ok(self.ids())
    }
}

fn build(request: OnboardMerchant, ids: FreshIds, cx: &Cx) -> Result<(Records, References)> {
    let builder = Builder { cx, caller: cx.caller()? };
    let mut references = References::of(builder.caller, cx.now);
    let (merchant, store, merchant_id, store_id, tpn_data) = match request {
        OnboardMerchant::Full { merchant_data, store_data, tpn_data } => {
            let merchant = builder.merchant(merchant_data, &ids.merchant)?;
            let store = builder.store(store_data, &ids.store, &ids.merchant)?;
            (Some(merchant), Some(store), ids.merchant, ids.store, tpn_data)
        }
        OnboardMerchant::Store { merchant_data, store_data, tpn_data } => {
            let merchant_id = merchant_data.merchant_id;
            references.merchant_id = Some(merchant_id.clone());
            let store = builder.store(store_data, &ids.store, &merchant_id)?;
            (None, Some(store), merchant_id, ids.store, tpn_data)
        }
        OnboardMerchant::Tpn { merchant_data, store_data, tpn_data } => {
            references.merchant_id = Some(merchant_data.merchant_id.clone());
            references.store_id = Some(store_data.store_id.clone());
            (None, None, merchant_data.merchant_id, store_data.store_id, tpn_data)
        }
    };
    references.template = tpn_data.tpn_assign_template.as_ref().map(|name| name.as_str().into());
    let profiles = builder.profiles(&tpn_data, &ids.tpn)?;
    let ids = OnboardedIds {
        merchant_id: merchant_id.clone(),
        store_id: store_id.clone(),
        tpn: ids.tpn.clone(),
    };
    let tpn = builder.tpn(tpn_data, ids.tpn.clone(), merchant_id, store_id);
    references.add_names(merchant.as_ref(), store.as_ref());
    references.add_unique(cx, merchant.as_ref(), &profiles);
    let events = builder.events(merchant.as_ref(), store.as_ref(), &tpn);
    let entry = builder.entry(merchant.as_ref(), store.as_ref(), &ids)?;
    let due = builder.due(merchant.as_ref(), &tpn, &profiles);
    Ok((Records { merchant, store, tpn, profiles, events, entry, due, ids }, references))
}

impl References {
    fn add_names(&mut self, merchant: Option<&MerchantRow>, store: Option<&StoreRow>) {
        self.merchant_dba = merchant.map(|merchant| merchant.dba_key.clone());
        self.store_dba = store.map(|store| store.dba_key.clone());
    }

    fn add_unique(&mut self, cx: &Cx, merchant: Option<&MerchantRow>, profiles: &[ProfileRow]) {
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

impl Builder<'_> {
    fn iso_id(&self) -> IsoId {
        self.caller.iso_id().clone()
    }

    fn now(&self) -> Timestamp {
        self.cx.now
    }

    fn sealer(&self) -> Sealer<'_> {
        Sealer { vault: &self.cx.platform.vault, data_key: self.caller.data_key() }
    }

    fn merchant(&self, details: MerchantDetails, id: &MerchantId) -> Result<MerchantRow> {
        let (mut row, contact) = details.keep();
        let platform = &self.cx.platform;
        let simulated =
            simulation::simulated_for_merchant(platform.environment, &row.dba_key, self.now());
        let in_review =
            simulated.map_or(platform.settings.review_merchants, |(_, in_review, _)| in_review);
        let status = if in_review { MerchantStatus::InReview } else { MerchantStatus::Active };
        row.iso_id = self.iso_id();
        row.merchant_id = id.clone();
        status.name().clone_into(&mut row.status);
        row.version = FIRST_VERSION;
        (row.created, row.updated) = (self.now(), self.now());
        row.complete(&contact, &self.sealer())?;
        Ok(row)
    }

    fn store(
        &self,
        details: StoreDetails,
        id: &StoreId,
        merchant_id: &MerchantId,
    ) -> Result<StoreRow> {
        let (mut row, contact) = details.keep();
        row.iso_id = self.iso_id();
        row.store_id = id.clone();
        row.merchant_id = merchant_id.clone();
        StoreStatus::Active.name().clone_into(&mut row.status);
        row.version = FIRST_VERSION;
        (row.created, row.updated) = (self.now(), self.now());
        row.complete(&contact, &self.sealer())?;
        Ok(row)
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
            status: TpnStatus::Provisioned.name().to_owned(),
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
        let merchant =
            merchant.map(|row| change::event(row, event_kinds::MERCHANT_CREATED, &[], now));
        let store = store.map(|row| change::event(row, event_kinds::STORE_CREATED, &[], now));
        let record = TpnRecord { row: tpn.clone(), profiles: Vec::new() };
        let tpn = change::event(&record, event_kinds::TPN_CREATED, &[], now);
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
            let simulated = simulation::simulated_for_merchant(environment, &row.dba_key, now);
            simulated
                .map(|(kind, _, at)| schedule::at(&row.iso_id, row.merchant_id.as_str(), kind, at))
        });
        let mids = profiles.iter().map(|profile| profile.mid.as_deref());
        let refused = simulation::simulated_refusal(environment, mids, now)
            .map(|at| schedule::at(&tpn.iso_id, tpn.tpn.as_str(), DueKind::RefuseCredentials, at));
        merchant.into_iter().chain(refused).collect()
    }

    /// One entry for all that the request makes, under the topmost of it.
    fn entry(
        &self,
        merchant: Option<&MerchantRow>,
        store: Option<&StoreRow>,
        ids: &OnboardedIds,
    ) -> Result<Entry> {
        let (merchant_id, store_id) = (ids.merchant_id.as_str(), ids.store_id.as_str());
        let made = |action, object, id: &str| {
            let entry = self.cx.entry(action, object, id)?;
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
