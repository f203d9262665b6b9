//! `boardwalk import woocommerce`: everything that a live store has.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use commerce::ingest::live::{self, News, Report, Road, Shop};
use commerce::ingest::{ImportPolicy, Importer};
use frame::outbound::{Fetch, FetchError, Fetched, Outbound as _};
use serde_json::json;
use server::outbound::{AddressRange, Client, Guard};
use types::{Clock, Environment, Error, Result, Secret, Timestamp};

use crate::args::{Common, ImportWoocommerce};
use crate::config::Config;
use crate::environment;
use crate::output::Printer;
use crate::progress::{Bar, Unit};

/// Networks of the operator's own, which may be asked when the operator says so.
const PRIVATE: [&str; 6] =
    ["127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"];

pub(super) fn import(
    config: &Config,
    common: &Common,
    args: ImportWoocommerce,
    out: &Printer,
) -> Result<()> {
    if args.url.scheme() != "https" && !args.allow_private {
        return Err(Error::invalid(
            "the store's URL must start with https://; to test without TLS, add --allow-private",
        ));
    }
    let platform = Arc::new(environment::open(config, common.environment())?);
    let reports = server::Reports::default();
    let site = server::make_site(&platform, &config.server, config.site.clone(), &reports)?;
    let source = args.url.as_str().trim_end_matches('/').to_owned();
    let manner = ImportPolicy { skip_bad: true, replace: args.since.is_some(), same_ids: false };
    let importer = Importer::new(site, &source, manner)?;
    let shop = Shop {
        url: args.url,
        consumer_key: args.consumer_key,
        consumer_secret: secret(args.consumer_secret)?,
        since: args.since,
    };
    let mut road = Wire::new(config, args.allow_private, platform.clock)?;
    let mut bar = Bar::new();
    let mut watch =
        |News { kind, page, pages }: News| bar.show(kind.name(), Unit::Pages, page, pages);
    let report = live::import(&importer, &shop, args.resume, &mut road, &mut watch)?;
    drop(bar);
    out.result(&json!(report), &summary(&report));
    Ok(())
}

/// The secret as it was given, or from standard input.
fn secret(given: String) -> Result<Secret<String>> {
    if given != "-" {
        return Ok(Secret::new(given));
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(|error| {
        Error::invalid("cannot read the secret from standard input").because(error)
    })?;
    Ok(Secret::new(line.trim().to_owned()))
}

/// The network, from a program that waits.
struct Wire {
    client: Client,
    runtime: tokio::runtime::Runtime,
    clock: Clock,
}

impl Wire {
    fn new(config: &Config, allow_private: bool, clock: Clock) -> Result<Self> {
        let mut settings = config.server.outbound.clone();
        if allow_private {
            let ranges =
                PRIVATE.iter().map(|range| range.parse::<AddressRange>().map_err(Error::internal));
            settings.exempt.extend(ranges.collect::<Result<Vec<_>>>()?);
        }
        // The address comes from the operator, who may make exceptions in any environment.
        let guard = Guard::new(&settings, Environment::Sandbox)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::internal("cannot start the async runtime").because(error))?;
        Ok(Self { client: Client::new(guard), runtime, clock })
    }
}

impl Road for Wire {
    fn fetch(&mut self, request: Fetch) -> std::result::Result<Fetched, FetchError> {
        self.runtime.block_on(self.client.fetch(request))
    }

    fn pause(&mut self, time: Duration) {
        std::thread::sleep(time);
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

fn summary(report: &Report) -> String {
    let counts = report.imported.iter();
    let counts: Vec<String> = counts.map(|(kind, count)| format!("{count} {kind}")).collect();
    let mut text = if counts.is_empty() {
        String::from("Nothing new to import.")
    } else {
        format!("Imported: {}.", counts.join(", "))
    };
    if report.present > 0 {
        let _ = write!(text, "\n{} records had already been imported.", report.present);
    }
    if report.error_count > 0 {
        let _ = write!(text, "\nSkipped because of {} errors:", report.error_count);
    }
    for error in &report.errors {
        let field = error.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
        let _ = write!(text, "\n{} {}: {field}{}", error.record, error.id, error.message);
    }
    text
}
