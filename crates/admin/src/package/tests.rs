//! Packages that are fine are read, and each way to be hostile or broken is refused.

use std::io::{Cursor, Write as _};

use types::Secret;
use zip::write::SimpleFileOptions;

use super::*;

fn files() -> Files {
    let manifest = r#"{
        "slug": "demo", "name": "Demo", "version": "1.0.0", "icon": "icon.svg",
        "contributes": {"pages": [{"slug": "start", "title": "Start", "file": "docs/start.md"}]}
    }"#;
    let list = [("plugin.json", manifest), ("icon.svg", "<svg/>"), ("docs/start.md", "# Start")];
    list.into_iter().map(|(path, text)| (path.to_owned(), text.into())).collect()
}

fn with(path: &str, content: &[u8]) -> Files {
    let mut files = files();
    files.insert(path.to_owned(), content.to_vec());
    files
}

/// A manifest with something more in it.
fn demo(more: &str) -> Vec<u8> {
    let name = if more.starts_with("\"name\"") { "" } else { r#""name": "Demo", "# };
    format!(r#"{{"slug": "demo", {name}"version": "1.0.0", {more}}}"#).into_bytes()
}

/// Something that leads to an address.
fn contributed(address: &str) -> String {
    format!(
        r#""contributes": {{"channels": [{{"slug": "demo", "name": "Demo", "description": "Where",
            "settings_url": "{address}"}}]}}"#
    )
}

/// Why an archive is refused.
fn refused(archive: &[u8]) -> String {
    Package::read(archive, &Trust::default()).unwrap_err().to_string()
}

