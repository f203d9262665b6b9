//! `boardwalk user`: the people who will sign in to the site.

use argon2::Argon2;
use argon2::password_hash::PasswordHasher as _;
use clap::ValueEnum as _;
use serde_json::json;
use store::user::{self, UserRow};
use types::{Error, Result, Secret};

use crate::args::{Common, Role, User, UserCreate};
use crate::config::Config;
use crate::environment;
use crate::output::Printer;

const LOGIN_LENGTH_MAX: usize = 60;
const PASSWORD_LENGTH_MIN: usize = 12;
const PASSWORD_LENGTH_MAX: usize = 1024;

pub(crate) fn user(config: &Config, common: &Common, command: User, out: &Printer) -> Result<()> {
    match command {
        User::Create(create) => {
            let platform = environment::open(config, common.environment())?;
            let password = create.password_stdin.then(read_password).transpose()?;
            let login = create.login.clone();
            let row = user_row(create, password.as_ref(), platform.clock.now())?;
            let user_id = platform.store.write_blocking(move |conn| {
                let nicename = user::free_nicename(conn, &nicename(&row.login), 0)?;
                user::insert(conn, &UserRow { nicename, ..row.clone() })
            })?;
            out.result(&json!({ "userId": user_id }), &format!("Made the user {login}."));
        }
        User::List => {
            let platform = environment::open_existing(config, common.environment())?;
            let rows = platform.store.read_blocking(user::all)?.into_iter().map(|user| {
                let roles: Vec<&str> = user.roles.iter().map(|role| role.name()).collect();
                let roles = roles.join(" ");
                let bound = user.iso_id.or(user.merchant_id).or(user.store_id);
                let object = json!({
                    "userId": user.user_id, "login": user.login, "email": user.email,
                    "role": roles, "boundTo": bound,
                });
                let bound = bound.unwrap_or_else(|| String::from("–"));
                let id = user.user_id.to_string();
                (object, vec![id, user.login, user.email, roles, bound])
            });
            out.list("users", &["Id", "Login", "E-mail", "Role", "Bound to"], rows.collect());
        }
    }
    Ok(())
}

pub(crate) fn user_row(
    create: UserCreate,
    password: Option<&Secret<String>>,
    now: types::Timestamp,
) -> Result<UserRow> {
    check_binding(&create)?;
    let login_is_fine = (1..=LOGIN_LENGTH_MAX).contains(&create.login.len())
        && create.login.chars().all(|c| c.is_ascii_alphanumeric() || "._-@ ".contains(c));
    if !login_is_fine {
        return Err(Error::invalid(format!(
            "a login has 1 to {LOGIN_LENGTH_MAX} letters, digits, blanks or the signs . _ - @"
        )));
    }
    if !onboarding::text::is_email(&create.email) {
        return Err(Error::invalid(format!("`{}` is no e-mail address", create.email)));
    }
    let role = create.role.to_possible_value().map(|value| value.get_name().to_owned());
    let role = role.unwrap_or_default().parse().map_err(Error::invalid)?;
    Ok(UserRow {
        user_id: 0,
        display_name: create.login.clone(),
        nickname: create.login.clone(),
        nicename: nicename(&create.login),
        login: create.login,
        email: create.email,
        password_hash: password.map(hash).transpose()?,
        roles: vec![role],
        first_name: String::new(),
        last_name: String::new(),
        description: String::new(),
        url: String::new(),
        locale: String::new(),
        registered: now,
        meta: String::from("{}"),
        iso_id: create.iso,
        merchant_id: create.merchant,
        store_id: create.store,
    })
}

/// The login as it stands in addresses: lower case, words parted by single hyphens.
fn nicename(login: &str) -> String {
    let kept = login.chars().filter(|c| c.is_ascii_alphanumeric() || "._- ".contains(*c));
    let parted: String = kept.map(|c| if c == '.' || c == ' ' { '-' } else { c }).collect();
    let words = parted.split('-').filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    if joined.is_empty() { String::from("user") } else { joined }
}

/// A user who acts for someone must be bound to exactly that one.
fn check_binding(create: &UserCreate) -> Result<()> {
    let given = (create.iso.is_some(), create.merchant.is_some(), create.store.is_some());
    let (needed, flag) = match create.role {
        Role::IsoAdmin | Role::IsoStaff => ((true, false, false), "--iso"),
        Role::Merchant => ((false, true, false), "--merchant"),
        Role::Store => ((false, false, true), "--store"),
        _ => ((false, false, false), ""),
    };
    if given == needed {
        return Ok(());
    }
    let message = match flag {
        "" => String::from("this role is not bound to anything; leave --iso, --merchant, --store"),
        flag => format!("this role needs {flag} and no other binding"),
    };
    Err(Error::invalid(message))
}

fn read_password() -> Result<Secret<String>> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(|error| {
        Error::invalid("cannot read the password from standard input").because(error)
    })?;
    let password = Secret::new(line.trim_end_matches(['\r', '\n']).to_owned());
    let length = password.expose().chars().count();
    if !(PASSWORD_LENGTH_MIN..=PASSWORD_LENGTH_MAX).contains(&length) {
        return Err(Error::invalid(format!(
            "a password has {PASSWORD_LENGTH_MIN} to {PASSWORD_LENGTH_MAX} characters"
        )));
    }
    Ok(password)
}

fn hash(password: &Secret<String>) -> Result<String> {
    let hash = Argon2::default().hash_password(password.expose().as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| {
        Error::internal("the password cannot be hashed").because(error.to_string())
    })
}
