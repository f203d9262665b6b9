//! Templates of terminal parameters, in versions, and what an ISO sets for all its TPNs.

use contract::{Answer, Draft, Endpoint, Failure, Route};
use db::outbox::Event;
use db::{Conn, outbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use site_rows::iso;
use types::{Error, IsoId, Result, Scope, TemplateId};

use crate::audit::{self, Entry};
use crate::change::{Basis, json_object, object_not_found, tagged};
use crate::codes::refusal;
use crate::event_kinds;
use crate::fields::TemplateName;
use crate::id_source::random_text;
use crate::paging::{Page, page_default};
use crate::perform::{Outcome, perform};
use crate::rows::template::{DefaultsRow, TemplateRow};
use crate::rows::{template, tpn};
use crate::terminals::parameters::{self, Parameters};
use crate::{Code, Cx, Platform, text};

/// A template.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateView {
    /// Id of the template.
    template_id: TemplateId,
    /// What `tpnAssignTemplate` says.
    name: String,
    /// `active`, or `retired` when no TPN can be given it any more.
    status: String,
    /// The version that is shown.
    version: i64,
    /// What it sets; all else is taken from the layers below.
    parameters: Map<String, Value>,
    /// How many TPNs have which version of it, the newest first; retired ones are left out.
    used_by: Vec<TemplateUse>,
    /// When it was created.
    created: String,
    /// When it last changed.
    updated: String,
}

/// TPNs that have a version of a template.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TemplateUse {
    /// The version.
    version: i64,
    /// How many TPNs have it.
    tpns: i64,
}

impl TemplateView {
    fn of(conn: &mut dyn Conn, row: TemplateRow) -> Result<Self> {
        let status = if row.retired.is_some() { "retired" } else { "active" };
        let used_by = tpn::versions_of_template(conn, &row.iso_id, &row.template_id)?;
        let used_by = used_by.into_iter().map(|(version, tpns)| TemplateUse { version, tpns });
        Ok(Self {
            used_by: used_by.collect(),
            template_id: row.template_id,
            name: row.name,
            status: status.to_owned(),
            version: row.version,
            parameters: json_object(&row.parameters)?,
            created: row.created.to_string(),
            updated: row.updated.to_string(),
        })
    }
}

/// List templates.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TemplateList {
    /// Templates on the page.
    #[serde(default = "page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
    /// What `nextCursor` of the page before said.
    cursor: Option<TemplateName>,
}

impl Endpoint<Cx> for TemplateList {
    const ROUTE: Route = Route::get("/v1/templates").scope(Scope::TemplatesRead);
    type Reply = Page<TemplateView>;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let (iso_id, limit) = (cx.caller()?.iso_id().clone(), self.limit);
        let rows = cx.platform.store.list(move |conn| {
            let after = self.cursor.as_ref().map_or("", TemplateName::as_str);
            let rows = template::page(conn, &iso_id, after, limit + 1)?;
            let view = |row: TemplateRow| Ok((row.name.clone(), TemplateView::of(conn, row)?));
            rows.into_iter().map(view).collect::<Result<Vec<_>>>()
        });
        Ok(Answer::new(Page::of(rows.await?, limit)))
    }
}

/// Show a template.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TemplateGet {
    /// Name of the template.
    name: String,
    /// Show this version of it.
    version: Option<i64>,
}

impl Endpoint<Cx> for TemplateGet {
    const ROUTE: Route = Route::get("/v1/templates/{name}").scope(Scope::TemplatesRead);
    type Reply = TemplateView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<TemplateView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let row = cx.platform.store.read(move |conn| {
            let mut row = find(conn, &iso_id, &self.name)?;
            if let Some(version) = self.version {
                let past = template::version_parameters(conn, &iso_id, &row.template_id, version)?;
                row.parameters = past.ok_or_else(object_not_found)?;
                row.version = version;
            }
            Ok((row.version, TemplateView::of(conn, row)?))
        });
        let (version, view) = row.await?;
        Ok(tagged(version, view))
    }
}

pub(super) fn find(conn: &mut dyn Conn, iso_id: &IsoId, name: &str) -> Result<TemplateRow> {
    let found = if text::is_alphanumeric(name) { template::get(conn, iso_id, name)? } else { None };
    found.ok_or_else(object_not_found)
}

/// Create a template.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TemplateCreate {
    /// Name of the template: 5 to 30 letters and digits, unlike all others of the ISO.
    name: TemplateName,
    /// What it sets.
    #[serde(default)]
    parameters: Parameters,
}

