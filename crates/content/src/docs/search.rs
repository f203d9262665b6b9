//! Full-text search over the guides, in memory. The unit is a section, so that a hit leads to the
//! right place of a long page.
//!
//! Every word of the query must occur in the section, its heading or its page's title. A section is
//! ranked by BM25 over its text; a word in the title outranks any heading, and one in a heading any
//! text. Equal scores keep reading order, so **the same query always has the same answer**.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Serialize;

use super::{Page, absolute, words};

/// The part of a query that counts.
pub const QUERY_CHARS_MAX: usize = 200;
const QUERY_WORDS_MAX: usize = 12;
pub const HITS_MAX: usize = 100;
const SNIPPET_BYTES_MAX: usize = 220;
/// How much of a snippet stands before its first match.
const SNIPPET_LEAD_BYTES: usize = 60;

/// BM25's two constants, at their usual values: how soon repetitions stop to count, and how much
/// the length of a section does. One word's share of the text is below `SATURATION + 1`.
const SATURATION: f64 = 1.2;
const LENGTH_SHARE: f64 = 0.75;
/// Above what any number of repetitions in the text can give.
const HEADING_BOOST: f64 = 2.5;
/// Above a heading and its text together.
const TITLE_BOOST: f64 = 5.0;
/// For the other sections of a page that has the word in its title.
const CONTEXT_BOOST: f64 = 0.2;
/// What a word counts that the query only began.
const PREFIX_SHARE: f64 = 0.6;

#[derive(Debug)]
pub(super) struct Index {
    /// Sorted, so that the words with one beginning are neighbours; a term is its place here.
    terms: Vec<String>,
    /// For each term the sections that have it, in reading order.
    postings: Vec<Vec<Posting>>,
    sections: Vec<IndexedSection>,
    average_length: f64,
}

#[derive(Debug)]
struct Posting {
    section: usize,
    text_count: f64,
    boost: f64,
}

#[derive(Debug)]
struct IndexedSection {
    page: usize,
    /// Its place on the page.
    section: usize,
    words: Vec<IndexedWord>,
    length: f64,
}

#[derive(Debug)]
struct IndexedWord {
    term: usize,
    place: Range<usize>,
}

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

impl Index {
    pub(super) fn of(pages: &[Page]) -> Self {
        let places = || {
            pages.iter().enumerate().flat_map(|(page_index, page)| {
                page.sections
                    .iter()
                    .enumerate()
                    .map(move |(section_index, section)| (page_index, page, section_index, section))
            })
        };
        let texts = places().flat_map(|(_, page, _, section)| {
            [page.title.as_str(), &section.heading, &section.text]
        });
        let distinct: BTreeSet<String> = texts.flat_map(words).map(|(word, _)| word).collect();
        let terms: Vec<String> = distinct.into_iter().collect();
        let term_of = |word: &String| terms.binary_search(word).ok();

        let mut postings: Vec<Vec<Posting>> = terms.iter().map(|_| Vec::new()).collect();
        let mut sections = Vec::new();
        for (page_index, page, section_index, section) in places() {
            let is_top = section.anchor.is_empty();
            let mut found: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
            let title_boost = if is_top { TITLE_BOOST } else { CONTEXT_BOOST };
            let heading_boost = if is_top { TITLE_BOOST } else { HEADING_BOOST };
            for (text, boost) in [(&page.title, title_boost), (&section.heading, heading_boost)] {
                for term in words(text).filter_map(|(word, _)| term_of(&word)) {
                    let (_, best) = found.entry(term).or_default();
                    *best = best.max(boost);
                }
            }
            let mut section_words = Vec::new();
            let mut length = 0.0;
            for (word, place) in words(&section.text) {
                let Some(term) = term_of(&word) else { continue };
                found.entry(term).or_default().0 += 1.0;
                length += 1.0;
                section_words.push(IndexedWord { term, place });
            }
            for (term, (text_count, boost)) in found {
                if let Some(list) = postings.get_mut(term) {
                    list.push(Posting { section: sections.len(), text_count, boost });
                }
            }
            let (page, section) = (page_index, section_index);
            sections.push(IndexedSection { page, section, words: section_words, length });
        }
        let total_length: f64 = sections.iter().map(|section| section.length).sum();
        let average_length = (total_length / count(sections.len())).max(1.0);
        Self { terms, postings, sections, average_length }
    }

