//! The checks that need the database: names taken, ids unknown, parents closed, templates missing.
//!
//! There is one definition of them, [`find`]. It runs inside the storing transaction for what must
//! not change before the commit, and outside of it to tell a caller everything at once. Whether a
//! dba is free is decided by the unique index and not here, so that two writers cannot both win.

use std::time::Duration;

use contract::{Failure, Header, IssueKind, Issues};
use db::{Conn, Database};
use serde_json::Value;
use types::{IsoId, MerchantId, Result, StoreId, TemplateId, Timestamp};

use crate::lifecycle::{MerchantStatus, StoreStatus};
use crate::rows::{merchant, quota, template, tpn};
use crate::settings::IsoLimits;
use crate::terminals::credentials::identity_index;
use crate::terminals::processors::Processor;
use crate::{Caller, Code, Cx, text};

/// The time in which onboardings are counted.
const DAY: Duration = Duration::from_hours(24);

/// What a request refers to. Only what was valid is here.
#[derive(Clone, Debug)]
pub(super) struct References {
    pub(super) iso_id: IsoId,
    pub(super) merchant_dba: Option<String>,
    pub(super) store_dba: Option<String>,
    pub(super) merchant_id: Option<MerchantId>,
    pub(super) store_id: Option<StoreId>,
    pub(super) template: Option<String>,
    /// Set only where e-mail addresses must be unique.
    pub(super) merchant_email: Option<Vec<u8>>,
    /// Set only where processor accounts must be unique: blind index by position in the list.
    pub(super) identities: Vec<(usize, Vec<u8>)>,
    limits: IsoLimits,
    now: Timestamp,
}

/// What was found about it.
#[derive(Debug, Default)]
pub(super) struct Findings {
    errors: Vec<(String, IssueKind)>,
    headers: Vec<Header>,
    pub(super) template: Option<(TemplateId, i64)>,
}

impl Findings {
    pub(super) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Fails if there is something.
    pub(super) fn refuse(self) -> std::result::Result<(), Failure> {
        if self.is_empty() {
            return Ok(());
        }
        let (mut issues, mut headers) = (Issues::default(), Vec::new());
        self.add_to(&mut issues, &mut headers);
        Err(Failure::Issues { issues, headers })
    }

    fn add(&mut self, path: impl Into<String>, code: Code, message: &str) {
        self.errors.push((path.into(), IssueKind::rule(code.name(), message)));
    }

    /// A field that already has an issue keeps it: its form hides its business check.
    pub(super) fn add_to(self, issues: &mut Issues, headers: &mut Vec<Header>) {
        for (path, error) in self.errors {
            issues.add(path, error);
        }
        headers.extend(self.headers);
    }
}

impl References {
    /// Nothing yet, of this caller's ISO.
    pub(super) fn of(caller: &Caller, now: Timestamp) -> Self {
        Self {
            iso_id: caller.iso_id().clone(),
            limits: caller.limits(),
            now,
            merchant_dba: None,
            store_dba: None,
            merchant_id: None,
            store_id: None,
            template: None,
            merchant_email: None,
            identities: Vec::new(),
        }
    }

    /// Reads what is valid of the parameters.
    pub(super) fn in_params(params: &Value, cx: &Cx) -> Result<Self> {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str);
        let iso_id = cx.caller()?.iso_id();
        let vault = &cx.platform.vault;
        let settings = &cx.platform.settings;
        let mut references = Self {
            merchant_dba: text("/merchantData/dba").map(text::dba_key),
            store_dba: text("/storeData/dba").map(text::dba_key),
            merchant_id: text("/merchantData/merchantId").map(MerchantId::new),
            store_id: text("/storeData/storeId").map(StoreId::new),
            template: text("/tpnData/tpnAssignTemplate").map(str::to_owned),
            ..Self::of(cx.caller()?, cx.now)
        };
        if settings.unique_email {
            let email = text("/merchantData/email").map(text::email_key);
            let index = email.map(|email| vault.blind_index(iso_id, "email", &email).to_vec());
            references.merchant_email = index;
        }
        if settings.unique_profiles {
            let processor = text("/tpnData/tpnProcessor/processorName").unwrap_or_default();
            let profiles = params.pointer("/tpnData/tpnProcessor/profile");
            let profiles = profiles.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            for (index, profile) in profiles.iter().enumerate() {
                let fields = Processor::identity_fields(processor);
                let values: Option<Vec<&str>> =
                    fields.iter().map(|field| profile.get(field)?.as_str()).collect();
                if let Some(values) = values.filter(|values| !values.is_empty()) {
                    let identity = identity_index(vault, iso_id, processor, &values);
                    references.identities.push((index, identity));
                }
            }
        }
        Ok(references)
    }

    /// Whether there is more to check than the unique indexes do by themselves.
    pub(super) fn must_be_looked_up(&self) -> bool {
        self.limits.has_quotas()
            || self.merchant_id.is_some()
            || self.template.is_some()
            || self.merchant_email.is_some()
            || !self.identities.is_empty()
    }
}

/// Runs [`find`] on a snapshot of its own, and says which objects a taken dba belongs to.
pub(super) async fn find_outside(store: &Database, references: References) -> Result<Findings> {
    store.read(move |conn| find_all(conn, &references)).await
}

