//! Customers: users of the site with the addresses that they are billed at and shipped to.
//!
//! A guest is no customer in this sense. The same users are served in every version of the
//! interface; [`schema`] and [`view`] say what differs. **Shop managers change customers only**, so
//! that nobody gains an administrator's rights by giving them a password.

mod address;
mod bundle;
mod customer;
mod list;
mod lookup;
mod schema;
mod sums;
mod username;
mod view;
mod write;

use contract::rest::route::Route;
use contract::rest::{Args, Item, Links, Refusal, Schema, Stop};
use db::Conn;
use frame::{Action, Call, Names};
use serde_json::{Value, json};
use shop_rows::customer_lookup;
use site_rows::user::UserRow;
use types::{Capability, Role};

pub(crate) use self::bundle::{import, import_lookup};
pub use self::customer::Customer;
use self::sums::Sums;
use crate::common::events;
use crate::common::version::Version;
use crate::orders::Address;
use crate::resource::{self, Act, ItemRule, Listed, Resource, Rights};

/// The versions that have customers; analytics has its own.
const VERSIONS: [Version; 3] = [Version::One, Version::Two, Version::Three];

const READING: Capability = Capability::ListUsers;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let routes = VERSIONS.into_iter().flat_map(|version| {
        let customers = Customers { version, item: schema::item(version) };
        let routes = resource::routes(version.namespace(names), "/customers", customers);
        routes.expect("the schema is well formed")
    });
    routes.collect()
}

/// Brings what reports know of a user up to date. Of somebody without addresses they may know more,
/// from orders, and keep it.
pub(crate) fn put_into_reports(conn: &mut dyn Conn, user_id: i64) -> types::Result<()> {
    let Some(customer) = Customer::get(conn, user_id)? else { return Ok(()) };
    if customer.billing.is_empty() && customer_lookup::find_by_user(conn, user_id)?.is_some() {
        return Ok(());
    }
    lookup::put(conn, &customer)
}

/// Makes an account for a buyer, who chooses a password later unless there is the hash of one.
pub fn register(
    call: &mut Call<'_>,
    billing: &Address,
    shipping: &Address,
    password_hash: Option<String>,
) -> Result<Customer, Stop> {
    let customer = write::register(call, billing, shipping, password_hash)?;
    append_event(call, "customer.created", &customer)?;
    Ok(customer)
}

/// Remembers where a customer had something billed and shipped to.
pub fn remember_addresses(
    call: &mut Call<'_>,
    customer_id: i64,
    billing: &Address,
    shipping: &Address,
) -> Result<(), Stop> {
    write::remember_addresses(call, customer_id, billing, shipping)
}

#[derive(Debug)]
struct Customers {
    version: Version,
    item: Item,
}

/// A customer with what the older versions calculate from the orders.
#[derive(Debug)]
struct Counted {
    customer: Customer,
    sums: Sums,
}

impl Customers {
    fn counted(&self, call: &mut Call<'_>, customer: Customer) -> Result<Counted, Stop> {
        let mut counted = self.counted_all(call, vec![customer])?;
        let missing = || types::Error::internal("a customer was deleted while it was read");
        Ok(counted.pop().ok_or_else(missing)?)
    }

    fn counted_all(
        &self,
        call: &mut Call<'_>,
        customers: Vec<Customer>,
    ) -> Result<Vec<Counted>, Stop> {
        let mut sums = match self.version {
            Version::One | Version::Two => sums::of(call.conn()?, &customers)?,
            Version::Three | Version::Analytics => sums::none(),
        };
        let counted = customers.into_iter().map(|customer| {
            let sums = sums.remove(&customer.user.user_id).unwrap_or_default();
            Counted { customer, sums }
        });
        Ok(counted.collect())
    }
}

impl Resource for Customers {
    type Record = Counted;

