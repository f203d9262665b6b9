//! The media library: uploads and what is refused, sizes, texts, lists, changes, deletion, quota,
//! and files that try to be something else.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use types::Role;

use crate::support::{ADMIN, Answer, HOME, NOBODY, TestSite};

const MEDIA: &str = "/wp/v2/media";

/// A picture with stripes, so that it is no matter of one colour.
fn byte(number: u32) -> u8 {
    u8::try_from(number).unwrap()
}

fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let stripes = RgbImage::from_fn(width, height, |x, y| Rgb([byte(x % 251), byte(y % 241), 9]));
    let mut file = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(stripes).write_to(&mut file, format).unwrap();
    file.into_inner()
}

fn png(width: u32, height: u32) -> Vec<u8> {
    picture(width, height, ImageFormat::Png)
}

fn send(site: &TestSite, who: &str, name: &str, body: &[u8]) -> Answer {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [("content-type", "image/png"), ("content-disposition", &*disposition)];
    site.upload(MEDIA, who, &headers, body)
}

fn sent(site: &TestSite, name: &str, body: &[u8]) -> Value {
    let answer = send(site, ADMIN, name, body);
    assert_eq!(answer.status, 201, "{name}: {}", answer.json);
    answer.json
}

fn at(item: &Value) -> String {
    format!("{MEDIA}/{}", item["id"])
}

/// The measures of a stored picture.
fn stored(site: &TestSite, name: &str) -> (Vec<u8>, (u32, u32)) {
    let mut bytes = Vec::new();
    let mut file = site.site.library().storage().open(name).unwrap().expect("a stored file");
    std::io::Read::read_to_end(&mut file.content, &mut bytes).unwrap();
    let read = image::load_from_memory(&bytes).unwrap();
    (bytes, (read.width(), read.height()))
}

#[test]
fn a_picture_gets_its_sizes_and_its_place() {
    let site = TestSite::new();
    let body = png(640, 480);
    let answer = send(&site, ADMIN, "Blue anchor.png", &body);
    assert_eq!((answer.status, answer.header("allow")), (201, "GET, POST"));
    let item = answer.json;
    assert_eq!(answer_location(&site, &item), format!("{HOME}/wp-json{}", at(&item)));
    let url = format!("{HOME}/wp-content/uploads/2026/11/Blue-anchor.png");
    assert_eq!((&item["source_url"], &item["guid"]["raw"]), (&json!(url), &json!(url)));
    assert_eq!(item["title"]["raw"], "Blue-anchor");
    assert_eq!((&item["slug"], &item["status"]), (&json!("blue-anchor"), &json!("inherit")));
    assert_eq!((&item["media_type"], &item["mime_type"]), (&json!("image"), &json!("image/png")));
    assert_eq!((&item["post"], &item["missing_image_sizes"]), (&Value::Null, &json!([])));
    let details = &item["media_details"];
    assert_eq!((&details["width"], &details["filesize"]), (&json!(640), &json!(body.len())));
    let sizes = details["sizes"].as_object().unwrap();
    assert_eq!(sizes.keys().collect::<Vec<_>>(), ["medium", "thumbnail", "full"]);
    assert_eq!(
        site.files(),
        [
            "2026/11/Blue-anchor-150x150.png",
            "2026/11/Blue-anchor-300x225.png",
            "2026/11/Blue-anchor.png"
        ]
    );
    assert_eq!(stored(&site, "2026/11/Blue-anchor.png").0, body);
    assert_eq!(stored(&site, "2026/11/Blue-anchor-300x225.png").1, (300, 225));
    let shown = item["description"]["rendered"].as_str().unwrap();
    assert!(
        shown.contains("Blue-anchor-300x225.png 300w") && shown.contains(".png 640w"),
        "{shown}"
    );
}

fn answer_location(site: &TestSite, item: &Value) -> String {
    let links = site.get(&at(item), ADMIN).json["_links"]["self"][0]["href"].clone();
    links.as_str().unwrap().to_owned()
}

