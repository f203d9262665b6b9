//! The demo's customers: who they are follows from their number alone, so nobody has to be kept in
//! memory. Persons are invented; their e-mail addresses are under domains that nobody can have.

use shop_rows::customer::CustomerRow;
use shop_rows::customer_lookup::CustomerLookupRow;
use site_rows::user::UserRow;
use types::{Role, Timestamp};

use super::dice::{Dice, Stream};
use super::places::{COUNTRIES, Country};
use crate::orders::Address;

/// How many of a thousand customers register.
const REGISTERED: u64 = 620;
/// How many of a thousand customers buy as a company.
const COMPANIES: u64 = 60;
/// How many of a thousand customers have goods sent elsewhere.
const GIFTS: u64 = 110;

const DOMAINS: &[&str] = &["example.com", "example.org", "example.net", "mail.example"];
const SURNAME_STARTS: &[&str] = &[
    "Ash", "Birk", "Brand", "Cald", "Dun", "Eller", "Fen", "Gar", "Hal", "Holm", "Kest", "Lang",
    "Lin", "Mar", "Mell", "Nor", "Oak", "Pell", "Quill", "Rav", "Sand", "Stern", "Thorn", "Val",
    "Wes", "Win", "Yar", "Zell",
];
const SURNAME_ENDS: &[&str] = &[
    "berg", "by", "croft", "dale", "den", "feld", "gate", "holt", "ing", "land", "ley", "mere",
    "moor", "quist", "ridge", "sen", "stead", "ton", "wick", "wright",
];
const COMPANY_ENDS: &[&str] = &["& Daughters", "Studio", "Workshop", "Trading", "Stores"];

/// A customer.
#[derive(Clone, Debug)]
pub(super) struct Person {
    pub(super) country: &'static Country,
    pub(super) is_registered: bool,
    pub(super) billing: Address,
    /// Where goods are sent, which is mostly where the bill goes.
    pub(super) shipping: Address,
    login: String,
}

/// Whether the customer of this number registers.
pub(super) fn is_registered(seed: u64, number: u64) -> bool {
    Dice::new(seed, Stream::People, number).in_thousand(REGISTERED)
}

/// The customer of this number.
pub(super) fn person(seed: u64, number: u64) -> Option<Person> {
    let mut dice = Dice::new(seed, Stream::People, number);
    let is_registered = dice.in_thousand(REGISTERED);
    let place = dice.weighted(COUNTRIES.iter().map(|country| country.weight));
    let country = COUNTRIES.get(place)?;
    let mut billing = address(&mut dice, country)?;
    dice.text(country.first_names).clone_into(&mut billing.first_name);
    billing.last_name = surname(&mut dice);
    if dice.in_thousand(COMPANIES) {
        billing.company = format!("{} {}", surname(&mut dice), dice.text(COMPANY_ENDS));
    }
    let name = |text: &str| -> String {
        let plain = text.chars().filter(char::is_ascii_alphabetic);
        plain.map(|letter| letter.to_ascii_lowercase()).collect()
    };
    let (first, last) = (name(&billing.first_name), name(&billing.last_name));
    billing.email = format!("{first}.{last}.{number}@{}", dice.text(DOMAINS));
    billing.phone = dice.pattern(country.phone);
    let mut shipping = if dice.in_thousand(GIFTS) {
        let first_name = dice.text(country.first_names).to_owned();
        let last_name = billing.last_name.clone();
        Address { first_name, last_name, ..address(&mut dice, country)? }
    } else {
        billing.clone()
    };
    shipping.email.clear();
    Some(Person { country, is_registered, billing, shipping, login: format!("{first}{number}") })
}

fn surname(dice: &mut Dice) -> String {
    format!("{}{}", dice.text(SURNAME_STARTS), dice.text(SURNAME_ENDS))
}

fn address(dice: &mut Dice, country: &Country) -> Option<Address> {
    let city = dice.pick(country.cities)?;
    let (street, house) = (dice.text(country.streets), dice.between(1, 180));
    let address_1 = if country.number_first {
        format!("{house} {street}")
    } else {
        format!("{street} {house}")
    };
    Some(Address {
        address_1,
        city: city.name.to_owned(),
        state: city.state.to_owned(),
        postcode: dice.pattern(city.postcode),
        country: country.code.to_owned(),
        ..Address::default()
    })
}

impl Person {
    /// The account of somebody who registers, with the number that it is given.
    pub(super) fn user(&self, user_id: i64, registered: Timestamp) -> UserRow {
        let Address { first_name, last_name, email, .. } = &self.billing;
        UserRow {
            user_id,
            login: self.login.clone(),
            email: email.clone(),
            roles: vec![Role::Customer],
            display_name: format!("{first_name} {last_name}"),
            nicename: self.login.clone(),
            first_name: first_name.clone(),
            last_name: last_name.clone(),
            nickname: self.login.clone(),
            registered,
            meta: String::from("{}"),
            ..UserRow::default()
        }
    }

    /// What the account has as a customer.
    pub(super) fn customer(&self, user_id: i64, is_paying: bool) -> CustomerRow {
        let text = |address: &Address| serde_json::json!(address).to_string();
        let (billing, shipping) = (text(&self.billing), text(&self.shipping));
        CustomerRow { billing, shipping, is_paying, ..CustomerRow::empty(user_id) }
    }

    /// How reports know the customer.
    pub(super) fn lookup(
        &self,
        customer_id: i64,
        user: Option<&UserRow>,
        last_active: Timestamp,
    ) -> CustomerLookupRow {
        let billing = self.billing.clone();
        CustomerLookupRow {
            customer_id,
            user_id: user.map(|user| user.user_id),
            username: user.map(|user| user.login.clone()).unwrap_or_default(),
            first_name: billing.first_name,
            last_name: billing.last_name,
            email: billing.email,
            last_active: Some(last_active),
            registered: user.map(|user| user.registered),
            country: billing.country,
            postcode: billing.postcode,
            city: billing.city,
            state: billing.state,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn people_are_many_and_nobody_real() {
        let people: Vec<Person> = (0..5_000).filter_map(|number| person(3, number)).collect();
        assert_eq!(people.len(), 5_000);
        let emails: BTreeSet<&str> = people.iter().map(|one| &*one.billing.email).collect();
        assert_eq!(emails.len(), 5_000, "nobody shares an address");
        for email in emails {
            let domain = email.split_once('@').unwrap().1;
            assert!(DOMAINS.contains(&domain) && email.is_ascii(), "{email}");
        }
        let countries: BTreeSet<&str> = people.iter().map(|one| one.country.code).collect();
        assert_eq!(countries.len(), COUNTRIES.len());
        let registered = people.iter().filter(|one| one.is_registered).count();
        assert!((2_900..3_300).contains(&registered), "{registered}");
        assert!(people.iter().zip(0..).all(|(one, number)| {
            one.is_registered == is_registered(3, number) && !one.billing.postcode.contains('#')
        }));
    }
}
