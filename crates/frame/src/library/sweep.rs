//! Sweeps the library: files that no row speaks of, which a crash has left, and rows of items whose
//! posts are gone. **Nothing younger than an hour is touched**: its rows may be about to be
//! written.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use db::Conn;
use site_rows::media;
use types::Result;

use crate::Site;

/// How old a file must be.
const GRACE: Duration = Duration::from_hours(1);
/// Items in one transaction.
const BATCH: i64 = 100;

impl Site {
    /// Returns how many files were deleted.
    pub async fn sweep_library(self: &Arc<Self>) -> Result<usize> {
        self.forget_lost_items().await?;
        let site = Arc::clone(self);
        let now = u64::try_from(self.clock().now().as_micros()).unwrap_or_default();
        let before = UNIX_EPOCH + Duration::from_micros(now) - GRACE;
        let swept = tokio::task::spawn_blocking(move || site.sweep_files(before));
        let failed = |error| types::Error::internal("the sweep failed").because(error);
        swept.await.map_err(failed)?
    }

    async fn forget_lost_items(self: &Arc<Self>) -> Result<()> {
        loop {
            let lost = self.store().read(|conn| media::without_post(conn, BATCH)).await?;
            if lost.is_empty() {
                return Ok(());
            }
            let forget = move |conn: &mut dyn Conn| {
                for post_id in &lost {
                    media::delete(conn, *post_id)?;
                }
                Ok(())
            };
            self.store().write(forget).await?;
        }
    }

    fn sweep_files(&self, before: SystemTime) -> Result<usize> {
        let storage = self.library().storage();
        storage.forget_temporaries(before)?;
        let mut swept = 0;
        storage.each(&mut |name, since| {
            if since >= before {
                return Ok(());
            }
            let asked = name.to_owned();
            let known = self.store().read_blocking(move |conn| media::file(conn, &asked))?;
            if known.is_none_or(|known| known.post_id == 0) {
                storage.remove(name)?;
                swept += 1;
            }
            Ok(())
        })?;
        Ok(swept)
    }
}
