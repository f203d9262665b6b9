//! Pictures of the media library as the shop shows them: found by number or address, and shown as
//! the library knows them at that moment.

use db::Conn;
use frame::library::fetch;
use frame::media::PictureSize;
use frame::media::shown::{Form, Shown, UPLOADS_PATH};
use frame::{Call, Visit};
use serde::{Deserialize, Serialize};
use site_rows::media::{self, MediaRow};
use site_rows::post::{self, PostRow};
use types::Result;

/// The sizes in which a shop shows pictures, besides those of every site.
pub const PICTURE_SIZES: &[PictureSize] = &[
    PictureSize::cropped(THUMBNAIL, 300, 300).telling(),
    PictureSize::whole("woocommerce_single", 600, 0),
    PictureSize::cropped("woocommerce_gallery_thumbnail", 100, 100),
];

/// The picture that stands for that of a product without one, as long as nobody chooses another.
pub const PLACEHOLDER_FILE: &str = "woocommerce-placeholder.webp";
/// The option that names what stands for the picture of a product without one: the number of a
/// picture of the library, or an address.
pub(crate) const PLACEHOLDER_OPTION: &str = "woocommerce_placeholder_image";

/// The size in which lists show products.
const THUMBNAIL: &str = "woocommerce_thumbnail";

/// A picture: one of the library, whose address is a path of this site, or one of another site by
/// its address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    pub id: i64,
    pub src: String,
    pub name: String,
    pub alt: String,
    /// Microseconds since 1970.
    pub created_us: i64,
    pub modified_us: i64,
    /// The path of a smaller form, if the library has one.
    #[serde(skip)]
    pub thumbnail: String,
    /// The forms of the whole picture that browsers may choose from, and those of the smaller one.
    #[serde(skip)]
    pub sources: Vec<Form>,
    #[serde(skip)]
    pub thumbnail_sources: Vec<Form>,
    /// Pixels of the whole picture and of the smaller form; zero if nobody knows.
    #[serde(skip)]
    pub width: u32,
    #[serde(skip)]
    pub thumbnail_width: u32,
}

/// The picture of the library with this number.
pub fn by_id(conn: &mut dyn Conn, id: i64) -> Result<Option<Image>> {
    let known = media::get(conn, id)?.zip(post::get(conn, id)?);
    Ok(known.and_then(|(known, texts)| picture(&known, &texts)))
}

/// What stands for the picture of a product that has none: what the shop chose, or what it began
/// with where that is gone.
pub fn placeholder(conn: &mut dyn Conn, visit: &Visit) -> Result<Image> {
    let chosen = visit.options.text(PLACEHOLDER_OPTION);
    let chosen = chosen.trim();
    let id = chosen.parse::<i64>().ok();
    if let Some(image) = id.map(|id| by_id(conn, id)).transpose()?.flatten() {
        return Ok(image);
    }
    let is_address = chosen.starts_with("https://") || chosen.starts_with("http://");
    let src =
        if is_address { chosen.to_owned() } else { format!("{UPLOADS_PATH}{PLACEHOLDER_FILE}") };
    Ok(Image { src, ..Image::default() })
}

/// The placeholder as older versions show it among the pictures of a product: a picture of no
/// number, in the size of lists, made now.
pub(crate) fn stand_in(call: &mut Call<'_>) -> Result<Image> {
    let (visit, now) = (call.visit, call.now().as_micros());
    let image = placeholder(call.conn()?, visit)?;
    let name = String::from("Placeholder");
    Ok(Image {
        src: thumbnail_address(visit, &image),
        alt: name.clone(),
        name,
        created_us: now,
        modified_us: now,
        ..Image::default()
    })
}

/// The picture of the library that an address stands for.
pub(crate) fn by_address(call: &mut Call<'_>, address: &str) -> Result<Option<Image>> {
    let home = call.visit.home.clone();
    match fetch::known(call.conn()?, &home, address)? {
        Some(known) => by_id(call.conn()?, known.post_id),
        None => Ok(None),
    }
}

