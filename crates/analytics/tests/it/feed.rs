//! The feed of facts in memory on a bad day: records that cannot be read when all facts are to be
//! made of them.

use std::sync::Arc;

use analytics::Facts;
use analytics::feed::Feed;
use db::outbox::{self, Event};
use shop_rows::order;
use types::Timestamp;

use crate::records::{self, Records, answers};

/// Events ask for all facts once. When the records cannot be read then, nothing half made is shown,
/// and the next turn makes them.
#[test]
fn facts_that_could_not_be_made_anew_are_made_in_the_next_turn() {
    let records = Records::new();
    records.add(50);
    let facts = Arc::new(Facts::default());
    let mut feed = Feed::open(records.store.clone(), Arc::clone(&facts), None).unwrap();
    let before = answers(&facts).unwrap();
    records.change(|conn| {
        // An import tells of the whole site instead of each order.
        for seed in 50..60 {
            order::insert(conn, &records::order(seed))?;
        }
        let at = Timestamp::default();
        outbox::append(conn, &Event::of_site(outbox::IMPORTED, 0, "{}".to_owned(), at))?;
        conn.script("ALTER TABLE order_items RENAME TO order_items_away")?;
        Ok(Vec::new())
    });
    for _ in 0..2 {
        feed.catch_up().unwrap_err();
        assert_eq!(answers(&facts).unwrap(), before);
    }
    records.change(|conn| {
        conn.script("ALTER TABLE order_items_away RENAME TO order_items")?;
        Ok(Vec::new())
    });
    feed.catch_up().unwrap();
    let after = answers(&facts).unwrap();
    assert_eq!(after, records.in_memory());
    assert_ne!(after, before);
}