/// An archive that nobody checked, of paths with their contents.
fn raw(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in entries {
        archive.start_file(*path, SimpleFileOptions::default()).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn a_package_is_read_with_all_its_files() {
    let archive = pack(&files(), None).unwrap();
    assert_eq!(archive, pack(&files(), None).unwrap(), "the same files make the same bytes");
    let package = Package::read(&archive, &Trust::default()).unwrap();
    assert_eq!((package.manifest.slug(), package.manifest.version()), ("demo", "1.0.0"));
    assert_eq!(package.files, files());
    assert_eq!(package.digest, hex_sha256(&archive));
    assert_eq!(package.signer, None);
}

#[test]
fn a_signature_counts_and_a_wrong_one_is_refused() {
    let signer = Signer::from_seed(&Secret::new([7; 32])).unwrap();
    let archive = pack(&files(), Some(&signer)).unwrap();
    let key = BASE64.encode(signer.public_key());
    let trusting = |keys: &[&str]| Trust { keys: keys.iter().map(|key| (*key).into()).collect() };
    let package = Package::read(&archive, &trusting(&[&key])).unwrap();
    assert_eq!(package.signer.as_deref(), Some(&*key));
    assert!(Package::read(&archive, &trusting(&["other"])).is_err(), "nobody trusts the signer");
    let unsigned = pack(&files(), None).unwrap();
    assert!(Package::read(&unsigned, &trusting(&[&key])).is_err(), "there is no signature");

    let mut all = unzip::unzip(&archive).unwrap();
    all.insert(String::from("checksums.json"), br#"{"sha256": {}}"#.to_vec());
    all.retain(|path, _| path == "checksums.json" || path == "signature.json");
    let entries: Vec<(&str, &[u8])> = all.iter().map(|(path, c)| (&**path, &**c)).collect();
    assert!(refused(&raw(&entries)).contains("signature"), "signed was something else");
}

#[test]
fn what_is_broken_or_hostile_is_refused() {
    let packed = |files: &Files| pack(files, None).unwrap();
    let zeros = |count: u64| vec![0; usize::try_from(count).unwrap()];
    let mut bomb = files();
    for number in 0..9 {
        bomb.insert(format!("zeros/{number}"), zeros(unzip::FILE_BYTES_MAX));
    }
    let many: Files =
        (0..=unzip::FILES_MAX).map(|number| (format!("f{number}"), Vec::new())).collect();
    let mut wrong_sum = files();
    wrong_sum
        .insert(String::from("checksums.json"), br#"{"sha256": {"plugin.json": "00"}}"#.into());
    let wrong_sum: Vec<(&str, &[u8])> = wrong_sum.iter().map(|(p, c)| (&**p, &**c)).collect();
    for (archive, reason) in [
        (b"no archive".to_vec(), "not a ZIP archive"),
        (Vec::new(), "not a ZIP archive"),
        (zeros(u64::try_from(ARCHIVE_BYTES_MAX).unwrap() + 1), "must not exceed"),
        (packed(&with("large", &zeros(unzip::FILE_BYTES_MAX + 1))), "too large"),
        (packed(&bomb), "too large"),
        (packed(&many), "must not have more than"),
        (raw(&[("../outside", b"x")]), "not allowed"),
        (raw(&[("a/../../outside", b"x")]), "not allowed"),
        (raw(&[("/etc/passwd", b"x")]), "not allowed"),
        (raw(&[("C:\\windows", b"x")]), "not allowed"),
        (raw(&[("a//b", b"x")]), "not allowed"),
        (raw(&[("plugin.json", b"{}")]), "has no checksums.json"),
        (raw(&wrong_sum), "checksum"),
        (packed(&Files::new()), "has no plugin.json"),
        (packed(&with("theme.json", b"{}")), "not both"),
        (packed(&with("plugin.json", b"{")), "manifest is invalid"),
        (packed(&with("plugin.json", br#"{"code": "rm"}"#)), "unknown field"),
        (packed(&with("plugin.json", br#"{"slug": "../x", "name": "X"}"#)), "is not a valid name"),
        (packed(&with("plugin.json", &demo(r#""uri": "javascript:alert(1)""#))), "must start with"),
        (packed(&with("plugin.json", &demo(r#""name": "<b>Demo</b>""#))), "contains markup"),
        (packed(&with("plugin.json", &demo(&contributed("data:text/html,x")))), "must start with"),
    ] {
        let message = refused(&archive);
        assert!(message.contains(reason), "{reason}: {message}");
    }
}

#[test]
fn links_are_refused() {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.add_symlink("docs", "/etc", SimpleFileOptions::default()).unwrap();
    let archive = archive.finish().unwrap().into_inner();
    assert!(refused(&archive).contains("link"), "{}", refused(&archive));
}

#[test]
fn cut_and_flipped_archives_never_panic() {
    let archive = pack(&files(), None).unwrap();
    for length in 0..archive.len() {
        let cut = archive.get(..length).unwrap();
        assert!(Package::read(cut, &Trust::default()).is_err(), "{length} bytes are not enough");
    }
    for index in 0..archive.len() {
        let mut flipped = archive.clone();
        *flipped.get_mut(index).unwrap() ^= 0x20;
        // Some bytes do not matter, such as those of a date.
        let _ = Package::read(&flipped, &Trust::default());
    }
}

#[test]
fn a_manifest_names_only_what_it_has() {
    let check = |contributes: &str, reason: &str| {
        let manifest =
            format!(r#"{{"slug":"a","name":"A","version":"1","contributes":{contributes}}}"#);
        let files = [(String::from("plugin.json"), manifest.into_bytes())].into();
        let message = refused(&pack(&files, None).unwrap());
        assert!(message.contains(reason), "{reason}: {message}");
    };
    check(r#"{"pages": [{"slug": "a", "title": "A", "file": "absent.md"}]}"#, "has no absent.md");
    check(
        r#"{"webhooks": [{"name": "a", "topic": "order.created", "url_setting": "x"}]}"#,
        "no setting named x",
    );
    check(
        r#"{"campaigns": [{"id": "a", "channel": "x", "title": "A", "manage_url": "/"}]}"#,
        "no channel named x",
    );
    check(
        r#"{"settings": [{"name": "n", "label": "N", "type": "integer", "default": "x"}]}"#,
        "a whole number",
    );
}
