//! A table with a mistake does not start.

use contract::{Answer, Endpoint, Entry, Failure, Route, Table, entries};
use schemars::JsonSchema;
use serde::Deserialize;
use types::Scope;

use crate::toy::{FORMATS, OrderCreate, OrderList, SANITIZER, Shop};

fn refusal(entries: &[Entry<Shop>]) -> String {
    Table::compile(&[entries], SANITIZER, FORMATS).expect_err("a table with a mistake")
}

/// Defines an endpoint `Bad` and tells why a table with it is refused.
macro_rules! refusal_of {
    ($(#[$attribute:meta])* { $($fields:tt)* }) => { refusal_of!("/v1/bad", $(#[$attribute])* { $($fields)* }) };
    ($path:literal, $(#[$attribute:meta])* { $($fields:tt)* }) => {{
        $(#[$attribute])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Bad { $($fields)* }

        impl Endpoint<Shop> for Bad {
            const ROUTE: Route = Route::post($path).scope(Scope::OnboardWrite);
            type Reply = u8;

            async fn handle(self, _: &Shop) -> Result<Answer<u8>, Failure> {
                Ok(Answer::new(0))
            }
        }

        let message = refusal(entries![Bad]);
        let reason = message.strip_prefix(concat!("POST ", $path, ": "));
        reason.unwrap_or_else(|| panic!("{message}")).to_owned()
    }};
}

#[test]
fn a_route_twice() {
    let message = refusal(entries![OrderCreate, OrderList, OrderCreate]);
    assert_eq!(message, "POST /v1/shops/{shopId}/orders is in the table twice");
}

#[test]
fn a_name_twice() {
    /// The same name in another module.
    #[derive(Debug, Deserialize, JsonSchema)]
    struct OrderList {}

    impl Endpoint<Shop> for OrderList {
        const ROUTE: Route = Route::get("/v1/other").public();
        type Reply = u8;

        async fn handle(self, _: &Shop) -> Result<Answer<u8>, Failure> {
            Ok(Answer::new(0))
        }
    }

    let message = refusal(entries![crate::toy::OrderList, OrderList]);
    assert_eq!(message, "two endpoints are named order_list");
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Inner {
    deep: u8,
}

#[test]
fn an_endpoint_or_a_field_without_a_description() {
    let message = refusal_of!({
        /// Described.
        field: String,
    });
    assert_eq!(message, "the endpoint has no doc comment");
    let message = refusal_of!(
        /// Described.
        {
            field: String,
        }
    );
    assert_eq!(message, "`field` has no doc comment");
    let message = refusal_of!(
        /// Described.
        {
            /// Described.
            list: Vec<Inner>,
        }
    );
    assert_eq!(message, "`list.deep` has no doc comment");
}

#[test]
fn a_path_variable_that_is_no_required_parameter() {
    let message = refusal_of!(
        "/v1/bad/{id}",
        /// Described.
        {
            /// Described.
            other: String,
        }
    );
    assert_eq!(message, "the path variable `id` is not a required parameter");
    let message = refusal_of!(
        "/v1/bad/{id}",
        /// Described.
        {
            /// Described.
            id: Option<String>,
        }
    );
    assert_eq!(message, "the path variable `id` is not a required parameter");
}

#[test]
fn a_rule_that_nobody_enforces() {
    for (message, expected) in [
        (
            refusal_of!(
                /// Described.
                {
                    /// Described.
                    #[schemars(extend("multipleOf" = 5))]
                    field: u8,
                }
            ),
            "multipleOf: the walker does not enforce this keyword",
        ),
        (
            refusal_of!(
                /// Described.
                {
                    /// Described.
                    #[schemars(extend("uniqueItems" = true))]
                    field: Vec<String>,
                }
            ),
            "uniqueItems: the walker does not enforce this keyword",
        ),
        (
            refusal_of!(
                /// Described.
                {
                    /// Described.
                    #[schemars(extend("format" = "iban"))]
                    field: String,
                }
            ),
            "format: unknown format `iban`",
        ),
        (
            refusal_of!(
                /// Described.
                {
                    /// Described.
                    #[schemars(extend("enum" = [1, 2]))]
                    field: u8,
                }
            ),
            "only texts can be listed",
        ),
        (
            refusal_of!(
                /// Described.
                {
                    /// Described.
                    #[schemars(extend("type" = "number", "minimum" = 1))]
                    field: String,
                }
            ),
            "minimum and maximum are for integers",
        ),
        (
            refusal_of!(
                /// Described.
                {
                    /// Described.
                    #[schemars(extend("maxLength" = 1))]
                    field: bool,
                }
            ),
            "minLength and maxLength are for texts",
        ),
        (
            refusal_of!(
                /// Described.
                {
                    /// Described.
                    field: f64,
                }
            ),
            "format: unknown format `double`",
        ),
    ] {
        assert_eq!(message, format!("properties: field: {expected}"));
    }
}

#[test]
fn a_default_that_cannot_be() {
    let message = refusal_of!(
        /// Described.
        {
            /// Described.
            #[schemars(extend("default" = 7))]
            field: u8,
        }
    );
    assert_eq!(message, "a property with a default cannot be required");
    let message = refusal_of!(
        /// Described.
        {
            /// Described.
            #[schemars(extend("default" = 700))]
            field: Option<u8>,
        }
    );
    assert_eq!(message, "the default of `field` is none of its values");
    let message = refusal_of!(
        /// Described.
        {
            /// Described.
            #[schemars(extend("default" = "7"))]
            field: Option<u8>,
        }
    );
    assert_eq!(message, "the default of `field` is none of its values");
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Documented {
    /// A unit variant with a description has a schema of its own.
    One,
    /// So has this one.
    Two,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Ambiguous {
    One {
        /// Described.
        one: u8,
    },
    Two {
        /// Described.
        two: u8,
    },
}

#[test]
fn variants_that_cannot_be_told_apart() {
    let message = refusal_of!(
        /// Described.
        {
            /// Described.
            field: Documented,
        }
    );
    assert_eq!(message, "properties: field: oneOf: a variant must be an object with properties");
    let message = refusal_of!(
        /// Described.
        {
            /// Described.
            field: Ambiguous,
        }
    );
    assert_eq!(
        message,
        "properties: field: anyOf: the last variant must be the one without x-select"
    );
}
