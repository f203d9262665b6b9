//! What the shop keeps: the queries of products and what goes with them, of orders, customers,
//! taxes, shipping, downloads and webhooks, of imports and of files that reports were written into.
//! Rows in, rows out: **no rule of the interface is here**, and nothing waits inside a transaction.

pub mod attribute;
pub mod cart;
pub mod coupon;
pub mod customer;
pub mod customer_lookup;
pub mod download_log;
pub mod download_permission;
pub mod import;
pub mod order;
pub mod order_note;
pub mod payment;
pub mod product;
pub mod report_file;
pub mod review;
pub mod sandbox_payment;
pub mod shipping;
pub mod stock_hold;
pub mod tax_class;
pub mod tax_rate;
pub mod webhook;

use db::Sql;

/// Every statement of this crate.
pub fn all_statements() -> Vec<&'static Sql> {
    [
        attribute::STATEMENTS,
        cart::STATEMENTS,
        coupon::STATEMENTS,
        coupon::uses::STATEMENTS,
        customer::STATEMENTS,
        customer_lookup::STATEMENTS,
        download_log::STATEMENTS,
        download_permission::STATEMENTS,
        import::STATEMENTS,
        order::STATEMENTS,
        order::item::STATEMENTS,
        order::marked::STATEMENTS,
        order::figures::STATEMENTS,
        order::sums::STATEMENTS,
        order_note::STATEMENTS,
        payment::STATEMENTS,
        product::STATEMENTS,
        product::count::STATEMENTS,
        product::sold::STATEMENTS,
        product::terms::STATEMENTS,
        product::variation::STATEMENTS,
        report_file::STATEMENTS,
        review::STATEMENTS,
        sandbox_payment::STATEMENTS,
        shipping::STATEMENTS,
        stock_hold::STATEMENTS,
        tax_class::STATEMENTS,
        tax_rate::STATEMENTS,
        webhook::STATEMENTS,
    ]
    .concat()
}
