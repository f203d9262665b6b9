//! Connecting the site to services elsewhere: the marketplace, and those that active plugins name.
//!
//! Who leaves for another site to grant something comes back with a **[`state`] that this site made
//! for them**: bound to the service and to the user, good once and for a quarter of an hour.
//! Without one nobody is connected to anything.

mod state;

use std::sync::Arc;
use std::time::Duration;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use db::Conn;
use frame::action::{Later, Outcome, later, read, write};
use frame::managers::may_view;
use frame::{Action, Call, Names, Site, Visit};
use serde_json::{Value, json};
use site_rows::login_token::LoginTokenRow;
use types::{Error, Kind, Result, Timestamp};
use url::Url;

use self::state::Leaving;
use crate::answers::success;
use crate::marketplace::client::{Market, SERVICE, Token};
use crate::marketplace::subscriptions;
use crate::package::manifest::Connection;
use crate::plugins::{lifecycle, may_install, split_refusal};
use crate::rows::marketplace::{self, ConnectionRow};

/// Characters of what a service hands out.
const CODE_LENGTH_MAX: usize = 2_000;
/// Where people come back to.
const RETURN_PATH: &str = "/portal/connect";
/// Errors of connections that are told of.
const ERRORS_MAX: i64 = 20;
const ERROR_LIFE: Duration = Duration::from_hours(24);

pub(crate) fn routes(names: &Names, market: &Arc<Market>) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin, path).schema(connect_schema());
    let own = |path: &str| Route::at(&names.docs, path);
    let (to_start, to_finish) = (Arc::clone(market), Arc::clone(market));
    let text = Schema::text;
    let authorization = Args::new()
        .arg("redirect_url", text().required().about("URL to return to."))
        .arg("from", text().default("woocommerce-onboarding").about("Source of the request."));
    let service = || Args::new().arg("service", text().about("Service name."));
    let returned = service()
        .arg("state", text().required().about("State, as returned by the service."))
        .arg("code", text().required().about("Code issued by the service."));
    vec![
        at("/plugins/connect-jetpack")
            .on(READ, Args::new(), write(may_install, jetpack))
            .refuses_with(&[404]),
        at("/plugins/request-wccom-connect")
            .on(
                CREATE,
                Args::new(),
                later(may_install, move |request| start(request, Arc::clone(&to_start))),
            )
            .shows(Schema::object([
                ("connectAction", text().about("URL at which to authorize the connection.")),
                ("state", text().about("What to come back with.")),
            ])),
        at("/plugins/finish-wccom-connect")
            .on(
                CREATE,
                Args::new(),
                later(may_install, move |request| finish(request, Arc::clone(&to_finish))),
            )
            .shows(success("Always true.")),
        at("/plugins/connect-wcpay")
            .on(EDIT, Args::new(), write(may_install, payments))
            .shows(connect_url_schema()),
        at("/plugins/connect-square")
            .on(EDIT, Args::new(), write(may_install, square))
            .shows(connect_url_schema()),
        Route::at(&names.admin, "/onboarding/plugins/jetpack-authorization-url")
            .on(READ, authorization, write(may_install, jetpack_url))
            .shows(authorization_schema()),
        own("/connections").on(READ, Args::new(), read(may_view, list)).shows(connections_schema()),
        own(r"/connections/(?P<service>[a-z0-9_\-]+)")
            .on(CREATE, returned, write(may_install, keep))
            .shows(success("Always true."))
            .on(DELETE, service(), write(may_install, disconnect))
            .shows(success("Always true.")),
    ]
}

fn connect_url_schema() -> Schema {
    let url = Schema::text().about("URL at which to authorize the connection.");
    Schema::object([("connectUrl", url)])
}

/// What [`jetpack_url`] tells.
fn authorization_schema() -> Schema {
    Schema::object([
        ("success", Schema::boolean().about("Whether the service can be connected.")),
        ("errors", Schema::list(Schema::text()).about("Why it cannot.")),
        ("color_scheme", Schema::text().about("Colours of the page.")),
        ("url", Schema::text().about("Where to go.")),
    ])
}

/// What [`list`] shows.
fn connections_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    let connection = Schema::object([
        ("service", text("Service name.")),
        ("is_connected", Schema::boolean().about("Whether the site is connected to it.")),
        ("connected_at", text("When it was connected.").or_null()),
        ("connected_by", Schema::integer().about("User who connected it.").or_null()),
    ]);
    let error = Schema::object([
        ("code", text("Error code.")),
        ("message", text("Error message.")),
        ("at", text("When the error was recorded.")),
    ]);
    Schema::object([
        ("connections", Schema::list(connection).about("All services.")),
        ("errors", Schema::list(error).about("Recent errors of connections.")),
    ])
}

