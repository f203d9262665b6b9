//! The routes of the marketplace: what it features, what the site bought there, and what becomes of
//! that here.
//!
//! Their answers have a form of their own, `{success, data}`, which clients know. The connection
//! itself is made by [`crate::connect`].

mod answers;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract::rest::route::{CREATE, READ, Route};
use contract::rest::{Args, Body, Reply, Schema, Stop, Treatment};
use db::Conn;
use frame::action::{Later, Outcome, later};
use frame::{Action, Call, Names};
use serde_json::{Value, json};
use types::{Capability, Error, Kind, Result, Timestamp};

use crate::marketplace::MarketReply;
use crate::marketplace::client::{Account, Market};
use crate::marketplace::subscriptions::{self, Bought};
use crate::plugins::activate_one;
use crate::rows::package::PackageKind;
use crate::themes;

/// How long the featured document is shown before it is asked for again.
const FEATURED_LIFE: Duration = Duration::from_hours(24);
/// Characters of a preview's style sheet at most.
const STYLE_LENGTH_MAX: usize = 50_000;

/// State shared by the routes.
#[derive(Debug)]
pub(crate) struct RouteState {
    market: Arc<Market>,
    featured: Mutex<Option<(Timestamp, Value)>>,
}

type Answering =
    fn(&RouteState, Later) -> std::pin::Pin<Box<dyn Future<Output = Outcome> + Send + '_>>;

pub(crate) fn routes(names: &Names, market: &Arc<Market>) -> Vec<Route<Action>> {
    let state = Arc::new(RouteState { market: Arc::clone(market), featured: Mutex::new(None) });
    let action = |run: Answering| {
        let state = Arc::clone(&state);
        later(may_manage, move |request: Later| {
            let state = Arc::clone(&state);
            async move { run(&state, request).await }
        })
    };
    let at = |path: &str| Route::at(&names.commerce_v3, path);
    let subscriptions = || answers::subscription().document();
    let preview = Route::at(&names.commerce_v1, "/marketplace/product-preview");
    let routes = [
        at("/marketplace/featured")
            .on(READ, Args::new(), action(|d, a| Box::pin(featured(d, a))))
            .shows(answers::featured()),
        at("/marketplace/refresh")
            .on(CREATE, Args::new(), action(|d, a| Box::pin(refresh(d, a))))
            .shows_several(subscriptions()),
        at("/marketplace/subscriptions")
            .on(READ, Args::new(), action(|d, a| Box::pin(list(d, a))))
            .shows_several(subscriptions()),
        at("/marketplace/subscriptions/connect")
            .on(CREATE, key_args(), action(|d, a| Box::pin(use_it(d, a, "subscriptions/activate"))))
            .shows(answers::done()),
        at("/marketplace/subscriptions/disconnect")
            .on(
                CREATE,
                key_args(),
                action(|d, a| Box::pin(use_it(d, a, "subscriptions/deactivate"))),
            )
            .shows(answers::done()),
        at("/marketplace/subscriptions/activate-plugin")
            .on(CREATE, key_args(), action(|d, a| Box::pin(activate(d, a))))
            .shows(answers::done()),
        at("/marketplace/subscriptions/activate")
            .on(CREATE, key_args(), action(|d, a| Box::pin(activate(d, a))))
            .shows(answers::done()),
        at("/marketplace/subscriptions/install-url")
            .on(READ, key_args(), action(|d, a| Box::pin(install_url(d, a))))
            .shows(answers::install_url()),
        at("/marketplace/create-order")
            .on(CREATE, order_args(), action(|d, a| Box::pin(order(d, a))))
            .shows(answers::order()),
        preview
            .on(READ, Args::new(), action(|d, a| Box::pin(product_preview(d, a))))
            .refuses_with(&[404])
            .shows(answers::preview()),
    ];
    routes.into_iter().map(|route| route.refuses_like(answers::failure())).collect()
}

fn key_args() -> Args {
    let about = "Key of the subscription.";
    Args::new().arg("product_key", Schema::text().required().about(about))
}

fn order_args() -> Args {
    let product = Schema::any().required().about("Product ID.");
    let treatment = Treatment::Custom(is_whole_number, |value, _| Ok(value.clone()));
    Args::new().treated("product_id", product, treatment)
}

fn may_manage(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.can(Capability::ManageWoocommerce) { Ok(()) } else { Err(call.forbidden().into()) }
}

fn is_whole_number(
    value: &Value,
    _: &str,
) -> Result<(), Option<contract::rest::check::ParamError>> {
    if value.is_i64() { Ok(()) } else { Err(None) }
}

/// What went well, in words.
fn done(message: &str) -> Reply {
    Reply::new(json!({ "success": true, "data": { "message": message } }))
}

fn failed(status: u16, message: impl Into<String>) -> Reply {
    let body = json!({ "success": false, "data": { "message": message.into() } });
    Reply::of(status, Body::Json(body))
}

