//! Rows of a shop's catalogue to test with: what it sells, and what goes with it.

use shop_rows::attribute::AttributeRow;
use shop_rows::coupon::CouponRow;
use shop_rows::download_log::DownloadLogRow;
use shop_rows::download_permission::DownloadPermissionRow;
use shop_rows::product::{ProductRow, VariationAttribute};
use shop_rows::review::ReviewRow;
use shop_rows::tax_class::TaxClassRow;
use shop_rows::tax_rate::TaxRateRow;
use types::Amount;

use crate::support::time;

pub(crate) fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

pub(crate) fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// A product in which no two columns of a type are alike, as far as that is possible.
pub(crate) fn product(slug: &str) -> ProductRow {
    ProductRow {
        product_id: 0,
        kind: "simple".to_owned(),
        parent_id: 77,
        status: "publish".to_owned(),
        slug: slug.to_owned(),
        name: format!("Name of {slug}"),
        sku: format!("SKU-{slug}"),
        global_unique_id: "4006381333931".to_owned(),
        description: "<p>Ünder the pier</p>".to_owned(),
        short_description: "Short".to_owned(),
        price: Some(amount("12.5")),
        price_max: Some(amount("19.99")),
        regular_price: Some(amount("20")),
        sale_price: Some(amount("12.500001")),
        on_sale: true,
        sale_from: Some(time(1)),
        sale_to: Some(time(2)),
        manage_stock: false,
        stock_quantity: Some(amount("-2.5")),
        stock_status: "onbackorder".to_owned(),
        low_stock_amount: Some(amount("3")),
        backorders: "notify".to_owned(),
        total_sales: 41,
        average_rating: amount("4.33"),
        rating_count: 3,
        featured: true,
        catalog_visibility: "visible".to_owned(),
        is_virtual: false,
        downloadable: true,
        tax_status: "taxable".to_owned(),
        tax_class: "reduced-rate".to_owned(),
        menu_order: -4,
        author_id: 5,
        created: time(6),
        modified: time(7),
        trashed_status: Some("draft".to_owned()),
        details: r#"{"weight":"1"}"#.to_owned(),
    }
}

pub(crate) fn variation(parent_id: i64, slug: &str) -> ProductRow {
    ProductRow { kind: "variation".to_owned(), parent_id, ..product(slug) }
}

pub(crate) fn variation_attribute(name: &str, value: &str) -> VariationAttribute {
    VariationAttribute { name: name.to_owned(), value: value.to_owned() }
}

pub(crate) fn attribute(name: &str) -> AttributeRow {
    AttributeRow {
        attribute_id: 0,
        name: name.to_owned(),
        label: name.to_uppercase(),
        kind: "select".to_owned(),
        order_by: "menu_order".to_owned(),
        has_archives: true,
    }
}

pub(crate) fn review(product_id: i64, rating: i64) -> ReviewRow {
    ReviewRow {
        review_id: 0,
        product_id,
        user_id: 6,
        reviewer: "Ada Løst".to_owned(),
        email: "Ada@Example.com".to_owned(),
        review: "Fits 100% well".to_owned(),
        rating,
        status: "approved".to_owned(),
        trashed_status: None,
        verified: true,
        created: time(8),
    }
}

pub(crate) fn coupon(code: &str) -> CouponRow {
    CouponRow {
        coupon_id: 0,
        code: code.to_owned(),
        status: "publish".to_owned(),
        discount_kind: "percent".to_owned(),
        amount: amount("12.34"),
        description: "For spring".to_owned(),
        usage_count: 1,
        usage_limit: Some(2),
        usage_limit_per_user: None,
        created: time(9),
        modified: time(10),
        expires: Some(time(11)),
        trashed_status: None,
        details: r#"{"used_by":["1"]}"#.to_owned(),
    }
}

pub(crate) fn tax_class(slug: &str, position: i64) -> TaxClassRow {
    TaxClassRow { slug: slug.to_owned(), name: slug.to_uppercase(), position }
}

pub(crate) fn tax_rate(country: &str, state: &str, name: &str) -> TaxRateRow {
    TaxRateRow {
        rate_id: 0,
        country: country.to_owned(),
        state: state.to_owned(),
        rate: Some(amount("7.25")),
        name: name.to_owned(),
        priority: 2,
        compound: true,
        shipping: false,
        position: 3,
        class: String::new(),
    }
}

pub(crate) fn permission(order_id: i64) -> DownloadPermissionRow {
    DownloadPermissionRow {
        permission_id: 0,
        download_id: "file".to_owned(),
        product_id: 4,
        order_id,
        order_key: format!("key of {order_id}"),
        user_email: "ada@example.com".to_owned(),
        user_id: 6,
        remaining: Some(3),
        granted: time(12),
        expires: None,
        count: 2,
    }
}

pub(crate) fn download(permission_id: i64, ip: &str) -> DownloadLogRow {
    DownloadLogRow { log_id: 0, permission_id, at: time(13), user_id: Some(6), ip: ip.to_owned() }
}
