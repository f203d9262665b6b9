//! Notes: short messages to the shop's people, with what they can do about them.
//!
//! [`raise()`] writes one. What the system itself has to tell is found in the feed of changes by
//! [`follow`], and once in a while by [`maintain`]. **Dismissing a note keeps it**, so that it can
//! be brought back, and so that nothing is told twice. In a list, the total in the headers is that
//! of the page, as clients know it.

pub mod follow;
pub mod maintain;
mod raise;
mod view;
mod write;

use contract::rest::route::{DELETE, EDIT, READ, Route};
use contract::rest::{Args, Reply, Schema, Stop, loose};
use db::background_job;
use db::filter::{Direction, Page};
use frame::action::{read, write};
use frame::managers::{linked, may_edit, may_view};
use frame::{Action, Call, Names};
use serde_json::{Value, json};

pub use self::raise::{NewAction, NewNote, raise, raise_once};
use crate::rows::admin_note::{
    self, NoteActionRow, NoteFilter, NoteKind, NoteRow, NoteSort, NoteStatus,
};

/// Notes on a page at most.
const PER_PAGE_MAX: i64 = 100;
/// What one call dismisses.
const DISMISSED_MAX: i64 = 25;
/// Kinds that can be dismissed all at once.
const DISMISSED_TOGETHER: &[NoteKind] =
    &[NoteKind::Info, NoteKind::Marketing, NoteKind::Warning, NoteKind::Survey];
/// Kinds whose number is told after several were changed.
const COUNTED: &[NoteKind] = &[NoteKind::Info, NoteKind::Warning];

/// The sorts with their names, the usual one among them.
const SORTS: &[(&str, NoteSort)] = &[
    ("note_id", NoteSort::Id),
    ("date", NoteSort::Created),
    ("type", NoteSort::Kind),
    ("title", NoteSort::Title),
    ("status", NoteSort::Status),
];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let namespace = names.analytics.as_str();
    let item = view::item();
    let at = |path: &str| Route::at(namespace, path).schema(item.document());
    let id = |name: &str| Args::new().arg(name, Schema::integer().about("Note ID."));
    let base = format!("/{namespace}/admin/notes");
    let list = with_base(&base, list);
    let get = with_base(&base, get);
    let update = with_base(&base, update);
    let act = with_base(&base, act);
    let dismiss = with_base(&base, dismiss);
    let dismiss_all = with_base(&base, dismiss_all);
    let update_many = with_base(&base, update_many);
    let action = Schema::integer().about("Action ID.");
    let statuses = Args::new().arg("status", status_list());
    vec![
        at("/admin/notes").on(READ, list_args(&item), read(may_view, list)),
        at(r"/admin/notes/(?P<id>[\d-]+)").on(READ, id("id"), read(may_view, get)).on(
            EDIT,
            id("id"),
            write(may_edit, update),
        ),
        at(r"/admin/notes/(?P<note_id>[\d-]+)/action/(?P<action_id>[\d-]+)").on(
            EDIT,
            id("note_id").arg("action_id", action),
            write(may_view, act),
        ),
        at(r"/admin/notes/delete/(?P<id>[\d-]+)").on(DELETE, Args::new(), write(may_edit, dismiss)),
        at("/admin/notes/delete/all").on(DELETE, statuses, write(may_edit, dismiss_all)).lists(),
        at("/admin/notes/update")
            .on(EDIT, Args::new(), write(may_edit, update_many))
            .lists()
            .refuses_with(&[422]),
        at(r"/admin/notes/experimental-activate-promo/(?P<promo_note_name>[\w-]+)")
            .on(EDIT, Args::new(), write(may_edit, write::activate_promotion))
            .shows(Schema::object([(
                "success",
                Schema::boolean().about("Whether it was activated."),
            )]))
            .refuses_with(&[422]),
    ]
}

type Run = fn(&mut Call<'_>, &str) -> Result<Reply, Stop>;

/// An operation that knows the path of the collection, for its links.
fn with_base(
    base: &str,
    run: Run,
) -> impl Fn(&mut Call<'_>) -> Result<Reply, Stop> + Send + Sync + 'static {
    let base = base.to_owned();
    move |call: &mut Call<'_>| run(call, &base)
}

fn names_of<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|one| name(*one)).collect()
}

fn status_list() -> Schema {
    let statuses = names_of(NoteStatus::ALL, NoteStatus::as_str);
    Schema::list(Schema::text().choices(&statuses))
        .about("Limit results to notes with these statuses.")
}

fn list_args(item: &contract::rest::Item) -> Args {
    let kinds = names_of(NoteKind::ALL, NoteKind::as_str);
    let sorts: Vec<&str> = SORTS.iter().map(|(name, _)| *name).collect();
    let text = Schema::text;
    let order = text().default("desc").choices(&["asc", "desc"]).about("Sort order.");
    let page = Schema::integer().default(1).min(1).about("Page of the collection.");
    let per_page = Schema::integer().default(10).min(1).max(PER_PAGE_MAX);
    Args::new()
        .arg("context", item.context_arg())
        .arg("order", order)
        .arg("orderby", text().default("date").choices(&sorts).about("Field to sort by."))
        .arg("page", page)
        .arg("per_page", per_page.about("Maximum number of notes per page."))
        .arg(
            "type",
            Schema::list(text().choices(&kinds)).about("Limit results to notes of these types."),
        )
        .arg("status", status_list())
        .arg("source", Schema::list(text()).about("Limit results to notes from these sources."))
}

