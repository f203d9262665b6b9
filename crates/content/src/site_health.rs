//! Whether the site is in good health, one question a route: is it reached over TLS, do credentials
//! arrive, can it reach itself, is what it serves kept by others.
//!
//! The tests look at the request at hand and at the site; those that need the network go through
//! the guard of all requests to other hosts.

use std::time::{Duration, Instant};

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Reply, Schema, Stop};
use db::About;
use frame::action::{Action, Later, later, memory, read};
use frame::outbound::{Fetch, FetchError, Fetched};
use frame::{Call, Names, Site, Visit};
use serde_json::json;
use site_rows::media;
use types::Capability;
use url::Url;

const TIME_MAX: Duration = Duration::from_secs(5);
const BYTES_MAX: usize = 1024 * 1024;
/// A page that takes longer than this should be kept by somebody.
const SLOW: Duration = Duration::from_millis(600);
/// Headers that tell of somebody who keeps pages.
const CACHE_HEADERS: [&str; 6] =
    ["age", "etag", "last-modified", "x-cache", "cf-cache-status", "via"];

/// How a test came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Good,
    Recommended,
    Critical,
}

impl Health {
    fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Recommended => "recommended",
            Self::Critical => "critical",
        }
    }
}

/// What a test has to say.
struct Finding {
    test: &'static str,
    /// `Security` or `Performance`.
    area: &'static str,
    health: Health,
    label: &'static str,
    description: String,
}

impl Finding {
    fn reply(self) -> Reply {
        let color = match self.health {
            Health::Good => "blue",
            Health::Recommended => "orange",
            Health::Critical => "red",
        };
        Reply::new(json!({
            "label": self.label,
            "status": self.health.name(),
            "badge": { "label": self.area, "color": color },
            "description": format!("<p>{}</p>", self.description),
            "actions": "",
            "test": self.test,
        }))
    }
}

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let item = item();
    let at = |test: &str, action: Action| {
        Route::at(&names.health, &format!("/tests/{test}"))
            .on(READ, Args::new(), action)
            .schema(item.document())
    };
    vec![
        at("background-updates", memory(may_view, |call| Ok(background(call.site).reply()))),
        at("loopback-requests", later(may_view, loopback)),
        at("https-status", memory(may_view, |call| Ok(https(call.visit).reply()))),
        at("dotorg-communication", memory(may_view, |_| Ok(independent().reply()))),
        at("authorization-header", memory(may_view, |call| Ok(credentials(call.visit).reply()))),
        at("page-cache", later(may_view, page_cache)),
        Route::at(&names.health, "/directory-sizes")
            .on(READ, Args::new(), read(may_view, sizes))
            .shows(Schema::map().about("Bytes by what they are for.")),
    ]
}

fn item() -> Item {
    let text = |about: &str| Schema::text().about(about).readonly();
    let colors = ["blue", "orange", "red", "green", "purple", "gray"];
    let badge = Schema::object([
        ("label", text("What it concerns.")),
        ("color", text("Its colour.").choices(&colors)),
    ]);
    Item::new(
        "wp-site-health-test",
        Schema::object([
            ("test", text("Its name.")),
            ("label", text("What was found, in a sentence.")),
            ("status", text("How good that is.").choices(&["good", "recommended", "critical"])),
            ("badge", badge.about("What it concerns.").readonly()),
            ("description", text("What it means.")),
            ("actions", text("What can be done about it.")),
        ]),
    )
}

fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.can(Capability::ManageOptions) { Ok(()) } else { Err(call.forbidden().into()) }
}

/// What the site takes up: its files, and the database. The program itself is no part of it.
fn sizes(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let uploads = media::bytes(call.conn()?)?;
    let about = About::read(call.conn()?)?;
    let database = about.data_bytes.saturating_add(about.index_bytes);
    let shown = |bytes: i64| json!({ "raw": bytes, "size": readable(bytes), "debug": bytes });
    Ok(Reply::new(json!({
        "uploads_size": shown(uploads),
        "database_size": shown(database),
        "total_size": shown(uploads.saturating_add(database)),
    })))
}

/// Bytes as people read them.
fn readable(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    let (mut hundredths, mut unit) = (bytes.max(0).saturating_mul(100), 0);
    while hundredths >= 102_400 && unit + 1 < UNITS.len() {
        hundredths /= 1024;
        unit += 1;
    }
    let unit = UNITS.get(unit).copied().unwrap_or_default();
    format!("{}.{:02} {unit}", hundredths / 100, hundredths % 100)
}

/// Whether the work of the background has somebody to do it.
fn background(site: &Site) -> Finding {
    let kinds = site.job_kinds().count();
    let (health, label) = if kinds == 0 {
        (Health::Critical, "Background work is not carried out")
    } else {
        (Health::Good, "Background work is carried out")
    };
    let description = format!(
        "The server carries out {kinds} kinds of background work. New versions of the program are \
         installed by the operator."
    );
    Finding { test: "background_updates", area: "Security", health, label, description }
}

