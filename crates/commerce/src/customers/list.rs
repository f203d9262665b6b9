//! Lists of customers: users by role, name, e-mail address or id.

use contract::rest::{Args, Schema, Stop};
use frame::Call;
use shop_rows::customer::{self, CustomerFilter};
use site_rows::user::{UserColumn, UserFilter, UserOrder};
use types::Role;

use super::Customer;
use crate::common::{args, paging};

/// The roles of a shop; those that act for somebody else are no customers of it.
const ROLES: &[Role] = &[
    Role::Administrator,
    Role::Editor,
    Role::Author,
    Role::Contributor,
    Role::Subscriber,
    Role::Customer,
    Role::ShopManager,
];
const EVERYBODY: &str = "all";

pub(super) fn args() -> Args {
    let names = ROLES.iter().map(|role| role.name());
    let choices: Vec<&str> = [EVERYBODY].into_iter().chain(names).collect();
    let role = Schema::text()
        .default(Role::Customer.name())
        .choices(&choices)
        .about("Limit results to users with this role.");
    let email = Schema::text().format("email");
    let orders = ["name", "id", "include", "registered_date"];
    args::paging()
        .with(args::search())
        .with(args::ids())
        .with(args::offset())
        .with(args::order("asc", &orders))
        .revise("orderby", |by| by.choices(&["id", "include", "name", "registered_date"]))
        .arg("email", email.about("Limit results to the user with this e-mail address."))
        .arg("role", role)
}

pub(super) fn list(call: &mut Call<'_>) -> Result<(Vec<Customer>, i64), Stop> {
    let filter = filter(call);
    let (stored, total) = customer::list(call.conn()?, &filter)?;
    let customers = stored.into_iter().map(Customer::read).collect::<types::Result<_>>()?;
    Ok((customers, total))
}

fn filter(call: &Call<'_>) -> CustomerFilter {
    let params = &call.params;
    let role = params.text("role").unwrap_or_default().parse().ok();
    let search = params.text("search").unwrap_or_default().trim();
    let users = UserFilter {
        search: (!search.is_empty()).then(|| (search.to_owned(), columns(search).to_vec())),
        include: params.ints("include"),
        exclude: params.ints("exclude"),
        roles: role.into_iter().collect(),
        order: match params.text("orderby") {
            Some("id") => UserOrder::Id,
            Some("include") => UserOrder::Include,
            Some("registered_date") => UserOrder::Registered,
            _ => UserOrder::DisplayName,
        },
        direction: paging::direction(params),
        page: paging::page(call),
        ..UserFilter::default()
    };
    let email = params.text("email").filter(|email| !email.is_empty());
    CustomerFilter { users, email: email.map(str::to_owned) }
}

/// Where a text is looked for depends on what it looks like.
fn columns(search: &str) -> &'static [UserColumn] {
    let is_number = search.bytes().all(|byte| byte.is_ascii_digit());
    match search {
        _ if search.contains('@') => &[UserColumn::Email],
        _ if is_number => &[UserColumn::Login, UserColumn::Id],
        _ if search.starts_with("http://") || search.starts_with("https://") => &[UserColumn::Url],
        _ => &[
            UserColumn::Login,
            UserColumn::Url,
            UserColumn::Email,
            UserColumn::Nicename,
            UserColumn::DisplayName,
        ],
    }
}
