//! What the site bought: fetched from the marketplace, kept, and shown with what is installed.

use std::time::Duration;

use db::Conn;
use frame::Site;
use serde_json::{Map, Value, json};
use types::{Error, Result, Timestamp};

use super::answer::MarketReply;
use super::client::{Account, Market};
use crate::rows::marketplace::{self, SubscriptionRow};
use crate::rows::package::{self, PackageKind, PackageRow};

/// How long the list is believed before the marketplace is asked again.
const LIFE: Duration = Duration::from_hours(3);
/// Something that ends within this time is about to.
const EXPIRING_WITHIN: Duration = Duration::from_hours(24 * 60);
/// Subscriptions that are kept.
const KEPT_MAX: usize = 1_000;
const MICROS: i64 = 1_000_000;
/// What is installed from the marketplace is marked so.
pub(crate) const ORIGIN: &str = "marketplace";

/// Asks the marketplace for the list if it is old or must be new, and keeps it. Returns what the
/// marketplace refused with, if it did.
pub(crate) async fn refresh(
    site: &Site,
    market: &Market,
    is_forced: bool,
) -> Result<Option<MarketReply>> {
    let account = site.store().read({
        let clock_now = site.clock().now();
        move |conn| {
            let fetched =
                marketplace::subscriptions(conn)?.into_iter().map(|one| one.fetched).max();
            let is_old = fetched.is_none_or(|at| clock_now.since(at) > LIFE);
            Ok((marketplace::connection(conn, super::client::SERVICE)?, is_old))
        }
    });
    let (row, is_old) = account.await?;
    let Some(row) = row else { return Ok(None) };
    if !is_old && !is_forced {
        return Ok(None);
    }
    let account = Account { token: super::client::Token::open(site, &row)?, row };
    let reply = market.ask(site, "subscriptions", None, Some(&account)).await?;
    if !reply.is_fine() {
        return Ok(Some(reply));
    }
    let (now, own_id) = (site.clock().now(), account.row.remote_site_id);
    let list = reply.body.as_array().cloned().unwrap_or_default();
    let rows: Vec<SubscriptionRow> =
        list.iter().take(KEPT_MAX).filter_map(|one| read_one(one, own_id, now)).collect();
    site.store().write(move |conn| marketplace::replace_subscriptions(conn, &rows)).await?;
    Ok(None)
}

/// One entry of the marketplace's list; without a number and its connections it is none.
fn read_one(entry: &Value, own_id: i64, now: Timestamp) -> Option<SubscriptionRow> {
    let product_id = entry.get("product_id")?.as_i64().filter(|id| *id > 0)?;
    let connections = entry.get("connections")?.as_array()?;
    let product_key = entry.get("product_key")?.as_str()?.to_owned();
    let is_lifetime = entry.get("lifetime").and_then(Value::as_bool).unwrap_or(false);
    let expires = entry.get("expires").and_then(Value::as_i64).filter(|_| !is_lifetime);
    Some(SubscriptionRow {
        product_key,
        product_id,
        details: entry.to_string(),
        is_connected: connections.iter().any(|id| id.as_i64() == Some(own_id)),
        expires: expires.map(|at| Timestamp::from_micros(at.saturating_mul(MICROS))),
        fetched: now,
    })
}

/// Something that was bought, and what of it is installed.
#[derive(Clone, Debug)]
pub(crate) struct Bought {
    pub(crate) row: SubscriptionRow,
    details: Map<String, Value>,
    pub(crate) local: Option<PackageRow>,
}

