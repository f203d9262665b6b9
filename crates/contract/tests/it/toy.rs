//! A shop with three endpoints that use every feature of a definition.

use std::borrow::Cow;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use contract::card_data::Policy;
use contract::walk::Sanitizer;
use contract::{
    Answer, Compiled, Draft, Endpoint, Entry, Failure, Format, Formats, IssueKind, Issues, Outcome,
    Parsed, Route, Table, entries,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use types::{Error, Result, Scope};

/// What the toy handlers share.
#[derive(Debug, Default)]
pub(crate) struct Shop {
    pub(crate) taken_title: &'static str,
}

impl contract::Context for Shop {
    fn card_data_found(&self, _: &[String]) -> Policy {
        Policy::Refuse
    }
}

/// Create an order.
///
/// It is created whole,
/// or not at all.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderCreate {
    /// Shop that sells.
    #[schemars(length(min = 2, max = 8))]
    shop_id: String,
    title: Title,
    /// How many.
    #[schemars(range(min = 1, max = 20))]
    count: u8,
    /// Whether it is a gift.
    #[serde(default)]
    gift: bool,
    /// How fast it goes.
    #[serde(default)]
    speed: Speed,
    /// For the packer.
    #[schemars(length(max = 5))]
    note: Option<String>,
    zip: Zip,
    /// How it is paid.
    payment: Payment,
    /// What is ordered.
    #[schemars(length(min = 1, max = 12))]
    lines: Vec<Line>,
    /// Where it goes.
    delivery: Option<Delivery>,
}

/// Name of the order: its schema is written by hand, with a format and a code of its own.
#[derive(Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub(crate) struct Title(String);

/// A number that may come as text or as an integer.
#[derive(Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub(crate) struct Zip(String);

macro_rules! by_hand {
    ($name:ident, $schema:tt) => {
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

by_hand!(Title, {
    "type": "string", "format": "word", "minLength": 2, "maxLength": 6, "x-code": "bad_title",
    "description": "Name of the order.",
});
by_hand!(Zip, {
    "type": ["string", "integer"], "format": "digits", "minLength": 5, "maxLength": 5,
    "description": "Where the buyer lives.",
});

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Speed {
    #[default]
    Slow,
    Fast,
}

/// A member of the object names the variant.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Payment {
    Card {
        /// What the card company gave.
        token: String,
    },
    Cash {
        /// Where the money is.
        drawer: u32,
        /// What was handed over.
        given: Option<i64>,
    },
}

/// One thing of the order.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Line {
    /// What it is.
    #[schemars(length(min = 3, max = 3))]
    sku: String,
    /// How many of it.
    count: u16,
}

/// The presence of `depot.id` tells the variants apart.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Delivery {
    /// To be fetched.
    #[schemars(extend("x-select" = ["depot.id"]))]
    Depot {
        /// Who fetches it.
        who: String,
        /// Where to fetch it.
        depot: Depot,
        /// When.
        hour: u8,
    },
    /// To be sent.
    Street {
        /// When.
        hour: u8,
        /// Street and number.
        street: String,
        /// Who opens.
        who: Option<String>,
    },
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Depot {
    /// Number of the depot.
    id: u32,
}

/// An order as it was understood.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Echo {
    /// The parameters after the walk.
    params: Value,
}

impl Endpoint<Shop> for OrderCreate {
    const ROUTE: Route = Route::post("/v1/shops/{shopId}/orders").scope(Scope::OnboardWrite);
    type Reply = Echo;

    async fn check(draft: &mut Draft<'_>, shop: &Shop) -> Result<()> {
        let lines = draft.params.get("lines").and_then(Value::as_array);
        let skus: Vec<&Value> =
            lines.into_iter().flatten().filter_map(|line| line.get("sku")).collect();
        if let [first, second, ..] = skus.as_slice()
            && first == second
        {
            draft.issues.add("lines[1].sku", IssueKind::rule("twice", "The sku appears twice."));
        }
        let title = draft.params.get("title").and_then(Value::as_str);
        if title == Some(shop.taken_title) {
            draft.issues.add("title", IssueKind::rule("taken", "The title is taken."));
            draft.headers.push(("x-existing", String::from("7")));
        }
        match title {
            Some("broken") => Err(Error::internal("the check broke")),
            _ => Ok(()),
        }
    }

    fn failure_message(params: &Value) -> Option<&'static str> {
        params.get("title").map(|_| "Order failure")
    }

    async fn handle(self, _: &Shop) -> Result<Answer<Echo>, Failure> {
        if self.shop_id == "closed" {
            return Err(Error::not_found("no such shop").into());
        }
        if self.title.0 == "late" {
            let late = |path: &str| (path.to_owned(), IssueKind::rule("late", "Too late."));
            let issues: Issues =
                [late("unknown"), late("lines[0].sku"), late("title")].into_iter().collect();
            return Err(Failure::Issues { issues, headers: vec![("x-late", "yes".into())] });
        }
        Ok(Answer::new(Echo { params: json!(self) }).header("x-order", "1"))
    }
}

