//! Whether there is any of something yet.

use admin::rows::presence::{self, Presence};
use db::Database;
use shop_rows::product::{self, ProductRow};
use testkit::database::TestDatabase;

testkit::on_both_engines!(what_is_there_is_noticed);

fn what_is_there_is_noticed(database: &TestDatabase) {
    let store = database.open();
    let read = |store: &Database| store.read_blocking(presence::read).unwrap();
    assert_eq!(read(&store), Presence::default());
    let add = |kind: &'static str, status: &'static str| {
        let row = ProductRow {
            kind: kind.to_owned(),
            status: status.to_owned(),
            ..ProductRow::default()
        };
        store.write_blocking(move |conn| product::insert(conn, &row)).unwrap()
    };
    add("simple", "draft");
    add("variation", "publish");
    assert!(!read(&store).product, "neither drafts nor variations are for sale");
    for _ in 0..3 {
        add("simple", "publish");
    }
    assert_eq!(read(&store), Presence { product: true, ..Presence::default() });
    let counted = |max| store.read_blocking(move |conn| presence::products_up_to(conn, max));
    assert_eq!((counted(2).unwrap(), counted(9).unwrap()), (2, 3));
}
