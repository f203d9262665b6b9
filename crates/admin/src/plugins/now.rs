//! Installing and activating while the client waits. What goes wrong with one plugin does not stop
//! the others.

use std::sync::Arc;

use contract::rest::Stop;
use db::Conn;
use frame::Site;
use frame::action::Later;
use serde_json::{Map, Value, json};
use site_rows::user::UserRow;
use types::{Error, Kind, Result, Timestamp};

use super::job;
use super::lifecycle::{self, Doing, Installed};
use super::shapes::{SHOP, error_bag, map_or_list, with_shop};
use crate::catalogue::Catalogue;
use crate::installation;
use crate::rows::package::PackageKind;

/// What came of installing.
#[derive(Debug, Default)]
struct Installation {
    /// Those that are there now.
    installed: Vec<String>,
    /// Those that were not there before.
    results: Map<String, Value>,
    /// Milliseconds.
    time: Map<String, Value>,
    details: Map<String, Value>,
    errors: Vec<(String, String)>,
}

/// What came of activating.
#[derive(Debug, Default)]
struct Activation {
    activated: Vec<String>,
    active: Vec<String>,
    details: Map<String, Value>,
    errors: Vec<(String, String)>,
}

pub(super) async fn install(
    request: &Later,
    catalogue: &Catalogue,
    plugins: &[String],
) -> Result<Value, Stop> {
    let Installation { installed, results, time, details, errors } =
        install_all(request, catalogue, plugins).await?;
    let message = if errors.is_empty() {
        "The plugins were installed."
    } else {
        "Some plugins could not be installed; see the errors."
    };
    let data = json!({
        "installed": installed,
        "results": map_or_list(results),
        "plugin_details": map_or_list(details),
        "install_time": map_or_list(time),
    });
    Ok(json!({
        "data": data, "errors": error_bag(&errors), "success": errors.is_empty(),
        "message": message,
    }))
}

pub(super) async fn activate(request: &Later, plugins: &[String]) -> Result<Value, Stop> {
    let Activation { activated, active, details, errors } = activate_all(request, plugins).await?;
    let message = if errors.is_empty() {
        "The plugins were activated."
    } else {
        "Some plugins could not be activated; see the errors."
    };
    let data = json!({
        "activated": activated, "active": active, "plugin_details": map_or_list(details),
    });
    Ok(json!({
        "data": data, "errors": error_bag(&errors), "success": errors.is_empty(),
        "message": message,
    }))
}

pub(super) async fn install_and_activate(
    request: &Later,
    catalogue: &Catalogue,
    plugins: &[String],
) -> Result<Value, Stop> {
    let first = install_all(request, catalogue, plugins).await?;
    let then = activate_all(request, &first.installed).await?;
    Ok(json!({
        "install": {
            "installed": first.installed,
            "results": map_or_list(first.results),
            "errors": error_bag(&first.errors),
            "time": map_or_list(first.time),
        },
        "activate": {
            "activated": then.activated,
            "active": then.active,
            "errors": error_bag(&then.errors),
        },
    }))
}

async fn install_all(
    request: &Later,
    catalogue: &Catalogue,
    plugins: &[String],
) -> Result<Installation, Stop> {
    let mut told = Installation::default();
    let clock = *request.site.clock();
    for slug in plugins {
        if slug == SHOP {
            told.installed.push(slug.clone());
            continue;
        }
        let wanted = slug.clone();
        let before = request.site.store().read(move |conn| lifecycle::get(conn, &wanted)).await?;
        if before.is_none() {
            let started = clock.now();
            match install_one(request, catalogue, slug, started).await {
                Ok(()) => {
                    let took = clock.now().since(started).as_millis();
                    told.results.insert(slug.clone(), json!(true));
                    told.time.insert(slug.clone(), json!(u64::try_from(took).unwrap_or(0)));
                }
                Err(error) => {
                    told.errors.push((slug.clone(), message_of(&error)?));
                    continue;
                }
            }
        }
        told.installed.push(slug.clone());
        let wanted = slug.clone();
        let after = request.site.store().read(move |conn| lifecycle::get(conn, &wanted)).await?;
        if let Some(plugin) = after {
            told.details.insert(slug.clone(), details(&plugin));
        }
    }
    Ok(told)
}

async fn install_one(
    request: &Later,
    catalogue: &Catalogue,
    slug: &str,
    now: Timestamp,
) -> Result<()> {
    let obtained = catalogue.obtain(&request.site, PackageKind::Plugin, slug).await?;
    let install = move |conn: &mut dyn Conn| installation::install(conn, &obtained, now);
    request.site.store().write(install).await
}

/// What a client is told of a failure; our own are not for clients.
fn message_of(error: &Error) -> Result<String, Stop> {
    match error.kind() {
        Kind::Internal => Err(Error::internal("cannot install a plugin").into()),
        _ => Ok(error.to_string()),
    }
}

async fn activate_all(request: &Later, plugins: &[String]) -> Result<Activation, Stop> {
    let mut told = Activation::default();
    for slug in plugins {
        if slug == SHOP {
            told.activated.push(slug.clone());
            continue;
        }
        match activate_one(&request.site, user_of(request)?, slug, request.visit.now).await? {
            Ok(plugin) => {
                told.activated.push(slug.clone());
                told.details.insert(slug.clone(), details(&plugin));
            }
            Err(error) => told.errors.push((slug.clone(), error.to_string())),
        }
    }
    told.active = with_shop(&request.site.store().read(lifecycle::active).await?);
    Ok(told)
}

/// Who asks, as the storage knows them.
pub(super) fn user_of(request: &Later) -> Result<UserRow, Stop> {
    let user = request.visit.identity.user.as_ref();
    let user = user.ok_or_else(|| Error::internal("no user is signed in"))?;
    Ok(user.row.clone())
}

/// Activates a plugin in its own transaction. The inner error is the caller's to fix.
pub(crate) async fn activate_one(
    site: &Arc<Site>,
    user: UserRow,
    slug: &str,
    now: Timestamp,
) -> Result<Result<Installed, Error>> {
    let (inner, slug) = (Arc::clone(site), slug.to_owned());
    let activate = move |conn: &mut dyn Conn| {
        let doing = Doing { site: &inner, user: user.clone(), now };
        let mut plugin = None;
        let done = job::attempt(conn, &mut |conn| {
            plugin = Some(lifecycle::activate(conn, &slug, &doing)?);
            Ok(())
        })?;
        Ok(done.and_then(|()| {
            plugin.ok_or_else(|| Error::internal("an activated plugin no longer exists"))
        }))
    };
    site.store().write(activate).await
}

fn details(plugin: &Installed) -> Value {
    let manifest = &plugin.manifest;
    json!({
        "name": manifest.name,
        "description": manifest.description,
        "uri": manifest.uri,
        "version": manifest.version,
    })
}