/// List orders.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderList {
    /// Shop that sells.
    shop_id: String,
    /// How many at most.
    #[serde(default = "page_length")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
    /// Only those that are open, or only those that are not.
    open: Option<bool>,
}

fn page_length() -> u32 {
    20
}

impl Endpoint<Shop> for OrderList {
    const ROUTE: Route = Route::get("/v1/shops/{shopId}/orders").scope(Scope::MerchantsRead);
    type Reply = Echo;

    async fn handle(self, _: &Shop) -> Result<Answer<Echo>, Failure> {
        Ok(Answer::new(Echo { params: json!(self) }))
    }
}

/// Tell whether the shop is open.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ShopStatus {}

impl Endpoint<Shop> for ShopStatus {
    const ROUTE: Route = Route::get("/v1/status").public();
    type Reply = Echo;

    async fn handle(self, _: &Shop) -> Result<Answer<Echo>, Failure> {
        Ok(Answer::new(Echo { params: json!({}) }))
    }
}

static ENTRIES: &[Entry<Shop>] = entries![OrderCreate, OrderList, ShopStatus];

pub(crate) const SANITIZER: Sanitizer = Sanitizer { clean: |text| Cow::Borrowed(text.trim()) };

pub(crate) const FORMATS: Formats = Formats(&[
    Format {
        name: "word",
        expected: "one word",
        pattern: Some("^[A-Za-z]+$"),
        parse: |text| match text {
            "forbidden" => Parsed::IssueKind(IssueKind::rule("forbidden_word", "Not this word.")),
            "alias" => Parsed::Replaced(String::from("real")),
            _ if text.bytes().all(|byte| byte.is_ascii_alphabetic()) => Parsed::Fine,
            _ => Parsed::Refused,
        },
    },
    Format {
        name: "digits",
        expected: "digits",
        pattern: None,
        parse: |text| {
            let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
            if is_digits { Parsed::Fine } else { Parsed::Refused }
        },
    },
]);

pub(crate) fn table() -> Table<Shop> {
    Table::compile(&[ENTRIES], SANITIZER, FORMATS).unwrap()
}

pub(crate) fn endpoint(name: &str) -> Compiled<Shop> {
    table().into_endpoints().into_iter().find(|endpoint| &*endpoint.name == name).unwrap()
}

/// An order without an error.
pub(crate) fn order() -> Value {
    json!({
        "shopId": "s1", "title": "Gift", "count": 2, "zip": "10001",
        "payment": { "kind": "cash", "drawer": 3 },
        "lines": [{ "sku": "abc", "count": 1 }, { "sku": "def", "count": 2 }],
    })
}

/// The order with other values at the given pointers; null takes the member out.
pub(crate) fn order_with(changes: &[(&str, Value)]) -> Value {
    let mut order = order();
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match order.pointer_mut(parent).unwrap() {
            Value::Array(items) => items[name.parse::<usize>().unwrap()] = value.clone(),
            parent => parent[name] = value.clone(),
        }
    }
    order
}

pub(crate) fn create(params: Value) -> Outcome {
    run("order_create", params)
}

pub(crate) fn run(name: &str, params: Value) -> Outcome {
    let shop = Shop { taken_title: "taken" };
    let endpoint = endpoint(name);
    // The toy never waits, so one poll is enough.
    let future = pin!(endpoint.run(params, &shop));
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("the toy waits"),
    }
}

/// What the handler saw, if it was reached.
pub(crate) fn echo(outcome: &Outcome) -> Value {
    let body = outcome.result.as_ref().expect("success");
    serde_json::from_slice::<Value>(body).unwrap()["params"].take()
}

/// Issues as lines of path, kind of error and, after a slash, code.
pub(crate) fn issues(outcome: &Outcome) -> Vec<String> {
    let Err(Failure::Issues { issues, .. }) = &outcome.result else {
        panic!("no issues: {outcome:?}")
    };
    issues.iter().map(issue_line).collect()
}

fn issue_line(issue: &contract::Issue) -> String {
    let kind = match &issue.error {
        IssueKind::Missing => "missing",
        IssueKind::Type { .. } => "type",
        IssueKind::Length { .. } => "length",
        IssueKind::Format { .. } => "format",
        IssueKind::Value { .. } => "value",
        IssueKind::Items { .. } => "items",
        IssueKind::Rule { code, .. } => code,
    };
    let code = issue.code.as_ref().map(|code| format!("/{code}")).unwrap_or_default();
    format!("{} {kind}{code}", issue.path)
}
