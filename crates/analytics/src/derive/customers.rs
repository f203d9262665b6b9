//! Whose orders are whose: users and e-mail addresses, and the customers as reports number them.

use std::collections::HashMap;

use db::filter::fold;
use shop_rows::customer_lookup::CustomerKey;
use shop_rows::order::figures::OrderFigures;

/// Half of a hash of a folded address: as good as the address, and shorter.
type Email = [u8; 16];

/// The customers of some orders, or all there are.
#[derive(Clone, Debug, Default)]
pub struct Customers {
    of_users: HashMap<i64, i64>,
    of_emails: HashMap<Email, ByEmail>,
}

/// Who is meant by an address: whoever registered with it, else the guest; the first of several.
type ByEmail = (Rank, i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Registered,
    Guest,
}

impl Customers {
    /// Adds somebody. **Nobody who registered is known by having no address**; guests without one
    /// are one customer.
    fn add(&mut self, key: &CustomerKey) {
        let rank = if key.user_id.is_some() { Rank::Registered } else { Rank::Guest };
        if let Some(user_id) = key.user_id {
            self.of_users.insert(user_id, key.customer_id);
        }
        if rank == Rank::Registered && key.email_key.is_empty() {
            return;
        }
        let found = (rank, key.customer_id);
        let known = self.of_emails.entry(hashed(&key.email_key)).or_insert(found);
        *known = found.min(*known);
    }

    /// The customer of an order; 0 for nobody who is known.
    pub(super) fn of(&self, order: &OrderFigures) -> i64 {
        let found = match order.customer_id {
            0 => {
                let email = hashed(&fold(&order.billing_email));
                self.of_emails.get(&email).map(|(_, customer_id)| customer_id)
            }
            user_id => self.of_users.get(&user_id),
        };
        found.copied().unwrap_or_default()
    }
}

impl<'a> Extend<&'a CustomerKey> for Customers {
    fn extend<T: IntoIterator<Item = &'a CustomerKey>>(&mut self, keys: T) {
        for key in keys {
            self.add(key);
        }
    }
}

impl<'a> FromIterator<&'a CustomerKey> for Customers {
    fn from_iter<T: IntoIterator<Item = &'a CustomerKey>>(keys: T) -> Self {
        let mut customers = Self::default();
        customers.extend(keys);
        customers
    }
}

fn hashed(email_key: &str) -> Email {
    let hash = blake3::hash(email_key.as_bytes());
    let mut half = Email::default();
    half.iter_mut().zip(hash.as_bytes()).for_each(|(own, byte)| *own = *byte);
    half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_belongs_to_its_user_or_to_whom_its_address_belongs() {
        let mut customers = Customers::default();
        let keys = [
            (9, None, ""),
            (8, Some(1), ""),
            (7, None, "ann@shop.example"),
            (6, Some(3), "bob@shop.example"),
            (5, Some(2), "ann@shop.example"),
            (4, None, "bob@shop.example"),
        ];
        for (customer_id, user_id, email_key) in keys {
            let email_key = email_key.to_owned();
            customers.add(&CustomerKey { customer_id, user_id, email_key });
        }
        for (user_id, email, expected) in [
            (0, "", 9),
            (1, "", 8),
            (2, "bob@shop.example", 5),
            (0, "Ann@Shop.example", 5),
            (0, "bob@shop.example", 6),
            (0, "eve@shop.example", 0),
            (77, "ann@shop.example", 0),
        ] {
            let billing_email = email.to_owned();
            let order =
                OrderFigures { customer_id: user_id, billing_email, ..OrderFigures::default() };
            assert_eq!(customers.of(&order), expected, "{user_id} {email}");
        }
    }
}
