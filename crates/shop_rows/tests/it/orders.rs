//! Orders with their lines and notes: what is written is what is read, one by one and in bulk.

use db::{Conn, Database};
use shop_rows::order::figures::{self, Figures};
use shop_rows::order::{self, ItemKind, Order, OrderItemRow, OrderKind, OrderRow};
use shop_rows::order_note;
use site_rows::post;
use types::{Kind, Result};

use crate::sales::{self, item, order_row};
use crate::support::{self, TestDatabase, count, time};

testkit::on_both_engines!(
    orders_come_and_go,
    lines_are_replaced,
    many_orders_are_inserted_as_one_by_one,
    ids_are_never_given_twice,
    a_bulk_that_fails_leaves_nothing,
    many_orders_are_read_in_two_queries,
    figures_are_what_orders_say,
    notes_belong_to_orders,
    a_guest_takes_over_from_a_user,
    orders_with_a_mark_are_found,
);

fn get(store: &Database, order_id: i64) -> Option<Order> {
    store.read_blocking(move |conn| order::get_with_items(conn, order_id)).unwrap()
}

/// The order as it is read when it was written with these ids.
fn stored(order: &Order, order_id: i64, first_item_id: i64) -> Order {
    let mut stored = order.clone();
    stored.row.order_id = order_id;
    for (item_id, item) in (first_item_id..).zip(&mut stored.items) {
        (item.order_id, item.item_id) = (order_id, item_id);
    }
    stored
}

fn orders_come_and_go(database: &TestDatabase) {
    let store = database.open();
    let new = sales::order(&[item("Tee"), OrderItemRow { kind: ItemKind::Tax, ..item("VAT") }]);
    let row = new.clone();
    assert_eq!(store.write_blocking(move |conn| order::insert(conn, &row)).unwrap(), 1);
    assert_eq!(get(&store, 1).unwrap(), stored(&new, 1, 1));
    assert_eq!(get(&store, 2), None);
    let mut changed = OrderRow {
        order_id: 1,
        kind: OrderKind::Refund,
        parent_id: 9,
        number: String::new(),
        paid: None,
        completed: Some(time(9)),
        trashed_status: None,
        merchant_id: None,
        store_id: Some("s1".to_owned()),
        tpn: None,
        prices_include_tax: false,
        search: "ÄRGER".to_owned(),
        ..OrderRow::default()
    };
    let row = changed.clone();
    assert!(store.write_blocking(move |conn| order::update(conn, &row)).unwrap());
    changed.number = "1".to_owned();
    changed.search = "ärger".to_owned();
    assert_eq!(store.read_blocking(|conn| order::get(conn, 1)).unwrap(), Some(changed));
    assert_eq!(get(&store, 1).unwrap().items, stored(&new, 1, 1).items);
    let missing = OrderRow { order_id: 2, ..order_row() };
    assert!(!store.write_blocking(move |conn| order::update(conn, &missing)).unwrap());
    assert!(store.write_blocking(|conn| order::delete(conn, 1)).unwrap());
    assert!(!store.write_blocking(|conn| order::delete(conn, 1)).unwrap());
    assert_eq!((count(&store, "orders"), count(&store, "order_items")), (0, 0));
}

fn lines_are_replaced(database: &TestDatabase) {
    let store = database.open();
    let names = |items: Vec<OrderItemRow>| -> Vec<(i64, String)> {
        items.into_iter().map(|item| (item.item_id, item.name)).collect()
    };
    let found = store.write_blocking(move |conn| {
        for _ in 0..2 {
            order::insert(conn, &sales::order(&[item("a"), item("b"), item("c")]))?;
        }
        let third = OrderItemRow { item_id: 3, ..item("c") };
        let first = OrderItemRow { item_id: 1, name: "A".to_owned(), ..item("a") };
        order::replace_items(conn, 1, &[third, item("new"), first])?;
        let kept = order::get_with_items(conn, 1)?.unwrap().items;
        let others = order::get_with_items(conn, 2)?.unwrap().items;
        order::replace_items(conn, 2, &[])?;
        assert_eq!(order::get_with_items(conn, 2)?.unwrap().items, []);
        Ok((kept, others))
    });
    let (kept, others) = found.unwrap();
    let pair = |id, name: &str| (id, name.to_owned());
    assert_eq!(names(kept), [pair(3, "c"), pair(7, "new"), pair(1, "A")]);
    assert_eq!(names(others), [pair(4, "a"), pair(5, "b"), pair(6, "c")]);
}

