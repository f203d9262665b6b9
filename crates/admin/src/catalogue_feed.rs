//! The feed of the catalogue for points of sale: a file with all products, written in the
//! background and fetched at an address that nobody can guess.
//!
//! One route starts a feed and tells how it is getting on: clients call it again and again. A feed
//! belongs to a choice of fields. Its file is kept in pieces of a hundred products, each written in
//! a transaction with the progress: **neither writing nor reading it ever holds more than one
//! piece**, and a cut-off job goes on after its last one.

mod order;
mod work;

use std::time::Duration;

use contract::rest::route::{CREATE, Route};
use contract::rest::{Args, Body, Reply, Schema, Stop};
use db::Conn;
use frame::action::{Outcome, write};
use frame::{Action, Call, Names};
use serde_json::{Value, json};
use types::{Capability, Result, Timestamp};

pub use self::work::FeedJob;
use crate::answers::members_or_list;
use crate::rows::catalogue_feed::{self, FeedRow, FeedState};

use self::order::{Choice, JOB, Order};

/// Where the files are, below the site's address.
pub const FEEDS_PATH: &str = "/uploads/product-feeds/";
/// A finished feed is good for this long.
const LIFE: Duration = Duration::from_hours(20);
/// A feed that nobody began within this time, or that made no progress, is given up.
const START_MAX: Duration = Duration::from_mins(10);
const SILENCE_MAX: Duration = Duration::from_mins(15);
/// Old feeds that one transaction removes.
const REMOVED_MAX: i64 = 20;
const NAME_BYTES: usize = 16;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let fields = |what: &str| {
        Schema::text()
            .about(&format!("Fields of {what} to include, separated by commas; all by default."))
    };
    let force = Schema::boolean().default(false).about("Generate the feed again.");
    let args = Args::new()
        .arg("force", force)
        .arg("_product_fields", fields("products"))
        .arg("_variation_fields", fields("variations"));
    let failure = Schema::object([
        ("success", Schema::boolean().about("Always false.")),
        ("message", Schema::text().about("What to do.")),
    ]);
    let route = Route::at(&names.catalogue, "/create");
    let route = route.on(CREATE, args, write(may_create, create)).refuses_like(failure);
    vec![route.shows(feed_schema())]
}

/// How a feed is getting on, as [`shown`] tells it.
fn feed_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    let number = |about: &str| Schema::integer().about(about);
    let states: Vec<&str> = FeedState::ALL.iter().map(|state| state.as_str()).collect();
    Schema::object([
        ("scheduled_at", Schema::date_time().about("When the feed was requested.")),
        ("completed_at", Schema::date_time().about("When the feed was completed.").or_null()),
        ("state", text("State of the feed.").choices(&states)),
        ("progress", Schema::number().about("Percent that is done.")),
        ("processed", number("Products that were written.")),
        ("total", number("Products to write; -1 while that is unknown.")),
        ("args", members_or_list(Schema::text()).about("Fields that were chosen.")),
        ("url", text("Where the finished file is.")),
        ("error", text("Why the feed failed.")),
        ("failed_at", number("When the feed failed, in seconds.")),
    ])
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    let may = call.can(Capability::ManageWoocommerce) || call.can(Capability::ManageOptions);
    if may { Ok(()) } else { Err(call.forbidden().into()) }
}

/// Starts a feed, or tells how it is getting on.
fn create(call: &mut Call<'_>) -> Outcome {
    let (now, is_forced) = (call.now(), call.params.flag("force"));
    let choice = Choice::of(&call.params);
    remove_old(call.conn()?, now)?;
    let feed = catalogue_feed::get(call.conn()?, &choice.key())?;
    let Some(feed) = feed else { return start(call, &choice) };
    let is_stuck = match feed.state {
        FeedState::Scheduled => now.since(feed.scheduled) > START_MAX,
        FeedState::InProgress => now.since(feed.updated) > SILENCE_MAX,
        FeedState::Completed | FeedState::Failed => false,
    };
    match feed.state {
        FeedState::Scheduled | FeedState::InProgress if is_stuck => restart(call, &feed, &choice),
        FeedState::InProgress if is_forced => {
            let message = "The feed is being generated; try again shortly.";
            let body = json!({ "success": false, "message": message });
            Ok(Reply::of(409, Body::Json(body)))
        }
        FeedState::Completed | FeedState::Failed if is_forced => restart(call, &feed, &choice),
        // Told once; who asks again starts anew.
        FeedState::Failed => {
            let told = shown(call, &feed, &choice);
            catalogue_feed::remove(call.conn()?, &feed)?;
            Ok(told)
        }
        _ => Ok(shown(call, &feed, &choice)),
    }
}

