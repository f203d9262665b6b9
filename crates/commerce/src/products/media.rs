//! Pictures and files of products. A picture is one of the library, by its number or by an address
//! that it was fetched from; else it is kept by its address, with a number of its own. **Nothing is
//! fetched here**: that was done before the operation began.

use contract::rest::{Refusal, Stop, clean, loose};
use frame::Call;
use serde_json::Value;
use site_rows::post;

use super::record::{Download, Product};
use crate::pictures::{self, Image};

/// Pictures, and files, of one product at most.
const PIECES_MAX: usize = 100;
/// Characters of an address at most.
const ADDRESS_LENGTH_MAX: usize = 2_000;

/// The word for what a picture belongs to in codes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    Product,
    Variation,
}

/// The pictures of a request, in its order. Those that the product has are found by their numbers.
pub(super) fn images(
    call: &mut Call<'_>,
    product: &Product,
    wanted: &[Value],
    owner: Owner,
) -> Result<Vec<Image>, Stop> {
    let mut images = Vec::new();
    for entry in wanted.iter().filter(|entry| entry.is_object()).take(PIECES_MAX) {
        images.push(image(call, product, entry, owner)?);
    }
    Ok(images)
}

fn image(
    call: &mut Call<'_>,
    product: &Product,
    entry: &Value,
    owner: Owner,
) -> Result<Image, Stop> {
    let text = |name: &str| entry.get(name).and_then(loose::scalar_text).unwrap_or_default();
    let id = entry.get("id").map(loose::to_int).unwrap_or_default();
    let now = call.now().as_micros();
    let known = product.details.images.iter().find(|image| image.id == id && id != 0).cloned();
    let src = address(&text("src"));
    let stored = match (&src, id) {
        (_, id) if id != 0 => pictures::by_id(call.conn()?, id)?,
        (Some(src), _) => pictures::by_address(call, src)?,
        (None, _) => None,
    };
    let (name, alt) = (clean::text_field(&text("name")), clean::text_field(&text("alt")));
    if let Some(stored) = stored {
        return Ok(pictures::described(call, stored, &name, &alt)?);
    }
    let mut image = match known {
        Some(known) => known,
        None if (id == 0 || call.visit.is_import) && !text("src").is_empty() => {
            let src = src.ok_or_else(|| refused(owner, "image_upload_error"))?;
            let name = file_name(&src);
            let id = if id > 0 {
                post::reserve_id(call.conn()?, id)?;
                id
            } else {
                post::take_id(call.conn()?)?
            };
            Image { id, src, name, created_us: now, modified_us: now, ..Image::default() }
        }
        None => return Err(refused(owner, "invalid_image_id").into()),
    };
    if !alt.is_empty() {
        image.alt = alt;
    }
    if !name.is_empty() {
        image.name = name;
    }
    Ok(image)
}

fn refused(owner: Owner, what: &str) -> Refusal {
    let word = match owner {
        Owner::Product => "product",
        Owner::Variation => "variation",
    };
    let message = "An image needs a URL in src, or the ID of an existing image.";
    Refusal::new(400, format!("woocommerce_{word}_{what}"), message)
}

fn address(text: &str) -> Option<String> {
    let address = clean::url(text);
    let is_web = ["http://", "https://"].iter().any(|scheme| address.starts_with(scheme));
    (is_web && address.len() <= ADDRESS_LENGTH_MAX).then_some(address)
}

/// The last part of an address, without its ending.
fn file_name(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    let name = last.rsplit_once('.').map_or(last, |(name, _)| name);
    clean::text_field(name)
}

/// The files of a request. One without an address is passed over.
pub(super) fn downloads(call: &Call<'_>, wanted: &[Value]) -> Vec<Download> {
    let mut downloads = Vec::new();
    for (place, entry) in wanted.iter().take(PIECES_MAX).enumerate() {
        let text = |name: &str| {
            let text = entry.get(name).and_then(loose::scalar_text).unwrap_or_default();
            clean::text_field(&text)
        };
        let given = text("file");
        if given.is_empty() || given.len() > ADDRESS_LENGTH_MAX {
            continue;
        }
        // An address of this site is kept without the site's own.
        let own = given.strip_prefix(&call.visit.home).filter(|rest| rest.starts_with('/'));
        let file = own.map_or_else(|| clean::url(&given), str::to_owned);
        let id = text("id");
        let id = if id.is_empty() { new_id(call, place, &file) } else { id };
        let name = text("name");
        let name = if name.is_empty() { base_name(&file) } else { name };
        downloads.push(Download { id, name, file });
    }
    downloads
}

fn base_name(file: &str) -> String {
    let path = file.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// An id that nobody can guess, in the form of a UUID.
fn new_id(call: &Call<'_>, place: usize, file: &str) -> String {
    let moment = format!("{} {place}", call.now().as_micros());
    let hash = call.site.vault().site_hash("download", file, &moment);
    let (bytes, _) = hash.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
    let digits = format!("{:032x}", u128::from_be_bytes(*bytes));
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}
