//! What a cart remembers between requests, as one JSON text.

use commerce::customers::Customer;
use commerce::orders::Address;
use contract::rest::Stop;
use frame::{Call, Options};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use shop_rows::cart::{self, CartRow};
use types::{Error, Timestamp};

use crate::reminders;
use crate::session::{self, LIFE, Session};

/// Different things in one cart at most, and coupons.
pub(crate) const ITEMS_MAX: usize = 200;
pub(crate) const COUPONS_MAX: usize = 20;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    pub(crate) items: Vec<Item>,
    /// Codes, in the order in which they were applied.
    pub(crate) coupons: Vec<String>,
    /// What the buyer said; the shop's or the customer's own addresses until then.
    pub(crate) billing: Option<Address>,
    pub(crate) shipping: Option<Address>,
    /// The chosen way of shipping, and those that it was chosen from.
    pub(crate) rate: String,
    pub(crate) rates: Vec<String>,
    pub(crate) note: String,
    pub(crate) payment_method: String,
    /// Whether its buyer was reminded of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_reminded: bool,
    /// The draft of a checkout that was not finished; else 0. Kept in a column of its own.
    #[serde(skip)]
    pub(crate) order_id: i64,
}

/// So many of something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Item {
    pub(crate) key: String,
    pub(crate) product_id: i64,
    /// Of a variation; else 0.
    pub(crate) variation_id: i64,
    pub(crate) quantity: i64,
    /// What was chosen of a variation: names and values of attributes.
    pub(crate) chosen: Vec<(String, String)>,
}

impl Item {
    pub(crate) fn new(
        product_id: i64,
        variation_id: i64,
        chosen: Vec<(String, String)>,
        quantity: i64,
    ) -> Self {
        let mut name = product_id.to_string();
        if variation_id != 0 {
            let mut sorted: Vec<&(String, String)> = chosen.iter().collect();
            sorted.sort();
            let pairs = sorted.iter().map(|(name, value)| format!("attribute_{name}{value}"));
            name = format!("{name}_{variation_id}_{}", pairs.collect::<String>());
        }
        Self { key: session::digest(&name), product_id, variation_id, quantity, chosen }
    }

    pub(crate) fn sold_id(&self) -> i64 {
        if self.variation_id == 0 { self.product_id } else { self.variation_id }
    }
}

/// A cart with what was stored of it.
#[derive(Debug)]
pub(crate) struct Cart {
    pub(crate) state: State,
    key: String,
    /// As it was read; nothing for one that is not stored.
    stored: Option<State>,
    pub(crate) default_billing: Address,
    pub(crate) default_shipping: Address,
}

impl Cart {
    pub(crate) fn load(call: &mut Call<'_>, session: &Session) -> Result<Self, Stop> {
        let now = call.now();
        let row = cart::get(call.conn()?, &session.key, now)?;
        let stored = row.map(read).transpose()?;
        let (default_billing, default_shipping) = default_addresses(call)?;
        let state = stored.clone().unwrap_or_default();
        let key = session.key.clone();
        Ok(Self { state, key, stored, default_billing, default_shipping })
    }

    /// Writes the cart if it changed. **An empty one is not kept.**
    pub(crate) fn save(&mut self, call: &mut Call<'_>) -> Result<(), Error> {
        if self.stored.as_ref() == Some(&self.state) {
            return Ok(());
        }
        if self.state == State::default() {
            if self.stored.take().is_some() {
                cart::delete(call.conn()?, &self.key)?;
            }
            return Ok(());
        }
        let contents = serde_json::to_string(&self.state)
            .map_err(|error| Error::internal("cannot serialize a cart").because(error))?;
        let row = CartRow {
            cart_key: self.key.clone(),
            contents,
            order_id: self.state.order_id,
            expires: expiry(call.now()),
        };
        cart::put(call.conn()?, &row)?;
        self.stored = Some(self.state.clone());
        let is_known = self.state.billing.as_ref().is_some_and(|own| !own.email.is_empty())
            || call.user_id() != 0;
        if is_known && !self.state.items.is_empty() && !self.state.is_reminded {
            reminders::plan(call, &self.key)?;
        }
        Ok(())
    }

