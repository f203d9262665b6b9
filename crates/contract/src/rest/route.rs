//! Routes of the REST interface: a pattern, and for each set of methods an operation.
//!
//! `O` is whatever runs an operation; this crate does not look inside. A pattern is written as the
//! index shows it, such as `/posts/(?P<id>[\d]+)`; it is matched whole and without regard to case.

use regex::bytes::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};

use super::answers::{self, Answers, Shape};
use super::document::Document;
use super::{Args, CompiledArgs, Schema};

/// The method of a request, after any override.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// HEAD is answered as GET. Names in any case, as overrides have them.
    pub fn parse(name: &str) -> Option<Self> {
        match name.to_ascii_uppercase().as_str() {
            "GET" | "HEAD" => Some(Self::Get),
            "POST" => Some(Self::Post),
            "PUT" => Some(Self::Put),
            "PATCH" => Some(Self::Patch),
            "DELETE" => Some(Self::Delete),
            _ => None,
        }
    }
}

/// The usual sets of methods.
pub const READ: &[Verb] = &[Verb::Get];
pub const CREATE: &[Verb] = &[Verb::Post];
pub const EDIT: &[Verb] = &[Verb::Post, Verb::Put, Verb::Patch];
pub const DELETE: &[Verb] = &[Verb::Delete];

/// A route as it is written down.
#[derive(Debug)]
pub struct Route<O> {
    namespace: String,
    pattern: String,
    endpoints: Vec<(&'static [Verb], Args, O)>,
    /// What each operation answers.
    answers: Vec<Answers>,
    batch: bool,
    schema: Option<Value>,
    body_bytes_max: Option<usize>,
    is_unlisted: bool,
    streams_body: bool,
}

impl<O> Route<O> {
    /// `path` follows the namespace and is a pattern; empty for the namespace's own index.
    pub fn at(namespace: &str, path: &str) -> Self {
        let namespace = namespace.to_owned();
        let pattern = match (namespace.as_str(), path) {
            ("", "") => String::from("/"),
            ("", path) => path.to_owned(),
            (namespace, path) => format!("/{namespace}{path}"),
        };
        let (endpoints, answers) = (Vec::new(), Vec::new());
        let (batch, schema, body_bytes_max) = (false, None, None);
        let (is_unlisted, streams_body) = (false, false);
        Self {
            namespace,
            pattern,
            endpoints,
            answers,
            batch,
            schema,
            body_bytes_max,
            is_unlisted,
            streams_body,
        }
    }

    #[must_use]
    pub fn on(mut self, verbs: &'static [Verb], args: Args, operation: O) -> Self {
        self.endpoints.push((verbs, args, operation));
        self.answers.push(Answers::default());
        self
    }

    /// The route may be called from `batch/v1`.
    #[must_use]
    pub fn batchable(mut self) -> Self {
        self.batch = true;
        self
    }

    /// What the route's items look like, for OPTIONS and `context=help`.
    #[must_use]
    pub fn schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// The route accepts bodies of up to so many bytes, where that is more than other routes do.
    #[must_use]
    pub fn body_bytes_max(mut self, bytes: usize) -> Self {
        self.body_bytes_max = Some(bytes);
        self
    }

    /// The route is there for those whom an answer leads to it, and nobody is told of it otherwise.
    #[must_use]
    pub fn unlisted(mut self) -> Self {
        self.is_unlisted = true;
        self
    }

    /// Files that are sent to the route are written to disk as they come, and never held in memory.
    #[must_use]
    pub fn streams_body(mut self) -> Self {
        self.streams_body = true;
        self
    }

