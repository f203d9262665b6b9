//! The pages of the site's content: the front page, a post or a page, its card, an author.
//! **Only what everybody may read is shown**, whoever asks.

use std::sync::Arc;

use db::{Conn, filter};
use frame::lock::Lock;
use frame::pages::{Address, Date, Link, TrustedHtml};
use frame::text::render;
use frame::{Site, Visit};
use site_rows::post::{self, PostFilter, PostOrder, PostRow};
use site_rows::user::{self, UserFilter, UserRow};
use types::Result;

use super::answer::WebAnswer;
use super::discussion::Discussion;
use super::headers;
use super::page_request::PageRequest;
use super::plain::{plain, shown_title, summary};
use crate::docs::docs;
use crate::oembed;
use crate::pages::{
    self, AuthorPage, Commenter, EmbedPage, FrontPage, Policy, PostPage, PostSummary,
};
use crate::posts;

/// Posts on a page at most, whatever the site's setting says.
const LISTED_MAX: i64 = 100;
const POST: &str = "post";
const PAGE: &str = "page";
const PUBLISHED: &str = "publish";

/// What a page shows, be it of a post, of a page or of something that a crate above keeps.
pub(super) struct Piece {
    /// Plain text, as the summary.
    pub(super) title: String,
    summary: String,
    content: String,
    pub(super) permalink: String,
    /// What readers must know to see content and discussion; empty for what everybody sees.
    pub(super) lock: Lock,
    /// Whether this reader does not know it: then there is nothing in both.
    is_locked: bool,
    /// The path by its number; empty for what has none.
    shortlink: String,
    /// The address of the same as JSON.
    json: String,
    /// Shown with the author; pages tell of neither.
    published: Option<String>,
    author: Option<UserRow>,
    discussion: Discussion,
}

/// A post in a list.
pub(super) struct Entry {
    title: String,
    link: String,
    published: String,
    summary: String,
}

impl Entry {
    pub(super) fn view(&self) -> PostSummary<'_> {
        PostSummary {
            title: &self.title,
            link: Address::new(&self.link),
            published: Date(&self.published),
            summary: &self.summary,
        }
    }
}

