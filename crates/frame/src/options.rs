//! The options of the site: a closed list with types and defaults. **A name that is not listed does
//! not exist**, so nobody can park arbitrary data in the site.
//!
//! Some options are settings of the published interface under another name and with a schema.

mod administration;

use std::collections::HashMap;

use contract::rest::Schema;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use serde_json::{Value, json};
use store::Conn;
use types::{Result, Timestamp};

/// What an option holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    /// Texts `yes` and `no`, as the commerce family spells them.
    YesNo,
    /// Texts `1` and empty, shown as true and false.
    Switch,
    /// A number that is kept as a text.
    Decimal,
    /// Anything that JSON can say.
    Json,
}

/// One option.
#[derive(Debug)]
pub struct Definition {
    pub name: &'static str,
    pub kind: Kind,
    /// As JSON.
    pub default: &'static str,
    /// Its name among the settings of the content namespace, if it is one.
    pub setting: Option<Setting>,
    /// Only for administrators, and never in a file that leaves the site.
    pub is_secret: bool,
}

/// An option as a setting of the interface.
#[derive(Debug)]
pub struct Setting {
    pub name: &'static str,
    pub schema: fn() -> Schema,
}

const fn option(name: &'static str, kind: Kind, default: &'static str) -> Definition {
    Definition { name, kind, default, setting: None, is_secret: false }
}

const fn secret(name: &'static str, kind: Kind, default: &'static str) -> Definition {
    Definition { name, kind, default, setting: None, is_secret: true }
}

const fn setting(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    setting: &'static str,
    schema: fn() -> Schema,
) -> Definition {
    let setting = Some(Setting { name: setting, schema });
    Definition { name, kind, default, setting, is_secret: false }
}