fn restart(call: &mut Call<'_>, feed: &FeedRow, choice: &Choice) -> Outcome {
    let (site, now) = (call.site, call.now());
    let conn = call.conn()?;
    catalogue_feed::remove(conn, feed)?;
    frame::jobs::cancel(site, conn, feed.job_id, now)?;
    start(call, choice)
}

fn start(call: &mut Call<'_>, choice: &Choice) -> Outcome {
    let now = call.now();
    let mut random = [0; NAME_BYTES];
    vault::fill_random(&mut random)?;
    let day: String = now.to_string().chars().take(10).collect();
    let hash = data_encoding::HEXLOWER.encode(&random);
    let order = Order {
        feed_key: choice.key(),
        file_name: format!("pos-catalog-feed-{day}-{hash}.json"),
        choice: choice.clone(),
        user_id: call.user_id(),
    };
    let conn = call.conn()?;
    let job = frame::jobs::enqueue(conn, JOB, Some(&order.file_name), &order, now)?;
    let feed = FeedRow {
        feed_key: order.feed_key,
        job_id: job.job_id,
        state: FeedState::Scheduled,
        file_name: order.file_name,
        processed: 0,
        total: -1,
        error: None,
        scheduled: now,
        updated: now,
        ended: None,
    };
    catalogue_feed::put(conn, &feed)?;
    Ok(shown(call, &feed, choice))
}

/// Feeds that ended before this moment are too old to be of use.
fn oldest(now: Timestamp) -> Timestamp {
    let life = i64::try_from(LIFE.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(now.as_micros().saturating_sub(life))
}

/// Whether any feed is too old to be of use.
pub fn is_any_old(conn: &mut dyn Conn, now: Timestamp) -> Result<bool> {
    Ok(!catalogue_feed::ended_before(conn, oldest(now), 1)?.is_empty())
}

/// Removes feeds that are too old to be of use, with their files, some at a time. Returns how many.
pub fn remove_old(conn: &mut dyn Conn, now: Timestamp) -> Result<usize> {
    let old = catalogue_feed::ended_before(conn, oldest(now), REMOVED_MAX)?;
    for feed in &old {
        catalogue_feed::remove(conn, feed)?;
    }
    Ok(old.len())
}

fn shown(call: &Call<'_>, feed: &FeedRow, choice: &Choice) -> Reply {
    let seconds = |time: Timestamp| time.to_string().chars().take(19).collect::<String>();
    let is_completed = feed.state == FeedState::Completed;
    let completed = feed.ended.filter(|_| is_completed).map(seconds);
    let mut body = json!({
        "scheduled_at": seconds(feed.scheduled),
        "completed_at": completed,
        "state": feed.state.as_str(),
        "progress": progress(feed),
        "processed": feed.processed,
        "total": feed.total,
        "args": choice.shown(),
    });
    if let Some(members) = body.as_object_mut() {
        if is_completed {
            let url = call.visit.page(&format!("{FEEDS_PATH}{}", feed.file_name));
            members.insert(String::from("url"), json!(url));
        }
        if let (Some(error), Some(at)) = (&feed.error, feed.ended) {
            members.insert(String::from("error"), json!(error));
            members.insert(String::from("failed_at"), json!(at.as_micros() / 1_000_000));
        }
    }
    Reply::new(body)
}

/// Percent with two decimals at most, and a whole number where it is one.
fn progress(feed: &FeedRow) -> Value {
    if feed.state == FeedState::Completed {
        return json!(100);
    }
    let hundredths = match feed.total {
        total if total > 0 => feed.processed.saturating_mul(10_000) / total,
        _ => 0,
    };
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    match hundredths % 100 {
        0 => json!(hundredths / 100),
        _ => json!(text.parse::<f64>().unwrap_or(0.0)),
    }
}
