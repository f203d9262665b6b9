//! The copies of connected stores: each is a site of its own over a database of its own, opened
//! when somebody needs it and closed when nobody has for a while. **A bounded number is open at a
//! time.** A copy answers reads of commerce and analytics, and has no jobs, no mail and no
//! deliveries.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use analytics::Facts;
use analytics::feed::{self, FeedHandle};
use analytics::{ReportContext, Shop};
use db::{Conn, Database, Location};
use frame::Site;
use frame::auth::consumer_key::{self, Permissions};
use onboarding::Platform;
use onboarding::connections::{Access, STORES_ROOT, StoreKey};
use onboarding::rows::connection::{self, ConnectionRow, ConnectionStatus};
use site_rows::consumer_key as key_rows;
use site_rows::user::{self, UserRow};
use types::{Error, Result, Role, Timestamp};

use crate::Settings;

/// A copy that nobody has used for so long is closed.
const IDLE_MAX: Duration = Duration::from_mins(5);
/// How long the deletion of a copy waits for those who still use it.
const LEAVE_MAX: Duration = Duration::from_secs(10);
const LEAVE_LOOK: Duration = Duration::from_millis(50);
/// How long who needs a copy waits while others are opened.
const OPENING_WAIT_MAX: Duration = Duration::from_secs(20);
/// Wrong credentials per minute and address before one must wait.
const WRONG_CREDENTIALS_PER_MINUTE: u32 = 60;
/// Whom the key for reports belongs to. Far above the numbers that users of stores have.
pub(crate) const READER_ID: i64 = 9_000_000_000;
const READER_LOGIN: &str = "boardwalk-reports";

/// What the server tells about what stands on a site.
#[derive(Clone, Copy, Debug)]
pub struct Foundation {
    pub options: frame::options::Tables,
    pub shop: Shop,
    /// Makes what every shop has. Called at each opening.
    pub found: fn(&mut dyn Conn) -> Result<()>,
    pub shop_code_prefix: &'static str,
}

/// A copy that is open.
#[derive(Debug)]
pub struct OpenStore {
    pub site: Arc<Site>,
    pub facts: Arc<Facts>,
    used: Mutex<Instant>,
    /// The key by which it is read, as the copy knows it.
    reader: tokio::sync::Mutex<StoreKey>,
    /// Follows the copy's changes; ends, and keeps the facts, when this is dropped.
    _feed: FeedHandle,
}

