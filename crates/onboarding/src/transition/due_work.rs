//! Carries out what was scheduled for objects, when its time has come; housekeeping calls it.
//!
//! Some of it always happens (a closed merchant's name becomes free, a retired TPN's credentials
//! are shredded), some is simulated by the sandbox. **Each is carried out once**, in the
//! transaction that takes it off the list; what the state of its object does not allow any more is
//! dropped.

use std::time::Duration;

use db::Conn;
use types::{Environment, IsoId, Result, Timestamp, Tpn};

use super::{take_link_step, take_step};
use crate::Platform;
use crate::audit::Entry;
use crate::change::{self, Action, Record as _, TpnRecord, record_change};
use crate::event_kinds;
use crate::lifecycle::ProfileStatus;
use crate::lifecycle::schedule::{self, DueKind};
use crate::perform::{Outcome, errors_outside};
use crate::rows::due_work::{self, DueWork};
use crate::rows::merchant::{MerchantRow, StoreRow};
use crate::rows::sale::SaleRow;
use crate::rows::{iso_account, onboarding_link, tpn};
use crate::simulation::is_refused_mid;

/// What one round carries out at most; the next round does the rest.
const ROUND_MAX: i64 = 100;
/// ISOs whose clock is ahead that one round looks at.
const AHEAD_MAX: i64 = 1_000;

impl Platform {
    /// Carries out what is due by the clock of each ISO, and returns how much it was.
    pub async fn due_work_round(&self) -> Result<usize> {
        let now = self.clock.now();
        let mut count = self.due_work_run(None, now).await?;
        for (iso_id, ahead) in self.clocks_ahead().await? {
            count += self.due_work_run(Some(iso_id), now.plus(ahead)).await?;
        }
        Ok(count)
    }

    /// The ISOs whose clock is ahead, and by how much. None in production.
    pub(crate) async fn clocks_ahead(&self) -> Result<Vec<(IsoId, Duration)>> {
        if self.environment == Environment::Production {
            return Ok(Vec::new());
        }
        let accounts = self.store.read(|conn| iso_account::ahead(conn, AHEAD_MAX)).await?;
        Ok(accounts.into_iter().map(|account| (account.iso_id, account.clock_ahead)).collect())
    }

    /// Carries out what is due `now`, of one ISO or of all, and returns how much it was.
    pub async fn due_work_run(&self, iso_id: Option<IsoId>, now: Timestamp) -> Result<usize> {
        let read = move |conn: &mut dyn Conn| due_work::list(conn, iso_id.as_ref(), now, ROUND_MAX);
        let due = self.store.read(read).await?;
        let count = due.len();
        for work in due {
            self.store.write(move |conn| carry_out(conn, &work, now)).await?;
        }
        Ok(count)
    }
}

fn carry_out(conn: &mut dyn Conn, work: &DueWork, now: Timestamp) -> Result<()> {
    if !due_work::take(conn, work)? {
        return Ok(());
    }
    let DueWork { iso_id, object_id, .. } = work;
    let by_system = |action| Action::by_system(iso_id, action, now);
    match DueKind::from_name(&work.kind) {
        Some(DueKind::FreeMerchantDba) => free_merchant_dba(conn, iso_id, object_id, now),
        Some(DueKind::FreeStoreDba) => free_store_dba(conn, iso_id, object_id, now),
        Some(DueKind::ShredCredentials) => {
            tpn::profiles_shred(conn, iso_id, &Tpn::new(object_id)).map(drop)
        }
        Some(DueKind::ExpireSale) => expire_sale(conn, iso_id, object_id, &by_system("expire")),
        Some(DueKind::ExpireLink) => expire_link(conn, iso_id, object_id, now),
        Some(DueKind::Approve) => step_merchant(conn, iso_id, object_id, &by_system("approve")),
        Some(DueKind::Reject) => step_merchant(conn, iso_id, object_id, &by_system("reject")),
        Some(DueKind::Suspend) => step_merchant(conn, iso_id, object_id, &by_system("suspend")),
        Some(DueKind::RefuseCredentials) => refuse_credentials(conn, iso_id, object_id, now),
        None => Ok(()),
    }
}

/// A step that the state does not allow any more changes nothing, so that its refusal can be
/// dropped without undoing the transaction.
fn unless_refused<T>(step: Outcome<T>) -> Result<()> {
    errors_outside(step).map(drop)
}

fn step_merchant(conn: &mut dyn Conn, iso_id: &IsoId, id: &str, action: &Action) -> Result<()> {
    let Some(merchant) = MerchantRow::load(conn, iso_id, id)? else { return Ok(()) };
    unless_refused(take_step(conn, &merchant, merchant.clone(), action))
}

fn expire_sale(conn: &mut dyn Conn, iso_id: &IsoId, id: &str, action: &Action) -> Result<()> {
    let Some(sale) = SaleRow::load(conn, iso_id, id)? else { return Ok(()) };
    unless_refused(take_step(conn, &sale, sale.clone(), action))
}

fn expire_link(conn: &mut dyn Conn, iso_id: &IsoId, id: &str, now: Timestamp) -> Result<()> {
    let Some(link) = onboarding_link::get(conn, iso_id, id)? else { return Ok(()) };
    if link.expires > now {
        // It was sent again meanwhile, and has its days again.
        let later = schedule::at(iso_id, id, DueKind::ExpireLink, link.expires);
        return due_work::put(conn, &later);
    }
    let entry = Entry::by_system(Some(iso_id), now, "", "", "");
    unless_refused(take_link_step(conn, &link, link.clone(), "expire", &entry, now))
}

fn refuse_credentials(conn: &mut dyn Conn, iso_id: &IsoId, id: &str, now: Timestamp) -> Result<()> {
    let Some(before) = TpnRecord::load(conn, iso_id, id)? else { return Ok(()) };
    let mut after = before.clone();
    for profile in &mut after.profiles {
        if is_refused_mid(profile.mid.as_deref()) {
            ProfileStatus::Failed.name().clone_into(&mut profile.status);
        }
    }
    let action = Action::by_system(iso_id, "fail", now).then("fail", &["tpnProcessor"]);
    unless_refused(take_step(conn, &before, after, &action))
}

/// A character that no dba has parts the name from the id that makes it unique.
fn freed(dba_key: &str, id: &str) -> String {
    format!("{dba_key}\u{1f}{id}")
}

fn free_merchant_dba(conn: &mut dyn Conn, iso_id: &IsoId, id: &str, now: Timestamp) -> Result<()> {
    let merchant: MerchantRow = change::load(conn, iso_id, id)?;
    let dba_key = freed(&merchant.dba_key, id);
    let after = MerchantRow { dba_key, ..merchant.clone() };
    record_change(conn, &merchant, after, event_kinds::MERCHANT_UPDATED, &freeing(iso_id, now))
        .map(drop)
}

fn free_store_dba(conn: &mut dyn Conn, iso_id: &IsoId, id: &str, now: Timestamp) -> Result<()> {
    let store: StoreRow = change::load(conn, iso_id, id)?;
    let after = StoreRow { dba_key: freed(&store.dba_key, id), ..store.clone() };
    record_change(conn, &store, after, event_kinds::STORE_UPDATED, &freeing(iso_id, now)).map(drop)
}

fn freeing(iso_id: &IsoId, now: Timestamp) -> Action {
    Action::by_system(iso_id, "free_dba", now).then("free_dba", &["dba"])
}
