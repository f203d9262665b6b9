//! The media library in a bucket, which two nodes share: what one takes in the other serves, no
//! name is used twice, and nothing of it stays on this machine.

use std::fs;

use serde_json::Value;
use testkit::http::{self, Request, Response};

use crate::support::{Running, Site};
use crate::test_bucket::{ACCESS_KEY, BUCKET, Error, SECRET_KEY, TestBucket};

/// Sent in parts.
const LARGE_BYTES: usize = 9 << 20;

fn in_bucket(site: Site, bucket: &TestBucket) -> Site {
    site.set("server.files.bucket", format!("s3://{BUCKET}/media"))
        .set("server.files.s3.endpoint", &bucket.url)
        .set("server.files.s3.access_key_id", ACCESS_KEY)
        .set("server.files.s3.secret_access_key", SECRET_KEY)
}

fn film(bytes: usize) -> Vec<u8> {
    let mut film: Vec<u8> = (0..bytes).map(|place| u8::try_from(place % 251).unwrap()).collect();
    film[..12].copy_from_slice(b"\0\0\0\x20ftypisom");
    film
}

fn upload(node: &Running, authorization: &str, body: Vec<u8>) -> Response {
    let request = Request::new("POST", "/wp-json/wp/v2/media")
        .header("Authorization", authorization)
        .header("Content-Type", "video/mp4")
        .header("Content-Disposition", "attachment; filename=\"film.mp4\"")
        .body(body);
    http::send(&node.url, &request).unwrap()
}

fn taken_in(answer: &Response) -> (i64, String) {
    assert_eq!(answer.status, 201, "{}", answer.text());
    let item: Value = answer.json().unwrap();
    let address = item["source_url"].as_str().unwrap();
    let (_, path) = address.split_once("/wp-content").unwrap();
    (item["id"].as_i64().unwrap(), format!("/wp-content{path}"))
}

#[test]
fn nodes_share_their_files_in_a_bucket() {
    let bucket = TestBucket::start();
    let site = in_bucket(Site::postgres(), &bucket);
    let authorization = site.administrator();
    let nodes = [site.serve(), site.serve()];
    let (small, large) = (film(1_000), film(LARGE_BYTES));
    let (id, first) = taken_in(&upload(&nodes[0], &authorization, small.clone()));
    let (_, second) = taken_in(&upload(&nodes[1], &authorization, large.clone()));
    assert_ne!(first, second, "no name is used twice");
    assert_eq!(bucket.state().in_parts, 1, "the large one was sent in parts");

    let served = http::get(&nodes[1].url, &first, &[]).unwrap();
    assert_eq!((served.status, served.body), (200, small));
    let served = http::get(&nodes[0].url, &second, &[]).unwrap();
    assert!(served.status == 200 && served.body == large);
    let part = http::get(&nodes[0].url, &second, &[("Range", "bytes=5000000-5000009")]).unwrap();
    assert_eq!((part.status, &part.body[..]), (206, &large[5_000_000..5_000_010]));

    let prefix = "media/sandbox/";
    assert!(bucket.state().objects.keys().all(|key| key.starts_with(prefix)));
    assert_eq!(files_below(&site.data().join("uploads")), 0, "nothing stays here");

    let delete = Request::new("DELETE", &format!("/wp-json/wp/v2/media/{id}?force=true"))
        .header("Authorization", &authorization);
    assert_eq!(http::send(&nodes[1].url, &delete).unwrap().status, 200);
    assert_eq!(http::get(&nodes[0].url, &first, &[]).unwrap().status, 404);
    assert!(!bucket.names().iter().any(|name| first.ends_with(name)), "{:?}", bucket.names());

    bucket.state().error = Error::Full;
    let before = bucket.names();
    let refused = upload(&nodes[0], &authorization, film(2_000));
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert_eq!(bucket.names(), before, "an error means that nothing was stored");
    bucket.state().error = Error::None;
    assert_eq!(bucket.state().unsigned, 0);
    drop(nodes);
    backups_have_the_files(&site, &bucket, &second);
}

/// A backup has what is in the bucket, and `restore` puts it into another.
fn backups_have_the_files(site: &Site, bucket: &TestBucket, path: &str) {
    let file = site.data().join("all.backup");
    site.json(&["backup", file.to_str().unwrap()]);
    let other = TestBucket::start();
    let restored = in_bucket(Site::postgres(), &other);
    fs::copy(site.data().join("master.key"), restored.data().join("master.key")).unwrap();
    restored.json(&["restore", file.to_str().unwrap()]);
    let name = path.rsplit('/').next().unwrap();
    let content = |bucket: &TestBucket| {
        let state = bucket.state();
        let found = state.objects.iter().find(|(key, _)| key.ends_with(name));
        found.map(|(_, content)| content.clone())
    };
    assert!(content(&other).is_some() && content(&other) == content(bucket), "{:?}", other.names());
}

#[test]
fn a_bucket_that_cannot_be_used_is_refused_with_its_setting() {
    let site = Site::sqlite().set("server.files.bucket", "s3://kept");
    let refused = site.run(&["serve", "--environment", "sandbox", "--listen", "127.0.0.1:0"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("server.files.s3.access_key_id"), "{said}");
}

fn files_below(folder: &std::path::Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| if entry.path().is_dir() { files_below(&entry.path()) } else { 1 })
        .sum()
}