/// More than two batches of orders and of lines, and a rest of each.
fn bulk() -> Vec<Order> {
    let orders = (0..150_usize).map(|place| {
        let mut order = Order { row: order_row(), items: Vec::new() };
        order.row.number = if place % 3 == 0 { String::new() } else { format!("N{place}") };
        order.row.created = time(i64::try_from(place).unwrap());
        order.row.merchant_id = (place % 2 == 0).then(|| format!("m{place}"));
        order.row.search = format!("Ö{place}");
        for line in 0..place % 4 {
            let kind = ItemKind::ALL[(place + line) % ItemKind::ALL.len()];
            order.items.push(OrderItemRow { kind, ..item(&format!("{place}.{line}")) });
        }
        order
    });
    orders.collect()
}

fn everything(conn: &mut dyn Conn) -> Result<Vec<Order>> {
    let (rows, _) = order::list(conn, &order::OrderFilter::default())?;
    order::with_items(conn, rows)
}

fn many_orders_are_inserted_as_one_by_one(database: &TestDatabase) {
    let together = database.open();
    let ids = together.write_blocking(|conn| order::insert_many(conn, &bulk())).unwrap();
    assert_eq!(ids, (1..=150).collect::<Vec<_>>());
    let found = together.read_blocking(everything).unwrap();
    let one_by_one = TestDatabase::sqlite().open();
    let expected = one_by_one.write_blocking(|conn| {
        for order in bulk() {
            order::insert(conn, &order)?;
        }
        everything(conn)
    });
    assert_eq!(found, expected.unwrap());
    assert_eq!(found.iter().map(|order| order.items.len()).sum::<usize>(), 223);
    assert_eq!(found[0].row.number, "1");
    assert_eq!(found[149].items[0].name, "149.0");
    assert_eq!(together.write_blocking(|conn| order::insert_many(conn, &[])).unwrap(), [0; 0]);
}

fn ids_are_never_given_twice(database: &TestDatabase) {
    let store = database.open();
    let with_ids = |order_id: i64, item_ids: &[i64]| {
        let lines = item_ids.iter().map(|id| OrderItemRow { item_id: *id, ..item("x") });
        Order { row: OrderRow { order_id, ..order_row() }, items: lines.collect() }
    };
    let found = store.write_blocking(move |conn| {
        let orders = [with_ids(0, &[0, 50]), with_ids(20, &[0]), with_ids(0, &[30, 0])];
        let mut ids = order::insert_many(conn, &orders)?;
        ids.push(post::insert(conn, &support::post("p"))?);
        order::insert_with_id(conn, &with_ids(40, &[60, 0]))?;
        ids.push(order::insert(conn, &with_ids(0, &[0]))?);
        let orders = order::get_many(conn, &[21, 20, 22, 40, 41, 99])?;
        let items = orders.into_iter().flat_map(|order| order.items).map(|item| item.item_id);
        Ok((ids, items.collect::<Vec<_>>()))
    });
    let (orders, items) = found.unwrap();
    assert_eq!(orders, [21, 20, 22, 23, 41]);
    assert_eq!(items, [52, 51, 50, 30, 53, 60, 61, 62]);
}

fn a_bulk_that_fails_leaves_nothing(database: &TestDatabase) {
    let store = database.open();
    let twice = Order { row: OrderRow { order_id: 5, ..order_row() }, items: vec![item("x")] };
    let mut orders = bulk();
    orders.extend([twice.clone(), twice]);
    let refused = store.write_blocking(move |conn| order::insert_many(conn, &orders));
    assert_eq!(refused.unwrap_err().kind(), Kind::Conflict);
    assert_eq!((count(&store, "orders"), count(&store, "order_items")), (0, 0));
}

