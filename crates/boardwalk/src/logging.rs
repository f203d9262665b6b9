//! Logs to standard error: text for people, JSON lines for collectors. **No level prints a value**:
//! our own lines hold none, and whatever else speaks is capped where it would.

use std::io::{BufWriter, IsTerminal as _};
use std::panic::PanicHookInfo;

use tracing::{Event, Level, Metadata, Subscriber};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::format::{JsonFields, Writer, format};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
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
    let is_terminal = std::io::stderr().is_terminal();
    let in_color = is_terminal && std::env::var_os("NO_COLOR").is_none();
    let is_json = log.json.unwrap_or(!is_terminal);
    let lines = fmt::layer().with_writer(writer).with_ansi(in_color).log_internal_errors(false);
    let lines = if is_json {
        let format = format().json().flatten_event(true).with_current_span(false);
        let format = format.with_span_list(false);
        let lines = lines.fmt_fields(JsonFields::new());
        lines.event_format(WithRequest { format, is_json }).boxed()
    } else {
        let format = format().with_ansi(in_color);
        lines.event_format(WithRequest { format, is_json }).boxed()
    };
    // Beside the setting and not in it: no level or filter there undoes it.
    tracing_subscriber::registry().with(lines).with(filter).with(filter_fn(holds_no_value)).init();
    std::panic::set_hook(Box::new(note_panic));
    Ok(guard)
}

/// Lines that name the request during which they were written.
#[derive(Debug)]
struct WithRequest<F> {
    format: F,
    is_json: bool,
}

impl<S, N, F> FormatEvent<S, N> for WithRequest<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let Some(request_id) = server::request_id::current() else {
            return self.format.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.format.format_event(context, Writer::new(&mut line), event)?;
        let line = line.trim_end();
        match line.strip_suffix('}').filter(|_| self.is_json) {
            Some(members) => writeln!(writer, "{members},\"request.id\":\"{request_id}\"}}"),
            None => writeln!(writer, "{line} request.id={request_id}"),
        }
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
