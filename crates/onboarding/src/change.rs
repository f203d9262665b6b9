//! The one way in which an object changes after the first call.
//!
//! [`record_change`] writes the new row, keeps the old one as a version, and appends the event and
//! the entry of the audit log, all **in the transaction of the change**.

use contract::Answer;
use db::outbox::Event;
use db::{Conn, outbox};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use types::{Error, IsoId, MerchantId, Result, StoreId, Timestamp, Tpn};

use crate::audit::{self, Entry};
use crate::caller::Caller;
use crate::codes::refusal;
use crate::fields::StatusReason;
use crate::lifecycle::{self, Machine};
use crate::perform::Outcome;
use crate::rows::history::PastVersion;
use crate::rows::merchant::{MerchantRow, StoreRow};
use crate::rows::sale::SaleRow;
use crate::rows::tpn::{ProfileRow, TpnRow};
use crate::rows::{history, merchant, rollout, sale, tpn};
use crate::{Code, Cx, text};

/// An object with versions.
pub(crate) trait Record: Clone + Serialize + DeserializeOwned {
    const MACHINE: &'static Machine;

    fn load(conn: &mut dyn Conn, iso_id: &IsoId, id: &str) -> Result<Option<Self>>;
    /// Stores what differs from `before`.
    fn store(&self, conn: &mut dyn Conn, before: &Self) -> Result<()>;
    fn iso_id(&self) -> &IsoId;
    fn id(&self) -> &str;
    fn merchant_id(&self) -> &MerchantId;
    fn store_id(&self) -> Option<&StoreId>;
    fn tpn(&self) -> Option<&Tpn>;
    fn status(&self) -> &str;
    fn set_status(&mut self, status: &str, reason: Option<String>);
    fn version(&self) -> i64;
    fn updated(&self) -> Timestamp;
    fn advance(&mut self, now: Timestamp);
}

/// A TPN with its profiles, which change with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
pub(crate) struct TpnRecord {
    pub(crate) row: TpnRow,
    pub(crate) profiles: Vec<ProfileRow>,
}

/// The members that all three rows share.
macro_rules! record_members {
    ($($row:ident)?) => {
        fn iso_id(&self) -> &IsoId {
            &self$(.$row)?.iso_id
        }

        fn merchant_id(&self) -> &MerchantId {
            &self$(.$row)?.merchant_id
        }

        fn status(&self) -> &str {
            &self$(.$row)?.status
        }

        fn set_status(&mut self, status: &str, reason: Option<String>) {
            status.clone_into(&mut self$(.$row)?.status);
            self$(.$row)?.status_reason = reason;
        }

        fn version(&self) -> i64 {
            self$(.$row)?.version
        }

        fn updated(&self) -> Timestamp {
            self$(.$row)?.updated
        }

        fn advance(&mut self, now: Timestamp) {
            self$(.$row)?.version += 1;
            // Versions follow each other in time, even if the clock was set back.
            self$(.$row)?.updated = now.max(self$(.$row)?.updated);
        }
    };
}

impl Record for MerchantRow {
    const MACHINE: &'static Machine = &lifecycle::MERCHANT;

    record_members!();

    fn load(conn: &mut dyn Conn, iso_id: &IsoId, id: &str) -> Result<Option<Self>> {
        merchant::get(conn, iso_id, &MerchantId::new(id))
    }

    fn store(&self, conn: &mut dyn Conn, _before: &Self) -> Result<()> {
        merchant::update(conn, self)
    }

    fn id(&self) -> &str {
        self.merchant_id.as_str()
    }

    fn store_id(&self) -> Option<&StoreId> {
        None
    }

    fn tpn(&self) -> Option<&Tpn> {
        None
    }
}

impl Record for StoreRow {
    const MACHINE: &'static Machine = &lifecycle::STORE;

    record_members!();

    fn load(conn: &mut dyn Conn, iso_id: &IsoId, id: &str) -> Result<Option<Self>> {
        merchant::store_get(conn, iso_id, &StoreId::new(id))
    }

    fn store(&self, conn: &mut dyn Conn, _before: &Self) -> Result<()> {
        merchant::store_update(conn, self)
    }

    fn id(&self) -> &str {
        self.store_id.as_str()
    }

    fn store_id(&self) -> Option<&StoreId> {
        Some(&self.store_id)
    }

    fn tpn(&self) -> Option<&Tpn> {
        None
    }
}

impl Record for SaleRow {
    const MACHINE: &'static Machine = &lifecycle::SALE;

    record_members!();

    fn load(conn: &mut dyn Conn, iso_id: &IsoId, id: &str) -> Result<Option<Self>> {
        sale::get(conn, iso_id, id)
    }

    fn store(&self, conn: &mut dyn Conn, _before: &Self) -> Result<()> {
        sale::update(conn, self)
    }

    fn id(&self) -> &str {
        &self.sale_id
    }

    fn store_id(&self) -> Option<&StoreId> {
        self.store_id.as_ref()
    }

