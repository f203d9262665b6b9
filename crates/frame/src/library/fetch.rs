//! Pictures that are given by their addresses are fetched into the library, through the guarded way
//! out, before an operation begins. **An address is fetched once**: who names it again gets the
//! item that is there. One that cannot be fetched in time stays an address.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::rest::{Params, clean};
use db::Conn;
use serde_json::Value;
use site_rows::media::{self, MediaRow};
use types::{Capability, Error, Result};
use url::Url;

use super::item::NewItem;
use crate::action::Waiting;
use crate::dates::Moment;
use crate::media::storage::unavailable;
use crate::outbound::Fetch;
use crate::{Site, Visit};

/// Pictures of one request; further ones stay addresses.
const PICTURES_MAX: usize = 25;
/// For all of them together, so that the request itself is answered in time.
const TIME_MAX: Duration = Duration::from_secs(5);
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The item of the library that an address stands for: a file of this site, or one that was fetched
/// from there.
pub fn known(conn: &mut dyn Conn, home: &str, address: &str) -> Result<Option<MediaRow>> {
    let own = address.strip_prefix(home).unwrap_or(address);
    if let Some(name) = own.strip_prefix(crate::media::shown::UPLOADS_PATH) {
        let file = media::file(conn, name)?.filter(|file| file.post_id != 0);
        if let Some(file) = file {
            return media::get(conn, file.post_id);
        }
    }
    media::by_origin(conn, address)
}

/// Fetches the pictures that a request names by their addresses, if it names any and its sender may
/// upload files.
pub fn before(site: &Arc<Site>, visit: &Arc<Visit>, params: &Params) -> Option<Waiting> {
    if visit.is_import || !visit.identity.can(Capability::UploadFiles) {
        return None;
    }
    let mut addresses = Vec::new();
    for name in ["image", "images", "create", "update"] {
        if let Some(value) = params.get(name) {
            collect(value, &mut addresses);
        }
    }
    addresses.truncate(PICTURES_MAX);
    if addresses.is_empty() {
        return None;
    }
    let (site, visit) = (Arc::clone(site), Arc::clone(visit));
    Some(Box::pin(async move {
        let until = Instant::now() + TIME_MAX;
        for address in addresses {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            if let Err(error) = fetch_one(&site, &visit, &address, left).await {
                tracing::info!(error = error.report(), "a picture stays where it is");
            }
        }
    }))
}

/// All members `src` of pictures in a value.
fn collect(value: &Value, addresses: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, addresses)),
        Value::Object(members) => {
            let is_known = members.get("id").and_then(Value::as_i64).is_some_and(|id| id != 0);
            if let Some(Value::String(address)) = members.get("src")
                && !is_known
                && !addresses.contains(address)
            {
                addresses.push(clean::url(&clean::text_field(address)));
            }
            for name in ["image", "images"] {
                if let Some(inner) = members.get(name) {
                    collect(inner, addresses);
                }
            }
        }
        _ => {}
    }
}

async fn fetch_one(
    site: &Arc<Site>,
    visit: &Arc<Visit>,
    address: &str,
    time: Duration,
) -> Result<()> {
    let (home, asked) = (visit.home.clone(), address.to_owned());
    if site.store().read(move |conn| known(conn, &home, &asked)).await?.is_some() {
        return Ok(());
    }
    let url = Url::parse(address)
        .map_err(|error| Error::invalid("no address of a picture").because(error))?;
    let bytes_max = site.settings().media.file_bytes.min(BYTES_MAX);
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    let fetched = site.outbound().fetch(Fetch::get(url, bytes_max, time)).await;
    let fetched = fetched.map_err(|error| Error::unavailable("cannot fetch").because(error))?;
    if fetched.status != 200 {
        return Err(Error::unavailable("the host has no such picture"));
    }
    let called = fetched.final_url.path().rsplit('/').next().unwrap_or_default().to_owned();
    let storage = Arc::clone(site.library().storage());
    let written = tokio::task::spawn_blocking(move || {
        let content = storage.temporary()?;
        content.create()?.write_all(&fetched.body).map_err(unavailable)?;
        Ok::<_, Error>(content)
    });
    let failed = |error| Error::internal("a file could not be written").because(error);
    let content = written.await.map_err(failed)??;
    let now = Moment::at(&visit.options, visit.now);
    let author_id = visit.identity.user.as_ref().map_or(0, |user| user.id());
    let new = NewItem { origin: address.to_owned(), ..NewItem::at(now, author_id) };
    let adding = add_picture(Arc::clone(site), content, called, new);
    // What was begun is ended, whether or not somebody still waits for it.
    tokio::spawn(adding).await.map_err(failed)?
}

async fn add_picture(
    site: Arc<Site>,
    content: crate::media::storage::Temporary,
    called: String,
    new: NewItem,
) -> Result<()> {
    let refused = |_| Error::invalid("no picture that the library takes");
    let folder = super::place::folder_of(new.now);
    let placed = site.place(content, called, folder).await.map_err(refused)?;
    let is_picture = placed.measures.is_some();
    if !is_picture {
        return Err(Error::invalid("no picture"));
    }
    let bytes = placed.bytes;
    let placed = Arc::new(placed);
    let writing = Arc::clone(&placed);
    let quota = Arc::clone(&site);
    let written = site.store().write(move |conn| {
        quota.check_quota(conn, bytes).map_err(|_| Error::invalid("the library is full"))?;
        new.clone().insert(conn, &writing).map(drop)
    });
    written.await?;
    placed.keep();
    Ok(())
}
