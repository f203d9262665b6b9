//! A bundle: a whole site in one JSON file, its ids kept.
//!
//! Options and users are imported here; the other sections belong to the crates above, which import
//! theirs with [`import_sections`] in the same transaction. Importing the same bundle again changes
//! nothing but what differs; the same users keep their passwords and bindings. **A user of another
//! name under a number of the bundle stops the import**: credentials never change hands.

use std::collections::BTreeMap;

use contract::card_data;
use contract::walk::path_text;
use db::Conn;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use site_rows::user::{self, UserRow};
use types::{Error, Result, Role, Timestamp};
use vault::Vault;

use crate::{options, users};

/// Stands in a bundle for the site's own address, which the importing site knows better.
pub const ADDRESS_MARK: &str = "{{site}}";
const USERS: &str = "users";

/// The file. Sections that the crates above import are kept as they are; users among them, who are
/// customers, too.
#[derive(Clone, Debug, Deserialize)]
pub struct Bundle {
    #[serde(default)]
    options: Map<String, Value>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Deserialize)]
struct BundleUser {
    id: i64,
    username: String,
    email: String,
    roles: Vec<String>,
    registered: String,
    display_name: String,
    #[serde(default)]
    first_name: String,
    #[serde(default)]
    last_name: String,
    #[serde(default)]
    url: String,
}

/// What was imported, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    pub options: usize,
    pub users: usize,
    /// Sections of the file that this version does not import.
    pub left_out: Vec<String>,
    /// Options of the file that this site does not have.
    pub unknown_options: Vec<String>,
}

impl Bundle {
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |error| Error::invalid(format!("this is not a bundle: {error}"));
        let bundle: Self = serde_json::from_str(text).map_err(wrong)?;
        bundle.users().map_err(wrong)?;
        Ok(bundle)
    }

    /// Where the bundle has what looks like card data, such as `orders[3].customer_note`.
    pub fn card_data(&self) -> Vec<String> {
        let mut found = Vec::new();
        let others: Map<String, Value> = self.others.clone().into_iter().collect();
        for section in [&self.options, &others] {
            card_data::find(section, &mut |steps| found.push(path_text(steps)));
        }
        found
    }

    fn users(&self) -> serde_json::Result<Vec<BundleUser>> {
        self.others.get(USERS).map_or_else(|| Ok(Vec::new()), Vec::deserialize)
    }

    /// Imports the options and the users.
    pub fn import(&self, conn: &mut dyn Conn, vault: &Vault) -> Result<Totals> {
        let mut totals = Totals { left_out: self.left_out(), ..Totals::default() };
        self.import_options(conn, vault, &mut totals)?;
        let users = self.users().map_err(|error| Error::invalid(error.to_string()))?;
        for user in &users {
            user.import(conn).map_err(|error| at(error, "user", user.id))?;
            totals.users += 1;
        }
        Ok(totals)
    }

    /// The sections that the crates above import.
    pub fn others(&self) -> &BTreeMap<String, Value> {
        &self.others
    }

    fn left_out(&self) -> Vec<String> {
        let filled = |value: &Value| match value {
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            _ => false,
        };
        let unknown = self.others.iter().filter(|(name, _)| *name != USERS);
        let names = unknown.filter(|(_, value)| filled(value)).map(|(name, _)| name);
        names.cloned().collect()
    }

    fn import_options(
        &self,
        conn: &mut dyn Conn,
        vault: &Vault,
        totals: &mut Totals,
    ) -> Result<()> {
        for (name, value) in &self.options {
            let is_address = value.as_str().is_some_and(|text| text.contains(ADDRESS_MARK));
            if options::definition(name).is_none() {
                totals.unknown_options.push(name.clone());
            } else if !value.is_null() && !is_address {
                options::secrets::change(conn, vault, name, value)?;
                totals.options += 1;
            }
        }
        Ok(())
    }
}

/// Says at which record of the bundle an error happened.
pub fn at(error: Error, what: &str, id: i64) -> Error {
    let message = format!("{what} {id} of the bundle: {error}");
    Error::new(error.kind(), message).because(error)
}

/// A moment as bundles write it.
pub fn time(text: &str) -> Result<Timestamp> {
    let wrong =
        || Error::invalid(format!("`{text}` is not a time; use a format like 2026-11-15T08:00:00"));
    Timestamp::parse(&format!("{}Z", text.trim_end_matches('Z'))).ok_or_else(wrong)
}

impl BundleUser {
    fn import(&self, conn: &mut dyn Conn) -> Result<()> {
        let roles: std::result::Result<Vec<Role>, _> =
            self.roles.iter().map(|name| name.parse()).collect();
        let known = user::get(conn, self.id)?;
        // Whoever has the number here has credentials that must not become somebody else's.
        if let Some(other) = known.as_ref().filter(|known| known.login != self.username) {
            return Err(Error::conflict(format!(
                "this id belongs to {} here, and to {} in the bundle; import into a site \
                 without users",
                other.login, self.username
            )));
        }
        let nicename = if let Some(known) = &known {
            known.nicename.clone()
        } else {
            let wanted = users::names::slug_of_login(&self.username);
            user::free_nicename(conn, &wanted, self.id)?
        };
        let is_new = known.is_none();
        let before = known.unwrap_or_else(|| UserRow {
            meta: String::from("{}"),
            nickname: self.username.clone(),
            ..UserRow::default()
        });
        let row = UserRow {
            user_id: self.id,
            login: self.username.clone(),
            email: self.email.clone(),
            roles: roles.map_err(Error::invalid)?,
            display_name: self.display_name.clone(),
            nicename,
            first_name: self.first_name.clone(),
            last_name: self.last_name.clone(),
            url: self.url.replace(ADDRESS_MARK, ""),
            registered: time(&self.registered)?,
            ..before
        };
        if is_new { user::insert_with_id(conn, &row) } else { user::update(conn, &row).map(drop) }
    }
}

/// Imports one section and says how many records it had.
pub type ImportSection = fn(&mut dyn Conn, &Value) -> Result<usize>;

/// Imports those of the sections that the bundle has, in the order of the list, and says how many
/// records each had.
pub fn import_sections(
    conn: &mut dyn Conn,
    known: &[(&'static str, ImportSection)],
    sections: &BTreeMap<String, Value>,
) -> Result<BTreeMap<&'static str, usize>> {
    let mut totals = BTreeMap::new();
    for (name, import) in known {
        let Some(section) = sections.get(*name) else { continue };
        let count = import(conn, section).map_err(|error| {
            let message = format!("the section {name} of the bundle: {error}");
            Error::new(error.kind(), message).because(error)
        })?;
        totals.insert(*name, count);
    }
    Ok(totals)
}

/// The records of a section.
pub fn records<T: DeserializeOwned>(section: &Value) -> Result<Vec<T>> {
    let list = section.as_array().ok_or_else(|| Error::invalid("it must be a list"))?;
    let read = |(index, record): (usize, &Value)| {
        T::deserialize(record)
            .map_err(|error| Error::invalid(format!("record {}: {error}", index + 1)))
    };
    list.iter().enumerate().map(read).collect()
}
