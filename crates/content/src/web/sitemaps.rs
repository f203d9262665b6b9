//! The sitemap for search engines: an index, and pages of addresses of posts, terms and authors;
//! and `robots.txt`, which names it.

use std::fmt::Write as _;
use std::sync::Arc;

use db::Conn;
use db::filter::{Direction, Page};
use frame::{Site, Visit};
use site_rows::post::{self, PostFilter, PostOrder};
use site_rows::term::{self, TermFilter, TermOrder};
use site_rows::user::{self, UserFilter};
use types::{Result, Timestamp};

use super::answer::WebAnswer;
use super::archive::FORMATS_PATH;
use super::feeds;
use super::page_path::SitemapStyle;
use super::page_request::PageRequest;
use crate::posts::kind::{FORMATS, PAGE, POST, SEARCHED_KINDS, STANDARD_FORMAT};
use crate::posts::taxonomy::SEARCHED_TAXONOMIES;
use crate::posts::{self, records};

/// The taxonomy of formats, whose terms are the formats themselves.
const POST_FORMAT: &str = "post_format";
/// Addresses of one page.
const ADDRESSES_MAX: i64 = 2_000;
const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
const INDEX_PATH: &str = "/wp-sitemap.xml";
/// What no search engine need look at.
const ROBOTS: &[&str] = &[
    "User-agent: *",
    "Disallow: /wp-content/uploads/wc-logs/",
    "Disallow: /wp-content/uploads/woocommerce_transient_files/",
    "Disallow: /wp-content/uploads/woocommerce_uploads/",
    "Disallow: /*?add-to-cart=",
    "Disallow: /*?*add-to-cart=",
    "Disallow: /wp-admin/",
    "Allow: /wp-admin/admin-ajax.php",
];

/// An address, and when what is there last changed.
type Located = (String, Option<Timestamp>);

/// Of what a part of the sitemap is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Posts(String),
    Terms(String),
    Users,
}

impl Part {
    /// The part and the page that a name such as `posts-page-1` means.
    fn named(name: &str) -> Option<(Self, i64)> {
        let (part, page) = name.rsplit_once('-')?;
        let page = page.parse().ok().filter(|page| *page > 0)?;
        let part = match part.split_once('-') {
            Some(("posts", kind)) => Self::Posts(kind.to_owned()),
            Some(("taxonomies", taxonomy)) => Self::Terms(taxonomy.to_owned()),
            None if part == "users" => Self::Users,
            _ => return None,
        };
        Some((part, page))
    }

    fn name(&self) -> String {
        match self {
            Self::Posts(kind) => format!("posts-{kind}"),
            Self::Terms(taxonomy) => format!("taxonomies-{taxonomy}"),
            Self::Users => String::from("users"),
        }
    }
}

impl PageRequest<'_> {
    pub(super) fn robots(&self) -> WebAnswer {
        let mut body = ROBOTS.join("\n");
        let _ = write!(body, "\n\nSitemap: {}\n", self.visit.page(INDEX_PATH));
        let headers = vec![
            ("content-type", String::from("text/plain; charset=utf-8")),
            ("cache-control", String::from("no-cache")),
            ("x-content-type-options", String::from("nosniff")),
        ];
        WebAnswer { kind: "page:robots", status: 200, headers, body, user_id: None }
    }

    pub(super) fn sitemap_moved(&self) -> WebAnswer {
        self.moved("page:sitemap", &self.visit.page(INDEX_PATH))
    }

    pub(super) async fn sitemap_index(&self) -> Result<Option<WebAnswer>> {
        let (site, visit) = (Arc::clone(self.site), Arc::clone(&self.visit));
        let read = move |conn: &mut dyn Conn| index(conn, &site, &visit);
        let addresses = self.site.store().read(read).await?;
        let mut xml = self.sitemap_start("/wp-sitemap-index.xsl", "sitemapindex");
        for address in addresses {
            let _ = writeln!(xml, "<sitemap><loc>{}</loc></sitemap>", feeds::escaped(&address));
        }
        xml.push_str("</sitemapindex>\n");
        Ok(Some(document(xml)))
    }

    fn sitemap_start(&self, style: &str, root: &str) -> String {
        let style = feeds::escaped(&self.visit.page(style));
        format!(
            "{DECLARATION}<?xml-stylesheet type=\"text/xsl\" href=\"{style}\" ?>\n\
             <{root} xmlns=\"{NAMESPACE}\">\n"
        )
    }

    /// A page of a part, if there is anything on it.
    pub(super) async fn sitemap_page(&self, name: &str) -> Result<Option<WebAnswer>> {
        let Some((part, number)) = Part::named(name) else { return Ok(None) };
        let (site, visit) = (Arc::clone(self.site), Arc::clone(&self.visit));
        let offset = (number - 1).saturating_mul(ADDRESSES_MAX);
        let page = Page { offset, limit: ADDRESSES_MAX };
        let read = move |conn: &mut dyn Conn| Ok(located(conn, &site, &visit, (&part, page))?.0);
        let addresses = self.site.store().read(read).await?;
        if addresses.is_empty() {
            return Ok(None);
        }
        let mut xml = self.sitemap_start("/wp-sitemap.xsl", "urlset");
        for (address, changed) in addresses {
            let _ = write!(xml, "<url><loc>{}</loc>", feeds::escaped(&address));
            if let Some(changed) = changed {
                let _ = write!(xml, "<lastmod>{}</lastmod>", feeds::atom_date(changed));
            }
            xml.push_str("</url>\n");
        }
        xml.push_str("</urlset>\n");
        Ok(Some(document(xml)))
    }
}

