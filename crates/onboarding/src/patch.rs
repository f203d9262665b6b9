//! What the patches of merchants, stores and TPNs share. A change names the version that it is
//! based on.
//!
//! Null, blanks and absence mean the same everywhere in this interface, so a field that is left out
//! stays as it is, and `clear` names the optional fields to empty.

use std::sync::Arc;

use contract::Answer;
use db::Conn;
use types::Result;
use vault::Vault;

use crate::change::{Action, Basis, Record, Viewed, load, record_change};
use crate::codes::refusal;
use crate::perform::Outcome;
use crate::{Caller, Code, Cx};

/// A patch: these fields, and those that all patches share.
macro_rules! patches {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident, $optional:ty {
            $($(#[doc = $field_doc:literal])* $(#[serde($($serde:tt)*)])? $field:ident: $type:ty,)*
        }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[doc = $field_doc])* $(#[serde($($serde)*)])? $field: $type,)*
            external_reference: Option<ExternalReference>,
            metadata: Option<Metadata>,
            /// Optional fields to empty.
            #[serde(default)]
            #[schemars(length(max = 20))]
            clear: Vec<$optional>,
            /// The version that the change is based on; instead of `If-Match`.
            expected_version: Option<i64>,
        }
    )*};
}
pub(crate) use patches;

/// Collects what really changes.
pub(crate) struct Edit {
    clear: Vec<String>,
    pub(crate) changed: Vec<&'static str>,
}

impl Edit {
    /// Nothing yet; `clear` names the optional fields to empty.
    pub(crate) fn new<'n>(clear: impl Iterator<Item = &'n str>) -> Self {
        Self { clear: clear.map(str::to_owned).collect(), changed: Vec::new() }
    }

    pub(crate) fn value<T: PartialEq>(
        &mut self,
        name: &'static str,
        target: &mut T,
        new: Option<T>,
    ) {
        if let Some(new) = new.filter(|new| new != target) {
            *target = new;
            self.changed.push(name);
        }
    }

    pub(crate) fn optional<T: PartialEq>(
        &mut self,
        name: &'static str,
        target: &mut Option<T>,
        new: Option<T>,
    ) {
        let cleared = self.clear.iter().any(|cleared| cleared == name);
        if new.is_some() || cleared {
            self.value(name, target, Some(new));
        }
    }
}

/// The fields that all objects share.
macro_rules! edit_notes {
    ($edit:expr, $patch:expr, $row:expr) => {{
        let reference = text_of($patch.external_reference.as_ref());
        $edit.optional("externalReference", &mut $row.external_reference, reference);
        let metadata = $patch.metadata.as_ref().and_then(Metadata::to_json);
        $edit.optional("metadata", &mut $row.metadata, metadata);
    }};
}
pub(crate) use edit_notes;

pub(crate) fn text_of(field: Option<&impl AsRef<str>>) -> Option<String> {
    field.map(|field| field.as_ref().to_owned())
}

fn refuse_final<R: Record>(record: &R) -> Outcome<()> {
    if !R::MACHINE.is_final(record.status()) {
        return Ok(());
    }
    let message = format!("It is {}, which cannot be undone.", record.status());
    Err(refusal("", Code::IllegalTransition, message))
}

/// What every patch needs beside its fields.
#[derive(Clone)]
pub(crate) struct Patcher {
    pub(crate) caller: Caller,
    pub(crate) vault: Arc<Vault>,
    basis: Basis,
    pub(crate) unique_email: bool,
    pub(crate) action: Action,
}

impl Patcher {
    pub(crate) fn new(cx: &Cx, expected_version: Option<i64>) -> Result<Self> {
        Ok(Self {
            caller: cx.caller()?.clone(),
            vault: Arc::clone(&cx.platform.vault),
            basis: Basis::of(cx, expected_version),
            unique_email: cx.platform.settings.unique_email,
            action: Action::of(cx, "update")?,
        })
    }

    /// The object to change, if it may be changed from this version.
    pub(crate) fn open<R: Record>(&self, conn: &mut dyn Conn, id: &str) -> Outcome<R> {
        let before: R = load(conn, self.caller.iso_id(), id)?;
        self.basis.check(before.version())?;
        refuse_final(&before)?;
        Ok(before)
    }

    /// Stores what changed; nothing changes if nothing differs.
    pub(crate) fn close<R: Viewed>(
        &self,
        conn: &mut dyn Conn,
        before: &R,
        after: R,
        edit: Edit,
        event: &'static str,
    ) -> Outcome<Answer<R::View>> {
        let stored = if edit.changed.is_empty() {
            before.clone()
        } else {
            let action = self.action.then("update", &edit.changed);
            record_change(conn, before, after, event, &action)?
        };
        Ok(stored.answer(conn, &self.caller)?)
    }
}
