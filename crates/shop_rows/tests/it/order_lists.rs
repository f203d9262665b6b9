//! Lists of orders: each filter, each order, all at once, sums, and the same on both engines.

use db::filter::{Direction, Page};
use db::{Conn, Database, text_index};
use shop_rows::order::{
    self, CustomerSum, Order, OrderFilter, OrderItemRow, OrderKind, OrderRow, OrderSort,
};
use types::{Amount, Kind};

use crate::sales::{item, order_row};
use crate::support::{TestDatabase, time};

testkit::on_both_engines!(
    filters_choose,
    searches_find_the_same_with_an_index,
    searches_have_pages,
    orders_sort,
    all_filters_at_once,
    refunds_of_many_orders,
    orders_are_counted_and_summed,
    too_much_is_refused,
);

/// Kind, parent, status, customer, number, search, products and variations of the lines.
type Short = (OrderKind, i64, &'static str, i64, &'static str, &'static str, &'static [(i64, i64)]);

const ORDERS: [Short; 6] = [
    (OrderKind::Order, 0, "completed", 7, "9", "Zoë Berg", &[(31, 0), (40, 41)]),
    (OrderKind::Order, 0, "processing", 0, "10", "50% off_er", &[(31, 0)]),
    (OrderKind::Refund, 1, "completed", 0, "R1", "", &[(31, 0)]),
    (OrderKind::Order, 0, "trash", 8, "r2", "zoe berg 2", &[(40, 42)]),
    (OrderKind::Refund, 1, "completed", 0, "R10", "", &[]),
    (OrderKind::Order, 2, "completed", 7, "100", "ZOË", &[(0, 0)]),
];

fn filled(database: &TestDatabase) -> Database {
    let store = database.open();
    let orders = (0..).zip(ORDERS).map(
        |(place, (kind, parent_id, status, customer_id, number, search, products))| {
            let row = OrderRow {
                kind,
                parent_id,
                status: status.to_owned(),
                customer_id,
                number: number.to_owned(),
                search: search.to_owned(),
                created_via: if place == 1 { "admin" } else { "checkout" }.to_owned(),
                merchant_id: (place < 2).then(|| format!("m{place}")),
                store_id: (place == 2).then(|| "s1".to_owned()),
                tpn: (place == 3).then(|| "t1".to_owned()),
                created: time([30, 10, 50, 20, 40, 20][usize::try_from(place).unwrap()]),
                modified: time(-place),
                total: Amount::from_whole(place + 1),
                ..order_row()
            };
            let lines = products.iter().map(|(product_id, variation_id)| OrderItemRow {
                product_id: *product_id,
                variation_id: *variation_id,
                ..item("x")
            });
            Order { row, items: lines.collect() }
        },
    );
    let orders: Vec<Order> = orders.collect();
    store.write_blocking(move |conn| order::insert_many(conn, &orders)).unwrap();
    store
}

