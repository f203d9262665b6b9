//! Pages behind a password: the form on such a page brings it, and leads back. **The answer depends
//! on the page for which it was typed**, so that each guess is one of that page's.

use std::time::Duration;

use frame::auth::page_password::Unlocking;
use frame::pages::Address;
use types::Result;

use super::answer::WebAnswer;
use super::headers;
use super::local_path::local_path;
use super::page_request::PageRequest;
use super::public::Piece;
use super::sign_in::whole_seconds;
use crate::pages::{self, Policy, UnlockPage};

const KIND: &str = "page:unlock";
const TITLE: &str = "Password";
const WRONG: &str = "The password is not correct; try again.";

impl PageRequest<'_> {
    /// Lets the browser see what has the password that the form brings.
    pub(super) async fn unlock(&self) -> Result<WebAnswer> {
        if self.request.method != "POST" {
            return Ok(WebAnswer::redirect(KIND, &self.visit.page("/")));
        }
        if !self.is_direct_post() {
            let message = "Type the password on the page that it is for.";
            return Ok(self.error((KIND, 403), (TITLE, message), None));
        }
        let fields = self.form();
        let referrer = self.request.header("referer").unwrap_or_default();
        let target = match fields.text("redirect_to") {
            "" => referrer,
            target => target,
        };
        let target = local_path(&self.visit.home, target);
        let piece = match &target {
            Some(target) => self.piece_at(target).await?,
            None => None,
        };
        let (Some(target), Some(piece)) = (target, piece) else {
            let message = "There is no such page; it may have been moved.";
            return Ok(self.error((KIND, 404), (TITLE, message), None));
        };
        let target = self.visit.page(&target);
        if !piece.lock.is_set() {
            return Ok(WebAnswer::redirect(KIND, &target));
        }
        Ok(match self.site.unlock(self.request, &piece.lock, fields.text("post_password")) {
            Unlocking::Open(cookie) => {
                let mut answer = WebAnswer::redirect(KIND, &target);
                answer.headers.push(("set-cookie", cookie));
                answer
            }
            Unlocking::Wrong => {
                tracing::info!(reason = "wrong password", "page not unlocked");
                self.locked(&piece, 403, WRONG)
            }
            Unlocking::Wait(wait) => self.locked_for(&piece, wait),
        })
    }

    /// What is at the path and query of an address of this site.
    async fn piece_at(&self, target: &str) -> Result<Option<Piece>> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = match path.trim_end_matches('/') {
            "" => "/",
            path => path,
        };
        self.piece(path, query).await
    }

    /// The form once more, with what is wrong.
    fn locked(&self, piece: &Piece, status: u16, error: &str) -> WebAnswer {
        let page = UnlockPage {
            site: self.masthead(),
            title: &piece.title,
            permalink: Address::new(&piece.permalink),
            error,
        };
        let mut answer = self.open_page(KIND, Policy::Page, pages::unlock(&page));
        answer.status = status;
        headers::set(&mut answer.headers, "cache-control", headers::NO_STORE);
        answer
    }

    fn locked_for(&self, piece: &Piece, wait: Duration) -> WebAnswer {
        tracing::info!(reason = "too many attempts", "page not unlocked");
        let seconds = whole_seconds(wait);
        let message = format!("Too many attempts; try again in {seconds} seconds.");
        let mut answer = self.locked(piece, 429, &message);
        answer.headers.push(("retry-after", seconds.to_string()));
        answer
    }
}
