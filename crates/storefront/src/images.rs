//! Pictures as the shop window shows them: the address, a smaller form, and what browsers may
//! choose from.

use commerce::pictures::{self, Image};
use frame::{Call, Visit};
use serde_json::{Value, json};
use types::Error;

pub(crate) fn shown(visit: &Visit, image: &Image) -> Value {
    json!({
        "id": image.id,
        "src": pictures::address(visit, &image.src),
        "thumbnail": pictures::thumbnail_address(visit, image),
        "srcset": pictures::source_set(visit, &image.sources),
        "sizes": pictures::source_sizes(image.width),
        "thumbnail_srcset": pictures::source_set(visit, &image.thumbnail_sources),
        "thumbnail_sizes": pictures::source_sizes(image.thumbnail_width),
        "name": image.name,
        "alt": image.alt,
    })
}

/// The picture that a term keeps; null if there is none.
pub(crate) fn of_term(call: &mut Call<'_>, stored: Option<&Value>) -> Result<Value, Error> {
    let Some(stored) = stored.filter(|stored| stored.is_object()) else { return Ok(Value::Null) };
    let text = |name: &str| stored.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let id = stored.get("id").and_then(Value::as_i64).unwrap_or_default();
    let image =
        Image { id, src: text("src"), name: text("name"), alt: text("alt"), ..Image::default() };
    if !pictures::is_stored(&image) {
        return Ok(shown(call.visit, &image));
    }
    let now = pictures::by_id(call.conn()?, id)?;
    Ok(now.map_or(Value::Null, |image| shown(call.visit, &image)))
}