fn many_orders_are_read_in_two_queries(database: &TestDatabase) {
    let store = database.open();
    let found = store.write_blocking(|conn| {
        // More lines than one page of them has.
        let lines = vec![item("x"); 6000];
        order::insert_many(conn, &[sales::order(&lines), sales::order(&[]), sales::order(&lines)])?;
        assert_eq!(order::get_many(conn, &[])?, []);
        assert_eq!(order::items_of(conn, &[])?, []);
        order::get_many(conn, &[3, 99, 1, 2])
    });
    let found = found.unwrap();
    let sizes: Vec<_> = found.iter().map(|order| (order.row.order_id, order.items.len())).collect();
    assert_eq!(sizes, [(1, 6000), (2, 0), (3, 6000)]);
    let in_order = (1..).zip(&found[0].items).all(|(id, item)| item.item_id == id);
    assert!(in_order, "the lines are in the order in which they were written");
    let most: Vec<i64> = (1..2000).collect();
    let items = store.read_blocking(move |conn| order::items_of(conn, &most)).unwrap();
    assert_eq!(items.len(), 12_000);
}

/// What figures follow from, out of an order that was read as a whole.
fn figures_of(order: &Order) -> Figures {
    let Order { row, items } = order.clone();
    let item = |(position, item): (i64, OrderItemRow)| figures::ItemFigures {
        order_id: item.order_id,
        item_id: item.item_id,
        position,
        kind: item.kind,
        name: item.name,
        product_id: item.product_id,
        variation_id: item.variation_id,
        quantity: item.quantity,
        subtotal: item.subtotal,
        total: item.total,
        total_tax: item.total_tax,
        rate_id: item.rate_id,
        details: item.details,
    };
    let row = figures::OrderFigures {
        order_id: row.order_id,
        kind: row.kind,
        parent_id: row.parent_id,
        status: row.status,
        currency: row.currency,
        customer_id: row.customer_id,
        billing_email: row.billing_email,
        total: row.total,
        total_tax: row.total_tax,
        shipping_total: row.shipping_total,
        shipping_tax: row.shipping_tax,
        created: row.created,
        paid: row.paid,
        completed: row.completed,
        merchant_id: row.merchant_id,
        store_id: row.store_id,
        tpn: row.tpn,
        details: row.details,
    };
    Figures { row, items: (0..).zip(items).map(item).collect() }
}

fn figures_are_what_orders_say(database: &TestDatabase) {
    let store = database.open();
    let mut orders = bulk();
    // Refunds of earlier orders stand between others, and lines need not be in the order of ids.
    for (place, order) in orders.iter_mut().enumerate().filter(|(place, _)| place % 5 == 4) {
        order.row.kind = OrderKind::Refund;
        order.row.parent_id = i64::try_from(place / 10 + 1).unwrap();
        order.items.iter_mut().zip((1..=3).rev()).for_each(|(item, id)| {
            item.item_id = i64::try_from(place * 10).unwrap() + id + 1_000;
        });
    }
    store.write_blocking(move |conn| order::insert_many(conn, &orders)).unwrap();
    let mut all = store.read_blocking(everything).unwrap();
    all.sort_by_key(|order| order.row.order_id);
    let wanted = |is_meant: &dyn Fn(&OrderRow) -> bool| {
        let meant = all.iter().filter(|order| is_meant(&order.row));
        meant.map(figures_of).collect::<Vec<_>>()
    };
    let is_order = |row: &OrderRow| row.kind == OrderKind::Order;
    for (after, through) in [(0, i64::MAX), (0, 1), (17, 62), (62, 17), (150, i64::MAX)] {
        let found = store.read_blocking(move |conn| figures::between(conn, (after, through), 300));
        let is_meant =
            |row: &OrderRow| is_order(row) && row.order_id > after && row.order_id <= through;
        assert_eq!(found.unwrap(), Some(wanted(&is_meant)), "{after} {through}");
    }
    let too_many = store.read_blocking(|conn| figures::between(conn, (0, i64::MAX), 223));
    assert_eq!(too_many.unwrap(), None, "they have 223 lines");
    let ids = [3_i64, 5, 90, 140, 999];
    let found = store.read_blocking(move |conn| figures::get_many(conn, &ids)).unwrap();
    assert_eq!(found, wanted(&|row| ids.contains(&row.order_id)));
    let found = store.read_blocking(move |conn| figures::refunds_of(conn, &ids)).unwrap();
    let mut expected = wanted(&|row| !is_order(row) && ids.contains(&row.parent_id));
    expected.sort_by_key(|refund| (refund.row.parent_id, refund.row.created));
    assert_eq!((found.len(), found), (4, expected));
    for (after, count, expected) in [(0, 10, Some(10)), (145, 5, Some(150)), (145, 6, None)] {
        let end = store.read_blocking(move |conn| figures::end_of(conn, after, count)).unwrap();
        assert_eq!(end, expected, "{count} after {after}");
    }
    let nothing = store
        .read_blocking(|conn| Ok((figures::get_many(conn, &[])?, figures::refunds_of(conn, &[])?)));
    assert_eq!(nothing.unwrap(), (Vec::new(), Vec::new()));
}