impl PageRequest<'_> {
    /// The latest posts, or the page that the site shows instead; a number in the query string asks
    /// for one post.
    pub(super) async fn front(&self) -> Result<Option<WebAnswer>> {
        let query = self.query();
        if query.text("sitemap") == "index" {
            return Ok(Some(self.sitemap_moved()));
        }
        if query.has("s") {
            return self.search().await.map(Some);
        }
        if query.has("p") || query.has("page_id") {
            return self.content("/", query.text("embed") == "true").await;
        }
        let options = &self.visit.options;
        let chosen = (options.text("show_on_front") == "page")
            .then(|| options.integer("page_on_front"))
            .filter(|id| *id > 0);
        if let Some(id) = chosen
            && let Some(piece) = self.piece("/", &format!("page_id={id}")).await?
        {
            return Ok(Some(self.post(&piece)));
        }
        let (entries, _) = self.latest(Vec::new()).await?;
        let posts: Vec<PostSummary<'_>> = entries.iter().map(Entry::view).collect();
        let body = pages::front(&FrontPage {
            site: self.masthead(),
            tagline: &options.text("blogdescription"),
            posts: &posts,
            docs: docs().pages(),
        });
        Ok(Some(self.open_page("page:front", Policy::Page, body)))
    }

    /// A post or a page at its path, or by the number in the query string of the front page.
    pub(super) async fn content(&self, path: &str, embed: bool) -> Result<Option<WebAnswer>> {
        let query = self.request.query_text.as_str();
        let Some(piece) = self.piece(path, query).await? else {
            return self.by_slug(path).await;
        };
        let kind = if embed { "page:embed" } else { "page:post" };
        let asked_by_number = path == "/";
        let has_path = !piece.permalink.contains("/?");
        if asked_by_number && has_path {
            let target =
                if embed { oembed::local::embed_url(&piece.permalink) } else { piece.permalink };
            return Ok(Some(self.moved(kind, &target)));
        }
        if let Some(moved) = self.with_slash(kind) {
            return Ok(Some(moved));
        }
        Ok(Some(if embed { self.card(&piece) } else { self.post(&piece) }))
    }

    /// Where something with the slug of a path is that leads nowhere by itself.
    async fn by_slug(&self, path: &str) -> Result<Option<WebAnswer>> {
        let slug = path.trim_matches('/');
        if slug.is_empty() || slug.contains('/') {
            return Ok(None);
        }
        let slug = frame::text::slugify(slug);
        let (site, visit) = (Arc::clone(self.site), Arc::clone(&self.visit));
        let read = move |conn: &mut dyn Conn| {
            let Some(row) = posts::records::by_slug(&site, conn, &visit, &slug)? else {
                return Ok(None);
            };
            posts::permalink(conn, &visit, &row).map(Some)
        };
        let found = self.site.store().read(read).await?;
        Ok(found.map(|address| self.moved("page:post", &address)))
    }

    /// What is at the path. Of posts only the front page's query string tells more.
    pub(super) async fn piece(&self, path: &str, query: &str) -> Result<Option<Piece>> {
        let (site, visit) = (Arc::clone(self.site), Arc::clone(&self.visit));
        let of_posts = if path == "/" { query } else { "" };
        let (post, other) = (format!("{path}?{of_posts}"), format!("{path}?{query}"));
        self.site.store().read(move |conn| read_piece(conn, &site, &visit, (&post, &other))).await
    }

    fn post(&self, piece: &Piece) -> WebAnswer {
        let names = &self.site.settings().names;
        let oembed = |format: &str| {
            let url = super::callback::encoded(&piece.permalink);
            self.visit.rest(&format!("/{}/embed?url={url}{format}", names.oembed))
        };
        let (oembed_json, oembed_xml) = (oembed(""), oembed("&format=xml"));
        let author = piece.author.as_ref().map(|user| {
            (user.display_name.as_str(), self.visit.page(&format!("/author/{}/", user.nicename)))
        });
        let commenter = self.commenter();
        let shortlink = piece.shortlink.as_str();
        let shortlink = (!shortlink.is_empty()).then(|| self.visit.page(shortlink));
        let body = pages::post(&PostPage {
            site: self.masthead(),
            title: &piece.title,
            summary: &piece.summary,
            permalink: Address::new(&piece.permalink),
            shortlink: shortlink.as_deref().map(Address::new),
            rest_url: Address::new(&piece.json),
            oembed_json: Address::new(&oembed_json),
            oembed_xml: Address::new(&oembed_xml),
            published: piece.published.as_deref().map(Date),
            author: author
                .as_ref()
                .filter(|_| piece.published.is_some())
                .map(|(text, href)| Link { text, href: Address::new(href) }),
            content: TrustedHtml(&piece.content),
            is_locked: piece.is_locked,
            comments: &piece.discussion.views(),
            comment_on: piece.discussion.open_for,
            commenter: &commenter,
        });
        let mut answer = self.open_page("page:post", Policy::Post, body);
        if commenter != Commenter::default() || piece.lock.is_set() {
            headers::set(&mut answer.headers, "cache-control", headers::NO_STORE);
        }
        headers::link_json(&mut answer.headers, &piece.json);
        answer
    }

    fn card(&self, piece: &Piece) -> WebAnswer {
        let body = pages::embed(&EmbedPage {
            site: self.masthead(),
            title: &piece.title,
            summary: &piece.summary,
            permalink: Address::new(&piece.permalink),
        });
        self.open_page("page:embed", Policy::Embed, body)
    }

    /// An author is somebody who has published something; other users are nobody's business.
    pub(super) async fn author(&self, slug: &str) -> Result<Option<WebAnswer>> {
        let wanted = UserFilter {
            nicenames: vec![slug.to_ascii_lowercase()],
            published_kinds: vec![POST.to_owned()],
            page: filter::Page { offset: 0, limit: 1 },
            ..UserFilter::default()
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_%".contains(c);
        if slug.is_empty() || !slug.chars().all(is_plain) {
            return Ok(None);
        }
        let (users, _) = self.site.store().read(move |conn| user::list(conn, &wanted)).await?;
        let Some(user) = users.into_iter().next() else { return Ok(None) };
        if let Some(moved) = self.with_slash("page:author") {
            return Ok(Some(moved));
        }
        let (entries, _) = self.latest(vec![user.user_id]).await?;
        let posts: Vec<PostSummary<'_>> = entries.iter().map(Entry::view).collect();
        let namespace = &self.site.settings().names.content;
        let json = self.visit.rest(&format!("/{namespace}/users/{}", user.user_id));
        let permalink = self.visit.page(&format!("/author/{}/", user.nicename));
        let body = pages::author(&AuthorPage {
            site: self.masthead(),
            name: &user.display_name,
            description: &plain(&user.description),
            permalink: Address::new(&permalink),
            rest_url: Address::new(&json),
            posts: &posts,
        });
        let mut answer = self.open_page("page:author", Policy::Page, body);
        headers::link_json(&mut answer.headers, &json);
        Ok(Some(answer))
    }

    /// The latest posts, of these authors or of all.
    async fn latest(&self, authors: Vec<i64>) -> Result<(Vec<Entry>, i64)> {
        let page = filter::Page { offset: 0, limit: self.listed_at_once() };
        self.entries(PostFilter { authors, page, ..PostFilter::default() }).await
    }

    /// How many posts a list shows.
    pub(super) fn listed_at_once(&self) -> i64 {
        self.visit.options.integer("posts_per_page").clamp(1, LISTED_MAX)
    }

    /// A page of the published posts that match, the latest first, and how many match.
    pub(super) async fn entries(&self, wanted: PostFilter) -> Result<(Vec<Entry>, i64)> {
        let wanted = PostFilter {
            kinds: vec![POST.to_owned()],
            statuses: vec![PUBLISHED.to_owned()],
            order: PostOrder::Date,
            direction: filter::Direction::Descending,
            ..wanted
        };
        let visit = Arc::clone(&self.visit);
        let read = move |conn: &mut dyn Conn| {
            let (rows, total) = post::list(conn, &wanted)?;
            let each = rows.into_iter().map(|row| entry(conn, &visit, &row));
            Ok((each.collect::<Result<Vec<Entry>>>()?, total))
        };
        self.site.store().read(read).await
    }
}