#[test]
fn what_is_no_upload_is_refused() {
    let site = TestSite::new();
    let body = png(2, 2);
    let named = ("content-disposition", "attachment; filename=\"x.png\"");
    let kind = ("content-type", "image/png");
    let check = |headers: &[(&str, &str)], body: &[u8], status: u16, code: &str| {
        let answer = site.upload(MEDIA, ADMIN, headers, body);
        assert_eq!(answer.refusal(), (status, code), "{headers:?}");
    };
    check(&[kind, named], b"", 400, "rest_upload_no_data");
    check(&[named], &body, 400, "rest_upload_no_content_type");
    check(&[kind], &body, 400, "rest_upload_no_content_disposition");
    let nameless = ("content-disposition", "attachment; filename=\"\"");
    check(&[kind, nameless], &body, 400, "rest_upload_invalid_disposition");
    let inline = ("content-disposition", "inline");
    check(&[kind, inline], &body, 400, "rest_upload_invalid_disposition");
    let md5 = ("content-md5", "00000000000000000000000000000000");
    check(&[kind, named, md5], &body, 412, "rest_upload_hash_mismatch");
    let json = site.ask("POST", MEDIA, ADMIN, &json!({ "title": "x" }));
    assert_eq!(json.refusal(), (400, "rest_upload_no_content_disposition"));
    assert_eq!(send(&site, NOBODY, "x.png", &body).refusal(), (401, "rest_cannot_create"));
    assert_eq!(site.files(), [""; 0]);
}

#[test]
fn forms_carry_files_and_texts() {
    let site = TestSite::new();
    let file = png(2, 2);
    let form = |field: &str| {
        let mut body =
            b"--XX\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA dot\r\n--XX\r\n"
                .to_vec();
        let head =
            format!("Content-Disposition: form-data; name=\"{field}\"; filename=\"dot.png\"");
        body.extend(format!("{head}\r\nContent-Type: image/png\r\n\r\n").into_bytes());
        body.extend(&file);
        body.extend(b"\r\n--XX--\r\n");
        body
    };
    let kind = [("content-type", "multipart/form-data; boundary=XX")];
    let made = site.upload(MEDIA, ADMIN, &kind, &form("file"));
    assert_eq!((made.status, &made.json["title"]["raw"]), (201, &json!("A dot")));
    assert_eq!(stored(&site, "2026/11/dot.png").0, file);
    let other = site.upload(MEDIA, ADMIN, &kind, &form("upload"));
    assert_eq!(other.refusal(), (400, "rest_upload_unknown_error"));
    let empty = site.upload(MEDIA, ADMIN, &kind, b"--XX--\r\n");
    assert_eq!(empty.refusal(), (400, "rest_upload_no_data"));
}

/// Whatever it is: refused, with no file left behind, or kept as a harmless one.
#[test]
fn files_that_pretend_are_refused() {
    let site = TestSite::new();
    let good = png(40, 30);
    let mut bomb = good.clone();
    // The measures stand in the first chunk, with a checksum behind them.
    bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    let (head, _) = good.split_at(40);
    let gif = b"GIF89a/*\x01\0\x01\0*/=1;alert(1)";
    let mut zip_in_png = good.clone();
    zip_in_png.truncate(60);
    zip_in_png.extend(b"PK\x03\x04");
    let svg: &[u8] = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";
    for (name, body) in [
        ("x.php", &*good),
        ("x.svg", svg),
        ("x.png", svg),
        ("x.html", b"<script>alert(1)</script>"),
        ("x.png", b"just text"),
        ("bomb.png", &bomb),
        ("half.png", head),
        ("polyglot.gif", gif),
        ("zip.png", &zip_in_png),
        ("none", &good),
        ("x.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF"),
        ("x.webp", b"RIFF\xff\xff\xff\xffWEBPVP8 \xff\xff\xff\xff"),
        ("x.txt", b"a\0b"),
        ("x.pdf", b"<html>"),
    ] {
        let answer = send(&site, ADMIN, name, body);
        assert_eq!(answer.refusal(), (400, "rest_upload_sideload_error"), "{name}");
    }
    assert_eq!(site.files(), [""; 0]);
    for cut in (0..good.len()).step_by(7) {
        assert!(send(&site, ADMIN, "cut.png", &good[..cut]).status < 500, "{cut}");
    }
    let mut dice = 7_u32;
    for round in 0..200 {
        let mut noisy = good.clone();
        for _ in 0..4 {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let place = usize::try_from(dice).unwrap() % noisy.len();
            noisy[place] = byte(dice >> 24);
        }
        assert!(send(&site, ADMIN, "noisy.png", &noisy).status < 500, "{round}");
    }
}

