//! What the platform keeps for an ISO: the audit log with its chains, and webhook endpoints.

use std::time::Duration;

use db::{Conn, Database};
use onboarding::rows::audit::{self, AuditFilter, Head, Link, Record};
use onboarding::rows::request_log::{self, RequestRow};
use onboarding::rows::webhook_endpoint;
use onboarding::rows::webhook_endpoint::{EndpointStatus, WebhookEndpointRow};
use types::IsoId;

use super::support::{TestDatabase, iso, time, together};

testkit::on_both_engines!(
    records_are_chained_in_order,
    chains_have_no_gaps_while_everybody_writes,
    lists_go_back_from_a_cursor,
    endpoints_note_how_it_goes,
    requests_are_kept_for_a_while,
);

fn request(request_id: &str, at: i64) -> RequestRow {
    RequestRow {
        iso_id: iso().iso_id,
        request_id: request_id.to_owned(),
        at: time(at),
        actor: "key:k1".to_owned(),
        address: None,
        method: "POST".to_owned(),
        path: "/v1/onboardmerchant".to_owned(),
        status: 200,
        duration: Duration::from_micros(1_234),
        request: "{}".to_owned(),
        response: "{}".to_owned(),
    }
}

fn requests_are_kept_for_a_while(database: &TestDatabase) {
    let store = database.open();
    let rows: Vec<RequestRow> =
        (0..150).map(|number| request(&format!("req_{number}"), number)).collect();
    store.write_blocking(move |conn| request_log::insert(conn, &rows)).unwrap();
    let get = |iso_id: IsoId, request_id: &'static str| {
        store.read_blocking(move |conn| request_log::get(conn, &iso_id, request_id)).unwrap()
    };
    assert_eq!(get(iso().iso_id, "req_7"), Some(request("req_7", 7)));
    assert_eq!(get(IsoId::new("other"), "req_7"), None);
    let prune = |before: i64, limit: i64| {
        store.write_blocking(move |conn| request_log::prune(conn, time(before), limit)).unwrap()
    };
    assert_eq!([prune(100, 60), prune(100, 60), prune(100, 60)], [60, 40, 0]);
}

fn endpoint(webhook_id: &str) -> WebhookEndpointRow {
    WebhookEndpointRow {
        iso_id: iso().iso_id,
        webhook_id: webhook_id.to_owned(),
        url: "https://iso.example/in".to_owned(),
        description: "Books".to_owned(),
        events: r#"["*"]"#.to_owned(),
        headers_sealed: vec![1],
        secret_sealed: vec![2],
        old_secret: Some((vec![3], time(9))),
        status: EndpointStatus::Enabled,
        disabled_reason: String::new(),
        version: 1,
        failing_since: None,
        last_success: None,
        created: time(1),
        updated: time(1),
    }
}

fn endpoints_note_how_it_goes(database: &TestDatabase) {
    let store = database.open();
    let seen = store.write_blocking(|conn| {
        let iso_id = &iso().iso_id;
        site_rows::iso::insert(conn, &iso())?;
        webhook_endpoint::insert(conn, &endpoint("whk_1"))?;
        webhook_endpoint::insert(conn, &endpoint("whk_2"))?;
        assert_eq!(webhook_endpoint::list(conn, iso_id)?, [endpoint("whk_1"), endpoint("whk_2")]);
        let since = |conn: &mut dyn Conn, at| {
            webhook_endpoint::note_failure(conn, iso_id, "whk_1", time(at))
        };
        assert_eq!((since(conn, 5)?, since(conn, 9)?), (Some(time(5)), Some(time(5))));
        webhook_endpoint::note_success(conn, iso_id, "whk_1", time(10))?;
        assert_eq!(since(conn, 11)?, Some(time(11)));
        let changed = WebhookEndpointRow { old_secret: None, version: 2, ..endpoint("whk_2") };
        webhook_endpoint::update(conn, &changed)?;
        assert_eq!(webhook_endpoint::get(conn, iso_id, "whk_2")?, Some(changed));
        assert!(webhook_endpoint::delete(conn, iso_id, "whk_2")?);
        assert!(!webhook_endpoint::delete(conn, &IsoId::new("other"), "whk_1")?);
        webhook_endpoint::get(conn, iso_id, "whk_1")
    });
    let seen = seen.unwrap().unwrap();
    assert_eq!((seen.last_success, seen.failing_since), (Some(time(10)), Some(time(11))));
}

pub(crate) fn record(iso_id: Option<IsoId>, object_id: &str) -> Record {
    Record {
        iso_id,
        at: time(3),
        actor: "key:k1".to_owned(),
        address: Some("192.0.2.1".to_owned()),
        request_id: None,
        action: "merchant.suspend".to_owned(),
        object: "merchant".to_owned(),
        object_id: object_id.to_owned(),
        related: vec!["s1".to_owned(), "t1".to_owned()],
        version_before: Some(1),
        version_after: Some(2),
        changes: r#"{"status":{"from":"active","to":"suspended"}}"#.to_owned(),
        result: "done".to_owned(),
        reason: String::new(),
    }
}

