//! The guides, rendered, and the files that go with them.

use std::path::Path;

use frame::text::markdown::{Document, Heading, Section};
use serde::Serialize;

use super::words::{Word, words};

/// Where the pages are on the site: `/docs/` lists them, `/docs/{slug}/` is one.
pub const ROOT_PATH: &str = "/docs/";

/// The guides in reading order: slug and text. The slug is the file's name without its ending.
pub(super) const GUIDES: &[(&str, &str)] = &[
    ("onboarding", include_str!("../../../../docs/onboarding.md")),
    ("bulk", include_str!("../../../../docs/bulk.md")),
    ("records", include_str!("../../../../docs/records.md")),
    ("lifecycle", include_str!("../../../../docs/lifecycle.md")),
    ("templates", include_str!("../../../../docs/templates.md")),
    ("devices", include_str!("../../../../docs/devices.md")),
    ("events", include_str!("../../../../docs/events.md")),
    ("registration", include_str!("../../../../docs/registration.md")),
    ("keys", include_str!("../../../../docs/keys.md")),
    ("sandbox", include_str!("../../../../docs/sandbox.md")),
    ("limits", include_str!("../../../../docs/limits.md")),
    ("assistants", include_str!("../../../../docs/assistants.md")),
    ("audit", include_str!("../../../../docs/audit.md")),
    ("rest", include_str!("../../../../docs/rest.md")),
    ("api-design", include_str!("../../../../docs/api-design.md")),
    ("portal", include_str!("../../../../docs/portal.md")),
    ("payments", include_str!("../../../../docs/payments.md")),
    ("plugins", include_str!("../../../../docs/plugins.md")),
    ("operating", include_str!("../../../../docs/operating.md")),
    ("scaling", include_str!("../../../../docs/scaling.md")),
    ("mail", include_str!("../../../../docs/mail.md")),
    ("setup", include_str!("../../../../docs/setup.md")),
    ("analytics", include_str!("../../../../docs/analytics.md")),
    ("security", include_str!("../../../../docs/security.md")),
    ("connected-stores", include_str!("../../../../docs/connected-stores.md")),
    ("imports", include_str!("../../../../docs/imports.md")),
    ("logging", include_str!("../../../../docs/logging.md")),
    ("performance", include_str!("../../../../docs/performance.md")),
];

/// Files that guides link to or show, by their path below [`ROOT_PATH`].
const ATTACHMENTS: &[Attachment] = &[
    Attachment {
        path: "examples/full.json",
        text: include_str!("../../../../docs/examples/full.json"),
    },
    Attachment {
        path: "examples/store.json",
        text: include_str!("../../../../docs/examples/store.json"),
    },
    Attachment {
        path: "examples/tpn.json",
        text: include_str!("../../../../docs/examples/tpn.json"),
    },
    Attachment {
        path: "images/reports-growth.svg",
        text: include_str!("../../../../docs/images/reports-growth.svg"),
    },
];

/// A section with the words of its text.
pub(super) type Part = (Section, Vec<Word>);

/// One guide, rendered.
#[derive(Debug)]
pub struct Page {
    pub slug: &'static str,
    pub title: String,
    /// The opening paragraph as plain text; for a guide without one, the names of its sections.
    pub summary: String,
    /// Without the title.
    pub headings: Vec<Heading>,
    /// The whole text, its title included. Links to other pages are addresses of this site.
    pub html: String,
    pub markdown: &'static str,
    pub(super) parts: Vec<Part>,
}

/// A file that goes with the guides: an example, or a picture.
#[derive(Debug, PartialEq, Eq)]
pub struct Attachment {
    pub path: &'static str,
    pub text: &'static str,
}

impl Attachment {
    pub fn content_type(&self) -> &'static str {
        let is_picture = Path::new(self.path).extension().is_some_and(|kind| kind == "svg");
        if is_picture { "image/svg+xml" } else { "application/json" }
    }
}

/// A page as an item of a list.
#[derive(Debug, Serialize)]
pub struct PageEntry<'page> {
    pub slug: &'static str,
    pub title: &'page str,
    pub summary: &'page str,
    pub link: String,
    pub headings: &'page [Heading],
}

/// A page with its content.
#[derive(Debug, Serialize)]
pub struct PageView<'page> {
    #[serde(flatten)]
    pub entry: PageEntry<'page>,
    pub html: &'page str,
    pub markdown: &'static str,
}

impl Page {
    pub(super) fn read(slug: &'static str, text: &'static str) -> Self {
        let Document { title, summary, headings, html, sections } = Document::read(text, &served);
        let with_words = |section: Section| {
            let words = words(&section.text).collect();
            (section, words)
        };
        let parts = sections.into_iter().map(with_words).collect();
        Self { slug, title, summary, headings, html, markdown: text, parts }
    }

    /// The page's path on the site.
    pub fn path(&self) -> String {
        page_path(self.slug)
    }

    /// For lists; `home` is the site's address.
    pub fn entry(&self, home: &str) -> PageEntry<'_> {
        PageEntry {
            slug: self.slug,
            title: &self.title,
            summary: &self.summary,
            link: absolute(home, &self.path()),
            headings: &self.headings,
        }
    }

    pub fn view(&self, home: &str) -> PageView<'_> {
        PageView { entry: self.entry(home), html: &self.html, markdown: self.markdown }
    }
}

pub(super) fn attachment(path: &str) -> Option<&'static Attachment> {
    ATTACHMENTS.iter().find(|attachment| attachment.path == path)
}

/// Where a file beside the guides is served: another guide, or an attachment.
fn served(file: &str) -> Option<String> {
    if let Some(attachment) = attachment(file) {
        return Some(format!("{ROOT_PATH}{}", attachment.path));
    }
    let slug = file.strip_suffix(".md")?;
    let (slug, _) = GUIDES.iter().find(|(known, _)| *known == slug)?;
    Some(page_path(slug))
}

fn page_path(slug: &str) -> String {
    format!("{ROOT_PATH}{slug}/")
}

pub(super) fn absolute(home: &str, path: &str) -> String {
    format!("{}{path}", home.trim_end_matches('/'))
}
