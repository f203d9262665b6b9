//! The site of one environment: everything that its requests share.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use contract::rest::Table;
use contract::rest::route::Route;
use store::{Conn, Store};
use types::{Clock, Environment, Error, Result, Timestamp};
use url::Url;
use vault::Vault;

use crate::action::Action;
use crate::auth::Gate;
use crate::auth::password::Hasher;
use crate::frame::Hashes;
use crate::frame::recent::Recent;
use crate::index::Documents;
use crate::jobs::JobKind;
use crate::me::Neighbour;
use crate::outbound::{Outbound, Refusal};
use crate::turns::Turns;
use crate::{
    FileSource, Identity, Options, PageSource, PublicPage, Request, Settings, Visit, content, docs,
    routes,
};

/// Options are looked at again after this time, so that other processes' changes are seen.
const OPTIONS_LIFE: Duration = Duration::from_millis(900);

/// What a site is made of.
#[derive(Debug)]
pub struct Parts {
    pub environment: Environment,
    pub store: Store,
    pub vault: Arc<Vault>,
    pub clock: Clock,
    pub settings: Settings,
    pub outbound: Arc<dyn Outbound>,
    /// Wrong credentials per minute, by client address and by account, before one must wait.
    pub wrong_credentials_per_minute: u32,
}

/// A site, ready to answer.
#[derive(Debug)]
pub struct Site {
    parts: Parts,
    table: Table<Action>,
    docs: docs::Docs,
    gate: Gate,
    hasher: Hasher,
    recent: Recent,
    options: Mutex<Option<(Instant, Arc<Options>)>>,
    documents: Documents,
    page_sources: Vec<Box<dyn PageSource>>,
    pub(crate) file_sources: Vec<Box<dyn FileSource>>,
    job_kinds: Vec<Box<dyn JobKind>>,
    neighbours: OnceLock<Vec<Neighbour>>,
    versions: Vec<Version>,
    takes_registrations: bool,
    turns: Turns,
    catcher: Option<Catcher>,
}

/// A number that grows whenever something changes that answers depend on besides the storage.
struct Version(Box<dyn Fn() -> u64 + Send + Sync>);

impl std::fmt::Debug for Version {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Version({})", (self.0)())
    }
}

/// Tells which addresses are taken by the server itself.
struct Catcher(Box<dyn Fn(&Url) -> bool + Send + Sync>);

impl std::fmt::Debug for Catcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Catcher")
    }
}

impl Site {
    /// Compiles the routes; `more` are those of the crates above. Blocks; call it at start.
    pub fn new(parts: Parts, more: Vec<Route<Action>>) -> Result<Self> {
        parts.settings.check().map_err(Error::invalid)?;
        let routes = routes::all(&parts.settings.names, more);
        let table = Table::compile(routes).map_err(Error::internal)?;
        parts.store.write_blocking(content::found)?;
        let gate = Gate::new(parts.wrong_credentials_per_minute);
        let (docs, options) = (docs::Docs::load(), Mutex::new(None));
        Ok(Self {
            parts,
            table,
            docs,
            gate,
            hasher: Hasher::default(),
            recent: Recent::default(),
            options,
            documents: Documents::default(),
            page_sources: Vec::new(),
            file_sources: Vec::new(),
            job_kinds: Vec::new(),
            neighbours: OnceLock::new(),
            versions: Vec::new(),
            takes_registrations: false,
            turns: Turns::default(),
            catcher: None,
        })
    }

    /// Adds public pages of a crate above.
    #[must_use]
    pub fn with_pages(mut self, source: Box<dyn PageSource>) -> Self {
        self.page_sources.push(source);
        self
    }

    /// Makes answers of a moment ago depend on what a crate above keeps in memory.
    #[must_use]
    pub fn with_version(mut self, version: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.versions.push(Version(Box::new(version)));
        self
    }

    /// Says which addresses of deliveries the server takes itself, so that nothing leaves it.
    #[must_use]
    pub fn with_catcher(mut self, catches: impl Fn(&Url) -> bool + Send + Sync + 'static) -> Self {
        self.catcher = Some(Catcher(Box::new(catches)));
        self
    }

    /// Whether anything can ever be delivered to an address, as far as the address tells: to be
    /// asked by whoever keeps one for webhooks. What is caught here needs no way out.
    pub fn may_ever_deliver(&self, url: &Url) -> std::result::Result<(), Refusal> {
        if self.catcher.as_ref().is_some_and(|catcher| (catcher.0)(url)) {
            return Ok(());
        }
        self.outbound().may_ever_ask(url)
    }

    /// Says that strangers may register here by themselves, if the site can write to them.
    #[must_use]
    pub fn with_registrations(mut self) -> Self {
        self.takes_registrations = crate::mail::is_on(&self);
        self
    }

