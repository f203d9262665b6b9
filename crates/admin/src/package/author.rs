//! For authors: the files of a folder as a package. What is packed takes the way that everybody's
//! packages take, so **an author learns at once what a site would refuse**.

use std::fs;
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use types::{Error, Result, Secret};
use vault::signature::{SEED_BYTES, Signer};

use super::{CHECKSUMS, Files, Package, SIGNATURE, Trust, pack};

/// Entries of folders that are looked at.
const ENTRIES_MAX: usize = 1_000;

/// Packs a folder, and reads the archive as a site would. Checksums and signature are made anew;
/// names that start with a dot are left out.
pub fn pack_folder(folder: &Path, signer: Option<&Signer>) -> Result<(Package, Vec<u8>)> {
    let archive = pack(&files_of(folder)?, signer)?;
    let package = Package::read(&archive, &Trust::default())?;
    Ok((package, archive))
}

/// A new key to sign with, as a text that its owner keeps, and its public part.
pub fn new_key() -> Result<(Secret<String>, String)> {
    let mut seed = [0; SEED_BYTES];
    vault::fill_random(&mut seed)?;
    let seed = Secret::new(seed);
    let public = BASE64.encode(Signer::from_seed(&seed)?.public_key());
    Ok((Secret::new(BASE64.encode(seed.expose())), public))
}

/// Who signs with a key that was made by [`new_key`].
pub fn signer(key: &Secret<String>) -> Result<Signer> {
    let wrong =
        || Error::invalid("this is not a signing key; create one with `boardwalk plugin key`");
    let bytes = BASE64.decode(key.expose().trim().as_bytes()).map_err(|_| wrong())?;
    let seed: [u8; SEED_BYTES] = bytes.try_into().map_err(|_| wrong())?;
    Signer::from_seed(&Secret::new(seed))
}

fn files_of(folder: &Path) -> Result<Files> {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    let mut entries = 0;
    while let Some(next) = folders.pop() {
        for path in listed(&next)? {
            entries += 1;
            if entries > ENTRIES_MAX {
                let message = format!("the folder has more than {ENTRIES_MAX} entries");
                return Err(Error::invalid(message));
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') || name == CHECKSUMS || name == SIGNATURE {
                continue;
            }
            let found = fs::symlink_metadata(&path).map_err(|error| unreadable(&path, error))?;
            if found.is_dir() {
                folders.push(path);
            } else if found.is_file() {
                let inside = path.strip_prefix(folder).unwrap_or(&path);
                let parts = inside.components().map(|part| part.as_os_str().to_string_lossy());
                let inside = parts.collect::<Vec<_>>().join("/");
                let content = fs::read(&path).map_err(|error| unreadable(&path, error))?;
                files.insert(inside, content);
            } else {
                let message = format!("{} is neither a file nor a folder", path.display());
                return Err(Error::invalid(message));
            }
        }
    }
    Ok(files)
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, error))?;
    let paths = entries.take(ENTRIES_MAX + 1).map(|entry| entry.map(|entry| entry.path()));
    paths.collect::<std::io::Result<_>>().map_err(|error| unreadable(folder, error))
}

fn unreadable(path: &Path, error: std::io::Error) -> Error {
    Error::invalid(format!("cannot read {}", path.display())).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_becomes_a_package_or_is_refused() {
        let folder = testkit::temp_dir().unwrap();
        let put = |name: &str, content: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        let refusal = || pack_folder(folder.path(), None).err().map(|error| error.to_string());
        assert!(refusal().unwrap().contains("plugin.json or theme.json"));
        let manifest = r#"{"slug": "demo", "name": "Demo", "version": "1.0.0",
            "contributes": {"pages": [{"slug": "start", "title": "Start", "file": "docs/a.md"}]}}"#;
        put("plugin.json", manifest);
        assert!(refusal().unwrap().contains("docs/a.md"), "a page without its file");
        put("docs/a.md", "Start here.");
        put(".git/config", "not for others");
        put("checksums.json", "{}");
        let (package, archive) = pack_folder(folder.path(), None).unwrap();
        let paths: Vec<&str> = package.files.keys().map(String::as_str).collect();
        assert_eq!(paths, ["docs/a.md", "plugin.json"]);
        assert_eq!(pack_folder(folder.path(), None).unwrap().1, archive, "the same bytes again");
        let (key, public) = new_key().unwrap();
        let signed = pack_folder(folder.path(), Some(&signer(&key).unwrap())).unwrap().0;
        assert_eq!(signed.signer.as_ref(), Some(&public));
        assert!(signer(&Secret::new(String::from("short"))).is_err());
        put("docs/odd name.md", "x");
        assert!(refusal().is_some(), "a name that no site takes");
    }
}
