//! Installing packages, plugins and themes alike: one transaction with the row, the files and the
//! event that tells of it.

use db::Conn;
use db::outbox::{self, Event};
use serde_json::json;
use types::{Error, Result, Timestamp};

use crate::catalogue::Obtained;
use crate::package::Manifest;
use crate::rows::package::{self, PackageKind, PackageRow};

/// Installs the package unless there is one of its kind and name. Returns whether it did.
pub(crate) fn put_new(conn: &mut dyn Conn, obtained: &Obtained, now: Timestamp) -> Result<bool> {
    let manifest = &obtained.package.manifest;
    if package::get(conn, manifest.kind(), manifest.slug())?.is_some() {
        return Ok(false);
    }
    install(conn, obtained, now)?;
    Ok(true)
}

/// Installs a package, or its newer version; that keeps what people chose.
pub(crate) fn install(conn: &mut dyn Conn, obtained: &Obtained, now: Timestamp) -> Result<()> {
    let Obtained { package, origin } = obtained;
    let (kind, slug) = (package.manifest.kind(), package.manifest.slug());
    let before = package::get(conn, kind, slug)?.unwrap_or_else(|| PackageRow {
        settings: String::from("{}"),
        made: String::from("{}"),
        ..PackageRow::default()
    });
    let manifest = match &package.manifest {
        Manifest::Plugin(plugin) => serde_json::to_string(plugin),
        Manifest::Theme(theme) => serde_json::to_string(theme),
    };
    let row = PackageRow {
        kind,
        slug: slug.to_owned(),
        version: package.manifest.version().to_owned(),
        manifest: manifest
            .map_err(|error| Error::internal("cannot serialize a manifest").because(error))?,
        digest: package.digest.clone(),
        signer: package.signer.clone(),
        origin: (*origin).to_owned(),
        installed: now,
        ..before
    };
    let files = package.files.iter().map(|(path, content)| (path.as_str(), content.as_slice()));
    package::install(conn, &row, files)?;
    let told = if kind == PackageKind::Plugin { "plugin.installed" } else { "theme.installed" };
    append_event(conn, told, &row, now)
}

/// Tells the feed of changes.
pub(crate) fn append_event(
    conn: &mut dyn Conn,
    kind: &'static str,
    row: &PackageRow,
    now: Timestamp,
) -> Result<()> {
    let payload = json!({ "slug": row.slug, "version": row.version }).to_string();
    let object_id = row.slug.clone();
    outbox::append(conn, &Event { iso_id: None, kind, object_id, payload, created: now })
}
