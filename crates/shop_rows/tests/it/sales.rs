//! Rows of a shop's sales for tests: orders, customers, shipping, webhooks.

use shop_rows::customer::CustomerRow;
use shop_rows::customer_lookup::CustomerLookupRow;
use shop_rows::order::{ItemKind, Order, OrderItemRow, OrderKind, OrderRow};
use shop_rows::order_note::OrderNoteRow;
use shop_rows::shipping::{LocationRow, MethodRow, ZoneRow};
use shop_rows::webhook::WebhookRow;
use types::Amount;

use crate::support::time;

/// An order in which no two fields of a type are equal. Its search text is folded already.
pub(crate) fn order_row() -> OrderRow {
    let amount = |cents: i64| Amount::from_millionths(cents * 10_000 + 1);
    OrderRow {
        order_id: 0,
        kind: OrderKind::Order,
        parent_id: 0,
        status: "processing".to_owned(),
        currency: "USD".to_owned(),
        customer_id: 7,
        billing_email: "Mia@example.com".to_owned(),
        number: "A-17".to_owned(),
        order_key: "key_1".to_owned(),
        payment_method: "card".to_owned(),
        created_via: "checkout".to_owned(),
        total: amount(1000),
        total_tax: amount(190),
        cart_tax: amount(150),
        shipping_total: amount(50),
        shipping_tax: amount(40),
        discount_total: amount(30),
        discount_tax: amount(20),
        prices_include_tax: true,
        created: time(100),
        modified: time(200),
        paid: Some(time(300)),
        completed: None,
        trashed_status: Some("pending".to_owned()),
        merchant_id: Some("m1".to_owned()),
        store_id: None,
        tpn: Some("t1".to_owned()),
        refund_amount: amount(-10),
        refunded_by: 3,
        reason: "too \"small\"".to_owned(),
        search: "müller berlin".to_owned(),
        details: r#"{"billing":{"city":"Berlin"}}"#.to_owned(),
    }
}

pub(crate) fn item(name: &str) -> OrderItemRow {
    let amount = |cents: i64| Amount::from_millionths(cents * 10_000 + 1);
    OrderItemRow {
        order_id: 0,
        item_id: 0,
        kind: ItemKind::Line,
        name: name.to_owned(),
        product_id: 31,
        variation_id: 32,
        quantity: Amount::from_millionths(2_500_000),
        subtotal: amount(100),
        subtotal_tax: amount(19),
        total: amount(90),
        total_tax: amount(-17),
        rate_id: 5,
        details: r#"{"taxes":[]}"#.to_owned(),
    }
}

pub(crate) fn order(items: &[OrderItemRow]) -> Order {
    Order { row: order_row(), items: items.to_vec() }
}

pub(crate) fn note(order_id: i64, text: &str) -> OrderNoteRow {
    OrderNoteRow {
        note_id: 0,
        order_id,
        author: "admin".to_owned(),
        text: text.to_owned(),
        customer_note: true,
        added_by_user: false,
        created: time(1),
    }
}

pub(crate) fn customer_row(user_id: i64) -> CustomerRow {
    CustomerRow {
        user_id,
        billing: r#"{"city":"Köln"}"#.to_owned(),
        shipping: r#"{"city":"Bonn"}"#.to_owned(),
        is_paying: true,
        last_active: Some(time(5)),
        meta: r#"[{"key":"a"}]"#.to_owned(),
    }
}

pub(crate) fn lookup(user_id: Option<i64>, name: &str) -> CustomerLookupRow {
    CustomerLookupRow {
        customer_id: 0,
        user_id,
        username: format!("{name}_"),
        first_name: name.to_owned(),
        last_name: "Ünder".to_owned(),
        email: format!("{name}@Example.com"),
        last_active: Some(time(6)),
        registered: None,
        country: "DE".to_owned(),
        postcode: "10115".to_owned(),
        city: "Berlin".to_owned(),
        state: "DE-BE".to_owned(),
    }
}

pub(crate) fn zone(name: &str, position: i64) -> ZoneRow {
    ZoneRow { zone_id: 0, name: name.to_owned(), position }
}

pub(crate) fn location(kind: &str, code: &str) -> LocationRow {
    LocationRow { kind: kind.to_owned(), code: code.to_owned() }
}

pub(crate) fn method(zone_id: i64, position: i64) -> MethodRow {
    MethodRow {
        instance_id: 0,
        zone_id,
        method_id: "flat_rate".to_owned(),
        position,
        enabled: true,
        settings: r#"{"cost":"5"}"#.to_owned(),
    }
}

pub(crate) fn webhook_row(name: &str) -> WebhookRow {
    WebhookRow {
        webhook_id: 0,
        name: name.to_owned(),
        status: "active".to_owned(),
        topic: "order.created".to_owned(),
        delivery_url: "https://example.com/hook".to_owned(),
        secret_sealed: vec![0, 255, 7],
        user_id: 1,
        api_version: "v3".to_owned(),
        created: time(1),
        modified: time(2),
        failure_count: 3,
        pending: true,
    }
}
