//! `boardwalk user`: the people who will sign in to the site.

use std::sync::Arc;

use clap::ValueEnum as _;
use onboarding::Platform;
use serde_json::json;
use site::auth::consumer_key::{self, Permissions};
use site::auth::{application_password, password};
use store::user::{self, UserRow};
use types::{Error, Result, Secret};

use crate::args::{Common, KeyPermissions, Role, User, UserCreate};
use crate::config::Config;
use crate::environment;
use crate::output::Printer;

const LOGIN_LENGTH_MAX: usize = 60;

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
        User::AppPassword { login, name } => {
            let platform = environment::open_existing(config, common.environment())?;
            let (uuid, password) = make_app_password(&platform, &login, &name)?;
            let shown = application_password::in_groups(password.expose());
            let object = json!({ "uuid": uuid, "password": shown });
            out.result(&object, &format!("The application password of {login}:\n\n  {shown}"));
        }
        User::ConsumerKey { login, permissions, description } => {
            let platform = environment::open_existing(config, common.environment())?;
            let may = match permissions {
                KeyPermissions::Read => Permissions::Read,
                KeyPermissions::Write => Permissions::Write,
                KeyPermissions::ReadWrite => Permissions::ReadWrite,
            };
            let user_id = find_user(&platform, &login)?.user_id;
            let now = platform.clock.now();
            let new = consumer_key::generate(&platform.vault, user_id, may, &description, now)?;
            let row = new.row;
            platform.store.write_blocking(move |conn| store::consumer_key::insert(conn, &row))?;
            let (key, secret) = (new.key.expose(), new.secret.expose());
            let object = json!({ "consumer_key": key, "consumer_secret": secret });
            let text = format!("The key of {login}, and its secret:\n\n  {key}\n  {secret}");
            out.result(&object, &text);
        }
    }
    Ok(())
}

fn find_user(platform: &Platform, login: &str) -> Result<UserRow> {
    let wanted = login.to_owned();
    let found = platform.store.read_blocking(move |conn| user::find_by_login(conn, &wanted))?;
    found.ok_or_else(|| {
        Error::not_found(format!("there is no user {login}; `boardwalk user list` shows them"))
    })
}

/// The uuid and the password, shown this once.
pub(crate) fn make_app_password(
    platform: &Platform,
    login: &str,
    name: &str,
) -> Result<(String, Secret<String>)> {
    let name = name.trim().to_owned();
    if name.is_empty() {
        return Err(Error::invalid("say with --name which program the password is for"));
    }
    let user_id = find_user(platform, login)?.user_id;
    let (vault, now) = (Arc::clone(&platform.vault), platform.clock.now());
    let (row, password) = platform.store.write_blocking(move |conn| {
        application_password::create(conn, &vault, user_id, (&name, ""), now)
    })?;
    Ok((row.uuid, password))
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
        password_hash: password.map(password::hash).transpose()?,
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
    password::check(&password)?;
    Ok(password)
}
