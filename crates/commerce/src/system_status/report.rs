//! What there is to say about the shop and what it runs on, as of now.

use contract::rest::{Stop, form};
use db::filter::Page;
use db::{About, Conn};
use frame::{Call, Options, compatible};
use serde_json::{Map, Value, json};
use shop_rows::coupon::CouponFilter;
use shop_rows::order::{OrderFilter, OrderKind};
use shop_rows::product::ProductFilter;
use site_rows::post::PostFilter;
use types::{Amount, Result as StoreResult};

use crate::data::tables;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The size of a limit that is none.
const UNLIMITED: i64 = -1;
const NOT_TRIED: &str = "not tried";
const PRODUCT_KINDS: [&str; 4] = ["external", "grouped", "simple", "variable"];
/// By which clients know what is shown where, and with how many stars.
const VISIBILITY_TERMS: [&str; 9] = [
    "exclude-from-catalog",
    "exclude-from-search",
    "featured",
    "outofstock",
    "rated-1",
    "rated-2",
    "rated-3",
    "rated-4",
    "rated-5",
];
/// Counting needs no rows.
const COUNT_ONLY: Page = Page { offset: 0, limit: 1 };

pub(super) fn of(call: &mut Call<'_>) -> Result<Value, Stop> {
    let options = Options::read(call.conn()?)?;
    let database = About::read(call.conn()?)?;
    let mut pages = Vec::new();
    for (name, option) in PAGES {
        pages.push(shop_page(call, &options, name, option)?);
    }
    let counts = post_type_counts(call.conn()?)?;
    Ok(json!({
        "environment": environment(call, &options, &database),
        "database": {
            "wc_database_version": VERSION,
            "database_prefix": "",
            "maxmind_geoip_database": "",
            "database_tables": { "woocommerce": {}, "other": {} },
            "database_size": {
                "data": megabytes(database.data_bytes),
                "index": megabytes(database.index_bytes),
            },
        },
        "active_plugins": [shop_itself()],
        "inactive_plugins": [],
        "dropins_mu_plugins": { "dropins": [], "mu_plugins": [] },
        "theme": theme(),
        "settings": settings(&options),
        "security": { "secure_connection": call.visit.secure, "hide_errors": true },
        "pages": pages,
        "post_type_counts": counts,
        "logging": {
            "logging_enabled": true,
            "default_handler": "standard error",
            "retention_period_days": 0,
            "level_threshold": "info",
            "log_directory_size": "",
        },
    }))
}

/// Rounded to hundredths.
fn megabytes(bytes: i64) -> Value {
    let hundredths = bytes.saturating_mul(100).div_euclid(1024 * 1024);
    json!(Amount::from_millionths(hundredths.saturating_mul(10_000)).to_f64())
}

/// What clients look for among the plugins to learn that there is a shop, and which.
fn shop_itself() -> Value {
    json!({
        "plugin": "woocommerce/woocommerce.php",
        "name": "WooCommerce",
        "version": compatible::SHOP,
        "version_latest": compatible::SHOP,
        "url": "",
        "author_name": server(),
        "author_url": "",
        "network_activated": false,
    })
}

fn server() -> String {
    format!("Boardwalk/{VERSION}")
}

fn environment(call: &Call<'_>, options: &Options, database: &About) -> Value {
    let address = options.text("siteurl");
    let home = &call.visit.home;
    let machine = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    json!({
        "home_url": home,
        "site_url": if address.is_empty() { home.clone() } else { address },
        "store_id": "",
        "version": compatible::SHOP,
        "boardwalk_version": VERSION,
        "log_directory": "",
        "log_directory_writable": false,
        "wp_version": compatible::SITE,
        "wp_multisite": false,
        "wp_memory_limit": UNLIMITED,
        "wp_debug_mode": cfg!(debug_assertions),
        "wp_cron": true,
        "wp_environment_type": call.site.environment().name(),
        "language": options.text("WPLANG"),
        "external_object_cache": false,
        "server_info": server(),
        "server_architecture": machine,
        "php_version": "",
        "php_post_max_size": call.site.body_bytes(),
        "php_max_execution_time": call.site.time_limit().as_secs(),
        "php_max_input_vars": form::VARIABLES_MAX,
        "curl_version": "",
        "suhosin_installed": false,
        "max_upload_size": call.site.body_bytes(),
        "mysql_version": database.version,
        "mysql_version_string": database.engine,
        "default_timezone": "UTC",
        "fsockopen_or_curl_enabled": true,
        "soapclient_enabled": false,
        "domdocument_enabled": false,
        "gzip_enabled": true,
        "mbstring_enabled": true,
        "remote_post_successful": false,
        "remote_post_response": NOT_TRIED,
        "remote_get_successful": false,
        "remote_get_response": NOT_TRIED,
    })
}

