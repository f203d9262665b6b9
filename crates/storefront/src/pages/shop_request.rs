//! Where one request for a page of the shop is answered: who reads, what the Store API says to
//! them, and the proof that a form is one of ours.

use std::sync::Arc;

use commerce::pictures;
use content::pages::Policy;
use content::web::{Fields, PageRequest, Session, Visitor, WebAnswer};
use contract::rest::{Params, Sources, Verb};
use frame::action::Later;
use frame::auth::nonce::Holder;
use frame::{Identity, Options, Via, Visit};
use serde_json::{Value, json};
use types::Result;

use super::values::{Picture, StoreAnswer, pictures as pictures_of};
use crate::{images, session};

/// Headers by which programs say whose cart they mean. A browser's cart is that of its cookie.
const OF_PROGRAMS: &[&str] = &["cart-token", "nonce", session::OUTER_TOKEN];

/// One request for a page of the shop.
pub(super) struct ShopRequest<'a> {
    pub(super) page: PageRequest<'a>,
    pub(super) session: Option<Session>,
    visitor: Visitor,
    /// The reader as the Store API sees them.
    pub(super) visit: Arc<Visit>,
    /// What the Store API had the browser remember.
    cookies: Vec<String>,
    /// What stands for the picture of a product without one, as the Store API shows pictures.
    stand_in: Value,
}

impl<'a> ShopRequest<'a> {
    pub(super) async fn open(page: PageRequest<'a>) -> Result<Self> {
        let session = page.session().await?;
        let visitor = page.visitor()?;
        let mut visit = (*page.visit).clone();
        if let Some(session) = &session {
            let via = Via::Session { token_hash: session.token_hash.clone() };
            visit.identity = Identity::of(Arc::clone(&session.user), via);
        }
        let own = Arc::make_mut(&mut visit.headers);
        own.retain(|(name, _)| !OF_PROGRAMS.contains(&name.as_str()));
        // Whether a form is genuine is decided before anything is asked for.
        let nonce = session::nonce_for(page.site, &visit);
        Arc::make_mut(&mut visit.headers).push((String::from("nonce"), nonce));
        let visit = Arc::new(visit);
        let reader = Arc::clone(&visit);
        let read = move |conn: &mut dyn db::Conn| {
            Ok(images::shown(&reader, &pictures::placeholder(conn, &reader)?))
        };
        let stand_in = page.site.store().read(read).await?;
        Ok(Self { page, session, visitor, visit, cookies: Vec::new(), stand_in })
    }

    /// Pictures of a product of the Store API; the small forms for lists. One without any has what
    /// stands for them.
    pub(super) fn pictures(&self, product: &Value, is_small: bool) -> Vec<Picture> {
        let own = pictures_of(product, is_small);
        if !own.is_empty() {
            return own;
        }
        pictures_of(&json!({ "name": "", "images": [self.stand_in] }), is_small)
    }

    pub(super) fn options(&self) -> &Options {
        &self.visit.options
    }

    pub(super) fn is_post(&self) -> bool {
        self.page.request.method == "POST"
    }

    pub(super) fn user_id(&self) -> i64 {
        self.session.as_ref().map_or(0, |session| session.user.id())
    }

    /// What the Store API answers at a path below its root.
    pub(super) async fn ask(&mut self, verb: Verb, path: &str, body: Option<Value>) -> StoreAnswer {
        let path = format!("/{}{path}", self.page.site.settings().names.store_v1);
        let reply = self.page.site.ask_as(&self.visit, (verb, &path), body).await;
        let (status, headers, json) = reply.into_json();
        for (_, cookie) in headers.iter().filter(|(name, _)| *name == "set-cookie") {
            self.remember(cookie);
        }
        StoreAnswer { status, headers, json }
    }

    /// Hands a cookie to the browser, and shows it to the Store API from now on: the next question
    /// is about the same cart.
    fn remember(&mut self, cookie: &str) {
        let name = |cookie: &str| cookie.split('=').next().unwrap_or_default().to_owned();
        self.cookies.retain(|known| name(known) != name(cookie));
        self.cookies.push(cookie.to_owned());
        let pair = cookie.split(';').next().unwrap_or_default().to_owned();
        let mut visit = (*self.visit).clone();
        Arc::make_mut(&mut visit.headers).insert(0, (String::from("cookie"), pair));
        self.visit = Arc::new(visit);
    }

    /// Reads and writes in the reader's name where the Store API has no route.
    pub(super) fn within(&self) -> Later {
        Later {
            site: Arc::clone(self.page.site),
            visit: Arc::clone(&self.visit),
            params: Params::unchecked(Sources::default()),
            verb: Verb::Get,
            upload: None,
        }
    }

    fn holder(&self) -> Holder<'_> {
        match &self.session {
            Some(session) => session.holder(),
            None => self.visitor.holder(),
        }
    }

    /// The token of the forms of a page.
    pub(super) fn token(&self, action: &str) -> String {
        self.page.token(action, self.holder())
    }

    /// Whether the form is one that this reader was given.
    pub(super) fn is_genuine(&self, action: &str, fields: &Fields) -> bool {
        self.page.is_genuine(action, self.holder(), fields)
    }

    /// Whether the token of this name is one that this reader was given.
    pub(super) fn has_token(&self, action: &str, token: &str) -> bool {
        self.page.is_sent_from_here() && self.page.is_token(action, self.holder(), token)
    }

    /// A page with forms, which nobody keeps.
    pub(super) fn private(&self, (kind, status): (&'static str, u16), body: String) -> WebAnswer {
        let mut answer = self.page.private_page((kind, status), Policy::Shop, body);
        if self.session.is_none() {
            let cookie = self.page.visitor_cookie(&self.visitor);
            answer.headers.extend(cookie.map(|cookie| ("set-cookie", cookie)));
        }
        answer
    }

    pub(super) fn redirect(&self, kind: &'static str, path: &str) -> WebAnswer {
        WebAnswer::redirect(kind, &self.visit.page(path))
    }

    /// The answer with what the browser is to remember.
    pub(super) fn dressed(&self, mut answer: WebAnswer) -> WebAnswer {
        let cookies = self.cookies.iter().map(|cookie| ("set-cookie", cookie.clone()));
        answer.headers.extend(cookies);
        if self.session.is_some() {
            answer.user_id = Some(self.user_id());
        }
        answer
    }
}