    pub(super) fn compile(self) -> Result<CompiledRoute<O>, String> {
        let told = self.answers;
        let literal = self.pattern.split_once('(').map_or(&*self.pattern, |(before, _)| before);
        let dynamic = literal.len() < self.pattern.len();
        let regex = dynamic.then(|| {
            RegexBuilder::new(&format!("^(?:{})$", self.pattern))
                .case_insensitive(true)
                // Bytes, as in the reference: \d and \w are ASCII.
                .unicode(false)
                .build()
                .map_err(|error| format!("{}: {error}", self.pattern))
        });
        let regex = regex.transpose()?;
        let mut endpoints = Vec::new();
        for ((verbs, args, operation), answers) in self.endpoints.into_iter().zip(told) {
            let document = Document::new(&args.document());
            let description = args.has_ours().then(|| Document::new(&args.description()));
            let args = args.compile().map_err(|error| format!("{}: {error}", self.pattern))?;
            let batch = self.batch;
            endpoints.push(Endpoint {
                verbs,
                args,
                batch,
                operation,
                document,
                description,
                answers,
            });
        }
        let literal = literal.to_owned();
        let schema = self.schema.as_ref().map(|item| Document::new(&answers::published(item)));
        let item =
            self.schema.as_ref().map(Document::new).filter(|item| schema.as_ref() != Some(item));
        Ok(CompiledRoute {
            namespace: self.namespace,
            pattern: self.pattern,
            endpoints,
            schema,
            item,
            body_bytes_max: self.body_bytes_max,
            is_unlisted: self.is_unlisted,
            streams_body: self.streams_body,
            literal,
            regex,
        })
    }
}

/// What the operation that was written last answers, where that does not follow from its method.
impl<O> Route<O> {
    /// One item, although there are pages.
    #[must_use]
    pub fn shows_item(self) -> Self {
        self.shaped(Shape::Item)
    }

    /// A list of items, although there are no pages.
    #[must_use]
    pub fn lists(self) -> Self {
        self.shaped(Shape::List)
    }

    /// An object with an item for each name.
    #[must_use]
    pub fn maps(self) -> Self {
        self.shaped(Shape::Map)
    }

    /// The item, or `deleted` with the item as `previous`.
    #[must_use]
    pub fn notes_deletion(self) -> Self {
        self.shaped(Shape::Deletion)
    }

    /// The results of a batch over items of this document, which the request has in groups.
    #[must_use]
    pub fn batches(self, item: Value) -> Self {
        self.shaped(Shape::Batch(Document::new(&item)))
    }

    /// This, which is no item of the route.
    #[must_use]
    pub fn shows(self, answer: Schema) -> Self {
        self.shaped(Shape::Like(Document::new(&answer.item())))
    }

    /// An item of this document, where the route publishes none of its own.
    #[must_use]
    pub fn shows_one(self, item: Value) -> Self {
        self.shaped(Shape::One(Document::new(&item)))
    }

    /// A list of items of this document, where the route publishes none of its own.
    #[must_use]
    pub fn shows_several(self, item: Value) -> Self {
        self.shaped(Shape::Several(Document::new(&item)))
    }

    /// A file of this media type.
    #[must_use]
    pub fn sends_file(self, media_type: &'static str) -> Self {
        self.shaped(Shape::File(media_type))
    }

    /// The same as text of this media type, where the request asks for it. Refusals that other
    /// operations do not know may have it, too.
    #[must_use]
    pub fn or_text(self, media_type: &'static str) -> Self {
        self.answering(|answers| answers.texts.push(media_type))
    }

    /// Nothing but refusals: clients know the operation, and there is nothing for it to do here.
    #[must_use]
    pub fn only_refuses(self) -> Self {
        self.answering(|answers| answers.only_refuses = true)
    }

    /// 201: something is made.
    #[must_use]
    pub fn creates(self) -> Self {
        self.succeeds_with(&[201])
    }

    /// Statuses of success other than 200.
    #[must_use]
    pub fn succeeds_with(self, statuses: &[u16]) -> Self {
        self.answering(|answers| statuses.clone_into(&mut answers.statuses))
    }

    /// Statuses of refusals that other operations do not know.
    #[must_use]
    pub fn refuses_with(self, statuses: &[u16]) -> Self {
        self.answering(|answers| answers.refusals.extend_from_slice(statuses))
    }

    /// The body of refusals that are no error object.
    #[must_use]
    pub fn refuses_like(self, body: Schema) -> Self {
        self.answering(|answers| answers.refusal = Some(Document::new(&body.item())))
    }

    fn shaped(self, shape: Shape) -> Self {
        self.answering(|answers| answers.shape = shape)
    }