    /// Whether strangers may register here by themselves, in the word that pages are told.
    pub(crate) fn registration(&self) -> &'static str {
        if self.takes_registrations { "open" } else { "closed" }
    }

    /// A number that grows with every change that answers can show.
    pub(crate) fn changes(&self) -> u64 {
        let outside = self.versions.iter().map(|version| (version.0)());
        outside.fold(self.recent.writes(), u64::wrapping_add)
    }

    /// Adds a kind of background job of a crate above.
    #[must_use]
    pub fn with_job(mut self, kind: Box<dyn JobKind>) -> Self {
        assert!(self.job_kind(kind.name()).is_none(), "two kinds of job named {}", kind.name());
        self.job_kinds.push(kind);
        self
    }

    /// The kinds of background jobs that this site knows.
    pub fn job_kinds(&self) -> impl Iterator<Item = &dyn JobKind> {
        self.job_kinds.iter().map(|kind| &**kind)
    }

    pub fn job_kind(&self, name: &str) -> Option<&dyn JobKind> {
        self.job_kinds().find(|kind| kind.name() == name)
    }

    /// The page of a crate above at a path with its query string.
    pub(crate) fn page_at(
        &self,
        conn: &mut dyn Conn,
        visit: &Visit,
        address: &str,
    ) -> Result<Option<PublicPage>> {
        for source in &self.page_sources {
            if let Some(page) = source.page_at(conn, visit, address)? {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    /// Told once, when the addresses of all environments of this process are known.
    pub fn meet(&self, neighbours: Vec<Neighbour>) {
        let _ = self.neighbours.set(neighbours);
    }

    /// All environments of this process, this one among them.
    pub fn neighbours(&self) -> &[Neighbour] {
        self.neighbours.get().map_or(&[], Vec::as_slice)
    }

    pub fn environment(&self) -> Environment {
        self.parts.environment
    }

    pub fn store(&self) -> &Store {
        &self.parts.store
    }

    pub fn vault(&self) -> &Vault {
        &self.parts.vault
    }

    pub fn clock(&self) -> &Clock {
        &self.parts.clock
    }

    pub fn settings(&self) -> &Settings {
        &self.parts.settings
    }

    pub fn outbound(&self) -> &dyn Outbound {
        &*self.parts.outbound
    }

    pub fn table(&self) -> &Table<Action> {
        &self.table
    }

    pub fn docs(&self) -> &docs::Docs {
        &self.docs
    }

    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    pub(crate) fn recent(&self) -> &Recent {
        &self.recent
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    pub(crate) fn documents(&self) -> &Documents {
        &self.documents
    }

    /// The options as they are, or were a moment ago.
    pub async fn options(&self) -> Result<Arc<Options>> {
        if let Some((at, options)) = &*self.options.lock().unwrap_or_else(PoisonError::into_inner)
            && at.elapsed() < OPTIONS_LIFE
        {
            return Ok(Arc::clone(options));
        }
        let options = Arc::new(self.store().read(Options::read).await?);
        let kept = Some((Instant::now(), Arc::clone(&options)));
        *self.options.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        Ok(options)
    }

    /// After a change, so that the one who made it sees it.
    pub(crate) fn forget_options(&self) {
        self.recent.note_write();
        *self.options.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The circumstances of a request.
    pub async fn visit(
        &self,
        request: &Request,
        identity: Identity,
        now: Timestamp,
    ) -> Result<Visit> {
        let options = self.options().await?;
        let mut visit = Visit { identity, ..self.visit_without_options(request, now) };
        // An address that the site itself was given counts, unless the operator set another.
        let own = options.text("siteurl");
        if self.settings().url.is_none() && !own.is_empty() {
            own.trim_end_matches('/').clone_into(&mut visit.home);
            visit.rest_url = format!("{}/{}", visit.home, self.settings().names.rest_root);
        }
        visit.options = options;
        Ok(visit)
    }

    pub(crate) fn visit_without_options(&self, request: &Request, now: Timestamp) -> Visit {
        let home = self.home_of(request);
        Visit {
            identity: Identity::ANONYMOUS,
            now,
            rest_url: format!("{home}/{}", self.settings().names.rest_root),
            home,
            secure: request.secure,
            client: request.client,
            headers: request.headers.clone(),
            options: Arc::default(),
            application_passwords: self.takes_application_passwords(request),
            hashes: Hashes::default(),
            is_import: false,
        }
    }

    /// Address of the site without a slash at its end: as the operator set it, else as the request
    /// names it.
    pub fn home_of(&self, request: &Request) -> String {
        if let Some(url) = &self.settings().url {
            return url.trim_end_matches('/').to_owned();
        }
        let host = host_or_loopback(&request.host);
        // A proxy speaks TLS for the site's public name, not for this machine's own.
        let secure = request.encrypted_here || (request.secure && !is_loopback(host));
        format!("{}://{host}", if secure { "https" } else { "http" })
    }
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A host that can stand in a URL; anything else could smuggle markup into links.
fn host_or_loopback(host: &str) -> &str {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    let fine = !host.is_empty() && host.len() <= 255 && host.chars().all(plain);
    if fine { host } else { "localhost" }
}
