//! Bodies at their documented limits, and one byte above.

use admin::package::{ARCHIVE_BYTES_MAX, Files, pack};
use serde_json::json;
use testkit::http::{self, Request, Response};

use crate::shop_client::ShopClient;
use crate::support::{Running, Site, authorization, body};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
/// As docs/limits.md, docs/bulk.md and docs/plugins.md have them.
const ONBOARDING_BYTES: usize = 32 * KIB;
const BULK_FILE_BYTES: usize = 16 * MIB;
const REST_BYTES: usize = MIB;
const ARCHIVE_BYTES: usize = 8 * MIB;
/// More than the form around an archive may add.
const FORM_SPARE_BYTES: usize = 64 * KIB;
/// The end of an archive, behind which a comment may follow; its last two bytes are the length.
const ARCHIVE_END_BYTES: usize = 22;

#[test]
fn onboarding_accepts_bodies_up_to_their_limit() {
    let site = Site::sqlite();
    let key = site.key(&site.iso("Limits"));
    let running = site.serve();
    let send = |dba: &str, bytes: usize| {
        let text = padded(&body(dba).to_string(), ' ', bytes);
        post(&running, "/v1/onboardmerchant", (&key, "application/json"), text)
    };
    assert_eq!(send("At The Limit", ONBOARDING_BYTES).status, 200);
    refused(&send("Above The Limit", ONBOARDING_BYTES + 1), "payload_too_large");

    let upload = |bytes: usize| {
        let text = padded(&body("In A File").to_string(), '\n', bytes);
        post(&running, "/v1/bulk/onboardings", (&key, "application/x-ndjson"), text)
    };
    let accepted = upload(BULK_FILE_BYTES);
    assert_eq!(accepted.status, 200, "{}", accepted.text());
    refused(&upload(BULK_FILE_BYTES + 1), "payload_too_large");
}

#[test]
fn the_rest_interface_accepts_bodies_up_to_the_limit_of_each_route() {
    let client = ShopClient::open(Site::sqlite());
    let send = |bytes: usize| {
        let mut request = json!({ "title": "Long", "status": "draft", "content": "" });
        let rest = bytes - request.to_string().len();
        request["content"] = json!("x".repeat(rest));
        client.send("POST", "/wp/v2/posts", &request)
    };
    let accepted = send(REST_BYTES);
    assert_eq!(accepted.status, 201, "{}", accepted.text());
    refused(&send(REST_BYTES + 1), "rest_body_too_large");

    assert_eq!(ARCHIVE_BYTES, ARCHIVE_BYTES_MAX, "what the guide says");
    for (path, manifest, slug) in [
        ("/boardwalk/v1/plugins", "plugin.json", "large-plugin"),
        ("/wc-admin/themes", "theme.json", "large-theme"),
    ] {
        let archive = archive_of(manifest, slug, ARCHIVE_BYTES);
        let accepted = client.upload(path, "pluginzip", &archive);
        let text = accepted.text();
        assert!(matches!(accepted.status, 200 | 201) && text.contains(slug), "{path}: {text}");

        let above = archive_of(manifest, "larger", ARCHIVE_BYTES + 1);
        let told = client.upload(path, "pluginzip", &above).text();
        assert!(told.contains("must not exceed"), "{path}: {told}");
        let beyond = vec![0; ARCHIVE_BYTES + FORM_SPARE_BYTES];
        refused(&client.upload(path, "pluginzip", &beyond), "rest_body_too_large");
    }
}

/// Nobody who is unknown holds as much memory as a file takes.
#[test]
fn strangers_have_the_limit_of_every_route() {
    let client = ShopClient::open(Site::sqlite());
    for path in ["/boardwalk/v1/plugins", "/wc-admin/themes"] {
        let send = |bytes: usize| {
            let request = Request::new("POST", &format!("/wp-json{path}"))
                .header("Content-Type", "application/octet-stream")
                .body(vec![b'x'; bytes]);
            http::send(&client.running.url, &request).unwrap()
        };
        refused(&send(REST_BYTES + 1), "rest_body_too_large");
        assert_eq!(send(REST_BYTES).status, 401, "{path}");
    }
}

fn post(running: &Running, path: &str, (key, media_type): (&str, &str), text: String) -> Response {
    let request = Request::new("POST", path)
        .header("Authorization", &authorization(key))
        .header("Content-Type", media_type)
        .body(text);
    http::send(&running.url, &request).unwrap()
}

fn refused(response: &Response, code: &str) {
    assert_eq!(response.status, 413, "{}", response.text());
    assert!(response.text().contains(code), "{}", response.text());
}

/// The text with as many characters behind it as it needs.
fn padded(text: &str, with: char, bytes: usize) -> String {
    let rest = bytes - text.len();
    text.chars().chain(std::iter::repeat_n(with, rest)).collect()
}

/// A package of exactly so many bytes.
fn archive_of(manifest: &str, slug: &str, bytes: usize) -> Vec<u8> {
    let text = json!({ "slug": slug, "name": "Large", "version": "1.0.0" }).to_string();
    let mut files: Files = [(manifest.to_owned(), text.into_bytes())].into();
    let mut state = 0x9e37_79b9_u32;
    for (number, length) in [2 * MIB, 2 * MIB, 2 * MIB, 2 * MIB - 32 * KIB].into_iter().enumerate()
    {
        let incompressible = (0..length).map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state.to_le_bytes()[0]
        });
        files.insert(format!("data/{number}.bin"), incompressible.collect());
    }
    let mut archive = pack(&files, None).unwrap();
    assert_eq!(archive[archive.len() - ARCHIVE_END_BYTES..][..4], *b"PK\x05\x06");
    let comment = bytes - archive.len();
    let at = archive.len() - 2;
    archive[at..].copy_from_slice(&u16::try_from(comment).unwrap().to_le_bytes());
    archive.resize(bytes, b' ');
    archive
}
