//! Making, changing and deleting entries of menus.

use contract::rest::{Refusal, Reply, Stop, clean};
use frame::dates::Moment;
use frame::{Call, text};
use serde_json::{Value, json};
use site_rows::autosave;
use site_rows::post::{self, PostRow};
use site_rows::term::{self, TermFilter};
use types::{Capability, Error};

use super::super::kind::MENU_ITEM;
use super::super::taxonomy::MENU;
use super::super::{permit, records, status};
use super::view::{CUSTOM, Entries, POST_TYPE, TAXONOMY, Target, prepare};

pub(super) fn create(entries: &Entries, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let now = Moment::at(call.options(), call.now());
    let blank = PostRow {
        kind: MENU_ITEM.name.to_owned(),
        status: status::PUBLISH.to_owned(),
        author_id: call.user_id(),
        comment_status: String::from("closed"),
        ping_status: String::from("closed"),
        date: now.local,
        date_gmt: Some(now.gmt),
        meta: String::from("{}"),
        ..PostRow::default()
    };
    let mut row = changed(call, blank)?;
    row.post_id = post::insert(call.conn()?, &row)?;
    row.slug = row.post_id.to_string();
    post::update(call.conn()?, &row)?;
    set_menu(call, row.post_id)?;
    let (fields, links) = prepare(entries, call, &row, "edit")?;
    let location = call.visit.rest(&format!("{}/{}", entries.path(), row.post_id));
    Ok(Reply::created(fields, location).links(links))
}

pub(super) fn update(entries: &Entries, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let before = permit::item_of(call, &MENU_ITEM, "id", permit::invalid_id)?;
    let row = changed(call, before)?;
    post::update(call.conn()?, &row)?;
    set_menu(call, row.post_id)?;
    let (fields, links) = prepare(entries, call, &row, "edit")?;
    Ok(Reply::new(fields).links(links))
}

pub(super) fn delete(entries: &Entries, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let row = permit::item_of(call, &MENU_ITEM, "id", permit::invalid_id)?;
    if !call.params.flag("force") {
        let message = "Menu items cannot be moved to the trash; set force to delete one.";
        return Err(Refusal::new(501, "rest_trash_not_supported", message).into());
    }
    let (previous, _) = prepare(entries, call, &row, "edit")?;
    post::delete(call.conn()?, row.post_id)?;
    autosave::delete_of(call.conn()?, row.post_id)?;
    Ok(Reply::new(json!({ "deleted": true, "previous": previous })))
}

fn refused(code: &'static str, message: &'static str) -> Stop {
    Refusal::new(400, code, message).into()
}

/// The entry with what the request says about it.
fn changed(call: &mut Call<'_>, mut row: PostRow) -> Result<PostRow, Stop> {
    let now = Moment::at(call.options(), call.now());
    (row.modified, row.modified_gmt) = (now.local, now.gmt);
    let trusted = call.can(Capability::UnfilteredHtml);
    let given = |name: &str| call.params.text(name).map(|text| text.replace('\0', ""));
    let title = match call.params.get("title") {
        Some(Value::Object(members)) => members.get("raw").and_then(Value::as_str),
        Some(Value::String(text)) => Some(text.as_str()),
        _ => None,
    };
    if let Some(title) = title {
        row.title = if trusted { title.replace('\0', "") } else { text::clean_title(title) };
    }
    if let Some(status) = given("status") {
        row.status = status;
    }
    if let Some(description) = given("description") {
        row.content = text::clean_content(&description);
    }
    if let Some(title) = given("attr_title") {
        row.excerpt = clean::text_field(&title);
    }
    if let Some(order) = call.params.int("menu_order") {
        row.menu_order = order;
    }
    let mut target = Target::of(&row);
    for (name, place) in
        [("type", &mut target.kind), ("object", &mut target.object), ("target", &mut target.window)]
    {
        if let Some(text) = given(name) {
            *place = clean::text_field(&text);
        }
    }
    if let Some(id) = call.params.int("object_id") {
        target.object_id = id;
    }
    if let Some(url) = given("url") {
        target.url = clean::url(&url);
    }
    let names = |name: &str| {
        let texts = call.params.texts(name);
        texts.iter().map(|text| clean::text_field(text)).collect()
    };
    if call.params.get("classes").is_some() {
        target.classes = names("classes");
    }
    if call.params.get("xfn").is_some() {
        target.xfn = names("xfn");
    }
    if let Some(parent) = call.params.int("parent") {
        set_parent(call, &mut row, parent)?;
    }
    check(call, &row, &mut target)?;
    row.meta = serde_json::to_string(&target)
        .map_err(|error| Error::internal("a menu item cannot be written").because(error))?;
    Ok(row)
}

