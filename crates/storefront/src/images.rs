//! Pictures as the shop window shows them: the address, a smaller form, and what browsers may
//! choose from. A picture of another site is its own smaller form.

use commerce::pictures::{self, Image};
use frame::media::shown::Form;
use frame::{Call, Visit};
use serde_json::{Value, json};
use types::Error;

pub(crate) fn shown(visit: &Visit, image: &Image) -> Value {
    let thumbnail = if image.thumbnail.is_empty() { &image.src } else { &image.thumbnail };
    json!({
        "id": image.id,
        "src": pictures::address(visit, &image.src),
        "thumbnail": pictures::address(visit, thumbnail),
        "srcset": sources(visit, &image.sources),
        "sizes": sizes(&image.sources),
        "thumbnail_srcset": sources(visit, &image.thumbnail_sources),
        "thumbnail_sizes": sizes(&image.thumbnail_sources),
        "name": image.name,
        "alt": image.alt,
    })
}

fn sources(visit: &Visit, forms: &[Form]) -> String {
    let each = forms.iter();
    let each = each.map(|form| format!("{} {}w", visit.page(&form.path), form.width));
    each.collect::<Vec<_>>().join(", ")
}

fn sizes(forms: &[Form]) -> String {
    let size = |form: &Form| format!("(max-width: {0}px) 100vw, {0}px", form.width);
    forms.first().map(size).unwrap_or_default()
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
