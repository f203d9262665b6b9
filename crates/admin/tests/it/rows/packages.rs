//! Packages with their files, what was bought, errors of connections, and feeds in pieces.

use admin::rows::catalogue_feed::{self, FeedRow, FeedState};
use admin::rows::marketplace::{self, ConnectionErrorRow, ConnectionRow, SubscriptionRow};
use admin::rows::package::{self, PackageKind, PackageRow};
use db::Conn;
use shop_rows::product;

use testkit::database::{TestDatabase, time};

testkit::on_both_engines!(
    a_package_replaces_its_predecessor_with_all_files,
    what_was_bought_is_replaced_as_a_whole,
    a_error_is_verified_once_and_while_it_is_young,
    a_feed_is_kept_in_pieces,
);

fn plugin(slug: &str, version: &str) -> PackageRow {
    PackageRow {
        kind: PackageKind::Plugin,
        slug: slug.to_owned(),
        version: version.to_owned(),
        manifest: "{}".to_owned(),
        settings: "{}".to_owned(),
        made: "{}".to_owned(),
        installed: time(1),
        ..PackageRow::default()
    }
}

fn bought(product_key: &str) -> SubscriptionRow {
    SubscriptionRow {
        product_key: product_key.to_owned(),
        product_id: 7,
        details: "{}".to_owned(),
        expires: Some(time(9)),
        ..SubscriptionRow::default()
    }
}

fn error(nonce: &str, raised: i64) -> ConnectionErrorRow {
    ConnectionErrorRow {
        nonce: nonce.to_owned(),
        code: "lost".to_owned(),
        raised: time(raised),
        ..ConnectionErrorRow::default()
    }
}

fn feed(key: &str) -> FeedRow {
    FeedRow {
        feed_key: key.to_owned(),
        file_name: format!("{key}.json"),
        total: -1,
        ..FeedRow::default()
    }
}

fn a_package_replaces_its_predecessor_with_all_files(database: &TestDatabase) {
    let store = database.open();
    let test = |conn: &mut dyn Conn| {
        let old = [("a.md", &b"old"[..]), ("b.md", &b"old"[..])];
        package::install(conn, &plugin("demo", "1"), old)?;
        let theme = PackageRow { kind: PackageKind::Theme, ..plugin("demo", "1") };
        package::install(conn, &theme, [])?;
        package::install(conn, &plugin("demo", "2"), [("a.md", &b"new"[..])])?;
        let file =
            |conn: &mut dyn Conn, path| package::file(conn, PackageKind::Plugin, "demo", path);
        assert_eq!(file(conn, "a.md")?, Some(b"new".to_vec()));
        assert_eq!(file(conn, "b.md")?, None);
        let active = PackageRow { is_active: true, ..plugin("demo", "2") };
        package::put(conn, &active)?;
        assert_eq!(file(conn, "a.md")?, Some(b"new".to_vec()), "files stay");
        assert_eq!(package::list(conn, PackageKind::Plugin)?, [active]);
        assert_eq!(package::list(conn, PackageKind::Theme)?, [theme], "a theme is another thing");
        assert!(package::remove(conn, PackageKind::Plugin, "demo")?);
        assert!(!package::remove(conn, PackageKind::Plugin, "demo")?);
        assert_eq!(file(conn, "a.md")?, None);
        assert_eq!(package::get(conn, PackageKind::Plugin, "demo")?, None);
        Ok(())
    };
    store.write_blocking(test).unwrap();
}

