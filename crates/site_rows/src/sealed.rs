//! Every place in which something sealed is kept, so that it can be sealed again under another data
//! key: one table for all crates, since a place that is forgotten is lost with its key. **A test
//! holds it against the columns of the migrations.** What is sealed for hours or days only is not
//! here; see [`SHORT_LIVED`].

use db::{Conn, Row, SITE, Sql, Val, statements};
use types::Result;

/// Whose data key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Iso,
    Site,
}

/// How the value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The column is the value.
    Bytes,
    /// A past version of a record: JSON with the value in hex, in its member `sealed`.
    RecordJson,
    /// An option: JSON with the value in base64, in its one member `sealed`.
    OptionJson,
    /// A JSON object whose members may be values like those of options, each by its own name.
    SettingsJson,
}

/// Which columns tell a row from the others of its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Text,
    Texts,
    TextAndNumber,
    Number,
    /// A number, and bytes that name the value's place.
    NumberAndHash,
}

/// A place, and how a value in it is authenticated.
#[derive(Debug)]
pub struct Place {
    /// Table and column.
    pub name: &'static str,
    pub owner: Owner,
    pub form: Form,
    /// Kind and column of what the value is authenticated with.
    pub kind: &'static str,
    pub column: &'static str,
    key: Key,
    page: &'static Sql,
    put: &'static Sql,
}

/// Where a walk through a place is: behind the row with this key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub first: String,
    pub second: String,
    pub number: i64,
}

/// A value as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Bytes(Vec<u8>),
    Text(String),
}

impl Content {
    fn param(&self) -> Val<'_> {
        match self {
            Self::Bytes(bytes) => Val::Bytes(bytes),
            Self::Text(text) => Val::Text(text),
        }
    }
}

/// A row with something sealed in it.
#[derive(Clone, Debug)]
pub struct Found {
    pub at: Position,
    /// Names the value's place, where the key does not.
    pub hash: Vec<u8>,
    pub content: Content,
}

macro_rules! by_text {
    ($table:literal, $owner:literal, $key:literal, $column:literal) => {
        concat!(
            "SELECT ",
            $key,
            ", ",
            $column,
            " FROM ",
            $table,
            " WHERE ",
            $owner,
            " = $1 AND ",
            $key,
            " > $2 AND ",
            $column,
            " IS NOT NULL ORDER BY ",
            $key,
            " LIMIT $3"
        )
    };
}

macro_rules! put_by_one {
    ($table:literal, $owner:literal, $key:literal, $column:literal) => {
        concat!(
            "UPDATE ",
            $table,
            " SET ",
            $column,
            " = $1 WHERE ",
            $owner,
            " = $2 AND ",
            $key,
            " = $3 AND ",
            $column,
            " = $4"
        )
    };
}

macro_rules! by_two {
    ($table:literal, $owner:literal, $first:literal, $second:literal, $column:literal) => {
        concat!(
            "SELECT ",
            $first,
            ", ",
            $second,
            ", ",
            $column,
            " FROM ",
            $table,
            " WHERE ",
            $owner,
            " = $1 AND (",
            $first,
            ", ",
            $second,
            ") > ($2, $3) ORDER BY ",
            $first,
            ", ",
            $second,
            " LIMIT $4"
        )
    };
}

macro_rules! put_by_two {
    ($table:literal, $owner:literal, $first:literal, $second:literal, $column:literal) => {
        concat!(
            "UPDATE ",
            $table,
            " SET ",
            $column,
            " = $1 WHERE ",
            $owner,
            " = $2 AND ",
            $first,
            " = $3 AND ",
            $second,
            " = $4 AND ",
            $column,
            " = $5"
        )
    };
}

