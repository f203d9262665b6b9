//! Deleting users, for everybody who does. Their credentials and sessions go with them; their posts
//! go to somebody else or to the trash, where they can be rescued.

use contract::rest::{Refusal, Stop};
use db::filter::Page;
use site_rows::media;
use site_rows::post::{PostFilter, PostRow};
use site_rows::user::{UserFilter, UserRow};
use types::Role;

use crate::Call;

/// Posts handled at a time.
const POSTS_AT_A_TIME: i64 = 500;
const TRASH: &str = "trash";

/// Deletes the user with their credentials and sessions. Their posts go to the heir, or else to the
/// trash. The last administrator stays.
pub fn remove_user(call: &mut Call<'_>, user: &UserRow, heir: Option<i64>) -> Result<(), Stop> {
    keep_an_administrator(call, user)?;
    match heir {
        Some(heir) => hand_over_posts(call, user.user_id, heir)?,
        None => trash_posts(call, user.user_id)?,
    }
    site_rows::user::delete(call.conn()?, user.user_id)?;
    Ok(())
}

/// Refuses what would leave the site without an administrator.
pub fn keep_an_administrator(call: &mut Call<'_>, target: &UserRow) -> Result<(), Stop> {
    if !target.roles.contains(&Role::Administrator) {
        return Ok(());
    }
    let others = UserFilter {
        roles: vec![Role::Administrator],
        exclude: vec![target.user_id],
        page: Page { offset: 0, limit: 1 },
        ..UserFilter::default()
    };
    let (found, _) = site_rows::user::list(call.conn()?, &others)?;
    if !found.is_empty() {
        return Ok(());
    }
    let message = "This is the last administrator; make another user an administrator first.";
    Err(Refusal::new(409, "rest_user_last_administrator", message).into())
}

fn hand_over_posts(call: &mut Call<'_>, user_id: i64, heir: i64) -> Result<(), Stop> {
    loop {
        // Those that were handed over are not found again.
        let page = Page { offset: 0, limit: POSTS_AT_A_TIME };
        let wanted = PostFilter { authors: vec![user_id], page, ..PostFilter::default() };
        let (posts, _) = site_rows::post::list(call.conn()?, &wanted)?;
        if posts.is_empty() {
            return Ok(());
        }
        for mut post in posts {
            post.author_id = heir;
            site_rows::post::update(call.conn()?, &post)?;
        }
    }
}

fn trash_posts(call: &mut Call<'_>, user_id: i64) -> Result<(), Stop> {
    let now = call.now();
    let mut offset = 0;
    loop {
        let page = Page { offset, limit: POSTS_AT_A_TIME };
        let wanted = PostFilter { authors: vec![user_id], page, ..PostFilter::default() };
        let (posts, _) = site_rows::post::list(call.conn()?, &wanted)?;
        if posts.is_empty() {
            return Ok(());
        }
        // Files have no trash: they stay in the library.
        let to_trash = |post: &PostRow| post.status != TRASH && post.kind != media::KIND;
        for mut post in posts.into_iter().filter(to_trash) {
            post.trashed_status = Some(std::mem::replace(&mut post.status, TRASH.to_owned()));
            post.trashed = Some(now);
            site_rows::post::update(call.conn()?, &post)?;
        }
        offset += POSTS_AT_A_TIME;
    }
}