fn what_was_bought_is_replaced_as_a_whole(database: &TestDatabase) {
    let store = database.open();
    let test = |conn: &mut dyn Conn| {
        marketplace::replace_subscriptions(conn, &[bought("k1"), bought("k2")])?;
        marketplace::replace_subscriptions(conn, &[bought("k3"), bought("k2")])?;
        assert_eq!(marketplace::subscriptions(conn)?, [bought("k2"), bought("k3")]);
        let own = ConnectionRow { service: "market".into(), ..ConnectionRow::default() };
        marketplace::connect(conn, &own)?;
        let later = ConnectionRow { remote_site_id: 5, connected: time(3), ..own };
        marketplace::connect(conn, &later)?;
        assert_eq!(marketplace::connection(conn, "market")?, Some(later));
        assert!(marketplace::disconnect(conn, "market")?);
        assert!(!marketplace::disconnect(conn, "market")?);
        Ok(())
    };
    store.write_blocking(test).unwrap();
}

fn a_error_is_verified_once_and_while_it_is_young(database: &TestDatabase) {
    let store = database.open();
    let test = |conn: &mut dyn Conn| {
        marketplace::error_insert(conn, &error("old", 1))?;
        marketplace::error_insert(conn, &error("new", 5))?;
        assert_eq!(marketplace::error_newest(conn, "lost")?, Some(error("new", 5)));
        assert_eq!(marketplace::error_newest(conn, "other")?, None);
        let verify =
            |conn: &mut dyn Conn, nonce| marketplace::error_verify(conn, nonce, time(3), time(9));
        assert!(!verify(conn, "none")?);
        assert!(!verify(conn, "old")?, "too old");
        assert!(verify(conn, "new")?);
        assert!(!verify(conn, "new")?, "once");
        let verified = marketplace::errors_verified(conn, time(0), 10)?;
        assert_eq!(verified.len(), 1);
        assert_eq!(marketplace::errors_forget(conn, time(2))?, 1);
        Ok(())
    };
    store.write_blocking(test).unwrap();
}

fn a_feed_is_kept_in_pieces(database: &TestDatabase) {
    let store = database.open();
    let test = |conn: &mut dyn Conn| {
        catalogue_feed::put(conn, &feed("all"))?;
        catalogue_feed::part_put(conn, "all.json", 0, b"lost")?;
        catalogue_feed::part_put(conn, "all.json", 0, b"[1")?;
        catalogue_feed::part_put(conn, "all.json", 1, b"]")?;
        assert_eq!(catalogue_feed::part(conn, "all.json", 0)?, Some(b"[1".to_vec()));
        assert_eq!(catalogue_feed::part(conn, "all.json", 2)?, None);
        assert_eq!(catalogue_feed::bytes(conn, "all.json")?, 3);
        assert_eq!(catalogue_feed::bytes(conn, "none.json")?, 0);
        let done = FeedRow { state: FeedState::Completed, ended: Some(time(4)), ..feed("all") };
        catalogue_feed::put(conn, &done)?;
        assert_eq!(catalogue_feed::of_file(conn, "all.json")?, Some(done.clone()));
        assert_eq!(catalogue_feed::ended_before(conn, time(4), 10)?, []);
        assert_eq!(catalogue_feed::ended_before(conn, time(5), 10)?, std::slice::from_ref(&done));
        catalogue_feed::remove(conn, &done)?;
        assert_eq!(catalogue_feed::get(conn, "all")?, None);
        assert_eq!(catalogue_feed::part(conn, "all.json", 0)?, None);

        for (kind, status) in [
            ("simple", "publish"),
            ("simple", "draft"),
            ("grouped", "publish"),
            ("variation", "publish"),
        ] {
            let row = product::ProductRow {
                kind: kind.to_owned(),
                status: status.to_owned(),
                ..product::ProductRow::default()
            };
            product::insert(conn, &row)?;
        }
        assert_eq!(catalogue_feed::products_count(conn)?, 2);
        let first = catalogue_feed::products_after(conn, 0, 1)?.remove(0);
        let rest = catalogue_feed::products_after(conn, first.product_id, 10)?;
        assert_eq!((&*first.kind, rest.len(), &*rest[0].kind), ("simple", 1, "variation"));
        Ok(())
    };
    store.write_blocking(test).unwrap();
}
