//! `boardwalk user`: the people who will sign in to the site.

use std::sync::Arc;

use clap::ValueEnum as _;
use frame::auth::application_password;
use frame::auth::application_password::create_password;
use frame::auth::consumer_key::{self, Permissions};
use frame::password;
use frame::users::{BoundTo, NewUser, account, create_user};
use onboarding::Platform;
use serde_json::json;
use site_rows::user::{self, UserRow};
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
            out.result(&json!({ "userId": user_id }), &format!("Created the user {login}."));
        }
        User::List { role } => {
            let platform = environment::open_existing(config, common.environment())?;
            let wanted = role.map(role_of).transpose()?;
            let fits = |user: &UserRow| wanted.is_none_or(|role| user.roles.contains(&role));
            let users = platform.store.read_blocking(user::all)?;
            let rows = users.into_iter().filter(fits).map(|user| {
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
            out.result(&object, &format!("Application password for {login}:\n\n  {shown}"));
        }
        User::ConsumerKey { login, permissions, description } => {
            let platform = environment::open_existing(config, common.environment())?;
            make_consumer_key(&platform, &login, permissions, &description, out)?;
        }
        User::Credentials { login } => {
            let platform = environment::open_existing(config, common.environment())?;
            list_credentials(&platform, &login, out)?;
        }
        User::Revoke { login, id } => {
            let platform = environment::open_existing(config, common.environment())?;
            revoke(&platform, &login, &id)?;
            out.result(&json!({ "revoked": id }), &format!("Revoked {id} of {login}."));
        }
        User::SetPassword { login } => {
            let platform = environment::open_existing(config, common.environment())?;
            let user_id = set_password(&platform, &login, &read_password()?)?;
            let text = format!("Changed the password of {login} and ended all their sessions.");
            out.result(&json!({ "userId": user_id }), &text);
        }
        User::ResetSecondFactor { login } => {
            let platform = environment::open_existing(config, common.environment())?;
            let user_id = reset_second_factor(&platform, &login)?;
            let text = format!(
                "Turned off two-factor authentication for {login} and ended all their sessions."
            );
            out.result(&json!({ "userId": user_id }), &text);
        }
    }
    Ok(())
}

fn reset_second_factor(platform: &Platform, login: &str) -> Result<i64> {
    let user_id = find_user(platform, login)?.user_id;
    let was_on = platform.store.write_blocking(move |conn| {
        site_rows::session::delete_of_user(conn, user_id, None)?;
        site_rows::second_factor::delete(conn, user_id)
    })?;
    if was_on {
        return Ok(user_id);
    }
    Err(Error::not_found(format!("two-factor authentication is not on for {login}")))
}

fn make_consumer_key(
    platform: &Platform,
    login: &str,
    permissions: KeyPermissions,
    description: &str,
    out: &Printer,
) -> Result<()> {
    let may = match permissions {
        KeyPermissions::Read => Permissions::Read,
        KeyPermissions::Write => Permissions::Write,
        KeyPermissions::ReadWrite => Permissions::ReadWrite,
    };
    let user_id = find_user(platform, login)?.user_id;
    let now = platform.clock.now();
    let new = consumer_key::generate(&platform.vault, user_id, may, description, now)?;
    let row = new.row;
    platform.store.write_blocking(move |conn| site_rows::consumer_key::insert(conn, &row))?;
    let (key, secret) = (new.key.expose(), new.secret.expose());
    let object = json!({ "consumer_key": key, "consumer_secret": secret });
    let text = format!(
        "Consumer key and secret for {login}. They are not accepted over plain HTTP; sign those \
         requests with OAuth 1.0a.\n\n  {key}\n  {secret}"
    );
    out.result(&object, &text);
    Ok(())
}

fn list_credentials(platform: &Platform, login: &str, out: &Printer) -> Result<()> {
    let user_id = find_user(platform, login)?.user_id;
    let (passwords, keys) = platform.store.read_blocking(move |conn| {
        let passwords = site_rows::application_password::list(conn, user_id)?;
        Ok((passwords, site_rows::consumer_key::list(conn, Some(user_id))?))
    })?;
    let shown = |time: Option<types::Timestamp>| {
        time.map_or_else(|| String::from("never"), |time| time.to_string())
    };
    let passwords = passwords.into_iter().map(|one| {
        let object = json!({
            "id": one.uuid, "kind": "application_password", "name": one.name,
            "created": one.created.to_string(), "lastUsed": one.last_used.map(|t| t.to_string()),
        });
        let used = shown(one.last_used);
        (object, vec![one.uuid, String::from("application password"), one.name, used])
    });
    let keys = keys.into_iter().map(|one| {
        let id = one.key_id.to_string();
        let kind = format!("consumer key …{} ({})", one.truncated_key, one.permissions);
        let object = json!({
            "id": id, "kind": "consumer_key", "name": one.description,
            "permissions": one.permissions, "created": one.created.to_string(),
            "lastUsed": one.last_access.map(|t| t.to_string()),
        });
        let used = shown(one.last_access);
        (object, vec![id, kind, one.description, used])
    });
    out.list("credentials", &["Id", "Type", "Name", "Last used"], passwords.chain(keys).collect());
    Ok(())
}

/// A password has a UUID, a key has a number.
fn revoke(platform: &Platform, login: &str, id: &str) -> Result<()> {
    let user_id = find_user(platform, login)?.user_id;
    let wanted = id.to_owned();
    let ended = platform.store.write_blocking(move |conn| match wanted.parse::<i64>() {
        Err(_) => site_rows::application_password::delete(conn, user_id, &wanted),
        Ok(key_id) => {
            let own = site_rows::consumer_key::list(conn, Some(user_id))?;
            let is_own = own.iter().any(|key| key.key_id == key_id);
            Ok(is_own && site_rows::consumer_key::delete(conn, key_id)?)
        }
    })?;
    if ended {
        return Ok(());
    }
    Err(Error::not_found(format!(
        "{login} has no such credential; run `boardwalk user credentials --login {login}`"
    )))
}

pub(super) fn set_password(
    platform: &Platform,
    login: &str,
    password: &Secret<String>,
) -> Result<i64> {
    let user = find_user(platform, login)?;
    let (user_id, hash) = (user.user_id, password::hash(password)?);
    platform.store.write_blocking(move |conn| {
        let changed = UserRow { password_hash: Some(hash.clone()), ..user.clone() };
        user::update(conn, &changed)?;
        site_rows::identity::delete_of_user(conn, user_id)?;
        site_rows::session::delete_of_user(conn, user_id, None)
    })?;
    Ok(user_id)
}

fn find_user(platform: &Platform, login: &str) -> Result<UserRow> {
    let wanted = login.to_owned();
    let found =
        platform.store.read_blocking(move |conn| match user::find_by_login(conn, &wanted)? {
            None if wanted.contains('@') => user::find_by_email(conn, &wanted),
            other => Ok(other),
        })?;
    found.ok_or_else(|| {
        Error::not_found(format!("user {login} not found; run `boardwalk user list`"))
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
        return Err(Error::invalid("give the program that uses the password with --name"));
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
    let role = role_of(create.role)?;
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

/// The role of that name.
fn role_of(role: Role) -> Result<types::Role> {
    let name = role.to_possible_value().map(|value| value.get_name().to_owned());
    name.unwrap_or_default().parse().map_err(Error::invalid)
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
        "" => String::from("this role takes no binding; remove --iso, --merchant and --store"),
        flag => format!("this role requires {flag} and no other binding"),
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
