//! What a form brings: its fields, and the proof that it is one of ours.

use contract::rest::form;
use data_encoding::BASE64URL_NOPAD;
use frame::auth::nonce::{self, Holder};
use frame::cookies::{self, Life};
use serde_json::{Map, Value};
use types::{Environment, Error};

use super::headers;
use super::page_request::PageRequest;
use crate::pages::CSRF_FIELD;

const VISITOR_BYTES: usize = 16;

/// The fields of a form, or of a query string.
#[derive(Debug, Default)]
pub struct Fields(Map<String, Value>);

impl Fields {
    #[cfg(test)]
    pub(super) fn of(fields: Map<String, Value>) -> Self {
        Self(fields)
    }

    /// A field that is a text, or nothing in it.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// All fields by their names; one that was named like `quantity[7]` is in an object.
    pub fn all(&self) -> &Map<String, Value> {
        &self.0
    }
}

/// Who gets a form before anybody is signed in.
#[derive(Debug)]
pub struct Visitor {
    mark: String,
    is_new: bool,
}

impl PageRequest<'_> {
    /// The fields of the body, of whichever form it is; the token tells whether it is ours.
    pub fn form(&self) -> Fields {
        let media_type = self.request.header("content-type").unwrap_or_default();
        let kind = media_type.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Fields::default();
        }
        Fields(form::decode(&String::from_utf8_lossy(&self.request.body)))
    }

    pub fn query(&self) -> Fields {
        Fields(self.request.query.clone())
    }

    /// The token for an action of the holder.
    pub fn token(&self, action: &str, holder: Holder<'_>) -> String {
        nonce::make(self.site.vault(), action, holder, self.visit.now)
    }

    /// Whether the form was made for this holder, and sent from a page of this site.
    pub fn is_genuine(&self, action: &str, holder: Holder<'_>, fields: &Fields) -> bool {
        self.is_sent_from_here() && self.has_token(action, holder, fields)
    }

    /// Whether a page of this site sent the request, as far as the browser tells.
    pub fn is_sent_from_here(&self) -> bool {
        headers::is_same_origin(self.request, &self.visit.home)
    }

    /// Whether a form without a token may count. **No browser sends one from another site's page**:
    /// each says where a form comes from, and only programs say nothing.
    pub fn is_direct_post(&self) -> bool {
        headers::is_from_here(self.request, &self.visit.home)
    }

    pub(super) fn has_token(&self, action: &str, holder: Holder<'_>, fields: &Fields) -> bool {
        self.is_token(action, holder, fields.text(CSRF_FIELD))
    }

    pub fn is_token(&self, action: &str, holder: Holder<'_>, token: &str) -> bool {
        nonce::is_valid(self.site.vault(), action, holder, self.visit.now, token)
    }

    /// The visitor by their cookie, or a new one.
    pub fn visitor(&self) -> Result<Visitor, Error> {
        if let Some(visitor) = self.known_visitor() {
            return Ok(visitor);
        }
        let mut bytes = [0_u8; VISITOR_BYTES];
        vault::fill_random(&mut bytes)?;
        Ok(Visitor { mark: BASE64URL_NOPAD.encode(&bytes), is_new: true })
    }

    /// Name of the cookie that binds the sign-in form to the browser that it was given to, before
    /// there is a session.
    fn visitor_cookie_name(&self) -> &'static str {
        match self.site.environment() {
            Environment::Sandbox => "boardwalk_sandbox_visitor",
            Environment::Production => "boardwalk_visitor",
        }
    }

    pub fn known_visitor(&self) -> Option<Visitor> {
        let mark = cookies::get(self.request, self.visitor_cookie_name())?;
        let bytes = BASE64URL_NOPAD.decode(mark.as_bytes()).ok()?;
        (bytes.len() == VISITOR_BYTES).then(|| Visitor { mark: mark.to_owned(), is_new: false })
    }

    /// The cookie that lets the visitor be known again, unless they have it.
    pub fn visitor_cookie(&self, visitor: &Visitor) -> Option<String> {
        let (name, secure) = (self.visitor_cookie_name(), self.request.secure);
        visitor.is_new.then(|| cookies::set(name, &visitor.mark, Life::Visit, secure))
    }

    /// Forgets the visitor; who they are is known now.
    pub(super) fn visitor_over(&self) -> String {
        cookies::set(self.visitor_cookie_name(), "", Life::Over, self.request.secure)
    }
}

impl Visitor {
    pub fn holder(&self) -> Holder<'_> {
        Holder { user_id: 0, session: self.mark.as_bytes() }
    }
}
