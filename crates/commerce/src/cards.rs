//! Records in short, for those who tell about them without knowing commerce: reports and the like.
//! A card has the words of the interface; records that are gone have none.

use std::collections::BTreeMap;

use contract::rest::Stop;
use db::Conn;
use frame::{Call, Options};
use serde_json::{Value, json};
use shop_rows::order;
use types::{Amount, Result};

use crate::{customers, orders, products};

/// Records at most that are read at once.
const AT_ONCE: usize = 200;

type Cards = BTreeMap<i64, Value>;

/// Products and variations: name, price, picture, address, stock, categories.
pub fn products(call: &mut Call<'_>, ids: &[i64]) -> std::result::Result<Cards, Stop> {
    let mut cards = Cards::new();
    for some in ids.chunks(AT_ONCE) {
        cards.extend(products::cards(call, some)?);
    }
    Ok(cards)
}

/// Orders: what people call them, what they came to, and where they came from.
pub fn orders(call: &mut Call<'_>, ids: &[i64]) -> std::result::Result<Cards, Stop> {
    let mut cards = Cards::new();
    for some in ids.chunks(AT_ONCE) {
        let found = order::get_many(call.conn()?, some)?;
        let refunds = order::refunds_of(call.conn()?, some)?;
        for stored in found {
            let own = refunds.iter().filter(|refund| refund.parent_id == stored.row.order_id);
            let own: Vec<_> = own.cloned().collect();
            let (order_id, number) = (stored.row.order_id, stored.row.number.clone());
            let total = orders::total_formatted(call.options(), &stored.row, &own);
            let number = if number.is_empty() || number == order_id.to_string() {
                json!(order_id)
            } else {
                json!(number)
            };
            let order = orders::Order::read(stored)?;
            let origin = orders::origin(&order.details.meta_data);
            let card = json!({ "number": number, "total_formatted": total, "origin": origin });
            cards.insert(order_id, card);
        }
    }
    Ok(cards)
}

/// Brings what reports know of a user who is a customer up to date.
pub fn customer(conn: &mut dyn Conn, user_id: i64) -> Result<()> {
    customers::put_into_reports(conn, user_id)
}

/// A price as HTML, in the currency of the shop.
pub fn price_html(options: &Options, amount: Amount) -> String {
    products::amount_html(amount, options)
}
