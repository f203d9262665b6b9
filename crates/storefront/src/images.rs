//! Pictures as the shop window shows them. A picture is known by its address, so it is its own
//! smaller form, and no others are told of.

use commerce::products::record::Image;
use serde_json::{Value, json};

pub(crate) fn shown(image: &Image) -> Value {
    json!({
        "id": image.id,
        "src": image.src,
        "thumbnail": image.src,
        "srcset": "",
        "sizes": "",
        "thumbnail_srcset": "",
        "thumbnail_sizes": "",
        "name": image.name,
        "alt": image.alt,
    })
}

/// The picture that a term keeps; null if there is none.
pub(crate) fn of_term(stored: Option<&Value>) -> Value {
    let Some(stored) = stored.filter(|stored| stored.is_object()) else { return Value::Null };
    let text = |name: &str| stored.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let id = stored.get("id").and_then(Value::as_i64).unwrap_or_default();
    let image =
        Image { id, src: text("src"), name: text("name"), alt: text("alt"), ..Image::default() };
    shown(&image)
}