impl OpenStore {
    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn idle(&self) -> Duration {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

/// The copies of an environment.
#[derive(Debug)]
pub struct Stores {
    pub platform: Arc<Platform>,
    /// The environment's own site.
    pub site: Arc<Site>,
    pub settings: Settings,
    location: Location,
    /// Where facts of copies are kept while they are closed.
    facts_folder: PathBuf,
    foundation: Foundation,
    reports: analytics::Settings,
    open: Mutex<HashMap<String, Arc<OpenStore>>>,
    /// One is opened at a time: opening twice would be two writers of one file of facts.
    opening: tokio::sync::Mutex<()>,
    /// Records that comparisons found to differ, since the start.
    pub(crate) drift: AtomicU64,
    /// Alerts that were raised, since the start.
    pub(crate) alerts: AtomicU64,
    /// Told when there may be something to do.
    pub(crate) wake: tokio::sync::Notify,
}

impl Stores {
    /// `location` is that of the environment's own database.
    pub fn new(
        (platform, site): (&Arc<Platform>, &Arc<Site>),
        (location, data): (Location, &Path),
        foundation: Foundation,
        reports: analytics::Settings,
        settings: Settings,
    ) -> Arc<Self> {
        Arc::new(Self {
            facts_folder: data.join("stores").join(platform.environment.name()),
            platform: Arc::clone(platform),
            site: Arc::clone(site),
            settings,
            location,
            foundation,
            reports,
            open: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            drift: AtomicU64::default(),
            alerts: AtomicU64::default(),
            wake: tokio::sync::Notify::new(),
        })
    }

    /// The key by which programs read the copy of a connection; none where nobody may.
    pub async fn reader(&self, id: &str) -> Result<Option<StoreKey>> {
        let (platform, id) = (Arc::clone(&self.platform), id.to_owned());
        self.platform.store.read(move |conn| platform.connection_reader(conn, &id)).await
    }

    /// The copy of a connection, opened if it is not.
    pub async fn open(self: &Arc<Self>, id: &str) -> Result<Arc<OpenStore>> {
        if let Some(store) = self.find(id) {
            return Ok(store);
        }
        // A task of its own: what is being opened must not be opened again beside it because the
        // one who asked for it has left.
        let (this, id) = (Arc::clone(self), id.to_owned());
        let opened = tokio::spawn(async move { this.open_in_turn(id).await });
        opened.await.map_err(not_opened)?
    }

    /// The copy of a connection for who reads it by this key, which is the connection's: one that
    /// was replaced meanwhile is replaced in the copy as well.
    pub async fn open_for(self: &Arc<Self>, id: &str, key: &StoreKey) -> Result<Arc<OpenStore>> {
        let store = self.open(id).await?;
        let mut known = store.reader.lock().await;
        if known.consumer_key != key.consumer_key {
            let row = reader_row(&self.platform, key)?;
            let now = self.platform.clock.now();
            store.site.store().write(move |conn| put_reader(conn, &row, now)).await?;
            known.clone_from(key);
        }
        drop(known);
        Ok(store)
    }

    async fn open_in_turn(self: Arc<Self>, id: String) -> Result<Arc<OpenStore>> {
        let busy = |_| Error::unavailable("Too many stores are being opened; try again.");
        let turn = tokio::time::timeout(OPENING_WAIT_MAX, self.opening.lock());
        let _turn = turn.await.map_err(busy)?;
        if let Some(store) = self.find(&id) {
            return Ok(store);
        }
        self.make_room().await?;
        let find = id.clone();
        let row = self.platform.store.read(move |conn| connection::find(conn, &find)).await?;
        let is_there = |row: &ConnectionRow| row.status != ConnectionStatus::Disconnected;
        let row = row.filter(is_there);
        let row = row.ok_or_else(|| Error::not_found("There is no such connection."))?;
        let this = Arc::clone(&self);
        let opened = tokio::task::spawn_blocking(move || this.open_blocking(&row)).await;
        let store = Arc::new(opened.map_err(not_opened)??);
        self.lock().insert(id, Arc::clone(&store));
        Ok(store)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<OpenStore>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &str) -> Option<Arc<OpenStore>> {
        let store = self.lock().get(id).cloned()?;
        store.touch();
        Some(store)
    }

    /// How many records comparisons found to differ since the start.
    pub fn drift(&self) -> u64 {
        self.drift.load(Ordering::Relaxed)
    }

    /// How many alerts were raised since the start.
    pub fn alerts(&self) -> u64 {
        self.alerts.load(Ordering::Relaxed)
    }

    /// How many copies are open.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Closes the copy that was not used for the longest time, if as many are open as may be.
    async fn make_room(&self) -> Result<()> {
        let closed = {
            let mut open = self.lock();
            if open.len() < self.settings.open_stores.max(1) {
                return Ok(());
            }
            let unused = open.iter().filter(|(_, store)| Arc::strong_count(store) == 1);
            let oldest = unused.max_by_key(|(_, store)| store.idle()).map(|(id, _)| id.clone());
            let busy = || Error::unavailable("Too many stores are in use; try again.");
            open.remove(&oldest.ok_or_else(busy)?)
        };
        close(closed).await;
        Ok(())
    }

    /// Closes copies that nobody has used for a while.
    pub async fn close_idle(&self) {
        let idle: Vec<Arc<OpenStore>> = {
            let mut open = self.lock();
            let is_idle =
                |store: &Arc<OpenStore>| Arc::strong_count(store) == 1 && store.idle() > IDLE_MAX;
            let ids = open.iter().filter(|(_, store)| is_idle(store)).map(|(id, _)| id.clone());
            let ids: Vec<String> = ids.collect();
            ids.iter().filter_map(|id| open.remove(id)).collect()
        };
        close(idle).await;
    }

    /// Closes all of them. Blocks.
    pub fn close_all(&self) {
        let all = std::mem::take(&mut *self.lock());
        drop(all);
    }

    /// Deletes the copy of a connection.
    pub async fn delete(&self, id: &str) -> Result<()> {
        let _turn = self.opening.lock().await;
        let started = Instant::now();
        // Nobody new comes: what is disconnected is not opened, nor read.
        while self.lock().get(id).is_some_and(|store| Arc::strong_count(store) > 1) {
            if started.elapsed() > LEAVE_MAX {
                return Err(Error::unavailable("the copy of a store is still in use"));
            }
            tokio::time::sleep(LEAVE_LOOK).await;
        }
        let open = self.lock().remove(id);
        close(open).await;
        let (location, facts) = (self.location.apart(id), self.facts_file(id));
        let deleted = tokio::task::spawn_blocking(move || {
            location.delete()?;
            match std::fs::remove_file(facts) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(Error::unavailable("cannot delete a file of facts").because(error))
                }
                _ => Ok(()),
            }
        });
        let failed = |error| Error::internal("a copy was not deleted").because(error);
        deleted.await.map_err(failed)?
    }

    fn facts_file(&self, id: &str) -> PathBuf {
        self.facts_folder.join(format!("{id}.facts"))
    }

