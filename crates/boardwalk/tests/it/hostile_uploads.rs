//! Files that no honest client sends: of two types at once, of huge measures, under names that lead
//! elsewhere, and broken at random. **No answer is a failure of the server, nothing is written
//! outside of the library's folder, and memory stays within its bound.**

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::http::{self, Request, Response};

use crate::chance::Chance;
use crate::support::{Running, Site};

/// Files that are broken at random.
const BROKEN: usize = 150;
/// What a picture may take once it is decoded, with its smaller forms beside it.
const PICTURE_BYTES_MAX: u64 = 16 << 20;
/// What the server may grow by while it looks at pictures.
const GROWTH_KIB_MAX: u64 = 96 << 10;
const PIXEL: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\
    \x01\0\x01\0\0\x02\x02D\x01\0;";

struct Target {
    site: Site,
    running: Running,
    authorization: String,
}

impl Target {
    fn new() -> Self {
        let site = Site::sqlite().set("site.media.picture_bytes", PICTURE_BYTES_MAX);
        let authorization = site.administrator();
        let running = site.serve();
        Self { site, running, authorization }
    }

    fn upload(&self, name: &str, kind: &str, body: &[u8]) -> Response {
        let disposition = format!("attachment; filename=\"{name}\"");
        let request = Request::new("POST", "/wp-json/wp/v2/media")
            .header("Authorization", &self.authorization)
            .header("Content-Type", kind)
            .header("Content-Disposition", &disposition)
            .body(body.to_vec());
        let answer = http::send(&self.running.url, &request).unwrap();
        assert!(answer.status < 500, "{name} {kind}: {} {}", answer.status, answer.text());
        answer
    }

    fn peak_kib(&self) -> u64 {
        let status = format!("/proc/{}/status", self.running.server.pid());
        let status = fs::read_to_string(status).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Every file below the data folder but those of the library and of the database.
    fn files_elsewhere(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        walk(self.site.data(), &mut |path| {
            let name = path.strip_prefix(self.site.data()).unwrap();
            let is_database = name.to_string_lossy().starts_with("sandbox.");
            if !is_database && !name.starts_with("uploads/sandbox") {
                found.insert(name.to_owned());
            }
        });
        found
    }

    /// Every file of the library is served as what it is, and as nothing that a browser runs.
    fn check_library(&self) {
        let folder = self.site.data().join("uploads/sandbox");
        walk(&folder, &mut |path| {
            let name = path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
            let answer =
                http::get(&self.running.url, &format!("/wp-content/uploads/{name}"), &[]).unwrap();
            assert_eq!(answer.status, 200, "{name}");
            assert_eq!(answer.header("x-content-type-options").as_deref(), Some("nosniff"));
            let kind = answer.header("content-type").unwrap();
            for forbidden in ["html", "svg", "xml", "javascript", "php"] {
                assert!(!kind.contains(forbidden), "{name} is {kind}");
            }
        });
        let log = self.running.server.stderr();
        for sign in ["panicked at", "\"level\":\"ERROR\""] {
            assert!(!log.contains(sign), "{log}");
        }
    }
}

fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, visit) } else { visit(&path) }
    }
}

/// A PNG of these measures that has next to no content.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |name: &[u8; 4], content: &[u8]| {
        file.extend_from_slice(&u32::try_from(content.len()).unwrap().to_be_bytes());
        let from = file.len();
        file.extend_from_slice(name);
        file.extend_from_slice(content);
        let sum = checksum(&file[from..]);
        file.extend_from_slice(&sum.to_be_bytes());
    };
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    head.extend_from_slice(&[8, 6, 0, 0, 0]);
    chunk(b"IHDR", &head);
    chunk(b"IDAT", b"\x78\x9c\x63\0\0\0\x01\0\x01");
    chunk(b"IEND", b"");
    file
}

fn checksum(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 }
        })
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[test]
fn files_of_two_types_are_taken_for_the_harmless_one_or_not_at_all() {
    let target = Target::new();
    let before = target.files_elsewhere();
    let page: &[u8] = b"<html><script>alert(1)</script></html>";
    let program: &[u8] = b"<?php system($_GET['c']); ?>";
    let archive: &[u8] = b"PK\x03\x04\x14\0\0\0";
    for start in [PIXEL, b"%PDF-1.4\n", b"\xff\xd8\xff\xe0", b"RIFF\x10\0\0\0WEBP", b"OggS", b""] {
        for payload in [page, program, archive, b"<svg onload=alert(1)>"] {
            let both = [start, payload].concat();
            for name in
                ["a.gif", "a.png", "a.jpg", "a.webp", "a.pdf", "a.svg", "a.html", "a.php", "a.zip"]
            {
                target.upload(name, "image/gif", &both);
            }
        }
    }
    for name in [".htaccess", ".user.ini", "a.phtml", "a.svgz", "a.js", "a.xhtml", "a.gif.php"] {
        assert_eq!(target.upload(name, "image/gif", PIXEL).status, 400, "{name}");
    }
    target.check_library();
    assert_eq!(target.files_elsewhere(), before);
}