#[test]
fn names_lead_nowhere_and_are_never_given_again() {
    let site = TestSite::new();
    for (called, expected) in [
        ("../../evil name?.png", "evil-name"),
        ("..\\\\..\\\\boot.png", "boot"),
        ("/etc/passwd.png", "passwd"),
        ("a.php.png", "a-php"),
        ("%2e%2e%2fx.png", "2e2e2fx"),
    ] {
        let item = sent(&site, called, &png(2, 2));
        assert_eq!(item["filename"], format!("{expected}.png"), "{called}");
    }
    let wrong_ending = sent(&site, "photo.jpg", &png(2, 2));
    assert_eq!(wrong_ending["filename"], "photo.png");
    let first = sent(&site, "dot.png", &png(2, 2));
    let second = sent(&site, "dot.png", &png(3, 3));
    assert_eq!((&second["filename"], &second["slug"]), (&json!("dot-1.png"), &json!("dot-1")));
    let deleted = site.ask("DELETE", &format!("{}?force=true", at(&first)), ADMIN, &Value::Null);
    assert_eq!((deleted.status, &deleted.json["deleted"]), (200, &json!(true)));
    // Who has the old one in a cache would take the new one for it.
    assert_eq!(sent(&site, "dot.png", &png(4, 4))["filename"], "dot-2.png");
    assert!(site.files().iter().all(|name| name.starts_with("2026/11/")), "{:?}", site.files());
}

/// A file with a place and a camera in it, lying on its side.
#[test]
fn pictures_say_nothing_about_people() {
    let site = TestSite::new();
    let jpeg = picture(40, 20, ImageFormat::Jpeg);
    let with = |orientation: u8| {
        let mut exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
        exif.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
        exif.extend(b"GPS 52.5 13.4");
        let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
        [&jpeg[..2], b"\xff\xe1", &length, &exif, &jpeg[2..], b"<?php evil();"].concat()
    };
    let upright = sent(&site, "upright.jpg", &with(1));
    let (bytes, measures) = stored(&site, "2026/11/upright.jpg");
    assert_eq!((bytes, measures), (jpeg.clone(), (40, 20)));
    assert_eq!(upright["media_details"]["filesize"], jpeg.len());
    let turned = sent(&site, "turned.jpg", &with(6));
    let (bytes, measures) = stored(&site, "2026/11/turned.jpg");
    assert_eq!((measures, &turned["media_details"]["height"]), ((20, 40), &json!(40)));
    for secret in [&b"GPS"[..], b"Exif", b"<?php"] {
        assert!(!bytes.windows(secret.len()).any(|window| window == secret));
    }
    assert_eq!(turned["exif_orientation"], 1);
}

#[test]
fn other_types_are_kept_as_they_are() {
    let site = TestSite::new();
    let notes = sent(&site, "notes.txt", b"plain notes");
    assert_eq!((&notes["media_type"], &notes["mime_type"]), (&json!("file"), &json!("text/plain")));
    assert_eq!(notes["caption"]["rendered"], "<p>notes</p>\n");
    assert_eq!(notes["media_details"], json!({ "filesize": 11, "sizes": {} }));
    for (name, format) in
        [("a.gif", ImageFormat::Gif), ("a.webp", ImageFormat::WebP), ("a.jpg", ImageFormat::Jpeg)]
    {
        let item = sent(&site, name, &picture(200, 120, format));
        assert_eq!(item["media_details"]["sizes"]["thumbnail"]["height"], 120, "{name}");
    }
    let card = send(&site, ADMIN, "cards.csv", b"name,number\nA,4111 1111 1111 1111\n");
    assert_eq!(card.status, 400, "{}", card.json);
}