/// A marketplace that is away is the client's news and not our failure.
fn away(error: &Error, status: u16) -> Outcome {
    match error.kind() {
        Kind::Internal => Err(Error::internal("cannot reach the marketplace").into()),
        _ => Ok(failed(status, error.to_string())),
    }
}

async fn account_of(request: &Later) -> Result<Option<Account>> {
    let site = Arc::clone(&request.site);
    request.site.store().read(move |conn| Market::account(&site, conn)).await
}

async fn featured(state: &RouteState, request: Later) -> Outcome {
    let now = request.visit.now;
    let kept = state.featured.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some((at, document)) = kept
        && now.since(at) < FEATURED_LIFE
    {
        return Ok(Reply::new(document));
    }
    let options = &request.visit.options;
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("locale", &options.text("WPLANG"))
        .append_pair("country", &crate::country::of(options))
        .finish();
    let account = account_of(&request).await?;
    let path = format!("featured?{query}");
    let reply = match state.market.ask(&request.site, &path, None, account.as_ref()).await {
        Ok(reply) => reply,
        Err(error) => return away(&error, 200),
    };
    if !reply.is_fine() || !reply.body.is_array() {
        return Ok(failed(200, reply.message()));
    }
    let kept = Some((now, reply.body.clone()));
    *state.featured.lock().unwrap_or_else(PoisonError::into_inner) = kept;
    Ok(Reply::new(reply.body))
}

async fn shown(request: &Later) -> Outcome {
    let now = request.visit.now;
    let list = request.site.store().read(move |conn| subscriptions::shown(conn, now)).await?;
    Ok(Reply::new(list))
}

/// What is kept is shown even while the marketplace is away.
async fn list(state: &RouteState, request: Later) -> Outcome {
    if let Err(error) = subscriptions::refresh(&request.site, &state.market, false).await {
        tracing::warn!(error = %error.report(), "cannot fetch subscriptions");
    }
    shown(&request).await
}

async fn refresh(state: &RouteState, request: Later) -> Outcome {
    state.market.resume();
    *state.featured.lock().unwrap_or_else(PoisonError::into_inner) = None;
    match subscriptions::refresh(&request.site, &state.market, true).await {
        Ok(None) => shown(&request).await,
        Ok(Some(reply)) => Ok(failed(relayed(reply.status), reply.message())),
        Err(error) => away(&error, 400),
    }
}

/// A status of the marketplace as we pass it on: its own failures are not ours.
fn relayed(status: u16) -> u16 {
    if (400..500).contains(&status) { status } else { 400 }
}

async fn bought(request: &Later) -> Result<Option<Bought>> {
    let key = request.params.text("product_key").unwrap_or_default().to_owned();
    request.site.store().read(move |conn| subscriptions::find(conn, &key)).await
}

fn unknown_key() -> Reply {
    failed(400, "Subscription not found; refresh the list.")
}

/// Begins or ends the use of something that was bought.
async fn use_it(state: &RouteState, request: Later, path: &str) -> Outcome {
    let (Some(one), Some(account)) = (bought(&request).await?, account_of(&request).await?) else {
        return Ok(unknown_key());
    };
    let body = json!({
        "product_key": one.row.product_key, "site_id": account.row.remote_site_id,
    });
    let reply = match state.market.ask(&request.site, path, Some(body), Some(&account)).await {
        Ok(reply) => reply,
        Err(error) => return away(&error, 400),
    };
    let code = reply.body.get("code").and_then(Value::as_str).unwrap_or_default();
    if !reply.is_fine() && code != "already_connected" {
        return Ok(refusal_of(&reply));
    }
    // The bundled marketplace keeps nothing, so what it knows of the site is what is kept here.
    let is_used = path.ends_with("/activate");
    let key = one.row.product_key.clone();
    request.site.store().write(move |conn| set_used(conn, &key, is_used)).await?;
    if let Err(error) = subscriptions::refresh(&request.site, &state.market, true).await {
        tracing::warn!(error = %error.report(), "cannot fetch subscriptions");
    }
    Ok(done(if is_used {
        "The subscription was activated for this site."
    } else {
        "The subscription was deactivated for this site."
    }))
}

fn set_used(conn: &mut dyn Conn, product_key: &str, is_used: bool) -> Result<()> {
    let mut rows = crate::rows::marketplace::subscriptions(conn)?;
    for row in rows.iter_mut().filter(|row| row.product_key == product_key) {
        row.is_connected = is_used;
    }
    crate::rows::marketplace::replace_subscriptions(conn, &rows)
}

/// The marketplace's refusal with its own code and data.
fn refusal_of(reply: &MarketReply) -> Reply {
    let data = json!({
        "message": reply.message(),
        "code": reply.body.get("code"),
        "data": reply.body.get("data"),
    });
    let body = json!({ "success": false, "data": data });
    Reply::of(relayed(reply.status), Body::Json(body))
}

