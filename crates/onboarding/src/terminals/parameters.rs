//! The parameters of a terminal: each with its type, bounds, default and sentence, written once.
//!
//! Four layers give a TPN its parameters, each outranking the one before: the default here, what
//! the ISO sets for all its TPNs, the template in the version that the TPN was given, and what the
//! TPN has for itself. The table in the documentation is compared with this one by a test.

use std::fmt::Write as _;
use std::sync::LazyLock;

use contract::walk::{self, Sanitizer};
use contract::{Answer, Draft, Endpoint, Failure, IssueKind, Issues, Route, Schema};
use db::Conn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use types::{Error, Result, Scope, Tpn};

use crate::change::{self, TpnRecord, json_object};
use crate::formats::FORMATS;
use crate::rows::template;
use crate::rows::tpn::TpnRow;
use crate::{Code, Cx, dialect, text};

macro_rules! parameters {
    ($(
        $(#[doc = $doc:literal])*
        $(#[schemars($($rule:tt)*)])?
        $field:ident $name:literal: $type:ty = $default:expr;
    )*) => {
        /// Terminal parameters; those that are left out are taken from the layer below.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub struct Parameters {$(
            $(#[doc = $doc])*
            #[serde(rename = $name, default, skip_serializing_if = "Option::is_none")]
            $(#[schemars($($rule)*)])?
            $field: Option<$type>,
        )*}

        /// The lowest layer.
        fn defaults() -> Map<String, Value> {
            [$(($name, json!($default)),)*]
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect()
        }
    };
}

parameters! {
    /// Ask the customer for a tip.
    tip_enabled "tipEnabled": bool = false;
    /// When to ask for the tip: before the payment, or after it on the receipt.
    #[schemars(extend("enum" = ["before", "after"]))]
    tip_moment "tipMoment": String = "before";
    /// The tips to offer, in percent.
    #[schemars(length(min = 1, max = 4), inner(range(min = 1, max = 100)))]
    tip_percents "tipPercents": Vec<i64> = [15, 18, 20];
    /// Let the customer enter an amount of their own.
    tip_other_amount "tipOtherAmount": bool = true;
    /// The largest tip, in percent of the amount.
    #[schemars(range(min = 1, max = 100))]
    tip_percent_max "tipPercentMax": i64 = 50;
    /// Add tax to the amount.
    tax_enabled "taxEnabled": bool = false;
    /// What the tax is called on the receipt.
    #[schemars(length(min = 1, max = 30), extend("format" = "note"))]
    tax_name "taxName": String = "Sales tax";
    /// The tax, in hundredths of a percent.
    #[schemars(range(min = 0, max = 5000))]
    tax_basis_points "taxBasisPoints": i64 = 0;
    /// Whether the merchant's receipt is printed.
    #[schemars(extend("enum" = ["always", "ask", "never"]))]
    receipt_merchant "receiptMerchant": String = "always";
    /// Whether the customer's receipt is printed.
    #[schemars(extend("enum" = ["always", "ask", "never"]))]
    receipt_customer "receiptCustomer": String = "ask";
    /// Offer to send the customer's receipt by e-mail.
    receipt_email "receiptEmail": bool = false;
    /// A line above every receipt.
    #[schemars(length(max = 120), extend("format" = "note"))]
    receipt_header "receiptHeader": String = "";
    /// A line below every receipt.
    #[schemars(length(max = 120), extend("format" = "note"))]
    receipt_footer "receiptFooter": String = "Thank you";
    /// Add a fee of the merchant's own.
    custom_fee_enabled "customFeeEnabled": bool = false;
    /// What the fee is called on the receipt.
    #[schemars(length(min = 1, max = 30), extend("format" = "note"))]
    custom_fee_name "customFeeName": String = "Service fee";
    /// The fixed part of the fee, in cents.
    #[schemars(range(min = 0, max = 100_000))]
    custom_fee_cents "customFeeCents": i64 = 0;
    /// The part of the fee that grows with the amount, in hundredths of a percent.
    #[schemars(range(min = 0, max = 1000))]
    custom_fee_basis_points "customFeeBasisPoints": i64 = 0;
    /// Give a discount to those who pay in cash.
    cash_discount_enabled "cashDiscountEnabled": bool = false;
    /// What the discount is called on the receipt.
    #[schemars(length(min = 1, max = 30), extend("format" = "note"))]
    cash_discount_name "cashDiscountName": String = "Cash discount";
    /// The discount, in hundredths of a percent.
    #[schemars(range(min = 0, max = 1000))]
    cash_discount_basis_points "cashDiscountBasisPoints": i64 = 0;
    /// Ask for a signature from this amount on, in cents; 0 asks always.
    #[schemars(range(min = 0, max = 100_000_000))]
    signature_from_cents "signatureFromCents": i64 = 2500;
    /// Allow refunds at the terminal.
    refunds_allowed "refundsAllowed": bool = true;
    /// Allow card numbers to be typed in.
    manual_entry_allowed "manualEntryAllowed": bool = false;
    /// Accept payments while the terminal is offline.
    offline_allowed "offlineAllowed": bool = false;
    /// The largest payment while offline, in cents.
    #[schemars(range(min = 0, max = 1_000_000))]
    offline_cents_max "offlineCentsMax": i64 = 5000;
    /// Close the batch by itself every day.
    batch_close_automatic "batchCloseAutomatic": bool = true;
    /// When the batch is closed, in the store's local time.
    #[schemars(extend("format" = "time-of-day"))]
    batch_close_time "batchCloseTime": String = "03:00";
    /// Language of the screen.
    #[schemars(extend("enum" = ["en", "es", "fr"]))]
    language "language": String = "en";
    /// Seconds until an untouched screen goes dark.
    #[schemars(range(min = 15, max = 600))]
    screen_timeout_seconds "screenTimeoutSeconds": i64 = 60;
}

/// The schema of each parameter, by name.
static DEFINITIONS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let schema = schemars::SchemaGenerator::default().into_root_schema_for::<Parameters>();
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
});

