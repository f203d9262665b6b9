//! The only crate that knows axum and hyper: it turns the tables of endpoints into servers.
//!
//! The path of a request: [`listen`] accepts the connection within its limits; [`pipeline`] gives
//! the request an id, finds the endpoint, authenticates, applies the rate limits, reads and parses
//! the body, runs the endpoint and writes the answer in the interface's own words. **Whatever the
//! bytes, the answer has the published shape.**
//!
//! [`serve`] runs a set of environments until it is told to stop, and then finishes what it
//! accepted. [`housekeeping`], [`deliveries`], [`jobs`] and [`notes`] work in the background.

mod admin;
mod answer;
mod client_address;
mod deliveries;
mod feeds;
mod harness;
mod housekeeping;
mod intake;
mod jobs;
mod limits;
mod listen;
mod live;
pub mod mail;
mod metrics;
mod notes;
mod noting;
pub mod outbound;
mod panics;
mod patience;
mod pipeline;
mod portal;
mod rest;
mod settings;
mod tls;
mod web;
mod wishes;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use analytics::facts::Facts;
use contract::rest::route::Route;
use onboarding::Platform;
use site::me::Neighbour;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use types::{Environment, Error, Result};

pub use ::portal::is_here as has_portal;
pub use harness::{Harness, Sandbox};
pub use settings::{Limits, Rate, RateLimits, Settings, Tls};

/// An environment to serve.
#[derive(Debug)]
pub struct Serving {
    pub platform: Arc<Platform>,
    pub site: Arc<site::Site>,
    /// The facts that the site's reports are about.
    pub facts: Arc<Facts>,
    /// Where the facts are kept while the server does not run.
    pub facts_file: Option<PathBuf>,
    pub listen: SocketAddr,
}

/// Called once per environment when it accepts requests, with its address.
pub type OnReady<'a> = &'a (dyn Fn(Environment, &str) + Send + Sync);

/// Requests under way are given this long to end when the server stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(15);

/// What all parts of a running server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) metrics: metrics::Metrics,
    probes: admin::WriteProbes,
    started: Instant,
    stopping: AtomicBool,
}

impl Shared {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            metrics: metrics::Metrics::default(),
            probes: admin::WriteProbes::default(),
            started: Instant::now(),
            stopping: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

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
    on_ready: OnReady<'_>,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let tls = settings.tls.as_ref().map(tls::acceptor).transpose()?;
    let shared = Arc::new(Shared::new(settings));
    let (stop_sender, stop_receiver) = watch::channel(false);
    let (drained_sender, drained_receiver) = watch::channel(false);
    let (mut listeners, mut keepers) = (JoinSet::new(), JoinSet::new());

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
    let watched: Vec<admin::Watched> = environments
        .iter()
        .map(|serving| (Arc::clone(&serving.platform), Some(Arc::clone(&serving.facts))))
        .collect();
    let mut feeds = Vec::new();
    if let Some(listener) = admin {
        if let Ok(address) = listener.local_addr() {
            // Port 0 lets the system choose, so the settings do not tell.
            tracing::info!(admin_address = %address, "serving liveness, readiness and metrics");
        }
        let router = admin::router(Arc::clone(&shared), watched);
        let accept =
            listen::run(listener, router, None, Arc::clone(&shared), stop_receiver.clone());
        listeners.spawn(accept);
    }
    for (serving, listener) in environments.into_iter().zip(bound) {
        let Serving { platform, site, facts, facts_file, .. } = serving;
        feeds.push(analytics::feed::start(platform.store.clone(), &facts, facts_file)?);
        let watched = (Arc::clone(&platform), Some(facts));
        let environment = platform.environment;
        let address = listener.local_addr().map_err(|error| {
            Error::unavailable("cannot tell the listening address").because(error)
        })?;
        keep(&mut keepers, (&site, &platform), &shared, &drained_receiver);
        let router = pipeline::router(Arc::clone(&shared), watched, site);
        let accept =
            listen::run(listener, router, tls.clone(), Arc::clone(&shared), stop_receiver.clone());
        listeners.spawn(accept);
        on_ready(environment, &address_text(address, tls.is_some()));
    }
    stop.await;
    tracing::info!("stopping: finishing the requests under way");
    shared.stopping.store(true, Ordering::Relaxed);
    let _ = stop_sender.send(true);
    let finished = async {
        while listeners.join_next().await.is_some() {}
        // The last requests have been answered; their events get their numbers too.
        let _ = drained_sender.send(true);
        while keepers.join_next().await.is_some() {}
        // All events have their numbers, so the facts that are kept are those of the end.
        let _ = tokio::task::spawn_blocking(move || drop(feeds)).await;
    };
    if tokio::time::timeout(SHUTDOWN_GRACE, finished).await.is_err() {
        tracing::warn!("some requests did not end in time and were cut off");
    }
    Ok(())
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
    (site, platform): (&Arc<site::Site>, &Arc<Platform>),
    shared: &Arc<Shared>,
    drained: &watch::Receiver<bool>,
) {
    let parties = (Arc::clone(site), Arc::clone(platform));
    keepers.spawn(deliveries::run(parties, Arc::clone(shared), drained.clone()));
    keepers.spawn(jobs::run(Arc::clone(site), Arc::clone(shared), drained.clone()));
    keepers.spawn(notes::run(Arc::clone(site), drained.clone()));
    keepers.spawn(housekeeping::run(Arc::clone(platform), drained.clone()));
}

