//! A forgotten password: who asks gets a link by e-mail, and who opens it chooses another one.
//! **What is shown never depends on whether there is such an account.**

use frame::auth::login::SignIn;
use frame::auth::password_reset;
use frame::pages::{Address, Link};
use frame::{mail, password};
use types::{Result, Secret};

use super::answer::WebAnswer;
use super::form::{Fields, Visitor};
use super::page_path::{FORGOT_PATH, Spelling};
use super::page_request::PageRequest;
use super::sign_in::{STALE, told_to_wait, typed_login};
use crate::pages::{self, ForgotPage, NewPasswordPage, Policy};

const KIND: &str = "page:password";
const FORGOT: &str = "forgot-password";
const CHOOSE: &str = "choose-password";
const OFF: &str = "This site sends no e-mail. Ask an administrator to set a new password.";

impl PageRequest<'_> {
    /// Asks whose password was forgotten, and sends the link.
    pub(super) fn forgotten(&self) -> Result<WebAnswer> {
        if !mail::is_on(self.site) {
            let again = Link { text: "Sign in", href: Address::new(Spelling::Neutral.sign_in()) };
            let text = ("Passwords cannot be reset here", OFF);
            return Ok(self.error((KIND, 404), text, Some(again)));
        }
        if self.request.method != "POST" {
            return self.forgot_page(200, None, false);
        }
        let fields = self.form();
        if !self.is_own_form(FORGOT, &fields) {
            return self.forgot_page(403, Some(STALE), false);
        }
        let login = typed_login(fields.text("user_login"));
        match self.site.request_password_reset(self.request, &login, self.visit.now) {
            Ok(()) => self.forgot_page(200, None, true),
            Err(wait) => told_to_wait(wait, |message| self.forgot_page(429, Some(message), false)),
        }
    }

    fn is_own_form(&self, action: &str, fields: &Fields) -> bool {
        let is_own = |visitor: Visitor| self.is_genuine(action, visitor.holder(), fields);
        self.known_visitor().is_some_and(is_own)
    }

    fn forgot_page(&self, status: u16, error: Option<&str>, is_sent: bool) -> Result<WebAnswer> {
        let visitor = self.visitor()?;
        let csrf = self.token(FORGOT, visitor.holder());
        let page = ForgotPage {
            site: self.masthead(),
            action: Address::new(FORGOT_PATH),
            sign_in: Address::new(Spelling::Neutral.sign_in()),
            csrf: &csrf,
            error,
            is_sent,
        };
        let answer = self.private_page((KIND, status), Policy::Page, pages::forgot(&page));
        Ok(self.for_visitor(answer, &visitor))
    }

    fn for_visitor(&self, mut answer: WebAnswer, visitor: &Visitor) -> WebAnswer {
        let cookie = self.visitor_cookie(visitor);
        answer.headers.extend(cookie.map(|cookie| ("set-cookie", cookie)));
        answer
    }

    /// Asks whoever opened a link for a new password, and sets it.
    pub(super) async fn choose_password(&self) -> Result<WebAnswer> {
        let is_post = self.request.method == "POST";
        let fields = if is_post { self.form() } else { self.query() };
        let link = fields.text(password_reset::PARAMETER);
        let found = self.site.password_reset_holder(self.request, link, self.visit.now).await?;
        let user = match found {
            SignIn::Welcome(user) => user,
            SignIn::Wrong => return Ok(self.link_is_stale(403, STALE_LINK)),
            SignIn::Wait(wait) => {
                return told_to_wait(wait, |message| Ok(self.link_is_stale(429, message)));
            }
        };
        let again = |status, error: Option<&str>| {
            self.password_page(status, (link, &user.row.login), error, false)
        };
        if !is_post {
            return again(200, None);
        }
        if !self.is_own_form(CHOOSE, &fields) {
            return again(403, Some(STALE));
        }
        let chosen = fields.text("pass1");
        if let Some(error) = password::error(chosen) {
            return again(400, Some(&error));
        }
        let chosen = Secret::new(chosen.to_owned());
        if !self.site.reset_password(link, chosen, self.visit.now).await? {
            return Ok(self.link_is_stale(403, STALE_LINK));
        }
        self.password_page(200, ("", &user.row.login), None, true)
    }

    fn link_is_stale(&self, status: u16, message: &str) -> WebAnswer {
        let again = Link { text: "Ask for a new link", href: Address::new(FORGOT_PATH) };
        self.error((KIND, status), ("This link does not work", message), Some(again))
    }

    fn password_page(
        &self,
        status: u16,
        (link, login): (&str, &str),
        error: Option<&str>,
        is_done: bool,
    ) -> Result<WebAnswer> {
        let visitor = self.visitor()?;
        let csrf = self.token(CHOOSE, visitor.holder());
        let page = NewPasswordPage {
            site: self.masthead(),
            action: Address::new("/login?action=rp"),
            sign_in: Address::new(Spelling::Neutral.sign_in()),
            link,
            login,
            csrf: &csrf,
            error,
            is_done,
        };
        let answer = self.private_page((KIND, status), Policy::Page, pages::new_password(&page));
        Ok(self.for_visitor(answer, &visitor))
    }
}

const STALE_LINK: &str = "The link was already used or has expired.";