fn set_parent(call: &mut Call<'_>, row: &mut PostRow, parent: i64) -> Result<(), Stop> {
    let known = match parent {
        0 => true,
        id => post::get(call.conn()?, id)?.is_some_and(|found| found.kind == MENU_ITEM.name),
    };
    if !known || (parent != 0 && parent == row.post_id) {
        return Err(refused("invalid_item_parent", "Invalid menu item parent."));
    }
    row.parent_id = parent;
    Ok(())
}

/// What an entry points at must be there; a link to any address needs the address and a title.
fn check(call: &mut Call<'_>, row: &PostRow, target: &mut Target) -> Result<(), Stop> {
    match target.kind.as_str() {
        POST_TYPE => {
            let found = records::get(call, target.object_id)?;
            let Some(found) = found else {
                return Err(refused("rest_post_invalid_id", "Invalid item ID."));
            };
            target.object = found.kind;
        }
        TAXONOMY => {
            let found = term::get(call.conn()?, target.object_id)?;
            let Some(found) = found else {
                return Err(refused("rest_term_invalid_id", "Invalid term ID."));
            };
            target.object = found.taxonomy;
        }
        CUSTOM => {
            if row.title.is_empty() {
                return Err(refused("rest_title_required", "A link needs a title."));
            }
            if target.url.is_empty() {
                return Err(refused("rest_url_required", "A link needs an address."));
            }
            CUSTOM.clone_into(&mut target.object);
        }
        _ => {}
    }
    Ok(())
}

fn set_menu(call: &mut Call<'_>, id: i64) -> Result<(), Stop> {
    let Some(menu) = call.params.int("menus") else { return Ok(()) };
    let known = term::get(call.conn()?, menu)?.is_some_and(|term| term.taxonomy == MENU.name);
    if menu != 0 && !known {
        return Err(refused("invalid_menu_id", "Invalid menu ID."));
    }
    let ids: Vec<i64> = (menu != 0).then_some(menu).into_iter().collect();
    term::set_terms(call.conn()?, id, MENU.name, &ids)?;
    Ok(())
}

/// Adds a page that is published for the first time to the menus that want every new page.
pub(in super::super) fn add_page(call: &mut Call<'_>, page: &PostRow) -> Result<(), Error> {
    let wanted = TermFilter { taxonomies: vec![MENU.name.to_owned()], ..TermFilter::default() };
    let (menus, _) = term::list(call.conn()?, &wanted)?;
    let adds = |details: &str| {
        let details: Value = serde_json::from_str(details).unwrap_or(Value::Null);
        details.get("auto_add").and_then(Value::as_bool).unwrap_or_default()
    };
    for menu in menus.iter().filter(|menu| adds(&menu.details)) {
        let target = Target {
            kind: POST_TYPE.to_owned(),
            object: page.kind.clone(),
            object_id: page.post_id,
            ..Target::default()
        };
        let row = PostRow {
            kind: MENU_ITEM.name.to_owned(),
            status: status::PUBLISH.to_owned(),
            author_id: page.author_id,
            menu_order: term::count(call.conn()?, menu.term_id)? + 1,
            comment_status: String::from("closed"),
            ping_status: String::from("closed"),
            date: page.date,
            date_gmt: page.date_gmt,
            modified: page.modified,
            modified_gmt: page.modified_gmt,
            meta: json!(target).to_string(),
            ..PostRow::default()
        };
        let id = post::insert(call.conn()?, &row)?;
        term::set_terms(call.conn()?, id, MENU.name, &[menu.term_id])?;
    }
    Ok(())
}