impl Parameters {
    /// The form in which they are stored: only what is set.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| String::from("{}"))
    }

    /// Reads parameters that did not come through an endpoint.
    pub(crate) fn read(value: &Value) -> Result<Self> {
        static SCHEMA: LazyLock<std::result::Result<Schema, String>> = LazyLock::new(|| {
            let schema = schemars::SchemaGenerator::default().into_root_schema_for::<Parameters>();
            Schema::compile(&schema.to_value(), FORMATS)
        });
        if !value.is_object() {
            return Err(Error::invalid("the parameters must be one JSON object"));
        }
        let schema = SCHEMA.as_ref().map_err(|message| Error::internal(message.as_str()))?;
        let mut value = value.clone();
        let walked = walk::walk(schema, &mut value, Sanitizer { clean: text::clean });
        let unknown = walked.ignored.iter();
        let unknown = unknown.map(|ignored| format!("{}: there is no such one", ignored.path));
        let wrong = dialect::error_items(&walked.issues).into_iter();
        let wrong = wrong.map(|item| format!("{}: {}", item.param, item.message));
        let problems: Vec<String> = wrong.chain(unknown).collect();
        if !problems.is_empty() {
            let list = problems.join("; ");
            return Err(Error::invalid(format!("the parameters are wrong: {list}")));
        }
        serde_json::from_value(value)
            .map_err(|error| Error::internal("parameters cannot be read").because(error))
    }
}

/// Checks `parameters` of a request. A misspelt one would be ignored for ever, so it is refused.
pub(crate) fn check(draft: &mut Draft<'_>) {
    for ignored in draft.ignored {
        if ignored.path.starts_with("parameters.") {
            let error = IssueKind::rule(Code::UnknownField.name(), "Unknown parameter.");
            draft.issues.add(ignored.path.clone(), error);
        }
    }
    let sent = draft.params.get("parameters").cloned().unwrap_or_default();
    if let Ok(sent) = serde_json::from_value(sent) {
        check_consistent(&sent, draft.issues);
    }
}

/// The parameters of a TPN, and the layer that each comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effective {
    pub(crate) values: Map<String, Value>,
    pub(crate) sources: Map<String, Value>,
}

impl Effective {
    /// Puts a layer on top.
    fn lay(&mut self, source: &str, layer: Map<String, Value>) {
        for (name, value) in layer {
            self.sources.insert(name.clone(), Value::from(source));
            self.values.insert(name, value);
        }
    }

    pub(crate) fn of(conn: &mut dyn Conn, tpn: &TpnRow) -> Result<Self> {
        let mut effective = Self::default();
        effective.lay("default", defaults());
        if let Some(row) = template::defaults(conn, &tpn.iso_id)? {
            effective.lay("iso", json_object(&row.parameters)?);
        }
        if let Some((id, version)) = &tpn.template {
            let parameters = template::version_parameters(conn, &tpn.iso_id, id, *version)?;
            effective.lay("template", json_object(parameters.as_deref().unwrap_or("{}"))?);
        }
        if let Some(own) = &tpn.parameters {
            effective.lay("tpn", json_object(own)?);
        }
        Ok(effective)
    }

    /// Names the values: equal for equal parameters.
    pub(crate) fn tag(&self) -> String {
        let hash = blake3::hash(Value::Object(self.values.clone()).to_string().as_bytes());
        hash.to_hex().get(..TAG_LENGTH).unwrap_or_default().to_owned()
    }
}

const TAG_LENGTH: usize = 20;

/// Show the parameters of a TPN.
///
/// Defaults, what the ISO sets for all TPNs, the template and the TPN's own, each outranking the
/// one before.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TpnParametersGet {
    /// The TPN number.
    tpn: Tpn,
}

/// The parameters in force.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TpnParametersView {
    /// The TPN number.
    tpn: Tpn,
    /// Every parameter with its value.
    parameters: Map<String, Value>,
    /// Where each comes from: `default`, `iso`, `template` or `tpn`.
    sources: Map<String, Value>,
}