fn connect_schema() -> Value {
    let text = |about: &'static str| Schema::text().about(about).readonly();
    let schema = Schema::object([
        ("slug", text("Service name as displayed.")),
        ("name", text("Service name.")),
        ("connectAction", text("URL at which to authorize the connection.")),
    ]);
    contract::rest::Item::new("plugins", schema).document()
}

const START_AGAIN: &str = "Invalid state: it is unknown, belongs to another user, was already \
                           used or has expired. Start again.";

fn not_connected(message: impl Into<String>) -> Stop {
    Refusal::new(400, "woocommerce_rest_helper_connect", message.into()).into()
}

/// Where the marketplace sends people back to.
fn return_address(visit: &Visit, service: &str, state: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("task", "connect")
        .append_pair("wccom-connected", "1")
        .append_pair("service", service)
        .append_pair("state", state)
        .finish();
    visit.page(&format!("{RETURN_PATH}?{query}"))
}

/// Who leaves for a service.
fn leaving<'a>(site: &'a Site, visit: &'a Visit, service: &'a str) -> Leaving<'a> {
    Leaving { site, identity: &visit.identity, service, now: visit.now }
}

/// Begins the connection to the marketplace: where to go and grant it.
async fn start(request: Later, market: Arc<Market>) -> Outcome {
    let visit = &request.visit;
    let leaving = leaving(&request.site, visit, SERVICE);
    let state = leaving.sign()?;
    let back = return_address(visit, SERVICE, &state);
    let body = json!({ "home_url": visit.home, "redirect_uri": back });
    let reply = market.ask(&request.site, "oauth/request_token", Some(body), None).await;
    let reply = reply.map_err(refusal_of)?;
    let secret = reply.body.get("secret").and_then(Value::as_str);
    let Some(secret) = secret.filter(|_| reply.is_fine()) else {
        return Err(not_connected(reply.message()));
    };
    let row = leaving.row(&state, secret)?;
    let kept = request.site.store().write(move |conn| split_refusal(state::keep(conn, &row)));
    kept.await?.map_err(Stop::from)?;
    let action = match market.page("oauth/authorize") {
        Some(mut url) => {
            url.query_pairs_mut()
                .append_pair("home_url", &visit.home)
                .append_pair("redirect_uri", &back)
                .append_pair("secret", secret)
                .append_pair("wccom-from", "onboarding");
            url.to_string()
        }
        // Nobody has to be asked elsewhere: people come back at once.
        None => {
            format!("{back}&request_token={}", Market::own_request_token(&request.site, secret))
        }
    };
    Ok(Reply::new(json!({ "connectAction": action, "state": state })))
}

/// A marketplace that does not respond is not an internal error.
fn refusal_of(error: Error) -> Stop {
    match error.kind() {
        Kind::Internal => error.into(),
        _ => not_connected(error.to_string()),
    }
}

/// Ends it: the token of the one who came back is exchanged for the site's own. Clients that know
/// of no state send the token alone; the marketplace is shown what it said when this user left, so
/// that **a token that was granted to somebody else's request is worth nothing here.**
async fn finish(request: Later, market: Arc<Market>) -> Outcome {
    let visit = &request.visit;
    let leaving = leaving(&request.site, visit, SERVICE);
    let text = |name: &str| request.params.text(name).unwrap_or_default().to_owned();
    let pending = pending(&request, text("state")).await?;
    let Some(pending) = pending else { return Err(not_connected(START_AGAIN)) };
    let secret = leaving.secret(&pending)?;
    let body = json!({
        "request_token": text("request_token"),
        "secret": secret.expose(),
        "home_url": visit.home,
    });
    let reply = market.ask(&request.site, "oauth/access_token", Some(body), None).await;
    let reply = reply.map_err(refusal_of)?;
    let member = |name: &str| reply.body.get(name).and_then(Value::as_str).map(str::to_owned);
    let (Some(access_token), Some(access_token_secret), true) =
        (member("access_token"), member("access_token_secret"), reply.is_fine())
    else {
        return Err(not_connected(reply.message()));
    };
    let number = |name: &str| reply.body.get(name).and_then(Value::as_i64).unwrap_or(0);
    let token = Token { access_token, access_token_secret };
    let row = ConnectionRow {
        service: SERVICE.to_owned(),
        token_sealed: token.seal(&request.site, SERVICE)?,
        remote_site_id: number("site_id"),
        remote_user_id: number("user_id"),
        user_id: pending.user_id,
        connected: visit.now,
    };
    let connect = move |conn: &mut dyn Conn| {
        let is_first = state::spend(conn, &pending)?;
        if is_first {
            marketplace::connect(conn, &row)?;
        }
        Ok(is_first)
    };
    if !request.site.store().write(connect).await? {
        return Err(not_connected(START_AGAIN));
    }
    // A token with which nothing can be read is worth nothing.
    let refused = match subscriptions::refresh(&request.site, &market, true).await {
        Ok(None) => return Ok(Reply::new(json!({ "success": true }))),
        Ok(Some(reply)) => not_connected(reply.message()),
        Err(error) => refusal_of(error),
    };
    request.site.store().write(|conn| marketplace::disconnect(conn, SERVICE)).await?;
    Err(refused)
}

