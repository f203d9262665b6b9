//! The page that asks for a code after the password was right. Nobody has a session before the code
//! is, too.

use frame::auth::second_factor::CodeShown;
use frame::pages::{Address, Link};
use types::Result;

use super::answer::WebAnswer;
use super::form::{Fields, Visitor};
use super::page_path::Spelling;
use super::page_request::PageRequest;
use super::sign_in::{Keep, STALE, told_to_wait, typed_login};
use crate::pages::{self, CodePage, Policy};

const KIND: &str = "page:login";
const SHOW: &str = "show-code";
const WRONG_CODE: &str = "The code is wrong or was already used; enter the next one.";

const STALE_STEP: &str = "It took too long, the code was already used, or too many were wrong.";
const REFUSED_CODE: &str = "Too many wrong codes were entered today. Enter a recovery code, try \
                            again tomorrow, or ask an administrator to reset two-factor \
                            authentication.";

impl PageRequest<'_> {
    pub(super) fn code_page(
        &self,
        (status, error): (u16, Option<&str>),
        step: &str,
    ) -> Result<WebAnswer> {
        let visitor = self.visitor()?;
        let csrf = self.token(SHOW, visitor.holder());
        let page = CodePage {
            site: self.masthead(),
            action: Address::new(Spelling::Neutral.sign_in()),
            step,
            csrf: &csrf,
            error,
        };
        let mut answer = self.private_page((KIND, status), Policy::Page, pages::code(&page));
        let cookie = self.visitor_cookie(&visitor);
        answer.headers.extend(cookie.map(|cookie| ("set-cookie", cookie)));
        Ok(answer)
    }

    pub(super) async fn code_posted(&self, step: &str, fields: &Fields) -> Result<WebAnswer> {
        let is_own = |visitor: Visitor| self.is_genuine(SHOW, visitor.holder(), fields);
        if !self.known_visitor().is_some_and(is_own) {
            return self.code_page((403, Some(STALE)), step);
        }
        let code = typed_login(fields.text("code"));
        match self.site.show_code(step, &code, self.visit.now).await? {
            CodeShown::Welcome(user_id, waiting) => {
                let keep = if waiting.keep { Keep::Long } else { Keep::Usual };
                self.begin(user_id, &waiting.target, keep).await
            }
            CodeShown::Wrong => {
                tracing::info!(reason = "wrong second factor", "sign-in refused");
                self.code_page((403, Some(WRONG_CODE)), step)
            }
            CodeShown::Refused => self.code_page((429, Some(REFUSED_CODE)), step),
            CodeShown::Stale => {
                let again =
                    Link { text: "Sign in", href: Address::new(Spelling::Neutral.sign_in()) };
                let text = ("Sign in again", STALE_STEP);
                Ok(self.error((KIND, 403), text, Some(again)))
            }
            CodeShown::Wait(wait) => {
                told_to_wait(wait, |message| self.code_page((429, Some(message)), step))
            }
        }
    }
}