    pub(crate) fn billing(&self) -> &Address {
        self.state.billing.as_ref().unwrap_or(&self.default_billing)
    }

    pub(crate) fn shipping(&self) -> &Address {
        self.state.shipping.as_ref().unwrap_or(&self.default_shipping)
    }

    /// A name of what is in it, which changes with it; nothing for an empty cart.
    pub(crate) fn hash(&self) -> String {
        if self.state.items.is_empty() {
            return String::new();
        }
        let items = self.state.items.iter().map(|item| format!("{}:{}", item.key, item.quantity));
        let items: Vec<String> = items.chain(self.state.coupons.iter().cloned()).collect();
        session::digest(&items.join(","))
    }
}

/// What was sold, how many, and what was chosen of a variation.
pub(crate) type LeftItem = (i64, i64, Vec<(String, String)>);

/// What is in the guest's cart that a link names; nothing if it is empty or not kept any more.
pub(crate) fn left_in(call: &mut Call<'_>, token: &str) -> Result<Option<Vec<LeftItem>>, Stop> {
    let Some(session) = Session::of_link(call, token) else { return Ok(None) };
    let items = Cart::load(call, &session)?.state.items.into_iter();
    let items = items.map(|item| (item.sold_id(), item.quantity, item.chosen));
    let items: Vec<LeftItem> = items.collect();
    Ok(Some(items).filter(|items| !items.is_empty()))
}

fn expiry(now: Timestamp) -> Timestamp {
    now.plus(LIFE)
}

fn read(row: CartRow) -> Result<State, Error> {
    let state: State = serde_json::from_str(&row.contents)
        .map_err(|error| Error::internal("cannot read a cart").because(error))?;
    Ok(State { order_id: row.order_id, ..state })
}

/// Where somebody is as long as they have not said so: where a customer was last, else where the
/// shop is, if it chose that.
pub(crate) fn default_addresses(call: &mut Call<'_>) -> Result<(Address, Address), Stop> {
    let base = base_address(call.options());
    let user_id = call.user_id();
    if user_id == 0 {
        return Ok((base.clone(), base));
    }
    let email = call.user().map(|user| user.row.email.clone()).unwrap_or_default();
    let Some(customer) = Customer::get(call.conn()?, user_id)? else {
        return Ok((base.clone(), base));
    };
    let known = |fields: &Map<String, Value>| {
        let mut address = Address::default();
        for (name, value) in fields {
            if let Some(field) = address.field_mut(name) {
                value.as_str().unwrap_or_default().clone_into(field);
            }
        }
        if address.country.is_empty() {
            address.country.clone_from(&base.country);
            address.state.clone_from(&base.state);
        }
        address
    };
    let mut billing = known(&customer.billing);
    if billing.email.is_empty() {
        billing.email = email;
    }
    Ok((billing, known(&customer.shipping)))
}

fn base_address(options: &Options) -> Address {
    if options.text("woocommerce_default_customer_address").is_empty() {
        return Address::default();
    }
    let location = options.text("woocommerce_default_country");
    let (country, state) = location.split_once(':').unwrap_or((&location, ""));
    Address { country: country.to_owned(), state: state.to_owned(), ..Address::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_tells_what_an_item_is() {
        // The MD5 of the decimals of the product, as clients know it.
        assert_eq!(Item::new(11007, 0, Vec::new(), 1).key, "8eab914c88e95773ea769310350ad7cb");
        let red = vec![(String::from("pa_color"), String::from("red"))];
        let first = Item::new(1, 2, red.clone(), 1);
        assert_eq!(first.key, Item::new(1, 2, red, 5).key);
        assert_ne!(first.key, Item::new(1, 3, Vec::new(), 1).key);
    }
}
