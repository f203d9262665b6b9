//! A platform over a database of its own, and the endpoints to call on it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use contract::{Compiled, Failure, Header, Issues, Outcome};
use db::{Conn, Database, Location, outbox};
use onboarding::caller::Refused;
use onboarding::dialect::{self, ErrorItem, ResponseStyle};
use onboarding::keys::{KEY_LIFE_DEFAULT, KeyLife, NewKey};
use onboarding::{Caller, Cx, Platform, Settings, endpoints};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use types::{Clock, Environment, IsoId, Kind, Result, Scope, ScopeSet, Timestamp};
use vault::MasterKey;

use crate::bodies::{body, put};

/// The moment at which everything in these tests happens.
pub(crate) const NOW: &str = "2026-11-15T08:00:00Z";

pub(crate) fn now() -> Timestamp {
    Timestamp::parse(NOW).unwrap()
}

pub(crate) fn master_key() -> MasterKey {
    MasterKey::from_text(&"5a".repeat(32)).unwrap()
}

/// Runs functions of a [`House`] as tests, each on both engines.
macro_rules! on_both_engines {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[test]
            fn on_sqlite() {
                super::$name(&crate::support::House::new());
            }

            #[test]
            fn on_postgres() {
                super::$name(&crate::support::House::on_postgres());
            }
        }
    )+};
}

/// Connections of a house on PostgreSQL.
const CONNECTIONS: usize = 4;

/// A platform with one ISO, called with a key of full access.
pub(crate) struct House {
    pub(crate) platform: Arc<Platform>,
    pub(crate) iso_id: IsoId,
    pub(crate) key: NewKey,
    caller: Caller,
    endpoints: Arc<Vec<Compiled<Cx>>>,
    runtime: Runtime,
    folder: Arc<TempDir>,
}