impl Endpoint<Cx> for TemplateCreate {
    const ROUTE: Route = Route::post("/v1/templates").scope(Scope::TemplatesWrite);
    type Reply = TemplateView;

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        parameters::check(draft);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<TemplateView>, Failure> {
        let row = TemplateRow {
            iso_id: cx.caller()?.iso_id().clone(),
            template_id: new_template_id()?,
            name: self.name.into_string(),
            version: 1,
            parameters: self.parameters.to_json(),
            created: cx.now,
            updated: cx.now,
            retired: None,
        };
        let entry = cx.entry("", "", "")?;
        perform(cx, move |conn| {
            if !template::insert(conn, &row)? {
                let message = "The ISO already has a template with this name.";
                return Err(refusal("name", Code::AlreadyExists, message));
            }
            announce(conn, &row, event_kinds::TEMPLATE_CREATED, &["parameters"], &entry)?;
            Ok(tagged(row.version, TemplateView::of(conn, row.clone())?))
        })
        .await
    }
}

/// Give a template a new version.
///
/// TPNs keep the version that they were given; `POST /v1/templates/{name}/rollouts` moves them to
/// the newest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplatePatch {
    /// Name of the template.
    name: String,
    /// What it sets from now on, in the place of what it set before.
    parameters: Parameters,
    /// The version that the change is based on; instead of `If-Match`.
    expected_version: Option<i64>,
}

impl Endpoint<Cx> for TemplatePatch {
    const ROUTE: Route = Route::patch("/v1/templates/{name}").scope(Scope::TemplatesWrite);
    type Reply = TemplateView;

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        parameters::check(draft);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<TemplateView>, Failure> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.now);
        let entry = cx.entry("defaults.updated", "defaults", iso_id.as_str())?;
        let basis = Basis::of(cx, self.expected_version);
        perform(cx, move |conn| {
            let mut row = find(conn, &iso_id, &self.name)?;
            basis.check(row.version)?;
            refuse_retired(&row)?;
            let parameters = self.parameters.to_json();
            if parameters != row.parameters {
                row.parameters = parameters;
                row.version += 1;
                row.updated = now;
                template::update(conn, &row)?;
                announce(conn, &row, event_kinds::TEMPLATE_UPDATED, &["parameters"], &entry)?;
            }
            Ok(tagged(row.version, TemplateView::of(conn, row)?))
        })
        .await
    }
}

fn refuse_retired(row: &TemplateRow) -> Outcome<()> {
    if row.retired.is_none() {
        return Ok(());
    }
    Err(refusal("", Code::IllegalTransition, "It is retired, which cannot be undone."))
}

/// Retire a template.
///
/// No TPN can be given it any more; those that have it keep it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TemplateRetire {
    /// Name of the template.
    name: String,
}

impl Endpoint<Cx> for TemplateRetire {
    const ROUTE: Route = Route::post("/v1/templates/{name}/retire").scope(Scope::TemplatesWrite);
    type Reply = TemplateView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<TemplateView>, Failure> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.now);
        let entry = cx.entry("defaults.updated", "defaults", iso_id.as_str())?;
        perform(cx, move |conn| {
            let mut row = find(conn, &iso_id, &self.name)?;
            refuse_retired(&row)?;
            row.retired = Some(now);
            row.updated = now;
            template::update(conn, &row)?;
            announce(conn, &row, event_kinds::TEMPLATE_RETIRED, &["status"], &entry)?;
            Ok(tagged(row.version, TemplateView::of(conn, row)?))
        })
        .await
    }
}

/// Tells followers and the audit log of a change.
fn announce(
    conn: &mut dyn Conn,
    row: &TemplateRow,
    kind: &'static str,
    changed: &[&str],
    entry: &Entry,
) -> Result<()> {
    let entry = entry.about(kind, "template", row.template_id.as_str());
    let entry = entry.versions(Some(row.version - 1).filter(|v| *v > 0), Some(row.version));
    audit::append(conn, &entry)?;
    let status = if row.retired.is_some() { "retired" } else { "active" };
    let payload = json!({
        "object": "template", "id": row.template_id, "status": status, "version": row.version,
        "changed": changed,
    });
    outbox::append(
        conn,
        &Event {
            iso_id: Some(row.iso_id.clone()),
            kind,
            object_id: row.template_id.as_str().to_owned(),
            payload: payload.to_string(),
            created: row.updated,
        },
    )
}

/// Show what the ISO sets for all its TPNs.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DefaultsGet {}