fn notes_belong_to_orders(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            order::insert(conn, &sales::order(&[]))?;
            order::insert(conn, &sales::order(&[]))?;
            for (text, at) in [("first", 1), ("second", 5), ("third", 5)] {
                let created = time(at);
                order_note::insert(
                    conn,
                    &order_note::OrderNoteRow { created, ..sales::note(1, text) },
                )?;
            }
            let imported = order_note::OrderNoteRow { note_id: 9, ..sales::note(2, "x") };
            order_note::insert_with_id(conn, &imported)?;
            assert_eq!(order_note::insert(conn, &sales::note(2, "y"))?, 10);
            let texts: Vec<_> =
                order_note::list(conn, 1)?.into_iter().map(|note| note.text).collect();
            assert_eq!(texts, ["third", "second", "first"]);
            assert_eq!(order_note::get(conn, 9)?, Some(imported));
            assert!(order_note::delete(conn, 9)?);
            assert!(!order_note::delete(conn, 9)?);
            assert!(order::delete(conn, 1)?);
            assert_eq!(order_note::list(conn, 1)?, []);
            Ok(())
        })
        .unwrap();
    assert_eq!(count(&store, "order_notes"), 1);
    let refused = store.write_blocking(|conn| order_note::insert(conn, &sales::note(77, "x")));
    assert_eq!(refused.unwrap_err().kind(), Kind::Conflict);
}

fn a_guest_takes_over_from_a_user(database: &TestDatabase) {
    let store = database.open();
    let customers = store.write_blocking(|conn| {
        for customer_id in [7, 8, 7, 0] {
            let row = OrderRow { customer_id, ..order_row() };
            order::insert(conn, &Order { row, items: Vec::new() })?;
        }
        assert_eq!(order::detach_customer(conn, 7)?, 2);
        assert_eq!(order::detach_customer(conn, 0)?, 0);
        let orders = order::get_many(conn, &[1, 2, 3, 4])?;
        Ok(orders.into_iter().map(|order| order.row.customer_id).collect::<Vec<_>>())
    });
    assert_eq!(customers.unwrap(), [0, 8, 0, 0]);
}

fn orders_with_a_mark_are_found(database: &TestDatabase) {
    let store = database.open();
    for details in [
        r#"{"meta_data":[{"id":1,"key":"mode","value":"test"}]}"#,
        r#"{"meta_data":[{"id":2,"key":"mode","value":"live"}]}"#,
        "{}",
    ] {
        let row = OrderRow { details: details.to_owned(), ..OrderRow::default() };
        let sold = Order { row, items: Vec::new() };
        store.write_blocking(move |conn| order::insert(conn, &sold).map(drop)).unwrap();
    }
    let found = store.read_blocking(|conn| {
        Ok((order::count_marked(conn, "mode", "test")?, order::marked(conn, "mode", "test", 9)?))
    });
    assert_eq!(found.unwrap(), (1, vec![1]));
}
