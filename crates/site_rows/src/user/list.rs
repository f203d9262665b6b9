//! Lists of users: who matches, in which order, and how many there are.

use db::filter::{Clause, Direction, Filter, Page, containing};
use db::{Conn, SITE};
use types::{Result, Role, Timestamp};

use super::{UserRow, user_columns};

/// Which users to list. An empty list asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct UserFilter {
    /// A text, and the columns of which one must contain it (the id: equal it).
    pub search: Option<(String, Vec<UserColumn>)>,
    pub include: Vec<i64>,
    pub exclude: Vec<i64>,
    /// Users with any of these roles.
    pub roles: Vec<Role>,
    /// Users with none of these roles.
    pub roles_exclude: Vec<Role>,
    /// Registered at that moment or later.
    pub registered_from: Option<Timestamp>,
    /// Registered before that moment.
    pub registered_before: Option<Timestamp>,
    /// Whether an order of theirs was ever paid.
    pub is_paying: Option<bool>,
    /// Whether reports have a number for them.
    pub is_in_reports: Option<bool>,
    /// Users whose ids are greater.
    pub after: Option<i64>,
    pub nicenames: Vec<String>,
    /// Users who wrote something published of any of these kinds.
    pub published_kinds: Vec<String>,
    pub order: UserOrder,
    pub direction: Direction,
    pub page: Page,
}

/// What a search looks into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserColumn {
    Id,
    Login,
    Email,
    Url,
    Nicename,
    DisplayName,
}

impl UserColumn {
    pub const ALL: &[Self] =
        &[Self::Id, Self::Login, Self::Email, Self::Url, Self::Nicename, Self::DisplayName];
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserOrder {
    #[default]
    Id,
    Login,
    DisplayName,
    Registered,
    Nicename,
    Email,
    Url,
    /// As the ids are listed in `include`.
    Include,
    /// As the names are listed in `nicenames`.
    IncludeNicenames,
}

/// A page of the users that match, and how many match.
pub fn list(conn: &mut dyn Conn, wanted: &UserFilter) -> Result<(Vec<UserRow>, i64)> {
    let mut filter = Filter::tallied("users.site_id = ?", SITE);
    if let Some((text, columns)) = &wanted.search {
        let clause = search(&mut filter, text, columns)?;
        filter.and(clause);
    }
    filter.and_list("user_id IN (?)", &wanted.include)?;
    filter.and_list("user_id NOT IN (?)", &wanted.exclude)?;
    filter.and_list("nicename IN (?)", &wanted.nicenames)?;
    if !wanted.roles.is_empty() {
        let clause = roles(&mut filter, &wanted.roles)?;
        filter.and_tallied(clause);
    }
    for role in &wanted.roles_exclude {
        let without =
            filter.clause("roles NOT LIKE ? ESCAPE '!'", containing(&format!(" {role} "))?);
        filter.and_tallied(without);
    }
    filter.and_value("registered_us >= ?", wanted.registered_from);
    filter.and_value("registered_us < ?", wanted.registered_before);
    filter.and_value(
        "CASE WHEN EXISTS (SELECT 1 FROM customers WHERE customers.site_id = users.site_id
           AND customers.user_id = users.user_id AND customers.is_paying = 1)
         THEN 1 ELSE 0 END = ?",
        wanted.is_paying,
    );
    filter.and_value(
        "CASE WHEN EXISTS (SELECT 1 FROM customer_lookup
           WHERE customer_lookup.site_id = users.site_id
             AND customer_lookup.user_id = users.user_id)
         THEN 1 ELSE 0 END = ?",
        wanted.is_in_reports,
    );
    filter.and_value("user_id > ?", wanted.after);
    filter.and_list(
        "EXISTS (SELECT 1 FROM posts WHERE posts.site_id = users.site_id
           AND posts.author_id = users.user_id AND posts.status = 'publish'
           AND posts.kind IN (?))",
        &wanted.published_kinds,
    )?;
    let key = order(&mut filter, wanted)?;
    let order = vec![(key, wanted.direction), (Clause::fixed("user_id"), wanted.direction)];
    filter.page(conn, (user_columns!(), "users"), order, wanted.page, UserRow::read)
}

fn search(filter: &mut Filter, text: &str, columns: &[UserColumn]) -> Result<Clause> {
    let pattern = containing(text)?;
    let mut clauses = Vec::new();
    for column in UserColumn::ALL.iter().filter(|column| columns.contains(column)) {
        let fragment = match column {
            UserColumn::Id => {
                if let Ok(id) = text.parse::<i64>() {
                    clauses.push(filter.clause("user_id = ?", id));
                }
                continue;
            }
            UserColumn::Login => "login_key LIKE ? ESCAPE '!'",
            UserColumn::Email => "email_key LIKE ? ESCAPE '!'",
            UserColumn::Url => "url_key LIKE ? ESCAPE '!'",
            UserColumn::Nicename => "nicename LIKE ? ESCAPE '!'",
            UserColumn::DisplayName => "display_name_key LIKE ? ESCAPE '!'",
        };
        clauses.push(filter.clause(fragment, pattern.clone()));
    }
    // A text that is no number is no user's id.
    clauses.push(Clause::fixed("1 = 0"));
    Ok(Clause::joined(clauses, " OR "))
}

fn roles(filter: &mut Filter, roles: &[Role]) -> Result<Clause> {
    let mut clauses = Vec::new();
    for role in Role::ALL.iter().filter(|role| roles.contains(role)) {
        let pattern = containing(&format!(" {role} "))?;
        clauses.push(filter.clause("roles LIKE ? ESCAPE '!'", pattern));
    }
    Ok(Clause::joined(clauses, " OR "))
}

fn order(filter: &mut Filter, wanted: &UserFilter) -> Result<Clause> {
    Ok(Clause::fixed(match wanted.order {
        UserOrder::Include if !wanted.include.is_empty() => {
            return filter.place("user_id", &wanted.include);
        }
        UserOrder::IncludeNicenames if !wanted.nicenames.is_empty() => {
            return filter.place("nicename", &wanted.nicenames);
        }
        UserOrder::Id | UserOrder::Include | UserOrder::IncludeNicenames => "user_id",
        UserOrder::Login => "login_key",
        UserOrder::DisplayName => "display_name_key",
        UserOrder::Registered => "registered_us",
        UserOrder::Nicename => "nicename",
        UserOrder::Email => "email_key",
        UserOrder::Url => "url_key",
    }))
}
