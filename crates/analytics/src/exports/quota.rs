//! How many exports one user may have: under way, and kept for download. **What one user asks for
//! leaves room on the disk for everybody else.**

use db::Conn;
use db::background_job::{self, JobRow, JobState};
use db::filter::{PAGE_MAX, Page};
use frame::jobs::REPORT_EXPORT;
use types::{Result, Timestamp};

use super::request::{ExportRequest, KEPT, WrittenFile};

/// Exports of one user that are under way at most.
const UNDER_WAY_MAX: usize = 20;
/// Files of one user that are kept at most.
const FILES_MAX: usize = 200;
/// Bytes of those files from which on no further one is begun.
const BYTES_MAX: usize = 4 * 1024 * 1024 * 1024;
/// Exports of all users that are looked at.
const LOOKED_AT_MAX: i64 = 10 * PAGE_MAX;

pub(super) const CODE: &str = "woocommerce_rest_too_many_exports";

/// Whether there is room for one more export.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Room {
    Free,
    /// The very same was asked for before, and has not begun.
    Waiting(String),
    /// What to do instead.
    None(String),
}

/// Looks at what the user has already. Call it in the transaction that begins the export.
pub(super) fn room(conn: &mut dyn Conn, wanted: &ExportRequest, now: Timestamp) -> Result<Room> {
    let (mut under_way, mut files, mut bytes) = (0_usize, 0_usize, 0_usize);
    let states = [JobState::Queued, JobState::Running, JobState::Done];
    let mut page = Page::default();
    while page.offset < LOOKED_AT_MAX {
        let (jobs, total) = background_job::list(conn, REPORT_EXPORT, &states, page)?;
        for job in &jobs {
            let Ok(ordered) = serde_json::from_str::<ExportRequest>(&job.arguments) else {
                continue;
            };
            if ordered.user_id != wanted.user_id {
                continue;
            }
            match (job.state, &job.key) {
                (JobState::Done, _) => {
                    let size = kept_bytes(job, now);
                    files += usize::from(size.is_some());
                    bytes = bytes.saturating_add(size.unwrap_or_default());
                }
                (JobState::Queued, Some(export_id)) if ordered == *wanted => {
                    return Ok(Room::Waiting(export_id.clone()));
                }
                _ => under_way += 1,
            }
        }
        page.offset += page.limit;
        if page.offset >= total {
            break;
        }
    }
    Ok(judged(under_way, files, bytes))
}

/// How large the file is that the job has written; none when it has expired.
fn kept_bytes(job: &JobRow, now: Timestamp) -> Option<usize> {
    job.finished.filter(|finished| now < finished.plus(KEPT))?;
    let written: Option<WrittenFile> = serde_json::from_str(job.result.as_deref()?).ok();
    Some(written.unwrap_or_default().bytes)
}

fn judged(under_way: usize, files: usize, bytes: usize) -> Room {
    let days = KEPT.as_secs() / 86_400;
    if under_way >= UNDER_WAY_MAX {
        let message = format!(
            "You already have {UNDER_WAY_MAX} exports in progress; wait until one finishes."
        );
        return Room::None(message);
    }
    if files >= FILES_MAX || bytes >= BYTES_MAX {
        return Room::None(format!(
            "Your exports of the last {days} days have used up your storage quota; wait until \
             the oldest expires."
        ));
    }
    Room::Free
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use db::background_job::Ending;
    use db::{Database, Location};
    use serde_json::{Map, json};

    use super::*;

    fn ordered(user_id: i64, page: i64) -> ExportRequest {
        let args = Map::from_iter([("page".to_owned(), json!(page))]);
        let (report, home) = ("orders".to_owned(), String::new());
        ExportRequest { report, args, user_id, email: false, home }
    }

    fn start(conn: &mut dyn Conn, user_id: i64, page: i64, now: Timestamp) -> Result<()> {
        let key = format!("{user_id}x{page}");
        let order = ordered(user_id, page);
        frame::jobs::enqueue_for(conn, REPORT_EXPORT, Some(&key), &order, (now, now)).map(drop)
    }

    #[test]
    fn a_user_has_so_many_and_others_have_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let store =
            Database::open(&Location::File(folder.path().join("site.db")), schema::MIGRATIONS)
                .unwrap();
        let now = Timestamp::parse("2026-11-15T00:00:00Z").unwrap();
        let in_all = i64::try_from(UNDER_WAY_MAX).unwrap();
        let test = move |conn: &mut dyn Conn| {
            for page in 1..in_all {
                start(conn, 5, page, now)?;
            }
            assert_eq!(room(conn, &ordered(5, in_all), now)?, Room::Free);
            start(conn, 5, in_all, now)?;
            let refused = room(conn, &ordered(5, 999), now)?;
            assert!(matches!(&refused, Room::None(why) if why.contains("wait")), "{refused:?}");
            assert_eq!(room(conn, &ordered(6, 999), now)?, Room::Free, "somebody else");
            let again = room(conn, &ordered(5, 3), now)?;
            assert_eq!(again, Room::Waiting("5x3".to_owned()), "the same again");
            let lease = Duration::from_mins(1);
            for job in background_job::claim_due(conn, REPORT_EXPORT, now, 100, lease)? {
                let written =
                    WrittenFile { rows: 1, parts: 1, bytes: BYTES_MAX / UNDER_WAY_MAX + 1 };
                background_job::finish(conn, &job, now, &Ending::Done(json!(written).to_string()))?;
            }
            let refused = room(conn, &ordered(5, 3), now)?;
            assert!(matches!(&refused, Room::None(why) if why.contains("expire")), "{refused:?}");
            assert_eq!(room(conn, &ordered(5, 3), now.plus(KEPT))?, Room::Free, "all expired");
            Ok(())
        };
        store.write_blocking(test).unwrap();
    }

    #[test]
    fn each_bound_holds_by_itself() {
        for (under_way, files, bytes, expected) in [
            (0, 0, 0, None),
            (UNDER_WAY_MAX - 1, FILES_MAX - 1, BYTES_MAX - 1, None),
            (UNDER_WAY_MAX, 0, 0, Some("wait until one finishes")),
            (0, FILES_MAX, 0, Some("the oldest expires")),
            (0, 0, BYTES_MAX, Some("the oldest expires")),
        ] {
            let judged = judged(under_way, files, bytes);
            match (&judged, expected) {
                (Room::Free, None) => {}
                (Room::None(message), Some(part)) => assert!(message.contains(part), "{message}"),
                _ => panic!("{under_way} {files} {bytes}: {judged:?}"),
            }
        }
    }
}
