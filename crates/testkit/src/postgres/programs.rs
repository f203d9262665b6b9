//! Where the server programs are: Debian keeps them out of the search path, one folder a version.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

const DEBIAN_FOLDER: &str = "/usr/lib/postgresql";
/// What a cluster needs; a folder that lacks one of them is passed over.
const NEEDED: [&str; 4] = ["initdb", "pg_ctl", "createdb", "psql"];

#[derive(Clone, Debug)]
pub(super) struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// The newest version installed by the system's packages, else the first in the search path.
    pub(super) fn find() -> Result<Self> {
        let search_path = env::var_os("PATH").unwrap_or_default();
        packaged(Path::new(DEBIAN_FOLDER))
            .into_iter()
            .chain(env::split_paths(&search_path))
            .find(|folder| NEEDED.iter().all(|program| folder.join(program).is_file()))
            .map(|folder| Self { folder })
            .context(
                "the PostgreSQL server programs are missing; \
                 install the package `postgresql` or put their folder into PATH",
            )
    }

    pub(super) fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }
}

/// The program folders of all packaged versions, newest first.
fn packaged(root: &Path) -> Vec<PathBuf> {
    let mut versions = Vec::new();
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(version) = name.to_str().and_then(|name| name.parse::<u32>().ok()) {
            versions.push((version, entry.path().join("bin")));
        }
    }
    versions.sort_unstable();
    versions.into_iter().rev().map(|(_, folder)| folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_version_comes_first() {
        let root = crate::temp_dir().unwrap();
        for name in ["9", "15", "common"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let found = packaged(root.path());
        assert_eq!(found, ["15/bin", "9/bin"].map(|part| root.path().join(part)));
    }
}
