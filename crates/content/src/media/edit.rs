//! Changing pictures: turned, mirrored or cut they become items of their own. And making the sizes
//! that an item lacks.

use std::sync::Arc;

use contract::rest::{Params, Refusal, Reply, Stop};
use frame::Call;
use frame::action::Later;
use frame::dates::Moment;
use frame::library::place::{folder_of, stored_picture};
use frame::library::{NewItem, NotTaken, Placed};
use frame::media::picture::Picture;
use frame::media::shown::{Shown, UPLOADS_PATH};
use serde_json::Value;
use site_rows::media::{self, MediaRow};
use site_rows::post::PostRow;

use super::create::{described, to_the_end};
use super::{Collection, item, permit};

/// Changes of one request.
const MODIFIERS_MAX: usize = 50;
const EDITED: &str = "-edited";

/// A change of a picture. Places and lengths are in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Modifier {
    Flip {
        horizontal: bool,
        vertical: bool,
    },
    /// By quarters, clockwise.
    Turn(u32),
    Crop {
        left: f64,
        top: f64,
        width: f64,
        height: f64,
    },
}

pub(super) async fn edit(collection: Arc<Collection>, call: Later) -> Result<Reply, Stop> {
    to_the_end(call, |call| changed(collection, call)).await
}

async fn changed(collection: Arc<Collection>, call: Later) -> Result<Reply, Stop> {
    let (row, known) = call.look(permit::item_of).await?;
    check_source(&call, &known)?;
    if known.width == 0 {
        let message = "Files of this type cannot be edited.";
        return Err(Refusal::new(400, "rest_cannot_edit_file_type", message).into());
    }
    let modifiers = modifiers(&call.params)?;
    if modifiers.is_empty() {
        let message = "Say what is to be changed about the image.";
        return Err(Refusal::new(400, "rest_image_not_edited", message).into());
    }
    let now = Moment::at(&call.visit.options, call.visit.now);
    let name = (folder_of(now), edited_stem(&known));
    let (source, sizes) = (known.clone(), call.site.library().sizes().to_vec());
    let draw = move |site: &frame::Site| {
        let (mut picture, kind) = stored_picture(site, &source)?;
        for modifier in &modifiers {
            picture = modifier.apply(&picture);
        }
        Ok((picture, kind))
    };
    let placed = call.site.place_picture(draw, name, sizes).await.map_err(NotTaken::into_stop)?;
    let placed = Arc::new(placed);
    let writing = Arc::clone(&placed);
    let reply =
        call.attempt(move |call| record(&collection, call, (&row, &known), &writing)).await?;
    placed.keep();
    Ok(reply)
}

/// The address must be that of the item, or of one of its sizes.
fn check_source(call: &Later, known: &MediaRow) -> Result<(), Stop> {
    let source = call.params.text("src").unwrap_or_default();
    let source = source.split(['?', '#']).next().unwrap_or_default();
    let shown = Shown::of(known);
    let file = source.split_once(UPLOADS_PATH).map(|(_, file)| format!("{UPLOADS_PATH}{file}"));
    let is_own = file.is_some_and(|file| {
        file == shown.path()
            || shown.sizes.iter().any(|sized| file == shown.path_beside(&sized.file))
    });
    if is_own {
        return Ok(());
    }
    let message = "src must be the address of this image.";
    Err(Refusal::new(404, "rest_unknown_attachment", message).into())
}

fn modifiers(params: &Params) -> Result<Vec<Modifier>, Stop> {
    if let Some(Value::Array(listed)) = params.get("modifiers") {
        return listed.iter().take(MODIFIERS_MAX).map(Modifier::read).collect();
    }
    let mut modifiers = Vec::new();
    if let Some(degrees) = params.int("rotation") {
        modifiers.push(Modifier::turn(f64::from(i32::try_from(degrees).unwrap_or_default()))?);
    }
    let number = |name: &str| params.get(name).and_then(Value::as_f64);
    let sides = (number("x"), number("y"), number("width"), number("height"));
    if let (Some(left), Some(top), Some(width), Some(height)) = sides {
        modifiers.push(Modifier::Crop { left, top, width, height });
    }
    Ok(modifiers)
}

impl Modifier {
    fn read(value: &Value) -> Result<Self, Stop> {
        let args = value.get("args").cloned().unwrap_or_default();
        let number = |name: &str| args.get(name).and_then(Value::as_f64).unwrap_or_default();
        match value.get("type").and_then(Value::as_str) {
            Some("rotate") => Self::turn(number("angle")),
            Some("flip") => {
                let way =
                    |name: &str| args.pointer(&format!("/flip/{name}")) == Some(&Value::Bool(true));
                Ok(Self::Flip { horizontal: way("horizontal"), vertical: way("vertical") })
            }
            _ => Ok(Self::Crop {
                left: number("left"),
                top: number("top"),
                width: number("width"),
                height: number("height"),
            }),
        }
    }

