//! Files of onboardings: uploads, the rows that wait, and what became of them.

use onboarding::rows::bulk_upload::{
    self, BulkIds, BulkOutcome, BulkResult, BulkStatus, BulkUploadRow,
};
use site_rows::iso;
use types::{IsoId, Kind, MerchantId, StoreId, Tpn};

use super::support::{self, TestDatabase, count, time};

testkit::on_both_engines!(
    an_upload_goes_its_way,
    a_row_has_one_result,
    an_upload_begins_again_without_what_failed,
    uploads_are_listed_and_forgotten,
);

/// More than fit into one statement, and a rest.
const MANY: i64 = 150;

fn iso_id() -> IsoId {
    support::iso().iso_id
}

fn upload(bulk_id: &str, content: u8) -> BulkUploadRow {
    BulkUploadRow {
        iso_id: iso_id(),
        bulk_id: bulk_id.to_owned(),
        content_index: vec![content],
        actor: "key:k1".to_owned(),
        job_id: Some(7),
        status: BulkStatus::Queued,
        rows: MANY,
        succeeded: 0,
        failed: 0,
        error: None,
        created: time(1),
        finished: None,
    }
}

fn succeeded(row: i64) -> BulkResult {
    let ids = BulkIds {
        merchant_id: MerchantId::new(format!("M{row}")),
        store_id: StoreId::new(format!("S{row}")),
        tpn: Tpn::new(format!("{row}")),
    };
    BulkResult { row, outcome: BulkOutcome::Succeeded(ids) }
}

fn failed(row: i64) -> BulkResult {
    BulkResult { row, outcome: BulkOutcome::Failed("[]".to_owned()) }
}

fn an_upload_goes_its_way(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let (id, bulk) = (&iso_id(), "blk_1");
            iso::insert(conn, &support::iso())?;
            bulk_upload::insert(conn, &upload(bulk, 1))?;
            bulk_upload::chunk_insert(conn, id, bulk, (1, b"one"))?;
            assert_eq!(bulk_upload::chunk(conn, id, bulk, 1)?, Some(b"one".to_vec()));
            assert_eq!(bulk_upload::chunk(conn, id, bulk, 2)?, None);
            assert_eq!(bulk_upload::count_open(conn, id)?, 1);
            assert!(bulk_upload::advance(conn, id, bulk, (3, 1))?);
            assert!(bulk_upload::advance(conn, id, bulk, (1, 0))?);
            let row = bulk_upload::by_content(conn, id, &[1])?.unwrap();
            assert_eq!((row.status, row.succeeded, row.failed), (BulkStatus::Running, 4, 1));
            assert_eq!(bulk_upload::by_content(conn, id, &[2])?, None);
            let end = (BulkStatus::Failed, Some("why"));
            assert!(bulk_upload::finish(conn, id, bulk, end, time(9))?);
            let again = (BulkStatus::Done, None);
            assert!(!bulk_upload::finish(conn, id, bulk, again, time(10))?);
            assert!(!bulk_upload::advance(conn, id, bulk, (1, 0))?);
            let row = bulk_upload::get(conn, id, bulk)?.unwrap();
            assert_eq!((row.status, row.error.as_deref()), (BulkStatus::Failed, Some("why")));
            assert_eq!(row.finished, Some(time(9)));
            assert_eq!(bulk_upload::count_open(conn, id)?, 0);
            Ok(())
        })
        .unwrap();
    assert_eq!(count(&store, "bulk_chunks"), 0, "the rows are still there");
}

fn a_row_has_one_result(database: &TestDatabase) {
    let store = database.open();
    let (id, bulk) = (iso_id(), "blk_1");
    store
        .write_blocking(|conn| {
            let results: Vec<BulkResult> = (1..=MANY)
                .map(|row| if row % 3 == 0 { failed(row) } else { succeeded(row) })
                .collect();
            bulk_upload::results_insert(conn, &iso_id(), "blk_1", &results)
        })
        .unwrap();
    let twice = store
        .write_blocking(|conn| bulk_upload::results_insert(conn, &iso_id(), "blk_1", &[failed(7)]));
    assert_eq!(twice.unwrap_err().kind(), Kind::Conflict);
    store
        .read_blocking(move |conn| {
            let all = bulk_upload::results(conn, &id, bulk, None, (2, 2))?;
            assert_eq!(all, [failed(3), succeeded(4)]);
            let good = bulk_upload::results(conn, &id, bulk, Some(true), (1, 2))?;
            assert_eq!(good, [succeeded(2), succeeded(4)]);
            let bad = bulk_upload::results(conn, &id, bulk, Some(false), (3, 1_000))?;
            assert_eq!((bad.len(), bad.first()), (49, Some(&failed(6))));
            assert_eq!(bulk_upload::rows_known(conn, &id, bulk, (149, 160))?.len(), 2);
            assert!(bulk_upload::rows_known(conn, &IsoId::new("other"), bulk, (1, 9))?.is_empty());
            Ok(())
        })
        .unwrap();
}

fn an_upload_begins_again_without_what_failed(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let (id, bulk) = (&iso_id(), "blk_1");
            bulk_upload::insert(conn, &upload(bulk, 1))?;
            bulk_upload::results_insert(conn, id, bulk, &[succeeded(1), failed(2)])?;
            bulk_upload::advance(conn, id, bulk, (1, 1))?;
            bulk_upload::finish(conn, id, bulk, (BulkStatus::Done, None), time(2))?;
            let known = bulk_upload::get(conn, id, bulk)?.unwrap();
            bulk_upload::reopen(conn, &BulkUploadRow { job_id: Some(8), ..known })?;
            let row = bulk_upload::get(conn, id, bulk)?.unwrap();
            assert_eq!((row.status, row.job_id), (BulkStatus::Queued, Some(8)));
            assert_eq!((row.succeeded, row.failed, row.finished), (1, 0, None));
            assert_eq!(bulk_upload::results(conn, id, bulk, None, (0, 9))?, [succeeded(1)]);
            Ok(())
        })
        .unwrap();
}

fn uploads_are_listed_and_forgotten(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let id = &iso_id();
            for (content, bulk_id) in (1..).zip(["blk_1", "blk_2", "blk_3"]) {
                bulk_upload::insert(conn, &upload(bulk_id, content))?;
                bulk_upload::results_insert(conn, id, bulk_id, &[failed(1)])?;
            }
            let ids = |rows: Vec<BulkUploadRow>| -> Vec<String> {
                rows.into_iter().map(|row| row.bulk_id).collect()
            };
            let first = ids(bulk_upload::list_before(conn, id, None, 2)?);
            assert_eq!(first, ["blk_3", "blk_2"]);
            assert_eq!(ids(bulk_upload::list_before(conn, id, Some("blk_2"), 2)?), ["blk_1"]);
            for bulk_id in ["blk_1", "blk_2"] {
                bulk_upload::finish(conn, id, bulk_id, (BulkStatus::Done, None), time(5))?;
            }
            assert_eq!(bulk_upload::prune(conn, time(5), 10)?, 0);
            assert_eq!(bulk_upload::prune(conn, time(6), 1)?, 1);
            assert_eq!(bulk_upload::prune(conn, time(6), 10)?, 1);
            assert_eq!(ids(bulk_upload::list_before(conn, id, None, 9)?), ["blk_3"]);
            Ok(())
        })
        .unwrap();
    assert_eq!(count(&store, "bulk_results"), 1);
}
