//! The fields of an address: what the country asks for, in an order that people know, with what was
//! typed and what is wrong with it.

use commerce::data;
use commerce::data::tables;
use content::web::Fields;
use frame::Options;
use serde_json::{Map, Value, json};

use super::values::{Choice, list, part, text};
use crate::address::Side;

/// The fields in the order in which they are asked for, with what browsers fill in.
const FIELDS: &[(&str, &str)] = &[
    ("first_name", "given-name"),
    ("last_name", "family-name"),
    ("company", "organization"),
    ("country", "country"),
    ("address_1", "address-line1"),
    ("address_2", "address-line2"),
    ("city", "address-level2"),
    ("state", "address-level1"),
    ("postcode", "postal-code"),
    ("phone", "tel"),
];

/// One field of a form.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) value: String,
    pub(super) kind: &'static str,
    pub(super) autocomplete: String,
    pub(super) is_required: bool,
    /// What to choose from; for a text, what is suggested.
    pub(super) choices: Vec<Choice>,
    /// Empty if nothing is wrong.
    pub(super) error: String,
}

impl Field {
    pub(super) fn is_select(&self) -> bool {
        self.kind == "select"
    }
}

/// What a refusal says about fields of forms, by their names, and about none of them.
#[derive(Debug, Default)]
pub(super) struct FormErrors {
    pub(super) fields: Vec<(String, String)>,
    pub(super) general: Vec<String>,
}

impl FormErrors {
    pub(super) fn general(message: impl Into<String>) -> Self {
        Self { fields: Vec::new(), general: vec![message.into()] }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.general.is_empty()
    }

    pub(super) fn of(&self, name: &str) -> String {
        let found = self.fields.iter().find(|(own, _)| own == name);
        found.map(|(_, message)| message.clone()).unwrap_or_default()
    }

    /// Reads a refusal of the Store API that tells of addresses; `known` gives the country.
    pub(super) fn read(refusal: &Value, options: &Options, known: &dyn Fn(Side) -> Value) -> Self {
        let mut errors = Self::default();
        let data = part(refusal, "data");
        for side in [Side::Billing, Side::Shipping] {
            let detail = part(part(data, "details"), side.param());
            if let Some(field) = field_of(text(detail, "code")) {
                let name = format!("{}_{field}", prefix(side));
                errors.fields.push((name, text(detail, "message").to_owned()));
            }
            let country = text(&known(side), "country").to_owned();
            for message in list(part(data, "errors"), prefix(side)).iter().filter_map(Value::as_str)
            {
                errors.add_missing(options, (side, &country), message);
            }
        }
        if !text(part(data, "params"), "payment_method").is_empty() {
            errors.fields.push((String::from("payment_method"), String::from(NO_METHOD)));
        }
        match text(refusal, "code") {
            "woocommerce_rest_missing_email_address" | "registration-error-email-exists" => {
                let message = text(refusal, "message").to_owned();
                errors.fields.push((String::from("billing_email"), message));
            }
            "woocommerce_rest_checkout_missing_payment_method"
            | "woocommerce_rest_checkout_payment_method_disabled" => {
                let message = text(refusal, "message").to_owned();
                errors.fields.push((String::from("payment_method"), message));
            }
            _ if errors.is_empty() => errors.general.push(text(refusal, "message").to_owned()),
            _ => {}
        }
        errors
    }

    fn add_missing(&mut self, options: &Options, (side, country): (Side, &str), message: &str) {
        let own = FIELDS.iter().find(|(name, _)| {
            let field = data::address_field(options, country, name);
            field.is_some_and(|(label, _)| message == format!("{label} is required"))
        });
        match own {
            Some((name, _)) => {
                let words = message.strip_suffix(" is required").unwrap_or(message);
                let message = format!("Fill in this field: {}.", words.to_lowercase());
                self.fields.push((format!("{}_{name}", prefix(side)), message));
            }
            None => self.general.push(format!("{message}.")),
        }
    }
}

const NO_METHOD: &str = "Select a payment method.";

/// The field that an error of an address is about.
fn field_of(code: &str) -> Option<&'static str> {
    let fields = [
        ("invalid_country", "country"),
        ("invalid_state", "state"),
        ("invalid_postcode", "postcode"),
        ("invalid_phone", "phone"),
        ("invalid_email", "email"),
    ];
    fields.into_iter().find(|(own, _)| *own == code).map(|(_, field)| field)
}

pub(super) fn prefix(side: Side) -> &'static str {
    match side {
        Side::Billing => "billing",
        Side::Shipping => "shipping",
    }
}

