//! Logs to standard error: text for people, JSON lines for collectors. **No level prints a value**:
//! our own lines hold none, and whatever else speaks is capped where it would.

use std::io::{BufWriter, IsTerminal as _};
use std::panic::PanicHookInfo;

use tracing::field::{Field, Visit};
use tracing::span::Record;
use tracing::{Level, Metadata};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::format::{JsonFields, Writer};
use tracing_subscriber::fmt::{FormatFields, FormattedFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt};
use types::{Error, Result};

use crate::config::Log;

/// The crates whose lines follow the rules of `docs/logging.md`. Others tell of parameters of
/// statements, of header fields, or of the text that they parse, at levels below [`LIBRARY_LEVEL`].
const OWN_CRATES: [&str; 18] = [
    "admin",
    "analytics",
    "boardwalk",
    "commerce",
    "connect",
    "content",
    "contract",
    "db",
    "frame",
    "onboarding",
    "portal",
    "schema",
    "server",
    "shop_rows",
    "site_rows",
    "storefront",
    "types",
    "vault",
];
const LIBRARY_LEVEL: Level = Level::WARN;

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Starts logging. Lines are written by a thread of their own, so that a slow or closed standard
/// error costs lines and never requests; keep the guard, which writes the last ones.
pub(crate) fn start(log: &Log) -> Result<WorkerGuard> {
    let wrong = || {
        let levels = "use error, warn, info, debug or trace";
        Error::invalid(format!("log.level `{}` is not a log level; {levels}", log.level))
    };
    // A bare word would be read as the name of a module, and everything else be silent.
    let mut bare = log.level.split(',').map(str::trim).filter(|part| !part.contains('='));
    if !bare.all(|part| LEVELS.contains(&part)) {
        return Err(wrong());
    }
    let filter = EnvFilter::try_new(&log.level).map_err(|error| wrong().because(error))?;
    let (writer, guard) = tracing_appender::non_blocking(BufWriter::new(std::io::stderr()));
    let lines = fmt::layer()
        .with_writer(writer)
        .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .log_internal_errors(false);
    let lines = if log.json.unwrap_or(!std::io::stderr().is_terminal()) {
        let lines = lines.json().flatten_event(true).with_span_list(false);
        lines.fmt_fields(SpanFields::default()).boxed()
    } else {
        lines.boxed()
    };
    // Beside the setting and not in it: no level or filter there undoes it.
    tracing_subscriber::registry().with(lines).with(filter).with(filter_fn(holds_no_value)).init();
    std::panic::set_hook(Box::new(note_panic));
    Ok(guard)
}

/// Writes the fields of spans, of which each request has one. What comes with the library makes a
/// map of them first; that is left to fields that are more than short names.
#[derive(Debug, Default)]
struct SpanFields(JsonFields);

impl<'writer> FormatFields<'writer> for SpanFields {
    fn format_fields<R: RecordFields>(
        &self,
        mut writer: Writer<'writer>,
        fields: R,
    ) -> std::fmt::Result {
        let mut names = ShortNames { text: String::with_capacity(64), are_all: true };
        fields.record(&mut names);
        if !names.are_all {
            return self.0.format_fields(writer, fields);
        }
        writer.write_char('{')?;
        writer.write_str(&names.text)?;
        writer.write_char('}')
    }

    /// What is recorded later is put into the same object.
    fn add_fields(
        &self,
        current: &'writer mut FormattedFields<Self>,
        fields: &Record<'_>,
    ) -> std::fmt::Result {
        let mut all = FormattedFields::<JsonFields>::new(std::mem::take(&mut current.fields));
        let added = self.0.add_fields(&mut all, fields);
        current.fields = all.fields;
        added
    }
}

/// Fields as members of an object, as far as nothing in them must be escaped.
struct ShortNames {
    text: String,
    are_all: bool,
}

impl Visit for ShortNames {
    fn record_str(&mut self, field: &Field, value: &str) {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        self.are_all &= value.bytes().all(is_plain);
        let comma = if self.text.is_empty() { "" } else { "," };
        self.text.extend([comma, "\"", field.name(), "\":\"", value, "\""]);
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {
        self.are_all = false;
    }
}

/// Whether what speaks at this level keeps values to itself.
fn holds_no_value(metadata: &Metadata<'_>) -> bool {
    let owner = metadata.target().split("::").next().unwrap_or_default();
    *metadata.level() <= LIBRARY_LEVEL || OWN_CRATES.contains(&owner)
}

/// A panic is a line of the log like any other, so that collectors find it.
fn note_panic(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    let place = panic.location().map(ToString::to_string);
    let message = panic.payload_as_str();
    tracing::error!(
        panic = message,
        thread,
        place,
        "an assertion failed; this is a bug in Boardwalk"
    );
}
