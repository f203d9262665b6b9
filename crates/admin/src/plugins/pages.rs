//! The documentation of active plugins, as public pages below `/plugins/`. **Its HTML is cleaned**:
//! whoever made the plugin is a stranger.

use db::Conn;
use frame::lock::Lock;
use frame::text::markdown;
use frame::{Names, PageSource, PublicPage, Visit};
use types::Result;

use super::lifecycle;
use crate::package::PluginManifest;
use crate::package::manifest::Page;
use crate::rows::package::{self, PackageKind};

const ROOT: &str = "/plugins/";

/// Pages that active plugins bring along.
#[derive(Debug)]
pub struct PluginPages {
    namespace: String,
}

impl PluginPages {
    pub fn new(names: &Names) -> Self {
        Self { namespace: names.docs.clone() }
    }
}

impl PageSource for PluginPages {
    fn page_at(
        &self,
        conn: &mut dyn Conn,
        visit: &Visit,
        address: &str,
    ) -> Result<Option<PublicPage>> {
        let own_path = address.split('?').next().unwrap_or_default();
        let below = own_path.strip_prefix(ROOT).map(|below| below.trim_end_matches('/'));
        let Some((slug, page)) = below.and_then(|below| below.split_once('/')) else {
            return Ok(None);
        };
        let Some((manifest, page, content)) = find(conn, slug, page)? else { return Ok(None) };
        Ok(Some(PublicPage {
            permalink: visit.page(&path(slug, &page.slug)),
            rest_path: format!("/{}/plugins/{slug}/pages/{}", self.namespace, page.slug),
            title: page.title,
            summary: manifest.description,
            content,
            lock: Lock::default(),
            author_id: 0,
            published: None,
        }))
    }
}

/// The path of a page on the site.
pub(super) fn path(slug: &str, page: &str) -> String {
    format!("{ROOT}{slug}/{page}/")
}

/// A page of an active plugin, with its HTML.
pub(super) fn find(
    conn: &mut dyn Conn,
    slug: &str,
    page: &str,
) -> Result<Option<(PluginManifest, Page, String)>> {
    let plugin = lifecycle::get(conn, slug)?.filter(|plugin| plugin.row.is_active);
    let Some(plugin) = plugin else { return Ok(None) };
    let pages = &plugin.manifest.contributes.pages;
    let Some(found) = pages.iter().find(|one| one.slug == page).cloned() else { return Ok(None) };
    let file = package::file(conn, PackageKind::Plugin, slug, &found.file)?.unwrap_or_default();
    let html = markdown::html_of_stranger(&String::from_utf8_lossy(&file));
    Ok(Some((plugin.manifest, found, html)))
}
