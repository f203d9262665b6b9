//! An item of the library as its clients see it: fields by view, and links.

use contract::rest::{Links, Reply, Stop};
use frame::media::file_type::FileType;
use frame::media::shown::{Form, Shown};
use frame::media::sizes::MEDIUM;
use frame::text::{escaped, render, slugify};
use frame::{Call, Visit, dates, library};
use serde_json::{Map, Value, json};
use site_rows::media::{self, MediaRow};
use site_rows::post::PostRow;
use types::Capability;

use super::{Collection, permit};
use crate::posts::kind::{POST, kind_of};
use crate::posts::{is_publicly_viewable, permalink};

pub(super) fn read_one(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (row, media) = permit::item_of(call)?;
    let context = call.context();
    let (fields, links) = prepare(collection, call, (&row, &media), &context)?;
    let address = Location::of(call, &row)?.link;
    let alternate = format!("<{address}>; rel=\"alternate\"; type=text/html");
    Ok(Reply::new(fields).links(links).header("link", alternate))
}

/// Answers with the item in a view.
pub(super) fn answer(
    collection: &Collection,
    call: &mut Call<'_>,
    item: (&PostRow, &MediaRow),
    context: &str,
) -> Result<Reply, Stop> {
    let (fields, links) = prepare(collection, call, item, context)?;
    Ok(Reply::new(fields).links(links))
}

/// The item's fields in the wanted view, and its links.
pub(super) fn prepare(
    collection: &Collection,
    call: &mut Call<'_>,
    (row, media): (&PostRow, &MediaRow),
    context: &str,
) -> Result<(Value, Links), Stop> {
    let shown = Shown::of(media);
    let place = Location::of(call, row)?;
    let visit = call.visit;
    let source = visit.page(&shown.path());
    let date_gmt = row.date_gmt.unwrap_or_else(|| visit.options.from_local(row.date));
    let element = element(visit, row, &shown);
    let described = format!("{element}\n{}", render::content(&row.content));
    let summary = format!("{element} {}", row.content);
    let caption = render::excerpt(&row.excerpt, &summary, render::EXCERPT_WORDS);
    let details = details(call, &shown)?;
    let mut fields = json!({
        "id": row.post_id,
        "date": dates::written(row.date),
        "date_gmt": dates::written(date_gmt),
        "guid": { "rendered": source, "raw": source },
        "modified": dates::written(row.modified),
        "modified_gmt": dates::written(row.modified_gmt),
        "slug": row.slug,
        "status": row.status,
        "type": row.kind,
        "link": place.link,
        "title": { "raw": row.title, "rendered": render::title(&row.title) },
        "author": row.author_id,
        "featured_media": 0,
        "comment_status": row.comment_status,
        "ping_status": row.ping_status,
        "template": row.template,
        "meta": [],
        "permalink_template": place.template,
        "class_list": classes(row),
        "description": { "raw": row.content, "rendered": described },
        "caption": { "raw": row.excerpt, "rendered": caption },
        "alt_text": media.alt_text,
        "media_type": if shown.is_picture() { "image" } else { "file" },
        "mime_type": media.mime_type,
        "media_details": details,
        "post": if row.parent_id == 0 { Value::Null } else { json!(row.parent_id) },
        "source_url": source,
        "missing_image_sizes": missing_sizes(call, &shown),
        "filename": shown.file_name(),
        "filesize": media.bytes,
    });
    if let (true, Some(members)) = (context == "edit", fields.as_object_mut()) {
        let wanted = slugify(&row.title);
        let slug = library::item::unique_slug(call.conn()?, &wanted, row.post_id)?;
        members.insert(String::from("generated_slug"), json!(slug));
        // Files are turned upright when they come in.
        if shown.is_picture() {
            members.insert(String::from("exif_orientation"), json!(1));
        }
    }
    let links = links(collection, call, row, &place, context);
    Ok((collection.item.filter_by_context(fields, context), links))
}

/// Where an item is found by people.
struct Location {
    link: String,
    template: String,
    /// What it is attached to, if that is there.
    parent: Option<PostRow>,
}

impl Location {
    fn of(call: &mut Call<'_>, row: &PostRow) -> Result<Self, Stop> {
        let visit = call.visit;
        let plain = visit.page(&format!("/?attachment_id={}", row.post_id));
        let parent = permit::parent_of(call, row)?;
        let (link, template) = match &parent {
            _ if row.parent_id == 0 => (visit.page(&format!("/{}/", row.slug)), plain),
            Some(above) if is_publicly_viewable(above) => {
                let above = permalink(call.conn()?, visit, above)?;
                let above = above.trim_end_matches('/');
                (format!("{above}/{}/", row.slug), format!("{above}/%postname%/"))
            }
            _ => (plain.clone(), plain),
        };
        Ok(Self { link, template, parent })
    }
}

fn classes(row: &PostRow) -> Vec<String> {
    let (kind, status) = (&row.kind, &row.status);
    vec![
        format!("post-{}", row.post_id),
        kind.clone(),
        format!("type-{kind}"),
        format!("status-{status}"),
        String::from("hentry"),
    ]
}

/// The file in the text: a picture of middle size, or a link.
fn element(visit: &Visit, row: &PostRow, shown: &Shown<'_>) -> String {
    let address = escaped(&visit.page(&shown.path()));
    let inner = if shown.is_picture() { picture(visit, shown) } else { render::title(&row.title) };
    format!("<p class=\"attachment\"><a href='{address}'>{inner}</a></p>")
}