impl Bought {
    fn text(&self, name: &str) -> &str {
        self.details.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn slug(&self) -> &str {
        self.text("zip_slug")
    }

    fn kind(&self) -> Option<PackageKind> {
        PackageKind::from_name(self.text("product_type"))
    }

    fn is_expired(&self, now: Timestamp) -> bool {
        self.row.expires.is_some_and(|at| at <= now)
    }
}

/// All that was bought.
fn all(conn: &mut dyn Conn) -> Result<Vec<Bought>> {
    let mut bought = Vec::new();
    for row in marketplace::subscriptions(conn)? {
        let details: Map<String, Value> = serde_json::from_str(&row.details).unwrap_or_default();
        let mut one = Bought { row, details, local: None };
        if let Some(kind) = one.kind() {
            one.local = package::get(conn, kind, one.slug())?;
        }
        bought.push(one);
    }
    Ok(bought)
}

/// What was bought under a key.
pub(crate) fn find(conn: &mut dyn Conn, product_key: &str) -> Result<Option<Bought>> {
    Ok(all(conn)?.into_iter().find(|one| one.row.product_key == product_key))
}

/// The list as clients know it: what was bought, and what is installed from the marketplace
/// although no subscription is known for it.
pub(crate) fn shown(conn: &mut dyn Conn, now: Timestamp) -> Result<Vec<Value>> {
    let bought = all(conn)?;
    let mut shown: Vec<Value> = bought.iter().map(|one| view(one, &bought, now)).collect();
    for kind in [PackageKind::Plugin, PackageKind::Theme] {
        let installed = package::list(conn, kind)?.into_iter();
        let is_alone = |row: &PackageRow| {
            let is_its = |one: &Bought| one.kind() == Some(kind) && one.slug() == row.slug;
            row.origin == ORIGIN && !bought.iter().any(is_its)
        };
        shown.extend(installed.filter(is_alone).map(|row| local_view(&row)));
    }
    let name = |one: &Value| {
        let name = one.get("product_name").and_then(Value::as_str).unwrap_or_default();
        (name.to_lowercase(), one.get("expires").and_then(Value::as_i64))
    };
    shown.sort_by_key(name);
    Ok(shown)
}

/// Something that is installed and that nobody pays for.
fn local_view(row: &PackageRow) -> Value {
    let manifest: Value = serde_json::from_str(&row.manifest).unwrap_or_default();
    let text = |name: &str| manifest.get(name).and_then(Value::as_str).unwrap_or_default();
    json!({
        "product_key": "",
        "product_id": 0,
        "product_name": text("name"),
        "product_url": text("uri"),
        "zip_slug": row.slug,
        "documentation_url": text("documentation"),
        "key_type": "",
        "key_type_label": "",
        "lifetime": false,
        "product_status": "publish",
        "connections": [],
        "expires": 0,
        "expired": true,
        "expiring": false,
        "autorenew": false,
        "maxed": false,
        "sites_max": 0,
        "sites_active": 0,
        "active": false,
        "local": local(Some(row)),
        "has_update": false,
        "subscription_available": false,
        "subscription_installed": false,
    })
}

/// What of a product is installed here.
fn local(row: Option<&PackageRow>) -> Value {
    json!({
        "installed": row.is_some(),
        "active": row.is_some_and(|row| row.is_active),
        "version": row.map(|row| &row.version),
        "type": row.map(|row| row.kind.as_str()),
        "slug": row.map(|row| &row.slug),
        "path": row.map(|row| &row.slug),
    })
}

fn view(one: &Bought, all: &[Bought], now: Timestamp) -> Value {
    let is_expired = one.is_expired(now);
    let ends_soon = one.row.expires.is_some_and(|at| at > now && at.since(now) < EXPIRING_WITHIN);
    let has_other = all.iter().any(|other| {
        other.row.product_id == one.row.product_id
            && other.row.is_connected
            && other.row.product_key != one.row.product_key
    });
    let local = one.local.as_ref();
    let latest = one.details.get("version").and_then(Value::as_str);
    let has_update = local.zip(latest).is_some_and(|(local, latest)| local.version != latest);
    let mut body = one.details.clone();
    let number = |name: &str| one.details.get(name).and_then(Value::as_i64).unwrap_or(0);
    let is_maxed = number("sites_max") > 0 && number("sites_active") >= number("sites_max");
    let own = json!({
        "product_key": one.row.product_key,
        "product_id": one.row.product_id,
        "expires": one.row.expires.map_or(0, |at| at.as_micros() / MICROS),
        "expired": is_expired,
        "expiring": ends_soon,
        "maxed": is_maxed,
        "active": one.row.is_connected,
        "local": self::local(local),
        "has_update": has_update,
        "subscription_available": !one.row.is_connected && !is_expired && !has_other,
        "subscription_installed": local.is_some() && one.row.is_connected,
    });
    body.extend(own.as_object().cloned().unwrap_or_default());
    Value::Object(body)
}

/// The archive of something that was bought, connected and not expired.
pub(crate) async fn archive(site: &Site, market: &Market, slug: &str) -> Result<Vec<u8>> {
    let (now, wanted) = (site.clock().now(), slug.to_owned());
    let found = site.store().read(move |conn| {
        let row = marketplace::connection(conn, super::client::SERVICE)?;
        let bought =
            all(conn)?.into_iter().find(|one| one.slug() == wanted && one.row.is_connected);
        Ok((row, bought))
    });
    let (Some(row), Some(bought)) = found.await? else {
        return Err(Error::not_found("package not found"));
    };
    if bought.is_expired(now) {
        return Err(Error::invalid("the subscription has expired; renew it in the marketplace"));
    }
    let account = Account { token: super::client::Token::open(site, &row)?, row };
    market.archive(site, slug, &account).await
}
