//! What the system tells by itself, on both engines: events become notes once, and a day that sold
//! more than any before is told of.
#![cfg(test)]

mod rows;

use admin::notes::follow;
use admin::notes::maintain::{self, LastDay};
use admin::rows::admin_note::{self, NoteFilter, NoteRow};
use db::outbox::{self, Event};
use db::{Conn, Database, Location};
use frame::jobs;
use frame::options::{self, Definition, Kind, option};
use serde_json::json;
use shop_rows::order::{Order, OrderRow};
use shop_rows::product::ProductRow;
use shop_rows::webhook::{self, WebhookRow};
use shop_rows::{order, product};
use site_rows::iso::{self, IsoRow};
use types::{Amount, Environment, IsoId, Result, Timestamp};

/// Runs functions of a store as tests, each on both engines.
macro_rules! on_both_engines {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[test]
            fn on_sqlite() {
                let folder = testkit::temp_dir().unwrap();
                super::$name(&super::open(None, &folder));
            }

            #[test]
            fn on_postgres() {
                let folder = testkit::temp_dir().unwrap();
                let url = testkit::postgres::shared().create_database().unwrap();
                super::$name(&super::open(Some(&url), &folder));
            }
        }
    )+};
}

on_both_engines!(
    events_become_notes_once,
    an_iso_that_waits_is_told_of_until_it_is_decided_on,
    an_unusual_store_is_told_of_until_it_is_usual_again,
    a_shop_that_came_to_be_at_once_is_looked_over,
    the_best_day_is_told_of,
);

/// Options of the shop that notes depend on, as commerce declares them.
const OF_THE_SHOP: &[Definition] = &[
    option("woocommerce_currency", Kind::Text, r#""USD""#),
    option("woocommerce_price_num_decimals", Kind::Integer, "2"),
    option("woocommerce_notify_low_stock", Kind::YesNo, r#""yes""#),
    option("woocommerce_notify_low_stock_amount", Kind::Integer, "2"),
    option("woocommerce_notify_no_stock_amount", Kind::Integer, "0"),
];

fn open(url: Option<&str>, folder: &tempfile::TempDir) -> Database {
    options::declare(&[OF_THE_SHOP, admin::OPTIONS]);
    let location = Location::parse(url, folder.path(), Environment::Sandbox, 2);
    Database::open(&location.unwrap(), schema::MIGRATIONS).unwrap()
}

fn write<T: Send + 'static>(
    store: &Database,
    closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
) -> T {
    store.write_blocking(closure).unwrap()
}

fn noon() -> Timestamp {
    Timestamp::parse("2026-11-15T12:00:00Z").unwrap()
}

fn tell(store: &Database, kind: &'static str, id: i64, payload: serde_json::Value) {
    write(store, move |conn| {
        outbox::append(conn, &Event::of_site(kind, id, payload.to_string(), noon()))?;
        outbox::sequence(conn, 100).map(drop)
    });
}

fn notes(store: &Database) -> Vec<NoteRow> {
    let wanted = NoteFilter { sort: admin_note::NoteSort::Id, ..NoteFilter::default() };
    store.read_blocking(move |conn| admin_note::list(conn, &wanted)).unwrap().0
}

fn names(store: &Database) -> Vec<String> {
    notes(store).into_iter().map(|note| note.name).collect()
}

fn events_become_notes_once(store: &Database) {
    assert!(!store.read_blocking(follow::is_behind).unwrap());
    let row = WebhookRow { name: "Till".to_owned(), ..WebhookRow::default() };
    let webhook_id = write(store, move |conn| webhook::insert(conn, &row));
    tell(store, "webhook.disabled", webhook_id, json!({}));
    tell(store, "webhook.disabled", 999, json!({}));
    tell(store, "background_job.done", 7, json!({ "kind": jobs::REPORT_EXPORT }));
    tell(store, "background_job.done", 8, json!({ "kind": jobs::REPORT_IMPORT }));
    tell(store, "background_job.done", 9, json!({ "kind": "mail" }));
    tell(store, "order.created", 999, json!({}));
    assert!(store.read_blocking(follow::is_behind).unwrap());
    assert_eq!(write(store, |conn| follow::step(conn, noon())), 6);
    let expected = ["webhook-disabled-1", "report-export-ready", "report-import-finished"];
    assert_eq!(names(store), expected);
    assert!(!store.read_blocking(follow::is_behind).unwrap());
    assert_eq!(write(store, |conn| follow::step(conn, noon())), 0);
    assert_eq!(names(store), expected, "each event is told once");
    let first = notes(store).remove(0);
    assert!(first.title.contains("Till"), "{first:?}");
    assert_eq!(first.content_data, json!({ "webhook_id": webhook_id }).to_string());
}

fn an_iso_that_waits_is_told_of_until_it_is_decided_on(store: &Database) {
    let iso = IsoRow {
        iso_id: IsoId::new("iso_1"),
        name: String::from("Pier <b>Payments</b>"),
        response_style: String::from("detailed"),
        data_key: vec![1],
        created: noon(),
    };
    write(store, move |conn| iso::insert(conn, &iso));
    let event = |kind: &'static str, status: &'static str| {
        write(store, move |conn| {
            let event = Event {
                iso_id: Some(IsoId::new("iso_1")),
                kind,
                object_id: String::from("iso_1"),
                payload: json!({ "status": status }).to_string(),
                created: noon(),
            };
            outbox::append(conn, &event)?;
            outbox::sequence(conn, 100)?;
            follow::step(conn, noon()).map(drop)
        });
    };
    event("iso.registered", "active");
    assert_eq!(names(store), Vec::<String>::new(), "who may work at once waits for nobody");
    event("iso.registered", "pending_approval");
    let note = notes(store).remove(0);
    assert_eq!(note.title, "Pier Payments is waiting for approval", "names bring no markup");
    let ids = [note.note_id];
    let actions = store.read_blocking(move |conn| admin_note::actions_of(conn, &ids)).unwrap();
    assert_eq!(actions[0].query, "{{site}}/portal/console/isos");
    event("iso.activated", "active");
    assert_eq!(names(store), Vec::<String>::new());
}

fn an_unusual_store_is_told_of_until_it_is_usual_again(store: &Database) {
    let event = |kind: &'static str| {
        write(store, move |conn| {
            let alert = json!({ "alertId": "alr_1", "message": "No orders since 2026-11-10." });
            let event = Event {
                iso_id: Some(IsoId::new("iso_1")),
                kind,
                object_id: String::from("con_1"),
                payload: json!({ "store": "Pier <b>Shop</b>", "alert": alert }).to_string(),
                created: noon(),
            };
            outbox::append(conn, &event)?;
            outbox::sequence(conn, 100)?;
            follow::step(conn, noon()).map(drop)
        });
    };
    event("connection.alert_raised");
    let note = notes(store).remove(0);
    assert_eq!(note.title, "Check the store Pier Shop", "names bring no markup");
    assert_eq!(note.content, "No orders since 2026-11-10.");
    let ids = [note.note_id];
    let actions = store.read_blocking(move |conn| admin_note::actions_of(conn, &ids)).unwrap();
    assert_eq!(actions[0].query, "{{site}}/portal/merchants/connected/con_1");
    event("connection.alert_ended");
    assert_eq!(names(store), Vec::<String>::new());
}

