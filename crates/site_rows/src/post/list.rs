//! Lists of posts: which match, in which order, and how many there are.

use db::filter::{Clause, Direction, Filter, Page, containing, fold};
use db::{Conn, SITE};
use types::{Error, Result, Timestamp};

use super::PostRow;

/// Words of one search.
pub const SEARCH_WORDS_MAX: usize = 32;
/// Conditions about terms in one filter.
pub const TERM_CONDITIONS_MAX: usize = 16;

/// Which posts to list. An empty list asks for nothing.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a condition of its own")]
pub struct PostFilter {
    pub kinds: Vec<String>,
    pub statuses: Vec<String>,
    pub authors: Vec<i64>,
    pub authors_exclude: Vec<i64>,
    pub include: Vec<i64>,
    pub exclude: Vec<i64>,
    pub slugs: Vec<String>,
    pub parents: Vec<i64>,
    pub parents_exclude: Vec<i64>,
    pub formats: Vec<String>,
    /// Words, each of which must be in one of the columns.
    pub search: Vec<String>,
    /// Each word must be the whole of a column, not a part of it.
    pub search_exact: bool,
    /// Names of files in the library are searched as well.
    pub search_files: bool,
    /// Only items of the library of these types.
    pub mime_types: Vec<String>,
    /// Leave out what its source does not show in the lists of a term, such as hidden products.
    pub listed_only: bool,
    /// Leave out what has a password.
    pub without_password: bool,
    /// The columns to search; none means all of them.
    pub search_columns: Vec<PostColumn>,
    /// Bounds of the local date and time; posts of exactly that moment are not listed.
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
    pub modified_after: Option<Timestamp>,
    pub modified_before: Option<Timestamp>,
    pub menu_order: Option<i64>,
    pub sticky: Option<bool>,
    pub terms: Vec<TermCondition>,
    pub terms_relation: Relation,
    pub order: PostOrder,
    pub direction: Direction,
    pub page: Page,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostColumn {
    Title,
    Excerpt,
    Content,
}

impl PostColumn {
    pub const ALL: &[Self] = &[Self::Title, Self::Excerpt, Self::Content];

    fn equals(self) -> &'static str {
        match self {
            Self::Title => "title_key = ?",
            Self::Excerpt => "excerpt_key = ?",
            Self::Content => "content_key = ?",
        }
    }

    fn contains(self) -> &'static str {
        match self {
            Self::Title => "title_key LIKE ? ESCAPE '!'",
            Self::Excerpt => "excerpt_key LIKE ? ESCAPE '!'",
            Self::Content => "content_key LIKE ? ESCAPE '!'",
        }
    }
}

/// What must hold about the terms of a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermCondition {
    AnyOf(Vec<i64>),
    NoneOf(Vec<i64>),
}

/// Whether all conditions about terms must hold or one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relation {
    #[default]
    And,
    Or,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PostOrder {
    #[default]
    Date,
    Author,
    Id,
    Modified,
    Parent,
    Slug,
    Title,
    MenuOrder,
    /// As the ids are listed in `include`.
    Include,
    /// As the slugs are listed in `slugs`.
    IncludeSlugs,
    /// What fits the search best comes first, in either direction.
    Relevance,
}

/// A page of the posts that match, and how many match.
pub fn list(conn: &mut dyn Conn, wanted: &PostFilter) -> Result<(Vec<PostRow>, i64)> {
    let mut filter = Filter::new("posts.site_id = ?", SITE);
    filter.and_list("kind IN (?)", &wanted.kinds)?;
    filter.and_list("status IN (?)", &wanted.statuses)?;
    filter.and_list("author_id IN (?)", &wanted.authors)?;
    filter.and_list("author_id NOT IN (?)", &wanted.authors_exclude)?;
    filter.and_list("post_id IN (?)", &wanted.include)?;
    filter.and_list("post_id NOT IN (?)", &wanted.exclude)?;
    filter.and_list("slug IN (?)", &wanted.slugs)?;
    filter.and_list("parent_id IN (?)", &wanted.parents)?;
    filter.and_list("parent_id NOT IN (?)", &wanted.parents_exclude)?;
    filter.and_list("format IN (?)", &wanted.formats)?;
    filter.and_value("date_us > ?", wanted.after);
    filter.and_value("date_us < ?", wanted.before);
    filter.and_value("modified_us > ?", wanted.modified_after);
    filter.and_value("modified_us < ?", wanted.modified_before);
    filter.and_value("menu_order = ?", wanted.menu_order);
    filter.and_value("sticky = ?", wanted.sticky);
    filter.and_list(
        "EXISTS (SELECT 1 FROM media WHERE media.site_id = posts.site_id
           AND media.post_id = posts.post_id AND media.mime_type IN (?))",
        &wanted.mime_types,
    )?;
    search(&mut filter, wanted)?;
    terms(&mut filter, wanted)?;
    let order = order(&mut filter, wanted)?;
    filter.records(conn, order, wanted.page)
}

