//! Draws together what [tallies](crate::tally) have counted lately, and counts again.

use types::Result;

use crate::{Database, counter, migrate, tally};

/// One node at a time settles.
const TURN: &str = "tallies";

impl Database {
    /// Draws together some of what was counted lately, so that totals are soon added up.
    pub async fn settle_tallies(&self) -> Result<()> {
        if self.is_embedded() {
            return Ok(());
        }
        let migrations = self.migrations();
        if self.read(move |conn| tally::is_due(conn, migrate::texts(migrations))).await? {
            let settle = move |conn: &mut dyn crate::Conn| {
                counter::lock(conn, TURN)?;
                tally::settle(conn, migrate::texts(migrations))
            };
            self.write_in_turn(settle).await?;
        }
        Ok(())
    }

    /// Counts all rows of all tallies again, while who writes to their tables waits.
    pub fn recount_tallies_blocking(&self) -> Result<()> {
        let migrations = self.migrations();
        self.write_blocking(move |conn| tally::recount(conn, migrate::texts(migrations)))
    }
}
