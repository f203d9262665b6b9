//! Signing in and out. **A session's token never survives either**: each begins with a new one, so
//! that nobody can plant one beforehand.

use std::sync::Arc;
use std::time::Duration;

use frame::auth::login::SignIn;
use frame::auth::second_factor::Waiting;
use frame::auth::{magic_link, session};
use frame::cookies::{self, Life};
use frame::pages::{Address, Link};
use frame::{User, mail};
use site_rows::session as rows;
use types::{Result, Secret};

use super::answer::WebAnswer;
use super::callback::encoded;
use super::form::{Fields, Visitor};
use super::local_path::local_path;
use super::page_path::{FORGOT_PATH, OPENID_ACTION, Spelling};
use super::page_request::{PageRequest, Session};
use crate::pages::{self, CSRF_FIELD, LinkPage, LoginPage, Policy, STEP_FIELD};

/// What the form for the password of a page asks for.
const UNLOCK: &str = "postpass";
const SIGN_IN: &str = "log-in";
const SIGN_OUT: &str = "log-out";
const KIND: &str = "page:login";
/// Where a link from an e-mail leads.
const PORTAL: &str = "/portal/";
const KIND_OUT: &str = "page:logout";
/// Characters of a login name or an e-mail address that are looked at.
const LOGIN_CHARS_MAX: usize = 320;
/// Says the same for unknown accounts and wrong passwords.
pub const WRONG: &str = "User name and password do not match; check both.";
pub const STALE: &str = "The page was open for too long, or cookies are off; try again.";

/// How long a session lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Usual,
    Long,
}

/// What the form says after it was refused.
struct Complaint<'a> {
    status: u16,
    message: &'a str,
    /// What was typed before.
    login: &'a str,
}

