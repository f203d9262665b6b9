//! Databases to test on, and rows to put in them.

use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use store::api_key::ApiKeyRow;
use store::application_password::ApplicationPasswordRow;
use store::consumer_key::ConsumerKeyRow;
use store::idempotency::StoredAnswer;
use store::iso::IsoRow;
use store::merchant::{MerchantRow, StoreRow};
use store::outbox::Event;
use store::post::PostRow;
use store::revision::RevisionRow;
use store::session::SessionRow;
use store::template::TemplateRow;
use store::term::TermRow;
use store::tpn::{ProfileRow, TpnRow};
use store::user::UserRow;
use store::{Conn, Location, Store};
use tempfile::TempDir;
use types::{
    Environment, IsoId, KeyId, MerchantId, Result, Role, StoreId, TemplateId, Timestamp, Tpn,
};

/// Connections that may write at once on PostgreSQL: enough for races, few enough for the server.
const CONNECTIONS: usize = 8;

/// Runs functions of a [`Database`] as tests, each on both engines.
macro_rules! on_both_engines {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[test]
            fn on_sqlite() {
                super::$name(&crate::support::Database::sqlite());
            }

            #[test]
            fn on_postgres() {
                super::$name(&crate::support::Database::postgres());
            }
        }
    )+};
}

/// An empty database that goes away with the test.
pub(crate) struct Database {
    pub(crate) location: Location,
    folder: TempDir,
}

impl Database {
    pub(crate) fn sqlite() -> Self {
        let folder = testkit::temp_dir().unwrap();
        let location = Location::parse(None, folder.path(), Environment::Sandbox, 1).unwrap();
        Self { location, folder }
    }

    pub(crate) fn postgres() -> Self {
        Self::postgres_with(CONNECTIONS)
    }

    pub(crate) fn postgres_with(connections: usize) -> Self {
        let folder = testkit::temp_dir().unwrap();
        let url = testkit::postgres::shared().create_database().unwrap();
        let location =
            Location::parse(Some(&url), folder.path(), Environment::Sandbox, connections).unwrap();
        Self { location, folder }
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.location).unwrap()
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.location, Location::Postgres { .. })
    }

    /// A folder that goes away with the database.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs SQL behind the back of the store and returns what it printed. PostgreSQL only.
    pub(crate) fn psql(&self, sql: &str) -> String {
        let Location::Postgres { url, .. } = &self.location else { panic!("not PostgreSQL") };
        testkit::postgres::shared().psql(url, sql).unwrap()
    }
}

/// A query that gives one number.
pub(crate) fn number(conn: &mut dyn Conn, text: &str) -> Result<i64> {
    let mut found = None;
    conn.query_text(text, &[], &mut |row| {
        found = row.int(0)?;
        Ok(())
    })?;
    Ok(found.expect("the query gives a number"))
}

/// How many rows a table has.
pub(crate) fn count(store: &Store, table: &str) -> i64 {
    let text = format!("SELECT COUNT(*) FROM {table}");
    store.read_blocking(move |conn| number(conn, &text)).unwrap()
}

/// Runs `work` on that many threads that start together, and returns what each gave.
pub(crate) fn together<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(threads);
    let (barrier, work) = (&barrier, &work);
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|index| {
                scope.spawn(move || {
                    barrier.wait();
                    work(index)
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    })
}

/// Tells other threads to stop, also when the thread that holds it panics.
pub(crate) struct Stop<'a>(pub(crate) &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

pub(crate) fn time(micros: i64) -> Timestamp {
    Timestamp::from_micros(1_790_000_000_000_000 + micros)
}

pub(crate) fn iso_id() -> IsoId {
    IsoId::new("iso_1")
}

pub(crate) fn iso() -> IsoRow {
    IsoRow {
        iso_id: iso_id(),
        name: "Ænglish & Søn \u{1f3a1} \"quoted\"\n".to_owned(),
        response_style: "plain".to_owned(),
        data_key: (0..=255).collect(),
        created: time(1),
    }
}