/// Activates what is installed of a product.
async fn activate(_: &RouteState, request: Later) -> Outcome {
    let Some(one) = bought(&request).await? else { return Ok(unknown_key()) };
    let Some(local) = &one.local else {
        return Ok(failed(400, "The product is not installed on this site; install it first."));
    };
    let identity = &request.visit.identity;
    let needed = match local.kind {
        PackageKind::Plugin => Capability::ActivatePlugins,
        PackageKind::Theme => Capability::SwitchThemes,
    };
    let user = identity.user.as_ref().filter(|_| identity.can(needed));
    let Some(user) = user else {
        return Ok(failed(403, "You are not allowed to activate this product."));
    };
    let (slug, now) = (local.slug.clone(), request.visit.now);
    match local.kind {
        PackageKind::Plugin => {
            let activated = activate_one(&request.site, user.row.clone(), &slug, now).await?;
            if let Err(error) = activated {
                return Ok(failed(400, error.to_string()));
            }
        }
        PackageKind::Theme => {
            let switch = move |conn: &mut dyn Conn| themes::switch(conn, &slug, now);
            if request.site.store().write(switch).await?.is_none() {
                return Ok(failed(400, "The theme is no longer installed."));
            }
        }
    }
    Ok(done("The product was activated."))
}

/// Where a browser is sent to have the product installed.
async fn install_url(state: &RouteState, request: Later) -> Outcome {
    let Some(one) = bought(&request).await? else { return Ok(unknown_key()) };
    if one.local.is_some() {
        return Ok(done("The product is already installed."));
    }
    let Some(account) = account_of(&request).await? else {
        return Ok(failed(400, "Connect the site to the marketplace first."));
    };
    let url = if let Some(mut url) = state.market.page("install") {
        let token = &account.token;
        let signed = format!("{} {}", one.row.product_key, token.access_token);
        let signature = frame::signing::hmac_sha256_base64(
            token.access_token_secret.as_bytes(),
            signed.as_bytes(),
        )?;
        url.query_pairs_mut()
            .append_pair("product-key", &one.row.product_key)
            .append_pair("token", &token.access_token)
            .append_pair("signature", &signature);
        url.to_string()
    } else {
        request.visit.page(&format!("/portal/plugins/{}?install=1", one.slug()))
    };
    Ok(Reply::new(json!({ "success": true, "data": { "url": url } })))
}

/// Relays an order. The marketplace's answer is passed on as it is.
async fn order(state: &RouteState, request: Later) -> Outcome {
    if !request.visit.identity.can(Capability::InstallPlugins) {
        let message = "You are not allowed to make purchases for this site.";
        return Ok(Reply::of(403, Body::Json(json!({ "message": message }))));
    }
    let product_id = request.params.int("product_id").unwrap_or(0);
    let Some(account) = account_of(&request).await? else {
        let message = "Connect the site to the marketplace first.";
        let body = json!({ "message": message, "code": "could-not-install" });
        return Ok(Reply::of(400, Body::Json(body)));
    };
    let body = json!({
        "product_id": product_id,
        "home_url": request.visit.home,
        "site_id": account.row.remote_site_id,
    });
    match state.market.ask(&request.site, "orders", Some(body), Some(&account)).await {
        Ok(reply) if reply.is_fine() => Ok(Reply::of(reply.status, Body::Json(reply.body))),
        Ok(reply) => Ok(Reply::of(relayed(reply.status), Body::Json(reply.body))),
        Err(error) if error.kind() == Kind::Internal => Err(error.into()),
        Err(error) => {
            let body = json!({ "message": error.to_string(), "code": "could-not-install" });
            Ok(Reply::of(400, Body::Json(body)))
        }
    }
}

async fn product_preview(state: &RouteState, request: Later) -> Outcome {
    let product_id = request.params.int("product_id").filter(|id| *id > 0);
    let Some(product_id) = product_id else {
        return Ok(failed(400, "A product ID is required."));
    };
    let path = format!("products/{product_id}/preview");
    let account = account_of(&request).await?;
    let reply = match state.market.ask(&request.site, &path, None, account.as_ref()).await {
        Ok(reply) => reply,
        Err(error) => return away(&error, 200),
    };
    if reply.status == 404 {
        return Ok(failed(404, reply.message()));
    }
    let text = |name: &str| reply.body.get(name).and_then(Value::as_str);
    match (reply.is_fine(), text("css"), text("html")) {
        (true, Some(css), Some(html)) => Ok(Reply::new(json!({
            "css": clean_style(css), "html": frame::text::clean_content(html),
        }))),
        _ => Ok(failed(200, reply.message())),
    }
}

/// A style sheet that fetches nothing and ends no element.
fn clean_style(css: &str) -> String {
    let lower = css.to_ascii_lowercase();
    let forbidden = ["<", "@import", "url(", "expression(", "javascript:", "\\"];
    if forbidden.iter().any(|part| lower.contains(part)) {
        return String::new();
    }
    css.chars().take(STYLE_LENGTH_MAX).collect()
}
