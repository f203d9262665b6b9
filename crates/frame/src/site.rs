//! The site of one environment: everything that its requests share, and what it hands to whoever
//! works for it.
//!
//! Operations ([`action`]) get a [`call`] with the circumstances of a request ([`visit`]), jobs a
//! context of their own ([`job`]); crates above hand in pages ([`public_page`]) and files
//! ([`file_source`]). **These know each other and nothing that is done with them**: the rest of the
//! crate stands above.

pub mod action;
mod call;
mod content_source;
mod file_source;
mod gate;
pub(crate) mod job;
mod public_page;
pub(crate) mod recent;
mod site_ability;
mod visit;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use contract::rest::Table;
use db::{Conn, Database, Watch};
use types::{Clock, Environment, Memo, Result};
use url::Url;
use vault::Vault;

pub use self::action::Action;
pub use self::call::Call;
pub(crate) use self::call::Show;
pub use self::content_source::{ContentChange, ContentSource, TermArchive};
pub use self::file_source::{FileFound, FileSource};
pub use self::public_page::{PageSource, PublicPage};
pub use self::site_ability::{AbilityCategory, AbilityRun, SiteAbility};
pub use self::visit::Visit;

use self::gate::Gate;
use self::job::JobKind;
use self::recent::Recent;
use crate::bounded::CacheSize;
use crate::documents::Documents;
use crate::media::Library;
use crate::outbound::{Outbound, Refusal};
use crate::pages::{EmailLook, EmailStyle, THEME_OPTION};
use crate::password::Hasher;
use crate::turns::Turns;
use crate::{Options, Settings, options};

/// Options are looked at again after this time, so that changes of processes are seen that tell
/// nobody of them, such as a command beside the server.
const OPTIONS_LIFE: Duration = Duration::from_millis(900);
/// The kind of job that sends an e-mail. **A site without it sends no mail.**
pub const MAIL_JOB: &str = "mail";

/// What a site is made of.
#[derive(Debug)]
pub struct Parts {
    pub environment: Environment,
    pub store: Database,
    pub vault: Arc<Vault>,
    pub clock: Clock,
    pub settings: Settings,
    pub outbound: Arc<dyn Outbound>,
    /// Wrong credentials per minute, by client address and by account, before one must wait.
    pub wrong_credentials_per_minute: u32,
    /// The options of the crates above.
    pub options: options::Tables,
    /// What the codes of refusals begin with that the shop's routes share.
    pub shop_code_prefix: &'static str,
}

/// The options as they were read.
#[derive(Debug)]
struct KeptOptions {
    since: Instant,
    /// The count of their changes before they were read.
    changes: u64,
    options: Arc<Options>,
}

/// Another environment of the same installation.
#[derive(Clone, Debug)]
pub struct Neighbour {
    pub environment: Environment,
    /// Without a slash at its end.
    pub url: String,
}

/// A site, ready to answer.
#[derive(Debug)]
pub struct Site {
    parts: Parts,
    table: Table<Action>,
    gate: Gate,
    hasher: Hasher,
    recent: Recent,
    options: Mutex<Option<KeptOptions>>,
    /// What goes with all of them.
    beside_options: Arc<Memo>,
    /// Changes of options.
    options_changes: Watch,
    documents: Documents,
    content_sources: Vec<Box<dyn ContentSource>>,
    abilities: Vec<Box<dyn SiteAbility>>,
    page_sources: Vec<Box<dyn PageSource>>,
    file_sources: Vec<Box<dyn FileSource>>,
    job_kinds: Vec<Box<dyn JobKind>>,
    neighbours: OnceLock<Vec<Neighbour>>,
    versions: Vec<Version>,
    takes_registrations: bool,
    turns: Turns,
    library: Arc<Library>,
    catcher: Option<Catcher>,
    email_style: fn(&Options) -> EmailStyle,
    /// How long whoever asks waits for an answer.
    time_limit: Duration,
    body_bytes: usize,
}

