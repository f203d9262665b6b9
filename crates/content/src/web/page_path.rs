//! Which page a path asks for. Nothing is looked up here.

use super::archive::Archive;
use super::feeds::Format;
use crate::docs;

/// The address of the page for people who forgot their password.
pub(super) const FORGOT_PATH: &str = "/login?action=lostpassword";

/// What a provider of `OpenID` Connect has to know of this site, below its address.
pub(super) const OPENID_PATH: &str = "/login/openid";

/// What the sign-in page is asked for to lead there.
pub(super) const OPENID_ACTION: &str = "openid";

/// A page by its address.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PagePath<'a> {
    Front,
    /// A post or a page, or the card of one that other sites show.
    Content {
        path: &'a str,
        embed: bool,
    },
    Author(&'a str),
    /// A list of posts, or the page that is at the same path where there is no such list.
    Archive {
        archive: Archive<'a>,
        path: &'a str,
    },
    Guides,
    Guide {
        slug: &'a str,
        embed: bool,
    },
    /// A file beside the guides, by its path below theirs.
    Attachment(&'a str),
    SignIn(Spelling),
    /// Where a provider of `OpenID` Connect sends people back to.
    SignInReturn,
    Authorize(Spelling),
    Nonce(Spelling),
    /// A step of handing a consumer key to an application.
    KeyGrant(&'a str),
    /// The style sheet of the active theme, for pages that are files.
    ThemeStyle,
    /// A page of the administration that existing clients know, by its name below that.
    Administration(&'a str),
    /// Below the pages for applications, and none of them.
    NoKeyGrant,
    /// The feed of what is at a path.
    Feed {
        of: &'a str,
        format: Format,
    },
    Robots,
    /// Where the form for comments is sent to.
    Comment,
    /// The picture by which browsers mark the site.
    Icon,
    /// Where programs learn which interfaces there are.
    Discovery,
    /// Where some look for the sitemap.
    SitemapMoved,
    SitemapIndex,
    /// A page of the sitemap by its name.
    SitemapPage(&'a str),
    /// How browsers show a part of the sitemap to people.
    SitemapStyle(SitemapStyle),
}

/// What a style sheet of the sitemap is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SitemapStyle {
    Index,
    Page,
}

/// Whether a page was asked for by the address that existing clients know, or by our own. Links
/// from there keep to the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    Known,
    Neutral,
}

impl Spelling {
    pub(super) fn sign_in(self) -> &'static str {
        match self {
            Self::Known => "/wp-login.php",
            Self::Neutral => "/login",
        }
    }

    pub(super) fn authorize(self) -> &'static str {
        match self {
            Self::Known => frame::index::AUTHORIZE_PATH,
            Self::Neutral => "/authorize-application",
        }
    }

    fn nonce(self) -> &'static str {
        match self {
            Self::Known => "/wp-admin/admin-ajax.php",
            Self::Neutral => "/session/nonce",
        }
    }
}

/// Below this path is the interface of onboarding, and no page.
const ONBOARDING_ROOT: &str = "/v1";
const ADMINISTRATION_ROOT: &str = "/wp-admin";
const KEY_GRANTS_ROOT: &str = "/wc-auth";
/// Where applications send people for a consumer key.
pub(super) const KEY_GRANT_ROOT: &str = "/wc-auth/v1/";
const THEME_STYLE: &str = "/theme.css";
const AUTHORS_ROOT: &str = "/author/";
const EMBED: &str = "/embed";

impl<'a> PagePath<'a> {
    /// The page at the path, still encoded. Paths of other interfaces have none.
    pub(super) fn at(path: &'a str) -> Option<Self> {
        if !path.starts_with('/') || is_below(path, ONBOARDING_ROOT) {
            return None;
        }
        if path == "/" {
            return Some(Self::Front);
        }
        let bare = path.strip_suffix('/').unwrap_or(path);
        for spelling in [Spelling::Known, Spelling::Neutral] {
            if bare == spelling.sign_in() {
                return Some(Self::SignIn(spelling));
            }
            if bare == spelling.authorize() {
                return Some(Self::Authorize(spelling));
            }
            if bare == spelling.nonce() {
                return Some(Self::Nonce(spelling));
            }
        }
        if let Some(step) = bare.strip_prefix(KEY_GRANT_ROOT) {
            return Some(Self::KeyGrant(step));
        }
        if bare == OPENID_PATH {
            return Some(Self::SignInReturn);
        }
        if path == THEME_STYLE {
            return Some(Self::ThemeStyle);
        }
        if let Some(name) = path.strip_prefix(ADMINISTRATION_ROOT).filter(|_| is_known_page(bare)) {
            return Some(Self::Administration(name.trim_matches('/')));
        }
        if is_below(bare, KEY_GRANTS_ROOT) {
            return Some(Self::NoKeyGrant);
        }
        if format!("{bare}/") == docs::ROOT_PATH {
            return Some(Self::Guides);
        }
        if let Some(found) = Self::for_programs(path, bare) {
            return Some(found);
        }
        let (page, embed) = match bare.strip_suffix(EMBED) {
            Some(page) if !page.is_empty() => (page, true),
            _ => (bare, false),
        };
        if let Some(below) = path.strip_prefix(docs::ROOT_PATH) {
            if below.contains('.') {
                return Some(Self::Attachment(below));
            }
            let slug = page.strip_prefix(docs::ROOT_PATH).unwrap_or_default();
            return Some(Self::Guide { slug, embed });
        }
        if let Some(slug) = bare.strip_prefix(AUTHORS_ROOT) {
            return Some(Self::Author(slug));
        }
        if let Some(archive) = Archive::at(bare) {
            return Some(Self::Archive { archive, path: page });
        }
        Some(Self::Content { path: page, embed })
    }