fn read_piece(
    conn: &mut dyn Conn,
    site: &Site,
    visit: &Visit,
    (post, other): (&str, &str),
) -> Result<Option<Piece>> {
    let found = posts::find_by_path(conn, &visit.options, post)?;
    let Some(row) = found.filter(posts::is_publicly_viewable) else {
        return read_other(conn, site, visit, other);
    };
    let lock = posts::lock_of(&row);
    let is_locked = !site.is_open_to(visit, &lock);
    let (content, discussion) = if is_locked {
        // What has a password is not talked about before those who do not know it.
        (String::new(), Discussion::default())
    } else {
        (render::content(&row.content), Discussion::read(conn, visit, &row)?)
    };
    let base = if row.kind == PAGE { "pages" } else { "posts" };
    let json = format!("/{}/{base}/{}", site.settings().names.content, row.post_id);
    Ok(Some(Piece {
        title: shown_title(plain(&row.title), lock.is_set()),
        summary: summary(&row),
        content,
        is_locked,
        permalink: posts::permalink(conn, visit, &row)?,
        shortlink: format!("/?{}={}", if row.kind == PAGE { "page_id" } else { "p" }, row.post_id),
        json: visit.rest(&json),
        published: (row.kind == POST).then(|| row.date.to_string()),
        author: user::get(conn, row.author_id)?,
        discussion,
        lock,
    }))
}

/// A page of something that a crate above keeps.
fn read_other(
    conn: &mut dyn Conn,
    site: &Site,
    visit: &Visit,
    address: &str,
) -> Result<Option<Piece>> {
    let Some(page) = site.page_at(conn, visit, address)? else { return Ok(None) };
    let is_locked = !site.is_open_to(visit, &page.lock);
    Ok(Some(Piece {
        is_locked,
        author: user::get(conn, page.author_id)?,
        json: visit.rest(&page.rest_path),
        shortlink: String::new(),
        published: page.published.map(|time| visit.options.local(time).to_string()),
        title: shown_title(plain(&page.title), page.lock.is_set()),
        summary: plain(&page.summary),
        content: if is_locked { String::new() } else { page.content },
        permalink: page.permalink,
        lock: page.lock,
        discussion: Discussion::default(),
    }))
}

fn entry(conn: &mut dyn Conn, visit: &Visit, row: &PostRow) -> Result<Entry> {
    Ok(Entry {
        title: shown_title(plain(&row.title), !row.password.is_empty()),
        link: posts::permalink(conn, visit, row)?,
        published: row.date.to_string(),
        summary: summary(row),
    })
}
