//! Making and changing customers.
//!
//! A customer who was given no password has none, and signs in after choosing one; hashing one that
//! nobody knows would only cost time.

use contract::rest::{Refusal, Stop, clean, formats};
use frame::Call;
use frame::password;
use frame::users::account::check_fields;
use frame::users::{NewUser, create_user, end_other_sessions, leave_address, names};
use site_rows::user;
use types::{Role, Timestamp};

use super::{Customer, address, lookup, username};
use crate::common::version::Version;
use crate::common::{meta, moments};
use crate::emails::{self, Content};
use crate::orders::Address;

pub(super) fn create(version: Version, call: &mut Call<'_>) -> Result<Customer, Stop> {
    let text = |name: &str| call.params.text(name).unwrap_or_default().trim().to_owned();
    let (email, chosen) = (text("email"), text("username"));
    let (first_name, last_name) = (text("first_name"), text("last_name"));
    check_new_email(call, &email)?;
    let login = match chosen.as_str() {
        "" => username::free(call.conn()?, &email)?,
        chosen => {
            check_new_login(call, chosen)?;
            chosen.to_owned()
        }
    };
    let registered = moments::created(call).filter(|_| call.visit.is_import);
    let new = NewUser {
        user_id: call.kept_id(),
        password_hash: password_hash(call)?,
        roles: vec![Role::Customer],
        first_name: clean::text_field(&first_name),
        last_name: clean::text_field(&last_name),
        ..NewUser::new(login, email, registered.unwrap_or_else(|| call.now()))
    };
    let mut customer = Customer::new(create_user(call.conn()?, &new)?);
    customer.row.is_paying = call.visit.is_import && call.params.flag("is_paying_customer");
    apply(version, call, &mut customer)?;
    save(call, &mut customer)?;
    welcome(call, &customer)?;
    Ok(customer)
}

/// Tells the customer of the new account.
fn welcome(call: &mut Call<'_>, customer: &Customer) -> Result<(), Stop> {
    let Some(kind) = emails::find("customer_new_account") else { return Ok(()) };
    let user = &customer.user;
    let words = vec![("username", user.login.clone()), ("user_login", user.login.clone())];
    let content = Content { to: &user.email, words, ..Content::default() };
    emails::queue(call, kind, &content)?;
    Ok(())
}

/// Makes an account for a buyer, who chooses a password later unless there is the hash of one.
pub(super) fn register(
    call: &mut Call<'_>,
    billing: &Address,
    shipping: &Address,
    password_hash: Option<String>,
) -> Result<Customer, Stop> {
    let (first_name, last_name) = (&billing.first_name, &billing.last_name);
    check_new_email(call, &billing.email)?;
    let login = username::free_of_name(call.conn()?, first_name, last_name, &billing.email)?;
    let new = NewUser {
        password_hash,
        roles: vec![Role::Customer],
        first_name: first_name.clone(),
        last_name: last_name.clone(),
        ..NewUser::new(login, billing.email.clone(), call.now())
    };
    let mut customer = Customer::new(create_user(call.conn()?, &new)?);
    set_addresses(&mut customer, billing, shipping);
    save(call, &mut customer)?;
    // The address may be somebody else's, who has to hear of the account.
    welcome(call, &customer)?;
    Ok(customer)
}

/// Remembers where a customer had something billed and shipped to.
pub(super) fn remember_addresses(
    call: &mut Call<'_>,
    customer_id: i64,
    billing: &Address,
    shipping: &Address,
) -> Result<(), Stop> {
    let Some(mut customer) = Customer::get(call.conn()?, customer_id)? else { return Ok(()) };
    set_addresses(&mut customer, billing, shipping);
    save(call, &mut customer)
}

fn set_addresses(customer: &mut Customer, billing: &Address, shipping: &Address) {
    let all = |address: &Address| serde_json::json!(address);
    address::apply(address::BILLING, &mut customer.billing, &all(billing));
    address::apply(address::SHIPPING, &mut customer.shipping, &all(shipping));
}

