//! Lists of posts by what they have in common: a category, a tag, a format. **They hold what
//! everybody may read**, the latest first.

use std::sync::Arc;

use db::Conn;
use db::filter::Page;
use frame::pages::Address;
use site_rows::post::{PostFilter, TermCondition};
use site_rows::term;
use types::Result;

use super::answer::WebAnswer;
use super::headers;
use super::page_request::PageRequest;
use super::plain::plain;
use super::public::Entry;
use crate::pages::{self, ArchivePage, Policy, PostSummary};
use crate::posts;
use crate::posts::kind::{FORMATS, STANDARD_FORMAT};
use crate::posts::taxonomy::{CATEGORY, TAG, Taxonomy};

const KIND: &str = "page:archive";
/// Where posts of a format are listed.
pub(super) const FORMATS_PATH: &str = "type";
/// A page of a list at most: beyond it nobody turns.
const PAGE_MAX: i64 = 100_000;
const TURN: &str = "/page/";
static TAXONOMIES: [&Taxonomy; 2] = [&CATEGORY, &TAG];

/// What a list of posts is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum ArchiveOf {
    Terms(&'static Taxonomy),
    Format,
}

impl PartialEq for ArchiveOf {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Terms(one), Self::Terms(another)) => one.name == another.name,
            (Self::Format, Self::Format) => true,
            _ => false,
        }
    }
}

impl Eq for ArchiveOf {}

/// A list of posts by its address: what it is about, the slugs behind that, and its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Archive<'a> {
    of: ArchiveOf,
    slugs: &'a str,
    page: i64,
}

/// What is told of a list.
struct Subject {
    heading: String,
    about: String,
    /// The list's own path.
    path: String,
    /// The same as JSON, if there is such.
    rest: Option<String>,
    wanted: PostFilter,
}

impl<'a> Archive<'a> {
    /// The list at a path without the slash at its end.
    pub(super) fn at(bare: &'a str) -> Option<Self> {
        let (list, page) = match bare.rsplit_once(TURN) {
            Some((list, number)) => {
                (list, number.parse().ok().filter(|number| (1..=PAGE_MAX).contains(number))?)
            }
            None => (bare, 1),
        };
        let below = |root: &str| list.strip_prefix('/')?.strip_prefix(root)?.strip_prefix('/');
        for taxonomy in TAXONOMIES {
            if let Some(slugs) = taxonomy.path.and_then(below).filter(|slugs| !slugs.is_empty()) {
                return Some(Self { of: ArchiveOf::Terms(taxonomy), slugs, page });
            }
        }
        let slugs = below(FORMATS_PATH).filter(|slug| !slug.is_empty() && !slug.contains('/'))?;
        Some(Self { of: ArchiveOf::Format, slugs, page })
    }
}

impl PageRequest<'_> {
    pub(super) async fn archive(&self, archive: &Archive<'_>) -> Result<Option<WebAnswer>> {
        let Some(subject) = self.archive_subject(archive).await? else { return Ok(None) };
        if let Some(moved) = self.with_slash(KIND) {
            return Ok(Some(moved));
        }
        let limit = self.listed_at_once();
        let page = Page { offset: (archive.page - 1).saturating_mul(limit), limit };
        let (entries, total) = self.entries(PostFilter { page, ..subject.wanted }).await?;
        if archive.page > 1 && entries.is_empty() {
            return Ok(None);
        }
        let posts: Vec<PostSummary<'_>> = entries.iter().map(Entry::view).collect();
        let turned = |number: i64| {
            let behind = if number > 1 { format!("page/{number}/") } else { String::new() };
            self.visit.page(&format!("{}{behind}", subject.path))
        };
        let has_more = page.offset.saturating_add(limit) < total;
        let (own, previous, next) = (
            turned(archive.page),
            (archive.page > 1).then(|| turned(archive.page - 1)),
            has_more.then(|| turned(archive.page + 1)),
        );
        let json = subject.rest.map(|path| self.visit.rest(&path));
        let body = pages::archive(&ArchivePage {
            site: self.masthead(),
            heading: &subject.heading,
            about: &subject.about,
            permalink: Address::new(&own),
            rest_url: json.as_deref().map(Address::new),
            posts: &posts,
            newer: previous.as_deref().map(Address::new),
            older: next.as_deref().map(Address::new),
        });
        let mut answer = self.open_page(KIND, Policy::Page, body);
        if let Some(json) = &json {
            headers::link_json(&mut answer.headers, json);
        }
        Ok(Some(answer))
    }

    async fn archive_subject(&self, archive: &Archive<'_>) -> Result<Option<Subject>> {
        let slug = frame::text::slugify(archive.slugs.rsplit('/').next().unwrap_or_default());
        let taxonomy = match archive.of {
            ArchiveOf::Terms(taxonomy) => taxonomy,
            ArchiveOf::Format => return Ok(format_subject(&slug)),
        };
        let (visit, names) = (Arc::clone(&self.visit), &self.site.settings().names);
        let namespace = names.content.clone();
        let read = move |conn: &mut dyn Conn| {
            let Some(row) = term::find_by_slug(conn, taxonomy.name, &slug)? else {
                return Ok(None);
            };
            let address = posts::term_link(conn, &visit, taxonomy, &row)?;
            let ids = term::with_descendants(conn, &[row.term_id])?;
            Ok(Some(Subject {
                heading: plain(&row.name),
                about: plain(&row.description),
                path: address.strip_prefix(&*visit.home).unwrap_or(&address).to_owned(),
                rest: Some(format!("/{namespace}/{}/{}", taxonomy.base, row.term_id)),
                wanted: PostFilter {
                    terms: vec![TermCondition::AnyOf(ids)],
                    ..PostFilter::default()
                },
            }))
        };
        self.site.store().read(read).await
    }
}

fn format_subject(slug: &str) -> Option<Subject> {
    let format = FORMATS.iter().find(|format| **format == slug && slug != STANDARD_FORMAT)?;
    let mut heading: String = format.chars().take(1).flat_map(char::to_uppercase).collect();
    heading.extend(format.chars().skip(1));
    Some(Subject {
        heading,
        about: String::new(),
        path: format!("/{FORMATS_PATH}/{format}/"),
        rest: None,
        wanted: PostFilter { formats: vec![(*format).to_owned()], ..PostFilter::default() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_list() {
        let list = |of, slugs, page| Some(Archive { of, slugs, page });
        for (path, expected) in [
            ("/category/news", list(ArchiveOf::Terms(&CATEGORY), "news", 1)),
            ("/category/news/local/page/3", list(ArchiveOf::Terms(&CATEGORY), "news/local", 3)),
            ("/tag/storm", list(ArchiveOf::Terms(&TAG), "storm", 1)),
            ("/type/aside", list(ArchiveOf::Format, "aside", 1)),
            ("/type/aside/more", None),
            ("/category", None),
            ("/category/news/page/0", None),
            ("/categories/news", None),
        ] {
            assert_eq!(Archive::at(path), expected, "{path}");
        }
        assert!(format_subject("standard").is_none() && format_subject("nope").is_none());
        assert_eq!(format_subject("aside").unwrap().heading, "Aside");
    }
}
