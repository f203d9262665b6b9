//! The kinds of text that requests are made of: each kind's format and bounds, written once.
//!
//! A value of one of these types has passed the walker; nobody else can make one.

use std::collections::BTreeMap;

use frame::password;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use types::{FULL_ACCESS, Scope, Secret, Timestamp};

use crate::rows::connection::ConnectionStatus;
use crate::{device_models, event_kinds};

macro_rules! text_field {
    (
        $(#[doc = $doc:literal])* $name:ident($inner:ty), $types:expr, $format:literal,
        $length:expr $(, $keyword:literal: $value:expr)*
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(transparent)]
        pub struct $name($inner);

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": $types,
                    "format": $format,
                    "minLength": ($length).start(),
                    "maxLength": ($length).end(),
                    "description": concat!($($doc,)*).trim(),
                    $($keyword: $value,)*
                })
            }
        }
    };
}

/// A kind of text that is kept as it was sent, and shown again.
pub(crate) trait TextField: AsRef<str> {
    const DESCRIPTION: &'static str;
}

macro_rules! plain_text {
    ($name:ident, $description:expr) => {
        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }

            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl $crate::fields::TextField for $name {
            const DESCRIPTION: &'static str = $description.trim_ascii();
        }
    };
}
pub(crate) use plain_text;

/// Plain kinds: `Name: format, bounds`. `number` kinds also take a JSON integer.
macro_rules! plain_fields {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident: $kind:ident $format:literal, $min:literal..=$max:literal;
    )*) => {$(
        text_field!($(#[doc = $doc])* $name(String), plain_fields!(@$kind), $format, $min..=$max);

        plain_text!($name, concat!($($doc,)*));
    )*};
    (@text) => { "string" };
    (@number) => { ["string", "integer"] };
}

/// Kinds that are never shown again once stored.
macro_rules! secret_fields {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident: $kind:ident $format:literal, $min:literal..=$max:literal;
    )*) => {$(
        text_field!(
            $(#[doc = $doc])* $name(Secret<String>), plain_fields!(@$kind), $format, $min..=$max,
            "writeOnly": true
        );

        impl $name {
            pub fn secret(&self) -> &Secret<String> {
                &self.0
            }
        }
    )*};
}

