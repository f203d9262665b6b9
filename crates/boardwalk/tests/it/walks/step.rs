//! One step of a walk: a request, and what must hold for its answer.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use admin::package::{Files, hex_sha256, pack};
use serde::Deserialize;
use serde_json::{Value, json};
use testkit::http::{Connection, Request};
use testkit::process;
use url::Url;

use crate::browser::Browser;
use crate::rest_site::RestSite;
use crate::support::{Running, basic};
use crate::test_market::TestMarket;

const NOBODY: &str = "none";
/// The method of a step that tells the test's own marketplace a word.
const MARKET: &str = "MARKET";
/// The method of a step in which a user signs in with a browser; it answers with cookie and nonce.
const BROWSER: &str = "BROWSER";
const PASSWORD: &str = "walking along the pier";
const PATIENCE: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// A request and what must hold for its answer, by JSON pointers into it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    /// Method and path below the REST root, or a whole address of the site; or `MARKET` and a word,
    /// `BROWSER` and a user.
    pub(super) send: String,
    body: Option<Value>,
    /// Fields of a form instead.
    form: Option<String>,
    /// The cookie of a browser.
    cookie: Option<String>,
    /// A file that is sent by a form.
    upload: Option<Upload>,
    #[serde(rename = "as", default = "administrator")]
    caller: String,
    pub(super) status: u16,
    /// Tried again until it holds, since it is done in the background.
    #[serde(default)]
    eventually: bool,
    #[serde(default)]
    has: BTreeMap<String, Value>,
    #[serde(default)]
    differs: BTreeMap<String, Value>,
    #[serde(default)]
    lacks: Vec<String>,
    #[serde(default)]
    contains: BTreeMap<String, Value>,
    #[serde(default)]
    excludes: BTreeMap<String, Value>,
    /// Lists with an item of this id, and without one.
    #[serde(default)]
    contains_id: BTreeMap<String, Value>,
    #[serde(default)]
    excludes_id: BTreeMap<String, Value>,
    /// Lists of this length.
    #[serde(default)]
    counts: BTreeMap<String, Value>,
    /// Names for values that later steps write as `{name}`.
    #[serde(default)]
    pub(super) keep: BTreeMap<String, String>,
    /// The same for a parameter of an address in the answer: its pointer, `?`, the parameter.
    #[serde(default)]
    keep_parameter: BTreeMap<String, String>,
    /// Names for the SHA-256 of values that were kept.
    #[serde(default)]
    keep_digest: BTreeMap<String, String>,
    /// Whether it comes by https, as the proxy before the server says.
    #[serde(default)]
    https: bool,
}

/// A file of a form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Upload {
    field: String,
    /// A package of these files, or a text that is none.
    content: Value,
}

fn administrator() -> String {
    String::from("admin")
}

/// Who takes the steps, and where.
pub(super) struct Walker {
    pub(super) running: Running,
    pub(super) original: RestSite,
    pub(super) market: TestMarket,
}

impl Walker {
    pub(super) fn take(
        &self,
        step: &Step,
        kept: &mut BTreeMap<String, Value>,
    ) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.try_once(step, kept) {
                Err(_) if step.eventually && Instant::now() < deadline => {
                    thread::sleep(POLL_INTERVAL);
                }
                taken => return taken,
            }
        }
    }

    fn try_once(&self, step: &Step, kept: &mut BTreeMap<String, Value>) -> Result<(), String> {
        let (status, text) = self.send(step, kept);
        if status != step.status {
            return Err(format!("want {}, got {status} {text}", step.status));
        }
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        judge(step, &body, kept).map_err(|problem| format!("{problem} in {text}"))?;
        for (name, pointer) in &step.keep {
            let value = body.pointer(pointer);
            let value = value.ok_or_else(|| format!("nothing at {pointer}: {text}"))?;
            kept.insert(name.clone(), value.clone());
        }
        for (name, place) in &step.keep_parameter {
            let value = parameter(&body, place).ok_or_else(|| format!("no {place}: {text}"))?;
            kept.insert(name.clone(), Value::String(value));
        }
        for (name, of) in &step.keep_digest {
            let value = kept.get(of).and_then(Value::as_str).unwrap_or_default();
            kept.insert(name.clone(), Value::String(hex_sha256(value.as_bytes())));
        }
        Ok(())
    }

    fn send(&self, step: &Step, kept: &BTreeMap<String, Value>) -> (u16, String) {
        let (method, path) = step.send.split_once(' ').unwrap();
        if method == MARKET {
            return (200, self.market.control(path).to_string());
        }
        if method == BROWSER {
            return (200, self.signed_in(path).to_string());
        }
        let path = filled(path, kept);
        let path = match path.strip_prefix(&self.running.url) {
            Some(own) => own.to_owned(),
            None => format!("/wp-json{path}"),
        };
        let mut request = Request::new(method, &path);
        if step.https {
            request = request.header("X-Forwarded-Proto", "https");
        }
        if step.caller != NOBODY {
            let pair = self.original.identities.get(&step.caller).unwrap();
            request = request.header("Authorization", &basic(pair));
        }
        if let Some(body) = &step.body {
            let body = value_filled(body, kept).to_string();
            request = request.header("Content-Type", "application/json").body(body);
        }
        if let Some(form) = &step.form {
            let media_type = "application/x-www-form-urlencoded";
            request = request.header("Content-Type", media_type).body(filled(form, kept));
        }
        if let Some(cookie) = &step.cookie {
            request = request.header("Cookie", &filled(cookie, kept));
        }
        if let Some(upload) = &step.upload {
            let media_type = "multipart/form-data; boundary=x";
            request = request.header("Content-Type", media_type).body(upload.form());
        }
        let answer = Connection::open(&self.running.url).unwrap().send(&request).unwrap();
        (answer.status, answer.text())
    }
}