/// The fields of an address with the values of a body of the Store API.
pub(super) fn fields(
    options: &Options,
    side: Side,
    address: &Value,
    errors: &FormErrors,
) -> Vec<Field> {
    let country = text(address, "country");
    let mut fields = Vec::new();
    for (name, autocomplete) in FIELDS {
        let Some((label, is_required)) = data::address_field(options, country, name) else {
            continue;
        };
        let full = format!("{}_{name}", prefix(side));
        let value = text(address, name);
        let (kind, choices, value) = match *name {
            "country" => ("select", countries(options, value), value.to_owned()),
            "state" => ("text", states(country), state_name(country, value)),
            "phone" => ("tel", Vec::new(), value.to_owned()),
            _ => ("text", Vec::new(), value.to_owned()),
        };
        fields.push(Field {
            error: errors.of(&full),
            name: full,
            label: label.to_owned(),
            value,
            kind,
            autocomplete: format!("{} {autocomplete}", prefix(side)),
            is_required,
            choices,
        });
    }
    if side == Side::Billing {
        fields.push(email(text(address, "email"), errors));
    }
    fields
}

fn email(value: &str, errors: &FormErrors) -> Field {
    Field {
        name: String::from("billing_email"),
        label: String::from("E-mail address"),
        value: value.to_owned(),
        kind: "email",
        autocomplete: String::from("billing email"),
        is_required: true,
        choices: Vec::new(),
        error: errors.of("billing_email"),
    }
}

/// The countries that the shop sells to, with the one that is known.
fn countries(options: &Options, chosen: &str) -> Vec<Choice> {
    let specific = options.text("woocommerce_allowed_countries") == "specific";
    let allowed = options.get("woocommerce_specific_allowed_countries");
    let is_allowed = |code: &str| {
        let named = allowed.as_array().is_some_and(|all| all.iter().any(|one| one == code));
        !specific || named || code == chosen
    };
    let each = tables::countries().iter().filter(|country| is_allowed(country.code));
    let mut choices: Vec<Choice> = each
        .map(|country| Choice {
            value: country.code.to_owned(),
            text: content::web::plain(country.name),
            is_chosen: country.code == chosen,
        })
        .collect();
    choices.sort_by(|left, right| left.text.cmp(&right.text));
    choices
}

fn states(country: &str) -> Vec<Choice> {
    let states = tables::country(country).map(|country| country.states.as_slice());
    let each = states.unwrap_or_default().iter().map(|state| {
        let name = content::web::plain(state.name);
        Choice { value: name, ..Choice::default() }
    });
    each.collect()
}

/// The name of a state by its code; what is no code stays as it is.
pub(super) fn state_name(country: &str, code: &str) -> String {
    let states = tables::country(country).map(|country| country.states.as_slice());
    let found = states.unwrap_or_default().iter().find(|state| state.code == code);
    found.map_or_else(|| code.to_owned(), |state| content::web::plain(state.name))
}

/// The address that a form brings, as the Store API takes it. What addresses of the country do not
/// have is emptied: it would stay from another country.
pub(super) fn typed(options: &Options, fields: &Fields, side: Side) -> Value {
    let country = fields.text(&format!("{}_country", prefix(side))).to_uppercase();
    let mut address = Map::new();
    let names = FIELDS.iter().map(|(name, _)| *name);
    let email = (side == Side::Billing).then_some("email");
    for name in names.chain(email) {
        let full = format!("{}_{name}", prefix(side));
        let is_known = name == "email" || data::address_field(options, &country, name).is_some();
        if !is_known && !country.is_empty() {
            address.insert(name.to_owned(), json!(""));
        } else if fields.has(&full) {
            address.insert(name.to_owned(), json!(fields.text(&full)));
        }
    }
    Value::Object(address)
}

/// An address in the lines of an envelope.
pub(super) fn lines(address: &Value) -> Vec<String> {
    let part = |name: &str| text(address, name).to_owned();
    let country = tables::country(text(address, "country"));
    let country_name = country.map(|country| content::web::plain(country.name));
    let state = state_name(text(address, "country"), text(address, "state"));
    let joined = |parts: &[String]| {
        let known: Vec<&str> =
            parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        known.join(" ")
    };
    let lines = [
        joined(&[part("first_name"), part("last_name")]),
        part("company"),
        part("address_1"),
        part("address_2"),
        joined(&[part("city"), state, part("postcode")]),
        country_name.unwrap_or_default(),
        part("phone"),
        part("email"),
    ];
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_beside_the_field_that_it_is_about() {
        frame::options::declare(&[commerce::options::DEFINITIONS]);
        let options = Options::default();
        let known = |_: Side| json!({ "country": "US" });
        let refusal = json!({
            "code": "woocommerce_rest_invalid_address", "message": "Fill in.",
            "data": { "errors": { "billing": ["First name is required"] } },
        });
        let errors = FormErrors::read(&refusal, &options, &known);
        assert!(errors.of("billing_first_name").contains("first name"), "{errors:?}");
        assert!(errors.general.is_empty(), "{errors:?}");
        let refusal = json!({
            "code": "rest_invalid_param", "message": "Invalid parameter(s)",
            "data": { "details": { "shipping_address": {
                "code": "invalid_postcode", "message": "Enter a valid postal code." } } },
        });
        let errors = FormErrors::read(&refusal, &options, &known);
        assert_eq!(errors.of("shipping_postcode"), "Enter a valid postal code.");
        let refusal = json!({ "code": "other", "message": "Something else." });
        assert_eq!(FormErrors::read(&refusal, &options, &known).general, ["Something else."]);
    }
}