fn search(filter: &mut Filter, wanted: &PostFilter) -> Result<()> {
    if wanted.search.len() > SEARCH_WORDS_MAX {
        return Err(Error::invalid(format!("search for at most {SEARCH_WORDS_MAX} words")));
    }
    let chosen = |column: &PostColumn| {
        wanted.search_columns.is_empty() || wanted.search_columns.contains(column)
    };
    if wanted.without_password {
        filter.and(Clause::fixed("password = ''"));
    }
    for word in &wanted.search {
        let pattern = if wanted.search_exact { fold(word) } else { containing(word)? };
        let columns = PostColumn::ALL.iter().filter(|column| chosen(column));
        let clauses = columns.map(|column| {
            let condition = if wanted.search_exact { column.equals() } else { column.contains() };
            filter.clause(condition, pattern.clone())
        });
        let mut clauses: Vec<Clause> = clauses.collect();
        if wanted.search_files && !wanted.search_exact {
            let condition = "EXISTS (SELECT 1 FROM media WHERE media.site_id = posts.site_id
                AND media.post_id = posts.post_id AND media.file_key LIKE ? ESCAPE '!')";
            clauses.push(filter.clause(condition, pattern.clone()));
        }
        filter.and(Clause::joined(clauses, " OR "));
    }
    Ok(())
}

fn terms(filter: &mut Filter, wanted: &PostFilter) -> Result<()> {
    if wanted.terms.len() > TERM_CONDITIONS_MAX {
        let message = format!("ask for at most {TERM_CONDITIONS_MAX} conditions about terms");
        return Err(Error::invalid(message));
    }
    let mut clauses = Vec::new();
    for condition in &wanted.terms {
        let (fragment, ids) = match condition {
            TermCondition::AnyOf(ids) => (
                "EXISTS (SELECT 1 FROM post_terms WHERE post_terms.site_id = posts.site_id
                   AND post_terms.post_id = posts.post_id AND post_terms.term_id IN (?))",
                ids,
            ),
            TermCondition::NoneOf(ids) => (
                "NOT EXISTS (SELECT 1 FROM post_terms WHERE post_terms.site_id = posts.site_id
                   AND post_terms.post_id = posts.post_id AND post_terms.term_id IN (?))",
                ids,
            ),
        };
        if !ids.is_empty() {
            clauses.push(filter.list(fragment, ids)?);
        }
    }
    if !clauses.is_empty() {
        let word = match wanted.terms_relation {
            Relation::And => " AND ",
            Relation::Or => " OR ",
        };
        filter.and(Clause::joined(clauses, word));
    }
    Ok(())
}

fn order(filter: &mut Filter, wanted: &PostFilter) -> Result<Vec<(Clause, Direction)>> {
    let key = match wanted.order {
        PostOrder::Relevance if !wanted.search.is_empty() => {
            let newest =
                ["date_us", "post_id"].map(|key| (Clause::fixed(key), Direction::Descending));
            let best = (relevance(filter, &wanted.search)?, Direction::Ascending);
            return Ok([best].into_iter().chain(newest).collect());
        }
        PostOrder::Include if !wanted.include.is_empty() => {
            filter.place("post_id", &wanted.include)?
        }
        PostOrder::IncludeSlugs if !wanted.slugs.is_empty() => {
            filter.place("slug", &wanted.slugs)?
        }
        PostOrder::Date | PostOrder::Include | PostOrder::IncludeSlugs | PostOrder::Relevance => {
            Clause::fixed("date_us")
        }
        PostOrder::Author => Clause::fixed("author_id"),
        PostOrder::Id => Clause::fixed("post_id"),
        PostOrder::Modified => Clause::fixed("modified_us"),
        PostOrder::Parent => Clause::fixed("parent_id"),
        PostOrder::Slug => Clause::fixed("slug"),
        PostOrder::Title => Clause::fixed("title_key"),
        PostOrder::MenuOrder => Clause::fixed("menu_order"),
    };
    Ok(vec![(key, wanted.direction), (Clause::fixed("post_id"), wanted.direction)])
}

/// Best is the whole text in the title, then all of its words there, then one of them, then the
/// whole text in the excerpt, then in the content.
fn relevance(filter: &mut Filter, words: &[String]) -> Result<Clause> {
    let whole = containing(&words.join(" "))?;
    let patterns: Vec<String> = words.iter().map(|word| containing(word)).collect::<Result<_>>()?;
    let mut in_title = |word: &'static str| {
        let title = PostColumn::Title.contains();
        let clauses =
            patterns.iter().map(|pattern| filter.clause(title, pattern.clone())).collect();
        Clause::joined(clauses, word)
    };
    let (all, any) = (in_title(" AND "), in_title(" OR "));
    let [title, excerpt, content] = [PostColumn::Title, PostColumn::Excerpt, PostColumn::Content]
        .map(|column| filter.clause(column.contains(), whole.clone()));
    Ok(Clause::ranked(vec![title, all, any, excerpt, content]))
}
