//! One term as clients name and see it.

use contract::rest::{CompiledItem, Links, Refusal, Stop};
use frame::Call;
use serde_json::{Value, json};
use site_rows::term::{self, TermRow};
use types::Error;

use super::kind::ALL_KINDS;
use super::taxonomy::Taxonomy;
use super::{address, records};

/// What the operations on one taxonomy share.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) taxonomy: &'static Taxonomy,
    pub(super) item: CompiledItem,
    pub(super) namespace: String,
}

impl Collection {
    pub(super) fn path(&self) -> String {
        format!("/{}/{}", self.namespace, self.taxonomy.base)
    }

    pub(super) fn path_of(&self, id: i64) -> String {
        format!("{}/{id}", self.path())
    }
}

/// The term of the taxonomy that the parameter `id` names.
pub(super) fn term_of(taxonomy: &Taxonomy, call: &mut Call<'_>) -> Result<TermRow, Stop> {
    let id = call.params.int("id").unwrap_or_default();
    let found = if id > 0 { term::get(call.conn()?, id)? } else { None };
    let found = found.filter(|row| row.taxonomy == taxonomy.name);
    let missing = || Refusal::new(404, "rest_term_invalid", "Invalid term ID.");
    found.ok_or_else(|| missing().into())
}

/// The term in a context, and its links.
pub(super) fn prepare(
    collection: &Collection,
    call: &mut Call<'_>,
    row: &TermRow,
    context: &str,
) -> Result<(Value, Links), Error> {
    let (visit, taxonomy) = (call.visit, collection.taxonomy);
    let link = address::term_link(call.conn()?, visit, taxonomy, row)?;
    let count = records::term_count(call, taxonomy, row)?;
    let mut fields = json!({
        "id": row.term_id,
        "count": count,
        "description": row.description,
        "link": link,
        "name": row.name,
        "slug": row.slug,
        "taxonomy": row.taxonomy,
    });
    if let Some(members) = fields.as_object_mut() {
        if taxonomy.hierarchical {
            members.insert(String::from("parent"), json!(row.parent_id));
        }
        members.insert(String::from("meta"), json!([]));
        if taxonomy.of_menus {
            for name in ["count", "link", "taxonomy"] {
                members.shift_remove(name);
            }
            let details: Value = serde_json::from_str(&row.details).unwrap_or(Value::Null);
            let adds = details.get("auto_add").and_then(Value::as_bool).unwrap_or_default();
            members.insert(String::from("locations"), json!([]));
            members.insert(String::from("auto_add"), json!(adds));
        }
        if taxonomy.ordered {
            members.insert(String::from("menu_order"), json!(row.menu_order));
        }
    }
    let namespace = &collection.namespace;
    let mut links = Links::new()
        .to("self", visit.rest(&collection.path_of(row.term_id)))
        .to("collection", visit.rest(&collection.path()))
        .to("about", visit.rest(&format!("/{namespace}/taxonomies/{}", taxonomy.name)));
    if row.parent_id != 0 {
        links = links.embeddable("up", visit.rest(&collection.path_of(row.parent_id)));
    }
    for kind in ALL_KINDS {
        if kind.taxonomies.iter().any(|other| other.name == taxonomy.name) {
            let path = format!("/{namespace}/{}?{}={}", kind.base, taxonomy.base, row.term_id);
            links = links.to("wp:post_type", visit.rest(&path));
        }
    }
    Ok((collection.item.filter_by_context(fields, context), links))
}
