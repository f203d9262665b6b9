//! The packages that come with the program. Their sources stand in `crates/admin/bundled`, as
//! authors would write them, and are packed as anybody's: **a bundled package takes the same way
//! in.**

use std::sync::LazyLock;

use types::{Error, Result};

use crate::package::{Files, Package, Trust, pack};

/// A file of a bundled package: the package, the path in it, the content.
type Source = (&'static str, &'static str, &'static str);

macro_rules! bundled {
    ($($package:literal: [$($path:literal),+ $(,)?],)+) => {
        const SOURCES: &[Source] = &[
            $($((
                $package,
                $path,
                include_str!(concat!("../../bundled/", $package, "/", $path)),
            ),)+)+
        ];
        const SLUGS: &[&str] = &[$($package),+];
    };
}

bundled! {
    "letters": ["plugin.json", "icon.svg", "docs/start.md"],
    "parcels": ["plugin.json", "icon.svg", "docs/start.md"],
    "ledger": ["plugin.json", "icon.svg", "docs/start.md", "docs/fields.md"],
    "harbour": ["theme.json", "logo.svg"],
    "night-watch": ["theme.json"],
}

/// An archive by the package's name.
type Packed = (&'static str, Result<Vec<u8>>);

static PACKED: LazyLock<Vec<Packed>> = LazyLock::new(|| {
    let pack_one = |slug: &'static str| {
        let own = SOURCES.iter().filter(|(package, _, _)| *package == slug);
        let files: Files =
            own.map(|(_, path, content)| ((*path).to_owned(), content.as_bytes().into())).collect();
        (slug, pack(&files, None))
    };
    SLUGS.iter().map(|slug| pack_one(slug)).collect()
});

/// All bundled packages.
pub(super) fn packages() -> Result<Vec<Package>> {
    SLUGS.iter().map(|slug| package(slug)).collect()
}

pub(super) fn package(slug: &str) -> Result<Package> {
    let found = PACKED.iter().find(|(package, _)| *package == slug);
    let archive = found.and_then(|(_, archive)| archive.as_ref().ok());
    let archive = archive.ok_or_else(|| Error::internal("a bundled package is missing"))?;
    Package::read(archive, &Trust::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_package_is_fine_and_called_as_its_folder() {
        let packages = packages().unwrap();
        let slugs: Vec<&str> = packages.iter().map(|package| package.manifest.slug()).collect();
        assert_eq!(slugs, SLUGS);
    }
}