fn picture(known: &MediaRow, texts: &PostRow) -> Option<Image> {
    let shown = Shown::of(known);
    if !shown.is_picture() || texts.kind != media::KIND {
        return None;
    }
    let created = texts.date_gmt.unwrap_or(texts.date);
    let (whole, thumbnail) = (shown.whole(), shown.in_size(THUMBNAIL));
    Some(Image {
        id: known.post_id,
        src: shown.path(),
        name: texts.title.clone(),
        alt: known.alt_text.clone(),
        created_us: created.as_micros(),
        modified_us: texts.modified_gmt.as_micros(),
        sources: shown.sources(&whole),
        thumbnail_sources: shown.sources(&thumbnail),
        width: whole.width,
        thumbnail_width: thumbnail.width,
        thumbnail: thumbnail.path,
    })
}

/// The picture with what a request says about it, which is kept in the library.
pub(crate) fn described(call: &mut Call<'_>, image: Image, name: &str, alt: &str) -> Result<Image> {
    let is_said = |said: &str, known: &str| !said.is_empty() && said != known;
    if !is_said(name, &image.name) && !is_said(alt, &image.alt) {
        return Ok(image);
    }
    let conn = call.conn()?;
    if let (true, Some(known)) = (is_said(alt, &image.alt), media::get(conn, image.id)?) {
        media::update(conn, &MediaRow { alt_text: alt.to_owned(), ..known })?;
    }
    if let (true, Some(texts)) = (is_said(name, &image.name), post::get(conn, image.id)?) {
        post::update(conn, &PostRow { title: name.to_owned(), ..texts })?;
    }
    let or = |said: &str, known: String| if said.is_empty() { known } else { said.to_owned() };
    Ok(Image { name: or(name, image.name), alt: or(alt, image.alt), ..image })
}

/// Whether a picture is one of the library.
pub fn is_stored(image: &Image) -> bool {
    image.src.starts_with(UPLOADS_PATH)
}

/// Brings pictures of the library up to date. Those that were deleted there are gone.
pub fn refresh(conn: &mut dyn Conn, lists: &mut [&mut Vec<Image>]) -> Result<()> {
    let stored = lists.iter().flat_map(|images| images.iter()).filter(|image| is_stored(image));
    let mut ids: Vec<i64> = stored.map(|image| image.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    ids.sort_unstable();
    ids.dedup();
    let known = media::by_ids(conn, &ids)?;
    let texts = media::posts_by_ids(conn, &ids)?;
    for images in lists {
        images.retain_mut(|image| {
            if !is_stored(image) {
                return true;
            }
            let now = known.get(&image.id).zip(texts.get(&image.id));
            let now = now.and_then(|(known, texts)| picture(known, texts));
            let is_there = now.is_some();
            *image = now.unwrap_or_default();
            is_there
        });
    }
    Ok(())
}

/// The address of a picture: what is in the library is on this site.
pub fn address(visit: &Visit, src: &str) -> String {
    if src.starts_with(UPLOADS_PATH) { visit.page(src) } else { src.to_owned() }
}

/// The forms that browsers may choose from, as the attribute `srcset` lists them.
pub fn source_set(visit: &Visit, forms: &[Form]) -> String {
    let each = forms.iter();
    let each = each.map(|form| format!("{} {}w", visit.page(&form.path), form.width));
    each.collect::<Vec<_>>().join(", ")
}

/// How wide a form of so many pixels is shown, as the attribute `sizes` says it.
pub fn source_sizes(width: u32) -> String {
    if width == 0 { String::new() } else { format!("(max-width: {width}px) 100vw, {width}px") }
}

/// The address of the smaller form. A picture of another site is its own.
pub fn thumbnail_address(visit: &Visit, image: &Image) -> String {
    let path = if image.thumbnail.is_empty() { &image.src } else { &image.thumbnail };
    address(visit, path)
}
