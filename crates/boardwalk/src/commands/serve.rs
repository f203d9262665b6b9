//! `boardwalk serve` and `boardwalk demo`.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use onboarding::Platform;
use onboarding::dialect::ResponseStyle;
use onboarding::iso::{KEY_LIFE_DEFAULT, KeyLife};
use serde_json::json;
use server::Serving;
use site::auth::application_password::in_groups;
use site::users::application_passwords::create_password;
use site::users::{NewUser, account, create_user};
use store::application_password;
use tokio::signal::unix::{SignalKind, signal};
use types::{Environment, Error, IsoId, Result, Role, ScopeSet};

use crate::args::{Common, Demo, Serve};
use crate::config::Config;
use crate::output::Printer;
use crate::{environment, logging};

/// Where liveness, readiness and metrics are, unless something else is asked for.
const ADMIN_DEFAULT: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 8082);
const DEMO_ISO: &str = "Demo ISO";
const DEMO_KEY: &str = "demo";
const DEMO_TEMPLATE: &str = "RESTAURANT01";
const DEMO_LOGIN: &str = "admin";
const DEMO_EMAIL: &str = "admin@site.example";

pub(crate) fn serve(mut config: Config, common: &Common, args: Serve, out: &Printer) -> Result<()> {
    let _log = logging::start(&config.log)?;
    match common.environment {
        None => {
            config.listen.sandbox = args.listen.unwrap_or(config.listen.sandbox);
            config.listen.production = args.listen_production.unwrap_or(config.listen.production);
            choose_admin_address(&mut config, args.admin_listen);
            let environments =
                Environment::ALL.into_iter().map(|environment| serving(&config, environment));
            run(environments.collect::<Result<_>>()?, config, out, &|_| {})
        }
        Some(Environment::Sandbox) if args.listen_production.is_some() => Err(Error::invalid(
            "--listen-production has no use with --environment sandbox; leave one of them out",
        )),
        Some(environment) => {
            let named = match environment {
                Environment::Sandbox => args.listen,
                Environment::Production => args.listen.or(args.listen_production),
            };
            set_listen(&mut config, environment, named);
            choose_admin_address(&mut config, args.admin_listen);
            run(vec![serving(&config, environment)?], config, out, &|_| {})
        }
    }
}

pub(crate) fn demo(mut config: Config, common: &Common, args: Demo, out: &Printer) -> Result<()> {
    if common.environment == Some(Environment::Production) {
        return Err(Error::invalid("a demo is a sandbox; leave --environment out"));
    }
    let _log = logging::start(&config.log)?;
    config.server.rate_limits.enabled = false;
    config.listen.sandbox = args.listen.unwrap_or(config.listen.sandbox);
    choose_admin_address(&mut config, args.admin_listen);
    let serving = serving(&config, Environment::Sandbox)?;
    let key = furnish(&serving.platform)?;
    let password = furnish_site(&serving.platform)?;
    // Port 0 lets the system choose, so the address is known only when it is served.
    let greet = |url: &str| {
        let object = json!({
            "url": url,
            "api_key": key,
            "template": DEMO_TEMPLATE,
            "login": DEMO_LOGIN,
            "application_password": password,
        });
        out.result(&object, &welcome(url, &key, &password));
    };
    run(vec![serving], config, out, &greet)
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
fn choose_admin_address(config: &mut Config, asked: Option<SocketAddr>) {
    let usual = SocketAddr::from(ADMIN_DEFAULT);
    config.server.admin_listen = asked.or(config.server.admin_listen).or_else(|| {
        let free = TcpListener::bind(usual).is_ok();
        if !free {
            tracing::warn!(%usual, "no metrics: the address is taken; choose --admin-listen");
        }
        free.then_some(usual)
    });
}

fn serving(config: &Config, environment: Environment) -> Result<Serving> {
    let platform = Arc::new(environment::open(config, environment)?);
    let site = server::make_site(&platform, &config.server, config.site.clone())?;
    let listen = match environment {
        Environment::Sandbox => config.listen.sandbox,
        Environment::Production => config.listen.production,
    };
    Ok(Serving { platform, site, listen })
}

/// Serves until told to stop; `greet` gets each address before it is announced as ready.
fn run(
    environments: Vec<Serving>,
    config: Config,
    out: &Printer,
    greet: &(dyn Fn(&str) + Sync),
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::internal("cannot start the runtime").because(error))?;
    let on_ready = |environment: Environment, url: &str| {
        greet(url);
        let object = json!({ "event": "ready", "environment": environment, "url": url });
        out.result(&object, &format!("ready {environment} {url}"));
    };
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())
            .map_err(|error| Error::internal("cannot listen for signals").because(error))?;
        let stop = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        };
        server::serve(environments, config.server, &on_ready, stop).await
    })
}

