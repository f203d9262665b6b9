//! The file that is imported: orders as a shop exports them, the same in every run.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

/// Lines of an order about products: 2.5 on average.
const LINES: [usize; 8] = [1, 2, 2, 2, 3, 3, 3, 4];
const PRODUCTS: usize = 500;
/// Guests buy five times on average.
const ORDERS_PER_GUEST: usize = 5;
const FIRST_ID: usize = 10_000;
const PRICE_CENTS: usize = 1_250;

pub(super) fn write(path: &Path, orders: usize) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for index in 0..orders {
        writeln!(file, "{}", order(index, orders))?;
    }
    Ok(file.flush()?)
}

/// A number that looks like chance and is the same every time.
fn chance(index: usize, salt: usize) -> usize {
    let mixed = (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(salt * 0x85EB_CA6B);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32
}

fn money(cents: usize) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn order(index: usize, orders: usize) -> Value {
    let count = LINES.get(index % LINES.len()).copied().unwrap_or(1);
    let id = FIRST_ID + index;
    let line = |place: usize| {
        let product = chance(index, place) % PRODUCTS;
        let total = money(PRICE_CENTS * 2);
        json!({
            "id": index * 8 + place + 1, "name": format!("Article {product}"),
            "product_id": product + 1, "variation_id": 0, "quantity": 2, "tax_class": "",
            "subtotal": total, "subtotal_tax": "4.75", "total": total, "total_tax": "4.75",
            "taxes": [{ "id": 1, "total": "4.75", "subtotal": "4.75" }], "meta_data": [],
            "sku": format!("A-{product}"), "price": 12.5,
        })
    };
    let net = PRICE_CENTS * 2 * count;
    let tax = 475 * count;
    let guest = chance(index, 99) % (orders / ORDERS_PER_GUEST).max(1);
    let (day, minute) = (index * 720 / orders, chance(index, 7) % 1_440);
    let date = format!(
        "{}-{:02}-{:02}T{:02}:{:02}:00",
        2024 + day / 360,
        1 + day / 30 % 12,
        1 + day % 28,
        minute / 60,
        minute % 60
    );
    let address = json!({
        "first_name": format!("First{}", guest % 997),
        "last_name": format!("Last{}", guest % 9_973),
        "company": "", "address_1": format!("{} Long Street", guest % 400), "address_2": "",
        "city": "Springfield", "state": "IL", "postcode": format!("{:05}", 60_000 + guest % 900),
        "country": "US", "email": format!("guest{guest}@example.com"), "phone": "2175550100",
    });
    json!({
        "id": id, "parent_id": 0, "status": "completed", "currency": "USD",
        "prices_include_tax": false, "date_created_gmt": date, "date_modified_gmt": date,
        "date_paid_gmt": date, "date_completed_gmt": date, "discount_total": "0.00",
        "discount_tax": "0.00", "shipping_total": "5.00", "shipping_tax": "0.00",
        "cart_tax": money(tax), "total": money(net + tax + 500), "total_tax": money(tax),
        "customer_id": 0, "order_key": format!("wc_order_{id:013}"), "billing": address,
        "shipping": address, "payment_method": "card", "payment_method_title": "Card",
        "transaction_id": format!("tx-{id}"), "customer_ip_address": "192.0.2.1",
        "created_via": "checkout", "customer_note": "", "number": id.to_string(),
        "meta_data": [], "line_items": (0..count).map(line).collect::<Vec<_>>(),
        "tax_lines": [{
            "id": index * 8 + 6, "rate_code": "US-IL-TAX-1", "rate_id": 1, "label": "Tax",
            "compound": false, "tax_total": money(tax), "shipping_tax_total": "0.00",
            "rate_percent": 19, "meta_data": [],
        }],
        "shipping_lines": [{
            "id": index * 8 + 7, "method_title": "Post", "method_id": "flat_rate",
            "instance_id": "1", "total": "5.00", "total_tax": "0.00", "taxes": [],
            "meta_data": [],
        }],
        "fee_lines": [], "coupon_lines": [],
    })
}
