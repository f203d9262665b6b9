//! Making a user, for everybody who does: the REST interface, the command line, the importer.
//!
//! A refusal here says what is wrong with what was asked for; see [`error_of`] for callers that
//! speak no REST.

use contract::rest::{Refusal, Stop, formats};
use db::Conn;
use serde_json::{Map, Value};
use site_rows::user::UserRow;
use types::{Error, Role, Timestamp};

use super::names::{self, LOGIN_LENGTH_MAX, SLUG_LENGTH_MAX};

/// Characters of an e-mail address at most.
const EMAIL_LENGTH_MAX: usize = 100;
/// Characters of the address of a user's site at most.
const URL_LENGTH_MAX: usize = 100;
/// Characters of each of a user's names at most.
const NAME_LENGTH_MAX: usize = 250;
/// Characters of what a user says about themself at most.
const DESCRIPTION_LENGTH_MAX: usize = 10_000;

/// Whom a user acts for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BoundTo {
    #[default]
    Nobody,
    Iso(String),
    Merchant(String),
    Store(String),
}

/// A user to be made. What is left empty follows from the rest.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// The next free one unless it is given.
    pub user_id: Option<i64>,
    pub login: String,
    pub email: String,
    /// See [`crate::password::hash`].
    pub password_hash: Option<String>,
    pub roles: Vec<Role>,
    pub bound_to: BoundTo,
    /// The name that others see.
    pub name: String,
    pub first_name: String,
    pub last_name: String,
    pub nickname: String,
    /// The name in addresses; a number is added to one that is taken.
    pub slug: String,
    pub description: String,
    pub url: String,
    pub locale: String,
    pub registered: Timestamp,
    pub meta: Map<String, Value>,
}

impl NewUser {
    pub fn new(login: impl Into<String>, email: impl Into<String>, registered: Timestamp) -> Self {
        Self {
            user_id: None,
            login: login.into(),
            email: email.into(),
            password_hash: None,
            roles: Vec::new(),
            bound_to: BoundTo::Nobody,
            name: String::new(),
            first_name: String::new(),
            last_name: String::new(),
            nickname: String::new(),
            slug: String::new(),
            description: String::new(),
            url: String::new(),
            locale: String::new(),
            registered,
            meta: Map::new(),
        }
    }
}

/// Makes the user and returns them as stored.
pub fn create_user(conn: &mut dyn Conn, new: &NewUser) -> Result<UserRow, Stop> {
    check_login(conn, &new.login)?;
    check_bindings(new)?;
    let mut user = UserRow {
        user_id: new.user_id.unwrap_or_default(),
        login: new.login.clone(),
        email: new.email.clone(),
        password_hash: new.password_hash.clone(),
        roles: new.roles.clone(),
        display_name: display_name(new),
        nicename: wanted_slug(new),
        first_name: new.first_name.clone(),
        last_name: new.last_name.clone(),
        nickname: if new.nickname.is_empty() { &new.login } else { &new.nickname }.clone(),
        description: new.description.clone(),
        url: new.url.clone(),
        locale: new.locale.clone(),
        registered: new.registered,
        meta: Value::Object(new.meta.clone()).to_string(),
        iso_id: None,
        merchant_id: None,
        store_id: None,
    };
    match new.bound_to.clone() {
        BoundTo::Nobody => {}
        BoundTo::Iso(iso_id) => user.iso_id = Some(iso_id),
        BoundTo::Merchant(merchant_id) => user.merchant_id = Some(merchant_id),
        BoundTo::Store(store_id) => user.store_id = Some(store_id),
    }
    check_fields(&user)?;
    if site_rows::user::find_by_email(conn, &user.email)?.is_some() {
        let message = "This e-mail address is already in use.";
        return Err(refused("existing_user_email", message));
    }
    user.nicename = site_rows::user::free_nicename(conn, &user.nicename, 0)?;
    match new.user_id {
        Some(_) => site_rows::user::insert_with_id(conn, &user)?,
        None => user.user_id = site_rows::user::insert(conn, &user)?,
    }
    Ok(user)
}

/// The refusal as the error of a command.
pub fn error_of(stop: Stop) -> Error {
    match stop {
        Stop::Refused(refusal) => Error::invalid(refusal.message.clone()),
        Stop::Failed(error) => error,
    }
}

fn refused(code: &'static str, message: &'static str) -> Stop {
    Refusal::new(400, code, message).into()
}

fn check_login(conn: &mut dyn Conn, login: &str) -> Result<(), Stop> {
    if login.is_empty() {
        return Err(refused("empty_user_login", "A username is required."));
    }
    if !names::is_login(login) {
        let message = "A username can contain only letters, digits, single spaces and . _ - @.";
        return Err(refused("invalid_username", message));
    }
    if login.chars().count() > LOGIN_LENGTH_MAX {
        return Err(refused("user_login_too_long", "A username must have at most 60 characters."));
    }
    if site_rows::user::find_by_login(conn, login)?.is_some() {
        return Err(refused("existing_user_login", "This username is already in use."));
    }
    Ok(())
}

/// What holds for every user, new or changed.
pub fn check_fields(user: &UserRow) -> Result<(), Stop> {
    if !formats::is_email(&user.email) {
        return Err(refused("rest_user_invalid_email", "Enter a valid e-mail address."));
    }
    let bounds = [
        (&user.email, EMAIL_LENGTH_MAX, "user_email_too_long", "The e-mail address is too long."),
        (&user.url, URL_LENGTH_MAX, "user_url_too_long", "The URL is too long."),
        (&user.nicename, SLUG_LENGTH_MAX, "user_nicename_too_long", "The slug is too long."),
        (&user.display_name, NAME_LENGTH_MAX, "user_name_too_long", "The name is too long."),
        (&user.first_name, NAME_LENGTH_MAX, "user_name_too_long", "The first name is too long."),
        (&user.last_name, NAME_LENGTH_MAX, "user_name_too_long", "The last name is too long."),
        (&user.nickname, NAME_LENGTH_MAX, "user_name_too_long", "The nickname is too long."),
        (
            &user.description,
            DESCRIPTION_LENGTH_MAX,
            "user_description_too_long",
            "The description is too long.",
        ),
    ];
    for (text, length_max, code, message) in bounds {
        if text.chars().count() > length_max {
            return Err(refused(code, message));
        }
    }
    Ok(())
}

/// A user who acts for somebody is bound to exactly that one.
fn check_bindings(new: &NewUser) -> Result<(), Stop> {
    let fits = |role: &Role| match role {
        Role::IsoAdmin | Role::IsoStaff => matches!(new.bound_to, BoundTo::Iso(_)),
        Role::Merchant => matches!(new.bound_to, BoundTo::Merchant(_)),
        Role::Store => matches!(new.bound_to, BoundTo::Store(_)),
        _ => new.bound_to == BoundTo::Nobody,
    };
    if new.roles.iter().all(fits) {
        return Ok(());
    }
    let message = "ISO users require an ISO, merchant users a merchant, store users a store; \
                   other roles take no binding.";
    Err(refused("rest_user_invalid_role", message))
}

/// The slug before it is made unique.
fn wanted_slug(new: &NewUser) -> String {
    let chosen = names::slug(&new.slug);
    if chosen.is_empty() { names::slug_of_login(&new.login) } else { chosen }
}

fn display_name(new: &NewUser) -> String {
    let full = format!("{} {}", new.first_name, new.last_name);
    [new.name.as_str(), full.trim(), &new.login]
        .into_iter()
        .find(|name| !name.is_empty())
        .unwrap_or_default()
        .to_owned()
}