fn https(visit: &Visit) -> Finding {
    let secure = visit.home.starts_with("https:");
    let (health, label, description) = if secure {
        (Health::Good, "The site is served over HTTPS", "Visitors reach it by an address with TLS.")
    } else {
        let advice = "Set site.url to an address with https, and let the server or a proxy before \
                      it speak TLS.";
        (Health::Recommended, "The site is not served over HTTPS", advice)
    };
    let description = description.to_owned();
    Finding { test: "https_status", area: "Security", health, label, description }
}

/// The reference asks its makers for updates; this site needs nobody.
fn independent() -> Finding {
    Finding {
        test: "dotorg_communication",
        area: "Security",
        health: Health::Good,
        label: "The site depends on no other server",
        description: String::from(
            "Packages come with the program or from the operator's catalogue.",
        ),
    }
}

fn credentials(visit: &Visit) -> Finding {
    let arrives = visit.header("authorization").is_some();
    let (health, label, description) = if arrives {
        let text = "Applications can sign in with the Authorization header.";
        (Health::Good, "The Authorization header arrives", text)
    } else {
        let text = "This request came without an Authorization header. If its sender set one, a \
                    proxy before the server takes it away.";
        (Health::Recommended, "The Authorization header is missing", text)
    };
    let description = description.to_owned();
    Finding { test: "authorization_header", area: "Security", health, label, description }
}

async fn fetch(site: &Site, address: &str) -> Option<Result<Fetched, FetchError>> {
    let url = Url::parse(address).ok()?;
    Some(site.outbound().fetch(Fetch::get(url, BYTES_MAX, TIME_MAX)).await)
}

/// Why an address of the site itself could not be fetched.
fn unreachable(error: Option<&FetchError>) -> String {
    match error {
        Some(FetchError::Refused(refusal)) => {
            format!("The server does not ask its own address, because {refusal}.")
        }
        Some(_) => String::from("The address of the site did not answer the server."),
        None => String::from("The address of the site is not complete."),
    }
}

async fn loopback(request: Later) -> Result<Reply, Stop> {
    let address = request.visit.rest("/");
    let fetched = fetch(&request.site, &address).await;
    let (health, label, description) = match &fetched {
        Some(Ok(answer)) if answer.status < 400 => {
            let text = String::from("A request of the server to its own address was answered.");
            (Health::Good, "The site can reach itself", text)
        }
        Some(Ok(answer)) => {
            let text = format!("Its own address answered the server with {}.", answer.status);
            (Health::Recommended, "The site cannot reach itself", text)
        }
        Some(Err(error)) => {
            (Health::Recommended, "The site was not reached by itself", unreachable(Some(error)))
        }
        None => (Health::Recommended, "The site was not reached by itself", unreachable(None)),
    };
    let test = "loopback_requests";
    Ok(Finding { test, area: "Performance", health, label, description }.reply())
}

async fn page_cache(request: Later) -> Result<Reply, Stop> {
    let started = Instant::now();
    let fetched = fetch(&request.site, &request.visit.page("/")).await;
    let took = started.elapsed();
    let (health, label, description) = match &fetched {
        Some(Ok(answer)) => of_page(answer, took),
        Some(Err(error)) => {
            (Health::Recommended, "The front page was not looked at", unreachable(Some(error)))
        }
        None => (Health::Recommended, "The front page was not looked at", unreachable(None)),
    };
    Ok(Finding { test: "page_cache", area: "Performance", health, label, description }.reply())
}

fn of_page(answer: &Fetched, took: Duration) -> (Health, &'static str, String) {
    let kept = CACHE_HEADERS.iter().copied().filter(|name| answer.header(name).is_some());
    let kept: Vec<&str> = kept.collect();
    let time = format!("The front page took {} ms.", took.as_millis());
    if kept.is_empty() && took > SLOW {
        let text = format!("{time} No header tells of a cache before the server.");
        return (Health::Recommended, "The front page is slow, and not cached", text);
    }
    if kept.is_empty() {
        let text = format!("{time} It is not cached, and need not be.");
        return (Health::Good, "The front page is quick without a cache", text);
    }
    let text = format!("{time} Headers that tell of caching: {}.", kept.join(", "));
    (Health::Good, "The front page is cached", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_for_people() {
        let written = [0, 1023, 1024, 1_572_864, i64::MAX].map(readable);
        assert_eq!(&written[..4], ["0.00 B", "1023.00 B", "1.00 KB", "1.50 MB"]);
        assert!(written[4].ends_with(" TB"), "{}", written[4]);
    }
}
