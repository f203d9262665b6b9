//! What all parts of a running server share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use onboarding::Platform;
use types::Environment;

use crate::metrics::Metrics;
use crate::portal::Portal;
use crate::settings::Settings;
use crate::tls::Known;

/// How long the storage may take to answer.
pub(crate) const STORAGE_ANSWER_MAX: Duration = Duration::from_secs(2);
/// How often the storage is asked to take a change.
const PROBE_EVERY: Duration = Duration::from_secs(10);
/// The fact that says when it last did.
const PROBE: &str = "ready_at";

/// What all parts of a running server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) metrics: Metrics,
    pub(crate) portal: Portal,
    pub(crate) probes: WriteProbes,
    /// What is known of the certificate, if https is served.
    pub(crate) certificate: OnceLock<Known>,
    pub(crate) started: Instant,
    stopping: AtomicBool,
}

impl Shared {
    pub(crate) fn new(settings: Settings, portal: Portal) -> Self {
        Self {
            settings,
            metrics: Metrics::default(),
            portal,
            probes: WriteProbes::default(),
            certificate: OnceLock::new(),
            started: Instant::now(),
            stopping: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Sends away who comes from now on.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }
}

/// What was last known of whether the storage takes changes. It is tried when the server starts,
/// and then, since anybody may ask, only once in a while.
#[derive(Debug, Default)]
pub(crate) struct WriteProbes {
    last: Mutex<HashMap<Environment, (Instant, bool)>>,
}

impl WriteProbes {
    pub(crate) async fn takes_changes(&self, platform: &Platform) -> bool {
        {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            match last.get_mut(&platform.environment) {
                Some((at, is_fine)) if at.elapsed() < PROBE_EVERY => return *is_fine,
                // Who asks meanwhile is told what was known before.
                Some((at, _)) => *at = Instant::now(),
                None => {}
            }
        }
        self.probe(platform).await
    }

    /// Tries a change, and remembers what came of it.
    pub(crate) async fn probe(&self, platform: &Platform) -> bool {
        let now = platform.clock.now().to_string();
        let write = platform.store.write(move |conn| db::fact::put(conn, PROBE, &now));
        let is_fine = matches!(tokio::time::timeout(STORAGE_ANSWER_MAX, write).await, Ok(Ok(())));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.insert(platform.environment, (Instant::now(), is_fine));
        is_fine
    }
}