    fn word(&self) -> &'static str {
        "customer"
    }

    fn rights(&self) -> Rights {
        Rights {
            read: READING,
            create: Capability::CreateCustomers,
            edit: Capability::EditUsers,
            delete: Capability::DeleteUsers,
            batch: Capability::PromoteUsers,
        }
    }

    fn item(&self) -> &Item {
        &self.item
    }

    fn create_args(&self) -> Args {
        let args = self.item.create_args();
        args.revise("email", |email| email.without("format").required())
    }

    fn list_args(&self) -> Args {
        list::args()
    }

    fn delete_args(&self) -> Args {
        let reassign = Schema::integer().default(0).about("User to reassign posts to.");
        Args::new().arg("reassign", reassign)
    }

    fn has_trash(&self) -> bool {
        false
    }

    fn reports_unknown_ids(&self) -> bool {
        false
    }

    fn unknown_id(&self, act: Act) -> (u16, String) {
        match act {
            Act::Edit => (400, String::from("woocommerce_rest_invalid_id")),
            Act::Read | Act::Delete => (404, String::from("wc_user_invalid_id")),
        }
    }

    fn find(&self, call: &mut Call<'_>, id: i64) -> Result<Option<Counted>, Stop> {
        let Some(customer) = Customer::get(call.conn()?, id)? else { return Ok(None) };
        self.counted(call, customer).map(Some)
    }

    fn list(&self, call: &mut Call<'_>) -> Result<Listed<Counted>, Stop> {
        let (customers, total) = list::list(call)?;
        Ok(Listed { records: self.counted_all(call, customers)?, total })
    }

    fn show(&self, call: &mut Call<'_>, record: &Counted) -> Result<Value, Stop> {
        Ok(view::body(self.version, call.options(), record))
    }

    fn links(&self, call: &Call<'_>, record: &Counted, base: &str) -> Links {
        Links::new()
            .to("self", call.visit.rest(&format!("{base}/{}", self.id(record))))
            .to("collection", call.visit.rest(base))
    }

    fn id(&self, record: &Counted) -> i64 {
        record.customer.user.user_id
    }

    fn create(&self, call: &mut Call<'_>) -> Result<Counted, Stop> {
        let customer = write::create(self.version, call)?;
        append_event(call, "customer.created", &customer)?;
        self.counted(call, customer)
    }

    fn update(&self, call: &mut Call<'_>, record: Counted) -> Result<Counted, Stop> {
        let customer = write::update(self.version, call, &record.customer)?;
        if customer != record.customer {
            append_event(call, "customer.updated", &customer)?;
        }
        Ok(Counted { customer, ..record })
    }

    fn trash(&self, _: &mut Call<'_>, _: Counted) -> Result<(), Stop> {
        Err(types::Error::internal("customers have no trash").into())
    }

    fn delete(&self, call: &mut Call<'_>, record: Counted) -> Result<(), Stop> {
        let customer = record.customer;
        let heir = heir(call, &customer)?;
        frame::users::remove_user(call, &customer.user, heir)?;
        shop_rows::order::detach_customer(call.conn()?, customer.user.user_id)?;
        Ok(append_event(call, "customer.deleted", &customer)?)
    }

    fn item_rule(&self) -> Option<ItemRule<Counted>> {
        Some(may)
    }
}

/// A shop's manager changes nobody but themselves and those who only buy.
fn may(call: &mut Call<'_>, record: &Counted, capability: Capability) -> bool {
    let is_change = capability != READING;
    let caller = call.user().filter(|user| user.row.roles.contains(&Role::ShopManager));
    let is_managed = caller.is_none_or(|caller| {
        let user = &record.customer.user;
        is_only_customer(user) || user.user_id == caller.id()
    });
    call.can(capability) && (is_managed || !is_change)
}

/// Whether somebody buys here and has no other part in the site.
fn is_only_customer(user: &UserRow) -> bool {
    !user.roles.is_empty() && user.roles.iter().all(|role| *role == Role::Customer)
}

/// Who gets the posts of a customer who goes.
fn heir(call: &mut Call<'_>, customer: &Customer) -> Result<Option<i64>, Stop> {
    let heir = call.params.int("reassign").unwrap_or_default();
    if heir == 0 {
        return Ok(None);
    }
    let exists = site_rows::user::get(call.conn()?, heir)?.is_some();
    if exists && heir != customer.user.user_id {
        return Ok(Some(heir));
    }
    let message = "Reassign posts to another existing user.";
    Err(Refusal::new(400, "woocommerce_rest_customer_invalid_reassign", message).into())
}

/// Names and addresses are personal: followers look them up by the id.
fn append_event(call: &mut Call<'_>, kind: &'static str, customer: &Customer) -> types::Result<()> {
    events::append(call, kind, customer.user.user_id, &json!({}))
}
