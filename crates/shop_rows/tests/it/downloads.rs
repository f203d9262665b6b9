//! Permissions to download and the log of downloads.

use db::filter::{Direction, Page};
use shop_rows::download_log::{self, DownloadLogFilter, DownloadLogOrder, DownloadLogRow};
use shop_rows::download_permission::{self, DownloadPermissionFilter, DownloadPermissionRow};
use types::Kind;

use crate::goods::{download, permission, texts};
use crate::support::{TestDatabase, time};

testkit::on_both_engines!(permissions, permissions_are_listed, the_log, addresses_are_found);

fn permissions(database: &TestDatabase) {
    let store = database.open();
    let found = store.write_blocking(|conn| {
        assert_eq!(download_permission::insert(conn, &permission(1))?, 1);
        let seventh = DownloadPermissionRow { permission_id: 7, ..permission(2) };
        download_permission::insert_with_id(conn, &seventh)?;
        assert_eq!(download_permission::insert(conn, &permission(3))?, 8);
        let changed = DownloadPermissionRow {
            permission_id: 7,
            remaining: None,
            expires: Some(time(5)),
            user_id: 0,
            count: 3,
            ..permission(9)
        };
        assert!(download_permission::update(conn, &changed)?);
        let missing = DownloadPermissionRow { permission_id: 9, ..changed.clone() };
        assert!(!download_permission::update(conn, &missing)?);
        assert_eq!(download_permission::get(conn, 7)?, Some(changed));
        download_log::insert(conn, &download(8, "::1"))?;
        assert!(download_permission::delete(conn, 8)?);
        assert!(!download_permission::delete(conn, 8)?);
        assert_eq!(download_log::get(conn, 1)?, None, "the log goes with the permission");
        download_permission::get(conn, 1)
    });
    assert_eq!(found.unwrap(), Some(DownloadPermissionRow { permission_id: 1, ..permission(1) }));
}

fn permissions_are_listed(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for (order_id, product_id, user_id, remaining, expires) in
                [(1, 5, 6, None, None), (1, 6, 6, Some(0), None), (2, 5, 7, Some(1), Some(10))]
            {
                let row = DownloadPermissionRow {
                    product_id,
                    user_id,
                    remaining,
                    expires: expires.map(time),
                    download_id: format!("file {product_id}"),
                    ..permission(order_id)
                };
                download_permission::insert(conn, &row)?;
            }
            Ok(())
        })
        .unwrap();
    let any = DownloadPermissionFilter::default;
    let cases: Vec<(DownloadPermissionFilter, &[i64])> = vec![
        (any(), &[1, 2, 3]),
        (DownloadPermissionFilter { include: vec![3, 1], ..any() }, &[1, 3]),
        (DownloadPermissionFilter { orders: vec![1], ..any() }, &[1, 2]),
        (DownloadPermissionFilter { products: vec![5], ..any() }, &[1, 3]),
        (DownloadPermissionFilter { users: vec![7], ..any() }, &[3]),
        (DownloadPermissionFilter { download_ids: texts(&["file 6"]), ..any() }, &[2]),
        (DownloadPermissionFilter { order_key: Some("key of 2".to_owned()), ..any() }, &[3]),
        (DownloadPermissionFilter { usable_at: Some(time(9)), ..any() }, &[1, 3]),
        (DownloadPermissionFilter { usable_at: Some(time(10)), ..any() }, &[1]),
        (DownloadPermissionFilter { direction: Direction::Descending, ..any() }, &[3, 2, 1]),
    ];
    for (filter, expected) in cases {
        let described = format!("{filter:?}");
        let listed =
            store.read_blocking(move |conn| download_permission::list(conn, &filter)).unwrap();
        let ids: Vec<i64> = listed.0.into_iter().map(|row| row.permission_id).collect();
        let total = i64::try_from(expected.len()).unwrap();
        assert_eq!((ids.as_slice(), listed.1), (expected, total), "{described}");
    }
}

fn the_log(database: &TestDatabase) {
    let store = database.open();
    let guest = DownloadLogRow { log_id: 7, user_id: None, at: time(1), ..download(2, "::1") };
    let written = guest.clone();
    let found = store.write_blocking(move |conn| {
        for order_id in [1, 2] {
            download_permission::insert(conn, &permission(order_id))?;
        }
        assert_eq!(download_log::insert(conn, &download(1, "192.0.2.1"))?, 1);
        download_log::insert_with_id(conn, &written)?;
        assert_eq!(download_log::insert(conn, &download(2, "192.0.2.2"))?, 8);
        Ok([download_log::get(conn, 7)?, download_log::get(conn, 1)?, download_log::get(conn, 2)?])
    });
    let first = DownloadLogRow { log_id: 1, ..download(1, "192.0.2.1") };
    assert_eq!(found.unwrap(), [Some(guest), Some(first), None]);
    let any = DownloadLogFilter::default;
    let cases: Vec<(DownloadLogFilter, &[i64])> = vec![
        (any(), &[7, 1, 8]),
        (DownloadLogFilter { order: DownloadLogOrder::Id, ..any() }, &[1, 7, 8]),
        (DownloadLogFilter { direction: Direction::Descending, ..any() }, &[8, 1, 7]),
        (DownloadLogFilter { include: vec![1, 8], ..any() }, &[1, 8]),
        (DownloadLogFilter { permissions: vec![2], ..any() }, &[7, 8]),
        (DownloadLogFilter { users: vec![6], ..any() }, &[1, 8]),
        (DownloadLogFilter { ips: texts(&["::1", "192.0.2.1"]), ..any() }, &[7, 1]),
        (DownloadLogFilter { ips_exclude: texts(&["::1"]), ..any() }, &[1, 8]),
        (DownloadLogFilter { after: Some(time(1)), ..any() }, &[1, 8]),
        (DownloadLogFilter { before: Some(time(13)), ..any() }, &[7]),
    ];
    for (filter, expected) in cases {
        let described = format!("{filter:?}");
        let listed = store.read_blocking(move |conn| download_log::list(conn, &filter)).unwrap();
        let ids: Vec<i64> = listed.0.into_iter().map(|row| row.log_id).collect();
        let total = i64::try_from(expected.len()).unwrap();
        assert_eq!((ids.as_slice(), listed.1), (expected, total), "{described}");
    }
    let page = DownloadLogFilter { page: Page { offset: 1, limit: 1 }, ..any() };
    let (rows, total) = store.read_blocking(move |conn| download_log::list(conn, &page)).unwrap();
    assert_eq!((rows.len(), total), (1, 3));
    let orphan = store.write_blocking(|conn| download_log::insert(conn, &download(9, "::1")));
    assert_eq!(orphan.unwrap_err().kind(), Kind::Conflict);
}

fn addresses_are_found(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let id = download_permission::insert(conn, &permission(1))?;
            for ip in ["203.0.113.77", "203.0.113.5", "2001:DB8::42", "203.0.113.5", "20x"] {
                download_log::insert(conn, &download(id, ip))?;
            }
            Ok(())
        })
        .unwrap();
    for (start, limit, expected) in [
        ("203", 10, &["203.0.113.5", "203.0.113.77"][..]),
        ("203", 1, &["203.0.113.5"]),
        ("2001:db", 10, &["2001:DB8::42"]),
        ("20_", 10, &[]),
        ("113", 10, &[]),
        ("", 10, &["2001:DB8::42", "203.0.113.5", "203.0.113.77", "20x"]),
    ] {
        let found = store
            .read_blocking(move |conn| download_log::ips_starting_with(conn, start, limit))
            .unwrap();
        assert_eq!(found, expected, "{start}");
    }
}
