//! A new shop on either engine, with its site and with facts that follow what happens in it.

use std::sync::Arc;
use std::time::Duration;

use analytics::Facts;
use analytics::feed::Feed;
use contract::rest::Verb;
use db::{Conn, Database, outbox};
use onboarding::Platform;
use serde_json::Value;
use site_rows::user::UserRow;
use testkit::database::TestDatabase;
use types::{Clock, Environment, Result, Role, Timestamp};
use vault::MasterKey;

pub(crate) struct Shop {
    store: Database,
    platform: Arc<Platform>,
    site: Arc<frame::Site>,
    pub(crate) facts: Arc<Facts>,
    feed: Feed,
    /// When the next thing happens.
    now: Timestamp,
}

impl Shop {
    pub(crate) fn new(database: &TestDatabase) -> Self {
        let store = database.open();
        let (master, choices) = (MasterKey::generate().unwrap(), onboarding::Settings::default());
        let environment = Environment::Sandbox;
        let platform =
            Platform::new(environment, store.clone(), &master, choices, Clock::System).unwrap();
        let platform = Arc::new(platform);
        let reports = server::Reports::default();
        let facts = Arc::clone(&reports.facts);
        let site = site(&platform, &reports);
        let feed = Feed::open(store.clone(), Arc::clone(&facts), None).unwrap();
        Self { store, platform, site, facts, feed, now: at("2026-11-15T12:00:00Z") }
    }

    pub(crate) fn set_now(&mut self, now: &str) {
        self.now = at(now);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    pub(crate) fn site(&self) -> Arc<frame::Site> {
        Arc::clone(&self.site)
    }

    /// Changes the store directly.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        change: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> T {
        self.store.write_blocking(change).unwrap()
    }

    /// Sends a request, a second after the one before. Nothing stays of one that is refused.
    pub(crate) fn send(&mut self, verb: Verb, path: &str, body: &Value) -> Result<Value> {
        self.now = self.now.plus(Duration::from_secs(1));
        let (site, now) = (Arc::clone(&self.site), self.now);
        let (path, body) = (path.to_owned(), body.clone());
        self.store.write_blocking(move |conn| {
            site.done_by(conn, administrator(), (verb, &path), body.clone(), now)
        })
    }

    /// Makes a record.
    #[track_caller]
    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Value {
        self.send(Verb::Post, path, body).unwrap()
    }

    /// What is shown at a path by the facts of now.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        seen(&self.site, &self.store, path, self.now).unwrap_or_else(|| panic!("{path}"))
    }

    pub(crate) fn refuses(&self, path: &str) -> bool {
        seen(&self.site, &self.store, path, self.now).is_none()
    }

    /// Lets the facts follow everything that happened.
    pub(crate) fn catch_up(&mut self) {
        self.store.write_blocking(|conn| outbox::sequence(conn, 10_000).map(drop)).unwrap();
        self.feed.catch_up().unwrap();
    }

    /// The same shop with facts that were made anew of its records.
    pub(crate) fn made_anew(&self) -> MadeAnew {
        let reports = server::Reports::default();
        let facts = Arc::clone(&reports.facts);
        Feed::open(self.store.clone(), Arc::clone(&facts), None).unwrap();
        MadeAnew { site: site(&self.platform, &reports), facts }
    }

    /// What is shown at a path by facts that were made anew.
    #[track_caller]
    pub(crate) fn get_anew(&self, anew: &MadeAnew, path: &str) -> Value {
        seen(&anew.site, &self.store, path, self.now).unwrap_or_else(|| panic!("{path}"))
    }
}

pub(crate) struct MadeAnew {
    site: Arc<frame::Site>,
    pub(crate) facts: Arc<Facts>,
}

fn site(platform: &Arc<Platform>, reports: &server::Reports) -> Arc<frame::Site> {
    let (settings, of_site) = (server::Settings::default(), frame::Settings::default());
    server::make_site(platform, &settings, of_site, reports).unwrap()
}

pub(crate) fn administrator() -> UserRow {
    UserRow { roles: vec![Role::Administrator], ..UserRow::default() }
}

fn seen(site: &Arc<frame::Site>, store: &Database, path: &str, now: Timestamp) -> Option<Value> {
    let (site, path) = (Arc::clone(site), path.to_owned());
    let read = move |conn: &mut dyn Conn| site.seen_by(conn, administrator(), &path, now);
    store.read_blocking(read).unwrap()
}

pub(crate) fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}
