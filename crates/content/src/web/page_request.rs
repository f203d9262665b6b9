//! Where one request for a page is answered: the circumstances, and the ways to answer.

use std::sync::Arc;

use contract::rest::{Params, Sources, Stop, Verb};
use frame::action::Later;
use frame::auth::nonce::Holder;
use frame::pages::{Address, Link, Theme};
use frame::{Identity, Options, Request, Site, User, Visit};
use types::{Error, Result};

use super::answer::WebAnswer;
use super::headers::{self, Privacy};
use crate::appearance::dress::{self, Dress, Dressed};
use crate::pages::{self, ErrorPage, Masthead, NotFoundPage, NoticePage, Policy};

/// One request for a page. The visit is nobody's: pages are the same for all readers.
#[derive(Debug)]
pub struct PageRequest<'a> {
    pub site: &'a Arc<Site>,
    pub request: &'a Request,
    pub visit: Arc<Visit>,
    name: String,
    rest_root: String,
    theme: Option<Theme>,
    dress: Dress,
    notice: String,
}

/// Somebody who is signed in.
#[derive(Debug)]
pub struct Session {
    pub user: Arc<User>,
    pub token_hash: Vec<u8>,
}

impl Session {
    pub fn holder(&self) -> Holder<'_> {
        Holder { user_id: self.user.id(), session: &self.token_hash }
    }
}

/// What visitors of a store that is only tried out are told; empty for any other store.
fn demo_notice(options: &Options) -> String {
    if !options.is_on("woocommerce_demo_store") {
        return String::new();
    }
    let own = options.text("woocommerce_demo_store_notice");
    if own.is_empty() {
        String::from("This is a demo store. Orders are not fulfilled.")
    } else {
        own
    }
}

/// How the pages look and what all of them show, by what people made of it.
async fn dressed(site: &Arc<Site>, visit: &Arc<Visit>) -> Result<Dressed> {
    let within = Later {
        site: Arc::clone(site),
        visit: Arc::clone(visit),
        params: Params::unchecked(Sources::default()),
        verb: Verb::Get,
        upload: None,
    };
    let looked = within.look(|call| dress::read(call).map_err(Stop::Failed)).await;
    looked.map_err(|stop| match stop {
        Stop::Failed(error) => error,
        Stop::Refused(_) => Error::internal("the look of the pages is refused"),
    })
}

impl<'a> PageRequest<'a> {
    pub async fn open(site: &'a Arc<Site>, request: &'a Request) -> Result<Self> {
        let now = site.clock().now();
        let visit = site.visit(request, Identity::ANONYMOUS, now).await?;
        let name = visit.options.text("blogname");
        let rest_root = visit.rest("/");
        let notice = demo_notice(&visit.options);
        let visit = Arc::new(visit);
        let Dressed { theme, dress, .. } = dressed(site, &visit).await?;
        Ok(Self { site, request, visit, name, rest_root, theme, dress, notice })
    }

    /// What every page shows of the site.
    pub fn masthead(&self) -> Masthead<'_> {
        Masthead {
            name: &self.name,
            home: Address::new(&self.visit.home),
            rest_root: Address::new(&self.rest_root),
            theme: self.theme.as_ref(),
            notice: &self.notice,
            dress: &self.dress,
        }
    }

    pub async fn session(&self) -> Result<Option<Session>> {
        let found = self.site.session_user(self.request, self.visit.now).await?;
        Ok(found.map(|(user, token_hash)| Session { user, token_hash }))
    }

    fn look(&self) -> (&str, Option<&Theme>) {
        (&self.rest_root, self.theme.as_ref())
    }

    /// A page that anybody may read. With a session's cookie nobody keeps it, because what the
    /// reader sees is nobody else's business.
    pub fn open_page(&self, kind: &'static str, policy: Policy<'_>, body: String) -> WebAnswer {
        let mut headers = headers::of_page(policy, Privacy::Open, self.look());
        if self.site.session_token(self.request).is_some() {
            headers::set(&mut headers, "cache-control", headers::NO_STORE);
        }
        WebAnswer { kind, status: 200, headers, body, user_id: None }
    }

    /// A page with a form, an error or a secret.
    pub fn private_page(
        &self,
        (kind, status): (&'static str, u16),
        policy: Policy<'_>,
        body: String,
    ) -> WebAnswer {
        let headers = headers::of_page(policy, Privacy::Private, self.look());
        WebAnswer { kind, status, headers, body, user_id: None }
    }

    /// A page that says why there is no other.
    pub fn error(
        &self,
        (kind, status): (&'static str, u16),
        (title, message): (&str, &str),
        back: Option<Link<'_>>,
    ) -> WebAnswer {
        let page = ErrorPage { site: self.masthead(), status, title, message, back };
        self.private_page((kind, status), Policy::Page, pages::error(&page))
    }

    /// A page that says what was done, where there is no other to lead to.
    pub fn notice(
        &self,
        kind: &'static str,
        (title, message): (&str, &str),
        back: Option<Link<'_>>,
    ) -> WebAnswer {
        let page = NoticePage { site: self.masthead(), title, message, back };
        self.private_page((kind, 200), Policy::Page, pages::notice(&page))
    }

    pub fn not_found(&self) -> WebAnswer {
        let page = NotFoundPage { site: self.masthead() };
        self.private_page(("page:none", 404), Policy::Page, pages::not_found(&page))
    }

    /// The active theme's style sheet; an empty one without a theme. It is asked for again each
    /// time, so that a page never shows colours of yesterday.
    pub(super) fn theme_style(&self) -> WebAnswer {
        let body = self.theme.as_ref().map(|theme| theme.style.clone()).unwrap_or_default();
        let headers = vec![
            ("content-type", String::from("text/css; charset=UTF-8")),
            ("cache-control", headers::NO_STORE.to_owned()),
            ("x-content-type-options", String::from("nosniff")),
            ("cross-origin-resource-policy", String::from("same-origin")),
        ];
        WebAnswer { kind: "page:theme", status: 200, headers, body, user_id: None }
    }

    /// Tells the browser where the page is for good.
    pub fn moved(&self, kind: &'static str, location: &str) -> WebAnswer {
        let headers = vec![
            ("content-type", pages::CONTENT_TYPE.to_owned()),
            ("location", location.to_owned()),
            ("cache-control", String::from("no-cache")),
            ("link", format!("<{}>; rel=\"https://api.w.org/\"", self.rest_root)),
        ];
        WebAnswer { kind, status: 301, headers, body: String::new(), user_id: None }
    }
}