/// What waits for the caller to come back from the marketplace.
async fn pending(request: &Later, state: String) -> Result<Option<LoginTokenRow>> {
    let (site, visit) = (Arc::clone(&request.site), Arc::clone(&request.visit));
    let find = move |conn: &mut dyn Conn| leaving(&site, &visit, SERVICE).find(conn, &state);
    request.site.store().read(find).await
}

/// What an active plugin says of a service, and the plugin's name.
fn contributed(conn: &mut dyn Conn, service: &str) -> Result<Option<(Connection, String)>> {
    let plugins = lifecycle::active(conn)?.into_iter();
    let mut found = plugins.filter_map(|plugin| {
        let connections = &plugin.manifest.contributes.connections;
        let one = connections.iter().find(|one| one.service == service)?.clone();
        Some((one, plugin.manifest.name))
    });
    Ok(found.next())
}

/// Where to grant a service, with a state to come back with.
fn grant_address(call: &mut Call<'_>, service: &str, back: &str) -> Result<Option<String>, Stop> {
    let Some((wanted, _)) = contributed(call.conn()?, service)? else { return Ok(None) };
    let leaving = leaving(call.site, call.visit, service);
    let state = leaving.sign()?;
    let row = leaving.row(&state, "")?;
    state::keep(call.conn()?, &row)?;
    let back =
        if back.is_empty() { return_address(call.visit, service, &state) } else { back.into() };
    let mut url = Url::parse(&wanted.authorize_url)
        .map_err(|error| Error::internal("a plugin's URL is invalid").because(error))?;
    url.query_pairs_mut()
        .append_pair("redirect_uri", &back)
        .append_pair("state", &state)
        .append_pair("scope", &wanted.scopes.join(" "));
    Ok(Some(url.to_string()))
}

const JETPACK: &str = "jetpack";

fn jetpack(call: &mut Call<'_>) -> Outcome {
    let name = contributed(call.conn()?, JETPACK)?.map(|(_, name)| name);
    let back = own_address(call, "redirect_url")?;
    let (Some(url), Some(name)) = (grant_address(call, JETPACK, &back)?, name) else {
        let message = "No active plugin connects to this service; activate one first.";
        return Err(Refusal::new(404, "woocommerce_rest_jetpack_not_active", message).into());
    };
    Ok(Reply::new(json!({ "slug": JETPACK, "name": name, "connectAction": url })))
}

/// An address of this site that the request names; empty for none. Others lead people astray.
fn own_address(call: &Call<'_>, name: &str) -> Result<String, Stop> {
    let address = call.params.text(name).unwrap_or_default();
    let rest = address.strip_prefix(&*call.visit.home);
    let is_own = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']));
    if address.is_empty() || is_own {
        return Ok(address.to_owned());
    }
    let message = format!("{name} must be a URL of this site.");
    Err(Refusal::new(400, "rest_invalid_param", message).into())
}

fn connect_url(call: &mut Call<'_>, service: &str) -> Outcome {
    match grant_address(call, service, "")? {
        Some(url) => Ok(Reply::new(json!({ "connectUrl": url }))),
        None => Err(not_connected(
            "No active plugin connects to this service; install and activate one first.",
        )),
    }
}

fn payments(call: &mut Call<'_>) -> Outcome {
    connect_url(call, "wcpay")
}

