//! The portal: the built web application of `web/`, inside of the binary. **It uses the public
//! interfaces only**, so nothing here knows a route, a user or a record; this is a table of files.
//!
//! `cargo xtask portal` builds the files. A binary that was built without them says so at the
//! portal's address.

/// The path below which the portal is.
pub const ROOT: &str = "/portal";

/// What a browser may do with the portal: run its own files, and talk to its own server.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; \
    form-action 'self'; frame-ancestors 'none'";

/// What to show when the files are missing.
pub const ABSENT: &str = "This binary was built without the portal. Install Node and build \
    it with `cargo xtask build`.\n";

/// A file of the application.
#[derive(Debug)]
pub struct Asset {
    /// Its path below the root.
    pub name: &'static str,
    /// Changes with its content.
    pub tag: &'static str,
    pub plain: &'static [u8],
    pub gzip: &'static [u8],
}

static ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

const PAGE: &str = "index.html";
/// Names below it carry a hash of their content.
const HASHED: &str = "assets/";

impl Asset {
    pub fn media_type(&self) -> &'static str {
        match self.name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "html" => "text/html; charset=UTF-8",
            "js" => "text/javascript; charset=UTF-8",
            "css" => "text/css; charset=UTF-8",
            "svg" => "image/svg+xml",
            "png" => "image/png",
            "woff2" => "font/woff2",
            "json" => "application/json",
            _ => "application/octet-stream",
        }
    }

    /// Whether the content behind this name never changes.
    pub fn is_immutable(&self) -> bool {
        self.name.starts_with(HASHED)
    }
}

/// What there is at a path of the server.
#[derive(Debug)]
pub enum Found {
    /// A file, or the application itself for every path that is a view of it.
    Asset(&'static Asset),
    /// A file that there is not; never a view, so that a mistake is seen.
    Nothing,
    /// The whole application is missing.
    Absent,
}

/// Whether the application is in this binary.
pub fn is_here() -> bool {
    !ASSETS.is_empty()
}

/// What is at `path`; nothing if the path is not the portal's.
pub fn find(path: &str) -> Option<Found> {
    let name = path.strip_prefix(ROOT)?;
    let name = match name.strip_prefix('/') {
        Some(name) => name,
        None if name.is_empty() => name,
        None => return None,
    };
    if !is_here() {
        return Some(Found::Absent);
    }
    if let Some(asset) = named(name) {
        return Some(Found::Asset(asset));
    }
    if name.starts_with(HASHED) {
        return Some(Found::Nothing);
    }
    Some(named(PAGE).map_or(Found::Absent, Found::Asset))
}

fn named(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_the_portal_are_answered() {
        assert!(find("/portal").is_some() && find("/portal/analytics/orders").is_some());
        assert!(find("/portals").is_none() && find("/").is_none() && find("/docs").is_none());
    }

    #[test]
    fn a_view_is_the_application_and_a_missing_file_is_nothing() {
        if ASSETS.is_empty() {
            assert!(matches!(find("/portal/"), Some(Found::Absent)));
            return;
        }
        let Some(Found::Asset(page)) = find("/portal/analytics") else { panic!("no page") };
        assert_eq!((page.name, page.is_immutable()), (PAGE, false));
        assert!(matches!(find("/portal/assets/none.js"), Some(Found::Nothing)));
        let script = ASSETS
            .iter()
            .find(|asset| asset.media_type().starts_with("text/javascript"))
            .expect("a script");
        assert!(script.is_immutable());
        assert!(script.gzip.len() < script.plain.len());
    }
}
