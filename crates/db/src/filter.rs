//! Lists with optional filters: the one place where the text of a query is put together.
//!
//! The parts are static; each `?` in a part becomes the next `$n`. **A value never enters the
//! text.** A list of values is made longer, by repeating its last value, to the next power of two,
//! so that a few prepared statements serve lists of all lengths.

mod param;

use std::borrow::Cow;
use std::fmt::Write as _;

use types::{Error, Result};

pub use self::param::Param;
use crate::{Column, Conn, Row, SITE, TextIndex, Val, tally};

/// Values in one list of a filter.
pub const LIST_MAX: usize = 1024;
/// Rows that one call returns.
pub const PAGE_MAX: i64 = 10_000;
/// Rows of a page that are read by their numbers.
const HITS_MAX: i64 = 128;
/// Bytes of a folded text to search for; SQLite refuses patterns of more than 50,000.
pub const SEARCH_LENGTH_MAX: usize = 4096;

const TOO_LONG: &str = "the text to search for is too long";

/// Which of the matching rows to return. Their number is counted in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub offset: i64,
    /// At most [`PAGE_MAX`].
    pub limit: i64,
}

impl Default for Page {
    fn default() -> Self {
        Self { offset: 0, limit: PAGE_MAX }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    #[default]
    Ascending,
    Descending,
}

/// A text in the form in which it is searched and sorted. Letter by letter, so that a part of a
/// text folds to a part of the folded text.
pub fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The pattern for `LIKE ? ESCAPE '!'` that finds the text anywhere in a folded column.
pub fn containing(text: &str) -> Result<String> {
    Ok(format!("%{}", starting_with(text)?))
}

/// The pattern for `LIKE ? ESCAPE '!'` that finds folded columns which begin with the text.
pub fn starting_with(text: &str) -> Result<String> {
    let folded = fold(text);
    if folded.len() > SEARCH_LENGTH_MAX {
        return Err(Error::invalid(TOO_LONG));
    }
    Ok(format!("{}%", folded.replace('!', "!!").replace('%', "!%").replace('_', "!_")))
}

/// A part of a query whose parameters have their numbers.
#[derive(Debug)]
pub struct Clause(String);

impl Clause {
    pub fn fixed(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// The clauses with a word such as ` OR ` between them, in parentheses.
    pub fn joined(clauses: Vec<Self>, word: &'static str) -> Self {
        let texts: Vec<String> = clauses.into_iter().map(|clause| clause.0).collect();
        Self(format!("({})", texts.join(word)))
    }

    /// The place of the first clause that holds.
    pub fn ranked(clauses: Vec<Self>) -> Self {
        let mut text = String::from("CASE");
        let rest = clauses.len();
        for (rank, Self(clause)) in clauses.into_iter().enumerate() {
            let _ = write!(text, " WHEN {clause} THEN {rank}");
        }
        Self(format!("{text} ELSE {rest} END"))
    }
}

/// The conditions of a query and the parameters of the whole.
#[derive(Debug)]
pub struct Filter {
    conditions: String,
    params: Vec<Param>,
    /// How many of the parameters the conditions use; those of the order follow.
    condition_params: usize,
    /// Whether all conditions are about columns by which the table's rows are counted.
    is_tallied: bool,
    /// What numbers the rows if they are few and finding them takes longest: it is done once then.
    found_by: Option<&'static str>,
}

impl Filter {
    pub fn new(fragment: &'static str, value: impl Into<Param>) -> Self {
        let mut filter = Self {
            conditions: String::new(),
            params: Vec::new(),
            condition_params: 0,
            is_tallied: false,
            found_by: None,
        };
        let Clause(first) = filter.clause(fragment, value);
        filter.conditions = first;
        filter.condition_params = filter.params.len();
        filter
    }

    /// A filter for a table with a [`tally`], which tells how many rows match as long
    /// as only [`Filter::and_tallied`] adds conditions. The first one compares the site.
    pub fn tallied(fragment: &'static str, value: impl Into<Param>) -> Self {
        Self { is_tallied: true, ..Self::new(fragment, value) }
    }

    /// A clause in which every `?` is the same value.
    pub fn clause(&mut self, fragment: &'static str, value: impl Into<Param>) -> Clause {
        let parameter = self.parameter(value.into());
        Clause(fragment.replace('?', &parameter))
    }

    /// A clause in which the one `?` is the list of the values. There must be one at least.
    pub fn list<T: Into<Param> + Clone>(
        &mut self,
        fragment: &'static str,
        values: &[T],
    ) -> Result<Clause> {
        let parameters = self.parameters(values)?;
        Ok(Clause(fragment.replace('?', &parameters.join(", "))))
    }

