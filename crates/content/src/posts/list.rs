//! Lists of posts and pages: what was asked for becomes a filter, and what was found becomes items.

use contract::rest::check::ParamError;
use contract::rest::{Params, Refusal, Reply, Stop, loose, params};
use db::Conn;
use db::filter::{Direction, PAGE_MAX, Page};
use frame::dates::Moment;
use frame::{Call, Options, paging};
use serde_json::{Value, json};
use site_rows::post::{self, PostColumn, PostFilter, PostOrder, Relation, TermCondition};
use site_rows::term::{self, TermFilter};
use types::{Result, Timestamp};

use super::item::{self, Collection, ItemView, Terms};
use super::kind::{Field, Kind, STANDARD_FORMAT};
use super::taxonomy::Taxonomy;
use super::{permit, records, status};

pub(crate) fn run(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    check(call)?;
    let statuses = statuses(call, collection.kind, status::PUBLISH, status::LISTABLE)?;
    let mut wanted = filter(collection.kind, &call.params, call.options());
    wanted.statuses = statuses;
    // Who may not read a text must not find it either.
    wanted.without_password =
        !wanted.search.is_empty() && !call.can(collection.kind.may.edit_others);
    add_terms(call, collection.kind, &mut wanted)?;
    if call.leaves_out_items() {
        wanted.page.limit = 0;
    }
    let (rows, total) = records::list(call, collection.kind, &wanted)?;
    check_page(call, total)?;
    let context = call.context();
    let terms = Terms::read(call, collection.kind, &rows)?;
    let mut items = Vec::with_capacity(rows.len());
    for (place, row) in rows.iter().enumerate() {
        let identity = &call.visit.identity;
        let may = if context == "edit" { permit::may_edit } else { permit::may_read };
        if !may(identity, row) {
            continue;
        }
        let view = ItemView { place, ..ItemView::in_context(&context) };
        let (mut fields, links) = item::prepare(collection, call, row, &terms, view)?;
        if let (Some(links), Some(members)) = (links.into_value(), fields.as_object_mut()) {
            members.insert(String::from("_links"), links);
        }
        items.push(fields);
    }
    Ok(paging::with_totals(Reply::new(items), call, &collection.path(), total))
}

/// A page behind the last one is none.
pub(crate) fn check_page(call: &Call<'_>, total: i64) -> Result<(), Stop> {
    let page = call.params.int("page").unwrap_or(1);
    let per_page = call.params.int("per_page").unwrap_or(1).max(1);
    if total > 0 && (page - 1).saturating_mul(per_page) >= total {
        let message = "The page number exceeds the number of pages.";
        return Err(Refusal::new(400, "rest_post_invalid_page_number", message).into());
    }
    Ok(())
}

/// Orders that need another parameter.
pub(crate) fn check(call: &Call<'_>) -> Result<(), Stop> {
    let empty = |name: &str| {
        call.params.get(name).is_none_or(|value| {
            matches!(value, Value::String(text) if text.is_empty())
                || value.as_array().is_some_and(Vec::is_empty)
        })
    };
    let (code, message) = match call.params.text("orderby") {
        Some("relevance") if empty("search") => {
            ("rest_no_search_term_defined", "Sorting by relevance requires a search.")
        }
        Some("include") if empty("include") => (
            "rest_orderby_include_missing_include",
            "Sorting by include requires the include parameter.",
        ),
        _ => return Ok(()),
    };
    Err(Refusal::new(400, code, message).into())
}

/// The statuses to list. All but the public one are for those who write.
pub(crate) fn statuses(
    call: &Call<'_>,
    kind: &Kind,
    public: &str,
    listable: &[&str],
) -> Result<Vec<String>, Stop> {
    let mut wanted = Vec::new();
    for name in call.params.texts("status") {
        let private = name == status::PRIVATE && call.can(kind.may.read_private);
        let error = if name == public {
            None
        } else if !call.can(kind.may.edit) && !private {
            let denied =
                call.deny("rest_forbidden_status", "You are not allowed to use this status.");
            let data = json!({ "status": denied.status });
            let message = "You are not allowed to view some of these statuses.";
            Some(ParamError::new("rest_forbidden_status", message).with_data(data))
        } else if !listable.contains(&name.as_str()) {
            let message = format!("status must be one of {}.", listable.join(", "));
            Some(ParamError::new("rest_not_in_enum", message))
        } else {
            None
        };
        if error.is_some() {
            return Err(params::invalid_params(vec![(String::from("status"), error)]).into());
        }
        match name.as_str() {
            "any" => wanted.extend(status::ANY.iter().map(|name| (*name).to_owned())),
            _ => wanted.push(name),
        }
    }
    if wanted.is_empty() {
        wanted.push(public.to_owned());
    }
    Ok(wanted)
}