/// How a request was refused: code and param of each error, and the headers.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) errors: Vec<String>,
    pub(crate) headers: Vec<Header>,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default(), ResponseStyle::Detailed)
    }

    pub(crate) fn on_postgres() -> Self {
        let url = testkit::postgres::shared().create_database().unwrap();
        Self::on_postgres_at(&url, CONNECTIONS)
    }

    pub(crate) fn on_postgres_at(url: &str, connections: usize) -> Self {
        let folder = Arc::new(testkit::temp_dir().unwrap());
        let place =
            Location::parse(Some(url), folder.path(), Environment::Sandbox, connections).unwrap();
        let store = Database::open(&place, schema::MIGRATIONS).unwrap();
        let clock = Clock::Fixed(now());
        let settings = Settings::default();
        let platform =
            Platform::new(Environment::Sandbox, store, &master_key(), settings, clock).unwrap();
        let iso_id = platform.iso_create("First ISO", ResponseStyle::Detailed).unwrap();
        let life = KeyLife::For(KEY_LIFE_DEFAULT);
        let key = platform.key_create(&iso_id, "all", ScopeSet::Full, life).unwrap();
        Self::of(platform, iso_id, key, folder)
    }

    pub(crate) fn with_settings(settings: Settings) -> Self {
        Self::with(settings, ResponseStyle::Detailed)
    }

    pub(crate) fn with(settings: Settings, style: ResponseStyle) -> Self {
        let folder = Arc::new(testkit::temp_dir().unwrap());
        let platform = open_platform(folder.path(), settings).unwrap();
        let iso_id = platform.iso_create("First ISO", style).unwrap();
        let life = KeyLife::For(KEY_LIFE_DEFAULT);
        let key = platform.key_create(&iso_id, "all", ScopeSet::Full, life).unwrap();
        Self::of(platform, iso_id, key, folder)
    }

    /// Another platform on the same database, as another process has it.
    pub(crate) fn reopened(other: &Self) -> Self {
        let platform = open_platform(other.folder(), other.platform.settings).unwrap();
        let key = NewKey {
            key_id: other.key.key_id.clone(),
            text: other.key.text.clone(),
            expires: other.key.expires,
        };
        Self::of(platform, other.iso_id.clone(), key, Arc::clone(&other.folder))
    }

    fn of(platform: Platform, iso_id: IsoId, key: NewKey, folder: Arc<TempDir>) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let caller = authenticate(&runtime, &platform, &key, Scope::OnboardWrite, now()).unwrap();
        let endpoints = Arc::new(endpoints::table().into_endpoints());
        Self { platform: Arc::new(platform), iso_id, key, caller, endpoints, runtime, folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The same house for a caller of another ISO.
    pub(crate) fn caller_of_another_iso(&self) -> Caller {
        let iso_id = self.platform.iso_create("Other ISO", ResponseStyle::Detailed).unwrap();
        let life = KeyLife::For(KEY_LIFE_DEFAULT);
        let key = self.platform.key_create(&iso_id, "all", ScopeSet::Full, life).unwrap();
        authenticate(&self.runtime, &self.platform, &key, Scope::OnboardWrite, now()).unwrap()
    }

    /// A request to the endpoint of that name; it can be run beside others.
    pub(crate) fn request(
        &self,
        caller: &Caller,
        name: &str,
        params: Value,
    ) -> impl Future<Output = Outcome> + Send + 'static + use<> {
        let cx = Cx {
            platform: Arc::clone(&self.platform),
            caller: Some(caller.clone()),
            device: None,
            administrator: None,
            now: now(),
            request_options: onboarding::RequestOptions::default(),
            origin: onboarding::Origin::default(),
        };
        let endpoints = Arc::clone(&self.endpoints);
        let place = endpoints.iter().position(|endpoint| &*endpoint.name == name).unwrap();
        async move { endpoints[place].run(params, &cx).await }
    }

    /// A request by somebody else, at another time, or with options: whatever the context says.
    pub(crate) fn call_in(&self, cx: &Cx, name: &str, params: Value) -> Answered {
        let place = self.endpoints.iter().position(|endpoint| &*endpoint.name == name);
        let endpoint = &self.endpoints[place.unwrap_or_else(|| panic!("no endpoint {name}"))];
        let outcome = self.runtime.block_on(endpoint.run(params, cx));
        Answered::of(outcome)
    }

    /// The context of the house's own caller, some seconds later.
    pub(crate) fn later(&self, seconds: u64) -> Cx {
        Cx {
            platform: Arc::clone(&self.platform),
            caller: Some(self.caller.clone()),
            device: None,
            administrator: None,
            now: now().plus(Duration::from_secs(seconds)),
            request_options: onboarding::RequestOptions::default(),
            origin: onboarding::Origin::default(),
        }
    }

    /// A request by the house's own caller, and what became of it.
    pub(crate) fn ask(&self, name: &str, params: Value) -> Answered {
        self.call_in(&self.later(0), name, params)
    }

    /// Carries out what is due after so many seconds.
    pub(crate) fn run_due_work(&self, seconds: u64) -> usize {
        let now = now().plus(Duration::from_secs(seconds));
        self.runtime.block_on(self.platform.due_work_run(None, now)).unwrap()
    }

    /// Kinds and payloads of all events so far.
    pub(crate) fn events(&self) -> Vec<(String, Value)> {
        let events = self.platform.store.write_blocking(|conn| {
            outbox::sequence(conn, 10_000)?;
            outbox::after(conn, 0, 10_000)
        });
        let event = |event: outbox::SequencedEvent| {
            (event.kind, serde_json::from_str(&event.payload).unwrap())
        };
        events.unwrap().into_iter().map(event).collect()
    }

    pub(crate) fn call_as(&self, caller: &Caller, name: &str, params: Value) -> Outcome {
        self.runtime.block_on(self.request(caller, name, params))
    }

    pub(crate) fn call(&self, name: &str, params: Value) -> Outcome {
        self.call_as(&self.caller, name, params)
    }

    /// Onboards, and gives the answer's body.
    pub(crate) fn onboard(&self, body: Value) -> Result<Value, Refusal> {
        self.onboard_as(&self.caller, body)
    }

    pub(crate) fn onboard_as(&self, caller: &Caller, body: Value) -> Result<Value, Refusal> {
        let outcome = self.call_as(caller, "onboard_merchant", body);
        match outcome.result {
            Ok(body) => Ok(serde_json::from_slice(&body).unwrap()),
            Err(Failure::Issues { issues, headers }) => {
                let headers = outcome.headers.into_iter().chain(headers).collect();
                Err(Refusal { errors: error_lines(&issues), headers })
            }
            Err(failure) => panic!("{failure:?}"),
        }
    }

    /// The errors of a body that must be refused.
    pub(crate) fn errors(&self, body: Value) -> Vec<String> {
        self.onboard(body).expect_err("a refusal").errors
    }

    /// The body of a GET endpoint, or nothing if there is no such object.
    pub(crate) fn get(&self, name: &str, params: Value) -> Option<Value> {
        self.get_as(&self.caller, name, params)
    }

    pub(crate) fn get_as(&self, caller: &Caller, name: &str, params: Value) -> Option<Value> {
        match self.call_as(caller, name, params).result {
            Ok(body) => Some(serde_json::from_slice(&body).unwrap()),
            Err(Failure::Error(error)) if error.kind() == Kind::NotFound => None,
            Err(failure) => panic!("{failure:?}"),
        }
    }

    /// Merchant, store and TPN of an onboarding's answer, read back.
    pub(crate) fn read_back(&self, answer: &Value) -> (Value, Value, Value) {
        let data = &answer["data"];
        let get = |name, id: &str| self.get(name, json!({ id: data[id] })).expect("it exists");
        (get("merchant_get", "merchantId"), get("store_get", "storeId"), get("tpn_get", "tpn"))
    }

    /// A base body, its ids filled with those of a fresh merchant and store where it needs them.
    pub(crate) fn staged_body(&self, name: &str) -> Value {
        let mut staged = body(name);
        if name.starts_with("store-and-tpn") || name.starts_with("tpn-only") {
            let parents = self.onboard(body("minimal-cknx")).unwrap();
            set_ids(&mut staged, &parents);
        }
        staged
    }

    /// How many rows the tables have that an onboarding writes to.
    pub(crate) fn counts(&self) -> Counts {
        let count = |conn: &mut dyn Conn| {
            let mut counts = [0; 5];
            let tables = ["merchants", "stores", "tpns", "profiles", "outbox"];
            for (count, table) in counts.iter_mut().zip(tables) {
                let text = format!("SELECT COUNT(*) FROM {table}");
                conn.query_text(&text, &[], &mut |row| {
                    *count = row.get(0)?;
                    Ok(())
                })?;
            }
            let [merchants, stores, tpns, profiles, events] = counts;
            Ok(Counts { merchants, stores, tpns, profiles, events })
        };
        self.platform.store.read_blocking(count).unwrap()
    }
}

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Answered {
    Done(Value, Vec<Header>),
    /// Code and param of each error.
    Refused(Vec<String>),
    NotFound,
}

