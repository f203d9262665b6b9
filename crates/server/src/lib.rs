//! The only crate that knows axum and hyper: it turns the tables of endpoints into servers.
//!
//! The path of a request: [`listen`] accepts the connection within its limits; [`entrance`] hands
//! requests of the REST interface to [`rest`] and all others to a router; [`pipeline`] gives
//! the request an id, finds the endpoint, authenticates, applies the rate limits, reads and parses
//! the body, runs the endpoint and writes the answer in the interface's own words. **Whatever the
//! bytes, the answer has the published shape.**
//!
//! [`serve`] runs a set of environments until it is told to stop, and then finishes what it
//! accepted. [`housekeeping`], [`deliveries`], [`jobs`], [`notes`] and [`backups`] work in
//! the background.

mod admin;
mod answer;
pub mod backups;
mod bucket;
mod client_address;
mod compression;
mod connected;
pub mod data_keys;
mod deliveries;
mod entrance;
mod feeds;
mod housekeeping;
mod in_process;
mod intake;
mod jobs;
mod limits;
mod listen;
mod live;
pub mod mail;
mod metrics;
mod notes;
pub mod outbound;
mod panics;
mod patience;
mod pipeline;
mod portal;
pub mod request_id;
mod request_options;
mod request_record;
mod rest;
mod settings;
mod shared;
mod sites;
pub mod tls;
mod uploads;
mod web;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use analytics::Facts;
use frame::Neighbour;
use onboarding::Platform;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use types::{Environment, Error, Result};

use entrance::Entrance;
use shared::Shared;

pub use bucket::S3Settings;
pub use in_process::InProcess;
pub use portal::{Asset, Portal};
pub use settings::{FileSettings, Limits, Rate, RateLimits, Settings};
pub use sites::{OPTIONS, Reports, make_site, make_stores, routes, storage};
pub use tls::Tls;

/// An environment to serve.
#[derive(Debug)]
pub struct Serving {
    pub platform: Arc<Platform>,
    pub site: Arc<frame::Site>,
    /// The facts that the site's reports are about.
    pub facts: Arc<Facts>,
    /// Where the facts are kept while the server does not run.
    pub facts_file: Option<PathBuf>,
    pub listen: SocketAddr,
    /// The copies of connected stores.
    pub stores: Arc<connect::Stores>,
}

/// Called once per environment when it accepts requests, with its address.
pub type OnReady<'a> = &'a (dyn Fn(Environment, &str) + Send + Sync);

/// Requests under way are given this long to end when the server stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(15);

fn address_text(address: SocketAddr, is_encrypted: bool) -> String {
    let scheme = if is_encrypted { "https" } else { "http" };
    format!("{scheme}://{address}")
}

/// Lets every environment know where all of them are, so that pages can lead from one to another.
fn introduce(environments: &[Serving], bound: &[TcpListener], is_encrypted: bool) {
    let neighbours: Vec<Neighbour> = environments
        .iter()
        .zip(bound)
        .filter_map(|(serving, listener)| {
            let own = listener.local_addr().ok().map(|at| address_text(at, is_encrypted));
            let url = serving.site.settings().url.clone().or(own)?;
            let url = url.trim_end_matches('/').to_owned();
            Some(Neighbour { environment: serving.site.environment(), url })
        })
        .collect();
    for serving in environments {
        serving.site.meet(neighbours.clone());
    }
}

/// Serves the environments until `stop` completes; then sends clients away, finishes the requests
/// under way and returns.
pub async fn serve(
    environments: Vec<Serving>,
    settings: Settings,
    portal: Portal,
    on_ready: OnReady<'_>,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let shared = Arc::new(Shared::new(settings, portal));
    let (stop_sender, stop_receiver) = watch::channel(false);
    let (drained_sender, drained_receiver) = watch::channel(false);
    let (mut listeners, mut keepers) = (JoinSet::new(), JoinSet::new());

    let tls = acceptor(&shared, &mut keepers, &drained_receiver)?;
    let mut bound = Vec::new();
    for serving in &environments {
        check_plaintext(serving.listen, &shared.settings)?;
        bound.push(bind(serving.listen).await?);
    }
    introduce(&environments, &bound, tls.is_some());
    for serving in &environments {
        shared.probes.probe(&serving.platform).await;
    }
    let admin = bind_admin(&shared.settings).await?;
    let (watched, sites) = watched(&environments);
    let mut feeds = Vec::new();
    if let Some(listener) = admin {
        if let Ok(address) = listener.local_addr() {
            // Port 0 lets the system choose, so the settings do not tell.
            tracing::info!(admin_address = %address, "serving liveness, readiness and metrics");
        }
        let router = admin::router(Arc::clone(&shared), watched, sites);
        let accept =
            listen::run(listener, router, None, Arc::clone(&shared), stop_receiver.clone());
        listeners.spawn(accept);
    }
    for (serving, listener) in environments.into_iter().zip(bound) {
        let Serving { platform, site, facts, facts_file, stores, .. } = serving;
        follow_others(&platform, &facts)?;
        feeds.push(analytics::feed::start(platform.store.clone(), &facts, facts_file)?);
        let watched = (Arc::clone(&platform), Some(Arc::clone(&facts)));
        let environment = platform.environment;
        let address = listener.local_addr().map_err(|error| {
            Error::unavailable("cannot tell the listening address").because(error)
        })?;
        keep(&mut keepers, (&site, &platform, &facts), &shared, &drained_receiver);
        keepers.spawn(connect::worker::run(Arc::clone(&stores), drained_receiver.clone()));
        let entrance = Entrance::new(Arc::clone(&shared), watched, site, Some(stores));
        let (shared, stop) = (Arc::clone(&shared), stop_receiver.clone());
        listeners.spawn(listen::run(listener, entrance, tls.clone(), shared, stop));
        on_ready(environment, &address_text(address, tls.is_some()));
    }
    stop.await;
    tracing::info!("stopping: finishing the requests under way");
    shared.stop();
    let _ = stop_sender.send(true);
    let finished = async {
        while listeners.join_next().await.is_some() {}
        // The last requests have been answered; their events get their numbers too.
        let _ = drained_sender.send(true);
        while keepers.join_next().await.is_some() {}
        // All events have their numbers, so the facts that are kept are those of the end.
        let _ = tokio::task::spawn_blocking(move || drop(feeds)).await;
    };
    let grace = SHUTDOWN_GRACE + shared.settings.drain();
    if tokio::time::timeout(grace, finished).await.is_err() {
        tracing::warn!("some requests did not end in time and were cut off");
    }
    Ok(())
}

