//! `boardwalk user`: the people who will sign in to the site.

use std::sync::Arc;

use clap::ValueEnum as _;
use onboarding::Platform;
use serde_json::json;
use site::auth::consumer_key::{self, Permissions};
use site::auth::{application_password, password};
use site::users::application_passwords::create_password;
use site::users::{BoundTo, NewUser, account, create_user};
use store::user::{self, UserRow};
use types::{Error, Result, Secret};

use crate::args::{Common, KeyPermissions, Role, User, UserCreate};
use crate::config::Config;
use crate::environment;
use crate::output::Printer;

pub(crate) fn user(config: &Config, common: &Common, command: User, out: &Printer) -> Result<()> {
    match command {
        User::Create(create) => {
            let platform = environment::open(config, common.environment())?;
            let password = create.password_stdin.then(read_password).transpose()?;
            let login = create.login.clone();
            let new = new_user(create, password.as_ref(), platform.clock.now())?;
            let made = platform
                .store
                .write_blocking(move |conn| create_user(conn, &new).map_err(account::error_of));
            let user_id = made?.user_id;
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
    let (row, password) = platform
        .store
        .write_blocking(move |conn| create_password(conn, &vault, user_id, (&name, ""), now))?;
    Ok((row.uuid, password))
}

fn new_user(
    create: UserCreate,
    password: Option<&Secret<String>>,
    now: types::Timestamp,
) -> Result<NewUser> {
    check_binding(&create)?;
    let role = create.role.to_possible_value().map(|value| value.get_name().to_owned());
    let role = role.unwrap_or_default().parse().map_err(Error::invalid)?;
    let bound_to = match (create.iso, create.merchant, create.store) {
        (Some(iso), _, _) => BoundTo::Iso(iso),
        (_, Some(merchant), _) => BoundTo::Merchant(merchant),
        (_, _, Some(store)) => BoundTo::Store(store),
        _ => BoundTo::Nobody,
    };
    Ok(NewUser {
        password_hash: password.map(password::hash).transpose()?,
        roles: vec![role],
        bound_to,
        ..NewUser::new(create.login, create.email, now)
    })
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
