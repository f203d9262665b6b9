//! Addresses of buyers: how a request's are read, put into the form in which they are kept, and
//! checked. What is missing is no error here; a checkout asks for it.

mod postcode;

use commerce::data::tables;
use commerce::orders::Address;
use contract::rest::check::ParamError;
use contract::rest::{clean, formats, loose};
use serde_json::{Map, Value, json};

/// Characters of one field at most.
const FIELD_LENGTH_MAX: usize = 250;
/// The fields that both addresses have, in the order in which they are shown.
pub(crate) const FIELDS: &[&str] = &[
    "first_name",
    "last_name",
    "company",
    "address_1",
    "address_2",
    "city",
    "state",
    "postcode",
    "country",
];

/// Which of the two addresses it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Billing,
    Shipping,
}

impl Side {
    pub(crate) fn param(self) -> &'static str {
        match self {
            Self::Billing => "billing_address",
            Self::Shipping => "shipping_address",
        }
    }
}

/// How strictly an e-mail address is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Email {
    /// What is none is passed over.
    Lenient,
    /// What is none is an error.
    Strict,
}

/// The address with what the request gives in place of what was known. What is no object gives
/// nothing.
pub(crate) fn merged(
    known: &Address,
    given: Option<&Value>,
    side: Side,
    email: Email,
) -> Result<Address, ParamError> {
    let mut address = known.clone();
    let Some(Value::Object(given)) = given else { return Ok(address) };
    for (name, value) in given {
        if name == "email" {
            continue;
        }
        let Some(field) = address.field_mut(name) else { continue };
        *field = cleaned(value);
    }
    settle(&mut address)?;
    if side == Side::Billing {
        set_email(&mut address, given, email)?;
    }
    Ok(address)
}

fn cleaned(value: &Value) -> String {
    let text = clean::text_field(&loose::scalar_text(value).unwrap_or_default());
    text.chars().take(FIELD_LENGTH_MAX).collect()
}

/// Brings codes into their form, and says what does not fit together.
fn settle(address: &mut Address) -> Result<(), ParamError> {
    address.country = address.country.to_uppercase();
    let country = tables::country(&address.country);
    if country.is_none() && !address.country.is_empty() {
        return Err(ParamError::new("invalid_country", "Enter a valid country code."));
    }
    let states = country.map_or(&[][..], |country| &country.states);
    if !states.is_empty() && !address.state.is_empty() {
        let given = address.state.to_lowercase();
        let is_meant = |state: &&tables::State| {
            state.code.to_lowercase() == given || state.name.to_lowercase() == given
        };
        let Some(state) = states.iter().find(is_meant) else {
            return Err(ParamError::new("invalid_state", "Enter a state of the country."));
        };
        state.code.clone_into(&mut address.state);
    }
    address.postcode = postcode::formatted(&address.country, &address.postcode);
    if !postcode::is_valid(&address.country, &address.postcode) {
        return Err(ParamError::new("invalid_postcode", "Enter a valid postal code."));
    }
    let is_of_phone = |c: char| c.is_ascii_digit() || c.is_whitespace() || "#_-+/().".contains(c);
    if !address.phone.chars().all(is_of_phone) {
        return Err(ParamError::new("invalid_phone", "Enter a valid phone number."));
    }
    Ok(())
}

/// An e-mail address that is none does not take the place of one that is known.
fn set_email(
    address: &mut Address,
    given: &Map<String, Value>,
    email: Email,
) -> Result<(), ParamError> {
    let Some(text) = given.get("email").map(cleaned) else { return Ok(()) };
    if text.is_empty() || formats::is_email(&text) {
        address.email = text;
        return Ok(());
    }
    match email {
        Email::Lenient => Ok(()),
        Email::Strict => Err(ParamError::new("invalid_email", "Enter a valid e-mail address.")),
    }
}

/// The address as it is shown.
pub(crate) fn shown(address: &Address, side: Side) -> Value {
    let mut copy = address.clone();
    let mut members = Map::new();
    let last: &[&str] = match side {
        Side::Billing => &["email", "phone"],
        Side::Shipping => &["phone"],
    };
    for name in FIELDS.iter().chain(last) {
        let value = copy.field_mut(name).map(|field| field.clone()).unwrap_or_default();
        members.insert((*name).to_owned(), json!(value));
    }
    Value::Object(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(country: &str, state: &str) -> Address {
        Address { country: country.to_owned(), state: state.to_owned(), ..Address::default() }
    }

    #[test]
    fn what_is_left_out_stays_and_codes_get_their_form() {
        let known = Address { city: String::from("Oakland"), ..at("US", "CA") };
        let given = json!({ "state": "new york", "first_name": " <b>Bo</b> ", "planet": "x" });
        let merged = merged(&known, Some(&given), Side::Shipping, Email::Lenient).unwrap();
        assert_eq!((&*merged.state, &*merged.first_name, &*merged.city), ("NY", "Bo", "Oakland"));
        let text = super::merged(&known, Some(&json!("abc")), Side::Billing, Email::Strict);
        assert_eq!(text.unwrap(), known);
    }

    #[test]
    fn errors_have_codes() {
        let known = at("US", "CA");
        for (given, expected) in [
            (json!({ "country": "XX" }), "invalid_country"),
            (json!({ "country": "DE" }), "invalid_state"),
            (json!({ "state": "ZZ" }), "invalid_state"),
            (json!({ "postcode": "ABC" }), "invalid_postcode"),
            (json!({ "phone": "not a phone!" }), "invalid_phone"),
            (json!({ "email": "notmail" }), "invalid_email"),
        ] {
            let error = merged(&known, Some(&given), Side::Billing, Email::Strict).unwrap_err();
            assert_eq!(error.code, expected, "{given}");
        }
    }

    #[test]
    fn a_bad_address_does_not_replace_a_good_one() {
        let known = Address { email: String::from("ok@example.test"), ..at("US", "CA") };
        let given = json!({ "email": "notmail" });
        let merged = merged(&known, Some(&given), Side::Billing, Email::Lenient).unwrap();
        assert_eq!(merged.email, "ok@example.test");
    }
}
