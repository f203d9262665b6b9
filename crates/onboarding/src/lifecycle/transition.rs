//! Taking a step in the table of states, with its effects, in one transaction.

use store::merchant::{ListFilter, StoreRow};
use store::{Conn, device, due_work, merchant, tpn};
use types::{MerchantId, Result, Tpn};

use crate::Code;
use crate::change::{self, Record, TpnRecord, Wish, record_change};
use crate::lifecycle::due_work::{self as due, DBA_KEPT_FOR, Kind, SECRETS_KEPT_FOR};
use crate::lifecycle::{Effect, To};
use crate::perform::{Verdict, accept, refusal};

/// Stores, and TPNs, that one step may close at most.
const CLOSED_TOGETHER_MAX: usize = 5_000;

/// Takes the step, or says why the state does not allow it. `after` is the object with all that
/// changes beside its state.
pub(crate) fn take_step<R: Record>(
    conn: &mut dyn Conn,
    before: &R,
    mut after: R,
    wish: &Wish,
) -> Verdict<R> {
    let Some(step) = R::MACHINE.step(wish.action, before.status()) else {
        return Ok(Err(not_allowed::<R>(wish.action, before.status())));
    };
    let mut bound = false;
    if let (To::ActiveIfBound, Some(tpn)) = (step.to, before.tpn()) {
        if before.store_id().is_none() {
            let message = "The TPN has no store; reassign it to one.";
            return Ok(Err(refusal("", Code::NotActive, message)));
        }
        bound = device::get(conn, before.iso_id(), tpn)?.is_some();
    }
    let target = step.target(before.status(), bound);
    if target != before.status() {
        after.set_status(target, wish.reason.clone());
    }
    let after = record_change(conn, before, after, step.event, wish)?;
    accept!(carry_out(conn, step.effect, &after, wish)?);
    Ok(Ok(after))
}

fn not_allowed<R: Record>(action: &str, status: &str) -> contract::Issues {
    let states = R::MACHINE.allowed_from(action).join(", ");
    let message = if R::MACHINE.is_final(status) {
        format!("It is {status}, which is final.")
    } else {
        format!("It is {status}; this is possible only when it is: {states}.")
    };
    refusal("", Code::IllegalTransition, message)
}

fn carry_out<R: Record>(
    conn: &mut dyn Conn,
    effect: Effect,
    record: &R,
    wish: &Wish,
) -> Verdict<()> {
    let (iso_id, now) = (record.iso_id(), wish.now);
    match effect {
        Effect::Nothing => {}
        Effect::CloseAllBelow => return close_all_below(conn, record, wish),
        Effect::ReleaseTpns => return release_tpns(conn, record, wish),
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
            let shred = due::at(record, Kind::ShredCredentials, now.plus(SECRETS_KEPT_FOR));
            due_work::put(conn, &shred)?;
        }
    }
    Ok(Ok(()))
}

fn close_all_below<R: Record>(conn: &mut dyn Conn, merchant: &R, wish: &Wish) -> Verdict<()> {
    let now = wish.now;
    let (iso_id, merchant_id) = (merchant.iso_id(), merchant.merchant_id());
    let limit = i64::try_from(CLOSED_TOGETHER_MAX + 1).unwrap_or(i64::MAX);
    let stores = merchant::stores_of(conn, iso_id, merchant_id, limit)?;
    let tpns = tpn::of_merchant(conn, iso_id, merchant_id, limit)?;
    accept!(not_too_many(stores.len().max(tpns.len())));
    for row in tpns.into_iter().filter(|row| row.status != "retired") {
        let record = TpnRecord::of_row(conn, row)?;
        accept!(take_step(conn, &record, record.clone(), &wish.then("retire", &[]))?);
    }
    for store in stores.into_iter().filter(|store| store.status != "closed") {
        let closing = wish.then("close_with_merchant", &[]);
        accept!(take_step(conn, &store, store.clone(), &closing)?);
        due_work::put(conn, &due::at(&store, Kind::FreeStoreDba, now.plus(DBA_KEPT_FOR)))?;
    }
    let free = due::at(merchant, Kind::FreeMerchantDba, now.plus(DBA_KEPT_FOR));
    due_work::put(conn, &free)?;
    Ok(Ok(()))
}

fn release_tpns<R: Record>(conn: &mut dyn Conn, store: &R, wish: &Wish) -> Verdict<()> {
    let now = wish.now;
    let filter = ListFilter {
        store_id: Some(store.id().to_owned()),
        limit: i64::try_from(CLOSED_TOGETHER_MAX + 1).unwrap_or(i64::MAX),
        ..ListFilter::default()
    };
    let tpns = tpn::list(conn, store.iso_id(), &filter)?;
    accept!(not_too_many(tpns.len()));
    for row in tpns.into_iter().filter(|row| row.status != "retired") {
        let before = TpnRecord::of_row(conn, row)?;
        let mut after = before.clone();
        after.row.store_id = None;
        let release = wish.then("release", &["storeId"]);
        accept!(take_step(conn, &before, after, &release)?);
    }
    due_work::put(conn, &due::at(store, Kind::FreeStoreDba, now.plus(DBA_KEPT_FOR)))?;
    Ok(Ok(()))
}

fn not_too_many(count: usize) -> std::result::Result<(), contract::Issues> {
    if count <= CLOSED_TOGETHER_MAX {
        return Ok(());
    }
    let message = format!("Retire TPNs first: {CLOSED_TOGETHER_MAX} can be closed at once.");
    Err(refusal("", Code::LimitExceeded, message))
}

/// Whether TPNs of the merchant are at work, which a closing without force must not end.
pub(crate) fn has_tpns_at_work(conn: &mut dyn Conn, merchant: &impl Record) -> Result<bool> {
    for status in ["active", "attention", "reassigning"] {
        let filter = ListFilter {
            merchant_id: Some(merchant.id().to_owned()),
            status: Some(status.to_owned()),
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
    wish: &Wish,
) -> Verdict<TpnRecord> {
    let merchant_id: &MerchantId = before.merchant_id();
    let number: &Tpn = &before.row.tpn;
    let store: StoreRow = match change::load(conn, before.iso_id(), store_id) {
        Ok(store) => store,
        Err(error) if error.kind() == types::Kind::NotFound => {
            return Ok(Err(refusal("storeId", Code::NotFound, "There is no such id.")));
        }
        Err(error) => return Err(error),
    };
    if store.merchant_id != *merchant_id {
        let message = "The store belongs to another merchant.";
        return Ok(Err(refusal("storeId", Code::StoreMismatch, message)));
    }
    if store.status != "active" {
        return Ok(Err(refusal("storeId", Code::InactiveParent, "It is not active.")));
    }
    if before.row.store_id.as_ref() == Some(&store.store_id) {
        let message = format!("The TPN {number} is there already.");
        return Ok(Err(refusal("storeId", Code::InvalidValue, message)));
    }
    let mut after = before.clone();
    after.row.store_id = Some(store.store_id);
    take_step(conn, before, after, wish)
}
