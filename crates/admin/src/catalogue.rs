//! The catalogue: which plugins and themes can be installed, and their archives.
//!
//! Some are bundled with the program. An operator may name a folder with archives, and an address
//! whose JSON lists more. What they hold is kept in memory for a moment: **the catalogue is an
//! offer, and never of record**. Where two offer the same name, the bundled one wins, then the
//! folder's.

mod bundled;
mod remote;
#[cfg(test)]
mod tests;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use data_encoding::BASE64;
use frame::Site;
use types::{Error, Result, Timestamp};
use url::Url;

use crate::marketplace::client::Market;
use crate::marketplace::subscriptions;
use crate::package::manifest::PICTURES;
use crate::package::{ARCHIVE_BYTES_MAX, Files, Manifest, Package, PluginManifest, Trust};
use crate::rows::package::PackageKind;
use crate::settings::Settings;

/// How long folder and address are believed before they are looked at again.
const LIFE: Duration = Duration::from_secs(30);
/// How long the folder may take to be read.
const FOLDER_TIME: Duration = Duration::from_secs(4);
/// Archives of a folder that are looked at.
const FOLDER_FILES_MAX: usize = 200;
/// What is shown for a package without a picture.
const ICON: &str = "data:image/svg+xml;base64,\
    PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyNCAyNCI+PHJlY3Qgd2lk\
    dGg9IjI0IiBoZWlnaHQ9IjI0IiByeD0iNSIgZmlsbD0iIzBiNWY3MCIvPjwvc3ZnPg==";

/// Something that can be installed.
#[derive(Clone, Debug)]
pub struct Offer {
    pub manifest: Manifest,
    /// Its picture, as an address of its own.
    pub icon: String,
    source: Source,
}

impl Offer {
    pub(crate) fn is_bundled(&self) -> bool {
        matches!(self.source, Source::Bundled)
    }

    /// What it declares, if it is a plugin.
    pub fn plugin(&self) -> Option<&PluginManifest> {
        match &self.manifest {
            Manifest::Plugin(plugin) => Some(plugin),
            Manifest::Theme(_) => None,
        }
    }
}

/// Where an archive is.
#[derive(Clone, Debug)]
enum Source {
    Bundled,
    Folder(PathBuf),
    Remote { url: Url, sha256: String },
}

impl Source {
    fn name(&self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::Folder(_) => "folder",
            Self::Remote { .. } => "remote",
        }
    }
}

/// A package that was obtained, and from where.
#[derive(Debug)]
pub struct Obtained {
    pub package: Package,
    pub origin: &'static str,
}

/// What can be installed.
#[derive(Debug)]
pub struct Catalogue {
    settings: Settings,
    trust: Trust,
    bundled: Vec<Offer>,
    listed: Mutex<Listed>,
    /// Of many who find the list old, one looks; the others wait for what is found.
    looking: tokio::sync::Mutex<()>,
    is_reading: Arc<AtomicBool>,
    market: Arc<Market>,
}

#[derive(Debug, Default)]
struct Listed {
    offers: Arc<Vec<Offer>>,
    /// What folder and address listed when they last answered; it stays while they are away.
    in_folder: Vec<Offer>,
    remote: Vec<Offer>,
    at: Option<Timestamp>,
}

impl Catalogue {
    /// Reads the bundled packages. What was bought comes from the market.
    pub(crate) fn new(settings: &Settings, market: Arc<Market>) -> Result<Self> {
        let bundled: Vec<Offer> = bundled::packages()?
            .into_iter()
            .map(|package| offer(&package.manifest, &package.files, Source::Bundled))
            .collect();
        let offers = Arc::new(bundled.clone());
        let listed = Listed { offers, ..Listed::default() };
        Ok(Self {
            settings: settings.clone(),
            trust: Trust { keys: settings.trusted_keys.clone() },
            bundled,
            listed: Mutex::new(listed),
            looking: tokio::sync::Mutex::default(),
            is_reading: Arc::default(),
            market,
        })
    }

    /// What came with the program.
    pub(crate) fn bundled(&self) -> &[Offer] {
        &self.bundled
    }

    /// What is offered, by name. Folder and address are looked at again if that was a while ago;
    /// what cannot be read there is left out, and the log tells.
    pub async fn offers(&self, site: &Site) -> Arc<Vec<Offer>> {
        let now = site.clock().now();
        if self.is_fixed() {
            return self.known();
        }
        let _only_one = self.looking.lock().await;
        let (before, mut remote) = {
            let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
            if listed.at.is_some_and(|at| now.since(at) < LIFE) {
                return Arc::clone(&listed.offers);
            }
            (listed.in_folder.clone(), listed.remote.clone())
        };
        let in_folder = self.in_folder().await.unwrap_or(before);
        if let Some(url) = &self.settings.catalogue_url {
            match remote::list(site, url).await {
                Ok(listed) => remote = listed,
                Err(error) => {
                    tracing::warn!(error = %error.report(), "cannot read the remote catalogue");
                }
            }
        }
        let listed = in_folder.iter().chain(&remote).cloned();
        let mut offers: Vec<Offer> = self.bundled.iter().cloned().chain(listed).collect();
        // A stable sort keeps the order of the sources among those of one name.
        let key = |offer: &Offer| (offer.manifest.slug().to_owned(), offer.manifest.kind());
        offers.sort_by_key(key);
        offers.dedup_by_key(|offer| key(offer));
        let offers = Arc::new(offers);
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        *listed = Listed { offers: Arc::clone(&offers), in_folder, remote, at: Some(now) };
        offers
    }