/// Returns the customer as it is afterwards.
pub(super) fn update(
    version: Version,
    call: &mut Call<'_>,
    before: &Customer,
) -> Result<Customer, Stop> {
    let mut customer = before.clone();
    let login = call.params.text("username").unwrap_or_default();
    if !login.is_empty() && login != customer.user.login {
        let message = "The username cannot be changed.";
        return Err(refused("woocommerce_rest_customer_invalid_argument", message));
    }
    set_email(call, &mut customer)?;
    for (name, field) in
        [("first_name", &mut customer.user.first_name), ("last_name", &mut customer.user.last_name)]
    {
        if let Some(text) = call.params.text(name) {
            *field = clean::text_field(text);
        }
    }
    let hash = password_hash(call)?;
    let has_new_password = hash.is_some();
    customer.user.password_hash = hash.or(customer.user.password_hash);
    let signs_in_otherwise = has_new_password || customer.user.email != before.user.email;
    if signs_in_otherwise && !super::is_only_customer(&customer.user) {
        // A new address is as good as a password: it gets the link that sets one.
        call.may_issue_credentials()?;
    }
    apply(version, call, &mut customer)?;
    if call.visit.is_import {
        customer.row.is_paying = call.params.flag("is_paying_customer");
        customer.details.modified_us = moments::modified_elsewhere(call).map(Timestamp::as_micros);
    }
    if customer == *before {
        return Ok(customer);
    }
    check_fields(&customer.user)?;
    user::update(call.conn()?, &customer.user)?;
    if has_new_password {
        end_other_sessions(call, &customer.user)?;
    }
    if customer.user.email != before.user.email {
        leave_address(call, &before.user)?;
    }
    save(call, &mut customer)?;
    Ok(customer)
}

fn refused(code: &'static str, message: &'static str) -> Stop {
    Refusal::new(400, code, message).into()
}

fn check_new_email(call: &mut Call<'_>, email: &str) -> Result<(), Stop> {
    if !formats::is_email(email) {
        let message = "Enter a valid e-mail address.";
        return Err(refused("registration-error-invalid-email", message));
    }
    if user::find_by_email(call.conn()?, email)?.is_some() {
        let message = "An account with this e-mail address already exists.";
        return Err(refused("registration-error-email-exists", message));
    }
    Ok(())
}

fn check_new_login(call: &mut Call<'_>, login: &str) -> Result<(), Stop> {
    if !names::is_login(login) {
        let message = "A username can contain only letters, digits, single spaces and . _ - @.";
        return Err(refused("registration-error-invalid-username", message));
    }
    if user::find_by_login(call.conn()?, login)?.is_some() {
        let message = "This username is already in use.";
        return Err(refused("registration-error-username-exists", message));
    }
    Ok(())
}

fn set_email(call: &mut Call<'_>, customer: &mut Customer) -> Result<(), Stop> {
    let Some(email) = call.params.text("email").map(|email| email.trim().to_owned()) else {
        return Ok(());
    };
    if email.is_empty() || email == customer.user.email {
        return Ok(());
    }
    let owner = user::find_by_email(call.conn()?, &email)?;
    let is_taken = owner.is_some_and(|owner| owner.user_id != customer.user.user_id);
    if is_taken || !formats::is_email(&email) {
        let message = "The e-mail address is invalid or already in use.";
        return Err(refused("woocommerce_rest_customer_invalid_email", message));
    }
    customer.user.email = email;
    Ok(())
}

/// Addresses and free data.
fn apply(version: Version, call: &mut Call<'_>, customer: &mut Customer) -> Result<(), Stop> {
    if let Some(billing) = call.params.get("billing") {
        let email = billing.get(address::EMAIL).and_then(serde_json::Value::as_str);
        // A batch comes here without having been checked.
        if email.is_some_and(|email| !email.is_empty() && !formats::is_email(email)) {
            let message = "The billing e-mail address is invalid.";
            return Err(refused("customer_invalid_billing_email", message));
        }
        address::apply(address::BILLING, &mut customer.billing, billing);
    }
    if let Some(shipping) = call.params.get("shipping") {
        address::apply(address::SHIPPING, &mut customer.shipping, shipping);
    }
    let entries = call.params.get("meta_data").and_then(serde_json::Value::as_array).cloned();
    if let Some(entries) = entries.filter(|_| version != Version::One) {
        meta::apply(call, &mut customer.details.meta_data, &entries)?;
    }
    Ok(())
}

fn save(call: &mut Call<'_>, customer: &mut Customer) -> Result<(), Stop> {
    // One that was never changed where it comes from has not been changed here.
    let elsewhere = || moments::modified_elsewhere(call).map(Timestamp::as_micros);
    customer.details.modified_us =
        if call.visit.is_import { elsewhere() } else { Some(call.now().as_micros()) };
    customer.put(call.conn()?)?;
    Ok(lookup::put(call.conn()?, customer)?)
}

/// The hash of the password, if one is given.
fn password_hash(call: &Call<'_>) -> Result<Option<String>, Stop> {
    match call.params.text("password") {
        None | Some("") => Ok(None),
        Some(given) => {
            if let Some(error) = password::error(given) {
                let code = call.site.shop_code("invalid_password");
                return Err(Refusal::new(400, code, error).into());
            }
            Ok(Some(call.visit.hashes.of(given)?))
        }
    }
}
