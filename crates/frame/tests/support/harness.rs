//! A site to ask: a store in a temporary folder or on the shared PostgreSQL, a clock that stands
//! still, no network. **The tests of the crates above include this very file** and say with
//! [`Plan`] what stands on the site.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use contract::rest::route::Route;
use db::{Conn, Database, Location};
use frame::auth::application_password::create_password;
use frame::media::{FolderStorage, Library, Receiver};
use frame::options::Tables;
use frame::outbound::{Fetch, FetchError, Fetched, Fetching, Outbound, Refusal};
use frame::users::{BoundTo, NewUser, create_user};
use frame::{Action, Client, Identity, Names, Parts, Payload, PublicPage, Request, Settings, Site};
use serde_json::Value;
use tempfile::TempDir;
use types::{Clock, Environment, Result, Role, Timestamp};
use vault::{MasterKey, Vault};

/// The moment at which everything happens.
pub(crate) const NOW: &str = "2026-11-15T08:00:00Z";
pub(crate) const ADMIN: &str = "admin";
pub(crate) const NOBODY: &str = "";
pub(crate) const HOME: &str = "https://shop.example";

/// Nothing is reachable but what a test has put there.
#[derive(Debug)]
struct SmallNetwork(fn(&str) -> Option<Vec<u8>>);

impl Outbound for SmallNetwork {
    fn fetch(&self, request: Fetch) -> Fetching<'_> {
        let found = (self.0)(request.url.as_str());
        Box::pin(async move {
            let body = found.ok_or(FetchError::Refused(Refusal::Address))?;
            Ok(Fetched { status: 200, headers: Vec::new(), body, final_url: request.url })
        })
    }
}

/// A site with an administrator, and with further users as tests make them.
pub(crate) struct TestSite {
    pub(crate) site: Arc<Site>,
    passwords: HashMap<String, String>,
    runtime: tokio::runtime::Runtime,
    folder: TempDir,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) json: Value,
}

impl Answer {
    /// The code of an error; empty for anything else.
    pub(crate) fn code(&self) -> &str {
        self.json["code"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The status and the code: what a refusal is known by.
    pub(crate) fn refusal(&self) -> (u16, &str) {
        (self.status, self.code())
    }

    /// A member of each item of a list.
    pub(crate) fn each(&self, member: &str) -> Vec<Value> {
        let items = self.json.as_array().expect("a list");
        items.iter().map(|item| item[member].clone()).collect()
    }
}

/// What is to be made.
pub(crate) struct Plan {
    pub(crate) environment: Environment,
    /// None leaves the site's address to the requests.
    pub(crate) url: Option<&'static str>,
    /// None for a SQLite file.
    pub(crate) database: Option<String>,
    /// Routes of the crates above.
    pub(crate) routes: fn(&Names) -> Vec<Route<Action>>,
    /// Options of the crates above.
    pub(crate) options: Tables,
    /// Adds what else there is of the crates above.
    pub(crate) furnish: fn(Site) -> Site,
    /// What other hosts have at an address.
    pub(crate) network: fn(&str) -> Option<Vec<u8>>,
}

impl Plan {
    /// A sandbox on SQLite with nothing on it.
    pub(crate) fn bare() -> Self {
        Self {
            environment: Environment::Sandbox,
            url: Some(HOME),
            database: None,
            routes: |_| Vec::new(),
            options: &[],
            furnish: |site| site,
            network: |_| None,
        }
    }
}

impl TestSite {
    /// A site with an administrator.
    pub(crate) fn make(plan: Plan) -> Self {
        let environment = plan.environment;
        let folder = testkit::temp_dir().unwrap();
        let database = plan.database.as_deref();
        let location = Location::parse(database, folder.path(), environment, 1).unwrap();
        let settings = Settings { url: plan.url.map(str::to_owned), ..Settings::default() };
        let routes = frame::routes::compile((plan.routes)(&settings.names)).unwrap();
        let storage = Arc::new(FolderStorage::new(folder.path().join("uploads")));
        let parts = Parts {
            environment,
            store: Database::open(&location, schema::MIGRATIONS).unwrap(),
            vault: Arc::new(Vault::new(&MasterKey::generate().unwrap(), environment)),
            clock: Clock::Fixed(now()),
            settings,
            outbound: Arc::new(SmallNetwork(plan.network)),
            wrong_credentials_per_minute: 100,
            options: plan.options,
            shop_code_prefix: "woocommerce_rest",
        };
        let mut site = Self {
            site: Arc::new((plan.furnish)(
                Site::new(parts, routes).unwrap().with_library(Library::new(storage, &[], 2)),
            )),
            passwords: HashMap::new(),
            runtime: tokio::runtime::Builder::new_current_thread().build().unwrap(),
            folder,
        };
        site.user(ADMIN, Role::Administrator);
        site
    }

    /// Makes a user with an application password, and returns the id.
    pub(crate) fn user(&mut self, login: &str, role: Role) -> i64 {
        self.bound_user(login, role, BoundTo::Nobody)
    }

    pub(crate) fn bound_user(&mut self, login: &str, role: Role, bound_to: BoundTo) -> i64 {
        let email = format!("{login}@example.test");
        let new = NewUser { roles: vec![role], bound_to, ..NewUser::new(login, email, now()) };
        let user_id = self.write(move |conn| {
            create_user(conn, &new)
                .map(|user| user.user_id)
                .map_err(frame::users::account::error_of)
        });
        let site = Arc::clone(&self.site);
        let password = self.write(move |conn| {
            let name = ("test", "");
            let made = create_password(conn, site.vault(), user_id, name, now());
            made.map(|(_, secret)| secret.expose().clone())
        });
        self.passwords.insert(login.to_owned(), password);
        user_id
    }

    /// Changes the store directly.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> T {
        self.site.store().write_blocking(closure).unwrap()
    }

    /// Reads the store directly.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> T {
        self.site.store().read_blocking(closure).unwrap()
    }