    /// The place of a column's value in the list: the order in which somebody asked.
    pub fn place<T: Into<Param> + Clone>(
        &mut self,
        column: &'static str,
        values: &[T],
    ) -> Result<Clause> {
        let mut text = format!("CASE {column}");
        for (place, parameter) in self.parameters(values)?.into_iter().enumerate() {
            let _ = write!(text, " WHEN {parameter} THEN {place}");
        }
        Ok(Clause(format!("{text} ELSE {LIST_MAX} END")))
    }

    pub fn and(&mut self, clause: Clause) {
        self.and_tallied(clause);
        self.is_tallied = false;
    }

    /// [`Filter::and`] for a condition about the columns of the table's tally alone.
    pub fn and_tallied(&mut self, clause: Clause) {
        self.conditions.push_str(" AND ");
        self.conditions.push_str(&clause.0);
        self.condition_params = self.params.len();
    }

    /// Adds a value's condition when there is a value.
    pub fn and_value<T: Into<Param>>(&mut self, fragment: &'static str, value: Option<T>) {
        if let Some(value) = value {
            let clause = self.clause(fragment, value);
            self.and(clause);
        }
    }

    /// A clause for the rows whose indexed text contains this one, or whose number it is.
    pub fn containing(
        &mut self,
        conn: &mut dyn Conn,
        index: &TextIndex,
        (text, number): (&str, Option<i64>),
    ) -> Result<Clause> {
        let TextIndex { id, column, .. } = *index;
        // SQLite counts parameters in the order in which they first stand in the text.
        let pattern = containing(text)?;
        let runs = index.runs_for(conn, &fold(text))?;
        self.found_by = runs.as_ref().filter(|runs| runs.are_rare).map(|_| id);
        let runs = runs.map(|runs| self.parameter(runs.query.into()));
        let number = number.map(|number| self.parameter(number.into()));
        let or_number = number.as_ref().map(|number| format!("{id} = {number} OR "));
        let or_number = or_number.unwrap_or_default();
        let pattern = self.parameter(pattern.into());
        let mut clause = format!("({or_number}{column} LIKE {pattern} ESCAPE '!')");
        if let Some(runs) = runs {
            let mut candidates = index.candidates(&runs);
            if let Some(number) = number {
                let _ = write!(candidates, " UNION ALL SELECT {number}");
            }
            clause = format!("({id} IN ({candidates}) AND {clause})");
        }
        Ok(Clause(clause))
    }

    /// Adds the condition that a folded column begins with the text, in a form by which its index
    /// is used: `LIKE` with its exceptions reads every row.
    pub fn and_start(&mut self, column: &'static str, text: &str) -> Result<()> {
        let least = fold(text);
        if least.len() > SEARCH_LENGTH_MAX {
            return Err(Error::invalid(TOO_LONG));
        }
        let beyond = format!("{least}{}", char::MAX);
        let (least, beyond) = (self.parameter(least.into()), self.parameter(beyond.into()));
        self.and(Clause(format!("{column} >= {least} AND {column} < {beyond}")));
        Ok(())
    }

    /// Adds a list's condition unless the list is empty, which means that nobody asked.
    pub fn and_list<T: Into<Param> + Clone>(
        &mut self,
        fragment: &'static str,
        values: &[T],
    ) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let clause = self.list(fragment, values)?;
        self.and(clause);
        Ok(())
    }

    /// [`Filter::and_list`] for a condition about the columns of the table's tally alone.
    pub fn and_tallied_list<T: Into<Param> + Clone>(
        &mut self,
        fragment: &'static str,
        values: &[T],
    ) -> Result<()> {
        if !values.is_empty() {
            let clause = self.list(fragment, values)?;
            self.and_tallied(clause);
        }
        Ok(())
    }

    /// How many rows that match there are for each value of the column, by that value. The column
    /// is one of the table's tally if it has one.
    pub fn counts<T: Column>(
        self,
        conn: &mut dyn Conn,
        column: &'static str,
        table: &'static str,
    ) -> Result<Vec<(T, i64)>> {
        let (count, rows) = self.counted(table);
        let conditions = &self.conditions;
        let text = format!(
            "SELECT {column}, {count} FROM {rows} WHERE {conditions}
             GROUP BY {column} HAVING {count} > 0 ORDER BY {column}"
        );
        let params: Vec<Val<'_>> = self.params.iter().map(Param::as_val).collect();
        let mut counts = Vec::new();
        conn.query_text(&text, &params, &mut |row| {
            counts.push((row.get(0)?, row.get(1)?));
            Ok(())
        })?;
        Ok(counts)
    }