fn ids(store: &Database, filter: OrderFilter) -> Vec<i64> {
    let (rows, total) = store.read_blocking(move |conn| order::list(conn, &filter)).unwrap();
    assert_eq!(total, i64::try_from(rows.len()).unwrap());
    rows.into_iter().map(|order| order.order_id).collect()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn any() -> OrderFilter {
    OrderFilter::default()
}

fn filters_choose(database: &TestDatabase) {
    let store = filled(database);
    let search = |text: &str| OrderFilter { search: Some(text.to_owned()), ..any() };
    let number = |text: &str| OrderFilter { number: Some(text.to_owned()), ..any() };
    let cases: Vec<(OrderFilter, &[i64])> = vec![
        (any(), &[1, 2, 3, 4, 5, 6]),
        (OrderFilter { kinds: vec![OrderKind::Order], ..any() }, &[1, 2, 4, 6]),
        (OrderFilter { kinds: OrderKind::ALL.to_vec(), ..any() }, &[1, 2, 3, 4, 5, 6]),
        (OrderFilter { statuses: texts(&["trash", "processing", "x"]), ..any() }, &[2, 4]),
        (OrderFilter { statuses_exclude: texts(&["trash", "completed"]), ..any() }, &[2]),
        (search("ZOË"), &[1, 6]),
        (search("berg"), &[1, 4]),
        (search("0%"), &[2]),
        (search("f_e"), &[2]),
        (search("2"), &[2, 4]),
        (search(" 3 "), &[3]),
        (search("x"), &[]),
        (number("1"), &[2, 6]),
        (number("R1"), &[3, 5]),
        (number("r"), &[4]),
        (number("%"), &[]),
        (OrderFilter { after: Some(time(20)), ..any() }, &[1, 3, 5]),
        (OrderFilter { before: Some(time(20)), ..any() }, &[2]),
        (OrderFilter { modified_after: Some(time(-1)), ..any() }, &[1]),
        (OrderFilter { modified_before: Some(time(-2)), ..any() }, &[4, 5, 6]),
        (OrderFilter { include: vec![5, 1, 77], ..any() }, &[1, 5]),
        (OrderFilter { exclude: vec![5, 1, 77], ..any() }, &[2, 3, 4, 6]),
        (OrderFilter { parents: vec![1, 77], ..any() }, &[3, 5]),
        (OrderFilter { parents: vec![0, 2], ..any() }, &[1, 2, 4, 6]),
        (OrderFilter { parents_exclude: vec![0, 1], ..any() }, &[6]),
        (OrderFilter { customers: vec![7], ..any() }, &[1, 6]),
        (OrderFilter { customers: vec![0, 8], ..any() }, &[2, 3, 4, 5]),
        (OrderFilter { products: vec![31], ..any() }, &[1, 2, 3]),
        (OrderFilter { products: vec![40], ..any() }, &[1, 4]),
        (OrderFilter { products: vec![42], ..any() }, &[4]),
        (OrderFilter { products: vec![41, 31, 0], ..any() }, &[1, 2, 3]),
        (OrderFilter { created_via: texts(&["admin", "rest-api"]), ..any() }, &[2]),
        (OrderFilter { merchants: texts(&["m0", "m1", "s1"]), ..any() }, &[1, 2]),
        (OrderFilter { stores: texts(&["s1"]), ..any() }, &[3]),
        (OrderFilter { tpns: texts(&["t1", "m0"]), ..any() }, &[4]),
    ];
    for (filter, expected) in cases {
        let described = format!("{filter:?}");
        let filter = OrderFilter { sort: OrderSort::Id, ..filter };
        assert_eq!(ids(&store, filter), expected, "{described}");
    }
}

/// What is due, what is indexed, what changed since, and what is gone.
fn searches_find_the_same_with_an_index(database: &TestDatabase) {
    let store = filled(database);
    let search = |text: &str| {
        ids(&store, OrderFilter { search: Some(text.to_owned()), sort: OrderSort::Id, ..any() })
    };
    let index_due = |limit: usize| {
        let index_due =
            move |conn: &mut dyn Conn| text_index::index_due(conn, &order::TEXT_INDEX, limit);
        store.write_blocking(index_due).unwrap()
    };
    let is_due =
        || store.read_blocking(|conn| text_index::is_due(conn, &order::TEXT_INDEX)).unwrap();
    let expected: [(&str, &[i64]); 8] = [
        ("zoë", &[1, 6]),
        ("zoë berg", &[1]),
        ("50% off_er and more", &[]),
        ("e berg", &[4]),
        ("% off", &[2]),
        ("f_er", &[2]),
        ("100", &[]),
        ("   4", &[4]),
    ];
    let check = || expected.iter().for_each(|(text, ids)| assert_eq!(search(text), *ids, "{text}"));
    check();
    // Some are indexed, then all.
    index_due(4);
    check();
    while index_due(4) {}
    assert!(!is_due());
    check();
    store
        .write_blocking(|conn| {
            let mut row = order::get(conn, 1)?.unwrap();
            row.search = String::from("ada lake");
            order::update(conn, &row)?;
            row = order::get(conn, 6)?.unwrap();
            row.status = String::from("failed");
            order::update(conn, &row)?;
            order::delete(conn, 4)?;
            let row = OrderRow { search: String::from("Grace Pier"), ..order_row() };
            let mut order = Order { row, items: Vec::new() };
            order::insert(conn, &order)?;
            order.row.order_id = 90;
            order::insert_with_id(conn, &order)?;
            order.row.order_id = order::take_id(conn)?;
            order::insert_numbered(conn, &order)
        })
        .unwrap();
    for _ in 0..2 {
        assert_eq!(search("pier"), [7, 90, 91]);
        assert_eq!(search("zoë"), [6]);
        assert_eq!(search("lake"), [1]);
        assert_eq!(search("berg"), Vec::<i64>::new());
        while index_due(1) {}
    }
}

fn searches_have_pages(database: &TestDatabase) {
    let store = filled(database);
    let page = |text: &str, offset: i64| {
        let page = Page { offset, limit: 1 };
        let filter = OrderFilter { search: Some(text.to_owned()), page, ..any() };
        let (rows, total) = store.read_blocking(move |conn| order::list(conn, &filter)).unwrap();
        (rows.into_iter().map(|order| order.order_id).collect::<Vec<i64>>(), total)
    };
    // By date: the fourth order is older than the first.
    assert_eq!(page("berg", 0), (vec![4], 2));
    assert_eq!(page("berg", 1), (vec![1], 2));
    assert_eq!(page("berg", 2), (vec![], 2));
    assert_eq!(page("nobody", 0), (vec![], 0));
    assert_eq!(page("nobody", 1), (vec![], 0));
}

fn orders_sort(database: &TestDatabase) {
    let store = filled(database);
    for (sort, expected) in [
        (OrderSort::Date, [2, 4, 6, 1, 5, 3]),
        (OrderSort::Modified, [6, 5, 4, 3, 2, 1]),
        (OrderSort::Id, [1, 2, 3, 4, 5, 6]),
        (OrderSort::Number, [1, 2, 3, 4, 6, 5]),
        (OrderSort::Include, [4, 1, 5, 6, 2, 3]),
    ] {
        let filter = OrderFilter { include: vec![4, 1, 5, 6, 2, 3], sort, ..any() };
        assert_eq!(ids(&store, filter.clone()), expected, "{sort:?}");
        let mut backwards = expected;
        backwards.reverse();
        let filter = OrderFilter { direction: Direction::Descending, ..filter };
        assert_eq!(ids(&store, filter), backwards, "{sort:?} backwards");
    }
    let nothing_to_go_by = OrderFilter { sort: OrderSort::Include, ..any() };
    assert_eq!(ids(&store, nothing_to_go_by), [2, 4, 6, 1, 5, 3]);
}

/// In every order, with a second page so that the matches are counted as well.
fn all_filters_at_once(database: &TestDatabase) {
    let store = filled(database);
    for sort in [OrderSort::Date, OrderSort::Number, OrderSort::Include] {
        for (offset, found) in [(0, 1), (1, 0)] {
            let filter = OrderFilter {
                kinds: OrderKind::ALL.to_vec(),
                statuses: texts(&["completed", "processing"]),
                statuses_exclude: texts(&["trash"]),
                search: Some("1".to_owned()),
                number: Some("9".to_owned()),
                after: Some(time(1)),
                before: Some(time(99)),
                modified_after: Some(time(-50)),
                modified_before: Some(time(50)),
                include: vec![3, 1],
                exclude: vec![4, 5],
                parents: vec![0],
                parents_exclude: vec![1],
                customers: vec![7, 8],
                products: vec![31, 41],
                created_via: texts(&["checkout"]),
                merchants: texts(&["m0"]),
                stores: Vec::new(),
                tpns: Vec::new(),
                sort,
                direction: Direction::Descending,
                page: Page { offset, limit: 1 },
            };
            let listed = store.read_blocking(move |conn| order::list(conn, &filter)).unwrap();
            assert_eq!((listed.0.len(), listed.1), (found, 1), "{sort:?}");
            assert!(listed.0.iter().all(|order| order.order_id == 1));
        }
    }
}

fn refunds_of_many_orders(database: &TestDatabase) {
    let store = filled(database);
    let refunds = store.read_blocking(|conn| {
        assert_eq!(order::refunds_of(conn, &[])?, []);
        order::refunds_of(conn, &[2, 1])
    });
    let refunds: Vec<_> =
        refunds.unwrap().into_iter().map(|row| (row.parent_id, row.order_id)).collect();
    assert_eq!(refunds, [(1, 5), (1, 3)], "the older one first, and no order among them");
}

fn orders_are_counted_and_summed(database: &TestDatabase) {
    let store = filled(database);
    let counts = store.read_blocking(|conn| order::count_by_status(conn, OrderKind::Order));
    let count = |status: &str, count| (status.to_owned(), count);
    assert_eq!(counts.unwrap(), [count("completed", 2), count("processing", 1), count("trash", 1)]);
    let all =
        store.read_blocking(|conn| Ok((order::count(conn)?, order::count_since(conn, time(0))?)));
    let (all, since) = all.unwrap();
    assert_eq!(all, since, "as many as since the first");
    let sums = store.read_blocking(|conn| {
        assert_eq!(order::sums_of_customers(conn, &[])?, []);
        order::sums_of_customers(conn, &[8, 7, 0, 99])
    });
    let sum = |customer_id, status: &str, orders, total, last_order_id, last| CustomerSum {
        customer_id,
        status: status.to_owned(),
        orders,
        total: Amount::from_whole(total),
        last_order_id,
        last_created: time(last),
    };
    assert_eq!(sums.unwrap(), [sum(7, "completed", 2, 7, 6, 30), sum(8, "trash", 1, 4, 4, 20)]);
}

fn too_much_is_refused(database: &TestDatabase) {
    let store = database.open();
    for filter in [
        OrderFilter { products: vec![1; 5000], ..any() },
        OrderFilter { search: Some("x".repeat(5000)), ..any() },
        OrderFilter { page: Page { offset: 0, limit: 20_000 }, ..any() },
    ] {
        let answer = store.read_blocking(move |conn| order::list(conn, &filter));
        assert_eq!(answer.unwrap_err().kind(), Kind::Invalid);
    }
}
