//! Documents that are large and seldom change: serialised and compressed once, and known by a tag.

use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::rest::reply::Prepared;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::bounded::{Bounded, CacheSize};

/// Bytes of documents kept ready to send, for the addresses by which the site is usually called.
const READY_BYTES_MAX: usize = 12 * 1024 * 1024;
/// Bytes of documents kept as text, each for a namespace and a context. The index has another text
/// after each change of an option.
const TEXTS_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Stands in a kept text for the site's address. No name or description can hold it.
const ADDRESS_MARK: &str = "\u{0}site\u{0}";

/// Documents that were asked for before. **Who calls the site by ever new names costs a copy of
/// the text each time**, not the making of it, and fills no memory.
#[derive(Debug)]
pub(crate) struct Documents {
    texts: Mutex<Bounded<String, Arc<str>>>,
    ready: Mutex<Bounded<String, Arc<Prepared>>>,
}

impl Default for Documents {
    fn default() -> Self {
        Self {
            texts: Mutex::new(Bounded::new(TEXTS_BYTES_MAX)),
            ready: Mutex::new(Bounded::new(READY_BYTES_MAX)),
        }
    }
}

impl Documents {
    /// The document of this key for the address; `make` builds it for the address that it is given.
    pub(crate) fn get(
        &self,
        key: &str,
        home: &str,
        make: impl FnOnce(&str) -> Value,
    ) -> Arc<Prepared> {
        let own_key = format!("{home} {key}");
        if let Some(document) = lock(&self.ready).get(&own_key) {
            return Arc::clone(document);
        }
        let text = self.text(key, make);
        let plain = text.replace(&escaped(ADDRESS_MARK), &escaped(home)).into_bytes();
        let mut ready = lock(&self.ready);
        // Compressed it is far smaller than that.
        let is_usual = ready.has_room(plain.len() + plain.len() / 2);
        let document = Arc::new(prepare(plain, is_usual));
        if is_usual {
            let bytes = own_key.len() + document.plain.len() + document.gzip.len();
            ready.insert(own_key, Arc::clone(&document), bytes);
        }
        document
    }

    pub(crate) fn sizes(&self) -> [CacheSize; 2] {
        [lock(&self.texts).size("document_texts"), lock(&self.ready).size("documents")]
    }

    fn text(&self, key: &str, make: impl FnOnce(&str) -> Value) -> Arc<str> {
        if let Some(text) = lock(&self.texts).get(key) {
            return Arc::clone(text);
        }
        let text: Arc<str> = make(ADDRESS_MARK).to_string().into();
        lock(&self.texts).insert(key.to_owned(), Arc::clone(&text), key.len() + text.len());
        // A new text means that an option has changed: what is ready may be old.
        lock(&self.ready).clear();
        text
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The text as it stands inside a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.trim_matches('"').to_owned()
}

/// Only what will be sent again is compressed.
fn prepare(plain: Vec<u8>, compress: bool) -> Prepared {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing into memory does not fail; an empty result is sent as it is, uncompressed.
    let packed = || encoder.write_all(&plain).and_then(|()| encoder.finish()).unwrap_or_default();
    let gzip = if compress { packed() } else { Vec::new() };
    let hash = blake3::hash(&plain).to_hex();
    let etag = format!("\"{}\"", hash.chars().take(32).collect::<String>());
    Prepared { plain, gzip, etag }
}
