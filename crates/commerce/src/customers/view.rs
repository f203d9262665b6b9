//! A customer as it is shown, in each version.

use frame::Options;
use frame::users::avatar_urls;
use serde_json::{Map, Value, json};
use types::Amount;

use super::sums::Sums;
use super::{Counted, address};
use crate::common::moments;
use crate::common::version::Version;

const AVATAR_SIZE: &str = "96";
/// What was spent has two decimals, whatever the shop's prices have.
const DECIMALS: u32 = 2;

pub(super) fn body(version: Version, options: &Options, counted: &Counted) -> Value {
    let Counted { customer, sums } = counted;
    let user = &customer.user;
    let [created, created_gmt] = moments::pair(options, Some(user.registered));
    let [modified, modified_gmt] = moments::pair(options, customer.modified());
    let billing = address::shown(address::BILLING, &customer.billing);
    let shipping = address::shown(address::SHIPPING, &customer.shipping);
    let avatar = avatar_urls(&user.email).get(AVATAR_SIZE).cloned().unwrap_or_default();
    let role = user.roles.first().map_or("", |role| role.name());
    let members: Vec<(&str, Value)> = if version == Version::One {
        vec![
            ("id", json!(user.user_id)),
            ("date_created", created_gmt),
            ("date_modified", modified_gmt),
            ("email", json!(user.email)),
            ("first_name", json!(user.first_name)),
            ("last_name", json!(user.last_name)),
            ("username", json!(user.login)),
            ("last_order", last_order(options, sums)),
            ("orders_count", json!(sums.orders)),
            ("total_spent", spent(sums.spent)),
            ("avatar_url", avatar),
            ("billing", billing),
            ("shipping", shipping),
        ]
    } else {
        let mut members = vec![
            ("id", json!(user.user_id)),
            ("date_created", created),
            ("date_created_gmt", created_gmt),
            ("date_modified", modified),
            ("date_modified_gmt", modified_gmt),
            ("email", json!(user.email)),
            ("first_name", json!(user.first_name)),
            ("last_name", json!(user.last_name)),
            ("role", json!(role)),
            ("username", json!(user.login)),
            ("billing", billing),
            ("shipping", shipping),
            ("is_paying_customer", json!(customer.row.is_paying)),
            ("avatar_url", avatar),
            ("meta_data", json!(customer.details.meta_data)),
        ];
        if version == Version::Two {
            members.push(("orders_count", json!(sums.orders)));
            members.push(("total_spent", spent(sums.spent)));
        }
        members
    };
    let named = members.into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Object(named.collect::<Map<_, _>>())
}

fn spent(amount: Amount) -> Value {
    json!(amount.to_text(DECIMALS))
}

fn last_order(options: &Options, sums: &Sums) -> Value {
    let Some((id, created)) = sums.last_order else { return json!({ "id": null, "date": null }) };
    let [_, date] = moments::pair(options, Some(created));
    json!({ "id": id, "date": date })
}
