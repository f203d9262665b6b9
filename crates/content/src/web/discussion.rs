//! What readers say below a post: the approved comments, and the form for another one. **The form
//! is everybody's**: what it brings counts as a stranger's word, whoever is signed in, so that it
//! needs no token; but no page of another site may send it.

use std::sync::Arc;
use std::time::Duration;

use contract::rest::route::Verb;
use contract::rest::{Params, Sources, Stop, clean, form};
use db::Conn;
use db::filter::{Direction, Page};
use frame::Visit;
use frame::action::Later;
use frame::cookies::{self, Life};
use frame::pages::{Address, Date, Link, TrustedHtml};
use frame::text::render;
use serde_json::{Map, Value, json};
use site_rows::comment::{self, CommentFilter, CommentOrder};
use site_rows::post::PostRow;
use types::{Error, Result};

use super::answer::WebAnswer;
use super::callback::encoded;
use super::page_request::PageRequest;
use crate::comments::{self, APPROVED, COMMENT};
use crate::pages::{CommentView, Commenter};
use crate::posts::{self, records};

/// Comments below a post at most.
const SHOWN_MAX: i64 = 200;
const KIND: &str = "page:comment";

/// What is said about a post, and whether more may be said.
#[derive(Debug, Default)]
pub(super) struct Discussion {
    said: Vec<ShownComment>,
    /// The post, if it takes comments of strangers.
    pub(super) open_for: Option<i64>,
}

#[derive(Debug)]
struct ShownComment {
    id: i64,
    author: String,
    at: String,
    html: String,
}

impl Discussion {
    pub(super) fn read(conn: &mut dyn Conn, visit: &Visit, row: &PostRow) -> Result<Self> {
        let wanted = CommentFilter {
            posts: vec![row.post_id],
            kinds: vec![COMMENT.to_owned()],
            statuses: vec![APPROVED.to_owned()],
            order: CommentOrder::Date,
            direction: Direction::Ascending,
            page: Page { offset: 0, limit: SHOWN_MAX },
            ..CommentFilter::default()
        };
        let said = comment::list(conn, &wanted)?.0.into_iter().map(|row| ShownComment {
            id: row.comment_id,
            at: visit.options.local(row.created).to_string(),
            html: render::content(&row.content),
            author: row.author,
        });
        let is_open = row.comment_status == "open" && !visit.options.is_on("comment_registration");
        Ok(Self { said: said.collect(), open_for: is_open.then_some(row.post_id) })
    }

    pub(super) fn views(&self) -> Vec<CommentView<'_>> {
        let mut views = Vec::with_capacity(self.said.len());
        for said in &self.said {
            views.push(CommentView {
                id: said.id,
                author: &said.author,
                at: Date(&said.at),
                content: TrustedHtml(&said.html),
            });
        }
        views
    }
}

/// How long a browser remembers who comments.
const REMEMBERED: Duration = Duration::from_hours(24 * 347);
const COOKIES: [&str; 3] = ["comment_author", "comment_author_email", "comment_author_url"];

impl PageRequest<'_> {
    /// What this browser was asked to remember.
    pub fn commenter(&self) -> Commenter {
        let [name, email, url] = COOKIES.map(|name| {
            let value = cookies::get(self.request, name).unwrap_or_default();
            clean::text_field(&form::percent_decode(value))
        });
        Commenter { name, email, url }
    }

    /// Lets the browser remember who commented, if they want that; else it forgets them.
    pub fn remember(&self, answer: &mut WebAnswer) {
        let fields = self.form();
        let is_wanted = fields.has("wp-comment-cookies-consent");
        for (name, field) in COOKIES.iter().zip(["author", "email", "url"]) {
            let value = encoded(&clean::text_field(fields.text(field)));
            let (value, life) =
                if is_wanted { (&*value, Life::Lasting(REMEMBERED)) } else { ("", Life::Over) };
            let cookie = cookies::set(name, value, life, self.request.secure);
            answer.headers.push(("set-cookie", cookie));
        }
    }

    /// Takes a comment, and leads back to what it is about.
    pub(super) async fn leave_comment(&self) -> Result<WebAnswer> {
        if self.request.method != "POST" {
            let mut answer = self.error(
                (KIND, 405),
                ("Comments", "Comments are sent with the form below a post."),
                None,
            );
            answer.headers.push(("allow", String::from("POST")));
            return Ok(answer);
        }
        if !self.is_direct_post() {
            let message = "Send the comment from the page that it is about.";
            return Ok(self.error((KIND, 403), ("Comments", message), None));
        }
        let call = Later {
            site: Arc::clone(self.site),
            visit: Arc::clone(&self.visit),
            params: self.comment_params(),
            verb: Verb::Post,
            upload: None,
        };
        let left = call
            .attempt(|call| {
                let row = comments::leave(call)?;
                let missing = || Error::internal("a comment is about nothing");
                let post = records::get(call, row.post_id)?.ok_or_else(missing)?;
                let visit = call.visit;
                Ok((row, posts::permalink(call.conn()?, visit, &post)?))
            })
            .await;
        let mut answer = match left {
            Ok((row, address)) if row.status == APPROVED => {
                let target = format!("{address}#comment-{}", row.comment_id);
                WebAnswer::redirect(KIND, &target)
            }
            Ok((_, address)) => {
                let message = "Thank you. Your comment is shown once it is approved.";
                let back = Link { text: "Back", href: Address::new(&address) };
                self.notice(KIND, ("Comment received", message), Some(back))
            }
            Err(Stop::Refused(refusal)) => {
                let status = (KIND, refusal.status);
                return Ok(self.error(status, ("Comments", &refusal.message), None));
            }
            Err(Stop::Failed(error)) => return Err(error),
        };
        self.remember(&mut answer);
        Ok(answer)
    }

    /// The fields of the form under the names of the interface.
    fn comment_params(&self) -> Params {
        let fields = self.form();
        let number = |name: &str| json!(fields.text(name).trim().parse::<i64>().unwrap_or(0));
        let line = |name: &str| json!(clean::text_field(fields.text(name)));
        let said: Map<String, Value> = [
            ("post", number("comment_post_ID")),
            ("parent", number("comment_parent")),
            ("content", json!(fields.text("comment"))),
            ("author_name", line("author")),
            ("author_email", line("email")),
            ("author_url", line("url")),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        Params::unchecked(Sources { json: Some(Value::Object(said)), ..Sources::default() })
    }
}
