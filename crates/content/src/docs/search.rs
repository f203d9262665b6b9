//! Full-text search over the guides, in memory. The unit is a section, so that a hit leads to the
//! right part of a long page.
//!
//! Every word of the query must occur in the section, its heading or its page's title; the last one
//! may be the beginning of a word. A word in the title outranks any heading, one in a heading any
//! text, and in texts the number of occurrences counts. Equal scores keep reading order, so **the
//! same query always has the same answer**.

use std::collections::BTreeSet;

use frame::text::markdown::Section;
use serde::Serialize;

use super::page::{Page, Part, absolute};
use super::words::{Word, words};

/// The part of a query that counts.
pub const QUERY_CHARS_MAX: usize = 200;
const QUERY_WORDS_MAX: usize = 12;
pub const HITS_MAX: usize = 100;
const SNIPPET_BYTES_MAX: usize = 220;
/// How much of a snippet stands before its first match.
const SNIPPET_LEAD_BYTES: usize = 60;

/// What one word counts by where it is found; the beginning of a word counts half.
const TITLE_SCORE: u32 = 100;
const HEADING_SCORE: u32 = 40;
const TEXT_SCORE: u32 = 4;
/// Further occurrences in a text count no more, so that no text outranks a heading.
const OCCURRENCES_MAX: u32 = 9;
/// For the other sections of a page that has the word in its title.
const CONTEXT_SCORE: u32 = 2;

/// A section that answers a query.
#[derive(Debug)]
pub struct Hit<'docs> {
    pub page: &'docs Page,
    pub heading: &'docs str,
    /// Empty for the page's beginning.
    pub anchor: &'docs str,
    pub score: f64,
    pub snippet: Vec<Piece>,
}

/// A part of a snippet, as plain text.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub is_match: bool,
}

#[derive(Debug, Serialize)]
pub struct HitView<'docs> {
    pub slug: &'static str,
    pub title: &'docs str,
    pub heading: &'docs str,
    pub anchor: &'docs str,
    pub link: String,
    /// HTML; the matches are in `mark` elements.
    pub snippet: String,
    pub score: f64,
}

impl Hit<'_> {
    /// The section's path on the site.
    pub fn path(&self) -> String {
        let mark = if self.anchor.is_empty() { "" } else { "#" };
        format!("{}{mark}{}", self.page.path(), self.anchor)
    }

    /// `home` is the site's address.
    pub fn view(&self, home: &str) -> HitView<'_> {
        HitView {
            slug: self.page.slug,
            title: &self.page.title,
            heading: self.heading,
            anchor: self.anchor,
            link: absolute(home, &self.path()),
            snippet: self.snippet.iter().map(Piece::html).collect(),
            score: self.score,
        }
    }
}

impl Piece {
    fn html(&self) -> String {
        let text = self.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        if self.is_match { format!("<mark>{text}</mark>") } else { text }
    }
}

/// The words of a query, each once.
struct Query(Vec<String>);

impl Query {
    fn read(text: &str) -> Self {
        let text: String = text.chars().take(QUERY_CHARS_MAX).collect();
        let mut list: Vec<String> = Vec::new();
        for word in words(&text).take(QUERY_WORDS_MAX) {
            // A word said twice counts at its later position: the last may be a beginning.
            list.retain(|earlier| *earlier != word.folded);
            list.push(word.folded);
        }
        Self(list)
    }

    /// How well a word of a text is the word of the query at this position: 2 if it is the same, 1
    /// if that is its beginning, which the last one may be.
    fn fit(&self, index: usize, word: &Word) -> u32 {
        let Some(wanted) = self.0.get(index) else { return 0 };
        let may_begin = index + 1 == self.0.len();
        match word.folded.strip_prefix(wanted.as_str()) {
            Some("") => 2,
            Some(_) if may_begin => 1,
            _ => 0,
        }
    }

    /// Which word of the query this is.
    fn position(&self, word: &Word) -> Option<usize> {
        (0..self.0.len()).find(|index| self.fit(*index, word) > 0)
    }

