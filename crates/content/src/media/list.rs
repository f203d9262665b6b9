//! Lists of the library: by type, by what files are attached to, by words in texts and names.

use contract::rest::{Reply, Stop};
use frame::library::item::STATUS;
use frame::media::file_type::{self, FileType};
use frame::{Call, paging};
use site_rows::media;
use site_rows::post::{self, PostFilter};

use super::{Collection, item, permit, schema};
use crate::posts::kind::POST;
use crate::posts::list as posts;

pub(super) fn run(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    posts::check(call)?;
    let statuses = posts::statuses(call, &POST, STATUS, schema::STATUSES)?;
    let mut wanted = PostFilter {
        kinds: vec![media::KIND.to_owned()],
        statuses,
        parents: call.params.ints("parent"),
        parents_exclude: call.params.ints("parent_exclude"),
        formats: Vec::new(),
        sticky: None,
        search_files: true,
        mime_types: mime_types(call),
        ..posts::filter(&POST, &call.params, call.options())
    };
    if call.leaves_out_items() {
        wanted.page.limit = 0;
    }
    let (rows, total) = post::list(call.conn()?, &wanted)?;
    posts::check_page(call, total)?;
    let context = call.context();
    let ids: Vec<i64> = rows.iter().map(|row| row.post_id).collect();
    let known = media::by_ids(call.conn()?, &ids)?;
    let mut items = Vec::with_capacity(rows.len());
    for row in &rows {
        let Some(media) = known.get(&row.post_id) else { continue };
        let may = if context == "edit" { permit::may_edit } else { permit::may_read };
        if !may(call, row)? {
            continue;
        }
        let (mut fields, links) = item::prepare(collection, call, (row, media), &context)?;
        if let (Some(links), Some(members)) = (links.into_value(), fields.as_object_mut()) {
            members.insert(String::from("_links"), links);
        }
        items.push(fields);
    }
    Ok(paging::with_totals(Reply::new(items), call, &collection.path(), total))
}

/// The types that are asked for, by family or by name. A name of none is passed over.
fn mime_types(call: &Call<'_>) -> Vec<String> {
    let (families, names) = (call.params.texts("media_type"), call.params.texts("mime_type"));
    let is_wanted = |one: &FileType| {
        let family = FileType::family(one.mime_type);
        families.iter().any(|wanted| wanted == family)
            || names.iter().any(|wanted| wanted == one.mime_type)
    };
    let wanted = file_type::all().filter(|one| is_wanted(one));
    wanted.map(|one| one.mime_type.to_owned()).collect()
}
