//! Files of reports: parts by number, gone together when they expire.

use shop_rows::report_file;

use crate::support::{TestDatabase, time};

testkit::on_both_engines!(a_file_is_kept_in_parts_until_it_expires);

fn a_file_is_kept_in_parts_until_it_expires(database: &TestDatabase) {
    let store = database.open();
    let kept = store.write_blocking(|conn| {
        for (export_id, part, expires) in [("old", 1, 5), ("old", 2, 5), ("young", 1, 9)] {
            let content = format!("{export_id} {part}");
            report_file::put(conn, (export_id, part), content.as_bytes(), time(expires))?;
        }
        let read = [
            report_file::part(conn, "old", 2)?,
            report_file::part(conn, "old", 3)?,
            report_file::part(conn, "none", 1)?,
        ];
        assert_eq!(read, [Some(b"old 2".to_vec()), None, None]);
        assert_eq!(report_file::prune(conn, time(5), 10)?, 0, "they have not expired yet");
        assert_eq!(report_file::prune(conn, time(6), 1)?, 2, "a file goes with all of its parts");
        assert_eq!(report_file::prune(conn, time(6), 10)?, 0);
        assert_eq!(report_file::delete(conn, "none")?, 0);
        report_file::part(conn, "young", 1)
    });
    assert_eq!(kept.unwrap(), Some(b"young 1".to_vec()));
    let twice = store.write_blocking(|conn| report_file::put(conn, ("young", 1), b"", time(1)));
    assert!(twice.is_err(), "a part is written once");
    assert_eq!(store.write_blocking(|conn| report_file::delete(conn, "young")).unwrap(), 1);
}
