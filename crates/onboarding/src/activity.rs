//! `GET /v1/merchants/{merchantId}/audit`: what was done to a merchant, its stores and its TPNs.
//!
//! The audit log names the fields that changed and leaves personal data out. What they were and
//! became is in the versions of the objects, **and is shown to those who may read these**.

use std::collections::BTreeMap;

use contract::{Answer, Endpoint, Failure, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{MerchantId, Result, Scope};

use crate::audit::{self, AuditShown};
use crate::change::{self, Record, TpnRecord};
use crate::fields::{Line, Moment};
use crate::merchants::views::{MerchantView, StoreView};
use crate::paging::{self, Page};
use crate::rows::audit::{self as entries, AuditFilter};
use crate::rows::merchant::{MerchantRow, StoreRow};
use crate::terminals::views::TpnView;
use crate::{Caller, Cx};

/// List what was done to a merchant, its stores and its TPNs, the newest first.
///
/// These are entries of the audit log. `values` has what fields were and became, for those who may
/// read the objects.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MerchantAudit {
    /// Id returned by the onboarding.
    merchant_id: MerchantId,
    /// What `nextCursor` of the page before said.
    #[schemars(range(min = 1))]
    cursor: Option<i64>,
    /// How many entries.
    #[serde(default = "paging::page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
    /// Not before this moment.
    from: Option<Moment>,
    /// Before this moment.
    until: Option<Moment>,
    /// A part of who did it, of what was done in words, of the object's id or of a changed field.
    search: Option<Line>,
}

/// Something that was done to a merchant, a store or a TPN.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ActivityView {
    #[serde(flatten)]
    entry: AuditShown,
    /// What changed fields were and became, by their names; what may not be shown is left out.
    values: BTreeMap<String, ValueChange>,
}

/// What a field was and became.
#[derive(Debug, Serialize, JsonSchema)]
struct ValueChange {
    /// Its value before.
    from: Value,
    /// Its value after.
    to: Value,
}

impl Endpoint<Cx> for MerchantAudit {
    const ROUTE: Route = Route::get("/v1/merchants/{merchantId}/audit").scope(Scope::AuditRead);
    type Reply = Page<ActivityView>;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        // What the caller did a moment ago is to be seen.
        cx.platform.audit_chain().await?;
        let (caller, limit) = (cx.caller()?.clone(), self.limit);
        let found = cx.platform.store.list(move |conn| {
            let iso_id = caller.iso_id();
            change::load::<MerchantRow>(conn, iso_id, self.merchant_id.as_str())?;
            let filter = AuditFilter {
                iso_id: Some(iso_id.clone()),
                before_seq: self.cursor,
                merchant_id: Some(self.merchant_id.clone()),
                from: self.from.as_ref().and_then(Moment::time),
                until: self.until.as_ref().and_then(Moment::time),
                search: audit::searched(conn, iso_id, self.search.as_ref())?,
                ..AuditFilter::default()
            };
            let links = entries::list(conn, &filter, limit + 1)?;
            let mut found = Vec::with_capacity(links.len());
            for (place, entry) in audit::shown(conn, links)? {
                let values = values(conn, &caller, &entry)?;
                found.push((place, ActivityView { entry, values }));
            }
            Ok(found)
        });
        Ok(Answer::new(Page::of(found.await?, limit)))
    }
}

/// What the fields that the entry names were and became.
fn values(
    conn: &mut dyn Conn,
    caller: &Caller,
    shown: &AuditShown,
) -> Result<BTreeMap<String, ValueChange>> {
    let entry = &shown.entry;
    let mut values = BTreeMap::new();
    let Some(changes) = entry.changes.as_object().filter(|changes| !changes.is_empty()) else {
        return Ok(values);
    };
    let mut version = |version: Option<i64>| match version {
        Some(version) => as_shown(conn, caller, (&entry.object, &entry.object_id), version),
        None => Ok(None),
    };
    let (before, after) = (version(entry.version_before)?, version(entry.version_after)?);
    for (field, change) in changes {
        let pair = match (change.get("from"), change.get("to"), &before, &after) {
            (Some(from), Some(to), ..) => (from.clone(), to.clone()),
            (_, _, Some(before), Some(after)) => (value(before, field), value(after, field)),
            _ => continue,
        };
        // What is not shown at all looks the same before and after.
        if pair.0 != pair.1 {
            values.insert(field.clone(), ValueChange { from: pair.0, to: pair.1 });
        }
    }
    Ok(values)
}

/// A field of an object or of its contact.
fn value(object: &Value, field: &str) -> Value {
    let contact = object.get("contact").and_then(|contact| contact.get(field));
    object.get(field).or(contact).cloned().unwrap_or_default()
}

/// The version of an object as it is shown to those who may read it.
fn as_shown(
    conn: &mut dyn Conn,
    caller: &Caller,
    (object, id): (&str, &str),
    version: i64,
) -> Result<Option<Value>> {
    let (iso_id, data_key) = (caller.iso_id(), caller.data_key());
    let may = |scope: Scope| caller.scopes().allows(scope);
    let view = match object {
        "merchant" if may(Scope::MerchantsRead) => {
            let row = change::load_version::<MerchantRow>(conn, iso_id, id, version)?;
            row.map(|row| MerchantView::of(row, data_key)).transpose()?.map(serde_json::to_value)
        }
        "store" if may(Scope::StoresRead) => {
            let row = change::load_version::<StoreRow>(conn, iso_id, id, version)?;
            let view = row.map(|row| {
                let at = Some(row.updated());
                StoreView::of(conn, row, data_key, at)
            });
            view.transpose()?.map(serde_json::to_value)
        }
        "tpn" if may(Scope::TpnsRead) => {
            let record = change::load_version::<TpnRecord>(conn, iso_id, id, version)?;
            let view = record.map(|record| {
                let at = Some(record.updated());
                TpnView::of(conn, record, at)
            });
            view.transpose()?.map(serde_json::to_value)
        }
        _ => None,
    };
    view.transpose().map_err(|error| {
        types::Error::internal("a version of an object cannot be shown").because(error)
    })
}
