//! The error object of the REST interface. Clients go by `code` and `data.status`; the message is
//! for people.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use types::{Error, Kind};

const NOT_NOW: &str = "The service is temporarily unavailable; try again.";
const MAY_BE_STORED: &str = "The database was lost while this was being stored; check whether it \
                             was stored before you send it again.";
const OUR_ERROR: &str = "Something went wrong on our side.";

/// Why a request is not served.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub code: Cow<'static, str>,
    pub message: Cow<'static, str>,
    pub status: u16,
    pub data: Data,
}

/// What stands under `data` of an error object.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// An object: the status, and these members beside it.
    Members(Box<Map<String, Value>>),
    /// Something else altogether, without the status.
    Instead(Box<Value>),
}

impl Refusal {
    /// The code of a change of which nobody knows whether it is stored.
    pub const MAY_BE_STORED: &'static str = "rest_may_be_stored";

    pub fn new(
        status: u16,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        let data = Data::Members(Box::default());
        Self { code: code.into(), message: message.into(), status, data }
    }

    /// Adds a member beside `data.status`.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Data::Members(members) = &mut self.data {
            members.insert(name.to_owned(), value.into());
        }
        self
    }

    /// Puts something else in the place of the whole data object.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Value>) -> Self {
        self.data = Data::Instead(Box::new(data.into()));
        self
    }

    pub fn body(&self) -> Value {
        let data = match &self.data {
            Data::Members(members) => {
                let mut data = Map::new();
                data.insert(String::from("status"), self.status.into());
                data.extend(Map::clone(members));
                Value::Object(data)
            }
            Data::Instead(value) => Value::clone(value),
        };
        json!({ "code": self.code, "message": self.message, "data": data })
    }

    /// How a failure is told. **What is wrong inside is for the log alone**; see [`Error::report`].
    pub fn of_error(error: &Error) -> Self {
        let told = || error.to_string();
        let (status, code, message) = match error.kind() {
            Kind::Invalid => (400, "invalid_request", told()),
            Kind::NotFound => (404, "not_found", told()),
            Kind::Conflict => (409, "conflict", told()),
            Kind::Unavailable => (503, "unavailable", NOT_NOW.to_owned()),
            Kind::Uncertain => (503, Self::MAY_BE_STORED, MAY_BE_STORED.to_owned()),
            Kind::Internal => (500, "internal_server_error", OUR_ERROR.to_owned()),
        };
        Self::new(status, code, message)
    }
}