/// What the reports of a site are made of.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    pub settings: analytics::Settings,
    pub facts: Arc<Facts>,
}

impl Reports {
    /// Where the reports of a site are made.
    pub fn context(&self, names: &site::Names) -> Arc<analytics::ReportContext> {
        analytics::ReportContext::new(names, &self.facts, SHOP, &self.settings)
    }
}

/// What reports are told about the records of commerce.
const SHOP: analytics::Shop = analytics::Shop {
    products: commerce::cards::products,
    orders: commerce::cards::orders,
    price_html: commerce::cards::price_html,
    customer: commerce::cards::customer,
};

/// The routes of all that stands on the site.
pub fn routes(
    names: &site::Names,
    reports: &Reports,
    admin: &::admin::Admin,
) -> Vec<Route<site::Action>> {
    let of_reports = analytics::routes(names, &reports.context(names));
    [commerce::routes(names), of_reports, admin.routes(names)].into_iter().flatten().collect()
}

/// The site of the platform's environment, with its way to other hosts. Blocks; call it at start.
pub fn make_site(
    platform: &Arc<Platform>,
    settings: &Settings,
    site: site::Settings,
    reports: &Reports,
) -> Result<Arc<site::Site>> {
    let guard = outbound::Guard::new(&settings.outbound, platform.environment)?;
    let limits = &settings.rate_limits;
    let parts = site::Parts {
        environment: platform.environment,
        store: platform.store.clone(),
        vault: Arc::clone(&platform.vault),
        clock: platform.clock,
        settings: site,
        outbound: Arc::new(outbound::Client::new(guard)),
        wrong_credentials_per_minute: if limits.enabled {
            limits.refused_keys_per_minute.get()
        } else {
            u32::MAX
        },
    };
    let admin = ::admin::Admin::new(&settings.admin)?;
    let routes = routes(&parts.settings.names, reports, &admin);
    let context = reports.context(&parts.settings.names);
    let pages = commerce::products::ProductPages::new(&parts.settings.names);
    let of_admin = admin.pages(&parts.settings.names);
    let mut site = site::Site::new(parts, routes)?
        .with_pages(Box::new(pages))
        .with_pages(Box::new(commerce::orders::ReceiptPages))
        .with_pages(of_admin)
        .with_files(Box::new(analytics::exports::link::ExportFiles));
    for kind in admin.job_kinds() {
        site = site.with_job(kind);
    }
    // What reports answered a moment ago holds for as long as the facts are the same.
    let facts = Arc::clone(&reports.facts);
    site = site.with_version(move || facts.version());
    for kind in analytics::jobs(&context) {
        site = site.with_job(kind);
    }
    if let Some(mail) = mail::Mail::new(&settings.mail)? {
        site = site.with_job(Box::new(mail));
    }
    site = site.with_job(Box::new(onboarding::bulk::BulkJob::new(Arc::clone(platform))));
    let catching = Arc::clone(platform);
    site = site.with_catcher(move |url| catching.catches(url));
    if platform.settings.registration != onboarding::Registration::Closed {
        site = site.with_registrations();
    }
    // The shop stands on the site, which must be there first.
    let now = platform.clock.now();
    platform.store.write_blocking(move |conn| {
        commerce::found(conn)?;
        analytics::found(conn, now)
    })?;
    let site = Arc::new(site);
    platform.meet(&site);
    Ok(site)
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
