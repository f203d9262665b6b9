//! Comments on posts, products and whatever else takes them: read by everybody who may read what
//! they are about, written by those who are signed in, kept in order by moderators.
//!
//! Reviews of products are comments of another kind in the same table; the shop has routes of its
//! own for them. **What is not approved is shown to those who may moderate it, and to its author.**

mod item;
mod notify;
mod permit;
mod rules;
mod schema;
mod write;

use std::sync::Arc;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Refusal, Reply, Stop, formats};
use db::filter::Page;
use frame::action::{Action, read, write as change};
use frame::dates::Moment;
use frame::{Call, Names, paging};
use site_rows::comment::{self, CommentFilter, CommentOrder, CommentRow};
use types::Timestamp;

use self::item::Comments;
use crate::posts;

/// The kind of comments that are only that.
pub(crate) const COMMENT: &str = "comment";
pub(crate) const APPROVED: &str = "approved";
const HOLD: &str = "hold";
const SPAM: &str = "spam";
const TRASH: &str = "trash";

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let item = schema::item();
    let compiled = item.compile().expect("the schema of a comment is well formed");
    let comments = Arc::new(Comments { item: compiled, namespace: names.content.clone() });
    let run = |operation: fn(&Comments, &mut Call<'_>) -> Result<Reply, Stop>| {
        let comments = Arc::clone(&comments);
        move |call: &mut Call<'_>| operation(&comments, call)
    };
    vec![
        Route::at(&names.content, "/comments")
            .on(READ, schema::list_args(&item), read(permit::list, run(list_all)))
            .on(CREATE, schema::create_args(&item), change(permit::create, run(write::create)))
            .creates()
            .schema(item.document()),
        Route::at(&names.content, r"/comments/(?P<id>[\d]+)")
            .on(READ, schema::read_args(&item), read(permit::read, run(read_one)))
            .on(EDIT, schema::update_args(&item), change(permit::update, run(write::update)))
            .on(DELETE, schema::delete_args(), change(permit::delete, run(write::delete)))
            .notes_deletion()
            .refuses_with(&[410])
            .schema(item.document()),
    ]
}

/// Stores the comment of a stranger, who filled in the form below a post. **Whoever is signed in in
/// that browser is not looked at**: it is nobody's word but the form's.
pub(crate) fn leave(call: &mut Call<'_>) -> Result<CommentRow, Stop> {
    if call.options().is_on("comment_registration") {
        let message = "Sign in to comment.";
        return Err(Refusal::new(403, "not_logged_in", message).into());
    }
    permit::takes_comments(call)?;
    let email = call.params.text("author_email").unwrap_or_default();
    if !email.is_empty() && !formats::is_email(email) {
        let message = "The e-mail address is not valid.";
        return Err(Refusal::new(400, "require_valid_email", message).into());
    }
    write::insert_new(call)
}

fn list_all(comments: &Comments, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut wanted = filter(call);
    if call.leaves_out_items() {
        wanted.page.limit = 0;
    }
    let (rows, total) = comment::list(call.conn()?, &wanted)?;
    let context = call.context();
    let mut items = Vec::with_capacity(rows.len());
    for row in &rows {
        // Those that the caller may not read are counted, as clients know it.
        if permit::may_read(call, row)? {
            items.push(item::listed(comments, call, row, &context)?);
        }
    }
    let path = format!("/{}/comments", comments.namespace);
    Ok(paging::with_totals(Reply::new(items), call, &path, total))
}

fn read_one(comments: &Comments, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let row = permit::comment_of(call)?;
    let context = call.context();
    let (fields, links) = item::prepare(comments, call, &row, &context)?;
    Ok(Reply::new(fields).links(links))
}

fn filter(call: &Call<'_>) -> CommentFilter {
    let params = &call.params;
    let text = |name: &str| params.text(name).filter(|text| !text.is_empty()).map(str::to_owned);
    let bound = |name: &str| -> Option<Timestamp> {
        Some(Moment::parse(call.options(), params.text(name)?, false)?.gmt)
    };
    let kinds = match params.text("type").unwrap_or(COMMENT) {
        "all" | "" => Vec::new(),
        "comment" | "comments" => vec![COMMENT.to_owned()],
        kind => vec![kind.to_owned()],
    };
    let statuses: Vec<String> = match params.text("status").unwrap_or("approve") {
        "any" => Vec::new(),
        "all" => vec![APPROVED.to_owned(), HOLD.to_owned()],
        "approve" | "approved" | "1" => vec![APPROVED.to_owned()],
        "hold" | "0" => vec![HOLD.to_owned()],
        other => vec![other.to_owned()],
    };
    let order = match params.text("orderby").unwrap_or_default() {
        "id" => CommentOrder::Id,
        "include" => CommentOrder::Include,
        "post" => CommentOrder::Post,
        "parent" => CommentOrder::Parent,
        "type" => CommentOrder::Kind,
        _ => CommentOrder::Date,
    };
    CommentFilter {
        posts: params.ints("post").into_iter().filter(|id| *id != 0).collect(),
        kinds,
        statuses,
        users: params.ints("author"),
        users_exclude: params.ints("author_exclude"),
        email: text("author_email"),
        search: posts::words(params.text("search").unwrap_or_default(), false),
        include: params.ints("include"),
        exclude: params.ints("exclude"),
        parents: params.ints("parent"),
        parents_exclude: params.ints("parent_exclude"),
        after: bound("after"),
        before: bound("before"),
        order,
        direction: posts::direction(params),
        page: Page { ..posts::page(params) },
        ..CommentFilter::default()
    }
}