pub(crate) fn filter(kind: &Kind, params: &Params, options: &Options) -> PostFilter {
    let moment = |name: &str| -> Option<Timestamp> {
        Some(Moment::parse(options, params.text(name)?, false)?.local)
    };
    let search = params.text("search").unwrap_or_default();
    let exact = params.text("search_semantics") == Some("exact");
    let columns = params.texts("search_columns");
    let formats = params.texts("format");
    PostFilter {
        kinds: vec![kind.name.to_owned()],
        authors: if kind.has(Field::Author) { params.ints("author") } else { Vec::new() },
        authors_exclude: if kind.has(Field::Author) {
            params.ints("author_exclude")
        } else {
            Vec::new()
        },
        include: params.ints("include"),
        exclude: params.ints("exclude"),
        slugs: params.texts("slug"),
        parents: if kind.hierarchical { params.ints("parent") } else { Vec::new() },
        parents_exclude: if kind.hierarchical { params.ints("parent_exclude") } else { Vec::new() },
        formats: if kind.has(Field::Format) { stored_formats(formats) } else { Vec::new() },
        search: words(search, exact),
        search_exact: exact,
        search_columns: columns.iter().filter_map(|name| column(name)).collect(),
        after: moment("after"),
        before: moment("before"),
        modified_after: moment("modified_after"),
        modified_before: moment("modified_before"),
        menu_order: params.int("menu_order").filter(|_| kind.has(Field::Order)),
        sticky: params.get("sticky").and_then(Value::as_bool).filter(|_| kind.has(Field::Sticky)),
        terms_relation: match params.text("tax_relation") {
            Some("OR") => Relation::Or,
            _ => Relation::And,
        },
        order: order(params.text("orderby").unwrap_or_default()),
        direction: match params.text("orderby") {
            // As they are named, whatever the order is said to be.
            Some("include" | "include_slugs") => Direction::Ascending,
            _ => direction(params),
        },
        page: page(params),
        ..PostFilter::default()
    }
}

/// A post without a format may have been stored with none or with the standard one.
fn stored_formats(mut formats: Vec<String>) -> Vec<String> {
    if formats.iter().any(|format| format == STANDARD_FORMAT) {
        formats.push(String::new());
    }
    formats
}

pub(crate) fn direction(params: &Params) -> Direction {
    match params.text("order") {
        Some("asc") => Direction::Ascending,
        _ => Direction::Descending,
    }
}

pub(crate) fn page(params: &Params) -> Page {
    let limit = params.int("per_page").unwrap_or(10).clamp(1, PAGE_MAX);
    let page = params.int("page").unwrap_or(1).max(1);
    let offset = params.int("offset").filter(|offset| *offset > 0);
    Page { offset: offset.unwrap_or_else(|| (page - 1).saturating_mul(limit)), limit }
}

/// The words to search for: a phrase in quotes is one.
pub(crate) fn words(search: &str, exact: bool) -> Vec<String> {
    let search = search.trim();
    if search.is_empty() {
        return Vec::new();
    }
    if exact {
        return vec![search.to_owned()];
    }
    let mut words = Vec::new();
    for (number, part) in search.split('"').enumerate() {
        let quoted = number % 2 == 1;
        if quoted {
            words.push(part.trim().to_owned());
        } else {
            words.extend(part.split([' ', ',', '+', '\t', '\n', '\r']).map(str::to_owned));
        }
    }
    words.retain(|word| !word.is_empty());
    words.truncate(post::SEARCH_WORDS_MAX);
    words
}

fn column(name: &str) -> Option<PostColumn> {
    match name {
        "post_title" => Some(PostColumn::Title),
        "post_content" => Some(PostColumn::Content),
        "post_excerpt" => Some(PostColumn::Excerpt),
        _ => None,
    }
}

fn order(name: &str) -> PostOrder {
    match name {
        "author" => PostOrder::Author,
        "id" => PostOrder::Id,
        "include" => PostOrder::Include,
        "modified" => PostOrder::Modified,
        "parent" => PostOrder::Parent,
        "relevance" => PostOrder::Relevance,
        "slug" => PostOrder::Slug,
        "include_slugs" => PostOrder::IncludeSlugs,
        "title" => PostOrder::Title,
        "menu_order" => PostOrder::MenuOrder,
        _ => PostOrder::Date,
    }
}

fn add_terms(call: &mut Call<'_>, kind: &Kind, wanted: &mut PostFilter) -> Result<()> {
    for taxonomy in kind.taxonomies {
        let included = TermQuery::read(&call.params, taxonomy.base);
        let excluded = TermQuery::read(&call.params, &format!("{}_exclude", taxonomy.base));
        for (query, excludes) in [(included, false), (excluded, true)] {
            if query.ids.is_empty() {
                continue;
            }
            let groups = query.groups(call.conn()?, taxonomy)?;
            wanted.terms.extend(groups.into_iter().map(|ids| {
                if excludes { TermCondition::NoneOf(ids) } else { TermCondition::AnyOf(ids) }
            }));
        }
    }
    Ok(())
}

/// The terms that a list is limited to.
struct TermQuery {
    ids: Vec<i64>,
    with_children: bool,
    all: bool,
}

impl TermQuery {
    fn read(params: &Params, name: &str) -> Self {
        let query = match params.get(name) {
            Some(Value::Object(query)) if !loose::has_numbered_keys(query) => query,
            _ => return Self { ids: params.ints(name), with_children: false, all: false },
        };
        let ids = query.get("terms").and_then(Value::as_array);
        Self {
            ids: ids.into_iter().flatten().filter_map(Value::as_i64).collect(),
            with_children: query.get("include_children") == Some(&Value::Bool(true)),
            all: query.get("operator").and_then(Value::as_str) == Some("AND"),
        }
    }

    /// Lists of terms, of each of which an item must bear one.
    fn groups(&self, conn: &mut dyn Conn, taxonomy: &Taxonomy) -> Result<Vec<Vec<i64>>> {
        if self.all {
            return Ok(self.ids.iter().map(|id| vec![*id]).collect());
        }
        let mut ids = self.ids.clone();
        if self.with_children {
            let taxonomies = vec![taxonomy.name.to_owned()];
            let (terms, _) = term::list(conn, &TermFilter { taxonomies, ..TermFilter::default() })?;
            let mut position = 0;
            while let Some(parent) = ids.get(position).copied() {
                let children = terms.iter().filter(|term| term.parent_id == parent);
                let children: Vec<i64> = children.map(|term| term.term_id).collect();
                let new = children.into_iter().filter(|id| !ids.contains(id));
                ids.extend(new.collect::<Vec<_>>());
                position += 1;
            }
        }
        Ok(vec![ids])
    }
}
