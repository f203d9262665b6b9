//! Everything that is promised, once for each engine.

mod browser;
mod carts;
mod checkouts;
mod crowd;
#[path = "../../../boardwalk/tests/it/recount/dice.rs"]
#[expect(dead_code, reason = "the recount of reports uses the rest of it")]
mod dice;
#[path = "../../../frame/tests/support/harness.rs"]
#[expect(dead_code, reason = "the tests of the site use the rest of it")]
mod harness;
mod hostile;
mod passwords;
mod payments;
mod products;
mod races;
mod reminders;
mod review_pages;
mod shop_pages;
mod support;
