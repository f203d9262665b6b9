//! The number under which reports know a customer, and what they know of one.

use db::Conn;
use serde_json::Value;
use shop_rows::customer_lookup::{self, CustomerLookupRow};
use types::Result;

use super::Customer;

/// Gives the customer a number in reports, or brings what reports know up to date.
pub(super) fn put(conn: &mut dyn Conn, customer: &Customer) -> Result<()> {
    let user = &customer.user;
    let billing = |name: &str| {
        let text = customer.billing.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let known = customer_lookup::find_by_user(conn, user.user_id)?;
    let row = CustomerLookupRow {
        customer_id: known.as_ref().map_or(0, |known| known.customer_id),
        user_id: Some(user.user_id),
        username: user.login.clone(),
        first_name: user.first_name.clone(),
        last_name: user.last_name.clone(),
        email: user.email.clone(),
        last_active: customer.row.last_active.or_else(|| known.as_ref()?.last_active),
        registered: Some(user.registered),
        country: billing("country"),
        postcode: billing("postcode"),
        city: billing("city"),
        state: billing("state"),
    };
    if known.is_some() {
        return customer_lookup::update(conn, &row).map(drop);
    }
    customer_lookup::find_or_insert(conn, &row).map(drop)
}