statements! {
    SEALED_MERCHANTS = by_text!("merchants", "iso_id", "merchant_id", "sealed");
    SEALED_MERCHANT_PUT = put_by_one!("merchants", "iso_id", "merchant_id", "sealed");
    SEALED_STORES = by_text!("stores", "iso_id", "store_id", "sealed");
    SEALED_STORE_PUT = put_by_one!("stores", "iso_id", "store_id", "sealed");
    SEALED_PROFILES = by_two!("profiles", "iso_id", "tpn", "profile_id", "sealed");
    SEALED_PROFILE_PUT = put_by_two!("profiles", "iso_id", "tpn", "profile_id", "sealed");
    SEALED_MERCHANT_VERSIONS =
        "SELECT object_id, version, record FROM object_versions
         WHERE iso_id = $1 AND object = 'merchant' AND (object_id, version) > ($2, $3)
         ORDER BY object_id, version LIMIT $4";
    SEALED_MERCHANT_VERSION_PUT =
        "UPDATE object_versions SET record = $1
         WHERE iso_id = $2 AND object = 'merchant' AND object_id = $3 AND version = $4
           AND record = $5";
    SEALED_STORE_VERSIONS =
        "SELECT object_id, version, record FROM object_versions
         WHERE iso_id = $1 AND object = 'store' AND (object_id, version) > ($2, $3)
         ORDER BY object_id, version LIMIT $4";
    SEALED_STORE_VERSION_PUT =
        "UPDATE object_versions SET record = $1
         WHERE iso_id = $2 AND object = 'store' AND object_id = $3 AND version = $4
           AND record = $5";
    SEALED_ENDPOINT_HEADERS =
        by_text!("webhook_endpoints", "iso_id", "webhook_id", "headers_sealed");
    SEALED_ENDPOINT_HEADERS_PUT =
        put_by_one!("webhook_endpoints", "iso_id", "webhook_id", "headers_sealed");
    SEALED_ENDPOINT_SECRETS =
        by_text!("webhook_endpoints", "iso_id", "webhook_id", "secret_sealed");
    SEALED_ENDPOINT_SECRET_PUT =
        put_by_one!("webhook_endpoints", "iso_id", "webhook_id", "secret_sealed");
    SEALED_ENDPOINT_OLD_SECRETS =
        by_text!("webhook_endpoints", "iso_id", "webhook_id", "old_secret_sealed");
    SEALED_ENDPOINT_OLD_SECRET_PUT =
        put_by_one!("webhook_endpoints", "iso_id", "webhook_id", "old_secret_sealed");
    SEALED_CONNECTION_KEYS = by_text!("connections", "iso_id", "connection_id", "key_sealed");
    SEALED_CONNECTION_KEY_PUT =
        put_by_one!("connections", "iso_id", "connection_id", "key_sealed");
    SEALED_CONNECTION_ACCESS = by_text!("connections", "iso_id", "connection_id", "access_sealed");
    SEALED_CONNECTION_ACCESS_PUT =
        put_by_one!("connections", "iso_id", "connection_id", "access_sealed");
    SEALED_CONTACTS = by_text!("iso_accounts", "iso_id", "iso_id", "contact_sealed");
    SEALED_CONTACT_PUT = put_by_one!("iso_accounts", "iso_id", "iso_id", "contact_sealed");
    SEALED_INVITATIONS = by_text!("iso_invitations", "iso_id", "invitation_id", "sealed");
    SEALED_INVITATION_PUT = put_by_one!("iso_invitations", "iso_id", "invitation_id", "sealed");
    SEALED_LINKS = by_text!("onboarding_links", "iso_id", "link_id", "sealed");
    SEALED_LINK_PUT = put_by_one!("onboarding_links", "iso_id", "link_id", "sealed");
    SEALED_FACTORS = by_text!("second_factors", "site_id", "user_id", "sealed");
    SEALED_FACTOR_PUT = put_by_one!("second_factors", "site_id", "user_id", "sealed");
    SEALED_CONSUMER_SECRETS =
        "SELECT key_id, key_hash, secret_sealed FROM consumer_keys
         WHERE site_id = $1 AND key_id > $2 ORDER BY key_id LIMIT $3";
    SEALED_CONSUMER_SECRET_PUT = put_by_one!("consumer_keys", "site_id", "key_id", "secret_sealed");
    SEALED_HOOK_SECRETS = by_text!("webhooks", "site_id", "webhook_id", "secret_sealed");
    SEALED_HOOK_SECRET_PUT = put_by_one!("webhooks", "site_id", "webhook_id", "secret_sealed");
    SEALED_SERVICE_TOKENS = by_text!("service_connections", "site_id", "service", "token_sealed");
    SEALED_SERVICE_TOKEN_PUT =
        put_by_one!("service_connections", "site_id", "service", "token_sealed");
    SEALED_OPTION_VALUES = by_text!("options", "site_id", "name", "value");
    SEALED_OPTION_PUT = put_by_one!("options", "site_id", "name", "value");
    SEALED_PACKAGE_SETTINGS = by_two!("packages", "site_id", "kind", "slug", "settings");
    SEALED_PACKAGE_PUT = put_by_two!("packages", "site_id", "kind", "slug", "settings");
}

