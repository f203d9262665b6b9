//! The catalogue at an address: a JSON list of packages, and their archives. Both are fetched by
//! the site's guarded way to other hosts, and neither is believed.

use std::time::Duration;

use frame::Site;
use frame::outbound::{Fetch, FetchError, Fetched};
use serde::Deserialize;
use serde_json::Value;
use types::{Error, Result};
use url::Url;

use super::{ICON, Offer, Source};
use crate::package::{ARCHIVE_BYTES_MAX, Manifest, hex_sha256};
use crate::rows::package::PackageKind;

/// Bytes of the list at most.
const LIST_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Packages of a list that are looked at.
const LISTED_MAX: usize = 500;
const LIST_TIME: Duration = Duration::from_secs(5);
const ARCHIVE_TIME: Duration = Duration::from_mins(1);

#[derive(Debug, Deserialize)]
struct RemoteList {
    packages: Vec<RemoteEntry>,
}

#[derive(Debug, Deserialize)]
struct RemoteEntry {
    #[serde(rename = "type", default)]
    kind: String,
    /// As it stands in the archive.
    manifest: Value,
    /// Of the archive; may be relative to the list's.
    url: String,
    sha256: String,
}

pub(super) async fn list(site: &Site, address: &str) -> Result<Vec<Offer>> {
    let url = Url::parse(address)
        .map_err(|error| Error::invalid("admin.catalogue_url is not a URL").because(error))?;
    let answer = fetch(site, Fetch::get(url.clone(), LIST_BYTES_MAX, LIST_TIME)).await?;
    let list: RemoteList = serde_json::from_slice(&answer.body)
        .map_err(|error| Error::invalid("the remote catalogue is not a list").because(error))?;
    let entries = list.packages.into_iter().take(LISTED_MAX);
    Ok(entries.filter_map(|entry| read_entry(&url, &entry)).collect())
}

/// An entry that is wrong is not offered.
fn read_entry(base: &Url, entry: &RemoteEntry) -> Option<Offer> {
    let kind = PackageKind::from_name(&entry.kind).unwrap_or_default();
    let manifest = Manifest::read(kind, entry.manifest.to_string().as_bytes()).ok()?;
    let url = base.join(&entry.url).ok()?;
    let source = Source::Remote { url, sha256: entry.sha256.clone() };
    Some(Offer { manifest, icon: ICON.to_owned(), source })
}

/// The archive at an address, if it is the one that was listed.
pub(super) async fn archive(site: &Site, url: Url, sha256: &str) -> Result<Vec<u8>> {
    let answer = fetch(site, Fetch::get(url, ARCHIVE_BYTES_MAX, ARCHIVE_TIME)).await?;
    if !hex_sha256(&answer.body).eq_ignore_ascii_case(sha256) {
        return Err(Error::invalid("the archive does not match the one listed in the catalogue"));
    }
    Ok(answer.body)
}

/// What comes back. **Only what may be better in a moment is told as unavailable**, since that is
/// tried again.
async fn fetch(site: &Site, request: Fetch) -> Result<Fetched> {
    let answer = site.outbound().fetch(request).await.map_err(|error| match error {
        FetchError::TooLarge => Error::invalid("the remote catalogue's response is too large"),
        FetchError::Refused(_) => {
            Error::invalid("requests to the remote catalogue's address are not allowed")
                .because(error)
        }
        _ => Error::unavailable("the remote catalogue does not respond").because(error),
    })?;
    match answer.status {
        200 => Ok(answer),
        status if status == 429 || status >= 500 => {
            Err(Error::unavailable(format!("the remote catalogue answered {status}")))
        }
        status => Err(Error::not_found(format!("the remote catalogue answered {status}"))),
    }
}
