//! A store elsewhere, asked through its REST interface. **Nothing that it answers is trusted**: an
//! answer is a list of objects, or it is a [`Trouble`] with a code and a sentence for people.
//!
//! The store is asked one request at a time. What may pass by itself is tried again a few times; a
//! store that asks to be left alone is left alone. Its clock counts, not ours: the time of its
//! answers says how far the two are apart.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use commerce::ingest::shop::Shop;
use frame::Site;
use frame::outbound::{FetchError, Fetched, Method};
use onboarding::connections::StoreKey;
use serde_json::{Map, Value};
use types::{Secret, Timestamp};
use url::Url;

use crate::answer::{self, Read, Readable};
pub use crate::trouble::{Code, Trouble};

/// A record as the store shows it.
pub type Item = Map<String, Value>;

/// The number of a record; zero if it has none.
pub(crate) fn id_of(item: &Item) -> i64 {
    item.get("id").and_then(Value::as_i64).unwrap_or_default()
}

/// Records and bytes of a list that is read as a whole.
const ALL_MAX: usize = 50_000;
const ALL_BYTES_MAX: usize = 64 * 1024 * 1024;
/// A clock that is found to be so far from what it was thought to be explains a refused signature.
const CLOCK_STEP_US: i64 = 60 * 1_000_000;
/// Attempts at one request before the work is put off.
const ATTEMPTS_MAX: u32 = 3;
const PAUSE_MIN: Duration = Duration::from_millis(300);
/// A store that wants a longer pause gets it between two turns.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// How long a store can ask to be left alone.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// An answer.
#[derive(Debug)]
pub struct Page {
    pub items: Vec<Item>,
    /// How many there are on all pages, if the store says so.
    pub total: Option<i64>,
    bytes: usize,
}

#[cfg(test)]
impl Page {
    pub(crate) fn new(items: Vec<Item>, total: Option<i64>) -> Self {
        Self { items, total, bytes: 0 }
    }
}

/// A store that is asked.
#[derive(Debug)]
pub struct Source {
    /// Whose way to other hosts it is.
    site: Arc<Site>,
    shop: Shop,
    nonce: AtomicU64,
    /// How far the store's clock is ahead of ours, in microseconds.
    ahead: AtomicI64,
    /// Held while the store is asked, so that it is asked one thing at a time.
    asking: tokio::sync::Mutex<()>,
}

impl Source {
    /// `ahead_us` is how far the store's clock was ahead of ours when it was asked last.
    pub fn new(
        site: Arc<Site>,
        (url, key): (&str, &StoreKey),
        ahead_us: i64,
    ) -> Result<Self, Trouble> {
        let url = Url::parse(url).map_err(|_| Trouble::new(Code::NoInterface))?;
        let shop = Shop {
            url,
            consumer_key: key.consumer_key.clone(),
            consumer_secret: Secret::new(key.consumer_secret.clone()),
            since: None,
        };
        let (nonce, ahead) = (AtomicU64::default(), AtomicI64::new(ahead_us));
        Ok(Self { site, shop, nonce, ahead, asking: tokio::sync::Mutex::default() })
    }

    /// How far the store's clock is ahead of ours, in microseconds, as its last answer told it.
    pub fn ahead_us(&self) -> i64 {
        self.ahead.load(Ordering::Relaxed)
    }

    /// The time by the store's clock, as its last answer told it.
    pub fn now(&self) -> Timestamp {
        let now = self.site.clock().now().as_micros();
        Timestamp::from_micros(now.saturating_add(self.ahead_us()))
    }

    /// How many seconds the store's clock is ahead of ours.
    pub fn seconds_ahead(&self) -> i64 {
        self.ahead.load(Ordering::Relaxed) / 1_000_000
    }

    /// Whether the key may change what is at a path, which takes batches: an empty one changes
    /// nothing.
    pub async fn may_change(&self, path: &str) -> Result<(), Trouble> {
        let nothing = Value::Object(Map::new());
        self.ask::<Value>(Method::Post, path, "", Some(&nothing)).await.map(drop)
    }

