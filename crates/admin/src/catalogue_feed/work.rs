//! The job that writes a feed, a piece at a time. Products are read as the REST interface shows
//! them to the one who asked, in order of their numbers, so that a cut-off job knows where to go
//! on.

use std::collections::BTreeMap;
use std::sync::Arc;

use db::Conn;
use db::background_job::{JobRow, JobState};
use frame::Site;
use frame::jobs::{Halt, JobCx, JobKind, Progress, Running};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use site_rows::user;
use types::{Error, Result, Timestamp};

use super::order::{Choice, JOB, Order};
use crate::rows::catalogue_feed::{self, FeedProduct, FeedState};

/// Products of one piece.
const PIECE: i64 = 100;

/// How far the file is, stored so that the job can resume.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Checkpoint {
    /// The number of the last product that is in it.
    after: i64,
    parts: i64,
    processed: i64,
    total: i64,
}

/// The kind of job that writes a feed.
#[derive(Debug)]
pub struct FeedJob;

impl JobKind for FeedJob {
    fn name(&self) -> &'static str {
        JOB
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(write(cx))
    }

    /// The feed tells how its job ended.
    fn ended(&self, _: &Site, conn: &mut dyn Conn, ended: &JobRow) -> Result<()> {
        let Ok(order) = serde_json::from_str::<Order>(&ended.arguments) else { return Ok(()) };
        let feed = catalogue_feed::get(conn, &order.feed_key)?;
        let Some(mut feed) = feed.filter(|feed| feed.job_id == ended.job_id) else {
            return Ok(());
        };
        feed.ended = ended.finished;
        feed.updated = ended.finished.unwrap_or(feed.updated);
        match ended.state {
            JobState::Done => feed.state = FeedState::Completed,
            JobState::Failed => {
                feed.state = FeedState::Failed;
                feed.error = Some(String::from(
                    "The feed could not be generated; request it again and check the log.",
                ));
            }
            _ => return catalogue_feed::remove(conn, &feed),
        }
        catalogue_feed::put(conn, &feed)
    }

    fn is_told(&self) -> bool {
        false
    }
}

