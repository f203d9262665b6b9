//! Notes to the shop's people: listed as asked, woken in time, and numbered past what was imported.

use admin::rows::admin_note::{
    self, NoteActionRow, NoteFilter, NoteKind, NoteRow, NoteSort, NoteStatus,
};
use db::Database;
use db::filter::{Direction, Page};

use testkit::database::{TestDatabase, time};

testkit::on_both_engines!(
    notes_are_listed_as_asked,
    snoozed_notes_wake_and_answered_surveys_go,
    imported_notes_keep_their_numbers,
);

pub(crate) fn note(name: &str) -> NoteRow {
    NoteRow {
        name: name.to_owned(),
        locale: "en_US".to_owned(),
        title: format!("Title {name}"),
        content: "<b>Çontent</b>".to_owned(),
        content_data: r#"{"a":1}"#.to_owned(),
        source: "boardwalk".to_owned(),
        created: time(1),
        layout: "plain".to_owned(),
        ..NoteRow::default()
    }
}

pub(crate) fn action(name: &str) -> NoteActionRow {
    NoteActionRow {
        name: name.to_owned(),
        label: "Do it".to_owned(),
        query: "?page=x".to_owned(),
        status: "actioned".to_owned(),
        nonce_name: Some("_n".to_owned()),
        ..NoteActionRow::default()
    }
}

fn add(store: &Database, note: NoteRow) -> i64 {
    store.write_blocking(move |conn| admin_note::insert(conn, &note, &[])).unwrap()
}

fn ids(store: &Database, wanted: NoteFilter) -> (Vec<i64>, i64) {
    let (rows, total) = store.read_blocking(move |conn| admin_note::list(conn, &wanted)).unwrap();
    (rows.into_iter().map(|row| row.note_id).collect(), total)
}

fn notes_are_listed_as_asked(database: &TestDatabase) {
    use NoteKind::{Info, Survey, Warning};
    let store = database.open();
    for (name, kind, created) in [("b", Info, 1), ("a", Warning, 2), ("c", Survey, 2)] {
        add(&store, NoteRow { kind, created: time(created), ..note(name) });
    }
    let read = NoteRow { is_read: true, source: "other".to_owned(), ..note("d") };
    let read = NoteRow { status: NoteStatus::Snoozed, ..read };
    add(&store, read);
    add(&store, NoteRow { is_deleted: true, ..note("gone") });
    let all = NoteFilter { direction: Direction::Descending, ..NoteFilter::default() };
    let sorted = |sort, direction| NoteFilter { sort, direction, ..NoteFilter::default() };
    for (wanted, expected) in [
        (all.clone(), vec![2, 3, 1, 4]),
        (sorted(NoteSort::Id, Direction::Ascending), vec![1, 2, 3, 4]),
        (sorted(NoteSort::Title, Direction::Ascending), vec![2, 1, 3, 4]),
        (sorted(NoteSort::Kind, Direction::Descending), vec![2, 3, 1, 4]),
        (sorted(NoteSort::Status, Direction::Ascending), vec![4, 1, 2, 3]),
        (NoteFilter { kinds: vec![Survey, Warning], ..all.clone() }, vec![2, 3]),
        (NoteFilter { statuses: vec![NoteStatus::Snoozed], ..all.clone() }, vec![4]),
        (NoteFilter { sources: vec!["other".to_owned()], ..all.clone() }, vec![4]),
        (NoteFilter { is_read: Some(false), ..all.clone() }, vec![2, 3, 1]),
    ] {
        let total = i64::try_from(expected.len()).unwrap();
        assert_eq!(ids(&store, wanted.clone()), (expected, total), "{wanted:?}");
    }
    let page = Page { offset: 1, limit: 2 };
    assert_eq!(ids(&store, NoteFilter { page, ..all }), (vec![3, 1], 4));
}

fn snoozed_notes_wake_and_answered_surveys_go(database: &TestDatabase) {
    let store = database.open();
    let snoozed = NoteRow { status: NoteStatus::Snoozed, ..note("snoozed") };
    let due = add(&store, NoteRow { reminder: Some(time(10)), ..snoozed.clone() });
    let later = add(&store, NoteRow { reminder: Some(time(11)), ..snoozed.clone() });
    let never = add(&store, snoozed);
    let is_due =
        |now| store.read_blocking(move |conn| admin_note::is_any_due(conn, time(now))).unwrap();
    assert!(!is_due(9));
    assert!(is_due(10));
    let settle =
        |now| store.write_blocking(move |conn| admin_note::settle(conn, time(now))).unwrap();
    assert_eq!(settle(10), 1);
    assert!(!is_due(10));
    let get =
        |id: i64| store.read_blocking(move |conn| admin_note::get(conn, id)).unwrap().unwrap();
    assert_eq!((get(due).status, get(due).reminder), (NoteStatus::Unactioned, None));
    assert_eq!(get(later).status, NoteStatus::Snoozed);
    assert_eq!(get(never).status, NoteStatus::Snoozed);
    let answered = NoteRow { status: NoteStatus::Actioned, ..note("survey") };
    let survey = add(&store, NoteRow { kind: NoteKind::Survey, ..answered });
    assert_eq!(settle(10), 1);
    assert!(get(survey).is_deleted);
    assert_eq!(settle(10), 0);
}

fn imported_notes_keep_their_numbers(database: &TestDatabase) {
    let store = database.open();
    let import = move |conn: &mut dyn db::Conn| {
        admin_note::import(conn, &NoteRow { note_id: 7, ..note("old") })?;
        let old = NoteActionRow { note_id: 7, action_id: 4, ..action("go") };
        admin_note::import_action(conn, &old)?;
        admin_note::import_action(conn, &old)?;
        admin_note::import(conn, &NoteRow { note_id: 7, is_read: true, ..note("old") })?;
        admin_note::insert(conn, &note("new"), &[action("first"), action("second")])
    };
    assert_eq!(store.write_blocking(import).unwrap(), 8);
    let read = |conn: &mut dyn db::Conn| {
        let named = admin_note::named(conn, "old", 5)?;
        Ok((named, admin_note::actions_of(conn, &[8, 7])?, admin_note::oldest_named(conn, "new")?))
    };
    let (named, actions, new) = store.read_blocking(read).unwrap();
    assert_eq!(named, [NoteRow { note_id: 7, is_read: true, ..note("old") }]);
    assert_eq!(new.unwrap().note_id, 8);
    let actions: Vec<_> =
        actions.into_iter().map(|one| (one.note_id, one.action_id, one.name)).collect();
    let expected = [(7, 4, "go"), (8, 5, "first"), (8, 6, "second")];
    assert_eq!(actions, expected.map(|(note, id, name)| (note, id, name.to_owned())));
}
