//! Steps of onboarding links: the row, its event and its entry in the audit log at once. A link has
//! no past versions, because **what a merchant entered is to be gone when it is erased.**

use db::Conn;
use db::outbox::{self, Event};
use serde_json::{Value, json};
use types::Timestamp;

use super::not_allowed;
use crate::audit::{self, Entry};
use crate::lifecycle::LINK;
use crate::perform::Outcome;
use crate::rows::onboarding_link::{self, OnboardingLinkRow};

/// Takes the step, or says why the state does not allow it. `after` is the link with all that
/// changes beside its state; the entry says who takes it.
pub(crate) fn take_link_step(
    conn: &mut dyn Conn,
    before: &OnboardingLinkRow,
    mut after: OnboardingLinkRow,
    action: &str,
    entry: &Entry,
    now: Timestamp,
) -> Outcome<OnboardingLinkRow> {
    let Some(step) = LINK.step(action, &before.status) else {
        return Err(not_allowed(&LINK, action, &before.status));
    };
    step.target(&before.status, false).clone_into(&mut after.status);
    after.version = before.version + 1;
    after.updated = now.max(before.updated);
    onboarding_link::update(conn, &after)?;
    outbox::append(conn, &link_event(&after, step.event, now))?;
    let action = format!("{}.{action}", LINK.object);
    let mut entry = entry
        .about(&action, LINK.object, &after.link_id)
        .versions(Some(before.version), Some(after.version))
        .changed("status", &*before.status, &*after.status);
    if let Some(merchant_id) = &after.merchant_id {
        entry = entry.related(merchant_id.as_str());
    }
    audit::append(conn, &entry)?;
    Ok(after)
}

/// The thin body of an event: ids, state and version, never personal data.
pub(crate) fn link_event(link: &OnboardingLinkRow, kind: &'static str, now: Timestamp) -> Event {
    let mut data = json!({ "object": LINK.object, "id": link.link_id });
    if let Value::Object(members) = &mut data {
        members.extend(link.merchant_id.iter().map(|id| ("merchantId".to_owned(), json!(id))));
        members.extend(link.store_id.iter().map(|id| ("storeId".to_owned(), json!(id))));
        members.extend(link.tpn.iter().map(|tpn| ("tpn".to_owned(), json!(tpn))));
        members.insert("status".into(), json!(link.status));
        members.insert("version".into(), json!(link.version));
        members.insert("changed".into(), json!(["status"]));
    }
    Event {
        iso_id: Some(link.iso_id.clone()),
        kind,
        object_id: link.link_id.clone(),
        payload: data.to_string(),
        created: now,
    }
}
