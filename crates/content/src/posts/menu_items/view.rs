//! An entry of a menu as clients see it, with what it points at.

use contract::rest::{CompiledItem, Links};
use db::filter::{Direction, Page};
use frame::Call;
use frame::text::render;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use site_rows::post::{self, PostFilter, PostOrder, PostRow, TermCondition};
use site_rows::term;
use types::Error;

use super::super::kind::{MENU_ITEM, kind_of};
use super::super::taxonomy::{ALL_TAXONOMIES, MENU};
use super::super::{address, records, status};

pub(super) const CUSTOM: &str = "custom";
pub(super) const POST_TYPE: &str = "post_type";
pub(super) const TAXONOMY: &str = "taxonomy";
/// Entries of a menu that pages show.
const ENTRIES_MAX: i64 = 100;
/// The relation of an entry to what it points at.
const OBJECT: &str = "wp:menu-item-object";

/// What an entry points at, as it is kept.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Target {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) object: String,
    pub(super) object_id: i64,
    pub(super) url: String,
    pub(super) window: String,
    pub(super) classes: Vec<String>,
    pub(super) xfn: Vec<String>,
}

impl Target {
    pub(super) fn of(row: &PostRow) -> Self {
        serde_json::from_str(&row.meta).unwrap_or_default()
    }
}

/// What an entry shows of what it points at.
struct Shown {
    title: String,
    url: String,
    label: &'static str,
    link: Option<(&'static str, Value)>,
    invalid: bool,
}

/// What the operations share.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) item: CompiledItem,
    pub(super) namespace: String,
}

impl Entries {
    pub(super) fn path(&self) -> String {
        format!("/{}/{}", self.namespace, MENU_ITEM.base)
    }
}

pub(super) fn prepare(
    entries: &Entries,
    call: &mut Call<'_>,
    row: &PostRow,
    context: &str,
) -> Result<(Value, Links), Error> {
    let target = Target::of(row);
    let shown = shown(&entries.namespace, call, row, &target)?;
    let menu = term::terms_of(call.conn()?, row.post_id, MENU.name)?;
    let object_id = if target.kind == CUSTOM { row.post_id } else { target.object_id };
    let listed = |texts: &[String]| match texts {
        [] => vec![String::new()],
        some => some.to_vec(),
    };
    let title = if row.title.is_empty() { &shown.title } else { &row.title };
    let fields = json!({
        "id": row.post_id,
        "title": { "rendered": render::title(title), "raw": row.title },
        "status": row.status,
        "url": shown.url,
        "attr_title": row.excerpt,
        "description": row.content,
        "type": target.kind,
        "type_label": shown.label,
        "object": target.object,
        "object_id": object_id,
        "parent": row.parent_id,
        "menu_order": row.menu_order,
        "target": target.window,
        "classes": listed(&target.classes),
        "xfn": listed(&target.xfn),
        "invalid": shown.invalid,
        "meta": [],
        "menus": menu.first().map_or(0, |term| term.term_id),
    });
    let visit = call.visit;
    let at = |path: &str| visit.rest(&format!("/{}/{path}", entries.namespace));
    let href = at(&format!("{}?post={}", MENU.base, row.post_id));
    let of_menu = json!({ "taxonomy": MENU.name, "embeddable": true, "href": href });
    let mut links = Links::new()
        .to("self", visit.rest(&format!("{}/{}", entries.path(), row.post_id)))
        .to("collection", visit.rest(&entries.path()))
        .to("about", at(&format!("types/{}", MENU_ITEM.name)))
        .add("wp:term", of_menu);
    if let Some((relation, target)) = shown.link {
        links = links.add(relation, target);
    }
    Ok((entries.item.filter_by_context(fields, context), links))
}

/// The entries of a menu that everybody may follow, in their order: titles and addresses.
pub(crate) fn menu_links(
    call: &mut Call<'_>,
    menu_id: i64,
) -> Result<Vec<(String, String)>, Error> {
    let wanted = PostFilter {
        kinds: vec![MENU_ITEM.name.to_owned()],
        statuses: vec![status::PUBLISH.to_owned()],
        terms: vec![TermCondition::AnyOf(vec![menu_id])],
        order: PostOrder::MenuOrder,
        direction: Direction::Ascending,
        page: Page { offset: 0, limit: ENTRIES_MAX },
        ..PostFilter::default()
    };
    let (rows, _) = post::list(call.conn()?, &wanted)?;
    let mut links = Vec::new();
    for row in &rows {
        let target = Target::of(row);
        if target.kind == POST_TYPE {
            let found = records::get(call, target.object_id)?;
            if !found.is_some_and(|found| address::is_publicly_viewable(&found)) {
                continue;
            }
        }
        let shown = shown("", call, row, &target)?;
        let title = if row.title.is_empty() { shown.title } else { row.title.clone() };
        if !shown.invalid && !shown.url.is_empty() {
            links.push((title, shown.url));
        }
    }
    Ok(links)
}

fn shown(
    namespace: &str,
    call: &mut Call<'_>,
    row: &PostRow,
    target: &Target,
) -> Result<Shown, Error> {
    let visit = call.visit;
    let at = |path: String| visit.rest(&format!("/{namespace}/{path}"));
    let nothing = |label: &'static str| Shown {
        title: String::new(),
        url: target.url.clone(),
        label,
        link: None,
        invalid: target.kind != CUSTOM,
    };
    match target.kind.as_str() {
        POST_TYPE => {
            let found = records::get(call, target.object_id)?;
            let Some(found) = found else { return Ok(nothing("Item")) };
            let Some(kind) = kind_of(&found.kind) else { return Ok(nothing("Item")) };
            let href = at(format!("{}/{}", kind.base, found.post_id));
            let link = json!({ "post_type": kind.name, "embeddable": true, "href": href });
            Ok(Shown {
                url: address::permalink(call.conn()?, visit, &found)?,
                title: found.title,
                label: kind.singular,
                link: Some((OBJECT, link)),
                invalid: found.status == status::TRASH,
            })
        }
        TAXONOMY => {
            let found = term::get(call.conn()?, target.object_id)?;
            let known = found.and_then(|term| {
                let taxonomy = ALL_TAXONOMIES.iter().find(|one| one.name == term.taxonomy)?;
                Some((term, *taxonomy))
            });
            let Some((term, taxonomy)) = known else { return Ok(nothing("Term")) };
            let href = at(format!("{}/{}", taxonomy.base, term.term_id));
            let link = json!({ "taxonomy": taxonomy.name, "embeddable": true, "href": href });
            Ok(Shown {
                url: address::term_link(call.conn()?, visit, taxonomy, &term)?,
                title: term.name,
                label: taxonomy.singular,
                link: Some((OBJECT, link)),
                invalid: false,
            })
        }
        _ => Ok(Shown { title: row.title.clone(), ..nothing("Custom Link") }),
    }
}