plain_fields! {
    /// A word to look for: visible ASCII characters without blanks.
    Word: text "word", 1..=100;
    /// A moment, such as `2026-11-15T08:00:00Z`.
    Moment: text "timestamp", 10..=40;
    /// A day, such as `2026-11-15`.
    Day: text "day", 10..=10;
    /// Code of a currency, such as `USD`.
    CurrencyCode: text "currency", 3..=3;
    /// An exchange rate: more than zero, with up to ten decimals.
    ExchangeRate: text "rate", 1..=19;
    /// E-mail address to sign in with.
    LoginEmail: text "email", 6..=100;
    /// Name of an organisation or a person.
    PlainName: text "note", 1..=100;
    /// An absolute http or https address.
    Website: text "webhook-url", 10..=2048;
    /// A pairing code.
    PairingCodeText: text "alphanumeric", 1..=20;
    /// What a link that was sent by mail ends with.
    LinkToken: text "alphanumeric", 1..=100;
    /// A line of text for people.
    Line: text "line", 1..=200;
    /// An absolute http or https address without credentials; https in production.
    WebhookUrl: text "webhook-url", 10..=2048;
    /// An address or a network, such as `203.0.113.7` or `203.0.113.0/24`.
    IpRange: text "address-range", 2..=49;
    /// Name of a header field.
    HeaderName: text "header-name", 1..=64;
    /// Trading name. Unique among the ISO's merchants, and among its stores.
    Dba: text "text", 2..=35;
    /// First name.
    FirstName: text "name", 2..=50;
    /// Last name.
    LastName: text "name", 1..=12;
    /// E-mail address.
    Email: text "email", 6..=255;
    /// A line of the street address.
    AddressLine: text "text", 2..=35;
    /// US ZIP code; city and state follow from it.
    ZipCode: number "us-zip", 5..=5;
    /// Phone number without the country's calling code.
    PhoneNumber: number "digits", 10..=12;
    /// Country calling code with its plus sign.
    IsdCode: text "isd-code", 2..=4;
    /// Electronic benefit transfer number.
    Ebt: text "alphanumeric", 7..=7;
    /// The ISO's reference of the agent.
    IsoAgentReference: text "alphanumeric", 1..=15;
    /// The ISO's own number of the merchant.
    IsoMerchant: text "alphanumeric", 1..=6;
    /// Address of the merchant's logo. It is stored and never fetched by the request.
    LogoUrl: text "logo-url", 1..=2048;
    /// Merchant category code.
    MccCode: number "mcc", 4..=4;
    /// Name of one of the ISO's templates.
    TemplateName: text "alphanumeric", 5..=30;
    /// Label shown for the terminal.
    DefaultLabel: text "alphanumeric", 18..=18;
    /// Bank identification number.
    TpnBin: number "digits", 6..=6;

    /// The ISO's own reference of any kind.
    ExternalReference: text "note", 1..=64;
    /// Why, in a few words.
    StatusReason: text "note", 1..=200;
    /// An id to search for.
    IdSearched: text "alphanumeric", 1..=20;
    /// A merchant number of any processor.
    MidSearched: text "alphanumeric", 1..=15;
    /// Serial number of a device.
    SerialNumber: text "note", 1..=64;

    /// Merchant number, 12 digits.
    Mid12: number "digits", 12..=12;
    /// Agent bank number, 6 digits.
    Agent: number "digits", 6..=6;
    /// Chain number, 6 digits.
    Chain: number "digits", 6..=6;
    /// Store number, 4 digits.
    StoreNumber: number "digits", 4..=4;
    /// Terminal number, 4 digits.
    TermNo: number "digits", 4..=4;
    /// Terminal id, 8 letters and digits.
    TermId8: text "alphanumeric", 8..=8;
    /// Agent's financial institution id.
    AgentFiid: text "alphanumeric", 4..=4;
    /// Data set group.
    DsGroup: text "alphanumeric", 1..=30;
    /// Terminal number.
    TerminalNumber: number "digits", 1..=16;
    /// Merchant number, letters and digits.
    MidText: text "alphanumeric", 1..=15;
    /// Terminal id, letters and digits.
    TermIdText: text "alphanumeric", 1..=15;
    /// Group id.
    GroupId: text "alphanumeric", 1..=15;
    /// Terminal id, digits.
    TermIdNumber: number "digits", 1..=16;
    /// Merchant number, up to 12 digits.
    MidNumber: number "digits", 1..=12;
    /// Merchant number, 10 to 12 digits.
    Mid10To12: number "digits", 10..=12;
    /// Bank number.
    BankNumber: number "digits", 1..=6;
}

secret_fields! {
    /// Value of a header field.
    HeaderText: text "header-value", 1..=1000;
    /// Bank routing number.
    AbaNo: number "digits", 9..=9;
    /// Access token, user part.
    AccessTokenUser: text "alphanumeric", 25..=50;
    /// Access token, password part.
    AccessTokenPassword: text "alphanumeric", 25..=50;
    /// API key of the processor.
    ProcessorApiKey: text "credential", 1..=45;
    /// Password of the terminal.
    TerminalPassword: text "credential", 1..=16;
    /// Consumer key or secret of a connected store.
    StoreConsumerKey: text "header-value", 10..=200;
    /// Routing data of the PIN pad; never card data.
    Track2: text "alphanumeric", 1..=18;
}

/// A text that must be one of a list: its schema lists them.
macro_rules! listed_fields {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident, $values:expr $(, $keyword:literal: $value:expr)*;
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        $crate::fields::plain_text!($name, concat!($($doc,)*));

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "enum": $values,
                    "description": concat!($($doc,)*).trim(),
                    $($keyword: $value,)*
                })
            }
        }
    )*};
}
pub(crate) use listed_fields;

text_field!(
    /// A password that is not easy to guess, kept as a slow hash.
    NewPassword(Secret<String>), "string", "password", password::LENGTH_MIN..=password::LENGTH_MAX,
    "writeOnly": true, "x-verbatim": true
);