    fn open_blocking(&self, row: &ConnectionRow) -> Result<OpenStore> {
        let (platform, now) = (Arc::clone(&self.platform), self.platform.clock.now());
        let reading = row.clone();
        let keys = self
            .platform
            .store
            .read_blocking(move |conn| platform.connection_keys(conn, &reading))?;
        let database =
            Database::open(&self.location.apart(&row.connection_id), schema::MIGRATIONS)?;
        let found = self.foundation.found;
        let Access { reports: mut key, .. } = keys.access;
        database.write_blocking(found)?;
        // Until it is the connection's: another server may know that it was replaced meanwhile.
        loop {
            let reader = reader_row(&self.platform, &key)?;
            database.write_blocking(move |conn| put_reader(conn, &reader, now))?;
            let (platform, id) = (Arc::clone(&self.platform), row.connection_id.clone());
            let read = move |conn: &mut dyn Conn| platform.connection_reader(conn, &id);
            match self.platform.store.read_blocking(read)? {
                Some(newer) if newer.consumer_key != key.consumer_key => key = newer,
                _ => break,
            }
        }
        let facts = Arc::<Facts>::default();
        let site = self.site_of(row, &database, &facts)?;
        // A folder that cannot be made costs the file of facts, and nothing else.
        let _ = std::fs::create_dir_all(&self.facts_folder);
        let file = Some(self.facts_file(&row.connection_id));
        let feed = feed::start(database, &facts, file)?;
        let (used, reader) = (Mutex::new(Instant::now()), tokio::sync::Mutex::new(key));
        Ok(OpenStore { site, facts, used, reader, _feed: feed })
    }

    fn site_of(
        &self,
        row: &ConnectionRow,
        database: &Database,
        facts: &Arc<Facts>,
    ) -> Result<Arc<Site>> {
        let mut settings = self.site.settings().clone();
        let root = STORES_ROOT.trim_matches('/');
        settings.names.rest_root =
            format!("{root}/{}/{}", row.connection_id, settings.names.rest_root);
        settings.pages_url = Some(row.url.clone());
        let names = settings.names.clone();
        let context = ReportContext::new(&names, facts, self.foundation.shop, &self.reports);
        let mut routes = commerce::ROUTES.named(&names)?;
        routes.extend(frame::routes::compile(analytics::routes(&names, &context))?);
        let parts = frame::Parts {
            environment: self.platform.environment,
            store: database.clone(),
            vault: Arc::clone(&self.platform.vault),
            clock: self.platform.clock,
            settings,
            outbound: Arc::new(Nowhere),
            wrong_credentials_per_minute: WRONG_CREDENTIALS_PER_MINUTE,
            options: self.foundation.options,
            shop_code_prefix: self.foundation.shop_code_prefix,
        };
        let versions = Arc::clone(facts);
        let products = commerce::products::ProductContent::new(&names);
        let site = Site::new(parts, routes)?
            .with_time_limit(self.site.time_limit())
            .with_body_bytes(self.site.body_bytes())
            .with_content(Box::new(products))
            .with_version(move || versions.version());
        Ok(Arc::new(site))
    }
}

/// A copy asks nobody.
#[derive(Debug)]
struct Nowhere;

impl frame::outbound::Outbound for Nowhere {
    fn fetch(&self, _: frame::outbound::Fetch) -> frame::outbound::Fetching<'_> {
        Box::pin(async { Err(frame::outbound::FetchError::Unreachable) })
    }
}

fn not_opened(error: tokio::task::JoinError) -> Error {
    Error::internal("the copy of a store was not opened").because(error)
}

/// What is closed waits for its threads, and so not here.
async fn close<T: Send + 'static>(closed: T) {
    let _ = tokio::task::spawn_blocking(move || drop(closed)).await;
}

fn reader_row(platform: &Platform, key: &StoreKey) -> Result<key_rows::ConsumerKeyRow> {
    let pair = (&*key.consumer_key, &*key.consumer_secret);
    let about = (Permissions::Read, "Reports of a connected store");
    consumer_key::row_of(&platform.vault, READER_ID, pair, about, platform.clock.now())
}

/// Lets the key for reports be the one of the connection, sealed as things are sealed now.
fn put_reader(conn: &mut dyn Conn, key: &key_rows::ConsumerKeyRow, now: Timestamp) -> Result<()> {
    if user::get(conn, READER_ID)?.is_none() {
        let reader = UserRow {
            user_id: READER_ID,
            login: READER_LOGIN.to_owned(),
            email: format!("{READER_LOGIN}@connection.invalid"),
            roles: vec![Role::ShopManager],
            display_name: String::from("Reports"),
            nicename: READER_LOGIN.to_owned(),
            registered: now,
            meta: String::from("{}"),
            ..UserRow::default()
        };
        user::insert_with_id(conn, &reader)?;
    }
    for old in key_rows::list(conn, Some(READER_ID))? {
        key_rows::delete(conn, old.key_id)?;
    }
    key_rows::insert(conn, key).map(drop)
}