impl PageRequest<'_> {
    pub(super) async fn sign_in(&self, spelling: Spelling) -> Result<WebAnswer> {
        let is_post = self.request.method == "POST";
        if self.query().text("action") == UNLOCK {
            return self.unlock().await;
        }
        let fields = if is_post { self.form() } else { self.query() };
        let target = local_path(&self.visit.home, fields.text("redirect_to"));
        let session = self.session().await?;
        match self.query().text("action") {
            "logout" => return self.sign_out(spelling, session, &fields, target).await,
            "lostpassword" | "retrievepassword" => return self.forgotten(),
            "rp" | "resetpass" => return self.choose_password().await,
            OPENID_ACTION => return self.go_to_provider(target).await,
            _ => {}
        }
        let step = fields.text(STEP_FIELD);
        if is_post && !step.is_empty() {
            return self.code_posted(step, &fields).await;
        }
        let link = fields.text(magic_link::PARAMETER);
        match (is_post, link.is_empty()) {
            (true, true) => return self.sign_in_posted(spelling, &fields, target).await,
            (true, false) => return self.sign_in_by_link(link, &fields, target).await,
            (false, false) => return self.link_question(link, target, None).await,
            (false, true) => {}
        }
        match session {
            Some(_) => Ok(WebAnswer::redirect(KIND, &self.target(target))),
            None => self.sign_in_form(spelling, target.as_deref(), None),
        }
    }

    /// The address of the sign-in page that leads back to a path of this site.
    pub fn sign_in_address(&self, spelling: Spelling, back: &str) -> String {
        self.visit.page(&format!("{}?redirect_to={}", spelling.sign_in(), encoded(back)))
    }

    /// The path that signs out and then leads to another path of this site.
    pub fn sign_out_path(
        &self,
        spelling: Spelling,
        session: &Session,
        back: Option<&str>,
    ) -> String {
        let back = back.map(|back| format!("&redirect_to={}", encoded(back))).unwrap_or_default();
        let token = self.token(SIGN_OUT, session.holder());
        format!("{}?action=logout{back}&{CSRF_FIELD}={token}", spelling.sign_in())
    }

    fn target(&self, path: Option<String>) -> String {
        self.visit.page(path.as_deref().unwrap_or("/"))
    }

    fn sign_in_form(
        &self,
        spelling: Spelling,
        target: Option<&str>,
        complaint: Option<&Complaint<'_>>,
    ) -> Result<WebAnswer> {
        let visitor = self.visitor()?;
        let csrf = self.token(SIGN_IN, visitor.holder());
        let provider = self.provider_address(target);
        let page = LoginPage {
            site: self.masthead(),
            action: Address::new(spelling.sign_in()),
            redirect_to: target.unwrap_or_default(),
            csrf: &csrf,
            error: complaint.map(|complaint| complaint.message),
            login: complaint.map_or("", |complaint| complaint.login),
            forgot: mail::is_on(self.site).then(|| Address::new(FORGOT_PATH)),
            provider: provider.as_ref().map(|(name, path)| (*name, Address::new(path))),
        };
        let status = complaint.map_or(200, |complaint| complaint.status);
        let mut answer = self.private_page((KIND, status), Policy::Page, pages::login(&page));
        let cookie = self.visitor_cookie(&visitor);
        answer.headers.extend(cookie.map(|cookie| ("set-cookie", cookie)));
        Ok(answer)
    }

    async fn sign_in_posted(
        &self,
        spelling: Spelling,
        fields: &Fields,
        target: Option<String>,
    ) -> Result<WebAnswer> {
        let login = typed_login(fields.text("log"));
        let again = |status, message: &str| {
            let complaint = Complaint { status, message, login: &login };
            self.sign_in_form(spelling, target.as_deref(), Some(&complaint))
        };
        let is_own = |visitor: Visitor| self.is_genuine(SIGN_IN, visitor.holder(), fields);
        // Programs send name and password without having seen the form.
        let is_direct = !fields.has(CSRF_FIELD) && self.is_direct_post();
        if !is_direct && !self.known_visitor().is_some_and(is_own) {
            return again(403, STALE);
        }
        let password = Secret::new(fields.text("pwd").to_owned());
        match self.site.sign_in(self.request, &login, password).await? {
            SignIn::Welcome(user) => {
                let keep =
                    if fields.text("rememberme").is_empty() { Keep::Usual } else { Keep::Long };
                self.welcome(user.id(), &self.target(target), keep).await
            }
            SignIn::Wrong => {
                tracing::info!(reason = "wrong password or account", "sign-in refused");
                again(403, WRONG)
            }
            SignIn::Wait(wait) => told_to_wait(wait, |message| again(429, message)),
        }
    }

    /// Asks whoever opened a link from an e-mail whether to go on. Looking does not use it up.
    async fn link_question(
        &self,
        link: &str,
        target: Option<String>,
        error: Option<&str>,
    ) -> Result<WebAnswer> {
        let user = match self.link_holder(link, false).await? {
            Ok(user) => user,
            Err(refused) => return Ok(refused),
        };
        let visitor = self.visitor()?;
        let csrf = self.token(SIGN_IN, visitor.holder());
        let page = LinkPage {
            site: self.masthead(),
            action: Address::new(Spelling::Neutral.sign_in()),
            link,
            redirect_to: target.as_deref().unwrap_or_default(),
            csrf: &csrf,
            login: &user.row.login,
            error,
        };
        let status = if error.is_some() { 403 } else { 200 };
        let mut answer = self.private_page((KIND, status), Policy::Page, pages::link(&page));
        let cookie = self.visitor_cookie(&visitor);
        answer.headers.extend(cookie.map(|cookie| ("set-cookie", cookie)));
        Ok(answer)
    }

    /// Whom the link signs in, or the page that refuses it.
    async fn link_holder(&self, link: &str, use_up: bool) -> Result<Result<Arc<User>, WebAnswer>> {
        let found = self.site.sign_in_by_link(self.request, link, use_up, self.visit.now).await?;
        let page = |status: u16, message: &str| {
            let again = Link { text: "Log in", href: Address::new(Spelling::Neutral.sign_in()) };
            self.error((KIND, status), ("This link does not work", message), Some(again))
        };
        Ok(Err(match found {
            SignIn::Welcome(user) => return Ok(Ok(user)),
            SignIn::Wrong => {
                tracing::info!(reason = "unknown, used or expired link", "sign-in refused");
                page(403, "The link was already used or has expired; request a new one.")
            }
            SignIn::Wait(wait) => told_to_wait(wait, |message| Ok(page(429, message)))?,
        }))
    }

    /// Signs in whoever holds a link from an e-mail, once.
    async fn sign_in_by_link(
        &self,
        link: &str,
        fields: &Fields,
        target: Option<String>,
    ) -> Result<WebAnswer> {
        let is_own = |visitor: Visitor| self.is_genuine(SIGN_IN, visitor.holder(), fields);
        if !self.known_visitor().is_some_and(is_own) {
            return self.link_question(link, target, Some(STALE)).await;
        }
        let user = match self.link_holder(link, true).await? {
            Ok(user) => user,
            Err(refused) => return Ok(refused),
        };
        let target = target.unwrap_or_else(|| PORTAL.to_owned());
        self.welcome(user.id(), &self.visit.page(&target), Keep::Usual).await
    }

    /// Begins a session for somebody who has shown their password, or a link, and ends the one that
    /// the browser had. **Who has a second factor is asked for a code first**, at whichever door.
    pub async fn welcome(&self, user_id: i64, target: &str, keep: Keep) -> Result<WebAnswer> {
        let waiting = Waiting { target: target.to_owned(), keep: keep == Keep::Long };
        match self.site.ask_for_code(user_id, &waiting, self.visit.now).await? {
            Some(step) => self.code_page((200, None), step.expose()),
            None => self.begin(user_id, target, keep).await,
        }
    }

    pub(super) async fn begin(&self, user_id: i64, target: &str, keep: Keep) -> Result<WebAnswer> {
        self.end_session().await?;
        let (keep, now) = (keep == Keep::Long, self.visit.now);
        let begun = self.site.begin_session(user_id, self.request, keep, now).await?;
        let mut answer = WebAnswer::redirect(KIND, target);
        self.set_session(&mut answer, begun.token.expose(), Life::Lasting(begun.life));
        answer.headers.push(("set-cookie", self.visitor_over()));
        answer.user_id = Some(user_id);
        Ok(answer)
    }

    fn set_session(&self, answer: &mut WebAnswer, token: &str, life: Life) {
        for name in self.site.session_cookies() {
            let cookie = cookies::set(&name, token, life, self.request.secure);
            answer.headers.push(("set-cookie", cookie));
        }
    }

    async fn sign_out(
        &self,
        spelling: Spelling,
        session: Option<Session>,
        fields: &Fields,
        target: Option<String>,
    ) -> Result<WebAnswer> {
        let after = target.as_deref().unwrap_or(spelling.sign_in());
        let Some(session) = session else {
            return Ok(WebAnswer::redirect(KIND_OUT, &self.visit.page(after)));
        };
        let query = self.query();
        let holder = session.holder();
        let is_own =
            self.has_token(SIGN_OUT, holder, fields) || self.has_token(SIGN_OUT, holder, &query);
        if !is_own {
            let path = self.sign_out_path(spelling, &session, target.as_deref());
            let link = Link { text: "Yes, log out", href: Address::new(&path) };
            let question =
                ("Log out?", "Another page requested to log you out, or this page has expired.");
            return Ok(self.error((KIND_OUT, 403), question, Some(link)));
        }
        self.end_session().await?;
        let mut answer = WebAnswer::redirect(KIND_OUT, &self.visit.page(after));
        self.set_session(&mut answer, "", Life::Over);
        answer.user_id = Some(session.user.id());
        Ok(answer)
    }

    /// Forgets the session that the browser's cookie names, if there is one.
    async fn end_session(&self) -> Result<()> {
        let Some(token) = self.site.session_token(self.request) else { return Ok(()) };
        let hash = session::hash(self.site.vault(), token);
        self.site.store().write(move |conn| rows::delete(conn, &hash).map(drop)).await
    }
}

/// No name holds what cannot be typed, and not every database takes it.
pub fn typed_login(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(LOGIN_CHARS_MAX).collect()
}

/// The page by which somebody learns how long to wait.
pub fn told_to_wait(
    wait: Duration,
    page: impl FnOnce(&str) -> Result<WebAnswer>,
) -> Result<WebAnswer> {
    tracing::info!(reason = "too many attempts", "sign-in refused");
    let seconds = whole_seconds(wait);
    let mut answer = page(&format!("Too many attempts; try again in {seconds} seconds."))?;
    answer.headers.push(("retry-after", seconds.to_string()));
    Ok(answer)
}

/// Rounded up, so that who waits this long has waited enough.
pub(super) fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1)
}
