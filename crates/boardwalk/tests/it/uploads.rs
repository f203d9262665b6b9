//! Files of the media library through the real server: large ones that are not held in memory,
//! strangers who may send little, how files are served, and backups that have them.

use std::fs;

use serde_json::Value;
use testkit::http::{Connection, Request, Response};

use crate::support::{Running, Site, basic, text};

const LARGE_BYTES: usize = 50 << 20;
/// What the server may grow by while it receives such a file.
const GROWTH_KIB_MAX: u64 = 24 << 10;

struct Library {
    site: Site,
    running: Running,
    authorization: String,
}

impl Library {
    fn new(site: Site) -> Self {
        let who = ["--login", "admin", "--email", "admin@example.test", "--role", "administrator"];
        site.json(&[&["user", "create"], &who[..]].concat());
        let made = site.json(&["user", "app-password", "--login", "admin", "--name", "Files"]);
        let authorization = basic(&format!("admin:{}", text(&made, "password")));
        let running = site.serve();
        Self { site, running, authorization }
    }

    fn send(&self, request: Request) -> Response {
        Connection::open(&self.running.url).unwrap().send(&request).unwrap()
    }

    fn upload(&self, name: &str, kind: &str, body: Vec<u8>) -> Response {
        let disposition = format!("attachment; filename=\"{name}\"");
        let request = Request::new("POST", "/wp-json/wp/v2/media")
            .header("Authorization", &self.authorization)
            .header("Content-Type", kind)
            .header("Content-Disposition", &disposition)
            .body(body);
        self.send(request)
    }

    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let request = Request::new("GET", path);
        self.send(
            headers.iter().fold(request, |request, (name, value)| request.header(name, value)),
        )
    }

    /// The most memory that the server ever had.
    fn peak_kib(&self) -> u64 {
        let status = format!("/proc/{}/status", self.running.server.pid());
        let status = fs::read_to_string(status).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

fn path_of(item: &Value) -> String {
    let address = item["source_url"].as_str().unwrap();
    address.split_once("/wp-content").map(|(_, path)| format!("/wp-content{path}")).unwrap()
}

fn film(bytes: usize) -> Vec<u8> {
    let mut film = vec![7; bytes];
    film[..12].copy_from_slice(b"\0\0\0\x20ftypisom");
    film
}

#[test]
fn a_large_file_is_not_held_in_memory() {
    let library = Library::new(Site::sqlite());
    assert_eq!(library.upload("small.mp4", "video/mp4", film(1000)).status, 201);
    let before = library.peak_kib();
    let answer = library.upload("large.mp4", "video/mp4", film(LARGE_BYTES));
    assert_eq!(answer.status, 201, "{}", answer.text());
    let item = answer.json().unwrap();
    assert_eq!(item["filesize"], LARGE_BYTES);
    let file = library.get(&path_of(&item), &[]);
    assert_eq!((file.status, file.body.len()), (200, LARGE_BYTES));
    let grown = library.peak_kib() - before;
    assert!(grown < GROWTH_KIB_MAX, "the server grew by {grown} KiB");
}

#[test]
fn uploads_have_limits() {
    let site =
        Site::sqlite().set("site.media.file_bytes", 2 << 20).set("site.media.quota_bytes", 3 << 20);
    let library = Library::new(site);
    let too_large = library.upload("a.mp4", "video/mp4", film((2 << 20) + 1));
    assert_eq!(
        (too_large.status, &too_large.json().unwrap()["code"]),
        (413, &Value::from("rest_body_too_large"))
    );
    assert_eq!(library.upload("a.mp4", "video/mp4", film(2 << 20)).status, 201);
    let full = library.upload("b.mp4", "video/mp4", film(2 << 20));
    assert_eq!(
        (full.status, &full.json().unwrap()["code"]),
        (400, &Value::from("rest_upload_limited_space"))
    );
    // A stranger has the limit of every request, and no file is made.
    let request = |bytes| {
        Request::new("POST", "/wp-json/wp/v2/media")
            .header("Content-Type", "video/mp4")
            .header("Content-Disposition", "attachment; filename=\"x.mp4\"")
            .body(film(bytes))
    };
    assert_eq!(library.send(request(1000)).status, 401);
    assert_eq!(library.send(request((1 << 20) + 1)).status, 413);
    let incoming = library.site.data().join("uploads/sandbox/.incoming");
    assert_eq!(fs::read_dir(incoming).unwrap().count(), 0);
}

#[test]
fn files_are_served_safely_and_for_ever() {
    let library = Library::new(Site::sqlite());
    let placeholder = "/wp-content/uploads/woocommerce-placeholder-300x300.webp";
    assert_eq!(library.get(placeholder, &[]).header("content-type").as_deref(), Some("image/webp"));
    let item = library.upload("notes.txt", "text/plain", b"plain notes".to_vec()).json().unwrap();
    let path = path_of(&item);
    let file = library.get(&path, &[]);
    assert_eq!((file.status, file.text().as_str()), (200, "plain notes"));
    for (name, expected) in [
        ("content-type", "text/plain; charset=utf-8"),
        ("cache-control", "public, max-age=31536000, immutable"),
        ("x-content-type-options", "nosniff"),
        ("content-disposition", "inline; filename=\"notes.txt\""),
        ("accept-ranges", "bytes"),
    ] {
        assert_eq!(file.header(name).as_deref(), Some(expected), "{name}");
    }
    let tag = file.header("etag").unwrap();
    assert_eq!(library.get(&path, &[("If-None-Match", &tag)]).status, 304);
    let part = library.get(&path, &[("Range", "bytes=6-")]);
    assert_eq!((part.status, part.text().as_str()), (206, "notes"));
    assert_eq!(part.header("content-range").as_deref(), Some("bytes 6-10/11"));
    assert_eq!(library.get(&path, &[("Range", "bytes=99-")]).status, 416);
    let head = library.send(Request::new("HEAD", &path));
    assert_eq!((head.status, head.header("content-length").as_deref()), (200, Some("11")));
    let zip = library.upload("a.zip", "application/zip", b"PK\x03\x04....".to_vec());
    let zip = library.get(&path_of(&zip.json().unwrap()), &[]);
    assert_eq!(
        zip.header("content-disposition").as_deref(),
        Some("attachment; filename=\"a.zip\"")
    );
    for path in [
        "/wp-content/uploads/../sandbox.db",
        "/wp-content/uploads/%2e%2e/sandbox.db",
        "/wp-content/uploads/.incoming/1",
        "/wp-content/uploads/2026/11/none.png",
        "/wp-content/uploads/",
    ] {
        assert_eq!(library.get(path, &[]).status, 404, "{path}");
    }
    // The placeholder is an item now, at the same address.
    assert_eq!(library.get(placeholder, &[]).status, 200);
    let delete = format!("/wp-json/wp/v2/media/{}?force=true", item["id"]);
    let delete = Request::new("DELETE", &delete).header("Authorization", &library.authorization);
    assert_eq!(library.send(delete).status, 200);
    assert_eq!(library.get(&path, &[]).status, 404);
}

#[test]
fn backups_have_the_files_on_sqlite() {
    backups_have_the_files(Site::sqlite(), &Site::sqlite());
}

#[test]
fn backups_have_the_files_on_postgres() {
    backups_have_the_files(Site::postgres(), &Site::postgres());
}

fn backups_have_the_files(from: Site, to: &Site) {
    let library = Library::new(from);
    let large = film(700_000);
    let path = path_of(&library.upload("film.mp4", "video/mp4", large.clone()).json().unwrap());
    let file = library.site.data().join("copy.backup");
    let told = library.site.json(&["backup", file.to_str().unwrap()]);
    assert!(told["files"].as_u64().unwrap() > 1, "{told}");
    fs::copy(library.site.data().join("master.key"), to.data().join("master.key")).unwrap();
    assert_eq!(to.json(&["restore", file.to_str().unwrap()])["files"], told["files"]);
    let running = to.serve();
    let answer = Connection::open(&running.url).unwrap().send(&Request::new("GET", &path)).unwrap();
    assert_eq!((answer.status, answer.body == large), (200, true));
    drop(running);
    let checks = to.json(&["doctor"])["checks"].clone();
    let library_check = |checks: &Value| {
        let found =
            checks.as_array().unwrap().iter().find(|check| {
                check["check"].as_str().unwrap().starts_with("media library of sandbox")
            });
        found.unwrap()["state"].clone()
    };
    assert_eq!(library_check(&checks), "ok");
    let folder = to.data().join("uploads/sandbox");
    fs::rename(&folder, folder.with_extension("moved")).unwrap();
    let output = to.run(&["doctor", "--json"]);
    let checks: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(library_check(&checks["checks"]), "problem");
}