#[test]
fn texts_are_changed_and_found() {
    let mut site = TestSite::new();
    let item = sent(&site, "dot.png", &png(2, 2));
    let post =
        site.ask("POST", "/wp/v2/posts", ADMIN, &json!({ "title": "P", "status": "publish" }));
    let body = json!({
        "title": "Dot", "alt_text": "<b>Bold</b> dot", "caption": "Cap",
        "description": { "raw": "Desc" }, "slug": "the-dot", "post": post.json["id"],
    });
    let changed = site.ask("POST", &at(&item), ADMIN, &body);
    assert_eq!((changed.status, &changed.json["alt_text"]), (200, &json!("Bold dot")));
    assert_eq!(changed.json["link"], format!("{HOME}/p/the-dot/"));
    assert_eq!(changed.json["_links"]["wp:attached-to"][0]["id"], post.json["id"]);
    let rendered = changed.json["description"]["rendered"].as_str().unwrap();
    assert!(rendered.ends_with("alt=\"Bold dot\" /></a></p>\n<p>Desc</p>\n"), "{rendered}");
    sent(&site, "notes.txt", b"plain notes");
    let list = |query: &str| site.get(&format!("{MEDIA}?{query}"), NOBODY).each("slug");
    let parent = format!("parent={}", post.json["id"]);
    for (query, expected) in [
        ("search=bold", json!([])),
        ("search=desc", json!(["the-dot"])),
        // The name of the file counts, too.
        ("search=dot.png", json!(["the-dot"])),
        ("media_type=image", json!(["the-dot"])),
        ("media_type=video", json!([])),
        ("media_type=text,image&order=asc", json!(["the-dot", "notes"])),
        ("mime_type=text/plain", json!(["notes"])),
        ("mime_type=bogus&order=asc", json!(["the-dot", "notes"])),
        (&parent, json!(["the-dot"])),
        ("parent_exclude=0", json!(["the-dot"])),
    ] {
        assert_eq!(json!(list(query)), expected, "{query}");
    }
    let bogus = site.get(&format!("{MEDIA}?media_type=bogus"), NOBODY);
    assert_eq!(bogus.refusal(), (400, "rest_invalid_param"));
    // What lies with a draft is for those who may see it.
    site.ask(
        "POST",
        &format!("/wp/v2/posts/{}", post.json["id"]),
        ADMIN,
        &json!({"status": "draft"}),
    );
    assert_eq!(site.get(&at(&item), NOBODY).refusal(), (401, "rest_forbidden"));
    assert_eq!(site.get(&at(&item), ADMIN).status, 200);
    site.user("sam", Role::Subscriber);
    let refused = site.ask("POST", &at(&item), "sam", &json!({ "title": "x" }));
    assert_eq!(refused.refusal(), (403, "rest_cannot_edit"));
    let refused = site.ask("DELETE", &at(&item), "sam", &Value::Null);
    assert_eq!(refused.refusal(), (403, "rest_cannot_delete"));
}

#[test]
fn deletion_takes_the_files_along() {
    let site = TestSite::new();
    let item = sent(&site, "wide.png", &png(400, 100));
    let id = item["id"].clone();
    let post = json!({ "title": "P", "status": "publish", "featured_media": id });
    let post = site.ask("POST", "/wp/v2/posts", ADMIN, &post);
    assert_eq!((post.status, &post.json["featured_media"]), (201, &id));
    let wrong = json!({ "title": "P", "featured_media": 4711 });
    let wrong = site.ask("POST", "/wp/v2/posts", ADMIN, &wrong);
    assert_eq!(wrong.refusal(), (400, "rest_invalid_featured_media"));
    let path = format!("/wp/v2/posts/{}", post.json["id"]);
    let embedded = site.get(&format!("{path}?_embed=wp:featuredmedia"), NOBODY);
    assert_eq!(embedded.json["_embedded"]["wp:featuredmedia"][0]["id"], id);
    let kept = site.ask("DELETE", &at(&item), ADMIN, &Value::Null);
    assert_eq!(kept.refusal(), (501, "rest_trash_not_supported"));
    assert_eq!(site.files().len(), 3);
    let deleted = site.ask("DELETE", &format!("{}?force=true", at(&item)), ADMIN, &Value::Null);
    assert_eq!((deleted.status, site.files()), (200, Vec::new()));
    assert_eq!(site.get(&at(&item), ADMIN).refusal(), (404, "rest_post_invalid_id"));
    assert_eq!(site.get(&path, NOBODY).json["featured_media"], 0);
}