/// What the ISO sets for all its TPNs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DefaultsView {
    /// Grows by one with every change; 0 if nothing was ever set.
    version: i64,
    /// What it sets; all else is the default.
    parameters: Map<String, Value>,
}

impl Endpoint<Cx> for DefaultsGet {
    const ROUTE: Route = Route::get("/v1/defaults").scope(Scope::TemplatesRead);
    type Reply = DefaultsView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<DefaultsView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let row = cx.platform.store.read(move |conn| template::defaults(conn, &iso_id)).await?;
        let version = row.as_ref().map_or(0, |row| row.version);
        let parameters = row.map_or(Ok(Map::new()), |row| json_object(&row.parameters))?;
        Ok(tagged(version, DefaultsView { version, parameters }))
    }
}

/// Set parameters for all TPNs of the ISO.
///
/// Terminals get them with their next download, unless a template or the TPN itself says otherwise.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DefaultsPut {
    /// What to set, in the place of what was set before.
    parameters: Parameters,
    /// The version that the change is based on; instead of `If-Match`.
    expected_version: Option<i64>,
}

impl Endpoint<Cx> for DefaultsPut {
    const ROUTE: Route = Route::put("/v1/defaults").scope(Scope::TemplatesWrite);
    type Reply = DefaultsView;

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        parameters::check(draft);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<DefaultsView>, Failure> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.now);
        let entry = cx.entry("defaults.updated", "defaults", iso_id.as_str())?;
        let basis = Basis::of(cx, self.expected_version);
        perform(cx, move |conn| {
            let before = template::defaults(conn, &iso_id)?;
            let version = before.map_or(0, |row| row.version);
            basis.check(version)?;
            let row = DefaultsRow {
                iso_id: iso_id.clone(),
                version: version + 1,
                parameters: self.parameters.to_json(),
                updated: now,
            };
            audit::append(conn, &entry.clone().versions(Some(version), Some(row.version)))?;
            put_defaults(conn, &row)
        })
        .await
    }
}

fn put_defaults(conn: &mut dyn Conn, row: &DefaultsRow) -> Outcome<Answer<DefaultsView>> {
    template::defaults_put(conn, row)?;
    let payload = json!({
        "object": "defaults", "id": row.iso_id, "status": "active", "version": row.version,
        "changed": ["parameters"],
    });
    outbox::append(
        conn,
        &Event {
            iso_id: Some(row.iso_id.clone()),
            kind: event_kinds::DEFAULTS_UPDATED,
            object_id: row.iso_id.as_str().to_owned(),
            payload: payload.to_string(),
            created: row.updated,
        },
    )?;
    let parameters = json_object(&row.parameters)?;
    Ok(tagged(row.version, DefaultsView { version: row.version, parameters }))
}

/// The methods here block; they are for the command line.
impl Platform {
    pub fn template_create(
        &self,
        iso_id: &IsoId,
        name: &str,
        parameters: &Value,
    ) -> Result<TemplateId> {
        if !text::is_alphanumeric(name) || !(5..=30).contains(&name.len()) {
            return Err(Error::invalid("a template's name must be 5 to 30 letters and digits"));
        }
        let parameters = Parameters::read(parameters)?.to_json();
        let template_id = new_template_id()?;
        let now = self.clock.now();
        let row = TemplateRow {
            iso_id: iso_id.clone(),
            template_id: template_id.clone(),
            name: name.to_owned(),
            version: 1,
            parameters,
            created: now,
            updated: now,
            retired: None,
        };
        let inserted = self.store.write_blocking(move |conn| {
            if iso::get(conn, &row.iso_id)?.is_none() {
                return Err(Error::not_found(format!("ISO {} not found", row.iso_id)));
            }
            let inserted = template::insert(conn, &row)?;
            if inserted {
                let (iso, id) = (Some(&row.iso_id), row.template_id.as_str());
                let entry = Entry::by_system(iso, row.created, "template.create", "template", id);
                audit::append(conn, &entry.versions(None, Some(row.version)))?;
            }
            Ok(inserted)
        })?;
        if !inserted {
            return Err(Error::conflict(format!("the ISO already has a template {name}")));
        }
        Ok(template_id)
    }

    pub fn template_list(&self) -> Result<Vec<TemplateRow>> {
        self.store.read_blocking(template::list)
    }
}

fn new_template_id() -> Result<TemplateId> {
    Ok(TemplateId::new(format!("tpl_{}", random_text(16)?)))
}