/// How browsers show the sitemap to people.
pub(super) fn style(style: SitemapStyle) -> WebAnswer {
    document(String::from(match style {
        SitemapStyle::Index => include_str!("../../sitemap/index.xsl"),
        SitemapStyle::Page => include_str!("../../sitemap/pages.xsl"),
    }))
}

fn document(body: String) -> WebAnswer {
    let headers = vec![
        ("content-type", String::from("application/xml; charset=UTF-8")),
        ("cache-control", String::from("no-cache")),
        ("x-robots-tag", String::from("noindex, follow")),
        ("x-content-type-options", String::from("nosniff")),
    ];
    WebAnswer { kind: "page:sitemap", status: 200, headers, body, user_id: None }
}

fn index(conn: &mut dyn Conn, site: &Site, visit: &Visit) -> Result<Vec<String>> {
    let mut parts: Vec<Part> =
        SEARCHED_KINDS.iter().map(|kind| Part::Posts(kind.name.to_owned())).collect();
    let terms = SEARCHED_TAXONOMIES.iter();
    parts.extend(terms.map(|taxonomy| Part::Terms(taxonomy.name.to_owned())));
    parts.push(Part::Terms(POST_FORMAT.to_owned()));
    for source in site.content_sources() {
        let archives = source.archives(conn)?;
        parts.extend(archives.into_iter().map(|archive| Part::Terms(archive.taxonomy)));
    }
    parts.push(Part::Users);
    let mut addresses = Vec::new();
    for part in parts {
        let nothing = Page { offset: 0, limit: 0 };
        let (_, total) = located(conn, site, visit, (&part, nothing))?;
        let pages = total.div_euclid(ADDRESSES_MAX) + i64::from(total % ADDRESSES_MAX > 0);
        for page in 1..=pages {
            addresses.push(visit.page(&format!("/wp-sitemap-{}-{page}.xml", part.name())));
        }
    }
    Ok(addresses)
}

/// A page of the addresses of a part, and how many there are.
fn located(
    conn: &mut dyn Conn,
    site: &Site,
    visit: &Visit,
    (part, page): (&Part, Page),
) -> Result<(Vec<Located>, i64)> {
    match part {
        Part::Posts(kind) => of_posts(conn, site, visit, (kind, page)),
        Part::Terms(taxonomy) if taxonomy == POST_FORMAT => of_formats(conn, visit, page),
        Part::Terms(taxonomy) => of_terms(conn, site, visit, (taxonomy, page)),
        Part::Users => {
            let kinds = SEARCHED_KINDS.iter().map(|kind| kind.name.to_owned());
            let wanted =
                UserFilter { published_kinds: kinds.collect(), page, ..UserFilter::default() };
            let (users, total) = user::list(conn, &wanted)?;
            let address = |name: String| visit.page(&format!("/author/{name}/"));
            Ok((users.into_iter().map(|user| (address(user.nicename), None)).collect(), total))
        }
    }
}

