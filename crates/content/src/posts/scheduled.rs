//! Posts and pages that are published at a time that somebody chose.

use std::time::Duration;

use db::Conn;
use frame::Options;
use site_rows::post;

use super::kind::kind_of;
use super::status;

/// Bounds of dates exclude themselves.
const A_MICROSECOND: Duration = Duration::from_micros(1);

/// What was scheduled for before now, in the site's own time.
fn due(conn: &mut dyn Conn, now: types::Timestamp) -> types::Result<post::PostFilter> {
    let options = Options::read(conn)?;
    Ok(post::PostFilter {
        statuses: vec![status::FUTURE.to_owned()],
        before: Some(options.local(now.plus(A_MICROSECOND))),
        ..post::PostFilter::default()
    })
}

/// Whether something that was scheduled is due.
pub fn is_any_due(conn: &mut dyn Conn, now: types::Timestamp) -> types::Result<bool> {
    let wanted = due(conn, now)?;
    let counting = db::filter::Page { limit: 0, ..wanted.page };
    let (_, total) = post::list(conn, &post::PostFilter { page: counting, ..wanted })?;
    Ok(total > 0)
}

/// Publishes what is due. Returns how many items that were.
pub fn publish_due(conn: &mut dyn Conn, now: types::Timestamp) -> types::Result<usize> {
    let wanted = due(conn, now)?;
    let (rows, _) = post::list(conn, &wanted)?;
    let mut published = 0;
    for mut row in rows {
        if kind_of(&row.kind).is_some() && row.date_gmt.is_some_and(|date| date <= now) {
            row.status = String::from(status::PUBLISH);
            post::update(conn, &row)?;
            published += 1;
        }
    }
    Ok(published)
}
