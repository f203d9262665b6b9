//! What a request asks for, once its overrides are read, and the answers in its response: one, or
//! one for each request of a batch.

use serde_json::Value;

use super::{Answer, JSON};
use crate::http::{Request, Response};

/// A parameter that names the route, for sites without paths.
const ROUTE: &str = "rest_route";
const BATCH: &str = "/batch/v1";

pub(super) struct RecordedRequest {
    method: String,
    path: String,
    has_envelope: bool,
    is_chosen: bool,
    body: Value,
}

impl RecordedRequest {
    /// Nothing if the request is none that the root answers as its document says.
    pub(super) fn of(root: &str, request: &Request) -> Option<Self> {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let params: Vec<(String, String)> =
            form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let param = |name: &str| params.iter().find(|(given, _)| given == name).map(|(_, v)| v);
        let path = decoded(path);
        let path = match param(ROUTE) {
            Some(route) if !path.starts_with(root) => route.clone(),
            _ => path.strip_prefix(root)?.to_owned(),
        };
        let header = |name: &str| {
            let found = request.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value)
        };
        let is_post = request.method == "POST";
        let other = param("_method").or_else(|| header("X-HTTP-Method-Override"));
        let method = other.filter(|_| is_post).unwrap_or(&request.method).to_ascii_uppercase();
        let is_jsonp = param("_jsonp").is_some();
        if is_jsonp || matches!(method.as_str(), "HEAD" | "OPTIONS") {
            return None;
        }
        let path = match path.trim_end_matches('/') {
            "" => String::from("/"),
            trimmed => trimmed.to_owned(),
        };
        let has_envelope = param("_envelope").is_some();
        let chooses = |name: &str| name == "context" || name.starts_with("_fields");
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let mut given = params.iter().map(|(name, _)| name.as_str());
        let is_chosen = given.any(chooses) || body.get("_fields").is_some();
        Some(Self { method, path, has_envelope, is_chosen, body })
    }

    pub(super) fn answers(self, response: &Response) -> Option<Vec<Answer>> {
        let kind = response.header("Content-Type").map(|kind| {
            let (name, _) = kind.split_once(';').unwrap_or((&*kind, ""));
            name.trim().to_ascii_lowercase()
        });
        let is_packed = response.header("Content-Encoding").is_some();
        let is_json = kind.as_deref() == Some(JSON) && !is_packed;
        let body = if is_json { response.json().ok()? } else { Value::Null };
        let other_type = kind.filter(|_| !is_json && !response.body.is_empty());
        if !is_json && !response.body.is_empty() && (is_packed || other_type.is_none()) {
            return None;
        }
        let (status, body) =
            if self.has_envelope { unwrapped(&body)? } else { (response.status, body) };
        if matches!(status, 300..400) {
            return None;
        }
        let mut answers = Vec::new();
        if self.path == BATCH && self.method == "POST" && status < 300 {
            answers.extend(self.items(&body));
        }
        let Self { method, path, is_chosen, .. } = self;
        answers.push(Answer { method, path, status, other_type, body, is_chosen });
        Some(answers)
    }

    /// The answers to the requests of a batch.
    fn items(&self, body: &Value) -> Vec<Answer> {
        let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned();
        let requests = list(self.body.get("requests")).unwrap_or_default();
        let responses = list(body.get("responses")).unwrap_or_default();
        let answer = |(request, response): (&Value, &Value)| {
            let text = |name: &str| request.get(name).and_then(Value::as_str);
            let path = text("path")?;
            let path = decoded(path.split('?').next().unwrap_or(path));
            let method = text("method").unwrap_or("POST").to_ascii_uppercase();
            let (status, body) = unwrapped(response)?;
            Some(Answer { method, path, status, other_type: None, body, is_chosen: true })
        };
        requests.iter().zip(&responses).filter_map(answer).collect()
    }
}

/// What an envelope holds.
fn unwrapped(envelope: &Value) -> Option<(u16, Value)> {
    let status = envelope.get("status")?.as_u64()?;
    Some((u16::try_from(status).ok()?, envelope.get("body")?.clone()))
}

/// The path with its escapes read, as the server matches it.
fn decoded(path: &str) -> String {
    // Read as the value of a form, in which a plus would be a blank.
    let as_value = format!("path={}", path.replace('+', "%2B").replace('&', "%26"));
    let read = form_urlencoded::parse(as_value.as_bytes()).next();
    read.map(|(_, value)| value.into_owned()).unwrap_or_default()
}