    fn tpn(&self) -> Option<&Tpn> {
        Some(&self.tpn)
    }
}

impl Record for TpnRecord {
    const MACHINE: &'static Machine = &lifecycle::TPN;

    record_members!(row);

    fn load(conn: &mut dyn Conn, iso_id: &IsoId, id: &str) -> Result<Option<Self>> {
        let Some(row) = tpn::get(conn, iso_id, &Tpn::new(id))? else { return Ok(None) };
        Self::of_row(conn, row).map(Some)
    }

    fn store(&self, conn: &mut dyn Conn, before: &Self) -> Result<()> {
        tpn::update(conn, &self.row)?;
        if self.row.template != before.row.template || !tpn::is_in_use(&self.row) {
            rollout::replace(conn, &self.row.iso_id, &self.row.tpn, self.row.updated)?;
        }
        let changed = self.profiles.iter().filter(|profile| !before.profiles.contains(profile));
        changed.into_iter().try_for_each(|profile| tpn::profile_put(conn, profile))
    }

    fn id(&self) -> &str {
        self.row.tpn.as_str()
    }

    fn store_id(&self) -> Option<&StoreId> {
        self.row.store_id.as_ref()
    }

    fn tpn(&self) -> Option<&Tpn> {
        Some(&self.row.tpn)
    }
}

impl TpnRecord {
    pub(crate) fn of_row(conn: &mut dyn Conn, row: TpnRow) -> Result<Self> {
        let profiles = tpn::profile_list(conn, &row.iso_id, &row.tpn)?;
        Ok(Self { row, profiles })
    }
}

pub(crate) fn object_not_found() -> Error {
    Error::not_found("Not found.")
}

/// The object of that id. What is no id at all is not looked up; PostgreSQL does not even take
/// every text.
pub(crate) fn load<R: Record>(conn: &mut dyn Conn, iso_id: &IsoId, id: &str) -> Result<R> {
    let found = if text::is_alphanumeric(id) { R::load(conn, iso_id, id)? } else { None };
    found.ok_or_else(object_not_found)
}

/// The object as it was at a time; as it is if no time is given.
pub(crate) fn load_as_of<R: Record>(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    id: &str,
    at: Option<Timestamp>,
) -> Result<R> {
    let newest: R = load(conn, iso_id, id)?;
    let Some(at) = at.filter(|at| *at < newest.updated()) else { return Ok(newest) };
    let record = history::as_of(conn, iso_id, R::MACHINE.object, id, at)?;
    read_version(&record.ok_or_else(object_not_found)?)
}

/// The object as it was in a version; none if that is not kept.
pub(crate) fn load_version<R: Record>(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    id: &str,
    version: i64,
) -> Result<Option<R>> {
    if let Some(newest) = R::load(conn, iso_id, id)?.filter(|row| row.version() == version) {
        return Ok(Some(newest));
    }
    let record = history::version(conn, iso_id, (R::MACHINE.object, id), version)?;
    record.map(|record| read_version(&record)).transpose()
}

fn read_version<R: Record>(record: &str) -> Result<R> {
    serde_json::from_str(record)
        .map_err(|error| Error::internal("cannot read an earlier version").because(error))
}

/// What somebody does to an object, and who.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    /// What is done, such as `suspend`.
    pub(crate) name: &'static str,
    pub(crate) reason: Option<String>,
    /// The fields that change beside the status, by their published names.
    pub(crate) changed: Vec<&'static str>,
    pub(crate) now: Timestamp,
    /// What the audit log says of whoever does it.
    author: Entry,
}

impl Action {
    /// What the caller of a request does.
    pub(crate) fn of(cx: &Cx, name: &'static str) -> Result<Self> {
        let author = cx.entry(name, "", "")?;
        Ok(Self { name, reason: None, changed: Vec::new(), now: cx.now, author })
    }

    /// What the server does by itself, or the operator from the command line.
    pub(crate) fn by_system(iso_id: &IsoId, name: &'static str, now: Timestamp) -> Self {
        let author = Entry::by_system(Some(iso_id), now, name, "", "");
        Self { name, reason: None, changed: Vec::new(), now, author }
    }

    /// Something else that follows from it.
    pub(crate) fn then(&self, name: &'static str, changed: &[&'static str]) -> Self {
        Self { name, reason: None, changed: changed.to_vec(), ..self.clone() }
    }

    pub(crate) fn because(self, reason: Option<StatusReason>) -> Self {
        Self { reason: reason.map(StatusReason::into_string), ..self }
    }
}

