//! Puts the files of `web/dist` into the table of the crate, each also compressed. Without that
//! folder the table is empty, so that the workspace builds where there is no Node.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("../../web/dist");
    let out = PathBuf::from(variable("OUT_DIR"));
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    if root.is_dir() {
        collect(&root, &root, &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    for (number, (name, path)) in files.iter().enumerate() {
        let bytes = fs::read(path)?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&bytes)?;
        let compressed = out.join(format!("{number}.gz"));
        fs::write(&compressed, encoder.finish()?)?;
        let tag = blake3::hash(&bytes).to_hex();
        let tag = tag.get(..16).unwrap_or_default();
        let (plain, gzip) = (path.to_string_lossy(), compressed.to_string_lossy());
        let _ = writeln!(
            table,
            "server::Asset {{ name: {name:?}, tag: {tag:?}, plain: include_bytes!({plain:?}), \
             gzip: include_bytes!({gzip:?}) }},"
        );
    }
    table += "]\n";
    fs::write(out.join("assets.rs"), table)
}

fn variable(name: &str) -> String {
    // A build script is told everything through its environment.
    #[expect(clippy::disallowed_methods, reason = "there is no other way to learn of it")]
    std::env::var(name).unwrap_or_default()
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if let Ok(name) = path.strip_prefix(root) {
            let name = name.to_string_lossy().replace('\\', "/");
            files.push((name, fs::canonicalize(&path)?));
        }
    }
    Ok(())
}