/// The options of site and shop; the settings in the order in which the interface lists them.
pub static DEFINITIONS: &[Definition] = &[
    setting("blogname", Kind::Text, r#""Boardwalk""#, "title", || {
        Schema::text().about("Name of the site.")
    }),
    setting("blogdescription", Kind::Text, r#""""#, "description", || {
        Schema::text().about("What the site is about, in a few words.")
    }),
    setting("siteurl", Kind::Text, r#""""#, "url", || {
        Schema::text().format("uri").about("Address of the site.")
    }),
    setting("admin_email", Kind::Text, r#""""#, "email", || {
        Schema::text().format("email").about("Where the site sends mail for its administrator.")
    }),
    setting("timezone_string", Kind::Text, r#""""#, "timezone", || {
        Schema::text().about("A city in the same time zone, such as Europe/Rome.")
    }),
    setting("date_format", Kind::Text, r#""F j, Y""#, "date_format", || {
        Schema::text().about("How dates are written.")
    }),
    setting("time_format", Kind::Text, r#""g:i a""#, "time_format", || {
        Schema::text().about("How times of day are written.")
    }),
    setting("start_of_week", Kind::Integer, "1", "start_of_week", || {
        Schema::integer().about("The day on which a week starts: 0 is Sunday.")
    }),
    setting("WPLANG", Kind::Text, r#""en_US""#, "language", || {
        Schema::text().about("Language of the site.")
    }),
    setting("use_smilies", Kind::Switch, "true", "use_smilies", || {
        Schema::boolean().about("Show emoticons as pictures.")
    }),
    setting("default_category", Kind::Integer, "1", "default_category", || {
        Schema::integer().about("Category of posts that name none.")
    }),
    setting("default_post_format", Kind::Text, r#""0""#, "default_post_format", || {
        Schema::text().about("Format of posts that name none.")
    }),
    setting("posts_per_page", Kind::Integer, "10", "posts_per_page", || {
        Schema::integer().about("Posts on a page of the site.")
    }),
    setting("show_on_front", Kind::Text, r#""posts""#, "show_on_front", || {
        Schema::text().about("What the front page shows: posts or page.")
    }),
    setting("page_on_front", Kind::Integer, "0", "page_on_front", || {
        Schema::integer().about("Id of the page that is the front page.")
    }),
    setting("page_for_posts", Kind::Integer, "0", "page_for_posts", || {
        Schema::integer().about("Id of the page that shows the latest posts.")
    }),
    setting("default_ping_status", Kind::Text, r#""open""#, "default_ping_status", || {
        Schema::text()
            .choices(&["open", "closed"])
            .about("Whether new posts take notices of links.")
    }),
    setting("default_comment_status", Kind::Text, r#""open""#, "default_comment_status", || {
        Schema::text().choices(&["open", "closed"]).about("Whether new posts take comments.")
    }),
    setting("site_logo", Kind::Integer, "0", "site_logo", || {
        Schema::integer().about("Id of the picture that is the site's logo.")
    }),
    setting("site_icon", Kind::Integer, "0", "site_icon", || {
        Schema::integer().about("Id of the picture that is the site's icon.")
    }),
    setting(
        "woocommerce_pickup_location_settings",
        Kind::Json,
        r#"{"enabled":"no","title":"Pickup","tax_status":"taxable","cost":""}"#,
        "pickup_location_settings",
        pickup_settings,
    ),
    setting(
        "pickup_location_pickup_locations",
        Kind::Json,
        "[]",
        "pickup_locations",
        pickup_places,
    ),
    setting(
        "woocommerce_default_catalog_orderby",
        Kind::Text,
        r#""menu_order""#,
        "woocommerce_default_catalog_orderby",
        || {
            let orders = ["menu_order", "popularity", "rating", "date", "price", "price-desc"];
            Schema::text().choices(&orders).about("Order of the products in the shop.")
        },
    ),
    setting(
        "woocommerce_checkout_phone_field",
        Kind::Text,
        r#""optional""#,
        "woocommerce_checkout_phone_field",
        || checkout_field("Whether the checkout asks for a phone number."),
    ),
    setting(
        "woocommerce_checkout_company_field",
        Kind::Text,
        r#""hidden""#,
        "woocommerce_checkout_company_field",
        || checkout_field("Whether the checkout asks for a company."),
    ),
    setting(
        "woocommerce_checkout_address_2_field",
        Kind::Text,
        r#""optional""#,
        "woocommerce_checkout_address_2_field",
        || checkout_field("Whether the checkout asks for a second line of the address."),
    ),
    option("home", Kind::Text, r#""""#),
    option("gmt_offset", Kind::Decimal, "0"),
    option("using_application_passwords", Kind::Switch, "false"),
    option("woocommerce_currency", Kind::Text, r#""USD""#),
    option("woocommerce_price_num_decimals", Kind::Integer, "2"),
    option("woocommerce_calc_taxes", Kind::YesNo, r#""no""#),
    option("woocommerce_prices_include_tax", Kind::YesNo, r#""no""#),
    option("woocommerce_tax_based_on", Kind::Text, r#""shipping""#),
    option("woocommerce_tax_round_at_subtotal", Kind::YesNo, r#""no""#),
    option("woocommerce_tax_total_display", Kind::Text, r#""itemized""#),
    option("woocommerce_default_country", Kind::Text, r#""US:CA""#),
    option("woocommerce_store_address", Kind::Text, r#""""#),
    option("woocommerce_store_address_2", Kind::Text, r#""""#),
    option("woocommerce_store_city", Kind::Text, r#""""#),
    option("woocommerce_store_postcode", Kind::Text, r#""""#),
    option("woocommerce_notify_low_stock_amount", Kind::Integer, "2"),
    option("woocommerce_notify_no_stock_amount", Kind::Integer, "0"),
    option("woocommerce_manage_stock", Kind::YesNo, r#""yes""#),
    option("woocommerce_excluded_report_order_statuses", Kind::Json, "null"),
    option("woocommerce_actionable_order_statuses", Kind::Json, "null"),
    option("woocommerce_date_type", Kind::Json, "null"),
    option("woocommerce_default_date_range", Kind::Json, "null"),
    option("woocommerce_analytics_enabled", Kind::YesNo, r#""yes""#),
    option("woocommerce_analytics_scheduled_import", Kind::YesNo, r#""yes""#),
    option("woocommerce_weight_unit", Kind::Text, r#""kg""#),
    option("woocommerce_dimension_unit", Kind::Text, r#""cm""#),
    option("woocommerce_admin_install_timestamp", Kind::Integer, "0"),
    option("default_product_cat", Kind::Integer, "0"),
    option("woocommerce_allowed_countries", Kind::Text, r#""all""#),
    option("woocommerce_all_except_countries", Kind::Json, r#""""#),
    option("woocommerce_specific_allowed_countries", Kind::Json, r#""""#),
    option("woocommerce_ship_to_countries", Kind::Text, r#""""#),
    option("woocommerce_specific_ship_to_countries", Kind::Json, r#""""#),
    option("woocommerce_default_customer_address", Kind::Text, r#""base""#),
    option("woocommerce_enable_coupons", Kind::YesNo, r#""yes""#),
    option("woocommerce_calc_discounts_sequentially", Kind::YesNo, r#""no""#),
    option("woocommerce_currency_pos", Kind::Text, r#""left""#),
    option("woocommerce_price_thousand_sep", Kind::Text, r#"",""#),
    option("woocommerce_price_decimal_sep", Kind::Text, r#"".""#),
    option("woocommerce_shop_page_id", Kind::Text, r#""""#),
    option("woocommerce_cart_redirect_after_add", Kind::YesNo, r#""no""#),
    option("woocommerce_enable_ajax_add_to_cart", Kind::YesNo, r#""yes""#),
    option("woocommerce_placeholder_image", Kind::Text, r#""""#),
    option("woocommerce_enable_reviews", Kind::YesNo, r#""yes""#),
    option("woocommerce_review_rating_verification_label", Kind::YesNo, r#""yes""#),
    option("woocommerce_review_rating_verification_required", Kind::YesNo, r#""no""#),
    option("woocommerce_enable_review_rating", Kind::YesNo, r#""yes""#),
    option("woocommerce_review_rating_required", Kind::YesNo, r#""yes""#),
    option("woocommerce_hold_stock_minutes", Kind::Text, r#""60""#),
    option("woocommerce_notify_low_stock", Kind::YesNo, r#""yes""#),
    option("woocommerce_notify_no_stock", Kind::YesNo, r#""yes""#),
    option("woocommerce_stock_email_recipient", Kind::Text, r#""""#),
    option("woocommerce_hide_out_of_stock_items", Kind::YesNo, r#""no""#),
    option("woocommerce_stock_format", Kind::Text, r#""""#),
    option("woocommerce_file_download_method", Kind::Text, r#""force""#),
    option("woocommerce_downloads_redirect_fallback_allowed", Kind::YesNo, r#""no""#),
    option("woocommerce_downloads_require_login", Kind::YesNo, r#""no""#),
    option("woocommerce_downloads_grant_access_after_payment", Kind::YesNo, r#""yes""#),
    option("woocommerce_downloads_deliver_inline", Kind::YesNo, r#""no""#),
    option("woocommerce_downloads_add_hash_to_filename", Kind::YesNo, r#""yes""#),
    option("woocommerce_downloads_count_partial", Kind::YesNo, r#""yes""#),
    option("woocommerce_shipping_tax_class", Kind::Text, r#""inherit""#),
    option("woocommerce_tax_display_shop", Kind::Text, r#""excl""#),
    option("woocommerce_tax_display_cart", Kind::Text, r#""excl""#),
    option("woocommerce_price_display_suffix", Kind::Text, r#""""#),
    option("woocommerce_enable_shipping_calc", Kind::YesNo, r#""yes""#),
    option("woocommerce_shipping_cost_requires_address", Kind::YesNo, r#""no""#),
    option("woocommerce_ship_to_destination", Kind::Text, r#""billing""#),
    option("woocommerce_shipping_debug_mode", Kind::YesNo, r#""no""#),
    option("woocommerce_enable_guest_checkout", Kind::YesNo, r#""yes""#),
    option("woocommerce_enable_checkout_login_reminder", Kind::YesNo, r#""no""#),
    option("woocommerce_enable_signup_and_login_from_checkout", Kind::YesNo, r#""no""#),
    option("woocommerce_enable_myaccount_registration", Kind::YesNo, r#""no""#),
    option("woocommerce_registration_generate_username", Kind::YesNo, r#""yes""#),
    option("woocommerce_registration_generate_password", Kind::YesNo, r#""yes""#),
    option("woocommerce_erasure_request_removes_order_data", Kind::YesNo, r#""no""#),
    option("woocommerce_erasure_request_removes_download_data", Kind::YesNo, r#""no""#),
    option("woocommerce_allow_bulk_remove_personal_data", Kind::YesNo, r#""no""#),
    option("woocommerce_registration_privacy_policy_text", Kind::Text, r#""""#),
    option("woocommerce_checkout_privacy_policy_text", Kind::Text, r#""""#),
    option("woocommerce_email_from_name", Kind::Text, r#""""#),
    option("woocommerce_email_from_address", Kind::Text, r#""""#),
    option("woocommerce_email_footer_text", Kind::Text, r#""""#),
    option("woocommerce_checkout_pay_endpoint", Kind::Text, r#""order-pay""#),
    option("woocommerce_checkout_order_received_endpoint", Kind::Text, r#""order-received""#),
    option(
        "woocommerce_myaccount_add_payment_method_endpoint",
        Kind::Text,
        r#""add-payment-method""#,
    ),
    option(
        "woocommerce_myaccount_delete_payment_method_endpoint",
        Kind::Text,
        r#""delete-payment-method""#,
    ),
    option(
        "woocommerce_myaccount_set_default_payment_method_endpoint",
        Kind::Text,
        r#""set-default-payment-method""#,
    ),
    option("woocommerce_myaccount_orders_endpoint", Kind::Text, r#""orders""#),
    option("woocommerce_myaccount_view_order_endpoint", Kind::Text, r#""view-order""#),
    option("woocommerce_myaccount_downloads_endpoint", Kind::Text, r#""downloads""#),
    option("woocommerce_myaccount_edit_account_endpoint", Kind::Text, r#""edit-account""#),
    option("woocommerce_myaccount_edit_address_endpoint", Kind::Text, r#""edit-address""#),
    option("woocommerce_myaccount_payment_methods_endpoint", Kind::Text, r#""payment-methods""#),
    option("woocommerce_myaccount_lost_password_endpoint", Kind::Text, r#""lost-password""#),
    option("woocommerce_logout_endpoint", Kind::Text, r#""customer-logout""#),
    option("woocommerce_gateway_order", Kind::Json, "{}"),
    option("woocommerce_bacs_settings", Kind::Json, "{}"),
    option("woocommerce_cheque_settings", Kind::Json, "{}"),
    option("woocommerce_cod_settings", Kind::Json, "{}"),
    option(crate::pages::THEME_OPTION, Kind::Json, "null"),
];

fn checkout_field(about: &'static str) -> Schema {
    Schema::text().choices(&["optional", "required", "hidden"]).about(about)
}

fn pickup_settings() -> Schema {
    Schema::object([
        ("enabled", Schema::text().choices(&["yes", "no"]).about("Whether pickup is offered.")),
        ("title", Schema::text().about("How the checkout calls it.")),
        ("tax_status", Schema::text().choices(&["taxable", "none"]).about("Whether it is taxed.")),
        ("cost", Schema::text().about("What it costs.")),
    ])
    .no_additional()
    .about("Pickup of orders by the customer.")
}

fn pickup_places() -> Schema {
    let line = || Schema::text().about("A part of the address.");
    let address = ["address_1", "city", "state", "postcode", "country"];
    let place = Schema::object([
        ("name", Schema::text().about("Name of the place.")),
        ("address", Schema::object(address.map(|name| (name, line()))).no_additional()),
        ("details", Schema::text().about("What customers should know.")),
        ("enabled", Schema::boolean().about("Whether orders can be picked up there.")),
    ]);
    Schema::list(place.no_additional()).about("Where orders can be picked up.")
}

/// The values of all options at one moment.
#[derive(Debug, Default)]
pub struct Options {
    values: HashMap<&'static str, Value>,
    /// Changes whenever any option does.
    pub version: i64,
}

impl Options {
    pub fn read(conn: &mut dyn Conn) -> Result<Self> {
        let version = store::option::version(conn)?;
        let mut values = HashMap::new();
        for (name, text) in store::option::all(conn)? {
            let Some(definition) = definition(&name) else { continue };
            values.insert(definition.name, serde_json::from_str(&text).unwrap_or(Value::Null));
        }
        Ok(Self { values, version })
    }

    /// The value of a listed option, or its default; null for a name that is not listed.
    pub fn get(&self, name: &str) -> Value {
        if let Some(value) = self.values.get(name) {
            return value.clone();
        }
        let default = definition(name).map(|definition| definition.default);
        default.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null)
    }

    pub fn text(&self, name: &str) -> String {
        match self.get(name) {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        }
    }

    /// A whole number, however it was written down.
    pub fn integer(&self, name: &str) -> i64 {
        match self.get(name) {
            Value::Number(number) => number.as_i64().unwrap_or_default(),
            Value::String(text) => text.trim().parse().unwrap_or_default(),
            Value::Bool(flag) => i64::from(flag),
            _ => 0,
        }
    }

    pub fn is_on(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Bool(flag) => flag,
            Value::String(text) => matches!(text.as_str(), "yes" | "1" | "true"),
            Value::Number(number) => number.as_i64() != Some(0),
            _ => false,
        }
    }

    /// The zone in which the site lives: a named one, or a fixed offset.
    pub fn time_zone(&self) -> TimeZone {
        let name = self.text("timezone_string");
        if let (false, Ok(zone)) = (name.is_empty(), TimeZone::get(&name)) {
            return zone;
        }
        let hours: f64 = self.text("gmt_offset").trim().parse().unwrap_or_default();
        // Offsets come in quarters of an hour; nothing on earth is beyond these bounds.
        let minutes = (hours.clamp(-14.0, 14.0) * 4.0).round() * 15.0;
        let seconds = format!("{minutes:.0}").parse::<i32>().unwrap_or_default() * 60;
        Offset::from_seconds(seconds).map_or(TimeZone::UTC, TimeZone::fixed)
    }

    /// The zone's name as calendars of browsers know it, or the fixed distance such as `+05:30`.
    pub fn zone_name(&self) -> String {
        let zone = self.time_zone();
        if let Some(name) = zone.iana_name() {
            return name.to_owned();
        }
        let minutes = zone.to_fixed_offset().map_or(0, Offset::seconds) / 60;
        let sign = if minutes < 0 { '-' } else { '+' };
        format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
    }

    /// The hours by which the site is ahead of UTC at the moment, as the index tells it: a number
    /// when a zone is named, else the text that was stored.
    pub fn gmt_offset(&self, now: Timestamp) -> Value {
        if self.text("timezone_string").is_empty() {
            return Value::String(self.text("gmt_offset"));
        }
        let zone = self.time_zone();
        let seconds = jiff::Timestamp::from_microsecond(now.as_micros())
            .map_or(0, |time| zone.to_offset(time).seconds());
        let hours = f64::from(seconds) / 3600.0;
        let rounded = (hours * 100.0).round() / 100.0;
        if rounded.fract() == 0.0 {
            json!(format!("{rounded:.0}").parse::<i64>().unwrap_or_default())
        } else {
            json!(rounded)
        }
    }

    /// The site's own time of day at a moment, as if it were UTC.
    pub fn local(&self, time: Timestamp) -> Timestamp {
        let Ok(moment) = jiff::Timestamp::from_microsecond(time.as_micros()) else { return time };
        let offset = self.time_zone().to_offset(moment).seconds();
        Timestamp::from_micros(time.as_micros().saturating_add(i64::from(offset) * 1_000_000))
    }

    /// The moment of a time of day of the site.
    pub fn from_local(&self, local: Timestamp) -> Timestamp {
        let Ok(as_utc) = jiff::Timestamp::from_microsecond(local.as_micros()) else { return local };
        let civil: DateTime = as_utc.to_zoned(TimeZone::UTC).datetime();
        let moment = self.time_zone().to_ambiguous_timestamp(civil).compatible();
        moment.map_or(local, |moment| Timestamp::from_micros(moment.as_microsecond()))
    }
}

/// The definition of an option by its name.
pub fn definition(name: &str) -> Option<&'static Definition> {
    let mut all = DEFINITIONS.iter().chain(administration::DEFINITIONS);
    all.find(|definition| definition.name == name)
}

/// Stores the value of a listed option.
pub fn set(conn: &mut dyn Conn, name: &str, value: &Value) -> Result<()> {
    change(conn, name, value).map(drop)
}

/// Stores the value of a listed option, and returns whether it was another before.
pub fn change(conn: &mut dyn Conn, name: &str, value: &Value) -> Result<bool> {
    match definition(name) {
        Some(definition) => store::option::set(conn, definition.name, &value.to_string()),
        None => Err(types::Error::invalid(format!("there is no option `{name}`"))),
    }
}