fn of_posts(
    conn: &mut dyn Conn,
    site: &Site,
    visit: &Visit,
    (name, page): (&str, Page),
) -> Result<(Vec<Located>, i64)> {
    let Some(kind) = SEARCHED_KINDS.iter().find(|kind| kind.name == name) else {
        return Ok((Vec::new(), 0));
    };
    let wanted = PostFilter {
        kinds: vec![kind.name.to_owned()],
        statuses: vec![posts::status::PUBLISH.to_owned()],
        order: PostOrder::Id,
        direction: Direction::Ascending,
        page,
        ..PostFilter::default()
    };
    let (rows, mut total) = records::list_in(site, conn, visit, kind, &wanted)?;
    let mut addresses = Vec::with_capacity(rows.len() + 1);
    // The front page is one of the pages where no page stands in for it.
    if kind.name == PAGE.name && visit.options.text("show_on_front") != "page" {
        total += 1;
        if page.offset == 0 && page.limit > 0 {
            let changed = rows.iter().map(|row| row.modified_gmt).max();
            addresses.push((visit.page("/"), Some(changed.unwrap_or(visit.now))));
        }
    }
    for row in &rows {
        addresses.push((posts::permalink(conn, visit, row)?, Some(row.modified_gmt)));
    }
    Ok((addresses, total))
}

fn of_terms(
    conn: &mut dyn Conn,
    site: &Site,
    visit: &Visit,
    (name, page): (&str, Page),
) -> Result<(Vec<Located>, i64)> {
    let taxonomy = SEARCHED_TAXONOMIES.iter().find(|taxonomy| taxonomy.name == name);
    let mut further = None;
    if taxonomy.is_none() {
        for source in site.content_sources() {
            let mut archives = source.archives(conn)?.into_iter();
            further = further.or_else(|| archives.find(|archive| archive.taxonomy == name));
        }
        if further.is_none() {
            return Ok((Vec::new(), 0));
        }
    }
    let wanted = TermFilter {
        taxonomies: vec![name.to_owned()],
        hide_empty: true,
        order: TermOrder::Id,
        direction: Direction::Ascending,
        page,
        ..TermFilter::default()
    };
    let (rows, total) = term::list(conn, &wanted)?;
    let mut addresses = Vec::with_capacity(rows.len());
    for row in &rows {
        let address = match (taxonomy, &further) {
            (Some(taxonomy), _) => posts::term_link(conn, visit, taxonomy, row)?,
            (None, Some(archive)) => visit.page(&archive.address(&row.slug)),
            (None, None) => continue,
        };
        addresses.push((address, None));
    }
    Ok((addresses, total))
}

/// The formats that some post has, in the order of their names.
fn of_formats(conn: &mut dyn Conn, visit: &Visit, page: Page) -> Result<(Vec<Located>, i64)> {
    let mut addresses = Vec::new();
    for format in FORMATS.iter().filter(|format| **format != STANDARD_FORMAT) {
        let wanted = PostFilter {
            kinds: vec![POST.name.to_owned()],
            statuses: vec![posts::status::PUBLISH.to_owned()],
            formats: vec![(*format).to_owned()],
            page: Page { offset: 0, limit: 0 },
            ..PostFilter::default()
        };
        if post::list(conn, &wanted)?.1 > 0 {
            addresses.push((visit.page(&format!("/{FORMATS_PATH}/{format}/")), None));
        }
    }
    addresses.sort();
    let total = i64::try_from(addresses.len()).unwrap_or(i64::MAX);
    if page.offset > 0 || page.limit == 0 {
        addresses.clear();
    }
    Ok((addresses, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_known_by_its_name() {
        let posts = |kind: &str| Part::Posts(kind.to_owned());
        for (name, expected) in [
            ("posts-page-1", Some((posts("page"), 1))),
            ("posts-product-12", Some((posts("product"), 12))),
            ("taxonomies-product_cat-1", Some((Part::Terms(String::from("product_cat")), 1))),
            ("users-2", Some((Part::Users, 2))),
            ("users-0", None),
            ("users", None),
            ("posts-1", None),
            ("other-page-1", None),
            ("posts-page-x", None),
        ] {
            assert_eq!(Part::named(name), expected, "{name}");
            if let Some((part, page)) = Part::named(name) {
                assert_eq!(format!("{}-{page}", part.name()), name);
            }
        }
    }
}
