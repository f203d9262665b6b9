//! `boardwalk plugin`: what authors of plugins and themes need before a site sees their work.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use admin::package::{ARCHIVE_BYTES_MAX, Package, Trust, author};
use serde_json::{Value, json};
use types::{Error, Result, Secret};
use vault::signature::Signer;

use crate::args::Plugin;
use crate::output::Printer;

pub(crate) fn plugin(command: Plugin, out: &Printer) -> Result<()> {
    match command {
        Plugin::Pack { folder, out: file, key } => {
            let signer = key.as_deref().map(read_signer).transpose()?;
            let (package, archive) = author::pack_folder(&folder, signer.as_ref())?;
            let manifest = &package.manifest;
            let usual = || PathBuf::from(format!("{}-{}.zip", manifest.slug(), manifest.version()));
            let file = file.unwrap_or_else(usual);
            fs::write(&file, archive).map_err(|error| unwritable(&file, error))?;
            let text = format!("Packed {}.\nSHA-256 {}", file.display(), package.digest);
            out.result(&described(&package, &file), &text);
        }
        Plugin::Check { file } => {
            let package = Package::read(&read_archive(&file)?, &Trust::default())?;
            let manifest = &package.manifest;
            let (kind, slug) = (manifest.kind().as_str(), manifest.slug());
            let signed = package
                .signer
                .as_ref()
                .map_or_else(|| String::from("unsigned"), |key| format!("signed by {key}"));
            let (version, count) = (manifest.version(), package.files.len());
            let text = format!(
                "{kind} {slug}, version {version}: {count} files, {signed}.\nSHA-256 {}",
                package.digest
            );
            out.result(&described(&package, &file), &text);
        }
        Plugin::Key { file } => {
            let public = make_key(&file)?;
            let text = format!("Keep {} private. The public key is {public}", file.display());
            out.result(&json!({ "file": file, "publicKey": public }), &text);
        }
    }
    Ok(())
}

fn described(package: &Package, file: &Path) -> Value {
    json!({
        "file": file,
        "type": package.manifest.kind().as_str(),
        "slug": package.manifest.slug(),
        "version": package.manifest.version(),
        "files": package.files.keys().collect::<Vec<_>>(),
        "sha256": package.digest,
        "signedBy": package.signer,
    })
}

fn read_archive(file: &Path) -> Result<Vec<u8>> {
    let unreadable =
        |error| Error::invalid(format!("cannot read {}", file.display())).because(error);
    let length = fs::metadata(file).map_err(unreadable)?.len();
    if usize::try_from(length).is_ok_and(|length| length > ARCHIVE_BYTES_MAX) {
        let message = format!("an archive must not exceed {ARCHIVE_BYTES_MAX} bytes");
        return Err(Error::invalid(message));
    }
    fs::read(file).map_err(unreadable)
}

/// Makes a key in a file that nobody else reads, and returns its public part. A file that is there
/// stays as it is: a lost key cannot be made again.
fn make_key(file: &Path) -> Result<String> {
    let (key, public) = author::new_key()?;
    let opened = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let mut opened = opened.map_err(|error| unwritable(file, error))?;
    writeln!(opened, "{}", key.expose()).map_err(|error| unwritable(file, error))?;
    Ok(public)
}

fn read_signer(file: &Path) -> Result<Signer> {
    let text = fs::read_to_string(file).map_err(|error| {
        Error::invalid(format!("cannot read {}", file.display())).because(error)
    })?;
    author::signer(&Secret::new(text))
}

fn unwritable(file: &Path, error: std::io::Error) -> Error {
    Error::invalid(format!("cannot write {}", file.display())).because(error)
}
