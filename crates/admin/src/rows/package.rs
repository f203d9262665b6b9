//! Packages that are installed: plugins and themes, with their files.

use db::{Conn, Record, SITE, named, statements};
use types::{Result, Timestamp};

named! {
    PackageKind {
        #[default]
        Plugin = "plugin",
        Theme = "theme",
    }
}

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PackageRow in "packages",
        fixed(site_id = SITE), key(kind: PackageKind, slug: String) {
        version: String,
        /// What the package declares, as JSON.
        manifest: String,
        /// SHA-256 of the archive, in hex.
        digest: String,
        /// The public key of who signed it, in base64.
        signer: Option<String>,
        /// Where it came from.
        origin: String,
        is_active: bool,
        /// What people chose, as a JSON object.
        settings: String,
        /// Which records its activation made, as a JSON object.
        made: String,
        installed: Timestamp,
        activated: Option<Timestamp>,
    }
}

statements! {
    PACKAGE_PUT = db::insert!(
        PackageRow,
        "ON CONFLICT (site_id, kind, slug) DO UPDATE SET
           version = excluded.version, manifest = excluded.manifest, digest = excluded.digest,
           signer = excluded.signer, origin = excluded.origin, is_active = excluded.is_active,
           settings = excluded.settings, made = excluded.made, installed_us = excluded.installed_us,
           activated_us = excluded.activated_us"
    );
    PACKAGE_GET = db::select!(PackageRow, "WHERE site_id = $1 AND kind = $2 AND slug = $3");
    PACKAGES_OF_KIND = db::select!(PackageRow, "WHERE site_id = $1 AND kind = $2 ORDER BY slug");
    PACKAGE_DELETE = "DELETE FROM packages WHERE site_id = $1 AND kind = $2 AND slug = $3";
    PACKAGE_FILE_INSERT =
        "INSERT INTO package_files (site_id, kind, slug, path, content) VALUES ($1, $2, $3, $4,
         $5)";
    PACKAGE_FILE_GET =
        "SELECT content FROM package_files
         WHERE site_id = $1 AND kind = $2 AND slug = $3 AND path = $4";
    PACKAGE_FILES_DELETE =
        "DELETE FROM package_files WHERE site_id = $1 AND kind = $2 AND slug = $3";
}

/// Writes a package with all of its files, in the place of one of the same name.
pub fn install<'a>(
    conn: &mut dyn Conn,
    package: &PackageRow,
    files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
) -> Result<()> {
    remove(conn, package.kind, &package.slug)?;
    put(conn, package)?;
    for (path, content) in files {
        let params =
            [SITE.into(), package.kind.into(), (&package.slug).into(), path.into(), content.into()];
        conn.execute_one(&PACKAGE_FILE_INSERT, &params)?;
    }
    Ok(())
}

/// Writes what is known of a package, and leaves its files alone.
pub fn put(conn: &mut dyn Conn, package: &PackageRow) -> Result<()> {
    conn.insert(&PACKAGE_PUT, package).map(drop)
}

pub fn get(conn: &mut dyn Conn, kind: PackageKind, slug: &str) -> Result<Option<PackageRow>> {
    conn.row(&PACKAGE_GET, &[SITE.into(), kind.into(), slug.into()], PackageRow::read)
}

/// All packages of the kind, by their names.
pub fn list(conn: &mut dyn Conn, kind: PackageKind) -> Result<Vec<PackageRow>> {
    conn.rows(&PACKAGES_OF_KIND, &[SITE.into(), kind.into()], PackageRow::read)
}

/// Deletes a package with its files, and returns whether it was there.
pub fn remove(conn: &mut dyn Conn, kind: PackageKind, slug: &str) -> Result<bool> {
    let params = [SITE.into(), kind.into(), slug.into()];
    conn.execute(&PACKAGE_FILES_DELETE, &params)?;
    Ok(conn.execute(&PACKAGE_DELETE, &params)? == 1)
}

pub fn file(
    conn: &mut dyn Conn,
    kind: PackageKind,
    slug: &str,
    path: &str,
) -> Result<Option<Vec<u8>>> {
    let params = [SITE.into(), kind.into(), slug.into(), path.into()];
    conn.row(&PACKAGE_FILE_GET, &params, |row| row.get(0))
}
