//! The site of an environment, with everything that stands on it.

use std::sync::Arc;

use analytics::facts::Facts;
use contract::rest::route::Route;
use onboarding::Platform;
use types::Result;

use crate::settings::Settings;
use crate::{mail, outbound};

/// What the reports of a site are made of.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    pub settings: analytics::Settings,
    pub facts: Arc<Facts>,
}

impl Reports {
    /// Where the reports of a site are made.
    pub fn desk(&self, names: &site::Names) -> Arc<analytics::Desk> {
        analytics::Desk::new(names, &self.facts, SHOP, &self.settings)
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
    admin: &admin::Admin,
) -> Vec<Route<site::Action>> {
    let of_reports = analytics::routes(names, &reports.desk(names));
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
    let admin = admin::Admin::new(&settings.admin)?;
    let routes = routes(&parts.settings.names, reports, &admin);
    let desk = reports.desk(&parts.settings.names);
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
    for kind in analytics::jobs(&desk) {
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
    platform.attach_site(&site);
    Ok(site)
}
