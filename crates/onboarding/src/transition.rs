//! Taking a step in the table of states ([`crate::lifecycle`]), with its effects, in one
//! transaction. What a step leaves for later is carried out by [`due_work`].

mod due_work;
mod link;

use contract::Failure;
use db::Conn;
use types::{MerchantId, Result, Timestamp, Tpn};

pub(crate) use self::link::{link_event, take_link_step};

use crate::Code;
use crate::change::{self, Action, Record, TpnRecord, record_change};
use crate::codes::refusal;
use crate::lifecycle::schedule::{self, DBA_KEPT_FOR, DueKind, SECRETS_KEPT_FOR};
use crate::lifecycle::{Effect, Machine, StoreStatus, To, TpnStatus};
use crate::perform::Outcome;
use crate::rows::merchant::{ListFilter, StoreRow};
use crate::rows::{self, device, merchant, tpn};

/// Stores, and TPNs, that one step may close at most.
const CLOSED_TOGETHER_MAX: usize = 5_000;

/// Takes the step, or says why the state does not allow it. `after` is the object with all that
/// changes beside its state.
pub(crate) fn take_step<R: Record>(
    conn: &mut dyn Conn,
    before: &R,
    mut after: R,
    action: &Action,
) -> Outcome<R> {
    let Some(step) = R::MACHINE.step(action.name, before.status()) else {
        return Err(not_allowed(R::MACHINE, action.name, before.status()));
    };
    let mut bound = false;
    if let (To::ActiveIfBound, Some(tpn)) = (step.to, before.tpn()) {
        if before.store_id().is_none() {
            let message = "The TPN has no store; reassign it to one.";
            return Err(refusal("", Code::NotActive, message));
        }
        bound = device::get(conn, before.iso_id(), tpn)?.is_some();
    }
    let target = step.target(before.status(), bound);
    if target != before.status() {
        after.set_status(target, action.reason.clone());
    }
    let after = record_change(conn, before, after, step.event, action)?;
    carry_out(conn, step.effect, &after, action)?;
    Ok(after)
}

pub(crate) fn not_allowed(machine: &Machine, action: &str, status: &str) -> Failure {
    let states = machine.allowed_from(action).join(", ");
    let message = if machine.is_final(status) {
        format!("It is {status}, which cannot be undone.")
    } else {
        format!("It is {status}; this is possible only when it is: {states}.")
    };
    refusal("", Code::IllegalTransition, message)
}

fn carry_out<R: Record>(
    conn: &mut dyn Conn,
    effect: Effect,
    record: &R,
    action: &Action,
) -> Outcome<()> {
    let (iso_id, now) = (record.iso_id(), action.now);
    match effect {
        Effect::Nothing => {}
        Effect::CloseAllBelow => return close_all_below(conn, record, action),
        Effect::ReleaseTpns => return release_tpns(conn, record, action),
        Effect::Unbind => {
            if let Some(tpn) = record.tpn() {
                device::delete(conn, iso_id, tpn)?;
            }
        }
        Effect::Retire => {
            if let Some(tpn) = record.tpn() {
                device::delete(conn, iso_id, tpn)?;
                device::pairing_delete(conn, iso_id, tpn)?;
            }
            schedule_work(conn, record, DueKind::ShredCredentials, now.plus(SECRETS_KEPT_FOR))?;
        }
    }
    Ok(())
}

fn schedule_work<R: Record>(
    conn: &mut dyn Conn,
    record: &R,
    kind: DueKind,
    due: Timestamp,
) -> Result<()> {
    rows::due_work::put(conn, &schedule::at(record.iso_id(), record.id(), kind, due))
}