#[test]
fn names_lead_nowhere_else() {
    let target = Target::new();
    let before = target.files_elsewhere();
    let long = format!("{}.gif", "n".repeat(4000));
    for name in [
        "../../../escape.gif",
        "..\\..\\escape.gif",
        "/etc/cron.d/escape.gif",
        "%2e%2e%2f%2e%2e%2fescape.gif",
        "a/../../../../escape.gif",
        "....//....//escape.gif",
        "C:\\escape.gif",
        ".incoming/1.gif",
        "..gif",
        ".gif",
        "gif",
        "escape.gif%00.php",
        "es\u{202e}fig.gif",
        "con.gif",
        "a;b|c&d$(e)`f`.gif",
        &long,
    ] {
        let answer = target.upload(name, "image/gif", PIXEL);
        if answer.status == 201 {
            let item: Value = answer.json().unwrap();
            let address = item["source_url"].as_str().unwrap();
            let below = address.split_once("/wp-content/uploads/").unwrap().1;
            let parts: Vec<&str> = below.split('/').collect();
            assert_eq!(parts.len(), 3, "{name} became {below}");
            assert!(parts.iter().all(|part| !part.starts_with('.')), "{name} became {below}");
        }
    }
    target.check_library();
    assert_eq!(target.files_elsewhere(), before);
}

#[test]
fn measures_beyond_all_bounds_take_no_memory() {
    let target = Target::new();
    assert_eq!(target.upload("small.gif", "image/gif", PIXEL).status, 201);
    let before = target.peak_kib();
    let gif = |width: u16, height: u16| {
        let mut file = PIXEL.to_vec();
        for place in [6, 32] {
            file[place..place + 2].copy_from_slice(&width.to_le_bytes());
            file[place + 2..place + 4].copy_from_slice(&height.to_le_bytes());
        }
        file
    };
    let webp = |width: u32, height: u32| {
        let side = |pixels: u32| (pixels - 1).to_le_bytes()[..3].to_vec();
        let head = [&[0x10, 0, 0, 0][..], &side(width), &side(height)].concat();
        let mut file = b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0".to_vec();
        file.extend_from_slice(&head);
        file
    };
    for (name, kind, file) in [
        ("wide.png", "image/png", png(u32::MAX, 1)),
        ("huge.png", "image/png", png(60_000, 60_000)),
        ("bomb.png", "image/png", png(16_000, 16_000)),
        ("none.png", "image/png", png(0, 0)),
        ("huge.gif", "image/gif", gif(65_535, 65_535)),
        ("huge.webp", "image/webp", webp(16_384, 16_384)),
        ("wide.webp", "image/webp", webp(1 << 24, 1 << 24)),
    ] {
        assert_eq!(target.upload(name, kind, &file).status, 400, "{name}");
    }
    let grown = target.peak_kib() - before;
    assert!(grown < GROWTH_KIB_MAX, "the server grew by {grown} KiB");
    target.check_library();
}

#[test]
fn files_that_are_broken_at_random_are_refused_or_harmless() {
    let target = Target::new();
    let before = (target.files_elsewhere(), target.peak_kib());
    let mut chance = Chance::new();
    let placeholder = "/wp-content/uploads/woocommerce-placeholder-150x150.webp";
    let webp = http::get(&target.running.url, placeholder, &[]).unwrap().body;
    let whole: [(&str, &str, Vec<u8>); 4] = [
        ("a.gif", "image/gif", PIXEL.to_vec()),
        ("a.png", "image/png", png(8, 8)),
        ("a.webp", "image/webp", webp),
        ("a.jpg", "image/jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0".to_vec()),
    ];
    for round in 0..BROKEN {
        let (name, kind, file) = &whole[round % whole.len()];
        let mut file = file.clone();
        let place = |chance: &mut Chance, length: usize| {
            usize::try_from(chance.next() % u64::try_from(length.max(1)).unwrap()).unwrap()
        };
        for _ in 0..=chance.next() % 6 {
            let at = place(&mut chance, file.len());
            match chance.next() % 4 {
                0 => file[at] ^= 1 << (chance.next() % 8),
                1 => file[at] = 0xff,
                2 => file.truncate(at.max(4)),
                _ => {
                    let piece = chance.next().to_le_bytes();
                    file.splice(at..at, piece);
                }
            }
        }
        target.upload(name, kind, &file);
    }
    target.check_library();
    assert_eq!(target.files_elsewhere(), before.0);
    let grown = target.peak_kib() - before.1;
    assert!(grown < GROWTH_KIB_MAX, "the server grew by {grown} KiB");
}
