//! Webhooks: what is written is what is read, lists choose and sort, failures are counted.

use db::filter::{Direction, Page};
use shop_rows::webhook::{self, WebhookFilter, WebhookOrder, WebhookRow};

use crate::sales::webhook_row;
use crate::support::{TestDatabase, time};

testkit::on_both_engines!(
    webhooks_come_and_go,
    failures_are_counted,
    webhooks_are_chosen_and_sorted
);

fn webhooks_come_and_go(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let webhook_id = webhook::insert(conn, &webhook_row("Till"))?;
            let expected = WebhookRow { webhook_id, ..webhook_row("Till") };
            assert_eq!(webhook::get(conn, webhook_id)?, Some(expected));
            let imported = WebhookRow { webhook_id: 9, ..webhook_row("Imported") };
            webhook::insert_with_id(conn, &imported)?;
            assert_eq!(webhook::insert(conn, &webhook_row("Last"))?, 10);
            let changed = WebhookRow { webhook_id: 9, ..WebhookRow::default() };
            assert!(webhook::update(conn, &changed)?);
            assert_eq!(webhook::get(conn, 9)?, Some(changed));
            assert!(!webhook::update(conn, &webhook_row("x"))?);
            assert!(webhook::delete(conn, 9)?);
            assert!(!webhook::delete(conn, 9)?);
            assert_eq!(webhook::get(conn, 9)?, None);
            Ok(())
        })
        .unwrap();
}

fn failures_are_counted(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            webhook::insert(conn, &webhook_row("Till"))?;
            assert_eq!(webhook::count_delivery(conn, 1, false)?, Some(4));
            assert_eq!(webhook::count_delivery(conn, 1, false)?, Some(5));
            assert_eq!(webhook::count_delivery(conn, 1, true)?, Some(0));
            assert_eq!(webhook::count_delivery(conn, 2, true)?, None);
            assert!(!webhook::get(conn, 1)?.unwrap().pending);
            Ok(())
        })
        .unwrap();
}

fn webhooks_are_chosen_and_sorted(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for (name, status, topic, created) in [
                ("b 100%", "active", "order.created", 30),
                ("Äpfel", "paused", "order.created", 10),
                ("a", "disabled", "order.updated", 20),
                ("B 1000", "active", "order.created", 20),
            ] {
                let row = WebhookRow {
                    status: status.to_owned(),
                    topic: topic.to_owned(),
                    created: time(created),
                    ..webhook_row(name)
                };
                webhook::insert(conn, &row)?;
            }
            let ids = |rows: Vec<WebhookRow>| -> Vec<i64> {
                rows.into_iter().map(|row| row.webhook_id).collect()
            };
            assert_eq!(ids(webhook::active_on(conn, "order.created")?), [1, 4]);
            assert_eq!(ids(webhook::active_on(conn, "order.updated")?), [0; 0]);
            Ok(())
        })
        .unwrap();
    let any = WebhookFilter::default;
    let search = |text: &str| WebhookFilter { search: Some(text.to_owned()), ..any() };
    let statuses =
        |statuses: &[&str]| statuses.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let backwards = WebhookFilter { direction: Direction::Descending, ..any() };
    let cases: Vec<(WebhookFilter, &[i64])> = vec![
        (any(), &[2, 3, 4, 1]),
        (backwards, &[1, 4, 3, 2]),
        (WebhookFilter { order: WebhookOrder::Id, ..any() }, &[1, 2, 3, 4]),
        (WebhookFilter { order: WebhookOrder::Name, ..any() }, &[3, 1, 4, 2]),
        (search("äPF"), &[2]),
        (search("0%"), &[1]),
        (WebhookFilter { after: Some(time(10)), ..any() }, &[3, 4, 1]),
        (WebhookFilter { before: Some(time(20)), ..any() }, &[2]),
        (WebhookFilter { statuses: statuses(&["active", "paused"]), ..any() }, &[2, 4, 1]),
        (WebhookFilter { include: vec![1, 3, 9], ..any() }, &[3, 1]),
        (WebhookFilter { exclude: vec![1, 3, 9], ..any() }, &[2, 4]),
        (
            WebhookFilter {
                search: Some("b".to_owned()),
                after: Some(time(10)),
                before: Some(time(40)),
                statuses: statuses(&["active"]),
                include: vec![1, 4],
                exclude: vec![1],
                order: WebhookOrder::Name,
                direction: Direction::Descending,
                page: Page { offset: 0, limit: 5 },
            },
            &[4],
        ),
    ];
    for (wanted, expected) in cases {
        let described = format!("{wanted:?}");
        let (rows, total) = store.read_blocking(move |conn| webhook::list(conn, &wanted)).unwrap();
        let found: Vec<_> = rows.into_iter().map(|row| row.webhook_id).collect();
        assert_eq!(found, expected, "{described}");
        assert_eq!(total, i64::try_from(expected.len()).unwrap());
    }
}