    /// What was offered when somebody looked last; nobody waits for that.
    pub fn known(&self) -> Arc<Vec<Offer>> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&listed.offers)
    }

    /// Whether only the bundled packages are offered.
    fn is_fixed(&self) -> bool {
        self.settings.catalogue_folder.is_none() && self.settings.catalogue_url.is_none()
    }

    /// What the folder holds; nothing if it does not answer in time. A disk that hangs costs one
    /// thread, however many ask.
    async fn in_folder(&self) -> Option<Vec<Offer>> {
        let Some(folder) = self.settings.catalogue_folder.clone() else { return Some(Vec::new()) };
        if self.is_reading.swap(true, Ordering::AcqRel) {
            return None;
        }
        let (trust, turn) = (self.trust.clone(), Turn(Arc::clone(&self.is_reading)));
        let reading = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            read_folder(&folder, &trust)
        });
        let Ok(read) = tokio::time::timeout(FOLDER_TIME, reading).await else {
            tracing::warn!("the package folder does not respond");
            return None;
        };
        read.ok()
    }

    /// Whether a package of this kind and name comes with the program.
    pub(crate) fn is_bundled(&self, kind: PackageKind, slug: &str) -> bool {
        let mut bundled = self.bundled.iter().map(|offer| &offer.manifest);
        bundled.any(|manifest| manifest.kind() == kind && manifest.slug() == slug)
    }

    /// The archive of an offer, read and checked.
    pub async fn obtain(&self, site: &Site, kind: PackageKind, slug: &str) -> Result<Obtained> {
        let offers = self.offers(site).await;
        let is_it = |offer: &&Offer| offer.manifest.kind() == kind && offer.manifest.slug() == slug;
        let Some(found) = offers.iter().find(is_it) else {
            // Not offered to everybody, but it may have been bought.
            let archive = subscriptions::archive(site, &self.market, slug).await?;
            let package = self.unpack(archive).await?;
            return named(Obtained { package, origin: subscriptions::ORIGIN }, kind, slug);
        };
        let origin = found.source.name();
        let package = match &found.source {
            Source::Bundled => bundled::package(slug)?,
            Source::Folder(path) => {
                let (path, trust) = (path.clone(), self.trust.clone());
                let reading = tokio::task::spawn_blocking(move || read_file(&path, &trust));
                reading.await.map_err(|error| {
                    Error::unavailable("the archive was only partly read").because(error)
                })??
            }
            Source::Remote { url, sha256 } => {
                let archive = remote::archive(site, url.clone(), sha256).await?;
                self.unpack(archive).await?
            }
        };
        named(Obtained { package, origin }, kind, slug)
    }

    /// Reads an archive that somebody sent, away from those who wait for the network.
    pub async fn unpack(&self, archive: Vec<u8>) -> Result<Package> {
        let trust = self.trust.clone();
        let reading = tokio::task::spawn_blocking(move || Package::read(&archive, &trust));
        reading.await.map_err(|error| {
            Error::unavailable("the archive was only partly read").because(error)
        })?
    }
}

/// The right to read the folder, which ends with whoever has it.
struct Turn(Arc<AtomicBool>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// The package, if it is what it was listed as.
fn named(obtained: Obtained, kind: PackageKind, slug: &str) -> Result<Obtained> {
    let manifest = &obtained.package.manifest;
    if (manifest.kind(), manifest.slug()) == (kind, slug) {
        return Ok(obtained);
    }
    Err(Error::invalid("the archive contains another package than the one listed"))
}

fn read_folder(folder: &Path, trust: &Trust) -> Vec<Offer> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        tracing::warn!(folder = %folder.display(), "cannot read the package folder");
        return Vec::new();
    };
    let is_archive = |path: &PathBuf| path.extension().is_some_and(|end| end == "zip");
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_archive);
    let mut paths: Vec<PathBuf> = paths.take(FOLDER_FILES_MAX).collect();
    paths.sort();
    paths
        .into_iter()
        .filter_map(|path| match read_file(&path, trust) {
            Ok(package) => Some(offer(&package.manifest, &package.files, Source::Folder(path))),
            Err(error) => {
                let path = path.display();
                tracing::warn!(%path, error = %error.report(), "a package was skipped");
                None
            }
        })
        .collect()
}

fn read_file(path: &Path, trust: &Trust) -> Result<Package> {
    let unreadable =
        |error: std::io::Error| Error::unavailable("cannot read the archive").because(error);
    // Opening a pipe waits for somebody to write into it, perhaps for ever.
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Error::invalid("the archive is not a regular file"));
    }
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let most = u64::try_from(ARCHIVE_BYTES_MAX).unwrap_or(u64::MAX);
    let mut archive = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut archive).map_err(unreadable)?;
    if archive.len() > ARCHIVE_BYTES_MAX {
        return Err(Error::invalid("the archive is too large"));
    }
    Package::read(&archive, trust)
}

fn offer(manifest: &Manifest, files: &Files, source: Source) -> Offer {
    let icon = match manifest {
        Manifest::Plugin(plugin) => plugin.icon.as_deref(),
        Manifest::Theme(theme) => theme.logo.as_deref(),
    };
    let icon = icon.and_then(|path| picture(path, files.get(path)?));
    let icon = icon.unwrap_or_else(|| ICON.to_owned());
    Offer { manifest: manifest.clone(), icon, source }
}

/// A picture as an address of its own, if its name tells what it is.
pub(crate) fn picture(path: &str, content: &[u8]) -> Option<String> {
    let (_, media_type) = PICTURES.iter().find(|(end, _)| path.ends_with(end))?;
    Some(format!("data:{media_type};base64,{}", BASE64.encode(content)))
}