/// An ISO with a template and a fresh key. Run again on the same folder, it replaces the key only.
fn furnish(platform: &Platform) -> Result<String> {
    let existing = platform.iso_list()?.into_iter().find(|iso| iso.name == DEMO_ISO);
    let iso_id: IsoId = if let Some(iso) = existing {
        iso.iso_id
    } else {
        let iso_id = platform.iso_create(DEMO_ISO, ResponseStyle::Detailed)?;
        platform.template_create(&iso_id, DEMO_TEMPLATE, &json!({ "tip": true }))?;
        iso_id
    };
    let old_keys = platform
        .key_list()?
        .into_iter()
        .filter(|key| key.iso_id == iso_id && key.name == DEMO_KEY && key.revoked.is_none());
    for key in old_keys {
        platform.key_revoke(&key.key_id)?;
    }
    let life = KeyLife::For(KEY_LIFE_DEFAULT);
    let key = platform.key_create(&iso_id, DEMO_KEY, ScopeSet::Full, life)?;
    Ok(key.text.expose().clone())
}

/// An administrator with a fresh application password. Run again, it replaces the password only.
fn furnish_site(platform: &Platform) -> Result<String> {
    let (vault, now) = (Arc::clone(&platform.vault), platform.clock.now());
    let (_, password) = platform.store.write_blocking(move |conn| {
        let user = if let Some(user) = store::user::find_by_login(conn, DEMO_LOGIN)? {
            user
        } else {
            let mut new = NewUser::new(DEMO_LOGIN, DEMO_EMAIL, now);
            new.roles = vec![Role::Administrator];
            create_user(conn, &new).map_err(account::error_of)?
        };
        for old in application_password::list(conn, user.user_id)? {
            if old.name == DEMO_KEY {
                application_password::delete(conn, user.user_id, &old.uuid)?;
            }
        }
        create_password(conn, &vault, user.user_id, (DEMO_KEY, ""), now)
    })?;
    Ok(in_groups(password.expose()))
}

fn welcome(url: &str, key: &str, password: &str) -> String {
    format!(
        "A sandbox with an ISO and the template {DEMO_TEMPLATE} is ready. Its key:\n\n  {key}\n\n\
         Onboard a merchant, a store and a TPN:\n\n  \
         curl -s {url}/v1/onboardmerchant -H 'Authorization: api-key {key}' \\\n    \
         -H 'Content-Type: application/json' -d '{DEMO_BODY}'\n\n\
         Send the same again to see a refusal, and read the merchant back with\n\n  \
         curl -s {url}/v1/merchants/MERCHANT_ID -H 'Authorization: api-key {key}'\n\n\
         The site's REST interface knows the administrator {DEMO_LOGIN} by this application \
         password:\n\n  {password}\n\n  \
         curl -s {url}/wp-json/wp/v2/users/me -u '{DEMO_LOGIN}:{password}'\n\n\
         The documentation is at {url}/docs/.\n"
    )
}

/// A full onboarding that works as it stands, once.
const DEMO_BODY: &str = concat!(
    r#"{"merchantData":{"dba":"Harbor Cafe","firstName":"Maria","email":"maria@harbor.example","#,
    r#""addressLine1":"12 Pier Road","zipCode":"10001","phoneNumber":"2125550142","#,
    r#""ISDcode":"+1"},"storeData":{"mccCode":"5812","firstName":"Maria","dba":"Harbor Cafe","#,
    r#""addressLine1":"12 Pier Road","zipCode":"10001","email":"maria@harbor.example","#,
    r#""phoneNumber":"2125550142","ISDcode":"+1"},"tpnData":{"deviceManufacturer":"Kozen","#,
    r#""deviceModel":"P3","tpnApplicationSign":"CRDT","tpnRoutingType":"SIMPLE","#,
    r#""tpnProcessor":{"processorName":"CKNX","profile":[{"profileId":"01","#,
    r#""apiKey":"demo-processor-key"}]}}}"#
);