    fn answering(mut self, change: impl FnOnce(&mut Answers)) -> Self {
        let last = self.answers.last_mut();
        change(last.expect("an operation is written before what it answers"));
        self
    }
}

/// One operation of a route, ready to run.
#[derive(Debug)]
pub struct Endpoint<O> {
    pub verbs: &'static [Verb],
    pub args: CompiledArgs,
    pub batch: bool,
    pub operation: O,
    document: Document,
    /// The same with what only this product has, if there is such.
    description: Option<Document>,
    pub(super) answers: Answers,
}

impl<O> Endpoint<O> {
    /// The parameters with all that it takes, also what only this product has.
    pub(super) fn described(&self) -> Value {
        self.description.as_ref().unwrap_or(&self.document).value()
    }
}

/// A route, ready to match.
#[derive(Debug)]
pub struct CompiledRoute<O> {
    pub namespace: String,
    pub pattern: String,
    pub endpoints: Vec<Endpoint<O>>,
    /// What its items look like.
    schema: Option<Document>,
    /// The same with what answers have beyond it, if there is such.
    item: Option<Document>,
    /// Bytes of a body, if the route accepts more than others.
    pub body_bytes_max: Option<usize>,
    /// Whether index and documents leave it out.
    pub is_unlisted: bool,
    /// Whether files that are sent to it are written to disk as they come.
    pub streams_body: bool,
    /// The pattern up to its first group.
    literal: String,
    /// `None`: the whole pattern is literal.
    regex: Option<Regex>,
}

impl<O> CompiledRoute<O> {
    /// Whether the route is at this path.
    pub fn is_at(&self, path: &str) -> bool {
        self.begins(path)
            && match &self.regex {
                Some(regex) => regex.is_match(path.as_bytes()),
                None => path.len() == self.literal.len(),
            }
    }

    fn begins(&self, path: &str) -> bool {
        let start = path.as_bytes().get(..self.literal.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(self.literal.as_bytes()))
    }

    /// The first segment below the namespace of all paths at which the route is, in lower case, if
    /// they have the same one.
    pub(super) fn segment_below(&self, namespace: &str) -> Option<String> {
        let literal = self.literal.to_ascii_lowercase();
        let below = literal.strip_prefix('/')?.strip_prefix(&namespace.to_ascii_lowercase())?;
        if below.is_empty() && self.regex.is_none() {
            return Some(String::new());
        }
        let below = below.strip_prefix('/')?;
        match below.split_once('/') {
            Some((segment, _)) => Some(segment.to_owned()),
            None => self.regex.is_none().then(|| below.to_owned()),
        }
    }

    /// The path's variables, if the route is at this path.
    pub fn matches(&self, path: &str) -> Option<Map<String, Value>> {
        if !self.begins(path) {
            return None;
        }
        let Some(regex) = &self.regex else {
            return (path.len() == self.literal.len()).then(Map::new);
        };
        let found = regex.captures(path.as_bytes())?;
        let groups = regex.capture_names().flatten();
        let variables = groups.filter_map(|name| {
            let text = String::from_utf8_lossy(found.name(name)?.as_bytes()).into_owned();
            Some((name.to_owned(), Value::String(text)))
        });
        Some(variables.collect())
    }

    /// What the route's items look like in answers, if it has items.
    pub(super) fn item(&self) -> Option<Value> {
        self.item.as_ref().or(self.schema.as_ref()).map(Document::value)
    }

    pub fn endpoint(&self, verb: Verb) -> Option<&Endpoint<O>> {
        self.endpoints.iter().find(|endpoint| endpoint.verbs.contains(&verb))
    }

    /// The route's entry in the index; with its schema when help is asked for.
    pub fn document(&self, rest_url: &str, help: bool) -> Value {
        self.told(rest_url, help, |endpoint| endpoint.document.value())
    }

    /// The same with all that it takes, also what only this product has.
    pub fn description(&self) -> Value {
        self.told("", true, Endpoint::described)
    }

    fn told(&self, rest_url: &str, help: bool, args: fn(&Endpoint<O>) -> Value) -> Value {
        let names = |verbs: &[Verb]| verbs.iter().map(|verb| verb.name()).collect::<Vec<_>>();
        let all: Vec<&str> = self.endpoints.iter().flat_map(|e| names(e.verbs)).collect();
        let endpoints: Vec<Value> = self
            .endpoints
            .iter()
            .map(|endpoint| {
                let mut document = Map::new();
                document.insert("methods".into(), json!(names(endpoint.verbs)));
                if endpoint.batch {
                    document.insert("allow_batch".into(), json!({ "v1": true }));
                }
                document.insert("args".into(), args(endpoint));
                Value::Object(document)
            })
            .collect();
        let mut document = Map::new();
        document.insert("namespace".into(), json!(self.namespace));
        document.insert("methods".into(), json!(all));
        document.insert("endpoints".into(), json!(endpoints));
        if let Some(schema) = self.schema.as_ref().filter(|_| help) {
            document.insert("schema".into(), schema.value());
        }
        if self.regex.is_none() {
            let href = format!("{rest_url}{}", self.pattern);
            document.insert("_links".into(), json!({ "self": [{ "href": href }] }));
        }
        Value::Object(document)
    }
}