pub(crate) fn key(name: &str) -> ApiKeyRow {
    ApiKeyRow {
        iso_id: iso_id(),
        key_id: KeyId::new(name),
        hash: vec![0; 32],
        name: name.to_owned(),
        scopes: "merchants:write".to_owned(),
        created: time(2),
        expires: Some(time(3)),
        revoked: None,
        last_used: None,
        last_ip: Some("192.0.2.1".to_owned()),
        allowed_ips: "192.0.2.0/24".to_owned(),
        created_by: "system".to_owned(),
        warned_days: None,
    }
}

pub(crate) fn template(name: &str) -> TemplateRow {
    TemplateRow {
        iso_id: iso_id(),
        template_id: TemplateId::new(format!("tpl_{name}")),
        name: name.to_owned(),
        version: 3,
        parameters: r#"{"tip":true}"#.to_owned(),
        created: time(4),
        updated: time(4),
        retired: None,
    }
}

pub(crate) fn merchant(id: &str, dba: &str) -> MerchantRow {
    MerchantRow {
        iso_id: iso_id(),
        merchant_id: MerchantId::new(id),
        status: "active".to_owned(),
        status_reason: Some("it is".to_owned()),
        version: 1,
        dba: dba.to_owned(),
        dba_key: dba.to_lowercase(),
        zip: "08401".to_owned(),
        city: "Atlantic City".to_owned(),
        state: "NJ".to_owned(),
        ebt: Some("1234567".to_owned()),
        iso_agent_reference: None,
        iso_merchant: Some(String::new()),
        logo_url: None,
        external_reference: Some("ref 1".to_owned()),
        metadata: None,
        requirements: Some("[]".to_owned()),
        email_index: vec![1; 16],
        phone_index: vec![],
        sealed: vec![0, 255, 10, 34],
        created: time(5),
        updated: time(6),
    }
}

