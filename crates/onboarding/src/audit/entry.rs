//! An entry of the audit log, before it is linked to its chain.
//!
//! Entries name fields and harmless values; **personal data and secrets never get here**.

use db::Conn;
use serde_json::{Map, Value, json};
use types::{Error, IsoId, Result, Timestamp};

use super::actions;
use crate::caller::Origin;
use crate::cx::Cx;
use crate::rows::audit::Record;

/// Stands for a value that is not to be read.
const MASKED: &str = "***";

/// What an entry says came of it.
pub const DONE: &str = "done";
pub const REFUSED: &str = "refused";

/// Something that somebody did to an object, to be appended in the transaction of doing it.
#[derive(Clone, Debug)]
pub struct Entry {
    record: Record,
    changes: Map<String, Value>,
}

impl Entry {
    /// The same author's entry on another object.
    #[must_use]
    pub(crate) fn about(&self, action: &str, object: &str, object_id: &str) -> Self {
        let mut entry = self.clone();
        action.clone_into(&mut entry.record.action);
        object.clone_into(&mut entry.record.object);
        object_id.clone_into(&mut entry.record.object_id);
        entry
    }

    /// What the operator does from the command line, or the server by itself.
    pub fn by_system(
        iso_id: Option<&IsoId>,
        now: Timestamp,
        action: &str,
        object: &str,
        object_id: impl Into<String>,
    ) -> Self {
        Self::by("system", iso_id, now, action, object, object_id)
    }

    /// What the actor does, outside of any request.
    pub(crate) fn by(
        actor: &str,
        iso_id: Option<&IsoId>,
        now: Timestamp,
        action: &str,
        object: &str,
        object_id: impl Into<String>,
    ) -> Self {
        let record = Record {
            iso_id: iso_id.cloned(),
            at: now,
            actor: actor.to_owned(),
            address: None,
            request_id: None,
            action: action.to_owned(),
            object: object.to_owned(),
            object_id: object_id.into(),
            related: Vec::new(),
            version_before: None,
            version_after: None,
            changes: String::new(),
            result: DONE.to_owned(),
            reason: String::new(),
        };
        Self { record, changes: Map::new() }
    }

    /// The versions of the object before and after; a new object had none.
    #[must_use]
    pub fn versions(mut self, before: Option<i64>, after: Option<i64>) -> Self {
        (self.record.version_before, self.record.version_after) = (before, after);
        self
    }

    /// Another object that the same change made or touched; it is found by this id, too.
    #[must_use]
    pub fn related(mut self, id: &str) -> Self {
        self.record.related.push(id.to_owned());
        self
    }

    /// A field whose values may be read by everybody who reads the log.
    #[must_use]
    pub fn changed(mut self, field: &str, from: impl Into<Value>, to: impl Into<Value>) -> Self {
        let change = json!({ "from": from.into(), "to": to.into() });
        self.changes.insert(field.to_owned(), change);
        self
    }

    /// A field of which only the name may be told: personal data, and everything secret.
    #[must_use]
    pub fn changed_unseen(mut self, field: &str) -> Self {
        self.changes.insert(field.to_owned(), MASKED.into());
        self
    }

    /// The request that it is a part of.
    pub(crate) fn within(mut self, origin: &Origin) -> Self {
        self.record.request_id = Some(origin.request_id.clone());
        self.record.address = origin.address.map(|address| address.to_string());
        self
    }

    /// It was not done, for this reason.
    #[must_use]
    pub fn refused(mut self, reason: &str) -> Self {
        REFUSED.clone_into(&mut self.record.result);
        reason.clone_into(&mut self.record.reason);
        self
    }

    /// Why it was done, in the words of who did it. No personal data.
    #[must_use]
    pub fn because(mut self, reason: &str) -> Self {
        reason.clone_into(&mut self.record.reason);
        self
    }
}

impl Cx {
    /// What the caller does, for the audit log: `action` such as `merchant.suspend`, to the object
    /// of that kind and id.
    pub fn entry(&self, action: &str, object: &str, id: impl Into<String>) -> Result<Entry> {
        let (actor, iso_id) = match &self.device {
            Some(device) => (device.actor(), device.iso_id()),
            None => (self.caller()?.actor(), self.caller()?.iso_id()),
        };
        let entry = Entry::by(&actor, Some(iso_id), self.now, action, object, id);
        Ok(entry.within(&self.origin))
    }

    /// What an administrator of the site does to an ISO.
    pub(crate) fn entry_by_administrator(&self, iso_id: &IsoId, action: &str) -> Result<Entry> {
        let missing = || Error::internal("an administrator's route was reached without one");
        let actor = format!("user:{}", self.administrator.ok_or_else(missing)?);
        let entry = Entry::by(&actor, Some(iso_id), self.now, action, "iso", iso_id.as_str());
        Ok(entry.within(&self.origin))
    }

    /// What somebody does to an ISO who needs no credentials for it.
    pub(crate) fn entry_by_visitor(&self, iso_id: &IsoId, action: &str) -> Entry {
        let entry = Entry::by("visitor", Some(iso_id), self.now, action, "iso", iso_id.as_str());
        entry.within(&self.origin)
    }
}

/// Appends an entry. Call it in the transaction of the change.
pub fn append(conn: &mut dyn Conn, entry: &Entry) -> Result<()> {
    let action = entry.record.action.as_str();
    debug_assert_ne!(actions::words(action), action, "an action has words in `actions`");
    let changes = Value::Object(entry.changes.clone()).to_string();
    crate::rows::audit::append(conn, &Record { changes, ..entry.record.clone() })
}
