//! Every page with harmless and with hostile values. **The elements of a page do not depend on what
//! its texts say**: both renderings must have the same tags and attributes.

use base64::Engine;
use sha2::{Digest, Sha256};

use frame::pages::{Address, Date, Link, TrustedHtml};

use super::*;
use crate::docs::Docs;

const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=y>&lt;{{ 7 }}\u{0}\u{202e}--><!--</style></title>";

static DRESS: Dress = Dress {
    header: String::new(),
    menu: String::new(),
    footer: String::new(),
    widgets: String::new(),
};

/// Every page of the site by name, with one text in all its fields.
#[expect(clippy::too_many_lines, reason = "it is a list of all pages")]
fn every_page(text: &str, address: &str) -> Vec<(&'static str, String)> {
    let docs = Docs::load();
    let href = Address::new(address);
    let site = Masthead {
        name: text,
        home: href,
        rest_root: href,
        theme: None,
        notice: text,
        dress: &DRESS,
    };
    let published = Date(text);
    let posts = [PostSummary { title: text, link: href, published, summary: text }];
    let hits = [crate::docs::Hit {
        page: docs.page("security").unwrap(),
        heading: text,
        anchor: text,
        score: 1.0,
        snippet: vec![
            crate::docs::Piece { text: text.to_owned(), is_match: false },
            crate::docs::Piece { text: text.to_owned(), is_match: true },
        ],
    }];
    let link = Link { text, href };
    let error_page = ErrorPage { site, status: 404, title: text, message: text, back: Some(link) };
    let password = types::Secret::new(text.to_owned());
    vec![
        (
            "login",
            login(&LoginPage {
                site,
                action: href,
                redirect_to: text,
                csrf: text,
                error: Some(text),
                login: text,
                forgot: Some(href),
                provider: Some((text, href)),
            }),
        ),
        ("code", code(&CodePage { site, action: href, step: text, csrf: text, error: Some(text) })),
        (
            "forgot",
            forgot(&ForgotPage {
                site,
                action: href,
                sign_in: href,
                csrf: text,
                error: Some(text),
                is_sent: false,
            }),
        ),
        (
            "new password",
            new_password(&NewPasswordPage {
                site,
                action: href,
                sign_in: href,
                link: text,
                login: text,
                csrf: text,
                error: Some(text),
                is_done: false,
            }),
        ),
        (
            "authorize",
            authorize(&AuthorizePage {
                site,
                action: href,
                csrf: text,
                user_name: text,
                app_name: text,
                app_id: text,
                success_url: Some(text),
                reject_url: Some(text),
                logout: Some(href),
                error: Some(text),
            }),
        ),
        (
            "authorized",
            authorized(&AuthorizedPage {
                site,
                app_name: text,
                user_login: text,
                password: &password,
                done: Some(href),
            }),
        ),
        ("error", error(&error_page)),
        ("notice", notice(&NoticePage { site, title: text, message: text, back: Some(link) })),
        ("unlock", unlock(&UnlockPage { site, title: text, permalink: href, error: text })),
        ("front", front(&FrontPage { site, tagline: text, posts: &posts, docs: docs.pages() })),
        (
            "post",
            post(&PostPage {
                site,
                title: text,
                summary: text,
                permalink: href,
                shortlink: Some(href),
                rest_url: href,
                oembed_json: href,
                oembed_xml: href,
                published: Some(published),
                author: Some(link),
                content: TrustedHtml("<p>Own words</p>"),
                is_locked: false,
                comments: &[CommentView {
                    id: 7,
                    author: text,
                    at: published,
                    content: TrustedHtml("<p>Their words</p>"),
                }],
                comment_on: Some(7),
                commenter: &Commenter {
                    name: text.to_owned(),
                    email: text.to_owned(),
                    url: text.to_owned(),
                },
            }),
        ),
        ("search", search(&SearchPage { site, words: text, found: &[link] })),
        ("not_found", not_found(&NotFoundPage { site })),
        ("embed", embed(&EmbedPage { site, title: text, summary: text, permalink: href })),
        (
            "author",
            author(&AuthorPage {
                site,
                name: text,
                description: text,
                permalink: href,
                rest_url: href,
                posts: &posts,
            }),
        ),
        ("docs_index", docs_index(&DocsIndexPage { site, docs: docs.pages() })),
        (
            "docs_page",
            docs_page(&DocsPage {
                site,
                docs: docs.pages(),
                page: docs.page("security").unwrap(),
                rest_url: href,
            }),
        ),
        ("docs_search", docs_search(&DocsSearchPage { site, query: text, hits: &hits })),
        ("docs_search without hits", docs_search(&DocsSearchPage { site, query: text, hits: &[] })),
    ]
}