async fn write(cx: &JobCx) -> Result<Value, Halt> {
    let order: Arc<Order> = Arc::new(cx.arguments()?);
    let mut checkpoint: Checkpoint = if let Some(checkpoint) = cx.checkpoint()? {
        checkpoint
    } else {
        let total = cx.site().store().read(catalogue_feed::products_count).await?;
        Checkpoint { total, ..Checkpoint::default() }
    };
    loop {
        cx.check()?;
        let (site, feed_order, now) = (Arc::clone(cx.site()), Arc::clone(&order), cx.now());
        let after = checkpoint.after;
        let read = move |conn: &mut dyn Conn| piece(&site, conn, &feed_order, after, now);
        let (products, entries) = cx.site().store().read(read).await?;
        let Some(last) = products.last() else { break };
        let text = joined(&entries, checkpoint.parts == 0)?;
        let next = Checkpoint {
            after: last.product_id,
            parts: checkpoint.parts + i64::from(!text.is_empty()),
            processed: checkpoint.processed + count(products.len()),
            ..checkpoint
        };
        keep(cx, &order, checkpoint.parts, text, next).await?;
        checkpoint = next;
    }
    let end = if checkpoint.parts == 0 { "[]" } else { "]" };
    let next = Checkpoint { parts: checkpoint.parts + 1, ..checkpoint };
    keep(cx, &order, checkpoint.parts, end.into(), next).await?;
    Ok(json!({ "file": order.file_name, "processed": checkpoint.processed }))
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Writes a piece of the file with the progress.
async fn keep(
    cx: &JobCx,
    order: &Arc<Order>,
    part: i64,
    text: Vec<u8>,
    checkpoint: Checkpoint,
) -> Result<(), Halt> {
    let (order, now) = (Arc::clone(order), cx.now());
    let total = checkpoint.total.max(checkpoint.processed);
    let progress = Progress { done: checkpoint.processed, total: Some(total) };
    let job_id = cx.job().job_id;
    let step = move |conn: &mut dyn Conn| {
        let feed = catalogue_feed::get(conn, &order.feed_key)?;
        let mut feed = feed
            .filter(|feed| feed.job_id == job_id)
            .ok_or_else(|| Error::not_found("this feed is no longer needed"))?;
        if !text.is_empty() {
            catalogue_feed::part_put(conn, &order.file_name, part, &text)?;
        }
        feed.state = FeedState::InProgress;
        feed.processed = checkpoint.processed;
        feed.total = total;
        feed.updated = now;
        catalogue_feed::put(conn, &feed)
    };
    cx.step(progress, &checkpoint, step).await
}

/// The entries with commas between, and what must stand before them.
fn joined(entries: &[Value], is_first: bool) -> Result<Vec<u8>, Halt> {
    let mut text = Vec::new();
    for (checkpoint, entry) in entries.iter().enumerate() {
        text.push(if is_first && checkpoint == 0 { b'[' } else { b',' });
        serde_json::to_writer(&mut text, entry).map_err(|error| {
            Halt::Failed(Error::internal("cannot serialize a product").because(error))
        })?;
    }
    Ok(text)
}

/// The next products, and their entries. A product that is gone by now has none.
fn piece(
    site: &Site,
    conn: &mut dyn Conn,
    order: &Order,
    after: i64,
    now: Timestamp,
) -> Result<(Vec<FeedProduct>, Vec<Value>)> {
    let products = catalogue_feed::products_after(conn, after, PIECE)?;
    let mut by_parent: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for product in &products {
        let parent = if product.kind == "variation" { product.parent_id } else { 0 };
        by_parent.entry(parent).or_default().push(product.product_id);
    }
    let mut shown: BTreeMap<i64, Value> = BTreeMap::new();
    for (parent, ids) in by_parent {
        for view in views(site, conn, order, (parent, &ids), now)? {
            if let Some(id) = view.get("id").and_then(Value::as_i64) {
                shown.insert(id, view);
            }
        }
    }
    let entries = products.iter().filter_map(|product| {
        let data = shown.remove(&product.product_id)?;
        let fields = if product.kind == "variation" {
            &order.choice.variation_fields
        } else {
            &order.choice.product_fields
        };
        Some(json!({ "type": product.kind, "data": chosen(data, fields) }))
    });
    let entries = entries.collect();
    Ok((products, entries))
}

/// Products, or variations of one, as the REST interface shows them.
fn views(
    site: &Site,
    conn: &mut dyn Conn,
    order: &Order,
    (parent, ids): (i64, &[i64]),
    now: Timestamp,
) -> Result<Vec<Value>> {
    let user = user::get(conn, order.user_id)?
        .ok_or_else(|| Error::not_found("the user who requested the feed was deleted"))?;
    let base = format!("/{}/products", site.settings().names.commerce_v3);
    let base = if parent == 0 { base } else { format!("{base}/{parent}/variations") };
    let list: Vec<String> = ids.iter().map(i64::to_string).collect();
    let fields = fields_query(&order.choice, parent != 0);
    let path = format!("{base}?per_page={PIECE}&include={}{fields}", list.join(","));
    let answer = site.seen_by(conn, user, &path, now)?;
    Ok(answer.and_then(|answer| answer.as_array().cloned()).unwrap_or_default())
}

/// Only what is wanted is worked out; the number is needed to tell products apart.
fn fields_query(choice: &Choice, is_variation: bool) -> String {
    let fields = if is_variation { &choice.variation_fields } else { &choice.product_fields };
    if fields.is_empty() {
        return String::new();
    }
    let list = fields.join(",");
    let list: String = url::form_urlencoded::byte_serialize(list.as_bytes()).collect();
    format!("&_fields=id,{list}")
}

/// Without what came along but was not chosen.
fn chosen(data: Value, fields: &[String]) -> Value {
    let Value::Object(members) = data else { return data };
    let is_chosen = |name: &String| {
        let of_field = |field: &String| field.split('.').next() == Some(name);
        if fields.is_empty() { name != "_links" } else { fields.iter().any(of_field) }
    };
    let members: Map<String, Value> =
        members.into_iter().filter(|(name, _)| is_chosen(name)).collect();
    Value::Object(members)
}