    /// A list of records.
    pub async fn list(&self, path: &str, query: &str) -> Result<Page, Trouble> {
        let Read { it: items, total, bytes } = self.ask(Method::Get, path, query, None).await?;
        Ok(Page { items, total, bytes })
    }

    /// A page of a list: never more than was asked for.
    pub async fn page(
        &self,
        path: &str,
        (size, offset): (u32, i64),
        query: &str,
    ) -> Result<Page, Trouble> {
        let query = format!("per_page={size}&offset={offset}{query}");
        let mut page = self.list(path, &query).await?;
        page.items.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        Ok(page)
    }

    /// A whole list that may have several pages. It ends when a page brings nothing new: some lists
    /// have no pages, whatever is asked for.
    pub async fn all(&self, path: &str, size: u32) -> Result<Vec<Item>, Trouble> {
        let (mut all, mut bytes, mut size) = (Whole::default(), 0, size.max(1));
        loop {
            let query = format!("per_page={size}&offset={}", all.items.len());
            let page = match self.list(path, &query).await {
                Err(trouble) if trouble.code == Code::TooLarge && size > 1 => {
                    size /= 2;
                    continue;
                }
                page => page?,
            };
            bytes += page.bytes;
            if all.is_complete_with(page, size) {
                return Ok(all.items);
            }
            if all.items.len() > ALL_MAX || bytes > ALL_BYTES_MAX {
                return Err(Trouble::new(Code::EndlessList));
            }
        }
    }

