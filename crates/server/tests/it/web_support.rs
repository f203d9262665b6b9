//! A browser without a window: cookies, forms and redirects over the server's own connection code.

use std::collections::BTreeMap;
use std::sync::Arc;

use frame::password;
use onboarding::Platform;
use server::Settings;
use site_rows::post::PostRow;
use site_rows::user::UserRow;
use types::{Clock, Environment, Role, Secret, Timestamp};
use vault::MasterKey;

use crate::harness::Harness;

pub(crate) const PASSWORD: &str = "correct horse battery";
pub(crate) const HOST: &str = "shop.example";

/// A site with one administrator, `anna`, on a pipe.
pub(crate) struct Shop {
    runtime: tokio::runtime::Runtime,
    harness: Harness,
    pub(crate) platform: Arc<Platform>,
    _folder: tempfile::TempDir,
}

impl Shop {
    pub(crate) fn new(environment: Environment) -> Self {
        Self::with(environment, Settings::default(), onboarding::Settings::default())
    }

    /// A sandbox that may ask hosts on this computer.
    pub(crate) fn with_loopback() -> Self {
        let mut settings = Settings::default();
        settings.outbound.exempt = vec!["127.0.0.0/8".parse().unwrap()];
        Self::with(Environment::Sandbox, settings, onboarding::Settings::default())
    }

    pub(crate) fn with_choices(environment: Environment, choices: onboarding::Settings) -> Self {
        Self::with(environment, Settings::default(), choices)
    }

    fn with(environment: Environment, settings: Settings, choices: onboarding::Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = db::Location::File(folder.path().join("site.db"));
        let store = db::Database::open(&location, schema::MIGRATIONS).unwrap();
        let master = MasterKey::generate().unwrap();
        let platform =
            Arc::new(Platform::new(environment, store, &master, choices, Clock::System).unwrap());
        let mut settings = Settings {
            // Requests can say that they came over https, and from where.
            trusted_proxies: vec!["127.0.0.1".parse().unwrap()],
            ..settings
        };
        settings.rate_limits.refused_keys_per_minute = 5.try_into().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let guard = runtime.enter();
        let harness = Harness::new(Arc::clone(&platform), settings).unwrap();
        drop(guard);
        let shop = Self { runtime, harness, platform, _folder: folder };
        shop.add_user("anna", "Anna Example");
        shop
    }

    pub(crate) fn add_user(&self, login: &str, name: &str) -> i64 {
        self.add_user_as(login, name, Role::Administrator)
    }

    pub(crate) fn add_user_as(&self, login: &str, name: &str, role: Role) -> i64 {
        let hash = password::hash(&Secret::new(PASSWORD.to_owned())).unwrap();
        let user = UserRow {
            user_id: 0,
            login: login.to_owned(),
            email: format!("{login}@shop.example"),
            password_hash: Some(hash),
            roles: vec![role],
            display_name: name.to_owned(),
            nicename: login.to_owned(),
            first_name: String::new(),
            last_name: String::new(),
            nickname: login.to_owned(),
            description: String::new(),
            url: String::new(),
            locale: String::new(),
            registered: Timestamp::default(),
            meta: String::from("{}"),
            iso_id: None,
            merchant_id: None,
            store_id: None,
        };
        self.platform
            .store
            .write_blocking(move |conn| site_rows::user::insert(conn, &user))
            .unwrap()
    }

    pub(crate) fn add_post(&self, post: PostRow) -> i64 {
        self.platform
            .store
            .write_blocking(move |conn| site_rows::post::insert(conn, &post))
            .unwrap()
    }

    /// A browser over https, somewhere on the internet.
    pub(crate) fn browser(&self) -> Browser<'_> {
        Browser {
            shop: self,
            cookies: BTreeMap::new(),
            headers: vec![
                (String::from("X-Forwarded-Proto"), String::from("https")),
                (String::from("X-Forwarded-For"), String::from("203.0.113.9")),
                (String::from("Accept"), String::from("text/html,*/*;q=0.8")),
            ],
        }
    }

    /// Descriptions and permissions of a user's consumer keys.
    pub(crate) fn consumer_keys(&self, user_id: i64) -> Vec<(String, String)> {
        let list =
            move |conn: &mut dyn db::Conn| site_rows::consumer_key::list(conn, Some(user_id));
        let rows = self.platform.store.read_blocking(list).unwrap();
        rows.into_iter().map(|row| (row.description, row.permissions)).collect()
    }

    pub(crate) fn application_passwords(&self, user_id: i64) -> Vec<String> {
        let list =
            move |conn: &mut dyn db::Conn| site_rows::application_password::list(conn, user_id);
        let rows = self.platform.store.read_blocking(list).unwrap();
        rows.into_iter().map(|row| row.name).collect()
    }
}

