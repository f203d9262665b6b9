//! The container image: one layer with the program and the little that it needs of a system, as an
//! OCI image layout in a tar archive. Written here, because a layout is a handful of JSON files
//! named by their digests, and **no registry and no container program takes part**: the C library,
//! the certificates and the time zones are those of the machine that packs.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::tree::{PLAIN, PROGRAM, Tree, gzip};
use super::{Product, moment};
use crate::tools;

/// Nobody's on any usual system.
pub(super) const USER: u64 = 65532;
pub(super) const BINARY: &str = "usr/bin/boardwalk";
const DATA: &str = "/var/lib/boardwalk";
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";
const TIME_ZONES: &str = "/usr/share/zoneinfo";
/// The same zones again, under other rules.
const OTHER_ZONES: [&str; 2] = ["posix", "right"];
/// Whose files are in the image, for their licences.
const PACKAGES: [&str; 4] = ["ca-certificates", "libc6", "libgcc-s1", "tzdata"];

const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// The archive with the layout, for `docker load`, `podman load` or `skopeo copy oci-archive:`.
pub(super) fn pack(product: &Product, binary: &Path) -> Result<Vec<u8>> {
    let layer = files(product, binary)?.tar(product.epoch_s)?;
    layout(product, &layer)?.tar(product.epoch_s)
}

fn layout(product: &Product, layer: &[u8]) -> Result<Tree> {
    let mut tree = Tree::default();
    let packed = gzip(layer, product.compression)?;
    let config = config(product, layer)?;
    let config = blob(&mut tree, CONFIG, config.to_string().into_bytes());
    let packed = blob(&mut tree, LAYER, packed);
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [packed],
    });
    let mut entry = blob(&mut tree, MANIFEST, manifest.to_string().into_bytes());
    let name = format!("boardwalk:{}", product.version);
    if let Some(entry) = entry.as_object_mut() {
        let annotations = json!({
            "org.opencontainers.image.ref.name": product.version,
            "io.containerd.image.name": format!("docker.io/library/{name}"),
        });
        entry.insert(String::from("annotations"), annotations);
    }
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [entry] });
    tree.file("index.json", PLAIN, index.to_string());
    tree.file("oci-layout", PLAIN, json!({ "imageLayoutVersion": "1.0.0" }).to_string());
    // What `docker load` of older versions looks for.
    let path_of = |blob: &Value| tools::json_text(blob, "digest").map(blob_path);
    let older =
        json!([{ "Config": path_of(&config), "RepoTags": [name], "Layers": [path_of(&packed)] }]);
    tree.file("manifest.json", PLAIN, older.to_string());
    Ok(tree)
}

/// Adds a blob, and describes it.
fn blob(tree: &mut Tree, media_type: &str, content: Vec<u8>) -> Value {
    let (digest, size) = (digest(&content), content.len());
    tree.file(&blob_path(&digest), PLAIN, content);
    json!({ "mediaType": media_type, "digest": digest, "size": size })
}

fn blob_path(digest: &str) -> String {
    format!("blobs/{}", digest.replace(':', "/"))
}

pub(super) fn digest(content: &[u8]) -> String {
    let mut digest = String::from("sha256:");
    for byte in Sha256::digest(content) {
        let _ = write!(digest, "{byte:02x}");
    }
    digest
}

fn config(product: &Product, layer: &[u8]) -> Result<Value> {
    let created = moment(product.epoch_s)?;
    Ok(json!({
        "created": created,
        "architecture": super::deb::architecture()?,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": [
                "PATH=/usr/bin",
                format!("BOARDWALK_DATA={DATA}"),
                // Beyond loopback, where nobody outside would reach them. The server still wants a
                // certificate, or to be told that a proxy has one.
                "BOARDWALK_LISTEN__SANDBOX=0.0.0.0:8080",
                "BOARDWALK_LISTEN__PRODUCTION=0.0.0.0:8081",
                "BOARDWALK_SERVER__ADMIN_LISTEN=0.0.0.0:8082",
            ],
            "Entrypoint": [format!("/{BINARY}")],
            "Cmd": ["serve"],
            "ExposedPorts": { "8080/tcp": {}, "8081/tcp": {}, "8082/tcp": {} },
            "Volumes": { DATA: {} },
            "WorkingDir": "/",
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "Boardwalk",
                "org.opencontainers.image.version": product.version,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": { "type": "layers", "diff_ids": [digest(layer)] },
        "history": [{ "created": created, "created_by": "cargo xtask package" }],
    }))
}

fn files(product: &Product, binary: &Path) -> Result<Tree> {
    let mut tree = Tree::default();
    tree.file(BINARY, PROGRAM, product.binary.clone());
    for library in libraries(binary)? {
        copy(&mut tree, &library, PROGRAM)?;
    }
    copy(&mut tree, CERTIFICATES, PLAIN).context("install the package ca-certificates")?;
    copy_folder(&mut tree, Path::new(TIME_ZONES)).context("install the package tzdata")?;
    for package in PACKAGES {
        // Other systems than Debian keep them elsewhere.
        let _ = copy(&mut tree, &format!("/usr/share/doc/{package}/copyright"), PLAIN);
    }
    for (name, text) in &product.documents {
        tree.file(&format!("usr/share/doc/boardwalk/{name}"), PLAIN, text.clone());
    }
    let line = format!("boardwalk:x:{USER}:{USER}::{DATA}:/sbin/nologin\n");
    tree.file("etc/passwd", PLAIN, format!("root:x:0:0::/:/sbin/nologin\n{line}"));
    tree.file("etc/group", PLAIN, format!("root:x:0:\nboardwalk:x:{USER}:\n"));
    tree.file("etc/nsswitch.conf", PLAIN, "hosts: files dns\n");
    tree.folder(DATA.trim_start_matches('/'), 0o700, USER);
    tree.folder("tmp", 0o1777, 0);
    Ok(tree)
}

/// The shared libraries that the program is linked with, and what loads them, as `ldd` finds them.
fn libraries(binary: &Path) -> Result<Vec<String>> {
    ensure!(env::consts::OS == "linux", "an image is made on Linux");
    let found = tools::read(Command::new("ldd").arg(binary))?;
    ensure!(!found.contains("not found"), "a library is missing:\n{found}");
    let paths = found.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(paths.map(str::to_owned).collect())
}

/// A file of this machine, at the same place.
fn copy(tree: &mut Tree, path: &str, mode: u32) -> Result<()> {
    let content = fs::read(path).with_context(|| format!("cannot read {path}"))?;
    tree.file(path.trim_start_matches('/'), mode, content);
    Ok(())
}

fn copy_folder(tree: &mut Tree, folder: &Path) -> Result<()> {
    let entries = fs::read_dir(folder);
    for entry in entries.with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let is_other = OTHER_ZONES.iter().any(|name| path.ends_with(name));
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() && !is_other => copy_folder(tree, &path)?,
            Ok(metadata) if metadata.is_file() => copy(tree, &path.to_string_lossy(), PLAIN)?,
            _ => {}
        }
    }
    Ok(())
}