    /// What readers of feeds and search engines ask for.
    fn for_programs(path: &'a str, bare: &'a str) -> Option<Self> {
        match path {
            "/robots.txt" => return Some(Self::Robots),
            "/wp-comments-post.php" => return Some(Self::Comment),
            "/favicon.ico" => return Some(Self::Icon),
            "/xmlrpc.php" => return Some(Self::Discovery),
            "/sitemap.xml" => return Some(Self::SitemapMoved),
            "/wp-sitemap.xml" => return Some(Self::SitemapIndex),
            "/wp-sitemap.xsl" => return Some(Self::SitemapStyle(SitemapStyle::Page)),
            "/wp-sitemap-index.xsl" => return Some(Self::SitemapStyle(SitemapStyle::Index)),
            _ => {}
        }
        let part = path.strip_prefix("/wp-sitemap-").and_then(|name| name.strip_suffix(".xml"));
        if let Some(part) = part {
            return Some(Self::SitemapPage(part));
        }
        if let Some(of) = bare.strip_suffix("/feed") {
            return Some(Self::Feed { of, format: Format::Rss2 });
        }
        let (feed, format) = bare.rsplit_once('/')?;
        let (of, format) = (feed.strip_suffix("/feed")?, Format::named(format)?);
        Some(Self::Feed { of, format })
    }

    /// Whether there is nothing but pages at such an address, whatever a client says it shows.
    pub(super) fn is_of_site(&self) -> bool {
        matches!(self, Self::Front | Self::SitemapPage(_))
    }

    /// Whether the page takes forms.
    pub(super) fn has_form(&self) -> bool {
        matches!(
            self,
            Self::SignIn(_)
                | Self::Authorize(_)
                | Self::Nonce(Spelling::Known)
                | Self::KeyGrant(_)
                | Self::Comment
        )
    }
}

/// Whether the path is the home of the administration, or one of its pages.
fn is_known_page(bare: &str) -> bool {
    let name = bare.strip_suffix(".php");
    bare == ADMINISTRATION_ROOT || name.is_some_and(|name| is_below(name, ADMINISTRATION_ROOT))
}

fn is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_page() {
        let content = |path, embed| Some(PagePath::Content { path, embed });
        for (path, expected) in [
            ("/", Some(PagePath::Front)),
            ("/hello-world/", content("/hello-world", false)),
            ("/hello-world", content("/hello-world", false)),
            ("/about/team/", content("/about/team", false)),
            ("/hello-world/embed/", content("/hello-world", true)),
            ("/embed/", content("/embed", false)),
            ("/v1x", content("/v1x", false)),
            ("/author/anna/", Some(PagePath::Author("anna"))),
            (
                "/tag/storm/",
                Archive::at("/tag/storm")
                    .map(|archive| PagePath::Archive { archive, path: "/tag/storm" }),
            ),
            ("/docs", Some(PagePath::Guides)),
            ("/docs/", Some(PagePath::Guides)),
            ("/docs/rest/", Some(PagePath::Guide { slug: "rest", embed: false })),
            ("/docs/rest/embed/", Some(PagePath::Guide { slug: "rest", embed: true })),
            ("/docs/examples/a.json", Some(PagePath::Attachment("examples/a.json"))),
            ("/wp-login.php", Some(PagePath::SignIn(Spelling::Known))),
            ("/login", Some(PagePath::SignIn(Spelling::Neutral))),
            ("/login/openid", Some(PagePath::SignInReturn)),
            ("/authorize-application", Some(PagePath::Authorize(Spelling::Neutral))),
            ("/session/nonce", Some(PagePath::Nonce(Spelling::Neutral))),
            ("/wc-auth/v1/authorize", Some(PagePath::KeyGrant("authorize"))),
            ("/wc-auth/v1/login/", Some(PagePath::KeyGrant("login"))),
            ("/wc-auth/v1", Some(PagePath::NoKeyGrant)),
            ("/wc-auth/v2/login", Some(PagePath::NoKeyGrant)),
            ("/theme.css", Some(PagePath::ThemeStyle)),
            ("/wp-admin/", Some(PagePath::Administration(""))),
            ("/wp-admin", Some(PagePath::Administration(""))),
            ("/wp-admin/edit.php", Some(PagePath::Administration("edit.php"))),
            ("/wp-admin/nothing", content("/wp-admin/nothing", false)),
            ("/wp-administration.php", content("/wp-administration.php", false)),
            ("/feed/", Some(PagePath::Feed { of: "", format: Format::Rss2 })),
            ("/feed/atom/", Some(PagePath::Feed { of: "", format: Format::Atom })),
            ("/a/b/feed", Some(PagePath::Feed { of: "/a/b", format: Format::Rss2 })),
            ("/comments/feed/rdf", Some(PagePath::Feed { of: "/comments", format: Format::Rdf })),
            ("/feed/other/", content("/feed/other", false)),
            ("/robots.txt", Some(PagePath::Robots)),
            ("/favicon.ico", Some(PagePath::Icon)),
            ("/xmlrpc.php", Some(PagePath::Discovery)),
            ("/sitemap.xml", Some(PagePath::SitemapMoved)),
            ("/wp-sitemap.xml", Some(PagePath::SitemapIndex)),
            ("/wp-sitemap-users-1.xml", Some(PagePath::SitemapPage("users-1"))),
            ("/wp-sitemap.xsl", Some(PagePath::SitemapStyle(SitemapStyle::Page))),
            ("/wp-sitemap-index.xsl", Some(PagePath::SitemapStyle(SitemapStyle::Index))),
            ("/v1", None),
            ("/v1/onboardmerchant", None),
            ("*", None),
            ("", None),
        ] {
            assert_eq!(PagePath::at(path), expected, "{path}");
        }
    }
}