    /// One record; nothing if the store says that it does not have it.
    pub async fn one(&self, path: &str) -> Result<Option<Item>, Trouble> {
        match self.ask(Method::Get, path, "", None).await {
            Ok(answer) => Ok(Some(answer.it)),
            Err(trouble) if trouble.code == Code::NotFound => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// Changes something at the store.
    pub async fn change(
        &self,
        method: Method,
        path: &str,
        query: &str,
        body: Option<&Value>,
    ) -> Result<Item, Trouble> {
        Ok(self.ask(method, path, query, body).await?.it)
    }

    /// Asks until the answer can be read, or is not going to be.
    async fn ask<T: Readable>(
        &self,
        method: Method,
        path: &str,
        query: &str,
        body: Option<&Value>,
    ) -> Result<Read<T>, Trouble> {
        let mut pause = PAUSE_MIN;
        let _turn = self.asking.lock().await;
        let thought = self.ahead_us();
        for attempt in 1.. {
            let trouble = match self.ask_once(method, path, query, body).await {
                Ok(answer) => return Ok(answer),
                Err(trouble) => trouble,
            };
            // Without TLS requests are signed with the time, and the answer told the store's.
            let step = (self.ahead_us() - thought).abs();
            if attempt == 1 && trouble.code == Code::KeyRejected && step > CLOCK_STEP_US {
                continue;
            }
            let wait = trouble.wait.unwrap_or(pause);
            if attempt >= ATTEMPTS_MAX || !trouble.code.passes(method) || wait > PAUSE_MAX {
                return Err(trouble);
            }
            tokio::time::sleep(wait).await;
            pause *= 2;
        }
        Err(Trouble::new(Code::Unreachable))
    }

    async fn ask_once<T: Readable>(
        &self,
        method: Method,
        path: &str,
        query: &str,
        body: Option<&Value>,
    ) -> Result<Read<T>, Trouble> {
        let nonce = self.nonce.fetch_add(1, Ordering::Relaxed);
        let request = self.shop.request(method, path, query, (nonce, self.now()));
        let mut request = request.map_err(|_| Trouble::new(Code::NoInterface))?;
        // A signature does not hold elsewhere, and a key is for one host.
        request.max_redirects = 0;
        request.max_bytes = answer::BYTES_MAX;
        if let Some(body) = body {
            request.headers.push((String::from("content-type"), String::from("application/json")));
            request.body = body.to_string().into_bytes();
        }
        let answer = self.site.outbound().fetch(request).await.map_err(unanswered)?;
        self.learn_time(&answer);
        answer::read(check(answer)?).await
    }

    fn learn_time(&self, answer: &Fetched) {
        let Some(date) = answer.header("date").and_then(Timestamp::parse_http_date) else { return };
        let ours = self.site.clock().now().as_micros();
        let ahead = date.as_micros().saturating_sub(ours);
        // Answers tell whole seconds; what is below that says nothing.
        let ahead = if ahead.abs() < 2_000_000 { 0 } else { ahead };
        self.ahead.store(ahead, Ordering::Relaxed);
    }
}

/// What a list that is read as a whole has so far.
#[derive(Default)]
struct Whole {
    items: Vec<Item>,
    seen: HashSet<String>,
}

impl Whole {
    /// Takes a page, and says whether it was the last one.
    fn is_complete_with(&mut self, page: Page, size: u32) -> bool {
        let (given, size) = (page.items.len(), usize::try_from(size).unwrap_or(usize::MAX));
        let before = self.items.len();
        for item in page.items {
            let name = item.get("id").or_else(|| item.get("slug")).map(Value::to_string);
            if self.seen.insert(name.unwrap_or_else(|| format!("{item:?}"))) {
                self.items.push(item);
            }
        }
        let are_there = page
            .total
            .is_none_or(|total| i64::try_from(self.items.len()).is_ok_and(|count| count >= total));
        // More than were asked for: all of a list without pages.
        self.items.len() == before || given > size || (given < size && are_there)
    }
}

fn unanswered(error: FetchError) -> Trouble {
    Trouble::new(match error {
        FetchError::Tls => Code::Tls,
        FetchError::TimedOut => Code::TimedOut,
        FetchError::TooLarge => Code::TooLarge,
        FetchError::BadAnswer => Code::CutOff,
        FetchError::TooManyRedirects => Code::Redirected,
        FetchError::Refused(_) | FetchError::InvalidRequest => Code::NoInterface,
        FetchError::NoSuchHost | FetchError::Unreachable => Code::Unreachable,
    })
}

fn check(answer: Fetched) -> Result<Fetched, Trouble> {
    let code = match answer.status {
        200..=299 => {
            let kind = answer.header("content-type").unwrap_or_default();
            let is_page = kind.contains("html") || answer.body.first() == Some(&b'<');
            if !is_page {
                return Ok(answer);
            }
            Code::NotJson
        }
        300..=399 => Code::Redirected,
        401 => Code::KeyRejected,
        403 => Code::NotAllowed,
        404 | 410 => answer::meaning_of_absence(&answer),
        408 => Code::TimedOut,
        429 => Code::RateLimited,
        500..=599 => Code::ServerError,
        _ => Code::Refused,
    };
    let mut trouble = Trouble { status: answer.status, ..Trouble::new(code) };
    if code == Code::Redirected
        && let Some(target) = answer.header("location")
    {
        let target: String =
            target.split('?').next().unwrap_or_default().chars().take(200).collect();
        trouble.message =
            format!("The store redirects to {target}. Change the URL of the connection.");
    }
    let wait = answer.header("retry-after").and_then(|text| text.trim().parse().ok());
    trouble.wait = wait.map(|seconds| Duration::from_secs(seconds).min(RETRY_AFTER_MAX));
    Err(trouble)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(ids: std::ops::Range<i64>, total: Option<i64>) -> Page {
        let item = |id: i64| Item::from_iter([(String::from("id"), json!(id))]);
        Page::new(ids.map(item).collect(), total)
    }

    #[test]
    fn a_list_ends_when_a_page_brings_nothing_new() {
        let mut paged = Whole::default();
        assert!(!paged.is_complete_with(page(0..10, None), 10));
        assert!(!paged.is_complete_with(page(10..20, None), 10));
        assert!(paged.is_complete_with(page(20..25, None), 10));
        assert_eq!(paged.items.len(), 25);
        // One that is the same whatever is asked for.
        let mut whole = Whole::default();
        assert!(!whole.is_complete_with(page(0..10, None), 10));
        assert!(whole.is_complete_with(page(0..10, None), 10));
        assert_eq!(whole.items.len(), 10);
        assert!(Whole::default().is_complete_with(page(0..300, None), 10));
        // One that gives less than it was asked for.
        let mut meagre = Whole::default();
        assert!(!meagre.is_complete_with(page(0..5, Some(8)), 10));
        assert!(meagre.is_complete_with(page(5..8, Some(8)), 10));
    }
}
