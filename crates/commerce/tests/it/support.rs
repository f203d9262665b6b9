//! A shop to ask: a site with the routes and pages of commerce, on the engine that the tests around
//! it are about.

use std::time::Duration;

use commerce::orders::ReceiptPages;
use commerce::products::ProductPages;
use frame::Site;
use frame::jobs::{JobCx, JobKind, Running};
use frame::options::Tables;
use serde_json::json;

use super::super::DATABASE;
use super::harness::{Plan, TestSite};

pub(crate) use super::harness::{ADMIN, Answer, HOME, NOBODY, now};

pub(crate) type TestShop = TestSite;

/// Takes e-mails, and is never asked to send one.
#[derive(Debug)]
struct TestInbox;

impl JobKind for TestInbox {
    fn name(&self) -> &'static str {
        frame::mail::JOB
    }

    fn run<'a>(&'a self, _: &'a JobCx) -> Running<'a> {
        Box::pin(async { Ok(json!({})) })
    }
}

impl TestSite {
    pub(crate) fn new() -> Self {
        Self::on(DATABASE())
    }

    /// A shop on the database of this URL, or on a file.
    pub(crate) fn on(database: Option<String>) -> Self {
        Self::open_on(database, Plan { furnish: with_pages, ..Plan::bare() })
    }

    /// A shop whose operator has named a relay.
    pub(crate) fn with_mail() -> Self {
        Self::open(|site| with_pages(site).with_job(Box::new(TestInbox)))
    }

    /// A shop whose callers wait for half a second only.
    pub(crate) fn with_little_time() -> Self {
        Self::open(|site| with_pages(site).with_time_limit(Duration::from_millis(500)))
    }

    /// A shop beside a host that has something at its addresses.
    pub(crate) fn beside(network: fn(&str) -> Option<Vec<u8>>) -> Self {
        Self::open_with(Plan { furnish: with_pages, network, ..Plan::bare() })
    }

    fn open(furnish: fn(Site) -> Site) -> Self {
        Self::open_with(Plan { furnish, ..Plan::bare() })
    }

    fn open_with(plan: Plan) -> Self {
        Self::open_on(DATABASE(), plan)
    }

    fn open_on(database: Option<String>, plan: Plan) -> Self {
        let (routes, options): (_, Tables) =
            (commerce::routes, &[commerce::options::DEFINITIONS, commerce::emails::OPTIONS]);
        let plan = Plan { database, routes, options, ..plan };
        let shop = Self::make(plan);
        shop.write(commerce::found);
        shop
    }
}

fn with_pages(site: Site) -> Site {
    let products = ProductPages::new(&site.settings().names);
    site.with_pages(Box::new(products))
        .with_pages(Box::new(ReceiptPages))
        .with_email_style(commerce::emails::style)
}