    fn turn(degrees: f64) -> Result<Self, Stop> {
        let degrees = degrees.rem_euclid(360.0);
        let quarters = [(0.0, 0), (90.0, 1), (180.0, 2), (270.0, 3)];
        let found = quarters.iter().find(|(angle, _)| (degrees - angle).abs() < 0.01);
        let Some((_, quarters)) = found else {
            let message = "An image can be turned by 90, 180 or 270 degrees.";
            return Err(Refusal::new(400, "rest_image_rotation_failed", message).into());
        };
        Ok(Self::Turn(*quarters))
    }

    fn apply(self, picture: &Picture) -> Picture {
        match self {
            Self::Flip { horizontal, vertical } => picture.flipped(horizontal, vertical),
            Self::Turn(quarters) => picture.turned(quarters),
            Self::Crop { left, top, width, height } => {
                let (whole_width, whole_height) = picture.measures();
                picture.part(
                    (part_of(whole_width, left), part_of(whole_height, top)),
                    (part_of(whole_width, width), part_of(whole_height, height)),
                )
            }
        }
    }
}

/// So many percent of a length, rounded.
fn part_of(whole: u32, percent: f64) -> u32 {
    let length = (f64::from(whole) * percent.clamp(0.0, 100.0) / 100.0 + 0.5).floor();
    format!("{length:.0}").parse().unwrap_or(whole)
}

/// The name of a changed picture: what was changed before is not said again.
fn edited_stem(known: &MediaRow) -> String {
    let name = known.file.rsplit('/').next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let bare = match stem.rsplit_once(EDITED) {
        Some((bare, behind)) => {
            let number = behind.strip_prefix('-').unwrap_or(behind);
            let is_end = number.bytes().all(|byte| byte.is_ascii_digit());
            if is_end { bare } else { stem }
        }
        None => stem,
    };
    format!("{bare}{EDITED}")
}

fn record(
    collection: &Collection,
    call: &mut Call<'_>,
    (row, known): (&PostRow, &MediaRow),
    placed: &Placed,
) -> Result<Reply, Stop> {
    let site = call.site;
    site.check_quota(call.conn()?, placed.bytes).map_err(NotTaken::into_stop)?;
    let now = Moment::at(call.options(), call.now());
    let copied = NewItem {
        title: row.title.clone(),
        description: row.content.clone(),
        caption: row.excerpt.clone(),
        alt_text: known.alt_text.clone(),
        comment_status: call.options().text("default_comment_status"),
        edited_from: known.post_id,
        ..NewItem::at(now, call.user_id())
    };
    let (row, media) = described(call, copied).insert(call.conn()?, placed)?;
    let location = call.visit.rest(&collection.path_of(row.post_id));
    let reply = item::answer(collection, call, (&row, &media), "view")?;
    Ok(Reply { status: 201, ..reply }.header("location", location))
}

pub(super) async fn post_process(collection: Arc<Collection>, call: Later) -> Result<Reply, Stop> {
    to_the_end(call, |call| complete(collection, call)).await
}

/// Makes the sizes that are missing.
async fn complete(collection: Arc<Collection>, call: Later) -> Result<Reply, Stop> {
    let found = call.look(|call| {
        let (_, known) = permit::item_of(call)?;
        let missing = item::missing_sizes(call, &Shown::of(&known));
        let sizes = call.site.library().sizes().iter();
        let sizes = sizes.filter(|size| missing.contains(&size.name)).copied();
        Ok((known, sizes.collect::<Vec<_>>()))
    });
    let (known, missing) = found.await?;
    if missing.is_empty() {
        return call.look(move |call| shown(&collection, call)).await;
    }
    let made = call.site.place_missing_sizes(known, missing).await;
    let (known, placed) = made.map_err(NotTaken::into_stop)?;
    let placed = Arc::new(placed);
    let writing = Arc::clone(&placed);
    let reply = call
        .attempt(move |call| {
            media::update(call.conn()?, &known)?;
            // A file that was lost from the storage still has its row.
            let names: Vec<String> = writing.files().iter().map(|file| file.name.clone()).collect();
            let known = media::taken_names(call.conn()?, &names)?;
            let mut new = writing.files().to_vec();
            new.retain(|file| !known.contains(&file.name));
            media::insert_files(call.conn()?, &new)?;
            shown(&collection, call)
        })
        .await?;
    placed.keep();
    Ok(reply)
}

fn shown(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (row, known) = permit::item_of(call)?;
    item::answer(collection, call, (&row, &known), "edit")
}