    pub(crate) fn get(&self, path: &str, who: &str) -> Answer {
        self.ask("GET", path, who, &Value::Null)
    }

    /// Asks as the user with this login, with a JSON body unless it is null.
    pub(crate) fn ask(&self, method: &str, path: &str, who: &str, body: &Value) -> Answer {
        self.send(method, path, self.credentials(who), body)
    }

    /// The headers that say who asks.
    pub(crate) fn credentials(&self, who: &str) -> Vec<(String, String)> {
        if who == NOBODY {
            return Vec::new();
        }
        let pair = format!("{who}:{}", self.passwords[who]);
        let encoded = data_encoding::BASE64.encode(pair.as_bytes());
        vec![("authorization".to_owned(), format!("Basic {encoded}"))]
    }

    /// The media type and text of an answer that is no JSON.
    pub(crate) fn get_text(&self, path: &str) -> (String, String) {
        let response = self.respond("GET", path, Vec::new(), Vec::new());
        let media_type = response.headers.iter().find(|(name, _)| *name == "content-type");
        let Payload::Bytes(bytes) = response.payload else { panic!("no text") };
        (media_type.unwrap().1.clone().into_owned(), String::from_utf8(bytes).unwrap())
    }

    /// Sends bytes that are said to be JSON.
    pub(crate) fn send_bytes(
        &self,
        method: &str,
        path: &str,
        mut headers: Vec<(String, String)>,
        body: &[u8],
    ) -> Answer {
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        self.answer(method, path, headers, body.to_vec())
    }

    /// Sends a request with these headers.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: Vec<(String, String)>,
        body: &Value,
    ) -> Answer {
        if body.is_null() {
            return self.answer(method, path, headers, Vec::new());
        }
        self.send_bytes(method, path, headers, body.to_string().as_bytes())
    }

    fn answer(
        &self,
        method: &str,
        path: &str,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    ) -> Answer {
        understood(self.respond(method, path, headers, body))
    }

    fn respond(
        &self,
        method: &str,
        path: &str,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    ) -> frame::Response {
        self.runtime.block_on(self.site.answer(request(method, path, headers, body)))
    }

    /// Sends a file, or a form, as the body of a request that is written to disk as it comes.
    pub(crate) fn upload(
        &self,
        path: &str,
        who: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut all = self.credentials(who);
        let named = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        all.extend(named);
        let mut request = request("POST", path, all, Vec::new());
        let content_type = request.header("content-type").unwrap_or_default().to_owned();
        let storage = self.site.library().storage();
        let mut receiver = Receiver::new(&**storage, &content_type).unwrap();
        for piece in body.chunks(1000) {
            receiver.feed(piece).unwrap();
        }
        request.upload = Some(Arc::new(receiver.finish().unwrap()));
        understood(self.runtime.block_on(self.site.answer(request)))
    }

    /// Where the site keeps its files.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Waits for something that the site does.
    pub(crate) fn run<T>(&self, doing: impl Future<Output = T>) -> T {
        self.runtime.block_on(doing)
    }

    /// The files of the library, by name.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut visit = |name: &str, _| {
            names.push(name.to_owned());
            Ok(())
        };
        self.site.library().storage().each(&mut visit).unwrap();
        names.sort();
        names
    }

    /// The public page at a path, if a crate above has one there.
    pub(crate) fn page(&self, path: &str) -> Option<PublicPage> {
        let request = request("GET", path, Vec::new(), Vec::new());
        let visit = self.site.visit(&request, Identity::ANONYMOUS, now());
        let visit = self.runtime.block_on(visit).unwrap();
        let (site, path) = (Arc::clone(&self.site), path.trim_end_matches('/').to_owned());
        let found = self.site.store().read_blocking(move |conn| site.page_at(conn, &visit, &path));
        found.unwrap()
    }
}

/// The answer that a response is.
pub(crate) fn understood(response: frame::Response) -> Answer {
    let bytes = match &response.payload {
        Payload::Bytes(bytes) => bytes.clone(),
        Payload::Plain(document) | Payload::Gzip(document) => document.plain.clone(),
        Payload::Shared(text) => text.to_vec(),
        Payload::Empty | Payload::LeftOut => b"null".to_vec(),
    };
    let headers = response.headers.iter();
    Answer {
        status: response.status,
        headers: headers
            .map(|(name, value)| ((*name).to_owned(), value.clone().into_owned()))
            .collect(),
        json: serde_json::from_slice(&bytes).unwrap(),
    }
}

/// A request that comes from elsewhere.
pub(crate) fn request(
    method: &str,
    path: &str,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
) -> Request {
    let (path, query_text) = path.split_once('?').unwrap_or((path, ""));
    Request {
        method: method.to_owned(),
        path: path.to_owned(),
        url_path: format!("/wp-json{path}"),
        query_text: query_text.to_owned(),
        query: Request::decode_query(query_text),
        headers: Arc::new(headers),
        body,
        upload: None,
        secure: false,
        encrypted_here: false,
        host: "shop.example".to_owned(),
        client: Client {
            address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)),
            throttled: true,
            local: false,
        },
    }
}

pub(crate) fn now() -> Timestamp {
    Timestamp::parse(NOW).unwrap()
}