fn square(call: &mut Call<'_>) -> Outcome {
    connect_url(call, "square")
}

/// As [`jetpack`], in the form that a new shop's client knows: always 200, with what is wrong.
fn jetpack_url(call: &mut Call<'_>) -> Outcome {
    let mut errors: Vec<String> = Vec::new();
    let back = match own_address(call, "redirect_url") {
        Ok(back) => back,
        Err(Stop::Refused(refusal)) => {
            errors.push(refusal.message.to_string());
            String::new()
        }
        Err(stop) => return Err(stop),
    };
    let url = if let Some(url) = grant_address(call, JETPACK, &back)? {
        let from = call.params.text("from").unwrap_or_default();
        let mut url = Url::parse(&url)
            .map_err(|error| Error::internal("a plugin's URL is invalid").because(error))?;
        url.query_pairs_mut().append_pair("from", from);
        url.to_string()
    } else {
        errors.push(String::from("No active plugin connects to this service."));
        call.visit.page("/portal/plugins")
    };
    Ok(Reply::new(json!({
        "success": errors.is_empty(), "errors": errors, "color_scheme": "fresh", "url": url,
    })))
}

/// The site's connections, without their tokens, and what is wrong with them.
fn list(call: &mut Call<'_>) -> Outcome {
    let now = call.now();
    let since = Timestamp::from_micros(
        now.as_micros().saturating_sub(i64::try_from(ERROR_LIFE.as_micros()).unwrap_or(i64::MAX)),
    );
    let conn = call.conn()?;
    let mut services = vec![SERVICE.to_owned()];
    for plugin in lifecycle::active(conn)? {
        services.extend(plugin.manifest.contributes.connections.into_iter().map(|c| c.service));
    }
    let mut connections = Vec::new();
    for service in services {
        let row = marketplace::connection(conn, &service)?;
        connections.push(json!({
            "service": service,
            "is_connected": row.is_some(),
            "connected_at": row.as_ref().map(|row| row.connected.to_string()),
            "connected_by": row.as_ref().map(|row| row.user_id),
        }));
    }
    let errors = marketplace::errors_verified(conn, since, ERRORS_MAX)?.into_iter().map(|error| {
        json!({ "code": error.code, "message": error.message, "at": error.raised.to_string() })
    });
    let errors: Vec<Value> = errors.collect();
    Ok(Reply::new(json!({ "connections": connections, "errors": errors })))
}

/// Keeps what a service handed out to somebody who came back with their state.
fn keep(call: &mut Call<'_>) -> Outcome {
    let text = |name: &str| call.params.text(name).unwrap_or_default().to_owned();
    let (service, state, code) = (text("service"), text("state"), text("code"));
    let leaving = leaving(call.site, call.visit, &service);
    // The marketplace's token is fetched and not brought along, and only what an active plugin
    // names is a service.
    let is_known = contributed(call.conn()?, &service)?.is_some();
    let pending = leaving.find(call.conn()?, &state)?.filter(|_| is_known && !state.is_empty());
    let Some(pending) = pending else {
        return Err(Refusal::new(400, "boardwalk_invalid_state", START_AGAIN).into());
    };
    if code.is_empty() || code.len() > CODE_LENGTH_MAX {
        let message = "The code issued by the service is required.";
        return Err(Refusal::new(400, "boardwalk_invalid_code", message).into());
    }
    let token = Token { access_token: code, access_token_secret: String::new() };
    let row = ConnectionRow {
        token_sealed: token.seal(call.site, &service)?,
        service,
        user_id: call.user_id(),
        connected: call.now(),
        ..ConnectionRow::default()
    };
    if !state::spend(call.conn()?, &pending)? {
        return Err(Refusal::new(400, "boardwalk_invalid_state", START_AGAIN).into());
    }
    marketplace::connect(call.conn()?, &row)?;
    Ok(Reply::new(json!({ "success": true })))
}

/// Forgets a connection, and what the marketplace told over it.
fn disconnect(call: &mut Call<'_>) -> Outcome {
    let service = call.params.text("service").unwrap_or_default().to_owned();
    let conn = call.conn()?;
    if !marketplace::disconnect(conn, &service)? {
        let message = "The site is not connected to this service.";
        return Err(Refusal::new(404, "boardwalk_not_connected", message).into());
    }
    if service == SERVICE {
        marketplace::replace_subscriptions(conn, &[])?;
    }
    Ok(Reply::new(json!({ "success": true })))
}
