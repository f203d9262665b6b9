//! What an editor asks for besides content, through the real server: the theme as an archive, how
//! large the site is, fonts with their files, and pages elsewhere.

use std::fs;

use serde_json::{Value, json};
use testkit::http::{self, Request, Response};

use crate::support::{Running, Site, text};

const FAMILIES: &str = "/wp-json/wp/v2/font-families";

/// A face that is sent: its weight, its sources, its files, and the code that refuses it.
type Sent<'a> = (&'a str, Value, &'a [(&'a str, &'a str, &'a [u8])], &'a str);

struct Editor {
    site: Site,
    running: Running,
    authorization: String,
}

impl Editor {
    fn new(site: Site) -> Self {
        let authorization = site.administrator();
        let running = site.serve();
        Self { site, running, authorization }
    }

    fn ask(&self, method: &str, path: &str, kind: &str, body: Vec<u8>) -> Response {
        let request = Request::new(method, path).header("Authorization", &self.authorization);
        let request = request.header("Content-Type", kind).body(body);
        http::send(&self.running.url, &request).unwrap()
    }

    fn post(&self, path: &str, body: &Value) -> Response {
        self.ask("POST", path, "application/json", body.to_string().into_bytes())
    }

    fn get(&self, path: &str) -> Response {
        http::get(&self.running.url, path, &[("Authorization", &self.authorization)]).unwrap()
    }

    /// Sends settings with files, by their fields.
    fn face(&self, faces: &str, settings: &Value, files: &[(&str, &str, &[u8])]) -> Response {
        let mut body = Vec::new();
        let mut part = |head: &str, content: &[u8]| {
            body.extend_from_slice(format!("--edge\r\n{head}\r\n\r\n").as_bytes());
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        };
        part(
            "Content-Disposition: form-data; name=\"font_face_settings\"",
            settings.to_string().as_bytes(),
        );
        for (field, name, content) in files {
            let head = format!(
                "Content-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\
                 Content-Type: font/woff2"
            );
            part(&head, content);
        }
        body.extend_from_slice(b"--edge--\r\n");
        self.ask("POST", faces, "multipart/form-data; boundary=edge", body)
    }
}

on_both_engines!(files_of_fonts_come_with_their_faces);

fn files_of_fonts_come_with_their_faces(site: Site) {
    let editor = Editor::new(site);
    let family = json!({ "name": "Shore", "slug": "shore", "fontFamily": "Shore" }).to_string();
    let family = editor.post(FAMILIES, &json!({ "font_family_settings": family }));
    let family = family.json().unwrap()["id"].as_i64().unwrap();
    let faces = format!("{FAMILIES}/{family}/font-faces");
    let face = |weight: &str, src: Value| json!({ "fontFamily": "Shore", "fontWeight": weight, "src": src });
    let font: &[u8] = b"wOF2 and then some";
    let made =
        editor.face(&faces, &face("400", json!("file-0")), &[("file-0", "shore.woff2", font)]);
    assert_eq!(made.status, 201, "{}", made.text());
    let made = made.json().unwrap();
    let address = text(&made["font_face_settings"], "src");
    let path = address.strip_prefix(&*editor.running.url).unwrap();
    assert_eq!(path, "/wp-content/uploads/fonts/shore.woff2");
    let served = editor.get(path);
    assert_eq!((served.status, &*served.body), (200, font));
    assert_eq!(served.header("content-type").as_deref(), Some("font/woff2"));

    // Two files of the same name, and an address beside them.
    let src = json!(["file-0", "file-1", "https://fonts.example/bold.ttf"]);
    let files: [(&str, &str, &[u8]); 2] =
        [("file-0", "shore.woff2", font), ("file-1", "../../up.ttf", b"\0\x01\0\0..")];
    let bold = editor.face(&faces, &face("700", src), &files).json().unwrap();
    let sources: Vec<&str> = bold["font_face_settings"]["src"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(sources, ["shore-1.woff2", "up.ttf", "bold.ttf"]);

    let refused: [Sent<'_>; 4] = [
        ("500", json!("file-9"), &[("file-0", "a.woff2", font)], "rest_invalid_param"),
        ("500", json!("https://a.example/b"), &[("file-0", "a.woff2", font)], "rest_invalid_param"),
        (
            "500",
            json!("file-0"),
            &[("file-0", "a.woff2", b"<script>")],
            "rest_font_upload_invalid_file_type",
        ),
        (
            "500",
            json!("file-0"),
            &[("file-0", "a.php", font)],
            "rest_font_upload_invalid_file_type",
        ),
    ];
    for (weight, src, files, code) in refused {
        let answer = editor.face(&faces, &face(weight, src), files);
        assert_eq!((answer.status, &*text(&answer.json().unwrap(), "code")), (400, code));
    }
    let folder = editor.site.data().join("uploads/sandbox/fonts");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3, "nothing of what was refused stays");

    let deleted = format!("{FAMILIES}/{family}?force=true");
    assert_eq!(editor.ask("DELETE", &deleted, "application/json", Vec::new()).status, 200);
    assert_eq!(editor.get(path).status, 404);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "files go with their faces");
}