/// What the operator's address tells about.
fn watched(environments: &[Serving]) -> (Vec<admin::Watched>, admin::Sites) {
    let watched =
        |serving: &Serving| (Arc::clone(&serving.platform), Some(Arc::clone(&serving.facts)));
    let sites = environments.iter().map(|serving| Arc::clone(&serving.site)).collect();
    let stores = environments.iter().map(|serving| Arc::clone(&serving.stores)).collect();
    (environments.iter().map(watched).collect(), (sites, stores))
}

/// Hears of what other nodes on the database write, and has events looked at when they are
/// numbered, by whichever node.
fn follow_others(platform: &Platform, facts: &Arc<Facts>) -> Result<()> {
    let followed = Arc::downgrade(facts);
    platform.store.on_change("event_heads", move || {
        if let Some(facts) = followed.upgrade() {
            facts.wake();
        }
    });
    platform.store.listen()
}

/// What speaks TLS, if it is wanted.
fn acceptor(
    shared: &Shared,
    keepers: &mut JoinSet<()>,
    drained: &watch::Receiver<bool>,
) -> Result<Option<TlsAcceptor>> {
    let Some(tls) = &shared.settings.tls else { return Ok(None) };
    let tls::Speaker { acceptor, known } = tls::start(tls, keepers, drained)?;
    let _ = shared.certificate.set(known);
    Ok(Some(acceptor))
}

/// The operator's own address, if there is one.
async fn bind_admin(settings: &Settings) -> Result<Option<TcpListener>> {
    let Some(address) = settings.admin_listen else { return Ok(None) };
    check_plaintext(address, settings)?;
    bind(address).await.map(Some)
}

/// Starts what an environment does beside its requests.
fn keep(
    keepers: &mut JoinSet<()>,
    (site, platform, facts): (&Arc<frame::Site>, &Arc<Platform>, &Arc<Facts>),
    shared: &Arc<Shared>,
    drained: &watch::Receiver<bool>,
) {
    let parties = (Arc::clone(site), Arc::clone(platform));
    keepers.spawn(deliveries::run(parties, Arc::clone(shared), drained.clone()));
    keepers.spawn(jobs::run(Arc::clone(site), Arc::clone(shared), drained.clone()));
    keepers.spawn(notes::run(Arc::clone(site), Arc::clone(facts), drained.clone()));
    let schedule = shared.settings.backup.clone();
    keepers.spawn(backups::keep_schedule(Arc::clone(site), schedule, drained.clone()));
    keepers.spawn(housekeeping::run(Arc::clone(platform), drained.clone()));
    keepers.spawn(housekeeping::follow_keys(Arc::clone(platform), drained.clone()));
    keepers.spawn(housekeeping::sweep_library(Arc::clone(site), drained.clone()));
    keepers.spawn(housekeeping::cancel_unpaid_orders(Arc::clone(site), drained.clone()));
    keepers.spawn(housekeeping::index_texts(Arc::clone(platform), drained.clone()));
}

async fn bind(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        Error::unavailable(format!(
            "cannot listen on {address}; is another server running there? choose another with \
             --listen"
        ))
        .because(error)
    })
}

/// Keys and personal data must not cross a network in plain text.
fn check_plaintext(address: SocketAddr, settings: &Settings) -> Result<()> {
    if address.ip().is_loopback() || settings.tls.is_some() || settings.allow_plaintext {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{address} is not a loopback address and there is no certificate; set server.tls, or \
         server.allow_plaintext = true if a proxy in front of this server speaks TLS"
    )))
}

/// Every statement of the product, so that somebody can see whether a database understands them.
pub fn all_statements() -> Vec<&'static db::Sql> {
    [
        db::all_statements(),
        site_rows::all_statements(),
        shop_rows::all_statements(),
        onboarding::rows::all_statements(),
        ::admin::rows::all_statements(),
    ]
    .concat()
}