fn seal(head: &Head) -> Vec<u8> {
    format!("{} {}", head.iso_id, head.seq).into_bytes()
}

fn links(store: &Database, iso_id: Option<&str>) -> Vec<Link> {
    let iso_id = iso_id.map(IsoId::new);
    store.read_blocking(move |conn| audit::after(conn, iso_id.as_ref(), 0, 10_000)).unwrap()
}

fn check_chain(links: &[Link]) {
    let mut before = Vec::new();
    for (seq, link) in (1..).zip(links) {
        assert_eq!((link.seq, &link.prev_hash), (seq, &before));
        assert_eq!(link.hash, audit::hash(seq, &link.record, &before));
        before.clone_from(&link.hash);
    }
}

fn records_are_chained_in_order(database: &TestDatabase) {
    let store = database.open();
    let (a, b) = (IsoId::new("a"), IsoId::new("b"));
    let appended = store.write_blocking(move |conn| {
        assert!(!audit::has_unchained(conn)?);
        for (iso_id, object_id) in [(&a, "1"), (&b, "2"), (&a, "3")] {
            audit::append(conn, &record(Some(iso_id.clone()), object_id))?;
        }
        audit::append(conn, &record(None, "4"))?;
        assert!(audit::has_unchained(conn)?);
        let first = audit::chain(conn, 2, &seal)?.count;
        Ok((first, audit::chain(conn, 100, &seal)?.count, audit::has_unchained(conn)?))
    });
    assert_eq!(appended.unwrap(), (2, 2, false));
    for (iso_id, objects) in [(Some("a"), &["1", "3"][..]), (Some("b"), &["2"]), (None, &["4"])] {
        let links = links(&store, iso_id);
        check_chain(&links);
        let found: Vec<&str> = links.iter().map(|link| link.record.object_id.as_str()).collect();
        assert_eq!(found, objects);
        let expected = record(iso_id.map(IsoId::new), objects[0]);
        assert_eq!(links[0].record, expected, "everything comes back");
        let name = iso_id.map(IsoId::new);
        let head = store.read_blocking(move |conn| audit::head(conn, name.as_ref())).unwrap();
        let last = links.last().unwrap();
        assert_eq!((head.seq, &head.hash), (last.seq, &last.hash));
        assert_eq!(head.seal, seal(&head));
    }
}

fn chains_have_no_gaps_while_everybody_writes(database: &TestDatabase) {
    const EACH: usize = 20;
    let store = database.open();
    together(6, |index| {
        for number in 0..EACH {
            let iso_id = IsoId::new(["a", "b"][number % 2]);
            let record = record(Some(iso_id), &format!("{index}.{number}"));
            store.write_blocking(move |conn| audit::append(conn, &record)).unwrap();
            if index < 2 {
                store.write_blocking(|conn| audit::chain(conn, 7, &seal)).unwrap();
            }
        }
    });
    while store.write_blocking(|conn| audit::chain(conn, 7, &seal)).unwrap().count > 0 {}
    for iso_id in ["a", "b"] {
        let links = links(&store, Some(iso_id));
        assert_eq!(links.len(), 6 * EACH / 2);
        check_chain(&links);
    }
}

fn lists_go_back_from_a_cursor(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for number in 1..=5 {
                audit::append(conn, &record(Some(IsoId::new("a")), &format!("Ab_{number}")))?;
            }
            audit::append(conn, &record(Some(IsoId::new("b")), "Ab_1"))?;
            audit::chain(conn, 100, &seal)
        })
        .unwrap();
    let list = |wanted: AuditFilter, limit| {
        let wanted = AuditFilter { iso_id: Some(IsoId::new("a")), ..wanted };
        let found = store.read_blocking(move |conn| audit::list(conn, &wanted, limit)).unwrap();
        found.iter().map(|link| link.seq).collect::<Vec<i64>>()
    };
    let all = AuditFilter::default;
    let object = |id: &str| AuditFilter { object_id: Some(id.to_owned()), ..all() };
    assert_eq!(list(all(), 2), [5, 4]);
    assert_eq!(list(AuditFilter { before_seq: Some(4), ..all() }, 2), [3, 2]);
    assert_eq!(list(object("Ab_3"), 9), [3]);
    assert_eq!(list(object("t1"), 9), [5, 4, 3, 2, 1]);
    for unknown in ["ab_3", "T1", "Abx3", "%", "t", ""] {
        assert_eq!(list(object(unknown), 9), [0; 0], "{unknown}");
    }
    assert_eq!(list(AuditFilter { until: Some(time(3)), ..all() }, 9), [0; 0]);
}