    pub(super) fn search<'docs>(
        &self,
        pages: &'docs [Page],
        query: &str,
        limit: usize,
    ) -> Vec<Hit<'docs>> {
        let query = self.query(query);
        let mut ranked = self.ranked(&query);
        ranked.sort_by(|(left, left_score), (right, right_score)| {
            right_score.total_cmp(left_score).then(left.cmp(right))
        });
        let best = ranked.into_iter().take(limit.min(HITS_MAX));
        best.filter_map(|(section, score)| self.hit(pages, &query, section, score)).collect()
    }

    /// The terms that each word of the query stands for.
    fn query(&self, query: &str) -> Vec<QueryWord> {
        let query: String = query.chars().take(QUERY_CHARS_MAX).collect();
        let mut asked: Vec<String> = Vec::new();
        for (word, _) in words(&query).take(QUERY_WORDS_MAX) {
            // A word said twice counts once, at its later place: the last may be a beginning.
            asked.retain(|earlier| *earlier != word);
            asked.push(word);
        }
        let last_index = asked.len().saturating_sub(1);
        let query_word = |(index, word): (usize, &String)| {
            let start = self.terms.partition_point(|term| term < word);
            let is_meant = |term: &&String| {
                *term == word || (index == last_index && term.starts_with(word.as_str()))
            };
            let following = self.terms.get(start..).unwrap_or_default();
            let meant_count = following.iter().take_while(is_meant).count();
            let has_exact = following.first() == Some(word);
            QueryWord { terms: start..start + meant_count, exact: has_exact.then_some(start) }
        };
        asked.iter().enumerate().map(query_word).collect()
    }

    /// The sections that have every word, with their scores, in reading order.
    fn ranked(&self, query: &[QueryWord]) -> Vec<(usize, f64)> {
        if query.is_empty() {
            return Vec::new();
        }
        let mut scores: Vec<Option<f64>> = self.sections.iter().map(|_| Some(0.0)).collect();
        for word in query {
            let matches = self.matches(word);
            let section_count = count(self.sections.len());
            let match_count = count(matches.len());
            let rarity = (1.0 + (section_count - match_count + 0.5) / (match_count + 0.5)).ln();
            for (index, (score, section)) in scores.iter_mut().zip(&self.sections).enumerate() {
                let Some((text_count, boost)) = matches.get(&index) else {
                    *score = None;
                    continue;
                };
                let length = section.length / self.average_length;
                let norm = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length);
                let text = text_count * (SATURATION + 1.0) / (text_count + norm);
                *score = score.map(|score| score + rarity * (text + boost));
            }
        }
        let kept = scores.into_iter().enumerate();
        kept.filter_map(|(section, score)| Some((section, score?))).collect()
    }

    /// The sections that have one of the word's terms: how often in the text, and the boost.
    fn matches(&self, word: &QueryWord) -> BTreeMap<usize, (f64, f64)> {
        let mut matches: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for term in word.terms.clone() {
            let share = if word.exact == Some(term) { 1.0 } else { PREFIX_SHARE };
            for posting in self.postings.get(term).into_iter().flatten() {
                let (text_count, boost) = matches.entry(posting.section).or_default();
                *text_count += posting.text_count * share;
                *boost = boost.max(posting.boost * share);
            }
        }
        matches
    }

    fn hit<'docs>(
        &self,
        pages: &'docs [Page],
        query: &[QueryWord],
        section: usize,
        score: f64,
    ) -> Option<Hit<'docs>> {
        let indexed = self.sections.get(section)?;
        let page = pages.get(indexed.page)?;
        let section = page.sections.get(indexed.section)?;
        let snippet = snippet(&section.text, &indexed.words, query);
        Some(Hit { page, heading: &section.heading, anchor: &section.anchor, score, snippet })
    }
}

struct QueryWord {
    terms: Range<usize>,
    exact: Option<usize>,
}

/// The part of a section's text with the most words of the query, the matches marked.
fn snippet(text: &str, words: &[IndexedWord], query: &[QueryWord]) -> Vec<Piece> {
    let is_match = |word: &IndexedWord| query.iter().any(|asked| asked.terms.contains(&word.term));
    let start = snippet_start(words, query);
    let end_max = start + SNIPPET_BYTES_MAX;
    let shown = words.iter().filter(|word| word.place.start >= start && word.place.end <= end_max);

    let mut pieces = Vec::new();
    let mut plain = String::from(if start > 0 { "… " } else { "" });
    let mut at = start;
    for word in shown.clone() {
        plain.push_str(text.get(at..word.place.start).unwrap_or_default());
        let shown_word = text.get(word.place.clone()).unwrap_or_default();
        if is_match(word) {
            pieces.push(Piece { text: std::mem::take(&mut plain), is_match: false });
            pieces.push(Piece { text: shown_word.to_owned(), is_match: true });
        } else {
            plain.push_str(shown_word);
        }
        at = word.place.end;
    }
    let is_cut = words.last().is_some_and(|last| last.place.end > at);
    plain.push_str(if is_cut { " …" } else { text.get(at..).unwrap_or_default() });
    pieces.push(Piece { text: plain, is_match: false });
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

/// Where the text begins that has most words of the query within a snippet's length, with some
/// words before the first match.
fn snippet_start(words: &[IndexedWord], query: &[QueryWord]) -> usize {
    let asked_by = |word: &IndexedWord| query.iter().position(|q| q.terms.contains(&word.term));
    let matches: Vec<(usize, usize)> =
        words.iter().filter_map(|word| Some((word.place.start, asked_by(word)?))).collect();
    let mut best: Option<(usize, usize)> = None;
    for (index, (start, _)) in matches.iter().enumerate() {
        let window_end = start + SNIPPET_BYTES_MAX - SNIPPET_LEAD_BYTES;
        let near = matches.iter().skip(index).take_while(|(place, _)| *place < window_end);
        let distinct: BTreeSet<usize> = near.map(|(_, asked)| *asked).collect();
        if best.is_none_or(|(best_count, _)| distinct.len() > best_count) {
            best = Some((distinct.len(), *start));
        }
        if distinct.len() == query.len() {
            break;
        }
    }
    let Some((_, first_match)) = best else {
        return 0;
    };
    if first_match <= SNIPPET_LEAD_BYTES {
        return 0;
    }
    let lead = first_match - SNIPPET_LEAD_BYTES;
    words.iter().map(|word| word.place.start).find(|start| *start >= lead).unwrap_or(first_match)
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
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
        let index = Index::of(&pages);
        Docs { pages, index }
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
        check("cherr", &["second/#trees", "second/", "first/#pears"]);
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
        let docs = Docs { index: Index::of(&pages), pages };
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
        check("restore back", "/docs/operating/#backup-and-restore");
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