/// Writes the change of an object with everything that belongs to it: the row, the version that it
/// was, the event and the entry in the audit log. Returns the new version.
pub(crate) fn record_change<R: Record>(
    conn: &mut dyn Conn,
    before: &R,
    mut after: R,
    event: &'static str,
    action: &Action,
) -> Result<R> {
    let record = serde_json::to_string(before)
        .map_err(|error| Error::internal("cannot serialize a row").because(error))?;
    let past = PastVersion {
        iso_id: before.iso_id(),
        object: R::MACHINE.object,
        object_id: before.id(),
        version: before.version(),
        from: before.updated(),
        record,
    };
    history::keep(conn, &past)?;
    after.advance(action.now);
    after.store(conn, before)?;
    outbox::append(
        conn,
        &self::event(&after, event, &changes(before, &after, action), action.now),
    )?;
    let mut entry =
        audit_entry(before, action).versions(Some(before.version()), Some(after.version()));
    for field in &action.changed {
        entry = entry.changed_unseen(field);
    }
    if before.status() != after.status() {
        entry = entry.changed("status", before.status(), after.status());
    }
    audit::append(conn, &entry)?;
    Ok(after)
}

fn changes<R: Record>(before: &R, after: &R, action: &Action) -> Vec<&'static str> {
    let status = (before.status() != after.status()).then_some("status");
    status.into_iter().chain(action.changed.iter().copied()).collect()
}

fn audit_entry<R: Record>(record: &R, action: &Action) -> Entry {
    let object = R::MACHINE.object;
    let entry = action.author.about(&format!("{object}.{}", action.name), object, record.id());
    match &action.reason {
        Some(reason) => entry.because(reason),
        None => entry,
    }
}

/// Tells of something that happened to the object and left its version as it is.
pub(crate) fn announce<R: Record>(
    conn: &mut dyn Conn,
    record: &R,
    event: &'static str,
    action: &Action,
) -> Result<()> {
    outbox::append(conn, &self::event(record, event, &action.changed, action.now))?;
    audit::append(conn, &audit_entry(record, action))
}

/// The thin body of an event: ids, state and version, never personal data.
pub(crate) fn event<R: Record>(
    record: &R,
    kind: &'static str,
    changed: &[&str],
    now: Timestamp,
) -> Event {
    let mut data = json!({
        "object": R::MACHINE.object, "id": record.id(), "merchantId": record.merchant_id(),
    });
    if let Value::Object(members) = &mut data {
        members.extend(record.store_id().map(|id| ("storeId".to_owned(), json!(id))));
        members.extend(record.tpn().map(|tpn| ("tpn".to_owned(), json!(tpn))));
        members.insert("status".into(), json!(record.status()));
        members.insert("version".into(), json!(record.version()));
        members.insert("changed".into(), json!(changed));
    }
    Event {
        iso_id: Some(record.iso_id().clone()),
        kind,
        object_id: record.id().to_owned(),
        payload: data.to_string(),
        created: now,
    }
}

/// A record that has a view.
pub(crate) trait Viewed: Record {
    type View: Serialize;

    fn view(self, conn: &mut dyn Conn, caller: &Caller) -> Result<Self::View>;

    /// The view with its tag.
    fn answer(self, conn: &mut dyn Conn, caller: &Caller) -> Result<Answer<Self::View>> {
        let version = self.version();
        Ok(tagged(version, self.view(conn, caller)?))
    }
}

/// Reads a column that holds a JSON object.
pub(crate) fn json_object(text: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(text)
        .map_err(|error| Error::internal("a stored JSON object cannot be read").because(error))
}

/// An answer with its tag: the version, and a short hash of what the answer says beside.
pub(crate) fn tagged<T: Serialize>(version: i64, body: T) -> Answer<T> {
    let text = serde_json::to_vec(&body).unwrap_or_default();
    let hash = blake3::hash(&text).to_hex();
    let tag = format!("\"{version}-{}\"", hash.get(..TAG_HASH_LENGTH).unwrap_or_default());
    Answer::new(body).header("etag", tag)
}

const TAG_HASH_LENGTH: usize = 12;

/// The version that a change is based on: `expectedVersion`, else that of the `If-Match` header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis(Option<i64>);

impl Basis {
    /// For the command line, whose user sees what there is.
    pub(crate) const ANY: Self = Self(None);

    /// A header that is no tag of ours matches no version.
    pub(crate) fn of(cx: &Cx, expected_version: Option<i64>) -> Self {
        let in_tag = |tag: &str| {
            let version = tag.trim().trim_start_matches("W/").trim_matches('"');
            version.split('-').next().and_then(|digits| digits.parse().ok()).unwrap_or(i64::MIN)
        };
        Self(expected_version.or_else(|| cx.request_options.if_match.as_deref().map(in_tag)))
    }

    /// For changes that must name their basis.
    pub(crate) fn check(self, version: i64) -> Outcome<()> {
        if self.0.is_none() {
            let message = "Send If-Match with the ETag, or expectedVersion.";
            return Err(refusal("expectedVersion", Code::VersionMissing, message));
        }
        self.check_given(version)
    }

    /// For changes that may name their basis.
    pub(crate) fn check_given(self, version: i64) -> Outcome<()> {
        if self.0.is_none_or(|expected| expected == version) {
            return Ok(());
        }
        let message =
            format!("The object was changed: its version is now {version}. Read it again.");
        Err(refusal("expectedVersion", Code::VersionMismatch, message))
    }
}
