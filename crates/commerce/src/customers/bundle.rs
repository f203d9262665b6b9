//! Customers of a bundle: what its users have as customers, and the numbers that reports know
//! customers and guests by.

use db::Conn;
use frame::Options;
use frame::bundle::records;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use shop_rows::customer_lookup::{self, CustomerLookupRow};
use types::{Error, Result, Timestamp};

use super::customer::LAST_ACTIVE;
use super::{Customer, sums};
use crate::common::{meta, moments};

/// How the bundle writes that there is nothing.
const NOTHING: &str = "\\N";

#[derive(Debug, Deserialize)]
struct BundleCustomer {
    id: i64,
    wc_last_active: Option<String>,
    #[serde(default)]
    billing: Map<String, Value>,
    #[serde(default)]
    shipping: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct BundleLookup {
    customer_id: String,
    user_id: String,
    username: String,
    first_name: String,
    last_name: String,
    email: String,
    date_last_active: String,
    date_registered: String,
    country: String,
    postcode: String,
    city: String,
    state: String,
}

/// Gives the users their addresses. The users themselves and their orders are there already.
pub(crate) fn import(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let customers: Vec<BundleCustomer> = records(section)?;
    let count = customers.len();
    for customer in customers {
        customer.import(conn)?;
    }
    Ok(count)
}

impl BundleCustomer {
    fn import(self, conn: &mut dyn Conn) -> Result<()> {
        let unknown = || Error::invalid(format!("user {} not found", self.id));
        let mut customer = Customer::get(conn, self.id)?.ok_or_else(unknown)?;
        customer.billing = self.billing;
        customer.shipping = self.shipping;
        customer.row.is_paying |= sums::has_paid(conn, self.id)?;
        if let Some(seconds) = self.wc_last_active {
            let entry = json!({ "key": LAST_ACTIVE, "value": seconds });
            meta::merge(conn, &mut customer.details.meta_data, &[entry])?;
        }
        customer.put(conn)
    }
}

/// Imports the customers of reports, their numbers kept.
pub(crate) fn import_lookup(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let customers: Vec<BundleLookup> = records(section)?;
    let options = Options::read(conn)?;
    let count = customers.len();
    for customer in customers {
        let row = customer.row(&options)?;
        if !customer_lookup::update(conn, &row)? {
            customer_lookup::insert_with_id(conn, &row)?;
        }
    }
    Ok(count)
}

impl BundleLookup {
    fn row(self, options: &Options) -> Result<CustomerLookupRow> {
        let number = |text: &str| -> Result<i64> {
            text.parse().map_err(|_| Error::invalid(format!("`{text}` is not a number")))
        };
        let time = |text: &str| -> Result<Option<Timestamp>> {
            if text == NOTHING || text.is_empty() {
                return Ok(None);
            }
            let read = moments::bound(options, Some(text), true);
            let wrong = || Error::invalid(format!("`{text}` is not a time"));
            read.ok_or_else(wrong).map(Some)
        };
        let user_id = Some(&self.user_id).filter(|id| *id != NOTHING).map(|id| number(id));
        Ok(CustomerLookupRow {
            customer_id: number(&self.customer_id)?,
            user_id: user_id.transpose()?,
            last_active: time(&self.date_last_active)?,
            registered: time(&self.date_registered)?,
            username: self.username,
            first_name: self.first_name,
            last_name: self.last_name,
            email: self.email,
            country: self.country,
            postcode: self.postcode,
            city: self.city,
            state: self.state,
        })
    }
}