pub(crate) fn shop(id: &str, merchant_id: &str, dba: &str) -> StoreRow {
    StoreRow {
        iso_id: iso_id(),
        store_id: StoreId::new(id),
        merchant_id: MerchantId::new(merchant_id),
        status: "active".to_owned(),
        status_reason: Some("it is".to_owned()),
        version: 1,
        dba: dba.to_owned(),
        dba_key: dba.to_lowercase(),
        mcc: "5812".to_owned(),
        zip: "08401".to_owned(),
        city: "Atlantic City".to_owned(),
        state: "NJ".to_owned(),
        ebt: None,
        external_reference: None,
        metadata: Some(r#"{"a":"b"}"#.to_owned()),
        email_index: vec![3; 16],
        phone_index: vec![4; 16],
        sealed: vec![5; 100],
        created: time(7),
        updated: time(8),
    }
}

pub(crate) fn tpn(number: &str, merchant_id: &str, store_id: &str) -> TpnRow {
    TpnRow {
        iso_id: iso_id(),
        tpn: Tpn::new(number),
        merchant_id: MerchantId::new(merchant_id),
        store_id: Some(StoreId::new(store_id)),
        status: "active".to_owned(),
        status_reason: Some("it is".to_owned()),
        version: 1,
        device_manufacturer: "Acme".to_owned(),
        device_model: "P1".to_owned(),
        application_sign: "app".to_owned(),
        routing_type: "auto".to_owned(),
        default_label: Some("Front desk".to_owned()),
        template: Some((TemplateId::new("tpl_basic"), i64::MAX)),
        tpn_bin: None,
        processor: "first".to_owned(),
        parameters: Some("{}".to_owned()),
        external_reference: Some(String::new()),
        metadata: None,
        created: time(9),
        updated: time(10),
    }
}

pub(crate) fn profile(number: &str, profile_id: &str) -> ProfileRow {
    ProfileRow {
        iso_id: iso_id(),
        tpn: Tpn::new(number),
        profile_id: profile_id.to_owned(),
        processor: "first".to_owned(),
        status: "active".to_owned(),
        tpn_bin: Some("001".to_owned()),
        mid: Some("42".to_owned()),
        identifiers: r#"{"mid":"42"}"#.to_owned(),
        identity_index: vec![6; 16],
        sealed: vec![7; 64],
        created: time(11),
    }
}

pub(crate) fn user(login: &str) -> UserRow {
    UserRow {
        user_id: 0,
        login: login.to_owned(),
        email: format!("{login}@example.com"),
        password_hash: None,
        roles: vec![Role::ShopManager, Role::IsoAdmin],
        display_name: format!("{login} Displayed"),
        nicename: login.to_lowercase(),
        first_name: "First".to_owned(),
        last_name: "Løst".to_owned(),
        nickname: "Nick".to_owned(),
        description: "<b>\n".to_owned(),
        url: format!("https://{login}.example/"),
        locale: "en_US".to_owned(),
        registered: time(12),
        meta: r#"{"a":[1]}"#.to_owned(),
        iso_id: Some("iso_1".to_owned()),
        merchant_id: None,
        store_id: None,
    }
}

pub(crate) fn application_password(user_id: i64, uuid: &str) -> ApplicationPasswordRow {
    ApplicationPasswordRow {
        user_id,
        uuid: uuid.to_owned(),
        app_id: String::new(),
        name: format!("program {uuid}"),
        hash: vec![0, 255, 7],
        created: time(14),
        last_used: None,
        last_ip: None,
    }
}

pub(crate) fn consumer_key(user_id: i64, key_hash: &[u8]) -> ConsumerKeyRow {
    ConsumerKeyRow {
        key_id: 0,
        user_id,
        description: "till".to_owned(),
        permissions: "read_write".to_owned(),
        key_hash: key_hash.to_vec(),
        secret_sealed: vec![9; 40],
        truncated_key: "abcdef7".to_owned(),
        created: time(15),
        last_access: None,
    }
}

pub(crate) fn session(user_id: i64, token_hash: &[u8], expires: i64) -> SessionRow {
    SessionRow {
        token_hash: token_hash.to_vec(),
        user_id,
        created: time(16),
        expires: time(expires),
        ip: "::1".to_owned(),
        user_agent: "browser".to_owned(),
    }
}

pub(crate) fn post(slug: &str) -> PostRow {
    PostRow {
        post_id: 0,
        kind: "post".to_owned(),
        status: "publish".to_owned(),
        slug: slug.to_owned(),
        title: format!("Title {slug}"),
        content: "<p>Ünder the pier</p>".to_owned(),
        excerpt: "Short".to_owned(),
        author_id: 1,
        parent_id: 0,
        menu_order: -3,
        comment_status: "open".to_owned(),
        ping_status: "closed".to_owned(),
        template: "wide".to_owned(),
        format: "aside".to_owned(),
        sticky: true,
        password: "secret".to_owned(),
        featured_media: 7,
        date: time(20),
        date_gmt: None,
        modified: time(21),
        modified_gmt: time(22),
        trashed_status: Some("draft".to_owned()),
        trashed: Some(time(23)),
        meta: r#"{"a":null}"#.to_owned(),
    }
}

pub(crate) fn revision(post_id: i64, title: &str) -> RevisionRow {
    RevisionRow {
        revision_id: 0,
        post_id,
        author_id: 7,
        title: title.to_owned(),
        content: String::from("content"),
        excerpt: String::new(),
        date: time(3),
        date_gmt: time(2),
    }
}

pub(crate) fn term(taxonomy: &str, slug: &str) -> TermRow {
    TermRow {
        term_id: 0,
        taxonomy: taxonomy.to_owned(),
        name: slug.to_uppercase(),
        slug: slug.to_owned(),
        description: String::new(),
        parent_id: 0,
        menu_order: 0,
        details: "{}".to_owned(),
        count: 0,
    }
}

pub(crate) fn answer(key_hash: &[u8], expires: i64) -> StoredAnswer {
    StoredAnswer {
        iso_id: iso_id(),
        key_hash: key_hash.to_vec(),
        body_hash: vec![8; 32],
        status: 201,
        answer: r#"{"ok":true}"#.to_owned(),
        headers: r#"{"x-existing-merchant-id":"M1"}"#.to_owned(),
        created: time(0),
        expires: time(expires),
    }
}

pub(crate) fn event(object_id: &str, payload: &str) -> Event {
    Event {
        iso_id: Some(iso_id()),
        kind: "merchant.created",
        object_id: object_id.to_owned(),
        payload: payload.to_owned(),
        created: time(13),
    }
}
