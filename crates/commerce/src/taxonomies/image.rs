//! The picture of a term: one of the library, shown as the library knows it, or a reference to one
//! that is elsewhere. **Nothing is fetched here**: that was done before the operation began.

use contract::rest::{Schema, clean, loose};
use frame::Call;
use frame::dates::{Moment, written};
use frame::media::shown::UPLOADS_PATH;
use serde_json::{Value, json};
use types::{Error, Timestamp};

use crate::common::version::Version;
use crate::pictures::{self, Image};

const BOTH: &[&str] = &["view", "edit"];
/// Bytes of an address, of a name, and of what describes the picture.
const TEXT_LENGTH_MAX: usize = 2_048;

/// The older versions call the name a title, and the first one knows only one clock.
fn name_of(version: Version) -> &'static str {
    if version <= Version::Two { "title" } else { "name" }
}

pub(super) fn schema(version: Version) -> Schema {
    let date = |about: &str| Schema::typed("date-time").about(about).context(BOTH).readonly();
    let text = |about: &str| Schema::text().about(about).context(BOTH);
    let mut fields = vec![
        ("id", Schema::integer().about("Image ID.").context(BOTH)),
        ("date_created", date("Date created, in the site's time zone.")),
    ];
    if version > Version::One {
        fields.push(("date_created_gmt", date("Date created, in GMT.")));
    }
    fields.push(("date_modified", date("Date last modified, in the site's time zone.")));
    if version > Version::One {
        fields.push(("date_modified_gmt", date("Date last modified, in GMT.")));
    }
    fields.push(("src", text("Image URL.").format("uri")));
    fields.push((name_of(version), text("Image name.")));
    fields.push(("alt", text("Alternative text.")));
    Schema::object(fields).about("Term image.").context(BOTH).or_null()
}

/// The picture as the version shows it; null if there is none.
pub(super) fn shown(
    call: &mut Call<'_>,
    stored: Option<&Value>,
    version: Version,
) -> Result<Value, Error> {
    let Some(stored) = stored.filter(|stored| stored.is_object()) else { return Ok(Value::Null) };
    let id = stored.get("id").and_then(Value::as_i64).unwrap_or_default();
    let is_stored = stored.get("src").and_then(Value::as_str);
    let is_stored = is_stored.is_some_and(|src| src.starts_with(UPLOADS_PATH));
    let now;
    let stored = if is_stored {
        let Some(image) = pictures::by_id(call.conn()?, id)? else { return Ok(Value::Null) };
        now = kept(call, &image);
        &now
    } else {
        stored
    };
    let member = |name: &str| stored.get(name).cloned().unwrap_or_default();
    let mut image = json!({
        "id": member("id"),
        "date_created": member("date_created"),
        "date_created_gmt": member("date_created_gmt"),
        "date_modified": member("date_modified"),
        "date_modified_gmt": member("date_modified_gmt"),
        "src": pictures::address(call.visit, member("src").as_str().unwrap_or_default()),
    });
    if let Some(members) = image.as_object_mut() {
        if version == Version::One {
            members.remove("date_created_gmt");
            members.remove("date_modified_gmt");
        }
        members.insert(name_of(version).to_owned(), member("name"));
        members.insert(String::from("alt"), member("alt"));
    }
    Ok(image)
}

/// A picture of the library in the form in which terms keep theirs.
fn kept(call: &Call<'_>, image: &Image) -> Value {
    let moment = |micros: i64| Moment::at(call.options(), Timestamp::from_micros(micros));
    let (created, modified) = (moment(image.created_us), moment(image.modified_us));
    json!({
        "id": image.id, "src": image.src, "name": image.name, "alt": image.alt,
        "date_created": written(created.local), "date_created_gmt": written(created.gmt),
        "date_modified": written(modified.local), "date_modified_gmt": written(modified.gmt),
    })
}

/// The picture that a request asks for: one of the library by its number or its address, else one
/// with an address is new, one with the number of the
/// present one changes its texts, anything else is none.
pub(super) fn wanted(
    call: &mut Call<'_>,
    asked: &Value,
    present: Option<&Value>,
) -> Result<Value, Error> {
    let text = |name: &str| {
        let text = asked.get(name).and_then(loose::scalar_text)?;
        let text = clean::text_field(&text);
        (text.len() <= TEXT_LENGTH_MAX).then_some(text)
    };
    let name = text("name").or_else(|| text("title"));
    let id = asked.get("id").map(loose::to_int).unwrap_or_default();
    let src = text("src").map(|src| clean::url(&src)).filter(|src| !src.is_empty());
    let now = Moment::at(call.options(), call.now());
    let (local, gmt) = (written(now.local), written(now.gmt));
    let stored = match &src {
        _ if id > 0 => pictures::by_id(call.conn()?, id)?,
        Some(src) => pictures::by_address(call, src)?,
        None => None,
    };
    if let Some(stored) = stored {
        let (name, alt) = (name.unwrap_or_default(), text("alt").unwrap_or_default());
        let image = pictures::described(call, stored, &name, &alt)?;
        return Ok(kept(call, &image));
    }
    let known = present.filter(|image| id != 0 && image.get("id") == Some(&json!(id)));
    let mut image = match (known, src) {
        (Some(known), _) => known.clone(),
        (None, Some(src)) => {
            let id = if id > 0 { id } else { site_rows::post::take_id(call.conn()?)? };
            json!({
                "id": id, "src": src, "name": "", "alt": "",
                "date_created": local, "date_created_gmt": gmt,
            })
        }
        (None, None) => return Ok(Value::Null),
    };
    if let Some(members) = image.as_object_mut() {
        members.insert(String::from("date_modified"), json!(local));
        members.insert(String::from("date_modified_gmt"), json!(gmt));
        for (name, text) in [("name", name), ("alt", text("alt"))] {
            if let Some(text) = text {
                members.insert(name.to_owned(), json!(text));
            }
        }
    }
    Ok(image)
}