fn statuses_of(call: &Call<'_>) -> Vec<NoteStatus> {
    let named = call.params.texts("status");
    named.iter().filter_map(|name| NoteStatus::from_name(name)).collect()
}

fn list(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let params = &call.params;
    let limit = params.int("per_page").unwrap_or(10).clamp(1, PER_PAGE_MAX);
    let page = params.int("page").unwrap_or(1).max(1);
    let sort = SORTS.iter().find(|(name, _)| params.text("orderby") == Some(name));
    let is_ascending = params.text("order") == Some("asc");
    let wanted = NoteFilter {
        kinds: params.texts("type").iter().filter_map(|name| NoteKind::from_name(name)).collect(),
        statuses: statuses_of(call),
        sources: params.texts("source"),
        is_read: params.get("is_read").map(loose::to_bool),
        sort: sort.map(|(_, sort)| *sort).unwrap_or_default(),
        direction: if is_ascending { Direction::Ascending } else { Direction::Descending },
        page: Page { offset: (page - 1).saturating_mul(limit), limit },
    };
    let (notes, _) = admin_note::list(call.conn()?, &wanted)?;
    let total = notes.len();
    Ok(shown(call, base, &notes)?.header("x-wp-total", total.to_string()))
}

/// The actions of these notes that the caller can take.
fn actions_of(call: &mut Call<'_>, note_ids: &[i64]) -> Result<Vec<NoteActionRow>, Stop> {
    let mut actions = Vec::new();
    for mut action in admin_note::actions_of(call.conn()?, note_ids)? {
        if let Some(job_id) = raise::job_of(&action) {
            let job = background_job::get(call.conn()?, job_id)?;
            let address = job.and_then(|job| {
                let kind = call.site.job_kind(&job.kind)?;
                kind.result_address(call.site, call.visit, &job)
            });
            let Some(address) = address else { continue };
            action.query = address;
        }
        actions.push(action);
    }
    Ok(actions)
}

/// The notes as a list with their actions.
fn shown(call: &mut Call<'_>, base: &str, notes: &[NoteRow]) -> Result<Reply, Stop> {
    let ids: Vec<i64> = notes.iter().map(|note| note.note_id).collect();
    let actions = actions_of(call, &ids)?;
    let items = notes.iter().map(|note| {
        let own: Vec<&NoteActionRow> =
            actions.iter().filter(|action| action.note_id == note.note_id).collect();
        linked(view::body(call, note, &own), view::links(call, base, note))
    });
    Ok(Reply::new(items.collect::<Vec<Value>>()))
}

/// The notes after several were changed, with how many are left to look at.
fn shown_with_rest(call: &mut Call<'_>, base: &str, notes: &[NoteRow]) -> Result<Reply, Stop> {
    let counted = NoteFilter {
        kinds: COUNTED.to_vec(),
        page: Page { offset: 0, limit: 0 },
        ..NoteFilter::default()
    };
    let (_, rest) = admin_note::list(call.conn()?, &counted)?;
    Ok(shown(call, base, notes)?.header("x-wp-total", rest.to_string()))
}

fn one(call: &mut Call<'_>, base: &str, note: &NoteRow) -> Result<Reply, Stop> {
    let actions = actions_of(call, &[note.note_id])?;
    let actions: Vec<&NoteActionRow> = actions.iter().collect();
    Ok(Reply::new(view::body(call, note, &actions)).links(view::links(call, base, note)))
}

fn get(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let note = write::note_of(call, "id")?;
    one(call, base, &note)
}

fn update(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let note = write::note_of(call, "id")?;
    let note = write::update(call, note)?;
    one(call, base, &note)
}

fn act(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let note = write::note_of(call, "note_id")?;
    let note = write::act(call, note)?;
    one(call, base, &note)
}

fn dismiss(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let note = write::note_of(call, "id")?;
    let note = write::dismiss(call, note)?;
    one(call, base, &note)
}

/// Dismisses the newest; who wants all gone calls it until nothing comes back.
fn dismiss_all(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let wanted = NoteFilter {
        kinds: DISMISSED_TOGETHER.to_vec(),
        statuses: statuses_of(call),
        direction: Direction::Descending,
        page: Page { offset: 0, limit: DISMISSED_MAX },
        ..NoteFilter::default()
    };
    let (notes, _) = admin_note::list(call.conn()?, &wanted)?;
    let mut dismissed = Vec::new();
    for note in notes {
        dismissed.push(write::dismiss(call, note)?);
    }
    shown_with_rest(call, base, &dismissed)
}

fn update_many(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let mut updated = Vec::new();
    for note_id in write::ids_of(call)? {
        // Numbers that no note has are passed over.
        if let Some(note) = admin_note::get(call.conn()?, note_id)? {
            updated.push(write::update(call, note)?);
        }
    }
    shown_with_rest(call, base, &updated)
}

/// The object that a note keeps for programs.
fn data_of(note: &NoteRow) -> Value {
    let data: Option<Value> = serde_json::from_str(&note.content_data).ok();
    data.filter(Value::is_object).unwrap_or_else(|| json!({}))
}