const fn of_iso(
    name: &'static str,
    (kind, column): (&'static str, &'static str),
    (page, put): (&'static Sql, &'static Sql),
) -> Place {
    Place { name, owner: Owner::Iso, form: Form::Bytes, kind, column, key: Key::Text, page, put }
}

const fn of_site(
    name: &'static str,
    (kind, column): (&'static str, &'static str),
    (page, put): (&'static Sql, &'static Sql),
) -> Place {
    Place { owner: Owner::Site, ..of_iso(name, (kind, column), (page, put)) }
}

/// All of them. The order is that of the walk, and may be changed only when none is under way.
pub const PLACES: &[Place] = &[
    of_iso("merchants.sealed", ("merchant", "sealed"), (&SEALED_MERCHANTS, &SEALED_MERCHANT_PUT)),
    of_iso("stores.sealed", ("store", "sealed"), (&SEALED_STORES, &SEALED_STORE_PUT)),
    Place {
        key: Key::Texts,
        ..of_iso("profiles.sealed", ("profile", "sealed"), (&SEALED_PROFILES, &SEALED_PROFILE_PUT))
    },
    Place {
        key: Key::TextAndNumber,
        form: Form::RecordJson,
        ..of_iso(
            "object_versions.record of merchants",
            ("merchant", "sealed"),
            (&SEALED_MERCHANT_VERSIONS, &SEALED_MERCHANT_VERSION_PUT),
        )
    },
    Place {
        key: Key::TextAndNumber,
        form: Form::RecordJson,
        ..of_iso(
            "object_versions.record of stores",
            ("store", "sealed"),
            (&SEALED_STORE_VERSIONS, &SEALED_STORE_VERSION_PUT),
        )
    },
    of_iso(
        "webhook_endpoints.headers_sealed",
        ("webhook_endpoint", "headers"),
        (&SEALED_ENDPOINT_HEADERS, &SEALED_ENDPOINT_HEADERS_PUT),
    ),
    of_iso(
        "webhook_endpoints.secret_sealed",
        ("webhook_endpoint", "secret"),
        (&SEALED_ENDPOINT_SECRETS, &SEALED_ENDPOINT_SECRET_PUT),
    ),
    of_iso(
        "webhook_endpoints.old_secret_sealed",
        ("webhook_endpoint", "secret"),
        (&SEALED_ENDPOINT_OLD_SECRETS, &SEALED_ENDPOINT_OLD_SECRET_PUT),
    ),
    of_iso(
        "iso_accounts.contact_sealed",
        ("iso", "contact_sealed"),
        (&SEALED_CONTACTS, &SEALED_CONTACT_PUT),
    ),
    of_iso(
        "iso_invitations.sealed",
        ("iso_invitation", "sealed"),
        (&SEALED_INVITATIONS, &SEALED_INVITATION_PUT),
    ),
    of_iso(
        "onboarding_links.sealed",
        ("onboarding_link", "sealed"),
        (&SEALED_LINKS, &SEALED_LINK_PUT),
    ),
    of_iso(
        "connections.key_sealed",
        ("connection", "key"),
        (&SEALED_CONNECTION_KEYS, &SEALED_CONNECTION_KEY_PUT),
    ),
    of_iso(
        "connections.access_sealed",
        ("connection", "access"),
        (&SEALED_CONNECTION_ACCESS, &SEALED_CONNECTION_ACCESS_PUT),
    ),
    Place {
        key: Key::Number,
        ..of_site(
            "second_factors.sealed",
            ("second_factor", "sealed"),
            (&SEALED_FACTORS, &SEALED_FACTOR_PUT),
        )
    },
    Place {
        key: Key::NumberAndHash,
        ..of_site(
            "consumer_keys.secret_sealed",
            ("consumer_key", "secret"),
            (&SEALED_CONSUMER_SECRETS, &SEALED_CONSUMER_SECRET_PUT),
        )
    },
    Place {
        key: Key::Number,
        ..of_site(
            "webhooks.secret_sealed",
            ("webhook", "secret"),
            (&SEALED_HOOK_SECRETS, &SEALED_HOOK_SECRET_PUT),
        )
    },
    of_site(
        "service_connections.token_sealed",
        ("service_connection", "token"),
        (&SEALED_SERVICE_TOKENS, &SEALED_SERVICE_TOKEN_PUT),
    ),
    Place {
        form: Form::OptionJson,
        ..of_site("options.value", ("option", "value"), (&SEALED_OPTION_VALUES, &SEALED_OPTION_PUT))
    },
    Place {
        key: Key::Texts,
        form: Form::SettingsJson,
        ..of_site(
            "packages.settings",
            ("plugin_setting", ""),
            (&SEALED_PACKAGE_SETTINGS, &SEALED_PACKAGE_PUT),
        )
    },
];

