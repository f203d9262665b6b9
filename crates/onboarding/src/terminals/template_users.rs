//! Who uses a template: its TPNs, and the stores that they are in.

use contract::{Answer, Endpoint, Failure, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{MerchantId, Result, Scope, StoreId, Tpn};

use super::templates;
use super::views::DeviceView;
use crate::Cx;
use crate::paging::{Page, page_default};
use crate::rows::template::TemplateRow;
use crate::rows::tpn::TpnRow;
use crate::rows::{device, merchant, tpn};

/// TPNs that are read at once.
const BATCH: i64 = 1_000;

/// Where a TPN is, and what it has.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminalView {
    /// The TPN number.
    tpn: Tpn,
    /// State of the TPN.
    status: String,
    /// Label shown for the terminal.
    default_label: Option<String>,
    /// Id of its merchant.
    merchant_id: MerchantId,
    /// Id of its store; none while it waits in the merchant's pool.
    store_id: Option<StoreId>,
    /// Trading name of the store.
    store_dba: Option<String>,
    /// Version of the template that it has now.
    template_version: Option<i64>,
    /// The device that is bound to it.
    device: Option<DeviceView>,
}

impl TerminalView {
    pub(super) fn of(conn: &mut dyn Conn, row: TpnRow) -> Result<Self> {
        let store = match &row.store_id {
            Some(id) => merchant::store_get(conn, &row.iso_id, id)?,
            None => None,
        };
        let device = device::get(conn, &row.iso_id, &row.tpn)?;
        Ok(Self {
            tpn: row.tpn,
            status: row.status,
            default_label: row.default_label,
            merchant_id: row.merchant_id,
            store_id: row.store_id,
            store_dba: store.map(|store| store.dba),
            template_version: row.template.map(|(_, version)| version),
            device: device.map(DeviceView::from),
        })
    }
}

/// The template's TPNs that are wanted; more than `max` are not looked for.
pub(super) fn all(
    conn: &mut dyn Conn,
    template: &TemplateRow,
    max: usize,
    is_wanted: impl Fn(&TpnRow) -> bool,
) -> Result<Vec<TpnRow>> {
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let (iso_id, id) = (&template.iso_id, &template.template_id);
        let batch = tpn::of_template(conn, iso_id, id, &after, BATCH)?;
        let Some(last) = batch.last() else { return Ok(found) };
        last.tpn.as_str().clone_into(&mut after);
        found.extend(batch.into_iter().filter(&is_wanted));
        if found.len() > max {
            return Ok(found);
        }
    }
}

/// List the TPNs that use a template, but for retired ones.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TemplateTpns {
    /// Name of the template.
    name: String,
    /// TPNs on the page.
    #[serde(default = "page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
    /// What `nextCursor` of the page before said.
    cursor: Option<Tpn>,
}

impl Endpoint<Cx> for TemplateTpns {
    const ROUTE: Route = Route::get("/v1/templates/{name}/tpns").scope(Scope::TpnsRead);
    type Reply = Page<TerminalView>;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let (iso_id, limit) = (cx.caller()?.iso_id().clone(), self.limit);
        let found = cx.platform.store.list(move |conn| {
            let template = templates::find(conn, &iso_id, &self.name)?;
            let after = self.cursor.as_ref().map_or("", Tpn::as_str);
            let rows = tpn::of_template(conn, &iso_id, &template.template_id, after, limit + 1)?;
            let mut found = Vec::with_capacity(rows.len());
            for row in rows {
                found.push((row.tpn.as_str().to_owned(), TerminalView::of(conn, row)?));
            }
            Ok(found)
        });
        Ok(Answer::new(Page::of(found.await?, limit)))
    }
}

/// List the stores whose TPNs use a template.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TemplateStores {
    /// Name of the template.
    name: String,
    /// Stores on the page.
    #[serde(default = "page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
    /// What `nextCursor` of the page before said.
    cursor: Option<StoreId>,
}

/// A store whose TPNs use a template.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateStoreView {
    /// Id of the store.
    store_id: StoreId,
    /// Trading name of the store.
    dba: String,
    /// Id of its merchant.
    merchant_id: MerchantId,
    /// How many of its TPNs use the template.
    tpns: i64,
}

impl Endpoint<Cx> for TemplateStores {
    const ROUTE: Route = Route::get("/v1/templates/{name}/stores").scope(Scope::TpnsRead);
    type Reply = Page<TemplateStoreView>;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let (iso_id, limit) = (cx.caller()?.iso_id().clone(), self.limit);
        let found = cx.platform.store.list(move |conn| {
            let template = templates::find(conn, &iso_id, &self.name)?;
            let after = self.cursor.as_ref().map_or("", StoreId::as_str);
            let id = &template.template_id;
            let mut found = Vec::new();
            for (store_id, tpns) in tpn::stores_of_template(conn, &iso_id, id, after, limit + 1)? {
                let Some(store) = merchant::store_get(conn, &iso_id, &store_id)? else { continue };
                let (dba, merchant_id) = (store.dba, store.merchant_id);
                let view = TemplateStoreView { store_id, dba, merchant_id, tpns };
                found.push((view.store_id.as_str().to_owned(), view));
            }
            Ok(found)
        });
        Ok(Answer::new(Page::of(found.await?, limit)))
    }
}