    /// Runs `SELECT {columns} FROM {table}` with the conditions for the first rows, and counts
    /// nothing: for lists that go on from a cursor.
    pub fn first<T>(
        mut self,
        conn: &mut dyn Conn,
        (columns, table): (&'static str, &'static str),
        order: Vec<(Clause, Direction)>,
        limit: i64,
        read: fn(&dyn Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let limit = self.parameter(Param::Int(limit.clamp(0, PAGE_MAX)));
        let (conditions, order) = (&self.conditions, order_text(order));
        let text = format!(
            "SELECT {columns} FROM {table} WHERE {conditions} ORDER BY {order} LIMIT {limit}"
        );
        let params: Vec<Val<'_>> = self.params.iter().map(Param::as_val).collect();
        let mut rows = Vec::new();
        conn.query_text(&text, &params, &mut |row| {
            rows.push(read(row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    fn parameter(&mut self, value: Param) -> String {
        self.params.push(value);
        format!("${}", self.params.len())
    }

    fn parameters<T: Into<Param> + Clone>(&mut self, values: &[T]) -> Result<Vec<String>> {
        if values.len() > LIST_MAX {
            return Err(Error::invalid(format!("a list has at most {LIST_MAX} values")));
        }
        let last = values.last().expect("a list in a filter has values").clone().into();
        let fill = values.len().next_power_of_two() - values.len();
        let values = values.iter().cloned().map(Into::into);
        let values: Vec<Param> = values.chain(std::iter::repeat_n(last, fill)).collect();
        Ok(values.into_iter().map(|value| self.parameter(value)).collect())
    }

    /// Runs `SELECT {columns} FROM {table}` with the conditions, and counts all that match: by the
    /// table's tally if it can tell.
    pub fn page<T>(
        mut self,
        conn: &mut dyn Conn,
        (columns, table): (&'static str, &'static str),
        order: Vec<(Clause, Direction)>,
        page: Page,
        read: fn(&dyn Row) -> Result<T>,
    ) -> Result<(Vec<T>, i64)> {
        let (count, counted) = self.counted(table);
        let count = format!("SELECT {count} FROM {counted} WHERE {}", self.conditions);
        if let Some(id) = self.found_by
            && (1..=HITS_MAX).contains(&page.limit)
        {
            let hits = self.hits(conn, (id, table), order, page)?;
            if let Some((_, total)) = hits.first() {
                let ids: Vec<i64> = hits.iter().map(|(id, _)| *id).collect();
                return Ok((by_ids(conn, (columns, table), (id, &ids), read)?, *total));
            }
            if page.offset == 0 {
                return Ok((Vec::new(), 0));
            }
            return Ok((Vec::new(), self.count(conn, &count)?));
        }
        let rows = self.rows(conn, (columns, table), order, page, read)?;
        let found = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        if found < page.limit && (found > 0 || page.offset == 0) {
            // The last page tells how many there are.
            return Ok((rows, page.offset + found));
        }
        Ok((rows, self.count(conn, &count)?))
    }

    fn count(&self, conn: &mut dyn Conn, text: &str) -> Result<i64> {
        let of_conditions = self.params.iter().take(self.condition_params);
        let params: Vec<Val<'_>> = of_conditions.map(Param::as_val).collect();
        let mut total = 0;
        conn.query_text(text, &params, &mut |row| {
            total = row.get(0)?;
            Ok(())
        })?;
        Ok(total)
    }

    /// The numbers of a page's rows, each with how many rows match in all.
    fn hits(
        &mut self,
        conn: &mut dyn Conn,
        (id, table): (&'static str, &'static str),
        order: Vec<(Clause, Direction)>,
        page: Page,
    ) -> Result<Vec<(i64, i64)>> {
        let columns = format!("{id}, COUNT(*) OVER ()");
        self.rows(conn, (&columns, table), order, page, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// What tells how many rows match, and where it is asked for.
    fn counted(&self, table: &'static str) -> (&'static str, Cow<'static, str>) {
        if self.is_tallied {
            (tally::SUM, format!("{} AS {table}", tally::name(table)).into())
        } else {
            ("COUNT(*)", table.into())
        }
    }

    /// The conditions under which a page is read. Where they hold for most of a table, the plus
    /// keeps an engine without statistics from looking all of them up by the first, which is about
    /// the site, and sorting them: the index of the order has the page at once. The index of the
    /// rows' own number begins with the site, so by that they are looked up.
    fn in_order(&self, order: &[(Clause, Direction)]) -> Cow<'_, str> {
        let mut keys = order.iter().map(|(Clause(key), _)| key);
        let first = keys.next();
        let is_by_number = keys.all(|key| Some(key) == first);
        if self.is_tallied && !is_by_number && !self.conditions.starts_with('+') {
            format!("+{}", self.conditions).into()
        } else {
            self.conditions.as_str().into()
        }
    }

    /// The rows of a page.
    pub(crate) fn rows<T>(
        &mut self,
        conn: &mut dyn Conn,
        (columns, table): (&str, &str),
        order: Vec<(Clause, Direction)>,
        page: Page,
        read: fn(&dyn Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        if page.offset < 0 || !(0..=PAGE_MAX).contains(&page.limit) {
            return Err(Error::invalid(format!("a page has at most {PAGE_MAX} rows")));
        }
        let mut rows = Vec::new();
        if page.limit == 0 {
            return Ok(rows);
        }
        let limit = self.parameter(Param::Int(page.limit));
        let offset = self.parameter(Param::Int(page.offset));
        let (conditions, order) = (self.in_order(&order), order_text(order));
        let text = format!(
            "SELECT {columns} FROM {table} WHERE {conditions} ORDER BY {order} LIMIT {limit} \
             OFFSET {offset}"
        );
        let params: Vec<Val<'_>> = self.params.iter().map(Param::as_val).collect();
        conn.query_text(&text, &params, &mut |row| {
            rows.push(read(row)?);
            Ok(())
        })?;
        Ok(rows)
    }
}

/// The rows that have these numbers, in their order.
fn by_ids<T>(
    conn: &mut dyn Conn,
    selection: (&'static str, &'static str),
    (id, ids): (&'static str, &[i64]),
    read: fn(&dyn Row) -> Result<T>,
) -> Result<Vec<T>> {
    let mut filter = Filter::new("site_id = ?", SITE);
    let Clause(numbers) = filter.list("(?)", ids)?;
    filter.and(Clause(format!("{id} IN {numbers}")));
    let order = vec![(filter.place(id, ids)?, Direction::Ascending)];
    let page = Page { offset: 0, limit: i64::try_from(ids.len()).unwrap_or(PAGE_MAX) };
    filter.rows(conn, selection, order, page, read)
}

fn order_text(order: Vec<(Clause, Direction)>) -> String {
    let texts = order.into_iter().map(|(Clause(key), direction)| match direction {
        Direction::Ascending => format!("{key} ASC"),
        Direction::Descending => format!("{key} DESC"),
    });
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_as_they_come() {
        let mut filter = Filter::new("site_id = ?", 1);
        filter.and_list("a IN (?)", &[5, 6, 7]).unwrap();
        filter.and_list::<i64>("never", &[]).unwrap();
        let same = filter.clause("(b LIKE ? OR c LIKE ?)", containing("50%_!ÄÜ").unwrap());
        filter.and(same);
        let expected = "site_id = $1 AND a IN ($2, $3, $4, $5) AND (b LIKE $6 OR c LIKE $6)";
        assert_eq!(filter.conditions, expected);
        let Clause(place) = filter.place("d", &[8, 9]).unwrap();
        assert_eq!(place, "CASE d WHEN $7 THEN 0 WHEN $8 THEN 1 ELSE 1024 END");
        assert_eq!((filter.condition_params, filter.params.len()), (6, 8));
        assert!(matches!(filter.params.get(4), Some(Param::Int(7))), "the last value is repeated");
        assert!(matches!(&filter.params[5], Param::Text(text) if text == "%50!%!_!!äü%"));
    }

    #[test]
    fn the_site_is_looked_up_by_in_the_order_of_numbers_only() {
        let filter = Filter::tallied("site_id = ?", 1);
        let by = |keys: &[&'static str]| {
            let clause = |key: &&'static str| (Clause::fixed(key), Direction::Ascending);
            filter.in_order(&keys.iter().map(clause).collect::<Vec<_>>()).into_owned()
        };
        assert_eq!(by(&["user_id", "user_id"]), "site_id = $1");
        assert_eq!(by(&["user_id"]), "site_id = $1");
        assert_eq!(by(&["login_key", "user_id"]), "+site_id = $1");
    }

    #[test]
    fn too_much_is_refused() {
        let mut filter = Filter::new("site_id = ?", 1);
        assert!(filter.and_list("a IN (?)", &[1; LIST_MAX]).is_ok());
        assert!(filter.and_list("a IN (?)", &[1; LIST_MAX + 1]).is_err());
        assert!(containing(&"x".repeat(SEARCH_LENGTH_MAX)).is_ok());
        assert!(containing(&"x".repeat(SEARCH_LENGTH_MAX + 1)).is_err());
    }
}
