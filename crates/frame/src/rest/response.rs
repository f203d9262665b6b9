//! An answer in the form in which it goes on the wire: wrapped, serialised, with all its headers.

use std::borrow::Cow;
use std::sync::Arc;

use contract::object;
use contract::rest::reply::Prepared;
use contract::rest::{Body, Refusal, Reply};
use serde_json::{Map, Value, json};

use super::headers::{self, Headers};
use crate::{Identity, Request, Site, Visit};

/// What the server sends.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Headers,
    pub payload: Payload,
    /// The route's pattern, for metrics and the log.
    pub route: Option<String>,
    pub user_id: Option<i64>,
}

#[derive(Debug)]
pub enum Payload {
    Bytes(Vec<u8>),
    Plain(Arc<Prepared>),
    Gzip(Arc<Prepared>),
    Shared(Arc<Vec<u8>>),
    Empty,
    /// The body that GET would return is left out; a header has its length, where that is known.
    LeftOut,
}

impl Payload {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Plain(document) => document.plain.len(),
            Self::Gzip(document) => document.gzip.len(),
            Self::Shared(text) => text.len(),
            Self::Empty | Self::LeftOut => 0,
        }
    }
}

/// The header that sets a cookie.
const COOKIE: &str = "set-cookie";

/// How the caller wants the answer wrapped.
#[derive(Debug)]
pub(super) struct Wrapping {
    callback: Option<Result<String, ()>>,
    envelope: bool,
    pretty: bool,
}

impl Wrapping {
    pub(super) fn of(request: &Request) -> Self {
        let callback = request.query.get("_jsonp").map(|value| {
            let name = value.as_str().ok_or(())?;
            let fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            if !name.is_empty() && name.chars().all(fine) { Ok(name.to_owned()) } else { Err(()) }
        });
        Self {
            callback,
            envelope: request.query.contains_key("_envelope"),
            pretty: request.query.contains_key("_pretty"),
        }
    }

    pub(super) fn check(&self, jsonp: bool) -> Result<(), Refusal> {
        match &self.callback {
            Some(_) if !jsonp => Err(jsonp_disabled()),
            Some(Err(())) => {
                let message = "The callback can contain only letters, digits, _ and .";
                Err(Refusal::new(400, "rest_callback_invalid", message))
            }
            _ => Ok(()),
        }
    }

    /// A script of another site must not read what only a user may: JSONP is for anonymous GET.
    pub(super) fn allows(&self, identity: &Identity, method: &str) -> bool {
        self.callback.is_none() || (identity.is_anonymous() && method == "GET")
    }

    pub(super) fn is_plain(&self) -> bool {
        self.callback.is_none() && !self.envelope && !self.pretty
    }
}

pub(super) fn jsonp_disabled() -> Refusal {
    Refusal::new(400, "rest_callback_disabled", "JSONP supports only anonymous GET requests.")
}

impl Response {
    /// An answer to a request that never reached the site.
    pub fn of_refusal(refusal: &Refusal) -> Self {
        let headers = vec![
            ("content-type", headers::JSON.into()),
            ("x-content-type-options", "nosniff".into()),
        ];
        let payload = Payload::Bytes(refusal.body().to_string().into_bytes());
        Self { status: refusal.status, headers, payload, route: None, user_id: None }
    }

    /// The two errors of JSONP are told without `data`, and never as a script.
    pub(super) fn plain_refusal(refusal: &Refusal, rest_url: &str) -> Self {
        let body = json!({ "code": refusal.code, "message": refusal.message });
        Self {
            status: refusal.status,
            headers: headers::base(rest_url),
            payload: Payload::Bytes(body.to_string().into_bytes()),
            route: None,
            user_id: None,
        }
    }
}

impl Site {
    /// The headers of the interface, and whether nobody may keep the reply.
    fn head_of(&self, request: &Request, visit: &Visit, reply: &Reply) -> (Headers, bool) {
        let mut out = headers::base(&visit.rest_url);
        headers::cross_origin(&mut out, request, self.settings());
        let code = match &reply.body {
            Body::Json(body) => body.get("code").and_then(Value::as_str).unwrap_or_default(),
            _ => "",
        };
        let is_private = headers::forbids_caching(request, visit, reply.status, code);
        if is_private {
            out.push(("cache-control", headers::NO_STORE.into()));
            out.push(("expires", headers::EXPIRED.into()));
        }
        let anonymous_get = visit.identity.is_anonymous() && request.method == "GET";
        if request.header("origin").is_some() || anonymous_get {
            out.push(("vary", "Origin".into()));
        }
        if let Some(wait) = retry_after(reply) {
            out.push(("retry-after", wait.into()));
        }
        if let Some(nonce) = &visit.identity.fresh_nonce {
            out.push(("x-wp-nonce", nonce.clone().into()));
        }
        (out, is_private)
    }

