//! A customer as it is stored: the user, and beside it the addresses and free data.

use db::Conn;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use shop_rows::customer::{self, CustomerRow};
use site_rows::user::UserRow;
use types::{Error, Result, Timestamp};

const MICROS: i64 = 1_000_000;
/// The entry of `meta_data` that says when the customer was here last, in seconds since 1970.
pub(super) const LAST_ACTIVE: &str = "wc_last_active";

#[derive(Clone, Debug, PartialEq)]
pub struct Customer {
    pub user: UserRow,
    pub row: CustomerRow,
    pub billing: Map<String, Value>,
    pub shipping: Map<String, Value>,
    pub details: Details,
}

/// What nobody searches for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// When the customer was changed last, in microseconds since 1970.
    pub modified_us: Option<i64>,
    pub meta_data: Vec<Value>,
}

impl Customer {
    /// The user as somebody who never bought anything.
    pub fn new(user: UserRow) -> Self {
        let row = CustomerRow::empty(user.user_id);
        let (billing, shipping) = (Map::new(), Map::new());
        Self { user, row, billing, shipping, details: Details::default() }
    }

    pub fn read(stored: customer::Customer) -> Result<Self> {
        let customer::Customer { user, row } = stored;
        let billing = read(&row.billing)?;
        let (shipping, details) = (read(&row.shipping)?, read(&row.meta)?);
        Ok(Self { user, row, billing, shipping, details })
    }

    /// The user of this id as a customer, if there is such a user.
    pub fn get(conn: &mut dyn Conn, user_id: i64) -> Result<Option<Self>> {
        customer::get(conn, user_id)?.map(Self::read).transpose()
    }

    /// Writes what the user has as a customer; the user itself is written elsewhere.
    pub fn put(&mut self, conn: &mut dyn Conn) -> Result<()> {
        self.row.user_id = self.user.user_id;
        self.row.billing = Value::Object(self.billing.clone()).to_string();
        self.row.shipping = Value::Object(self.shipping.clone()).to_string();
        self.row.meta = serde_json::json!(self.details).to_string();
        self.row.last_active = self.last_active();
        customer::put(conn, &self.row)
    }

    pub fn modified(&self) -> Option<Timestamp> {
        self.details.modified_us.map(Timestamp::from_micros)
    }

    /// The column follows the entry, which clients see and change.
    fn last_active(&self) -> Option<Timestamp> {
        let entry = self.details.meta_data.iter().find(|entry| entry["key"] == LAST_ACTIVE)?;
        let seconds: i64 = entry["value"].as_str()?.parse().ok()?;
        seconds.checked_mul(MICROS).map(Timestamp::from_micros)
    }
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    let unreadable = |error| Error::internal("cannot read a customer's details").because(error);
    serde_json::from_str(text).map_err(unreadable)
}
