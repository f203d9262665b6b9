//! Making ISOs, deciding on them and limiting them from the command line.

use std::sync::Arc;

use db::Conn;
use serde_json::{Map, Value};
use site_rows::iso::{self, IsoRow};
use types::{Error, IsoId, Result, Timestamp};

use super::account::decide;
use super::limits::Change;
use super::record::{Decision, IsoRecord};
use crate::audit::{self, Entry};
use crate::change::Basis;
use crate::dialect::ResponseStyle;
use crate::event_kinds;
use crate::id_source::random_text;
use crate::perform::{errors_outside, refusal_error};
use crate::rows::iso_account::{self, IsoAccount};
use crate::settings::IsoLimits;
use crate::{Platform, text};

/// An ISO as the command line lists it.
#[derive(Clone, Debug)]
pub struct IsoSummary {
    pub row: IsoRow,
    pub status: String,
}

/// Length of the reason of a decision at most.
const REASON_LENGTH_MAX: usize = 200;

/// The methods here block; they are for the command line.
impl Platform {
    pub fn iso_create(&self, name: &str, style: ResponseStyle) -> Result<IsoId> {
        let name = text::checked_name(name)?;
        let iso_id = IsoId::new(format!("iso_{}", random_text(16)?));
        let (_, wrapped) = self.vault.data_key_create(&iso_id)?;
        let row = IsoRow {
            iso_id: iso_id.clone(),
            name,
            response_style: style.name().to_owned(),
            data_key: wrapped.0,
            created: self.clock.now(),
        };
        self.store.write_blocking(move |conn| {
            iso::insert(conn, &row)?;
            let (id, at) = (&row.iso_id, row.created);
            audit::append(conn, &Entry::by_system(Some(id), at, "iso.create", "iso", id.as_str()))
        })?;
        Ok(iso_id)
    }

    pub fn iso_list(&self) -> Result<Vec<IsoRow>> {
        self.store.read_blocking(iso::list)
    }

    /// Changes limits of an ISO, and returns those that hold now. Blocks; it is for the command
    /// line.
    pub fn iso_limit(&self, iso_id: &IsoId, changes: &[Change]) -> Result<IsoLimits> {
        let (iso_id, changes, now) = (iso_id.clone(), changes.to_vec(), self.clock.now());
        let everybody = self.settings.limits;
        let own =
            self.store.write_blocking(move |conn| set_limits(conn, &iso_id, &changes, now))?;
        Ok(everybody.unless(own))
    }

    pub fn iso_summaries(&self) -> Result<Vec<IsoSummary>> {
        let records = self.store.read_blocking(records)?;
        let summary =
            |record: IsoRecord| IsoSummary { row: record.row, status: record.account.status };
        Ok(records.into_iter().map(summary).collect())
    }

    /// Decides on an ISO and returns its new state.
    pub fn iso_decide(
        self: &Arc<Self>,
        iso_id: &IsoId,
        decision: Decision,
        reason: Option<String>,
    ) -> Result<String> {
        if reason.as_ref().is_some_and(|text| text.chars().count() > REASON_LENGTH_MAX) {
            return Err(Error::invalid(format!(
                "the reason must have at most {REASON_LENGTH_MAX} characters"
            )));
        }
        let (platform, now, iso_id) = (Arc::clone(self), self.clock.now(), iso_id.clone());
        let action = decision.audit_action();
        let entry = Entry::by_system(Some(&iso_id), now, &action, "iso", iso_id.as_str());
        let done = self.store.attempt_blocking(move |conn| {
            let decided = (&iso_id, decision, reason.as_deref());
            errors_outside(decide(conn, &platform, decided, Basis::ANY, entry.clone(), now))
        })?;
        done.map(|record| record.account.status).map_err(refusal_error)
    }
}

fn set_limits(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    changes: &[Change],
    now: Timestamp,
) -> Result<IsoLimits> {
    let mut record = IsoRecord::load(conn, iso_id)?;
    let own = IsoLimits::read(&record.account.limits)?;
    if changes.is_empty() {
        return Ok(own);
    }
    let mut limits: Map<String, Value> = serde_json::from_str(&record.account.limits)
        .map_err(|error| Error::internal("limits of an ISO cannot be read").because(error))?;
    let mut entry = Entry::by_system(Some(iso_id), now, "iso.limit", "iso", iso_id.as_str());
    for (name, value) in changes {
        let before = limits.remove(name).unwrap_or(Value::Null);
        limits.extend(value.map(|value| (name.clone(), Value::from(value))));
        entry = entry.changed(name, before, *value);
    }
    let text = Value::Object(limits).to_string();
    let own: IsoLimits = serde_json::from_str(&text).map_err(|error| {
        let message = "the limits are merchants, stores, tpns, onboardings and requests; a rate \
                       must be at least 1";
        Error::invalid(message).because(error)
    })?;
    record.account.limits = text;
    record.store_change(conn, event_kinds::ISO_UPDATED, &["limits"], entry, now)?;
    Ok(own)
}

/// Every ISO with its account.
fn records(conn: &mut dyn Conn) -> Result<Vec<IsoRecord>> {
    let accounts = iso_account::list(conn)?.into_iter().map(|account| {
        let iso_id = account.iso_id.as_str().to_owned();
        (iso_id, account)
    });
    let mut accounts: std::collections::HashMap<String, IsoAccount> = accounts.collect();
    let rows = iso::list(conn)?.into_iter().map(|row| {
        let account = accounts.remove(row.iso_id.as_str());
        let account = account.unwrap_or_else(|| IsoAccount::plain(row.iso_id.clone()));
        IsoRecord { row, account }
    });
    Ok(rows.collect())
}