#[test]
fn the_theme_is_exported_with_what_people_changed() {
    let editor = Editor::new(Site::sqlite());
    let template = json!({ "slug": "tide", "title": "Tide", "content": "<!-- wp:post-title /-->" });
    assert_eq!(editor.post("/wp-json/wp/v2/templates", &template).status, 201);
    let export = "/wp-json/wp-block-editor/v1/export";
    let answer = editor.get(export);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type").as_deref(), Some("application/zip"));
    // Names stand in an archive as they are.
    let has = |name: &str| answer.body.windows(name.len()).any(|part| part == name.as_bytes());
    assert!(answer.body.starts_with(b"PK\x03\x04"));
    let folder = answer.header("content-disposition").unwrap();
    let folder = folder.split_once("filename=").unwrap().1.trim_end_matches(".zip").to_owned();
    for name in ["templates/tide.html", "templates/single.html", "theme.json", "style.css"] {
        assert!(has(&format!("{folder}/{name}")), "{name}");
    }
    assert_eq!(http::get(&editor.running.url, export, &[]).unwrap().status, 401);
}

on_both_engines!(the_sizes_of_the_site_follow_its_files);

fn the_sizes_of_the_site_follow_its_files(site: Site) {
    let editor = Editor::new(site);
    let path = "/wp-json/wp-site-health/v1/directory-sizes";
    let read = || editor.get(path).json().unwrap();
    let before = read();
    let notes = vec![b'n'; 40_000];
    let sent = Request::new("POST", "/wp-json/wp/v2/media")
        .header("Authorization", &editor.authorization)
        .header("Content-Type", "text/plain")
        .header("Content-Disposition", "attachment; filename=\"notes.txt\"")
        .body(notes);
    assert_eq!(http::send(&editor.running.url, &sent).unwrap().status, 201);
    let after = read();
    let raw = |sizes: &Value, name: &str| sizes[name]["raw"].as_i64().unwrap();
    assert_eq!(raw(&after, "uploads_size"), raw(&before, "uploads_size") + 40_000);
    assert!(raw(&after, "database_size") > 0);
    let sum = raw(&after, "uploads_size") + raw(&after, "database_size");
    assert_eq!(raw(&after, "total_size"), sum);
    assert_eq!(http::get(&editor.running.url, path, &[]).unwrap().status, 401);
}

#[test]
fn a_page_elsewhere_is_looked_up_by_no_way_around_the_guard() {
    let editor = Editor::new(Site::sqlite());
    let ask = |url: &str| {
        let answer = editor.get(&format!("/wp-json/wp-block-editor/v1/url-details?url={url}"));
        (answer.status, text(&answer.json().unwrap(), "code"))
    };
    for url in [
        "http://127.0.0.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.8/",
        "http://localhost/",
        "http://2130706433/",
        "file:///etc/passwd",
    ] {
        assert_eq!(ask(url), (400, String::from("rest_invalid_param")), "{url}");
    }
    assert_eq!(ask("http://nowhere.invalid/"), (404, String::from("no_response")));
}