/// [`find`], and which names are taken.
pub(super) fn find_all(conn: &mut dyn Conn, references: &References) -> Result<Findings> {
    let mut findings = find(conn, references)?;
    find_taken_names(conn, references, &mut findings)?;
    Ok(findings)
}

/// Everything but the names.
pub(super) fn find(conn: &mut dyn Conn, references: &References) -> Result<Findings> {
    let mut findings = Findings::default();
    let iso_id = &references.iso_id;
    find_parents(conn, iso_id, references, &mut findings)?;
    find_quotas(conn, references, &mut findings)?;
    if let Some(name) = &references.template {
        findings.template = template::find(conn, iso_id, name)?;
        if findings.template.is_none() {
            let message = "Template not found.";
            findings.add("tpnData.tpnAssignTemplate", Code::TemplateNotFound, message);
        }
    }
    if let Some(email_index) = &references.merchant_email
        && merchant::by_email(conn, iso_id, email_index)?.is_some()
    {
        let message = "A merchant with this e-mail address already exists.";
        findings.add("merchantData.email", Code::AlreadyExists, message);
    }
    for (index, identity) in &references.identities {
        if tpn::profile_by_identity(conn, iso_id, identity, None)?.is_some() {
            let path = format!("tpnData.tpnProcessor.profile[{index}].profileId");
            let message = "This processor account is already assigned to another TPN.";
            findings.add(path, Code::DuplicateProfile, message);
        }
    }
    Ok(findings)
}

/// What the ISO has enough of.
fn find_quotas(
    conn: &mut dyn Conn,
    references: &References,
    findings: &mut Findings,
) -> Result<()> {
    let References { iso_id, limits, .. } = references;
    let mut full = Vec::new();
    if let Some(max) = limits.merchants.filter(|_| references.merchant_id.is_none())
        && quota::merchants_are_full(conn, iso_id, i64::from(max))?
    {
        full.push(("merchantData", max, "merchants"));
    }
    if let Some(max) = limits.stores.filter(|_| references.store_id.is_none())
        && quota::stores_are_full(conn, iso_id, i64::from(max))?
    {
        full.push(("storeData", max, "stores"));
    }
    if let Some(max) = limits.tpns
        && quota::tpns_are_full(conn, iso_id, i64::from(max))?
    {
        full.push(("tpnData", max, "TPNs"));
    }
    let day = i64::try_from(DAY.as_micros()).unwrap_or(i64::MAX);
    let since = Timestamp::from_micros(references.now.as_micros().saturating_sub(day));
    if let Some(max) = limits.onboardings
        && quota::onboardings_are_full(conn, iso_id, since, i64::from(max))?
    {
        full.push(("", max, "onboardings in 24 hours"));
    }
    for (path, max, what) in full {
        let message =
            format!("The ISO's limit of {max} {what} is reached; ask the operator to raise it.");
        findings.add(path, Code::LimitExceeded, &message);
    }
    Ok(())
}

fn find_parents(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    references: &References,
    findings: &mut Findings,
) -> Result<()> {
    let Some(merchant_id) = &references.merchant_id else { return Ok(()) };
    let not_found = "Not found.";
    let inactive = "It is not active.";
    let mut status = None;
    if text::is_alphanumeric(merchant_id.as_str()) {
        status = merchant::status(conn, iso_id, merchant_id)?;
    }
    match &status {
        None => findings.add("merchantData.merchantId", Code::NotFound, not_found),
        Some(status) if *status == MerchantStatus::Active => {}
        Some(_) => findings.add("merchantData.merchantId", Code::InactiveParent, inactive),
    }
    let Some(store_id) = &references.store_id else { return Ok(()) };
    let mut found = None;
    if text::is_alphanumeric(store_id.as_str()) {
        found = merchant::store_status(conn, iso_id, store_id)?;
    }
    match found {
        None => findings.add("storeData.storeId", Code::NotFound, not_found),
        Some((owner, _)) if status.is_some() && owner != *merchant_id => {
            let message = "The store belongs to another merchant.";
            findings.add("storeData.storeId", Code::StoreMismatch, message);
        }
        Some((_, status)) if status != StoreStatus::Active => {
            findings.add("storeData.storeId", Code::InactiveParent, inactive);
        }
        Some(_) => {}
    }
    Ok(())
}

fn find_taken_names(
    conn: &mut dyn Conn,
    references: &References,
    findings: &mut Findings,
) -> Result<()> {
    let iso_id = &references.iso_id;
    let taken = "This trading name is already in use.";
    if let Some(dba) = &references.merchant_dba
        && let Some(existing) = merchant::by_dba(conn, iso_id, dba)?
    {
        findings.add("merchantData.dba", Code::AlreadyExists, taken);
        findings.headers.push(("x-existing-merchant-id", existing.into_string()));
    }
    if let Some(dba) = &references.store_dba
        && let Some(existing) = merchant::store_by_dba(conn, iso_id, dba)?
    {
        findings.add("storeData.dba", Code::AlreadyExists, taken);
        findings.headers.push(("x-existing-store-id", existing.into_string()));
    }
    Ok(())
}
