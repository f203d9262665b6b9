//! Feeds: the latest posts of the site, of a term or of an author, products of a term, and the
//! latest comments. **They hold what everybody may read**, as the pages do.

mod rendered;

use std::collections::HashMap;
use std::sync::Arc;

use db::filter::{Direction, Page};
use db::{Conn, filter};
use frame::text::render;
use frame::{Site, Visit};
use site_rows::comment::{self, CommentFilter, CommentRow};
use site_rows::post::{PostFilter, PostOrder, PostRow, TermCondition};
use site_rows::term::{self, TermFilter, TermRow};
use site_rows::user::{self, UserFilter};
use types::{Result, Timestamp};

pub(super) use self::rendered::{Format, escaped};

use self::rendered::{Channel, Entry};
use super::answer::WebAnswer;
use super::archive;
use super::page_request::PageRequest;
use crate::posts::kind::{FORMATS, Field, Kind, POST, SEARCHED_KINDS, STANDARD_FORMAT, kind_of};
use crate::posts::taxonomy::{SEARCHED_TAXONOMIES, Taxonomy};
use crate::posts::{self, records};

/// Entries at most, whatever the site's setting says.
const ENTRIES_MAX: i64 = 100;
const AUTHORS_ROOT: &str = "/author/";
const PUBLISHED: &str = "publish";
const APPROVED: &str = "approved";
const PROTECTED: &str = "There is no excerpt because this is protected.";
const PROTECTED_COMMENT: &str = "Protected comments: enter your password to view them.";

