//! The trait that makes a params struct an endpoint, and what its handler gives back.

use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use types::{Error, Result};

use crate::card_data::{self, Policy, Step};
use crate::schema::Schema;
use crate::walk::{self, Ignored, Sanitizer};
use crate::{FILE_CONTENT, IssueKind, Issues, Route};

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
pub type Header = (&'static str, String);

/// Whatever the handlers of a table share.
pub trait Context: Sync {
    /// Told at which paths a request has what looks like card data; says what to do about it.
    fn card_data_found(&self, paths: &[String]) -> Policy;
}

/// An endpoint is its params struct.
///
/// The struct's fields, with their doc comments and `schemars` attributes, are the parameters; the
/// struct's doc comment is the operation's summary.
pub trait Endpoint<Cx: Context>: DeserializeOwned + JsonSchema + Send + Sized + 'static {
    const ROUTE: Route;
    type Reply: Serialize + JsonSchema + Send;

    /// Checks what a schema cannot say: rules between fields, and look-ups. It sees what was valid
    /// so far, and may add issues. Called before [`Endpoint::handle`], also when there are issues
    /// already, so that the caller learns of everything at once.
    fn check(draft: &mut Draft<'_>, cx: &Cx) -> impl Future<Output = Result<()>> + Send {
        let _ = (draft, cx);
        std::future::ready(Ok(()))
    }

    /// The message of the error envelope, where it depends on the request.
    fn failure_message(params: &Value) -> Option<&'static str> {
        let _ = params;
        None
    }

    fn handle(
        self,
        cx: &Cx,
    ) -> impl Future<Output = std::result::Result<Answer<Self::Reply>, Failure>> + Send;
}

/// A request after the walk and before the handler.
pub struct Draft<'a> {
    /// The valid part of the parameters.
    pub params: &'a Value,
    pub ignored: &'a [Ignored],
    pub issues: &'a mut Issues,
    /// Headers for the answer, whatever it will be.
    pub headers: &'a mut Vec<Header>,
}

/// Leaves out the parameters, which may hold credentials.
impl fmt::Debug for Draft<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Draft")
            .field("ignored", &self.ignored)
            .field("issues", &self.issues)
            .finish_non_exhaustive()
    }
}

/// A handler's success.
#[derive(Debug)]
pub struct Answer<T> {
    pub body: T,
    pub headers: Vec<Header>,
}

impl<T> Answer<T> {
    pub fn new(body: T) -> Self {
        Self { body, headers: Vec::new() }
    }

    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// A handler's refusal.
#[derive(Debug)]
pub enum Failure {
    /// For the caller to fix.
    Issues {
        issues: Issues,
        headers: Vec<Header>,
    },
    /// Another request with the same idempotency key was faster; its answer is the answer.
    AnsweredAlready,
    Error(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Issues> for Failure {
    fn from(issues: Issues) -> Self {
        Self::Issues { issues, headers: Vec::new() }
    }
}

/// What came of running an endpoint: a serialised body, or a failure for the dialect to render.
#[derive(Debug)]
pub struct Outcome {
    pub result: std::result::Result<Vec<u8>, Failure>,
    pub headers: Vec<Header>,
    pub ignored: Vec<Ignored>,
    pub failure_message: Option<&'static str>,
}

type Run<Cx> = for<'a> fn(&'a Schema, Sanitizer, Value, &'a Cx) -> BoxFuture<'a, Outcome>;

/// One row of a table: everything about an endpoint, behind plain function pointers.
pub struct Entry<Cx> {
    pub route: Route,
    pub(crate) type_name: fn() -> &'static str,
    pub(crate) params_schema: fn() -> Value,
    pub(crate) reply_schema: fn() -> Value,
    pub(crate) run: Run<Cx>,
}

impl<Cx> Clone for Entry<Cx> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Cx> Copy for Entry<Cx> {}

impl<Cx> fmt::Debug for Entry<Cx> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.route.method.name(), self.route.path)
    }
}

impl<Cx: Context> Entry<Cx> {
    pub const fn of<E: Endpoint<Cx>>() -> Self {
        Self {
            route: E::ROUTE,
            type_name: type_name::<E>,
            params_schema: params_schema_of::<E>,
            reply_schema: reply_schema_of::<E::Reply>,
            run: |schema, sanitizer, params, cx| {
                Box::pin(run::<Cx, E>(schema, sanitizer, params, cx))
            },
        }
    }
}

/// The endpoints of a resource, in the order in which the documentation lists them.
#[macro_export]
macro_rules! entries {
    ($($endpoint:ty),* $(,)?) => {
        &[$($crate::Entry::of::<$endpoint>()),*]
    };
}

async fn run<Cx: Context, E: Endpoint<Cx>>(
    schema: &Schema,
    sanitizer: Sanitizer,
    mut params: Value,
    cx: &Cx,
) -> Outcome {
    let failure_message = E::failure_message(&params);
    let mut issues =
        if E::ROUTE.method.has_body() { guard(&params, cx) } else { Issues::default() };
    let walk::Walked { issues: others, ignored, selected } =
        walk::walk(schema, &mut params, sanitizer);
    let is_told = |path: &str| !card_data::is_card_data(path);
    let ignored: Vec<Ignored> = ignored.into_iter().filter(|it| is_told(&it.path)).collect();
    issues.extend(others, is_told);
    let mut headers = Vec::new();
    let draft = &mut Draft {
        params: &params,
        ignored: &ignored,
        issues: &mut issues,
        headers: &mut headers,
    };
    let checked = E::check(draft, cx).await;
    let mut result = match checked {
        Err(error) => Err(Failure::Error(error)),
        Ok(()) if !issues.is_empty() => Err(Failure::Issues { issues, headers: Vec::new() }),
        Ok(()) => handle::<Cx, E>(params, cx, &mut headers).await,
    };
    if let Err(Failure::Issues { issues, .. }) = &mut result {
        walk::sort_in_document_order(issues, schema, &selected);
    }
    Outcome { result, headers, ignored, failure_message }
}

/// Issues for all values that look like card data, before anything else is said about them. Rows of
/// a file are requests of their own.
fn guard<Cx: Context>(params: &Value, cx: &Cx) -> Issues {
    let mut paths = Vec::new();
    if let Some(members) = params.as_object() {
        card_data::find(members, &mut |steps| {
            if steps != [Step::Member(FILE_CONTENT)] {
                paths.push(walk::path_text(steps));
            }
        });
    }
    if paths.is_empty() || cx.card_data_found(&paths) == Policy::Report {
        return Issues::default();
    }
    let error = || IssueKind::rule(card_data::CODE, card_data::MESSAGE);
    paths.into_iter().map(|path| (path, error())).collect()
}

async fn handle<Cx: Context, E: Endpoint<Cx>>(
    params: Value,
    cx: &Cx,
    headers: &mut Vec<Header>,
) -> std::result::Result<Vec<u8>, Failure> {
    let params: E = serde_json::from_value(params).map_err(|error| {
        // The walker accepted what the struct refuses: the two have drifted apart.
        Error::internal("parameters passed their schema but not their type").because(error)
    })?;
    let mut answer = params.handle(cx).await?;
    headers.append(&mut answer.headers);
    serde_json::to_vec(&answer.body).map_err(|error| {
        Error::internal("the reply cannot be serialized as JSON").because(error).into()
    })
}

fn params_schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    schema_of::<T>(settings.with(|settings| settings.inline_subschemas = true))
}

fn reply_schema_of<T: JsonSchema>() -> Value {
    schema_of::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn schema_of<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| settings.meta_schema = None);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
