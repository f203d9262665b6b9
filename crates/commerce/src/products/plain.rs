//! The fields of a product that need no rule of their own. **Each is one line here**: how it is
//! kept, published, taken from a request and shown follows from its type.

use contract::rest::Schema;
use frame::text::{clean_content, render};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::request::RequestFields;
use super::version::is_current;
use crate::common::version::Version;

/// A type that a plain field may have.
trait Plain: Sized {
    fn schema() -> Schema;

    /// What the request gives; nothing if it does not name the field.
    fn take(request: &RequestFields<'_, '_>, name: &str) -> Option<Self>;

    /// `raw` for those who edit it.
    fn shown(&self, raw: bool) -> Value;
}

impl Plain for bool {
    fn schema() -> Schema {
        Schema::boolean().default(false)
    }

    fn take(request: &RequestFields<'_, '_>, name: &str) -> Option<Self> {
        request.flag(name)
    }

    fn shown(&self, _: bool) -> Value {
        json!(self)
    }
}

impl Plain for String {
    fn schema() -> Schema {
        Schema::text()
    }

    fn take(request: &RequestFields<'_, '_>, name: &str) -> Option<Self> {
        request.text(name)
    }

    fn shown(&self, _: bool) -> Value {
        json!(self)
    }
}

/// Text with markup: cleaned when it is written, rendered when it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Markup(String);

impl Plain for Markup {
    fn schema() -> Schema {
        Schema::text()
    }

    fn take(request: &RequestFields<'_, '_>, name: &str) -> Option<Self> {
        request.text(name).map(|text| Self(clean_content(&text)))
    }

    fn shown(&self, raw: bool) -> Value {
        if raw { json!(self.0) } else { json!(render::content(&self.0)) }
    }
}

/// Ids of other products.
impl Plain for Vec<i64> {
    fn schema() -> Schema {
        Schema::list(Schema::integer())
    }

    fn take(request: &RequestFields<'_, '_>, name: &str) -> Option<Self> {
        request.ids(name)
    }

    fn shown(&self, _: bool) -> Value {
        json!(self)
    }
}

/// `name: Type`, and which versions know it where not all do.
macro_rules! plain_fields {
    ($($(#[doc = $doc:literal])* $field:ident: $type:ty $(, $is_known:ident)?;)*) => {
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct PlainFields {
            $($(#[doc = $doc])* pub $field: $type,)*
        }

        impl PlainFields {
            /// The fields that a version publishes.
            pub(super) fn schemas(version: Version) -> Vec<(&'static str, Schema)> {
                let fields = [$((
                    stringify!($field),
                    true $(&& $is_known(version))?,
                    <$type as Plain>::schema().about(concat!($($doc),*).trim_ascii()),
                ),)*];
                let known = fields.into_iter().filter(|(_, is_known, _)| *is_known);
                known.map(|(name, _, schema)| (name, schema)).collect()
            }

            /// Changes what the request names.
            pub(super) fn apply(&mut self, request: &RequestFields<'_, '_>) {
                $(if let Some(value) = Plain::take(request, stringify!($field)) {
                    self.$field = value;
                })*
            }

            /// Names and values of the fields that a version publishes.
            pub(super) fn shown(&self, version: Version, raw: bool) -> Vec<(&'static str, Value)> {
                let mut shown = Vec::new();
                $(if true $(&& $is_known(version))? {
                    shown.push((stringify!($field), self.$field.shown(raw)));
                })*
                shown
            }
        }
    };
}

plain_fields! {
    /// Whether an order can contain only one.
    sold_individually: bool;
    /// Password that protects the product's page.
    post_password: String, is_current;
    /// Upsell products.
    upsell_ids: Vec<i64>;
    /// Cross-sell products.
    cross_sell_ids: Vec<i64>;
    /// Purchase note, sent to the customer.
    purchase_note: Markup;
}