fn picture(visit: &Visit, shown: &Shown<'_>) -> String {
    let form = shown.in_size(MEDIUM);
    let Form { path, width, height } = &form;
    let mut html = format!(
        "<img loading=\"lazy\" decoding=\"async\" width=\"{width}\" height=\"{height}\" \
         src=\"{}\" class=\"attachment-medium size-medium\" alt=\"{}\"",
        escaped(&visit.page(path)),
        escaped(&shown.row.alt_text)
    );
    let sources = shown.sources(&form);
    if !sources.is_empty() {
        let sources = sources.iter().map(|form| {
            let address = escaped(&visit.page(&form.path));
            format!("{address} {}w", form.width)
        });
        let sources = sources.collect::<Vec<_>>().join(", ");
        html.push_str(" srcset=\"");
        html.push_str(&sources);
        let sizes = format!("\" sizes=\"auto, (max-width: {width}px) 100vw, {width}px\"");
        html.push_str(&sizes);
    }
    html.push_str(" />");
    html
}

fn details(call: &mut Call<'_>, shown: &Shown<'_>) -> Result<Value, Stop> {
    let media = shown.row;
    if !shown.is_picture() {
        return Ok(json!({ "filesize": media.bytes, "sizes": {} }));
    }
    let mut details = json!({
        "width": media.width,
        "height": media.height,
        "file": media.file,
        "filesize": media.bytes,
        "sizes": sizes(call, shown),
        "image_meta": {
            "aperture": "0", "credit": "", "camera": "", "caption": "", "created_timestamp": "0",
            "copyright": "", "focal_length": "0", "iso": "0", "shutter_speed": "0", "title": "",
            "orientation": "0", "keywords": [], "alt": "",
        },
    });
    if let (true, Some(members)) = (media.edited_from != 0, details.as_object_mut()) {
        let source = media::get(call.conn()?, media.edited_from)?;
        let file = source.map(|source| source.file).unwrap_or_default();
        let source = json!({ "attachment_id": media.edited_from.to_string(), "file": file });
        members.insert(String::from("parent_image"), source);
    }
    Ok(details)
}

fn sizes(call: &Call<'_>, shown: &Shown<'_>) -> Map<String, Value> {
    let mut sizes = Map::new();
    let tells = |name: &str| {
        let known = call.site.library().sizes().iter().find(|size| size.name == name);
        known.is_some_and(|size| size.tells_cropping)
    };
    for sized in &shown.sizes {
        let mut size = json!({
            "file": sized.file,
            "width": sized.width,
            "height": sized.height,
            "filesize": sized.bytes,
            "mime_type": shown.row.mime_type,
            "source_url": call.visit.page(&shown.path_beside(&sized.file)),
        });
        if let (true, Some(members)) = (tells(&sized.size), size.as_object_mut()) {
            members.insert(String::from("uncropped"), json!(false));
        }
        sizes.insert(sized.size.clone(), size);
    }
    if sizes.is_empty() {
        return sizes;
    }
    let whole = json!({
        "file": shown.file_name(),
        "width": shown.row.width,
        "height": shown.row.height,
        "mime_type": shown.row.mime_type,
        "source_url": call.visit.page(&shown.path()),
    });
    sizes.insert(String::from("full"), whole);
    sizes
}

/// The sizes that the picture should have and has not.
pub(super) fn missing_sizes(call: &Call<'_>, shown: &Shown<'_>) -> Vec<&'static str> {
    if !shown.is_picture() || FileType::family(&shown.row.mime_type) != "image" {
        return Vec::new();
    }
    let whole = shown.whole();
    let wanted = call.site.library().sizes().iter();
    let missing = wanted.filter(|size| {
        let has = shown.sizes.iter().any(|made| made.size == size.name);
        !has && size.cut((whole.width, whole.height)).is_some()
    });
    missing.map(|size| size.name).collect()
}

fn links(
    collection: &Collection,
    call: &Call<'_>,
    row: &PostRow,
    place: &Location,
    context: &str,
) -> Links {
    let visit = call.visit;
    let (namespace, id) = (&collection.namespace, row.post_id);
    let own = visit.rest(&collection.path_of(id));
    let at = |path: &str| visit.rest(&format!("/{namespace}{path}"));
    let mut links = Links::new()
        .to("self", &*own)
        .to("collection", visit.rest(&collection.path()))
        .to("about", at("/types/attachment"));
    if row.author_id != 0 {
        links = links.embeddable("author", at(&format!("/users/{}", row.author_id)));
    }
    links = links.embeddable("replies", at(&format!("/comments?post={id}")));
    let parent = place.parent.as_ref().and_then(|parent| Some((parent, kind_of(&parent.kind)?)));
    if let Some((parent, kind)) = parent {
        let href = at(&format!("/{}/{}", kind.base, parent.post_id));
        let target = json!({
            "embeddable": true, "post_type": kind.name, "id": parent.post_id, "href": href,
        });
        links = links.add("wp:attached-to", target);
    }
    if context == "edit" {
        for (has, right) in [
            (call.can(Capability::UnfilteredHtml), "unfiltered-html"),
            (call.can(POST.may.edit_others), "assign-author"),
        ] {
            if has {
                links = links.to(&format!("wp:action-{right}"), &*own);
            }
        }
    }
    links
}
