//! `boardwalk serve`, and serving for whoever else does.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use onboarding::Platform;
use onboarding::encryption::LOOK;
use serde_json::json;
use server::{Reports, Serving};
use tokio::signal::unix::{SignalKind, signal};
use types::{Environment, Error, Result};

use crate::args::{Common, Serve};
use crate::config::Config;
use crate::output::Printer;
use crate::server_lock::{self, ServerLock};
use crate::service_manager::ServiceManager;
use crate::{environment, logging};

/// Where liveness, readiness and metrics are, unless something else is asked for.
const ADMIN_DEFAULT: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 8082);

pub(crate) fn serve(mut config: Config, common: &Common, args: Serve, out: &Printer) -> Result<()> {
    let _log = logging::start(&config.log)?;
    match common.environment {
        None => {
            config.listen.sandbox = args.listen.unwrap_or(config.listen.sandbox);
            config.listen.production = args.listen_production.unwrap_or(config.listen.production);
            choose_admin_address(&mut config, args.admin_listen);
            run(&Environment::ALL, config, out)
        }
        Some(Environment::Sandbox) if args.listen_production.is_some() => Err(Error::invalid(
            "--listen-production cannot be used with --environment sandbox; remove one of them",
        )),
        Some(environment) => {
            let named = match environment {
                Environment::Sandbox => args.listen,
                Environment::Production => args.listen.or(args.listen_production),
            };
            set_listen(&mut config, environment, named);
            choose_admin_address(&mut config, args.admin_listen);
            run(&[environment], config, out)
        }
    }
}

/// Serves the environments, which nobody else may serve meanwhile.
fn run(environments: &[Environment], config: Config, out: &Printer) -> Result<()> {
    let locks = environments.iter().map(|environment| server_lock::take(&config, *environment));
    let _locks: Vec<ServerLock> = locks.collect::<Result<_>>()?;
    let serving = environments.iter().map(|environment| serving(&config, *environment));
    run_until_stopped(serving.collect::<Result<_>>()?, config, out, &|_| {})
}

fn set_listen(config: &mut Config, environment: Environment, address: Option<SocketAddr>) {
    let place = match environment {
        Environment::Sandbox => &mut config.listen.sandbox,
        Environment::Production => &mut config.listen.production,
    };
    *place = address.unwrap_or(*place);
}

/// The address asked for, else the usual one if nobody has it: two servers on one machine need not
/// agree on who serves metrics.
pub(super) fn choose_admin_address(config: &mut Config, asked: Option<SocketAddr>) {
    let usual = SocketAddr::from(ADMIN_DEFAULT);
    config.server.admin_listen = asked.or(config.server.admin_listen).or_else(|| {
        let free = TcpListener::bind(usual).is_ok();
        if !free {
            tracing::warn!(
                %usual,
                "metrics are off: the address is in use; choose another with --admin-listen"
            );
        }
        free.then_some(usual)
    });
}

pub(super) fn serving(config: &Config, environment: Environment) -> Result<Serving> {
    let platform = Arc::new(environment::open(config, environment)?);
    let reports = Reports::open(&config.analytics, environment)?;
    let site = server::make_site(&platform, &config.server, config.site.clone(), &reports)?;
    let listen = match environment {
        Environment::Sandbox => config.listen.sandbox,
        Environment::Production => config.listen.production,
    };
    // Beside the records, whose copy it is; those of PostgreSQL lie elsewhere.
    let facts_file = Some(config.data.join(format!("{environment}.facts")));
    let location = environment::location(config, environment)?;
    let own = (&platform, &site);
    let stores = server::make_stores(own, (location, &config.data), &reports, &config.connect);
    Ok(Serving { platform, site, facts: reports.facts, facts_file, listen, stores })
}

/// Accepts a new master key as soon as somebody puts it into the data folder.
async fn follow_next_key(data: PathBuf, platforms: Vec<Arc<Platform>>) {
    let mut told = String::new();
    loop {
        let folder = data.clone();
        let found = tokio::task::spawn_blocking(move || environment::next_master_key(&folder));
        match found.await {
            Ok(Ok(Some(next))) => {
                for platform in &platforms {
                    platform.vault.accept(&next);
                }
            }
            // Once is enough for the same mistake.
            Ok(Err(error)) if error.report() != told => {
                told = error.report();
                tracing::warn!(error = told, "the new master key cannot be used");
            }
            _ => {}
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Serves until told to stop; `greet` gets each address before it is announced as ready.
pub(super) fn run_until_stopped(
    environments: Vec<Serving>,
    config: Config,
    out: &Printer,
    greet: &(dyn Fn(&str) + Sync),
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::internal("cannot start the async runtime").because(error))?;
    let manager = ServiceManager::from_environment();
    let unready = AtomicUsize::new(environments.len());
    let on_ready = |environment: Environment, url: &str| {
        greet(url);
        let object = json!({ "event": "ready", "environment": environment, "url": url });
        out.result(&object, &format!("ready {environment} {url}"));
        if unready.fetch_sub(1, Ordering::Relaxed) == 1 {
            manager.ready();
        }
    };
    let platforms: Vec<Arc<Platform>> =
        environments.iter().map(|serving| Arc::clone(&serving.platform)).collect();
    runtime.block_on(async {
        tokio::spawn(follow_next_key(config.data.clone(), platforms));
        let mut terminate = signal(SignalKind::terminate())
            .map_err(|error| Error::internal("cannot listen for signals").because(error))?;
        let stop = async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            manager.stopping();
        };
        let served = server::serve(environments, config.server, portal::PORTAL, &on_ready, stop);
        tokio::select! {
            ended = served => ended,
            never = manager.stay_alive() => match never {},
        }
    })
}