fn theme() -> Value {
    json!({
        "name": "Boardwalk",
        "version": VERSION,
        "version_latest": VERSION,
        "author_url": "",
        "is_child_theme": false,
        "is_block_theme": false,
        "has_woocommerce_support": true,
        "has_woocommerce_file": false,
        "has_outdated_templates": false,
        "overrides": [],
        "parent_name": "",
        "parent_version": "",
        "parent_version_latest": "",
        "parent_author_url": "",
    })
}

fn settings(options: &Options) -> Value {
    let currency = options.text("woocommerce_currency");
    let symbol = tables::currency(&currency).map_or("", |currency| currency.symbol);
    let place = options.text("woocommerce_default_customer_address");
    json!({
        "api_enabled": true,
        "force_ssl": false,
        "currency": currency,
        "currency_symbol": symbol,
        "currency_position": options.text("woocommerce_currency_pos"),
        "thousand_separator": options.text("woocommerce_price_thousand_sep"),
        "decimal_separator": options.text("woocommerce_price_decimal_sep"),
        "number_of_decimals": options.integer("woocommerce_price_num_decimals"),
        "geolocation_enabled": place.starts_with("geolocation"),
        "taxonomies": named(&PRODUCT_KINDS),
        "product_visibility_terms": named(&VISIBILITY_TERMS),
        "wccom_connected": "no",
        "woocommerce_com_connected": "no",
        "enforce_approved_download_dirs": false,
        "HPOS_enabled": true,
        "order_datastore": "boardwalk",
        "HPOS_sync_enabled": false,
        "enabled_features": [],
    })
}

/// Terms by their slugs, with their names.
fn named(terms: &[&str]) -> Map<String, Value> {
    terms.iter().map(|term| ((*term).to_owned(), json!(term))).collect()
}

/// The pages of the shop, with the settings that name them.
const PAGES: [(&str, &str); 5] = [
    ("Shop base", "woocommerce_shop_page_id"),
    ("Cart", "woocommerce_cart_page_id"),
    ("Checkout", "woocommerce_checkout_page_id"),
    ("My account", "woocommerce_myaccount_page_id"),
    ("Terms and conditions", "woocommerce_terms_page_id"),
];

fn shop_page(
    call: &mut Call<'_>,
    options: &Options,
    name: &str,
    option: &str,
) -> StoreResult<Value> {
    let page_id = options.integer(option);
    let page = if page_id == 0 { None } else { site_rows::post::get(call.conn()?, page_id)? };
    let page = page.filter(|post| post.kind == "page");
    Ok(json!({
        "page_name": name,
        "page_id": options.text(option),
        "page_set": page_id != 0,
        "page_exists": page.is_some(),
        "page_visible": page.is_some_and(|page| page.status == "publish"),
        "shortcode": "",
        "block": "",
        "shortcode_required": false,
        "shortcode_present": false,
        "block_present": false,
        "block_required": false,
    }))
}

fn post_type_counts(conn: &mut dyn Conn) -> StoreResult<Vec<Value>> {
    let mut counts = Vec::new();
    let mut add = |name: &str, count: i64| {
        counts.push(json!({ "type": name, "count": count.to_string() }));
    };
    for kind in ["page", "post"] {
        let kinds = vec![kind.to_owned()];
        let filter = PostFilter { kinds, page: COUNT_ONLY, ..PostFilter::default() };
        add(kind, site_rows::post::list(conn, &filter)?.1);
    }
    let variation = || vec![String::from("variation")];
    let filter = ProductFilter { page: COUNT_ONLY, ..ProductFilter::default() };
    let products = ProductFilter { kinds_exclude: variation(), ..filter.clone() };
    add("product", shop_rows::product::list(conn, &products)?.1);
    let variations = ProductFilter { kinds: variation(), ..filter };
    add("product_variation", shop_rows::product::list(conn, &variations)?.1);
    let filter = CouponFilter { page: COUNT_ONLY, ..CouponFilter::default() };
    add("shop_coupon", shop_rows::coupon::list(conn, &filter)?.1);
    let kinds = vec![OrderKind::Order];
    let filter = OrderFilter { kinds, page: COUNT_ONLY, ..OrderFilter::default() };
    add("shop_order", shop_rows::order::list(conn, &filter)?.1);
    Ok(counts)
}