impl NewPassword {
    pub fn into_secret(self) -> Secret<String> {
        self.0
    }
}

listed_fields! {
    /// Form of the answers: every error with `detailed`, the first one alone with `summary`.
    AnswerStyle, ["detailed", "summary"];
    /// Maker of the device.
    DeviceManufacturer, device_models::manufacturer_names(), "format": "device-manufacturer";
    /// Model of the device; it must be one that the manufacturer makes.
    DeviceModel, device_models::model_names(), "format": "device-model";
    /// Application of the terminal.
    ApplicationSign, ["CRDT"];
    /// What a key may do.
    ScopeName, scope_names();
    /// What somebody is who is invited.
    PersonRole, ["iso_admin", "iso_staff", "merchant", "store"];
    /// What somebody of an ISO is.
    IsoRole, ["iso_admin", "iso_staff"];
    /// A kind of events, a group of them such as `merchant.*`, or all with `*`.
    EventPattern, event_kinds::choices();
    /// An optional field of a webhook.
    WebhookOptional, ["description", "headers"];
    /// Whether events are sent.
    WebhookStatus, ["enabled", "disabled"];
    /// Whether a connected store is asked for changes.
    ConnectionState, ["active", "paused"];
    /// What a connection is like.
    ConnectionStatusName, connection_statuses();
    /// By what sums of connected stores are grouped.
    PortfolioGroup, ["currency", "day", "merchant", "store", "country", "category"];
    /// What sums of connected stores are sorted by.
    PortfolioOrder, ["netSales", "orders", "refunds", "growth"];
    /// Whether an alert has ended.
    AlertState, ["open", "ended"];
    /// What became of a delivery.
    DeliveryStatus, ["waiting", "delivered", "failed"];
    /// How far a TPN of a roll-out is.
    RolloutStateName, ["pending", "downloaded", "stopped", "replaced"];
    /// What an uploaded file is like.
    FileFormat, ["jsonl", "csv"];
    /// What became of a row.
    BulkResultStatus, ["succeeded", "failed"];
    /// How the terminal routes transactions.
    RoutingType, ["SIMPLE"], "default": "SIMPLE";
    /// 01 with fee, 02 without fee.
    ProfileId, ["01", "02"], "x-code": "invalid_profile";
    /// An optional field of a TPN.
    TpnOptional, [
        "defaultLabel", "tpnAssignTemplate", "parameters", "externalReference", "metadata"
    ];
}

/// What an ISO notes about an object: names and values of its own choice.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Metadata(BTreeMap<String, String>);

/// Pairs that an object may have at most.
const METADATA_MAX: usize = 50;

impl Metadata {
    /// The form in which it is stored; none if there is nothing to store.
    pub(crate) fn to_json(&self) -> Option<String> {
        let text = serde_json::to_string(&self.0).ok();
        text.filter(|_| !self.0.is_empty())
    }
}

impl JsonSchema for Metadata {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Metadata".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Up to 50 keys of 40 characters with values of 500 characters. \
                            Replaces all previous metadata. Do not store personal data.",
            "maxProperties": METADATA_MAX,
            "propertyNames": {
                "type": "string", "format": "metadata-name", "minLength": 1, "maxLength": 40
            },
            "additionalProperties": {
                "type": "string", "format": "note", "minLength": 1, "maxLength": 500
            },
        })
    }
}

fn connection_statuses() -> Vec<&'static str> {
    ConnectionStatus::ALL.iter().map(|status| status.as_str()).collect()
}

fn scope_names() -> Vec<&'static str> {
    Scope::ALL.iter().map(|scope| scope.name()).chain([FULL_ACCESS]).collect()
}

/// The default of the schema; absent means this.
impl Default for RoutingType {
    fn default() -> Self {
        Self(String::from("SIMPLE"))
    }
}

impl Moment {
    /// The time it names; the format lets only times pass.
    pub fn time(&self) -> Option<Timestamp> {
        Timestamp::parse(self.as_str())
    }
}