    /// Puts the reply into its wrapping and adds the headers of the interface.
    pub(super) fn respond(
        &self,
        request: &Request,
        visit: &Visit,
        reply: Reply,
        wrapping: &Wrapping,
    ) -> Response {
        let (mut out, is_private) = self.head_of(request, visit, &reply);
        if let (Body::Prepared(document), true) = (&reply.body, wrapping.is_plain()) {
            let document = Arc::clone(document);
            return prepared(request, document, &reply, out);
        }
        let mut status = reply.status;
        if !wrapping.envelope {
            // What is private stays so, whatever the operation says of its reply.
            let own = reply.headers.iter();
            for (name, value) in own.filter(|(name, _)| !is_private || *name != "cache-control") {
                set(&mut out, name, value.clone());
            }
        }
        let verbatim = match reply.body {
            Body::Text { media_type, text } => Ok((media_type, text.into_bytes())),
            Body::File { media_type, bytes } => Ok((media_type, bytes)),
            body => Err(body),
        };
        let reply = match verbatim {
            Ok((media_type, bytes)) => {
                set(&mut out, "content-type", media_type);
                let payload = Payload::Bytes(bytes);
                return Response { status, headers: out, payload, route: None, user_id: None };
            }
            Err(body) => Reply { body, ..reply },
        };
        if let (Body::Written(text), true) = (&reply.body, wrapping.is_plain()) {
            let payload = Payload::Shared(Arc::clone(text));
            return Response { status, headers: out, payload, route: None, user_id: None };
        }
        let nothing = matches!(reply.body, Body::Nothing) && !wrapping.envelope;
        let beside = reply.beside.clone();
        let (inner_status, inner_headers, mut body) = reply.into_json();
        if wrapping.envelope {
            let headers = header_map(&inner_headers);
            body = object! { "body": body, "status": inner_status, "headers": headers };
            if let Value::Object(members) = &mut body {
                members.extend(beside);
            }
            status = 200;
        }
        let payload = if nothing || status == 204 {
            Payload::Empty
        } else {
            Payload::Bytes(serialise(&body, wrapping, &mut out))
        };
        Response { status, headers: out, payload, route: None, user_id: None }
    }
}

/// After which somebody who found a server busy, or away, may ask again.
const RETRY_SECONDS: u32 = 5;

/// How long a caller who guessed too often must wait, or who found something away. Who must look
/// first whether a change is stored is not told to send it again.
fn retry_after(reply: &Reply) -> Option<String> {
    match &reply.body {
        Body::Json(body) if reply.status == 429 => {
            Some(body.get("data")?.get("retry_after")?.to_string())
        }
        Body::Json(body) if body.get("code").is_some_and(|own| own == Refusal::MAY_BE_STORED) => {
            None
        }
        _ if reply.status == 503 => Some(RETRY_SECONDS.to_string()),
        _ => None,
    }
}

fn serialise(body: &Value, wrapping: &Wrapping, headers: &mut Headers) -> Vec<u8> {
    let text = if wrapping.pretty {
        serde_json::to_string_pretty(body).unwrap_or_default()
    } else {
        body.to_string()
    };
    let Some(Ok(callback)) = &wrapping.callback else { return text.into_bytes() };
    set(headers, "content-type", "application/javascript; charset=UTF-8");
    // These two end a line in a script, but not in JSON. The comment keeps the callback's name from
    // being read as the start of another file format.
    let text = text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    format!("/**/{callback}({text})").into_bytes()
}

/// A document that was serialised before: it has a tag, and may be compressed.
fn prepared(
    request: &Request,
    document: Arc<Prepared>,
    reply: &Reply,
    mut headers: Headers,
) -> Response {
    for (name, value) in &reply.headers {
        set(&mut headers, name, value.clone());
    }
    set(&mut headers, "etag", document.etag.clone());
    let vary = if headers.iter().any(|(name, _)| *name == "vary") {
        "Origin, Accept-Encoding"
    } else {
        "Accept-Encoding"
    };
    set(&mut headers, "vary", vary);
    let known = request.header("if-none-match").unwrap_or_default();
    let matches = known.split(',').any(|tag| tag.trim().trim_start_matches("W/") == document.etag);
    let (status, payload) = if matches || known.trim() == "*" {
        (304, Payload::Empty)
    } else if accepts_gzip(request) && !document.gzip.is_empty() {
        headers.push(("content-encoding", "gzip".into()));
        (reply.status, Payload::Gzip(document))
    } else {
        (reply.status, Payload::Plain(document))
    };
    Response { status, headers, payload, route: None, user_id: None }
}

fn accepts_gzip(request: &Request) -> bool {
    let accepted = request.header("accept-encoding").unwrap_or_default();
    accepted.split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        (name.eq_ignore_ascii_case("gzip") || name == "*") && !refused
    })
}

/// A later header replaces an earlier one of the same name; of cookies there may be several.
fn set(headers: &mut Headers, name: &'static str, value: impl Into<Cow<'static, str>>) {
    headers.retain(|(other, _)| *other != name || name == COOKIE);
    headers.push((name, value.into()));
}

/// Headers as a member of a body: totals are numbers there, and no headers are an empty list.
pub(crate) fn header_map(list: &[(&'static str, String)]) -> Value {
    if list.is_empty() {
        return json!([]);
    }
    let member = |(name, value): &(&'static str, String)| {
        let is_number = name.starts_with("x-wp-total") || *name == "user-id";
        let number = is_number.then(|| value.parse::<i64>().ok()).flatten();
        let value = number.map_or_else(|| Value::from(value.as_str()), Value::from);
        (headers::spelling(name), value)
    };
    let shown = list.iter().filter(|(name, _)| *name != COOKIE);
    Value::Object(shown.map(member).collect::<Map<_, _>>())
}