impl Answered {
    fn of(outcome: Outcome) -> Self {
        match outcome.result {
            Ok(body) => Self::Done(serde_json::from_slice(&body).unwrap(), outcome.headers),
            Err(Failure::Issues { issues, .. }) => Self::Refused(error_lines(&issues)),
            Err(Failure::Error(error)) if error.kind() == Kind::NotFound => Self::NotFound,
            Err(failure) => panic!("{failure:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn done(self) -> Value {
        match self {
            Self::Done(body, _) => body,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn refused(self) -> Vec<String> {
        match self {
            Self::Refused(errors) => errors,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound)
    }

    #[track_caller]
    pub(crate) fn tag(&self) -> String {
        match self {
            Self::Done(_, headers) => {
                headers.iter().find(|(name, _)| *name == "etag").unwrap().1.clone()
            }
            other => panic!("{other:?}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) merchants: i64,
    pub(crate) stores: i64,
    pub(crate) tpns: i64,
    pub(crate) profiles: i64,
    pub(crate) events: i64,
}

/// Puts the ids of an earlier answer where the body names existing objects.
pub(crate) fn set_ids(staged: &mut Value, parents: &Value) {
    for (object, id) in [("merchantData", "merchantId"), ("storeData", "storeId")] {
        if staged[object].get(id).is_some() {
            put(staged, &format!("{object}.{id}"), parents["data"][id].clone());
        }
    }
}

pub(crate) fn open_platform(folder: &Path, settings: Settings) -> Result<Platform> {
    open_platform_as(folder, Environment::Sandbox, &master_key(), settings)
}

pub(crate) fn open_platform_as(
    folder: &Path,
    environment: Environment,
    master: &MasterKey,
    settings: Settings,
) -> Result<Platform> {
    let location = Location::parse(None, folder, Environment::Sandbox, 1)?;
    let store = Database::open(&location, schema::MIGRATIONS)?;
    Platform::new(environment, store, master, settings, Clock::Fixed(now()))
}

pub(crate) fn authenticate(
    runtime: &Runtime,
    platform: &Platform,
    key: &NewKey,
    scope: Scope,
    now: Timestamp,
) -> std::result::Result<Caller, Refused> {
    let header = format!("api-key {}", key.text.expose());
    runtime.block_on(platform.authenticate(Some(header.as_bytes()), scope, None, now)).unwrap()
}

/// Errors as lines of code and param, as the client gets them.
pub(crate) fn error_lines(issues: &Issues) -> Vec<String> {
    let line = |item: ErrorItem| format!("{} {}", item.code, item.param);
    dialect::error_items(issues).into_iter().map(line).collect()
}
