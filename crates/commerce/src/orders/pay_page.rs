//! Where a buyer learns how to pay for an order: the page behind `payment_url`. **Whoever knows the
//! order's key may read it**, so it holds no more than a bill does.

use contract::rest::form;
use db::Conn;
use frame::text::escaped;
use frame::{Options, PageSource, PublicPage, Visit};
use serde_json::Value;
use shop_rows::order::OrderKind;
use types::Result;

use super::record::Order;
use super::{receipt, status};
use crate::gateways;

const ENDPOINT: &str = "woocommerce_checkout_pay_endpoint";
const CHECKOUT: &str = "/checkout";

/// The address at which an order is paid for.
pub(super) fn path(options: &Options, (order_id, key): (i64, &str)) -> String {
    let endpoint = options.text(ENDPOINT);
    format!("{CHECKOUT}/{endpoint}/{order_id}/?pay_for_order=true&key={key}")
}

/// The pages of orders that are to be paid for.
#[derive(Debug)]
pub struct PayPages;

impl PageSource for PayPages {
    fn page_at(
        &self,
        conn: &mut dyn Conn,
        visit: &Visit,
        address: &str,
    ) -> Result<Option<PublicPage>> {
        let address = address.split('#').next().unwrap_or_default();
        let (at, query) = address.split_once('?').unwrap_or((address, ""));
        let start = format!("{CHECKOUT}/{}/", visit.options.text(ENDPOINT));
        let id = at.strip_prefix(&start).map(|rest| rest.trim_matches('/').parse::<i64>());
        let Some(Ok(id)) = id else { return Ok(None) };
        let Some(order) = Order::get(conn, id, OrderKind::Order)? else { return Ok(None) };
        let query = form::decode(query);
        let key = query.get("key").and_then(Value::as_str).unwrap_or_default();
        // The key is random and long, so the time of a comparison helps nobody to guess it.
        let is_own = !key.is_empty() && key == order.row.order_key;
        if !is_own || order.row.status == status::TRASH {
            return Ok(None);
        }
        Ok(Some(PublicPage {
            title: format!("Pay for order {}", escaped(&order.row.number)),
            summary: String::new(),
            content: content(visit, &order),
            permalink: visit.page(&path(&visit.options, (id, key))),
            rest_path: String::from("/"),
            author_id: 0,
            published: None,
        }))
    }
}

fn content(visit: &Visit, order: &Order) -> String {
    let rows = receipt::table(&visit.options, order);
    if !status::needs_payment(order) {
        return format!("<p>This order needs no payment.</p>\n{rows}");
    }
    let ways = gateways::offered(&visit.options).into_iter().map(|way| {
        format!("<h2>{}</h2>\n<p>{}</p>\n", escaped(&way.title), escaped(&way.description))
    });
    let ways: String = ways.collect();
    let ways = if ways.is_empty() {
        String::from("<p>Contact the store to learn how you can pay.</p>\n")
    } else {
        ways
    };
    format!("{rows}{ways}")
}