/// How long whoever asks waits for an answer, unless somebody says otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(10);

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
    pub(crate) fn with_table(parts: Parts, table: Table<Action>) -> Self {
        options::declare(parts.options);
        let gate = Gate::new(parts.wrong_credentials_per_minute, &parts.store);
        let options_changes = parts.store.watch(&["options"]);
        Self {
            parts,
            table,
            gate,
            hasher: Hasher::default(),
            recent: Recent::default(),
            options: Mutex::new(None),
            beside_options: Arc::default(),
            options_changes,
            documents: Documents::default(),
            content_sources: Vec::new(),
            abilities: Vec::new(),
            page_sources: Vec::new(),
            file_sources: Vec::new(),
            job_kinds: Vec::new(),
            neighbours: OnceLock::new(),
            versions: Vec::new(),
            takes_registrations: false,
            turns: Turns::default(),
            library: Arc::new(Library::none()),
            catcher: None,
            email_style: |options| EmailStyle::new(EmailLook::read(&options.get(THEME_OPTION))),
            time_limit: TIME_LIMIT,
            body_bytes: 0,
        }
    }

    /// Says how long whoever asks waits for an answer.
    #[must_use]
    pub fn with_time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// How long whoever asks waits for an answer.
    pub fn time_limit(&self) -> Duration {
        self.time_limit
    }

    /// Says that operations which take turns wait for other servers.
    #[must_use]
    pub fn with_turns_that_wait(mut self) -> Self {
        self.turns.wait_for_others();
        self
    }

    /// Says how many bytes the body of a request may have.
    #[must_use]
    pub fn with_body_bytes(mut self, body_bytes: usize) -> Self {
        self.body_bytes = body_bytes;
        self
    }

    /// How many bytes the body of a request may have on most routes; zero if nobody said so.
    pub fn body_bytes(&self) -> usize {
        self.body_bytes
    }

    /// How long a batch begins further items, so that the last of them is answered in time.
    pub(crate) fn batch_time(&self) -> Duration {
        self.time_limit * 6 / 10
    }

    /// Says how the options of a crate above make all e-mails look.
    #[must_use]
    pub fn with_email_style(mut self, style: fn(&Options) -> EmailStyle) -> Self {
        self.email_style = style;
        self
    }

    pub(crate) fn email_style(&self, options: &Options) -> EmailStyle {
        (self.email_style)(options)
    }

    /// Adds a kind of content whose records a crate above keeps.
    #[must_use]
    pub fn with_content(mut self, source: Box<dyn ContentSource>) -> Self {
        self.content_sources.push(source);
        self
    }

    /// The kinds of content whose records crates above keep.
    pub fn content_sources(&self) -> impl Iterator<Item = &dyn ContentSource> {
        self.content_sources.iter().map(|source| &**source)
    }

    /// The source of a kind of content; none for one that is kept as posts.
    pub fn content_source(&self, kind: &str) -> Option<&dyn ContentSource> {
        self.content_sources().find(|source| source.kind() == kind)
    }

    /// Adds something that programs may do here.
    #[must_use]
    pub fn with_ability(mut self, ability: Box<dyn SiteAbility>) -> Self {
        self.abilities.push(ability);
        self
    }

    /// What crates above let programs do.
    pub fn abilities(&self) -> impl Iterator<Item = &dyn SiteAbility> {
        self.abilities.iter().map(|ability| &**ability)
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

    /// Gives the site a place for files that people upload.
    #[must_use]
    pub fn with_library(mut self, library: Library) -> Self {
        self.library = Arc::new(library);
        self
    }

    /// The files that people upload.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// Says that strangers may register here by themselves, if the site can write to them.
    #[must_use]
    pub fn with_registrations(mut self) -> Self {
        self.takes_registrations = self.job_kind(MAIL_JOB).is_some();
        self
    }

    /// Whether strangers may register here by themselves, in the word that pages are told.
    pub fn registration(&self) -> &'static str {
        if self.takes_registrations { "open" } else { "closed" }
    }

    /// A number that grows with every change that answers can show.
    pub(crate) fn changes(&self) -> u64 {
        let outside = self.versions.iter().map(|version| (version.0)());
        let here = self.recent.writes().wrapping_add(self.gate.accounts.generation());
        outside.fold(here, u64::wrapping_add)
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
    pub fn page_at(
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

    /// The path of the portal at which people look after a record of a crate above.
    pub fn desk_of(&self, conn: &mut dyn Conn, id: i64) -> Result<Option<String>> {
        for source in &self.page_sources {
            if let Some(path) = source.desk_of(conn, id)? {
                return Ok(Some(path));
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

    pub fn store(&self) -> &Database {
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

    /// The code of a refusal that the shop's routes share, such as `cannot_view`.
    pub fn shop_code(&self, code: &str) -> String {
        format!("{}_{code}", self.parts.shop_code_prefix)
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

    /// How full the caches are.
    pub fn caches(&self) -> Vec<CacheSize> {
        let [texts, ready] = self.documents.sizes();
        vec![self.recent.size(), texts, ready]
    }

    /// The options as they are, or were a moment ago.
    pub async fn options(&self) -> Result<Arc<Options>> {
        let changes = self.options_changes.generation();
        if let Some(kept) = &*self.options.lock().unwrap_or_else(PoisonError::into_inner)
            && kept.changes == changes
            && kept.since.elapsed() < OPTIONS_LIFE
        {
            return Ok(Arc::clone(&kept.options));
        }
        let mut options = self.store().read(Options::read).await?;
        options.beside = Arc::clone(&self.beside_options);
        let options = Arc::new(options);
        let kept = KeptOptions { since: Instant::now(), changes, options: Arc::clone(&options) };
        *self.options.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        Ok(options)
    }

    /// After a change, so that nobody is answered from before it.
    pub fn note_write(&self) {
        self.recent.note_write();
        // Other nodes tell what they have changed, but a client that goes to the next node may be
        // there before the news.
        if !self.store().is_embedded() {
            *self.options.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}
