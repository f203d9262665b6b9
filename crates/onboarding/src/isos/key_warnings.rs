//! Warnings to ISOs of keys that are about to end.

use db::Conn;
use db::outbox::{self, Event};
use serde_json::json;
use types::{IsoId, Result, Timestamp};

use super::emails::{self, MICROS_PER_DAY};
use crate::Platform;
use crate::event_kinds;
use crate::keys::issue::is_live;
use crate::rows::api_key::{self, ApiKeyRow};

/// Days before its end at which an ISO is told of a key, the last one first.
const WARNED_DAYS: [i64; 4] = [1, 3, 7, 30];
/// With the first of the warnings that come this late, an e-mail goes to the ISO: one for each key.
/// **Who makes a key that lives no longer knows of its end and gets none**: else making keys would
/// be a way to have e-mails sent.
const EMAIL_DAYS: i64 = 7;
/// Keys that one look for those about to end finds; the rest is found by the next.
const WARNED_MAX: i64 = 1_000;

impl Platform {
    /// Tells ISOs of keys that are about to end, once for each of [`WARNED_DAYS`]. Returns how many
    /// were told of.
    pub async fn keys_warn(&self) -> Result<usize> {
        let now = self.clock.now();
        let mut count = self.keys_warn_all(now).await?;
        for (iso_id, ahead) in self.clocks_ahead().await? {
            count += self.keys_warn_of(iso_id, now.plus(ahead)).await?;
        }
        Ok(count)
    }

    /// Tells all ISOs by the real time, by event and by e-mail.
    async fn keys_warn_all(&self, now: Timestamp) -> Result<usize> {
        let (site, vault) = (self.site(), std::sync::Arc::clone(&self.vault));
        let write = move |conn: &mut dyn Conn, row: &ApiKeyRow, days| match &site {
            Some(site) if deserves_email(row, days) => {
                emails::key_expires(conn, (site, &vault), row, now)
            }
            _ => Ok(()),
        };
        self.keys_warn_at(None, now, write).await
    }

    /// Tells one ISO as if it were `now`, by event only: a clock that was moved is a rehearsal, and
    /// mail is real.
    pub(crate) async fn keys_warn_of(&self, iso_id: IsoId, now: Timestamp) -> Result<usize> {
        self.keys_warn_at(Some(iso_id), now, |_, _, _| Ok(())).await
    }

    async fn keys_warn_at(
        &self,
        iso_id: Option<IsoId>,
        now: Timestamp,
        write: impl Fn(&mut dyn Conn, &ApiKeyRow, i64) -> Result<()> + Send + 'static,
    ) -> Result<usize> {
        let owner = iso_id.clone();
        let due = move |conn: &mut dyn Conn| Ok(due_warnings(conn, owner.as_ref(), now)?.len());
        // Looking costs a read; only where a warning is due is written.
        if self.store.read(due).await? == 0 {
            return Ok(0);
        }
        let warn = move |conn: &mut dyn Conn| {
            let due = due_warnings(conn, iso_id.as_ref(), now)?;
            for (row, days) in &due {
                outbox::append(conn, &expiring(row, *days, now))?;
                api_key::set_warned(conn, &row.iso_id, &row.key_id, *days)?;
                write(conn, row, *days)?;
            }
            Ok(due.len())
        };
        self.store.write(warn).await
    }
}

/// Whether the warning, so many days before the key's end, is the one that comes by e-mail as well.
fn deserves_email(row: &ApiKeyRow, days: i64) -> bool {
    let is_first = row.warned_days.is_none_or(|warned| warned > EMAIL_DAYS);
    let is_lasting = row.expires.is_some_and(|expires| {
        let life = expires.as_micros().saturating_sub(row.created.as_micros());
        life > EMAIL_DAYS * MICROS_PER_DAY
    });
    days <= EMAIL_DAYS && is_first && is_lasting
}

/// Keys of which their ISO is to be told, with the number of days that it is to be told.
fn due_warnings(
    conn: &mut dyn Conn,
    iso_id: Option<&IsoId>,
    now: Timestamp,
) -> Result<Vec<(ApiKeyRow, i64)>> {
    let longest = WARNED_DAYS.iter().max().copied().unwrap_or(0);
    let until = Timestamp::from_micros(now.as_micros().saturating_add(longest * MICROS_PER_DAY));
    let rows = match iso_id {
        None => api_key::expiring(conn, now, until, WARNED_MAX)?,
        Some(iso_id) => {
            let mut keys = api_key::list_of_iso(conn, iso_id)?;
            keys.retain(|key| is_live(key, now));
            keys
        }
    };
    let due = rows.into_iter().filter_map(|row| {
        let left = row.expires?.as_micros().saturating_sub(now.as_micros());
        let days = WARNED_DAYS.into_iter().find(|days| left <= days * MICROS_PER_DAY)?;
        let is_news = row.warned_days.is_none_or(|warned| days < warned);
        is_news.then_some((row, days))
    });
    Ok(due.collect())
}

fn expiring(row: &ApiKeyRow, days: i64, now: Timestamp) -> Event {
    let data = json!({
        "object": "key", "id": row.key_id, "status": "live", "days": days,
        "expires": row.expires.map(|time| time.to_string()), "changed": [],
    });
    Event {
        iso_id: Some(row.iso_id.clone()),
        kind: event_kinds::KEY_EXPIRING,
        object_id: row.key_id.as_str().to_owned(),
        payload: data.to_string(),
        created: now,
    }
}
