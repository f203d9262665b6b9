//! Packages that people send as the file of a form, plugins and themes alike. **What is wrong with
//! an archive is told in a sentence and leaves nothing behind.**

use std::sync::Arc;

use contract::rest::{Args, Refusal, Schema, Stop, Treatment};
use frame::action::Later;
use types::Kind;

use crate::catalogue::{Catalogue, Obtained};
use crate::installation::put_new;
use crate::package::ARCHIVE_BYTES_MAX;
use crate::rows::package::PackageKind;

/// The field of the form that has the archive, as clients know it.
const FIELD: &str = "pluginzip";

/// Bytes of a form with an archive: its boundaries and other fields need some room.
pub(crate) const FORM_BYTES_MAX: usize = ARCHIVE_BYTES_MAX + 64 * 1024;

/// The file among the arguments of a route.
pub(crate) fn with_file(args: Args, about: &'static str) -> Args {
    args.treated(FIELD, Schema::typed("file").about(about), Treatment::None)
}

/// Installs the package of the form and gives its slug, or what is wrong with it.
pub(crate) async fn take(
    request: &Later,
    catalogue: &Arc<Catalogue>,
    kind: PackageKind,
) -> Result<Result<String, String>, Stop> {
    let Some(file) = request.params.file(FIELD).filter(|file| !file.bytes.is_empty()) else {
        let message = "Upload the archive as the form field `pluginzip`.";
        return Err(Refusal::new(400, "woocommerce_rest_invalid_file", message).into());
    };
    let package = match catalogue.unpack(file.bytes.clone()).await {
        Ok(package) => package,
        Err(error) if error.kind() == Kind::Invalid => return Ok(Err(error.to_string())),
        Err(error) => return Err(error.into()),
    };
    if package.manifest.kind() != kind {
        let told = match kind {
            PackageKind::Theme => "this package is a plugin, not a theme",
            PackageKind::Plugin => "this package is a theme, not a plugin",
        };
        return Ok(Err(told.to_owned()));
    }
    let (slug, now) = (package.manifest.slug().to_owned(), request.visit.now);
    if catalogue.is_bundled(kind, &slug) {
        return Ok(Err(format!("`{slug}` is bundled with Boardwalk; choose another name")));
    }
    let obtained = Obtained { package, origin: "upload" };
    let is_new = request.site.store().write(move |conn| put_new(conn, &obtained, now)).await?;
    Ok(is_new
        .then_some(slug)
        .ok_or_else(|| String::from("a package with this name is already installed")))
}