fn close_all_below<R: Record>(conn: &mut dyn Conn, merchant: &R, action: &Action) -> Outcome<()> {
    let now = action.now;
    let (iso_id, merchant_id) = (merchant.iso_id(), merchant.merchant_id());
    let limit = i64::try_from(CLOSED_TOGETHER_MAX + 1).unwrap_or(i64::MAX);
    let stores = merchant::stores_of(conn, iso_id, merchant_id, limit)?;
    let tpns = tpn::of_merchant(conn, iso_id, merchant_id, limit)?;
    not_too_many(stores.len().max(tpns.len()))?;
    for row in tpns.into_iter().filter(|row| row.status != TpnStatus::Retired) {
        let record = TpnRecord::of_row(conn, row)?;
        take_step(conn, &record, record.clone(), &action.then("retire", &[]))?;
    }
    for store in stores.into_iter().filter(|store| store.status != StoreStatus::Closed) {
        let closing = action.then("close_with_merchant", &[]);
        take_step(conn, &store, store.clone(), &closing)?;
        schedule_work(conn, &store, DueKind::FreeStoreDba, now.plus(DBA_KEPT_FOR))?;
    }
    schedule_work(conn, merchant, DueKind::FreeMerchantDba, now.plus(DBA_KEPT_FOR))?;
    Ok(())
}

fn release_tpns<R: Record>(conn: &mut dyn Conn, store: &R, action: &Action) -> Outcome<()> {
    let now = action.now;
    let filter = ListFilter {
        store_id: Some(store.id().to_owned()),
        limit: i64::try_from(CLOSED_TOGETHER_MAX + 1).unwrap_or(i64::MAX),
        ..ListFilter::default()
    };
    let tpns = tpn::list(conn, store.iso_id(), &filter)?;
    not_too_many(tpns.len())?;
    for row in tpns.into_iter().filter(|row| row.status != TpnStatus::Retired) {
        let before = TpnRecord::of_row(conn, row)?;
        let mut after = before.clone();
        after.row.store_id = None;
        let release = action.then("release", &["storeId"]);
        take_step(conn, &before, after, &release)?;
    }
    schedule_work(conn, store, DueKind::FreeStoreDba, now.plus(DBA_KEPT_FOR))?;
    Ok(())
}

fn not_too_many(count: usize) -> Outcome<()> {
    if count <= CLOSED_TOGETHER_MAX {
        return Ok(());
    }
    let message = format!("Retire TPNs first: {CLOSED_TOGETHER_MAX} can be closed at once.");
    Err(refusal("", Code::LimitExceeded, message))
}

/// Whether TPNs of the merchant are at work, which a closing without force must not end.
pub(crate) fn has_tpns_at_work(conn: &mut dyn Conn, merchant: &impl Record) -> Result<bool> {
    for status in [TpnStatus::Active, TpnStatus::Attention, TpnStatus::Reassigning] {
        let filter = ListFilter {
            merchant_id: Some(merchant.id().to_owned()),
            status: Some(status.name().to_owned()),
            limit: 1,
            ..ListFilter::default()
        };
        if !tpn::list(conn, merchant.iso_id(), &filter)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves a TPN to another store of its merchant.
pub(crate) fn reassign(
    conn: &mut dyn Conn,
    before: &TpnRecord,
    store_id: &str,
    action: &Action,
) -> Outcome<TpnRecord> {
    let merchant_id: &MerchantId = before.merchant_id();
    let number: &Tpn = &before.row.tpn;
    let store: StoreRow = match change::load(conn, before.iso_id(), store_id) {
        Ok(store) => store,
        Err(error) if error.kind() == types::Kind::NotFound => {
            return Err(refusal("storeId", Code::NotFound, "Not found."));
        }
        Err(error) => return Err(error.into()),
    };
    if store.merchant_id != *merchant_id {
        let message = "The store belongs to another merchant.";
        return Err(refusal("storeId", Code::StoreMismatch, message));
    }
    if store.status != StoreStatus::Active {
        return Err(refusal("storeId", Code::InactiveParent, "It is not active."));
    }
    if before.row.store_id.as_ref() == Some(&store.store_id) {
        let message = format!("TPN {number} already exists.");
        return Err(refusal("storeId", Code::InvalidValue, message));
    }
    let mut after = before.clone();
    after.row.store_id = Some(store.store_id);
    take_step(conn, before, after, action)
}