/// What everybody may read.
pub(crate) fn post(kind: &str, slug: &str, title: &str, content: &str) -> PostRow {
    let date = Timestamp::parse("2026-03-01T12:00:00Z").unwrap();
    PostRow {
        post_id: 0,
        kind: kind.to_owned(),
        status: String::from("publish"),
        slug: slug.to_owned(),
        title: title.to_owned(),
        content: content.to_owned(),
        excerpt: String::new(),
        author_id: 1,
        parent_id: 0,
        menu_order: 0,
        comment_status: String::from("closed"),
        ping_status: String::from("closed"),
        template: String::new(),
        format: String::from("standard"),
        sticky: false,
        password: String::new(),
        featured_media: 0,
        date,
        date_gmt: Some(date),
        modified: date,
        modified_gmt: date,
        trashed_status: None,
        trashed: None,
        meta: String::from("{}"),
    }
}

pub(crate) struct Browser<'a> {
    shop: &'a Shop,
    pub(crate) cookies: BTreeMap<String, String>,
    pub(crate) headers: Vec<(String, String)>,
}

impl Browser<'_> {
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.headers.retain(|(other, _)| other != name);
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, "")
    }

    pub(crate) fn head(&mut self, path: &str) -> Answer {
        self.send("HEAD", path, "")
    }

    pub(crate) fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let pairs: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        self.send("POST", path, &pairs.join("&"))
    }

    fn send(&mut self, method: &str, path: &str, body: &str) -> Answer {
        let mut head = vec![
            format!("{method} {path} HTTP/1.1"),
            format!("Host: {HOST}"),
            String::from("Connection: close"),
        ];
        head.extend(self.headers.iter().map(|(name, value)| format!("{name}: {value}")));
        if !self.cookies.is_empty() {
            let pairs: Vec<String> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            head.push(format!("Cookie: {}", pairs.join("; ")));
        }
        if method == "POST" {
            head.push(String::from("Content-Type: application/x-www-form-urlencoded"));
            head.push(format!("Content-Length: {}", body.len()));
        }
        let text = format!("{}\r\n\r\n{body}", head.join("\r\n"));
        let exchange = self.shop.harness.exchange(text.as_bytes());
        let bytes = self.shop.runtime.block_on(exchange).expect("the server answers");
        let answer = Answer::read(&String::from_utf8(bytes).unwrap());
        for cookie in answer.all("set-cookie") {
            let (name, rest) = cookie.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if rest.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }

    /// Signs in as `login` with the right password, and returns the answer.
    pub(crate) fn sign_in(&mut self, login: &str) -> Answer {
        let form = self.get("/wp-login.php");
        let token = form.field("_wpnonce");
        let fields = [("log", login), ("pwd", PASSWORD), ("_wpnonce", token.as_str())];
        let answer = self.post("/wp-login.php", &fields);
        assert_eq!(answer.status, 302, "{}", answer.body);
        answer
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
        Self { status, headers: headers.collect(), body: body.to_owned() }
    }

    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let named = self.headers.iter().filter(|(other, _)| other == name);
        named.map(|(_, value)| value.as_str()).collect()
    }

    /// The header's value, or nothing in it.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.all(name).first().copied().unwrap_or_default()
    }

    pub(crate) fn location(&self) -> &str {
        self.header("location")
    }

    /// The value of a field of the page's form, as a browser would send it.
    pub(crate) fn field(&self, name: &str) -> String {
        let mark = format!("name=\"{name}\"");
        let after = self.body.split(&mark).nth(1).unwrap_or_else(|| panic!("no {name}: {self:?}"));
        let tag = after.split('>').next().unwrap();
        let value = tag.split("value=\"").nth(1).and_then(|rest| rest.split('"').next());
        unescaped(value.unwrap_or_default())
    }

    /// Where the first link leads that has this in its address, as a browser would read it.
    pub(crate) fn link(&self, part: &str) -> String {
        let links = self.body.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let found = links.map(unescaped).find(|link| link.contains(part));
        found.unwrap_or_else(|| panic!("no link with {part}: {self:?}"))
    }

    pub(crate) fn has(&self, text: &str) -> bool {
        self.body.contains(text)
    }
}

fn unescaped(text: &str) -> String {
    let pairs = [("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">"), ("&#38;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

pub(crate) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