    /// None unless every word is found.
    fn score(&self, page: &Page, section: &Section, text: &[Word]) -> Option<u32> {
        let is_top = section.anchor.is_empty();
        let best = |text: &str, index: usize| words(text).map(|word| self.fit(index, &word)).max();
        let of_word = |index: usize| {
            let title = best(&page.title, index).unwrap_or_default();
            let heading = best(&section.heading, index).unwrap_or_default();
            let title = title * if is_top { TITLE_SCORE } else { CONTEXT_SCORE } / 2;
            let heading = heading * if is_top { TITLE_SCORE } else { HEADING_SCORE } / 2;
            let fits = text.iter().map(|word| self.fit(index, word)).filter(|fit| *fit > 0);
            let occurrences: u32 = fits.sum::<u32>().min(2 * OCCURRENCES_MAX);
            let score = title.max(heading) + occurrences * TEXT_SCORE / 2;
            (score > 0).then_some(score)
        };
        if self.0.is_empty() { None } else { (0..self.0.len()).map(of_word).sum() }
    }
}

/// The sections that have every word of the query, best first.
pub(super) fn search<'docs>(pages: &'docs [Page], query: &str, limit: usize) -> Vec<Hit<'docs>> {
    let query = Query::read(query);
    let parts = pages.iter().flat_map(|page| page.parts.iter().map(move |part| (page, part)));
    let mut found: Vec<(u32, &Page, &Part)> = parts
        .filter_map(|(page, part)| Some((query.score(page, &part.0, &part.1)?, page, part)))
        .collect();
    found.sort_by_key(|(score, ..)| std::cmp::Reverse(*score));
    let best = found.into_iter().take(limit.min(HITS_MAX));
    let hit = |(score, page, (section, words)): (u32, &'docs Page, &'docs Part)| {
        let snippet = snippet(&section.text, words, &query);
        let score = f64::from(score);
        Hit { page, heading: &section.heading, anchor: &section.anchor, score, snippet }
    };
    best.map(hit).collect()
}