/// What a feed is about.
enum Subject {
    Posts,
    Term(&'static Taxonomy, TermRow),
    Author(i64, String),
    /// Posts of a format.
    Format(&'static str),
    /// Records of a source, by a term of a taxonomy of its own.
    Archive {
        kind: &'static Kind,
        term: TermRow,
        address: String,
    },
    /// All comments, or those on one item.
    Comments(Option<Box<PostRow>>),
}

impl PageRequest<'_> {
    /// The feed of what is at a path.
    pub(super) async fn feed(&self, of: &str, format: Format) -> Result<Option<WebAnswer>> {
        let (site, visit) = (Arc::clone(self.site), Arc::clone(&self.visit));
        let (of, own) = (of.to_owned(), visit.page(&self.request.url_path));
        let read = move |conn: &mut dyn Conn| {
            let Some(subject) = subject(conn, &site, &visit, &of)? else { return Ok(None) };
            channel(conn, &site, &visit, &subject).map(Some)
        };
        let Some(channel) = self.site.store().read(read).await? else { return Ok(None) };
        let built = channel.built.unwrap_or(self.visit.now);
        let headers = vec![
            ("content-type", format!("{}; charset=UTF-8", format.media_type())),
            ("cache-control", String::from("no-cache")),
            ("last-modified", rendered::http_date(built)),
            ("x-content-type-options", String::from("nosniff")),
        ];
        let body = format.write(&Channel { own, ..channel });
        Ok(Some(WebAnswer { kind: "page:feed", status: 200, headers, body, user_id: None }))
    }
}

fn subject(conn: &mut dyn Conn, site: &Site, visit: &Visit, path: &str) -> Result<Option<Subject>> {
    if path.is_empty() {
        return Ok(Some(Subject::Posts));
    }
    if path == "/comments" {
        return Ok(Some(Subject::Comments(None)));
    }
    if let Some(slug) = path.strip_prefix(AUTHORS_ROOT) {
        let wanted = UserFilter {
            nicenames: vec![slug.to_ascii_lowercase()],
            published_kinds: vec![POST.name.to_owned()],
            page: Page { offset: 0, limit: 1 },
            ..UserFilter::default()
        };
        let (users, _) = user::list(conn, &wanted)?;
        let author = users.into_iter().next();
        return Ok(author.map(|user| Subject::Author(user.user_id, user.display_name)));
    }
    for taxonomy in SEARCHED_TAXONOMIES {
        let Some(root) = taxonomy.path else { continue };
        let below = path.strip_prefix('/').and_then(|path| path.strip_prefix(root));
        if let Some(slugs) = below.filter(|below| below.starts_with('/')) {
            let slug = slugs.rsplit('/').next().unwrap_or_default();
            let slug = frame::text::slugify(slug);
            let found = term::find_by_slug(conn, taxonomy.name, &slug)?;
            return Ok(found.map(|row| Subject::Term(taxonomy, row)));
        }
    }
    let format = path.strip_prefix(&format!("/{}/", archive::FORMATS_PATH));
    let named = |known: &&&str| format == Some(**known) && **known != STANDARD_FORMAT;
    if let Some(format) = FORMATS.iter().find(named) {
        return Ok(Some(Subject::Format(format)));
    }
    if let Some(archive) = archive_at(conn, site, path)? {
        return Ok(Some(archive));
    }
    let found = posts::find_by_path(conn, &visit.options, path)?;
    let found = match found.filter(posts::is_publicly_viewable) {
        Some(found) => Some(found),
        None => records::at_path(site, conn, visit, path)?,
    };
    Ok(found.map(|row| Subject::Comments(Some(Box::new(row)))))
}

/// A list of a source's records at a path of two parts.
fn archive_at(conn: &mut dyn Conn, site: &Site, path: &str) -> Result<Option<Subject>> {
    let parts = path.strip_prefix('/').and_then(|path| path.split_once('/'));
    let Some((root, slug)) = parts else { return Ok(None) };
    for source in site.content_sources() {
        let Some(kind) = kind_of(source.kind()) else { continue };
        let archives = source.archives(conn)?;
        let Some(archive) = archives.iter().find(|one| one.path.as_deref() == Some(root)) else {
            continue;
        };
        let slug = frame::text::slugify(slug);
        let found = term::find_by_slug(conn, &archive.taxonomy, &slug)?;
        let address = archive.address(&slug);
        return Ok(found.map(|term| Subject::Archive { kind, term, address }));
    }
    Ok(None)
}

fn channel(conn: &mut dyn Conn, site: &Site, visit: &Visit, subject: &Subject) -> Result<Channel> {
    let name = visit.options.text("blogname");
    let (title, link, entries) = match subject {
        Subject::Posts => (name.clone(), visit.page("/"), posts_of(conn, site, visit, subject)?),
        Subject::Term(taxonomy, row) => {
            let link = posts::term_link(conn, visit, taxonomy, row)?;
            let title = format!("{} – {name}", render::plain_text(&row.name));
            (title, link, posts_of(conn, site, visit, subject)?)
        }
        Subject::Author(_, author) => {
            let entries = posts_of(conn, site, visit, subject)?;
            (format!("{author} – {name}"), visit.page("/"), entries)
        }
        Subject::Format(format) => {
            let link = visit.page(&format!("/{}/{format}/", archive::FORMATS_PATH));
            (format!("{format} – {name}"), link, posts_of(conn, site, visit, subject)?)
        }
        Subject::Archive { term, address, .. } => {
            let title = format!("{} – {name}", render::plain_text(&term.name));
            (title, visit.page(address), posts_of(conn, site, visit, subject)?)
        }
        Subject::Comments(None) => {
            let entries = comments_of(conn, site, visit, None)?;
            (format!("Comments for {name}"), visit.page("/"), entries)
        }
        Subject::Comments(Some(row)) => {
            let link = posts::permalink(conn, visit, row)?;
            let entries = comments_of(conn, site, visit, Some(row))?;
            (format!("Comments on: {}", shown_title(row)), link, entries)
        }
    };
    Ok(Channel {
        title,
        link,
        own: String::new(),
        description: visit.options.text("blogdescription"),
        language: visit.options.text("WPLANG").replace('_', "-"),
        of_comments: matches!(subject, Subject::Comments(_)),
        built: entries.iter().map(|entry| entry.updated).max(),
        entries,
    })
}

fn limit(visit: &Visit) -> i64 {
    visit.options.integer("posts_per_page").clamp(1, ENTRIES_MAX)
}

fn shown_title(row: &PostRow) -> String {
    super::plain::shown_title(render::plain_text(&row.title), !row.password.is_empty())
}

fn posts_of(
    conn: &mut dyn Conn,
    site: &Site,
    visit: &Visit,
    subject: &Subject,
) -> Result<Vec<Entry>> {
    let (kind, terms, authors) = match subject {
        Subject::Term(taxonomy, row) => {
            let bearer = SEARCHED_KINDS
                .iter()
                .find(|kind| kind.taxonomies.iter().any(|other| other.name == taxonomy.name));
            let ids = term::with_descendants(conn, &[row.term_id])?;
            (*bearer.unwrap_or(&&POST), vec![TermCondition::AnyOf(ids)], Vec::new())
        }
        Subject::Archive { kind, term, .. } => {
            (*kind, vec![TermCondition::AnyOf(vec![term.term_id])], Vec::new())
        }
        Subject::Author(id, _) => (&POST, Vec::new(), vec![*id]),
        Subject::Posts | Subject::Format(_) | Subject::Comments(_) => {
            (&POST, Vec::new(), Vec::new())
        }
    };
    let formats = match subject {
        Subject::Format(format) => vec![(*format).to_owned()],
        _ => Vec::new(),
    };
    let wanted = PostFilter {
        kinds: vec![kind.name.to_owned()],
        statuses: vec![PUBLISHED.to_owned()],
        authors,
        formats,
        listed_only: true,
        terms,
        order: PostOrder::Date,
        direction: Direction::Descending,
        page: Page { offset: 0, limit: limit(visit) },
        ..PostFilter::default()
    };
    let (rows, _) = records::list_in(site, conn, visit, kind, &wanted)?;
    let ids: Vec<i64> = rows.iter().map(|row| row.post_id).collect();
    let names = category_names(conn, &ids)?;
    let counted = CommentFilter {
        posts: ids,
        statuses: vec![APPROVED.to_owned()],
        ..CommentFilter::default()
    };
    let counts: HashMap<i64, i64> = if counted.posts.is_empty() {
        HashMap::new()
    } else {
        comment::count_by_post(conn, &counted)?.into_iter().collect()
    };
    let mut entries = Vec::with_capacity(rows.len());
    for row in &rows {
        let count = counts.get(&row.post_id).copied().unwrap_or_default();
        let categories = names.get(&row.post_id).cloned().unwrap_or_default();
        entries.push(post_entry(conn, visit, kind, (row, count, categories))?);
    }
    Ok(entries)
}

fn post_entry(
    conn: &mut dyn Conn,
    visit: &Visit,
    kind: &Kind,
    (row, comments, categories): (&PostRow, i64, Vec<String>),
) -> Result<Entry> {
    let link = posts::permalink(conn, visit, row)?;
    let open = row.password.is_empty();
    let discussed = kind.has(Field::Discussion) && (row.comment_status == "open" || comments > 0);
    let excerpt = render::excerpt(&row.excerpt, &row.content, render::EXCERPT_WORDS);
    Ok(Entry {
        title: shown_title(row),
        creator: user::get(conn, row.author_id)?.map_or_else(String::new, |user| user.display_name),
        published: row.date_gmt.unwrap_or(row.date),
        updated: row.modified_gmt,
        categories,
        guid: visit.page(&format!("/?{}{}", kind.id_query, row.post_id)),
        description: if open { excerpt } else { PROTECTED.to_owned() },
        content: if open { render::content(&row.content) } else { PROTECTED.to_owned() },
        comments: discussed.then_some(comments),
        link,
    })
}

/// The names of the categories and tags of posts, by post.
fn category_names(conn: &mut dyn Conn, ids: &[i64]) -> Result<HashMap<i64, Vec<String>>> {
    let borne = term::ids_of_posts(conn, ids)?;
    let mut names = HashMap::new();
    let wanted: Vec<i64> = borne.iter().map(|(_, _, term_id)| *term_id).collect();
    for include in wanted.chunks(filter::LIST_MAX) {
        let wanted = TermFilter { include: include.to_vec(), ..TermFilter::default() };
        let (rows, _) = term::list(conn, &wanted)?;
        names.extend(rows.into_iter().map(|row| (row.term_id, row.name)));
    }
    let mut of_posts: HashMap<i64, Vec<String>> = HashMap::new();
    for (post_id, _, term_id) in borne {
        let name = names.get(&term_id).map(|name| render::plain_text(name));
        of_posts.entry(post_id).or_default().extend(name);
    }
    Ok(of_posts)
}

fn comments_of(
    conn: &mut dyn Conn,
    site: &Site,
    visit: &Visit,
    on: Option<&PostRow>,
) -> Result<Vec<Entry>> {
    let wanted = CommentFilter {
        posts: on.iter().map(|row| row.post_id).collect(),
        statuses: vec![APPROVED.to_owned()],
        direction: Direction::Descending,
        page: Page { offset: 0, limit: ENTRIES_MAX },
        ..CommentFilter::default()
    };
    let (rows, _) = comment::list(conn, &wanted)?;
    let most = usize::try_from(limit(visit)).unwrap_or(usize::MAX);
    let mut entries = Vec::new();
    for row in &rows {
        let Some(post) = records::get_in(site, conn, visit, row.post_id)? else { continue };
        if kind_of(&post.kind).is_none() || !posts::is_publicly_viewable(&post) {
            continue;
        }
        entries.push(comment_entry(conn, visit, row, (&post, on.is_none()))?);
        if entries.len() == most {
            break;
        }
    }
    Ok(entries)
}

fn comment_entry(
    conn: &mut dyn Conn,
    visit: &Visit,
    row: &CommentRow,
    (post, of_all): (&PostRow, bool),
) -> Result<Entry> {
    let title = if of_all {
        format!("Comment on {} by {}", shown_title(post), row.author)
    } else {
        format!("By: {}", row.author)
    };
    let open = post.password.is_empty();
    let plain = render::plain_text(&row.content);
    let html = render::content(&row.content);
    let link = posts::permalink(conn, visit, post)?;
    Ok(Entry {
        title,
        guid: format!("{link}#comment-{}", row.comment_id),
        link: format!("{link}#comment-{}", row.comment_id),
        creator: row.author.clone(),
        published: row.created,
        updated: row.created,
        categories: Vec::new(),
        description: if open { plain } else { PROTECTED_COMMENT.to_owned() },
        content: if open { html } else { PROTECTED_COMMENT.to_owned() },
        comments: None,
    })
}

/// The time as feeds write it.
pub(super) fn atom_date(time: Timestamp) -> String {
    rendered::atom_date(time)
}