fn sell(store: &Database, created: &str, total: i64, status: &str) {
    let row = OrderRow {
        status: status.to_owned(),
        total: Amount::from_whole(total),
        created: Timestamp::parse(created).unwrap(),
        ..OrderRow::default()
    };
    let sold = Order { row, items: Vec::new() };
    write(store, move |conn| order::insert(conn, &sold).map(drop));
}

fn a_shop_that_came_to_be_at_once_is_looked_over(store: &Database) {
    let look = || write(store, |conn| follow::look_over(conn, noon()));
    look();
    assert_eq!(names(store), Vec::<String>::new(), "an empty shop has nothing to tell");
    sell(store, "2026-11-15T10:00:00Z", 100, "completed");
    for (name, left) in [("Plenty", 50), ("Few", 1), ("Gone", 0)] {
        let row = ProductRow {
            name: name.to_owned(),
            manage_stock: true,
            stock_quantity: Some(Amount::from_whole(left)),
            ..ProductRow::default()
        };
        write(store, move |conn| product::insert(conn, &row).map(drop));
    }
    look();
    look();
    let titles: Vec<String> = notes(store).into_iter().map(|note| note.title).collect();
    assert_eq!(titles, ["You received your first order", "Low stock: Few"]);
}

fn the_best_day_is_told_of(store: &Database) {
    let tended = |day: &str, sold: i64, best_before: i64| {
        let day = LastDay {
            day: day.to_owned(),
            sold: Amount::from_whole(sold),
            best_before: Amount::from_whole(best_before),
        };
        let (now, known) = (noon(), day.clone());
        let is_due = move |conn: &mut dyn Conn| maintain::is_due(conn, Some(&known), now);
        let was_due = store.read_blocking(is_due.clone()).unwrap();
        write(store, move |conn| maintain::maintain(conn, Some(&day), now));
        assert!(!store.read_blocking(is_due).unwrap(), "nothing is left to do");
        (was_due, names(store).len())
    };
    assert_eq!(tended("2026-11-14", 100, 0), (false, 0), "the first day is better than none");
    assert_eq!(tended("2026-11-15", 100, 100), (false, 0), "as much is not more");
    assert_eq!(tended("2026-11-16", 270, 1_112), (false, 0), "a better day was before");
    assert_eq!(tended("2026-11-17", 101, 100), (true, 1));
    let data = json!({ "sold": "101.00", "record": "100.00", "currency": "USD" });
    assert_eq!(notes(store)[0].content_data, data.to_string());
    assert_eq!(tended("2026-11-17", 105, 100), (false, 1), "a day is told of once");
    assert_eq!(tended("2026-12-01", 106, 105), (true, 2));
}
