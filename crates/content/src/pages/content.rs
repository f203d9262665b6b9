//! The public pages of the site's own content: the front page, a post, an author, and the card that
//! other sites show in a frame.

use askama::Template;
use frame::pages::{Address, Date, Link, TrustedHtml};

use super::masthead::{Masthead, rendered};
use crate::docs;

#[derive(Debug, Template)]
#[template(path = "front.html")]
pub struct FrontPage<'a> {
    pub site: Masthead<'a>,
    pub tagline: &'a str,
    /// The latest first.
    pub posts: &'a [PostSummary<'a>],
    pub docs: &'a [docs::Page],
}

/// A post in a list. Title and summary are plain text.
#[derive(Clone, Copy, Debug)]
pub struct PostSummary<'a> {
    pub title: &'a str,
    pub link: Address<'a>,
    pub published: Date<'a>,
    pub summary: &'a str,
}

/// A post or a page. Title and summary are plain text.
#[derive(Debug, Template)]
#[template(path = "post.html")]
pub struct PostPage<'a> {
    pub site: Masthead<'a>,
    pub title: &'a str,
    pub summary: &'a str,
    pub permalink: Address<'a>,
    /// Its address by its number.
    pub shortlink: Option<Address<'a>>,
    /// The same as JSON.
    pub rest_url: Address<'a>,
    pub oembed_json: Address<'a>,
    pub oembed_xml: Address<'a>,
    /// Pages have none.
    pub published: Option<Date<'a>>,
    pub author: Option<Link<'a>>,
    pub content: TrustedHtml<'a>,
    /// Whether a password must be typed before anything is shown.
    pub is_locked: bool,
    /// The oldest first.
    pub comments: &'a [CommentView<'a>],
    /// What a new comment would be about, if comments are taken.
    pub comment_on: Option<i64>,
    pub commenter: &'a Commenter,
}

/// What the browser of somebody who commented before was asked to fill in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commenter {
    pub name: String,
    pub email: String,
    pub url: String,
}

/// A comment below a post. Its content was cleaned before it was stored.
#[derive(Clone, Copy, Debug)]
pub struct CommentView<'a> {
    pub id: i64,
    pub author: &'a str,
    pub at: Date<'a>,
    pub content: TrustedHtml<'a>,
}

/// For a frame on another site; its links open in the whole window.
#[derive(Debug, Template)]
#[template(path = "embed.html")]
pub struct EmbedPage<'a> {
    pub site: Masthead<'a>,
    pub title: &'a str,
    pub summary: &'a str,
    pub permalink: Address<'a>,
}

#[derive(Debug, Template)]
#[template(path = "author.html")]
pub struct AuthorPage<'a> {
    pub site: Masthead<'a>,
    pub name: &'a str,
    pub description: &'a str,
    pub permalink: Address<'a>,
    pub rest_url: Address<'a>,
    pub posts: &'a [PostSummary<'a>],
}

/// Posts that have something in common. Heading and description are plain text.
#[derive(Debug, Template)]
#[template(path = "archive.html")]
pub struct ArchivePage<'a> {
    pub site: Masthead<'a>,
    pub heading: &'a str,
    pub about: &'a str,
    pub permalink: Address<'a>,
    pub rest_url: Option<Address<'a>>,
    /// The latest first.
    pub posts: &'a [PostSummary<'a>],
    pub newer: Option<Address<'a>>,
    pub older: Option<Address<'a>>,
}

/// What a search of the site found.
#[derive(Debug, Template)]
#[template(path = "search.html")]
pub struct SearchPage<'a> {
    pub site: Masthead<'a>,
    pub words: &'a str,
    pub found: &'a [Link<'a>],
}

/// There is nothing, but a search may help.
#[derive(Debug, Template)]
#[template(path = "not_found.html")]
pub struct NotFoundPage<'a> {
    pub site: Masthead<'a>,
}

/// The password of a page was wrong. Where it is kept, the page has the same form.
#[derive(Debug, Template)]
#[template(path = "unlock.html")]
pub struct UnlockPage<'a> {
    pub site: Masthead<'a>,
    pub title: &'a str,
    pub permalink: Address<'a>,
    pub error: &'a str,
}

pub fn unlock(page: &UnlockPage<'_>) -> String {
    rendered(page)
}

pub fn archive(page: &ArchivePage<'_>) -> String {
    rendered(page)
}

pub fn search(page: &SearchPage<'_>) -> String {
    rendered(page)
}

pub fn not_found(page: &NotFoundPage<'_>) -> String {
    rendered(page)
}

pub fn front(page: &FrontPage<'_>) -> String {
    rendered(page)
}

pub fn post(page: &PostPage<'_>) -> String {
    rendered(page)
}

pub fn embed(page: &EmbedPage<'_>) -> String {
    rendered(page)
}

pub fn author(page: &AuthorPage<'_>) -> String {
    rendered(page)
}
