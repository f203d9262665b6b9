//! What an operator may choose about the server. Every field is documented where it is defined, and
//! `boardwalk config print` shows them all.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use onboarding::webhooks::WebhookSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{AddressRange, Environment};

use crate::backups::BackupSettings;
use crate::bucket::S3Settings;
use crate::mail::MailSettings;
use crate::outbound::OutboundSettings;
use crate::tls::Tls;

/// How the server listens and what it allows.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Where liveness, readiness and metrics are served. Empty: 127.0.0.1:8082 if it is free.
    pub admin_listen: Option<SocketAddr>,
    /// Listen without TLS on an address that is not loopback, because a proxy in front speaks TLS.
    pub allow_plaintext: bool,
    /// Addresses and networks of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed.
    pub trusted_proxies: Vec<AddressRange>,
    /// Milliseconds for which requests are accepted after the signal to stop, while readiness
    /// says no already: longer than a load balancer takes to notice. 300 at least, 60000 at most.
    pub drain_ms: u64,
    /// Certificates, for serving https.
    pub tls: Option<Tls>,
    /// Folder of the media library, with a folder for each environment in it. Empty: `uploads` in
    /// the data folder. Several servers on one database share it, or a bucket (`server.files`).
    pub uploads: Option<PathBuf>,
    /// A bucket for the media library.
    pub files: FileSettings,
    /// Bounds on what one request or one client may use.
    pub limits: Limits,
    /// How many requests are allowed.
    pub rate_limits: RateLimits,
    /// What the server may ask of other hosts.
    pub outbound: OutboundSettings,
    /// How mail is sent. The configuration has a section of its own for it.
    #[serde(skip)]
    pub mail: MailSettings,
    /// When backups are taken. The configuration has a section of its own for it.
    #[serde(skip)]
    pub backup: BackupSettings,
    /// Where plugins and themes come from. The configuration has a section of its own for it.
    #[serde(skip)]
    pub admin: admin::Settings,
    /// How webhooks of ISOs are delivered.
    pub webhooks: WebhookSettings,
}

/// A bucket for the media library, which servers on several machines share.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// Where the files are: `s3://bucket/prefix`, with a folder for each environment in it. Empty:
    /// in the folder `server.uploads`, which otherwise has only what is being received.
    pub bucket: Option<String>,
    /// The service that has the bucket.
    pub s3: S3Settings,
}

const DRAIN_MIN: Duration = Duration::from_millis(300);
/// Longer than anybody should have to wait for a server to end.
const DRAIN_MS_MAX: u64 = 60_000;

impl Settings {
    /// How long requests are accepted after the signal to stop. Closing at once would lose requests
    /// that were sent but not read yet.
    pub(crate) fn drain(&self) -> Duration {
        Duration::from_millis(self.drain_ms.min(DRAIN_MS_MAX)).max(DRAIN_MIN)
    }
}

/// Bounds on what one request or one client may use.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a request body of the onboarding interface.
    pub body_bytes: usize,
    /// Bytes of an uploaded file of onboardings.
    pub file_bytes: usize,
    /// Milliseconds to receive such a file, or the archive of a plugin or theme, and to answer it.
    pub file_ms: u64,
    /// Such files, and such archives, received at once; others wait.
    pub files: usize,
    /// Bytes of a request body of the site's REST interface, except for archives.
    pub rest_body_bytes: usize,
    /// Bytes of all header names and values together.
    pub header_bytes: usize,
    /// Number of header fields.
    pub header_fields: usize,
    /// Milliseconds to receive a request.
    pub read_ms: u64,
    /// Milliseconds to answer it.
    pub answer_ms: u64,
    /// Connections open at once.
    pub connections: NonZeroUsize,
}

impl Limits {
    /// The limits of a REST route that accepts a file of so many bytes: more room and more time.
    pub(crate) fn for_file(&self, bytes: usize) -> Self {
        Self { rest_body_bytes: bytes, read_ms: self.file_ms, answer_ms: self.file_ms, ..*self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 32 * 1024,
            file_bytes: onboarding::bulk::FILE_BYTES_MAX,
            file_ms: 60_000,
            files: 4,
            rest_body_bytes: 1024 * 1024,
            header_bytes: 16 * 1024,
            header_fields: 100,
            read_ms: 5_000,
            answer_ms: 10_000,
            connections: NonZeroUsize::new(4_096).unwrap_or(NonZeroUsize::MIN),
        }
    }
}

/// A sustained rate and how far it may be exceeded for a moment.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Requests per second.
    pub per_second: NonZeroU32,
    /// Requests at once after a pause.
    pub burst: NonZeroU32,
}

impl Rate {
    const fn new(per_second: u32, burst: u32) -> Self {
        match (NonZeroU32::new(per_second), NonZeroU32::new(burst)) {
            (Some(per_second), Some(burst)) => Self { per_second, burst },
            _ => Self { per_second: NonZeroU32::MIN, burst: NonZeroU32::MIN },
        }
    }
}

/// How many requests are allowed, per environment.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimits {
    /// Whether requests are limited at all.
    pub enabled: bool,
    /// Requests of one API key, in production.
    pub key_production: Rate,
    /// Requests of one API key, in the sandbox.
    pub key_sandbox: Rate,
    /// Onboardings of one ISO, in production.
    pub onboard_production: Rate,
    /// Onboardings of one ISO, in the sandbox.
    pub onboard_sandbox: Rate,
    /// Refused keys of one client address per minute, before it is made to wait.
    pub refused_keys_per_minute: NonZeroU32,
    /// Registrations and confirmations of ISOs from one client address per hour.
    pub registrations_per_hour: NonZeroU32,
    /// Requests of merchants who fill in forms from one client address per hour, drafts included.
    pub forms_per_hour: NonZeroU32,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            enabled: true,
            key_production: Rate::new(1_000, 2_000),
            key_sandbox: Rate::new(500, 1_000),
            onboard_production: Rate::new(500, 1_000),
            onboard_sandbox: Rate::new(250, 500),
            refused_keys_per_minute: NonZeroU32::new(60).unwrap_or(NonZeroU32::MIN),
            registrations_per_hour: NonZeroU32::new(20).unwrap_or(NonZeroU32::MIN),
            forms_per_hour: NonZeroU32::new(1_200).unwrap_or(NonZeroU32::MIN),
        }
    }
}

impl RateLimits {
    pub(crate) fn key(&self, environment: Environment) -> Rate {
        match environment {
            Environment::Production => self.key_production,
            Environment::Sandbox => self.key_sandbox,
        }
    }

    pub(crate) fn onboard(&self, environment: Environment) -> Rate {
        match environment {
            Environment::Production => self.onboard_production,
            Environment::Sandbox => self.onboard_sandbox,
        }
    }
}