/// The part of a section's text with the most words of the query, the matches marked.
fn snippet(text: &str, words: &[Word], query: &Query) -> Vec<Piece> {
    let start = snippet_start(words, query);
    let end_max = start + SNIPPET_BYTES_MAX;
    let mut pieces = Vec::new();
    let mut plain = String::from(if start > 0 { "… " } else { "" });
    let mut at = start;
    for word in words.iter().filter(|word| word.at.start >= start && word.at.end <= end_max) {
        plain.push_str(text.get(at..word.at.start).unwrap_or_default());
        let shown = text.get(word.at.clone()).unwrap_or_default();
        if query.position(word).is_some() {
            pieces.push(Piece { text: std::mem::take(&mut plain), is_match: false });
            pieces.push(Piece { text: shown.to_owned(), is_match: true });
        } else {
            plain.push_str(shown);
        }
        at = word.at.end;
    }
    let is_cut = words.last().is_some_and(|last| last.at.end > at);
    plain.push_str(if is_cut { " …" } else { text.get(at..).unwrap_or_default() });
    pieces.push(Piece { text: plain, is_match: false });
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

/// Where the text begins that has most words of the query within a snippet's length, with some
/// words before the first match.
fn snippet_start(words: &[Word], query: &Query) -> usize {
    let matches: Vec<(usize, usize)> =
        words.iter().filter_map(|word| Some((word.at.start, query.position(word)?))).collect();
    let distinct_after = |index: usize, start: usize| {
        let end = start + SNIPPET_BYTES_MAX - SNIPPET_LEAD_BYTES;
        let near = matches.iter().skip(index).take_while(|(at, _)| *at < end);
        near.map(|(_, position)| *position).collect::<BTreeSet<_>>().len()
    };
    let starts = matches.iter().enumerate().map(|(index, (start, _))| (index, *start)).rev();
    // Of several the first one, which `max_by_key` meets last.
    let Some((_, first)) = starts.max_by_key(|(index, start)| distinct_after(*index, *start))
    else {
        return 0;
    };
    let Some(lead) = first.checked_sub(SNIPPET_LEAD_BYTES) else { return 0 };
    words.iter().map(|word| word.at.start).find(|start| *start >= lead).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::Docs;

    const FIRST: &str = "# Apples\n\nPears are not here.\n\n## Pears\n\nThe `<b>` tree & its \
        cherry.\n\n## Others\n\nPear, pears, pears and pears again: pears.\n";
    const SECOND: &str = "# Pears\n\nFruit with a cherry.\n\n## Trees\n\nOf cherries.\n";

    fn fruit() -> Docs {
        let pages = vec![Page::read("first", FIRST), Page::read("second", SECOND)];
        Docs { pages }
    }

    #[test]
    fn titles_outrank_headings_and_headings_texts() {
        let docs = fruit();
        let check = |query: &str, expected: &[&str]| {
            let found: Vec<String> = docs.search(query, 10).iter().map(Hit::path).collect();
            let expected: Vec<String> =
                expected.iter().map(|path| format!("/docs/{path}")).collect();
            assert_eq!(found, expected, "{query}");
        };
        check("pears", &["second/", "first/#pears", "first/#others", "first/", "second/#trees"]);
        check("PEARS cherry", &["second/", "first/#pears"]);
        // A beginning counts less than the word, and equals keep reading order.
        check("cherr", &["first/#pears", "second/", "second/#trees"]);
        check("cherry", &["first/#pears", "second/"]);
        // Only the last word may be a beginning.
        check("cherr tree", &[]);
        check("cherry tree", &["first/#pears"]);
        check(
            "pears pears",
            &["second/", "first/#pears", "first/#others", "first/", "second/#trees"],
        );
        for nothing in ["", " ", "—", "zebra", "pears zebra", "\u{0}"] {
            check(nothing, &[]);
        }
    }

    #[test]
    fn a_snippet_marks_its_matches_and_escapes_the_rest() {
        let docs = fruit();
        let hits = docs.search("tree cherr", 1);
        let view = hits[0].view("https://s.example");
        assert_eq!(view.snippet, "The &lt;b&gt; <mark>tree</mark> &amp; its <mark>cherry</mark>.");
        assert_eq!(view.link, "https://s.example/docs/first/#pears");
    }

    #[test]
    fn a_snippet_of_a_long_text_shows_where_the_words_meet() {
        let text = format!(
            "needle {} ends here: needle in é hay {}",
            "x".repeat(9).repeat(50) + " y",
            "z ".repeat(300)
        );
        let source: &'static str = format!("# T\n\n{text}\n").leak();
        let pages = vec![Page::read("long", source)];
        let docs = Docs { pages };
        let hits = docs.search("hay needle", 5);
        let snippet: String = hits[0].snippet.iter().map(|piece| piece.text.as_str()).collect();
        assert!(snippet.starts_with("… "), "{snippet}");
        assert!(snippet.contains("needle in é hay z z"), "{snippet}");
        assert!(snippet.ends_with(" …") && snippet.len() <= SNIPPET_BYTES_MAX + 10, "{snippet}");
    }

    #[test]
    fn the_guides_are_found() {
        let docs = Docs::load();
        let check = |query: &str, path: &str| {
            let hits = docs.search(query, 1);
            assert_eq!(hits.first().map(Hit::path).as_deref(), Some(path), "{query}");
        };
        check("security", "/docs/security/");
        check("card data", "/docs/security/#card-data");
        check("dry run", "/docs/onboarding/#dry-run");
        check("restore back", "/docs/operating/#restore");
    }

    #[test]
    fn any_query_is_answered_alike_and_within_bounds() {
        let docs = Docs::load();
        let long = "the ".repeat(10_000);
        for query in [long.as_str(), "a", "e i o u", "ΣΑΣ", "\u{fffd}\u{202e}<script>", "'\"&"] {
            let first = docs.search(query, usize::MAX);
            let second = docs.search(query, usize::MAX);
            assert!(first.len() <= HITS_MAX);
            let paths = |hits: &[Hit<'_>]| hits.iter().map(Hit::path).collect::<Vec<_>>();
            assert_eq!(paths(&first), paths(&second));
            assert!(docs.search(query, 0).is_empty());
        }
    }
}
