//! A comment as its clients see it: fields by view, and links.

use contract::rest::{CompiledItem, Links};
use frame::text::render;
use frame::users::avatar_urls;
use frame::{Call, moments};
use serde_json::{Value, json};
use site_rows::comment::{self, CommentRow};
use site_rows::post::PostRow;
use types::Error;

use crate::posts::{self, kind, records};

/// What the operations share.
#[derive(Debug)]
pub(super) struct Comments {
    pub(super) item: CompiledItem,
    /// The namespace of the routes.
    pub(super) namespace: String,
}

impl Comments {
    pub(super) fn path_of(&self, id: i64) -> String {
        format!("/{}/comments/{id}", self.namespace)
    }
}

/// A comment in a list, with its links.
pub(super) fn listed(
    comments: &Comments,
    call: &mut Call<'_>,
    row: &CommentRow,
    context: &str,
) -> Result<Value, Error> {
    let (mut fields, links) = prepare(comments, call, row, context)?;
    if let (Some(links), Some(members)) = (links.into_value(), fields.as_object_mut()) {
        members.insert(String::from("_links"), links);
    }
    Ok(fields)
}

/// The fields of a comment in the wanted view, and its links.
pub(super) fn prepare(
    comments: &Comments,
    call: &mut Call<'_>,
    row: &CommentRow,
    context: &str,
) -> Result<(Value, Links), Error> {
    let visit = call.visit;
    let post = records::get(call, row.post_id)?;
    let link = match &post {
        Some(post) => {
            format!("{}#comment-{}", posts::permalink(call.conn()?, visit, post)?, row.comment_id)
        }
        None => visit.page(&format!("/#comment-{}", row.comment_id)),
    };
    let [date, date_gmt] = moments::pair(call.options(), Some(row.created));
    let meta: Value = serde_json::from_str(&row.meta).unwrap_or(Value::Null);
    let note = meta.get("_wp_note_status").cloned().unwrap_or(Value::Null);
    let fields = json!({
        "id": row.comment_id,
        "post": row.post_id,
        "parent": row.parent_id,
        "author": row.user_id,
        "author_name": row.author,
        "author_email": row.email,
        "author_url": row.author_url,
        "author_ip": row.author_ip,
        "author_user_agent": row.author_agent,
        "date": date,
        "date_gmt": date_gmt,
        "content": { "rendered": render::content(&row.content), "raw": row.content },
        "link": link,
        "status": row.status,
        "type": row.kind,
        "author_avatar_urls": avatar_urls(&row.email),
        "meta": { "_wp_note_status": note },
    });
    let links = links(comments, call, row, post.as_ref())?;
    Ok((comments.item.filter_by_context(fields, context), links))
}

fn links(
    comments: &Comments,
    call: &mut Call<'_>,
    row: &CommentRow,
    post: Option<&PostRow>,
) -> Result<Links, Error> {
    let (visit, namespace) = (call.visit, &comments.namespace);
    let at = |path: &str| visit.rest(&format!("/{namespace}{path}"));
    let mut links = Links::new()
        .to("self", visit.rest(&comments.path_of(row.comment_id)))
        .to("collection", at("/comments"));
    if row.user_id != 0 {
        links = links.embeddable("author", at(&format!("/users/{}", row.user_id)));
    }
    let kind = post.and_then(|post| Some((post, kind::kind_of(&post.kind)?)));
    if let Some((post, kind)) = kind {
        let href = at(&format!("/{}/{}", kind.base, post.post_id));
        let target = json!({ "embeddable": true, "post_type": kind.name, "href": href });
        links = links.add("up", target);
    }
    if row.parent_id != 0 {
        links = links.embeddable("in-reply-to", at(&format!("/comments/{}", row.parent_id)));
    }
    if comment::has_children(call.conn()?, row.comment_id)? {
        let children = at(&format!("/comments?parent={}", row.comment_id));
        links = links.embeddable("children", children);
    }
    Ok(links)
}