impl Walker {
    fn signed_in(&self, login: &str) -> Value {
        let command = self.original.site.command(&["user", "set-password", "--login", login]);
        let set = process::run_command(command, format!("{PASSWORD}\n").as_bytes()).unwrap();
        assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
        let browser = Browser::sign_in(&self.running, login, PASSWORD).unwrap();
        json!({ "cookie": browser.cookie, "nonce": browser.nonce })
    }
}

impl Upload {
    fn form(&self) -> Vec<u8> {
        let content = match &self.content {
            Value::Object(members) => {
                let file = |(path, content): (&String, &Value)| {
                    (path.clone(), content.to_string().into_bytes())
                };
                let files: Files = members.iter().map(file).collect();
                pack(&files, None).unwrap()
            }
            other => other.as_str().unwrap().as_bytes().to_vec(),
        };
        let head = format!(
            "--x\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"a.zip\"\r\n\
             Content-Type: application/zip\r\n\r\n",
            self.field
        );
        [head.as_bytes(), &content, b"\r\n--x--\r\n"].concat()
    }
}

fn parameter(body: &Value, place: &str) -> Option<String> {
    let (pointer, name) = place.split_once('?')?;
    let url = Url::parse(body.pointer(pointer)?.as_str()?).ok()?;
    url.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

fn judge(step: &Step, body: &Value, kept: &BTreeMap<String, Value>) -> Result<(), String> {
    let at = |pointer: &str| body.pointer(pointer).cloned();
    let items = |pointer: &str| at(pointer).and_then(|list| list.as_array().cloned());
    for (pointer, value) in &step.has {
        let want = value_filled(value, kept);
        if at(pointer).as_ref() != Some(&want) {
            return Err(format!("{pointer}: want {want}"));
        }
    }
    for (pointer, value) in &step.differs {
        let unwanted = value_filled(value, kept);
        if at(pointer).is_none_or(|got| got == unwanted) {
            return Err(format!("{pointer}: want anything but {unwanted}"));
        }
    }
    for (pointer, value) in &step.counts {
        let want = value_filled(value, kept);
        let count = items(pointer).and_then(|items| u64::try_from(items.len()).ok());
        if count.is_none() || count != want.as_u64() {
            return Err(format!("{pointer}: want {want} items"));
        }
    }
    if let Some(pointer) = step.lacks.iter().find(|pointer| at(pointer).is_some()) {
        return Err(format!("{pointer}: want nothing"));
    }
    let lists = [(&step.contains, true), (&step.excludes, false)];
    for (pointer, value, is_in) in flat(lists) {
        let want = value_filled(value, kept);
        if items(pointer).is_none_or(|items| items.contains(&want) != is_in) {
            return Err(format!("{pointer}: want {want} in it: {is_in}"));
        }
    }
    let ids = [(&step.contains_id, true), (&step.excludes_id, false)];
    for (pointer, value, is_in) in flat(ids) {
        let has_id = |items: Vec<Value>| items.iter().any(|item| item.get("id") == Some(value));
        if items(pointer).is_none_or(|items| has_id(items) != is_in) {
            return Err(format!("{pointer}: want an item {value}: {is_in}"));
        }
    }
    Ok(())
}

fn flat<'a>(
    lists: [(&'a BTreeMap<String, Value>, bool); 2],
) -> impl Iterator<Item = (&'a String, &'a Value, bool)> {
    let each = |(list, is_in): (&'a BTreeMap<String, Value>, bool)| {
        list.iter().map(move |(pointer, value)| (pointer, value, is_in))
    };
    lists.into_iter().flat_map(each)
}

fn filled(text: &str, kept: &BTreeMap<String, Value>) -> String {
    kept.iter().fold(text.to_owned(), |text, (name, value)| {
        let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.replace(&format!("{{{name}}}"), &plain)
    })
}

/// A text that is nothing but a name becomes the value itself, with its type.
fn value_filled(value: &Value, kept: &BTreeMap<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            let name = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            let whole = name.and_then(|name| kept.get(name)).cloned();
            whole.unwrap_or_else(|| Value::String(filled(text, kept)))
        }
        Value::Array(items) => items.iter().map(|item| value_filled(item, kept)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), value_filled(value, kept))).collect()
        }
        other => other.clone(),
    }
}
