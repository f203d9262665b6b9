//! The published form of the state of the shop.

use contract::rest::{Item, Schema};

/// What a field of the report holds.
#[derive(Clone, Copy)]
enum Holds {
    Text,
    Address,
    Flag,
    Whole,
    Texts,
    List,
}

use Holds::{Address, Flag, List, Text, Texts, Whole};

const ENVIRONMENT: &[(&str, Holds)] = &[
    ("home_url", Address),
    ("site_url", Address),
    ("store_id", Text),
    ("version", Text),
    ("boardwalk_version", Text),
    ("log_directory", Text),
    ("log_directory_writable", Flag),
    ("wp_version", Text),
    ("wp_multisite", Flag),
    ("wp_memory_limit", Whole),
    ("wp_debug_mode", Flag),
    ("wp_cron", Flag),
    ("wp_environment_type", Text),
    ("language", Text),
    ("external_object_cache", Flag),
    ("server_info", Text),
    ("server_architecture", Text),
    ("php_version", Text),
    ("php_post_max_size", Whole),
    ("php_max_execution_time", Whole),
    ("php_max_input_vars", Whole),
    ("curl_version", Text),
    ("suhosin_installed", Flag),
    ("max_upload_size", Whole),
    ("mysql_version", Text),
    ("mysql_version_string", Text),
    ("default_timezone", Text),
    ("fsockopen_or_curl_enabled", Flag),
    ("soapclient_enabled", Flag),
    ("domdocument_enabled", Flag),
    ("gzip_enabled", Flag),
    ("mbstring_enabled", Flag),
    ("remote_post_successful", Flag),
    ("remote_post_response", Text),
    ("remote_get_successful", Flag),
    ("remote_get_response", Text),
];

const DATABASE: &[(&str, Holds)] = &[
    ("wc_database_version", Text),
    ("database_prefix", Text),
    ("maxmind_geoip_database", Text),
    ("database_tables", Texts),
];

const PLUGIN: &[(&str, Holds)] = &[
    ("plugin", Text),
    ("name", Text),
    ("version", Text),
    ("version_latest", Text),
    ("url", Text),
    ("author_name", Text),
    ("author_url", Text),
    ("network_activated", Flag),
];

const THEME: &[(&str, Holds)] = &[
    ("name", Text),
    ("version", Text),
    ("version_latest", Text),
    ("author_url", Address),
    ("is_child_theme", Flag),
    ("is_block_theme", Flag),
    ("has_woocommerce_support", Flag),
    ("has_woocommerce_file", Flag),
    ("has_outdated_templates", Flag),
    ("overrides", Texts),
    ("parent_name", Text),
    ("parent_version", Text),
    ("parent_version_latest", Text),
    ("parent_author_url", Address),
];

const SETTINGS: &[(&str, Holds)] = &[
    ("api_enabled", Flag),
    ("force_ssl", Flag),
    ("currency", Text),
    ("currency_symbol", Text),
    ("currency_position", Text),
    ("thousand_separator", Text),
    ("decimal_separator", Text),
    ("number_of_decimals", Whole),
    ("geolocation_enabled", Flag),
    ("taxonomies", Texts),
    ("product_visibility_terms", Texts),
    ("wccom_connected", Text),
    ("woocommerce_com_connected", Text),
    ("enforce_approved_download_dirs", Flag),
    ("HPOS_enabled", Flag),
    ("order_datastore", Text),
    ("HPOS_sync_enabled", Flag),
    ("enabled_features", List),
];

const SECURITY: &[(&str, Holds)] = &[("secure_connection", Flag), ("hide_errors", Flag)];

const PAGE: &[(&str, Holds)] = &[
    ("page_name", Text),
    ("page_id", Text),
    ("page_set", Flag),
    ("page_exists", Flag),
    ("page_visible", Flag),
    ("shortcode", Text),
    ("block", Text),
    ("shortcode_required", Flag),
    ("shortcode_present", Flag),
    ("block_present", Flag),
    ("block_required", Flag),
];

const LOGGING: &[(&str, Holds)] = &[
    ("logging_enabled", Flag),
    ("default_handler", Text),
    ("retention_period_days", Whole),
    ("level_threshold", Text),
    ("log_directory_size", Text),
];

pub(super) fn status() -> Item {
    let counts =
        Schema::list(Schema::object([("type", Schema::text()), ("count", Schema::text())]));
    Item::new(
        "system_status",
        Schema::object([
            ("environment", shown(group(ENVIRONMENT), "Environment.")),
            ("database", shown(group(DATABASE), "Database.")),
            ("active_plugins", shown(list_of(PLUGIN), "Active plugins.")),
            ("inactive_plugins", shown(list_of(PLUGIN), "Inactive plugins.")),
            ("dropins_mu_plugins", shown(texts(), "Must-use plugins.").shown_as(Schema::map())),
            ("theme", shown(group(THEME), "Theme.")),
            ("settings", shown(group(SETTINGS), "Settings.")),
            ("security", shown(group(SECURITY), "Security.")),
            ("pages", shown(list_of(PAGE), "Store pages.")),
            ("post_type_counts", shown(texts(), "Post type counts.").shown_as(counts)),
            ("logging", shown(group(LOGGING), "Logging.")),
        ]),
    )
}

fn shown(schema: Schema, about: &str) -> Schema {
    schema.about(about).context(&["view"]).readonly()
}

fn texts() -> Schema {
    Schema::list(Schema::text())
}

/// Answers have null for what there is not on this system.
fn schema_of(holds: Holds) -> Schema {
    match holds {
        Text => Schema::text().or_null(),
        Address => Schema::text().format("uri").or_null(),
        Flag => Schema::boolean().or_null(),
        Whole => Schema::integer().or_null(),
        Texts => texts().shown_as(Schema::types(&["array", "object"])),
        List => Schema::typed("array"),
    }
}

fn group(fields: &[(&'static str, Holds)]) -> Schema {
    let field = |(name, holds): &(&'static str, Holds)| {
        (*name, schema_of(*holds).context(&["view"]).readonly())
    };
    Schema::object(fields.iter().map(field))
}

fn list_of(fields: &[(&'static str, Holds)]) -> Schema {
    let fields = fields.iter().map(|(name, holds)| (*name, schema_of(*holds)));
    Schema::list(Schema::object(fields))
}