/// Sealed, and forgotten by themselves before long: unconfirmed registrations, rows of uploads that
/// are worked on, e-mail that waits, and proofs that somebody was sent to another service. Old
/// versions of a data key stay, so they open until then.
pub const SHORT_LIVED: &[&str] = &[
    "iso_registrations.sealed",
    "bulk_chunks.sealed",
    "background_jobs.arguments",
    "login_tokens.detail",
];

/// The rows of an owner behind a position, in order. The owner is an ISO's id, or nothing for the
/// site.
pub fn page(
    conn: &mut dyn Conn,
    place: &Place,
    owner: Option<&str>,
    after: &Position,
    limit: i64,
) -> Result<Vec<Found>> {
    let owner = owner_value(owner);
    let (first, second) = (Val::Text(&after.first), Val::Text(&after.second));
    let number = Val::Int(after.number);
    let params = match place.key {
        Key::Text => vec![owner, first, limit.into()],
        Key::Texts => vec![owner, first, second, limit.into()],
        Key::TextAndNumber => vec![owner, first, number, limit.into()],
        Key::Number | Key::NumberAndHash => vec![owner, number, limit.into()],
    };
    let mut found = Vec::new();
    conn.query(place.page, &params, &mut |row| {
        found.push(read(place, row)?);
        Ok(())
    })?;
    Ok(found)
}

fn read(place: &Place, row: &dyn Row) -> Result<Found> {
    let (mut at, mut hash) = (Position::default(), Vec::new());
    let content = match place.key {
        Key::Text => {
            at.first = row.get(0)?;
            1
        }
        Key::Texts => {
            (at.first, at.second) = (row.get(0)?, row.get(1)?);
            2
        }
        Key::TextAndNumber => {
            (at.first, at.number) = (row.get(0)?, row.get(1)?);
            2
        }
        Key::Number => {
            at.number = row.get(0)?;
            1
        }
        Key::NumberAndHash => {
            (at.number, hash) = (row.get(0)?, row.get(1)?);
            2
        }
    };
    let content = match place.form {
        Form::Bytes => Content::Bytes(row.get(content)?),
        Form::RecordJson | Form::OptionJson | Form::SettingsJson => {
            Content::Text(row.get(content)?)
        }
    };
    Ok(Found { at, hash, content })
}

/// Puts another value into a row, if it still holds the one that was found.
pub fn put(
    conn: &mut dyn Conn,
    place: &Place,
    owner: Option<&str>,
    found: &Found,
    value: &Content,
) -> Result<bool> {
    let (new, old, owner) = (value.param(), found.content.param(), owner_value(owner));
    let Position { first, second, number } = &found.at;
    let params = match place.key {
        Key::Text => vec![new, owner, first.into(), old],
        Key::Texts => vec![new, owner, first.into(), second.into(), old],
        Key::TextAndNumber => vec![new, owner, first.into(), (*number).into(), old],
        Key::Number | Key::NumberAndHash => vec![new, owner, (*number).into(), old],
    };
    let is_put = conn.execute(place.put, &params)? > 0;
    if is_put && place.form == Form::OptionJson {
        crate::option::touch(conn)?;
    }
    Ok(is_put)
}

fn owner_value(owner: Option<&str>) -> Val<'_> {
    owner.map_or(SITE.into(), Val::Text)
}