/// The tags in order, each with the names of its attributes; the values are left out.
fn elements(html: &str) -> Vec<String> {
    let mut elements = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        let mut element = String::new();
        let mut quote = false;
        let mut end = after.len();
        for (at, character) in after.char_indices() {
            match character {
                '"' => quote = !quote,
                '>' if !quote => {
                    end = at;
                    break;
                }
                _ if quote => {}
                _ => element.push(character),
            }
        }
        rest = &after[end..];
        elements.push(element);
    }
    elements
}

#[test]
fn hostile_values_stay_texts() {
    let harmless = every_page("Harmless", "https://a.example/");
    let hostile = every_page(HOSTILE, "https://a.example/\"><script>alert(1)</script>");
    for ((name, harmless), (_, hostile)) in harmless.iter().zip(&hostile) {
        assert_eq!(elements(harmless), elements(hostile), "{name}");
        assert!(!hostile.contains("<script"), "{name}");
        assert!(!hostile.contains("onerror=y>"), "{name}");
        let shown = harmless.matches("Harmless").count();
        let escaped = hostile.matches("&#60;script&#62;alert(1)&#60;/script&#62;").count();
        assert!(escaped >= shown, "{name} shows {shown} values, of which {escaped} are escaped");
    }
}

#[test]
fn addresses_that_run_lead_nowhere() {
    for (name, html) in every_page("x", "javascript:alert(1)") {
        assert!(!html.contains("javascript:"), "{name}");
    }
}

#[test]
fn pages_carry_the_style_that_their_policy_knows_and_nothing_from_elsewhere() {
    for (name, html) in every_page("x", "/here") {
        let (_, style) = html.split_once("<style>").unwrap();
        let (style, rest) = style.split_once("</style>").unwrap();
        assert!(!rest.contains("<style"), "{name}");
        let hash = base64::prelude::BASE64_STANDARD.encode(Sha256::digest(style));
        assert!(Policy::Page.header(None).contains(&format!("'sha256-{hash}'")), "{name}");
        for outside in
            ["<script", " src=", "@import", "url(", " style=", "<link rel=\"stylesheet\""]
        {
            assert!(!html.contains(outside), "{name} has {outside}");
        }
        for needed in ["<html lang=\"en\">", "<meta name=\"viewport\"", "<title>", "<h1"] {
            assert!(html.contains(needed), "{name} lacks {needed}");
        }
    }
}

/// Every field has a label, and what it refers to exists.
#[test]
fn fields_are_labelled() {
    for (name, html) in every_page("x", "/here") {
        for input in html.split("<input ").skip(1) {
            let input = input.split('>').next().unwrap();
            let id = input.strip_prefix("id=\"").and_then(|rest| rest.split('"').next());
            let is_labelled = id.is_some_and(|id| html.contains(&format!("<label for=\"{id}\">")));
            let is_named = input.contains("aria-label=") || input.contains("type=\"hidden\"");
            // Nobody sees it but a program that keeps passwords.
            let is_hidden = input.trim_end().ends_with(" hidden");
            assert!(is_labelled || is_named || is_hidden, "{name}: {input}");
        }
    }
}

#[test]
fn only_trusted_html_goes_in_as_it_is() {
    let pages = every_page("x", "/here");
    let (_, html) = pages.iter().find(|(name, _)| *name == "post").unwrap();
    assert!(html.contains("<p>Own words</p>"));
    assert!(
        html.contains("type=\"application/json+oembed\"")
            && html.contains("type=\"text/xml+oembed\"")
    );
    assert!(html.contains("<link rel=\"https://api.w.org/\" href=\"/here\">"));
}