#[test]
fn pictures_are_turned_and_cut() {
    let site = TestSite::new();
    let item = sent(&site, "sail.png", &png(320, 200));
    let edit = format!("{}/edit", at(&item));
    let source = item["source_url"].clone();
    let change = |body: Value| site.ask("POST", &edit, ADMIN, &body);
    let turned = change(json!({ "src": source, "rotation": 90 }));
    assert_eq!((turned.status, &turned.json["filename"]), (201, &json!("sail-edited.png")));
    assert_eq!(stored(&site, "2026/11/sail-edited.png").1, (200, 320));
    let parent = &turned.json["media_details"]["parent_image"];
    assert_eq!(
        *parent,
        json!({ "attachment_id": item["id"].to_string(), "file": "2026/11/sail.png" })
    );
    let crop = json!({ "left": 10, "top": 10, "width": 50, "height": 25 });
    let flip = json!({ "flip": { "horizontal": true, "vertical": false } });
    let modifiers = json!([{ "type": "crop", "args": crop }, { "type": "flip", "args": flip }]);
    let cut = change(json!({ "src": source, "modifiers": modifiers, "alt_text": "Cut" }));
    assert_eq!((cut.status, &cut.json["alt_text"]), (201, &json!("Cut")));
    assert_eq!(stored(&site, "2026/11/sail-edited-1.png").1, (160, 50));
    for (body, status, code) in [
        (json!({ "src": source }), 400, "rest_image_not_edited"),
        (json!({}), 400, "rest_missing_callback_param"),
        (json!({ "src": source, "rotation": 45 }), 400, "rest_image_rotation_failed"),
        (json!({ "src": source, "rotation": 360 }), 400, "rest_invalid_param"),
        (
            json!({ "src": "http://nope.test/x.png", "rotation": 90 }),
            404,
            "rest_unknown_attachment",
        ),
    ] {
        assert_eq!(change(body.clone()).refusal(), (status, code), "{body}");
    }
    let process = format!("{}/post-process", at(&item));
    let done = site.ask("POST", &process, ADMIN, &json!({ "action": "create-image-subsizes" }));
    assert_eq!((done.status, &done.json["missing_image_sizes"]), (200, &json!([])));
}

/// A size that the site did not have when the picture came.
#[test]
fn missing_sizes_are_made_later() {
    let site = TestSite::new();
    let item = sent(&site, "sail.png", &png(320, 200));
    let id = item["id"].as_i64().unwrap();
    site.write(move |conn| {
        let known = site_rows::media::get(conn, id)?.unwrap();
        site_rows::media::update(conn, &site_rows::media::MediaRow { sizes: "[]".into(), ..known })
    });
    let storage = site.site.library().storage();
    storage.remove("2026/11/sail-300x188.png").unwrap();
    let seen = site.get(&format!("{}?context=edit", at(&item)), ADMIN);
    assert_eq!(seen.json["missing_image_sizes"], json!(["medium", "thumbnail"]));
    let process = format!("{}/post-process", at(&item));
    let done = site.ask("POST", &process, ADMIN, &json!({ "action": "create-image-subsizes" }));
    assert_eq!((done.status, &done.json["missing_image_sizes"]), (200, &json!([])));
    assert_eq!(stored(&site, "2026/11/sail-300x188.png").1, (300, 188));
}

/// Files that no row speaks of, and rows whose posts are gone.
#[test]
fn the_library_is_swept() {
    let site = TestSite::new();
    let kept = sent(&site, "kept.png", &png(2, 2));
    let lost = sent(&site, "lost.png", &png(2, 2));
    let storage = site.site.library().storage();
    let orphan = storage.temporary().unwrap();
    assert!(storage.put(orphan.path(), "2026/11/orphan.png").unwrap());
    drop(orphan);
    let lost_id = lost["id"].as_i64().unwrap();
    site.write(move |conn| site_rows::post::delete(conn, lost_id));
    // The files are of today, and the site's clock stands still in another year.
    let old = std::time::SystemTime::UNIX_EPOCH;
    let root = site.folder().join("uploads");
    for name in ["2026/11/kept.png", "2026/11/lost.png", "2026/11/orphan.png"] {
        let file = std::fs::File::options().append(true).open(root.join(name)).unwrap();
        file.set_modified(old).unwrap();
    }
    let site_of = std::sync::Arc::clone(&site.site);
    assert_eq!(site.run(async move { site_of.sweep_library().await }).unwrap(), 2);
    assert_eq!(site.files(), ["2026/11/kept.png"]);
    assert_eq!(site.get(&at(&kept), NOBODY).status, 200);
}
