//! The site of an environment, with everything that stands on it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use analytics::Facts;
use frame::first_content::FirstContent;
use frame::media::{FileStorage, FolderStorage, Library};
use frame::routes::{Routes, SharedRoutes, compile};
use onboarding::Platform;
use onboarding::connections::STORES_ROOT;
use types::{Environment, Error, Result};

use crate::bucket::{Bucket, BucketStorage, Named};
use crate::settings::Settings;
use crate::{backups, data_keys, mail, outbound};

/// What the reports of a site are made of.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    pub settings: analytics::Settings,
    pub facts: Arc<Facts>,
}

impl Reports {
    /// Of an environment, on the engine that the settings name.
    pub fn open(settings: &analytics::Settings, environment: Environment) -> Result<Self> {
        let outbound: Arc<dyn frame::outbound::Outbound> =
            Arc::new(outbound::Client::for_authority(None));
        let facts = settings.engine.facts(&outbound, environment)?;
        Ok(Self { settings: settings.clone(), facts })
    }

    /// Where the reports of a site are made.
    pub fn context(&self, names: &frame::Names) -> Arc<analytics::ReportContext> {
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

/// The copies of the stores that are connected to an environment. `location` is that of the
/// environment's own database, `data` the folder for what is kept beside it.
pub fn make_stores(
    (platform, site): (&Arc<Platform>, &Arc<frame::Site>),
    (location, data): (db::Location, &Path),
    reports: &Reports,
    settings: &connect::Settings,
) -> Arc<connect::Stores> {
    let foundation = connect::Foundation {
        options: OPTIONS,
        shop: SHOP,
        found: commerce::found_copy,
        shop_code_prefix: commerce::options::CODE_PREFIX,
    };
    let of_reports = reports.settings.clone();
    let (own, at) = ((platform, site), (location, data));
    connect::Stores::new(own, at, foundation, of_reports, settings.clone())
}

/// The options of all that stands on the site.
pub const OPTIONS: frame::options::Tables =
    &[content::OPTIONS, commerce::options::DEFINITIONS, commerce::emails::OPTIONS, admin::OPTIONS];

static CONTENT_ROUTES: SharedRoutes = SharedRoutes::new(|names| content::routes(names, OPTIONS));

/// The routes of all that stands on the site.
pub fn routes(names: &frame::Names, reports: &Reports, admin: &admin::Admin) -> Result<Routes> {
    let of_reports = analytics::routes(names, &reports.context(names));
    let all = [
        CONTENT_ROUTES.named(names)?,
        commerce::ROUTES.named(names)?,
        storefront::ROUTES.named(names)?,
        compile(of_reports)?,
        compile(admin.routes(names))?,
    ];
    Ok(all.into_iter().flatten().collect())
}

/// Makes what a site is born with, and what a new one begins with. The shop stands on the site,
/// which must be there first.
fn found(platform: &Platform, site: &frame::Site) -> Result<()> {
    let (now, vault) = (platform.clock.now(), Arc::clone(&platform.vault));
    let placeholder = site.place_placeholder()?;
    platform.store.write_blocking(move |conn| {
        frame::options::secrets::seal_all(conn, &vault)?;
        content::found(conn)?;
        commerce::found(conn)?;
        let mut first = FirstContent::begin(conn, now)?;
        content::begin(conn, &mut first)?;
        commerce::begin(conn, &mut first, placeholder.as_ref())?;
        first.end(conn)?;
        analytics::found(conn, now)
    })
}

const FILES: Named = Named { place: "server.files.bucket", service: "server.files.s3" };

/// Where the files of an environment's media library are: a bucket, or a folder.
pub fn storage(settings: &Settings, environment: Environment) -> Result<Arc<dyn FileStorage>> {
    let folder = settings.uploads.clone().unwrap_or_default().join(environment.name());
    let folder = FolderStorage::new(folder);
    let Some(place) = settings.files.bucket.as_deref().filter(|place| !place.is_empty()) else {
        return Ok(Arc::new(folder));
    };
    if !Bucket::is_address(place) {
        return Err(Error::invalid("server.files.bucket must be s3://bucket/prefix"));
    }
    let place = format!("{}/{}", place.trim_end_matches('/'), environment.name());
    let bucket = Bucket::new(&place, &settings.files.s3, FILES)?;
    Ok(Arc::new(BucketStorage::new(bucket, folder)?))
}

/// The media library, with the sizes and the placeholder of the shop.
fn library(storage: Arc<dyn FileStorage>, workers: usize) -> Library {
    let library = Library::new(storage, commerce::PICTURE_SIZES, workers);
    library.with_placeholder(commerce::PLACEHOLDER_FILE)
}

/// What the platform does in the background.
fn with_jobs_of(platform: &Arc<Platform>, site: frame::Site) -> frame::Site {
    site.with_job(Box::new(onboarding::bulk::BulkJob::new(Arc::clone(platform))))
        .with_job(Box::new(data_keys::RotationJob::new(Arc::clone(platform))))
        .with_job(Box::new(onboarding::audit::AuditCheckJob::new(Arc::clone(platform))))
}

/// Refuses a site where those of connected stores are.
fn check_root(site: &frame::Settings) -> Result<()> {
    let root = &site.names.rest_root;
    if format!("/{root}/").starts_with(STORES_ROOT) {
        let message = format!("the path `{root}` of rest_root is that of connected stores");
        return Err(Error::invalid(message));
    }
    Ok(())
}

/// The site of the platform's environment, with its way to other hosts. Blocks; call it at start.
pub fn make_site(
    platform: &Arc<Platform>,
    settings: &Settings,
    site: frame::Settings,
    reports: &Reports,
) -> Result<Arc<frame::Site>> {
    check_root(&site)?;
    let guard = outbound::Guard::new(&settings.outbound, platform.environment)?;
    let limits = &settings.rate_limits;
    let parts = frame::Parts {
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
        options: OPTIONS,
        shop_code_prefix: commerce::options::CODE_PREFIX,
    };
    let admin = admin::Admin::new(&settings.admin)?;
    let routes = routes(&parts.settings.names, reports, &admin)?;
    let context = reports.context(&parts.settings.names);
    let pages = commerce::products::ProductPages::new(&parts.settings.names);
    let products = commerce::products::ProductContent::new(&parts.settings.names);
    let of_admin = admin.pages(&parts.settings.names);
    let mut site = frame::Site::new(parts, routes)?
        .with_time_limit(Duration::from_millis(settings.limits.answer_ms))
        .with_body_bytes(settings.limits.rest_body_bytes)
        .with_pages(Box::new(pages))
        .with_content(Box::new(products))
        .with_ability(Box::new(onboarding::OnboardAbility::new(platform)))
        .with_pages(Box::new(commerce::orders::ReceiptPages))
        .with_pages(of_admin)
        .with_email_style(commerce::emails::style)
        .with_files(Box::new(analytics::exports::link::ExportFiles));
    let files = storage(settings, platform.environment)?;
    if settings.uploads.is_some() {
        let workers = site.settings().media.workers;
        site = site.with_library(library(Arc::clone(&files), workers));
    }
    // What reports answered a moment ago holds for as long as the facts are the same.
    let facts = Arc::clone(&reports.facts);
    if facts.cluster().is_some() {
        site = site.with_turns_that_wait();
    }
    site = site.with_version(move || facts.version());
    let kinds = admin.job_kinds().into_iter().chain(analytics::jobs(&context));
    let kinds = kinds.chain(commerce::payments::jobs()).chain(storefront::jobs());
    site = kinds.fold(site, frame::Site::with_job);
    if let Some(mail) = mail::Mail::new(&settings.mail)? {
        site = site.with_job(Box::new(mail));
    }
    site = site.with_job(Box::new(backups::BackupJob::new(&settings.backup, files)?));
    site = with_jobs_of(platform, site);
    let catching = Arc::clone(platform);
    site = site.with_catcher(move |url| catching.catches(url));
    if platform.settings.registration != onboarding::Registration::Closed {
        site = site.with_registrations();
    }
    found(platform, &site)?;
    let site = Arc::new(site);
    platform.attach_site(&site);
    Ok(site)
}