impl Endpoint<Cx> for TpnParametersGet {
    const ROUTE: Route = Route::get("/v1/tpns/{tpn}/parameters").scope(Scope::TpnsRead);
    type Reply = TpnParametersView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<TpnParametersView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let tpn = self.tpn.clone();
        let effective = cx.platform.store.read(move |conn| {
            let record: TpnRecord = change::load(conn, &iso_id, self.tpn.as_str())?;
            Effective::of(conn, &record.row)
        });
        let effective = effective.await?;
        let tag = format!("\"{}\"", effective.tag());
        let Effective { values, sources } = effective;
        let view = TpnParametersView { tpn, parameters: values, sources };
        Ok(Answer::new(view).header("etag", tag))
    }
}

/// List the terminal parameters that there are.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ParameterList {}

/// All parameters.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ParameterListReply {
    /// The parameters, by name.
    data: Vec<ParameterView>,
}

/// A terminal parameter.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ParameterView {
    /// Its name in templates.
    name: String,
    /// What it does.
    description: String,
    /// Its value where nobody sets another.
    default: Value,
    /// What values it takes, as a JSON Schema.
    schema: Map<String, Value>,
}

impl Endpoint<Cx> for ParameterList {
    const ROUTE: Route = Route::get("/v1/parameters").scope(Scope::TemplatesRead);
    type Reply = ParameterListReply;

    async fn handle(self, _: &Cx) -> std::result::Result<Answer<ParameterListReply>, Failure> {
        let mut defaults = defaults();
        let view = |(name, schema): (&String, &Value)| {
            let mut schema = schema.as_object().cloned().unwrap_or_default();
            let description = schema.shift_remove("description").unwrap_or_default();
            ParameterView {
                name: name.clone(),
                description: description.as_str().unwrap_or_default().to_owned(),
                default: defaults.shift_remove(name).unwrap_or_default(),
                schema,
            }
        };
        let data = DEFINITIONS.iter().map(view).collect();
        Ok(Answer::new(ParameterListReply { data }))
    }
}

/// The reference of all parameters as a table for the documentation.
pub fn reference_table() -> String {
    let defaults = defaults();
    let mut table = String::from("| Parameter | Values | Default | Meaning |\n|---|---|---|---|\n");
    for (name, schema) in DEFINITIONS.iter() {
        let default = defaults.get(name).cloned().unwrap_or_default();
        let meaning = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let values = describe(schema);
        let _ = writeln!(table, "| `{name}` | {values} | `{default}` | {meaning} |");
    }
    table
}

fn describe(schema: &Value) -> String {
    let number = |name: &str| schema.get(name).and_then(Value::as_i64);
    let has_type = |name: &str| {
        let types = schema.get("type").and_then(Value::as_array);
        types.is_some_and(|types| types.iter().any(|known| known == name))
    };
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
        let names = allowed.iter().filter_map(Value::as_str).map(|name| format!("`{name}`"));
        return names.collect::<Vec<_>>().join(", ");
    }
    match (number("minimum"), number("maximum")) {
        (Some(min), Some(max)) => return format!("{min} to {max}"),
        _ if has_type("boolean") => return String::from("`true`, `false`"),
        _ if has_type("array") => return String::from("a list of up to 4 numbers from 1 to 100"),
        _ => {}
    }
    match (schema.get("format").and_then(Value::as_str), number("maxLength")) {
        (Some("time-of-day"), _) => String::from("hours and minutes"),
        (_, Some(max)) => format!("text of up to {max} characters"),
        _ => String::from("text"),
    }
}

/// Issues of parameters that contradict each other.
fn check_consistent(parameters: &Parameters, issues: &mut Issues) {
    let highest = parameters.tip_percents.iter().flatten().max();
    if let (Some(highest), Some(max)) = (highest, parameters.tip_percent_max)
        && *highest > max
    {
        let message = "A suggested tip exceeds tipPercentMax.";
        let error = IssueKind::rule(Code::ConflictingField.name(), message);
        issues.add("parameters.tipPercents", error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_one_of_its_values() {
        let defaults = Value::Object(defaults());
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&defaults), names(&Value::Object(DEFINITIONS.clone())));
        // The empty text is no value to send, and is the default all the same.
        let mut read = serde_json::to_value(Parameters::read(&defaults).unwrap()).unwrap();
        read["receiptHeader"] = json!("");
        assert_eq!(read, defaults);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (wrong, named) in [
            (json!({ "tipPercentMax": 101 }), "tipPercentMax"),
            (json!({ "tipPercents": [0] }), "tipPercents[0]"),
            (json!({ "tip": true }), "tip: there is no such one"),
            (json!({ "language": "tlh" }), "language"),
            (json!({ "batchCloseTime": "24:00" }), "batchCloseTime"),
            (json!([]), "object"),
        ] {
            let message = Parameters::read(&wrong).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
        }
    }

    #[test]
    fn the_documentation_has_the_table() {
        let documentation = include_str!("../../../../docs/templates.md");
        assert!(documentation.contains(&reference_table()), "{}", reference_table());
    }
}
